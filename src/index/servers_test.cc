// What happens when a server is away, slow, wrong or new.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "index/index.h"
#include "index/model_servers_test.h"
#include "index/neo4j.h"
#include "index/qdrant.h"
#include "net/test_server.h"
#include "os/directory_test.h"

namespace atl::index {
namespace {

using net::comes_to;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;
using Fault = FaultProxy::Fault;

class ServersTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.directory = directory_.path() + "/index";
    options_.qdrant = server(qdrant_proxy_.url());
    options_.neo4j = server(neo4j_proxy_.url());
  }
  static ServerOptions server(const std::string& url) {
    ServerOptions server;
    server.url = *net::Url::parse(url);
    server.database = "neo4j";
    server.link.wait = 300ms;
    server.link.tries = 2;
    server.link.back_off = 1ms;
    server.link.rest = 10ms;
    server.link.rest_max = 50ms;
    return server;
  }
  std::unique_ptr<Index> open() {
    auto made = Index::open(options_, hash_embedder());
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }
  static bool is_whole(Index& index) {
    return index.degraded_because().empty() && index.graph_degraded_because().empty();
  }
  static Document point(const std::string& id, Vector vector) {
    Document document{"point", id, "words of " + id};
    document.vector = std::move(vector);
    return document;
  }
  static SearchRequest near(Vector vector) {
    SearchRequest request;
    request.vector = std::move(vector);
    return request;
  }
  static std::vector<std::string> ids(const Result<Found>& found) {
    EXPECT_TRUE(found) << found.error().message();
    std::vector<std::string> all;
    if (found)
      for (const Hit& hit : found->hits) all.push_back(hit.id);
    return all;
  }
  std::size_t points_there() {
    const std::lock_guard lock(qdrant_.mutex);
    std::size_t count = 0;
    for (const auto& [name, one] : qdrant_.collections) count += one.points.size();
    return count;
  }

  ModelQdrant qdrant_;
  ModelNeo4j neo4j_;
  LocalServer qdrant_server_{[this](const auto& request) { return qdrant_.answer(request); }};
  LocalServer neo4j_server_{[this](const auto& request) { return neo4j_.answer(request); }};
  FaultProxy qdrant_proxy_{qdrant_server_.port()}, neo4j_proxy_{neo4j_server_.port()};
  os::TestDirectory directory_;
  Options options_;
};

TEST_F(ServersTest, WritesWaitForAServerThatIsAwayAndSearchesSayIt) {
  for (const Fault fault : {Fault::cut, Fault::stall, Fault::half, Fault::deaf, Fault::garbage}) {
    SCOPED_TRACE(static_cast<int>(fault));
    auto index = open();
    ASSERT_TRUE(comes_to([&] { return is_whole(*index); }));
    const std::string name = "v" + std::to_string(static_cast<int>(fault));
    ASSERT_TRUE(index->make_collection("acme", name, 3));
    ASSERT_TRUE(index->put("acme", name, {point("before", {1, 0, 0})}));
    EXPECT_THAT(ids(index->search("acme", name, near({1, 0, 0}))), ElementsAre("before"));
    qdrant_proxy_.fault = neo4j_proxy_.fault = fault;
    ASSERT_TRUE(index->put("acme", name, {point("while", {0, 1, 0}), point("gone", {0, 1, 0})}));
    ASSERT_TRUE(index->remove("acme", name, {"gone"}));
    ASSERT_TRUE(index->relate("acme", {{{"a", name}, {"b", "1"}, "knows"}}));
    SearchRequest words;
    words.query = "words of while";
    auto found = index->search("acme", name, words);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_THAT(found->degraded_because, HasSubstr("Qdrant"));
    EXPECT_EQ(ids(found).at(0), "while");  // by words
    const auto walked = index->walk("acme", {{"a", name}, {}, 1});
    ASSERT_TRUE(walked);
    EXPECT_THAT(walked->degraded_because, HasSubstr("Neo4j"));
    EXPECT_EQ(walked->edges.size(), 1U);  // the catalog has it
    EXPECT_GT(qdrant_proxy_.met, 0);
    // Back again: everything arrives, in its order.
    qdrant_proxy_.fault = neo4j_proxy_.fault = Fault::none;
    ASSERT_TRUE(comes_to([&] { return is_whole(*index); })) << index->degraded_because();
    EXPECT_THAT(ids(index->search("acme", name, near({0, 1, 0}))), ElementsAre("while"));
    EXPECT_EQ(index->walk("acme", {{"a", name}, {}, 1})->degraded_because, "");
    EXPECT_EQ(index->walk("acme", {{"a", name}, {}, 1})->edges.size(), 1U);
  }
}

