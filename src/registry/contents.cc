#include "registry/contents.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/bytes.h"
#include "config/checked.h"
#include "config/node_json.h"
#include "embedded/shipped_registry.h"
#include "registry/kinds.h"
#include "registry/parse.h"

namespace atl::registry {
namespace {

constexpr std::size_t kFilesMax = 10'000;

struct Loading {
  Contents contents;
  std::map<std::string, config::Document> policies;  // by name: the later source wins
};

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.find('/'));
}

Result<void> add_limits(Contents& contents, const config::Document& document) {
  LimitsTable table = TRY(parse_limits_table(document));
  merge(table.defaults, contents.limits.defaults);
  for (const auto& [language, patch] : table.languages) merge(patch, contents.limits.languages[language]);
  return {};
}

Result<void> add_parsed(Loading& loading, const Kind& kind, const config::Document& document) {
  Contents& contents = loading.contents;
  if (kind.folder == "environments") {
    Environment environment = TRY(parse_environment(document));
    std::string name = environment.name;
    contents.environments.insert_or_assign(std::move(name), std::move(environment));
  } else if (kind.folder == "agents") {
    Agent agent = TRY(parse_agent(document));
    std::string name = agent.name;
    contents.agents.insert_or_assign(std::move(name), std::move(agent));
  } else if (kind.folder == "prompts") {
    Prompt prompt = TRY(parse_prompt(document));
    std::string name = prompt.name;
    contents.prompts.insert_or_assign(std::move(name), std::move(prompt));
  } else if (kind.folder == "limits") {
    TRY(add_limits(contents, document));
  } else if (kind.folder == "policies") {
    loading.policies.insert_or_assign(declared_name(document), document);
  }
  return {};
}

Result<void> add_source(Loading& loading, const std::vector<SourceFile>& files, Origin origin,
                        const Checkers& checkers) {
  std::map<std::pair<std::string_view, std::string>, std::string> seen;
  for (const SourceFile& file : files) {
    const Kind* kind = find_kind(folder_of(file.path));
    if (kind == nullptr) continue;
    config::Document document = TRY(config::Document::parse(file.text, file.shown));
    TRY(check(*kind, document));
    TRY(add_parsed(loading, *kind, document));
    Entry entry = make_entry(kind->folder, origin, std::move(document));
    const auto [first, fresh] = seen.emplace(std::pair(kind->folder, entry.name), entry.where);
    if (!fresh)
      return fail(Code::invalid_argument,
                  fmt::format("{}: '{}' is declared already in {}", entry.where, entry.name, first->second));
    const auto [from, to] = checkers.equal_range(kind->folder);
    for (auto at = from; at != to; ++at) TRY(at->second(entry));
    std::string name = entry.name;
    loading.contents.entries[std::string(kind->folder)].insert_or_assign(std::move(name), std::move(entry));
  }
  return {};
}

// The name of the recipe that makes an environment out of nothing but these; empty: there is none.
std::string recipe_name(const std::map<std::string, Environment, std::less<>>& environments,
                        const std::string& environment, std::size_t depth = 0) {
  constexpr std::size_t deepest = 24;
  const auto found = environments.find(environment);
  if (found == environments.end() || !found->second.recipe || depth > deepest) return {};
  const layer::Recipe& recipe = *found->second.recipe;
  return name_of(recipe, recipe.from.empty() ? "" : recipe_name(environments, recipe.from, depth + 1));
}

Result<void> check_references(const Contents& contents) {
  for (const auto& [name, environment] : contents.environments) {
    if (contents.policies.find(environment.policy) == nullptr)
      return fail(Code::invalid_argument,
                  fmt::format("{}: environment '{}' names the policy '{}', which does not exist",
                              environment.where, name, environment.policy));
  }
  const FindPrompt find = [&](std::string_view name) {
    const auto found = contents.prompts.find(name);
    return found == contents.prompts.end() ? nullptr : &found->second;
  };
  for (const auto& [name, prompt] : contents.prompts) TRY(all_variables(prompt, find));
  for (const auto& [name, agent] : contents.agents) TRY(check_agent(agent, contents, find));
  return {};
}

}  // namespace

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::shipped: return "shipped";
    case Origin::directory: return "directory";
    case Origin::tenant: return "tenant";
  }
  std::unreachable();
}

