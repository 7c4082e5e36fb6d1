#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/commands/session.h"
#include "cli/detach_keys.h"
#include "cli/web_socket.h"
#include "config/checked.h"
#include "os/fd.h"
#include "os/file.h"

// attach: a terminal in a session, which goes on when the connection is cut.
namespace atl::cli {
namespace {

namespace asio = boost::asio;
namespace bj = boost::json;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr int kTries = 60;
constexpr std::chrono::seconds kBetweenTries{1};

struct AttachFlags {
  std::string id, process, cwd, keys = "ctrl-p,ctrl-q";
};

// The user's terminal without its own line editing; put back however this ends.
class BareTerminal {
 public:
  BareTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) < 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    bare_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~BareTerminal() {
    if (bare_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  BareTerminal(const BareTerminal&) = delete;
  BareTerminal& operator=(const BareTerminal&) = delete;

 private:
  termios before_{};
  bool bare_ = false;
};

winsize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
    return {24, 80, 0, 0};
  return size;
}

enum class Ended : std::uint8_t { exited, detached, cut };

// One attachment over several connections. Loop thread only.
class Attachment {
 public:
  Attachment(asio::io_context& loop, Endpoint endpoint, AttachFlags flags, DetachKeys keys)
      : loop_(loop), endpoint_(std::move(endpoint)), flags_(std::move(flags)), keys_(std::move(keys)) {}

  Task<int> run() {
    if (!flags_.process.empty()) pid_ = std::stoll(flags_.process);
    CO_CHECK(co_await connect());
    asio::co_spawn(loop_, forward_keys(), asio::detached);
    asio::co_spawn(loop_, forward_size(), asio::detached);
    while (true) {
      CO_TRY(const Ended ended, co_await show());
      if (ended == Ended::exited) co_return status_;
      if (ended == Ended::detached) {
        say(fmt::format("detached; `atoll session attach {} --process {}` comes back", flags_.id, pid_));
        co_return 0;
      }
      CO_CHECK(co_await come_back());
    }
  }

 private:
  Task<void> connect() {
    const winsize size = size_of_terminal();
    std::string target = session_target(
        flags_.id, fmt::format("/terminal?keep=true&columns={}&rows={}", size.ws_col, size.ws_row));
    if (pid_ != 0) target += fmt::format("&process={}&from={}", pid_, at_);
    if (!flags_.cwd.empty()) target += "&cwd=" + net::percent_encode(flags_.cwd);
    auto made = co_await ClientWebSocket::connect(loop_.get_executor(), endpoint_, std::move(target));
    if (!made) co_return fail(std::move(made).error());
    socket_ = std::move(*made);
    co_return co_await send_size();
  }

  // Until the connection ends in one way or another.
  Task<Ended> show() {
    while (true) {
      auto message = co_await socket_->receive();
      if (detached_) co_return Ended::detached;
      if (!message) co_return Ended::cut;
      if (message->binary) {
        at_ += message->bytes.size();
        CO_CHECK(os::write_all(STDOUT_FILENO, message->bytes));
        continue;
      }
      CO_TRY(const bj::value told, json::parse(message->bytes));
      const std::string type = text_at(told, "type");
      if (type == "start") {
        pid_ = static_cast<std::int64_t>(number_at(told, "pid"));
        at_ = static_cast<std::uint64_t>(number_at(told, "at"));
      } else if (type == "lost") {
        at_ += static_cast<std::uint64_t>(number_at(told, "bytes"));
        say(fmt::format("{:.0f} bytes of output are no longer kept", number_at(told, "bytes")));
      } else if (type == "exit") {
        status_ = static_cast<int>(number_at(told, "exit_code"));
        co_return Ended::exited;
      }
    }
  }

