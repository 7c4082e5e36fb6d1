// Catalogs as earlier versions wrote them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "index/index.h"
#include "index/member_words.h"
#include "index/model_servers_test.h"
#include "net/test_server.h"
#include "os/directory_test.h"

namespace atl::index {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class CatalogSchemaTest : public testing::Test {
 protected:
  std::unique_ptr<Index> open() {
    auto made = Index::open(options_, hash_embedder());
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }
  static std::vector<std::string> ids(const Result<Found>& found) {
    EXPECT_TRUE(found) << found.error().message();
    std::vector<std::string> all;
    if (found)
      for (const Hit& hit : found->hits) all.push_back(hit.id);
    return all;
  }
  static SearchRequest query(std::string text) {
    SearchRequest request;
    request.query = std::move(text);
    return request;
  }
  static SearchRequest where(std::map<std::string, std::string> filter) {
    SearchRequest request;
    request.vector = Vector{1, 0};
    request.filter = std::move(filter);
    return request;
  }
  void write(const std::string& sql) {
    options_.directory = directory_.path() + "/index";
    std::filesystem::create_directories(options_.directory);
    auto old = store::Connection::open(options_.directory + "/index.db", store::Access::read_write);
    ASSERT_TRUE(old);
    const auto made = old->script(sql);
    ASSERT_TRUE(made) << made.error().message();
  }
  os::TestDirectory directory_;
  Options options_;
};

TEST_F(CatalogSchemaTest, ReadsWhatTheFirstVersionWrote) {
  options_.directory = directory_.path() + "/index";
  std::filesystem::create_directories(options_.directory);
  {
    auto old = store::Connection::open(options_.directory + "/index.db", store::Access::read_write);
    ASSERT_TRUE(old);
    const auto made = old->script(R"sql(
CREATE TABLE collections (tenant TEXT, name TEXT, dimension INTEGER, model TEXT, created INTEGER,
  change INTEGER DEFAULT 0, PRIMARY KEY (tenant, name)) WITHOUT ROWID;
CREATE TABLE documents (number INTEGER PRIMARY KEY, tenant TEXT, collection TEXT, kind TEXT, id TEXT,
  title TEXT, body TEXT, payload TEXT, vector TEXT, UNIQUE (tenant, collection, kind, id));
CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize='porter unicode61');
CREATE TABLE graphs (tenant TEXT, collection TEXT, change INTEGER, digest TEXT,
  PRIMARY KEY (tenant, collection)) WITHOUT ROWID;
CREATE TABLE edges (tenant TEXT, from_kind TEXT, from_id TEXT, type TEXT, to_kind TEXT, to_id TEXT,
  PRIMARY KEY (tenant, from_kind, from_id, type, to_kind, to_id)) WITHOUT ROWID;
CREATE INDEX edges_back ON edges (tenant, to_kind, to_id);
INSERT INTO collections VALUES ('acme', 'notes', 2, '', 5, 1);
INSERT INTO documents VALUES (7, 'acme', 'notes', 'point', 'x', 'Apples', 'pears', '{"colour":"red","n":3}', CAST(x'0000803f00000000' AS TEXT));
INSERT INTO edges VALUES ('acme', 'a', '1', 'knows', 'b', '2');
)sql");
    ASSERT_TRUE(made) << made.error().message();
  }
  auto index = open();
  SearchRequest request;
  request.vector = Vector{1, 0};
  request.filter = {{"colour", "\"red\""}, {"n", "3"}};
  EXPECT_THAT(ids(index->search("acme", "notes", request)), ElementsAre("x"));
  EXPECT_THAT(ids(index->search("acme", "notes", query("pears"))), ElementsAre("x"));
  EXPECT_EQ(index->walk("acme", {{"a", "1"}, {}, 1})->edges.size(), 1U);
  EXPECT_GT(index->bytes_of("acme").value_or(0), 512U);
  EXPECT_EQ(index->remove("acme", "notes", {"x"}).value_or(0), 1U);
  EXPECT_EQ(index->bytes_of("acme").value_or(1), 0U);
}

// A catalog as version 2 wrote it, with one collection, one document of the service's own and one relation.
constexpr const char* kSecondVersion = R"sql(
CREATE TABLE places (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, name TEXT, model TEXT, dimension INTEGER,
  created INTEGER, UNIQUE (tenant, name));
CREATE TABLE documents (number INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER, kind TEXT, id TEXT, title TEXT,
  body TEXT, payload TEXT, model TEXT, dimension INTEGER, vector TEXT, UNIQUE (place, kind, id));
