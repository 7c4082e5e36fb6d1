#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "index/catalog.h"
#include "index/vector_backend.h"
#include "index/vector_index.h"

namespace atl::index {

// Vectors in this process: one graph a place, read when it is first asked for, kept in files between starts.
// A file may be older than the catalog: what it lacks is added, what is gone is taken out, so that a crash or
// a damaged file costs time and nothing else.
class EmbeddedVectors final : public VectorBackend {
 public:
  // `directory` empty: nothing is kept. Graphs that nobody asked for go from memory first when they take
  // more than `memory_max` together.
  EmbeddedVectors(Catalog& catalog, std::string directory, std::uint64_t memory_max);
  // Stores what changed.
  ~EmbeddedVectors() override;

  std::string_view name() const override { return "embedded"; }
  bool is_server() const override { return false; }
  Result<void> apply(std::size_t dimension, std::span<const VectorChange> changes) override;
  Result<void> drop(PlaceId place, std::size_t dimension) override;
  // A graph that would take long to make is Code::unavailable until prepare() has made it.
  Result<std::vector<Neighbour>> nearest(PlaceId place, std::size_t dimension,
                                         const VectorQuery& query) override;
  Result<std::uint64_t> count(std::size_t dimension) override;
  Result<void> clear(std::size_t dimension) override;

  // Makes the graph of a place, however long it takes; `step` is told how many vectors were added and says
  // whether to go on.
  using Step = std::function<bool(std::uint64_t)>;
  Result<void> prepare(const Place& place, const Step& step);
  // The same without what is there or was stored; meanwhile nearest() is Code::unavailable.
  Result<void> renew(const Place& place, const Step& step);
  // Places whose graphs somebody asked for and that are not there yet.
  std::vector<PlaceId> wanted();
  // Stores what changed since it was stored.
  void store_changed();

 private:
  struct Graph {
    std::shared_mutex mutex;  // of `vectors`
    std::unique_ptr<VectorIndex> vectors;
    std::atomic<bool> is_changed = false;
    std::atomic<std::uint64_t> used = 0;
  };
  std::shared_ptr<Graph> find(PlaceId place);
  Result<std::shared_ptr<Graph>> graph_of(PlaceId place, std::size_t dimension);
  Result<std::shared_ptr<Graph>> make(PlaceId place, std::size_t dimension, const Step& step, bool may_wait);
  Result<std::vector<std::uint64_t>> reconcile(const Place& place, VectorIndex& vectors);
  Result<void> add(const Place& place, std::span<const std::uint64_t> numbers, VectorIndex& vectors,
                   const Step& step);
  std::unique_ptr<VectorIndex> load(PlaceId place, std::size_t dimension);
  Result<void> store(PlaceId place, Graph& graph);
  void make_room();
  std::string path_of(PlaceId place) const;

  Catalog& catalog_;
  std::string directory_;
  std::uint64_t memory_max_;
  std::mutex making_;  // one graph is made at a time
  std::mutex mutex_;   // of all below
  std::map<PlaceId, std::shared_ptr<Graph>> graphs_;
  std::set<PlaceId> wanted_;
  std::uint64_t uses_ = 0;
};

}  // namespace atl::index
