#include "index/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "index/query_words.h"
#include "net/test_server.h"
#include "os/directory_test.h"

namespace atl::index {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class IndexTest : public testing::Test {
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
  os::TestDirectory directory_;
  Options options_;
};

TEST_F(IndexTest, BoundsWhatATenantHas) {
  options_.collections_max = 2;
  options_.points_max = 3;
  options_.documents_max = 2;
  auto index = open();
  ASSERT_TRUE(index->make_collection("acme", "a", 0));
  ASSERT_TRUE(index->make_collection("acme", "b", 0));
  EXPECT_EQ(index->make_collection("acme", "c", 0).error().code(), Code::resource_exhausted);
  EXPECT_TRUE(index->make_collection("other", "c", 0));
  ASSERT_TRUE(index->put("acme", "a", {{"point", "1"}, {"point", "2"}, {"point", "3"}}));
  EXPECT_EQ(index->put("acme", "a", {{"point", "4"}}).error().code(), Code::no_space);
  EXPECT_EQ(index->collection("acme", "a")->points, 3U);  // all or none
  ASSERT_TRUE(index->put("acme", "a", {{"point", "3", "again"}}));
  for (const char* id : {"1", "2", "3"}) ASSERT_TRUE(index->put("acme", "", {{"execution", id, "word"}}));
  EXPECT_THAT(ids(index->search("acme", "", query("word"))), testing::UnorderedElementsAre("2", "3"));
}

TEST_F(IndexTest, BytesOfATenantAreBounded) {
  options_.tenant_bytes = 200'000;
  auto index = open();
  for (const char* name : {"a", "b"}) ASSERT_TRUE(index->make_collection("acme", name, 0));
  const std::string text(10'000, 'x');
  Result<void> put;
  int count = 0;
  for (; put && count < 100; ++count)
    put = index->put("acme", count % 2 == 0 ? "a" : "b", {{"point", std::to_string(count), "", text}});
  EXPECT_EQ(put.error().code(), Code::no_space);
  EXPECT_THAT(put.error().message(), HasSubstr("index.tenant_bytes"));
  EXPECT_LT(count, 10);
  EXPECT_LE(index->bytes_of("acme").value_or(0), 200'000U);
  // What is there can be replaced by less, and what is removed makes room; nobody else notices.
  EXPECT_TRUE(index->put("acme", "a", {{"point", "0", "", "short"}}));
  EXPECT_TRUE(index->put("acme", "a", {{"point", "new", "", text.substr(0, 5000)}}));
  ASSERT_TRUE(index->make_collection("other", "a", 0));
  EXPECT_TRUE(index->put("other", "a", {{"point", "1", "", text}}));
  ASSERT_TRUE(index->drop_collection("acme", "a"));
  ASSERT_TRUE(index->drop_collection("acme", "b"));
  EXPECT_EQ(index->bytes_of("acme").value_or(1), 0U);
}

TEST_F(IndexTest, WhatReplacesCountsWithTheDifference) {
  auto index = open();
  ASSERT_TRUE(index->make_collection("acme", "a", 0));
  const std::vector<Document> one = {{"point", "1", "", std::string(1000, 'x')}};
  const std::uint64_t needed = index->bytes_of(one);
  EXPECT_EQ(index->put("acme", "a", one, needed - 1).error().code(), Code::resource_exhausted);
  EXPECT_EQ(index->collection("acme", "a")->points, 0U);
  ASSERT_TRUE(index->put("acme", "a", one, needed));
  EXPECT_EQ(index->bytes_of("acme").value_or(0), needed);
  EXPECT_TRUE(index->put("acme", "a", one, 0));
  EXPECT_EQ(index->bytes_of("acme").value_or(0), needed);
  // Relations that the tenant said count, those of the service do not: nobody could take them back.
  const Edge edge{{"a", "1"}, {"b", "2"}, "knows"};
  ASSERT_TRUE(index->relate("acme", {{{"session", "1"}, {"execution", "2"}, "ran"}}));
  EXPECT_EQ(index->bytes_of("acme").value_or(0), needed);
  ASSERT_TRUE(index->relate("acme", {edge}, Origin::tenant));
  EXPECT_EQ(index->bytes_of("acme").value_or(0), needed + Catalog::kEdgeBytes);
  EXPECT_EQ(index->unrelate("acme", {edge}).value_or(0), 1U);
  EXPECT_EQ(index->remove("acme", "a", {"1"}).value_or(0), 1U);
  EXPECT_EQ(index->bytes_of("acme").value_or(1), 0U);
}

TEST_F(IndexTest, WhatIsCountedIsAboutWhatLiesOnTheDisk) {
  options_.fresh_max = 0;
  options_.directory = directory_.path() + "/index";
  std::uint64_t counted = 0;
  {
    auto index = open();
    ASSERT_TRUE(index->make_collection("acme", "a", 0));
    for (int round = 0; round < 4; ++round) {
      std::vector<Document> documents;
      for (int i = 0; i < 250; ++i) {
        const int number = round * 250 + i;
        Document one{"point", std::to_string(number), "a note"};
        for (int word = 0; word < 40; ++word) one.body += std::to_string(number * 7919 + word) + "word ";
        one.payload = R"({"number":)" + std::to_string(number) + R"(,"shelf":"left"})";
        documents.push_back(std::move(one));
      }
      ASSERT_TRUE(index->put("acme", "a", std::move(documents)));
    }
    counted = index->bytes_of("acme").value_or(0);
  }
  std::uint64_t on_the_disk = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.directory))
    if (entry.is_regular_file()) on_the_disk += entry.file_size();
  EXPECT_LT(on_the_disk, counted * 3 / 2);
  EXPECT_GT(on_the_disk, counted / 4);
}

TEST_F(IndexTest, HistoryIsBoundedInBytesAndItsOldestGoesFirst) {
  options_.document_bytes = 100'000;
  auto index = open();
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(index->put("acme", "", {{"execution", std::to_string(i), "word", std::string(3000, 'x')}}));
  const auto left = ids(index->search("acme", "", query("word")));
  EXPECT_THAT(left, testing::Contains("49"));
  EXPECT_LT(left.size(), 11U);
  EXPECT_EQ(index->bytes_of("acme").value_or(1), 0U) << "only what the tenant put there itself";
}

TEST_F(IndexTest, FindsByWordsAndByLikeness) {
  auto index = open();
  ASSERT_TRUE(index->put("", "",
                         {{"skill", "pdf", "PDF reader", "Reads text and tables out of PDF documents."},
                          {"skill", "charts", "Charts", "Draws bar charts and line charts."},
                          {"tool", "http_fetch", "http_fetch", "Fetches a page from the web."}}));
  const auto found = index->search("acme", "", query("something that reads PDF"));
  ASSERT_FALSE(ids(found).empty());
  EXPECT_EQ(found->hits[0].id, "pdf");
  EXPECT_EQ(found->hits[0].title, "PDF reader");
  EXPECT_THAT(found->hits[0].snippet, HasSubstr("tables"));
  EXPECT_GT(found->hits[0].score, 0.9);
  SearchRequest tools = query("charts page pdf");
  tools.kinds = {"tool"};
  EXPECT_THAT(ids(index->search("acme", "", tools)), ElementsAre("http_fetch"));
  // Operators of the search language are words like any other.
  EXPECT_TRUE(index->search("acme", "", query("\" OR * NEAR( title: -x")));
  EXPECT_THAT(ids(index->search("acme", "", query(""))), ElementsAre());
}

// Beside what the service ships: words that every description has must not decide.
TEST_F(IndexTest, WordsThatTellNothingDoNotDecide) {
  auto index = open();
  ASSERT_TRUE(index->put(
      "", "",
      {{"tool", "read_file", "read_file", "Reads a file of the sandbox: its text, or a part of it by lines."},
       {"tool", "list_files", "list_files", "Lists something: the files that are in a directory."},
       {"tool", "run_code", "run_code", "Runs code in an interpreter that keeps its variables for that."},
       {"tool", "search_files", "search_files", "Finds lines that match something in files."},
       {"skill", "csv", "csv", "Something that turns tables into CSV and that back into tables."}}));
  ASSERT_TRUE(
      index->put("acme", "", {{"tool", "pdf_text", "pdf_text", "Extracts text from PDF documents."}}));
  const auto found = index->search("acme", "", query("something that reads PDF"));
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->hits.empty());
  EXPECT_EQ(found->hits[0].id, "pdf_text");
  // A question of such words alone is asked as it is.
  EXPECT_THAT(ids(index->search("acme", "", query("something that"))), testing::Contains("csv"));
}

