#include "registry/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "egress/rules.h"
#include "registry/kinds.h"
#include "sandbox/spec_check.h"

namespace atl::registry {
namespace {

// The table has checked the range.
Result<std::optional<double>> number(const config::Node& node, std::string_view key) {
  return node.get<double>(key);
}

Result<sandbox::Language> language(const config::Node& node) {
  const auto parsed = sandbox::parse_language(node.text());
  if (!parsed) return fail(node.error(fmt::format("no language is called '{}'", node.text())));
  return *parsed;
}

// The table has checked the word.
std::optional<sandbox::Network> network(const config::Node& root) {
  const config::Node* node = root.find("network");
  if (node == nullptr || node->is_null()) return std::nullopt;
  return node->text() == "none" ? sandbox::Network::none : sandbox::Network::egress;
}

Result<LimitsPatch> limits_in(const config::Node& root) {
  const config::Node* node = root.find("limits");
  if (node == nullptr) return LimitsPatch{};
  return parse_limits(*node);
}

Result<layer::Step> step_of(const config::Node& node, const egress::RuleTexts& reach) {
  layer::Step step{.run = TRY(node.require<std::string>("run"))};
  if (step.run.empty() || step.run.find('\0') != std::string::npos)
    return fail(node.error("'run' is a script for the shell"));
  step.network = network(node).value_or(sandbox::Network::none) == sandbox::Network::egress;
  if (!step.network) return step;
  if (reach.allow.empty())
    return fail(node.find("network")->error(
        "the build names nothing to reach: give it 'network: {allow: [NAME, ...]}' beside 'steps'"));
  step.allow = reach.allow;
  step.deny = reach.deny;
  return step;
}

// What steps that ask for a network may reach.
Result<egress::RuleTexts> reach_in(const config::Node& build) {
  egress::RuleTexts reach;
  const config::Node* node = build.find("network");
  if (node == nullptr || node->is_null()) return reach;
  reach.allow = TRY(node->get_or<std::vector<std::string>>("allow", {}));
  reach.deny = TRY(node->get_or<std::vector<std::string>>("deny", {}));
  if (auto rules = egress::Rules::compile(reach); !rules) return fail(node->error(rules.error().message()));
  return reach;
}

bool is_package(std::string_view text) {
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text, [](unsigned char c) {
           return std::islower(c) != 0 || std::isdigit(c) != 0 ||
                  std::string_view("+-.:=~").contains(static_cast<char>(c));
         });
}

Result<layer::Recipe> recipe_of(const config::Node& node) {
  layer::Recipe recipe;
  recipe.from = TRY(node.get_or<std::string>("from", ""));
  recipe.suite = TRY(node.get_or<std::string>("suite", ""));
  recipe.packages = TRY(node.get_or<std::vector<std::string>>("packages", {}));
  for (const std::string& package : recipe.packages)
    if (!is_package(package))
      return fail(node.find("packages")->error(fmt::format("'{}' is no package", package)));
  if (!recipe.suite.empty() && !is_package(recipe.suite))
    return fail(node.find("suite")->error("this is no suite"));
  if (recipe.from.empty() == recipe.packages.empty())
    return fail(node.error("a build starts 'from' an environment or with 'packages', one of the two"));
  const egress::RuleTexts reach = TRY(reach_in(node));
  if (const config::Node* steps = node.find("steps")) {
    for (const config::Node& item : steps->items()) recipe.steps.push_back(TRY(step_of(item, reach)));
  }
  return recipe;
}

// Where an environment's layers come from, if not from directories.
Result<void> read_stack(const config::Node& root, Environment& environment) {
  environment.stack = TRY(root.get_or<std::string>("stack", ""));
  if (const config::Node* build = root.find("build")) {
    layer::Recipe recipe = TRY(recipe_of(*build));
    if (environment.stack.empty()) environment.stack = environment.name;
    recipe.name = environment.stack;
    recipe.env = environment.env;
    recipe.user = environment.user;
    recipe.working_directory = environment.working_directory;
    environment.recipe = std::move(recipe);
  }
  if (!environment.stack.empty() && !environment.layers.empty())
    return fail(root.find("layers")->error("'layers' are directories; what is built or imported has none"));
  if (const config::Node* fallback = root.find("fallback")) {
    if (environment.stack.empty())
      return fail(fallback->error("'fallback' is for what can be built: 'stack' or 'build'"));
    environment.host_fallback = true;
  }
  return {};
}

// "numpy", "xml.dom": words that an import statement can have.
bool is_module(std::string_view name) {
  bool begins = true;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !(digit && !begins) && !(c == '.' && !begins)) return false;
    begins = c == '.';
  }
  return !begins && name.size() <= 200;
}

