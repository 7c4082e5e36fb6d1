#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <deque>
#include <filesystem>

#include "base/log.h"
#include "cli/command.h"
#include "cli/mcp_bridge.h"
#include "cli/settings.h"
#include "daemon/daemon.h"
#include "daemon/data_directory.h"
#include "daemon/local_access.h"
#include "net/client.h"

// MCP on standard input and output, for clients that start their servers themselves. Standard output belongs
// to the protocol: everything else is said on standard error.
namespace atl::cli {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kLineMax = 16U << 20;

struct McpFlags {
  SettingFlags settings;
  std::string url;
};

std::string key_of_environment() {
  const char* key = std::getenv("ATOLL_API_KEY");
  return key == nullptr ? std::string() : key;
}

// A service inside this process, for machines where none runs. Others on this machine find it as they find
// any other.
class EmbeddedService {
 public:
  EmbeddedService(asio::io_context& loop, const McpFlags& flags) : loop_(loop), flags_(flags) {}
  ~EmbeddedService() {
    std::error_code ignored;
    if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  }

  Result<void> build() {
    char name[] = "/tmp/atoll-mcp-XXXXXX";
    if (::mkdtemp(name) == nullptr) return fail(errno_error(errno, "make a directory for a socket"));
    directory_ = name;
    configuration_.emplace(TRY(flags_.settings.load({{"listen", "unix:" + directory_ + "/socket"}})));
    daemon_ = TRY(daemon::Daemon::build(loop_, *configuration_));
    return {};
  }
  Task<McpService> start() {
    CO_TRY(const daemon::Ready ready, co_await daemon_->start());
    if (!ready.new_key.empty())
      log::info("a first API key was made and is not shown; `atoll keys create` makes another");
    CO_TRY(const std::string data, daemon::data_directory(*configuration_));
    const auto access = daemon::read_local_access(data);
    if (!access) co_return fail(Code::internal, "the service left no way to reach it");
    co_return McpService{access->address, access->key};
  }
  asio::awaitable<void> stop() {
    if (daemon_ != nullptr) co_await daemon_->stop();
  }

 private:
  asio::io_context& loop_;
  const McpFlags& flags_;
  std::string directory_;
  std::optional<config::Configuration> configuration_;
  std::unique_ptr<daemon::Daemon> daemon_;
};

// Standard output, one message a line, in order. A client that does not read holds nobody up.
class LineWriter {
 public:
  explicit LineWriter(asio::io_context& loop) : out_(loop) {
    boost::system::error_code not_pollable;
    out_.assign(::dup(STDOUT_FILENO), not_pollable);
    is_pollable_ = !not_pollable;
  }
  void write(std::string line) {
    line += '\n';
    if (!is_pollable_) {
      for (std::size_t at = 0; at < line.size();) {
        const auto taken = ::write(STDOUT_FILENO, line.data() + at, line.size() - at);
        if (taken <= 0) return;
        at += static_cast<std::size_t>(taken);
      }
      return;
    }
    lines_.push_back(std::move(line));
    if (!std::exchange(busy_, true)) asio::co_spawn(out_.get_executor(), drain(), asio::detached);
  }
  asio::awaitable<void> flush() {
    while (busy_) {
      asio::steady_timer pause(out_.get_executor(), std::chrono::milliseconds(5));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

 private:
  asio::awaitable<void> drain() {
    while (!lines_.empty()) {
      const std::string line = std::move(lines_.front());
      lines_.pop_front();
      const auto [failed, size] =
          co_await asio::async_write(out_, asio::buffer(line), asio::as_tuple(asio::use_awaitable));
      if (failed) lines_.clear();
    }
    busy_ = false;
  }

  asio::posix::stream_descriptor out_;
  bool is_pollable_ = false, busy_ = false;
  std::deque<std::string> lines_;
};

// Standard input, piece by piece; a file is read as it is. Empty: the end.
class InputReader {
 public:
  explicit InputReader(asio::io_context& loop) : in_(loop) {
    boost::system::error_code not_pollable;
    in_.assign(::dup(STDIN_FILENO), not_pollable);
    is_pollable_ = !not_pollable;
  }
  asio::awaitable<std::string> next() {
    std::string piece(64U << 10, '\0');
    if (!is_pollable_) {
      const auto size = ::read(STDIN_FILENO, piece.data(), piece.size());
      piece.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
      co_return piece;
    }
    const auto [failed, size] =
        co_await in_.async_read_some(asio::buffer(piece), asio::as_tuple(asio::use_awaitable));
    piece.resize(failed ? 0 : size);
    co_return piece;
  }
  void cancel() {
    boost::system::error_code ignored;
    in_.cancel(ignored);
  }

 private:
  asio::posix::stream_descriptor in_;
  bool is_pollable_ = false;
};

asio::awaitable<void> carry(InputReader& input, McpBridge& bridge, LineWriter& output) {
  std::string held;
  while (true) {
    const std::string piece = co_await input.next();
    if (piece.empty()) break;
    held += piece;
    for (auto end = held.find('\n'); end != std::string::npos; end = held.find('\n')) {
      std::string line = held.substr(0, end);
      held.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty()) co_await bridge.take(std::move(line));
    }
    if (held.size() > kLineMax) {
      output.write(
          R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a line of over 16 MiB"}})");
      break;
    }
  }
  if (!held.empty() && held.size() <= kLineMax) co_await bridge.take(std::move(held));
}

Task<bool> answers(asio::io_context& loop, McpService service) {
  CO_TRY(const net::Url url, net::Url::parse(service.address));
  net::ClientOptions options;
  options.tries = 1;
  options.connect_time = std::chrono::seconds(2);
  net::Client client(loop.get_executor(), url, options);
  net::ClientRequest request;
  request.target = "/health";
  CO_TRY(const net::ClientResponse answer, co_await client.send(std::move(request)));
  co_return answer.status < 300;
}

// The service of this machine's data directory, if one runs.
Task<McpService> running_service(asio::io_context& loop, const McpFlags& flags) {
  CO_TRY(const config::Configuration configuration, flags.settings.load());
  CO_TRY(const std::string data, daemon::data_directory(configuration));
  const auto access = daemon::read_local_access(data);
  if (!access) co_return fail(Code::unavailable, "no service runs for this data directory");
  const std::string own = key_of_environment();
  McpService service{access->address, own.empty() ? access->key : own};
  CO_TRY(const bool alive, co_await answers(loop, service));
  if (!alive) co_return fail(Code::unavailable, "the service does not answer");
  co_return service;
}

struct McpRun {
  asio::io_context& loop;
  const McpFlags& flags;
  std::unique_ptr<EmbeddedService> embedded;

