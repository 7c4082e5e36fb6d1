// Any bytes are code to some language: no verdict may crash, hang or disagree with itself.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "policy/security_manager.h"
#include "policy/shipped.h"

using namespace atl::policy;  // NOLINT(google-build-using-namespace): a program of one function

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const PolicySet set = *PolicySet::compile(shipped_documents());
  static const SecurityManager strict(set.find("strict"));
  static const SecurityManager standard(set.find("standard"));
  if (size < 1) return 0;
  std::string_view code(reinterpret_cast<const char*>(data) + 1, size - 1);  // bytes are bytes
  auto language = static_cast<Language>(data[0] % 3);
  Verdict verdict = (data[0] & 4) != 0 ? standard.validate(code, language) : strict.validate(code, language);
  if (verdict.allowed != verdict.findings.empty()) std::abort();
  if (to_json(verdict).empty()) std::abort();
  return 0;
}
