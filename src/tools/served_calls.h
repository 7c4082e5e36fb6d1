#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "os/task.h"
#include "tools/progress.h"

namespace atl::tools {

// Calls of tools that a process of the tenant's answers, wherever it runs (`run: {client: true}`): it takes
// calls, reports their progress and gives their results. A call that nobody takes, or whose caller has left,
// is over; tell() and finish() about it are Code::not_found.
//
// Belongs to the loop thread. Tenants never see each other's calls. A call is shared by its caller and the
// list, from which either side may remove it first.
class ServedCalls {
 public:
  struct Options {
    std::chrono::milliseconds untaken_max{10'000};  // how long a call waits for somebody to take it
    std::size_t takers_max = 64;                    // that wait at once, of a tenant
  };
  ServedCalls(boost::asio::any_io_executor executor, Clock* clock, Options options)
      : executor_(std::move(executor)), clock_(clock), options_(options) {}
  // Coroutines that still wait may be destroyed later; they are never resumed.
  ~ServedCalls();
  ServedCalls(const ServedCalls&) = delete;
  ServedCalls& operator=(const ServedCalls&) = delete;

  struct Question {
    std::string tenant, tool, session_id;
    boost::json::value input;
    std::chrono::milliseconds timeout{};
  };
  // What the serving process made of it. Exactly one of output and error counts.
  struct Answer {
    boost::json::value output;
    std::string error, error_value;  // set: it failed
  };
  // Waits for the answer. Code::unavailable if nobody took the call, Code::deadline_exceeded if the answer
  // did not come in time.
  Task<Answer> ask(Question question, ToolWatcher watcher);

  struct Offer {
    std::string call_id, tool, session_id;
    boost::json::value input;
    WallTime deadline;
  };
  // Waits for a call of one of these tools and gives the oldest, which nobody else can take from then on;
  // nothing if none came within `wait`. Code::resource_exhausted if takers_max wait already.
  Task<std::optional<Offer>> take(std::string tenant, std::vector<std::string> tools,
                                  std::chrono::milliseconds wait);
  // Code::not_found if the call is over or is somebody else's.
  Result<void> tell(const std::string& tenant, const std::string& call_id, ToolEvent event);
  Result<void> finish(const std::string& tenant, const std::string& call_id, Answer answer);

 private:
  struct Signal;
  struct Call;
  struct Taker;
  using CallPtr = std::shared_ptr<Call>;

  std::optional<Offer> next_for(const std::string& tenant, const std::vector<std::string>& tools);
  Result<CallPtr> taken(const std::string& tenant, const std::string& call_id) const;

  boost::asio::any_io_executor executor_;
  Clock* clock_;
  Options options_;
  std::list<CallPtr> calls_;  // oldest first
  std::list<std::shared_ptr<Taker>> takers_;
};

}  // namespace atl::tools
