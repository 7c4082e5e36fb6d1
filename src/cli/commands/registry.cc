#include "registry/registry.h"

#include <fmt/format.h>

#include "auth/role.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/temporary_place.h"
#include "config/checked.h"
#include "daemon/toolkit.h"
#include "net/http.h"
#include "os/file.h"
#include "registry/kinds.h"
#include "tools/tool_registry.h"

namespace atl::cli {
namespace {

struct RegistryFlags {
  ConnectionFlags connection;
  std::string kind, name, directory;
  bool json = false;
};

Result<registry::Registry> open_registry(const RegistryFlags& flags) {
  const config::Configuration configuration = TRY(flags.connection.settings().load());
  return registry::Registry::load(flags.directory.empty() ? configuration.text("registry") : flags.directory);
}

Result<void> check_kind(const std::string& kind) {
  if (registry::find_kind(kind) != nullptr) return {};
  std::vector<std::string_view> known;
  for (const registry::Kind& one : registry::kinds()) known.push_back(one.folder);
  return fail(config::Checked("KIND", kind)
                  .wrong(fmt::format("is no kind{}", config::did_you_mean(kind, known)),
                         fmt::format("there are {}", fmt::join(known, ", "))));
}

std::string entry_target(std::string_view kind, const std::string& name) {
  return fmt::format("/api/registry/{}/{}", kind, net::percent_encode(name));
}

Table entries_table() {
  return Table({{"KIND"}, {"NAME"}, {"FROM"}, {"DESCRIPTION"}});
}

Result<void> list_of_service(const RegistryFlags& flags) {
  const Remote service = TRY(Remote::open(flags.connection));
  boost::json::array documents;
  Table table = entries_table();
  for (const registry::Kind& kind : registry::kinds()) {
    if (!flags.kind.empty() && flags.kind != kind.folder) continue;
    const auto answer = TRY(service.json("GET", fmt::format("/api/registry/{}", kind.folder)));
    for (const boost::json::value& entry : list_at(answer, "entries")) {
      const std::string name = text_at(entry, "name");
      if (flags.json)
        documents.push_back(member(TRY(service.json("GET", entry_target(kind.folder, name))), "document"));
      else
        table.add({{std::string(kind.folder), Tone::dim},
                   {name},
                   {text_at(entry, "origin")},
                   {config::shown(text_at(entry, "description"), 70)}});
    }
  }
  fmt::print("{}", flags.json ? boost::json::serialize(documents) + "\n" : table.text(paint_of_output()));
  return {};
}

Result<void> show_of_service(const RegistryFlags& flags) {
  const Remote service = TRY(Remote::open(flags.connection));
  const auto entry = TRY(service.json("GET", entry_target(flags.kind, flags.name)));
  const std::string document = shown_on_terminal(boost::json::serialize(member(entry, "document")));
  if (flags.json)
    fmt::print("{}\n", document);
  else
    fmt::print("from: {}\ndigest: sha256:{}\n{}\n", config::shown(text_at(entry, "origin")),
               config::shown(text_at(entry, "digest")), document);
  return {};
}

Result<void> list(const RegistryFlags& flags) {
  if (!flags.kind.empty()) TRY(check_kind(flags.kind));
  if (flags.connection.name_a_service()) return list_of_service(flags);
  const registry::Registry registry = TRY(open_registry(flags));
  std::string lines;
  Table table = entries_table();
  for (const registry::Kind& kind : registry::kinds()) {
    if (!flags.kind.empty() && flags.kind != kind.folder) continue;
    for (const registry::Entry* entry : registry.entries(kind.folder)) {
      if (flags.json)
        lines += fmt::format("{}{}", lines.empty() ? "" : ",", entry->json);
      else
        table.add({{std::string(kind.folder), Tone::dim},
                   {entry->name},
                   {std::string(to_string(entry->origin))},
                   {config::shown(entry->description, 70)}});
    }
  }
  fmt::print("{}", flags.json ? fmt::format("[{}]\n", lines) : table.text(paint_of_output()));
  return {};
}

Result<void> show(const RegistryFlags& flags) {
  TRY(check_kind(flags.kind));
  if (flags.connection.name_a_service()) return show_of_service(flags);
  const registry::Registry registry = TRY(open_registry(flags));
  const registry::Entry* entry = registry.entry(flags.kind, flags.name);
  if (entry == nullptr)
    return fail(Code::not_found,
                fmt::format("NAME: there is no '{0}' among the {1}; `atoll registry list {1}` lists them",
                            config::shown(flags.name), flags.kind));
  if (flags.json)
    fmt::print("{}\n", entry->json);
  else
    fmt::print("from: {} ({})\ndigest: sha256:{}\n{}\n", to_string(entry->origin), entry->where,
               entry->digest, entry->json);
  return {};
}

// What a daemon that is started with this registry looks at beyond its YAML.
Result<void> check_for_daemon(const RegistryFlags& flags, registry::Registry& registry) {
  const config::Configuration configuration = TRY(flags.connection.settings().load());
  const std::string directory = flags.directory.empty() ? configuration.text("registry") : flags.directory;
  TRY(tools::ToolRegistry::open(&registry));
  auth::Roles roles;
  TRY(roles.load(directory.empty() ? std::string() : directory + "/roles"));
  const TemporaryPlace place = TRY(TemporaryPlace::make("atoll-registry"));
  skill::Library::Options options = TRY(daemon::skill_options(configuration, place.path()));
  const auto library = TRY(skill::Library::open(std::move(options)));
  for (const skill::Declared& declared : TRY(daemon::declared_skills(registry)))
    TRY(library->check(declared));
  return {};
}

Result<void> validate(const RegistryFlags& flags) {
  registry::Registry registry = TRY(open_registry(flags));
  TRY(check_for_daemon(flags, registry));
  std::size_t count = 0;
  for (const registry::Kind& kind : registry::kinds()) count += registry.entries(kind.folder).size();
  if (flags.json)
    fmt::print("{{\"declarations\":{}}}\n", count);
  else
    fmt::print("{} declarations, all good\n", count);
  return {};
}

Result<void> write_schemas(const RegistryFlags& flags) {
  boost::json::array written;
  for (const registry::Kind& kind : registry::kinds()) {
    const std::string path = fmt::format("{}/{}.json", flags.directory, kind.folder);
    OutputFile out = TRY(OutputFile::open("DIR", path));
    TRY(os::write_all(out.fd(), registry::json_schema(kind)));
    TRY(out.finish());
    written.emplace_back(path);
  }
  if (flags.json)
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"files", std::move(written)}}));
  return {};
}

}  // namespace

