#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "index/catalog.h"
#include "index/fresh_vectors.h"
#include "index/vector_backend.h"
#include "index/vector_index.h"

namespace atl::index {

// Vectors in this process: one graph for each place, loaded when it is first asked for and kept in a file
// between starts. A file may be older than the catalog. Loading adds what it lacks and removes what is gone,
// so that a crash or a damaged file costs time and nothing else.
//
// New vectors are not put into the graph at once: up to `fresh_max` of a place are compared one by one, and
// settle() moves more than those into the graph, in the background. Whoever adds faster than that moves them
// itself from twice as many on.
//
// Graphs are shared by the map and the calls that use them: make_room(), drop() and clear() take one from the
// map while a search may still read it. `catalog` must outlive this.
class EmbeddedVectors final : public VectorBackend {
 public:
  // With an empty `directory` nothing is kept in files and memory is not bounded. Otherwise, while all graphs
  // together take more than `memory_max` bytes, the one that was used longest ago is stored and leaves
  // memory; the last one always stays.
  EmbeddedVectors(Catalog& catalog, std::string directory, std::uint64_t memory_max, std::size_t fresh_max);
  // Stores the graphs that changed.
  ~EmbeddedVectors() override;

  std::string_view name() const override { return "embedded"; }
  bool is_server() const override { return false; }
  Result<void> apply(std::size_t dimension, std::span<const VectorChange> changes) override;
  Result<void> drop(PlaceId place, std::size_t dimension) override;
  // Code::unavailable while the place's graph is being made, if that takes longer than a caller should wait:
  // then the place is in wanted() until prepare() has made its graph.
  Result<std::vector<Neighbour>> nearest(PlaceId place, std::size_t dimension,
                                         const VectorQuery& query) override;
  Result<std::uint64_t> count(std::size_t dimension) override;
  Result<void> clear(std::size_t dimension) override;

  // Makes the graph of a place, however long it takes. `step` is called with the number of vectors that each
  // batch added and returns whether to go on; false ends the call with Code::canceled and leaves no graph.
  using Step = std::function<bool(std::uint64_t)>;
  Result<void> prepare(const Place& place, const Step& step);
  // The same, but the present graph and its file are thrown away first; nearest() is Code::unavailable until
  // the new one is ready.
  Result<void> renew(const Place& place, const Step& step);
  // Removes files of places that are gone, and those that were being written when a process ended.
  Result<void> remove_orphans();
  // Places whose graphs somebody asked for and that prepare() has yet to make.
  std::vector<PlaceId> wanted();
  // Puts what came lately into the graphs of places that have more than fresh_max of it, a few at a time, so
  // that searches get their turn. `step` as in prepare().
  void settle(const Step& step);
  // Stores every graph that changed since it was last stored. One that cannot be stored is logged and made
  // from the catalog at the next start.
  void store_changed();

 private:
  struct Graph {
    explicit Graph(std::size_t dimension) : fresh(dimension) {}
    std::shared_mutex mutex;  // of `vectors` and `fresh`, which have no number in common
    std::unique_ptr<VectorIndex> vectors;
    FreshVectors fresh;
    std::atomic<bool> is_changed = false;
    std::atomic<std::uint64_t> used = 0;
  };
  std::shared_ptr<Graph> find(PlaceId place);
  Result<std::shared_ptr<Graph>> graph_of(PlaceId place, std::size_t dimension);
  Result<std::shared_ptr<Graph>> make(PlaceId place, std::size_t dimension, const Step& step, bool may_wait);
  Result<std::vector<std::uint64_t>> reconcile(const Place& place, Graph& graph);
  Result<void> add(const Place& place, std::span<const std::uint64_t> numbers, Graph& graph,
                   const Step& step);
  static Result<void> change(Graph& graph, const VectorChange& change);
  static Result<void> settle_some(Graph& graph);
  std::unique_ptr<VectorIndex> load(PlaceId place, std::size_t dimension);
  Result<void> store(PlaceId place, Graph& graph);
  void make_room();
  std::string path_of(PlaceId place) const;

  Catalog& catalog_;
  std::string directory_;
  std::uint64_t memory_max_;
  std::size_t fresh_max_;
  std::mutex making_;  // one graph is made at a time
  std::mutex mutex_;   // of all below
  std::map<PlaceId, std::shared_ptr<Graph>> graphs_;
  std::set<PlaceId> wanted_;
  std::uint64_t uses_ = 0;
};

}  // namespace atl::index
