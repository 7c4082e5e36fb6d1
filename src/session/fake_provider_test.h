#pragma once

#include <fmt/format.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "sandbox/provider.h"

// A provider for the tests of this room: files in a map, code that is obeyed word by word ("print x", "raise
// E", "sleep", "write PATH TEXT", "exit N", "oom"). It proves what session does around a sandbox, not
// sandboxes.
namespace atl::session::fake {

class Signal {
 public:
  explicit Signal(boost::asio::any_io_executor executor)
      : timer_(executor, boost::asio::steady_timer::time_point::max()) {}
  void set() {
    set_ = true;
    timer_.cancel();
  }
  boost::asio::awaitable<void> wait() {
    boost::system::error_code ignored;
    while (!set_)
      co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  bool is_set() const { return set_; }

 private:
  boost::asio::steady_timer timer_;
  bool set_ = false;
};

// Calls by name: how often they were made, and how often each still fails.
struct Faults {
  std::map<std::string, int> calls, left;
  Code code = Code::unavailable;

  Result<void> meet(const std::string& call) {
    ++calls[call];
    if (left[call] <= 0) return {};
    --left[call];
    return fail(code, "the provider is not well");
  }
};

struct State {
  explicit State(boost::asio::any_io_executor loop) : executor(loop), ended(loop) {}
  boost::asio::any_io_executor executor;
  std::shared_ptr<Faults> faults = std::make_shared<Faults>();
  Signal ended;
  std::map<std::string, std::string> files;
  std::string why = "stopped";
  std::uint64_t clock = 0;
  std::map<std::string, std::uint64_t> changed;
  std::vector<std::shared_ptr<Signal>> sleepers;  // processes that wait for their end
  sandbox::Usage usage;                           // what the kernel would count
};

class Reader final : public sandbox::FileReader {
 public:
  Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  const sandbox::FileInfo& info() const override { return info_; }
  Task<std::string> next() override { co_return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
  sandbox::FileInfo info_;
};

class FakeFiles final : public sandbox::Files {
 public:
  explicit FakeFiles(std::shared_ptr<State> state) : state_(std::move(state)) {}
  sandbox::FileInfo info(const std::string& path) {
    sandbox::FileInfo info;
    info.path = path;
    info.name = path.substr(path.rfind('/') + 1);
    info.type = sandbox::FileType::file;
    info.size = state_->files[path].size();
    info.modified_at = from_unix_micros(static_cast<std::int64_t>(state_->changed[path]));
    return info;
  }
  Task<sandbox::FileInfo> stat(std::string path, std::string) override {
    if (!state_->files.contains(path)) co_return fail(Code::not_found, path);
    co_return info(path);
  }
  Task<std::vector<sandbox::FileInfo>> list(std::string path, std::uint32_t, sandbox::ListBounds,
                                            std::string) override {
    std::vector<sandbox::FileInfo> all;
    for (const auto& [name, bytes] : state_->files) {
      if (name.starts_with(path + "/")) all.push_back(info(name));
    }
    co_return all;
  }
  static inline std::optional<Error> make_directory_fails;  // of every sandbox
  Task<sandbox::FileInfo> make_directory(std::string, std::string, sandbox::Ownership) override {
    if (make_directory_fails) co_return fail(*make_directory_fails);
    co_return sandbox::FileInfo{};
  }
  Task<sandbox::FileInfo> move(std::string, std::string, std::string, sandbox::Overwrite) override {
    co_return fail(Code::unsupported, "move");
  }
  Task<sandbox::FileInfo> copy(std::string, std::string, std::string, sandbox::Overwrite) override {
    co_return fail(Code::unsupported, "copy");
  }
  Task<void> remove(std::string path, sandbox::Recursive, std::string) override {
    if (state_->files.erase(path) == 0) co_return fail(Code::not_found, path);
    co_return Result<void>{};
  }
  Task<void> chmod(std::string, std::uint32_t, std::string) override { co_return Result<void>{}; }
  Task<std::unique_ptr<sandbox::FileReader>> open_read(std::string path, std::uint64_t,
                                                       std::optional<std::uint64_t>, std::string) override {
    if (!state_->files.contains(path)) co_return fail(Code::not_found, path);
    co_return std::make_unique<Reader>(state_->files[path]);
  }
  Task<std::unique_ptr<sandbox::FileWriter>> open_write(std::string path, sandbox::WriteOptions) override {
    co_return std::make_unique<Writer>(this, state_, std::move(path));
  }
  Task<std::unique_ptr<sandbox::Watch>> watch(std::string, sandbox::Recursive, std::string) override {
    co_return fail(Code::unsupported, "watch");
  }

