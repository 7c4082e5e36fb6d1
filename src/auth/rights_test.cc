// Roles, grants, tenants, guesses: what decides who may do what, apart from any dialect.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "auth/attempts.h"
#include "auth/denial.h"
#include "auth/granting.h"
#include "auth/role_map.h"
#include "auth/tenants.h"
#include "auth/vouched.h"

namespace atl::auth {
namespace {

template <class T>
Result<T> wait(Task<T> task) {
  boost::asio::io_context loop;
  std::optional<Result<T>> result;
  boost::asio::co_spawn(loop, std::move(task),
                        [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
  loop.run();
  return std::move(*result);
}

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/atoll-roles-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(path_ + "/" + name) << text; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Permissions, HaveWordsThatCanBeReadBack) {
  for (const std::string& word : PermissionSet::all().words()) {
    const auto permission = parse_permission(word);
    ASSERT_TRUE(permission) << word;
    EXPECT_EQ(to_string(*permission), word);
  }
  EXPECT_FALSE(parse_permission("none"));
  EXPECT_FALSE(parse_permission("unset"));
  EXPECT_FALSE(parse_permission("fly"));
  EXPECT_TRUE(PermissionSet().has(Permission::none));
  EXPECT_FALSE(PermissionSet::all().has(Permission::unset));
  EXPECT_FALSE(Principal{}.may(Permission::sessions_read));
}

TEST(Roles, OfTenantsAreReadFromFiles) {
  Folder folder;
  folder.write("ci.yaml", "name: ci\ntenant: acme\npermissions: [sessions:write, execute, cluster]\n");
  Roles roles;
  ASSERT_TRUE(roles.load(folder.path()));
  EXPECT_EQ(roles.find("acme", "ci"), (PermissionSet{Permission::sessions_write, Permission::execute}));
  EXPECT_FALSE(roles.find("default", "ci"));
  EXPECT_EQ(roles.of("acme").size(), 5U);
  EXPECT_TRUE(Roles().load("/nowhere"));
  Folder all;
  all.write("a.yaml", "name: helper\nextends: [viewer]\npermissions: [execute]\n");
  Roles open;
  ASSERT_TRUE(open.load(all.path()));
  EXPECT_TRUE(open.find("acme", "helper")->has(Permission::files_read));
  EXPECT_TRUE(open.find("other", "helper")->has(Permission::execute));
  all.write("a.yaml", "name: helper\nextends: [king]\n");
  EXPECT_FALSE(open.load(all.path()));
  for (const char* bad :
       {"name: ci\n", "tenant: acme\npermissions: []\n", "name: ci\ntenant: acme\npermissions: [fly]\n",
        "name: admin\ntenant: acme\npermissions: []\n", "name: a b\ntenant: x\npermissions: []\n",
        "name: ci\ntenant: acme\npermissions: execute\n", "wings: 2\n"}) {
    Folder other;
    other.write("x.yaml", bad);
    EXPECT_EQ(roles.load(other.path()).error().code(), Code::invalid_argument) << bad;
    EXPECT_TRUE(roles.find("acme", "ci")) << "a bad file changed something";
  }
  Folder twice;
  twice.write("a.yaml", "name: ci\ntenant: acme\npermissions: []\n");
  twice.write("b.yaml", "name: ci\ntenant: acme\npermissions: []\n");
  EXPECT_FALSE(roles.load(twice.path()));
}

TEST(Roles, OverTheMachineBelongToDefault) {
  const Roles roles;
  EXPECT_TRUE(roles.find("default", "admin")->has(Permission::tenants));
  EXPECT_FALSE(roles.find("acme", "admin")->has(Permission::tenants));
  EXPECT_FALSE(roles.find("acme", "operator")->has(Permission::cluster));
  EXPECT_TRUE(roles.find("acme", "admin")->has(Permission::keys));
}

class GrantTest : public testing::Test {
 protected:
  NewKey wanted(const std::string& role, const std::string& tenant = "acme") {
    NewKey key;
    key.tenant = tenant;
    key.name = "x";
    key.role = role;
    return key;
  }
  Principal make(NewKey key, const std::string& address = "127.0.0.1") {
    auto created = wait(keys_.create(std::move(key)));
    return *keys_.check(created->key, address);
  }
  std::unique_ptr<store::Store> store_ = *store::Store::open_in_memory();
  ManualClock clock_;
  Keys keys_{*store_, clock_};
};

TEST_F(GrantTest, OnlyWhatOneHas) {
  const Principal admin = make(wanted("admin")), developer = make(wanted("developer"));
  NewKey key = wanted("viewer");
  EXPECT_EQ(facts_of(check_grant(developer, keys_, key).error()).at(0).value, "keys");
  EXPECT_TRUE(check_grant(admin, keys_, key));
  key = wanted("admin", "default");
  EXPECT_EQ(facts_of(check_grant(admin, keys_, key).error()).at(0).value, "tenants");
  NewKey narrow = wanted("admin");
  narrow.narrowing.permissions = PermissionSet{Permission::keys, Permission::execute};
  const Principal clerk = make(narrow);
  key = wanted("viewer");
  EXPECT_FALSE(check_grant(clerk, keys_, key));
  key = like(clerk, keys_);
  EXPECT_TRUE(check_grant(clerk, keys_, key));
  EXPECT_EQ(make(key).permissions, clerk.permissions);
}

TEST_F(GrantTest, WhatBindsTheGrantorBindsTheGranted) {
  NewKey bound = wanted("admin");
  bound.narrowing.networks = {"127.0.0.0/8"};
  bound.expires_at = clock_.now() + std::chrono::hours(1);
  const Principal who = make(bound);
  NewKey key = wanted("viewer");
  ASSERT_TRUE(check_grant(who, keys_, key));
  EXPECT_EQ(key.narrowing.networks, bound.narrowing.networks);
  EXPECT_EQ(key.expires_at, bound.expires_at);
  key.expires_at = clock_.now() + std::chrono::hours(2);
  EXPECT_EQ(check_grant(who, keys_, key).error().field(), "expires_in_seconds");
  key = wanted("viewer");
  key.narrowing.networks = {"127.0.0.1"};
  EXPECT_TRUE(check_grant(who, keys_, key));
  key.narrowing.networks = {"10.0.0.0/8"};
  EXPECT_EQ(check_grant(who, keys_, key).error().field(), "networks");
}

// Rotation shows a secret: it must not be a way around what binds whoever asks for it.
TEST_F(GrantTest, WhatBindsAKeyBindsTheSecretsThatItSees) {
  NewKey bound = wanted("admin");
  bound.narrowing.networks = {"127.0.0.0/8"};
  const Principal from_here = make(bound);
  bound.narrowing.networks.clear();
  bound.expires_at = clock_.now() + std::chrono::hours(1);
  const Principal for_an_hour = make(bound);
  const Principal free = make(wanted("admin"));
  const store::KeyRow other = *keys_.find(free.key_id);
  EXPECT_EQ(check_secret_of(from_here, keys_, other).error().code(), Code::permission_denied);
  EXPECT_EQ(check_secret_of(for_an_hour, keys_, other).error().code(), Code::permission_denied);
  EXPECT_EQ(check_secret_of(from_here, keys_, *keys_.find(for_an_hour.key_id)).error().code(),
            Code::permission_denied);
  for (const Principal& one : {from_here, for_an_hour, free}) {
    EXPECT_TRUE(check_secret_of(free, keys_, *keys_.find(one.key_id)));
    EXPECT_TRUE(check_secret_of(one, keys_, *keys_.find(one.key_id))) << "one's own";
  }
  NewKey far = wanted("viewer");
  far.narrowing.networks = {"10.0.0.0/8"};
  EXPECT_EQ(check_secret_of(from_here, keys_, *keys_.find(make(far, "10.0.0.1").key_id)).error().field(),
            "networks");
}

// Whatever a key was narrowed to, one that nobody can read any more opens nothing.
TEST_F(GrantTest, DamagedNarrowingsOpenNothing) {
  NewKey bound = wanted("developer");
  bound.narrowing.scopes.sessions = {"ses_a", "ses_b"};
  bound.narrowing.scopes.environment = "shell";
  const auto created = *wait(keys_.create(bound));
  const Principal whole = *keys_.check(created.key, "127.0.0.1");
  ASSERT_TRUE(whole.scopes);
  EXPECT_EQ(whole.scopes->sessions, bound.narrowing.scopes.sessions);
  EXPECT_TRUE(whole.may(Permission::execute));
  EXPECT_FALSE(whole.may(Permission::volumes)) << "a bound key has no rights over anything else";
  EXPECT_EQ(keys_.id_by_prefix(created.key), created.row.key_id);
  EXPECT_EQ(keys_.id_by_prefix("e2b_something"), "");
  for (const auto& [scopes, networks] :
       std::vector<std::pair<std::string, std::string>>{{"[]", "[]"},
                                                        {R"({"sessions":"ses_a"})", "[]"},
                                                        {R"({"sessions":[1]})", "[]"},
                                                        {R"({"anything":[]})", "[]"},
                                                        {"{", "[]"},
                                                        {"{}", "{}"},
                                                        {"{}", "[1]"},
                                                        {"{}", "["}}) {
    SCOPED_TRACE(scopes + " " + networks);
    store::KeyRow row = created.row;
    row.scopes = scopes;
    row.networks = networks;
    EXPECT_FALSE(Keys::narrowing_of(row));
    ASSERT_TRUE(wait(store_->update_key(row)));
    Keys again(*store_, clock_);
    ASSERT_TRUE(wait(again.reload()));
    const auto who = again.check(created.key, "127.0.0.1");
    EXPECT_TRUE(!who || who->permissions.empty());
  }
}

TEST_F(GrantTest, OtherTenantsKeysDoNotExist) {
  const Principal acme = make(wanted("admin")), root = make(wanted("admin", "default"));
  const store::KeyRow ours = *keys_.find(root.key_id), theirs = *keys_.find(acme.key_id);
  EXPECT_EQ(check_reach(acme, ours).error().code(), Code::not_found);
  EXPECT_TRUE(check_reach(root, theirs));
  EXPECT_TRUE(check_secret_of(root, keys_, theirs));
  EXPECT_FALSE(check_secret_of(make(wanted("viewer")), keys_, theirs));
}

TEST_F(GrantTest, KeysExpireRotateAndEnd) {
  std::vector<std::string> ended;
  keys_.on_end([&](const std::string& id) { ended.push_back(id); });
  NewKey brief = wanted("viewer");
  brief.expires_at = clock_.now() + std::chrono::seconds(10);
  auto first = *wait(keys_.create(brief));
  EXPECT_TRUE(keys_.check(first.key));
  auto second = *wait(keys_.rotate(first.row.key_id, std::chrono::seconds(5)));
  EXPECT_TRUE(keys_.check(first.key));
  EXPECT_TRUE(keys_.check(second.key));
  auto third = *wait(keys_.rotate(first.row.key_id, std::chrono::seconds(5)));
  EXPECT_FALSE(keys_.check(first.key)) << "two secrets at most";
  clock_.advance(std::chrono::seconds(6));
  EXPECT_FALSE(keys_.check(second.key));
  EXPECT_TRUE(keys_.check(third.key));
  ASSERT_TRUE(wait(keys_.save_last_uses()));
  EXPECT_TRUE(wait(store_->list_keys())->at(0).last_used_at);
  clock_.advance(std::chrono::seconds(6));
  EXPECT_EQ(keys_.check(third.key).error().code(), Code::unauthenticated);
  EXPECT_TRUE(ended.empty());
  keys_.sweep();
  EXPECT_EQ(ended, std::vector<std::string>{first.row.key_id});
  EXPECT_EQ(wait(keys_.rotate(first.row.key_id, std::chrono::seconds(5))).error().code(), Code::not_found);
}

TEST_F(GrantTest, AKeyThatMayLessBeginsAnew) {
  auto made = *wait(keys_.create(wanted("developer")));
  std::vector<std::string> ended;
  keys_.on_end([&](const std::string& id) { ended.push_back(id); });
  ASSERT_TRUE(wait(keys_.reload()));
  EXPECT_TRUE(ended.empty());
  store::KeyRow row = made.row;
  row.role = "viewer";
  ASSERT_TRUE(*wait(store_->update_key(row)));
  ASSERT_TRUE(wait(keys_.reload()));
  EXPECT_EQ(ended, std::vector<std::string>{row.key_id});
  row.role = "gone";
  ASSERT_TRUE(*wait(store_->update_key(row)));
  ASSERT_TRUE(wait(keys_.reload()));
  EXPECT_TRUE(keys_.check(made.key)->permissions.empty());
  row.scopes = "damaged";
  ASSERT_TRUE(*wait(store_->update_key(row)));
  ASSERT_TRUE(wait(keys_.reload()));
  EXPECT_TRUE(keys_.check(made.key)->permissions.empty());
}

TEST_F(GrantTest, TheLocalKeyIsInNoStoreAndOnlyFromHere) {
  const std::string key = new_key();
  keys_.set_local_key(key);
  EXPECT_TRUE(keys_.empty());
  ASSERT_TRUE(wait(keys_.reload()));
  EXPECT_EQ(keys_.check(key, "127.0.0.1")->key_id, kLocalKeyId);
  EXPECT_TRUE(keys_.check(key, "unix"));
  EXPECT_FALSE(keys_.check(key, "192.0.2.1"));
  EXPECT_FALSE(keys_.check(key));
  EXPECT_TRUE(wait(store_->list_keys())->empty());
}

TEST(Tenants, AreMadeClosedAndForgotten) {
  auto store = *store::Store::open_in_memory();
  ManualClock clock;
  Tenants tenants(*store, clock);
  std::vector<std::string> closed;
  tenants.on_close([&](const std::string& name) { closed.push_back(name); });
  ASSERT_TRUE(wait(tenants.reload()));
  EXPECT_TRUE(tenants.is_open("default"));
  EXPECT_FALSE(tenants.is_open("acme"));
  EXPECT_EQ(wait(tenants.create("a b")).error().field(), "name");
  ASSERT_TRUE(wait(tenants.create("acme")));
  EXPECT_EQ(wait(tenants.create("acme")).error().code(), Code::already_exists);
  EXPECT_EQ(wait(tenants.set_suspended("default", true)).error().code(), Code::conflict);
  EXPECT_EQ(wait(tenants.remove("default", std::chrono::seconds(1))).error().code(), Code::conflict);
  EXPECT_EQ(wait(tenants.set_suspended("none", true)).error().code(), Code::not_found);
  ASSERT_TRUE(wait(tenants.set_suspended("acme", true)));
  EXPECT_FALSE(tenants.is_open("acme"));
  ASSERT_TRUE(wait(tenants.set_suspended("acme", false)));
  EXPECT_TRUE(tenants.is_open("acme"));
  ASSERT_TRUE(wait(tenants.remove("acme", std::chrono::seconds(60))));
  EXPECT_TRUE(tenants.due().empty());
  EXPECT_EQ(closed.size(), 2U);
  Tenants later(*store, clock);
  ASSERT_TRUE(wait(later.reload()));
  EXPECT_FALSE(later.is_open("acme"));
  clock.advance(std::chrono::seconds(61));
  EXPECT_EQ(later.due(), std::vector<std::string>{"acme"});
  ASSERT_TRUE(wait(later.forget("acme")));
  ASSERT_TRUE(wait(tenants.reload()));
  EXPECT_EQ(tenants.get("acme").error().code(), Code::not_found);
}

TEST(Attempts, OnlyRefusalsWaitAndTheyDoNotWaitLong) {
  ManualClock clock;
  Attempts attempts({.delay_max = std::chrono::seconds(2), .free = 3, .waiting_max = 2}, clock);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(attempts.failed("a", "").count(), 0);
  EXPECT_EQ(attempts.failed("a", "").count(), 50);
  EXPECT_EQ(attempts.failed("a", "").count(), 100);
  for (int i = 0; i < 50; ++i) attempts.failed("a", "");
  EXPECT_EQ(attempts.failed("a", "").count(), 2000);
  EXPECT_EQ(attempts.failed("b", "").count(), 0) << "another address pays nothing";
  for (int i = 0; i < 4; ++i) attempts.failed(std::to_string(i), "key_1");
  EXPECT_GT(attempts.failed("new", "key_1").count(), 0) << "one key is guessed from many addresses";
  EXPECT_TRUE(attempts.begin_wait());
  EXPECT_TRUE(attempts.begin_wait());
  EXPECT_FALSE(attempts.begin_wait());
  attempts.end_wait();
  EXPECT_TRUE(attempts.begin_wait());
}

TEST(Attempts, RememberNoMoreThanTheyMay) {
  ManualClock clock;
  Attempts attempts({.names_max = 100}, clock);
  for (int i = 0; i < 1000; ++i) attempts.failed(std::to_string(i), "");
  EXPECT_LE(attempts.remembered(), 101U);
  Attempts off({.delay_max = std::chrono::milliseconds(0)}, clock);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(off.failed("a", "k").count(), 0);
}

TEST(RoleMap, ReadsWhatSettingsSay) {
  for (const char* bad : {"staff", "=admin", "staff=", "staff=a b", "staff=admin@", ","})
    EXPECT_EQ(RoleMap::parse(bad, "s").error().field(), "s") << bad;
  const Roles roles;
  const RoleMap map = *RoleMap::parse("staff=developer@acme, root=admin,odd=king", "s");
  Principal who;
  EXPECT_EQ(map.apply({"nobody", "odd"}, roles, who).error().code(), Code::permission_denied);
  ASSERT_TRUE(map.apply({"root", "staff"}, roles, who));
  EXPECT_EQ(who.tenant, "acme");
  EXPECT_EQ(who.role, "developer");
  EXPECT_FALSE(parse_claim_map("staff=developer", "s"));
  EXPECT_EQ(parse_claim_map("groups: staff=developer", "s")->first, "groups");
}

TEST(Vouched, OnlyByWhomItShouldBe) {
  const Roles roles;
  ProxyProvider::Options options;
  options.proxies = {*egress::Cidr::parse("10.0.0.0/8")};
  options.user_header = "X-User";
  options.groups_header = "X-Groups";
  options.roles = *RoleMap::parse("staff=developer@acme", "s");
  ProxyProvider proxy(options, roles);
  Presented shown;
  shown.peer = "10.0.0.1";
  shown.header = [](std::string_view name) { return std::string(name == "X-User" ? "ann" : "a, staff"); };
  EXPECT_EQ((*wait(proxy.identify(shown)))->key_id, "proxy:ann");
  shown.peer = "11.0.0.1";
  EXPECT_FALSE(*wait(proxy.identify(shown)));
  shown.peer = "unix";
  EXPECT_FALSE(*wait(proxy.identify(shown)));
  CertificateProvider certificates(*RoleMap::parse("ann=viewer@acme", "s"), roles);
  EXPECT_FALSE(*wait(certificates.identify(shown)));
  shown.tls_subject = "ann";
  EXPECT_EQ((*wait(certificates.identify(shown)))->role, "viewer");
  shown.tls_subject = "eve";
  EXPECT_EQ(wait(certificates.identify(shown)).error().code(), Code::permission_denied);
  shown.credential = "e2b_00";
  EXPECT_FALSE(*wait(certificates.identify(shown)));
}

TEST(Denial, FactsComeBack) {
  const Error denied = missing_permission(Permission::execute);
  EXPECT_EQ(denied.code(), Code::permission_denied);
  ASSERT_EQ(facts_of(denied).size(), 1U);
  EXPECT_EQ(facts_of(denied)[0].value, "execute");
  const Error over = over_quota({"sessions", "tenant", 5, 5, 1, std::chrono::seconds(7)});
  EXPECT_EQ(retry_after_of(over), 7U);
  EXPECT_EQ(facts_of(over).size(), 6U);
  EXPECT_TRUE(facts_of(Error(Code::internal, "x").with_field("limits.memory_mb")).empty());
  EXPECT_FALSE(retry_after_of(denied));
}

}  // namespace
}  // namespace atl::auth
