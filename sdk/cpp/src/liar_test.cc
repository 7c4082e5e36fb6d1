// A service that lies: every lie is an error that says so, within bounded memory and time.
#include <gtest/gtest.h>

#include <cstring>

#include "atoll/client.h"
#include "net/lying_server_test.h"
#include "web_socket.h"

namespace atl::client {
namespace {

using net::LyingServer;
using Then = LyingServer::Then;

constexpr std::uint64_t kMuch = 64U << 20;  // what the kernel holds between the two is not the client's

std::string json_answer(const std::string& body, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status +
         "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

SandboxClient client_of(const LyingServer& server, Milliseconds timeout = Milliseconds(20'000)) {
  ClientOptions options;
  options.url = server.url();
  options.api_key = "key";
  options.timeout = timeout;
  options.retries = 0;
  options.answer_bytes_max = 4U << 20;
  return SandboxClient(options);
}

const std::string kOk = "HTTP/1.1 200 OK\r\n";
const std::string kChunked = kOk + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kEvents = kOk + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kPiece(64U << 10, 'a');

TEST(Liar, WhatHasNoEndIsGivenUp) {
  struct Case {
    const char* what;
    LyingServer::Lie lie;
  };
  for (const Case& one : {
           Case{"headers", {kOk, "X: y\r\n"}},
           Case{"one header", {kOk + "X: ", kPiece}},
           Case{"answers before the answer", {"", "HTTP/1.1 103 Early Hints\r\n\r\n"}},
           Case{"chunks", {kChunked, "10000\r\n" + kPiece + "\r\n"}},
           Case{"an extension of a chunk", {kChunked + "1;x=", kPiece}},
           Case{"trailers", {kChunked + "0\r\n", "X: y\r\n"}},
           Case{"a body of a length", {kOk + "Content-Length: 9223372036854775807\r\n\r\n", kPiece}},
           Case{"a body without a length", {kOk + "\r\n", kPiece}},
           Case{"an error", {"HTTP/1.1 500 No\r\n\r\n", kPiece}},
       }) {
    LyingServer server(one.lie);
    SandboxClient client = client_of(server);
    EXPECT_THROW(client.get_json("/version"), AtollError) << one.what;
    EXPECT_LT(server.sent(), kMuch) << one.what;
    LyingServer again(one.lie);
    SandboxClient other = client_of(again);
    EXPECT_THROW((void)other.get("ses_1"), AtollError) << one.what;
    EXPECT_LT(again.sent(), kMuch) << one.what;
  }
}

TEST(Liar, EventsWithoutAnEndAreGivenUp) {
  for (const char* first : {"data: ", "event: ", ": ", "x"}) {
    const std::string begin = first + std::string(8 - std::strlen(first), ' ');
    LyingServer server({kEvents + "8\r\n" + begin + "\r\n", "10000\r\n" + kPiece + "\r\n"});
    SandboxClient client = client_of(server);
    EventStream stream = client.follow({.path = "/api/events"});
    EXPECT_THROW((void)stream.next(), ProtocolError) << first;
    EXPECT_LT(server.sent(), kMuch) << first;
  }
}

TEST(Liar, SilenceIsGivenUp) {
  for (const std::string& first : {std::string(), std::string("HTTP/1.1 200 O"), kOk,
                                   kOk + "Content-Length: 10\r\n\r\nhalf", kChunked + "5\r\nab"}) {
    LyingServer server({first, "", Then::stay_silent});
    SandboxClient client = client_of(server, Milliseconds(300));
    EXPECT_THROW(client.get_json("/version"), RequestTimeoutError) << first;
  }
}

TEST(Liar, HalfAnswersAreNoAnswers) {
  for (const std::string& text :
       {std::string(), std::string("HTTP/1.1 200 O"), kOk, kOk + "Content-Length: 10\r\n\r\n{}",
        kChunked + "5\r\n{}", kChunked + "2\r\n{}\r\n", kOk + "Content-Length: -5\r\n\r\n{}",
        kOk + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        std::string("\x16\x03\x01\x00\x02\x02\x28", 7), std::string("SSH-2.0-OpenSSH_9.2\r\n")}) {
    LyingServer server({text});
    EXPECT_THROW(client_of(server).get_json("/version"), ConnectionLostError) << testing::PrintToString(text);
  }
}

TEST(Liar, NoRedirectionIsFollowed) {
  for (const char* status :
       {"301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent", "300 Many"}) {
    LyingServer elsewhere({json_answer("{}")});
    LyingServer server({"HTTP/1.1 " + std::string(status) + "\r\nLocation: " + elsewhere.url() +
                        "/\xc2\x9b[31m\r\nContent-Length: 0\r\n\r\n"});
    SandboxClient client = client_of(server);
    try {
      client.send({.method = "DELETE", .path = "/api/sessions/ses_1"});
      ADD_FAILURE() << status;
    } catch (const ProtocolError& error) {
      EXPECT_NE(error.message().find("elsewhere"), std::string::npos);
      EXPECT_EQ(error.message().find('\x9b'), std::string::npos);
    }
    EXPECT_THROW((void)client.follow({.path = "/api/events"}), ProtocolError);
    EXPECT_EQ(elsewhere.sent(), 0U) << "the key went elsewhere";
  }
}

TEST(Liar, WhatIsNoJsonOrTooMuchOfIt) {
  const std::string deep(100'000, '['), much = "[" + [] {
    std::string zeros;
    for (int i = 0; i < 1'900'000; ++i) zeros += "0,";
    return zeros;
  }() + "0]";
  for (const std::string& body :
       {deep, "{\"a\":" + deep, std::string("{\"a\":1,\"a\":2}"), std::string("\"\xff\""),
        std::string("<html>"), std::string("{}{}"), std::string("nul")}) {
    LyingServer server({json_answer(body)});
    EXPECT_THROW(client_of(server).get_json("/version"), AtollError) << body.substr(0, 20);
    LyingServer refusing({json_answer(body, "400 Bad")});
    EXPECT_THROW(client_of(refusing).get_json("/version"), ProtocolError) << body.substr(0, 20);
  }
  LyingServer server({json_answer(much)});
  EXPECT_EQ(client_of(server).get_json("/version").size(), 1'900'001U);
  EXPECT_THROW(Json::parse("[" + std::string(4'100'000, ',') + "]"), JsonError);
}

// Every field of every kind, with every type that it is not.
TEST(Liar, WrongTypesAreErrors) {
  for (const char* wrong : {"null", "5", "-1", "1e308", "true", "\"x\"", "[]", "{}", "[[{}]]"}) {
    std::string one = "{";
    for (const char* name :
         {"session_id",  "state",       "created_at", "limits", "metadata",  "env",     "isolation",
          "ttl_seconds", "status",      "results",    "stdout", "exit_code", "entries", "sessions",
          "records",     "next_cursor", "artifacts",  "usage",  "size",      "pid",     "type",
          "path",        "policy",      "version",    "error"})
      one += (one.size() > 1 ? ",\"" : "\"") + std::string(name) + "\":" + wrong;
    one += "}";
    for (const std::string& body : {one, "[" + one + "]", std::string(wrong)}) {
      LyingServer server({json_answer(body)});
      SandboxClient client = client_of(server);
      const auto tried = [&](const char* what, const auto& call) {
        try {
          call();
        } catch (const AtollError& error) {
          EXPECT_FALSE(error.message().empty()) << what;
        } catch (const std::exception& error) {
          ADD_FAILURE() << what << " with " << wrong << ": " << error.what();
        }
      };
      tried("get", [&] { (void)client.get("ses_1"); });
      tried("list", [&] { (void)client.list({.limit = 10}); });
      tried("history", [&] { (void)client.history({.limit = 10}); });
      tried("version", [&] { (void)client.version(); });
      tried("execute", [&] { (void)client.get("ses_1").execute("1"); });
      tried("run", [&] { (void)client.get("ses_1").commands().run("true"); });
      tried("files", [&] { (void)client.get("ses_1").files().list("/"); });
    }
    LyingServer refusing({json_answer("{\"error\":{\"code\":" + std::string(wrong) + ",\"message\":" + wrong +
                                          ",\"details\":" + wrong + "}}",
                                      "409 No")});
    EXPECT_THROW(client_of(refusing).get_json("/version"), AtollError) << wrong;
  }
}

TEST(Liar, PagesWithoutAnEndAreGivenUp) {
  LyingServer server({json_answer(R"({"sessions":[],"next_cursor":"again"})")});
  EXPECT_THROW((void)client_of(server).list({}), ProtocolError);
}

TEST(Liar, ManySmallFramesAreReadInOneGo) {
  detail::FrameReader reader;
  std::string frames;
  for (int i = 0; i < 200'000; ++i) frames += std::string("\x82\x01x", 3);
  reader.feed(frames);
  int count = 0;
  while (reader.next()) ++count;
  EXPECT_EQ(count, 200'000);
  // Frames of control are short, or they are none.
  EXPECT_THROW(detail::FrameReader().feed(std::string("\x89\x7e\x10\x00", 4)), ProtocolError);
}

}  // namespace
}  // namespace atl::client