TEST(QueryWords, LeaveOutWhatEveryTextHas) {
  EXPECT_EQ(telling_words("something that reads PDF"), "reads PDF");
  EXPECT_EQ(telling_words("How can I list ALL files?"), "list files");
  EXPECT_EQ(telling_words("That is it"), "That is it");
  EXPECT_EQ(telling_words(""), "");
  EXPECT_EQ(telling_words("Ölstände für die Prüfung"), "Ölstände für die Prüfung");
}

TEST_F(IndexTest, FiltersAndPages) {
  auto index = open();
  ASSERT_TRUE(index->make_collection("acme", "notes", 0));
  std::vector<Document> documents;
  for (int i = 0; i < 30; ++i)
    documents.push_back({"point", std::to_string(i), "note", "some words of a note",
                         i % 3 == 0 ? R"({"colour":"red","n":1})" : R"({"colour":"blue"})"});
  ASSERT_TRUE(index->put("acme", "notes", documents));
  SearchRequest request = query("note words");
  request.filter = {{"colour", "\"red\""}};
  request.limit = 100;
  EXPECT_EQ(ids(index->search("acme", "notes", request)).size(), 10U);
  request.filter["n"] = "2";
  EXPECT_TRUE(ids(index->search("acme", "notes", request)).empty());
  std::set<std::string> pages;
  request = query("note words");
  for (request.offset = 0; request.offset < 30; request.offset += 10)
    for (const std::string& id : ids(index->search("acme", "notes", request))) pages.insert(id);
  EXPECT_EQ(pages.size(), 30U);
  EXPECT_EQ(*index->remove("acme", "notes", {"0", "1", "nothing"}), 2U);
  EXPECT_EQ(index->collection("acme", "notes")->points, 28U);
}

