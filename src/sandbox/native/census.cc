#include "sandbox/native/census.h"

#include <utility>

#include "sandbox/native/sandbox.h"

namespace atl::sandbox::native {

std::chrono::steady_clock::time_point Rhythm::next(std::chrono::steady_clock::time_point now) const {
  const auto since = now.time_since_epoch();
  return now - since % pause_ + pause_;
}

void Census::note_activity(const std::shared_ptr<NativeState>& state) {
  if (closed_) return;
  Entry& entry = entries_[state.get()];
  // The address may have belonged to an earlier sandbox.
  if (entry.state.lock() != state) entry = {.state = state, .rhythm = {}, .due = {}};
  entry.rhythm.quicken();
  const auto due = entry.rhythm.next(std::chrono::steady_clock::now());
  const bool sooner = entry.due == std::chrono::steady_clock::time_point() || due < entry.due;
  if (!sooner) return;
  entry.due = due;
  if (entries_.size() == 1 || due < timer_.expiry()) schedule();
}

void Census::close() {
  closed_ = true;
  entries_.clear();
  timer_.cancel();
}

void Census::schedule() {
  const auto first = std::ranges::min_element(entries_, {}, [](const auto& one) { return one.second.due; });
  if (first == entries_.end() || closed_) return;
  timer_.expires_at(std::min(first->second.due, Rhythm(kTogether).next(std::chrono::steady_clock::now())));
  timer_.async_wait([weak = std::weak_ptr(self_)](boost::system::error_code error) {
    if (const auto self = weak.lock(); self && !error) (*self)->look();
  });
}

// One number for all sandboxes. Where the kernel does not count, assume a change.
bool Census::has_changed() {
  for (const auto& [address, entry] : entries_)
    if (const auto state = entry.state.lock()) {
      const auto tasks = state->cgroups->all_tasks();
      return !tasks || std::exchange(tasks_together_, tasks) != tasks;
    }
  return false;
}

void Census::look() {
  const auto now = std::chrono::steady_clock::now();
  const bool changed = has_changed();
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    const auto state = entry.state.lock();
    const bool is_due = entry.due <= now || changed;
    // One that holds nothing but its guest is looked at again when something begins in it.
    if (!state || state->ended || (is_due && !state->is_in_use())) {
      at = entries_.erase(at);
      continue;
    }
    if (is_due) {
      entry.rhythm.seen(state->count_processes(), state->is_executing());
      entry.due = entry.rhythm.next(now);
    }
    ++at;
  }
  schedule();
}

}  // namespace atl::sandbox::native