 private:
  // A file is there once its writer has finished.
  class Writer final : public sandbox::FileWriter {
   public:
    Writer(FakeFiles* files, std::shared_ptr<State> state, std::string path)
        : files_(files), state_(std::move(state)), path_(std::move(path)) {}
    Task<void> write(std::string bytes) override {
      bytes_ += bytes;
      co_return Result<void>{};
    }
    Task<sandbox::FileInfo> finish() override {
      state_->files[path_] = bytes_;
      co_return files_->info(path_);
    }

   private:
    FakeFiles* files_;
    std::shared_ptr<State> state_;
    std::string path_, bytes_;
  };

  std::shared_ptr<State> state_;
};

inline std::string word_of(std::string& line) {
  const auto space = line.find(' ');
  std::string word = line.substr(0, space);
  line.erase(0, space == std::string::npos ? line.size() : space + 1);
  return word;
}

// Obeys one line; gives how it ended.
inline boost::asio::awaitable<sandbox::Outcome> obey(std::shared_ptr<State> state, std::string line,
                                                     std::string& out,
                                                     std::optional<sandbox::ExecutionError>& error) {
  using sandbox::Ending;
  const std::string verb = word_of(line);
  if (verb == "print") out = line + "\n";
  if (verb == "many") out = std::string(std::stoul(line), 'x');
  if (verb == "raise") {
    error = sandbox::ExecutionError{line, "value", "Traceback"};
    co_return sandbox::Outcome{.ending = Ending::exited, .exit_code = 1};
  }
  if (verb == "write") {
    const std::string path = word_of(line);
    state->files[path] = line;
    state->changed[path] = ++state->clock;
  }
  if (verb == "work") state->usage.cpu_time += std::chrono::microseconds(std::stol(line));
  if (verb == "exit") co_return sandbox::Outcome{.ending = Ending::exited, .exit_code = std::stoi(line)};
  if (verb == "oom")
    co_return sandbox::Outcome{.ending = Ending::out_of_memory, .signal = 9, .reason = "memory limit"};
  if (verb == "late") co_return sandbox::Outcome{.ending = Ending::timed_out, .reason = "wall time"};
  if (verb == "sleep") {
    co_await state->ended.wait();
    co_return sandbox::Outcome{.ending = Ending::killed, .signal = 9, .reason = state->why};
  }
  co_return sandbox::Outcome{};
}

class Stream final : public sandbox::ExecutionStream {
 public:
  Stream(std::shared_ptr<State> state, std::string code, std::uint64_t count)
      : state_(std::move(state)), code_(std::move(code)), count_(count) {}
  Task<sandbox::ExecutionEvent> next() override {
    if (!ran_) {
      ran_ = true;
      std::string out;
      std::optional<sandbox::ExecutionError> error;
      const sandbox::Outcome outcome = co_await obey(state_, code_, out, error);
      if (!out.empty()) events_.push_back(sandbox::Output{sandbox::Stream::out, out});
      if (error) events_.push_back(*error);
      events_.push_back(sandbox::ExecutionDone{outcome, count_});
    }
    sandbox::ExecutionEvent event = events_.front();
    events_.pop_front();
    co_return event;
  }

