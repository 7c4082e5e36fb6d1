// Stateful interpreters in native sandboxes, beside a bare python3, in one run. Prints a table; `run` says
// how.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "os/file.h"
#include "sandbox/native/native.h"
#include "sandbox/native/scratch_roots_test.h"

namespace atl {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using sandbox::Interpreter;
using sandbox::Language;

double micros_since(Clock::time_point began) {
  return std::chrono::duration<double, std::micro>(Clock::now() - began).count();
}

struct Series {
  std::vector<double> values;
  double at(double fraction) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const auto place = static_cast<std::size_t>(fraction * static_cast<double>(values.size()));
    return values[std::min(values.size() - 1, place)];
  }
};

double reference = 0;                            // bare python3, p50
constexpr std::chrono::milliseconds kRest{100};  // a copy of an idle interpreter is made long before

void show(const std::string& name, Series series) {
  fmt::print("{:<60} {:>5} {:>9.0f} {:>9.0f} {:>9.0f}", name, series.values.size(), series.at(0.10),
             series.at(0.5), series.at(0.99));
  if (reference > 0) fmt::print("  {:>7.4f}x", series.at(0.5) / reference);
  fmt::print("\n");
  std::fflush(stdout);
}

double run_program(std::vector<const char*> arguments) {
  arguments.push_back(nullptr);
  const auto began = Clock::now();
  pid_t pid = 0;
  if (::posix_spawn(&pid, arguments[0], nullptr, nullptr, const_cast<char* const*>(arguments.data()),
                    environ) != 0)
    std::abort();
  ::waitpid(pid, nullptr, 0);
  return micros_since(began);
}

double run_python() {
  return run_program({"/usr/bin/python3", "-c", "pass"});
}

// What a live fork is compared with: a sandbox of all namespaces that runs nothing.
double run_bwrap() {
  return run_program({"/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib",
                      "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
                      "--tmpfs", "/tmp", "/usr/bin/true"});
}

class Bench {
 public:
  explicit Bench(std::vector<sandbox::native::PoolOptions> pools, std::vector<std::string> modules) {
    sandbox::native::NativeOptions options;
    options.spawner.favor_dynmods = std::getenv("ATOLL_FAVOR_DYNMODS") != nullptr;
    options.spawner.slots_ready = 64;
    options.spawner.zygote.modules = std::move(modules);
    options.spawner.roots = sandbox::native::scratch_roots();
    options.pools = std::move(pools);
    provider_ = must(sandbox::native::start(loop_.get_executor(), std::move(options)));
    turn(std::chrono::milliseconds(1500));  // zygote and slots
  }
  ~Bench() { must(run(provider_->shut_down())); }

