#include "sandbox/e2b/remote_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <csignal>

#include "base/bytes.h"
#include "os/timer.h"

namespace atl::sandbox::e2b {
namespace {

constexpr std::size_t kRecentMax = 64U << 10;
constexpr std::size_t kBufferMax = 256U << 10;
constexpr int kReconnects = 6;
constexpr std::chrono::milliseconds kFirstWait{200};  // before a stream is opened again; doubles
constexpr std::chrono::milliseconds kFirstListener{2000};
constexpr std::chrono::milliseconds kLastWords{3000};  // for the end of what we killed to be told
// Our own name of a process and its tag stand together in the other side's tag, so that both are known again
// after a restart of this program.
constexpr std::string_view kLabelled = "atoll:";

std::string tag_of(const ProcessSpec& spec) {
  if (spec.label.empty()) return spec.tag;
  return fmt::format("{}{}:{}", kLabelled, spec.label, spec.tag);
}

void read_tag(std::string_view tag, ProcessInfo& info) {
  const std::size_t colon = tag.find(':', kLabelled.size());
  if (!tag.starts_with(kLabelled) || colon == std::string_view::npos) {
    info.tag = tag;
    return;
  }
  info.label = tag.substr(kLabelled.size(), colon - kLabelled.size());
  info.tag = tag.substr(colon + 1);
}

struct SignalWord {
  std::string_view word;
  int number;
};
constexpr SignalWord kSignalWords[] = {{"hangup", SIGHUP},
                                       {"interrupt", SIGINT},
                                       {"quit", SIGQUIT},
                                       {"illegal instruction", SIGILL},
                                       {"trace/breakpoint trap", SIGTRAP},
                                       {"aborted", SIGABRT},
                                       {"bus error", SIGBUS},
                                       {"floating point exception", SIGFPE},
                                       {"killed", SIGKILL},
                                       {"user defined signal 1", SIGUSR1},
                                       {"segmentation fault", SIGSEGV},
                                       {"user defined signal 2", SIGUSR2},
                                       {"broken pipe", SIGPIPE},
                                       {"alarm clock", SIGALRM},
                                       {"terminated", SIGTERM}};

struct StreamWord {
  std::string_view word;
  Stream stream;
};
constexpr StreamWord kStreamWords[] = {
    {"stdout", Stream::out}, {"stderr", Stream::err}, {"pty", Stream::pty}};

// "signal: killed", with or without more behind it.
int signal_of(std::string_view status) {
  constexpr std::string_view kPrefix = "signal: ";
  if (!status.starts_with(kPrefix)) return SIGKILL;
  status.remove_prefix(kPrefix.size());
  for (const SignalWord& each : kSignalWords)
    if (status.starts_with(each.word)) return each.number;
  return SIGKILL;
}

Object start_message(const ProcessSpec& spec) {
  Object process{{"cmd", spec.argv.front()}};
  boost::json::array arguments;
  for (std::size_t i = 1; i < spec.argv.size(); ++i) arguments.emplace_back(spec.argv[i]);
  if (!arguments.empty()) process["args"] = std::move(arguments);
  Object variables;
  for (const auto& [name, value] : spec.env) variables[name] = value;
  if (!variables.empty()) process["envs"] = std::move(variables);
  if (!spec.cwd.empty()) process["cwd"] = spec.cwd;
  Object message{{"process", std::move(process)}};
  if (spec.pty)
    message["pty"] = Object{{"size", Object{{"cols", spec.pty->columns}, {"rows", spec.pty->rows}}}};
  if (const std::string tag = tag_of(spec); !tag.empty()) message["tag"] = tag;
  message["stdin"] = spec.stdin_mode == Stdin::pipe || spec.pty.has_value();
  return message;
}

// The pid in the first event of a stream.
std::uint32_t started_pid(const Object& message) {
  const Object* event = object_in(message, "event");
  const Object* started = event == nullptr ? nullptr : object_in(*event, "start");
  return started == nullptr ? 0 : static_cast<std::uint32_t>(integer_in(*started, "pid"));
}

}  // namespace

// What one listener has not taken yet.
struct RemoteProcess::Channel {
  explicit Channel(const boost::asio::any_io_executor& executor) : changed(executor) {}
  std::deque<Output> waiting;
  std::size_t bytes = 0;
  std::optional<Outcome> outcome;
  os::Event changed;
};

class RemoteProcess::Listener final : public ProcessStream {
 public:
  Listener(std::shared_ptr<RemoteProcess> process, std::shared_ptr<Channel> channel)
      : process_(std::move(process)), channel_(std::move(channel)) {}
  ~Listener() override {
    channel_.reset();
    process_->changed_.notify();
  }
  Task<ProcessEvent> next() override {
    for (;;) {
      if (!channel_->waiting.empty()) {
        Output first = std::move(channel_->waiting.front());
        channel_->waiting.pop_front();
        channel_->bytes -= first.bytes.size();
        process_->changed_.notify();
        co_return ProcessEvent(std::move(first));
      }
      if (channel_->outcome) {
        Outcome last = *channel_->outcome;
        co_return ProcessEvent(std::move(last));
      }
      CO_CHECK(co_await channel_->changed.wait());
    }
  }

