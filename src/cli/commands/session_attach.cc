#include <atoll/client.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>

#include "cli/commands/session.h"
#include "cli/detach_keys.h"
#include "config/checked.h"
#include "os/fd.h"
#include "os/file.h"

// attach: a terminal in a session, which goes on when the connection is cut.
namespace atl::cli {
namespace {

constexpr int kTries = 60;
constexpr int kTriesOfKey = 10;
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

// What a terminal is told of: its window, and that whoever looks at it leaves.
sigset_t signals_of_terminal() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGWINCH, SIGTERM, SIGHUP}) ::sigaddset(&set, number);
  return set;
}

constexpr std::size_t kUnsentMax = 65'536;

enum class Ended : std::uint8_t { exited, detached, cut };

// One attachment over several connections. The calling thread shows what comes; another sends keys and sizes.
class Attachment {
 public:
  Attachment(const ConnectionFlags& connection, Remote remote, AttachFlags flags, DetachKeys keys)
      : connection_(connection), flags_(std::move(flags)), keys_(std::move(keys)) {
    remotes_.push_back(std::move(remote));
    if (!flags_.process.empty()) pid_ = std::stoll(flags_.process);
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    wake_read_ = os::Fd(ends[0]);
    wake_write_ = os::Fd(ends[1]);
  }

  Result<int> run() {
    TRY(connect());
    const std::jthread sender([this](const std::stop_token& over) { forward(over); });
    const Waker waker(wake_write_);
    while (true) {
      const Ended ended = TRY(show());
      if (ended == Ended::exited) return status_;
      if (ended == Ended::detached) {
        say(fmt::format("detached; `atoll session attach {} --process {}` comes back", flags_.id, pid_));
        return 0;
      }
      TRY(come_back());
    }
  }

 private:
  // Ends the sender's wait before it is joined.
  struct Waker {
    explicit Waker(os::Fd& kept) : end(kept) {}
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;
    ~Waker() { end = os::Fd(); }
    os::Fd& end;
  };

  std::shared_ptr<client::Terminal> terminal() const {
    const std::scoped_lock lock(mutex_);
    return terminal_;
  }

  Result<void> connect() {
    const winsize size = size_of_terminal();
    client::TerminalOptions options;
    options.columns = size.ws_col;
    options.rows = size.ws_row;
    options.keep = true;
    if (!flags_.cwd.empty()) options.cwd = flags_.cwd;
    if (pid_ != 0) {
      options.process = pid_;
      options.from = at_;
    }
    client::CallOptions call;
    call.timeout = client::Milliseconds(0);
    call.stop = detached_.get_token();
    try {
      client::Session session = remotes_.back().library().get(flags_.id, call);
      session.keep();
      auto made = std::make_shared<client::Terminal>(session.terminal(std::move(options), call));
      // One that is come back to has the size of whoever saw it last.
      made->resize(size.ws_col, size.ws_row, call);
      const std::scoped_lock lock(mutex_);
      if (!unsent_.empty()) made->send(unsent_, call);
      unsent_.clear();
      terminal_ = std::move(made);
      connected_ = true;
      return {};
    } catch (const client::AtollError& error) {
      return fail(error_of(remotes_.back().endpoint(), error));
    }
  }

  // Until the connection ends in one way or another.
  Result<Ended> show() {
    const auto shown = terminal();
    std::uint64_t lost = 0;
    client::CallOptions call;
    call.stop = detached_.get_token();
    try {
      while (true) {
        const std::string output = shown->read(call);
        if (shown->pid() != 0) pid_ = shown->pid();
        if (shown->lost() > lost)
          say(fmt::format("{} bytes of output are no longer kept",
                          shown->lost() - std::exchange(lost, shown->lost())));
        TRY(os::write_all(STDOUT_FILENO, output));
        at_ = shown->position();
        if (!output.empty()) continue;
        status_ = shown->exit() ? shown->exit()->exit_code : 0;
        return Ended::exited;
      }
    } catch (const client::AtollError&) {
      if (shown->pid() != 0) pid_ = shown->pid();
      const std::scoped_lock lock(mutex_);
      connected_ = false;
      return detached_.stop_requested() ? Ended::detached : Ended::cut;
    }
  }

  // A service that was started again leaves another address and another key for its owner.
  void look_again() {
    auto found = connection_.find();
    const Endpoint& before = remotes_.back().endpoint();
    if (!found || found->origin != before.origin || (found->url == before.url && found->key == before.key))
      return;
    if (auto opened = Remote::open(connection_)) remotes_.push_back(std::move(*opened));
  }

