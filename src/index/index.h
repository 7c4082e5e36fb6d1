#pragma once

#include <atomic>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "index/catalog.h"
#include "index/delivery.h"
#include "index/embedded_vectors.h"
#include "index/embedder.h"
#include "index/graph_backend.h"
#include "index/server_link.h"
#include "index/types.h"

namespace atl::index {

// A server that keeps vectors or relations for us.
struct ServerOptions {
  net::Url url;
  std::vector<std::pair<std::string, std::string>> headers;  // such as a key; never shown
  std::string database = {};                                 // of Neo4j
  LinkOptions link = {};
};

struct Options {
  std::string directory;                 // made if it is missing; empty: in memory
  std::size_t collections_max = 100;     // of a tenant
  std::uint64_t points_max = 1'000'000;  // of a collection
  // Of one kind of a tenant in the service's own collection; the oldest go first.
  std::uint64_t documents_max = 50'000;
  std::uint64_t edges_max = 1'000'000;        // of a tenant; the oldest go first
  std::uint64_t waiting_max = 200'000;        // changes that wait for a server; more, and it is filled anew
  std::uint64_t tenant_bytes = 10ULL << 30;   // of all collections of a tenant
  std::uint64_t document_bytes = 1ULL << 30;  // of a tenant in the service's own; the oldest go first
  std::uint64_t memory_max = 4ULL << 30;      // of vectors in this process that nobody asks for
  std::size_t fresh_max =
      8192;  // of a place: vectors that are compared one by one before they come into a graph
  std::optional<ServerOptions> qdrant = {}, neo4j = {};  // unset: embedded
  Clock* clock = &Clock::machine();
};

// Search by words, by likeness and by relations: over documents of the service (in the collection "") and
// over collections of tenants. The catalog is the truth; backends of vectors and of relations are filled from
// it, so that a damaged or absent one costs time and nothing else. A tenant's documents are seen by that
// tenant alone, those of the tenant "" by everybody.
//
// Safe from every thread. Calls block on the database, a model or a server: never call one on the loop
// thread. A change is stored once its call returns; a server that does not take it within two seconds gets it
// later, and until then degraded_because() says so. Owns its catalog, backends and threads.
class Index {
 public:
  static constexpr std::size_t kDepthMax = 8;

  // Opens or makes the index in options.directory and starts its threads. A server that is away is no error.
  static Result<std::unique_ptr<Index>> open(Options options, std::unique_ptr<Embedder> embedder);
  // Ends the threads and stores the graphs of vectors that changed.
  ~Index();

  const Embedder& embedder() const { return *embedder_; }
  std::string_view vector_backend() const { return vectors_->name(); }
  std::string_view graph_backend() const { return graph_->name(); }

  // Collections of a tenant. Making one that exists changes nothing if it has the same dimension and is
  // Code::conflict otherwise; Code::resource_exhausted beyond collections_max. With dimension 0 it has the
  // embedder's and its texts become vectors here; with any other, also the same, the caller brings the
  // vectors.
  Result<Collection> make_collection(const std::string& tenant, const std::string& name,
                                     std::size_t dimension);
  Result<std::vector<Collection>> collections(const std::string& tenant) const;
  Result<Collection> collection(const std::string& tenant, const std::string& name) const;
  Result<void> drop_collection(const std::string& tenant, const std::string& name);

  // Stores all of the documents or, if it fails, none. While the embedder cannot make their vectors they are
  // found by words, get their vectors later, and degraded_because() says so. Code::not_found if the
  // collection does not exist, Code::invalid_argument if a vector has another dimension or is missing where
  // only the caller can make it; Code::resource_exhausted if they would add more than `room` bytes to what
  // the tenant has, Code::no_space if more than any tenant may have.
  Result<void> put(const std::string& tenant, const std::string& collection, std::vector<Document> documents,
                   std::uint64_t room = std::numeric_limits<std::uint64_t>::max());
  // What these would take on the disk, about, if all of them were new.
  std::uint64_t bytes_of(const std::vector<Document>& documents) const;
  // What a tenant keeps itself: collections and relations that it named. What is found of its history is
  // bounded apart and is not in it.
  Result<std::uint64_t> bytes_of(const std::string& tenant) const;
  // Gives how many of the ids were there.
  Result<std::uint64_t> remove(const std::string& tenant, const std::string& collection,
                               const std::vector<std::string>& ids);
  // Replaces all documents of one kind in the service's own collection.
  Result<void> replace_kind(const std::string& tenant, const std::string& kind,
                            std::vector<Document> documents);
  // Merges what words and vectors find. If vectors cannot be asked (no model, no server), words alone answer
  // and Found::degraded_because says so; that is no error. Pages of an index that does not change neither
  // overlap nor leave anything out.
  Result<Found> search(const std::string& tenant, const std::string& collection,
                       const SearchRequest& request);

  // Relations. One that is there already stays as it is; unrelate() gives how many were there. walk() answers
  // from the catalog while the server cannot.
  Result<void> relate(const std::string& tenant, const std::vector<Edge>& edges,
                      Origin origin = Origin::service);
  Result<std::uint64_t> unrelate(const std::string& tenant, const std::vector<Edge>& edges);
  Result<GraphAnswer> walk(const std::string& tenant, const GraphQuery& query);

