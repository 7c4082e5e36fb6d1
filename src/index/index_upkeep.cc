// What the index does in the background: vectors of another model, rebuilding, storing.
#include <fmt/format.h>

#include "base/log.h"
#include "index/background.h"
#include "index/index.h"

namespace atl::index {
namespace {

using namespace std::chrono_literals;

constexpr auto kStoreEvery = 5min;
constexpr const char* kOtherModel = "making vectors with another model";

}  // namespace

// Collections whose vectors we make have those of this embedder from now on.
Result<void> Index::adopt_model() {
  const std::string model(embedder_->model());
  bool is_other = false;
  for (const Place& place : TRY(catalog_->places())) {
    if (place.model.empty() || (place.model == model && place.dimension == embedder_->dimension())) continue;
    is_other = true;
    TRY(catalog_->set_model(place, model, embedder_->dimension()));
    if (!vector_delivery_) TRY(vectors_->drop(place.id, place.dimension));
  }
  const std::uint64_t stale = TRY(catalog_->count_stale());
  const std::lock_guard lock(mutex_);
  if (stale > 0) stale_ = {is_other ? kOtherModel : "making vectors", 0, stale, ""};
  return {};
}

// A text that the embedder cannot take must not keep the others from their vectors. One that fails alone is
// tried again after the embedder has taken another one, and is found by words alone if that fails too.
Result<std::vector<Vector>> Index::renewed(const Place& place, const std::vector<Catalog::Stale>& stale) {
  std::vector<std::string> texts;
  for (const auto& one : stale) texts.push_back(one.text);
  const bool is_suspected = stale.size() == 1 && stale.front().number == suspect_;
  if (is_suspected) TRY(embedder_->embed(std::vector<std::string>{"a"}));
  auto vectors = embedder_->embed(texts);
  if (vectors) {
    renew_batch_ = std::min(renew_batch_ * 2, kRenewBatch);
    return vectors;
  }
  if (is_suspected) {
    log::warn("a text has no vector and is found by words alone", {{"error", vectors.error().message()}});
    return std::vector<Vector>(1, Vector(place.dimension, 0.0F));
  }
  if (stale.size() == 1) suspect_ = stale.front().number;
  renew_batch_ = 1;
  return vectors;
}

// A batch of documents gets its vectors; false: there are none left.
Result<bool> Index::renew_some() {
  for (const Place& place : TRY(catalog_->places())) {
    if (place.model.empty()) continue;
    const auto stale = TRY(catalog_->stale(place, renew_batch_));
    if (stale.empty()) continue;
    const auto vectors = TRY(renewed(place, stale));
    {
      const std::lock_guard writing(writing_);
      TRY(apply(place, catalog_->renew(place, stale, vectors)));
    }
    const std::lock_guard lock(mutex_);
    stale_.done += stale.size();
    return true;
  }
  return false;
}

void Index::rebuild_from(Source source) {
  const std::lock_guard lock(sourcing_);
  source_ = std::move(source);
}

Result<void> Index::read_source() {
  const std::lock_guard sourcing(sourcing_);
  if (!source_) return {};
  return source_([this](std::uint64_t done, std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    progress_ = {"reading the history", done, total, ""};
    return !is_stopping_;
  });
}

Result<void> Index::rebuild() {
  TRY(read_source());
  std::uint64_t total = 0;
  const auto places = TRY(catalog_->places());
  for (const Place& place : places) total += TRY(catalog_->numbers(place)).size();
  {
    const std::lock_guard lock(mutex_);
    progress_ = {"rebuilding", 0, total, ""};
  }
  TRY(catalog_->rebuild_words());
  {
    // Words are what is damaged without keeping anything else from working; other damage is met again.
    const std::lock_guard lock(mutex_);
    is_damage_noted_ = false;
  }
  if (graph_delivery_) TRY(graph_delivery_->refill());
  if (vector_delivery_) return vector_delivery_->refill();
  const auto step = [this](std::uint64_t added) {
    const std::lock_guard lock(mutex_);
    progress_.done += added;
    return !is_stopping_;
  };
  for (const Place& place : places) {
    const auto made = embedded_->renew(place, step);
    if (!made && made.error().code() != Code::not_found) return made;  // one that is gone meanwhile
  }
  embedded_->store_changed();
  return {};
}

// Belongs to a holder of mutex_.
void Index::end_renewing() {
  progress_.done = stale_.done;
  progress_.total = stale_.total;
  stale_ = {};
}

void Index::upkeep() {
  enter_background("atoll-upkeep");
  auto stored = std::chrono::steady_clock::now();
  auto pause = 0ms;
  while (true) {
    bool is_rebuilding = false, has_stale = false;
    std::uint64_t expected = 0;
    {
      std::unique_lock lock(mutex_);
      const auto wait = stale_.doing.empty() ? 500ms : pause;
      wake_.wait_for(lock, wait, [this] { return is_stopping_ || is_rebuild_asked_; });
      if (is_stopping_) return;
      is_rebuilding = std::exchange(is_rebuild_asked_, false);
      // In the same moment: whoever looks between the two would take it for done.
      if (is_rebuilding) progress_ = {"rebuilding", 0, 0, ""};
      has_stale = !stale_.doing.empty();
      expected = expected_;
    }
    if (is_rebuilding) {
      const auto done = rebuild();
      if (!done) log::warn("the index was not rebuilt", {{"error", done.error().message()}});
      const std::lock_guard lock(mutex_);
      progress_.doing.clear();
      progress_.failure = done ? "" : done.error().message();
    }
    if (has_stale) {
      const auto more = renew_some();
      if (!more && pause <= 1ms) log::warn("vectors cannot be made", {{"error", more.error().message()}});
      pause = more ? 1ms : std::min<std::chrono::milliseconds>(30s, pause * 2 + 500ms);
      const std::lock_guard lock(mutex_);
      stale_.failure = more ? "" : more.error().message();
      if (more && !*more && expected_ == expected) end_renewing();
    }
    if (embedded_ == nullptr) continue;
    for (const PlaceId id : embedded_->wanted())
      for (const Place& place : catalog_->places().value_or(std::vector<Place>()))
        if (place.id == id) (void)embedded_->prepare(place, [this](std::uint64_t) { return !is_stopping(); });
    embedded_->settle([this](std::uint64_t) {
      const std::lock_guard lock(mutex_);
      return !is_stopping_ && !is_rebuild_asked_;
    });
    if (std::chrono::steady_clock::now() - stored < kStoreEvery) continue;
    embedded_->store_changed();
    stored = std::chrono::steady_clock::now();
  }
}

Result<void> Index::start_rebuild() {
  {
    const std::lock_guard lock(mutex_);
    if (stale_.doing == kOtherModel) return fail(Code::conflict, "the index is busy: " + stale_.doing);
    if (is_rebuild_asked_ || !progress_.doing.empty())
      return fail(Code::conflict,
                  "the index is busy: " + (is_rebuild_asked_ ? "rebuilding" : progress_.doing));
    is_rebuild_asked_ = true;
  }
  wake_.notify_all();
  return {};
}

Index::Progress Index::progress() {
  Progress progress;
  {
    const std::lock_guard lock(mutex_);
    progress = progress_;
    if (progress.doing.empty() && !stale_.doing.empty())
      progress = {stale_.doing, stale_.done, stale_.total, progress_.failure};
    if (is_rebuild_asked_) progress.doing = "rebuilding";
  }
  for (Delivery* delivery : {vector_delivery_.get(), graph_delivery_.get()}) {
    if (delivery == nullptr || !progress.doing.empty()) continue;
    const auto state = delivery->state();
    if (state.is_filling) progress = {"filling the server", state.filled, state.to_fill, progress.failure};
  }
  return progress;
}

}  // namespace atl::index
