#include "index/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>
#include <cctype>
#include <cstring>
#include <random>

#include "base/bytes.h"
#include "base/json.h"
#include "base/utf8.h"
#include "index/catalog_schema.h"
#include "index/member_words.h"
#include "index/query_words.h"

namespace atl::index {
namespace {

constexpr std::size_t kSnippetBytes = 240;

std::string text_of(const Vector& vector) {
  return {reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)};
}

Vector vector_of(const std::string& bytes) {
  Vector vector(bytes.size() / sizeof(float));
  std::memcpy(vector.data(), bytes.data(), vector.size() * sizeof(float));
  return vector;
}

// Words in quotes, any of them: nothing of the caller's is an operator of the search language. The place is
// a word as well, so that other places' documents are never looked at.
std::string words_query(PlaceId place, std::string_view text) {
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
  return query.empty() ? query : fmt::format("place:p{} AND {{title body}}:({})", place, query);
}

std::string snippet_of(const std::string& body) {
  if (body.size() <= kSnippetBytes) return body;
  return to_valid_utf8(body.substr(0, kSnippetBytes)) + "…";
}

Place place_of(const store::Row& row) {
  return {row.integer(0), row.text(1), row.text(2), row.text(3), static_cast<std::size_t>(row.integer(4))};
}

// What fulfils the conditions: ?1 the place, ?2 kinds and ?3 members, both as JSON lists.
constexpr std::string_view kConditions =
    "documents.place=?1 AND (?2='[]' OR documents.kind IN (SELECT value FROM json_each(?2))) AND NOT EXISTS "
    "(SELECT 1 FROM json_each(?3) AS wanted WHERE NOT EXISTS (SELECT 1 FROM members WHERE members.place=?1 "
    "AND members.member=wanted.value AND members.number=documents.number))";

std::string random_id() {
  std::random_device dice;
  return fmt::format("{:08x}{:08x}", dice(), dice());
}

}  // namespace

std::string json_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ",") + json::quoted(text);
  return "[" + list + "]";
}

Result<std::unique_ptr<Catalog>> Catalog::open(const std::string& path, CatalogLimits limits,
                                               Servers servers) {
  store::Connection database = TRY(store::Connection::open(path, store::Access::read_write));
  TRY(bring_up_schema(database));
  auto catalog = std::unique_ptr<Catalog>(new Catalog(std::move(database), limits, servers));
  catalog->id_ = TRY(catalog->note("id"));
  if (catalog->id_.empty()) {
    catalog->id_ = random_id();
    TRY(catalog->set_note("id", catalog->id_));
  }
  return catalog;
}

bool Catalog::is_sound() {
  const std::lock_guard lock(mutex_);
  std::string found;
  const auto done =
      database_.query("PRAGMA quick_check(1)", [&](const store::Row& row) { found = row.text(0); });
  return done && found == "ok";
}

Result<void> Catalog::in_transaction(const std::function<Result<void>()>& work) {
  TRY(database_.run("BEGIN IMMEDIATE"));
  auto done = work();
  if (done) {
    auto committed = database_.run("COMMIT");
    if (committed) return {};
    done = fail(committed.error());
  }
  if (database_.in_transaction()) (void)database_.run("ROLLBACK");
  edge_counts_.clear();
  counts_.clear();
  return done;
}

Result<std::int64_t> Catalog::one_number(std::string_view sql, std::int64_t argument) {
  std::int64_t number = 0;
  TRY(database_.query(
      sql, [&](const store::Row& row) { number = row.integer(0); }, argument));
  return number;
}

Result<Place> Catalog::place(const std::string& tenant, const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::optional<Place> found;
  TRY(database_.query(
      "SELECT id, tenant, name, model, dimension FROM places WHERE tenant=?1 AND name=?2",
      [&](const store::Row& row) { found = place_of(row); }, tenant, name));
  if (!found) return fail(Code::not_found, fmt::format("no collection is called '{}': make it first", name));
  return std::move(*found);
}

