#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "index/types.h"
#include "index/vector_backend.h"
#include "store/sqlite.h"

namespace atl::index {

// Where documents lie: a collection of a tenant, or the service's own documents of it (name "").
struct Place {
  PlaceId id = 0;  // never used twice
  std::string tenant, name, model;
  std::size_t dimension = 0;
};

struct CatalogLimits {
  std::size_t collections_max;
  std::uint64_t points_max, documents_max, edges_max;
  std::uint64_t waiting_max;           // changes that wait for a server; more, and it is filled anew
  std::uint64_t collection_bytes_max;  // of all collections of a tenant
  std::uint64_t document_bytes_max;    // of the service's own documents of a tenant; the oldest go first
};

// As a JSON list of texts.
std::string json_list(const std::vector<std::string>& texts);

// The database of the index: documents with their vectors, words, relations, and the changes that servers
// have not heard of yet. It is the truth; backends are filled from it. A document's number is never used
// twice and its vector never changes, so that whoever holds a number holds the right vector.
//
// Safe from every thread; calls block. Every call that changes something is one transaction: it happens as a
// whole or, if it fails, not at all. Errors of SQLite are the codes of store/sqlite.h.
class Catalog {
 public:
  // Which backends are servers. Only for those are changes kept until somebody has delivered them.
  struct Servers {
    bool vectors = false, graph = false;
  };
  // Opens the database at `path`, or makes it; ":memory:" keeps everything in this process.
  static Result<std::unique_ptr<Catalog>> open(const std::string& path, CatalogLimits limits,
                                               Servers servers);

  // Whether SQLite finds nothing wrong with it. Reads all of it.
  bool is_sound();

  // 16 hex digits that no other database has.
  const std::string& id() const { return id_; }

  // Code::not_found if nobody made it.
  Result<Place> place(const std::string& tenant, const std::string& name);
  // The place as it is, or a new one of this model and dimension if there was none: the caller compares.
  // Code::resource_exhausted if the tenant has collections_max already.
  Result<Place> make_place(const std::string& tenant, const std::string& name, const std::string& model,
                           std::size_t dimension, WallTime now);
  Result<std::vector<Place>> places();
  Result<std::vector<Collection>> collections(const std::string& tenant);
  Result<void> drop_place(const Place& place);
  // New vectors of the place are of this model from now on; those it has become stale (stale()).
  Result<void> set_model(const Place& place, const std::string& model, std::size_t dimension);

  // What a call changed, in order, for backends that are not servers: the caller applies it to them.
  using Changes = std::vector<VectorChange>;
  static constexpr const char* kUnmade = "?";  // no model
  // Every document must have its vector. models[i] names the model that made the one of documents[i]; "" is
  // the caller's own vector, which never becomes stale; kUnmade, with an empty vector, is stale at once and
  // found by words alone until renew(). A document with the kind and id of one that is there
  // replaces it. Code::resource_exhausted if the place would grow by more than `room` bytes: what replaces
  // something counts with the difference.
  Result<Changes> put(const Place& place, const std::vector<Document>& documents,
                      const std::vector<std::string>& models, std::uint64_t room);
  Result<Changes> replace_kind(const Place& place, const std::string& kind,
                               const std::vector<Document>& documents,
                               const std::vector<std::string>& models);
  Result<Changes> remove(const Place& place, const std::vector<std::string>& ids);

  // Documents of a kind with ids over `after`, in the order of ids, at most `count`. A number is larger than
  // those of all documents that were put before.
  struct Named {
    std::int64_t number = 0;
    std::string id;
  };
  Result<std::vector<Named>> named_after(const Place& place, const std::string& kind,
                                         const std::string& after, std::size_t count);

  // Of these ids of a kind, those that the place does not have.
  Result<std::vector<std::string>> lacking(const Place& place, const std::string& kind,
                                           const std::vector<std::string>& ids);

  // Documents of a place whose vector is of another model than the place, at most `count`, with numbers.
  struct Stale {
    std::int64_t number = 0;
    std::string text;
  };
  Result<std::vector<Stale>> stale(const Place& place, std::size_t count);
  Result<std::uint64_t> count_stale();
  // Gives the documents `which` the new `vectors`, each under a new number. A document that was removed
  // meanwhile is left out.
  Result<Changes> renew(const Place& place, const std::vector<Stale>& which,
                        const std::vector<Vector>& vectors);

  // What one document takes on the disk, about: its row, its words, its members and its part of the vectors.
  static std::uint64_t bytes_of(const Document& document, std::size_t dimension);
  // What the tenant keeps itself: its collections and the relations that it said.
  Result<std::uint64_t> bytes_of(const std::string& tenant);

  Result<std::vector<std::uint64_t>> numbers(const Place& place);
  Result<std::uint64_t> count(const Place& place);
  // How many vectors of that dimension there are, over all places.
  Result<std::uint64_t> count_vectors(std::size_t dimension);
  // The vectors with numbers over `after`, in the order of numbers, at most `count`: a batch at a time, so
  // that other callers do not wait long for the database.
  Result<Changes> all_vectors_after(std::uint64_t after, std::size_t count);
  Result<Changes> vectors_of(const Place& place, std::span<const std::uint64_t> numbers);