 private:
  std::shared_ptr<RemoteProcess> process_;
  std::shared_ptr<Channel> channel_;
};

RemoteProcess::RemoteProcess(std::shared_ptr<Plane> plane, ProcessSpec spec)
    : plane_(std::move(plane)), spec_(std::move(spec)), changed_(plane_->executor()) {
  info_.tag = spec_.tag;
  info_.argv = spec_.argv;
  info_.env = spec_.env;
  info_.cwd = spec_.cwd;
  info_.user = spec_.user;
  info_.pty = spec_.pty.has_value();
  info_.label = spec_.label;
  info_.started_at = Clock::machine().now();
  stdin_open_ = spec_.stdin_mode == Stdin::pipe || spec_.pty.has_value();
}

Task<std::shared_ptr<RemoteProcess>> RemoteProcess::start(std::shared_ptr<Plane> plane, ProcessSpec spec) {
  if (spec.argv.empty()) co_return fail(Code::invalid_argument, "a process needs a program");
  if (spec.cpu_time)
    co_return fail(Code::unsupported, "a remote sandbox has no limit of processor time for one process");
  Object message = start_message(spec);
  std::string method = "process.Process/Start", user = spec.user;
  CO_TRY(auto stream, co_await plane->open_stream(std::move(method), std::move(message), std::move(user)));
  CO_TRY(const auto first, co_await stream->next());
  const std::uint32_t pid = first ? started_pid(*first) : 0;
  if (pid == 0) co_return fail(Code::provider_failed, "the remote sandbox did not say what it started");
  std::shared_ptr<RemoteProcess> process(new RemoteProcess(plane, std::move(spec)));
  process->info_.pid = pid;
  const auto& executor = plane->executor();
  boost::asio::co_spawn(executor, follow(process, std::move(stream)), boost::asio::detached);
  if (process->spec_.wall_time) boost::asio::co_spawn(executor, end_in_time(process), boost::asio::detached);
  co_return process;
}

std::shared_ptr<RemoteProcess> RemoteProcess::adopt(std::shared_ptr<Plane> plane, const Object& entry) {
  ProcessSpec spec;
  if (const Object* config = object_in(entry, "config")) {
    spec.argv = {text_in(*config, "cmd")};
    if (const auto* arguments = array_in(*config, "args"))
      for (const auto& word : *arguments)
        if (word.is_string()) spec.argv.emplace_back(word.get_string());
    spec.cwd = text_in(*config, "cwd");
  }
  const std::int64_t pid = integer_in(entry, "pid");
  if (pid <= 0 || pid > INT32_MAX) return nullptr;
  spec.stdin_mode = Stdin::pipe;
  std::shared_ptr<RemoteProcess> process(new RemoteProcess(std::move(plane), std::move(spec)));
  process->info_.pid = static_cast<std::uint32_t>(pid);
  read_tag(text_in(entry, "tag"), process->info_);
  boost::asio::co_spawn(process->plane_->executor(), follow(process, nullptr), boost::asio::detached);
  return process;
}

boost::asio::awaitable<void> RemoteProcess::follow(std::shared_ptr<RemoteProcess> self,
                                                   std::unique_ptr<RpcStream> stream) {
  if (!stream) stream = co_await follow_again(self);
  while (stream && !self->outcome_) {
    auto message = co_await stream->next();
    if (message && *message) {
      const auto over = co_await self->take(std::move(**message));
      if (over && *over) co_return;
      continue;
    }
    const bool late = !message && message.error().code() == Code::deadline_exceeded;
    if (self->forced_ || late || self->outcome_) break;
    self->output_lost_ = true;
    stream = co_await follow_again(self);
  }
  if (self->outcome_) co_return;
  Outcome outcome;
  outcome.ending = Ending::lost;
  outcome.reason = self->plane_->has_ended() ? "its sandbox ended: " + self->plane_->why_ended()
                                             : "the remote sandbox did not tell how it ended";
  self->finish(std::move(outcome));
}

boost::asio::awaitable<std::unique_ptr<RpcStream>> RemoteProcess::follow_again(
    std::shared_ptr<RemoteProcess> self) {
  Plane& plane = *self->plane_;
  std::chrono::milliseconds wait = kFirstWait;
  for (int attempt = 0; attempt < kReconnects; ++attempt) {
    while (plane.is_paused() && !plane.has_ended())
      if (!co_await plane.changed().wait()) co_return nullptr;
    if (plane.has_ended() || self->outcome_) co_return nullptr;
    std::string method = "process.Process/Connect", nobody;
    Object message{{"process", self->selector()}};
    auto stream = co_await plane.open_stream(std::move(method), std::move(message), std::move(nobody));
    if (stream) {
      auto first = co_await (*stream)->next();
      if (first && *first && started_pid(**first) != 0) co_return std::move(*stream);
      if (!first && first.error().code() == Code::not_found) co_return nullptr;
    } else if (stream.error().code() == Code::not_found) {
      co_return nullptr;
    }
    if (!co_await os::sleep_for(plane.executor(), wait)) co_return nullptr;
    wait *= 2;
  }
  co_return nullptr;
}

boost::asio::awaitable<void> RemoteProcess::end_in_time(std::shared_ptr<RemoteProcess> self) {
  const auto deadline = self->began_ + *self->spec_.wall_time;
  while (!self->outcome_) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) break;
    // In steps, so that this does not keep a process alive that ended long before.
    const auto step = std::min<std::chrono::nanoseconds>(left, std::chrono::seconds(5));
    if (!co_await os::sleep_for(self->plane_->executor(), step)) co_return;
  }
  if (self->outcome_) co_return;
  std::string reason = fmt::format("wall time of {}", seconds_of(*self->spec_.wall_time));
  (void)co_await self->end_with(Ending::timed_out, std::move(reason));
}

