#include "telemetry/delivery.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "os/file.h"

namespace atl::telemetry {

struct Deliveries::Lane {
  Lane(EventLog& log_, const DeliveryOptions& options_, std::unique_ptr<EventTarget> target_)
      : log(log_), options(options_), target(std::move(target_)) {
    position = log.last_id();
    if (const auto text = os::read_file(path())) {
      std::uint64_t stored = 0;
      std::from_chars(text->data(), text->data() + text->size(), stored);
      position = std::min(stored, log.last_id());
    } else if (auto kept = keep(); !kept) {
      log::warn("the position of a delivery cannot be kept", {{"error", kept.error().message()}});
    }
  }

  std::string path() const { return fmt::format("{}/{}.position", options.directory, target->name()); }
  Result<void> keep() const { return os::write_file(path(), std::to_string(position), 0600); }
  // Called for every event on the thread that appends. Whoever is busy, or pauses because the target is away,
  // looks by itself later: it is not woken for nothing, a switch of threads for every event.
  void tell() {
    if (!idle.exchange(false)) return;
    { const std::lock_guard lock(mutex); }
    wake.notify_all();
  }
  void run();
  // One batch. True: there may be more.
  Result<bool> step();
  void set_failure(std::string why);

  EventLog& log;
  const DeliveryOptions options;
  std::unique_ptr<EventTarget> target;
  std::atomic<std::uint64_t> position = 0, sent = 0, missed = 0;
  mutable std::mutex mutex;
  std::condition_variable wake;
  std::atomic<bool> idle = false;  // it has all that there is, and waits to be told of more
  bool stopping = false;
  std::string failure;  // why the last batch was not taken; empty: it was
  std::thread thread;
};

void Deliveries::Lane::set_failure(std::string why) {
  const std::lock_guard lock(mutex);
  if (failure.empty() && !why.empty())
    log::warn("events cannot be delivered", {{"target", std::string(target->name())}, {"error", why}});
  failure = std::move(why);
}

Result<bool> Deliveries::Lane::step() {
  const EventLog::Page page = log.read_after(position, options.batch);
  if (page.events.empty() && page.missed == 0) return false;
  if (page.missed > 0) {
    log::warn("events were gone before a target took them",
              {{"target", std::string(target->name())}, {"count", std::to_string(page.missed)}});
    const std::lock_guard lock(mutex);
    missed += page.missed;
    position += page.missed;
  }
  if (!page.events.empty()) TRY(target->send(page.events));
  {
    const std::lock_guard lock(mutex);
    position = page.end;
    sent += page.events.size();
  }
  TRY(keep());
  return true;
}

void Deliveries::Lane::run() {
  // Requests come first: who waits for an event is not in a hurry.
  constexpr int nice = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice);
  std::chrono::milliseconds pause{0};
  std::unique_lock lock(mutex);
  while (!stopping) {
    lock.unlock();
    const auto done = step();
    set_failure(done ? "" : done.error().message());
    lock.lock();
    if (stopping) break;
    if (!done) {
      pause = std::clamp(pause * 2, options.first_pause, options.longest_pause);
      wake.wait_for(lock, pause, [&] { return stopping; });
      continue;
    }
    pause = std::chrono::milliseconds(0);
    if (*done) continue;
    idle = true;
    // An event that came before that told nobody.
    if (log.last_id() > position) idle = false;
    wake.wait(lock, [&] { return stopping || !idle; });
    // One switch of threads, one connection and one line in the file of positions for all that come now.
    wake.wait_for(lock, options.gather, [&] { return stopping; });
  }
}

Deliveries::Deliveries(EventLog& log, DeliveryOptions options,
                       std::vector<std::unique_ptr<EventTarget>> targets)
    : log_(log) {
  for (auto& target : targets) lanes_.push_back(std::make_unique<Lane>(log, options, std::move(target)));
  for (auto& lane : lanes_) {
    lane->thread = std::thread([&lane = *lane] { lane.run(); });
    pthread_setname_np(lane->thread.native_handle(), "atoll-events");
  }
  listener_ = log_.listen([this](const Event&) {
    for (auto& lane : lanes_) lane->tell();
  });
}

Deliveries::~Deliveries() {
  log_.unlisten(listener_);
  for (auto& lane : lanes_) {
    {
      const std::lock_guard lock(lane->mutex);
      lane->stopping = true;
    }
    lane->wake.notify_all();
    lane->target->stop();
  }
  for (auto& lane : lanes_) lane->thread.join();
}

std::vector<Deliveries::Standing> Deliveries::standings() const {
  std::vector<Standing> found;
  const std::uint64_t last = log_.last_id(), first = log_.first_id();
  for (const auto& lane : lanes_) {
    const std::lock_guard lock(lane->mutex);
    const std::uint64_t position = std::min<std::uint64_t>(lane->position, last);
    // What the log has let go is lost already, though the target will learn of it only when it is back.
    const std::uint64_t gone = first > position + 1 ? first - position - 1 : 0;
    const std::uint64_t all_gone = lane->missed + gone;
    Standing one{std::string(lane->target->name()),
                 last - position - gone,
                 lane->sent,
                 all_gone + lane->target->refused(),
                 {}};
    if (!lane->failure.empty()) {
      const std::string lost = all_gone > 0 ? fmt::format(", {} were lost", all_gone) : "";
      one.state = {Condition::degraded,
                   fmt::format("{} events wait{}: {}", one.waiting, lost, lane->failure)};
    }
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace atl::telemetry
