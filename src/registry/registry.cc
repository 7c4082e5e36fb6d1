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
#include "registry/contents.h"
#include "registry/files.h"
#include "registry/kinds.h"
#include "registry/parse.h"

namespace atl::registry {
namespace {

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

}  // namespace

namespace {

Result<Environment> read_environment(const std::string& directory, const std::string& name) {
  const std::string path = "environments/" + name;
  const std::string text = TRY(config::read_input(directory + "/" + path, config::Bounds{}.max_bytes));
  const config::Document document = TRY(config::Document::parse(text, directory + "/" + path));
  TRY(check(*find_kind("environments"), document));
  return parse_environment(document);
}

}  // namespace

Result<Registry> Registry::load(const std::string& user_directory) {
  std::vector<SourceFile> user;
  if (user_directory.empty()) return from_files(shipped_files(), user);
  // Marked before they are read: one that changes meanwhile is read again.
  auto seen = environment_files(user_directory);
  auto marks = all_files(user_directory);
  user = TRY(read_directory(user_directory));
  Registry registry = TRY(from_files(shipped_files(), user));
  registry.user_directory_ = user_directory;
  registry.files_seen_ = std::move(seen);
  registry.marks_ = std::move(marks);
  return registry;
}

Registry::Registry() = default;
Registry::Registry(Registry&&) noexcept = default;
Registry& Registry::operator=(Registry&&) noexcept = default;
Registry::~Registry() = default;

Result<Registry> Registry::from_files(const std::vector<SourceFile>& shipped,
                                      const std::vector<SourceFile>& user) {
  Registry registry;
  auto contents = std::make_unique<Contents>(TRY(read_contents(shipped, user, {})));
  for (const auto& [name, environment] : contents->environments)
    registry.layers_at_start_.insert(environment.layers.begin(), environment.layers.end());
  registry.versions_.push_back({1, Clock::machine().now(), std::move(contents)});
  return registry;
}

void Registry::attach(const layer::Store& layers) {
  store_ = &layers;
  generation_ = 0;
}

const Environment* Registry::environment(std::string_view name) const {
  refresh();
  auto found = now().environments.find(name);
  // What nobody declared may have been declared since.
  if (found == now().environments.end() || found->second.imported) {
    read_new_files();
    found = now().environments.find(name);
  }
  return found == now().environments.end() ? nullptr : &found->second;
}

const std::map<std::string, Environment, std::less<>>& Registry::environments() const {
  read_new_files();
  refresh();
  return now().environments;
}

void Registry::mark_late_layer(Environment& environment) const {
  const auto was_known = [&](const std::string& layer) {
    return std::ranges::any_of(layers_at_start_, [&](const std::string& had) {
      return layer == had || (layer.starts_with(had) && (had.ends_with('/') || layer[had.size()] == '/'));
    });
  };
  if (const auto late = std::ranges::find_if_not(environment.layers, was_known);
      late != environment.layers.end())
    environment.late_layer = *late;
}

void Registry::declare(Environment environment) const {
  const auto known = now().environments.find(environment.name);
  if (known != now().environments.end() && !known->second.imported) return;
  // Somebody may hold a pointer to what stood in for it.
  if (known != now().environments.end()) retired_.push_back(now().environments.extract(known));
  mark_late_layer(environment);
  std::string name = environment.name;
  log::info("an environment was added", {{"name", name}, {"file", environment.where}});
  now().environments.emplace(std::move(name), std::move(environment));
  generation_ = 0;
}

void Registry::read_new_files() const {
  if (user_directory_.empty()) return;
  for (const auto& [name, mark] : environment_files(user_directory_)) {
    const auto seen = files_seen_.find(name);
    if (seen != files_seen_.end() && seen->second == mark) continue;
    files_seen_[name] = mark;
    auto environment = read_environment(user_directory_, name);
    if (environment && policies().find(environment->policy) == nullptr)
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
  const std::uint64_t generation = store_->generation();
  if (generation == generation_) return;
  const auto stacks = store_->stacks();
  if (!stacks) {
    log::error("the layer store cannot be read", {{"error", stacks.error().message()}});
    return;
  }
  // Two changes within one tick of the kernel's clock look like one: what is that young is read again.
  const auto age = static_cast<std::int64_t>(unix_micros(Clock::machine().now()) * 1000) -
                   static_cast<std::int64_t>(generation);
  generation_ = age > 100'000'000 ? generation : 0;
  std::map<std::string, const layer::Stack*> by_name;
  for (const layer::Stack& stack : *stacks) by_name.emplace(stack.name, &stack);
  for (auto at = now().environments.begin(); at != now().environments.end();) {
    const auto next = std::next(at);
    if (at->second.imported && !by_name.contains(at->first))
      retired_.push_back(now().environments.extract(at));
    at = next;
  }
  for (const auto& [name, stack] : by_name)
    if (!now().environments.contains(name)) now().environments.emplace(name, imported_environment(*stack));
  for (auto& [name, environment] : now().environments) {
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

sandbox::Limits Registry::sandbox_limits(const Environment& environment, const LimitsPatch& over) const {
  sandbox::Limits limits;
  apply(now().limits.defaults, limits);
  if (environment.languages.size() == 1) {
    if (const auto found = now().limits.languages.find(environment.languages.front());
        found != now().limits.languages.end()) {
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
  apply(now().limits.defaults, limits);
  if (const auto found = now().limits.languages.find(language); found != now().limits.languages.end()) {
    apply(found->second, limits);
  }
  return limits.wall_time;
}

}  // namespace atl::registry