TEST_F(IndexTest, SurvivesRestartsAndDamage) {
  options_.fresh_max = 0;
  options_.directory = directory_.path() + "/index";
  const auto fill = [&](Index& index) {
    ASSERT_TRUE(index.make_collection("acme", "notes", 0));
    ASSERT_TRUE(
        index.put("acme", "notes", {{"point", "1", "apples and pears"}, {"point", "2", "ships and trains"}}));
    ASSERT_TRUE(index.relate("acme", {{{"a", "1"}, {"b", "2"}, "knows"}}));
  };
  fill(*open());
  const auto check = [&] {
    auto index = open();
    EXPECT_EQ(ids(index->search("acme", "notes", query("pears"))).at(0), "1");
    EXPECT_EQ(index->walk("acme", {{"a", "1"}, {}, 1})->edges.size(), 1U);
    SearchRequest alike;
    alike.vector = hash_embedder()->embed(std::vector<std::string>{"ships and trains"})->front();
    EXPECT_EQ(ids(index->search("acme", "notes", alike)).at(0), "2");
  };
  check();
  std::string graph;
  for (const auto& entry : std::filesystem::directory_iterator(options_.directory))
    if (entry.path().extension() == ".hnsw") graph = entry.path();
  ASSERT_FALSE(graph.empty());
  std::ofstream(graph, std::ios::in | std::ios::out).seekp(100) << "damage";
  check();
  std::filesystem::remove(graph);
  check();
  // A file that is older than the catalog gets what it lacks.
  std::filesystem::copy_file(graph, graph + ".old");
  {
    auto index = open();
    ASSERT_TRUE(index->put("acme", "notes", {{"point", "3", "houses and gardens"}}));
    ASSERT_TRUE(index->remove("acme", "notes", {"1"}));
  }
  std::filesystem::rename(graph + ".old", graph);
  auto index = open();
  SearchRequest alike;
  alike.vector = hash_embedder()->embed(std::vector<std::string>{"houses and gardens"})->front();
  EXPECT_EQ(ids(index->search("acme", "notes", alike)).at(0), "3");
  EXPECT_TRUE(ids(index->search("acme", "notes", query("pears"))).empty());
}