Result<Place> Catalog::make_place(const std::string& tenant, const std::string& name,
                                  const std::string& model, std::size_t dimension, WallTime now) {
  if (auto there = place(tenant, name); there || there.error().code() != Code::not_found) return there;
  {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    TRY(database_.query(
        "SELECT count(*) FROM places WHERE tenant=?1 AND name<>''",
        [&](const store::Row& row) { count = static_cast<std::uint64_t>(row.integer(0)); }, tenant));
    if (!name.empty() && count >= limits_.collections_max)
      return fail(Code::resource_exhausted,
                  fmt::format("a tenant has at most {} collections", limits_.collections_max));
    TRY(database_.run(
        "INSERT OR IGNORE INTO places (tenant, name, model, dimension, created) VALUES (?1,?2,?3,?4,?5)",
        tenant, name, model, dimension, now));
  }
  return place(tenant, name);
}

Result<std::vector<Place>> Catalog::places() {
  const std::lock_guard lock(mutex_);
  std::vector<Place> all;
  TRY(database_.query("SELECT id, tenant, name, model, dimension FROM places ORDER BY id",
                      [&](const store::Row& row) { all.push_back(place_of(row)); }));
  return all;
}

Result<std::vector<Collection>> Catalog::collections(const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  std::vector<Collection> all;
  TRY(database_.query(
      "SELECT name, model, dimension, created, (SELECT count(*) FROM documents WHERE place=places.id) FROM "
      "places WHERE tenant=?1 AND name<>'' ORDER BY name",
      [&](const store::Row& row) {
        all.push_back({row.text(0), row.text(1), static_cast<std::size_t>(row.integer(2)),
                       static_cast<std::uint64_t>(row.integer(4)), row.time(3)});
      },
      tenant));
  return all;
}

Result<void> Catalog::remove_all_of(const Place& place) {
  TRY(database_.run("DELETE FROM words WHERE rowid IN (SELECT number FROM documents WHERE place=?1)",
                    place.id));
  TRY(database_.run("DELETE FROM members WHERE place=?1", place.id));
  TRY(database_.run("DELETE FROM documents WHERE place=?1", place.id));
  TRY(database_.run("DELETE FROM places WHERE id=?1", place.id));
  if (!servers_.vectors) return {};
  TRY(database_.run("INSERT INTO waiting_vectors (place, dimension, number) VALUES (?1,?2,0)", place.id,
                    place.dimension));
  return {};
}

Result<void> Catalog::drop_place(const Place& place) {
  const std::lock_guard lock(mutex_);
  return in_transaction([&] { return remove_all_of(place); });
}

Result<void> Catalog::set_model(const Place& place, const std::string& model, std::size_t dimension) {
  const std::lock_guard lock(mutex_);
  return in_transaction([&]() -> Result<void> {
    if (servers_.vectors)
      TRY(database_.run("INSERT INTO waiting_vectors (place, dimension, number) VALUES (?1,?2,0)", place.id,
                        place.dimension));
    TRY(database_.run("UPDATE places SET model=?2, dimension=?3 WHERE id=?1", place.id, model, dimension));
    return {};
  });
}

Result<void> Catalog::remove_number(const Place& place, std::uint64_t number, const std::string& kind,
                                    Changes& changes) {
  TRY(database_.run("DELETE FROM words WHERE rowid=?1", number));
  TRY(database_.run("DELETE FROM members WHERE place=?1 AND number=?2", place.id, number));
  TRY(database_.run("UPDATE places SET bytes=bytes-(SELECT bytes FROM documents WHERE number=?2) WHERE id=?1",
                    place.id, number));
  TRY(database_.run("DELETE FROM documents WHERE number=?1", number));
  TRY(add_to_count(place, kind, -1));
  changes.push_back({place.id, number});
  return {};
}

// Counted once and kept: counting a million documents for every one that comes would take longer than all
// the rest.
Result<std::uint64_t> Catalog::add_to_count(const Place& place, const std::string& kind, int change) {
  const auto key = std::pair(place.id, kind);
  auto known = counts_.find(key);
  if (known == counts_.end()) {
    std::int64_t count = 0;
    TRY(database_.query(
        "SELECT count(*) FROM documents WHERE place=?1 AND kind=?2",
        [&](const store::Row& row) { count = row.integer(0); }, place.id, kind));
    known = counts_.emplace(key, static_cast<std::uint64_t>(count)).first;  // the change is in it
  } else {
    known->second = static_cast<std::uint64_t>(static_cast<std::int64_t>(known->second) + change);
  }
  return known->second;
}

