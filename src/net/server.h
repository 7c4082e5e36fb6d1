#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_subject.h"
#include "net/http.h"
#include "net/router.h"

namespace atl::net {

// Which pages of other origins a browser may let read our answers.
struct Cors {
  std::vector<std::string> origins;  // empty: no CORS headers at all; "*": any
  std::vector<std::string> exposed_headers;
  std::chrono::seconds max_age{7200};
};

struct ServerOptions {
  std::chrono::milliseconds header_time{10'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds idle_time{120'000};   // a kept-alive connection without a request
  std::chrono::milliseconds body_stall_time{60'000};    // without a byte of a body that a handler waits for
  std::chrono::milliseconds write_stall_time{300'000};  // without the client taking a byte
  std::size_t header_bytes_max = 64U << 10;
  // At this many, idle ones make room for new ones, those that brought no admitted request first; if none is
  // idle, more wait in the kernel's queue.
  std::size_t connections_max = 20'000;
  BodyLimits bodies;
  Cors cors;
};

// What the access log says of one request.
struct Access {
  std::string_view id, peer, method, target;
  int status = 0;  // 0: aborted before an answer
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::chrono::microseconds duration{0};
  trace::Context trace = {};                      // of the request's span
  std::string_view tenant = {}, session_id = {};  // whom SubjectOf names
  bool is_passed_on = false;                      // the site's answers are those of somebody behind it
};
// Called on the loop when the answer is complete or given up; the views are valid during the call only.
using AccessSink = std::function<void(const Access&)>;

// Whose request it is and which session it is about, for the log; asked when it was answered.
using SubjectOf = std::function<log::Subject(const Request&)>;

class TlsContext;

// An HTTP/1.1 server. Belongs to the loop thread. It must outlive its connections: call stop() and let it
// finish before destroying.
class Server {
 public:
  Server(boost::asio::any_io_executor executor, ServerOptions options);
  ~Server();

  // The router that serves what no site takes.
  Router& router();
  // A site: requests for which `accepts` says yes are served by its router. Asked in the order of adding,
  // before anything of the path is looked at; must be quick.
  enum class Answers : std::uint8_t { own, passed_on };  // ours, or a server's that a tenant runs
  Router& add_site(std::function<bool(const Request&)> accepts, Answers answers = Answers::own);

  // The default one and every site's, for whoever checks all routes.
  std::vector<const Router*> routers() const;

  void set_access_sink(AccessSink sink);
  void set_subject_of(SubjectOf subject_of);
  // What the service does without at the moment, by its parts' names: answers to callers whom SubjectOf knows
  // name it in the header Atoll-Degraded. Empty: nothing.
  void set_degraded(std::string parts);

  // "127.0.0.1:8000", "[::1]:0", "localhost:80" or "unix:/path/to.sock" (an old socket file is replaced, mode
  // 0600). Gives the address in the same form with the real port. With `tls` every connection is TLS.
  // Code::invalid_argument for an address of another form; what the system says if it cannot be bound, and
  // then nothing listens there. May be called for several addresses.
  Result<std::string> listen(std::string_view address, std::shared_ptr<TlsContext> tls = nullptr);

  // No new connections; idle ones close; running requests may finish within `grace`, then they are aborted.
  boost::asio::awaitable<void> stop(std::chrono::milliseconds grace);

  // Cuts every connection whose request under way has a grant that the predicate takes, upgraded ones too, as
  // if the client had gone away.
  void cut_if(const std::function<bool(const void* grant)>& unwanted);

  std::size_t connections() const;
  const BodyBudget& bodies() const;

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

// Opens `target` for append ("stderr" is standard error) and writes one JSON object a line, gathered for at
// most a quarter of a second.
Result<AccessSink> open_access_log(boost::asio::any_io_executor executor, const std::string& target);

}  // namespace atl::net
