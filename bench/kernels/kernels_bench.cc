// Stateful interpreters in native sandboxes, beside a bare python3, in one run. Prints a table; `run` says how.
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

namespace atl {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using sandbox::Kernel;
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

double reference = 0;  // bare python3, p50

void show(const std::string& name, Series series) {
  fmt::print("{:<60} {:>5} {:>9.0f} {:>9.0f} {:>9.0f}", name, series.values.size(), series.at(0.10), series.at(0.5),
             series.at(0.99));
  if (reference > 0) fmt::print("  {:>7.4f}x", series.at(0.5) / reference);
  fmt::print("\n");
  std::fflush(stdout);
}

double run_python() {
  const char* const arguments[] = {"/usr/bin/python3", "-c", "pass", nullptr};
  const auto began = Clock::now();
  pid_t pid = 0;
  if (::posix_spawn(&pid, arguments[0], nullptr, nullptr, const_cast<char* const*>(arguments), environ) != 0)
    std::abort();
  ::waitpid(pid, nullptr, 0);
  return micros_since(began);
}

class Bench {
 public:
  explicit Bench(std::vector<sandbox::native::PoolOptions> pools, std::vector<std::string> modules) {
    sandbox::native::NativeOptions options;
    options.spawner.favor_dynmods = std::getenv("ATOLL_FAVOR_DYNMODS") != nullptr;
    options.spawner.slots_ready = 64;
    options.spawner.zygote.modules = std::move(modules);
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
    asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
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

  static Task<void> execute(std::shared_ptr<Kernel> kernel, std::string code) {
    sandbox::ExecutionSpec spec;
    spec.code = std::move(code);
    CO_TRY(const auto stream, co_await kernel->execute(std::move(spec)));
    for (;;) {
      CO_TRY(const auto event, co_await stream->next());
      if (std::holds_alternative<sandbox::ExecutionDone>(event)) co_return Result<void>();
    }
  }
  static Task<std::unique_ptr<sandbox::Sandbox>> first_result(sandbox::Provider* provider) {
    sandbox::Spec spec;
    spec.id = new_sandbox_id();
    CO_TRY(auto made, co_await provider->create(std::move(spec)));
    CO_TRY(auto kernel, co_await made->create_kernel(Language::python, std::string()));
    std::string code = "print(1+1)";
    CO_CHECK(co_await execute(kernel, std::move(code)));
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
    const auto kernel = made->kernels().front();
    Series series;
    for (int i = 0; i < count; ++i) {
      const auto began = Clock::now();
      must(run(execute(kernel, code)));
      series.values.push_back(micros_since(began));
    }
    must(run(made->stop()));
    return series;
  }
  asio::io_context loop_;
  std::unique_ptr<sandbox::Provider> provider_;
};

std::uint64_t available_kib() {
  const auto text = os::read_file("/proc/meminfo");
  if (!text) return 0;
  return std::strtoull(text->c_str() + text->find("MemAvailable:") + 13, nullptr, 10);
}

sandbox::native::PoolOptions pool(std::uint32_t ready) {
  sandbox::native::PoolOptions options;
  options.environment = "host";
  options.ready = ready;
  options.warm = {Language::python};
  return options;
}

void measure_memory(std::uint32_t count, std::vector<std::string> modules, const std::string& name) {
  // The zygote itself is paid once and counted too.
  Bench bench({pool(count)}, std::move(modules));
  const std::uint64_t before = available_kib();
  bench.wait_for_pool();
  const std::uint64_t after = available_kib();
  fmt::print("{:<60} {:>5} {:>9.0f} KiB\n", name, count, static_cast<double>(before - after) / count);
}

}  // namespace
}  // namespace atl

int main(int argc, char** argv) {
  using namespace atl;
  const int count = argc > 1 ? std::atoi(argv[1]) : 100;
  const auto warm = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 100);
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
  }
  measure_memory(warm, {}, "memory of a ready sandbox with a warm kernel");
  {
    Bench bench({}, {"numpy", "pandas"});
    show("on demand, numpy and pandas imported: to print(1+1)", bench.fresh(count, std::chrono::milliseconds(0)));
  }
  measure_memory(warm, {"numpy", "pandas"}, "memory, numpy and pandas imported");
  return 0;
}