  Task<McpService> find() {
    if (!flags.url.empty()) co_return McpService{flags.url, key_of_environment()};
    auto running = co_await running_service(loop, flags);
    if (running) co_return std::move(*running);
    if (embedded != nullptr) co_return fail(Code::unavailable, "the service has ended");
    auto own = std::make_unique<EmbeddedService>(loop, flags);
    auto built = own->build();
    // Another one of us may have been quicker.
    if (!built && built.error().code() == Code::conflict) co_return co_await running_service(loop, flags);
    if (!built) co_return fail(built.error());
    embedded = std::move(own);
    co_return co_await embedded->start();
  }
};

asio::awaitable<void> serve(McpRun& session, int& status) {
  asio::io_context& loop = session.loop;
  auto found = co_await session.find();
  if (!found) {
    status = report(found.error());
  } else {
    LineWriter output(loop);
    InputReader input(loop);
    McpBridge bridge(
        loop.get_executor(), std::move(*found), [&session] { return session.find(); },
        [&output](std::string line) { output.write(std::move(line)); });
    asio::signal_set signals(loop, SIGTERM, SIGINT);
    signals.async_wait([&](boost::system::error_code error, int) {
      if (error) return;
      bridge.cancel();
      input.cancel();
    });
    co_await carry(input, bridge, output);
    co_await bridge.finish();
    co_await output.flush();
    signals.cancel();
  }
  if (session.embedded != nullptr) co_await session.embedded->stop();
  loop.stop();
}

int run_mcp(McpFlags& flags) {
  // --url may name the service or its endpoint.
  while (flags.url.ends_with('/')) flags.url.pop_back();
  if (flags.url.ends_with("/mcp")) flags.url.resize(flags.url.size() - 4);
  if (!flags.url.empty())
    if (auto url = net::Url::parse(flags.url); !url) return report(url.error());
  auto configuration = flags.settings.load();
  if (!configuration) return report(configuration.error());
  (void)log::set_level(configuration->text("log.level"));
  asio::io_context loop(1);
  McpRun session{loop, flags, nullptr};
  int status = 0;
  asio::co_spawn(loop, serve(session, status), asio::detached);
  loop.run();
  return status;
}

}  // namespace

Action define_mcp(Command& top) {
  Command command = top.add_command(
      "mcp", "Speak MCP on standard input and output; starts a service if none runs on this machine");
  auto flags = std::make_unique<McpFlags>();
  flags->settings.add_to(command);
  command.add_option("--url", flags->url,
                     "the service to use, such as http://127.0.0.1:8000; its key is in ATOLL_API_KEY");
  return [flags = std::move(flags)] { return run_mcp(*flags); };
}

}  // namespace atl::cli