TEST_F(IndexTest, ReplacesAWholeKind) {
  auto index = open();
  ASSERT_TRUE(index->replace_kind("", "tool", {{"", "a", "alpha tool"}, {"", "b", "beta tool"}}));
  ASSERT_TRUE(index->put("", "", {{"skill", "s", "alpha skill"}}));
  ASSERT_TRUE(index->replace_kind("", "tool", {{"", "c", "gamma tool"}}));
  EXPECT_THAT(ids(index->search("acme", "", query("tool"))), ElementsAre("c"));
  EXPECT_THAT(ids(index->search("acme", "", query("alpha"))), ElementsAre("s"));
}

// An embedder whose model can change, and fail.
class NamedEmbedder final : public Embedder {
 public:
  NamedEmbedder(std::string name, std::size_t dimension, std::atomic<bool>* broken = nullptr)
      : name_(std::move(name)), dimension_(dimension), broken_(broken) {}
  std::string_view model() const override { return name_; }
  std::size_t dimension() const override { return dimension_; }
  Result<std::vector<Vector>> embed(std::span<const std::string> texts) override {
    if (broken_ != nullptr && *broken_) return fail(Code::unavailable, "broken");
    std::vector<Vector> all;
    for (const std::string& text : texts) {
      Vector vector(dimension_, 0.01F);
      vector[(text.size() + name_.size()) % dimension_] = 1;
      normalize(vector);
      all.push_back(std::move(vector));
    }
    return all;
  }

 private:
  std::string name_;
  std::size_t dimension_;
  std::atomic<bool>* broken_;
};

TEST_F(IndexTest, AnotherModelMakesAllVectorsAnew) {
  options_.directory = directory_.path() + "/index";
  const auto open_with = [&](const char* model, std::size_t dimension, std::atomic<bool>* broken = nullptr) {
    auto made = Index::open(options_, std::make_unique<NamedEmbedder>(model, dimension, broken));
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  };
  {
    auto index = open_with("first", 8);
    ASSERT_TRUE(index->make_collection("acme", "notes", 0));
    ASSERT_TRUE(index->make_collection("acme", "own", 3));
    std::vector<Document> documents;
    for (int i = 0; i < 100; ++i) documents.push_back({"point", std::to_string(i), std::string(i + 1U, 'a')});
    ASSERT_TRUE(index->put("acme", "notes", documents));
    Document mine{"point", "mine"};
    mine.vector = Vector{1, 0, 0};
    ASSERT_TRUE(index->put("acme", "own", {mine}));
  }
  std::atomic<bool> broken = true;
  auto index = open_with("second", 16, &broken);
  EXPECT_EQ(index->collection("acme", "notes")->model, "second");
  EXPECT_EQ(index->collection("acme", "notes")->dimension, 16U);
  EXPECT_EQ(index->collection("acme", "own")->dimension, 3U);  // the caller's own vectors stay
  EXPECT_EQ(index->progress().total, 100U);
  EXPECT_THAT(index->degraded_because(), HasSubstr("another model"));
  EXPECT_EQ(index->start_rebuild().error().code(), Code::conflict);
  broken = false;
  ASSERT_TRUE(net::comes_to([&] { return index->degraded_because().empty(); }));
  EXPECT_EQ(index->progress().done, 100U);
  SearchRequest request;
  request.vector = NamedEmbedder("second", 16).embed(std::vector<std::string>{"aaaaa\n"})->front();
  request.limit = 100;
  EXPECT_THAT(ids(index->search("acme", "notes", request)), testing::Contains("4"));
  request.vector = Vector{1, 0, 0};
  EXPECT_THAT(ids(index->search("acme", "own", request)), ElementsAre("mine"));
}

TEST_F(IndexTest, RelationsOfATenantAreBounded) {
  options_.edges_max = 10;
  auto index = open();
  for (int i = 0; i < 25; ++i)
    ASSERT_TRUE(index->relate("acme", {{{"a", "hub"}, {"b", std::to_string(i)}, "knows"}}));
  ASSERT_TRUE(index->relate("other", {{{"a", "hub"}, {"b", "0"}, "knows"}}));
  const auto answer = index->walk("acme", {{"a", "hub"}, {}, 1});
  EXPECT_EQ(answer->edges.size(), 10U);
  EXPECT_THAT(answer->nodes, testing::Contains(Node{"b", "24"}));  // the oldest went first
  EXPECT_EQ(index->walk("other", {{"a", "hub"}, {}, 1})->edges.size(), 1U);
}

