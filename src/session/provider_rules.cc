#include "session/provider_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "config/document.h"
#include "session/providers.h"

namespace atl::session {
namespace {

bool fits(const std::vector<std::string>& patterns, const std::string& name) {
  if (patterns.empty()) return true;
  return std::ranges::any_of(
      patterns, [&](const std::string& one) { return ::fnmatch(one.c_str(), name.c_str(), 0) == 0; });
}

bool fits(const ProviderRule& rule, const Situation& situation) {
  return fits(rule.environment, situation.environment) && fits(rule.language, situation.language) &&
         fits(rule.policy, situation.policy) && fits(rule.tenant, situation.tenant) &&
         (!rule.image || *rule.image == situation.image) &&
         (!rule.load_above || situation.load > *rule.load_above);
}

// One name, or a list of them.
Result<std::vector<std::string>> names_in(const config::Node& node, std::string_view key) {
  const config::Node* value = node.find(key);
  if (value == nullptr || value->is_null()) return std::vector<std::string>();
  if (value->is_scalar()) return std::vector<std::string>{TRY(value->as<std::string>())};
  auto names = TRY(value->as<std::vector<std::string>>());
  if (names.empty()) return fail(value->error(fmt::format("'{}' names nothing: leave it out", key)));
  return names;
}

Result<ProviderRule> rule_of(const config::Node& node) {
  TRY(node.check_keys({"when", "use"}));
  ProviderRule rule;
  rule.where = node.where();
  rule.use = TRY(names_in(node, "use"));
  if (rule.use.empty())
    return fail(node.error("a rule needs 'use': the provider, or several in their order"));
  for (const std::string& name : rule.use)
    if (!is_provider_name(name))
      return fail(node.find("use")->error(
          fmt::format("no provider is called '{}': there are {}", name, fmt::join(kProviderNames, ", "))));
  const config::Node* when = node.find("when");
  if (when == nullptr || when->is_null()) return rule;
  TRY(when->check_keys({"environment", "language", "policy", "tenant", "image", "load_above"}));
  rule.environment = TRY(names_in(*when, "environment"));
  rule.language = TRY(names_in(*when, "language"));
  rule.policy = TRY(names_in(*when, "policy"));
  rule.tenant = TRY(names_in(*when, "tenant"));
  rule.image = TRY(when->get<bool>("image"));
  rule.load_above = TRY(when->get<double>("load_above"));
  if (rule.load_above && !(*rule.load_above >= 0 && *rule.load_above <= 1000))
    return fail(
        when->find("load_above")->error("'load_above' is a number from 0 to 1000; 1: all processors"));
  return rule;
}

}  // namespace

ProviderRules::ProviderRules() {
  ProviderRule image, strict, rest;
  image.image = true;
  image.use = {"docker"};
  image.where = "the shipped rule for images";
  strict.policy = {"strict"};
  strict.use = {"gvisor", "native"};
  strict.where = "the shipped rule for the policy strict";
  rest.use = {"native", "virtual"};
  rest.where = "the shipped rule for everything";
  rules_ = {std::move(image), std::move(strict), std::move(rest)};
}

Result<ProviderRules> ProviderRules::parse(const config::Document& document) {
  TRY(document.root.check_keys({"rules"}));
  const config::Node* list = document.root.find("rules");
  if (list == nullptr) return fail(document.root.error("there are no 'rules'"));
  TRY(list->expect(config::Kind::sequence));
  ProviderRules made;
  made.rules_.clear();
  for (const config::Node& item : list->items()) made.rules_.push_back(TRY(rule_of(item)));
  if (made.rules_.empty()) return fail(list->error("at least one rule is needed"));
  return made;
}

Result<ProviderDecision> ProviderRules::choose(
    const Situation& situation, const std::function<std::string(const std::string&)>& why_not) const {
  for (const ProviderRule& rule : rules_) {
    if (!fits(rule, situation)) continue;
    std::string passed_over;
    for (const std::string& name : rule.use) {
      const std::string reason = why_not(name);
      if (reason.empty()) return ProviderDecision{name, fmt::format("auto: {}{}", rule.where, passed_over)};
      passed_over += fmt::format("; {} does not work: {}", name, reason);
    }
    return fail(
        Error(Code::unsupported, fmt::format("auto: {}{}", rule.where, passed_over)).with_field("provider"));
  }
  return fail(Error(Code::unsupported, "auto: no rule fits this session").with_field("provider"));
}

double machine_load() {
  double minute = 0;
  if (::getloadavg(&minute, 1) != 1) return 0;
  return minute / std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace atl::session
