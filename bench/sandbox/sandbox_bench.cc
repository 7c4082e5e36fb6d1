// Native sandboxes beside their peers, in one run on one machine. Prints a table; `bench/README.md` says how.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "os/file.h"
#include "sandbox/native/native.h"

namespace atl {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

double micros_since(Clock::time_point began) {
  return std::chrono::duration<double, std::micro>(Clock::now() - began).count();
}

struct Series {
  std::vector<double> values;
  double at(double fraction) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[std::min(values.size() - 1,
                           static_cast<std::size_t>(fraction * static_cast<double>(values.size())))];
  }
};

double reference = 0;  // bwrap, p50

void show(const std::string& name, Series series) {
  fmt::print("{:<52} {:>6} {:>9.0f} {:>9.0f} {:>9.0f}", name, series.values.size(), series.at(0.10),
             series.at(0.5), series.at(0.99));
  if (reference > 0) fmt::print("  {:>6.3f}x", series.at(0.5) / reference);
  fmt::print("\n");
  std::fflush(stdout);
}

// One program, from spawn to reaped, with its output thrown away.
double run_program(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  const auto began = Clock::now();
  pid_t pid = 0;
  if (::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) return -1;
  int status = 0;
  ::waitpid(pid, &status, 0);
  const double took = micros_since(began);
  posix_spawn_file_actions_destroy(&actions);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? took : -1;
}

Series repeat_program(const std::vector<std::string>& command, int count) {
  Series series;
  for (int i = 0; i < count; ++i)
    if (const double took = run_program(command); took >= 0) series.values.push_back(took);
  return series;
}

std::vector<std::string> bwrap_command() {
  return {"bwrap",     "--ro-bind", "/usr", "/usr",          "--symlink", "usr/bin", "/bin",
          "--symlink", "usr/lib",   "/lib", "--symlink",     "usr/lib64", "/lib64",  "--proc",
          "/proc",     "--dev",     "/dev", "--unshare-all", "true"};
}

sandbox::Spec fresh() {
  sandbox::Spec spec;
  spec.id = new_sandbox_id();
  return spec;
}

// Not what a pool holds, so it is built on demand.
sandbox::Spec on_demand() {
  sandbox::Spec spec = fresh();
  spec.hostname = "ondemand";
  return spec;
}

asio::awaitable<void> pause_for(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "bench: {} ({})\n", error.message(), error.detail());
  std::exit(1);
}

