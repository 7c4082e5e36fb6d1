// What an index promises, whichever backends it has: embedded, servers of our own that speak as the real ones
// do, and real ones at addresses from the environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "index/index.h"
#include "index/model_servers_test.h"
#include "net/test_server.h"
#include "os/directory_test.h"

namespace atl::index {
namespace {

using net::comes_to;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

LinkOptions quick_link() {
  LinkOptions link;
  link.wait = 2s;
  link.back_off = 1ms;
  link.rest = 10ms;
  link.rest_max = 100ms;
  return link;
}

ServerOptions server_at(const std::string& url) {
  ServerOptions server;
  server.url = *net::Url::parse(url);
  server.database = "neo4j";
  server.link = quick_link();
  return server;
}

// embedded, graph (embedded, every vector in a graph at once), model (servers of the tests), real
// (ATOLL_TEST_QDRANT, ATOLL_TEST_NEO4J)
class ContractTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    options_.directory = directory_.path() + "/index";
    if (GetParam() == "graph") options_.fresh_max = 0;
    if (GetParam() == "model") {
      options_.qdrant = server_at(qdrant_server_.url());
      options_.neo4j = server_at(neo4j_server_.url());
    }
    if (GetParam() != "real") return;
    const char *qdrant = std::getenv("ATOLL_TEST_QDRANT"), *neo4j = std::getenv("ATOLL_TEST_NEO4J");
    if (qdrant == nullptr && neo4j == nullptr)
      GTEST_SKIP() << "no server: ATOLL_TEST_QDRANT and ATOLL_TEST_NEO4J are not set";
    if (qdrant != nullptr) options_.qdrant = server_at(qdrant);
    if (neo4j != nullptr) options_.neo4j = server_at(neo4j);
    if (options_.qdrant) options_.qdrant->link.wait = 20s;
    if (options_.neo4j) options_.neo4j->link.wait = 20s;
  }
  std::unique_ptr<Index> open() {
    auto made = Index::open(options_, hash_embedder());
    EXPECT_TRUE(made) << made.error().message();
    EXPECT_TRUE(comes_to([&] {
      return (*made)->degraded_because().empty() && (*made)->graph_degraded_because().empty();
    })) << (*made)->degraded_because()
        << (*made)->graph_degraded_because();
    return std::move(*made);
  }
  static std::vector<std::string> ids(const Result<Found>& found) {
    EXPECT_TRUE(found) << found.error().message();
    std::vector<std::string> all;
    if (!found) return all;
    EXPECT_EQ(found->degraded_because, "");
    for (const Hit& hit : found->hits) all.push_back(hit.id);
    return all;
  }
  static SearchRequest query(std::string text) {
    SearchRequest request;
    request.query = std::move(text);
    return request;
  }
  static SearchRequest near(Vector vector) {
    SearchRequest request;
    request.vector = std::move(vector);
    return request;
  }
  static Document with_vector(const std::string& id, Vector vector, std::string payload = "{}") {
    Document document{"point", id};
    document.payload = std::move(payload);
    document.vector = std::move(vector);
    return document;
  }
  static Vector random_vector(std::mt19937& dice, std::size_t dimension) {
    std::normal_distribution<float> normal;
    Vector vector(dimension);
    for (float& x : vector) x = normal(dice);
    normalize(vector);
    return vector;
  }

  ModelQdrant qdrant_;
  ModelNeo4j neo4j_;
  LocalServer qdrant_server_{[this](const auto& request) { return qdrant_.answer(request); }};
  LocalServer neo4j_server_{[this](const auto& request) { return neo4j_.answer(request); }};
  os::TestDirectory directory_;
  Options options_;
};

