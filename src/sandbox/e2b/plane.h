#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/client.h"
#include "os/event.h"
#include "sandbox/e2b/account.h"
#include "sandbox/e2b/wire.h"

namespace atl::sandbox::e2b {

inline constexpr std::uint16_t kAgentPort = 49983, kInterpreterPort = 49999;

// A streaming call that can be cut while somebody reads from it. Destroying it cuts it, too, but only when
// nobody reads.
class CuttableCall {
 public:
  CuttableCall(std::shared_ptr<net::ByteStream> stream, std::unique_ptr<net::ClientCall> call)
      : stream_(std::move(stream)), call_(std::move(call)) {}
  net::ClientCall& operator*() { return *call_; }
  net::ClientCall* operator->() { return call_.get(); }
  void cut() { stream_->abort(); }

 private:
  std::shared_ptr<net::ByteStream> stream_;
  std::unique_ptr<net::ClientCall> call_;
};

// The messages of one server stream of Connect-RPC.
class RpcStream {
 public:
  explicit RpcStream(std::shared_ptr<CuttableCall> call) : call_(std::move(call)) {}
  // The next message; nothing at the end of the stream. The error that ended it, or Code::unavailable if the
  // connection broke before its end.
  Task<std::optional<Object>> next();
  void cut() { call_->cut(); }

 private:
  std::shared_ptr<CuttableCall> call_;
  EnvelopeReader envelopes_;
};

enum class Repeat : std::uint8_t { never, once };

// The data plane of one remote sandbox: its agent (processes, files), its interpreters and its ports. Shared
// by the sandbox and everything that was handed out of it, which may live longer. Belongs to the loop thread.
class Plane {
 public:
  struct Options {
    std::string sandbox_url;  // where all sandboxes are reached; empty: each at its own host
    std::string domain;       // of their hosts where the service names none
    Access access;
  };
  Plane(boost::asio::any_io_executor executor, Options options)
      : executor_(executor), options_(std::move(options)), changed_(executor) {}

  const boost::asio::any_io_executor& executor() const { return executor_; }
  const std::string& id() const { return options_.access.id; }

  // A unary call, "process.Process/List". `user` empty: the sandbox's default user. Repeat::once: a
  // connection that broke is tried once more, for calls that do no harm twice.
  Task<Object> call(std::string method, Object message, std::string user, Repeat repeat);
  // A server stream. The caller reads it to its end or cuts it.
  Task<std::unique_ptr<RpcStream>> open_stream(std::string method, Object message, std::string user);
  // Plain HTTP to one of its ports, on a connection of its own.
  Task<std::shared_ptr<CuttableCall>> open(std::uint16_t port, net::ClientRequest request,
                                           net::RequestBody body);
  // The same, collected. An answer whose status is an error is given as it is.
  Task<net::ClientResponse> send(std::uint16_t port, net::ClientRequest request);
  // A bare connection to where that port is reached, and what a request to it needs in its head.
  Task<std::unique_ptr<net::ByteStream>> dial(std::uint16_t port);
  Result<net::Url> url_of(std::uint16_t port) const;
  net::Headers headers_of(std::uint16_t port) const;

  // Paused and ended are our own knowledge: every call is refused with Code::conflict or Code::unavailable
  // then, and nothing is sent.
  Result<void> check_running() const;
  bool is_paused() const { return paused_; }
  bool has_ended() const { return !why_ended_.empty(); }
  const std::string& why_ended() const { return why_ended_; }
  void set_paused(bool paused);
  void set_ended(std::string why);
  // It goes on without this service: nobody is told that it ended, and nobody ends it.
  void leave() { left_ = true; }
  bool is_left() const { return left_; }
  // After a resume: the tokens may be new.
  void set_access(Access access);
  // Wakes at every change of these.
  os::Event& changed() { return changed_; }
  // Called when an answer says that no sandbox of this id runs; whoever owns it finds out what is true.
  std::function<void()> on_doubt;

 private:
  net::ClientOptions client_options() const;
  void note_status(int status);

  boost::asio::any_io_executor executor_;
  Options options_;
  os::Event changed_;
  bool paused_ = false;
  std::string why_ended_;
  bool left_ = false;
};

// Why a connection gave nothing: Code::canceled if whoever waited left, else Code::unavailable with this
// message. A coroutine that asks has called throw_if_cancelled(false) before.
Error broken(const boost::asio::cancellation_state& state, std::string message);

// "Basic" with the user's name, as the agent wants it. Nothing for the default user.
void add_user(net::Headers& headers, const std::string& user);

}  // namespace atl::sandbox::e2b
