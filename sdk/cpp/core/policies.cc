#include <fmt/format.h>
#include <fmt/ranges.h>

#include "atoll/core.h"
#include "policy/shipped.h"

namespace atl {

std::vector<std::string> shipped_policies() {
  std::vector<std::string> names;
  for (const config::Document& document : policy::shipped_documents())
    names.push_back(policy::policy_name(document));
  return names;
}

Result<std::shared_ptr<const policy::Policy>> shipped_policy(std::string_view name) {
  policy::PolicySet set = TRY(policy::PolicySet::compile(policy::shipped_documents()));
  if (auto found = set.find(name)) return found;
  return fail(Code::not_found,
              fmt::format("no policy '{}'; there are {}", name, fmt::join(set.names(), ", ")));
}

Result<std::shared_ptr<const policy::Policy>> load_policy(const std::string& file) {
  config::Document own = TRY(config::Document::load(file));
  const std::string name = policy::policy_name(own);
  // A file of a shipped policy's name stands in its place.
  std::vector<config::Document> documents = policy::shipped_documents();
  std::erase_if(documents, [&](const config::Document& one) { return policy::policy_name(one) == name; });
  documents.push_back(std::move(own));
  policy::PolicySet set = TRY(policy::PolicySet::compile(documents));
  return set.find(name);
}

}  // namespace atl
