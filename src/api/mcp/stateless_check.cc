#include "api/mcp/stateless_check.h"

#include <fmt/format.h>

#include "api/mcp/fixtures.h"
#include "api/mcp/revision.h"
#include "base/bytes.h"

namespace atl::api::mcp {
namespace {

constexpr std::string_view kVersionHeader = "MCP-Protocol-Version";

Fault bad_meta(std::string message) {
  return {kInvalidParams, std::move(message), nullptr, 400};
}
Fault mismatch(std::string message) {
  return {kHeaderMismatch, std::move(message), nullptr, 400};
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// "=?base64?SGVsbG8=?=" is "Hello"; everything else is itself. Nothing: it claims to be base64 and is not.
std::optional<std::string> decoded(std::string_view value) {
  constexpr std::string_view kStart = "=?base64?", kEnd = "?=";
  if (!value.starts_with(kStart) || !value.ends_with(kEnd) || value.size() < kStart.size() + kEnd.size())
    return std::string(value);
  value = value.substr(kStart.size(), value.size() - kStart.size() - kEnd.size());
  auto bytes = from_base64(value);
  // Padding that is left out is refused, because two spellings of one value are one too many.
  if (!bytes || to_base64(*bytes) != value) return std::nullopt;
  return std::move(*bytes);
}

std::optional<std::string> name_of(const Message& message) {
  const bool by_uri = message.method == "resources/read";
  if (!by_uri && message.method != "tools/call" && message.method != "prompts/get") return std::nullopt;
  const bj::value* name = message.params.if_contains(by_uri ? "uri" : "name");
  if (name == nullptr || !name->is_string()) return std::nullopt;
  return std::string(name->get_string());
}

std::optional<Fault> check_meta(const bj::object* meta) {
  if (meta == nullptr)
    return bad_meta("'_meta' is missing: it has the protocol's revision and your capabilities");
  const bj::value* version = meta->if_contains(kMetaVersion);
  if (version == nullptr || !version->is_string())
    return bad_meta(fmt::format("'_meta' lacks '{}'", kMetaVersion));
  const bj::value* capabilities = meta->if_contains(kMetaCapabilities);
  if (capabilities == nullptr || !capabilities->is_object())
    return bad_meta(fmt::format("'_meta' lacks '{}'", kMetaCapabilities));
  return std::nullopt;
}

}  // namespace

bool is_stateless_request(const net::Request& request, const Message& message) {
  if (const bj::object* meta = object_in(message.params, "_meta");
      meta != nullptr && meta->contains(kMetaVersion))
    return true;
  if (request.headers.has("Mcp-Session-Id")) return false;
  if (message.method == "server/discover") return true;
  const std::string_view version = trimmed(request.headers.get(kVersionHeader));
  const auto known = parse_revision(version);
  return known && is_stateless(*known);
}

std::optional<Fault> check_stateless(const net::Request& request, const Message& message) {
  const bj::object* meta = object_in(message.params, "_meta");
  if (auto wrong = check_meta(meta)) return wrong;
  const std::string version = text_in(*meta, kMetaVersion);
  if (trimmed(request.headers.get(kVersionHeader)) != version)
    return mismatch(fmt::format("the header {} does not say what '_meta' says", kVersionHeader));
  const auto known = parse_revision(version);
  if (!known || !is_stateless(*known)) {
    bj::array supported;
    supported.push_back(bj::value(to_string(Revision::july_2026)));
    bj::object data{{"supported", std::move(supported)}, {"requested", version}};
    return Fault{kUnsupportedRevision, "this revision of the protocol is not spoken without a connection",
                 std::move(data), 400};
  }
  if (trimmed(request.headers.get("Mcp-Method")) != message.method)
    return mismatch("the header Mcp-Method does not say what 'method' says");
  if (const auto name = name_of(message))
    if (decoded(trimmed(request.headers.get("Mcp-Name"))) != *name)
      return mismatch("the header Mcp-Name does not say what the body says");
  return std::nullopt;
}

std::optional<Fault> check_parameter_headers(const net::Request& request, const Call& call) {
  const std::string tool_name = text_in(call.params, "name");
  bj::value schema = fixture_schema(call, tool_name);
  if (const auto tool = call.parts().tools->find(call.who.tenant, tool_name)) schema = tool->input.document();
  if (!schema.is_object()) return std::nullopt;
  const bj::object* properties = object_in(schema.get_object(), "properties");
  const bj::object* arguments = object_in(call.params, "arguments");
  if (properties == nullptr) return std::nullopt;
  for (const auto& [parameter, declaration] : *properties) {
    const bj::object* declared = declaration.if_object();
    const std::string header = declared == nullptr ? std::string() : text_in(*declared, "x-mcp-header");
    if (header.empty()) continue;
    const bj::value* value = arguments == nullptr ? nullptr : arguments->if_contains(parameter);
    const std::string* given = request.headers.find("Mcp-Param-" + header);
    if (value == nullptr && given == nullptr) continue;
    const std::string wanted = value == nullptr     ? std::string()
                               : value->is_string() ? std::string(value->get_string())
                                                    : bj::serialize(*value);
    if (value == nullptr || given == nullptr || decoded(trimmed(*given)) != wanted)
      return mismatch(fmt::format("the header Mcp-Param-{} does not say what the argument '{}' says", header,
                                  std::string_view(parameter)));
  }
  return std::nullopt;
}

}  // namespace atl::api::mcp