Result<void> Catalog::insert(const Place& place, const Document& document, const std::string& model,
                             Changes& changes) {
  std::int64_t before = 0;
  TRY(database_.query(
      "SELECT number FROM documents WHERE place=?1 AND kind=?2 AND id=?3",
      [&](const store::Row& row) { before = row.integer(0); }, place.id, document.kind, document.id));
  if (before != 0) TRY(remove_number(place, static_cast<std::uint64_t>(before), document.kind, changes));
  const std::uint64_t bytes = bytes_of(document, document.vector->size());
  TRY(database_.run(
      "INSERT INTO documents (place, kind, id, title, body, payload, model, dimension, vector, bytes) "
      "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
      place.id, document.kind, document.id, document.title, document.body, document.payload, model,
      document.vector->size(), text_of(*document.vector), bytes));
  TRY(database_.run("UPDATE places SET bytes=bytes+?2 WHERE id=?1", place.id, bytes));
  const std::uint64_t count = TRY(add_to_count(place, document.kind, 1));
  if (!place.name.empty() && count > limits_.points_max)
    return fail(Code::no_space, fmt::format("a collection holds at most {} points", limits_.points_max));
  const auto number = static_cast<std::uint64_t>(TRY(one_number("SELECT last_insert_rowid() WHERE ?1=0")));
  TRY(database_.run("INSERT INTO words (rowid, place, title, body) VALUES (?1,?2,?3,?4)", number,
                    fmt::format("p{}", place.id), document.title, document.body));
  VectorChange change{place.id, number, document.vector, document.kind, members_of(document.payload)};
  for (const std::string& member : change.members)
    TRY(database_.run("INSERT OR IGNORE INTO members (place, member, number) VALUES (?1,?2,?3)", place.id,
                      member, number));
  if (!document.vector->empty()) changes.push_back(std::move(change));
  return {};
}

// Of the service's own documents the oldest of a kind go first.
Result<void> Catalog::keep_bounds(const Place& place, const std::string& kind, Changes& changes) {
  if (!place.name.empty()) return {};
  const std::uint64_t count = TRY(add_to_count(place, kind, 0));
  if (count <= limits_.documents_max) return {};
  std::vector<std::uint64_t> oldest;
  TRY(database_.query(
      "SELECT number FROM documents WHERE place=?1 AND kind=?2 ORDER BY number LIMIT ?3",
      [&](const store::Row& row) { oldest.push_back(static_cast<std::uint64_t>(row.integer(0))); }, place.id,
      kind, count - limits_.documents_max));
  for (const std::uint64_t number : oldest) TRY(remove_number(place, number, kind, changes));
  return {};
}

// A word is kept with its text and in the list of words, a member of a payload with the document and twice
// in the list of members.
std::uint64_t Catalog::bytes_of(const Document& document, std::size_t dimension) {
  constexpr std::uint64_t kRow = 512, kMember = 32, kNumber = 7, kCopies = 3;
  return kRow + kNumber * dimension + kMember * members_of(document.payload).size() +
         kCopies *
             (document.id.size() + document.title.size() + document.body.size() + document.payload.size());
}

Result<std::uint64_t> Catalog::bytes_of(const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  std::int64_t bytes = 0, edges = 0;
  TRY(database_.query(
      "SELECT coalesce(sum(bytes), 0) FROM places WHERE tenant=?1 AND name<>''",
      [&](const store::Row& row) { bytes = row.integer(0); }, tenant));
  TRY(database_.query(
      "SELECT count(*) FROM edges WHERE tenant=?1 AND given=1",
      [&](const store::Row& row) { edges = row.integer(0); }, tenant));
  return static_cast<std::uint64_t>(bytes) + static_cast<std::uint64_t>(edges) * kEdgeBytes;
}

Result<std::int64_t> Catalog::bytes_in(const Place& place) {
  return one_number("SELECT bytes FROM places WHERE id=?1", place.id);
}

