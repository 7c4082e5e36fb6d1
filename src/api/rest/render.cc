#include "api/rest/render.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/bytes.h"
#include "base/json.h"
#include "sandbox/limit_table.h"
#include "session/execution_time.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

bj::value maybe_time(const std::optional<WallTime>& time) {
  if (!time) return nullptr;
  return bj::value(to_rfc3339(*time));
}

bj::value maybe_text(const std::string& text) {
  if (text.empty()) return nullptr;
  return bj::value(text);
}

bj::value number(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

double seconds(std::chrono::milliseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

bj::string valid(std::string_view text) {
  if (is_utf8(text)) return bj::string(text);
  const std::string fixed = to_valid_utf8(text);
  return bj::string(fixed);
}

bj::array skill_names(const session::Session& session) {
  bj::array names;
  for (const session::SkillUse& use : session.skills) names.push_back(bj::value(use.name));
  return names;
}

bj::array texts(const std::vector<std::string>& all) {
  bj::array array;
  for (const std::string& one : all) array.push_back(bj::string(valid(one)));
  return array;
}

}  // namespace

bj::array tool_names(const std::optional<std::vector<std::string>>& tools) {
  return tools ? texts(*tools) : bj::array{"*"};
}

namespace {

bj::array walls(const std::vector<sandbox::Wall>& walls) {
  bj::array array;
  for (const sandbox::Wall& wall : walls)
    array.push_back(bj::object{{"name", wall.name}, {"value", wall.value}});
  return array;
}

std::string_view word(sandbox::FileType type) {
  switch (type) {
    case sandbox::FileType::file: return "file";
    case sandbox::FileType::directory: return "directory";
    case sandbox::FileType::symlink: return "symlink";
    case sandbox::FileType::other: return "other";
    case sandbox::FileType::unknown: return "unknown";
  }
  return "unknown";
}

// Secrets of a session that has ended open nothing any more, so they are not shown.
bj::value secret_json(const session::Session& session, const std::string& secret) {
  return session::is_live(session.state) ? maybe_text(secret) : bj::value(nullptr);
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  if (const auto at = text.find(what); at != std::string::npos) text.replace(at, what.size(), with);
  return text;
}

}  // namespace

namespace {

// Boost.JSON writes 0.179 as 1.79E-1, which is right and which nobody wants to read. This is as short as
// reads back the same: what tools answer passes through here as well as what was measured.
void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  // Plain digits for everything that people measure, an exponent where there would be too many zeros to
  // count.
  const double size = std::abs(value);
  const bool is_plain = size == 0 || (size >= 1e-9 && size < 1e21);
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 is_plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  const std::size_t start = out.size();
  out.append(digits.data(), end);
  if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

void append_json(std::string& out, const bj::value& value) {
  if (value.is_double()) {
    append_number(out, value.get_double());
  } else if (value.is_object()) {
    char before = '{';
    for (const auto& member : value.get_object()) {
      out += std::exchange(before, ',');
      json::append_quoted(out, member.key());
      out += ':';
      append_json(out, member.value());
    }
    out += before == '{' ? "{}" : "}";
  } else if (value.is_array()) {
    char before = '[';
    for (const auto& item : value.get_array()) {
      out += std::exchange(before, ',');
      append_json(out, item);
    }
    out += before == '[' ? "[]" : "]";
  } else if (value.is_string()) {
    json::append_quoted(out, value.get_string());
  } else {
    out += bj::serialize(value);
  }
}

}  // namespace

std::string json_text(const bj::value& value) {
  std::string out;
  append_json(out, value);
  return out;
}

net::Response json_response(int status, const bj::value& value) {
  return net::Response::json(status, json_text(value));
}

bj::object to_json(const std::map<std::string, std::string>& map) {
  bj::object object;
  for (const auto& [key, value] : map) object.emplace(key, valid(value));
  return object;
}

bj::object to_json(const sandbox::Limits& limits) {
  bj::object object;
  for (const sandbox::LimitRow& row : sandbox::kLimits) {
    if (row.setter != sandbox::LimitSetter::client) continue;
    if (const auto value = sandbox::amount(limits, row)) object[row.name] = number(*value);
  }
  return object;
}

bj::object to_json(const sandbox::Isolation& isolation) {
  return {{"walls", walls(isolation.walls)}, {"missing", walls(isolation.missing)}};
}

bj::object to_json(const sandbox::Traits& traits) {
  return {{"real_processes", traits.real_processes},
          {"pty", traits.pty},
          {"kernels", traits.interpreters},
          {"network", traits.network},
          {"ports", traits.ports},
          {"pause", traits.pause},
          {"snapshot", traits.snapshot},
          {"fork", traits.fork},
          {"live_fork", traits.live_fork},
          {"watch", traits.watch},
          {"mounts", traits.mounts},
          {"storages", traits.storages},
          {"images", traits.images},
          {"templates", traits.templates}};
}

bj::object to_json(const sandbox::Usage& usage) {
  return {{"cpu_seconds", static_cast<double>(usage.cpu_time.count()) / 1e6},
          {"wall_seconds", static_cast<double>(usage.wall_time.count()) / 1e6},
          {"memory_bytes", usage.memory_bytes},
          {"memory_peak_bytes", usage.memory_peak_bytes},
          {"memory_cache_bytes", usage.memory_cache_bytes},
          {"disk_bytes", usage.disk_bytes},
          {"disk_limit_bytes", usage.disk_limit_bytes},
          {"inodes", usage.inodes},
          {"processes", usage.processes},
          {"processes_peak", usage.processes_peak},
          {"read_bytes", usage.read_bytes},
          {"written_bytes", usage.written_bytes},
          {"output_bytes", usage.output_bytes}};
}

// With the wall time that binds each language, because a language may have its own.
static bj::object limits_json(const session::Session& s, const registry::Registry& registry) {
  using sandbox::Language;
  bj::object times;
  for (const Language language : {Language::python, Language::javascript, Language::typescript,
                                  Language::shell, Language::r, Language::java, Language::deno})
    times[sandbox::to_string(language)] = number(seconds(session::execution_time(s, registry, language)));
  bj::object object = to_json(s.limits);
  object["execution_time_by_language"] = std::move(times);
  return object;
}

bj::object to_json(const session::Session& s, const Dependencies& dependencies) {
  return {{"session_id", s.session_id},
          {"sandbox_id", s.sandbox_id},
          {"provider", s.provider},
          {"provider_reason", maybe_text(s.provider_reason)},
          {"environment", s.environment},
          {"image", maybe_text(s.image)},
          {"agent", maybe_text(s.agent)},
          {"policy", s.policy},
          {"url", replaced(dependencies.sandbox_url, "{sandbox_id}", s.sandbox_id)},
          {"state", std::string(to_string(s.state))},
          {"reason", maybe_text(s.reason)},
          {"created_at", to_rfc3339(s.created_at)},
          {"last_used_at", to_rfc3339(s.last_used_at)},
          {"expires_at", maybe_time(s.expires_at)},
          {"ended_at", maybe_time(s.ended_at)},
          {"ttl_seconds", number(seconds(s.ttl))},
          {"extend_on_use", s.extend_on_use},
          {"on_expiry", s.on_expiry == session::OnExpiry::pause ? "pause" : "destroy"},
          {"auto_resume", s.auto_resume},
          {"network", s.network == sandbox::Network::egress ? "egress" : "none"},
          {"secure", s.data_plane == session::DataPlane::secured},
          {"access_token", secret_json(s, s.secret)},
          {"public_ports", s.ports == session::Ports::open},
          {"traffic_token", secret_json(s, s.traffic_token)},
          {"metadata", to_json(s.metadata)},
          {"limits", limits_json(s, dependencies.service->registry())},
          {"isolation", to_json(s.isolation)},
          {"parent", maybe_text(s.parent)},
          {"snapshot", maybe_text(s.snapshot)},
          {"tools", tool_names(s.tools)},
          {"skills", skill_names(s)},
          {"skill_view", to_string(s.skill_view)},
          {"prompt", maybe_text(s.prompt)},
          {"storage", maybe_text(s.storage)},
          {"on_disk", !s.hibernation.empty()},
          {"left_behind", texts(s.left_behind)}};
}

bj::object to_json(const session::Forked& forked) {
  return {{"carried", texts(forked.carried.interpreters)},
          {"left_behind", texts(forked.carried.left_behind)},
          {"pause_us", forked.carried.pause.count()},
          {"total_us", forked.total.count()}};
}

bj::object to_json(const session::Snapshot& s) {
  return {{"snapshot_id", s.snapshot_id}, {"name", maybe_text(s.name)},
          {"session_id", s.session_id},   {"provider", s.provider},
          {"environment", s.environment}, {"created_at", to_rfc3339(s.created_at)},
          {"size_bytes", s.size_bytes}};
}

bj::object to_json(const session::Artifact& artifact) {
  return {{"path", valid(artifact.path)},
          {"digest", artifact.digest},
          {"size_bytes", artifact.size_bytes},
          {"media_type", artifact.media_type},
          {"created_at", to_rfc3339(artifact.created_at)},
          {"record_id", artifact.record_id},
          {"url", "/api/artifacts/" + artifact.digest}};
}

bj::object to_json(const sandbox::InterpreterInfo& info) {
  return {{"id", info.id}, {"language", std::string(sandbox::to_string(info.language))}, {"cwd", info.cwd}};
}

bj::object to_json(const sandbox::ProcessInfo& info) {
  bj::array argv;
  for (const std::string& word : info.argv) argv.push_back(valid(word));
  return {{"pid", info.pid},
          {"tag", info.tag},
          {"argv", std::move(argv)},
          {"cwd", info.cwd},
          {"user", info.user},
          {"pty", info.pty},
          {"started_at", to_rfc3339(info.started_at)}};
}

bj::object to_json(const sandbox::FileInfo& info) {
  bj::object object{{"name", valid(info.name)},
                    {"path", valid(info.path)},
                    {"type", std::string(word(info.type))},
                    {"size", info.size},
                    {"mode", fmt::format("{:04o}", info.mode & 07777U)},
                    {"owner", info.owner},
                    {"group", info.group},
                    {"modified_at", to_rfc3339(info.modified_at)}};
  if (info.type == sandbox::FileType::symlink) object["target"] = valid(info.target);
  return object;
}

bj::object to_json(const session::Sample& sample) {
  return {
      {"at", to_rfc3339(sample.at)}, {"cpu_percent", sample.cpu_percent}, {"usage", to_json(sample.usage)}};
}

bj::object to_json(const sandbox::ResultBundle& bundle) {
  bj::object data;
  for (const auto& [type, text] : bundle.data) data.emplace(type, valid(text));
  return {{"data", std::move(data)}, {"is_main", bundle.is_main}};
}

bj::object execution_json(const session::ExecutionRecord& r) {
  bj::array results, artifacts;
  for (const auto& bundle : r.results) results.push_back(to_json(bundle));
  for (const auto& artifact : r.artifacts) artifacts.push_back(to_json(artifact));
  bj::value error = nullptr;
  if (!r.error.empty()) {
    error = bj::object{
        {"name", valid(r.error)}, {"value", valid(r.error_value)}, {"traceback", valid(r.traceback)}};
  }
  bj::value verdict = nullptr;
  if (!r.verdict.empty()) {
    if (auto parsed = json::parse(r.verdict)) verdict = std::move(*parsed);
  }
  return {{"record_id", r.record_id},
          {"session_id", r.session_id},
          {"status", std::string(to_string(r.status))},
          {"language", r.type},
          {"context", maybe_text(r.context)},
          {"stdout", valid(r.out)},
          {"stderr", valid(r.err)},
          {"stdout_truncated", r.out_truncated},
          {"stderr_truncated", r.err_truncated},
          {"results", std::move(results)},
          {"artifacts", std::move(artifacts)},
          {"error", std::move(error)},
          {"exit_code", r.exit_code},
          {"reason", r.reason.empty() ? bj::value(nullptr) : bj::value(valid(r.reason))},
          {"duration_ms", static_cast<double>(r.usage.wall_time.count()) / 1000},
          {"usage", to_json(r.usage)},
          {"verdict", std::move(verdict)},
          {"execution_count", r.execution_count},
          {"interpreter_restarted", maybe_text(r.interpreter_restarted)}};
}

bj::object record_json(const session::ExecutionRecord& r) {
  bj::object object = execution_json(r);
  object.erase("results");
  object["timestamp"] = to_rfc3339(r.admitted_at);
  object["finished_at"] = maybe_time(r.finished_at);
  object["kind"] = r.kind;
  object["type"] = r.type;
  object["code"] = valid(r.code);
  object["traceback"] = valid(r.traceback);
  object["metadata"] =
      bj::object{{"return_code", r.exit_code}, {"usage", object["usage"]},   {"verdict", object["verdict"]},
                 {"session_id", r.session_id}, {"sandbox_id", r.sandbox_id}, {"principal", r.key_id},
                 {"tenant", r.tenant}};
  object["tool"] = nullptr;
  if (!r.tool.empty())
    if (auto parsed = json::parse(r.tool)) object["tool"] = std::move(*parsed);
  return object;
}

}  // namespace atl::api::rest