  template <class T>
  static T must(Result<T> result) {
    if (!result) {
      fmt::print(stderr, "{} {}\n", result.error().message(), result.error().detail());
      std::exit(1);
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }
  template <class T>
  Result<T> run(Task<T> task) {
    std::optional<Result<T>> result;
    asio::co_spawn(loop_, std::move(task),
                   [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
    while (!result) {
      loop_.restart();
      loop_.run_one();
    }
    return std::move(*result);
  }
  void turn(std::chrono::milliseconds time) {
    loop_.restart();
    loop_.run_for(time);
  }
  void wait_for_pool() {
    for (int i = 0; i < 3000 && provider_->pools().front().ready < provider_->pools().front().target; ++i)
      turn(std::chrono::milliseconds(10));
  }

  static Task<void> execute(std::shared_ptr<Interpreter> interpreter, std::string code) {
    sandbox::ExecutionSpec spec;
    spec.code = std::move(code);
    CO_TRY(const auto stream, co_await interpreter->execute(std::move(spec)));
    for (;;) {
      CO_TRY(const auto event, co_await stream->next());
      if (std::holds_alternative<sandbox::ExecutionDone>(event)) co_return Result<void>();
    }
  }
  // With a kernel that waits for its first execution, as a pool has them.
  static Task<std::unique_ptr<sandbox::Sandbox>> warm(sandbox::Provider* provider,
                                                      sandbox::Limits limits = {}) {
    sandbox::Spec spec;
    spec.id = new_sandbox_id();
    spec.limits = limits;
    CO_TRY(auto made, co_await provider->create(std::move(spec)));
    CO_CHECK(co_await made->create_interpreter(Language::python, std::string()));
    co_return std::move(made);
  }
  static Task<std::unique_ptr<sandbox::Sandbox>> first_result(sandbox::Provider* provider,
                                                              sandbox::Limits limits = {}) {
    CO_TRY(auto made, co_await warm(provider, limits));
    std::string code = "print(1+1)";
    CO_CHECK(co_await execute(made->interpreters().front(), std::move(code)));
    co_return std::move(made);
  }

  Series fresh(int count, std::chrono::milliseconds gap) {
    Series series;
    for (int i = 0; i < count; ++i) {
      if (!provider_->pools().empty()) wait_for_pool();
      turn(gap);
      const auto began = Clock::now();
      auto made = must(run(first_result(provider_.get())));
      series.values.push_back(micros_since(began));
      must(run(made->stop()));
    }
    return series;
  }
  Series live(int count, const std::string& code) {
    auto made = must(run(first_result(provider_.get())));
    const auto interpreter = made->interpreters().front();
    Series series;
    for (int i = 0; i < count; ++i) {
      const auto began = Clock::now();
      must(run(execute(interpreter, code)));
      series.values.push_back(micros_since(began));
    }
    must(run(made->stop()));
    return series;
  }
  // The same after a rest each time, in which a copy of the interpreter is made. With too little memory for
  // two there is none.
  Series rested(int count, const std::string& code, sandbox::Limits limits) {
    auto made = must(run(first_result(provider_.get(), limits)));
    const auto interpreter = made->interpreters().front();
    Series series;
    for (int i = 0; i < count; ++i) {
      turn(kRest);
      const auto began = Clock::now();
      must(run(execute(interpreter, code)));
      series.values.push_back(micros_since(began));
    }
    must(run(made->stop()));
    return series;
  }
  // From the last instruction of one that dies to the answer of the one that goes on.
  Series deaths(int count) {
    auto made = must(run(first_result(provider_.get())));
    const auto interpreter = made->interpreters().front();
    Series series;
    for (int i = 0; i < count; ++i) {
      turn(kRest);
      const auto began = Clock::now();
      must(run(execute(interpreter, "import os; os._exit(1)")));
      must(run(execute(interpreter, "1+1")));
      series.values.push_back(micros_since(began));
    }
    must(run(made->stop()));
    return series;
  }
  // A copy of a running sandbox, until it has answered; then it is gone.
  static Task<std::unique_ptr<sandbox::Sandbox>> go_on(sandbox::Provider* provider, std::string target) {
    sandbox::Spec spec;
    spec.id = new_sandbox_id();
    spec.snapshot = std::move(target), spec.with_interpreters = true;
    CO_TRY(auto made, co_await provider->create(std::move(spec)));
    if (made->interpreters().empty()) co_return fail(Code::internal, "the kernel was not carried");
    std::string code = "x";
    CO_CHECK(co_await execute(made->interpreters().front(), std::move(code)));
    co_return std::move(made);
  }
  struct Forks {
    Series fork, pause, bwrap, hibernate, resume;
    double hundred = 0;  // ms
  };
  // Forks of a kernel that holds what `code` made, one after the other.
  Forks live_forks(int count, const std::string& code) {
    auto source = must(run(first_result(provider_.get())));
    must(run(execute(source->interpreters().front(), code)));
    Forks all;
    for (int i = 0; i < count; ++i) fork_once(*source, all);
    must(run(source->stop()));
    return all;
  }
  void fork_once(sandbox::Sandbox& source, Forks& all) {
    const std::string target = scratch();
    const auto began = Clock::now();
    const auto carried = must(run(source.checkpoint(target, {})));
    auto copy = must(run(go_on(provider_.get(), target)));
    all.fork.values.push_back(micros_since(began));
    all.pause.values.push_back(static_cast<double>(carried.pause.count()));
    must(run(copy->stop()));
    must(run(provider_->discard_snapshot(target)));
  }
  // The same, interleaved with bwrap, and with what is kept on the disk.
  Forks forks(int count, const std::string& code) {
    auto source = must(run(first_result(provider_.get())));
    must(run(execute(source->interpreters().front(), code)));
    Forks all;
    for (int i = 0; i < count; ++i) {
      all.bwrap.values.push_back(run_bwrap());
      fork_once(*source, all);
    }
    for (int i = 0; i < count / 4; ++i) {
      const std::string target = scratch();
      const auto began = Clock::now();
      must(run(source->checkpoint(target, {.whole = true, .strict = true})));
      all.hibernate.values.push_back(micros_since(began));
      const auto woke = Clock::now();
      auto copy = must(run(go_on(provider_.get(), target)));
      all.resume.values.push_back(micros_since(woke));
      must(run(copy->stop()));
      must(run(provider_->discard_snapshot(target)));
    }
    all.hundred = hundred(*source);
    must(run(source->stop()));
    return all;
  }
  double hundred(sandbox::Sandbox& source) {
    const std::string target = scratch();
    std::vector<std::unique_ptr<sandbox::Sandbox>> copies;
    const auto began = Clock::now();
    must(run(source.checkpoint(target, {})));
    for (int i = 0; i < 100; ++i)
      asio::co_spawn(loop_, go_on(provider_.get(), target),
                     [&](std::exception_ptr, auto made) { copies.push_back(must(std::move(made))); });
    while (copies.size() < 100) {
      loop_.restart();
      loop_.run_one();
    }
    const double millis = micros_since(began) / 1000;
    for (auto& copy : copies) must(run(copy->stop()));
    must(run(provider_->discard_snapshot(target)));
    return millis;
  }
  static std::string scratch() { return "/var/tmp/atoll-bench-" + random_word(12); }

  enum class Used : bool { no, once };
  // What the kernel charges to each, at rest: right after some work a group holds pages in reserve for each
  // processor.
  double memory(int count, sandbox::Limits limits, Used used) {
    std::vector<std::unique_ptr<sandbox::Sandbox>> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(must(
          run(used == Used::once ? first_result(provider_.get(), limits) : warm(provider_.get(), limits))));
      if (all.back()->interpreters().front()->info().origin != sandbox::InterpreterOrigin::forked)
        std::exit(1);
    }
    turn(5 * kRest);
    double bytes = 0;
    for (auto& one : all) bytes += static_cast<double>(must(run(one->usage())).memory_bytes) / count;
    for (auto& one : all) must(run(one->stop()));
    return bytes;
  }
  asio::io_context loop_;
  std::unique_ptr<sandbox::Provider> provider_;
};

sandbox::native::PoolOptions pool(std::uint32_t ready) {
  sandbox::native::PoolOptions options;
  options.environment = "host";
  options.ready = ready;
  options.warm = {Language::python};
  return options;
}

// Too little for two interpreters: no copy is kept.
sandbox::Limits room_for_one() {
  sandbox::Limits limits;
  limits.memory_bytes = 24U << 20;
  return limits;
}

void show_rests(Bench& bench, int count) {
  show("1+1 after a rest of 100 ms, no copy was made", bench.rested(count, "1+1", room_for_one()));
  show("1+1 after a rest of 100 ms, a copy was made meanwhile", bench.rested(count, "1+1", {}));
  show("os._exit() and then 1+1 in the copy", bench.deaths(count));
}

void measure_memory(int count, std::vector<std::string> modules, const std::string& name) {
  Bench bench({}, std::move(modules));
  const auto row = [count](const std::string& what, double bytes) {
    fmt::print("{:<60} {:>5} {:>9.0f} KiB\n", what, count, bytes / 1024);
  };
  row(name, bench.memory(count, room_for_one(), Bench::Used::no));
  row("  and when it has answered", bench.memory(count, room_for_one(), Bench::Used::once));
  row("  and after a rest, with a copy of its interpreter", bench.memory(count, {}, Bench::Used::once));
  std::fflush(stdout);
}

void measure_forks(int count, const std::string& name, const std::string& code) {
  Bench bench({}, {});
  Bench::Forks all = bench.forks(count, code);
  const double bwrap = all.bwrap.at(0.5);
  show("bwrap true, interleaved", all.bwrap);
  show(fmt::format("live fork, {}: to its first answer ({:.2f}x bwrap)", name, all.fork.at(0.5) / bwrap),
       all.fork);
  show(fmt::format("live fork, {}: pause of the source", name), all.pause);
  show(fmt::format("hibernate, {}: on the disk", name), all.hibernate);
  show(fmt::format("resume, {}: to its first answer", name), all.resume);
  fmt::print("{:<60} {:>5} {:>9.0f} ms\n", fmt::format("live fork, {}: 100 at once", name), 100, all.hundred);
}

}  // namespace
}  // namespace atl

