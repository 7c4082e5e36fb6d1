#include "api/admission/audited_routes.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "api/admission/audit_trail.h"
#include "audit/pages.h"
#include "os/directory_test.h"

namespace atl::api {
namespace {

using auth::Permission;
using net::Method;

TEST(AuditedRoutesTest, PathsThatNoRowKnowsHaveAnActionAllTheSame) {
  for (const std::string_view path :
       {"", "/", "//", "/api/keys/", "/api/keys//rotate", "/api/keysx", "/nodes/a/b/c"})
    for (const Method method : {Method::get, Method::post, Method::del, Method::other}) {
      const AuditedRoute route = audited_route(method, path, Permission::keys);
      EXPECT_NE(route.action.find('.'), std::string_view::npos) << path;
      EXPECT_EQ(route.writer, Writer::admission) << path;
    }
  EXPECT_EQ(audited_route(Method::post, "/x", Permission::keys).action, "key.update");
  EXPECT_EQ(audited_route(Method::get, "/x", Permission::files_read).writer, Writer::service);
  EXPECT_EQ(audited_route(Method::get, "/health", Permission::none).writer, Writer::nobody);
  EXPECT_EQ(object_of(audited_route(Method::post, "/x/y", Permission::keys), "/x/y", ""), "/x/y");
}

TEST(AuditedRoutesTest, ObjectsOfPathsAndAnswers) {
  const AuditedRoute rotate = audited_route(Method::post, "/api/keys/key_1/rotate", Permission::keys);
  EXPECT_EQ(rotate.action, "key.rotate");
  EXPECT_EQ(object_of(rotate, "/api/keys/key_1/rotate", ""), "key_1");
  EXPECT_EQ(object_of(rotate, "/api/keys/a%2Fb/rotate", ""), "a/b");
  EXPECT_EQ(object_of(rotate, "/api/keys/%zz/rotate", ""), "%zz") << "a broken escape stays as it is";
  const AuditedRoute create = audited_route(Method::post, "/api/keys", Permission::keys);
  EXPECT_EQ(object_of(create, "/api/keys", R"({"key_id":"key_2","key":"secret"})"), "key_2");
  EXPECT_EQ(object_of(create, "/api/keys", "no JSON"), "");
  EXPECT_EQ(object_of(create, "/api/keys", R"({"key_id":1})"), "");
  EXPECT_EQ(audited_route(Method::head, "/api/keys", Permission::keys).action, "key.list");
  EXPECT_EQ(audited_route(Method::del, "/api/keys/k", Permission::keys).kind, audit::Kind::ending);
}

class AuditTrailTest : public testing::Test {
 protected:
  AuditTrailTest() {
    log_ = *audit::Log::open({.data = directory_.path()});
    who_.key_id = "key_1";
    who_.tenant = "default";
  }
  void ask(net::Request& request, Method method, std::string target) {
    request.method = method;
    request.target = std::move(target);
    request.path = request.target;
    request.id = "req-1";
  }
  std::vector<audit::StoredEntry> entries(const std::string& action) {
    std::vector<audit::StoredEntry> found;
    const audit::Page page = *audit::read_page(directory_.path(), {.action = action});
    for (const std::string& line : page.lines) found.push_back(*audit::parse_line(line));
    return found;
  }
  void answer(net::Request& request, const std::shared_ptr<void>& begun, net::Guard::Answer given) {
    boost::asio::io_context loop;
    std::optional<Result<void>> result;
    boost::asio::co_spawn(loop, trail().answered(begun, request, given),
                          [&](std::exception_ptr, Result<void> value) { result.emplace(std::move(value)); });
    loop.run();
    EXPECT_TRUE(*result);
  }
  AuditTrail trail() { return AuditTrail(log_); }

