#pragma once

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <string>

#include "api/mcp/call.h"
#include "api/mcp/connection.h"
#include "net/http.h"

// `/mcp` as HTTP has it: which revision a message is of, which connection it belongs to, and how its answer
// gets to the client. Internal to the room.
namespace atl::api::mcp {

// How many of something are under way, by who has them.
class Tally {
 public:
  std::size_t of(const std::string& whose) const {
    const auto found = counts_.find(whose);
    return found == counts_.end() ? 0 : found->second;
  }
  // One of them, for as long as it lives; the tally must outlive it.
  class Place {
   public:
    Place(Tally& tally, std::string whose) : tally_(tally), whose_(std::move(whose)) {
      ++tally_.counts_[whose_];
    }
    ~Place() {
      const auto found = tally_.counts_.find(whose_);
      if (--found->second == 0) tally_.counts_.erase(found);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    Tally& tally_;
    std::string whose_;
  };

 private:
  std::map<std::string, std::size_t> counts_;
};

// Serves the requests of one Dialect. Shared, because a request that runs outlives its exchange, and the
// housekeeping outlives the dialect by a moment. Belongs to the loop thread.
class Server : public std::enable_shared_from_this<Server> {
 public:
  explicit Server(Dependencies dependencies);

  Task<void> post(net::Exchange& exchange);
  Task<void> get(net::Exchange& exchange);
  Task<net::Response> del(net::Request& request);
  // See Dialect.
  Task<void> serve_sandbox(net::Exchange& exchange, const session::Session& session);
  // RFC 9728: who can be asked for a token, for clients that have none.
  net::Response metadata(const net::Request& request) const;
  std::optional<net::Response> refuse(const Refusal& refusal, const net::Request& request) const;

  const Shared& shared() const { return *shared_; }
  Connections& connections() { return connections_; }
  // Ends idle connections now and then, until close().
  boost::asio::awaitable<void> keep_house();
  void close();

 private:
  // How an answer may travel, and what becomes of the request if the client leaves.
  struct Delivery {
    std::shared_ptr<Outbox> outbox;
    std::shared_ptr<Running> running;        // null: nothing is to be canceled
    std::shared_ptr<Connection> connection;  // null: nobody can come back
    bool primes = false;                     // an empty first event, so that a client can come back at once
    bool takes_json = true, takes_stream = true;
    bool starts_at_once = false;  // a stream that may say nothing for long
    std::uint64_t after = 0;
  };

  std::optional<net::Response> refuse_origin(const net::Request& request) const;
  Task<void> initialize(net::Exchange& exchange, Message message);
  Task<void> with_connection(net::Exchange& exchange, Message message);
  Task<void> without_connection(net::Exchange& exchange, Message message);
  Task<void> listen(net::Exchange& exchange, CallPtr call);
  Task<void> run(net::Exchange& exchange, CallPtr call);
  CallPtr make_call(const net::Request& request, Message message, Revision revision,
                    std::shared_ptr<Connection> connection);
  // Starts the work of a call; its end closes the outbox.
  void launch(CallPtr call, std::shared_ptr<Running> running, boost::asio::awaitable<void> work);
  Delivery delivery_for(const net::Request& request, const Call& call,
                        std::shared_ptr<Running> running) const;
  Task<void> deliver(net::Exchange& exchange, Delivery delivery);
  void forget_connection(const Connection& connection);
  std::string base_of(const net::Request& request) const;

  std::shared_ptr<Shared> shared_;
  Connections connections_;
  Tally stateless_;                         // requests under way that have no connection, by key
  Tally watchers_;                          // streams that wait for changes, by tenant
  std::set<std::shared_ptr<Outbox>> open_;  // streams that are being sent
  Bell housekeeping_;
  bool closed_ = false;
};

}  // namespace atl::api::mcp
