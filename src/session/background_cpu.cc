#include "session/background_cpu.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/log.h"

namespace atl::session {
namespace {

quota::Holder owner_of(const Live& live) {
  return {live.facts().tenant, live.facts().key_id};
}

}  // namespace

void BackgroundCpu::look(const LivePtr& live) {
  const std::shared_ptr<sandbox::Sandbox>& in = live->sandbox();
  if (dependencies_.controller == nullptr || !in) return;
  if (!live->background().take_due(dependencies_.clock->steady())) return;
  boost::asio::co_spawn(dependencies_.executor, measure(live, in), boost::asio::detached);
}

boost::asio::awaitable<void> BackgroundCpu::measure(LivePtr live, std::shared_ptr<sandbox::Sandbox> in) {
  const auto used = co_await in->cpu_time();
  const SteadyTime now = dependencies_.clock->steady();
  BackgroundUse& background = live->background();
  if (!used || live->sandbox() != in) co_return background.skip(now, BackgroundUse::kSeldom);
  live->cpu().note(*used);
  const auto unclaimed = live->cpu().take_unclaimed();
  if (unclaimed.count() > 0) charge(*live, unclaimed);
  if (!dependencies_.controller->cpu_left(owner_of(*live))) co_return background.skip(now, unbounded_pause_);
  background.seen(now, unclaimed);
  co_await hold_to_quota(std::move(live), unclaimed);
}

void BackgroundCpu::charge(const Live& live, std::chrono::microseconds used) {
  constexpr std::int64_t kDayMicros = 86'400'000'000;
  const Session& facts = live.facts();
  dependencies_.controller->charge(owner_of(live), facts.session_id, quota::Quota::cpu_seconds_per_day,
                                   static_cast<std::uint64_t>(used.count()));
  store::UsageRow& row = unsaved_[facts.session_id];
  row.day = unix_micros(dependencies_.clock->now()) / kDayMicros;
  row.tenant = facts.tenant;
  row.key_id = facts.key_id;
  row.session_id = facts.session_id;
  row.cpu_us += used.count();
}

boost::asio::awaitable<void> BackgroundCpu::save() {
  if (unsaved_.empty()) co_return;
  const auto taken = std::exchange(unsaved_, {});
  std::vector<store::UsageRow> rows;
  for (const auto& [id, row] : taken) rows.push_back(row);
  const auto saved = co_await dependencies_.store->add_usage(std::move(rows));
  if (saved) co_return;
  log::warn("CPU time of the background could not be stored", {{"error", saved.error().message()}});
  for (const auto& [id, row] : taken)
    if (auto [kept, is_new] = unsaved_.try_emplace(id, row); !is_new) kept->second.cpu_us += row.cpu_us;
}

boost::asio::awaitable<void> BackgroundCpu::hold_to_quota(LivePtr live, std::chrono::microseconds used) {
  BackgroundUse& background = live->background();
  if (!background.unstoppable().empty()) {
    log::warn("an execution that could not be ended ends with its session",
              {{"session", live->facts().session_id}});
    std::string reason = background.unstoppable();
    co_return co_await dependencies_.end(std::move(live), std::move(reason));
  }
  const auto spent =
      dependencies_.controller->check(owner_of(*live), quota::Quota::cpu_seconds_per_day, 0, 0);
  if (spent) co_return background.clear_over();
  const auto over = background.add_over(used);
  // While something is executed the processor time may be its own: its CpuBudget ends it, or it is of a
  // caller who has time left.
  if (over < kAllowance || live->cpu().running() > 0) co_return;
  background.clear_over();
  std::string reason = spent.error().message();
  log::info("a session is put aside: it uses CPU time in the background and none is left",
            {{"session", live->facts().session_id}});
  co_await dependencies_.put_aside(std::move(live), std::move(reason));
}

}  // namespace atl::session