Result<void> Catalog::keep_document_bytes(const Place& place, const std::string& kind, Changes& changes) {
  if (!place.name.empty()) return {};
  const auto most = static_cast<std::int64_t>(limits_.document_bytes_max);
  const std::int64_t there = TRY(bytes_in(place));
  if (there <= most) return {};
  // Some more than need be, so that not every document that comes has to look for the oldest.
  std::int64_t left = there - (most - most / 16);
  std::vector<std::uint64_t> oldest;
  TRY(database_.query(
      "SELECT number, bytes FROM documents WHERE place=?1 AND kind=?2 ORDER BY number",
      [&](const store::Row& row) {
        if (left > 0) oldest.push_back(static_cast<std::uint64_t>(row.integer(0)));
        left -= row.integer(1);
      },
      place.id, kind));
  for (const std::uint64_t number : oldest) TRY(remove_number(place, number, kind, changes));
  return {};
}

Result<void> Catalog::keep_collection_bytes(const Place& place, std::int64_t before, std::uint64_t room) {
  const std::int64_t growth = TRY(bytes_in(place)) - before;
  if (place.name.empty() || growth <= 0) return {};
  if (static_cast<std::uint64_t>(growth) > room)
    return fail(Code::resource_exhausted, "there is no room for these points");
  std::int64_t all = 0;
  TRY(database_.query(
      "SELECT sum(bytes) FROM places WHERE tenant=?1 AND name<>''",
      [&](const store::Row& row) { all = row.integer(0); }, place.tenant));
  if (static_cast<std::uint64_t>(all) <= limits_.collection_bytes_max) return {};
  return fail(Code::no_space, fmt::format("a tenant's collections take at most {} MiB (index.tenant_bytes): "
                                          "remove points or collections first",
                                          limits_.collection_bytes_max >> 20U));
}

Result<Catalog::Changes> Catalog::put(const Place& place, const std::vector<Document>& documents,
                                      const std::vector<std::string>& models, std::uint64_t room) {
  const std::lock_guard lock(mutex_);
  Changes changes;
  const auto work = [&]() -> Result<void> {
    const std::int64_t before = TRY(bytes_in(place));
    std::set<std::string> kinds;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      TRY(insert(place, documents[i], models[i], changes));
      kinds.insert(documents[i].kind);
    }
    for (const std::string& kind : kinds) {
      TRY(keep_bounds(place, kind, changes));
      TRY(keep_document_bytes(place, kind, changes));
    }
    TRY(keep_collection_bytes(place, before, room));
    return wait_for_server(place, changes);
  };
  TRY(in_transaction(work));
  return changes;
}

Result<Catalog::Changes> Catalog::replace_kind(const Place& place, const std::string& kind,
                                               const std::vector<Document>& documents,
                                               const std::vector<std::string>& models) {
  const std::lock_guard lock(mutex_);
  Changes changes;
  const auto work = [&]() -> Result<void> {
    std::vector<std::uint64_t> numbers;
    TRY(database_.query(
        "SELECT number FROM documents WHERE place=?1 AND kind=?2",
        [&](const store::Row& row) { numbers.push_back(static_cast<std::uint64_t>(row.integer(0))); },
        place.id, kind));
    for (const std::uint64_t number : numbers) TRY(remove_number(place, number, kind, changes));
    for (std::size_t i = 0; i < documents.size(); ++i) TRY(insert(place, documents[i], models[i], changes));
    TRY(keep_bounds(place, kind, changes));
    return wait_for_server(place, changes);
  };
  TRY(in_transaction(work));
  return changes;
}

Result<Catalog::Changes> Catalog::remove(const Place& place, const std::vector<std::string>& ids) {
  const std::lock_guard lock(mutex_);
  Changes changes;
  const auto work = [&]() -> Result<void> {
    for (const std::string& id : ids) {
      std::map<std::uint64_t, std::string> numbers;
      TRY(database_.query(
          "SELECT number, kind FROM documents WHERE place=?1 AND id=?2",
          [&](const store::Row& row) {
            numbers.emplace(static_cast<std::uint64_t>(row.integer(0)), row.text(1));
          },
          place.id, id));
      for (const auto& [number, kind] : numbers) TRY(remove_number(place, number, kind, changes));
    }
    return wait_for_server(place, changes);
  };
  TRY(in_transaction(work));
  return changes;
}

