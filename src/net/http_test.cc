#include "net/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/router.h"

namespace atl::net {
namespace {

TEST(Methods, AreReadExactly) {
  for (const char* word : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    EXPECT_EQ(to_string(parse_method(word)), word);
  for (const char* word : {"get", "BREW", "", "GET "}) EXPECT_EQ(to_string(parse_method(word)), "other");
}

TEST(Escapes, BrokenOnesAreRefused) {
  for (const char* text : {"%", "a%2", "%zz", "%4", "%%41", "%00", "a%00b"}) {
    const auto decoded = percent_decode(text);
    ASSERT_FALSE(decoded) << text;
    EXPECT_EQ(decoded.error().code(), Code::invalid_argument);
  }
}

TEST(Escapes, EveryByteComesBack) {
  std::string bytes;
  for (int byte = 1; byte < 256; ++byte) bytes += static_cast<char>(byte);
  const std::string encoded = percent_encode(bytes);
  EXPECT_EQ(percent_decode(encoded), bytes);
  EXPECT_EQ(encoded.find_first_of(" /?#&+\n"), std::string::npos);
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_decode("a+b%2Fc"), "a+b/c");  // a plus is a plus in a path
}

TEST(Forms, AreForgiving) {
  const Fields expected = {{"a", "1 2"}, {"b", ""}, {"c", ""}, {"", "x"}, {"d", "%zz%4"}, {"e", "A="}};
  EXPECT_EQ(parse_form("a=1+2&b=&c&&=x&d=%zz%4&e=%41="), expected);
  EXPECT_TRUE(parse_form("").empty());
}

TEST(Headers, NamesHaveNoCase) {
  Headers headers = {{"Content-Type", "a"}, {"X", "1"}, {"x", "2"}};
  EXPECT_EQ(headers.get("content-type"), "a");
  EXPECT_EQ(headers.get("X"), "1");
  EXPECT_EQ(headers.get("none"), "");
  headers.set("x", "3");
  EXPECT_EQ(headers.size(), 2U);
  headers.remove("X");
  EXPECT_FALSE(headers.has("x"));
}

TEST(Headers, ListsAreSearchedItemByItem) {
  const Headers headers = {{"Connection", "keep-alive,\tUpgrade "}, {"connection", "te"}};
  for (const char* token : {"keep-alive", "upgrade", "TE"})
    EXPECT_TRUE(headers.lists("Connection", token)) << token;
  for (const char* token : {"keep", "up", "alive", ""})
    EXPECT_FALSE(headers.lists("Connection", token)) << token;
}

TEST(Request, FindsParametersAndQueries) {
  Request request;
  request.target = "/a?x=1&y=%20&x=2";
  request.raw_query = std::string_view(request.target).substr(3);
  request.params = {{"id", "7"}};
  EXPECT_EQ(request.param("id"), "7");
  EXPECT_EQ(request.param("none"), "");
  EXPECT_EQ(request.query("x"), "1");
  EXPECT_EQ(request.query("y"), " ");
  EXPECT_EQ(request.query("z"), std::nullopt);
  EXPECT_EQ(request.query_fields().size(), 3U);
}

// Every status that a dialect can give has a phrase of its own: the table of errors is the list.
TEST(Statuses, HavePhrases) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    const int status = row(static_cast<Code>(i)).http_status;
    EXPECT_NE(reason_phrase(status), "Unknown") << status;
  }
  for (const int status : {100, 101, 200, 201, 202, 204, 206, 301, 302, 304, 307, 308, 405, 406,
                           408, 410, 411, 412, 414, 415, 416, 422, 426, 431, 502, 504, 505})
    EXPECT_NE(reason_phrase(status), "Unknown") << status;
  EXPECT_EQ(reason_phrase(299), "Unknown");
}