TEST_P(ContractTest, RefusesWhatCannotBe) {
  auto index = open();
  EXPECT_EQ(index->put("acme", "notes", {{"point", "1", "a", "b"}}).error().code(), Code::not_found);
  EXPECT_EQ(index->search("acme", "notes", query("x")).error().code(), Code::not_found);
  EXPECT_EQ(index->drop_collection("acme", "notes").error().code(), Code::not_found);
  EXPECT_EQ(index->remove("acme", "notes", {"1"}).error().code(), Code::not_found);
  ASSERT_TRUE(index->make_collection("acme", "notes", 3));
  EXPECT_EQ(index->make_collection("acme", "notes", 4).error().code(), Code::conflict);
  EXPECT_EQ(index->put("acme", "notes", {{"point", "1", "a", "b"}}).error().field(), "vector");
  EXPECT_EQ(index->put("acme", "notes", {with_vector("1", {1, 2})}).error().field(), "vector");
  EXPECT_EQ(index->search("acme", "notes", near({1, 2})).error().field(), "vector");
  EXPECT_EQ(*index->remove("acme", "notes", {"nothing"}), 0U);
  EXPECT_THAT(ids(index->search("acme", "notes", near({1, 2, 3}))), ElementsAre());
}

TEST_P(ContractTest, PutsReplacesAndRemoves) {
  auto index = open();
  ASSERT_TRUE(index->make_collection("acme", "v", 3));
  ASSERT_TRUE(index->put(
      "acme", "v", {with_vector("x", {1, 0, 0}), with_vector("y", {0, 1, 0}), with_vector("z", {0, 0, 1})}));
  EXPECT_THAT(ids(index->search("acme", "v", near({0.9F, 0.3F, 0.1F}))), ElementsAre("x", "y", "z"));
  ASSERT_TRUE(index->put("acme", "v", {with_vector("x", {0, 0.1F, 1})}));  // the same id: replaced
  EXPECT_EQ(ids(index->search("acme", "v", near({0, 0, 1}))).at(0), "z");
  EXPECT_THAT(ids(index->search("acme", "v", near({1, 0, 0}))), ElementsAre());
  EXPECT_EQ(*index->remove("acme", "v", {"z", "nothing"}), 1U);
  EXPECT_THAT(ids(index->search("acme", "v", near({0, 0.2F, 1}))), ElementsAre("x", "y"));
  EXPECT_THAT(ids(index->search("acme", "v", near({0, 0, 1}))), ElementsAre("x"));  // y has nothing in common
  EXPECT_EQ(index->collection("acme", "v")->points, 2U);
  ASSERT_TRUE(index->drop_collection("acme", "v"));
  ASSERT_TRUE(index->make_collection("acme", "v", 3));
  EXPECT_THAT(ids(index->search("acme", "v", near({0, 0, 1}))), ElementsAre());
}

TEST_P(ContractTest, TenantsNeverSeeEachOther) {
  auto index = open();
  for (const char* tenant : {"acme", "other"}) {
    ASSERT_TRUE(index->make_collection(tenant, "v", 3));
    ASSERT_TRUE(index->put(tenant, "v", {with_vector(std::string(tenant) + "-point", {1, 0, 0})}));
    ASSERT_TRUE(index->put(tenant, "", {{"execution", std::string(tenant) + "-run", "secret word"}}));
    ASSERT_TRUE(index->relate(tenant, {{{"session", "s"}, {"execution", tenant}, "ran"}}));
  }
  ASSERT_TRUE(index->put("", "", {{"skill", "shared", "secret skill"}}));
  EXPECT_THAT(ids(index->search("acme", "v", near({1, 0, 0}))), ElementsAre("acme-point"));
  EXPECT_THAT(ids(index->search("acme", "", query("secret word"))),
              UnorderedElementsAre("acme-run", "shared"));
  EXPECT_THAT(ids(index->search("third", "", query("secret word"))), ElementsAre("shared"));
  EXPECT_THAT(index->walk("acme", {{"session", "s"}, {}, 3})->nodes,
              ElementsAre(Node{"session", "s"}, Node{"execution", "acme"}));
  EXPECT_EQ(index->walk("third", {{"session", "s"}, {}, 3})->nodes.size(), 1U);
  ASSERT_TRUE(index->forget_tenant("acme"));
  EXPECT_EQ(index->search("acme", "v", near({1, 0, 0})).error().code(), Code::not_found);
  EXPECT_THAT(ids(index->search("acme", "", query("secret word"))), ElementsAre("shared"));
  EXPECT_EQ(index->walk("acme", {{"session", "s"}, {}, 3})->edges.size(), 0U);
  EXPECT_THAT(ids(index->search("other", "v", near({1, 0, 0}))), ElementsAre("other-point"));
  EXPECT_EQ(index->walk("other", {{"session", "s"}, {}, 3})->edges.size(), 1U);
}

