// curl against a real server on loopback: what is granted works, everything else fails closed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/test_server.h"
#include "shell/commands/curl/grant.h"
#include "shell/shell.h"

namespace atl::shell {
namespace {

using net::Method;
using net::Request;
using net::Response;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct CurlTest : ::testing::Test {
  net::TestServer server;
  vfs::VirtualFileSystem fs{base_snapshot()};
  std::string base;

  void SetUp() override {
    auto& router = server.server.router();
    router.add(Method::get, "/api/hello", net::anyone(),
               [](Request&) -> Task<Response> { co_return Response::text(200, "hello\n"); });
    router.add(Method::get, "/apix", net::anyone(),
               [](Request&) -> Task<Response> { co_return Response::text(200, "not yours\n"); });
    router.add(Method::get, "/api/missing", net::anyone(),
               [](Request&) -> Task<Response> { co_return Response::text(404, "gone\n"); });
    router.add(Method::post, "/api/echo", net::anyone(), [](Request& request) -> Task<Response> {
      co_return Response::text(201,
                               std::string(request.headers.get("Content-Type")) + "|" + request.body + "\n");
    });
    router.add(Method::get, "/api/see", net::anyone(), [](Request& request) -> Task<Response> {
      co_return Response::text(200, std::string(request.headers.get("X-One")) + "|" +
                                        std::string(request.headers.get("Authorization")) + "\n");
    });
    redirect(router, "/api/inside", "/api/hello");
    redirect(router, "/api/outside", "/apix");
    redirect(router, "/api/round", "/api/round");
    router.add(Method::get, "/api/slow", net::anyone(), [](Request&) -> Task<Response> {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, std::chrono::seconds(30));
      co_await timer.async_wait(boost::asio::use_awaitable);
      co_return Response::text(200, "late");
    });
    base = "http://" + server.start();
  }
  static void redirect(net::Router& router, std::string_view from, std::string to) {
    router.add(Method::get, std::string(from), net::anyone(),
               [to = std::move(to)](Request&) -> Task<Response> {
                 Response response = Response::text(302, "moved\n");
                 response.headers.set("Location", to);
                 co_return response;
               });
  }
  Executed run(std::string script, std::vector<std::string> methods = {"GET", "HEAD", "POST"}) {
    ShellOptions options;
    options.network.push_back({base + "/api", std::move(methods)});
    SandboxShell shell(fs, options);
    shell.set_variable("B", base);
    return shell.execute(script);
  }
};

TEST_F(CurlTest, without_a_grant_nothing_leaves) {
  SandboxShell shell(fs);
  Executed done = shell.execute("curl -s -S " + base + "/api/hello");
  EXPECT_EQ(done.status, 7);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, HasSubstr("network access is not granted to this shell"));
}

TEST_F(CurlTest, refuses_what_the_grant_does_not_name) {
  EXPECT_EQ(run("curl -s $B/apix").status, 7);
  EXPECT_EQ(run("curl -s $B/").status, 7);
  EXPECT_EQ(run("curl -s $B/api/../apix").status, 7);
  EXPECT_EQ(run("curl -s $B/api/%2e%2e/apix").status, 7);
  EXPECT_EQ(run("curl -s $B/api%2f..%2fapix").status, 7);
  EXPECT_EQ(run("curl -s http://localhost:1/api/hello").status, 7);
  EXPECT_EQ(run("curl -s -X DELETE $B/api/hello").status, 7);
  EXPECT_EQ(run("curl -s -d x $B/api/echo", {"GET"}).status, 7);
  EXPECT_THAT(run("curl -sS $B/apix").err, HasSubstr("not among the URLs and methods granted"));
}

TEST_F(CurlTest, checks_redirects_again) {
  EXPECT_EQ(run("curl -s $B/api/inside").out, "moved\n");
  EXPECT_EQ(run("curl -sL $B/api/inside").out, "hello\n");
  Executed outside = run("curl -sSL $B/api/outside");
  EXPECT_EQ(outside.status, 7);
  EXPECT_EQ(outside.out, "");
  EXPECT_EQ(run("curl -sL --max-redirs 3 $B/api/round").status, 47);
}

TEST_F(CurlTest, says_what_it_does_not_know) {
  EXPECT_EQ(run("curl -k $B/api/hello").status, 2);
  Executed unknown = run("curl --no-such-option $B/api/hello");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no-such-option"));
  EXPECT_EQ(run("curl").status, 2);
  EXPECT_EQ(run("curl -s ftp://x/").status, 1);
  EXPECT_EQ(run("curl -s 'http://a b/'").status, 3);
  EXPECT_EQ(run("curl -s -H $'X: a\\r\\nY: b' $B/api/hello").status, 2);
}

TEST_F(CurlTest, gets_posts_and_shows) {
  EXPECT_EQ(run("curl -s $B/api/hello").out, "hello\n");
  EXPECT_EQ(run("curl -s -d a=1 -d b=2 $B/api/echo").out, "application/x-www-form-urlencoded|a=1&b=2\n");
  EXPECT_EQ(run("curl -s --json '{\"a\":1}' $B/api/echo").out, "application/json|{\"a\":1}\n");
  EXPECT_EQ(run("echo text > f; curl -s --data-binary @f -H 'Content-Type: text/plain' $B/api/echo").out,
            "text/plain|text\n\n");
  EXPECT_EQ(run("curl -s -u me:secret -H 'X-One: 1' $B/api/see").out, "1|Basic bWU6c2VjcmV0\n");
  EXPECT_EQ(run("curl -s -o out -w '%{http_code} %{size_download}\\n' $B/api/hello; cat out").out,
            "200 6\nhello\n");
  EXPECT_EQ(run("curl -s -O $B/api/hello; cat hello").out, "hello\n");
  EXPECT_THAT(run("curl -s -i $B/api/hello").out, StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(run("curl -s $B/api/hello | tr a-z A-Z").out, "HELLO\n");
}

TEST_F(CurlTest, fails_by_status_when_asked) {
  EXPECT_EQ(run("curl -s $B/api/missing").out, "gone\n");
  Executed done = run("curl -sSf $B/api/missing");
  EXPECT_EQ(done.status, 22);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "curl: (22) The requested URL returned error: 404\n");
}

TEST_F(CurlTest, ends_in_time) {
  EXPECT_EQ(run("curl -s -m 0.2 $B/api/slow").status, 28);
}

TEST(Grant, compares_places_not_spellings) {
  std::vector<NetworkGrant> grants = {{"https://Example.org/v1/", {"GET"}}};
  auto may = [&](std::string_view method, std::string_view url) {
    auto target = curl::parse_url(url);
    return target && curl::granted(grants, method, *target);
  };
  EXPECT_TRUE(may("GET", "https://example.org:443/v1/users?x=1"));
  EXPECT_TRUE(may("GET", "https://EXAMPLE.org/v1"));
  EXPECT_FALSE(may("GET", "https://example.org/v10"));
  EXPECT_FALSE(may("GET", "http://example.org/v1"));
  EXPECT_FALSE(may("GET", "https://example.org:8443/v1"));
  EXPECT_FALSE(may("POST", "https://example.org/v1"));
  EXPECT_FALSE(may("GET", "https://example.org.evil.test/v1"));
  EXPECT_FALSE(may("GET", "https://example.org@evil.test/v1"));
  EXPECT_FALSE(may("GET", "https://example.org/v1/../admin"));
  EXPECT_FALSE(may("GET", "https://example.org/v1/%2E%2E/admin"));
}

}  // namespace
}  // namespace atl::shell
