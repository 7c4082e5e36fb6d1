#include "api/rest/openapi.h"

#include "base/log.h"
#include "config/node_json.h"
#include "embedded/openapi.h"

namespace atl::api::rest {

const std::string& openapi_json() {
  static const std::string text = [] {
    const auto files = embedded::openapi();
    auto document = config::Document::parse(files.front().bytes, "openapi.yaml");
    if (!document) {
      log::error("the description of the API is damaged", {{"error", document.error().message()}});
      return std::string("{}");
    }
    return config::to_json(document->root);
  }();
  return text;
}

}  // namespace atl::api::rest
