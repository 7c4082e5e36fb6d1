#include "index/delivery.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <set>

#include "base/log.h"

namespace atl::index {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kDeliveryBatch = 256;
constexpr std::size_t kNumbersMax = 200'000;  // of vectors in one call: a few megabytes of JSON

}  // namespace

Delivery::Delivery(Catalog& catalog, ServerLink& link, const char* table)
    : catalog_(catalog), link_(link), table_(table) {}

void Delivery::start() {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "atoll-delivery");
}

void Delivery::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  link_.stop();
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Delivery::is_stopping() {
  const std::lock_guard lock(mutex_);
  return is_stopping_;
}

void Delivery::deliver(std::chrono::milliseconds wait) {
  {
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
    // Filling takes long and tells everything; whoever writes meanwhile does not wait for it.
    if (is_filling_ || is_stopping_) return;
  }
  if (link_.rest_left() == 0ms) {
    const std::lock_guard delivering(delivering_);
    (void)bring_over(Steady::now() + wait);
  } else {
    const auto waiting = catalog_.count_waiting(table_);
    const std::lock_guard lock(mutex_);
    waiting_ = waiting.value_or(waiting_);
  }
  wake_.notify_all();
}

Result<void> Delivery::refill() {
  TRY(catalog_.set_note(refill_note(), "wanted"));
  {
    const std::lock_guard lock(mutex_);
    is_asked_ = is_filling_ = true;
    filled_ = to_fill_ = 0;
  }
  wake_.notify_all();
  return {};
}

Delivery::State Delivery::state() {
  State state;
  const std::string away = link_.away_because();
  const std::lock_guard lock(mutex_);
  state.waiting = waiting_;
  state.is_filling = is_filling_;
  state.filled = filled_;
  state.to_fill = to_fill_;
  if (!away.empty() || !failure_.empty()) {
    state.degraded_because = away.empty() ? failure_ : away;
    if (state.waiting > 0) state.degraded_because += fmt::format("; {} changes wait for it", state.waiting);
  } else if (is_filling_) {
    state.degraded_because = fmt::format("the server is being filled: {} of {}", filled_, to_fill_);
  } else if (state.waiting > 0) {
    state.degraded_because = fmt::format("{} changes are on their way to the server", state.waiting);
  }
  return state;
}

// Everything that waits, a batch at a time. A server that was just found, or found again, is looked at first.
Result<void> Delivery::bring_over(Steady::time_point until) {
  auto done = [&]() -> Result<void> {
    if (!link_.away_because().empty()) is_checked_ = false;
    const bool was_checked = is_checked_;
    if (!is_checked_) TRY(check());
    TRY(fill(until));
    while (!is_stopping() && Steady::now() < until)
      if (TRY(tell_some()) == 0) break;
    // Counts say more when nothing waits.
    if (!was_checked && TRY(catalog_.count_waiting(table_)) == 0) TRY(check());
    return {};
  }();
  if (!done && done.error().code() == Code::not_found) (void)catalog_.set_note(refill_note(), "wanted");
  const auto waiting = catalog_.count_waiting(table_);
  const std::lock_guard lock(mutex_);
  failure_ = done ? "" : done.error().message();
  waiting_ = waiting.value_or(waiting_);
  return done;
}

Result<void> Delivery::check() {
  if (!TRY(is_whole()) && TRY(catalog_.note(refill_note())).empty()) {
    log::warn("a server lacks what the index has, and is filled anew", {{"what", table_}});
    TRY(catalog_.set_note(refill_note(), "wanted"));
  }
  is_checked_ = true;
  return {};
}

