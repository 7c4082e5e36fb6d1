#include "index/index.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <cstring>
#include <functional>
#include <set>

#include "base/bytes.h"
#include "base/json.h"
#include "base/log.h"
#include "base/utf8.h"
#include "os/file.h"

namespace atl::index {
namespace {

constexpr const char* kSchema = R"sql(
CREATE TABLE IF NOT EXISTS collections (tenant TEXT, name TEXT, dimension INTEGER, model TEXT, created INTEGER,
  change INTEGER DEFAULT 0, PRIMARY KEY (tenant, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY, tenant TEXT, collection TEXT, kind TEXT, id TEXT,
  title TEXT, body TEXT, payload TEXT, vector TEXT, UNIQUE (tenant, collection, kind, id));
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(title, body, tokenize='porter unicode61');
CREATE TABLE IF NOT EXISTS graphs (tenant TEXT, collection TEXT, change INTEGER, digest TEXT,
  PRIMARY KEY (tenant, collection)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edges (tenant TEXT, from_kind TEXT, from_id TEXT, type TEXT, to_kind TEXT, to_id TEXT,
  PRIMARY KEY (tenant, from_kind, from_id, type, to_kind, to_id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edges_back ON edges (tenant, to_kind, to_id);
)sql";

constexpr std::size_t kSnippetBytes = 240;
constexpr double kRankOffset = 60;  // of reciprocal rank fusion: what stands first in both lists wins

std::string bytes_of(const Vector& vector) {
  return {reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)};
}

Vector vector_of(const std::string& bytes) {
  Vector vector(bytes.size() / sizeof(float));
  std::memcpy(vector.data(), bytes.data(), vector.size() * sizeof(float));
  return vector;
}

// Words in quotes, any of them: nothing of the caller's is an operator of the search language.
std::string words_query(std::string_view text) {
  std::string query, word;
  std::size_t count = 0;
  const auto finish = [&] {
    if (!word.empty() && ++count <= 32) query += fmt::format("{}\"{}\"", query.empty() ? "" : " OR ", word);
    word.clear();
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      word += c;
    } else {
      finish();
    }
  }
  finish();
  return query;
}

std::string snippet_of(const std::string& body) {
  if (body.size() <= kSnippetBytes) return body;
  return to_valid_utf8(body.substr(0, kSnippetBytes)) + "…";
}

// How many of each list are looked at: the same for all pages of a hundred, so that pages do not overlap.
std::size_t window_of(const SearchRequest& request) {
  return (request.limit + request.offset + 99) / 100 * 100;
}

bool passes(const std::string& payload, const std::map<std::string, std::string>& filter) {
  if (filter.empty()) return true;
  const auto parsed = json::parse(payload);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return false;
  return std::ranges::all_of(filter, [&](const auto& wanted) {
    const auto* value = object->if_contains(wanted.first);
    return value != nullptr && boost::json::serialize(*value) == wanted.second;
  });
}

}  // namespace

Result<std::unique_ptr<Index>> Index::open(Options options, std::unique_ptr<Embedder> embedder) {
  std::string path = ":memory:";
  if (!options.directory.empty()) {
    TRY(os::make_directories(options.directory, 0700));
    path = options.directory + "/index.db";
  }
  store::Connection database = TRY(store::Connection::open(path, store::Access::read_write));
  TRY(database.script(kSchema));
  return std::unique_ptr<Index>(new Index(std::move(options), std::move(embedder), std::move(database)));
}

Index::~Index() {
  if (options_.directory.empty()) return;
  for (const auto& [place, graph] : graphs_) {
    if (!graph.is_changed) continue;
    if (auto stored = store_graph(place, *graph.vectors); !stored)
      log::warn("vectors are made anew at the next start", {{"error", stored.error().message()}});
  }
}

std::string Index::path_of(const Place& place) const {
  return fmt::format("{}/{}.hnsw", options_.directory,
                     to_hex(sha256(place.first + std::string(1, '\0') + place.second)).substr(0, 32));
}

Result<void> Index::in_transaction(const std::function<Result<void>()>& work) {
  TRY(database_.run("BEGIN IMMEDIATE"));
  auto done = work();
  if (done) {
    if (auto committed = database_.run("COMMIT"); committed)
      return {};
    else
      done = fail(committed.error());
  }
  if (database_.in_transaction()) (void)database_.run("ROLLBACK");
  // What the graphs were told is not in the database: they are made from it again when they are needed.
  graphs_.clear();
  return done;
}

// The service's own collection has the embedder's dimension; vectors of another model are none of it.
Result<std::size_t> Index::dimension_of(const Place& place) const {
  if (place.second.empty()) return embedder_->dimension();
  std::size_t dimension = 0;
  TRY(database_.query(
      "SELECT dimension FROM collections WHERE tenant=?1 AND name=?2",
      [&](const store::Row& row) { dimension = static_cast<std::size_t>(row.integer(0)); }, place.first,
      place.second));
  if (dimension == 0)
    return fail(Code::not_found, fmt::format("no collection is called '{}': make it first", place.second));
  return dimension;
}

Result<std::unique_ptr<VectorIndex>> Index::build_graph(const Place& place, std::size_t dimension) const {
  auto vectors = std::make_unique<VectorIndex>(dimension);
  Result<void> put{};
  TRY(database_.query(
      "SELECT number, vector FROM documents WHERE tenant=?1 AND collection=?2 AND vector IS NOT NULL",
      [&](const store::Row& row) {
        const Vector vector = vector_of(row.text(1));
        if (put && vector.size() == dimension)
          put = vectors->put(static_cast<std::uint64_t>(row.integer(0)), vector);
      },
      place.first, place.second));
  TRY(std::move(put));
  return vectors;
}

// A file is good if it is the one that was written for this very state of the collection.
Result<std::unique_ptr<VectorIndex>> Index::load_graph(const Place& place, std::size_t dimension) const {
  std::string digest;
  TRY(database_.query(
      "SELECT graphs.digest FROM graphs JOIN collections ON collections.tenant=graphs.tenant AND "
      "collections.name=graphs.collection AND collections.change=graphs.change WHERE graphs.tenant=?1 AND "
      "graphs.collection=?2",
      [&](const store::Row& row) { digest = row.text(0); }, place.first, place.second));
  if (digest.empty()) return fail(Code::not_found, "nothing is stored");
  const std::string path = path_of(place);
  const std::string bytes = TRY(os::read_file(path, std::size_t(16) << 30));
  if (to_hex(sha256(bytes)) != digest) return fail(Code::data_loss, "the stored vectors are damaged");
  return VectorIndex::load(path, dimension);
}

Result<void> Index::store_graph(const Place& place, const VectorIndex& vectors) {
  const std::string path = path_of(place);
  TRY(vectors.save(path));
  const std::string bytes = TRY(os::read_file(path, std::size_t(16) << 30));
  TRY(
      database_.run("INSERT OR REPLACE INTO graphs SELECT tenant, name, change, ?3 FROM collections WHERE "
                    "tenant=?1 AND name=?2",
                    place.first, place.second, to_hex(sha256(bytes))));
  return {};
}

Result<VectorIndex*> Index::graph_of(const Place& place) {
  const auto found = graphs_.find(place);
  if (found != graphs_.end()) return found->second.vectors.get();
  const std::size_t dimension = TRY(dimension_of(place));
  Graph graph;
  auto loaded = options_.directory.empty() ? fail(Code::not_found, "") : load_graph(place, dimension);
  if (loaded) {
    graph.vectors = std::move(*loaded);
  } else {
    graph.vectors = TRY(build_graph(place, dimension));
    graph.is_changed = graph.vectors->size() > 0;
  }
  return graphs_.emplace(place, std::move(graph)).first->second.vectors.get();
}

Result<Collection> Index::make_collection(const std::string& tenant, const std::string& name,
                                          std::size_t dimension) {
  if (dimension == 0) dimension = embedder_->dimension();
  {
    const std::lock_guard lock(mutex_);
    const auto there = dimension_of({tenant, name});
    if (there && *there != dimension)
      return fail(
          Error(Code::conflict, fmt::format("collection '{}' has vectors of {} numbers", name, *there))
              .with_field("dimension"));
    if (!there) {
      std::uint64_t count = 0;
      TRY(database_.query(
          "SELECT count(*) FROM collections WHERE tenant=?1 AND name<>''",
          [&](const store::Row& row) { count = static_cast<std::uint64_t>(row.integer(0)); }, tenant));
      if (count >= options_.collections_max)
        return fail(Code::resource_exhausted,
                    fmt::format("a tenant has at most {} collections", options_.collections_max));
      const bool is_ours = dimension == embedder_->dimension();
      TRY(database_.run(
          "INSERT INTO collections (tenant, name, dimension, model, created) VALUES (?1,?2,?3,?4,?5)", tenant,
          name, dimension, is_ours ? std::string(embedder_->model()) : std::string(), options_.clock->now()));
    }
  }
  return collection(tenant, name);
}

Result<std::vector<Collection>> Index::collections(const std::string& tenant) const {
  const std::lock_guard lock(mutex_);
  std::vector<Collection> all;
  TRY(database_.query(
      "SELECT name, model, dimension, created, (SELECT count(*) FROM documents WHERE tenant=?1 AND "
      "collection=name) FROM "
      "collections WHERE tenant=?1 AND name<>'' ORDER BY name",
      [&](const store::Row& row) {
        all.push_back({row.text(0), row.text(1), static_cast<std::size_t>(row.integer(2)),
                       static_cast<std::uint64_t>(row.integer(4)), row.time(3)});
      },
      tenant));
  return all;
}

Result<Collection> Index::collection(const std::string& tenant, const std::string& name) const {
  auto all = TRY(collections(tenant));
  for (Collection& one : all)
    if (one.name == name) return std::move(one);
  return fail(Code::not_found, fmt::format("no collection is called '{}'", name));
}

Result<void> Index::drop_collection(const std::string& tenant, const std::string& name) {
  const std::lock_guard lock(mutex_);
  TRY(dimension_of({tenant, name}));
  auto work = [&]() -> Result<void> {
    TRY(database_.run(
        "DELETE FROM words WHERE rowid IN (SELECT number FROM documents WHERE tenant=?1 AND collection=?2)",
        tenant, name));
    TRY(database_.run("DELETE FROM documents WHERE tenant=?1 AND collection=?2", tenant, name));
    TRY(database_.run("DELETE FROM graphs WHERE tenant=?1 AND collection=?2", tenant, name));
    TRY(database_.run("DELETE FROM collections WHERE tenant=?1 AND name=?2", tenant, name));
    return {};
  };
  TRY(in_transaction(work));
  graphs_.erase({tenant, name});
  if (!options_.directory.empty()) ::unlink(path_of({tenant, name}).c_str());
  return {};
}

Result<void> Index::remove_one(const Place& place, std::int64_t number) {
  TRY(database_.run("DELETE FROM words WHERE rowid=?1", number));
  TRY(database_.run("DELETE FROM documents WHERE number=?1", number));
  VectorIndex* vectors = TRY(graph_of(place));
  vectors->remove(static_cast<std::uint64_t>(number));
  return {};
}

Result<void> Index::put_locked(const Place& place, const std::vector<Document>& documents) {
  VectorIndex* vectors = TRY(graph_of(place));
  for (const Document& document : documents) {
    std::optional<std::int64_t> before;
    TRY(database_.query(
        "SELECT number FROM documents WHERE tenant=?1 AND collection=?2 AND kind=?3 AND id=?4",
        [&](const store::Row& row) { before = row.integer(0); }, place.first, place.second, document.kind,
        document.id));
    if (before) TRY(remove_one(place, *before));
    TRY(
        database_.run("INSERT INTO documents (tenant, collection, kind, id, title, body, payload, vector) "
                      "VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
                      place.first, place.second, document.kind, document.id, document.title, document.body,
                      document.payload, bytes_of(*document.vector)));
    std::int64_t number = 0;
    TRY(database_.query("SELECT last_insert_rowid()",
                        [&](const store::Row& row) { number = row.integer(0); }));
    TRY(database_.run("INSERT INTO words (rowid, title, body) VALUES (?1,?2,?3)", number, document.title,
                      document.body));
    TRY(vectors->put(static_cast<std::uint64_t>(number), *document.vector));
  }
  TRY(database_.run("UPDATE collections SET change=change+1 WHERE tenant=?1 AND name=?2", place.first,
                    place.second));
  graphs_[place].is_changed = true;
  if (vectors->is_worn()) graphs_.erase(place);  // made from the database when it is needed
  return {};
}

Result<void> Index::put(const std::string& tenant, const std::string& collection,
                        std::vector<Document> documents) {
  const Place place{tenant, collection};
  std::size_t dimension = 0;
  {
    const std::lock_guard lock(mutex_);
    dimension = TRY(dimension_of(place));
  }
  // Vectors are made without the lock: a model may take its time.
  std::vector<std::string> texts;
  for (const Document& document : documents)
    if (!document.vector) texts.push_back(document.title + "\n" + document.body);
  if (!texts.empty() && dimension != embedder_->dimension())
    return fail(Error(Code::invalid_argument,
                      fmt::format("the collection has vectors of {} numbers, which only the caller can make",
                                  dimension))
                    .with_field("vector"));
  std::vector<Vector> made;
  if (!texts.empty()) made = TRY(embedder_->embed(texts));
  std::size_t next = 0;
  for (Document& document : documents) {
    if (!document.vector) {
      document.vector = std::move(made[next++]);
      continue;
    }
    if (document.vector->size() != dimension)
      return fail(Error(Code::invalid_argument, fmt::format("vectors of {} numbers are wanted, got {}",
                                                            dimension, document.vector->size()))
                      .with_field("vector"));
    normalize(*document.vector);
  }
  const std::lock_guard lock(mutex_);
  return in_transaction([&]() -> Result<void> {
    TRY(put_locked(place, documents));
    return forget_oldest(place);
  });
}

Result<void> Index::forget_oldest(const Place& place) {
  if (!place.second.empty()) {
    std::uint64_t count = 0;
    TRY(database_.query(
        "SELECT count(*) FROM documents WHERE tenant=?1 AND collection=?2",
        [&](const store::Row& row) { count = static_cast<std::uint64_t>(row.integer(0)); }, place.first,
        place.second));
    if (count > options_.points_max)
      return fail(Code::no_space, fmt::format("a collection holds at most {} points", options_.points_max));
    return {};
  }
  std::vector<std::int64_t> oldest;
  TRY(database_.query(
      "SELECT number FROM (SELECT number, row_number() OVER (PARTITION BY kind ORDER BY number DESC) AS age "
      "FROM documents "
      "WHERE tenant=?1 AND collection='') WHERE age>?2",
      [&](const store::Row& row) { oldest.push_back(row.integer(0)); }, place.first,
      static_cast<std::int64_t>(options_.documents_max)));
  for (const std::int64_t number : oldest) TRY(remove_one(place, number));
  return {};
}

Result<std::uint64_t> Index::remove(const std::string& tenant, const std::string& collection,
                                    const std::vector<std::string>& ids) {
  const std::lock_guard lock(mutex_);
  const Place place{tenant, collection};
  TRY(dimension_of(place));
  std::uint64_t count = 0;
  auto work = [&]() -> Result<void> {
    for (const std::string& id : ids) {
      std::vector<std::int64_t> numbers;
      TRY(database_.query(
          "SELECT number FROM documents WHERE tenant=?1 AND collection=?2 AND id=?3",
          [&](const store::Row& row) { numbers.push_back(row.integer(0)); }, tenant, collection, id));
      for (const std::int64_t number : numbers) TRY(remove_one(place, number));
      count += numbers.size();
    }
    TRY(database_.run("UPDATE collections SET change=change+1 WHERE tenant=?1 AND name=?2", tenant,
                      collection));
    graphs_[place].is_changed = true;
    return {};
  };
  TRY(in_transaction(work));
  return count;
}

Result<void> Index::replace_kind(const std::string& tenant, const std::string& kind,
                                 std::vector<Document> documents) {
  {
    const std::lock_guard lock(mutex_);
    const Place place{tenant, ""};
    auto work = [&]() -> Result<void> {
      std::vector<std::int64_t> numbers;
      TRY(database_.query(
          "SELECT number FROM documents WHERE tenant=?1 AND collection='' AND kind=?2",
          [&](const store::Row& row) { numbers.push_back(row.integer(0)); }, tenant, kind));
      for (const std::int64_t number : numbers) TRY(remove_one(place, number));
      return {};
    };
    TRY(in_transaction(work));
  }
  for (Document& document : documents) document.kind = kind;
  return put(tenant, "", std::move(documents));
}

Result<void> Index::rank_by_words(const Place& place, const SearchRequest& request,
                                  std::map<std::int64_t, double>& ranks) const {
  const std::string query = words_query(request.query);
  if (query.empty()) return {};
  double rank = 0;
  const std::size_t wanted = window_of(request) * 4;
  return database_.query(
      "SELECT words.rowid FROM words JOIN documents ON documents.number=words.rowid WHERE words MATCH ?1 AND "
      "documents.tenant=?2 AND documents.collection=?3 ORDER BY bm25(words, 4.0, 1.0) LIMIT ?4",
      [&](const store::Row& row) { ranks[row.integer(0)] += 1 / (kRankOffset + ++rank); }, query, place.first,
      place.second, wanted);
}

Result<void> Index::rank_by_likeness(const Place& place, const SearchRequest& request, const Vector& vector,
                                     std::map<std::int64_t, double>& ranks) {
  VectorIndex* vectors = TRY(graph_of(place));
  // With conditions more are asked for, because some will not fulfil them.
  std::size_t wanted = window_of(request);
  if (!request.filter.empty() || !request.kinds.empty()) wanted = wanted * 10 + 200;
  double rank = 0;
  for (const auto& neighbour : vectors->nearest(vector, wanted)) {
    if (neighbour.likeness <= 0.01F) break;  // nothing in common
    ranks[static_cast<std::int64_t>(neighbour.number)] += 1 / (kRankOffset + ++rank);
  }
  return {};
}

Result<std::optional<Hit>> Index::hit_of(std::int64_t number, const SearchRequest& request) const {
  std::optional<Hit> hit;
  TRY(database_.query(
      "SELECT kind, id, title, body, payload FROM documents WHERE number=?1",
      [&](const store::Row& row) {
        hit = Hit{row.text(0), row.text(1), row.text(2), snippet_of(row.text(3)), row.text(4), 0};
      },
      number));
  const bool is_wanted =
      hit && (request.kinds.empty() || std::ranges::find(request.kinds, hit->kind) != request.kinds.end());
  if (!is_wanted || !passes(hit->payload, request.filter)) return std::optional<Hit>();
  return hit;
}

Result<Found> Index::search(const std::string& tenant, const std::string& collection,
                            const SearchRequest& request) {
  Found found;
  std::optional<Vector> vector = request.vector;
  if (vector) normalize(*vector);
  if (!vector && !request.query.empty()) {
    const std::string texts[] = {request.query};
    auto made = embedder_->embed(texts);
    if (made)
      vector = std::move(made->front());
    else
      found.degraded_because = "found by words alone: " + made.error().message();
  }
  const std::lock_guard lock(mutex_);
  std::vector<Place> places = {{tenant, collection}};
  if (collection.empty() && !tenant.empty()) places.push_back({"", ""});
  std::map<std::int64_t, double> ranks;
  for (const Place& place : places) {
    const std::size_t dimension = TRY(dimension_of(place));
    if (request.vector && request.vector->size() != dimension)
      return fail(Error(Code::invalid_argument, fmt::format("a vector of {} numbers is wanted", dimension))
                      .with_field("vector"));
    TRY(rank_by_words(place, request, ranks));
    if (vector && vector->size() == dimension) TRY(rank_by_likeness(place, request, *vector, ranks));
  }
  std::vector<std::pair<double, std::int64_t>> order;
  for (const auto& [number, rank] : ranks) order.emplace_back(-rank, number);
  std::ranges::sort(order);
  std::size_t skipped = 0;
  for (const auto& [rank, number] : order) {
    if (found.hits.size() >= request.limit) break;
    auto hit = TRY(hit_of(number, request));
    if (!hit || skipped++ < request.offset) continue;
    hit->score = std::min(1.0, -rank * (kRankOffset + 1) / 2);
    found.hits.push_back(std::move(*hit));
  }
  return found;
}

Result<void> Index::relate(const std::string& tenant, const std::vector<Edge>& edges) {
  const std::lock_guard lock(mutex_);
  return in_transaction([&]() -> Result<void> {
    for (const Edge& edge : edges)
      TRY(database_.run("INSERT OR IGNORE INTO edges VALUES (?1,?2,?3,?4,?5,?6)", tenant, edge.from.kind,
                        edge.from.id, edge.type, edge.to.kind, edge.to.id));
    return {};
  });
}

Result<std::uint64_t> Index::unrelate(const std::string& tenant, const std::vector<Edge>& edges) {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  auto work = [&]() -> Result<void> {
    for (const Edge& edge : edges)
      count += static_cast<std::uint64_t>(
          TRY(database_.run("DELETE FROM edges WHERE tenant=?1 AND from_kind=?2 AND from_id=?3 AND type=?4 "
                            "AND to_kind=?5 AND to_id=?6",
                            tenant, edge.from.kind, edge.from.id, edge.type, edge.to.kind, edge.to.id)));
    return {};
  };
  TRY(in_transaction(work));
  return count;
}

Result<GraphAnswer> Index::walk(const std::string& tenant, const GraphQuery& query) const {
  const std::lock_guard lock(mutex_);
  GraphAnswer answer;
  answer.nodes.push_back(query.from);
  std::set<Node> known = {query.from};
  std::set<Edge> edges;
  std::vector<Node> front = {query.from};
  for (std::size_t step = 0; step < std::min(query.depth, kDepthMax) && !front.empty(); ++step) {
    std::vector<Node> next;
    const auto take = [&](const Edge& edge, const Node& other) {
      const bool is_wanted =
          query.types.empty() || std::ranges::find(query.types, edge.type) != query.types.end();
      if (!is_wanted) return;
      if (!known.contains(other)) {
        if (known.size() >= query.nodes_max) {
          answer.truncated = true;
          return;
        }
        known.insert(other);
        answer.nodes.push_back(other);
        next.push_back(other);
      }
      edges.insert(edge);
    };
    for (const Node& node : front) {
      const auto limit = static_cast<std::int64_t>(query.nodes_max + 1);
      TRY(database_.query(
          "SELECT type, to_kind, to_id FROM edges WHERE tenant=?1 AND from_kind=?2 AND from_id=?3 LIMIT ?4",
          [&](const store::Row& row) {
            const Node other{row.text(1), row.text(2)};
            take({node, other, row.text(0)}, other);
          },
          tenant, node.kind, node.id, limit));
      TRY(database_.query(
          "SELECT type, from_kind, from_id FROM edges WHERE tenant=?1 AND to_kind=?2 AND to_id=?3 LIMIT ?4",
          [&](const store::Row& row) {
            const Node other{row.text(1), row.text(2)};
            take({other, node, row.text(0)}, other);
          },
          tenant, node.kind, node.id, limit));
    }
    front = std::move(next);
  }
  answer.edges.assign(edges.begin(), edges.end());
  return answer;
}

Result<void> Index::forget_tenant(const std::string& tenant) {
  const auto all = TRY(collections(tenant));
  for (const Collection& one : all) TRY(drop_collection(tenant, one.name));
  const std::lock_guard lock(mutex_);
  graphs_.erase({tenant, ""});
  return in_transaction([&]() -> Result<void> {
    TRY(database_.run("DELETE FROM words WHERE rowid IN (SELECT number FROM documents WHERE tenant=?1)",
                      tenant));
    TRY(database_.run("DELETE FROM documents WHERE tenant=?1", tenant));
    TRY(database_.run("DELETE FROM edges WHERE tenant=?1", tenant));
    return {};
  });
}

Result<std::uint64_t> Index::rebuild() {
  const std::lock_guard lock(mutex_);
  std::vector<Place> places;
  TRY(database_.query("SELECT DISTINCT tenant, collection FROM documents",
                      [&](const store::Row& row) { places.emplace_back(row.text(0), row.text(1)); }));
  std::uint64_t count = 0;
  std::map<Place, Graph> made;
  for (const Place& place : places) {
    const std::size_t dimension = TRY(dimension_of(place));
    Graph graph;
    graph.vectors = TRY(build_graph(place, dimension));
    graph.is_changed = true;
    count += graph.vectors->size();
    made.emplace(place, std::move(graph));
  }
  graphs_ = std::move(made);
  return count;
}

}  // namespace atl::index
