#include "session/codec.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <sstream>

#include "base/json.h"
#include "sandbox/limit_table.h"
#include "session/json_fields.h"

namespace atl::session {
namespace {

namespace bj = boost::json;

std::string_view word(OnExpiry on_expiry) {
  return on_expiry == OnExpiry::pause ? "pause" : "destroy";
}
std::string_view word(PolicyMode mode) {
  return mode == PolicyMode::audit ? "audit" : "enforce";
}
std::string_view word(sandbox::Network network) {
  return network == sandbox::Network::egress ? "egress" : "none";
}

bj::object object_of(const std::string& text) {
  auto parsed = json::parse(text);
  if (!parsed || !parsed->is_object()) return {};
  return std::move(parsed->as_object());
}

// Values of limits, as the store keeps them.
void put(bj::object& object, std::string_view key, double value) {
  object[key] = value;
}
template <std::unsigned_integral T>
void put(bj::object& object, std::string_view key, T value) {
  object[key] = value;
}
void put(bj::object& object, std::string_view key, std::chrono::milliseconds value) {
  object[key] = value.count();
}
void put(bj::object& object, std::string_view key, const std::optional<std::chrono::milliseconds>& value) {
  if (value) put(object, key, *value);
}

void get(const bj::value& value, double& into) {
  into = value.to_number<double>();
}
template <std::integral T>
void get(const bj::value& value, T& into) {
  into = static_cast<T>(value.is_double() ? static_cast<std::int64_t>(value.get_double())
                                          : value.to_number<std::int64_t>());
}
void get(const bj::value& value, std::chrono::milliseconds& into) {
  std::int64_t count = 0;
  get(value, count);
  into = std::chrono::milliseconds(count);
}
void get(const bj::value& value, std::optional<std::chrono::milliseconds>& into) {
  get(value, into.emplace());
}

std::string limits_json(const Session& session) {
  bj::object object{{"wall_time_set", session.wall_time_set}};
  for (const sandbox::LimitRow& row : sandbox::kLimits)
    std::visit([&](auto member) { put(object, row.stored_name, session.limits.*member); }, row.member);
  return bj::serialize(object);
}

std::string hibernation_json(const Session& session) {
  bj::object object;
  if (!session.hibernation.empty()) {
    object["state"] = session.hibernation;
    object["bytes"] = session.hibernation_bytes;
    if (session.hibernated_at) object["at"] = unix_micros(*session.hibernated_at);
  }
  if (!session.default_contexts.empty()) object["contexts"] = bj::value_from(session.default_contexts);
  if (!session.left_behind.empty()) object["left_behind"] = bj::value_from(session.left_behind);
  return bj::serialize(object);
}

void read_hibernation(const std::string& json, Session& session) {
  const bj::object object = object_of(json);
  session.hibernation = json_text(object, "state");
  session.hibernation_bytes = static_cast<std::uint64_t>(json_integer(object, "bytes"));
  if (const std::int64_t at = json_integer(object, "at"); at > 0)
    session.hibernated_at = from_unix_micros(at);
  if (const auto* contexts = object.if_contains("contexts"))
    session.default_contexts = text_map(bj::serialize(*contexts));
  if (const auto* names = object.if_contains("left_behind"); names != nullptr && names->is_array())
    for (const bj::value& name : names->get_array())
      if (name.is_string()) session.left_behind.emplace_back(name.get_string());
}

void read_limits(const std::string& json, Session& session) {
  const bj::object object = object_of(json);
  if (const bj::value* set = object.if_contains("wall_time_set"))
    session.wall_time_set = set->is_bool() && set->get_bool();
  for (const sandbox::LimitRow& row : sandbox::kLimits) {
    const bj::value* const value = object.if_contains(row.stored_name);
    if (value == nullptr || !value->is_number()) continue;
    std::visit([&](auto member) { get(*value, session.limits.*member); }, row.member);
  }
}

std::string egress_json(const egress::RuleTexts& rules) {
  if (rules == egress::RuleTexts{}) return "{}";
  bj::object inject;
  for (const auto& [domain, headers] : rules.inject) inject[domain] = bj::value_from(headers);
  bj::object written{{"allow", bj::value_from(rules.allow)},
                     {"deny", bj::value_from(rules.deny)},
                     {"inject", std::move(inject)}};
  if (rules.proxy)
    written["proxy"] = bj::object{{"address", rules.proxy->address},
                                  {"username", rules.proxy->username},
                                  {"sealed", rules.proxy->sealed_password}};
  return bj::serialize(written);
}

egress::RuleTexts egress_from(const std::string& json) {
  const bj::object object = object_of(json);
  egress::RuleTexts rules;
  const auto list = [&](std::string_view key, std::vector<std::string>& into) {
    const bj::value* array = object.if_contains(key);
    if (array == nullptr || !array->is_array()) return;
    for (const bj::value& item : array->get_array())
      if (item.is_string()) into.emplace_back(item.get_string());
  };
  list("allow", rules.allow);
  list("deny", rules.deny);
  if (const bj::value* proxy = object.if_contains("proxy"); proxy != nullptr && proxy->is_object()) {
    const bj::object& kept = proxy->get_object();
    rules.proxy = egress::UpstreamText{json_text(kept, "address"), json_text(kept, "username"),
                                       json_text(kept, "sealed")};
  }
  const bj::value* inject = object.if_contains("inject");
  if (inject == nullptr || !inject->is_object()) return rules;
  for (const auto& domain : inject->get_object()) {
    if (!domain.value().is_object()) continue;
    for (const auto& header : domain.value().get_object())
      if (header.value().is_string()) rules.inject[domain.key()][header.key()] = header.value().get_string();
  }
  return rules;
}

// Kept among the attributes: words that no dialect uses. The last two are how E2B's dialect kept its tokens
// before every session had them.
constexpr const char* kSecret = "session.secret";
constexpr const char* kTrafficToken = "session.traffic_token";
constexpr const char* kDataPlane = "session.data_plane";
constexpr const char* kPorts = "session.ports";
constexpr const char* kImage = "session.image";
constexpr const char* kProviderReason = "session.provider_reason";
constexpr const char* kToolkit = "session.toolkit";
constexpr const char* kRequiredWalls = "session.required_walls";
constexpr const char* kFormerSecret = "e2b.token";
constexpr const char* kFormerTrafficToken = "e2b.traffic_token";

// Tools, skills, prompt and storage; empty if it has none of them.
std::string toolkit_json(const Session& session) {
  bj::object object;
  if (session.tools) object["tools"] = bj::value_from(*session.tools);
  if (!session.prompt.empty()) object["prompt"] = session.prompt;
  if (!session.storage.empty()) object["storage"] = session.storage;
  bj::array skills;
  for (const SkillUse& use : session.skills)
    skills.push_back(bj::object{{"name", use.name}, {"digest", use.digest}, {"pinned", use.pinned}});
  if (!skills.empty()) {
    object["skills"] = std::move(skills);
    object["copied"] = session.skill_view == SkillView::copy;
  }
  return object.empty() ? std::string() : bj::serialize(object);
}

void read_toolkit(const std::string& json, Session& session) {
  if (json.empty()) return;
  const bj::object object = object_of(json);
  const auto array = [&](std::string_view key) -> const bj::array& {
    static const bj::array none;
    const bj::value* value = object.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : none;
  };
  session.prompt = json_text(object, "prompt");
  session.storage = json_text(object, "storage");
  const auto is_set = [](const bj::object& of, std::string_view key) {
    const bj::value* value = of.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
  };
  if (object.contains("tools")) session.tools.emplace();
  for (const bj::value& name : array("tools"))
    if (name.is_string()) session.tools->emplace_back(name.get_string());
  for (const bj::value& item : array("skills")) {
    if (!item.is_object()) continue;
    const bj::object& use = item.get_object();
    session.skills.push_back({json_text(use, "name"), json_text(use, "digest"), is_set(use, "pinned")});
  }
  if (!session.skills.empty())
    session.skill_view = is_set(object, "copied") ? SkillView::copy : SkillView::link;
}

std::string attributes_json(const Session& session) {
  TextMap all = session.attributes;
  all[kSecret] = session.secret;
  all[kTrafficToken] = session.traffic_token;
  if (session.data_plane == DataPlane::open) all[kDataPlane] = "open";
  if (session.ports == Ports::closed) all[kPorts] = "closed";
  if (!session.image.empty()) all[kImage] = session.image;
  if (!session.provider_reason.empty()) all[kProviderReason] = session.provider_reason;
  if (!session.required_walls.empty())
    all[kRequiredWalls] = fmt::format("{}", fmt::join(session.required_walls, " "));
  if (std::string toolkit = toolkit_json(session); !toolkit.empty()) all[kToolkit] = std::move(toolkit);
  return to_json(all);
}

void read_attributes(const std::string& json, Session& session) {
  session.attributes = text_map(json);
  const auto take = [&](const char* name) {
    auto node = session.attributes.extract(name);
    return node.empty() ? std::string() : std::move(node.mapped());
  };
  session.secret = take(kSecret);
  session.traffic_token = take(kTrafficToken);
  if (take(kDataPlane) == "open") session.data_plane = DataPlane::open;
  if (take(kPorts) == "closed") session.ports = Ports::closed;
  session.image = take(kImage);
  session.provider_reason = take(kProviderReason);
  std::istringstream walls(take(kRequiredWalls));
  for (std::string name; walls >> name;) session.required_walls.push_back(name);
  read_toolkit(take(kToolkit), session);
  if (std::string former = take(kFormerSecret); session.secret.empty()) session.secret = std::move(former);
  if (std::string former = take(kFormerTrafficToken); !former.empty() && session.traffic_token.empty()) {
    session.traffic_token = std::move(former);
    session.ports = Ports::closed;
  }
}

bj::array walls_json(const std::vector<sandbox::Wall>& walls) {
  bj::array array;
  for (const auto& wall : walls) array.push_back(bj::object{{"name", wall.name}, {"value", wall.value}});
  return array;
}

std::vector<sandbox::Wall> walls_from(const bj::object& object, std::string_view key) {
  std::vector<sandbox::Wall> walls;
  const bj::value* array = object.if_contains(key);
  if (array == nullptr || !array->is_array()) return walls;
  for (const bj::value& item : array->get_array()) {
    if (item.is_object())
      walls.push_back({json_text(item.get_object(), "name"), json_text(item.get_object(), "value")});
  }
  return walls;
}

sandbox::Usage usage_from(const std::string& json) {
  const bj::object object = object_of(json);
  sandbox::Usage usage;
  usage.cpu_time = std::chrono::microseconds(json_integer(object, "cpu_time_us"));
  usage.wall_time = std::chrono::microseconds(json_integer(object, "wall_time_us"));
  usage.memory_bytes = static_cast<std::uint64_t>(json_integer(object, "memory_bytes"));
  usage.memory_peak_bytes = static_cast<std::uint64_t>(json_integer(object, "memory_peak_bytes"));
  usage.disk_bytes = static_cast<std::uint64_t>(json_integer(object, "disk_bytes"));
  usage.processes_peak = static_cast<std::uint32_t>(json_integer(object, "processes_peak"));
  usage.read_bytes = static_cast<std::uint64_t>(json_integer(object, "read_bytes"));
  usage.written_bytes = static_cast<std::uint64_t>(json_integer(object, "written_bytes"));
  usage.output_bytes = static_cast<std::uint64_t>(json_integer(object, "output_bytes"));
  return usage;
}

std::string artifacts_json(const std::vector<Artifact>& artifacts) {
  bj::array array;
  for (const Artifact& artifact : artifacts) {
    array.push_back(bj::object{{"digest", artifact.digest},
                               {"path", artifact.path},
                               {"media_type", artifact.media_type},
                               {"size_bytes", artifact.size_bytes},
                               {"created_at_us", unix_micros(artifact.created_at)}});
  }
  return bj::serialize(array);
}

std::vector<Artifact> artifacts_from(const std::string& json, const std::string& record_id) {
  std::vector<Artifact> artifacts;
  auto parsed = json::parse(json);
  if (!parsed || !parsed->is_array()) return artifacts;
  for (const bj::value& item : parsed->get_array()) {
    if (!item.is_object()) continue;
    const bj::object& object = item.get_object();
    artifacts.push_back({json_text(object, "digest"), json_text(object, "path"),
                         json_text(object, "media_type"),
                         static_cast<std::uint64_t>(json_integer(object, "size_bytes")),
                         from_unix_micros(json_integer(object, "created_at_us")), record_id});
  }
  return artifacts;
}

}  // namespace

std::string to_json(const TextMap& map) {
  std::string out = "{";
  for (const auto& [key, value] : map) {
    if (out.size() > 1) out += ',';
    json::append_quoted(out, key);
    out += ':';
    json::append_quoted(out, value);
  }
  return out + "}";
}

TextMap text_map(const std::string& json) {
  TextMap map;
  for (const auto& member : object_of(json)) {
    if (member.value().is_string()) map.emplace(member.key(), member.value().get_string());
  }
  return map;
}

std::string to_json(const sandbox::Usage& usage) {
  return bj::serialize(bj::object{{"cpu_time_us", usage.cpu_time.count()},
                                  {"wall_time_us", usage.wall_time.count()},
                                  {"memory_bytes", usage.memory_bytes},
                                  {"memory_peak_bytes", usage.memory_peak_bytes},
                                  {"disk_bytes", usage.disk_bytes},
                                  {"processes_peak", usage.processes_peak},
                                  {"read_bytes", usage.read_bytes},
                                  {"written_bytes", usage.written_bytes},
                                  {"output_bytes", usage.output_bytes}});
}

store::SessionRow to_row(const Session& s, const std::string& incarnation) {
  store::SessionRow row;
  row.session_id = s.session_id;
  row.sandbox_id = s.sandbox_id;
  row.incarnation = incarnation;
  row.tenant = s.tenant;
  row.key_id = s.key_id;
  row.provider = s.provider;
  row.environment = s.environment;
  row.agent = s.agent;
  row.policy = s.policy;
  row.policy_mode = word(s.policy_mode);
  row.state = to_string(s.state);
  row.reason = s.reason;
  row.created_at = s.created_at;
  row.last_used_at = s.last_used_at;
  row.expires_at = s.expires_at;
  row.ended_at = s.ended_at;
  row.ttl_ms = s.ttl.count();
  row.extend_on_use = s.extend_on_use;
  row.on_expiry = word(s.on_expiry);
  row.auto_resume = s.auto_resume;
  row.network = word(s.network);
  row.egress = egress_json(s.egress);
  row.limits = limits_json(s);
  row.hibernation = hibernation_json(s);
  row.isolation = bj::serialize(
      bj::object{{"walls", walls_json(s.isolation.walls)}, {"missing", walls_json(s.isolation.missing)}});
  row.env = to_json(s.env);
  row.metadata = to_json(s.metadata);
  row.attributes = attributes_json(s);
  row.parent = s.parent;
  row.snapshot = s.snapshot;
  row.volumes = to_json(s.volumes);
  return row;
}

Result<Session> from_row(const store::SessionRow& row, Walls walls) {
  Session s;
  const auto state = parse_state(row.state);
  if (!state) return fail(Code::data_loss, "the store holds a session in an unknown state");
  s.session_id = row.session_id;
  s.sandbox_id = row.sandbox_id;
  s.tenant = row.tenant;
  s.key_id = row.key_id;
  s.provider = row.provider;
  s.environment = row.environment;
  s.agent = row.agent;
  s.policy = row.policy;
  s.policy_mode = row.policy_mode == "audit" ? PolicyMode::audit : PolicyMode::enforce;
  s.state = *state;
  s.reason = row.reason;
  s.created_at = row.created_at;
  s.last_used_at = row.last_used_at;
  s.expires_at = row.expires_at;
  s.ended_at = row.ended_at;
  s.ttl = std::chrono::milliseconds(row.ttl_ms);
  s.extend_on_use = row.extend_on_use;
  s.on_expiry = row.on_expiry == "pause" ? OnExpiry::pause : OnExpiry::destroy;
  s.auto_resume = row.auto_resume;
  s.network = row.network == "egress" ? sandbox::Network::egress : sandbox::Network::none;
  s.egress = egress_from(row.egress);
  read_limits(row.limits, s);
  read_hibernation(row.hibernation, s);
  if (walls == Walls::read) {
    const bj::object isolation = object_of(row.isolation);
    s.isolation = {walls_from(isolation, "walls"), walls_from(isolation, "missing")};
  }
  s.env = text_map(row.env);
  s.metadata = text_map(row.metadata);
  read_attributes(row.attributes, s);
  s.parent = row.parent;
  s.snapshot = row.snapshot;
  s.volumes = text_map(row.volumes);
  return s;
}

store::RecordRow to_row(const ExecutionRecord& r) {
  store::RecordRow row;
  row.record_id = r.record_id;
  row.session_id = r.session_id;
  row.sandbox_id = r.sandbox_id;
  row.tenant = r.tenant;
  row.key_id = r.key_id;
  row.kind = r.kind;
  row.type = r.type;
  row.context = r.context;
  row.code = r.code;
  row.status = to_string(r.status);
  row.admitted_at = r.admitted_at;
  row.verdict = r.verdict;
  row.finished_at = r.finished_at;
  row.out = r.out;
  row.err = r.err;
  row.out_truncated = r.out_truncated;
  row.err_truncated = r.err_truncated;
  row.error = r.error;
  row.error_value = r.error_value;
  row.traceback = r.traceback;
  row.exit_code = r.exit_code;
  row.reason = r.reason;
  row.usage = to_json(r.usage);
  row.artifacts = artifacts_json(r.artifacts);
  row.execution_count = static_cast<std::int64_t>(r.execution_count);
  row.interpreter_restarted = r.interpreter_restarted;
  row.tool = r.tool;
  return row;
}

ExecutionRecord from_row(const store::RecordRow& row) {
  ExecutionRecord r;
  r.record_id = row.record_id;
  r.session_id = row.session_id;
  r.sandbox_id = row.sandbox_id;
  r.tenant = row.tenant;
  r.key_id = row.key_id;
  r.kind = row.kind;
  r.type = row.type;
  r.context = row.context;
  r.code = row.code;
  r.status = parse_status(row.status).value_or(Status::interrupted);
  r.admitted_at = row.admitted_at;
  r.verdict = row.verdict;
  r.finished_at = row.finished_at;
  r.out = row.out;
  r.err = row.err;
  r.out_truncated = row.out_truncated;
  r.err_truncated = row.err_truncated;
  r.error = row.error;
  r.error_value = row.error_value;
  r.traceback = row.traceback;
  r.exit_code = row.exit_code;
  r.reason = row.reason;
  r.usage = usage_from(row.usage);
  r.artifacts = artifacts_from(row.artifacts, row.record_id);
  r.execution_count = static_cast<std::uint64_t>(row.execution_count);
  r.interpreter_restarted = row.interpreter_restarted;
  r.tool = row.tool;
  return r;
}

store::SnapshotRow to_row(const Snapshot& s) {
  return {0,
          s.snapshot_id,
          s.tenant,
          s.name,
          s.session_id,
          s.sandbox_id,
          s.provider,
          s.environment,
          s.created_at,
          static_cast<std::int64_t>(s.size_bytes),
          to_json(s.attributes)};
}

Snapshot from_row(const store::SnapshotRow& row) {
  return {row.snapshot_id,
          row.tenant,
          row.name,
          row.session_id,
          row.sandbox_id,
          row.provider,
          row.environment,
          row.created_at,
          static_cast<std::uint64_t>(row.size_bytes),
          text_map(row.attributes),
          std::to_string(row.seq)};
}

}  // namespace atl::session