template <class T>
T need(Result<T> result) {
  if (!result) give_up(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

asio::awaitable<void> creates(sandbox::Provider& provider, int count, std::chrono::milliseconds gap) {
  Series made, ended;
  for (int i = 0; i < count; ++i) {
    auto began = Clock::now();
    auto box = need(co_await provider.create(on_demand()));
    made.values.push_back(micros_since(began));
    began = Clock::now();
    need(co_await box->stop());
    ended.values.push_back(micros_since(began));
    if (gap.count() > 0) co_await pause_for(gap);
  }
  const std::string how = gap.count() > 0 ? fmt::format(", {} ms idle between", gap.count()) : "";
  show("create on demand to ready" + how, std::move(made));
  show("destroy, everything gone" + how, std::move(ended));
}

asio::awaitable<void> burst(sandbox::Provider& provider, int count) {
  Series made;
  std::vector<std::unique_ptr<sandbox::Sandbox>> boxes;
  int left = count;
  const auto one = [&]() -> asio::awaitable<void> {
    const auto began = Clock::now();
    auto box = need(co_await provider.create(on_demand()));
    made.values.push_back(micros_since(began));
    boxes.push_back(std::move(box));
    --left;
  };
  for (int i = 0; i < count; ++i) asio::co_spawn(co_await asio::this_coro::executor, one, asio::detached);
  while (left > 0) co_await pause_for(std::chrono::milliseconds(1));
  show(fmt::format("create, burst of {} at once, each waits its turn", count), std::move(made));
  for (auto& box : boxes) need(co_await box->stop());
}

asio::awaitable<void> pool_hits(sandbox::Provider& provider, int count) {
  Series taken;
  for (int i = 0; i < count; ++i) {
    while (provider.pools()[0].ready < provider.pools()[0].target)
      co_await pause_for(std::chrono::milliseconds(1));
    const auto began = Clock::now();
    auto box = need(co_await provider.create(fresh()));
    taken.values.push_back(micros_since(began));
    need(co_await box->stop());
  }
  show("create, pool hit", std::move(taken));
}

asio::awaitable<void> commands(sandbox::Provider& provider, int count) {
  auto box = need(co_await provider.create(on_demand()));
  Series took;
  for (int i = 0; i < count; ++i) {
    sandbox::ProcessSpec command;
    command.argv = {"/bin/true"};
    const auto began = Clock::now();
    auto process = need(co_await box->start(std::move(command)));
    (void)need(co_await process->wait());
    took.values.push_back(micros_since(began));
  }
  show("/bin/true in a live sandbox", std::move(took));
  need(co_await box->stop());
}

asio::awaitable<void> throughput(sandbox::Provider& provider, int count, int lanes) {
  int started = 0, running = lanes;
  const auto began = Clock::now();
  const auto lane = [&]() -> asio::awaitable<void> {
    while (started < count) {
      ++started;
      auto box = need(co_await provider.create(on_demand()));
      need(co_await box->stop());
    }
    --running;
  };
  for (int i = 0; i < lanes; ++i) asio::co_spawn(co_await asio::this_coro::executor, lane, asio::detached);
  while (running > 0) co_await pause_for(std::chrono::milliseconds(1));
  fmt::print("{:<52} {:>6} {:>29.0f} a second\n", fmt::format("create and destroy, {} at a time", lanes),
             count, count / (micros_since(began) / 1e6));
}

std::uint64_t memory_used() {
  const std::string text = os::read_file("/proc/meminfo").value_or("");
  const auto value = [&](const char* key) {
    const std::size_t at = text.find(key);
    return std::strtoull(text.c_str() + at + std::strlen(key), nullptr, 10);
  };
  return value("MemTotal:") - value("MemAvailable:");
}

asio::awaitable<void> scale(sandbox::Provider& provider, int live) {
  std::vector<std::unique_ptr<sandbox::Sandbox>> boxes;
  Series at_ten, at_all;
  const std::uint64_t before = memory_used();
  for (int i = 0; i < live; ++i) {
    const auto began = Clock::now();
    boxes.push_back(need(co_await provider.create(on_demand())));
    const double took = micros_since(began);
    if (i >= 10 && i < 110) at_ten.values.push_back(took);
    if (i >= live - 100) at_all.values.push_back(took);
  }
  Series commands_at_all;
  for (int i = 0; i < 100; ++i) {
    sandbox::ProcessSpec command;
    command.argv = {"/bin/true"};
    const auto began = Clock::now();
    auto process = need(co_await boxes[static_cast<std::size_t>(i * live / 100)]->start(std::move(command)));
    (void)need(co_await process->wait());
    commands_at_all.values.push_back(micros_since(began));
  }
  co_await pause_for(std::chrono::milliseconds(300));
  const double each = static_cast<double>(memory_used() - before) / live;
  show("create with 10 to 110 live", std::move(at_ten));
  show(fmt::format("create with {} live", live), std::move(at_all));
  show(fmt::format("/bin/true with {} live", live), std::move(commands_at_all));
  fmt::print("{:<52} {:>6} {:>29.0f} KiB each\n", "memory of an idle sandbox (MemAvailable / count)", live,
             each);
  for (auto& box : boxes) need(co_await box->stop());
}

// A peer that costs tens of milliseconds is measured less often. One that fails is named, not left out.
void show_peer(const std::string& name, const std::function<std::vector<std::string>(int)>& command,
               int count) {
  Series series;
  for (int i = 0; i < count; ++i) {
    const double took = run_program(command(i));
    if (took < 0) break;
    series.values.push_back(took);
  }
  if (series.values.empty())
    fmt::print("{:<52} does not work here\n", name);
  else
    show(name, std::move(series));
}

void slow_peers(int count) {
  const char* bundle = std::getenv("ATOLL_BENCH_BUNDLE");
  const char* image = std::getenv("ATOLL_BENCH_IMAGE");
  const std::string run = "atoll-bench-" + random_word(8) + "-";
  if (bundle != nullptr) {
    show_peer(
        "runc run, true",
        [&](int i) {
          return std::vector<std::string>{"runc", "run", "--bundle", bundle, run + std::to_string(i)};
        },
        count);
    show_peer(
        "runsc run, true",
        [&](int i) {
          return std::vector<std::string>{"runsc",    "--network=none", "--ignore-cgroups",           "run",
                                          "--bundle", bundle,           run + "s" + std::to_string(i)};
        },
        count / 2);
  }
  show_peer(
      "docker run --rm --network none, true",
      [&](int) {
        return image == nullptr
                   ? std::vector<std::string>{"/bin/false"}
                   : std::vector<std::string>{"docker", "run", "--rm", "--network", "none", image, "/true"};
      },
      count / 2);
}

// As many loops at once as there are cores: what create and destroy is held against.
void bwrap_throughput(int count, int lanes) {
  const auto began = Clock::now();
  std::vector<pid_t> children;
  for (int lane = 0; lane < lanes; ++lane) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < count / lanes; ++i) (void)run_program(bwrap_command());
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  fmt::print("{:<52} {:>6} {:>29.0f} a second\n", fmt::format("bwrap loops, {} at a time", lanes), count,
             count / (micros_since(began) / 1e6));
}

void peers(int count) {
  reference = 0;
  Series bwrap = repeat_program(bwrap_command(), count);
  reference = bwrap.at(0.5);
  show("bwrap, own root, all namespaces, true", std::move(bwrap));
  show("/usr/bin/python3 -c pass, no sandbox", repeat_program({"/usr/bin/python3", "-c", "pass"}, count / 2));
  show("/bin/true, no sandbox", repeat_program({"/bin/true"}, count));
}

}  // namespace

