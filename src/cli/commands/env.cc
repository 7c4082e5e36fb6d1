#include "cli/commands/env.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/table.h"
#include "config/checked.h"
#include "daemon/data_directory.h"
#include "egress/rules.h"
#include "layer/export.h"
#include "layer/import.h"
#include "layer/store.h"
#include "os/file.h"
#include "registry/registry.h"

// Environments and their layers, straight in the data directory: beside a running service or without one.
namespace atl::cli {

Result<EnvRoom> EnvRoom::open(const SettingFlags& flags, Missing missing) {
  const config::Configuration configuration = TRY(flags.load());
  EnvRoom room;
  room.registry =
      std::make_unique<registry::Registry>(TRY(registry::Registry::load(configuration.text("registry"))));
  auto data = missing == Missing::make ? daemon::data_directory(configuration)
                                       : daemon::existing_data_directory(configuration);
  if (!data && missing == Missing::without && data.error().code() == Code::not_found) return room;
  room.data = TRY(data);
  room.store = TRY(layer::Store::open(room.data + "/layers"));
  room.registry->attach(*room.store);
  return room;
}

std::string show_bytes(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{} kB", bytes / 1000);
  return fmt::format("{} MB", bytes / 1'000'000);
}

namespace {

constexpr std::uint64_t kImportBytesMax = 1ULL << 50;
constexpr std::int64_t kImportEntriesMax = 1'000'000'000;

struct EnvFlags {
  SettingFlags settings;
  std::string name, file, image, format = "oci", max_bytes, max_entries, apt, trust;
  std::vector<std::string> allow, variables;
  bool verify = false, fresh = false;
  bool json = false;
};

// "dir/ubuntu-22.04.tar.gz" is "ubuntu-22.04".
std::string name_of_file(const std::string& file) {
  std::string name = file.substr(0, file.find_last_not_of('/') + 1);
  name = name.substr(name.rfind('/') + 1);
  for (const std::string_view end : {".gz", ".zst", ".xz", ".bz2", ".tgz", ".tar", ".oci"})
    if (name.ends_with(end)) name.resize(name.size() - end.size());
  return name;
}

Result<void> unless_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) return fail(Code::canceled, "interrupted");
  return {};
}

std::string json_of_stack(const layer::Stack& stack) {
  boost::json::array layers;
  for (const std::string& digest : stack.layers) layers.emplace_back("sha256:" + digest);
  return boost::json::serialize(boost::json::object{{"name", stack.name}, {"layers", std::move(layers)}});
}

Result<void> import(const EnvFlags& flags) {
  layer::ImportOptions options;
  options.name = flags.name.empty() ? name_of_file(flags.file) : flags.name;
  options.image = flags.image;
  if (!flags.max_bytes.empty())
    options.limits.bytes_max = TRY(config::Checked("--max-bytes", flags.max_bytes).bytes(1, kImportBytesMax));
  if (!flags.max_entries.empty())
    options.limits.entries_max = static_cast<std::uint64_t>(
        TRY(config::Checked("--max-entries", flags.max_entries).whole_number(1, kImportEntriesMax)));
  // A bar for each layer, between the lines that name them.
  std::optional<Progress> bar;
  options.progress = [&](const std::string& line) {
    bar.reset();
    fmt::print(stderr, "{}\n", config::shown(line, 500));
    bar.emplace(options.name);
  };
  const Interruption interruption(true);
  options.moved = [&, stop = interruption.token()](std::uint64_t so_far, std::uint64_t all) -> Result<void> {
    if (bar) bar->moved(so_far, all);
    return unless_stopped(stop);
  };
  const EnvRoom room = TRY(EnvRoom::open(flags.settings));
  // A declared environment that is built is not to be replaced by a file by accident.
  const registry::Environment* declared = room.registry->environment(options.name);
  if (declared != nullptr && !declared->imported && declared->stack.empty())
    return fail(
        Code::already_exists,
        fmt::format(
            "environment '{}' exists and has no layers of its own; give this one another name with --name",
            config::shown(options.name)));
  auto imported = layer::import_file(*room.store, flags.file, options);
  bar.reset();
  const layer::Imported done = TRY(std::move(imported));
  if (done.devices_dropped > 0)
    fmt::print(stderr, "left out: {} device nodes, pipes and sockets\n", done.devices_dropped);
  if (done.attributes_dropped > 0)
    fmt::print(stderr, "left out: {} extended attributes\n", done.attributes_dropped);
  if (flags.json)
    fmt::print("{}\n", json_of_stack(done.stack));
  else
    fmt::print("{}\n", done.stack.name);
  return {};
}

