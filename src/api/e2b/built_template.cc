#include "api/e2b/built_template.h"

#include <algorithm>

#include "api/e2b/message.h"

namespace atl::api::e2b {
namespace {

Object settings_object(const TemplateSettings& settings) {
  Object env;
  for (const auto& [name, value] : settings.env) env[name] = value;
  Object object{{"environment", settings.environment},
                {"provider", settings.provider},
                {"user", settings.user},
                {"workingDirectory", settings.working_directory},
                {"env", std::move(env)},
                {"startCommand", settings.start_command},
                {"readyCommand", settings.ready_command}};
  if (settings.cpu_count) object["cpuCount"] = *settings.cpu_count;
  if (settings.memory_mb) object["memoryMB"] = *settings.memory_mb;
  if (settings.disk_mb) object["diskMB"] = *settings.disk_mb;
  return object;
}

Result<TemplateSettings> settings_from(const Object& object) {
  TemplateSettings settings;
  settings.environment = TRY(text_or(object, "environment", "base"));
  settings.provider = TRY(text_or(object, "provider", ""));
  settings.user = TRY(text_or(object, "user", ""));
  settings.working_directory = TRY(text_or(object, "workingDirectory", ""));
  settings.env = TRY(text_map(object, "env"));
  settings.start_command = TRY(text_or(object, "startCommand", ""));
  settings.ready_command = TRY(text_or(object, "readyCommand", ""));
  settings.cpu_count = TRY(integer(object, "cpuCount"));
  settings.memory_mb = TRY(integer(object, "memoryMB"));
  settings.disk_mb = TRY(integer(object, "diskMB"));
  return settings;
}

}  // namespace

std::string TemplateSettings::to_json() const {
  return to_text(settings_object(*this));
}

Result<TemplateSettings> TemplateSettings::from_json(std::string_view text) {
  return settings_from(TRY(parse_object(text)));
}

std::string BuiltTemplate::build_of(const std::string& tag) const {
  const std::pair<const std::string, Build>* best = nullptr;
  for (const auto& entry : builds) {
    const Build& build = entry.second;
    if (std::find(build.tags.begin(), build.tags.end(), tag) == build.tags.end()) continue;
    bool better = best == nullptr || std::pair(build.status == "ready", build.created_at) >
                                         std::pair(best->second.status == "ready", best->second.created_at);
    if (better) best = &entry;
  }
  return best == nullptr ? std::string() : best->first;
}

void BuiltTemplate::set_tag(const std::string& tag, const std::string& build_id) {
  remove_tag(tag);
  builds[build_id].tags.push_back(tag);
}

void BuiltTemplate::remove_tag(const std::string& tag) {
  for (auto& [build_id, build] : builds) std::erase(build.tags, tag);
}

std::string BuiltTemplate::to_json() const {
  Object all;
  for (const auto& [build_id, build] : builds) {
    Array tags;
    for (const std::string& tag : build.tags) tags.emplace_back(tag);
    all[build_id] = Object{{"tags", std::move(tags)},          {"createdAt", unix_micros(build.created_at)},
                           {"status", build.status},           {"reason", build.reason},
                           {"reasonStep", build.reason_step},  {"snapshot", build.snapshot},
                           {"freeDiskMB", build.free_disk_mb}, {"settings", settings_object(build.settings)}};
  }
  return to_text(Object{{"id", id},
                        {"name", name},
                        {"public", is_public},
                        {"createdAt", unix_micros(created_at)},
                        {"builds", std::move(all)}});
}

Result<BuiltTemplate> BuiltTemplate::from_json(std::string_view json) {
  Object body = TRY(parse_object(json));
  BuiltTemplate made;
  made.id = TRY(text_or(body, "id", ""));
  made.name = TRY(text_or(body, "name", ""));
  made.is_public = TRY(boolean_or(body, "public", false));
  made.created_at = from_unix_micros(TRY(integer(body, "createdAt")).value_or(0));
  const Object* all = TRY(object(body, "builds"));
  if (all == nullptr) return made;
  for (const auto& [build_id, value] : *all) {
    if (!value.is_object()) return fail(Code::data_loss, "a stored template is damaged");
    const Object& stored = value.as_object();
    Build build;
    build.tags = TRY(text_list(stored, "tags"));
    build.created_at = from_unix_micros(TRY(integer(stored, "createdAt")).value_or(0));
    build.status = TRY(text_or(stored, "status", "error"));
    build.snapshot = TRY(text_or(stored, "snapshot", ""));
    build.reason = TRY(text_or(stored, "reason", ""));
    build.reason_step = TRY(text_or(stored, "reasonStep", ""));
    build.free_disk_mb = TRY(integer(stored, "freeDiskMB")).value_or(0);
    if (const Object* settings = TRY(object(stored, "settings")))
      build.settings = TRY(settings_from(*settings));
    made.builds[std::string(build_id)] = std::move(build);
  }
  return made;
}

}  // namespace atl::api::e2b
