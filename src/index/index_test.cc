#include "index/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

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
  static Vector random_vector(std::mt19937& dice, std::size_t dimension) {
    std::normal_distribution<float> normal;
    Vector vector(dimension);
    for (float& x : vector) x = normal(dice);
    normalize(vector);
    return vector;
  }
  os::TestDirectory directory_;
  Options options_;
};

TEST_F(IndexTest, RefusesWhatCannotBe) {
  auto index = open();
  EXPECT_EQ(index->put("acme", "notes", {{"point", "1", "a", "b"}}).error().code(), Code::not_found);
  EXPECT_EQ(index->search("acme", "notes", query("x")).error().code(), Code::not_found);
  EXPECT_EQ(index->drop_collection("acme", "notes").error().code(), Code::not_found);
  EXPECT_EQ(index->remove("acme", "notes", {"1"}).error().code(), Code::not_found);
  ASSERT_TRUE(index->make_collection("acme", "notes", 3));
  EXPECT_EQ(index->make_collection("acme", "notes", 4).error().code(), Code::conflict);
  EXPECT_TRUE(index->make_collection("acme", "notes", 3));
  // Only the caller can make vectors of three numbers.
  EXPECT_EQ(index->put("acme", "notes", {{"point", "1", "a", "b"}}).error().field(), "vector");
  Document wrong{"point", "1", "a", "b"};
  wrong.vector = Vector{1, 2};
  EXPECT_EQ(index->put("acme", "notes", {wrong}).error().field(), "vector");
  SearchRequest request;
  request.vector = Vector{1, 2};
  EXPECT_EQ(index->search("acme", "notes", request).error().field(), "vector");
}

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

TEST_F(IndexTest, TenantsNeverSeeEachOther) {
  auto index = open();
  ASSERT_TRUE(index->put("acme", "", {{"execution", "exe_1", "secret word"}}));
  ASSERT_TRUE(index->put("", "", {{"skill", "shared", "secret skill"}}));
  EXPECT_THAT(ids(index->search("other", "", query("secret"))), ElementsAre("shared"));
  EXPECT_THAT(ids(index->search("acme", "", query("secret word"))),
              testing::UnorderedElementsAre("exe_1", "shared"));
  ASSERT_TRUE(index->make_collection("acme", "notes", 0));
  ASSERT_TRUE(index->put("acme", "notes", {{"point", "1", "x"}}));
  EXPECT_EQ(index->search("other", "notes", query("x")).error().code(), Code::not_found);
  ASSERT_TRUE(index->relate("acme", {{{"session", "s"}, {"execution", "e"}, "ran"}}));
  EXPECT_EQ(index->walk("other", {{"session", "s"}, {}, 2})->nodes.size(), 1U);
  ASSERT_TRUE(index->forget_tenant("acme"));
  EXPECT_THAT(ids(index->search("acme", "", query("secret"))), ElementsAre("shared"));
  EXPECT_EQ(index->walk("acme", {{"session", "s"}, {}, 2})->nodes.size(), 1U);
  EXPECT_TRUE(index->collections("acme")->empty());
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

TEST_F(IndexTest, AgreesWithExactSearch) {
  auto index = open();
  constexpr std::size_t kDimension = 32;
  ASSERT_TRUE(index->make_collection("acme", "v", kDimension));
  std::mt19937 dice(7);
  std::vector<Vector> all;
  std::vector<Document> documents;
  for (int i = 0; i < 2000; ++i) {
    all.push_back(random_vector(dice, kDimension));
    Document document{"point", std::to_string(i)};
    document.vector = all.back();
    documents.push_back(std::move(document));
  }
  ASSERT_TRUE(index->put("acme", "v", documents));
  std::size_t right = 0;
  for (int round = 0; round < 50; ++round) {
    const Vector asked = random_vector(dice, kDimension);
    std::vector<std::pair<float, std::string>> exact;
    for (std::size_t i = 0; i < all.size(); ++i) {
      float product = 0;
      for (std::size_t at = 0; at < kDimension; ++at) product += asked[at] * all[i][at];
      exact.emplace_back(-product, std::to_string(i));
    }
    std::ranges::partial_sort(exact, exact.begin() + 10);
    SearchRequest request;
    request.vector = asked;
    const auto found = ids(index->search("acme", "v", request));
    for (int i = 0; i < 10; ++i)
      right += static_cast<std::size_t>(std::ranges::count(found, exact[static_cast<std::size_t>(i)].second));
  }
  EXPECT_GE(right, 475U);  // recall@10 of 0.95
}

TEST_F(IndexTest, SurvivesRestartsAndDamage) {
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
  auto index = open();
  EXPECT_EQ(*index->rebuild(), 2U);
}

TEST_F(IndexTest, ReplacesAWholeKind) {
  auto index = open();
  ASSERT_TRUE(index->replace_kind("", "tool", {{"", "a", "alpha tool"}, {"", "b", "beta tool"}}));
  ASSERT_TRUE(index->put("", "", {{"skill", "s", "alpha skill"}}));
  ASSERT_TRUE(index->replace_kind("", "tool", {{"", "c", "gamma tool"}}));
  EXPECT_THAT(ids(index->search("acme", "", query("tool"))), ElementsAre("c"));
  EXPECT_THAT(ids(index->search("acme", "", query("alpha"))), ElementsAre("s"));
}

TEST_F(IndexTest, WalksAsASimpleModelDoes) {
  auto index = open();
  std::mt19937 dice(11);
  std::vector<Edge> edges;
  const auto node = [&] { return Node{"n", std::to_string(dice() % 60)}; };
  for (int i = 0; i < 80; ++i) edges.push_back({node(), node(), dice() % 2 == 0 ? "x" : "y"});
  ASSERT_TRUE(index->relate("acme", edges));
  ASSERT_TRUE(index->relate("acme", edges));  // again: nothing changes
  for (int round = 0; round < 40; ++round) {
    GraphQuery asked{node(), {}, 1 + dice() % 4};
    if (dice() % 2 == 0) asked.types = {"x"};
    std::set<Node> known = {asked.from};
    for (std::size_t step = 0; step < asked.depth; ++step) {
      std::set<Node> grown = known;
      for (const Edge& edge : edges) {
        if (!asked.types.empty() && edge.type != "x") continue;
        if (known.contains(edge.from)) grown.insert(edge.to);
        if (known.contains(edge.to)) grown.insert(edge.from);
      }
      known = std::move(grown);
    }
    const auto answer = index->walk("acme", asked);
    ASSERT_TRUE(answer);
    EXPECT_EQ(std::set<Node>(answer->nodes.begin(), answer->nodes.end()), known);
    EXPECT_FALSE(answer->truncated);
  }
  GraphQuery bounded{edges[0].from, {}, 8, 3};
  const auto answer = index->walk("acme", bounded);
  EXPECT_LE(answer->nodes.size(), 3U);
  EXPECT_TRUE(answer->truncated);
  EXPECT_EQ(*index->unrelate("acme", {edges[0]}), 1U);
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

}  // namespace
}  // namespace atl::index
