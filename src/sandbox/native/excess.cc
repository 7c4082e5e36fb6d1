#include "sandbox/native/excess.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>

namespace atl::sandbox::native {
namespace {

// The kernel tells start times to a hundredth of a second, rounded down.
constexpr std::uint64_t kStartTimeMicros = 10'000;

bool has_started_since(const TreeProcess& process, std::uint64_t since_us) {
  return process.started_us + kStartTimeMicros > since_us;
}

class Owners {
 public:
  Owners(std::span<const TreeProcess> processes, std::span<const Runner> runners,
         std::span<const std::uint64_t> began)
      : runners_(runners), began_(began) {
    for (const TreeProcess& process : processes) by_pid_.emplace(process.pid, &process);
  }

  // Nothing: the process belongs to the background.
  std::optional<std::size_t> of(const TreeProcess& process) const {
    const TreeProcess* at = &process;
    for (std::size_t steps = 0; steps <= by_pid_.size(); ++steps) {
      if (const auto runner = named(*at)) return is_owned(process, *runner) ? runner : std::nullopt;
      const auto parent = by_pid_.find(at->parent);
      if (parent == by_pid_.end() || parent->second->inside == 1) return latest_before(*at);
      at = parent->second;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::size_t> named(const TreeProcess& process) const {
    for (std::size_t i = 0; i < runners_.size(); ++i)
      if (process.inside == runners_[i].inside || process.session_inside == runners_[i].inside) return i;
    return std::nullopt;
  }

  // The interpreter itself belongs to no execution, and what is in the background now was left by earlier
  // executions.
  bool is_owned(const TreeProcess& process, std::size_t index) const {
    const Runner& runner = runners_[index];
    if (runner.kind == Runner::Kind::command) return true;
    return runner.kind == Runner::Kind::busy_interpreter && process.inside != runner.inside &&
           has_started_since(process, runner.since_us);
  }

  // It belongs to the latest execution that had begun by then, if that one still runs.
  std::optional<std::size_t> latest_before(const TreeProcess& orphan) const {
    for (const std::uint64_t since : std::views::reverse(began_)) {
      if (!has_started_since(orphan, since)) continue;
      for (std::size_t i = 0; i < runners_.size(); ++i)
        if (runners_[i].kind != Runner::Kind::idle_interpreter && runners_[i].since_us == since) return i;
      return std::nullopt;
    }
    return std::nullopt;
  }

  std::span<const Runner> runners_;
  std::span<const std::uint64_t> began_;
  std::map<pid_t, const TreeProcess*> by_pid_;
};

// Whether the way up from every young process leads to a runner through young ones only.
bool are_started_by_runners(std::span<const TreeProcess> processes, std::span<const Runner> runners,
                            std::span<const TreeProcess* const> background, std::uint64_t since_us) {
  std::map<pid_t, const TreeProcess*> by_pid;
  for (const TreeProcess& process : processes) by_pid.emplace(process.pid, &process);
  const auto leads_to_runner = [&](const TreeProcess* at) {
    for (std::size_t steps = 0; steps <= by_pid.size(); ++steps) {
      const auto parent = by_pid.find(at->parent);
      if (parent == by_pid.end() || parent->second->inside == 1) return false;
      at = parent->second;
      if (std::ranges::find(runners, at->inside, &Runner::inside) != runners.end()) return true;
      if (!has_started_since(*at, since_us)) return false;
    }
    return false;
  };
  return std::ranges::all_of(background, [&](const TreeProcess* one) {
    return !has_started_since(*one, since_us) || leads_to_runner(one);
  });
}

bool is_runner(const TreeProcess& process, std::span<const Runner> runners) {
  return std::ranges::find(runners, process.inside, &Runner::inside) != runners.end();
}

}  // namespace

Excess find_excess(std::span<const TreeProcess> processes, std::span<const Runner> runners,
                   std::span<const std::uint64_t> began, std::uint32_t held, std::uint32_t allowed) {
  const Owners owners(processes, runners, began);
  std::vector<std::uint32_t> sizes(runners.size());
  std::vector<const TreeProcess*> background;
  for (const TreeProcess& process : processes) {
    if (process.inside == 1) continue;
    if (const auto owner = owners.of(process))
      ++sizes[*owner];
    else if (!is_runner(process, runners))
      background.push_back(&process);
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < runners.size(); ++i)
    if (sizes[i] > 0) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return sizes[i]; });
  Excess excess;
  std::uint32_t running = 0;
  for (const std::uint32_t size : sizes) running += size;
  std::uint32_t left = held;
  // Too much by itself: the executions are judged by what is left without it.
  const bool too_much_background = held - std::min(held, running) > allowed;
  if (too_much_background) left = running;
  for (const std::size_t i : order) {
    if (left <= allowed) break;
    excess.runners.push_back(i);
    left -= std::min(left, sizes[i]);
  }
  if (!too_much_background) return excess;
  excess.background_since_us = 0;
  for (const std::uint64_t since : std::views::reverse(began)) {
    const auto older =
        std::ranges::count_if(background, [&](const auto* one) { return !has_started_since(*one, since); });
    if (static_cast<std::uint64_t>(older) > allowed) continue;
    excess.background_since_us = since;
    break;
  }
  excess.runners_started_them =
      are_started_by_runners(processes, runners, background, *excess.background_since_us);
  return excess;
}

}  // namespace atl::sandbox::native