// Whether a file holds certificates is found out here, not by a program inside that then says something else.
Result<std::string> read_authorities(const std::string& file) {
  std::string text = TRY_CONTEXT("--trust", os::read_file(file));
  if (text.find("-----BEGIN CERTIFICATE-----") == std::string::npos)
    return fail(config::Checked("--trust", file)
                    .wrong("holds no certificate",
                           "name a file with certificates in PEM, such as "
                           "/etc/ssl/certs/ca-certificates.crt"));
  return text;
}

Result<void> build_named(const EnvFlags& flags) {
  layer::BuildOptions options;
  options.fresh = flags.fresh;
  if (!flags.apt.empty()) options.apt_directory = flags.apt;
  StepReach reach;
  for (const std::string& rule : flags.allow) {
    if (auto known = egress::Rules::compile({.allow = {rule}}); !known)
      return fail(std::move(known).error().context("--allow"));
    reach.allow.push_back(rule);
  }
  for (const std::string& pair : flags.variables) {
    auto [name, value] = TRY(config::Checked("--variable", pair).assignment());
    reach.variables.insert_or_assign(std::move(name), std::move(value));
  }
  if (!flags.trust.empty()) reach.authorities = TRY(read_authorities(flags.trust));
  return build_environment(flags.settings, flags.name, options, reach, flags.json);
}

Result<void> write_export(const EnvRoom& room, const EnvFlags& flags, const Interruption& interruption,
                          int out) {
  const layer::Stack stack = TRY(room.store->stack(flags.name));
  Progress bar(flags.name);
  const auto moved = [&, stop = interruption.token()](std::uint64_t so_far,
                                                      std::uint64_t all) -> Result<void> {
    bar.moved(so_far, all);
    return unless_stopped(stop);
  };
  const auto format = flags.format == "tar" ? layer::ExportFormat::tar : layer::ExportFormat::oci;
  return layer::export_stack(*room.store, stack, format, out, moved);
}

Result<void> export_to(const EnvFlags& flags) {
  constexpr std::array<std::string_view, 2> formats = {"oci", "tar"};
  TRY(config::Checked("--format", flags.format).choice(formats));
  const EnvRoom room = TRY(EnvRoom::open(flags.settings, EnvRoom::Missing::refuse));
  // Before the file: a signal that came between would leave what has been made of it.
  const Interruption interruption(true);
  if (flags.file == "-") {
    if (::isatty(STDOUT_FILENO) == 1)
      return fail(config::Checked("FILE", flags.file)
                      .wrong("is a terminal here", "name a file, or send it to a program"));
    return write_export(room, flags, interruption, STDOUT_FILENO);
  }
  TRY(room.store->stack(flags.name));  // before anything is written
  OutputFile out = TRY(OutputFile::open("FILE", flags.file));
  TRY(write_export(room, flags, interruption, out.fd()));
  TRY(out.finish());
  if (flags.json)
    fmt::print("{}\n", boost::json::serialize(boost::json::object{
                           {"name", flags.name}, {"file", flags.file}, {"format", flags.format}}));
  return {};
}

std::uint64_t bytes_of(const layer::Store& store, const std::vector<std::string>& digests) {
  std::uint64_t bytes = 0;
  for (const std::string& digest : digests)
    if (auto layer = store.find(digest)) bytes += layer->bytes;
  return bytes;
}

const char* state_of(const registry::Environment& environment) {
  if (environment.stack.empty()) return environment.layers.empty() ? "host" : "directories";
  if (!environment.digests.empty()) return environment.imported ? "imported" : "built";
  return environment.host_fallback ? "not built, host instead" : "not built";
}

