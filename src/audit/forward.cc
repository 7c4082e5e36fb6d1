#include "audit/forward.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>

#include "audit/head.h"
#include "audit/pages.h"
#include "base/log.h"
#include "os/file.h"

namespace atl::audit {

// What the threads and the log's listener share; outlives whoever is late.
struct Forwarder::Shared {
  std::mutex mutex;
  std::condition_variable wake;
  std::uint64_t turn = 0;  // grows with every word from the log
  bool stopping = false;

  void tell() {
    {
      const std::lock_guard lock(mutex);
      ++turn;
    }
    wake.notify_all();
  }
};

struct Forwarder::Lane {
  Lane(ForwardOptions options_, std::unique_ptr<Target> target_)
      : options(std::move(options_)), target(std::move(target_)), paths(options.data) {
    // A new target begins with the oldest entry there is.
    if (const auto text = os::read_file(paths.cursor(target->name()))) {
      std::uint64_t seq = 0;
      std::from_chars(text->data(), text->data() + text->size(), seq);
      sent = seq;
    }
  }

  void run(Shared& shared, std::shared_ptr<Log> log);
  // One batch. True: there may be more.
  Result<bool> step(Log& log);
  // Gives up the oldest of what waits when there is too much of it.
  void bound(Log& log);
  Result<void> move_to(std::uint64_t seq);
  Result<void> send_head();

  ForwardOptions options;
  std::unique_ptr<Target> target;
  Paths paths;
  std::atomic<std::uint64_t> sent = 0;
  std::atomic<bool> failing = false;
  std::string head_sent;
  std::thread thread;
};

Result<void> Forwarder::Lane::move_to(std::uint64_t seq) {
  sent = seq;
  return os::write_file(paths.cursor(target->name()), std::to_string(seq), 0600);
}

void Forwarder::Lane::bound(Log& log) {
  const std::vector<Segment> segments = list_segments(paths.segments);
  std::uint64_t waiting = 0;
  for (std::size_t i = segments.size(); i > 0; --i) {
    const Segment& segment = segments[i - 1];
    if (i < segments.size() && segments[i].first_seq <= sent + 1) return;
    waiting += segment.bytes;
    // The segment that is being written always waits its turn.
    if (waiting <= options.spool_bytes || i == segments.size()) continue;
    const std::uint64_t next = segments[i].first_seq;
    Entry entry;
    entry.actor.key_id = kSystem;
    entry.action = "audit.skip";
    entry.object = target->name();
    entry.outcome = Outcome::error;
    entry.reason =
        fmt::format("the entries {} to {} were not forwarded: the target takes nothing", sent + 1, next - 1);
    (void)log.append(entry);
    (void)move_to(next - 1);
    return;
  }
}

// The head that vouches for what was sent, once all of that was sent.
Result<void> Forwarder::Lane::send_head() {
  auto key = Verifier::load(paths.public_key);
  if (!key) return fail(std::move(key).error());
  const auto head = read_head(paths.head, *key);
  if (!head || head->seq > sent) return {};
  auto bytes = TRY(os::read_file(paths.head));
  // Of the two places the one that holds this head.
  for (std::size_t at = 0; at < bytes.size();) {
    const auto end = bytes.find('\n', at);
    if (end == std::string::npos) break;
    std::string text = bytes.substr(at, end - at);
    at = end + 1;
    text.resize(text.find_last_not_of(' ') + 1);
    const auto parsed = Head::parse(text, *key);
    if (!parsed || parsed->seq != head->seq || parsed->closed != head->closed || text == head_sent) continue;
    TRY(target->send({fmt::format("{{\"head\":{}}}\n", text)}));
    head_sent = std::move(text);
    break;
  }
  return {};
}

Result<bool> Forwarder::Lane::step(Log& log) {
  bound(log);
  Query query;
  query.after = sent;
  query.limit = options.batch;
  Page page = TRY(read_page(options.data, query));
  if (page.lines.empty() && page.next == 0) {
    TRY(send_head());
    return false;
  }
  std::uint64_t last = page.next;
  if (last == 0) last = TRY(seq_of(page.lines.back()));
  for (std::string& line : page.lines) line += '\n';
  if (!page.lines.empty()) TRY(target->send(page.lines));
  TRY(move_to(last));
  return true;
}

void Forwarder::Lane::run(Shared& shared, std::shared_ptr<Log> log) {
  std::chrono::milliseconds pause{0};
  std::uint64_t seen = 0;
  std::unique_lock lock(shared.mutex);
  while (!shared.stopping) {
    seen = shared.turn;
    lock.unlock();
    const auto done = step(*log);
    failing = !done;
    if (!done) {
      if (pause.count() == 0)
        log::warn("audit entries cannot be forwarded",
                  {{"target", target->name()}, {"error", done.error().message()}});
      pause = std::clamp(pause * 2, options.first_pause, options.longest_pause);
    } else {
      pause = std::chrono::milliseconds(0);
    }
    lock.lock();
    if (shared.stopping) break;
    if (!done) {
      shared.wake.wait_for(lock, pause, [&] { return shared.stopping; });
    } else if (!*done) {
      // Heads change without a word from the log.
      shared.wake.wait_for(lock, std::chrono::seconds(2),
                           [&] { return shared.stopping || shared.turn != seen; });
    }
  }
}

Forwarder::Forwarder(ForwardOptions options, std::vector<std::unique_ptr<Target>> targets)
    : shared_(std::make_shared<Shared>()) {
  for (auto& target : targets) lanes_.push_back(std::make_unique<Lane>(options, std::move(target)));
}

void Forwarder::start(std::shared_ptr<Log> log) {
  if (lanes_.empty()) return;
  log->set_listener([shared = shared_] { shared->tell(); });
  for (auto& lane : lanes_) {
    lane->thread = std::thread([&lane = *lane, shared = shared_, log] { lane.run(*shared, log); });
    pthread_setname_np(lane->thread.native_handle(), "atoll-forward");
  }
}

Forwarder::~Forwarder() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->wake.notify_all();
  for (auto& lane : lanes_) lane->target->stop();
  for (auto& lane : lanes_)
    if (lane->thread.joinable()) lane->thread.join();
}

std::uint64_t Forwarder::sent() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const auto& lane : lanes_) least = std::min(least, lane->sent.load());
  return least;
}

std::vector<std::string> Forwarder::failing() const {
  std::vector<std::string> names;
  for (const auto& lane : lanes_)
    if (lane->failing) names.push_back(lane->target->name());
  return names;
}

}  // namespace atl::audit
