#include "registry/registry.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/log.h"
#include "config/checked.h"
#include "config/document.h"
#include "embedded/shipped_registry.h"
#include "registry/parse.h"

namespace atl::registry {
namespace {

constexpr std::string_view kFolders[] = {"environments", "agents", "limits", "policies"};

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.find('/'));
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
  for (const std::string_view folder : kFolders) {
    std::set<std::string> names;
    const std::string place = directory + "/" + std::string(folder);
    for (const auto& entry : std::filesystem::directory_iterator(place, failed)) {
      const auto extension = entry.path().extension();
      if (extension == ".yaml" || extension == ".yml") names.insert(entry.path().filename().string());
    }
    if (failed && failed != std::errc::no_such_file_or_directory)
      return fail(Code::invalid_argument, fmt::format("{}: cannot be read: {}", place, failed.message()));
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}/{}", directory, folder, name);
      std::string text = TRY(config::read_input(path, config::Bounds{}.max_bytes));
      files.push_back({path.substr(directory.size() + 1), std::move(text), path});
    }
  }
  return files;
}

// Documents by the name of what they declare: the later source wins.
struct Loading {
  std::map<std::string, Environment, std::less<>> environments;
  std::map<std::string, Agent, std::less<>> agents;
  LimitsTable limits;
  std::map<std::string, config::Document> policies;
};

Result<void> add_limits(Loading& loading, const config::Document& document) {
  LimitsTable table = TRY(parse_limits_table(document));
  merge(table.defaults, loading.limits.defaults);
  for (const auto& [language, patch] : table.languages) merge(patch, loading.limits.languages[language]);
  return {};
}

// What an image says about itself; anybody's name for the user, a group is not asked for.
Environment imported_environment(const layer::Stack& stack) {
  Environment environment;
  environment.name = environment.stack = stack.name;
  environment.imported = true;
  environment.description = fmt::format("Made by {}.", stack.source);
  environment.languages = {sandbox::Language::python, sandbox::Language::javascript,
                           sandbox::Language::shell};
  environment.user = stack.user.substr(0, stack.user.find(':'));
  if (environment.user.empty()) environment.user = "root";
  environment.working_directory = stack.working_directory.starts_with('/') ? stack.working_directory : "/";
  environment.env = stack.env;
  environment.where = "layers/" + stack.name;
  return environment;
}

template <class T>
Result<void> add_named(std::map<std::string, T, std::less<>>& into, std::map<std::string, std::string>& seen,
                       T thing) {
  const auto [first, fresh] = seen.emplace(thing.name, thing.where);
  if (!fresh) {
    return fail(Code::invalid_argument,
                fmt::format("{}: '{}' is declared already in {}", thing.where, thing.name, first->second));
  }
  std::string name = thing.name;
  into.insert_or_assign(std::move(name), std::move(thing));
  return {};
}

Result<void> add_source(Loading& loading, const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> environments, agents;
  for (const SourceFile& file : files) {
    const std::string_view folder = folder_of(file.path);
    if (folder != "environments" && folder != "agents" && folder != "limits" && folder != "policies")
      continue;
    config::Document document = TRY(config::Document::parse(file.text, file.shown));
    if (folder == "environments") {
      Environment environment = TRY(parse_environment(document));
      TRY(add_named(loading.environments, environments, std::move(environment)));
    } else if (folder == "agents") {
      Agent agent = TRY(parse_agent(document));
      TRY(add_named(loading.agents, agents, std::move(agent)));
    } else if (folder == "limits") {
      TRY(add_limits(loading, document));
    } else {
      loading.policies.insert_or_assign(std::filesystem::path(file.path).stem().string(),
                                        std::move(document));
    }
  }
  return {};
}

}  // namespace

namespace {

using Environments = std::map<std::string, Environment, std::less<>>;

// The name of the recipe that makes an environment out of nothing but these; empty: there is none.
std::string recipe_name(const Environments& environments, const std::string& environment,
                        std::size_t depth = 0) {
  constexpr std::size_t deepest = 24;
  const auto found = environments.find(environment);
  if (found == environments.end() || !found->second.recipe || depth > deepest) return {};
  const layer::Recipe& recipe = *found->second.recipe;
  return name_of(recipe, recipe.from.empty() ? "" : recipe_name(environments, recipe.from, depth + 1));
}

}  // namespace

