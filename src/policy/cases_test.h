#pragma once

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "policy/security_manager.h"

// What the table-driven tests share: the shipped policies, and one row of a table.
namespace atl::policy {

struct Case {
  std::string_view code;
  std::string_view
      rule;  // the rule that must find something; "" means: nothing is found and the code is allowed
};

inline std::shared_ptr<const Policy> shipped_policy(std::string_view name) {
  static const PolicySet set = [] {
    std::vector<config::Document> documents;
    for (std::string_view file : {"strict", "standard", "off"}) {
      auto document = config::Document::load("registry/policies/" + std::string(file) + ".yaml");
      if (!document) throw std::runtime_error(document.error().message());
      documents.push_back(std::move(*document));
    }
    auto compiled = PolicySet::compile(documents);
    if (!compiled) throw std::runtime_error(compiled.error().message());
    return std::move(*compiled);
  }();
  return set.find(name);
}

inline std::string describe(const Verdict& verdict) {
  std::string text = verdict.allowed ? "allowed" : "denied";
  for (const Finding& finding : verdict.findings) text += "\n  " + finding.rule + ": " + finding.message;
  for (const Finding& note : verdict.notes) text += "\n  (note) " + note.rule + ": " + note.message;
  return text;
}

inline bool has_rule(const Verdict& verdict, std::string_view rule) {
  for (const Finding& finding : verdict.findings) {
    if (finding.rule == rule) return true;
  }
  return false;
}

// Empty if the verdict is as the case says.
inline std::string check_case(const SecurityManager& manager, Language language, const Case& test) {
  Verdict verdict = manager.validate(test.code, language);
  bool good = test.rule.empty() ? verdict.allowed && verdict.findings.empty()
                                : !verdict.allowed && has_rule(verdict, test.rule);
  if (good) return {};
  return "\n" + std::string(test.code) + "\n  wanted " +
         (test.rule.empty() ? "nothing" : std::string(test.rule)) + ", got " + describe(verdict);
}

template <std::size_t count>
std::string check_cases(std::string_view policy, Language language, const Case (&cases)[count]) {
  SecurityManager manager(shipped_policy(policy));
  std::string problems;
  for (const Case& test : cases) problems += check_case(manager, language, test);
  return problems;
}

}  // namespace atl::policy
