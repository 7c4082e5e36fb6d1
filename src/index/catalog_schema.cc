#include "index/catalog_schema.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "index/member_words.h"

namespace atl::index {
namespace {

constexpr int kVersion = 5;

constexpr const char* kWords =
    "CREATE VIRTUAL TABLE words USING fts5(place, title, body, tokenize='porter unicode61');";

constexpr const char* kTables = R"sql(
CREATE TABLE places (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, name TEXT, model TEXT, dimension INTEGER,
  created INTEGER, UNIQUE (tenant, name));
CREATE TABLE documents (number INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER, kind TEXT, id TEXT, title TEXT,
  body TEXT, payload TEXT, model TEXT, dimension INTEGER, vector TEXT, UNIQUE (place, kind, id));
CREATE INDEX documents_by_model ON documents (place, dimension, model);
CREATE INDEX documents_by_id ON documents (place, id);
CREATE TABLE members (place INTEGER, member TEXT, number INTEGER, PRIMARY KEY (place, member, number)) WITHOUT ROWID;
CREATE INDEX members_by_number ON members (place, number);
CREATE TABLE edges (number INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, from_kind TEXT, from_id TEXT, type TEXT,
  to_kind TEXT, to_id TEXT, UNIQUE (tenant, from_kind, from_id, type, to_kind, to_id));
CREATE INDEX edges_back ON edges (tenant, to_kind, to_id);
CREATE TABLE waiting_vectors (sequence INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER, dimension INTEGER,
  number INTEGER);
CREATE TABLE waiting_edges (sequence INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, what TEXT, from_kind TEXT,
  from_id TEXT, type TEXT, to_kind TEXT, to_id TEXT);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
)sql";

// Version 1 had the place in every document and no models of vectors.
constexpr const char* kFromFirst = R"sql(
INSERT INTO places (tenant, name, model, dimension, created) SELECT tenant, name, model, dimension, created FROM old_collections;
INSERT OR IGNORE INTO places (tenant, name, model, dimension, created) SELECT DISTINCT tenant, '', 'hash', 384, 0 FROM old_documents
  WHERE collection='';
INSERT INTO documents (number, place, kind, id, title, body, payload, model, dimension, vector)
  SELECT old.number, places.id, old.kind, old.id, old.title, old.body, old.payload, places.model,
    length(CAST(old.vector AS BLOB))/4, old.vector
  FROM old_documents AS old JOIN places ON places.tenant=old.tenant AND places.name=old.collection;
INSERT INTO words (rowid, place, title, body) SELECT number, 'p'||place, title, body FROM documents;
INSERT INTO edges (tenant, from_kind, from_id, type, to_kind, to_id) SELECT tenant, from_kind, from_id, type, to_kind, to_id
  FROM old_edges;
DROP TABLE old_collections; DROP TABLE old_documents; DROP TABLE old_edges; DROP TABLE graphs;
)sql";

// Version 2 did not know how much a tenant keeps. As Catalog counts it, but for the members of payloads.
constexpr const char* kFromSecond = R"sql(
ALTER TABLE places ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE edges ADD COLUMN given INTEGER NOT NULL DEFAULT 0;
CREATE INDEX edges_given ON edges (tenant) WHERE given=1;
UPDATE documents SET bytes=512+7*dimension+3*length(CAST(id||title||body||payload AS BLOB));
UPDATE places SET bytes=(SELECT coalesce(sum(documents.bytes), 0) FROM documents WHERE place=places.id);
)sql";

// Version 3 looked through all relations of a tenant for those that lead to a node.
constexpr const char* kFromThird = R"sql(
DROP INDEX edges_back;
CREATE INDEX edges_back ON edges (tenant, to_kind, to_id, type, from_kind, from_id);
)sql";

constexpr const char* kSetAside = R"sql(
DROP TABLE words;
DROP INDEX edges_back;
ALTER TABLE collections RENAME TO old_collections;
ALTER TABLE documents RENAME TO old_documents;
ALTER TABLE edges RENAME TO old_edges;
)sql";

// Version 4 and those before compared members of payloads as they were written: 3 was not 3.0. A server has
// their words as well and is filled anew.
Result<void> from_fourth(store::Connection& database) {
  constexpr std::size_t kAtOnce = 1000;
  struct Payload {
    std::int64_t number = 0, place = 0;
    std::string text;
  };
  TRY(database.run("DELETE FROM members"));
  std::vector<Payload> some;
  for (std::int64_t after = 0;; after = some.back().number) {
    some.clear();
    TRY(database.query(
        "SELECT number, place, payload FROM documents WHERE number>?1 AND payload<>'{}' ORDER BY number "
        "LIMIT "
        "?2",
        [&](const store::Row& row) {
          some.push_back({row.integer(0), row.integer(1), row.text(2)});
        },
        after, kAtOnce));
    if (some.empty()) break;
    for (const Payload& one : some)
      for (const std::string& member : members_of(one.text))
        TRY(database.run("INSERT OR IGNORE INTO members (place, member, number) VALUES (?1,?2,?3)", one.place,
                         member, one.number));
  }
  return database.script(
      "INSERT OR REPLACE INTO notes SELECT 'refill_waiting_vectors', 'wanted' FROM notes "
      "WHERE name='served_by_waiting_vectors' AND value<>''");
}

Result<void> make_anew(store::Connection& database, int version) {
  if (version == 1) TRY(database.script(kSetAside));
  if (version < 2) TRY(database.script(kTables));
  if (version < 2) TRY(database.script(kWords));
  if (version == 1) TRY(database.script(kFromFirst));
  if (version < 3) TRY(database.script(kFromSecond));
  if (version < 4) TRY(database.script(kFromThird));
  TRY(from_fourth(database));
  return database.script(fmt::format("PRAGMA user_version={}", kVersion));
}

}  // namespace

Result<void> make_words_anew(store::Connection& database) {
  TRY(database.script("DROP TABLE IF EXISTS words"));
  return database.script(kWords);
}

Result<void> bring_up_schema(store::Connection& database) {
  int version = 0;
  bool has_tables = false;
  TRY(database.query("PRAGMA user_version",
                     [&](const store::Row& row) { version = static_cast<int>(row.integer(0)); }));
  TRY(database.query("SELECT 1 FROM sqlite_master WHERE name='documents'",
                     [&](const store::Row&) { has_tables = true; }));
  if (version > kVersion)
    return fail(Code::unsupported,
                fmt::format("the index was written by a newer Atoll (version {}, this one knows {})", version,
                            kVersion));
  if (version == kVersion) return {};
  if (version == 0 && has_tables) version = 1;
  TRY(database.run("BEGIN IMMEDIATE"));
  auto made = make_anew(database, version);
  if (made) made = database.script("COMMIT");
  if (!made && database.in_transaction()) (void)database.run("ROLLBACK");
  return made;
}

}  // namespace atl::index