 private:
  std::shared_ptr<State> state_;
  std::string code_;
  std::uint64_t count_;
  bool ran_ = false;
  std::deque<sandbox::ExecutionEvent> events_;
};

class FakeInterpreter final : public sandbox::Interpreter {
 public:
  FakeInterpreter(std::shared_ptr<State> state, sandbox::InterpreterInfo info)
      : state_(std::move(state)), info_(std::move(info)) {}
  const sandbox::InterpreterInfo& info() const override { return info_; }
  Task<std::unique_ptr<sandbox::ExecutionStream>> execute(sandbox::ExecutionSpec spec) override {
    CO_CHECK(state_->faults->meet("execute"));
    co_return std::make_unique<Stream>(state_, spec.code, ++count_);
  }
  Task<void> interrupt() override { co_return Result<void>{}; }
  Task<void> restart() override {
    CO_CHECK(state_->faults->meet("restart"));
    count_ = 0;
    co_return Result<void>{};
  }

 private:
  std::shared_ptr<State> state_;
  sandbox::InterpreterInfo info_;
  std::uint64_t count_ = 0;
};

class FakeProcess final : public sandbox::Process, public std::enable_shared_from_this<FakeProcess> {
 public:
  FakeProcess(std::shared_ptr<State> state, sandbox::ProcessInfo info)
      : killed_(std::make_shared<Signal>(state->executor)),
        state_(std::move(state)),
        info_(std::move(info)) {}
  class View final : public sandbox::ProcessStream {
   public:
    explicit View(std::shared_ptr<FakeProcess> process) : process_(std::move(process)) {}
    Task<sandbox::ProcessEvent> next() override {
      CO_TRY(const sandbox::Outcome outcome, co_await process_->wait());
      if (!std::exchange(said_, true) && !process_->out_.empty()) {
        co_return sandbox::ProcessEvent(sandbox::Output{sandbox::Stream::out, process_->out_});
      }
      co_return sandbox::ProcessEvent(outcome);
    }

   private:
    std::shared_ptr<FakeProcess> process_;
    bool said_ = false;
  };
  const sandbox::ProcessInfo& info() const override { return info_; }
  std::unique_ptr<sandbox::ProcessStream> attach(sandbox::Replay) override {
    return std::make_unique<View>(shared_from_this());
  }
  Task<void> write_stdin(std::string) override { co_return Result<void>{}; }
  Task<void> close_stdin() override { co_return Result<void>{}; }
  Task<void> resize(sandbox::PtySize) override { co_return Result<void>{}; }
  Task<void> signal(int number) override {
    last_signal = number;
    if (number == SIGKILL && info_.argv.back() != "cling") killed_->set();
    co_return Result<void>{};
  }
  int last_signal = 0;
  Task<sandbox::Outcome> wait() override {
    if (info_.argv.back() == "sleep" || info_.argv.back() == "cling") {
      state_->sleepers.push_back(killed_);
      co_await killed_->wait();
      const std::string why = state_->ended.is_set() ? state_->why : "SIGKILL";
      co_return sandbox::Outcome{.ending = sandbox::Ending::killed, .signal = SIGKILL, .reason = why};
    }
    std::optional<sandbox::ExecutionError> error;
    std::string out;
    const sandbox::Outcome outcome = co_await obey(state_, info_.argv.back(), out, error);
    out_ = out;
    co_return outcome;
  }

