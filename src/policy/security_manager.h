#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "policy/verdict.h"

namespace atl::policy {

// Reads code and says what a policy thinks of it. Text in, verdict out: no file, clock setting, process or
// network is touched, and no code is run. All functions may be called from any thread at the same time.
//
// A verdict is a first wall and an early warning, not a proof. Code can compute at run time what no reading
// of it can foresee; what then happens is up to the walls of the sandbox.
//
// Code is refused (a finding, never an error) when it is over the policy's size or nesting limit, is not
// UTF-8, holds NUL bytes, or takes the parser out of its time. Memory is linear in the size of the code.
class SecurityManager {
 public:
  // Never null.
  explicit SecurityManager(std::shared_ptr<const Policy> policy);

  Verdict validate(std::string_view code, Language language) const;
  Verdict validate_python(std::string_view code) const { return validate(code, Language::python); }
  Verdict validate_javascript(std::string_view code) const { return validate(code, Language::javascript); }
  Verdict validate_shell(std::string_view code) const { return validate(code, Language::shell); }

  // What the code imports (for shell: the commands it runs), each name once, in order of appearance.
  std::vector<Import> check_imports(std::string_view code, Language language) const;
  Risk analyse_risk(std::string_view code, Language language) const;

  // From the next call on; calls under way finish with the policy they started with. To reload from files,
  // compile first and replace only on success: then the old policy stays in force when the new one is bad.
  void replace(std::shared_ptr<const Policy> policy);
  std::shared_ptr<const Policy> policy() const;

 private:
  std::atomic<std::shared_ptr<const Policy>> policy_;
};

}  // namespace atl::policy
