#include "sandbox/native/census.h"

#include <utility>

#include "sandbox/native/sandbox.h"

namespace atl::sandbox::native {

std::chrono::steady_clock::time_point Rhythm::next(std::chrono::steady_clock::time_point now) const {
  const auto since = now.time_since_epoch();
  return now - since % pause_ + pause_;
}

void Census::stir(const std::shared_ptr<Inhabitant>& inhabitant) {
  if (closed_) return;
  Subject& subject = subjects_[inhabitant.get()];
  // Another may have lived at that address.
  if (subject.inhabitant.lock() != inhabitant) subject = {.inhabitant = inhabitant, .rhythm = {}, .due = {}};
  subject.rhythm.quicken();
  const auto due = subject.rhythm.next(std::chrono::steady_clock::now());
  const bool sooner = subject.due == std::chrono::steady_clock::time_point() || due < subject.due;
  if (!sooner) return;
  subject.due = due;
  if (subjects_.size() == 1 || due < timer_.expiry()) schedule();
}

void Census::close() {
  closed_ = true;
  subjects_.clear();
  timer_.cancel();
}

void Census::schedule() {
  const auto first = std::ranges::min_element(subjects_, {}, [](const auto& one) { return one.second.due; });
  if (first == subjects_.end() || closed_) return;
  timer_.expires_at(std::min(first->second.due, Rhythm(kTogether).next(std::chrono::steady_clock::now())));
  timer_.async_wait([weak = std::weak_ptr(self_)](boost::system::error_code error) {
    if (const auto self = weak.lock(); self && !error) (*self)->look();
  });
}

// One number for all of them. Where the kernel does not count, it may always have.
bool Census::has_changed() {
  for (const auto& [address, subject] : subjects_)
    if (const auto inhabitant = subject.inhabitant.lock()) {
      const auto tasks = inhabitant->cgroups->all_tasks();
      return !tasks || std::exchange(tasks_together_, tasks) != tasks;
    }
  return false;
}

void Census::look() {
  const auto now = std::chrono::steady_clock::now();
  const bool changed = has_changed();
  for (auto at = subjects_.begin(); at != subjects_.end();) {
    Subject& subject = at->second;
    const auto inhabitant = subject.inhabitant.lock();
    const bool is_due = subject.due <= now || changed;
    // One that holds nothing but its guest is looked at again when something begins in it.
    if (!inhabitant || inhabitant->ended || (is_due && !inhabitant->is_inhabited())) {
      at = subjects_.erase(at);
      continue;
    }
    if (is_due) {
      subject.rhythm.seen(inhabitant->count_processes(), inhabitant->is_executing());
      subject.due = subject.rhythm.next(now);
    }
    ++at;
  }
  schedule();
}

}  // namespace atl::sandbox::native