namespace {

using FileMark = std::pair<std::int64_t, std::uint64_t>;

std::map<std::string, FileMark> environment_files(const std::string& directory) {
  std::map<std::string, FileMark> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory + "/environments", failed)) {
    const auto extension = entry.path().extension();
    if (extension != ".yaml" && extension != ".yml") continue;
    struct stat info {};
    if (::stat(entry.path().c_str(), &info) < 0 || !S_ISREG(info.st_mode)) continue;
    files[entry.path().filename().string()] = {
        static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec,
        static_cast<std::uint64_t>(info.st_size)};
  }
  return files;
}

Result<Environment> read_environment(const std::string& directory, const std::string& name) {
  const std::string path = "environments/" + name;
  const std::string text = TRY(config::read_input(directory + "/" + path, config::Bounds{}.max_bytes));
  return parse_environment(TRY(config::Document::parse(text, directory + "/" + path)));
}

}  // namespace

Result<Registry> Registry::load(const std::string& user_directory) {
  std::vector<SourceFile> shipped;
  for (const embedded::File& file : embedded::shipped_registry()) {
    shipped.push_back({std::string(file.path), std::string(file.bytes)});
  }
  std::vector<SourceFile> user;
  if (user_directory.empty()) return from_files(shipped, user);
  // Marked before they are read: one that changes meanwhile is read again.
  auto seen = environment_files(user_directory);
  user = TRY(read_directory(user_directory));
  Registry registry = TRY(from_files(shipped, user));
  registry.user_directory_ = user_directory;
  registry.files_seen_ = std::move(seen);
  return registry;
}

Result<Registry> Registry::from_files(const std::vector<SourceFile>& shipped,
                                      const std::vector<SourceFile>& user) {
  Loading loading;
  Registry registry;
  TRY(add_source(loading, shipped));
  for (const auto& [name, environment] : loading.environments)
    if (std::string recipe = recipe_name(loading.environments, name); !recipe.empty())
      registry.shipped_recipes_.insert(std::move(recipe));
  TRY(add_source(loading, user));
  std::vector<config::Document> documents;
  for (auto& [name, document] : loading.policies) documents.push_back(std::move(document));
  registry.policies_ = TRY(policy::PolicySet::compile(documents));
  for (const auto& [name, environment] : loading.environments) {
    if (registry.policies_.find(environment.policy) == nullptr) {
      return fail(Code::invalid_argument,
                  fmt::format("{}: environment '{}' names the policy '{}', which does not exist",
                              environment.where, name, environment.policy));
    }
  }
  for (const auto& [name, agent] : loading.agents) {
    if (!agent.environment.empty() && !loading.environments.contains(agent.environment)) {
      return fail(Code::invalid_argument,
                  fmt::format("{}: agent '{}' names the environment '{}', which does not exist", agent.where,
                              name, agent.environment));
    }
    if (!agent.policy.empty() && registry.policies_.find(agent.policy) == nullptr) {
      return fail(Code::invalid_argument,
                  fmt::format("{}: agent '{}' names the policy '{}', which does not exist", agent.where, name,
                              agent.policy));
    }
  }
  for (const auto& [name, environment] : loading.environments)
    registry.layers_at_start_.insert(environment.layers.begin(), environment.layers.end());
  registry.environments_ = std::move(loading.environments);
  registry.agents_ = std::move(loading.agents);
  registry.limits_ = std::move(loading.limits);
  return registry;
}

void Registry::attach(const layer::Store& layers) {
  store_ = &layers;
  generation_ = 0;
}

const Environment* Registry::environment(std::string_view name) const {
  refresh();
  auto found = environments_.find(name);
  // What nobody declared may have been declared since.
  if (found == environments_.end() || found->second.imported) {
    read_new_files();
    found = environments_.find(name);
  }
  return found == environments_.end() ? nullptr : &found->second;
}

const std::map<std::string, Environment, std::less<>>& Registry::environments() const {
  read_new_files();
  refresh();
  return environments_;
}

void Registry::declare(Environment environment) const {
  const auto known = environments_.find(environment.name);
  if (known != environments_.end() && !known->second.imported) return;
  // Somebody may hold a pointer to what stood in for it.
  if (known != environments_.end()) retired_.push_back(environments_.extract(known));
  const auto was_known = [&](const std::string& layer) {
    return std::ranges::any_of(layers_at_start_, [&](const std::string& had) {
      return layer == had || (layer.starts_with(had) && (had.ends_with('/') || layer[had.size()] == '/'));
    });
  };
  if (const auto late = std::ranges::find_if_not(environment.layers, was_known);
      late != environment.layers.end())
    environment.late_layer = *late;
  std::string name = environment.name;
  log::info("an environment was added", {{"name", name}, {"file", environment.where}});
  environments_.emplace(std::move(name), std::move(environment));
  generation_ = 0;
}