CREATE INDEX documents_by_model ON documents (place, dimension, model);
CREATE INDEX documents_by_id ON documents (place, id);
CREATE TABLE members (place INTEGER, member TEXT, number INTEGER, PRIMARY KEY (place, member, number)) WITHOUT ROWID;
CREATE INDEX members_by_number ON members (place, number);
CREATE VIRTUAL TABLE words USING fts5(place, title, body, tokenize='porter unicode61');
CREATE TABLE edges (number INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, from_kind TEXT, from_id TEXT, type TEXT,
  to_kind TEXT, to_id TEXT, UNIQUE (tenant, from_kind, from_id, type, to_kind, to_id));
CREATE INDEX edges_back ON edges (tenant, to_kind, to_id);
CREATE TABLE waiting_vectors (sequence INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER, dimension INTEGER,
  number INTEGER);
CREATE TABLE waiting_edges (sequence INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, what TEXT, from_kind TEXT,
  from_id TEXT, type TEXT, to_kind TEXT, to_id TEXT);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
INSERT INTO notes VALUES ('id', 'cafe');
INSERT INTO places VALUES (3, 'acme', 'notes', '', 2, 5), (4, 'acme', '', 'hash', 384, 0), (5, 'other', 'notes', '', 2, 6);
INSERT INTO documents VALUES
  (7, 3, 'point', 'x', 'Apples', 'pears', '{"colour":"red","n":3}', '', 2, CAST(x'0000803f00000000' AS TEXT)),
  (8, 4, 'execution', 'e', 'print', 'plums', '{}', 'hash', 0, '');
INSERT INTO words (rowid, place, title, body) VALUES (7, 'p3', 'Apples', 'pears'), (8, 'p4', 'print', 'plums');
INSERT INTO members VALUES (3, 'colour="red"', 7), (3, 'n=3', 7);
INSERT INTO edges VALUES (1, 'acme', 'a', '1', 'knows', 'b', '2');
PRAGMA user_version=2;
)sql";

TEST_F(CatalogSchemaTest, ReadsWhatTheSecondVersionWrote) {
  options_.directory = directory_.path() + "/index";
  std::filesystem::create_directories(options_.directory);
  {
    auto old = store::Connection::open(options_.directory + "/index.db", store::Access::read_write);
    ASSERT_TRUE(old);
    const auto made = old->script(kSecondVersion);
    ASSERT_TRUE(made) << made.error().message();
  }
  const std::string texts = std::string("x") + "Apples" + "pears" + R"({"colour":"red","n":3})";
  {
    auto index = open();
    SearchRequest request;
    request.vector = Vector{1, 0};
    request.filter = {{"colour", "\"red\""}, {"n", "3"}};
    EXPECT_THAT(ids(index->search("acme", "notes", request)), ElementsAre("x"));
    EXPECT_THAT(ids(index->search("acme", "", query("plums"))), ElementsAre("e"));
    EXPECT_EQ(index->walk("acme", {{"a", "1"}, {}, 1})->edges.size(), 1U);
    // What was there counts from now on; what the service found itself does not, nor what is another
    // tenant's.
    EXPECT_EQ(index->bytes_of("acme").value_or(0), 512 + 7 * 2 + 3 * texts.size());
    EXPECT_EQ(index->bytes_of("other").value_or(1), 0U);
    ASSERT_TRUE(index->put("other", "notes", {[] {
                             Document mine{"point", "mine"};
                             mine.vector = Vector{0, 1};
                             return mine;
                           }()}));
    EXPECT_EQ(index->remove("acme", "notes", {"x"}).value_or(0), 1U);
    EXPECT_EQ(index->bytes_of("acme").value_or(1), 0U);
  }
  // It is of the newest version now, and opened again as that.
  auto index = open();
  EXPECT_GT(index->bytes_of("other").value_or(0), 512U);
  EXPECT_THAT(ids(index->search("acme", "", query("plums"))), ElementsAre("e"));
}

TEST_F(CatalogSchemaTest, WhatTheSecondVersionHeldIsWithinTheBoundsOfThisOne) {
  options_.directory = directory_.path() + "/index";
  options_.tenant_bytes = 300;  // less than there is
  std::filesystem::create_directories(options_.directory);
  {
    auto old = store::Connection::open(options_.directory + "/index.db", store::Access::read_write);
    ASSERT_TRUE(old && old->script(kSecondVersion));
  }
  auto index = open();
  Document more{"point", "y"};
  more.vector = Vector{0, 1};
  EXPECT_EQ(index->put("acme", "notes", {more}).error().code(), Code::no_space);
  EXPECT_THAT(ids(index->search("acme", "notes", query("pears"))), ElementsAre("x"));  // and nothing is lost
}

