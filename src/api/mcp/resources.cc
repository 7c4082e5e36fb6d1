// Skills as resources, and files of sandboxes behind a template.
#include <fmt/format.h>

#include "api/mcp/fixtures.h"
#include "api/mcp/methods.h"
#include "base/bytes.h"
#include "net/http.h"
#include "os/offload.h"
#include "skill/library.h"
#include "tools/builtins.h"

namespace atl::api::mcp {
namespace {

constexpr std::string_view kSkillScheme = "skill://";
constexpr std::string_view kSandboxScheme = "sandbox://";
constexpr std::uint64_t kResourceBytesMax = 1ULL << 20;

struct SkillPlace {
  std::string name, path;  // an empty path is the skill's instructions
};

// "skill://csv/SKILL.md" and "skill://csv/scripts/a.py"; nothing for another scheme.
std::optional<SkillPlace> skill_place(std::string_view uri) {
  if (!uri.starts_with(kSkillScheme)) return std::nullopt;
  uri.remove_prefix(kSkillScheme.size());
  const auto slash = uri.find('/');
  SkillPlace place;
  place.name = uri.substr(0, slash);
  if (slash != std::string_view::npos) {
    auto path = net::percent_decode(uri.substr(slash + 1));
    if (!path) return std::nullopt;
    place.path = std::move(*path);
  }
  if (place.path == "SKILL.md") place.path.clear();
  return place;
}

Task<skill::Listing> skills_of(CallPtr call) {
  auto look = [library = call->parts().skills, tenant = call->who.tenant]() -> Result<skill::Listing> {
    return library->list(tenant);
  };
  return call->parts().workers->run<skill::Listing>(call->who.tenant, std::move(look));
}

std::string type_of(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".md", "text/markdown"},      {".py", "text/x-python"},   {".json", "application/json"},
      {".csv", "text/csv"},          {".html", "text/html"},     {".txt", "text/plain"},
      {".png", "image/png"},         {".jpg", "image/jpeg"},     {".svg", "image/svg+xml"},
      {".yaml", "application/yaml"}, {".pdf", "application/pdf"}};
  for (const auto& [end, type] : kTypes)
    if (path.ends_with(end)) return std::string(type);
  return {};
}

bj::object contents_of(const std::string& uri, const std::string& path, const std::string& bytes) {
  const bool is_text = is_utf8(bytes);
  std::string type = type_of(path);
  if (type.empty()) type = is_text ? "text/plain" : "application/octet-stream";
  bj::object contents{{"uri", uri}, {"mimeType", type}};
  if (is_text)
    contents["text"] = bytes;
  else
    contents["blob"] = to_base64(bytes);
  return contents;
}

Fault no_resource(const Call& call, const std::string& uri, std::string_view why) {
  bj::object data{{"uri", uri}};
  return {is_stateless(call.revision) ? kInvalidParams : kResourceNotFound,
          fmt::format("there is no resource {}: {}", uri.substr(0, 200), why), std::move(data), 200};
}

// Codes that say something about the address and not about us.
bool is_absence(const Error& error) {
  return error.code() == Code::not_found || error.code() == Code::invalid_argument ||
         error.code() == Code::is_a_directory || error.code() == Code::not_a_directory ||
         error.code() == Code::too_large || error.code() == Code::conflict;
}

Task<std::string> read_skill_file(CallPtr call, SkillPlace place) {
  auto read = [library = call->parts().skills, tenant = call->who.tenant, place]() -> Result<std::string> {
    const skill::Skill found = TRY(library->find(tenant, place.name));
    if (!place.path.empty()) return skill::read_file(found.directory, place.path, kResourceBytesMax);
    if (found.form == skill::Form::skill_md)
      return skill::read_file(found.directory, "SKILL.md", kResourceBytesMax);
    return found.body;
  };
  return call->parts().workers->run<std::string>(call->who.tenant, std::move(read));
}

struct SandboxPlace {
  std::string id, path;
};

std::optional<SandboxPlace> sandbox_place(std::string_view uri) {
  if (!uri.starts_with(kSandboxScheme)) return std::nullopt;
  uri.remove_prefix(kSandboxScheme.size());
  const auto slash = uri.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  auto path = net::percent_decode(uri.substr(slash));
  if (!path) return std::nullopt;
  return SandboxPlace{std::string(uri.substr(0, slash)), std::move(*path)};
}