// sandbox_bench [COUNT [LIVE [SECTION...]]]: only the named sections, or all.
int bench(int argc, char** argv) {
  const std::vector<std::string_view> sections(argv + std::min(argc, 3), argv + argc);
  const auto wanted = [&](std::string_view name) {
    return sections.empty() || std::ranges::find(sections, name) != sections.end();
  };
  const int count = argc > 1 ? std::atoi(argv[1]) : 200;
  const int live = argc > 2 ? std::atoi(argv[2]) : 1000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  asio::io_context loop;
  sandbox::native::NativeOptions options;
  options.spawner.slots_ready = 16;
  options.spawner.favor_dynmods = std::getenv("ATOLL_FAVOR_DYNMODS") != nullptr;
  options.pools.push_back({.environment = "host", .spec = {}, .ready = 4});
  auto provider = need(sandbox::native::start(loop.get_executor(), std::move(options)));
  fmt::print("{:<52} {:>6} {:>9} {:>9} {:>9}  p50 to bwrap\n", "microseconds", "n", "p10", "p50", "p99");
  if (wanted("peers")) peers(count);
  if (wanted("slow_peers")) slow_peers(std::min(count, 20));
  const int cores = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  if (wanted("bwrap_loops")) bwrap_throughput(count, cores);
  const auto body = [&]() -> asio::awaitable<void> {
    if (wanted("create")) co_await creates(*provider, count, std::chrono::milliseconds(0));
    if (wanted("idle")) co_await creates(*provider, count / 4, std::chrono::milliseconds(30));
    if (wanted("pool")) co_await pool_hits(*provider, count);
    if (wanted("commands")) co_await commands(*provider, count);
    if (wanted("burst")) co_await burst(*provider, 100);
    if (wanted("throughput")) co_await throughput(*provider, count * 2, 4);
    if (live > 0 && wanted("scale")) co_await scale(*provider, live);
    need(co_await provider->shut_down());
    loop.stop();
  };
  asio::co_spawn(loop, body, asio::detached);
  loop.run();
  if (wanted("peers")) peers(count / 2);
  return 0;
}

}  // namespace atl

int main(int argc, char** argv) {
  return atl::bench(argc, argv);
}
