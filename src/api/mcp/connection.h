#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/mcp/bell.h"
#include "api/mcp/log_level.h"
#include "api/mcp/message.h"
#include "api/mcp/outbox.h"
#include "api/mcp/revision.h"
#include "auth/principal.h"
#include "os/task.h"

namespace atl::api::mcp {

// A request under way. It goes on without the client that waits for it, until it ends or is canceled. Shared
// by its coroutine and by everyone who may cancel it.
struct Running {
  boost::asio::cancellation_signal signal;
  bool canceled = false, ended = false;

  // Cancels its coroutine. The client then gets no answer. Does nothing the second time.
  void cancel() {
    if (ended || std::exchange(canceled, true)) return;
    signal.emit(boost::asio::cancellation_type::terminal);
  }
};

// What a client of the revisions before 2026-07-28 began with `initialize`. The protocol calls it a session
// (Mcp-Session-Id); here that word means the session service's. Shared by Connections and the requests under
// way: a connection that was closed lives until the last of them has ended. Belongs to the loop thread.
class Connection {
 public:
  Connection(boost::asio::any_io_executor executor, std::string id, auth::Principal owner, Revision revision,
             bj::object params);

  const std::string& id() const { return id_; }
  Revision revision() const { return revision_; }
  const auth::Principal& owner() const { return owner_; }
  // The member `capabilities` of the client's `initialize`.
  const bj::object& capabilities() const { return capabilities_; }
  const std::string& client() const { return client_; }
  bool belongs_to(const auth::Principal& who) const {
    return owner_.tenant == who.tenant && owner_.key_id == who.key_id && owner_.looks_from == who.looks_from;
  }

  LogLevel log_level = LogLevel::warning;
  std::set<std::string> subscriptions;  // URIs of resources
  std::string sandbox;                  // made for this connection; empty: none yet
  bool is_making_sandbox = false;
  std::chrono::steady_clock::time_point used = std::chrono::steady_clock::now();
  std::shared_ptr<Outbox> own = nullptr;  // of the stream that the client has open; null: none

  // Requests by their ids. begin() returns false, and changes nothing, if one of this id runs or if
  // kRunningMax run already; every other begin() is followed by one end().
  bool begin(const bj::value& id, std::shared_ptr<Running> running, std::shared_ptr<Outbox> outbox);
  void end(const bj::value& id);
  void cancel(const bj::value& id);
  bool is_idle() const { return running_.empty() && own == nullptr; }
  // A stream that a client can come back to; null if there is none of this name, or no longer.
  std::shared_ptr<Outbox> stream(const std::string& name) const;
  // The client has the whole answer of this stream, which is therefore forgotten.
  void delivered(const std::string& name);

  // Sends the client a request on the stream of one of its own, and waits for the answer: the member
  // `result`. Code::unsupported with the client's own words if it refuses.
  Task<bj::object> ask(std::shared_ptr<Outbox> outbox, std::string method, bj::object params);
  void answered(const bj::object& message);

  // Waits until somebody else has made the sandbox, or failed to.
  boost::asio::awaitable<void> wait_for_sandbox();
  void sandbox_settled() { settled_.ring(); }

  // Ends everything that runs and every stream.
  void close();

  static constexpr std::size_t kRunningMax = 1'024;
  static constexpr std::size_t kSubscriptionsMax = 32;
  static constexpr std::size_t kCapabilitiesMax = 16'384;  // bytes of JSON that a client says of itself

 private:
  struct Active {
    std::shared_ptr<Running> running;
    std::shared_ptr<Outbox> outbox;
  };
  struct Question {
    std::optional<bj::object> answer;
    std::unique_ptr<boost::asio::steady_timer> arrived;
  };

  boost::asio::any_io_executor executor_;
  std::string id_;
  auth::Principal owner_;
  Revision revision_;
  bj::object capabilities_;
  std::string client_;
  std::map<std::string, Active> running_;                   // by id as JSON
  std::map<std::string, std::shared_ptr<Outbox>> streams_;  // by name; finished ones, too, for a while
  std::deque<std::string> finished_;                        // names of those, oldest first
  std::map<std::int64_t, Question> questions_;
  std::int64_t next_question_ = 1;
  Bell settled_;
};

// All connections there are. Bounded in each key, each tenant and altogether: at a bound the one of the same
// key or tenant that was idle longest makes room, never another tenant's. Belongs to the loop thread.
class Connections {
 public:
  struct Limits {
    std::size_t of_key = 512;
    std::size_t of_tenant = 1'024;
    std::size_t all = 8'192;
    std::chrono::minutes idle{60};
  };
  // `on_close` is called with every connection that ends, while it still exists.
  Connections(boost::asio::any_io_executor executor, Limits limits,
              std::function<void(const Connection&)> on_close)
      : executor_(std::move(executor)), limits_(limits), on_close_(std::move(on_close)) {}

  // Code::resource_exhausted if all are busy; Code::too_large for a client that says more of itself than
  // Connection::kCapabilitiesMax.
  Result<std::shared_ptr<Connection>> open(const auth::Principal& owner, Revision revision,
                                           bj::object params);
  // Null if there is none of this id, or it is somebody else's.
  std::shared_ptr<Connection> find(std::string_view id, const auth::Principal& who) const;
  void close(const std::string& id);
  // Of a key that ended.
  void close_of(const std::string& key_id);
  void close_idle();
  void close_all();
  std::size_t size() const { return connections_.size(); }

 private:
  // Ends the caller's connection that was idle longest: of the key, or of any key of the tenant.
  bool make_room(const auth::Principal& owner, bool of_key);

  boost::asio::any_io_executor executor_;
  Limits limits_;
  std::function<void(const Connection&)> on_close_;
  std::map<std::string, std::shared_ptr<Connection>, std::less<>> connections_;
};

}  // namespace atl::api::mcp