Action define_registry(Command& top) {
  Command command =
      top.add_command("registry", "List, show and check declarations: agents, prompts, tools, ...");
  auto flags = std::make_unique<RegistryFlags>();
  flags->connection.add_to(command);
  command.require_command();
  using Body = Result<void> (*)(const RegistryFlags&);
  std::vector<std::pair<Command, Body>> bodies;
  const auto add = [&](const char* word, const char* about, Body body) {
    Command sub = command.add_command(word, about);
    bodies.emplace_back(sub, body);
    return sub;
  };
  Command listing = add("list", "List what is declared, here or at the service that --url names", list);
  listing.add_option("KIND", flags->kind, "environments, agents, tools, prompts, policies, ...");
  listing.add_flag("--json", flags->json, "As a JSON array of the declarations");
  Command showing = add("show", "Show one declaration", show);
  showing.add_option("KIND", flags->kind, "environments, agents, ...").required();
  showing.add_option("NAME", flags->name, "Its name").required();
  showing.add_flag("--json", flags->json, "The declaration alone");
  Command checking = add("validate", "Check a registry directory: file, line, column and a hint", validate);
  checking.add_option("DIR", flags->directory, "The directory; otherwise the setting 'registry'");
  checking.add_flag("--json", flags->json, "As JSON");
  Command schemas = add("schemas", "Write the JSON Schemas of all kinds into a directory", write_schemas);
  schemas.add_option("DIR", flags->directory, "Where to").required().existing_directory();
  schemas.add_flag("--json", flags->json, "The files that were written, as JSON");
  return [flags = std::move(flags), bodies = std::move(bodies)] {
    for (const auto& [sub, body] : bodies) {
      if (!sub.was_chosen()) continue;
      if (auto done = body(*flags); !done) return report(done.error());
    }
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
