#include "policy/shipped.h"

#include <array>
#include <utility>

#include "base/log.h"
#include "policy_texts.h"

namespace atl::policy {

std::vector<config::Document> shipped_documents() {
  std::vector<config::Document> documents;
  for (const auto& [name, text] : policy_texts) {
    auto document = config::Document::parse(text, std::string(name));
    if (document)
      documents.push_back(std::move(*document));
    else
      log::error("a shipped policy is broken", {{"problem", document.error().message()}});
  }
  return documents;
}

}  // namespace atl::policy