TEST_P(ContractTest, FiltersExactly) {
  auto index = open();
  ASSERT_TRUE(index->make_collection("acme", "v", 8));
  std::mt19937 dice(3);
  std::vector<Document> documents;
  for (int i = 0; i < 600; ++i)
    documents.push_back(with_vector(std::to_string(i), random_vector(dice, 8),
                                    fmt::format(R"({{"rare":{},"even":{}}})", i == 599, i % 2 == 0)));
  ASSERT_TRUE(index->put("acme", "v", documents));
  for (int round = 0; round < 10; ++round) {
    auto request = near(random_vector(dice, 8));
    request.filter = {{"rare", "true"}};  // one of 600, however far away
    const auto found = index->search("acme", "v", request);
    ASSERT_TRUE(found);
    for (const Hit& hit : found->hits) EXPECT_EQ(hit.id, "599");
    request.filter = {{"even", "true"}, {"rare", "true"}};
    EXPECT_THAT(ids(index->search("acme", "v", request)), ElementsAre());
    request.filter = {{"even", "true"}};
    request.limit = 50;
    for (const std::string& id : ids(index->search("acme", "v", request))) EXPECT_EQ(std::stoi(id) % 2, 0);
  }
  auto request = near(*documents[599].vector);
  request.filter = {{"rare", "true"}};
  EXPECT_THAT(ids(index->search("acme", "v", request)), ElementsAre("599"));
}

TEST_P(ContractTest, AgreesWithExactSearch) {
  auto index = open();
  constexpr std::size_t kDimension = 32;
  ASSERT_TRUE(index->make_collection("acme", "v", kDimension));
  std::mt19937 dice(7);
  std::vector<Vector> all;
  std::vector<Document> documents;
  for (int i = 0; i < 1500; ++i) {
    all.push_back(random_vector(dice, kDimension));
    documents.push_back(with_vector(std::to_string(i), all.back()));
  }
  ASSERT_TRUE(index->put("acme", "v", documents));
  // A server that is busy has the last of so many a moment later, and searches say so until then.
  ASSERT_TRUE(comes_to([&] { return index->degraded_because().empty(); })) << index->degraded_because();
  std::size_t right = 0;
  for (int round = 0; round < 40; ++round) {
    const Vector asked = random_vector(dice, kDimension);
    std::vector<std::pair<float, std::string>> exact;
    for (std::size_t i = 0; i < all.size(); ++i) {
      float product = 0;
      for (std::size_t at = 0; at < kDimension; ++at) product += asked[at] * all[i][at];
      exact.emplace_back(-product, std::to_string(i));
    }
    std::ranges::partial_sort(exact, exact.begin() + 10);
    const auto found = ids(index->search("acme", "v", near(asked)));
    for (std::size_t i = 0; i < 10; ++i)
      right += static_cast<std::size_t>(std::ranges::count(found, exact[i].second));
  }
  EXPECT_GE(right, 380U);  // recall@10 of 0.95
}

