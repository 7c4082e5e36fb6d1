#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/clock.h"
#include "base/json.h"
#include "net/server.h"
#include "os/fd.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;
constexpr std::size_t kGather = 64U << 10;

struct AccessLog : std::enable_shared_from_this<AccessLog> {
  AccessLog(asio::any_io_executor executor, os::Fd file_)
      : file(std::move(file_)), timer(std::move(executor)) {}
  ~AccessLog() { flush(); }

  void add(const Access& access) {
    fmt::format_to(std::back_inserter(lines), R"({{"time":"{}","request_id":)",
                   to_rfc3339(Clock::machine().now()));
    json::append_quoted(lines, access.id);
    add_member("peer", access.peer);
    add_member("method", access.method);
    add_member("target", without_secrets(access.target));
    if (access.trace.is_valid())
      fmt::format_to(std::back_inserter(lines), R"(,"trace_id":"{}")", trace::to_hex(access.trace.trace_id));
    if (!access.tenant.empty()) add_member("tenant", access.tenant);
    if (!access.session_id.empty()) add_member("session_id", access.session_id);
    fmt::format_to(std::back_inserter(lines),
                   ",\"status\":{},\"bytes_in\":{},\"bytes_out\":{},\"duration_us\":{}}}\n", access.status,
                   access.bytes_in, access.bytes_out, access.duration.count());
    if (lines.size() > kGather) return flush();
    if (!waiting) flush_later();
  }

  void add_member(std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(lines), ",\"{}\":", name);
    json::append_quoted(lines, value);
  }

  // A query string may carry signatures and tokens: only names and the path are for the log.
  static std::string without_secrets(std::string_view target) {
    return std::string(target.substr(0, target.find('?')));
  }

  void flush_later() {
    waiting = true;
    timer.expires_after(std::chrono::milliseconds(250));
    timer.async_wait([weak = weak_from_this()](boost::system::error_code) {
      if (auto self = weak.lock()) {
        self->waiting = false;
        self->flush();
      }
    });
  }

  void flush() {
    std::string_view left = lines;
    while (!left.empty()) {
      ssize_t written = ::write(file.get(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;  // a full disk must not stop the service
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    lines.clear();
  }

  os::Fd file;
  asio::steady_timer timer;
  std::string lines;
  bool waiting = false;
};

}  // namespace

Result<AccessSink> open_access_log(asio::any_io_executor executor, const std::string& target) {
  os::Fd file(target == "stderr" ? ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
                                 : ::open(target.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
  if (!file.is_open()) return fail(errno_error(errno, "open the access log"));
  auto log = std::make_shared<AccessLog>(std::move(executor), std::move(file));
  return AccessSink([log](const Access& access) { log->add(access); });
}

}  // namespace atl::net
