#include "index/index.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/log.h"
#include "index/neo4j.h"
#include "index/qdrant.h"
#include "index/query_words.h"
#include "os/file.h"

namespace atl::index {
namespace {

using namespace std::chrono_literals;

constexpr double kRankOffset = 60;     // of reciprocal rank fusion: what stands first in both lists wins
constexpr float kLikenessMin = 0.01F;  // less is nothing in common
constexpr auto kDeliveryWait = 2s;

// How many of each list are looked at. A longer list changes the ranks of what a shorter one has, so that a
// page is cut from the same lists whoever asks for it: what the first gives stands first, and so on.
constexpr std::size_t kWindows[] = {100, 1000, 10'100};

// Relations as the catalog has them.
class StoredGraph final : public GraphBackend {
 public:
  explicit StoredGraph(Catalog& catalog) : catalog_(catalog) {}
  std::string_view name() const override { return "embedded"; }
  bool is_server() const override { return false; }
  Result<void> apply(std::span<const GraphChange>) override { return {}; }
  Result<std::vector<Edge>> edges_of(const std::string& tenant, std::span<const Node> nodes,
                                     const std::vector<std::string>& types, Direction direction,
                                     std::size_t limit) override {
    return catalog_.edges_of(tenant, nodes, types, direction, limit);
  }
  Result<std::uint64_t> count() override { return catalog_.count_edges(); }
  Result<void> clear() override { return {}; }

 private:
  Catalog& catalog_;
};

Error wrong_dimension(std::size_t wanted, std::size_t got) {
  return Error(Code::invalid_argument, fmt::format("vectors of {} numbers are wanted, got {}", wanted, got))
      .with_field("vector");
}

VectorQuery conditions_of(const SearchRequest& request) {
  VectorQuery query;
  query.kinds = request.kinds;
  for (const auto& [name, value] : request.filter) query.members.push_back(member_word(name, value));
  return query;
}

constexpr const char* kDamageNote = "/damaged";

Result<void> put_aside(const std::string& path) {
  for (const char* part : {"", "-wal", "-shm"}) {
    const std::string from = path + part, to = path + ".damaged" + part;
    ::unlink(to.c_str());
    if (std::rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT)
      return fail(errno_error(errno, "put the damaged index aside"));
  }
  return {};
}

std::string text_of(const Document& document) {
  return document.title + "\n" + document.body;
}

}  // namespace

Result<std::unique_ptr<Index>> Index::open(Options options, std::unique_ptr<Embedder> embedder) {
  const std::string directory = options.directory;
  if (!directory.empty()) TRY(os::make_directories(directory, 0700));
  auto index = std::unique_ptr<Index>(new Index(std::move(options), std::move(embedder)));
  auto opened = index->open_all();
  if (!opened && opened.error().code() == Code::data_loss && !directory.empty()) {
    index->close_all();
    TRY(index->begin_anew());
    opened = index->open_all();
  }
  TRY(std::move(opened));
  index->thread_ = std::thread([raw = index.get()] { raw->upkeep(); });
  return index;
}

Result<void> Index::open_all() {
  TRY(open_catalog());
  TRY(open_backends());
  return adopt_model();
}

void Index::close_all() {
  vector_delivery_.reset();
  graph_delivery_.reset();
  embedded_ = nullptr;
  graph_ = nullptr;
  vectors_.reset();
  server_graph_.reset();
  stored_graph_.reset();
  vector_link_.reset();
  graph_link_.reset();
  catalog_.reset();
}

// Code::data_loss if it is damaged, as far as that is seen: all of it is looked at only after somebody met
// damage.
Result<void> Index::open_catalog() {
  const CatalogLimits limits{options_.collections_max, options_.points_max,  options_.documents_max,
                             options_.edges_max,       options_.waiting_max, options_.tenant_bytes,
                             options_.document_bytes};
  const Catalog::Servers servers{options_.qdrant.has_value(), options_.neo4j.has_value()};
  const std::string& directory = options_.directory;
  catalog_ = TRY(Catalog::open(directory.empty() ? ":memory:" : directory + "/index.db", limits, servers));
  if (directory.empty() || !os::exists(directory + kDamageNote)) return {};
  if (!catalog_->is_sound()) return fail(Code::data_loss, "the catalog of the index is damaged");
  TRY(catalog_->rebuild_words());
  ::unlink((directory + kDamageNote).c_str());
  return {};
}

// A damaged catalog does not keep the service from starting. It is put aside, for whoever can repair it: what
// sessions did comes back from the store, what tenants put into collections is in there alone.
Result<void> Index::begin_anew() {
  const std::string path = options_.directory + "/index.db";
  TRY(put_aside(path));
  ::unlink((options_.directory + kDamageNote).c_str());
  log::error("the catalog of the index was damaged and is made anew", {{"kept", path + ".damaged"}});
  progress_.failure =
      "the catalog was damaged and is made anew; collections and relations of tenants are in "
      "index/index.db.damaged alone";
  return {};
}

template <class T>
Result<T> Index::seen(Result<T> result) {
  if (!result && result.error().code() == Code::data_loss) note_damage();
  return result;
}

// The next start looks at all of it, which takes too long for every start.
void Index::note_damage() {
  if (options_.directory.empty()) return;
  const std::lock_guard lock(mutex_);
  if (is_damage_noted_) return;
  is_damage_noted_ = true;
  log::error("the catalog of the index is damaged; it is made anew at the next start");
  (void)os::write_file(options_.directory + kDamageNote, "");
}

Result<void> Index::open_backends() {
  stored_graph_ = std::make_unique<StoredGraph>(*catalog_);
  graph_ = stored_graph_.get();
  if (options_.qdrant) {
    const ServerOptions& server = *options_.qdrant;
    vector_link_ = std::make_unique<ServerLink>("Qdrant", server.url, server.headers, server.link);
    vectors_ = std::make_unique<Qdrant>(*vector_link_, catalog_->id());
    TRY(note_backend(Catalog::kVectors, "qdrant " + server.url.authority()));
    vector_delivery_ = vector_delivery(*catalog_, *vector_link_, *vectors_);
    vector_delivery_->start();
  } else {
    auto embedded = std::make_unique<EmbeddedVectors>(*catalog_, options_.directory, options_.memory_max,
                                                      options_.fresh_max);
    embedded_ = embedded.get();
    TRY(embedded->remove_orphans());
    vectors_ = std::move(embedded);
    TRY(note_backend(Catalog::kVectors, ""));
  }
  if (!options_.neo4j) return note_backend(Catalog::kEdges, "");
  const ServerOptions& server = *options_.neo4j;
  graph_link_ = std::make_unique<ServerLink>("Neo4j", server.url, server.headers, server.link);
  server_graph_ = std::make_unique<Neo4j>(*graph_link_, catalog_->id(), server.database);
  graph_ = server_graph_.get();
  TRY(note_backend(Catalog::kEdges, "neo4j " + server.url.authority()));
  graph_delivery_ = graph_delivery(*catalog_, *graph_link_, *server_graph_);
  graph_delivery_->start();
  return {};
}

// A server that did not hear of every change since it was filled is filled anew.
Result<void> Index::note_backend(const char* table, const std::string& served_by) {
  const std::string name = std::string("served_by_") + table;
  if (TRY(catalog_->note(name)) == served_by) return {};
  TRY(catalog_->forget_waiting(table));
  TRY(catalog_->set_note(std::string("refill_") + table, served_by.empty() ? "" : "wanted"));
  return catalog_->set_note(name, served_by);
}

Index::~Index() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  embedder_->stop();
  if (thread_.joinable()) thread_.join();
  vector_delivery_.reset();
  graph_delivery_.reset();
}

bool Index::is_stopping() {
  const std::lock_guard lock(mutex_);
  return is_stopping_;
}

Result<Place> Index::own_place(const std::string& tenant) {
  return catalog_->make_place(tenant, "", std::string(embedder_->model()), embedder_->dimension(),
                              options_.clock->now());
}

Result<Place> Index::place_to_write(const std::string& tenant, const std::string& collection) {
  return collection.empty() ? own_place(tenant) : catalog_->place(tenant, collection);
}

Result<Collection> Index::make_collection(const std::string& tenant, const std::string& name,
                                          std::size_t dimension) {
  const bool is_ours = dimension == 0;
  if (is_ours) dimension = embedder_->dimension();
  const Place made =
      TRY(catalog_->make_place(tenant, name, is_ours ? std::string(embedder_->model()) : std::string(),
                               dimension, options_.clock->now()));
  if (made.dimension != dimension)
    return fail(
        Error(Code::conflict, fmt::format("collection '{}' has vectors of {} numbers", name, made.dimension))
            .with_field("dimension"));
  return collection(tenant, name);
}

Result<std::vector<Collection>> Index::collections(const std::string& tenant) const {
  return catalog_->collections(tenant);
}

Result<Collection> Index::collection(const std::string& tenant, const std::string& name) const {
  auto all = TRY(collections(tenant));
  for (Collection& one : all)
    if (one.name == name) return std::move(one);
  return fail(Code::not_found, fmt::format("no collection is called '{}'", name));
}

Result<void> Index::drop_collection(const std::string& tenant, const std::string& name) {
  const Place place = TRY(catalog_->place(tenant, name));
  const std::lock_guard writing(writing_);
  TRY(seen(catalog_->drop_place(place)));
  if (!vector_delivery_) return vectors_->drop(place.id, place.dimension);
  vector_delivery_->deliver(kDeliveryWait);
  return {};
}

// Vectors are made before anything is locked: a model may take its time.
Result<std::vector<std::string>> Index::make_vectors(const Place& place, std::vector<Document>& documents) {
  std::vector<std::string> texts;
  for (const Document& document : documents)
    if (!document.vector) texts.push_back(text_of(document));
  if (!texts.empty() && place.model != embedder_->model())
    return fail(Error(Code::invalid_argument,
                      fmt::format("the collection has vectors of {} numbers, which only the caller can make",
                                  place.dimension))
                    .with_field("vector"));
  Result<std::vector<Vector>> made = std::vector<Vector>();
  if (!texts.empty()) made = embedder_->embed(texts);
  std::vector<std::string> models;
  std::size_t next = 0;
  for (Document& document : documents) {
    if (!document.vector) {
      models.push_back(made ? place.model : Catalog::kUnmade);
      document.vector = made ? std::move((*made)[next++]) : Vector();
      continue;
    }
    models.emplace_back();
    if (document.vector->size() != place.dimension)
      return fail(wrong_dimension(place.dimension, document.vector->size()));
    normalize(*document.vector);
  }
  return models;
}

// Belongs to a holder of writing_.
Result<void> Index::apply(const Place& place, Result<Catalog::Changes> changes) {
  if (!changes) return fail(std::move(changes).error());
  if (vector_delivery_) {
    vector_delivery_->deliver(kDeliveryWait);
    return {};
  }
  auto applied = vectors_->apply(place.dimension, *changes);
  // The catalog has them: a graph that could not take them is made from it again.
  if (!applied) TRY(vectors_->drop(place.id, place.dimension));
  return {};
}

Result<void> Index::put(const std::string& tenant, const std::string& collection,
                        std::vector<Document> documents, std::uint64_t room) {
  const Place place = TRY(place_to_write(tenant, collection));
  const auto models = TRY(make_vectors(place, documents));
  const std::lock_guard writing(writing_);
  TRY(apply(place, seen(catalog_->put(place, documents, models, room))));
  expect_vectors(models);
  return {};
}

void Index::expect_vectors(const std::vector<std::string>& models) {
  const auto count = static_cast<std::uint64_t>(std::ranges::count(models, Catalog::kUnmade));
  if (count == 0) return;
  const std::lock_guard lock(mutex_);
  if (stale_.doing.empty()) stale_ = {"making vectors", 0, 0, ""};
  stale_.total += count;
  expected_ += count;
}

std::uint64_t Index::bytes_of(const std::vector<Document>& documents) const {
  std::uint64_t sum = 0;
  for (const Document& one : documents)
    sum += Catalog::bytes_of(one, one.vector ? one.vector->size() : embedder_->dimension());
  return sum;
}

Result<std::uint64_t> Index::bytes_of(const std::string& tenant) const {
  return catalog_->bytes_of(tenant);
}

Result<std::uint64_t> Index::remove(const std::string& tenant, const std::string& collection,
                                    const std::vector<std::string>& ids) {
  const Place place = TRY(place_to_write(tenant, collection));
  const std::lock_guard writing(writing_);
  auto changes = TRY(seen(catalog_->remove(place, ids)));
  const std::uint64_t count = changes.size();
  TRY(apply(place, std::move(changes)));
  return count;
}

Result<std::vector<std::string>> Index::lacking(const std::string& tenant, const std::string& kind,
                                                const std::vector<std::string>& ids) {
  return catalog_->lacking(TRY(own_place(tenant)), kind, ids);
}

Result<void> Index::replace_kind(const std::string& tenant, const std::string& kind,
                                 std::vector<Document> documents) {
  const Place place = TRY(own_place(tenant));
  for (Document& document : documents) document.kind = kind;
  const auto models = TRY(make_vectors(place, documents));
  const std::lock_guard writing(writing_);
  TRY(apply(place, seen(catalog_->replace_kind(place, kind, documents, models))));
  expect_vectors(models);
  return {};
}

Result<Vector> Index::vector_of(const SearchRequest& request, Found& found) {
  if (request.vector) {
    Vector vector = *request.vector;
    normalize(vector);
    return vector;
  }
  if (request.query.empty()) return Vector();
  const std::string texts[] = {telling_words(request.query)};
  auto made = embedder_->embed(texts);
  if (made) return std::move(made->front());
  found.degraded_because = "found by words alone: " + made.error().message();
  return Vector();
}

// What words and vectors find, at most query.count by vectors, the best first.
Result<std::vector<Index::Ranked>> Index::ranked(const std::vector<Place>& places,
                                                 const SearchRequest& request, const VectorQuery& query,
                                                 Found& found) {
  const double trust = request.vector ? 1 : embedder_->trust();
  std::map<std::pair<std::uint64_t, const Place*>, double> ranks;
  for (const Place& one : places) {
    double rank = 0;
    for (const std::uint64_t number : TRY(catalog_->by_words(one, request, query, query.count * 4)))
      ranks[{number, &one}] += 1 / (kRankOffset + ++rank);
    // Where the caller makes the vectors, a text has none.
    const bool is_comparable = request.vector || one.model == embedder_->model();
    if (!is_comparable || query.vector.size() != one.dimension) continue;
    const auto near = vectors_->nearest(one.id, one.dimension, query);
    if (!near) {
      // A server makes a place for vectors with the first of them.
      if (near.error().code() == Code::not_found && TRY(catalog_->count(one)) == 0) continue;
      found.degraded_because = "found by words alone: " + near.error().message();
      continue;
    }
    rank = 0;
    for (const Neighbour& neighbour : *near)
      if (neighbour.likeness > kLikenessMin)
        ranks[{neighbour.number, &one}] += trust / (kRankOffset + ++rank);
  }
  std::vector<Ranked> order;
  for (const auto& [which, rank] : ranks)
    order.push_back({-rank * (kRankOffset + 1) / (1 + trust), which.first, which.second});
  std::ranges::sort(order);
  return order;
}

// As far as the request's page reaches.
Result<std::vector<Index::Ranked>> Index::ranked_pages(const std::vector<Place>& places,
                                                       const SearchRequest& request, VectorQuery query,
                                                       Found& found) {
  std::vector<Ranked> pages;
  std::set<std::pair<std::uint64_t, const Place*>> taken;
  for (const std::size_t window : kWindows) {
    query.count = window;
    for (Ranked one : TRY(ranked(places, request, query, found))) {
      if (pages.size() >= window) break;
      if (!taken.emplace(one.number, one.place).second) continue;
      if (!pages.empty()) one.rank = std::max(one.rank, pages.back().rank);
      pages.push_back(one);
    }
    if (pages.size() < window || request.limit + request.offset <= window) break;
  }
  return pages;
}

Result<Found> Index::search(const std::string& tenant, const std::string& collection,
                            const SearchRequest& request) {
  Found found;
  const Place place = TRY(place_to_write(tenant, collection));
  if (request.vector && request.vector->size() != place.dimension)
    return fail(wrong_dimension(place.dimension, request.vector->size()));
  VectorQuery query = conditions_of(request);
  query.vector = TRY(vector_of(request, found));
  std::vector<Place> places = {place};
  if (collection.empty() && !tenant.empty()) places.push_back(TRY(own_place("")));
  std::size_t skipped = 0;
  for (const Ranked& one : TRY(seen(ranked_pages(places, request, query, found)))) {
    if (found.hits.size() >= request.limit) break;
    auto hit = TRY(seen(catalog_->hit(*one.place, one.number, query)));
    if (!hit || skipped++ < request.offset) continue;
    hit->score = std::min(1.0, -one.rank);
    found.hits.push_back(std::move(*hit));
  }
  if (found.degraded_because.empty()) found.degraded_because = degraded_because();
  return found;
}

Result<void> Index::relate(const std::string& tenant, const std::vector<Edge>& edges, Origin origin) {
  if (edges.empty()) return {};
  TRY(seen(catalog_->relate(tenant, edges, origin)));
  if (graph_delivery_) graph_delivery_->deliver(kDeliveryWait);
  return {};
}

Result<std::uint64_t> Index::unrelate(const std::string& tenant, const std::vector<Edge>& edges) {
  const std::uint64_t count = TRY(seen(catalog_->unrelate(tenant, edges)));
  if (graph_delivery_) graph_delivery_->deliver(kDeliveryWait);
  return count;
}

// Whatever the server lacks, the catalog has.
Result<GraphAnswer> Index::walk(const std::string& tenant, const GraphQuery& query) {
  std::string because = graph_delivery_ ? graph_delivery_->state().degraded_because : "";
  if (because.empty()) {
    auto answer = seen(index::walk(*graph_, tenant, query));
    if (answer || !graph_delivery_) return answer;
    because = answer.error().message();
  }
  GraphAnswer answer = TRY(seen(index::walk(*stored_graph_, tenant, query)));
  answer.degraded_because = "answered from the catalog: " + because;
  return answer;
}

Result<void> Index::forget_tenant(const std::string& tenant) {
  const std::lock_guard writing(writing_);
  const auto places = TRY(catalog_->places());
  TRY(catalog_->forget_tenant(tenant));
  if (vector_delivery_) vector_delivery_->deliver(kDeliveryWait);
  if (graph_delivery_) graph_delivery_->deliver(kDeliveryWait);
  if (vector_delivery_) return {};
  for (const Place& place : places)
    if (place.tenant == tenant) TRY(vectors_->drop(place.id, place.dimension));
  return {};
}

Result<std::vector<std::string>> Index::tenants() {
  std::vector<std::string> all;
  for (Place& place : TRY(catalog_->places()))
    if (place.name.empty()) all.push_back(std::move(place.tenant));
  return all;
}

Result<std::vector<Catalog::Named>> Index::named_after(const std::string& tenant, const std::string& kind,
                                                       const std::string& after, std::size_t count) {
  return seen(catalog_->named_after(TRY(own_place(tenant)), kind, after, count));
}

Result<void> Index::forget(const std::string& tenant, const std::string& kind,
                           const std::vector<std::string>& ids) {
  TRY(remove(tenant, "", ids));
  std::vector<Node> nodes;
  for (const std::string& id : ids) nodes.push_back({kind, id});
  TRY(seen(catalog_->forget_nodes(tenant, nodes)));
  if (graph_delivery_) graph_delivery_->deliver(kDeliveryWait);
  return {};
}

void Index::set_headers(std::optional<Headers> qdrant, std::optional<Headers> neo4j) {
  if (qdrant && vector_link_) vector_link_->set_headers(std::move(*qdrant));
  if (neo4j && graph_link_) graph_link_->set_headers(std::move(*neo4j));
}

std::string Index::graph_degraded_because() {
  return graph_delivery_ ? graph_delivery_->state().degraded_because : "";
}

std::string Index::degraded_because() {
  std::string because;
  if (vector_delivery_) because = vector_delivery_->state().degraded_because;
  const std::lock_guard lock(mutex_);
  if (is_damage_noted_) return "the catalog is damaged; it is made anew at the next start";
  if (!because.empty() || stale_.doing.empty()) return because;
  return fmt::format("{}: {} of {}{}{}", stale_.doing, stale_.done, stale_.total,
                     stale_.failure.empty() ? "" : "; ", stale_.failure);
}

}  // namespace atl::index
