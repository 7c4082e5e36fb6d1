#include "index/embedded_vectors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/log.h"

namespace atl::index {
namespace {

constexpr std::size_t kAtOnce = 10'000;         // vectors that a caller waits for; more are made ready beside
constexpr std::size_t kExactMax = 20'000;       // matches that are all compared
constexpr std::size_t kCandidatesMax = 16'384;  // of a graph, when conditions leave few of them
constexpr std::size_t kReadBatch = 512, kUnderLock = 8;

std::string note_of(PlaceId place) {
  return fmt::format("graph_{}", place);
}

}  // namespace

EmbeddedVectors::EmbeddedVectors(Catalog& catalog, std::string directory, std::uint64_t memory_max,
                                 std::size_t fresh_max)
    : catalog_(catalog), directory_(std::move(directory)), memory_max_(memory_max), fresh_max_(fresh_max) {}

EmbeddedVectors::~EmbeddedVectors() {
  store_changed();
}

std::string EmbeddedVectors::path_of(PlaceId place) const {
  return fmt::format("{}/{}.hnsw", directory_, place);
}

Result<void> EmbeddedVectors::remove_orphans() {
  if (directory_.empty()) return {};
  std::unordered_set<std::string> wanted;
  for (const Place& place : TRY(catalog_.places())) wanted.insert(path_of(place.id));
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
    const auto extension = entry.path().extension();
    const bool is_half = extension == ".new" && entry.path().stem().extension() == ".hnsw";
    if (is_half || (extension == ".hnsw" && !wanted.contains(entry.path().string())))
      ::unlink(entry.path().c_str());
  }
  return {};
}

std::shared_ptr<EmbeddedVectors::Graph> EmbeddedVectors::find(PlaceId place) {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(place);
  if (found == graphs_.end()) return nullptr;
  found->second->used = ++uses_;
  return found->second;
}

std::unique_ptr<VectorIndex> EmbeddedVectors::load(PlaceId place, std::size_t dimension) {
  if (directory_.empty()) return nullptr;
  const auto wanted = catalog_.note(note_of(place));
  if (!wanted || wanted->empty()) return nullptr;
  const auto digest = VectorIndex::digest_of(path_of(place));
  auto loaded = digest && *digest == *wanted ? VectorIndex::load(path_of(place), dimension)
                                             : fail(Code::data_loss, "the stored vectors are damaged");
  if (loaded) return std::move(*loaded);
  log::warn("stored vectors are made anew", {{"error", loaded.error().message()}});
  return nullptr;
}

Result<std::shared_ptr<EmbeddedVectors::Graph>> EmbeddedVectors::make(PlaceId id, std::size_t dimension,
                                                                      const Step& step, bool may_wait) {
  const std::lock_guard making(making_);
  if (auto there = find(id)) return there;
  Place place;
  for (Place& one : TRY(catalog_.places()))
    if (one.id == id) place = std::move(one);
  if (place.id == 0 || place.dimension != dimension) {
    const std::lock_guard lock(mutex_);
    wanted_.erase(id);
    return fail(Code::not_found, "the place is gone");
  }
  auto graph = std::make_shared<Graph>(dimension);
  graph->vectors = load(id, dimension);
  if (!graph->vectors) graph->vectors = std::make_unique<VectorIndex>(dimension);
  auto missing = TRY(reconcile(place, *graph));
  if (!may_wait && missing.size() > std::max(kAtOnce, 2 * fresh_max_)) {
    const std::lock_guard lock(mutex_);
    wanted_.insert(id);
    return fail(Code::unavailable,
                fmt::format("the vectors of {} documents are being made ready", missing.size()));
  }
  TRY(add(place, missing, *graph, step));
  // Whoever changes the catalog looks for the graph afterwards, under this lock: what was changed while it
  // was made is seen here, what is changed from now on finds it.
  const std::lock_guard lock(mutex_);
  missing = TRY(reconcile(place, *graph));
  TRY(add(place, missing, *graph, step));
  wanted_.erase(id);
  graph->used = ++uses_;
  return graphs_.emplace(id, std::move(graph)).first->second;
}

// The catalog is the truth: the graph loses what is gone. Gives what it lacks.
Result<std::vector<std::uint64_t>> EmbeddedVectors::reconcile(const Place& place, Graph& graph) {
  const auto numbers = TRY(catalog_.numbers(place));
  const std::unordered_set<std::uint64_t> present(numbers.begin(), numbers.end());
  std::vector<std::uint64_t> known = graph.vectors->numbers();
  known.insert(known.end(), graph.fresh.numbers().begin(), graph.fresh.numbers().end());
  for (const std::uint64_t number : known)
    if (!present.contains(number)) TRY(change(graph, {place.id, number}));
  std::vector<std::uint64_t> missing;
  for (const std::uint64_t number : numbers)
    if (!graph.vectors->has(number) && !graph.fresh.has(number)) missing.push_back(number);
  return missing;
}