Result<void> Delivery::fill(Steady::time_point until) {
  const std::string note = TRY(catalog_.note(refill_note()));
  const auto tell = [this](bool is_filling, std::uint64_t filled, std::uint64_t to_fill) {
    const std::lock_guard lock(mutex_);
    is_filling_ = is_filling;
    filled_ = filled;
    to_fill_ = to_fill;
  };
  if (note.empty()) {
    tell(false, filled_, to_fill_);
    return {};
  }
  std::uint64_t after = 0, filled = 0, total = to_fill_;
  tell(true, filled_, to_fill_);
  if (note == "wanted") {
    total = TRY(begin_filling());
  } else {
    after = std::strtoull(note.c_str(), nullptr, 10);
    filled = filled_;
  }
  while (!is_stopping()) {
    tell(true, filled, std::max(total, filled));
    const std::uint64_t count = TRY(fill_some(after));
    filled += count;
    if (count == 0) {
      TRY(catalog_.set_note(refill_note(), ""));
      tell(false, filled, filled);
      return {};
    }
    TRY(catalog_.set_note(refill_note(), std::to_string(after)));
    if (Steady::now() >= until) break;
  }
  return fail(Code::unavailable, "the server is being filled");
}

void Delivery::run() {
  while (true) {
    const auto waiting = catalog_.count_waiting(table_);
    const auto note = catalog_.note(refill_note());
    const bool has_work = (waiting && *waiting > 0) || (note && !note->empty());
    {
      std::unique_lock lock(mutex_);
      const auto rest = std::max<std::chrono::milliseconds>(
          link_.rest_left(), has_work || !link_.away_because().empty() ? 20ms : 500ms);
      wake_.wait_for(lock, rest, [this] { return is_stopping_ || is_asked_; });
      if (is_stopping_) return;
      is_asked_ = false;
    }
    if (link_.rest_left() > 0ms) continue;
    const std::lock_guard delivering(delivering_);
    if (has_work || !is_checked_ || !link_.away_because().empty()) (void)bring_over(Steady::now() + 2s);
  }
}

namespace {

class VectorDelivery final : public Delivery {
 public:
  VectorDelivery(Catalog& catalog, ServerLink& link, VectorBackend& backend)
      : Delivery(catalog, link, Catalog::kVectors), backend_(backend) {}
  ~VectorDelivery() override { stop(); }

 private:
  Result<std::set<std::size_t>> dimensions() {
    std::set<std::size_t> all;
    for (const Place& place : TRY(catalog_.places())) all.insert(place.dimension);
    return all;
  }

  // Changes that wait make counts differ: then what exists is all that can be said.
  Result<bool> is_whole() override {
    const bool has_waiting = TRY(catalog_.count_waiting(Catalog::kVectors)) > 0;
    for (const std::size_t dimension : TRY(dimensions())) {
      const auto there = backend_.count(dimension);
      if (!there && there.error().code() == Code::not_found) return false;
      if (!there) return fail(there.error());
      if (!has_waiting && *there != TRY(catalog_.count_vectors(dimension))) return false;
    }
    return true;
  }

  Result<std::uint64_t> begin_filling() override {
    std::uint64_t total = 0;
    for (const std::size_t dimension : TRY(dimensions())) {
      TRY(backend_.clear(dimension));
      known_.insert(dimension);
      total += TRY(catalog_.count_vectors(dimension));
    }
    return total;
  }

  Result<std::uint64_t> fill_some(std::uint64_t& after) override {
    const auto changes = TRY(catalog_.all_vectors_after(after, kDeliveryBatch));
    TRY(apply(changes));
    if (!changes.empty()) after = changes.back().number;
    return changes.size();
  }

  Result<std::uint64_t> tell_some() override {
    const auto waiting = TRY(catalog_.waiting_vectors(kDeliveryBatch));
    std::vector<VectorChange> changes;
    std::size_t dimension = 0;
    std::uint64_t count = 0;
    std::int64_t told = 0;
    for (const auto& one : waiting) {
      if (!changes.empty() && (one.dimension != dimension || one.number == 0)) break;
      dimension = one.dimension;
      told = one.sequence;
      ++count;
      if (one.number == 0) {
        TRY(backend_.drop(one.place, dimension));
        break;
      }
      changes.push_back(TRY(catalog_.current(one)));
    }
    if (count == 0) return 0U;
    if (!changes.empty()) TRY(apply_one(dimension, changes));
    TRY(catalog_.told(Catalog::kVectors, told));
    return count;
  }

