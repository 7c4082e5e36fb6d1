#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace atl::config {
struct Document;
}

namespace atl::session {

// What is known about a session before it has a provider.
struct Situation {
  std::string environment;
  std::string language;  // the environment's default; empty: none
  std::string policy;
  std::string tenant;
  bool image = false;  // it is to be made from an image
  double load = 0;     // of this machine: 1 when all processors are busy, more when programs wait for them
};

// One rule of `provider: auto`: a situation in which all of its conditions hold is served by the first of
// `use` that works. A condition that is empty or unset holds always; names may have '*' and '?' in them.
struct ProviderRule {
  std::vector<std::string> environment, language, policy, tenant;
  std::optional<bool> image;
  std::optional<double> load_above;
  std::vector<std::string> use;
  std::string where;  // file and line, for the reason
};

struct ProviderDecision {
  std::string provider;
  std::string reason;  // which rule, and who did not work
};

// The rules in their order. Constant; any thread may read.
class ProviderRules {
 public:
  // Those that come with the program: images by docker, the policy strict by gvisor where it works,
  // everything else by native where it works, else by virtual.
  ProviderRules();
  // A map with the one key `rules`: a list of {when: {...}, use: NAME or [NAMES]}. Unknown keys, providers
  // that do not exist and an empty list are errors with file and line.
  static Result<ProviderRules> parse(const config::Document& document);

  // By the first rule that fits. `why_not` says why a provider makes no sandboxes now, empty: it does. If
  // none of the rule's providers works, the error says why for each; later rules are not asked, because a
  // rule may be there to keep something from the providers behind it.
  Result<ProviderDecision> choose(const Situation& situation,
                                  const std::function<std::string(const std::string&)>& why_not) const;

 private:
  std::vector<ProviderRule> rules_;
};

// How busy this machine was in the last minute, for each processor.
double machine_load();

}  // namespace atl::session