  // Removes everything of a tenant: documents, collections, relations.
  Result<void> forget_tenant(const std::string& tenant);

  // Replaces the headers of the servers, whose keys come later than open() or change. Unset: as they were.
  using Headers = std::vector<std::pair<std::string, std::string>>;
  void set_headers(std::optional<Headers> qdrant, std::optional<Headers> neo4j);

  // Of these ids of documents of one kind in the service's own collection, those that it does not have.
  Result<std::vector<std::string>> lacking(const std::string& tenant, const std::string& kind,
                                           const std::vector<std::string>& ids);

  // For whoever takes out what is no longer kept: the tenants, and the documents of one kind in the service's
  // own collection as Catalog::named_after() gives them.
  Result<std::vector<std::string>> tenants();
  Result<std::vector<Catalog::Named>> named_after(const std::string& tenant, const std::string& kind,
                                                  const std::string& after, std::size_t count);
  // Removes these documents of the service's own collection, and what the service said of their relations.
  Result<void> forget(const std::string& tenant, const std::string& kind,
                      const std::vector<std::string>& ids);

  // What rebuilding begins with: puts documents and relations that are kept elsewhere into this index. It is
  // called in the background; `step` is told how many of how many are done and returns whether to go on.
  // Unset again before what it uses ends.
  using Step = std::function<bool(std::uint64_t done, std::uint64_t total)>;
  using Source = std::function<Result<void>(const Step& step)>;
  void rebuild_from(Source source);
  // Makes the service's own documents (rebuild_from()), words, graphs and the contents of servers anew, in
  // the background. Code::conflict while that goes on.
  Result<void> start_rebuild();
  // What goes on in the background.
  struct Progress {
    std::string doing;  // "rebuilding", "filling the server", "making vectors with another model"; or nothing
    std::uint64_t done = 0, total = 0;
    std::string failure;  // why the last rebuild ended early, or that the catalog was lost
  };
  Progress progress();
  // Why answers may lack something; empty: they do not.
  std::string degraded_because();
  std::string graph_degraded_because();

  // Ends calls of the embedder under way and makes no more: before an end that should not wait for it.
  void stop_embedding() { embedder_->stop(); }

 private:
  static constexpr std::size_t kRenewBatch = 32;
  Index(Options options, std::unique_ptr<Embedder> embedder)
      : options_(std::move(options)), embedder_(std::move(embedder)), renew_batch_(kRenewBatch) {}
  Result<void> open_all();
  void close_all();
  Result<void> open_catalog();
  Result<void> begin_anew();
  Result<void> open_backends();
  Result<void> note_backend(const char* table, const std::string& served_by);
  Result<void> adopt_model();
  Result<Place> own_place(const std::string& tenant);
  Result<Place> place_to_write(const std::string& tenant, const std::string& collection);
  // Gives the model of each document's vector.
  Result<std::vector<std::string>> make_vectors(const Place& place, std::vector<Document>& documents);
  Result<void> apply(const Place& place, Result<Catalog::Changes> changes);
  // After a change of the catalog: documents that lack a vector get it in the background.
  void expect_vectors(const std::vector<std::string>& models);
  Result<Vector> vector_of(const SearchRequest& request, Found& found);
  struct Ranked {
    double rank = 0;
    std::uint64_t number = 0;
    const Place* place = nullptr;
    auto operator<=>(const Ranked&) const = default;
  };
  Result<std::vector<Ranked>> ranked(const std::vector<Place>& places, const SearchRequest& request,
                                     const VectorQuery& query, Found& found);
  Result<std::vector<Ranked>> ranked_pages(const std::vector<Place>& places, const SearchRequest& request,
                                           VectorQuery query, Found& found);
  template <class T>
  Result<T> seen(Result<T> result);
  void note_damage();
  void upkeep();
  Result<bool> renew_some();
  void end_renewing();
  Result<std::vector<Vector>> renewed(const Place& place, const std::vector<Catalog::Stale>& stale);
  Result<void> rebuild();
  Result<void> read_source();
  bool is_stopping();

  Options options_;
  std::unique_ptr<Embedder> embedder_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<ServerLink> vector_link_, graph_link_;
  std::unique_ptr<VectorBackend> vectors_;
  EmbeddedVectors* embedded_ = nullptr;  // if that is what vectors_ is
  std::unique_ptr<GraphBackend> stored_graph_, server_graph_;
  GraphBackend* graph_ = nullptr;  // one of the two
  std::unique_ptr<Delivery> vector_delivery_, graph_delivery_;
  std::mutex writing_;  // from a change of the catalog to the backend's: both see the same order

  std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  bool is_stopping_ = false, is_rebuild_asked_ = false, is_damage_noted_ = false;
  Progress progress_;
  Progress stale_;  // documents that wait for vectors; it has what it is doing while there are any
  std::uint64_t expected_ = 0;  // documents that came without one, since the beginning
  std::mutex sourcing_;         // held while source_ is called or changed
  Source source_;
  std::size_t renew_batch_;   // of the thread, as the next
  std::int64_t suspect_ = 0;  // a document whose text alone the embedder did not take
  std::thread thread_;
};

}  // namespace atl::index