// Few are compared one by one, as if they had come just now; many go into the graph.
Result<void> EmbeddedVectors::add(const Place& place, std::span<const std::uint64_t> numbers, Graph& graph,
                                  const Step& step) {
  const bool are_many = numbers.size() > 2 * fresh_max_;
  for (std::size_t at = 0; at < numbers.size(); at += kReadBatch) {
    const auto batch = numbers.subspan(at, std::min(kReadBatch, numbers.size() - at));
    for (const VectorChange& one : TRY(catalog_.vectors_of(place, batch))) {
      TRY(change(graph, one));
      if (are_many) TRY(settle_some(graph));
    }
    if (!step(batch.size())) return fail(Code::canceled, "stopping");
  }
  return {};
}

// Belongs to whoever excludes every other user of the graph.
Result<void> EmbeddedVectors::change(Graph& graph, const VectorChange& change) {
  if (change.vector) {
    if (change.vector->size() != graph.vectors->dimension())
      return fail(Code::internal, "vectors of another dimension");
    // A number always has the same vector.
    if (!graph.vectors->has(change.number)) graph.fresh.put(change.number, *change.vector);
  } else if (!graph.fresh.remove(change.number) && graph.vectors->has(change.number)) {
    graph.vectors->remove(change.number);
    graph.is_changed = true;
  }
  return {};
}

Result<void> EmbeddedVectors::settle_some(Graph& graph) {
  for (std::size_t count = 0; count < kUnderLock && graph.fresh.size() > 0; ++count) {
    const std::uint64_t number = graph.fresh.numbers().back();
    TRY(graph.vectors->put_rounded(number, graph.fresh.bytes(graph.fresh.size() - 1)));
    graph.fresh.remove(number);
    graph.is_changed = true;
  }
  return {};
}

void EmbeddedVectors::settle(const Step& step) {
  std::map<PlaceId, std::shared_ptr<Graph>> graphs;
  {
    const std::lock_guard lock(mutex_);
    graphs = graphs_;
  }
  const auto left = [](Graph& graph) {
    const std::shared_lock lock(graph.mutex);
    return graph.fresh.size();
  };
  for (const auto& [place, graph] : graphs) {
    if (left(*graph) <= fresh_max_) continue;
    while (left(*graph) > 0) {
      {
        const std::unique_lock lock(graph->mutex);
        if (const auto done = settle_some(*graph); !done) {
          log::warn("vectors are compared one by one", {{"error", done.error().message()}});
          break;
        }
      }
      if (!step(kUnderLock)) return;
    }
  }
}

Result<std::shared_ptr<EmbeddedVectors::Graph>> EmbeddedVectors::graph_of(PlaceId place,
                                                                          std::size_t dimension) {
  if (auto there = find(place)) return there;
  {
    const std::lock_guard lock(mutex_);
    if (wanted_.contains(place)) return fail(Code::unavailable, "the vectors are being made ready");
  }
  auto made = TRY(make(
      place, dimension, [](std::uint64_t) { return true; }, false));
  make_room();
  return made;
}

Result<void> EmbeddedVectors::prepare(const Place& place, const Step& step) {
  TRY(make(place.id, place.dimension, step, true));
  make_room();
  return {};
}

Result<void> EmbeddedVectors::renew(const Place& place, const Step& step) {
  TRY(drop(place.id, place.dimension));
  {
    const std::lock_guard lock(mutex_);
    wanted_.insert(place.id);
  }
  return prepare(place, step);
}

std::vector<PlaceId> EmbeddedVectors::wanted() {
  const std::lock_guard lock(mutex_);
  return {wanted_.begin(), wanted_.end()};
}

// Called after the catalog has them: a graph that is not in memory is made from there.
Result<void> EmbeddedVectors::apply(std::size_t dimension, std::span<const VectorChange> changes) {
  for (std::size_t at = 0; at < changes.size();) {
    const PlaceId place = changes[at].place;
    const std::shared_ptr<Graph> graph = find(place);
    if (!graph) {
      // Made now, with these in it, or in the background if that takes long: the first search is not to wait.
      (void)graph_of(place, dimension);
      while (at < changes.size() && changes[at].place == place) ++at;
      continue;
    }
    const std::unique_lock lock(graph->mutex);
    for (std::size_t count = 0; count < kUnderLock && at < changes.size() && changes[at].place == place;
         ++count, ++at)
      TRY(change(*graph, changes[at]));
    // Nobody adds faster than the graph takes, in the long run.
    if (graph->fresh.size() > 2 * fresh_max_) TRY(settle_some(*graph));
    if (!graph->vectors->is_worn()) continue;
    const std::lock_guard mine(mutex_);
    graphs_.erase(place);  // made from the catalog when it is needed
  }
  return {};
}