  Task<void> come_back() {
    say("the connection was cut; trying again (the detach keys give up)");
    asio::steady_timer timer(loop_);
    for (int tries = 1; !detached_; ++tries) {
      auto connected = co_await connect();
      if (connected) co_return Result<void>();
      const Code code = connected.error().code();
      if (tries == kTries || code == Code::not_found || code == Code::unauthenticated ||
          code == Code::permission_denied)
        co_return fail(std::move(connected).error());
      timer.expires_after(kBetweenTries);
      (void)co_await timer.async_wait(kTuple);
    }
    co_return fail(Code::canceled, "detached while the connection was cut");
  }

  asio::awaitable<void> forward_keys() {
    asio::posix::stream_descriptor input(loop_, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    std::string buffer(4096, '\0');
    while (true) {
      const auto [error, size] = co_await input.async_read_some(asio::buffer(buffer), kTuple);
      if (error || size == 0) break;
      const DetachKeys::Split split = keys_.take(std::string_view(buffer).substr(0, size));
      if (!split.pass.empty() && socket_) {
        net::Message message{true, split.pass};
        (void)co_await socket_->send(std::move(message));
      }
      if (split.detach) break;
    }
    // The end of our input leaves the program, too: it waits for whoever comes back.
    detached_ = true;
    if (socket_) socket_->abort();
  }

  asio::awaitable<void> forward_size() {
    asio::signal_set signals(loop_, SIGWINCH);
    while (true) {
      const auto [error, number] = co_await signals.async_wait(kTuple);
      if (error) co_return;
      (void)co_await send_size();
    }
  }

  Task<void> send_size() {
    const winsize size = size_of_terminal();
    net::Message message{
        false, fmt::format(R"({{"type":"resize","columns":{},"rows":{}}})", size.ws_col, size.ws_row)};
    co_return co_await socket_->send(std::move(message));
  }

  static void say(const std::string& text) { fmt::print(stderr, "\r\natoll: {}\r\n", text); }

  asio::io_context& loop_;
  const Endpoint endpoint_;
  const AttachFlags flags_;
  DetachKeys keys_;
  std::unique_ptr<ClientWebSocket> socket_;
  std::int64_t pid_ = 0;
  std::uint64_t at_ = 0;  // number of the next byte of output
  int status_ = 0;
  bool detached_ = false;
};

Result<int> attach_to(const SessionFlags& shared, const AttachFlags& flags) {
  if (::isatty(STDIN_FILENO) != 1)
    return fail(Code::invalid_argument,
                fmt::format("standard input is no terminal; `atoll session run {} -- COMMAND` needs none",
                            config::shown(flags.id)));
  if (!flags.process.empty()) TRY(config::Checked("--process", flags.process).whole_number(1, 4'294'967'295));
  DetachKeys keys = TRY(DetachKeys::parse(flags.keys));
  Endpoint endpoint = TRY(shared.connection.find());
  asio::io_context loop;
  std::optional<Result<int>> status;
  {
    const BareTerminal bare;
    Attachment attachment(loop, std::move(endpoint), flags, std::move(keys));
    asio::co_spawn(loop, attachment.run(), [&](std::exception_ptr, Result<int> value) {
      status.emplace(std::move(value));
      loop.stop();
    });
    loop.run();
  }
  return status ? std::move(*status) : fail(Code::internal, "the terminal ended without a word");
}

}  // namespace

void add_session_attach(Command& session, const SessionFlags& shared, Group& group) {
  auto flags = std::make_shared<AttachFlags>();
  Command command = group.add(session, "attach", "Open a terminal in a session, or come back to one",
                              [&shared, flags] { return attach_to(shared, *flags); });
  command.add_option("ID", flags->id, "The session").required().value("SESSION");
  command.add_option("--process", flags->process, "The terminal to come back to, as detaching told it")
      .value("PID");
  command.add_option("--cwd", flags->cwd, "Directory to begin in");
  command.add_option("--detach-keys", flags->keys, "Keys that leave it and let it go on")
      .with_default_shown()
      .value("KEYS");
  command.notes(
      "The shell inside goes on when you detach or the connection is cut; what it writes meanwhile\n"
      "(the last 256 KiB) is shown when you come back. `exit` ends it.");
}

}  // namespace atl::cli