 private:
  std::shared_ptr<Signal> killed_;
  std::shared_ptr<State> state_;
  sandbox::ProcessInfo info_;
  std::string out_;
};

// What captures took, by their directories: shared by a provider and its sandboxes.
using Captures = std::map<std::string, std::vector<sandbox::InterpreterInfo>>;

class FakeSandbox final : public sandbox::Sandbox {
 public:
  FakeSandbox(boost::asio::any_io_executor executor, sandbox::Spec spec, sandbox::Traits traits,
              std::shared_ptr<Faults> faults)
      : state_(std::make_shared<State>(executor)), spec_(std::move(spec)), traits_(traits), files_(state_) {
    state_->faults = std::move(faults);
    isolation_.walls.push_back({"fake", "none at all"});
  }
  const sandbox::Spec& spec() const { return spec_; }
  // Uses CPU time that no execution asked for.
  void work(std::chrono::microseconds time) { state_->usage.cpu_time += time; }
  const std::string& id() const override { return spec_.id; }
  const sandbox::Traits& traits() const override { return traits_; }
  const sandbox::Isolation& isolation() const override { return isolation_; }
  const sandbox::Limits& limits() const override { return spec_.limits; }
  Task<std::shared_ptr<sandbox::Process>> start(sandbox::ProcessSpec spec) override {
    CO_CHECK(state_->faults->meet("start"));
    if (spec.argv.back() == "fail") co_return fail(Code::not_found, "no such program");
    sandbox::ProcessInfo info;
    info.pid = ++pids_;
    info.argv = spec.argv;
    info.tag = spec.tag;
    info.label = spec.label;
    auto process = std::make_shared<FakeProcess>(state_, info);
    processes_.push_back(process);
    co_return process;
  }
  std::vector<std::shared_ptr<sandbox::Process>> processes() override { return processes_; }
  void add_process(sandbox::ProcessInfo info) {
    processes_.push_back(std::make_shared<FakeProcess>(state_, std::move(info)));
  }
  sandbox::Files& files() override { return files_; }
  Task<std::shared_ptr<sandbox::Interpreter>> create_interpreter(sandbox::Language language,
                                                                 std::string cwd) override {
    CO_CHECK(state_->faults->meet("kernel"));
    sandbox::InterpreterInfo info{fmt::format("k{}", interpreters_.size() + 1), language, std::move(cwd)};
    interpreters_.push_back(std::make_shared<FakeInterpreter>(state_, info));
    co_return interpreters_.back();
  }
  std::vector<std::shared_ptr<sandbox::Interpreter>> interpreters() override { return interpreters_; }
  Task<void> remove_interpreter(std::string id) override {
    std::erase_if(interpreters_, [&](const auto& interpreter) { return interpreter->info().id == id; });
    co_return Result<void>{};
  }
  Task<std::unique_ptr<ByteStream>> connect(std::uint16_t) override {
    co_return fail(Code::unsupported, "connect");
  }
  Task<std::vector<std::uint16_t>> listening_ports() override { co_return std::vector<std::uint16_t>{}; }
  Task<sandbox::Usage> usage() override {
    if (state_->ended.is_set()) co_return fail(Code::unavailable, "the sandbox has ended");
    co_return state_->usage;
  }
  Task<void> pause() override {
    if (calls) (*calls)[spec_.id].emplace_back("pause");
    co_return state_->faults->meet("pause");
  }
  Task<void> resume() override {
    if (calls) (*calls)[spec_.id].emplace_back("resume");
    co_return state_->faults->meet("resume");
  }
  std::map<std::string, std::vector<std::string>>* calls = nullptr;  // of pause and resume, by sandbox
  // What a failed one leaves behind is in the way of the next.
  Task<void> snapshot(std::string target) override {
    std::error_code failed;
    if (!std::filesystem::create_directories(target, failed))
      co_return fail(Code::already_exists, "it is there");
    co_return state_->faults->meet("snapshot");
  }
  // Python interpreters are carried, others are not.
  Task<sandbox::Carried> checkpoint(std::string target, sandbox::CheckpointOptions options) override {
    CO_CHECK(state_->faults->meet("snapshot"));
    sandbox::Carried carried;
    std::vector<sandbox::InterpreterInfo> taken;
    for (const auto& interpreter : interpreters_) {
      if (interpreter->info().language == sandbox::Language::python)
        taken.push_back(interpreter->info()), carried.interpreters.push_back(interpreter->info().id);
      else
        carried.left_behind.push_back("kernel " + interpreter->info().id);
    }
    if (options.strict && !carried.left_behind.empty())
      co_return fail(Code::conflict, carried.left_behind.front());
    std::filesystem::create_directories(target);
    captures->insert_or_assign(target, std::move(taken));
    co_return carried;
  }
  const sandbox::Carried& revival() const override { return revival_; }
  void revive(const std::string& from) {
    if (!captures->contains(from)) {
      revival_.left_behind.push_back("all kernels: damaged");
      return;
    }
    for (const sandbox::InterpreterInfo& info : captures->at(from))
      interpreters_.push_back(std::make_shared<FakeInterpreter>(state_, info)),
          revival_.interpreters.push_back(info.id);
  }
  std::shared_ptr<Captures> captures;
  Task<void> stop() override {
    end("the sandbox was stopped");
    co_return Result<void>{};
  }
  Task<std::string> ended() override {
    const auto state = state_;
    co_await state->ended.wait();
    co_return state->why;
  }
  void end(std::string why) {
    if (state_->ended.is_set()) return;
    state_->why = std::move(why);
    state_->ended.set();
    for (const auto& sleeper : state_->sleepers) sleeper->set();
  }