Task<void> RemoteProcess::end_with(Ending ending, std::string reason) {
  if (outcome_ || forced_) co_return Result<void>();
  forced_.emplace(ending, std::move(reason));
  const auto self = shared_from_this();
  auto killed = co_await self->signal(SIGKILL);
  if (killed) (void)co_await os::sleep_for(plane_->executor(), kLastWords);
  if (outcome_) co_return Result<void>();
  Outcome outcome;
  outcome.signal = SIGKILL;
  self->finish(std::move(outcome));
  co_return killed;
}

Task<bool> RemoteProcess::take(Object message) {
  const Object* event = object_in(message, "event");
  if (event == nullptr) co_return false;
  if (const Object* data = object_in(*event, "data")) {
    for (const StreamWord& each : kStreamWords) {
      auto bytes = from_base64(text_in(*data, each.word));
      if (bytes && !bytes->empty()) CO_CHECK(co_await take_output(each.stream, std::move(*bytes)));
    }
    co_return false;
  }
  const Object* end = object_in(*event, "end");
  if (end == nullptr) co_return false;
  finish(outcome_of(*end));
  co_return true;
}

Task<void> RemoteProcess::take_output(Stream stream, std::string bytes) {
  if (outcome_) co_return Result<void>();
  const std::uint64_t most = spec_.output_bytes.value_or(UINT64_MAX);
  const bool too_much = bytes.size() > most - std::min(most, output_bytes_);
  if (too_much) bytes.resize(most - std::min(most, output_bytes_));
  output_bytes_ += bytes.size();
  constexpr std::size_t kPieceMax = 32U << 10;
  for (std::size_t at = 0; at < bytes.size(); at += kPieceMax) {
    Output piece{stream, bytes.substr(at, kPieceMax)};
    recent_bytes_ += piece.bytes.size();
    for (const auto& weak : channels_) {
      const auto channel = weak.lock();
      if (!channel) continue;
      channel->bytes += piece.bytes.size();
      channel->waiting.push_back(piece);
      channel->changed.notify();
    }
    recent_.push_back(std::move(piece));
    while (recent_bytes_ > kRecentMax && recent_.size() > 1) {
      recent_bytes_ -= recent_.front().bytes.size();
      recent_.pop_front();
    }
  }
  // Whoever started it attaches in a moment, and is to see all of it.
  while (!outcome_ && !was_attached_ && recent_bytes_ > kRecentMax / 2 &&
         std::chrono::steady_clock::now() < began_ + kFirstListener)
    CO_CHECK(co_await os::sleep_for(plane_->executor(), std::chrono::milliseconds(10)));
  if (too_much && !forced_) {
    std::string reason = fmt::format("more than {} bytes of output", most);
    boost::asio::co_spawn(
        plane_->executor(),
        [](std::shared_ptr<RemoteProcess> self, std::string why) -> boost::asio::awaitable<void> {
          (void)co_await self->end_with(Ending::output_limit, std::move(why));
        }(shared_from_this(), std::move(reason)),
        boost::asio::detached);
  }
  // Whoever does not read holds the stream back, and with it the process.
  const auto is_full = [this] {
    return std::ranges::any_of(channels_, [](const auto& weak) {
      const auto channel = weak.lock();
      return channel && channel->bytes > kBufferMax;
    });
  };
  while (!outcome_ && is_full()) CO_CHECK(co_await changed_.wait());
  co_return Result<void>();
}