int main(int argc, char** argv) {
  using namespace atl;
  const int count = argc > 1 ? std::atoi(argv[1]) : 100;
  const int warm = argc > 2 ? std::atoi(argv[2]) : 100;
  // For profiles: live forks of a small kernel and nothing else; the same with what is kept on the disk.
  if (argc > 3 && std::string_view(argv[3]) == "fork") {
    Bench bench({}, {});
    Bench::Forks all = bench.live_forks(count, "x = 1");
    show("live fork, small: to its first answer", all.fork);
    show("live fork, small: pause of the source", all.pause);
    return 0;
  }
  if (argc > 3 && std::string_view(argv[3]) == "forks") return measure_forks(count, "small", "x = 1"), 0;
  if (argc > 3 && std::string_view(argv[3]) == "live") {
    Bench bench({}, {});
    show("1+1 in a live kernel", bench.live(count * 20, "1+1"));
    return show_rests(bench, count), 0;
  }
  fmt::print("{:<60} {:>5} {:>9} {:>9} {:>9}  {}\n", "µs", "n", "p10", "p50", "p99", "of bare python3");
  Series bare;
  for (int i = 0; i < count; ++i) bare.values.push_back(run_python());
  show("bare /usr/bin/python3 -c pass", bare);
  reference = bare.at(0.5);
  {
    Bench bench({pool(2)}, {});
    show("from the pool: fresh sandbox to print(1+1)", bench.fresh(count, std::chrono::milliseconds(5)));
  }
  {
    Bench bench({}, {});
    show("on demand: fresh sandbox to print(1+1)", bench.fresh(count, std::chrono::milliseconds(0)));
    show("1+1 in a live kernel", bench.live(count * 20, "1+1"));
    show("print(1+1) in a live kernel", bench.live(count * 20, "print(1+1)"));
    show_rests(bench, count);
  }
  measure_memory(warm, {}, "memory of a ready sandbox with a warm kernel");
  {
    Bench bench({}, {"numpy", "pandas"});
    show("on demand, numpy and pandas imported: to print(1+1)",
         bench.fresh(count, std::chrono::milliseconds(0)));
  }
  measure_memory(warm, {"numpy", "pandas"}, "memory, numpy and pandas imported");
  measure_forks(count, "small", "x = 1");
  measure_forks(count / 4, "10^6 numbers", "x = list(range(1000000))");
  return 0;
}