 private:
  std::shared_ptr<State> state_;
  sandbox::Spec spec_;
  sandbox::Traits traits_;
  sandbox::Isolation isolation_;
  FakeFiles files_;
  std::uint32_t pids_ = 0;
  sandbox::Carried revival_;
  std::vector<std::shared_ptr<sandbox::Interpreter>> interpreters_;
  std::vector<std::shared_ptr<sandbox::Process>> processes_;
};

class FakeProvider final : public sandbox::Provider {
 public:
  explicit FakeProvider(boost::asio::any_io_executor executor) : executor_(executor) {
    can = {.real_processes = true,
           .pty = true,
           .interpreters = true,
           .pause = true,
           .snapshot = true,
           .fork = true,
           .live_fork = true};
  }
  std::string_view name() const override { return "native"; }
  const sandbox::Traits& traits() const override { return can; }
  sandbox::Isolation probed() const override { return {}; }
  Task<std::unique_ptr<sandbox::Sandbox>> create(sandbox::Spec spec) override {
    CO_CHECK(faults->meet("create"));
    const std::string from = spec.with_interpreters ? spec.snapshot.value_or("") : "";
    auto made = std::make_unique<FakeSandbox>(executor_, std::move(spec), can, faults);
    made->captures = captures;
    if (!from.empty()) made->revive(from);
    last = made.get();
    co_return std::move(made);
  }
  void discard_interpreters(const std::string& directory) override { captures->erase(directory); }
  Task<std::vector<std::string>> adoptable() override { co_return running; }
  Task<std::unique_ptr<sandbox::Sandbox>> adopt(std::string id) override {
    adopted.push_back(id);
    sandbox::Spec spec;
    spec.id = id;
    auto made = std::make_unique<FakeSandbox>(executor_, std::move(spec), can, faults);
    made->captures = captures;
    made->calls = &calls;
    for (const sandbox::ProcessInfo& info : left_running) made->add_process(info);
    last = made.get();
    co_return std::move(made);
  }
  std::vector<sandbox::PoolLevel> pools() const override { return {}; }
  Task<void> shut_down() override { co_return Result<void>{}; }

  sandbox::Traits can;
  std::shared_ptr<Faults> faults = std::make_shared<Faults>();
  FakeSandbox* last = nullptr;
  std::shared_ptr<Captures> captures = std::make_shared<Captures>();
  std::vector<std::string> running, adopted;
  std::map<std::string, std::vector<std::string>> calls;  // of sandboxes that were taken back
  std::vector<sandbox::ProcessInfo> left_running;         // in every sandbox that is adopted

 private:
  boost::asio::any_io_executor executor_;
};

}  // namespace atl::session::fake
