#include <atoll/knowledge.h>

#include <algorithm>

#include "service.h"

// Search, collections and relations through the client, against a live daemon.
namespace service {
namespace {

struct KnowledgeTest : ServiceTest {
  Knowledge knowledge{client};
  static std::vector<std::string> ids(const Found& found) {
    std::vector<std::string> all;
    for (const Hit& hit : found.hits) all.push_back(hit.id);
    return all;
  }
};

TEST_F(KnowledgeTest, RefusalsAreErrorsWithTheirField) {
  try {
    knowledge.search("x", {.kinds = {"nothing"}});
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_EQ(error.field(), "kinds");
  }
  EXPECT_THROW(knowledge.search("x", {.limit = 101}), InvalidArgumentError);
  EXPECT_THROW(knowledge.collection("cpp-nothing"), NotFoundError);
  EXPECT_THROW(knowledge.search_points("cpp-nothing", {.query = "x"}), NotFoundError);
  EXPECT_THROW(knowledge.remove_collection("cpp-nothing"), NotFoundError);
  EXPECT_THROW(knowledge.make_collection("a/../b"), InvalidArgumentError);
  EXPECT_THROW(knowledge.put_points("cpp-nothing", {}), InvalidArgumentError);
  EXPECT_THROW(knowledge.related({"session", "x"}, {.depth = 9}), InvalidArgumentError);
  EXPECT_THROW(knowledge.related({"session", "x"}, {.direction = "up"}), InvalidArgumentError);
  EXPECT_THROW(knowledge.relate({{"", ""}, {"a", "b"}, "c"}), InvalidArgumentError);
}

TEST_F(KnowledgeTest, ToolsAreFoundByMeaning) {
  const Found found = knowledge.search("fetch a page from the web", {.kinds = {"tool"}, .limit = 3});
  ASSERT_FALSE(found.hits.empty());
  EXPECT_LE(found.hits.size(), 3U);
  EXPECT_FALSE(found.degraded);
  EXPECT_EQ(std::ranges::count(ids(found), "http_fetch"), 1);
  for (const Hit& hit : found.hits) {
    EXPECT_EQ(hit.kind, "tool");
    EXPECT_GE(hit.score, 0);
    EXPECT_LE(hit.score, 1);
  }
  const Found rest =
      knowledge.search("fetch a page from the web", {.kinds = {"tool"}, .limit = 1, .offset = 1});
  ASSERT_EQ(rest.hits.size(), 1U);
  EXPECT_EQ(rest.hits[0].id, found.hits[1].id);
}

TEST_F(KnowledgeTest, ACollectionOfTexts) {
  const Collection made = knowledge.make_collection("cpp-notes");
  EXPECT_EQ(made.name, "cpp-notes");
  EXPECT_FALSE(made.model.empty());
  EXPECT_EQ(knowledge.make_collection("cpp-notes").created_at, made.created_at) << "it stays";
  EXPECT_EQ(knowledge.put_points("cpp-notes", {{.id = "tide", .text = "The tide is high at noon."},
                                               {.id = "rain",
                                                .title = "Rain",
                                                .text = "It rained all day.",
                                                .payload = Json::object({{"wet", true}})}}),
            2);
  EXPECT_EQ(knowledge.collection("cpp-notes").points, 2);
  EXPECT_EQ(ids(knowledge.search_points("cpp-notes", {.query = "high tide"})).front(), "tide");
  const Found wet =
      knowledge.search_points("cpp-notes", {.query = "tide rained", .filter = Json::object({{"wet", true}})});
  ASSERT_EQ(wet.hits.size(), 1U);
  EXPECT_EQ(wet.hits[0].id, "rain");
  EXPECT_EQ(wet.hits[0].payload["wet"], Json(true));
  EXPECT_EQ(knowledge.remove_points("cpp-notes", {"tide", "none"}), 1);
  EXPECT_EQ(ids(knowledge.search_points("cpp-notes", {.query = "tide rained"})),
            std::vector<std::string>{"rain"});
  const auto all = knowledge.collections();
  EXPECT_TRUE(std::ranges::any_of(all, [](const Collection& one) { return one.name == "cpp-notes"; }));
  knowledge.remove_collection("cpp-notes");
  EXPECT_THROW(knowledge.collection("cpp-notes"), NotFoundError);
}

TEST_F(KnowledgeTest, VectorsOfTheCallers) {
  EXPECT_EQ(knowledge.make_collection("cpp-vectors", 3).dimension, 3);
  EXPECT_EQ(knowledge.collection("cpp-vectors").model, "");
  EXPECT_THROW(knowledge.make_collection("cpp-vectors", 4), ConflictError);
  EXPECT_THROW(knowledge.put_points("cpp-vectors", {{.id = "x", .vector = {1, 0}}}), InvalidArgumentError);
  EXPECT_EQ(knowledge.put_points("cpp-vectors",
                                 {{.id = "x", .vector = {1, 0, 0}}, {.id = "y", .vector = {0, 1, 0}}}),
            2);
  EXPECT_EQ(ids(knowledge.search_points("cpp-vectors", {.vector = {0.1F, 0.9F, 0}, .limit = 1})),
            std::vector<std::string>{"y"});
  knowledge.remove_collection("cpp-vectors");
}

TEST_F(KnowledgeTest, RelationsOfSessionsAndOnesOwn) {
  Session session = client.create({.provider = "virtual"});
  const std::string record = session.execute("echo related", {.language = "shell"}).record_id;
  const Node from{"session", session.id()}, ran{"execution", record}, ticket{"ticket", "cpp/T 1"};
  ASSERT_TRUE(wait_for([&] {
    const Related around = knowledge.related(from);
    return std::ranges::find(around.edges, Edge{from, ran, "ran"}) != around.edges.end();
  }));
  const Edge solves{from, ticket, "solves"};
  knowledge.relate(solves);
  knowledge.relate(solves);
  Related around = knowledge.related(from, {.edges = {"solves"}, .direction = "out"});
  EXPECT_EQ(around.edges, std::vector<Edge>{solves});
  EXPECT_FALSE(around.truncated);
  EXPECT_FALSE(around.degraded);
  const Related way = knowledge.related(ran, {.to = ticket, .depth = 3});
  EXPECT_EQ(way.nodes, (std::vector<Node>{ran, from, ticket}));
  EXPECT_TRUE(knowledge.unrelate(solves));
  EXPECT_FALSE(knowledge.unrelate(solves));
  EXPECT_TRUE(knowledge.related(from, {.edges = {"solves"}}).edges.empty());
}

// A connection that is cut is no reason to fail: every one of these calls may be made twice.
TEST_F(KnowledgeTest, CallsAreRepeatedAfterACut) {
  Knowledge through{SandboxClient(Faults::options())};
  Faults::set(Json::array({Json::object({{"cut_answer_after", 0}})}));
  EXPECT_FALSE(through.search("files", {.kinds = {"tool"}}).hits.empty());
  Faults::set(Json::array());
}

Async<std::size_t> count_hits(Knowledge knowledge) {
  const Found found = co_await knowledge.search_async("files");
  co_return found.hits.size();
}

TEST_F(KnowledgeTest, InACoroutine) {
  EXPECT_GT(count_hits(knowledge).get(), 0U);
}

}  // namespace
}  // namespace service