TEST_F(ServersTest, WhatWaitsOutlivesARestart) {
  {
    auto index = open();
    ASSERT_TRUE(comes_to([&] { return is_whole(*index); }));
    ASSERT_TRUE(index->make_collection("acme", "v", 3));
    ASSERT_TRUE(index->put("acme", "v", {point("first", {1, 0, 0})}));
    qdrant_proxy_.fault = neo4j_proxy_.fault = Fault::cut;
    ASSERT_TRUE(index->put("acme", "v", {point("second", {0, 1, 0})}));
    ASSERT_TRUE(index->put("acme", "v", {point("first", {0, 0, 1})}));
    ASSERT_TRUE(index->relate("acme", {{{"a", "1"}, {"b", "1"}, "knows"}}));
    EXPECT_EQ(points_there(), 1U);
  }
  auto index = open();
  EXPECT_FALSE(comes_to([&] { return qdrant_proxy_.met > 3; }) && is_whole(*index));
  qdrant_proxy_.fault = neo4j_proxy_.fault = Fault::none;
  ASSERT_TRUE(comes_to([&] { return is_whole(*index); }));
  EXPECT_EQ(points_there(), 2U);
  EXPECT_THAT(ids(index->search("acme", "v", near({0, 0, 1}))), ElementsAre("first"));
  EXPECT_THAT(ids(index->search("acme", "v", near({1, 0, 0}))), ElementsAre());
  EXPECT_EQ(neo4j_.edges.size(), 1U);
}

TEST_F(ServersTest, AServerThatLostItsDataIsFilledAgain) {
  auto index = open();
  ASSERT_TRUE(index->make_collection("acme", "v", 3));
  std::vector<Document> documents;
  for (int i = 0; i < 700; ++i)
    documents.push_back(point(std::to_string(i), {1, static_cast<float>(i) / 700, 0}));
  ASSERT_TRUE(index->put("acme", "v", documents));
  ASSERT_TRUE(index->relate("acme", {{{"a", "1"}, {"b", "1"}, "knows"}}));
  ASSERT_TRUE(comes_to([&] { return is_whole(*index) && points_there() == 700; }));
  {
    const std::lock_guard lock(qdrant_.mutex);
    qdrant_.collections.clear();
  }
  ASSERT_TRUE(index->put("acme", "v", {point("late", {0, 0, 1})}));
  EXPECT_TRUE(comes_to([&] { return is_whole(*index) && points_there() == 701; })) << points_there();
  // Half of it lost, noticed when the server comes back.
  qdrant_proxy_.fault = neo4j_proxy_.fault = Fault::cut;
  (void)index->search("acme", "v", near({0, 0, 1}));
  (void)index->walk("acme", {{"a", "1"}, {}, 1});
  EXPECT_FALSE(is_whole(*index));
  {
    const std::lock_guard lock(qdrant_.mutex);
    auto& points = qdrant_.collections.begin()->second.points;
    points.erase(points.begin(), std::next(points.begin(), 300));
    const std::lock_guard graph(neo4j_.mutex);
    neo4j_.edges.clear();
  }
  qdrant_proxy_.fault = neo4j_proxy_.fault = Fault::none;
  EXPECT_TRUE(comes_to([&] { return is_whole(*index) && points_there() == 701; })) << points_there();
  EXPECT_EQ(neo4j_.edges.size(), 1U);
}

TEST_F(ServersTest, TooManyWaitingChangesBecomeAFilling) {
  options_.waiting_max = 20;
  qdrant_proxy_.fault = neo4j_proxy_.fault = Fault::cut;
  auto index = open();
  ASSERT_TRUE(index->make_collection("acme", "v", 3));
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(index->put("acme", "v", {point(std::to_string(i), {1, 0, 0})}));
    ASSERT_TRUE(index->relate("acme", {{{"a", "1"}, {"b", std::to_string(i)}, "knows"}}));
  }
  qdrant_proxy_.fault = neo4j_proxy_.fault = Fault::none;
  EXPECT_TRUE(comes_to([&] { return is_whole(*index) && points_there() == 60; })) << points_there();
  EXPECT_EQ(neo4j_.edges.size(), 60U);
}