TEST_P(ContractTest, WalksAsASimpleModelDoes) {
  auto index = open();
  std::mt19937 dice(11);
  std::vector<Edge> edges;
  const auto node = [&] { return Node{"n", std::to_string(dice() % 60)}; };
  for (int i = 0; i < 80; ++i) edges.push_back({node(), node(), dice() % 2 == 0 ? "x" : "y"});
  ASSERT_TRUE(index->relate("acme", edges));
  ASSERT_TRUE(index->relate("acme", edges));  // again: nothing changes
  for (int round = 0; round < 30; ++round) {
    GraphQuery asked{node(), {}, 1 + dice() % 4};
    if (dice() % 2 == 0) asked.types = {"x"};
    asked.direction = static_cast<Direction>(dice() % 3);
    std::set<Node> known = {asked.from};
    for (std::size_t step = 0; step < asked.depth; ++step) {
      std::set<Node> grown = known;
      for (const Edge& edge : edges) {
        if (!asked.types.empty() && edge.type != "x") continue;
        if (asked.direction != Direction::in && known.contains(edge.from)) grown.insert(edge.to);
        if (asked.direction != Direction::out && known.contains(edge.to)) grown.insert(edge.from);
      }
      known = std::move(grown);
    }
    const auto answer = index->walk("acme", asked);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->degraded_because, "");
    EXPECT_EQ(std::set<Node>(answer->nodes.begin(), answer->nodes.end()), known);
    EXPECT_FALSE(answer->truncated);
    // A way to the last of them has as many steps as it is far.
    asked.to = answer->nodes.back();
    const auto way = index->walk("acme", asked);
    ASSERT_TRUE(way);
    EXPECT_EQ(way->nodes.front(), asked.from);
    EXPECT_EQ(way->nodes.back(), *asked.to);
    EXPECT_EQ(way->edges.size() + 1, way->nodes.size());
    EXPECT_LE(way->edges.size(), asked.depth);
  }
  const auto bounded = index->walk("acme", {edges[0].from, {}, 8, 3});
  EXPECT_LE(bounded->nodes.size(), 3U);
  EXPECT_TRUE(bounded->truncated);
  EXPECT_EQ(*index->unrelate("acme", {edges[0]}), 1U);
  EXPECT_EQ(*index->unrelate("acme", {edges[0]}), 0U);
  GraphQuery nowhere{edges[1].from, {}, 8};
  nowhere.to = Node{"n", "nobody"};
  EXPECT_TRUE(index->walk("acme", nowhere)->nodes.empty());
}

TEST_P(ContractTest, LivesOnAfterARestartAndARebuild) {
  const auto check = [&](Index& index) {
    EXPECT_THAT(ids(index.search("acme", "v", near({1, 0, 0.2F}))), ElementsAre("x", "z"));
    EXPECT_EQ(ids(index.search("acme", "notes", query("pears"))).at(0), "1");
    EXPECT_EQ(index.walk("acme", {{"a", "1"}, {}, 1})->edges.size(), 1U);
  };
  {
    auto index = open();
    ASSERT_TRUE(index->make_collection("acme", "v", 3));
    ASSERT_TRUE(index->make_collection("acme", "notes", 0));
    ASSERT_TRUE(
        index->put("acme", "v",
                   {with_vector("x", {1, 0, 0}), with_vector("y", {1, 0, 0}), with_vector("z", {0, 0, 1})}));
    ASSERT_TRUE(index->put("acme", "notes", {{"point", "1", "apples and pears"}, {"point", "2", "ships"}}));
    ASSERT_TRUE(index->remove("acme", "v", {"y"}));
    ASSERT_TRUE(index->relate("acme", {{{"a", "1"}, {"b", "2"}, "knows"}}));
    check(*index);
  }
  auto index = open();
  check(*index);
  ASSERT_TRUE(index->start_rebuild());
  EXPECT_TRUE(comes_to([&] {
    return index->progress().doing.empty() && index->degraded_because().empty() &&
           index->graph_degraded_because().empty();
  }));
  EXPECT_EQ(index->progress().failure, "");
  check(*index);
  ASSERT_TRUE(index->put("acme", "v", {with_vector("w", {0, 1, 0})}));
  EXPECT_EQ(ids(index->search("acme", "v", near({0, 1, 0}))).at(0), "w");
}

INSTANTIATE_TEST_SUITE_P(Backends, ContractTest, testing::Values("embedded", "graph", "model", "real"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace atl::index