  // Runs of the same dimension, in calls of a bounded size.
  Result<void> apply(const std::vector<VectorChange>& changes) {
    for (std::size_t at = 0; at < changes.size();) {
      const std::size_t dimension = changes[at].vector->size();
      std::size_t end = at + 1;
      while (end < changes.size() && changes[end].vector->size() == dimension) ++end;
      TRY(apply_one(dimension, std::span(changes).subspan(at, end - at)));
      at = end;
    }
    return {};
  }

  Result<void> apply_one(std::size_t dimension, std::span<const VectorChange> changes) {
    if (!known_.contains(dimension)) {
      // The first vectors of a dimension: is_whole() was asked before there were any.
      const auto there = backend_.count(dimension);
      if (!there && there.error().code() != Code::not_found) return fail(there.error());
      if (!there) TRY(backend_.clear(dimension));
      known_.insert(dimension);
    }
    const std::size_t most = std::max<std::size_t>(1, kNumbersMax / std::max<std::size_t>(1, dimension));
    for (std::size_t at = 0; at < changes.size(); at += most) {
      auto done = backend_.apply(dimension, changes.subspan(at, std::min(most, changes.size() - at)));
      if (done) continue;
      if (done.error().code() == Code::not_found) known_.erase(dimension);
      return done;
    }
    return {};
  }

  VectorBackend& backend_;
  std::set<std::size_t> known_;  // dimensions whose collections are there
};

class GraphDelivery final : public Delivery {
 public:
  GraphDelivery(Catalog& catalog, ServerLink& link, GraphBackend& backend)
      : Delivery(catalog, link, Catalog::kEdges), backend_(backend) {}
  ~GraphDelivery() override { stop(); }

 private:
  Result<bool> is_whole() override {
    const std::uint64_t there = TRY(backend_.count());
    if (TRY(catalog_.count_waiting(Catalog::kEdges)) > 0) return true;
    return there == TRY(catalog_.count_edges());
  }

  Result<std::uint64_t> begin_filling() override {
    TRY(backend_.clear());
    return catalog_.count_edges();
  }

  Result<std::uint64_t> fill_some(std::uint64_t& after) override {
    const auto edges = TRY(catalog_.edges_after(static_cast<std::int64_t>(after), kDeliveryBatch));
    std::vector<GraphChange> changes;
    for (const auto& one : edges) changes.push_back({GraphChange::What::relate, one.tenant, one.edge});
    TRY(backend_.apply(changes));
    if (!edges.empty()) after = static_cast<std::uint64_t>(edges.back().number);
    return edges.size();
  }

  Result<std::uint64_t> tell_some() override {
    const auto waiting = TRY(catalog_.waiting_edges(kDeliveryBatch));
    if (waiting.empty()) return 0U;
    std::vector<GraphChange> changes;
    for (const auto& one : waiting) {
      const auto what = one.what == "relate"     ? GraphChange::What::relate
                        : one.what == "unrelate" ? GraphChange::What::unrelate
                                                 : GraphChange::What::forget_tenant;
      changes.push_back({what, one.tenant, one.edge});
    }
    TRY(backend_.apply(changes));
    TRY(catalog_.told(Catalog::kEdges, waiting.back().sequence));
    return waiting.size();
  }

  GraphBackend& backend_;
};

}  // namespace

std::unique_ptr<Delivery> vector_delivery(Catalog& catalog, ServerLink& link, VectorBackend& backend) {
  return std::make_unique<VectorDelivery>(catalog, link, backend);
}

std::unique_ptr<Delivery> graph_delivery(Catalog& catalog, ServerLink& link, GraphBackend& backend) {
  return std::make_unique<GraphDelivery>(catalog, link, backend);
}

}  // namespace atl::index
