// What the index does in the background: vectors of another model, rebuilding, storing.
#include <fmt/format.h>

#include "base/log.h"
#include "index/background.h"
#include "index/index.h"

namespace atl::index {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRenewBatch = 32;
constexpr auto kStoreEvery = 5min;

}  // namespace

// Collections whose vectors we make have those of this embedder from now on.
Result<void> Index::adopt_model() {
  const std::string model(embedder_->model());
  for (const Place& place : TRY(catalog_->places())) {
    if (place.model.empty() || (place.model == model && place.dimension == embedder_->dimension())) continue;
    TRY(catalog_->set_model(place, model, embedder_->dimension()));
    if (!vector_delivery_) TRY(vectors_->drop(place.id, place.dimension));
  }
  const std::uint64_t stale = TRY(catalog_->count_stale());
  const std::lock_guard lock(mutex_);
  has_stale_ = stale > 0;
  if (has_stale_) progress_ = {"making vectors with another model", 0, stale, ""};
  return {};
}

// A batch of documents gets its vectors; false: there are none left.
Result<bool> Index::renew_some() {
  for (const Place& place : TRY(catalog_->places())) {
    if (place.model.empty()) continue;
    const auto stale = TRY(catalog_->stale(place, kRenewBatch));
    if (stale.empty()) continue;
    std::vector<std::string> texts;
    for (const auto& one : stale) texts.push_back(one.text);
    const auto vectors = TRY(embedder_->embed(texts));
    {
      const std::lock_guard writing(writing_);
      TRY(apply(place, catalog_->renew(place, stale, vectors)));
    }
    const std::lock_guard lock(mutex_);
    progress_.done += stale.size();
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

void Index::upkeep() {
  enter_background("atoll-upkeep");
  auto stored = std::chrono::steady_clock::now();
  auto pause = 0ms;
  while (true) {
    bool is_rebuilding = false, has_stale = false;
    {
      std::unique_lock lock(mutex_);
      const auto wait = has_stale_ ? pause : 500ms;
      wake_.wait_for(lock, wait, [this] { return is_stopping_ || is_rebuild_asked_; });
      if (is_stopping_) return;
      is_rebuilding = std::exchange(is_rebuild_asked_, false);
      has_stale = has_stale_;
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
      if (!more && pause == 0ms) log::warn("vectors cannot be made", {{"error", more.error().message()}});
      pause = more ? 1ms : std::min<std::chrono::milliseconds>(30s, pause * 2 + 500ms);
      if (more && !*more) {
        const std::lock_guard lock(mutex_);
        has_stale_ = false;
        progress_.doing.clear();
      }
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
