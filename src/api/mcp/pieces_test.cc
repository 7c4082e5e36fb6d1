#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "api/mcp/connection.h"
#include "api/mcp/message.h"
#include "api/mcp/outbox.h"
#include "api/mcp/shown_output.h"
#include "api/mcp/stateless_check.h"
#include "api/mcp/toolbox.h"
#include "tools/reserved_names.h"

namespace atl::api::mcp {
namespace {

using ::testing::HasSubstr;

TEST(McpMessage, RefusesWhatIsNone) {
  for (const char* text :
       {"1", "[]", "{}", R"({"jsonrpc":"2.0"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":null,"method":"a"})", R"({"jsonrpc":"2.0","id":1.5,"method":"a"})",
        R"({"jsonrpc":"2.0","id":1,"method":2})", R"({"jsonrpc":"2.0","id":1,"method":"a","params":1})"}) {
    bj::value id;
    EXPECT_FALSE(read_message(bj::parse(text), id)) << text;
  }
}

TEST(McpMessage, TellsItsKinds) {
  bj::value id;
  const auto kind = [&](const char* text) { return read_message(bj::parse(text), id)->kind; };
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":"x","method":"a"})"), Message::Kind::request);
  EXPECT_EQ(id, bj::value("x"));
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","method":"a"})"), Message::Kind::notification);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"result":{}})"), Message::Kind::response);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"error":{}})"), Message::Kind::response);
}

TEST(McpMessage, FaultsKeepTheirFacts) {
  const Fault ours = fault_of(Error(Code::internal, "x")), theirs = fault_of(Error(Code::not_found, "y"));
  EXPECT_EQ(ours.code, kInternalError);
  EXPECT_EQ(theirs.code, kInvalidParams);
  EXPECT_FALSE(fault_message(nullptr, ours).contains("id"));
  EXPECT_EQ(fault_message(5, theirs).at("error").at("message"), bj::value("y"));
}

TEST(McpMessage, EveryCodeHasTheFactsOfTheTable) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    const CodeRow& wanted = row(static_cast<Code>(i));
    const Error error(wanted.code, "why");
    const bj::object facts{
        {"code", wanted.name}, {"category", to_string(wanted.category)}, {"retryable", wanted.retryable}};
    EXPECT_EQ(fault_of(error).data, bj::value(facts)) << wanted.name;
    const bj::object result = ToolReply::error(error).to_json();
    EXPECT_EQ(result.at("_meta").at("atoll/error"), bj::value(facts)) << wanted.name;
    EXPECT_EQ(result.at("isError"), bj::value(true));
  }
  EXPECT_FALSE(ToolReply::error("in words").to_json().contains("_meta"));
}

TEST(McpRevision, KnowsItsWords) {
  for (const std::string_view word : kRevisionWords) EXPECT_EQ(to_string(*parse_revision(word)), word);
  EXPECT_FALSE(parse_revision("2024-11-05"));
  EXPECT_FALSE(parse_log_level("loud"));
  EXPECT_EQ(parse_log_level("notice"), LogLevel::notice);
}

