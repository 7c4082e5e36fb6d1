#pragma once

#include <boost/asio/steady_timer.hpp>

#include "net/client.h"
#include "net/response_parser.h"

namespace atl::net {

// Ends a stream when time is over. Internal to the room.
// Belongs to the loop thread and to the owner of the stream, which must be destroyed after this.
class Watchdog {
 public:
  Watchdog(boost::asio::any_io_executor executor, ByteStream& stream)
      : timer_(std::move(executor)), shared_(std::make_shared<Shared>(Shared{&stream, 0, false})) {}
  ~Watchdog() { disarm(); }

  // From now on; an earlier time is forgotten. When it is over, the stream is aborted, so that what waits on
  // it fails, and fired() tells why.
  void arm(std::chrono::milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([shared = shared_, round = ++shared_->round](boost::system::error_code error) {
      if (error || shared->round != round) return;
      shared->fired = true;
      shared->stream->abort();
    });
  }
  // A timer that is due already does nothing any more.
  void disarm() {
    ++shared_->round;
    timer_.cancel();
  }
  bool fired() const { return shared_->fired; }

 private:
  struct Shared {
    ByteStream* stream;  // alive while armed: the owner of both disarms first
    std::uint64_t round;
    bool fired;
  };
  boost::asio::steady_timer timer_;
  std::shared_ptr<Shared> shared_;  // a timer that is due already calls back after this is destroyed
};

// One request and its answer over one stream, which it owns. Belongs to the loop thread; one call of a member
// at a time. The contract of the overridden members is ClientCall's.
class HttpCall final : public ClientCall {
 public:
  HttpCall(boost::asio::any_io_executor executor, std::unique_ptr<ByteStream> stream,
           const ClientOptions& options);

  // Sends the head, and the body if it is `whole`. Call it once, before anything else. Fails with
  // Code::unavailable if the connection broke and Code::deadline_exceeded if the time was over.
  Task<void> start(const ClientRequest& request, const std::string& host, RequestBody body);
  Task<void> write(std::string bytes) override;
  Task<void> finish_request() override;
  Task<ClientResponse> head() override;
  Task<std::string> read() override;
  std::unique_ptr<ByteStream> release() override;

  // True if nothing of an answer came yet: the connection was stale.
  bool silent() const { return !heard_; }
  // Reads and drops what is left of the answer if that is little and comes soon. True: the connection can
  // carry another call; false: it cannot, and the rest was not waited for.
  Task<bool> step_over(std::size_t bytes_max, std::chrono::milliseconds time);
  // True if the answer is complete and the connection can carry another call.
  bool reusable() const { return parser_.is_done() && parser_.keep_alive() && !has_bytes(); }

 private:
  // The two ways to the stream, both under the watchdog.
  Task<void> send(std::string bytes);
  // Appends to buffer_ what comes next; an end of the stream sets ended_.
  Task<void> fill();
  bool has_bytes() const { return taken_ < buffer_.size(); }
  // What is there, up to where the parser needs more.
  boost::beast::error_code parse();

  boost::asio::any_io_executor executor_;
  std::unique_ptr<ByteStream> stream_;
  ClientOptions options_;
  Watchdog watchdog_;
  ClientResponse response_;
  ResponseParser parser_;
  std::string buffer_;
  std::size_t taken_ = 0;  // of buffer_, by the parser
  bool heard_ = false;
  bool ended_ = false;
  bool head_request_ = false;
  int interim_ = 0;  // answers before the answer
  RequestBody body_ = RequestBody::whole;
};

}  // namespace atl::net
