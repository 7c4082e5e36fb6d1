#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "net/http.h"
#include "os/event.h"
#include "sandbox/process.h"

namespace atl::api::rest {

// A terminal that goes on when its client's connection is cut, and sends the next client what it missed.
// Output is numbered by its bytes from 0: a client says how many it has seen and gets each byte once. While
// no client is attached the last kKept bytes stay. A client that is attached and does not read holds the
// program back, as a terminal does. Shared by the coroutine that reads, the clients that are attached and the
// list. Belongs to the loop thread.
class KeptTerminal : public std::enable_shared_from_this<KeptTerminal> {
 public:
  static constexpr std::size_t kKept = 256U << 10U;

  KeptTerminal(boost::asio::any_io_executor executor, std::shared_ptr<sandbox::Process> process);

  const std::shared_ptr<sandbox::Process>& process() const { return process_; }
  // Reads until the program ends. Keeps the terminal alive meanwhile.
  boost::asio::awaitable<void> read_from(std::unique_ptr<sandbox::ProcessStream> stream);
  // Sends output from byte `from` on, until the program ends (its outcome) or the client goes away. If bytes
  // from there on are no longer kept, {"type":"lost","bytes"} comes first.
  Task<sandbox::Outcome> show_to(net::WebSocket& socket, std::uint64_t from);
  std::uint64_t first() const { return end_ - output_.size(); }
  std::uint64_t end() const { return end_; }

 private:
  bool is_held_back() const;

  std::shared_ptr<sandbox::Process> process_;
  std::string output_;  // the bytes before end_
  std::uint64_t end_ = 0;
  std::list<std::uint64_t> readers_;  // how far each attached client is
  std::optional<Result<sandbox::Outcome>> outcome_;
  os::Event changed_;
};

// The kept terminals of all sessions. Each ends with its program, and its program at the latest with the
// session.
class KeptTerminals {
 public:
  static constexpr std::size_t kPerSession = 16;
  static constexpr std::size_t kPerTenant = 128;

  // Code::resource_exhausted if the session or its tenant has as many as it may.
  Result<void> admit(const std::string& tenant, const std::string& session_id);
  std::shared_ptr<KeptTerminal> add(const boost::asio::any_io_executor& executor, const std::string& tenant,
                                    const std::string& session_id, std::shared_ptr<sandbox::Process> process,
                                    std::unique_ptr<sandbox::ProcessStream> stream);
  // Null if there is none.
  std::shared_ptr<KeptTerminal> find(const std::string& session_id, std::uint32_t pid) const;

 private:
  using Key = std::pair<std::string, std::uint32_t>;
  struct Kept {
    std::string tenant;
    std::shared_ptr<KeptTerminal> terminal;
  };
  // Shared with the coroutines that read: they outlive this object when the service stops.
  std::shared_ptr<std::map<Key, Kept>> all_ = std::make_shared<std::map<Key, Kept>>();
};

}  // namespace atl::api::rest
