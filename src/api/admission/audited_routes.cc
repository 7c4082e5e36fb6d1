#include "api/admission/audited_routes.h"

#include <array>
#include <boost/json.hpp>

#include "base/json.h"

namespace atl::api {
namespace {

using audit::Kind;
using auth::Permission;
using net::Method;

constexpr Writer kHere = Writer::admission, kInside = Writer::service;

constexpr AuditedRoute kRoutes[] = {
    // Keys, tenants, quotas.
    {Method::post, "/api/keys", "key.create", kHere, Kind::change, ".key_id"},
    {Method::get, "/api/keys", "key.list", kHere, Kind::reveal},
    {Method::post, "/api/keys/{id}/rotate", "key.rotate", kHere, Kind::change, "id"},
    {Method::del, "/api/keys/{id}", "key.delete", kHere, Kind::ending, "id"},
    {Method::get, "/api/keys/{id}/quotas", "quota.read", kHere, Kind::reveal, "id"},
    {Method::put, "/api/keys/{id}/quotas", "quota.update", kHere, Kind::change, "id"},
    {Method::post, "/api-keys", "key.create", kHere, Kind::change, ".id"},
    {Method::get, "/api-keys", "key.list", kHere, Kind::reveal},
    {Method::patch, "/api-keys/{id}", "key.update", kHere, Kind::change, "id"},
    {Method::del, "/api-keys/{id}", "key.delete", kHere, Kind::ending, "id"},
    {Method::post, "/access-tokens", "token.create", kHere, Kind::change, ".id"},
    {Method::del, "/access-tokens/{id}", "token.delete", kHere, Kind::ending, "id"},
    {Method::post, "/api/tenants", "tenant.create", kHere, Kind::change, ".name"},
    {Method::get, "/api/tenants", "tenant.list", kHere, Kind::reveal},
    {Method::get, "/api/tenants/{name}", "tenant.read", kHere, Kind::reveal, "name"},
    {Method::post, "/api/tenants/{name}", "tenant.update", kHere, Kind::change, "name"},
    {Method::del, "/api/tenants/{name}", "tenant.delete", kHere, Kind::ending, "name"},
    {Method::get, "/api/tenants/{name}/quotas", "quota.read", kHere, Kind::reveal, "name"},
    {Method::put, "/api/tenants/{name}/quotas", "quota.update", kHere, Kind::change, "name"},
    {Method::get, "/api/usage", "usage.read", kHere, Kind::reveal},
    {Method::get, "/api/audit", "audit.read", kHere, Kind::reveal},
    {Method::get, "/api/events", "event.watch", kHere, Kind::reveal},
    {Method::put, "/api/log", "log.update", kHere, Kind::change},
    {Method::post, "/api/index/search", "index.read", kHere, Kind::reveal},
    {Method::get, "/api/index/collections", "index.list", kHere, Kind::reveal},
    {Method::get, "/api/index/collections/{name}", "index.read", kHere, Kind::reveal, "name"},
    {Method::put, "/api/index/collections/{name}", "index.create", kHere, Kind::change, "name"},
    {Method::del, "/api/index/collections/{name}", "index.delete", kHere, Kind::ending, "name"},
    {Method::post, "/api/index/collections/{name}/points", "index.write", kHere, Kind::change, "name"},
    {Method::post, "/api/index/collections/{name}/points/delete", "index.write", kHere, Kind::ending, "name"},
    {Method::post, "/api/index/collections/{name}/search", "index.read", kHere, Kind::reveal, "name"},
    {Method::post, "/api/graph/query", "graph.read", kHere, Kind::reveal},
    {Method::post, "/api/graph/edges", "graph.write", kHere, Kind::change},
    // Secrets, volumes, templates.
    {Method::post, "/secrets", "secret.create", kHere, Kind::change, ".name"},
    {Method::get, "/secrets", "secret.list", kHere, Kind::reveal},
    {Method::get, "/secrets/{id}", "secret.read", kHere, Kind::reveal, "id"},
    {Method::post, "/secrets/{id}", "secret.update", kHere, Kind::change, "id"},
    {Method::del, "/secrets/{id}", "secret.delete", kHere, Kind::ending, "id"},
    {Method::post, "/volumes", "volume.create", kHere, Kind::change, ".volumeID"},
    {Method::get, "/volumes", "volume.list", kHere, Kind::reveal},
    {Method::get, "/volumes/{id}", "volume.read", kHere, Kind::reveal, "id"},
    {Method::del, "/volumes/{id}", "volume.delete", kHere, Kind::ending, "id"},
    {Method::get, "/volumecontent/{id}/dir", "volume.read", kHere, Kind::reveal, "id"},
    {Method::post, "/volumecontent/{id}/dir", "volume.write", kHere, Kind::change, "id"},
    {Method::get, "/volumecontent/{id}/path", "volume.read", kHere, Kind::reveal, "id"},
    {Method::patch, "/volumecontent/{id}/path", "volume.write", kHere, Kind::change, "id"},
    {Method::del, "/volumecontent/{id}/path", "volume.write", kHere, Kind::ending, "id"},
    {Method::get, "/volumecontent/{id}/file", "volume.read", kHere, Kind::reveal, "id"},
    {Method::put, "/volumecontent/{id}/file", "volume.write", kHere, Kind::change, "id"},
    {Method::post, "/v3/templates", "template.create", kHere, Kind::change, ".templateID"},
    {Method::post, "/v2/templates/{id}/builds/{build}", "template.build", kHere, Kind::change, "id"},
    {Method::post, "/templates/tags", "template.update", kHere, Kind::change},
    {Method::del, "/templates/tags", "template.update", kHere, Kind::ending},
    {Method::patch, "/templates/{id}", "template.update", kHere, Kind::change, "id"},
    {Method::patch, "/v2/templates/{id}", "template.update", kHere, Kind::change, "id"},
    {Method::del, "/templates/{id}", "template.delete", kHere, Kind::ending, "id"},
    {Method::put, "/upload/{token}", "template.upload", kHere, Kind::change},
    {Method::post, "/api/registry/reload", "registry.reload", kHere, Kind::change},
    {Method::put, "/api/registry/{kind}/{name}", "registry.write", kHere, Kind::change, "name"},
    {Method::del, "/api/registry/{kind}/{name}", "registry.delete", kHere, Kind::ending, "name"},
    {Method::post, "/api/tool-calls/next", "tool.serve", Writer::nobody},
    {Method::post, "/api/tool-calls/{call}/progress", "tool.serve", Writer::nobody},
    {Method::post, "/api/tool-calls/{call}/result", "tool.serve", kHere, Kind::ending, "call"},
    {Method::post, "/api/skills", "skill.create", kHere, Kind::change, ".name"},
    {Method::del, "/api/skills/{name}", "skill.delete", kHere, Kind::ending, "name"},
    // What the session service writes; the rows give refusals their names.
    {Method::post, "/api/sessions", "session.create", kInside},
    {Method::get, "/api/sessions", "session.list", kInside, Kind::reveal},
    {Method::del, "/api/sessions/{id}", "session.end", kInside, Kind::ending, "id"},
    {Method::post, "/api/sessions/{id}/fork", "session.fork", kInside, Kind::change, "id"},
    {Method::post, "/api/sessions/{id}/pause", "session.pause", kInside, Kind::change, "id"},
    {Method::post, "/api/sessions/{id}/resume", "session.resume", kInside, Kind::change, "id"},
    {Method::post, "/api/sessions/{id}/restore", "session.restore", kInside, Kind::change, "id"},
    {Method::post, "/api/sessions/{id}/snapshots", "session.snapshot", kInside, Kind::change, "id"},
    {Method::post, "/api/sessions/{id}/tools/{name}", "tool.run", kInside, Kind::change, "id"},
    {Method::post, "/api/sessions/{id}/execute", "session.execute", kInside, Kind::change, "id"},
    {Method::get, "/api/sessions/{id}/history", "history.read", kInside, Kind::reveal, "id"},
    {Method::put, "/api/sessions/{id}/network", "network.update", kInside, Kind::change, "id"},
    {Method::del, "/api/sessions/{id}/files", "file.delete", kInside, Kind::ending, "id"},
    {Method::del, "/api/snapshots/{id}", "snapshot.delete", kInside, Kind::ending, "id"},
    {Method::post, "/sandboxes", "session.create", kInside},
    {Method::post, "/v2/sandboxes", "session.create", kInside},
    {Method::get, "/sandboxes", "session.list", kInside, Kind::reveal},
    {Method::get, "/v2/sandboxes", "session.list", kInside, Kind::reveal},
    {Method::del, "/sandboxes/{id}", "session.end", kInside, Kind::ending, "id"},
    {Method::post, "/sandboxes/{id}/fork", "session.fork", kInside, Kind::change, "id"},
    {Method::post, "/sandboxes/{id}/pause", "session.pause", kInside, Kind::change, "id"},
    {Method::post, "/sandboxes/{id}/resume", "session.resume", kInside, Kind::change, "id"},
    {Method::post, "/sandboxes/{id}/snapshots", "session.snapshot", kInside, Kind::change, "id"},
    {Method::put, "/sandboxes/{id}/network", "network.update", kInside, Kind::change, "id"},
};

struct Fallback {
  Permission permission;
  std::string_view noun, look, act;
  Writer writer;
};

// A path that has no row of its own. Looks at what is public to all keys are written by nobody.
constexpr Fallback kFallbacks[] = {
    {Permission::none, "service", "read", "update", Writer::nobody},
    {Permission::catalog_read, "catalog", "read", "check", Writer::nobody},
    {Permission::metrics_read, "metrics", "read", "read", Writer::nobody},
    {Permission::sessions_read, "session", "read", "read", kInside},
    {Permission::sessions_write, "session", "read", "update", kInside},
    {Permission::execute, "session", "read", "execute", kInside},
    {Permission::files_read, "file", "read", "read", kInside},
    {Permission::files_write, "file", "read", "write", kInside},
    {Permission::terminal, "terminal", "open", "open", kInside},
    {Permission::ports, "port", "open", "open", kInside},
    {Permission::snapshots, "snapshot", "list", "create", kInside},
    {Permission::history_read, "history", "read", "read", kInside},
    {Permission::templates, "template", "read", "update", kHere},
    {Permission::volumes, "volume", "read", "write", kHere},
    {Permission::secrets_write, "secret", "read", "update", kHere},
    {Permission::keys, "key", "read", "update", kHere},
    {Permission::cluster, "cluster", "read", "update", kHere},
    {Permission::quotas, "quota", "read", "update", kHere},
    {Permission::tenants, "tenant", "read", "update", kHere},
    {Permission::tenants_look, "tenant", "read", "read", kHere},
    {Permission::usage_read, "usage", "read", "read", kHere},
    {Permission::audit_read, "audit", "read", "read", kHere},
    {Permission::secrets_use, "secret", "read", "use", kHere},
    {Permission::tools_run, "tool", "read", "run", kInside},
};

std::string_view segment_of(std::string_view& path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const auto end = path.find('/');
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(end == std::string_view::npos ? path.size() : end);
  return segment;
}

// The segment that `wanted` names, if the path is of this pattern at all; an empty `wanted` only compares.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path,
                                      std::string_view wanted) {
  std::string_view found;
  while (!pattern.empty() || !path.empty()) {
    if (pattern.empty() || path.empty()) return std::nullopt;
    const std::string_view expected = segment_of(pattern), given = segment_of(path);
    if (expected.starts_with('{')) {
      if (given.empty()) return std::nullopt;
      if (!wanted.empty() && expected.substr(1, expected.size() - 2) == wanted) found = given;
    } else if (expected != given) {
      return std::nullopt;
    }
  }
  return found;
}

}  // namespace