boost::json::object json_of_environment(const EnvRoom& room, const registry::Environment& environment) {
  boost::json::array layers;
  for (const std::string& digest : environment.digests) layers.emplace_back("sha256:" + digest);
  return {{"name", environment.name},
          {"description", environment.description},
          {"state", state_of(environment)},
          {"layers", std::move(layers)},
          {"size_bytes", room.store ? bytes_of(*room.store, environment.digests) : 0},
          {"user", environment.user},
          {"working_directory", environment.working_directory},
          {"sudo", environment.sudo}};
}

Result<void> list(const EnvFlags& flags) {
  const EnvRoom room = TRY(EnvRoom::open(flags.settings, EnvRoom::Missing::without));
  if (flags.json) {
    boost::json::array all;
    for (const auto& [name, environment] : room.registry->environments())
      all.push_back(json_of_environment(room, environment));
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"environments", std::move(all)}}));
    return {};
  }
  Table table({{"NAME"}, {"STATE"}, {"LAYERS", Table::Align::right}, {"SIZE", Table::Align::right}});
  for (const auto& [name, environment] : room.registry->environments())
    table.add({{name},
               {std::string(state_of(environment))},
               {std::to_string(environment.digests.size())},
               {show_bytes(room.store ? bytes_of(*room.store, environment.digests) : 0)}});
  fmt::print("{}", table.text(paint_of_output()));
  const layer::DiskUse use = room.store ? TRY(room.store->disk_use()) : layer::DiskUse{};
  fmt::print("{} layers, {}; unused: {}, {}\n", use.layers, show_bytes(use.bytes), use.unused_layers,
             show_bytes(use.unused_bytes));
  return {};
}

Result<void> show(const EnvFlags& flags) {
  const EnvRoom room = TRY(EnvRoom::open(flags.settings, EnvRoom::Missing::without));
  const registry::Environment* environment = room.registry->environment(flags.name);
  if (environment == nullptr)
    return fail(Code::not_found,
                fmt::format("NAME: there is no environment '{}'; `atoll env list` lists them",
                            config::shown(flags.name)));
  if (flags.json) {
    fmt::print("{}\n", boost::json::serialize(json_of_environment(room, *environment)));
    return {};
  }
  fmt::print("name: {}\nstate: {}\ndescription: {}\nuser: {}\nworking_directory: {}\nsudo: {}\n",
             environment->name, state_of(*environment), environment->description, environment->user,
             environment->working_directory, environment->sudo);
  for (const auto& [name, value] : environment->env) fmt::print("env: {}={}\n", name, value);
  if (environment->digests.empty()) return {};
  const layer::Stack stack = TRY(room.store->stack(environment->stack));
  fmt::print("source: {}\ncreated: {}\n", stack.source, stack.created_at);
  if (room.registry->ships(stack.recipe))
    fmt::print("recipe: shipped with this program; may have a zygote\n");
  for (const std::string& digest : stack.layers) {
    const layer::Layer layer = TRY(room.store->find(digest));
    if (flags.verify) TRY(room.store->verify(digest));
    fmt::print("layer: sha256:{} {} entries, {}{}\n", digest, layer.entries, show_bytes(layer.bytes),
               flags.verify ? ", verified" : "");
  }
  for (const layer::Reference& reference : TRY(room.store->references()))
    if (reference.stack == environment->stack) fmt::print("used by: {}\n", reference.holder);
  return {};
}

Result<void> remove(const EnvFlags& flags) {
  const EnvRoom room = TRY(EnvRoom::open(flags.settings, EnvRoom::Missing::refuse));
  for (const auto& [name, environment] : room.registry->environments())
    if (name != flags.name && environment.recipe && environment.recipe->from == flags.name &&
        !environment.digests.empty())
      fmt::print(stderr, "note: '{}' was built from it and keeps its layers\n", name);
  TRY(room.store->remove(flags.name));
  if (flags.json)
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"name", flags.name}, {"removed", true}}));
  return {};
}

