// What a policy says of code before anything runs it.
#include <atoll/core.h>

#include <iostream>

int main() {
  auto strict = atl::shipped_policy("strict");
  if (!strict) {
    std::cerr << strict.error().message() << '\n';
    return 1;
  }
  atl::SecurityManager manager(*strict);
  atl::Verdict verdict = manager.validate_python("import os\nos.system('rm -rf /')\n");
  std::cout << (verdict.allowed ? "allowed" : "denied") << ", risk " << to_string(verdict.risk.level) << '\n';
  for (const auto& finding : verdict.findings)
    std::cout << finding.line << ':' << finding.column << ' ' << finding.rule << ": " << finding.message
              << '\n';
  std::cout << (manager.validate_shell("ls -l").allowed ? "allowed" : "denied") << '\n';
}