Result<std::vector<Catalog::Named>> Catalog::named_after(const Place& place, const std::string& kind,
                                                         const std::string& after, std::size_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<Named> all;
  TRY(database_.query(
      "SELECT number, id FROM documents WHERE place=?1 AND kind=?2 AND id>?3 ORDER BY id LIMIT ?4",
      [&](const store::Row& row) {
        all.push_back({row.integer(0), row.text(1)});
      },
      place.id, kind, after, count));
  return all;
}

Result<std::vector<std::string>> Catalog::lacking(const Place& place, const std::string& kind,
                                                  const std::vector<std::string>& ids) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> missing;
  TRY(database_.query(
      "SELECT value FROM json_each(?3) WHERE NOT EXISTS (SELECT 1 FROM documents WHERE place=?1 AND kind=?2 "
      "AND "
      "id=value)",
      [&](const store::Row& row) { missing.push_back(row.text(0)); }, place.id, kind, json_list(ids)));
  return missing;
}

Result<std::vector<Catalog::Stale>> Catalog::stale(const Place& place, std::size_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<Stale> all;
  TRY(database_.query(
      "SELECT number, title, body FROM documents WHERE place=?1 AND model<>?2 AND (model<>'' OR "
      "dimension<>?3) AND title||body<>'' ORDER BY number LIMIT ?4",
      [&](const store::Row& row) {
        all.push_back({row.integer(0), row.text(1) + "\n" + row.text(2)});
      },
      place.id, place.model, place.dimension, count));
  return all;
}

Result<std::uint64_t> Catalog::count_stale() {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(TRY(one_number(
      "SELECT count(*) FROM documents JOIN places ON places.id=documents.place WHERE places.model<>'' AND "
      "documents.model<>places.model AND (documents.model<>'' OR documents.dimension<>places.dimension) AND "
      "title||body<>'' AND ?1=0")));
}

Result<Catalog::Changes> Catalog::renew(const Place& place, const std::vector<Stale>& which,
                                        const std::vector<Vector>& vectors) {
  const std::lock_guard lock(mutex_);
  Changes changes;
  const auto work = [&]() -> Result<void> {
    for (std::size_t i = 0; i < which.size(); ++i) {
      std::optional<Document> document;
      TRY(database_.query(
          "SELECT kind, id, title, body, payload FROM documents WHERE number=?1",
          [&](const store::Row& row) {
            document = Document{row.text(0), row.text(1), row.text(2), row.text(3), row.text(4)};
          },
          which[i].number));
      if (!document) continue;
      document->vector = vectors[i];
      TRY(insert(place, *document, place.model, changes));
    }
    return wait_for_server(place, changes);
  };
  TRY(in_transaction(work));
  return changes;
}

Result<std::vector<std::uint64_t>> Catalog::numbers(const Place& place) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> all;
  TRY(database_.query(
      "SELECT number FROM documents WHERE place=?1 AND (model='' OR model=?2) AND dimension=?3 ORDER BY "
      "number",
      [&](const store::Row& row) { all.push_back(static_cast<std::uint64_t>(row.integer(0))); }, place.id,
      place.model, place.dimension));
  return all;
}

Result<std::uint64_t> Catalog::count(const Place& place) {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(
      TRY(one_number("SELECT count(*) FROM documents WHERE place=?1", place.id)));
}

Result<std::uint64_t> Catalog::count_vectors(std::size_t dimension) {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(TRY(one_number(
      "SELECT count(*) FROM documents JOIN places ON places.id=documents.place WHERE places.dimension=?1 AND "
      "documents.dimension=?1 AND (documents.model='' OR documents.model=places.model)",
      static_cast<std::int64_t>(dimension))));
}

Result<Catalog::Changes> Catalog::vectors_of(const Place& place, std::span<const std::uint64_t> numbers) {
  const std::lock_guard lock(mutex_);
  Changes changes;
  for (const std::uint64_t number : numbers)
    TRY(database_.query(
        "SELECT vector FROM documents WHERE number=?1 AND place=?2",
        [&](const store::Row& row) {
          changes.push_back({place.id, number, vector_of(row.text(0))});
        },
        number, place.id));
  return changes;
}