Result<std::vector<std::string>> modules_in(const config::Node& root) {
  auto modules = TRY(root.get_or<std::vector<std::string>>("preimport", {}));
  for (const std::string& name : modules)
    if (!is_module(name))
      return fail(
          root.find("preimport")->error(fmt::format("'{}' is not the name of a Python module", name)));
  return modules;
}

Result<std::string> image_in(const config::Node& root) {
  std::string image = TRY(root.get_or<std::string>("image", ""));
  if (!image.empty() && !sandbox::is_image_reference(image))
    return fail(root.find("image")->error(
        fmt::format("'{}' is no reference of an image, such as python:3.13-slim", image)));
  return image;
}

Result<sandbox::Variables> variables_in(const config::Node& root) {
  return root.get_or<sandbox::Variables>("env", {});
}

}  // namespace

Result<LimitsPatch> parse_limits(const config::Node& node) {
  LimitsPatch patch;
  for (const sandbox::LimitRow& row : sandbox::kLimits) {
    if (const auto value = TRY(number(node, row.name))) sandbox::set_amount(patch, row, *value);
  }
  return patch;
}

Result<Environment> parse_environment(const config::Document& document) {
  Environment environment;
  environment.name = declared_name(document);
  const config::Node& root = document.root;
  environment.where = root.where();
  environment.description = TRY(root.get_or<std::string>("description", ""));
  environment.layers = TRY(root.get_or<std::vector<std::string>>("layers", {}));
  for (const std::string& layer : environment.layers) {
    if (!layer.starts_with('/')) return fail(root.find("layers")->error("a layer is an absolute path"));
  }
  if (const config::Node* languages = root.find("languages")) {
    for (const config::Node& item : languages->items()) environment.languages.push_back(TRY(language(item)));
  } else {
    environment.languages = {sandbox::Language::python, sandbox::Language::javascript,
                             sandbox::Language::shell};
  }
  if (const config::Node* word = root.find("default_language"))
    environment.default_language = TRY(language(*word));
  environment.policy = TRY(root.get_or<std::string>("policy", "standard"));
  environment.limits = TRY(limits_in(root));
  environment.network = network(root).value_or(sandbox::Network::none);
  environment.sudo = TRY(root.get_or<bool>("sudo", false));
  environment.image = TRY(image_in(root));
  // What an image says about its user and directory holds where the environment says nothing else.
  const bool has_image = !environment.image.empty();
  environment.user = TRY(root.get_or<std::string>("user", has_image ? "" : "user"));
  environment.working_directory =
      TRY(root.get_or<std::string>("working_directory", has_image ? "" : "/home/user"));
  if (!environment.working_directory.starts_with('/') && !environment.working_directory.empty()) {
    return fail(root.find("working_directory")->error("'working_directory' is an absolute path"));
  }
  environment.env = TRY(variables_in(root));
  environment.preimport = TRY(modules_in(root));
  TRY(read_stack(root, environment));
  return environment;
}

Result<Agent> parse_agent(const config::Document& document) {
  Agent agent;
  agent.name = declared_name(document);
  const config::Node& root = document.root;
  agent.where = root.where();
  agent.description = TRY(root.get_or<std::string>("description", ""));
  agent.environment = TRY(root.get_or<std::string>("environment", ""));
  agent.provider = TRY(root.get_or<std::string>("provider", ""));
  agent.policy = TRY(root.get_or<std::string>("policy", ""));
  agent.limits = TRY(limits_in(root));
  agent.network = network(root);
  if (const config::Node* rules = root.find("network"); rules != nullptr && rules->is_map())
    agent.egress = TRY(reach_in(root));
  if (const auto ttl = TRY(number(root, "ttl_seconds"))) {
    agent.ttl = std::chrono::seconds(static_cast<std::int64_t>(*ttl));
  }
  agent.env = TRY(variables_in(root));
  agent.tools = TRY(root.get<std::vector<std::string>>("tools"));
  agent.skills = TRY(root.get_or<std::vector<std::string>>("skills", {}));
  agent.prompt = TRY(root.get_or<std::string>("prompt", ""));
  agent.storage = TRY(root.get_or<std::string>("storage", ""));
  return agent;
}

Result<LimitsTable> parse_limits_table(const config::Document& document) {
  LimitsTable table;
  if (const config::Node* defaults = document.root.find("default_limits"))
    table.defaults = TRY(parse_limits(*defaults));
  if (const config::Node* languages = document.root.find("language_specific")) {
    for (const config::Member& member : languages->members()) {
      table.languages[*sandbox::parse_language(member.key)] = TRY(parse_limits(member.value));
    }
  }
  return table;
}

}  // namespace atl::registry