  os::TestDirectory directory_;
  std::shared_ptr<audit::Log> log_;
  auth::Principal who_;
};

TEST_F(AuditTrailTest, AClosedLogRefusesChangesBeforeTheyHappen) {
  log_->close();
  net::Request request;
  ask(request, Method::post, "/api/keys");
  EXPECT_FALSE(trail().begin({Credential::key, Permission::keys}, request, who_));
  net::Request inside;
  ask(inside, Method::post, "/api/sessions");
  const auto nothing = trail().begin({Credential::key, Permission::sessions_write}, inside, who_);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, nullptr) << "the session service writes it";
}

TEST_F(AuditTrailTest, RefusalsAndMissingRights) {
  net::Request request;
  ask(request, Method::post, "/api/keys");
  for (int i = 0; i < 100; ++i)
    trail().refused(request, "10.0.0.1", Error(Code::unauthenticated, "Invalid API key"));
  ASSERT_EQ(entries("login.refuse").size(), 1U);
  EXPECT_EQ(entries("login.refuse")[0].entry.actor.address, "10.0.0.1");
  EXPECT_EQ(entries("login.refuse")[0].entry.actor.key_id, "anonymous");
  trail().denied({Credential::key, Permission::keys}, request, who_,
                 Error(Code::permission_denied, "no right"));
  ASSERT_EQ(entries("key.create").size(), 1U);
  EXPECT_EQ(entries("key.create")[0].entry.outcome, audit::Outcome::denied);
  net::Request other;
  ask(other, Method::del, "/api/keys/k");
  trail().denied({Credential::key, Permission::keys}, other, who_,
                 Error(Code::resource_exhausted, "too many"));
  EXPECT_EQ(entries("key.delete")[0].entry.outcome, audit::Outcome::error);
}

TEST_F(AuditTrailTest, WhatBecameOfACall) {
  net::Request request;
  ask(request, Method::post, "/api/keys");
  const Rule rule{Credential::key, Permission::keys};
  answer(request, *trail().begin(rule, request, who_), {201, nullptr, R"({"key_id":"key_2","key":"x"})"});
  const Error conflict(Code::conflict, "taken");
  answer(request, *trail().begin(rule, request, who_), {0, &conflict, {}});
  answer(request, *trail().begin(rule, request, who_), {0, nullptr, {}});
  answer(request, *trail().begin(rule, request, who_), {403, nullptr, {}});
  answer(request, *trail().begin(rule, request, who_), {500, nullptr, {}});
  (void)*trail().begin(rule, request, who_);  // whoever asked left
  const auto found = entries("key.create");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0].entry.object, "key_2");
  EXPECT_EQ(found[0].entry.outcome, audit::Outcome::ok);
  EXPECT_EQ(found[1].entry.reason, "taken");
  EXPECT_EQ(found[2].entry.outcome, audit::Outcome::error);
  EXPECT_EQ(found[3].entry.outcome, audit::Outcome::denied);
  EXPECT_EQ(found[4].entry.outcome, audit::Outcome::error);
  EXPECT_EQ(found[5].entry.outcome, audit::Outcome::error);
  net::Request look;
  ask(look, Method::get, "/api/keys");
  for (int i = 0; i < 3; ++i) answer(look, *trail().begin(rule, look, who_), {200, nullptr, {}});
  EXPECT_EQ(entries("key.list").size(), 1U);
}

TEST_F(AuditTrailTest, ALookAcrossTenantsNamesTheTenant) {
  const Rule rule{Credential::key, Permission::usage_read};
  for (const char* tenant : {"default", "acme", "*"}) {
    net::Request request;
    ask(request, Method::get, "/api/usage");
    request.target = std::string("/api/usage?tenant=") + tenant;
    request.path = std::string_view(request.target).substr(0, 10);
    request.raw_query = std::string_view(request.target).substr(11);
    answer(request, *trail().begin(rule, request, who_), {200, nullptr, {}});
  }
  const auto found = entries("usage.read");
  ASSERT_EQ(found.size(), 3U) << "none is folded into another";
  EXPECT_EQ(found[1].entry.object, "acme");
  EXPECT_EQ(found[2].entry.object, "*");
}

}  // namespace
}  // namespace atl::api