TEST_F(ServersTest, EmbeddedVectorsMoveToAServerAndBack) {
  auto qdrant = std::exchange(options_.qdrant, std::nullopt);
  auto neo4j = std::exchange(options_.neo4j, std::nullopt);
  const auto check = [&](const char* backend) {
    auto index = open();
    ASSERT_TRUE(comes_to([&] { return is_whole(*index); }));
    EXPECT_EQ(index->vector_backend(), backend);
    EXPECT_THAT(ids(index->search("acme", "v", near({1, 0, 0}))), ElementsAre("x"));
    EXPECT_EQ(index->walk("acme", {{"a", "1"}, {}, 1})->edges.size(), 1U);
  };
  {
    auto index = open();
    ASSERT_TRUE(index->make_collection("acme", "v", 3));
    ASSERT_TRUE(index->put("acme", "v", {point("x", {1, 0, 0})}));
    ASSERT_TRUE(index->relate("acme", {{{"a", "1"}, {"b", "1"}, "knows"}}));
  }
  check("embedded");
  options_.qdrant = qdrant;
  options_.neo4j = neo4j;
  check("qdrant");
  EXPECT_EQ(points_there(), 1U);
  options_.qdrant = options_.neo4j = std::nullopt;
  {
    auto index = open();
    ASSERT_TRUE(index->remove("acme", "v", {"x"}));
    ASSERT_TRUE(index->put("acme", "v", {point("x", {1, 0.1F, 0})}));  // as many as before, others
  }
  options_.qdrant = qdrant;
  options_.neo4j = neo4j;
  check("qdrant");
}

TEST_F(ServersTest, KeysAreSentAndNeverShown) {
  std::mutex mutex;
  std::string heads;
  LocalServer guarded([&](const LocalServer::Request& request) -> LocalServer::Reply {
    const std::lock_guard lock(mutex);
    heads += request.head;
    if (request.head.find("api-key: right-key") == std::string::npos) return {401, "no"};
    return qdrant_.answer(request);
  });
  options_.neo4j.reset();
  options_.qdrant = server(guarded.url());
  options_.qdrant->headers = {{"api-key", "wrong-key"}};
  auto index = open();
  ASSERT_TRUE(index->make_collection("acme", "v", 3));
  ASSERT_TRUE(index->put("acme", "v", {point("x", {1, 0, 0})}));
  ASSERT_TRUE(comes_to([&] { return !index->degraded_because().empty(); }));
  EXPECT_THAT(index->degraded_because(), HasSubstr("index.qdrant.api_key_secret"));
  EXPECT_THAT(index->degraded_because(), Not(HasSubstr("wrong-key")));
  index->set_headers(Index::Headers{{"api-key", "right-key"}}, std::nullopt);
  EXPECT_TRUE(comes_to([&] { return is_whole(*index) && points_there() == 1; }));
}

TEST_F(ServersTest, AServerThatLiesShowsNothingOfOthers) {
  options_.neo4j.reset();
  auto index = open();
  for (const char* tenant : {"acme", "other"}) {
    ASSERT_TRUE(index->make_collection(tenant, "v", 3));
    ASSERT_TRUE(index->put(tenant, "v", {point(tenant, {1, 0, 0})}));
  }
  ASSERT_TRUE(comes_to([&] { return points_there() == 2; }));
  {
    // Every point says that it is of every place.
    const std::lock_guard lock(qdrant_.mutex);
    for (auto& [name, one] : qdrant_.collections)
      for (auto& [id, each] : one.points) each.payload["place"] = boost::json::array{"p1", "p2", "p3", "p4"};
  }
  EXPECT_THAT(ids(index->search("acme", "v", near({1, 0, 0}))), ElementsAre("acme"));
  EXPECT_THAT(ids(index->search("other", "v", near({1, 0, 0}))), ElementsAre("other"));
}

// Every kind of answer that the server's description has, and some that it has not.
TEST(QdrantAnswersTest, WrongOnesAreFailures) {
  LocalServer::Reply reply;
  std::mutex mutex;
  LocalServer server([&](const LocalServer::Request&) {
    const std::lock_guard lock(mutex);
    return reply;
  });
  const auto set = [&](int status, std::string body) {
    const std::lock_guard lock(mutex);
    reply = {status, std::move(body)};
  };
  LinkOptions options{.wait = 1s, .tries = 1, .rest = 0ms, .rest_max = 0ms};
  ServerLink link("Qdrant", *net::Url::parse(server.url()), {}, options);
  Qdrant qdrant(link, "0123456789abcdef");
  const VectorQuery query{{1, 0}, 3, {}, {}};
  const std::pair<int, const char*> answers[] = {
      {200, "[]"},
      {200, "{}"},
      {200, R"({"result":null})"},
      {200, R"({"result":{"points":{}}})"},
      {200, R"({"result":{"points":[{"id":"a6a0c6ad-5f3b-4d5e-8f5e-000000000000","score":1}]}})"},
      {200, R"({"result":{"points":[{"id":-1,"score":1}]}})"},
      {200, R"({"result":{"points":[{"id":1}]}})"},
      {200, R"({"result":{"points":[7]}})"},
      {400, R"({"status":{"error":"Wrong input"},"time":0})"},
      {401, "Must provide an API key"},
      {403, "{}"},
      {404, R"({"status":{"error":"Not found"}})"},
      {408, "{}"},
      {422, R"({"status":{"error":"Validation error"}})"},
      {429, "{}"},
      {500, "{}"},
      {503, ""}};
  for (const auto& [status, body] : answers) {
    SCOPED_TRACE(body);
    set(status, body);
    EXPECT_FALSE(qdrant.nearest(1, 2, query));
    EXPECT_FALSE(qdrant.count(2));
  }
  set(200,
      R"({"usage":null,"time":0.002,"status":"ok","result":{"points":[{"id":7,"version":3,"score":0.5}]}})");
  ASSERT_TRUE(qdrant.nearest(1, 2, query));
  EXPECT_EQ(qdrant.nearest(1, 2, query)->at(0).number, 7U);
  // Of another size or measure: it is not ours.
  set(200,
      R"({"result":{"config":{"params":{"vectors":{"size":3,"distance":"Cosine"}}},"payload_schema":{}}})");
  EXPECT_EQ(qdrant.count(2).error().code(), Code::not_found);
  set(200, R"({"result":{"config":{"params":{"vectors":{"size":2,"distance":"Dot"}}},"payload_schema":{}}})");
  EXPECT_EQ(qdrant.count(2).error().code(), Code::not_found);
  set(404, "{}");
  EXPECT_EQ(qdrant.count(2).error().code(), Code::not_found);
  EXPECT_TRUE(qdrant.drop(1, 2));  // nothing is there: it is gone
  EXPECT_FALSE(qdrant.clear(2));
}

