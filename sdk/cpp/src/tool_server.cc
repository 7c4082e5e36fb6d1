// A process that answers calls of its tools.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "atoll/tools.h"
#include "tool_progress.h"

namespace atl::client {
namespace detail {
namespace {

thread_local const ProgressListener* current_listener = nullptr;

}  // namespace

ProgressScope::ProgressScope(ProgressListener listener)
    : listener_(std::move(listener)), before_(std::exchange(current_listener, &listener_)) {}

ProgressScope::~ProgressScope() {
  current_listener = before_;
}

Json progress_json(const ToolProgress& progress) {
  Json made = Json::object({{"progress", progress.progress}});
  if (progress.total) made.set("total", *progress.total);
  if (!progress.message.empty()) made.set("message", progress.message);
  return made;
}

namespace {

// Between two tries to reach a service that is not there.
constexpr std::chrono::seconds kServiceAway{1};

// Runs a tool for somebody who may have left meanwhile.
class CallRunner {
 public:
  CallRunner(const ToolRegistry& registry, SandboxClient& client, const ToolCall& call)
      : registry_(registry), client_(client), call_(call) {}

  void run() {
    ProgressScope told([this](const ToolProgress& progress) { tell(progress); });
    Json output;
    try {
      output = registry_.call(call_.tool, call_.input);
    } catch (const CallerLeftError&) {
      return;
    } catch (const std::exception& problem) {
      return fail(problem.what());
    } catch (...) {
      return fail("an exception that is no std::exception");
    }
    give([&] { client_.finish_tool_call(call_.call_id, output); });
  }

 private:
  void tell(const ToolProgress& progress) {
    try {
      client_.tell_tool_progress(call_.call_id, progress);
    } catch (const NotFoundError&) {
      throw CallerLeftError(call_.call_id);
    }
  }
  void fail(const std::string& words) {
    give([&] { client_.fail_tool_call(call_.call_id, "ToolError", words); });
  }
  // A result that the service does not take, one that is too large for example, is the call's failure, and no
  // reason to stop serving. One that does not reach it is lost with its call.
  template <class Send>
  void give(Send send) {
    try {
      send();
    } catch (const NotFoundError&) {
      return;  // the caller left meanwhile
    } catch (const ServiceError& refused) {
      try {
        client_.fail_tool_call(call_.call_id, "ToolError", refused.what());
      } catch (const AtollError&) {
        return;
      }
    } catch (const AtollError&) {
      return;
    }
  }

  const ToolRegistry& registry_;
  SandboxClient& client_;
  const ToolCall& call_;
};

// What the threads of one serve() share.
class ToolServer {
 public:
  ToolServer(const ToolRegistry& registry, SandboxClient& client, std::stop_token stop, ServeOptions options)
      : registry_(registry), client_(client), stop_(std::move(stop)), options_(options) {}

  std::size_t run() {
    {
      std::vector<std::jthread> threads;
      for (int number = 0; number < options_.workers; ++number)
        threads.emplace_back([this] { work_until_the_end(); });
    }
    if (problem_) std::rethrow_exception(problem_);
    return answered_;
  }

 private:
  bool is_over() const { return stop_.stop_requested() || failed_.stop_requested(); }

  void work_until_the_end() {
    try {
      while (!is_over()) work();
    } catch (...) {
      std::scoped_lock lock(mutex_);
      if (!problem_) problem_ = std::current_exception();
      failed_.request_stop();
    }
  }
  void work() {
    std::optional<ToolCall> call;
    try {
      call = client_.next_tool_call(registry_.names(), options_.wait);
    } catch (const ServiceError& refused) {
      if (!refused.retryable()) throw;
      return rest();
    } catch (const ConnectError&) {
      return rest();
    } catch (const ConnectionLostError&) {
      return rest();
    } catch (const RequestTimeoutError&) {
      return rest();
    }
    if (!call) return;
    CallRunner(registry_, client_, *call).run();
    ++answered_;
  }
  void rest() {
    std::unique_lock lock(mutex_);
    std::stop_callback wake(failed_.get_token(), [this] { changed_.notify_all(); });
    changed_.wait_for(lock, stop_, kServiceAway, [this] { return failed_.stop_requested(); });
  }

  const ToolRegistry& registry_;
  SandboxClient& client_;
  std::stop_token stop_;
  ServeOptions options_;
  std::atomic<std::size_t> answered_ = 0;
  std::stop_source failed_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::exception_ptr problem_;
};

}  // namespace
}  // namespace detail

CallerLeftError::CallerLeftError(const std::string& call_id)
    : AtollError(fmt::format("nobody waits for the call {} any more", call_id), "let it end the call") {}

void ToolBase::progress(double progress, std::optional<double> total, std::string message) const {
  if (detail::current_listener) (*detail::current_listener)({progress, total, std::move(message)});
}

std::size_t ToolRegistry::serve(SandboxClient& client, std::stop_token stop, ServeOptions options) const {
  if (options.workers < 1 || tools_.empty()) {
    throw ConfigurationError(tools_.empty() ? "there is no tool to serve" : "nobody would serve",
                             "add() tools, and have at least one worker");
  }
  return detail::ToolServer(*this, client, std::move(stop), options).run();
}

}  // namespace atl::client
