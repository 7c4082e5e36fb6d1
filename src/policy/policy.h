#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/document.h"
#include "policy/verdict.h"

namespace atl::policy {

enum class Mode : std::uint8_t {
  enforce,  // findings deny
  audit,    // findings are reported, everything is allowed
  off,      // nothing is looked at, everything is allowed
};
std::string_view to_string(Mode mode);

// What one rule does when it matches.
enum class Effect : std::uint8_t { deny, audit, off };
std::string_view to_string(Effect effect);

// Code beyond max_bytes or max_nesting is a finding of its own rule and is not read further.
struct PolicyLimits {
  std::size_t max_bytes = 1U << 20;
  std::size_t max_nesting = 200;   // depth of the syntax: blocks, brackets, operators
  std::size_t max_findings = 100;  // a verdict holds no more than this many findings, and as many notes
};

struct Compiled;  // what the scanners use; scan/compiled.h

// A compiled policy. Immutable: one object serves all threads. The YAML format is described in
// docs/policy.md.
class Policy {
 public:
  Policy(Policy&&) noexcept;
  ~Policy();

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  Mode mode() const { return mode_; }
  const PolicyLimits& limits() const { return limits_; }
  // For the scanners of this room. Lives as long as the policy.
  const Compiled& compiled() const { return *compiled_; }

 private:
  friend class PolicySet;
  Policy();
  std::string name_;
  std::string description_;
  Mode mode_ = Mode::enforce;
  PolicyLimits limits_;
  std::unique_ptr<Compiled> compiled_;
};

// Policies by name. A document's policy is called by its `name:` key or, without one, like its file ("strict"
// for
// ".../strict.yaml").
class PolicySet {
 public:
  // All or nothing: the first bad document fails the whole set with invalid_argument and "file:line:column:
  // ..." and a hint. Bad: unknown keys, wrong types, patterns that are no sequence of tokens, `extends` of an
  // unknown policy or in a circle, two policies of one name.
  static Result<PolicySet> compile(std::span<const config::Document> documents);

  // Null if there is none.
  // Shared with the caller: a policy that is replaced stays valid for those who still use it.
  std::shared_ptr<const Policy> find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, std::shared_ptr<const Policy>, std::less<>> policies_;
};

// One rule of the house, for `atoll check --explain`.
struct Rule {
  std::string_view id;
  RiskLevel severity;  // unless the policy says otherwise
  std::string_view title;
  std::string_view explanation;  // what it finds and why that matters, with an example
  std::string_view recommendation;
};
// All of them, constant, in a fixed order.
std::span<const Rule> rules();
// Null if no rule is called so.
const Rule* find_rule(std::string_view id);

}  // namespace atl::policy