Outcome RemoteProcess::outcome_of(const Object& end) const {
  Outcome outcome;
  outcome.exit_code = static_cast<int>(integer_in(end, "exitCode"));
  const std::string status = text_in(end, "status");
  if (flag_in(end, "exited") || (outcome.exit_code >= 0 && !status.starts_with("signal: "))) return outcome;
  outcome.exit_code = 0;
  outcome.signal = signal_of(status);
  outcome.ending = signal_sent_ == outcome.signal ? Ending::killed : Ending::signaled;
  return outcome;
}

void RemoteProcess::finish(Outcome outcome) {
  if (outcome_) return;
  if (forced_) {
    outcome.ending = forced_->first;
    outcome.reason = forced_->second;
    if (outcome.signal == 0) outcome.signal = SIGKILL;
  }
  if (output_lost_)
    outcome.reason += std::string(outcome.reason.empty() ? "" : "; ") +
                      "the connection to the remote sandbox broke meanwhile, and output may be missing";
  outcome.usage.wall_time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began_);
  outcome.usage.output_bytes = output_bytes_;
  outcome_ = std::move(outcome);
  stdin_open_ = false;
  for (const auto& weak : channels_) {
    const auto channel = weak.lock();
    if (!channel) continue;
    channel->outcome = outcome_;
    channel->changed.notify();
  }
  changed_.notify();
}

void RemoteProcess::lose(Ending ending, std::string reason) {
  Outcome outcome;
  outcome.ending = ending;
  outcome.signal = ending == Ending::killed ? SIGKILL : 0;
  outcome.reason = std::move(reason);
  finish(std::move(outcome));
}

