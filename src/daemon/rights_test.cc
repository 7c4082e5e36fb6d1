// Every role against every route of every dialect, and principals of other tenants against everything.
#include <atomic>
#include <random>
#include <set>

#include "daemon/service_test.h"
#include "net/test_server.h"

namespace atl::daemon {
namespace {

using Words = std::set<std::string>;

// What each role may do, written down a second time and by hand, so that a change of the table is a decision.
const std::map<std::string, Words> kRoles = [] {
  std::map<std::string, Words> roles;
  roles["viewer"] = {"catalog:read", "sessions:read", "files:read", "history:read", "usage:read"};
  roles["developer"] = roles["viewer"];
  roles["developer"].insert({"sessions:write", "execute", "files:write", "terminal", "ports", "snapshots",
                             "templates", "volumes", "secrets:use", "tools:run"});
  roles["operator"] = roles["developer"];
  roles["operator"].insert({"secrets:write", "metrics:read", "audit:read", "tenants:look", "cluster"});
  roles["admin"] = roles["operator"];
  roles["admin"].insert({"keys", "quotas", "tenants"});
  return roles;
}();
const Words kMachine = {"metrics:read", "tenants", "tenants:look", "cluster"};

class RightsTest : public ServiceTest {
 protected:
  Answer post(const std::string& path, const std::string& body, const std::string& key = kKey) {
    return ask("POST", path, key_header(key), body);
  }
  Answer get(const std::string& path, const std::string& key) { return ask("GET", path, key_header(key)); }
  // A new key by REST.
  bj::object make_key(const std::string& role, const std::string& more = "", const std::string& by = kKey) {
    const Answer made = post("/api/keys", fmt::format(R"({{"name":"test","role":"{}"{}}})", role, more), by);
    EXPECT_EQ(made.status, 201) << made.body;
    return made.status == 201 ? made.json() : bj::object{{"key", ""}, {"key_id", ""}};
  }
  std::string key_of(const std::string& role, const std::string& more = "") {
    return text(make_key(role, more), "key");
  }
  // The permission that a refusal names.
  static std::string missing(const Answer& answer) {
    boost::system::error_code absent;
    const bj::value parsed = bj::parse(answer.body);
    const bj::value* found = parsed.find_pointer("/error/details/permission", absent);
    return found == nullptr ? std::string() : std::string(found->as_string());
  }
};

TEST_F(RightsTest, EveryRoleAgainstEveryRoute) {
  start();
  const bj::object mine = create();
  const bj::object nobody{{"session_id", "ses_none"}, {"sandbox_id", "inone"}};
  const auto routes = table();
  std::size_t refused = 0, let_in = 0;
  for (const char* tenant : {"default", "acme"}) {
    for (const auto& [role, words] : kRoles) {
      const std::string key = key_of(role, fmt::format(R"(,"tenant":"{}")", tenant));
      for (const Probe& probe : routes) {
        SCOPED_TRACE(fmt::format("{} of {}: {}", role, tenant, probe.name()));
        const std::string needed(to_string(probe.rule.permission));
        const bool machine = kMachine.contains(needed) && std::string_view(tenant) != "default";
        const bool may = needed == "none" || (words.contains(needed) && !machine);
        const bool is_key = probe.rule.credential == Credential::key;
        const bool is_plane = probe.rule.credential == Credential::secret ||
                              probe.rule.credential == Credential::file ||
                              probe.rule.credential == Credential::context;
        if (!is_key && !(is_plane && std::string_view(tenant) == "default")) continue;
        // Refused to everybody by its handler; other tenants' quotas are another right.
        if (may && (needed == "cluster" || (std::string_view(tenant) != "default" &&
                                            probe.route->pattern == "/api/tenants/{name}/quotas")))
          continue;
        const Answer answer = ask(probe, is_key ? nobody : mine, key_header(key));
        if (may) {
          ++let_in;
          EXPECT_NE(answer.status, 403) << answer.body;
          EXPECT_NE(answer.status, 401) << answer.body;
        } else {
          ++refused;
          EXPECT_EQ(answer.status, 403) << answer.body;
          if (probe.route->pattern.starts_with("/api/")) {
            EXPECT_EQ(missing(answer), needed) << answer.body;
          }
        }
      }
    }
  }
  EXPECT_GT(refused, 300U);
  EXPECT_GT(let_in, 300U);
}

TEST_F(RightsTest, WhoAmI) {
  start();
  const bj::object admin = get("/api/whoami", kKey).json();
  EXPECT_EQ(text(admin, "tenant"), "default");
  EXPECT_EQ(text(admin, "role"), "admin");
  EXPECT_EQ(admin.at("permissions").as_array().size(), 23U);
  const bj::object made = make_key("developer", R"(,"scopes":["execute","sessions:read"])");
  const bj::object narrow = get("/api/whoami", text(made, "key")).json();
  EXPECT_EQ(narrow.at("permissions"), bj::array({"sessions:read", "execute"}));
  EXPECT_EQ(text(narrow, "key_id"), text(made, "key_id"));
}

TEST_F(RightsTest, NobodyGrantsWhatTheyLack) {
  start();
  const std::string keys_only = key_of("admin", R"(,"scopes":["keys","sessions:read"])");
  EXPECT_EQ(post("/api/keys", R"({"name":"x","role":"viewer"})", keys_only).status, 403);
  EXPECT_EQ(post("/api/keys", R"({"name":"x","role":"admin"})", keys_only).status, 403);
  EXPECT_EQ(post("/api/keys", R"({"name":"x","role":"admin","scopes":["sessions:read"]})", keys_only).status,
            201);
  // In E2B's dialect the new key is as narrow as the one that made it.
  const Answer other = post("/api-keys", R"({"name":"x"})", keys_only);
  ASSERT_EQ(other.status, 201) << other.body;
  const bj::object who = get("/api/whoami", text(other.json(), "key")).json();
  EXPECT_EQ(who.at("permissions"), bj::array({"sessions:read", "keys"}));
  const Answer token = post("/access-tokens", R"({"name":"x"})", keys_only);
  ASSERT_EQ(token.status, 201) << token.body;
  EXPECT_EQ(post("/api/sessions", "{}", text(token.json(), "token")).status, 403);
  // Rotation would show the secret of a key that may do more.
  const bj::object admin = make_key("admin");
  EXPECT_EQ(post("/api/keys/" + text(admin, "key_id") + "/rotate", "{}", keys_only).status, 403);
  EXPECT_EQ(post("/api-keys", R"({"name":"x"})", key_of("developer")).status, 403);
}

TEST_F(RightsTest, AdminsOfOtherTenantsStayAtHome) {
  start();
  const std::string acme = key_of("admin", R"(,"tenant":"acme")");
  const bj::object ours = make_key("viewer");
  EXPECT_EQ(post("/api/keys", R"({"name":"x","role":"viewer","tenant":"default"})", acme).status, 403);
  EXPECT_EQ(post("/api/keys", R"({"name":"x","role":"viewer"})", acme).status, 201);
  EXPECT_EQ(ask("DELETE", "/api/keys/" + text(ours, "key_id"), key_header(acme)).status, 404);
  EXPECT_EQ(get("/api/keys?tenant=default", acme).status, 403);
  EXPECT_EQ(get("/api/tenants", acme).status, 403);
  EXPECT_EQ(ask("PUT", "/api/tenants/acme/quotas", key_header(acme), "{}").status, 403);
  EXPECT_EQ(ask("PUT", "/api/tenants/default/quotas", key_header(acme), "{}").status, 403);
  EXPECT_EQ(get("/api/tenants/acme/quotas", acme).status, 200);
  EXPECT_EQ(get("/api/tenants/default/quotas", acme).status, 403);
  EXPECT_EQ(get("/api/usage?tenant=default", acme).status, 403);
  EXPECT_EQ(get("/metrics", acme).status, 403);
}

TEST_F(RightsTest, ViewersAreNotShownWhatOpensMore) {
  start();
  const bj::object session = create();
  const bj::object seen = get("/api/sessions/" + text(session, "session_id"), key_of("viewer")).json();
  EXPECT_TRUE(seen.at("access_token").is_null());
  EXPECT_TRUE(seen.at("traffic_token").is_null());
  const Answer e2b = get("/sandboxes/" + text(session, "sandbox_id"), key_of("viewer"));
  EXPECT_EQ(e2b.status, 200);
  EXPECT_EQ(e2b.body.find(text(session, "access_token")), std::string::npos);
  const bj::object all = get("/api/sessions/" + text(session, "session_id"), key_of("developer")).json();
  EXPECT_EQ(text(all, "access_token"), text(session, "access_token"));
}

TEST_F(RightsTest, KeysBoundToSessionsAndEnvironments) {
  start();
  const bj::object one = create(), two = create();
  const std::string path = "/api/sessions/";
  const std::string key =
      key_of("developer", fmt::format(R"(,"scopes":{{"sessions":["{}"]}})", text(one, "session_id")));
  EXPECT_EQ(get(path + text(one, "session_id"), key).status, 200);
  EXPECT_EQ(get(path + text(one, "sandbox_id"), key).status, 200);
  EXPECT_EQ(get(path + text(two, "session_id"), key).status, 404);
  EXPECT_EQ(get(path, key).status, 404);
  const bj::object list = get("/api/sessions", key).json();
  EXPECT_EQ(list.at("sessions").as_array().size(), 1U);
  EXPECT_EQ(post("/api/sessions", R"({"provider":"virtual"})", key).status, 403);
  EXPECT_EQ(post(path + text(one, "session_id") + "/commands", R"({"command":"true"})", key).status, 200);
  EXPECT_EQ(post(path + text(two, "session_id") + "/commands", R"({"command":"true"})", key).status, 404);
  EXPECT_EQ(ask("POST", "/filesystem.Filesystem/Stat",
                key_header(key) +
                    fmt::format("E2b-Sandbox-Id: {}\r\nE2b-Sandbox-Port: 49983\r\n", text(two, "sandbox_id")))
                .status,
            401);
  EXPECT_EQ(get("/volumes", key).status, 403);
  const std::string shell = key_of("developer", R"(,"scopes":["environment:shell"])");
  EXPECT_EQ(post("/api/sessions", R"({"provider":"virtual","environment":"host"})", shell).status, 403);
  EXPECT_EQ(get(path + text(one, "session_id"), shell).status, 404);
}

// Routes that name no session are about nobody's in particular, or filtered by the session service, or not
// for a key that is bound. A new one has to be thought about.
TEST_F(RightsTest, BoundKeysReachNothingThatIsTheWholeTenants) {
  start();
  const bj::object one = create(), two = create();
  const Words harmless = {"/api/whoami",
                          "/api/roles",
                          "/api/health",
                          "/api/environments",
                          "/api/agents",
                          "/api/validate",
                          "/api/capabilities",
                          "/openapi.json",
                          "/api/registry",
                          "/api/registry/versions",
                          "/api/registry/diff",
                          "/api/registry/{kind}",
                          "/api/registry/{kind}/{name}",
                          "/schemas/{file}",
                          "/api/prompts",
                          "/api/prompts/{name}",
                          "/api/prompts/{name}/render",
                          "/api/tools",
                          "/api/tools/{name}",
                          "/api/skills",
                          "/api/skills/{name}",
                          "/api/skills/{name}/files",
                          "/templates",
                          "/v2/templates",
                          "/templates/{template}",
                          "/teams"};
  const Words filtered = {"/api/sessions",
                          "/api/snapshots",
                          "/api/snapshots/{snapshot_id}",
                          "/api/history",
                          "/api/index/search",
                          "/api/artifacts/{digest}",
                          "/api/events",
                          "/sandboxes",
                          "/v2/sandboxes",
                          "/snapshots",
                          "/sandboxes/metrics",
                          "/api/e2b/execute",
                          "/api/e2b/files",
                          "/api/e2b/files/{session_id}",
                          "/mcp"};
  for (const std::string& scope :
       {fmt::format("session:{}", text(one, "session_id")), std::string("environment:shell")}) {
    const std::string key = key_of("developer", fmt::format(R"(,"scopes":["{}"])", scope));
    for (const Probe& probe : table()) {
      const std::string_view pattern = probe.route->pattern;
      const bool reads = probe.route->method == Method::get || probe.route->method == Method::head;
      if (probe.rule.credential != Credential::key || pattern.find("/{id}") != std::string_view::npos ||
          probe.rule.permission == api::Permission::none || filtered.contains(std::string(pattern)))
        continue;
      if (harmless.contains(std::string(pattern)) &&
          (reads || pattern == "/api/validate" || pattern == "/api/prompts/{name}/render"))
        continue;
      SCOPED_TRACE(probe.name() + " with " + scope);
      const Answer answer = ask(probe, two, key_header(key));
      EXPECT_EQ(answer.status, 403) << answer.body;
    }
  }
}

// What a bound key makes begins with nothing of what it may not reach.
TEST_F(RightsTest, BoundKeysMakeNothingOutOfWhatIsOthers) {
  start();
  const bj::object other = create();
  ASSERT_NE(text(other, "environment"), "Python3");
  const Answer kept = post("/api/sessions/" + text(other, "session_id") + "/snapshots", R"({"name":"s"})");
  ASSERT_EQ(kept.status, 201) << kept.body;
  const std::string snapshot = text(kept.json(), "snapshot_id");
  const std::string bound = key_of("developer", R"(,"scopes":["environment:Python3"])");
  const auto make = [&](const std::string& key, const std::string& more) {
    return post("/api/sessions", fmt::format(R"({{"provider":"virtual","environment":"Python3"{}}})", more),
                key);
  };
  EXPECT_EQ(make(bound, "").status, 201);
  const std::string from = fmt::format(R"(,"snapshot":"{}")", snapshot);
  EXPECT_EQ(make(bound, from).status, 404);
  EXPECT_EQ(make(key_of("developer"), from).status, 201);
  EXPECT_EQ(make(bound, R"(,"storage":"memory")").status, 403);
  const auto mount = [&](const std::string& key, const std::string& from_template) {
    return post("/sandboxes",
                fmt::format(R"({{"templateID":"{}","volumeMounts":[{{"name":"v","path":"/mnt/v"}}]}})",
                            from_template),
                key);
  };
  ASSERT_EQ(post("/volumes", R"({"name":"v"})").status, 201);
  const std::string based = key_of("developer", R"(,"scopes":["environment:base"])");
  const std::string narrow = key_of("developer", R"(,"scopes":["sessions:write","execute","files:read"])");
  for (const Answer& refused : {mount(based, "base"), mount(narrow, "base")}) {
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_NE(refused.body.find("permission volumes"), std::string::npos) << refused.body;
  }
}

// Facts, not contents.
TEST_F(RightsTest, WhoLooksIntoAnotherTenantSeesNothingThatItKeeps) {
  start();
  const std::string theirs = key_of("admin", R"(,"tenant":"acme")");
  ASSERT_EQ(ask("PUT", "/api/index/collections/c", key_header(theirs)).status, 200);
  const std::string look = key_header(key_of("operator")) + "X-Atoll-Tenant: acme\r\n";
  for (const char* path : {"/api/index/collections", "/api/index/collections/c", "/api/skills",
                           "/api/registry/prompts", "/api/tools", "/volumes", "/templates"})
    EXPECT_EQ(ask("GET", path, look).status, 403) << path;
  EXPECT_EQ(ask("POST", "/api/index/collections/c/search", look, R"({"query":"x"})").status, 403);
  EXPECT_EQ(ask("POST", "/api/index/search", look, R"({"query":"x"})").status, 200);
  EXPECT_EQ(ask("GET", "/api/history", look).status, 200);
}

TEST_F(RightsTest, KeysEndAndMoveOn) {
  start();
  const bj::object brief = make_key("viewer", R"(,"expires_in_seconds":3)");
  EXPECT_EQ(get("/api/sessions", text(brief, "key")).status, 200);
  const bj::object far = make_key("viewer", R"(,"networks":["192.0.2.0/24"])");
  EXPECT_EQ(get("/api/sessions", text(far, "key")).status, 401);
  const bj::object near = make_key("viewer", R"(,"networks":["127.0.0.0/8"])");
  EXPECT_EQ(get("/api/sessions", text(near, "key")).status, 200);
  const std::string id = text(near, "key_id");
  const bj::object renewed = post("/api/keys/" + id + "/rotate", R"({"overlap_seconds":3})").json();
  EXPECT_EQ(text(renewed, "key_id"), id);
  EXPECT_EQ(get("/api/sessions", text(near, "key")).status, 200);
  EXPECT_EQ(get("/api/sessions", text(renewed, "key")).status, 200);
  for (const bj::object* const ending : {&brief, &near})
    EXPECT_TRUE(net::comes_to([&] { return get("/api/sessions", text(*ending, "key")).status == 401; }));
  EXPECT_EQ(get("/api/sessions", text(renewed, "key")).status, 200);
  EXPECT_EQ(ask("DELETE", "/api/keys/" + id, key_header(kKey)).status, 204);
  EXPECT_EQ(get("/api/sessions", text(renewed, "key")).status, 401);
  EXPECT_EQ(ask("DELETE", "/api/keys/" + id, key_header(kKey)).status, 404);
  for (const char* body :
       {R"({"name":"x"})", R"({"role":"viewer"})", R"({"name":"x","role":"king"})",
        R"({"name":"x","role":"viewer","scopes":["execute"]})",
        R"({"name":"x","role":"viewer","scopes":["fly"]})",
        R"({"name":"x","role":"viewer","networks":["nowhere"]})",
        R"({"name":"x","role":"viewer","expires_in_seconds":0})", R"({"name":"","role":"viewer"})"})
    EXPECT_EQ(post("/api/keys", body).status, 400) << body;
}

// A stream that is open when its key is revoked ends.
TEST_F(RightsTest, RevocationEndsOpenStreams) {
  start();
  const bj::object session = create();
  const bj::object key = make_key("developer");
  net::RawClient client(port_);
  const std::string body = R"({"command":"sleep 30"})";
  client.send(
      fmt::format("POST /api/sessions/{}/commands HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n{}",
                  text(session, "session_id"), key_header(text(key, "key")) + "Accept: text/event-stream\r\n",
                  body.size(), body));
  const std::string head = client.receive_until("\r\n\r\n");
  ASSERT_NE(head.find("200"), std::string::npos) << head;
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(ask("DELETE", "/api/keys/" + text(key, "key_id"), key_header(kKey)).status, 204);
  while (!client.receive().empty()) {
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST_F(RightsTest, TenantsAreMadeClosedAndRemoved) {
  start();
  EXPECT_EQ(post("/api/tenants", R"({"name":"acme"})").status, 201);
  EXPECT_EQ(post("/api/tenants", R"({"name":"acme"})").status, 409);
  EXPECT_EQ(post("/api/tenants", R"({"name":"a/b"})").status, 400);
  const std::string key = key_of("developer", R"(,"tenant":"acme")");
  const Answer made = post("/api/sessions", R"({"provider":"virtual"})", key);
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id = text(made.json(), "session_id");
  EXPECT_EQ(post("/api/tenants/acme", R"({"state":"suspended"})").status, 200);
  EXPECT_EQ(get("/api/sessions/" + id, key).status, 403);
  EXPECT_EQ(ask("POST", "/filesystem.Filesystem/Stat",
                fmt::format("X-Access-Token: {}\r\nE2b-Sandbox-Id: {}\r\nE2b-Sandbox-Port: 49983\r\n",
                            text(made.json(), "access_token"), text(made.json(), "sandbox_id")))
                .status,
            502);
  EXPECT_EQ(post("/api/tenants/acme", R"({"state":"active"})").status, 200);
  EXPECT_EQ(get("/api/sessions/" + id, key).status, 200);
  // Who may look across sees facts and changes nothing.
  const std::string look = "X-Atoll-Tenant: acme\r\n";
  const Answer seen = ask("GET", "/api/sessions/" + id, key_header(key_of("operator")) + look);
  EXPECT_EQ(seen.status, 200);
  EXPECT_TRUE(seen.json().at("access_token").is_null());
  EXPECT_EQ(ask("DELETE", "/api/sessions/" + id, key_header(kKey) + look).status, 403);
  EXPECT_EQ(ask("GET", "/api/sessions/" + id, key_header(key_of("developer")) + look).status, 403);
  EXPECT_EQ(ask("GET", "/api/sessions", key_header(kKey) + "X-Atoll-Tenant: nobody\r\n").status, 404);
  EXPECT_EQ(ask("DELETE", "/api/tenants/default", key_header(kKey)).status, 409);
  EXPECT_EQ(ask("DELETE", "/api/tenants/acme?grace_seconds=0", key_header(kKey)).status, 200);
  EXPECT_EQ(get("/api/sessions/" + id, key).status, 403);
  for (int i = 0; i < 100 && get("/api/tenants/acme", kKey).status != 404; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(get("/api/tenants/acme", kKey).status, 404);
  EXPECT_EQ(get("/api/sessions/" + id, key).status, 401);
}

// Random principals with random rights ask random routes for things of other tenants.
TEST_F(RightsTest, NobodySeesOrChangesWhatIsAnothers) {
  start();
  struct Place {
    std::string tenant, admin, other;
    bj::object session;
  };
  std::vector<Place> places;
  std::mt19937 random(20);
  for (const char* tenant : {"one", "two", "three"}) {
    Place place;
    place.tenant = tenant;
    place.admin = key_of("admin", fmt::format(R"(,"tenant":"{}")", tenant));
    place.session =
        post("/api/sessions",
             fmt::format(R"({{"provider":"virtual","metadata":{{"mark":"mark-{}"}}}})", tenant), place.admin)
            .json();
    ASSERT_EQ(ask("PUT", "/api/sessions/" + text(place.session, "session_id") + "/files?path=/home/user/kept",
                  key_header(place.admin), "kept-" + place.tenant)
                  .status,
              200);
    places.push_back(std::move(place));
  }
  std::vector<std::pair<std::size_t, std::string>> askers;
  const std::vector<std::string> all(kRoles.at("admin").begin(), kRoles.at("admin").end());
  for (std::size_t i = 0; i < places.size(); ++i) {
    askers.emplace_back(i, places[i].admin);
    for (int n = 0; n < 4; ++n) {
      std::string scopes;
      for (const std::string& word : all)
        if (!kMachine.contains(word) && random() % 2 == 0)
          scopes += (scopes.empty() ? "\"" : ",\"") + word + "\"";
      askers.emplace_back(
          i, key_of("admin", fmt::format(R"(,"tenant":"{}","scopes":[{}])", places[i].tenant, scopes)));
    }
  }
  const auto routes = table();
  for (int n = 0; n < 1500; ++n) {
    const auto& [home, key] = askers[random() % askers.size()];
    const Place& target = places[(home + 1 + random() % 2) % places.size()];
    const Probe& probe = routes[random() % routes.size()];
    if (probe.rule.credential == Credential::port) continue;
    SCOPED_TRACE(fmt::format("{} of {} for {}", probe.name(), places[home].tenant, target.tenant));
    const Answer answer = ask(probe, target.session, key_header(key));
    for (const char* name : {"access_token", "traffic_token"})
      EXPECT_EQ(answer.body.find(text(target.session, name)), std::string::npos) << answer.body;
    for (const std::string& mark : {"mark-" + target.tenant, "kept-" + target.tenant})
      EXPECT_EQ(answer.body.find(mark), std::string::npos) << answer.body;
    const bool names = probe.route->pattern.find("{id}") != std::string::npos ||
                       probe.route->pattern.find("{session_id}") != std::string::npos ||
                       (probe.port != 0 && probe.rule.credential != Credential::sandbox);
    if (names) {
      EXPECT_GE(answer.status, 400) << answer.body;
      EXPECT_LT(answer.status, 500) << answer.body;
    }
  }
  for (const Place& place : places)
    EXPECT_EQ(
        get("/api/sessions/" + text(place.session, "session_id") + "/files?path=/home/user/kept", place.admin)
            .body,
        "kept-" + place.tenant);
}

TEST_F(RightsTest, QuotasAreNeverExceededAndNeverStick) {
  start();
  const std::string key = key_of("developer", R"(,"tenant":"acme")");
  ASSERT_EQ(ask("PUT", "/api/tenants/acme/quotas", key_header(kKey), R"({"sessions":3})").status, 200);
  std::atomic<int> at_once = 0, most = 0, made = 0, refused = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&] {
      for (int n = 0; n < 12; ++n) {
        const Answer answer = post("/api/sessions", R"({"provider":"virtual"})", key);
        if (answer.status == 429) {
          ++refused;
          EXPECT_NE(answer.body.find(R"("quota":"sessions")"), std::string::npos) << answer.body;
          EXPECT_NE(answer.body.find(R"("limit":3)"), std::string::npos) << answer.body;
          continue;
        }
        ASSERT_EQ(answer.status, 201) << answer.body;
        ++made;
        const int now = ++at_once;
        for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
        }
        --at_once;
        EXPECT_EQ(ask("DELETE", "/api/sessions/" + text(answer.json(), "session_id"), key_header(key)).status,
                  200);
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_LE(most, 3);
  EXPECT_GT(made, 0);
  std::vector<std::string> held;
  for (int i = 0; i < 3; ++i) {
    const Answer answer = post("/api/sessions", R"({"provider":"virtual"})", key);
    ASSERT_EQ(answer.status, 201) << "a place was lost: " << answer.body;
    held.push_back(text(answer.json(), "session_id"));
  }
  EXPECT_EQ(post("/api/sessions", R"({"provider":"virtual"})", key).status, 429);
  const bj::object now = get("/api/usage", key).json().at("now").as_object();
  EXPECT_EQ(now.at("sessions").as_object().at("used").to_number<int>(), 3);
  // Others are not concerned.
  EXPECT_EQ(post("/api/sessions", R"({"provider":"virtual"})").status, 201);
}

TEST_F(RightsTest, TheOtherQuotas) {
  start();
  const std::string key = key_of("developer", R"(,"tenant":"acme")");
  const auto set = [&](const std::string& quotas) {
    const Answer answer = ask("PUT", "/api/tenants/acme/quotas", key_header(kKey), quotas);
    EXPECT_EQ(answer.status, 200) << answer.body;
  };
  EXPECT_EQ(ask("PUT", "/api/tenants/acme/quotas", key_header(kKey), R"({"fish":1})").status, 400);
  EXPECT_EQ(ask("PUT", "/api/tenants/acme/quotas", key_header(kKey), R"({"sessions":-1})").status, 400);
  EXPECT_EQ(ask("PUT", "/api/tenants/none/quotas", key_header(kKey), "{}").status, 404);
  set(R"({"creates_per_minute":1})");
  const Answer first = post("/api/sessions", R"({"provider":"virtual"})", key);
  ASSERT_EQ(first.status, 201) << first.body;
  const Answer second = post("/api/sessions", R"({"provider":"virtual"})", key);
  EXPECT_EQ(second.status, 429);
  EXPECT_NE(second.body.find("retry_after_seconds"), std::string::npos) << second.body;
  set(R"({"memory_mb":1})");
  EXPECT_EQ(post("/api/sessions", R"({"provider":"virtual"})", key).status, 429);
  set(R"({"executions":0})");
  const std::string commands = "/api/sessions/" + text(first.json(), "session_id") + "/commands";
  EXPECT_EQ(post(commands, R"({"command":"true"})", key).status, 429);
  set(R"({"executions":1})");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(post(commands, R"({"command":"true"})", key).status, 200);
  set(R"({"cpu_seconds_per_day":0})");
  EXPECT_EQ(post(commands, R"({"command":"true"})", key).status, 429);
  set(R"({"volumes":0})");
  EXPECT_EQ(post("/volumes", R"({"name":"v"})", key).status, 429);
  set("{}");
  const Answer csv = get("/api/usage?format=csv&by=day,key,session", key);
  EXPECT_EQ(csv.status, 200);
  EXPECT_NE(csv.body.find("\"acme\""), std::string::npos) << csv.body;
  const bj::object usage = get("/api/usage?by=day", key).json();
  EXPECT_EQ(usage.at("usage").as_array().at(0).as_object().at("executions").to_number<int>(), 5);
}

TEST_F(RightsTest, WrongKeysAreAnsweredLaterAndGoodOnesAreNot) {
  start({{"auth.delay_max", "300ms"}});
  const auto time = [&](const std::string& key) {
    const auto began = std::chrono::steady_clock::now();
    const int status = get("/api/tools", key).status;
    return std::pair(status, std::chrono::steady_clock::now() - began);
  };
  for (int i = 0; i < 15; ++i) EXPECT_EQ(time("e2b_ffffffffffffffff").first, 401);
  EXPECT_GE(time("e2b_ffffffffffffffff").second, std::chrono::milliseconds(290));
  const auto good = time(kKey);
  EXPECT_EQ(good.first, 200);
  EXPECT_LT(good.second, std::chrono::milliseconds(290));
}

// Secrets of sessions, signatures, and tokens of ports, volumes and uploads can be guessed at as keys can.
TEST_F(RightsTest, WrongTokensAreAnsweredLaterToo) {
  start({{"auth.delay_max", "300ms"}});
  const bj::object closed = create(R"({"provider":"virtual","public_ports":false})");
  const std::string place = fmt::format("E2b-Sandbox-Id: {}\r\n", text(closed, "sandbox_id"));
  const std::string plane = place + "E2b-Sandbox-Port: 49983\r\n";
  for (int i = 0; i < 15; ++i) ask("GET", "/api/tools", key_header("e2b_ffffffffffffffff"));
  const auto time = [&](const std::string& method, const std::string& path, const std::string& headers) {
    const auto began = std::chrono::steady_clock::now();
    const int status = ask(method, path, headers).status;
    return std::pair(status, std::chrono::steady_clock::now() - began);
  };
  const auto is_late = [](const auto& answer) {
    return answer.first >= 400 && answer.second >= std::chrono::milliseconds(290);
  };
  EXPECT_TRUE(is_late(time("GET", "/files?path=/x", plane + "X-Access-Token: wrong\r\n")));
  EXPECT_TRUE(is_late(time("GET", "/files?path=/x&signature=v1_wrong", "")));
  EXPECT_TRUE(is_late(time("GET", "/volumecontent/none/path?path=/", "Authorization: Bearer wrong\r\n")));
  EXPECT_TRUE(is_late(time("PUT", "/upload/wrong", "")));
  const std::string port = place + "E2b-Sandbox-Port: 8080\r\n";
  EXPECT_TRUE(is_late(time("GET", "/", port + "E2b-Traffic-Access-Token: wrong\r\n")));
  // Who shows none guesses nothing, and who shows the right one waits for nobody.
  EXPECT_LT(time("GET", "/", port).second, std::chrono::milliseconds(290));
  const auto good =
      time("GET", "/files?path=/etc", plane + "X-Access-Token: " + text(closed, "access_token") + "\r\n");
  EXPECT_LT(good.second, std::chrono::milliseconds(290));
}

TEST_F(RightsTest, HeadersOfAProxyCountOnlyFromItsAddress) {
  start({{"auth.proxies", "127.0.0.1"},
         {"auth.proxy.user_header", "X-User"},
         {"auth.proxy.roles", "staff=developer@acme, root=admin"}});
  ASSERT_EQ(post("/api/tenants", R"({"name":"acme"})").status, 201);
  const Answer who = ask("GET", "/api/whoami", "X-User: ann\r\nX-Forwarded-Groups: other, staff\r\n");
  ASSERT_EQ(who.status, 200) << who.body;
  EXPECT_EQ(text(who.json(), "tenant"), "acme");
  EXPECT_EQ(text(who.json(), "key_id"), "proxy:ann");
  EXPECT_EQ(ask("GET", "/api/whoami", "X-User: bob\r\n").status, 403);
  EXPECT_EQ(ask("GET", "/api/whoami", "X-User: ann\r\nX-API-Key: wrong\r\n").status, 401);
}

TEST_F(RightsTest, HeadersOfAProxyAreNothingFromAnybodyElse) {
  start({{"auth.proxies", "192.0.2.1"},
         {"auth.proxy.user_header", "X-User"},
         {"auth.proxy.roles", "root=admin"}});
  EXPECT_EQ(ask("GET", "/api/whoami", "X-User: root\r\n").status, 401);
}

}  // namespace
}  // namespace atl::daemon