// Half a change of the tables would be neither version: another try finds what was there.
TEST_F(CatalogSchemaTest, AnOldCatalogThatCannotBeBroughtUpStaysAsItWas) {
  options_.directory = directory_.path() + "/index";
  std::filesystem::create_directories(options_.directory);
  const std::string path = options_.directory + "/index.db";
  {
    auto old = store::Connection::open(path, store::Access::read_write);
    ASSERT_TRUE(old && old->script(kSecondVersion));
    ASSERT_TRUE(old->script("CREATE INDEX edges_given ON edges (tenant);"));  // in the way of ours
  }
  EXPECT_FALSE(Index::open(options_, hash_embedder()));
  {
    auto old = store::Connection::open(path, store::Access::read_write);
    ASSERT_TRUE(old);
    int columns = 0;
    ASSERT_TRUE(old->query("SELECT 1 FROM pragma_table_info('documents') WHERE name='bytes'",
                           [&](const store::Row&) { ++columns; }));
    EXPECT_EQ(columns, 0);
    ASSERT_TRUE(old->script("DROP INDEX edges_given;"));
  }
  EXPECT_THAT(ids(open()->search("acme", "notes", query("pears"))), ElementsAre("x"));
}

TEST_F(CatalogSchemaTest, ANewerVersionIsRefused) {
  options_.directory = directory_.path() + "/index";
  open().reset();
  ASSERT_TRUE(store::Connection::open(options_.directory + "/index.db", store::Access::read_write)
                  ->script("PRAGMA user_version=99"));
  const auto made = Index::open(options_, hash_embedder());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::unsupported);
  EXPECT_THAT(made.error().message(), HasSubstr("newer"));
}

// As version 3 wrote it: what a tenant keeps is counted.
constexpr const char* kThirdVersion = R"sql(
CREATE TABLE places (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, name TEXT, model TEXT, dimension INTEGER,
  created INTEGER, bytes INTEGER NOT NULL DEFAULT 0, UNIQUE (tenant, name));
CREATE TABLE documents (number INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER, kind TEXT, id TEXT, title TEXT,
  body TEXT, payload TEXT, model TEXT, dimension INTEGER, vector TEXT, bytes INTEGER NOT NULL DEFAULT 0,
  UNIQUE (place, kind, id));
CREATE INDEX documents_by_model ON documents (place, dimension, model);
CREATE INDEX documents_by_id ON documents (place, id);
CREATE TABLE members (place INTEGER, member TEXT, number INTEGER, PRIMARY KEY (place, member, number)) WITHOUT ROWID;
CREATE INDEX members_by_number ON members (place, number);
CREATE VIRTUAL TABLE words USING fts5(place, title, body, tokenize='porter unicode61');
CREATE TABLE edges (number INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, from_kind TEXT, from_id TEXT, type TEXT,
  to_kind TEXT, to_id TEXT, given INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, from_kind, from_id, type, to_kind, to_id));
CREATE INDEX edges_back ON edges (tenant, to_kind, to_id);
CREATE INDEX edges_given ON edges (tenant) WHERE given=1;
CREATE TABLE waiting_vectors (sequence INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER, dimension INTEGER,
  number INTEGER);
CREATE TABLE waiting_edges (sequence INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, what TEXT, from_kind TEXT,
  from_id TEXT, type TEXT, to_kind TEXT, to_id TEXT);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
INSERT INTO notes VALUES ('id', 'cafecafecafecafe');
INSERT INTO places VALUES (3, 'acme', 'notes', '', 2, 5, 700), (4, 'acme', '', 'hash', 384, 0, 600);
INSERT INTO documents VALUES
  (7, 3, 'point', 'x', 'Apples', 'pears', '{"n":3E0,"at":{"b":1,"a":2}}', '', 2, CAST(x'0000803f00000000' AS TEXT), 350),
  (9, 3, 'point', 'y', 'Boats', 'ships', '{"n":4,"at":null}', '', 2, CAST(x'0000803f0000003f' AS TEXT), 350),
  (8, 4, 'execution', 'e', 'print', 'plums', '{}', 'hash', 0, '', 600);
INSERT INTO words (rowid, place, title, body) VALUES (7, 'p3', 'Apples', 'pears'), (9, 'p3', 'Boats', 'ships'), (8, 'p4', 'print', 'plums');
INSERT INTO members VALUES (3, 'n=3E0', 7), (3, 'at={"b":1,"a":2}', 7), (3, 'n=4', 9), (3, 'at=null', 9);
INSERT INTO edges VALUES (1, 'acme', 'a', '1', 'knows', 'b', '2', 1), (2, 'acme', 'c', '1', 'knows', 'b', '2', 0);
PRAGMA user_version=3;
)sql";