std::unique_ptr<ProcessStream> RemoteProcess::attach(Replay replay) {
  auto channel = std::make_shared<Channel>(plane_->executor());
  if (replay == Replay::recent) {
    for (const Output& piece : recent_) {
      channel->waiting.push_back(piece);
      channel->bytes += piece.bytes.size();
    }
  }
  channel->outcome = outcome_;
  std::erase_if(channels_, [](const auto& weak) { return weak.expired(); });
  channels_.push_back(channel);
  was_attached_ = true;
  return std::make_unique<Listener>(shared_from_this(), std::move(channel));
}

Task<void> RemoteProcess::write_stdin(std::string bytes) {
  if (outcome_ || !stdin_open_)
    co_return fail(Code::conflict, "the process has no standard input that could be written");
  constexpr std::size_t kPieceMax = 256U << 10;
  const auto self = shared_from_this();
  for (std::size_t at = 0; at < bytes.size(); at += kPieceMax) {
    Object input{{info_.pty ? "pty" : "stdin", to_base64(std::string_view(bytes).substr(at, kPieceMax))}};
    Object message{{"process", selector()}, {"input", std::move(input)}};
    std::string method = "process.Process/SendInput", nobody;
    CO_CHECK(co_await plane_->call(std::move(method), std::move(message), std::move(nobody), Repeat::never));
  }
  co_return Result<void>();
}

Task<void> RemoteProcess::close_stdin() {
  if (!stdin_open_) co_return fail(Code::conflict, "standard input is closed");
  const auto self = shared_from_this();
  stdin_open_ = false;
  Object message{{"process", selector()}};
  std::string method = "process.Process/CloseStdin", nobody;
  CO_CHECK(co_await plane_->call(std::move(method), std::move(message), std::move(nobody), Repeat::once));
  co_return Result<void>();
}

Task<void> RemoteProcess::resize(PtySize size) {
  if (!info_.pty) co_return fail(Code::conflict, "the process has no terminal");
  const auto self = shared_from_this();
  Object message{{"process", selector()},
                 {"pty", Object{{"size", Object{{"cols", size.columns}, {"rows", size.rows}}}}}};
  std::string method = "process.Process/Update", nobody;
  CO_CHECK(co_await plane_->call(std::move(method), std::move(message), std::move(nobody), Repeat::once));
  co_return Result<void>();
}

// The protocol has two signals; the others are sent by a program inside.
Task<void> RemoteProcess::signal(int number) {
  if (outcome_) co_return fail(Code::not_found, "the process has ended");
  const auto self = shared_from_this();
  if (number == SIGKILL || number == SIGTERM) {
    signal_sent_ = number;
    Object message{{"process", selector()},
                   {"signal", number == SIGKILL ? "SIGNAL_SIGKILL" : "SIGNAL_SIGTERM"}};
    std::string method = "process.Process/SendSignal", nobody;
    CO_CHECK(co_await plane_->call(std::move(method), std::move(message), std::move(nobody), Repeat::once));
    co_return Result<void>();
  }
  ProcessSpec spec;
  spec.argv = {"/bin/sh",
               "-c",
               R"(kill -"$1" -- "-$2" 2>/dev/null || kill -"$1" "$2")",
               "sh",
               std::to_string(number),
               std::to_string(info_.pid)};
  spec.user = "root";
  spec.wall_time = std::chrono::seconds(10);
  CO_TRY(const auto sender, co_await start(plane_, std::move(spec)));
  signal_sent_ = number;
  CO_TRY(const Outcome sent, co_await sender->wait());
  if (!sent.succeeded()) co_return fail(Code::provider_failed, "the signal could not be sent");
  co_return Result<void>();
}

Task<Outcome> RemoteProcess::wait() {
  const auto self = shared_from_this();
  while (!outcome_) CO_CHECK(co_await changed_.wait());
  co_return *outcome_;
}

}  // namespace atl::sandbox::e2b