Task<std::string> read_sandbox_file(CallPtr call, SandboxPlace place) {
  CO_TRY(const auto files, co_await call->service().files(call->who, place.id));
  CO_TRY(const auto reader, co_await files->open_read(place.path, 0, kResourceBytesMax + 1, std::string()));
  std::string bytes;
  while (bytes.size() <= kResourceBytesMax) {
    CO_TRY(const std::string block, co_await reader->next());
    if (block.empty()) break;
    bytes += block;
  }
  if (bytes.size() > kResourceBytesMax)
    co_return fail(Code::too_large,
                   fmt::format("it has over {} bytes; read it in parts with read_file", kResourceBytesMax));
  co_return bytes;
}

}  // namespace

Task<Reply> list_resources(CallPtr call) {
  bj::array resources;
  if (call->who.may(auth::Permission::catalog_read)) {
    CO_TRY(const skill::Listing listing, co_await skills_of(call));
    for (const skill::Skill& one : listing.skills)
      resources.push_back(bj::object{{"uri", fmt::format("{}{}/SKILL.md", kSkillScheme, one.name)},
                                     {"name", one.name},
                                     {"title", "Skill: " + one.name},
                                     {"description", to_valid_utf8(one.description)},
                                     {"mimeType", "text/markdown"}});
  }
  append_fixture_resources(*call, resources);
  bj::object result{{"resources", std::move(resources)}};
  co_return Reply(std::move(result));
}

Task<Reply> list_resource_templates(CallPtr call) {
  bj::array templates;
  if (call->who.may(auth::Permission::catalog_read))
    templates.push_back(bj::object{{"uriTemplate", "skill://{name}/{+path}"},
                                   {"name", "skill-file"},
                                   {"title", "A file of a skill"},
                                   {"description", "The instructions (SKILL.md) and files of a skill."}});
  if (call->who.may(auth::Permission::files_read))
    templates.push_back(bj::object{{"uriTemplate", "sandbox://{sandbox_id}{+path}"},
                                   {"name", "sandbox-file"},
                                   {"title", "A file of a sandbox"},
                                   {"description", "A file of at most 1 MiB by its absolute path."}});
  append_fixture_templates(*call, templates);
  bj::object result{{"resourceTemplates", std::move(templates)}};
  co_return Reply(std::move(result));
}

Task<Reply> read_resource(CallPtr call) {
  const std::string uri = text_in(call->params, "uri");
  if (uri.empty()) co_return Reply(Fault{kInvalidParams, "'uri' is missing", nullptr, 200});
  if (auto fixture = read_fixture_resource(*call, uri)) co_return Reply(std::move(*fixture));
  Result<std::string> bytes =
      fail(Code::not_found, "resources/list and resources/templates/list say which are");
  std::string path;
  if (auto skill = skill_place(uri); skill && call->who.may(auth::Permission::catalog_read)) {
    path = skill->path.empty() ? "SKILL.md" : skill->path;
    bytes = co_await read_skill_file(call, std::move(*skill));
  } else if (auto place = sandbox_place(uri); place && call->who.may(auth::Permission::files_read)) {
    path = place->path;
    bytes = co_await read_sandbox_file(call, std::move(*place));
  }
  if (!bytes) {
    if (!is_absence(bytes.error())) co_return fail(bytes.error());
    co_return Reply(no_resource(*call, uri, bytes.error().message()));
  }
  bj::array contents;
  contents.push_back(contents_of(uri, path, *bytes));
  bj::object result{{"contents", std::move(contents)}};
  co_return Reply(std::move(result));
}

Task<std::string> resources_mark(CallPtr call) {
  CO_TRY(const skill::Listing listing, co_await skills_of(call));
  std::string mark;
  for (const skill::Skill& one : listing.skills) mark += one.name + "\n" + one.description + "\n";
  co_return sha256_hex(mark);
}

// By what the file system says of it: watching must not cost what reading does.
Task<std::string> resource_mark(CallPtr call, std::string uri) {
  if (const auto skill = skill_place(uri)) {
    auto look = [library = call->parts().skills, tenant = call->who.tenant,
                 name = skill->name]() -> Result<std::string> {
      return TRY(library->find(tenant, name)).digest;
    };
    auto digest = co_await call->parts().workers->run<std::string>(call->who.tenant, std::move(look));
    co_return digest.value_or(std::string());
  }
  const auto place = sandbox_place(uri);
  if (!place || !call->who.may(auth::Permission::files_read)) co_return std::string();
  CO_TRY(const auto files, co_await call->service().files(call->who, place->id));
  const auto found = co_await files->stat(place->path, std::string());
  if (!found) co_return std::string();
  co_return fmt::format("{} {} {}", found->size, found->mode, unix_micros(found->modified_at));
}

}  // namespace atl::api::mcp
