#include "session/cpu_budget.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"

namespace atl::session {
namespace {

constexpr std::chrono::microseconds kShortest = std::chrono::milliseconds(10);
// Others of the tenant may begin while this one waits.
constexpr std::chrono::microseconds kLongest = std::chrono::milliseconds(500);

}  // namespace

std::shared_ptr<CpuBudget> CpuBudget::watch(boost::asio::any_io_executor executor,
                                            quota::ResourceController* controller, Subject subject,
                                            Stop stop) {
  if (controller == nullptr || !controller->cpu_left(subject.holder)) return nullptr;
  auto budget = std::make_shared<CpuBudget>(executor, *controller, std::move(subject), std::move(stop));
  boost::asio::co_spawn(executor, look(budget), boost::asio::detached);
  return budget;
}

CpuBudget::CpuBudget(boost::asio::any_io_executor executor, quota::ResourceController& controller,
                     Subject subject, Stop stop)
    : controller_(controller), subject_(std::move(subject)), stop_(std::move(stop)), timer_(executor) {}

void CpuBudget::end() {
  over_ = true;
  stop_ = {};
  timer_.cancel();
}

std::chrono::microseconds CpuBudget::pause(const quota::CpuLeft& left) const {
  const double cores = std::max(subject_.live->facts().limits.cpu_cores, 0.01);
  const auto together = static_cast<double>(std::max<std::uint64_t>(left.executions, 1));
  const auto lasts = static_cast<double>(left.time.count()) / (cores * together);
  return std::clamp(std::chrono::microseconds(static_cast<std::int64_t>(lasts)), kShortest, kLongest);
}

boost::asio::awaitable<void> CpuBudget::look(std::shared_ptr<CpuBudget> self) {
  const std::shared_ptr<sandbox::Sandbox> in = self->subject_.live->sandbox();
  while (in && !self->over_) {
    auto used = co_await in->cpu_time();
    // A sandbox that is gone uses nothing more.
    if (self->over_ || !used) co_return;
    self->noted_ = self->subject_.live->cpu().read(*used, self->subject_.entered);
    self->controller_.note_cpu(self->subject_.claim_id, self->noted_);
    const auto left = self->controller_.cpu_left(self->subject_.holder);
    if (left && left->time.count() == 0) {
      auto over = self->controller_.check(self->subject_.holder, quota::Quota::cpu_seconds_per_day, 0, 0);
      self->reason_ = over ? "the CPU time of the day is used up" : over.error().message();
      const Stop stop = std::exchange(self->stop_, {});
      if (auto stopped = co_await stop(); !stopped)
        log::debug("what is out of CPU time was gone already", {{"record", self->subject_.claim_id}});
      co_return;
    }
    self->timer_.expires_after(left ? self->pause(*left) : kLongest);
    boost::system::error_code ignored;
    co_await self->timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
}

}  // namespace atl::session