// Version 4 has the edges of a node from its end as well.
constexpr const char* kFourthVersion = R"sql(
DROP INDEX edges_back;
CREATE INDEX edges_back ON edges (tenant, to_kind, to_id, type, from_kind, from_id);
PRAGMA user_version=4;
)sql";

TEST_F(CatalogSchemaTest, ReadsWhatTheThirdAndTheFourthVersionWrote) {
  for (const bool is_fourth : {false, true}) {
    SCOPED_TRACE(is_fourth);
    std::filesystem::remove_all(directory_.path() + "/index");
    write(kThirdVersion);
    if (is_fourth) write(kFourthVersion);
    for (int start = 0; start < 2; ++start) {
      auto index = open();
      // 3 is 3.0, and members of an object have no order.
      EXPECT_THAT(ids(index->search("acme", "notes", where({{"n", "3"}}))), ElementsAre("x"));
      EXPECT_THAT(ids(index->search("acme", "notes", where({{"n", "3.0"}, {"at", R"({"a":2,"b":1})"}}))),
                  ElementsAre("x"));
      EXPECT_THAT(ids(index->search("acme", "notes", where({{"n", "4"}, {"at", "null"}}))), ElementsAre("y"));
      EXPECT_THAT(ids(index->search("acme", "", query("plums"))), ElementsAre("e"));
      const auto back = index->walk("acme", {{"b", "2"}, {}, 1, 1000, 10, Direction::in});
      ASSERT_TRUE(back);
      EXPECT_EQ(back->edges.size(), 2U);
      EXPECT_EQ(index->bytes_of("acme").value_or(0), 700 + Catalog::kEdgeBytes);
    }
    auto index = open();
    EXPECT_EQ(index->remove("acme", "notes", {"x", "y"}).value_or(0), 2U);
    EXPECT_EQ(index->bytes_of("acme").value_or(0), Catalog::kEdgeBytes);
  }
}

// What a server has of payloads are the words of before.
TEST_F(CatalogSchemaTest, AServerOfAnEarlierVersionIsFilledAnew) {
  ModelQdrant qdrant;
  LocalServer server([&](const auto& request) { return qdrant.answer(request); });
  ServerOptions options;
  options.url = *net::Url::parse(server.url());
  write(kThirdVersion);
  write(kFourthVersion);
  write("INSERT INTO notes VALUES ('served_by_waiting_vectors', 'qdrant " + options.url.authority() + "')");
  options_.qdrant = options;
  {
    // As many as there should be, with words of before.
    const std::lock_guard lock(qdrant.mutex);
    auto& collection = qdrant.collections["atoll_cafecafecafecafe_2"];
    collection.size = 2;
    for (const std::uint64_t number : {7U, 9U})
      collection.points[number] = {{1, 0}, {{"place", "p3"}, {"kind", "point"}, {"members", {"n=3E0"}}}};
  }
  auto index = open();
  ASSERT_TRUE(net::comes_to([&] { return index->degraded_because().empty(); })) << index->degraded_because();
  EXPECT_THAT(ids(index->search("acme", "notes", where({{"n", "3"}}))), ElementsAre("x"));
}

TEST(MemberWords, AreEqualWhereValuesAre) {
  EXPECT_EQ(member_word("n", "3"), member_word("n", "3.0"));
  EXPECT_EQ(member_word("n", "-0.0"), member_word("n", "0"));
  EXPECT_EQ(member_word("n", "1e2"), member_word("n", "100"));
  EXPECT_NE(member_word("n", "3"), member_word("n", "3.5"));
  EXPECT_NE(member_word("n", "3"), member_word("n", "\"3\""));
  EXPECT_NE(member_word("n", "18446744073709551615"), member_word("n", "18446744073709551614"));
  EXPECT_EQ(member_word("o", R"({"a":1,"b":[1.0,{}]})"), member_word("o", R"({"b":[1,{}],"a":1})"));
  EXPECT_NE(member_word("o", "[1,2]"), member_word("o", "[2,1]"));
  EXPECT_NE(member_word("a=1", "2"), member_word("a", "\"1=2\""));
  EXPECT_NE(member_word(std::string("a=1\0", 4), "1"), member_word("a", "1"));
  EXPECT_THAT(member_word(std::string("a\0b", 3), "1"), HasSubstr("sha256:"));
  EXPECT_THAT(member_word("long", "\"" + std::string(300, 'x') + "\""), HasSubstr("sha256:"));
  EXPECT_THAT(members_of(R"({"b":2.0,"a":null})"), UnorderedElementsAre("b=2", "a=null"));
  EXPECT_THAT(members_of("[]"), ElementsAre());
  EXPECT_THAT(members_of("no"), ElementsAre());
}

}  // namespace
}  // namespace atl::index