Result<Catalog::Changes> Catalog::all_vectors_after(std::uint64_t after, std::size_t count) {
  const std::lock_guard lock(mutex_);
  Changes changes;
  TRY(database_.query(
      "SELECT number, place, vector, kind, payload FROM documents JOIN places ON places.id=documents.place "
      "WHERE number>?1 AND documents.dimension=places.dimension AND (documents.model='' OR "
      "documents.model=places.model) ORDER BY number LIMIT ?2",
      [&](const store::Row& row) {
        changes.push_back({row.integer(1), static_cast<std::uint64_t>(row.integer(0)), vector_of(row.text(2)),
                           row.text(3), members_of(row.text(4))});
      },
      after, count));
  return changes;
}

Result<std::vector<std::uint64_t>> Catalog::matching(PlaceId place, const VectorQuery& query,
                                                     std::size_t count) {
  const std::lock_guard lock(mutex_);
  static const std::string sql = fmt::format("SELECT number FROM documents WHERE {} LIMIT ?4", kConditions);
  // One member at least: its index leads, and conditions cost nothing for those that lack it.
  static const std::string by_member = fmt::format(
      "SELECT documents.number FROM members AS lead JOIN documents ON documents.number=lead.number WHERE "
      "lead.place=?1 AND lead.member=?5 AND {} LIMIT ?4",
      kConditions);
  std::vector<std::uint64_t> all;
  const auto take = [&](const store::Row& row) { all.push_back(static_cast<std::uint64_t>(row.integer(0))); };
  const std::string kinds = json_list(query.kinds), members = json_list(query.members);
  if (query.members.empty()) {
    TRY(database_.query(sql, take, place, kinds, members, count));
  } else {
    TRY(database_.query(by_member, take, place, kinds, members, count, query.members.front()));
  }
  return all;
}

Result<bool> Catalog::matches(PlaceId place, std::uint64_t number, const VectorQuery& query) {
  const std::lock_guard lock(mutex_);
  static const std::string sql = fmt::format("SELECT 1 FROM documents WHERE number=?4 AND {}", kConditions);
  bool is_there = false;
  TRY(database_.query(
      sql, [&](const store::Row&) { is_there = true; }, place, json_list(query.kinds),
      json_list(query.members), number));
  return is_there;
}

Result<std::vector<std::uint64_t>> Catalog::by_words(const Place& place, const SearchRequest& request,
                                                     const VectorQuery& conditions, std::size_t count) {
  std::vector<std::uint64_t> all;
  const std::string query = words_query(place.id, telling_words(request.query));
  if (query.empty()) return all;
  static const std::string sql = fmt::format(
      "SELECT words.rowid FROM words JOIN documents ON documents.number=words.rowid WHERE words MATCH ?5 AND "
      "{} ORDER BY bm25(words, 0.0, 4.0, 1.0), words.rowid LIMIT ?4",
      kConditions);
  const std::lock_guard lock(mutex_);
  TRY(database_.query(
      sql, [&](const store::Row& row) { all.push_back(static_cast<std::uint64_t>(row.integer(0))); },
      place.id, json_list(conditions.kinds), json_list(conditions.members), count, query));
  return all;
}

Result<void> Catalog::rebuild_words() {
  const std::lock_guard lock(mutex_);
  return in_transaction([&]() -> Result<void> {
    TRY(make_words_anew(database_));
    TRY(
        database_.run("INSERT INTO words (rowid, place, title, body) SELECT number, 'p'||place, title, body "
                      "FROM documents"));
    return {};
  });
}

Result<std::optional<Hit>> Catalog::hit(const Place& place, std::uint64_t number,
                                        const VectorQuery& conditions) {
  static const std::string sql =
      fmt::format("SELECT kind, id, title, body, payload FROM documents WHERE number=?4 AND {}", kConditions);
  const std::lock_guard lock(mutex_);
  std::optional<Hit> hit;
  TRY(database_.query(
      sql,
      [&](const store::Row& row) {
        hit = Hit{row.text(0), row.text(1), row.text(2), snippet_of(row.text(3)), row.text(4), 0};
      },
      place.id, json_list(conditions.kinds), json_list(conditions.members), number));
  return hit;
}

}  // namespace atl::index
