// What the audit log adds to `execute 1+1`: the same session of the provider native, in one process, asked in
// turns by way of the audited service and by way of the service inside it. Besides the time that passes, the
// time of the processor that the whole process uses, which other work on the machine does not blur.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <vector>

#include "audit/log.h"
#include "sandbox/native/native.h"
#include "sandbox/native/scratch_roots_test.h"
#include "session/audited/service.h"
#include "session/local_service.h"

namespace {

using namespace atl;
namespace asio = boost::asio;

constexpr int kRounds = 400, kCalls = 25;

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{} {}\n", result.error().message(), result.error().detail());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

double micros(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// One way to the session: times of its calls, and processor time of its rounds.
struct Way {
  session::Service* service;
  std::vector<double> calls, rounds;
};

class Bench {
 public:
  explicit Bench(const std::string& data) : registry_(must(registry::Registry::load(""))) {
    sandbox::native::NativeOptions native;
    native.spawner.roots = sandbox::native::scratch_roots();
    provider_ = must(sandbox::native::start(loop_.get_executor(), std::move(native)));
    store_ = must(store::Store::open(data));
    log_ = must(audit::Log::open({.data = data}));
    session::LocalService::Dependencies dependencies;
    dependencies.executor = loop_.get_executor();
    dependencies.store = store_.get();
    dependencies.registry = &registry_;
    dependencies.providers.push_back(provider_.get());
    dependencies.clock = &Clock::machine();
    inner_ = std::make_unique<session::LocalService>(std::move(dependencies), session::ServiceOptions());
    must(run(inner_->start()));
    audited_ = std::make_unique<session::audited::AuditedService>(loop_.get_executor(), *inner_, log_);
    session_ = must(run(inner_->create(who_, {}))).session_id;
  }
  ~Bench() {
    must(run(inner_->shut_down("the bench is over")));
    must(run(provider_->shut_down()));
    log_->close();
  }

  void measure() {
    Way ways[2] = {{audited_.get(), {}, {}}, {inner_.get(), {}, {}}};
    for (Way& way : ways) round(way);
    for (Way& way : ways) way.calls.clear(), way.rounds.clear();
    std::mt19937 random(1);
    for (int i = 0; i < kRounds; ++i) {
      const std::size_t first = random() % 2;
      round(ways[first]);
      round(ways[1 - first]);
    }
    const double with = median(ways[0].calls), without = median(ways[1].calls);
    const double cpu_with = median(ways[0].rounds), cpu_without = median(ways[1].rounds);
    // Each round has its neighbour of the other way, which saw the same machine.
    std::vector<double> differences;
    for (int i = 0; i < kRounds; ++i)
      differences.push_back(ways[0].rounds[static_cast<std::size_t>(i)] -
                            ways[1].rounds[static_cast<std::size_t>(i)]);
    fmt::print("{:.1f} {:.1f} {:.1f} {:.1f} {:.2f}\n", with, without, cpu_with, cpu_without,
               median(differences));
  }

 private:
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
  void round(Way& way) {
    const double cpu = micros(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < kCalls; ++i) {
      const double begin = micros(CLOCK_MONOTONIC);
      session::ExecuteRequest request;
      request.code = "1+1";
      const auto record = must(run(way.service->run(who_, session_, std::move(request))));
      if (record.status != session::Status::success) std::exit(1);
      way.calls.push_back(micros(CLOCK_MONOTONIC) - begin);
    }
    way.rounds.push_back((micros(CLOCK_PROCESS_CPUTIME_ID) - cpu) / kCalls);
  }

  asio::io_context loop_;
  registry::Registry registry_;
  std::unique_ptr<sandbox::Provider> provider_;
  std::unique_ptr<store::Store> store_;
  std::shared_ptr<audit::Log> log_;
  std::unique_ptr<session::LocalService> inner_;
  std::unique_ptr<session::audited::AuditedService> audited_;
  const auth::Principal who_{"key_0123456789abcdef", "default"};
  std::string session_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string data = argc > 1 ? argv[1] : "/tmp/atoll-execute-bench";
  std::filesystem::remove_all(data);
  std::filesystem::create_directories(data);
  Bench(data).measure();
  std::filesystem::remove_all(data);
  return 0;
}