TEST(Errors, AreRenderedWithoutTheirDetail) {
  Request request;
  request.id = "req_1";
  const Response response = render_error(
      Error(Code::invalid_argument, "must be \"x\"").with_field("mode").with_detail("/secret"), request);
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(
      response.body,
      R"({"error":{"code":"invalid_argument","message":"must be \"x\"","category":"user","retryable":false,)"
      R"("field":"mode","request_id":"req_1"}})");
  EXPECT_NE(render_error(Error(Code::unavailable, "later"), request).body.find(R"("retryable":true)"),
            std::string::npos);
}

TEST(Responses, CarryTheirType) {
  EXPECT_EQ(Response::text(200, "a").headers.get("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(Response::json(201, "{}").headers.get("Content-Type"), "application/json");
  EXPECT_EQ(Response::empty().status, 204);
}

class Anyone final : public Guard {
 public:
  Task<std::optional<Response>> admit(Request&) const override { co_return std::nullopt; }
};

class Routes : public testing::Test {
 protected:
  Routes() {
    for (const char* pattern : {"/a", "/a/{id}", "/a/fixed", "/a/{id}/b", "/all/{rest...}", "/a/fixed/c"})
      router_.add(Method::get, pattern, std::make_shared<Anyone>(), nothing);
    router_.add(Method::put, "/a/{id}", std::make_shared<Anyone>(), nothing);
  }
  static Task<Response> nothing(Request&) { co_return Response::empty(); }
  // The pattern, and its parameters as they were sent.
  std::string where(Method method, std::string_view path) const {
    const Router::Match match = router_.match(method, path);
    if (match.route == nullptr) return match.allowed.empty() ? "none" : "other method";
    std::string text = match.route->pattern;
    for (const auto& [name, value] : match.params) text += " " + name + "=" + value;
    return text;
  }
  Router router_;
};

TEST_F(Routes, ALiteralWinsOverAParameter) {
  EXPECT_EQ(where(Method::get, "/a"), "/a");
  EXPECT_EQ(where(Method::get, "/a/1"), "/a/{id} id=1");
  EXPECT_EQ(where(Method::get, "/a/fixed"), "/a/fixed");
  EXPECT_EQ(where(Method::get, "/a/fixed/c"), "/a/fixed/c");
}

TEST_F(Routes, ALiteralThatLeadsNowhereIsAParameterAfterAll) {
  EXPECT_EQ(where(Method::get, "/a/fixed/b"), "/a/{id}/b id=fixed");
  EXPECT_EQ(where(Method::put, "/a/fixed"), "/a/{id} id=fixed");
}

TEST_F(Routes, TheRestTakesSlashes) {
  EXPECT_EQ(where(Method::get, "/all/x/y%2Fz"), "/all/{rest...} rest=x/y%2Fz");
  EXPECT_EQ(where(Method::get, "/a/x%2Fy"), "/a/{id} id=x%2Fy");
}

TEST_F(Routes, UnknownPathsAndMethodsAreToldApart) {
  for (const char* path : {"/", "/b", "/a/1/c", "/a//b", ""})
    EXPECT_EQ(where(Method::get, path), "none") << path;
  EXPECT_EQ(where(Method::post, "/a"), "other method");
  EXPECT_EQ(where(Method::head, "/a"), "/a");
}

TEST_F(Routes, ARouteWithoutARuleIsNotTaken) {
  EXPECT_THROW(router_.add(Method::get, "/none", AccessRule(), nothing), std::invalid_argument);
  EXPECT_EQ(where(Method::get, "/none"), "none");
}

TEST_F(Routes, AreAllListed) {
  std::vector<std::string> listed;
  for (const Route* route : router_.routes()) {
    EXPECT_TRUE(route->access);
    listed.push_back(std::string(to_string(route->method)) + " " + route->pattern);
  }
  EXPECT_THAT(listed, testing::UnorderedElementsAre("GET /a", "GET /a/{id}", "PUT /a/{id}", "GET /a/fixed",
                                                    "GET /a/{id}/b", "GET /all/{rest...}", "GET /a/fixed/c"));
}

}  // namespace
}  // namespace atl::net