Entry make_entry(std::string_view kind, Origin origin, config::Document document) {
  Entry entry;
  entry.kind = kind;
  entry.name = declared_name(document);
  entry.origin = origin;
  entry.where = document.root.where();
  if (const config::Node* text = document.root.find("description")) entry.description = text->text();
  entry.json = config::to_json(document.root);
  entry.digest = sha256_hex(entry.json);
  entry.document = std::move(document);
  return entry;
}

Result<void> check_agent(const Agent& agent, const Contents& contents, const FindPrompt& find_prompt) {
  const auto missing = [&](std::string_view what, const std::string& name) {
    return fail(Code::invalid_argument, fmt::format("{}: agent '{}' names the {} '{}', which does not exist",
                                                    agent.where, agent.name, what, name));
  };
  if (!agent.environment.empty() && !contents.environments.contains(agent.environment))
    return missing("environment", agent.environment);
  if (!agent.policy.empty() && contents.policies.find(agent.policy) == nullptr)
    return missing("policy", agent.policy);
  if (!agent.prompt.empty() && find_prompt(agent.prompt) == nullptr) return missing("prompt", agent.prompt);
  return {};
}

std::vector<SourceFile> shipped_files() {
  std::vector<SourceFile> files;
  for (const embedded::File& file : embedded::shipped_registry())
    files.push_back({std::string(file.path), std::string(file.bytes)});
  return files;
}

Result<std::vector<SourceFile>> read_directory(const std::string& directory) {
  std::vector<SourceFile> files;
  std::error_code failed;
  if (!std::filesystem::is_directory(directory, failed)) {
    return fail(
        Error(Code::invalid_argument,
              fmt::format("registry: '{}' is no directory that can be read; name one that has environments/, "
                          "agents/, limits/ or policies/ in it",
                          config::shown(directory)))
            .with_field("registry"));
  }
  for (const Kind& kind : kinds()) {
    std::set<std::string> names;
    const std::string place = fmt::format("{}/{}", directory, kind.folder);
    for (const auto& entry : std::filesystem::directory_iterator(place, failed)) {
      const auto extension = entry.path().extension();
      if (extension == ".yaml" || extension == ".yml") names.insert(entry.path().filename().string());
    }
    if (failed && failed != std::errc::no_such_file_or_directory)
      return fail(Code::invalid_argument, fmt::format("{}: cannot be read: {}", place, failed.message()));
    if (files.size() + names.size() > kFilesMax)
      return fail(Code::invalid_argument, fmt::format("{}: more than {} files", directory, kFilesMax));
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", place, name);
      std::string text = TRY(config::read_input(path, config::Bounds{}.max_bytes));
      files.push_back({path.substr(directory.size() + 1), std::move(text), path});
    }
  }
  return files;
}

Result<Contents> read_contents(const std::vector<SourceFile>& shipped, const std::vector<SourceFile>& user,
                               const Checkers& checkers) {
  Loading loading;
  TRY(add_source(loading, shipped, Origin::shipped, checkers));
  Contents& contents = loading.contents;
  for (const auto& [name, environment] : contents.environments)
    if (std::string recipe = recipe_name(contents.environments, name); !recipe.empty())
      contents.shipped_recipes.insert(std::move(recipe));
  TRY(add_source(loading, user, Origin::directory, checkers));
  std::vector<config::Document> documents;
  for (auto& [name, document] : loading.policies) documents.push_back(std::move(document));
  contents.policies = TRY(policy::PolicySet::compile(documents));
  TRY(check_references(contents));
  return std::move(contents);
}

}  // namespace atl::registry
