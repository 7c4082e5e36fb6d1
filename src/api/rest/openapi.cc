#include "api/rest/openapi.h"

#include <charconv>

#include "base/json.h"
#include "base/log.h"
#include "embedded/openapi.h"

namespace atl::api::rest {
namespace {

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() &&
         text.find_first_not_of("-0123456789.eE") == std::string::npos;
}

void append(std::string& out, const config::Node& node) {
  switch (node.kind()) {
    case config::Kind::null: out += "null"; return;
    case config::Kind::scalar:
      if (!node.is_quoted() && (node.text() == "true" || node.text() == "false" || is_number(node.text()))) {
        out += node.text();
      } else {
        json::append_quoted(out, node.text());
      }
      return;
    case config::Kind::sequence: {
      out += '[';
      bool first = true;
      for (const config::Node& item : node.items()) {
        if (!std::exchange(first, false)) out += ',';
        append(out, item);
      }
      out += ']';
      return;
    }
    case config::Kind::map: {
      out += '{';
      bool first = true;
      for (const config::Member& member : node.members()) {
        if (!std::exchange(first, false)) out += ',';
        json::append_quoted(out, member.key);
        out += ':';
        append(out, member.value);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

std::string yaml_as_json(const config::Node& node) {
  std::string out;
  append(out, node);
  return out;
}

const std::string& openapi_json() {
  static const std::string text = [] {
    const auto files = embedded::openapi();
    auto document = config::Document::parse(files.front().bytes, "openapi.yaml");
    if (!document) {
      log::error("the description of the API is damaged", {{"error", document.error().message()}});
      return std::string("{}");
    }
    return yaml_as_json(document->root);
  }();
  return text;
}

}  // namespace atl::api::rest