  Result<void> come_back() {
    say("the connection was cut; trying again (the detach keys give up)");
    for (int tries = 1; !detached_.stop_requested(); ++tries) {
      look_again();
      auto connected = connect();
      if (connected) return {};
      const Code code = connected.error().code();
      // The key of a service that is just being started may not be there yet.
      const bool refused = code == Code::unauthenticated && tries >= kTriesOfKey;
      if (tries == kTries || refused || code == Code::not_found || code == Code::permission_denied)
        return fail(std::move(connected).error());
      std::unique_lock lock(mutex_);
      pause_.wait_for(lock, detached_.get_token(), kBetweenTries, [] { return false; });
    }
    return fail(Code::canceled, "detached while the connection was cut");
  }

  // Keys and sizes to whichever connection there is; what cannot be sent is the reader's to notice.
  void forward(const std::stop_token& over) {
    const sigset_t set = signals_of_terminal();
    const os::Fd signals(::signalfd(-1, &set, SFD_CLOEXEC));
    while (!over.stop_requested()) {
      std::array<pollfd, 3> waits{
          {{wake_read_.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
      if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
      if (waits[0].revents != 0) return;
      if (waits[1].revents != 0 && !obey(signals.get())) break;
      if (waits[2].revents != 0 && !pass_keys()) break;
    }
    // The end of our input leaves the program, too: it waits for whoever comes back.
    detached_.request_stop();
  }

  bool obey(int signals) {
    signalfd_siginfo facts{};
    if (::read(signals, &facts, sizeof facts) != sizeof facts) return true;
    if (facts.ssi_signo != SIGWINCH) return false;
    const winsize size = size_of_terminal();
    try {
      terminal()->resize(size.ws_col, size.ws_row);
    } catch (const client::AtollError&) {  // the next connection begins with the size
    }
    return true;
  }

  bool pass_keys() {
    std::string buffer(4096, '\0');
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    const DetachKeys::Split split =
        keys_.take(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    if (!split.pass.empty()) send(split.pass);
    return !split.detach;
  }

  // What is typed while the connection is cut waits for the next one, up to a bound. Once the cut is known
  // nothing is sent into it: the system would take the first bytes for a connection that is gone.
  void send(const std::string& keys) {
    while (true) {
      const auto used = connected_terminal_or_keep(keys);
      if (!used) return;
      try {
        used->send(keys);
        return;
      } catch (const client::AtollError&) {
        const std::scoped_lock lock(mutex_);
        if (terminal_ == used) connected_ = false;
      }
    }
  }

  // Null if there is no connection; then the keys are kept for the next.
  std::shared_ptr<client::Terminal> connected_terminal_or_keep(const std::string& keys) {
    const std::scoped_lock lock(mutex_);
    if (connected_) return terminal_;
    if (unsent_.size() + keys.size() <= kUnsentMax) unsent_ += keys;
    return nullptr;
  }

  static void say(const std::string& text) { fmt::print(stderr, "\r\natoll: {}\r\n", text); }

  const ConnectionFlags& connection_;
  const AttachFlags flags_;
  DetachKeys keys_;
  mutable std::mutex mutex_;
  // The last is in use. Those before stay: their terminals may still be waited for.
  std::deque<Remote> remotes_;
  std::shared_ptr<client::Terminal> terminal_;
  bool connected_ = false;
  std::string unsent_;
  std::condition_variable_any pause_;
  std::stop_source detached_;
  os::Fd wake_read_, wake_write_;
  std::int64_t pid_ = 0;
  std::uint64_t at_ = 0;  // number of the next byte of output
  int status_ = 0;
};

Result<int> attach_to(const SessionFlags& shared, const AttachFlags& flags) {
  if (::isatty(STDIN_FILENO) != 1)
    return fail(Code::invalid_argument,
                fmt::format("standard input is no terminal; `atoll session run {} -- COMMAND` needs none",
                            config::shown(flags.id)));
  if (!flags.process.empty()) TRY(config::Checked("--process", flags.process).whole_number(1, 4'294'967'295));
  DetachKeys keys = TRY(DetachKeys::parse(flags.keys));
  // Before the first thread: all of them leave these to the sender.
  const sigset_t set = signals_of_terminal();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Remote remote = TRY(Remote::open(shared.connection));
  const BareTerminal bare;
  return Attachment(shared.connection, std::move(remote), flags, std::move(keys)).run();
}

}  // namespace

void add_session_attach(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<AttachFlags>();
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