TEST(McpShownOutput, KeepsBeginningAndEnd) {
  ShownOutput shown;
  for (int i = 0; i < 100'000; ++i) shown.add("0123456789\n");
  shown.add("last \xc3");
  shown.add("\xa4");
  shown.finish();
  EXPECT_EQ(shown.total(), 1'100'007U);
  EXPECT_TRUE(shown.truncated());
  EXPECT_LT(shown.text().size(), 48U << 10);
  EXPECT_TRUE(shown.text().starts_with("0123456789\n"));
  EXPECT_TRUE(shown.text().ends_with("last ä"));
  EXPECT_THAT(shown.text(), HasSubstr("bytes are left out"));
  EXPECT_EQ(shown.last_line(), "last ä");
}

TEST(McpShownOutput, LeavesShortOnesAlone) {
  ShownOutput shown;
  EXPECT_EQ(shown.last_line(), "");
  shown.add("a\nb\n");
  EXPECT_EQ(shown.text(), "a\nb\n");
  EXPECT_EQ(shown.last_line(), "b");
  EXPECT_FALSE(shown.truncated());
}

class McpLoopTest : public testing::Test {
 protected:
  template <class Work>
  void run(Work work) {
    boost::asio::co_spawn(loop_, work(), boost::asio::detached);
    loop_.run();
    loop_.restart();
  }
  boost::asio::io_context loop_;
};

TEST_F(McpLoopTest, OutboxGivesEventsAgain) {
  Outbox outbox(loop_.get_executor(), "name");
  outbox.put({{"a", 1}});
  outbox.finish({{"b", 2}}, 404);
  outbox.put({{"c", 3}});
  outbox.finish({{"d", 4}}, 200);
  run([&]() -> boost::asio::awaitable<void> {
    for (int round = 0; round < 2; ++round) {
      const auto first = co_await outbox.take(0, std::chrono::milliseconds(1));
      EXPECT_EQ(first->text, R"({"a":1})");
      const auto second = co_await outbox.take(1, std::chrono::milliseconds(1));
      EXPECT_TRUE(second->is_last);
      EXPECT_EQ(second->status, 404);
    }
    EXPECT_TRUE(outbox.is_over(2));
    outbox.forget(1);
    const auto rest = co_await outbox.take(0, std::chrono::milliseconds(1));
    EXPECT_EQ(rest->number, 2U);
  });
}

TEST_F(McpLoopTest, OutboxDropsNotificationsBeforeTheyTakeAllMemoryAndNeverTheAnswer) {
  Outbox outbox(loop_.get_executor(), "name");
  const std::string large(100'000, 'x');
  for (int i = 0; i < 100; ++i) outbox.put({{"note", large}});
  EXPECT_LE(outbox.bytes(), Outbox::kBytesMax);
  EXPECT_GT(outbox.bytes(), Outbox::kBytesMax / 2);
  outbox.finish({{"answer", std::string(2 << 20, 'y')}}, 200);
  EXPECT_GT(outbox.bytes(), 2U << 20);
  run([&]() -> boost::asio::awaitable<void> {
    std::uint64_t after = 0;
    bool answered = false;
    while (const auto event = co_await outbox.take(after, std::chrono::milliseconds(1))) {
      after = event->number;
      answered = event->is_last;
    }
    EXPECT_TRUE(answered);
    outbox.forget(after);
  });
  EXPECT_EQ(outbox.bytes(), 0U);
}

// Answers that nobody took are kept for whoever comes back, but not however long they are.
TEST_F(McpLoopTest, AnswersThatNobodyTookAreKeptByTheirSize) {
  Connection connection(loop_.get_executor(), "id", {}, Revision::november_2025, {});
  std::vector<std::shared_ptr<Outbox>> outboxes;
  for (int i = 0; i < 6; ++i) {
    outboxes.push_back(std::make_shared<Outbox>(loop_.get_executor(), "s" + std::to_string(i)));
    ASSERT_TRUE(connection.begin(i, std::make_shared<Running>(), outboxes.back()));
    outboxes.back()->finish({{"answer", std::string(100'000, 'y')}}, 200);
    connection.end(i);
  }
  EXPECT_EQ(connection.stream("s0"), nullptr);
  EXPECT_EQ(connection.stream("s3"), nullptr);
  EXPECT_NE(connection.stream("s5"), nullptr);
}

TEST_F(McpLoopTest, OutboxWakesEveryReader) {
  Outbox outbox(loop_.get_executor(), "name");
  int seen = 0;
  const auto read = [&]() -> boost::asio::awaitable<void> {
    const auto event = co_await outbox.take(0, std::chrono::minutes(1));
    if (event) ++seen;
  };
  boost::asio::co_spawn(loop_, read(), boost::asio::detached);
  boost::asio::co_spawn(loop_, read(), boost::asio::detached);
  boost::asio::post(loop_, [&] { outbox.put({{"a", 1}}); });
  loop_.run();
  EXPECT_EQ(seen, 2);
}

TEST_F(McpLoopTest, OutboxIsBounded) {
  Outbox outbox(loop_.get_executor(), "name");
  for (std::size_t i = 0; i < 2 * Outbox::kEventsMax; ++i) outbox.put({{"a", 1}});
  outbox.finish({{"b", 2}}, 200);
  run([&]() -> boost::asio::awaitable<void> {
    const auto last = co_await outbox.take(Outbox::kEventsMax, std::chrono::milliseconds(1));
    EXPECT_TRUE(last->is_last);
  });
}

auth::Principal who(std::string key, std::string tenant = "default") {
  auth::Principal one;
  one.key_id = std::move(key);
  one.tenant = std::move(tenant);
  return one;
}

TEST_F(McpLoopTest, ConnectionsBelongToTheirKeysAndMakeRoom) {
  std::vector<std::string> closed;
  Connections::Limits limits;
  limits.of_key = 2;
  limits.all = 3;
  Connections connections(loop_.get_executor(), limits,
                          [&](const Connection& one) { closed.push_back(one.id()); });
  const auto first = *connections.open(who("a"), Revision::november_2025, {});
  const auto second = *connections.open(who("a"), Revision::june_2025, {});
  EXPECT_EQ(connections.find(first->id(), who("b")), nullptr);
  EXPECT_EQ(connections.find(first->id(), who("a", "other")), nullptr);
  EXPECT_EQ(connections.find(first->id(), who("a")), first);
  auto running = std::make_shared<Running>();
  auto outbox = std::make_shared<Outbox>(loop_.get_executor(), "o");
  EXPECT_TRUE(first->begin(1, running, outbox));
  EXPECT_FALSE(first->begin(1, running, outbox));
  const auto third = *connections.open(who("a"), Revision::june_2025, {});
  EXPECT_THAT(closed, testing::ElementsAre(second->id())) << "the busy one stays";
  EXPECT_TRUE(third->begin(1, running, outbox));
  EXPECT_FALSE(connections.open(who("a"), Revision::june_2025, {}));
  first->cancel(1);
  EXPECT_TRUE(running->canceled);
  EXPECT_TRUE(outbox->is_closed());
  connections.close_of("a");
  EXPECT_EQ(connections.size(), 0U);
}

TEST_F(McpLoopTest, AnswersThatNobodyTookAreKeptForAWhile) {
  Connection connection(loop_.get_executor(), "id", who("a"), Revision::november_2025, {});
  for (int i = 0; i < 12; ++i) {
    auto outbox = std::make_shared<Outbox>(loop_.get_executor(), "o" + std::to_string(i));
    EXPECT_TRUE(connection.begin(i, std::make_shared<Running>(), outbox));
    connection.end(i);
  }
  EXPECT_EQ(connection.stream("o0"), nullptr);
  EXPECT_NE(connection.stream("o11"), nullptr);
  connection.delivered("o11");
  EXPECT_EQ(connection.stream("o11"), nullptr);
}

TEST(McpTools, AreDescribedAndReserved) {
  EXPECT_EQ(own_tools().size(), tools::kReservedNames.size());
  for (const OwnTool& tool : own_tools()) {
    EXPECT_TRUE(tools::is_reserved_name(tool.name)) << tool.name;
    EXPECT_FALSE(tool.needed.empty()) << tool.name;
    EXPECT_NE(tool.handler, nullptr) << tool.name;
    EXPECT_EQ(tool.to_json().at("inputSchema").at("type"), bj::value("object")) << tool.name;
  }
  EXPECT_EQ(find_own_tool("none"), nullptr);
}

TEST(McpTools, OpenToWhoMay) {
  auth::Principal one = who("a");
  EXPECT_FALSE(find_own_tool("run_code")->is_open_to(one));
  one.permissions = {auth::Permission::execute, auth::Permission::sessions_write};
  EXPECT_TRUE(find_own_tool("run_code")->is_open_to(one));
  EXPECT_TRUE(find_own_tool("sandbox_create")->is_open_to(one));
  auth::Scopes scopes;
  scopes.sessions = {"ses_1"};
  one.scopes = std::make_shared<const auth::Scopes>(scopes);
  EXPECT_FALSE(find_own_tool("sandbox_create")->is_open_to(one));
  EXPECT_TRUE(find_own_tool("sandbox_end")->is_open_to(one));
}

net::Headers headers_of(std::string_view method) {
  return {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", std::string(method)}};
}

Message message_of(std::string_view method, bj::object params) {
  Message message;
  message.id = 1;
  message.method = method;
  params["_meta"] = bj::object{{kMetaVersion, "2026-07-28"}, {kMetaCapabilities, bj::object()}};
  message.params = std::move(params);
  return message;
}

TEST(McpStateless, HeadersMustAgree) {
  net::Request request;
  request.headers = headers_of("tools/call");
  Message message = message_of("tools/call", {{"name", "a"}});
  EXPECT_EQ(check_stateless(request, message)->code, kHeaderMismatch);
  request.headers.set("Mcp-Name", " a ");
  EXPECT_FALSE(check_stateless(request, message));
  request.headers.set("Mcp-Name", "=?base64?YQ==?=");
  EXPECT_FALSE(check_stateless(request, message));
  request.headers.set("Mcp-Name", "=?base64?YQ?=");
  EXPECT_EQ(check_stateless(request, message)->code, kHeaderMismatch);
  message.params.erase("_meta");
  EXPECT_EQ(check_stateless(request, message)->code, kInvalidParams);
}

TEST(McpStateless, IsToldByWhatARequestSays) {
  net::Request request;
  Message message = message_of("tools/list", {});
  EXPECT_TRUE(is_stateless_request(request, message));
  message.params.clear();
  EXPECT_FALSE(is_stateless_request(request, message));
  request.headers.set("MCP-Protocol-Version", "2026-07-28");
  EXPECT_TRUE(is_stateless_request(request, message));
  request.headers.set("MCP-Protocol-Version", "2025-11-25");
  EXPECT_FALSE(is_stateless_request(request, message));
  message.method = "server/discover";
  EXPECT_TRUE(is_stateless_request(request, message));
  request.headers.set("Mcp-Session-Id", "x");
  EXPECT_FALSE(is_stateless_request(request, message));
}

}  // namespace
}  // namespace atl::api::mcp