Result<void> collect(const EnvFlags& flags) {
  const EnvRoom room = TRY(EnvRoom::open(flags.settings, EnvRoom::Missing::refuse));
  const layer::DiskUse use = TRY(room.store->collect());
  if (flags.json) {
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"removed_layers", use.unused_layers},
                                                                  {"removed_bytes", use.unused_bytes},
                                                                  {"layers", use.layers},
                                                                  {"size_bytes", use.bytes}}));
    return {};
  }
  fmt::print("removed {} of {} layers, {} of {}\n", use.unused_layers, use.layers,
             show_bytes(use.unused_bytes), show_bytes(use.bytes));
  return {};
}

}  // namespace

Action define_env(Command& top) {
  Command command = top.add_command("env", "Build, import, export and remove environments");
  auto flags = std::make_unique<EnvFlags>();
  flags->settings.add_to(command);
  command.require_command();
  using Body = Result<void> (*)(const EnvFlags&);
  std::vector<std::pair<Command, Body>> bodies;
  const auto add = [&](const char* word, const char* about, Body body) {
    Command sub = command.add_command(word, about);
    bodies.emplace_back(sub, body);
    return sub;
  };
  Command build = add("build", "Build an environment from its recipe", build_named);
  build.add_option("NAME", flags->name, "an environment of the registry with a recipe").required();
  build.add_flag("--fresh", flags->fresh, "Take no layer of an earlier build");
  build.add_flag("--json", flags->json, "What was made, as JSON");
  build
      .add_option("--apt", flags->apt,
                  "A directory to read instead of /etc/apt: sources, and what apt needs to reach them")
      .existing_directory();
  build
      .add_option(
          "--allow", flags->allow,
          "What steps with a network may reach beside what the recipe names, such as a mirror's address; "
          "may be repeated")
      .one_value_each();
  build
      .add_option("--variable", flags->variables,
                  "NAME=VALUE for steps with a network, such as PIP_INDEX_URL=...; not kept; may be repeated")
      .any_text()
      .one_value_each();
  build.add_option("--trust", flags->trust,
                   "A file of certificates that steps with a network trust instead of their own; not kept");
  Command in = add("import", "Make an environment of an OCI image, a docker archive or a tar", import);
  in.add_option("FILE", flags->file, "an archive, or a directory with an OCI layout").required();
  in.add_option("--name", flags->name, "its name (default: the file's)");
  in.add_option("--image", flags->image, "which image of the file, if it holds several");
  in.add_option("--max-bytes", flags->max_bytes, "refuse what is larger, such as 10G (default 64G)");
  in.add_flag("--json", flags->json, "What was made, as JSON");
  in.add_option("--max-entries", flags->max_entries, "refuse what has more entries (default 2000000)");
  Command out = add("export", "Write an environment to a file", export_to);
  out.add_option("NAME", flags->name, "the environment").required();
  out.add_option("FILE", flags->file, "where to; - is standard output").required();
  out.add_option("--format", flags->format, "oci: an image layout in a tar; tar: its files")
      .with_default_shown();
  out.add_flag("--json", flags->json, "What was written, as JSON; nothing if FILE is -");
  add("list", "List environments and what their layers need on disk", list)
      .add_flag("--json", flags->json, "As JSON");
  Command one = add("show", "Show an environment, its layers and who uses it", show);
  one.add_option("NAME", flags->name, "the environment").required();
  one.add_flag("--json", flags->json, "As JSON");
  one.add_flag("--verify", flags->verify, "Read every layer again and check its digest");
  Command end = add("remove", "Remove what was imported or built; refused while it is used", remove);
  end.add_option("NAME", flags->name, "the environment").required();
  end.add_flag("--json", flags->json, "As JSON");
  add("gc", "Remove layers that nobody needs", collect).add_flag("--json", flags->json, "As JSON");
  return [flags = std::move(flags), bodies = std::move(bodies)] {
    for (const auto& [sub, body] : bodies) {
      if (!sub.was_chosen()) continue;
      if (auto done = body(*flags); !done) return report(done.error());
      return 0;
    }
    return 2;
  };
}

}  // namespace atl::cli