AuditedRoute audited_route(net::Method method, std::string_view path, auth::Permission permission) {
  if (method == Method::head) method = Method::get;
  for (const AuditedRoute& row : kRoutes)
    if (row.method == method && match(row.pattern, path, {})) return row;
  const bool looks = method == Method::get || method == Method::options;
  AuditedRoute row{method,
                   {},
                   {},
                   kHere,
                   looks                   ? Kind::reveal
                   : method == Method::del ? Kind::ending
                                           : Kind::change};
  row.action = looks ? "route.read" : "route.call";
  for (const Fallback& fallback : kFallbacks) {
    if (fallback.permission != permission) continue;
    // The words are joined once, for as long as the program runs.
    static std::array<std::array<std::string, 2>, std::size(kFallbacks)> actions;
    std::string& joined = actions[static_cast<std::size_t>(&fallback - kFallbacks)][looks ? 0 : 1];
    if (joined.empty())
      joined = std::string(fallback.noun) + "." + std::string(looks ? fallback.look : fallback.act);
    row.action = joined;
    row.writer = fallback.writer;
  }
  return row;
}

std::string object_of(const AuditedRoute& route, std::string_view path, std::string_view body) {
  if (route.pattern.empty() || route.object.empty()) return std::string(route.pattern.empty() ? path : "");
  if (!route.object.starts_with('.')) {
    const auto segment = match(route.pattern, path, route.object);
    auto decoded = net::percent_decode(segment.value_or(""));
    return decoded ? *decoded : std::string(*segment);
  }
  const auto value = json::parse(body);
  if (!value || !value->is_object()) return {};
  const boost::json::value* member = value->get_object().if_contains(route.object.substr(1));
  return member != nullptr && member->is_string() ? std::string(member->get_string()) : std::string();
}

}  // namespace atl::api
