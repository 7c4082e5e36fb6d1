#include "tools/served_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/ids.h"

namespace atl::tools {
namespace {

// Reports that nobody has read yet; beyond them the oldest is dropped, because the latest says more.
constexpr std::size_t kEventsMax = 256;

// Puts something into a list for as long as a coroutine lives, or the list does.
template <class T>
class Listed {
 public:
  Listed(std::list<T>& list, T item)
      : item_(item), list_(list), at_(list.insert(list.end(), std::move(item))) {
    item_->is_listed = true;
  }
  ~Listed() {
    if (item_->is_listed) list_.erase(at_);
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  T item_;
  std::list<T>& list_;
  typename std::list<T>::iterator at_;
};

}  // namespace

// Lets one coroutine wait until another raises it. A raise that comes before the wait is not lost.
struct ServedCalls::Signal {
  explicit Signal(boost::asio::any_io_executor executor) : timer(std::move(executor)) {}

  void raise() {
    is_raised = true;
    timer.cancel();
  }
  // True: raised; false: `longest` has passed. Code::canceled if the coroutine that waits is canceled.
  Task<bool> wait(Duration longest) {
    if (!is_raised) {
      boost::system::error_code failed;
      timer.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(longest));
      co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, failed));
      if (failed && !is_raised) co_return fail(Code::canceled, "canceled while a call waited");
    }
    co_return std::exchange(is_raised, false);
  }

  boost::asio::steady_timer timer;
  bool is_raised = false;
};

struct ServedCalls::Call {
  Call(boost::asio::any_io_executor executor, Question asked)
      : question(std::move(asked)), call_id("call_" + random_word(20)), news(std::move(executor)) {}

  Question question;
  std::string call_id;
  WallTime deadline;
  Signal news;
  bool is_listed = false;
  bool is_taken = false;
  std::deque<ToolEvent> events;
  std::optional<Answer> answer;
};

struct ServedCalls::Taker {
  Taker(boost::asio::any_io_executor executor, std::string of, std::vector<std::string> names)
      : tenant(std::move(of)), tools(std::move(names)), news(std::move(executor)) {}

  std::string tenant;
  std::vector<std::string> tools;
  Signal news;
  bool is_listed = false;
};

ServedCalls::~ServedCalls() {
  for (const CallPtr& call : calls_) call->is_listed = false;
  for (const auto& taker : takers_) taker->is_listed = false;
}

Task<ServedCalls::Answer> ServedCalls::ask(Question question, ToolWatcher watcher) {
  const auto call = std::make_shared<Call>(executor_, std::move(question));
  const SteadyTime asked = clock_->steady();
  const SteadyTime end = asked + call->question.timeout;
  const SteadyTime take_until = std::min<SteadyTime>(end, asked + options_.untaken_max);
  call->deadline = clock_->now() + call->question.timeout;
  const Listed<CallPtr> listed(calls_, call);
  for (const auto& taker : takers_)
    if (taker->tenant == call->question.tenant) taker->news.raise();
  while (true) {
    while (watcher && !call->events.empty()) {
      ToolEvent event = std::move(call->events.front());
      call->events.pop_front();
      CO_CHECK(co_await watcher(std::move(event)));
    }
    if (call->answer) co_return std::move(*call->answer);
    const Duration left = (call->is_taken ? end : take_until) - clock_->steady();
    if (left <= Duration(0) && call->is_taken)
      co_return fail(Code::deadline_exceeded, "the process that serves the tool did not answer in time");
    if (left <= Duration(0))
      co_return fail(Code::unavailable,
                     fmt::format("no process serves the tool '{}' now", call->question.tool));
    CO_CHECK(co_await call->news.wait(left));
  }
}

std::optional<ServedCalls::Offer> ServedCalls::next_for(const std::string& tenant,
                                                        const std::vector<std::string>& tools) {
  for (const CallPtr& call : calls_) {
    const Question& asked = call->question;
    if (call->is_taken || asked.tenant != tenant || std::ranges::find(tools, asked.tool) == tools.end())
      continue;
    call->is_taken = true;
    call->news.raise();
    return Offer{call->call_id, asked.tool, asked.session_id, asked.input, call->deadline};
  }
  return std::nullopt;
}

Task<std::optional<ServedCalls::Offer>> ServedCalls::take(std::string tenant, std::vector<std::string> tools,
                                                          std::chrono::milliseconds wait) {
  if (auto offer = next_for(tenant, tools)) co_return offer;
  const auto of_tenant = [&](const auto& taker) { return taker->tenant == tenant; };
  if (static_cast<std::size_t>(std::ranges::count_if(takers_, of_tenant)) >= options_.takers_max)
    co_return fail(Code::resource_exhausted,
                   fmt::format("{} processes wait for calls already", options_.takers_max));
  const auto taker = std::make_shared<Taker>(executor_, tenant, tools);
  const Listed<std::shared_ptr<Taker>> listed(takers_, taker);
  const SteadyTime end = clock_->steady() + wait;
  while (true) {
    const Duration left = end - clock_->steady();
    if (left <= Duration(0)) co_return std::optional<Offer>();
    CO_CHECK(co_await taker->news.wait(left));
    if (auto offer = next_for(tenant, tools)) co_return offer;
  }
}

Result<ServedCalls::CallPtr> ServedCalls::taken(const std::string& tenant, const std::string& call_id) const {
  for (const CallPtr& call : calls_)
    if (call->call_id == call_id && call->question.tenant == tenant && call->is_taken && !call->answer)
      return call;
  return fail(Code::not_found,
              fmt::format("no call '{}' is under way; its caller may have left", call_id.substr(0, 64)));
}

Result<void> ServedCalls::tell(const std::string& tenant, const std::string& call_id, ToolEvent event) {
  const CallPtr call = TRY(taken(tenant, call_id));
  if (call->events.size() >= kEventsMax) call->events.pop_front();
  call->events.push_back(std::move(event));
  call->news.raise();
  return {};
}

Result<void> ServedCalls::finish(const std::string& tenant, const std::string& call_id, Answer answer) {
  const CallPtr call = TRY(taken(tenant, call_id));
  call->answer = std::move(answer);
  call->news.raise();
  return {};
}

}  // namespace atl::tools
