#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/temporary_place.h"
#include "config/checked.h"
#include "daemon/toolkit.h"
#include "net/http.h"
#include "skill/library.h"

namespace atl::cli {
namespace {

namespace bj = boost::json;

struct SkillFlags {
  ConnectionFlags connection;
  std::string name, directory;
  bool json = false, text = false;
};

// The shipped skills and those of the settings, as a daemon with these settings has them for every tenant. A
// place of its own for the shipped ones.
struct Shelf {
  TemporaryPlace place;
  std::unique_ptr<skill::Library> skills;

  static Result<Shelf> open(const SkillFlags& flags) {
    Shelf shelf{TRY(TemporaryPlace::make("atoll-skills")), nullptr};
    const config::Configuration configuration = TRY(flags.connection.settings().load());
    skill::Library::Options options = TRY(daemon::skill_options(configuration, shelf.place.path()));
    shelf.skills = TRY(skill::Library::open(std::move(options)));
    const registry::Registry registry = TRY(registry::Registry::load(configuration.text("registry")));
    auto declared = TRY(daemon::declared_skills(registry));
    TRY(shelf.skills->declare(std::move(declared)));
    return shelf;
  }
  const skill::Library& library() const { return *skills; }
};

bj::object json_of(const skill::Skill& skill) {
  return {{"name", skill.name},     {"description", skill.description}, {"source", to_string(skill.source)},
          {"digest", skill.digest}, {"pinned", skill.pinned},           {"files", skill.files}};
}

Table skills_table() {
  return Table({{"NAME"}, {"FROM"}, {"FILES", Table::Align::right}, {"DESCRIPTION"}});
}

Result<void> list_of_service(const SkillFlags& flags) {
  const Remote service = TRY(Remote::open(flags.connection));
  if (flags.text) {
    const std::string text =
        TRY(service.text({.method = "GET", .target = "/api/skills?format=text", .body = {}, .headers = {}}));
    fmt::print("{}", shown_lines(text));
    return {};
  }
  const bj::value answer = TRY(service.json("GET", "/api/skills"));
  if (flags.json) {
    fmt::print("{}\n", bj::serialize(answer));
    return {};
  }
  Table table = skills_table();
  for (const bj::value& skill : list_at(answer, "skills"))
    table.add({{text_at(skill, "name")},
               {text_at(skill, "source")},
               {fmt::format("{:.0f}", number_at(skill, "files"))},
               {config::shown(text_at(skill, "description"), 70)}});
  fmt::print("{}", table.text(paint_of_output()));
  for (const bj::value& problem : list_at(answer, "problems"))
    fmt::print(stderr, "atoll: not usable: {}\n", config::shown(text_at(problem, "message"), 400));
  return {};
}

Result<void> show_of_service(const SkillFlags& flags) {
  const Remote service = TRY(Remote::open(flags.connection));
  const bj::value skill = TRY(service.json("GET", "/api/skills/" + net::percent_encode(flags.name)));
  if (flags.json) {
    fmt::print("{}\n", bj::serialize(skill));
    return {};
  }
  fmt::print("name: {}\ndescription: {}\nfrom: {}\ndigest: sha256:{}\n",
             config::shown(text_at(skill, "name")), config::shown(text_at(skill, "description"), 1024),
             config::shown(text_at(skill, "source")), config::shown(text_at(skill, "digest")));
  for (const bj::value& file : list_at(skill, "file_list"))
    fmt::print("file: {} ({:.0f} bytes)\n", config::shown(text_at(file, "path"), 200),
               number_at(file, "bytes"));
  fmt::print("\n{}", shown_lines(text_at(skill, "body")));
  return {};
}

Result<void> list_skills(const SkillFlags& flags) {
  if (flags.connection.name_a_service()) return list_of_service(flags);
  const Shelf shelf = TRY(Shelf::open(flags));
  const skill::Listing listing = shelf.library().list("");
  if (flags.text) {
    fmt::print("{}", skill::as_text(listing.skills, "skills"));
    return {};
  }
  if (flags.json) {
    bj::array skills;
    for (const skill::Skill& skill : listing.skills) skills.push_back(json_of(skill));
    fmt::print("{}\n", bj::serialize(bj::object{{"skills", std::move(skills)}}));
    return {};
  }
  Table table = skills_table();
  for (const skill::Skill& skill : listing.skills)
    table.add({{skill.name},
               {std::string(to_string(skill.source))},
               {fmt::format("{}", skill.files)},
               {config::shown(skill.description, 70)}});
  fmt::print("{}", table.text(paint_of_output()));
  for (const skill::Problem& problem : listing.problems)
    fmt::print(stderr, "atoll: not usable: {}\n", problem.message);
  return {};
}

Result<void> show_skill(const SkillFlags& flags) {
  if (flags.connection.name_a_service()) return show_of_service(flags);
  const Shelf shelf = TRY(Shelf::open(flags));
  const skill::Skill skill = TRY(shelf.library().find("", flags.name));
  if (flags.json) {
    bj::object shown = json_of(skill);
    shown["body"] = skill.body;
    fmt::print("{}\n", bj::serialize(shown));
    return {};
  }
  fmt::print("name: {}\ndescription: {}\nfrom: {}\ndigest: sha256:{}\n", skill.name, skill.description,
             to_string(skill.source), skill.digest);
  if (!skill.allowed_tools.empty())
    fmt::print("asks for tools: {} (never granted by itself)\n", fmt::join(skill.allowed_tools, " "));
  if (!skill.network.empty())
    fmt::print("asks for names: {} (never granted by itself)\n", fmt::join(skill.network, " "));
  for (const skill::FileFacts& file : TRY(skill::list_files(skill.directory)))
    fmt::print("file: {} ({} bytes)\n", config::shown(file.path, 200), file.bytes);
  fmt::print("\n{}", skill.body);
  return {};
}

Result<void> validate_skill(const SkillFlags& flags) {
  std::error_code failed;
  const std::string directory = std::filesystem::canonical(flags.directory, failed).string();
  const skill::Skill skill = TRY(skill::read_skill(failed ? flags.directory : directory));
  if (flags.json) {
    bj::array remarks(skill.remarks.begin(), skill.remarks.end());
    fmt::print("{}\n", bj::serialize(bj::object{
                           {"name", skill.name}, {"digest", skill.digest}, {"remarks", std::move(remarks)}}));
    return {};
  }
  for (const std::string& remark : skill.remarks) fmt::print("remark: {}\n", remark);
  fmt::print("{}: good, sha256:{}\n", skill.name, skill.digest);
  return {};
}

}  // namespace

Action define_skills(Command& top) {
  Command command = top.add_command("skills", "List, show and check skills");
  auto flags = std::make_unique<SkillFlags>();
  flags->connection.add_to(command);
  command.require_command();
  using Body = Result<void> (*)(const SkillFlags&);
  std::vector<std::pair<Command, Body>> bodies;
  const auto add = [&](const char* word, const char* about, Body body) {
    Command sub = command.add_command(word, about);
    bodies.emplace_back(sub, body);
    return sub;
  };
  Command listing = add(
      "list", "List the skills that sessions may use, here or at the service that --url names", list_skills);
  listing.add_flag("--json", flags->json, "As JSON");
  listing.add_flag("--text", flags->text, "As text for a model");
  Command showing = add("show", "Show a skill: its instructions and files", show_skill);
  showing.add_option("NAME", flags->name, "the skill; NAME@DIGEST for exact contents").required();
  showing.add_flag("--json", flags->json, "As JSON");
  Command checking = add("validate", "Check a skill's directory: file, line and column", validate_skill);
  checking.add_option("DIR", flags->directory, "the directory").required().existing_directory();
  checking.add_flag("--json", flags->json, "As JSON");
  return [flags = std::move(flags), bodies = std::move(bodies)] {
    for (const auto& [sub, body] : bodies) {
      if (!sub.was_chosen()) continue;
      if (auto done = body(*flags); !done) return report(done.error());
    }
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
