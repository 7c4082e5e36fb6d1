#include "session/cpu_budget.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <thread>

#include "base/log.h"

namespace atl::session {
namespace {

// What a sandbox may use between the order to end something and its end, which is mostly a millisecond.
constexpr std::chrono::milliseconds kToDie{200};

// How long what is left lasts at least, whatever else of the holder's begins meanwhile.
std::chrono::microseconds lasts(const quota::CpuLeft& left) {
  static const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  return std::clamp<std::chrono::microseconds>(left.time / cores, CpuBudget::kShortest, CpuBudget::kLongest);
}

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

boost::asio::awaitable<void> CpuBudget::wait(std::chrono::microseconds pause) {
  timer_.expires_after(pause);
  boost::system::error_code ignored;
  co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

boost::asio::awaitable<void> CpuBudget::look(std::shared_ptr<CpuBudget> self) {
  const std::shared_ptr<sandbox::Sandbox> in = self->subject_.live->sandbox();
  while (in && !self->over_) {
    const auto used = co_await in->cpu_time();
    // A sandbox that is gone uses nothing more.
    if (self->over_ || !used) co_return;
    self->noted_ = self->subject_.live->cpu().read(*used, self->subject_.entered);
    self->controller_.note_cpu(self->subject_.claim_id, self->noted_);
    const auto left = self->controller_.cpu_left(self->subject_.holder);
    if (left && left->time.count() == 0) co_return co_await stop(self, in, *used);
    co_await self->wait(left ? lasts(*left) : kLongest);
  }
}

boost::asio::awaitable<void> CpuBudget::stop(std::shared_ptr<CpuBudget> self,
                                             std::shared_ptr<sandbox::Sandbox> in,
                                             std::chrono::microseconds used) {
  auto over = self->controller_.check(self->subject_.holder, quota::Quota::cpu_seconds_per_day, 0, 0);
  self->reason_ = over ? "the CPU time of the day is used up" : over.error().message();
  const Stop stop = std::exchange(self->stop_, {});
  if (auto stopped = co_await stop(self->reason_); !stopped)
    log::debug("what is out of CPU time was gone already", {{"record", self->subject_.claim_id}});
  for (std::chrono::milliseconds pause = kShortest; !self->over_; pause = std::min(pause * 2, kLongest)) {
    co_await self->wait(pause);
    const auto now = co_await in->cpu_time();
    if (self->over_ || !now) co_return;
    self->noted_ = self->subject_.live->cpu().read(*now, self->subject_.entered);
    self->controller_.note_cpu(self->subject_.claim_id, self->noted_);
    // While other executions run in the sandbox, nobody can say which of them uses the time: they have
    // budgets of their own.
    if (self->subject_.live->cpu().running() <= 1 && *now > used + kToDie)
      co_return self->subject_.live->background().set_unstoppable(self->reason_);
  }
}

}  // namespace atl::session