TEST_F(IndexTest, VectorsThatNobodyAsksForLeaveTheMemory) {
  options_.directory = directory_.path() + "/index";
  options_.memory_max = 1;
  auto index = open();
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(index->make_collection("acme", name, 0));
    ASSERT_TRUE(index->put("acme", name, {{"point", name, "words of a note"}}));
  }
  for (int round = 0; round < 3; ++round)
    for (const char* name : {"a", "b", "c"}) {
      SearchRequest alike;
      alike.vector = hash_embedder()->embed(std::vector<std::string>{"words of a note"})->front();
      EXPECT_THAT(ids(index->search("acme", name, alike)), ElementsAre(name));
    }
}

TEST(HttpEmbedderTest, RefusesAddressesAndSaysWhenNobodyAnswers) {
  EXPECT_FALSE(http_embedder("nonsense", "m", "", 3));
  auto made = http_embedder("http://127.0.0.1:1", "m", "k", 384);
  ASSERT_TRUE(made);
  const std::string texts[] = {"a"};
  EXPECT_EQ((*made)->embed(texts).error().code(), Code::unavailable);
  // Searching goes on by words.
  auto index = Index::open({}, hash_embedder());
  ASSERT_TRUE((*index)->put("", "", {{"skill", "s", "alpha"}}));
}

// In a mount namespace of its own, on a disk of three megabytes.
template <class Body>
void on_small_disk(const std::string& directory, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0) ::_exit(77);
    const std::string mount = "mount --make-rprivate / && mount -t tmpfs -o size=3m tmpfs " + directory;
    if (std::system(mount.c_str()) != 0) ::_exit(77);
    body();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting is not possible here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// With the servers away besides, so that changes for them wait on the same disk.
TEST_F(IndexTest, AFullDiskIsToldAndNothingIsHalf) {
  for (const bool has_servers : {false, true}) {
    SCOPED_TRACE(has_servers);
    on_small_disk(directory_.path(), [&] {
      options_.directory = directory_.path() + "/index";
      if (has_servers) {
        options_.qdrant.emplace().url = *net::Url::parse("http://127.0.0.1:1");
        options_.neo4j.emplace().url = *net::Url::parse("http://127.0.0.1:1");
      }
      std::uint64_t kept = 0;
      {
        auto index = open();
        ASSERT_TRUE(index->make_collection("acme", "notes", 0));
        Result<void> done{};
        while (done && kept < 10'000) {
          const std::string id = std::to_string(kept);
          done = index->put("acme", "notes", {{"point", id, "word" + id, std::string(2000, 'x')}});
          if (done) ++kept;
        }
        ASSERT_FALSE(done) << "the disk is never full";
        EXPECT_EQ(done.error().code(), Code::no_space) << done.error().message();
        EXPECT_GT(kept, 10U);
        EXPECT_EQ(index->collection("acme", "notes")->points, kept) << "all or none";
        EXPECT_THAT(ids(index->search("acme", "notes", query("word7"))), testing::Contains("7"));
        EXPECT_FALSE(
            index->relate("acme", std::vector<Edge>(1, {{"a", "1"}, {"b", std::string(200, 'x')}, "t"})) &&
            index->put("acme", "notes", {{"point", "late", "word", std::string(4000, 'x')}}));
        ASSERT_EQ(std::system(("mount -o remount,size=32m " + directory_.path()).c_str()), 0);
        EXPECT_TRUE(index->put("acme", "notes", {{"point", "late", "marmalade", std::string(4000, 'x')}}))
            << "there is room again";
      }
      auto index = open();
      EXPECT_EQ(index->collection("acme", "notes")->points, kept + 1);
      EXPECT_THAT(ids(index->search("acme", "notes", query("marmalade"))), testing::Contains("late"));
      EXPECT_TRUE(index->start_rebuild());
    });
  }
}

}  // namespace
}  // namespace atl::index