Result<void> EmbeddedVectors::drop(PlaceId place, std::size_t) {
  {
    const std::lock_guard lock(mutex_);
    graphs_.erase(place);
    wanted_.erase(place);
  }
  if (!directory_.empty()) ::unlink(path_of(place).c_str());
  return catalog_.set_note(note_of(place), "");
}

Result<std::vector<Neighbour>> EmbeddedVectors::nearest(PlaceId place, std::size_t dimension,
                                                        const VectorQuery& query) {
  const std::shared_ptr<Graph> graph = TRY(graph_of(place, dimension));
  const auto nearest = [&](std::size_t count) {
    const std::shared_lock lock(graph->mutex);
    return nearest_of_both(graph->vectors->nearest(query.vector, count),
                           graph->fresh.nearest(query.vector, count), count);
  };
  const bool has_conditions = !query.kinds.empty() || !query.members.empty();
  if (!has_conditions) return nearest(query.count);
  const auto matching = TRY(catalog_.matching(place, query, kExactMax + 1));
  if (matching.size() <= kExactMax) {
    const std::shared_lock lock(graph->mutex);
    return nearest_of_both(graph->vectors->nearest_of(query.vector, matching, query.count),
                           graph->fresh.nearest_of(query.vector, matching, query.count), query.count);
  }
  // Many fulfil the conditions, so some of the nearest do.
  std::vector<Neighbour> found;
  for (std::size_t wanted = query.count * 2;; wanted *= 4) {
    const std::vector<Neighbour> near = nearest(std::min(wanted, kCandidatesMax));
    found.clear();
    for (const Neighbour& one : near)
      if (found.size() < query.count && TRY(catalog_.matches(place, one.number, query))) found.push_back(one);
    if (found.size() >= query.count || wanted >= kCandidatesMax || near.size() < wanted) return found;
  }
}

Result<std::uint64_t> EmbeddedVectors::count(std::size_t dimension) {
  std::uint64_t count = 0;
  for (const Place& place : TRY(catalog_.places())) {
    if (place.dimension != dimension) continue;
    const auto graph = TRY(graph_of(place.id, dimension));
    const std::shared_lock lock(graph->mutex);
    count += graph->vectors->size() + graph->fresh.size();
  }
  return count;
}

Result<void> EmbeddedVectors::clear(std::size_t dimension) {
  for (const Place& place : TRY(catalog_.places()))
    if (place.dimension == dimension) TRY(drop(place.id, dimension));
  return {};
}

Result<void> EmbeddedVectors::store(PlaceId place, Graph& graph) {
  const std::shared_lock lock(graph.mutex);
  graph.is_changed = false;
  auto digest = graph.vectors->save(path_of(place));
  if (!digest) {
    graph.is_changed = true;
    return fail(std::move(digest).error());
  }
  return catalog_.set_note(note_of(place), *digest);
}

void EmbeddedVectors::store_changed() {
  if (directory_.empty()) return;
  std::map<PlaceId, std::shared_ptr<Graph>> graphs;
  {
    const std::lock_guard lock(mutex_);
    graphs = graphs_;
  }
  for (const auto& [place, graph] : graphs) {
    if (!graph->is_changed) continue;
    if (auto stored = store(place, *graph); !stored)
      log::warn("vectors are made anew at the next start", {{"error", stored.error().message()}});
  }
}

// The one that was asked for longest ago goes, after it has been stored.
void EmbeddedVectors::make_room() {
  while (!directory_.empty()) {
    std::map<PlaceId, std::shared_ptr<Graph>> graphs;
    {
      const std::lock_guard lock(mutex_);
      graphs = graphs_;
    }
    // Measured without mutex_, because apply() locks a graph first and mutex_ then.
    PlaceId oldest = 0;
    std::shared_ptr<Graph> graph;
    std::uint64_t memory = 0;
    for (const auto& [place, one] : graphs) {
      const std::shared_lock lock(one->mutex);
      memory += one->vectors->memory() + one->fresh.memory();
      if (!graph || one->used < graph->used) std::tie(oldest, graph) = std::tie(place, one);
    }
    if (memory <= memory_max_ || graphs.size() < 2) return;
    if (graph->is_changed)
      if (auto stored = store(oldest, *graph); !stored) return;
    const std::lock_guard lock(mutex_);
    if (!graph->is_changed) graphs_.erase(oldest);
  }
}

}  // namespace atl::index
