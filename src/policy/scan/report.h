#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "policy/scan/compiled.h"
#include "policy/scan/source.h"

namespace atl::policy {

// Gathers what the scanners see into a verdict. Code found inside code (an argument of eval, a here-document)
// is scanned with the same report while a Nested is alive; its findings then stand where the outer text
// stands.
// For one thread and one verdict; borrows everything it is given. Adding never fails: beyond the policy's
// max_findings the verdict is marked as truncated.
class Report {
 public:
  Report(const Policy& policy, Source& source, Verdict& verdict)
      : policy_(policy), compiled_(policy.compiled()), source_(source), verdict_(verdict) {}

  // A rule that is off adds nothing; the same rule, message and place count once. add_listed() is for an
  // entry of the policy's own lists.
  void add(RuleId rule, std::uint32_t offset, std::string message);
  void add_listed(ListedIndex listed, std::uint32_t offset, std::string message);
  // For the verdict's list of imports; judging them is the evaluator's.
  void add_import(std::string_view name, std::uint32_t offset, bool dynamic, bool relative);
  void add_parse_error(std::uint32_t offset, std::string message);
  // Whether the rule can add anything at all; for checks that cost something.
  bool wants(RuleId rule) const {
    return compiled_.rules[static_cast<RuleIndex>(rule)].effect != Effect::off;
  }

  // Allowance for code inside code: how deep, and how many bytes in all. False: no more.
  // After true, call leave_nested().
  bool enter_nested(std::size_t bytes);
  void leave_nested() { --depth_; }
  bool nested() const { return depth_ > 0; }

  const Policy& policy() const { return policy_; }
  const Compiled& compiled() const { return compiled_; }

  // While it lives, findings stand at `outer_offset`, unless an outer one is alive already.
  class Nested {
   public:
    Nested(Report& report, std::uint32_t outer_offset) : report_(report), before_(report.pinned_) {
      if (report_.pinned_ == unpinned) report_.pinned_ = outer_offset;
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    ~Nested() { report_.pinned_ = before_; }

   private:
    Report& report_;
    std::uint32_t before_;
  };

 private:
  static constexpr std::uint32_t unpinned = ~0U;
  void put(RuleIndex rule, const RuleSetting& setting, std::uint32_t offset, std::string message);

  const Policy& policy_;
  const Compiled& compiled_;
  Source& source_;
  Verdict& verdict_;
  std::uint32_t pinned_ = unpinned;
  int depth_ = 0;
  std::size_t nested_bytes_ = 0;
  std::set<std::pair<std::uint64_t, std::string>> seen_;
  std::set<std::string, std::less<>> imports_;
};

}  // namespace atl::policy