TEST(Neo4jAnswersTest, WrongOnesAreFailures) {
  LocalServer::Reply reply;
  std::mutex mutex;
  LocalServer server([&](const LocalServer::Request&) {
    const std::lock_guard lock(mutex);
    return reply;
  });
  LinkOptions options{.wait = 1s, .tries = 1, .rest = 0ms, .rest_max = 0ms};
  ServerLink link("Neo4j", *net::Url::parse(server.url()), {}, options);
  Neo4j neo4j(link, "0123456789abcdef", "neo4j");
  const Node nodes[] = {{"a", "1"}};
  const std::pair<int, const char*> answers[] = {
      {202, "{}"},
      {202, R"({"data":null})"},
      {202, R"({"data":{"values":{}}})"},
      {202, R"({"data":{"values":[["a"]]}})"},
      {202, R"({"data":{"values":[[1,2,3,4,5]]}})"},
      {202, R"({"data":{"values":[["a","1","t","b","2"]]},"errors":[{"code":"x","message":"y"}]})"},
      {400, R"({"errors":[{"code":"Neo.ClientError.Statement.SyntaxError","message":"no"}]})"},
      {401, R"({"errors":[{"code":"Neo.ClientError.Security.Unauthorized","message":"no"}]})"},
      {404, R"({"errors":[{"code":"Neo.ClientError.Database.DatabaseNotFound","message":"no"}]})"},
      {500, "{}"},
      {503, "{}"}};
  for (const auto& [status, body] : answers) {
    SCOPED_TRACE(body);
    {
      const std::lock_guard lock(mutex);
      reply = {status, body};
    }
    EXPECT_FALSE(neo4j.edges_of("acme", nodes, {}, Direction::both, 10));
    if (std::string_view(body).find("[[1") == std::string_view::npos) {
      // One row with a number is a good count.
      EXPECT_FALSE(neo4j.count());
      EXPECT_FALSE(neo4j.clear());
    }
  }
}

// Of a dense graph of long names: the tenant asked for too much at once, and the server is as good as it was.
TEST(Neo4jAnswersTest, OnesThatAreTooLargeAreAskedForInParts) {
  std::atomic<int> requests = 0;
  LocalServer server([&](const LocalServer::Request& request) -> LocalServer::Reply {
    ++requests;
    boost::json::array rows;
    for (const auto& node : request.body.at("parameters").at("nodes").as_array())
      for (int i = 0; i < 1001; ++i)
        rows.push_back(boost::json::array{node.at("kind"), node.at("id"), "t", "b",
                                          std::to_string(i) + std::string(2000, 'x')});
    return {202, boost::json::serialize(boost::json::object{{"data", {{"values", rows}}}})};
  });
  ServerLink link("Neo4j", *net::Url::parse(server.url()), {}, {.wait = 20s, .tries = 1});
  Neo4j neo4j(link, "0123456789abcdef", "neo4j");
  std::vector<Node> nodes;
  for (int i = 0; i < 20; ++i) nodes.push_back({"a", std::to_string(i)});
  const auto edges = neo4j.edges_of("acme", nodes, {}, Direction::out, 1001);
  ASSERT_TRUE(edges) << edges.error().message();
  EXPECT_EQ(edges->size(), 20U * 1001U);
  EXPECT_GT(requests, 2);
  EXPECT_EQ(link.away_because(), "");
}

}  // namespace
}  // namespace atl::index