  // The numbers of documents that have one of the query's kinds (none: any kind) and all of its members, at
  // most `count`.
  Result<std::vector<std::uint64_t>> matching(PlaceId place, const VectorQuery& query, std::size_t count);
  Result<bool> matches(PlaceId place, std::uint64_t number, const VectorQuery& query);
  // The numbers of documents that contain words of the request, the best match first, at most `count`.
  Result<std::vector<std::uint64_t>> by_words(const Place& place, const SearchRequest& request,
                                              const VectorQuery& conditions, std::size_t count);
  // The document of that number as a hit. Nothing if it is not in this place or does not fulfil the
  // conditions: a server's answer may be older than the catalog, and it is never trusted with a tenant.
  Result<std::optional<Hit>> hit(const Place& place, std::uint64_t number, const VectorQuery& conditions);

  // Makes the list of words anew from the documents.
  Result<void> rebuild_words();

  static constexpr std::uint64_t kEdgeBytes = 512;  // what one relation takes on the disk, about
  // An edge that is there already stays as it is. Beyond edges_max the tenant's oldest edges are removed.
  Result<void> relate(const std::string& tenant, const std::vector<Edge>& edges, Origin origin);
  // Gives how many of them were there.
  Result<std::uint64_t> unrelate(const std::string& tenant, const std::vector<Edge>& edges);
  // Removes what the service itself said of these nodes; what the tenant said stays.
  Result<void> forget_nodes(const std::string& tenant, const std::vector<Node>& nodes);
  // The edges of these nodes in the order in which they were made, at most `limit` of each node.
  Result<std::vector<Edge>> edges_of(const std::string& tenant, std::span<const Node> nodes,
                                     const std::vector<std::string>& types, Direction direction,
                                     std::size_t limit);
  struct StoredEdge {
    std::int64_t number = 0;
    std::string tenant;
    Edge edge;
  };
  Result<std::vector<StoredEdge>> edges_after(std::int64_t after, std::size_t count);
  Result<std::uint64_t> count_edges();
  Result<void> forget_tenant(const std::string& tenant);

  // What a server of vectors, or of relations, has yet to be told, the oldest first.
  struct WaitingVector {
    std::int64_t sequence = 0;
    PlaceId place = 0;
    std::size_t dimension = 0;
    std::uint64_t number = 0;  // 0: the whole place is gone
  };
  struct WaitingEdge {
    std::int64_t sequence = 0;
    std::string tenant;
    std::string what;  // "relate", "unrelate", "forget" (the tenant)
    Edge edge;
  };
  Result<std::vector<WaitingVector>> waiting_vectors(std::size_t count);
  Result<std::vector<WaitingEdge>> waiting_edges(std::size_t count);
  // `table` is kVectors or kEdges in each of these.
  Result<std::uint64_t> count_waiting(const char* table);
  // Forgets the waiting changes up to this sequence: the server has them.
  Result<void> told(const char* table, std::int64_t up_to);
  // What a waiting entry means by now: the document's present vector, or its removal if it is gone.
  Result<VectorChange> current(const WaitingVector& waiting);
  // Forgets all waiting changes, because the server will be filled from the beginning.
  Result<void> forget_waiting(const char* table);

  // Small values that survive a restart, by name: how far a server was filled, the digest of a graph's file.
  Result<std::string> note(const std::string& name);  // "" if there is none
  Result<void> set_note(const std::string& name, const std::string& value);

  static constexpr const char *kVectors = "waiting_vectors", *kEdges = "waiting_edges";

 private:
  Catalog(store::Connection database, CatalogLimits limits, Servers servers)
      : database_(std::move(database)), limits_(limits), servers_(servers) {}
  // The caller of each of these holds mutex_.
  Result<void> in_transaction(const std::function<Result<void>()>& work);
  Result<void> insert(const Place& place, const Document& document, const std::string& model,
                      Changes& changes);
  Result<void> remove_number(const Place& place, std::uint64_t number, const std::string& kind,
                             Changes& changes);
  Result<std::uint64_t> add_to_count(const Place& place, const std::string& kind, int change);
  Result<void> remove_all_of(const Place& place);
  Result<void> keep_bounds(const Place& place, const std::string& kind, Changes& changes);
  Result<void> keep_document_bytes(const Place& place, const std::string& kind, Changes& changes);
  Result<void> keep_collection_bytes(const Place& place, std::int64_t before, std::uint64_t room);
  Result<std::int64_t> bytes_in(const Place& place);
  Result<void> keep_edge_bound(const std::string& tenant, std::uint64_t added);
  Result<void> wait_for_server(const Place& place, const Changes& changes);
  Result<std::uint64_t> remove_edges(const std::string& tenant, const std::vector<Edge>& edges);
  Result<void> wait_edge(const std::string& tenant, const char* what, const Edge& edge);
  Result<void> keep_waiting_bound(const char* table);
  Result<std::int64_t> one_number(std::string_view sql, std::int64_t argument = 0);

  std::mutex mutex_;
  store::Connection database_;
  CatalogLimits limits_;
  Servers servers_;
  std::string id_;
  std::map<std::string, std::uint64_t> edge_counts_;                 // by tenant
  std::map<std::pair<PlaceId, std::string>, std::uint64_t> counts_;  // of documents, by place and kind
};

}  // namespace atl::index
