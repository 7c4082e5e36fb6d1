// The places that entries are forwarded to.
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "audit/entry.h"
#include "audit/forward.h"
#include "base/bytes.h"
#include "net/blocking_client.h"
#include "os/fd.h"
#include "os/file.h"

namespace atl::audit {
namespace {

constexpr std::chrono::seconds kSendTime{10};

class FileTarget final : public Target {
 public:
  explicit FileTarget(std::string path) : path_(std::move(path)) {}
  const std::string& name() const override {
    static const std::string kName = "file";
    return kName;
  }
  // Opened each time: whoever rotates the file moves it away.
  Result<void> send(const std::vector<std::string>& lines) override {
    const os::Fd fd = TRY(os::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
    std::string all;
    for (const std::string& line : lines) all += line;
    return os::write_all(fd.get(), all);
  }

 private:
  std::string path_;
};

struct AddressDeleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

class SyslogTarget final : public Target {
 public:
  enum class Way : std::uint8_t { local, udp, tcp };
  SyslogTarget(Way way, std::string host, std::string port)
      : way_(way), host_(std::move(host)), port_(std::move(port)) {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) == 0) machine_ = name;
    if (machine_.empty()) machine_ = "-";
  }
  const std::string& name() const override {
    static const std::string kName = "syslog";
    return kName;
  }

  Result<void> send(const std::vector<std::string>& lines) override {
    if (!socket_.is_open()) TRY(connect());
    for (const std::string& line : lines) {
      auto sent = send_one(line);
      if (sent) continue;
      socket_.reset();
      return sent;
    }
    return {};
  }

 private:
  Result<void> use(int family, int type, const sockaddr* address, socklen_t size) {
    os::Fd fd(::socket(family, type | SOCK_CLOEXEC, 0));
    if (!fd.is_open()) return fail(errno_error(errno, "syslog: socket"));
    const timeval limit{kSendTime.count(), 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (::connect(fd.get(), address, size) != 0) return fail(errno_error(errno, "syslog: connect"));
    socket_ = std::move(fd);
    return {};
  }
  Result<void> connect() {
    if (way_ == Way::local) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      if (host_.size() >= sizeof address.sun_path)
        return fail(Code::too_large, "syslog: the path is too long");
      std::memcpy(address.sun_path, host_.data(), host_.size());
      return use(AF_UNIX, SOCK_DGRAM, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    addrinfo hints{};
    hints.ai_socktype = way_ == Way::udp ? SOCK_DGRAM : SOCK_STREAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(host_.c_str(), port_.c_str(), &hints, &list) != 0)
      return fail(Code::unavailable, "syslog: the host's name has no address");
    const std::unique_ptr<addrinfo, AddressDeleter> owned(list);
    Result<void> last = fail(Code::unavailable, "syslog: no address");
    for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
      last = use(at->ai_family, at->ai_socktype, at->ai_addr, at->ai_addrlen);
      if (last) return last;
    }
    return last;
  }
  // <110>: facility "log audit" (13), severity "informational" (6).
  Result<void> send_one(const std::string& line) {
    const std::string_view text = std::string_view(line).substr(0, line.size() - 1);
    std::string message = fmt::format("<110>1 {} {} atoll {} audit - {}", to_rfc3339(Clock::machine().now()),
                                      machine_, ::getpid(), text);
    if (way_ == Way::tcp) message = fmt::format("{} {}", message.size(), message);
    std::string_view rest = message;
    while (!rest.empty()) {
      const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return fail(errno_error(errno, "syslog: send"));
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  Way way_;
  std::string host_, port_, machine_;
  os::Fd socket_;
};

class WebhookTarget final : public Target {
 public:
  WebhookTarget(net::Url url, std::string secret)
      : client_(std::move(url), kSendTime), secret_(std::move(secret)) {}
  const std::string& name() const override {
    static const std::string kName = "webhook";
    return kName;
  }

  Result<void> send(const std::vector<std::string>& lines) override {
    net::ClientRequest request;
    request.method = "POST";
    request.target = "";
    for (const std::string& line : lines) request.body += line;
    request.headers.add("Content-Type", "application/x-ndjson");
    if (!secret_.empty()) {
      const std::string seconds = std::to_string(unix_millis(Clock::machine().now()) / 1000);
      request.headers.add(
          "X-Atoll-Signature",
          fmt::format("t={},v1={}", seconds, to_hex(hmac_sha256(secret_, seconds + "." + request.body))));
    }
    auto sent = client_.send(std::move(request));
    if (!sent) return fail(std::move(sent).error().context("webhook"));
    const net::ClientResponse& answer = *sent;
    if (answer.status / 100 == 2) return {};
    return fail(Code::unavailable, fmt::format("webhook: it answered {}", answer.status));
  }
  void stop() override { client_.stop(); }

 private:
  net::BlockingClient client_;
  std::string secret_;
};

}  // namespace

Result<std::unique_ptr<Target>> file_target(const std::string& path) {
  if (!path.starts_with('/'))
    return fail(Code::invalid_argument, fmt::format("a file's whole path is wanted, got '{}'", path));
  return std::make_unique<FileTarget>(path);
}

Result<std::unique_ptr<Target>> syslog_target(const std::string& address) {
  using Way = SyslogTarget::Way;
  if (address.starts_with("unix:/")) return std::make_unique<SyslogTarget>(Way::local, address.substr(5), "");
  const bool udp = address.starts_with("udp://"), tcp = address.starts_with("tcp://");
  const std::string rest = udp || tcp ? address.substr(6) : "";
  const auto colon = rest.rfind(':');
  const std::string port = colon == std::string::npos ? "" : rest.substr(colon + 1);
  std::string host = rest.substr(0, colon == std::string::npos ? 0 : colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const bool is_number =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (host.empty() || !is_number)
    return fail(Code::invalid_argument,
                fmt::format("unix:PATH, udp://HOST:PORT or tcp://HOST:PORT is wanted, got '{}'", address));
  return std::make_unique<SyslogTarget>(udp ? Way::udp : Way::tcp, host, port);
}

Result<std::unique_ptr<Target>> webhook_target(const std::string& url, const std::string& secret) {
  net::Url parsed = TRY(net::Url::parse(url));
  if (parsed.scheme == net::Scheme::unix_socket)
    return fail(Code::invalid_argument, fmt::format("an http or https URL is wanted, got '{}'", url));
  return std::make_unique<WebhookTarget>(std::move(parsed), secret);
}

}  // namespace atl::audit