void Registry::read_new_files() const {
  if (user_directory_.empty()) return;
  for (const auto& [name, mark] : environment_files(user_directory_)) {
    const auto seen = files_seen_.find(name);
    if (seen != files_seen_.end() && seen->second == mark) continue;
    files_seen_[name] = mark;
    auto environment = read_environment(user_directory_, name);
    if (environment && policies_.find(environment->policy) == nullptr)
      environment = fail(Code::invalid_argument,
                         fmt::format("{}: environment '{}' names the policy '{}', which does not exist",
                                     environment->where, environment->name, environment->policy));
    if (environment)
      declare(std::move(*environment));
    else
      log::error("a file of the registry cannot be used", {{"error", environment.error().message()}});
  }
  refresh();
}

void Registry::refresh() const {
  if (store_ == nullptr) return;
  const std::uint64_t now = store_->generation();
  if (now == generation_) return;
  const auto stacks = store_->stacks();
  if (!stacks) {
    log::error("the layer store cannot be read", {{"error", stacks.error().message()}});
    return;
  }
  // Two changes within one tick of the kernel's clock look like one: what is that young is read again.
  const auto age =
      static_cast<std::int64_t>(unix_micros(Clock::machine().now()) * 1000) - static_cast<std::int64_t>(now);
  generation_ = age > 100'000'000 ? now : 0;
  std::map<std::string, const layer::Stack*> by_name;
  for (const layer::Stack& stack : *stacks) by_name.emplace(stack.name, &stack);
  for (auto at = environments_.begin(); at != environments_.end();) {
    const auto next = std::next(at);
    if (at->second.imported && !by_name.contains(at->first)) retired_.push_back(environments_.extract(at));
    at = next;
  }
  for (const auto& [name, stack] : by_name)
    if (!environments_.contains(name)) environments_.emplace(name, imported_environment(*stack));
  for (auto& [name, environment] : environments_) {
    if (environment.stack.empty()) continue;
    const auto found = by_name.find(environment.stack);
    environment.digests = found == by_name.end() ? std::vector<std::string>() : found->second->layers;
    environment.made_by = found == by_name.end() ? std::string() : found->second->recipe;
    environment.layers.clear();
    for (const std::string& digest : environment.digests) environment.layers.push_back(store_->path(digest));
  }
}

Result<void> check_usable(const Environment& environment) {
  if (!environment.late_layer.empty())
    return fail(
        Error(Code::conflict,
              fmt::format("environment '{}' was added while the service ran, and one of its layers is a "
                          "directory that the service did not know when it started: restart the service",
                          environment.name))
            .with_field("environment")
            .with_detail(environment.late_layer));
  if (environment.stack.empty() || !environment.layers.empty() || environment.host_fallback) return {};
  return fail(Error(Code::conflict,
                    fmt::format("environment '{0}' is not built on this machine: run 'atoll env build {1}'",
                                environment.name, environment.stack))
                  .with_field("environment"));
}

const Agent* Registry::agent(std::string_view name) const {
  const auto found = agents_.find(name);
  return found == agents_.end() ? nullptr : &found->second;
}

sandbox::Limits Registry::sandbox_limits(const Environment& environment, const LimitsPatch& over) const {
  sandbox::Limits limits;
  apply(limits_.defaults, limits);
  if (environment.languages.size() == 1) {
    if (const auto found = limits_.languages.find(environment.languages.front());
        found != limits_.languages.end()) {
      apply(found->second, limits);
    }
  }
  apply(environment.limits, limits);
  apply(over, limits);
  return limits;
}

std::chrono::milliseconds Registry::execution_time(sandbox::Language language) const {
  if (language == sandbox::Language::typescript) language = sandbox::Language::javascript;
  sandbox::Limits limits;
  apply(limits_.defaults, limits);
  if (const auto found = limits_.languages.find(language); found != limits_.languages.end()) {
    apply(found->second, limits);
  }
  return limits.wall_time;
}

}  // namespace atl::registry
