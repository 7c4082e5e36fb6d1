#include "api/mcp/call.h"

#include <fmt/format.h>

#include "auth/denial.h"
#include "base/bytes.h"
#include "base/json.h"

namespace atl::api::mcp {

const bj::object& Call::meta() const {
  static const bj::object none;
  const bj::object* meta = object_in(params, "_meta");
  return meta == nullptr ? none : *meta;
}

bool Call::wants_progress() const {
  const bj::value* token = meta().if_contains("progressToken");
  return token != nullptr && (token->is_string() || token->is_number());
}

void Call::progress(double done, std::optional<double> total, std::string message) {
  if (!wants_progress()) return;
  bj::object facts{{"progressToken", meta().at("progressToken")}, {"progress", done}};
  if (total) facts["total"] = *total;
  if (!message.empty()) facts["message"] = to_valid_utf8(message);
  outbox->put(notification("notifications/progress", std::move(facts)));
}

void Call::log(LogLevel level, std::string message, bj::object data) {
  std::optional<LogLevel> least;
  if (connection != nullptr)
    least = connection->log_level;
  else
    least = parse_log_level(text_in(meta(), kMetaLogLevel));
  if (!least || level < *least) return;
  bj::value shown = bj::string(message);
  if (!data.empty()) {
    data["message"] = std::move(message);
    shown = std::move(data);
  }
  bj::object facts{{"level", to_string(level)}, {"logger", "atoll"}, {"data", std::move(shown)}};
  outbox->put(notification("notifications/message", std::move(facts)));
}

bool Call::client_has(std::string_view capability) const {
  if (connection != nullptr) return object_in(connection->capabilities(), capability) != nullptr;
  const bj::object* capabilities = object_in(meta(), kMetaCapabilities);
  return capabilities != nullptr && object_in(*capabilities, capability) != nullptr;
}

std::string Call::client() const {
  if (connection != nullptr) return connection->client();
  const bj::object* info = object_in(meta(), kMetaClient);
  if (info == nullptr) return {};
  return to_valid_utf8(
      std::string_view(text_in(*info, "name") + " " + text_in(*info, "version")).substr(0, 128));
}

std::string Call::sealed(const bj::value& state) const {
  // Bound to who asked for what: nobody carries it to another tool or another key.
  const std::string bytes = bj::serialize(state);
  const std::string place = who.tenant + "\n" + who.key_id + "\n" + method + "\n" + text_in(params, "name");
  return to_base64(bytes) + "." + to_base64(hmac_sha256(shared->state_key, place + "\n" + bytes));
}

Result<bj::value> Call::unsealed(std::string_view text) const {
  const Error wrong(Code::invalid_argument, "'requestState' is not what this server gave for this request");
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return fail(wrong);
  auto bytes = from_base64(text.substr(0, dot));
  if (!bytes) return fail(wrong);
  auto state = json::parse(*bytes);
  if (!state || !equal_in_constant_time(sealed(*state), text)) return fail(wrong);
  return std::move(*state);
}

void ToolReply::add_text(std::string_view text) {
  content.push_back(bj::object{{"type", "text"}, {"text", to_valid_utf8(text)}});
}

bj::object ToolReply::to_json() const {
  bj::object result{{"content", content}};
  if (structured) result["structuredContent"] = *structured;
  if (is_error) result["isError"] = true;
  if (code) result["_meta"] = bj::object{{"atoll/error", error_facts(*code)}};
  return result;
}

ToolReply ToolReply::error(std::string_view message) {
  ToolReply reply;
  reply.add_text(message);
  reply.is_error = true;
  return reply;
}

namespace {

std::string_view way_out(const Error& error) {
  switch (error.code()) {
    case Code::not_found:
      return error.message().starts_with("no session")
                 ? "Call sandbox_list to see what there is, or leave sandbox_id out to be given a new one."
                 : "";
    case Code::conflict: return "Call sandbox_list to see in which state it is.";
    case Code::resource_exhausted: return "End sandboxes that are not needed with sandbox_end, or wait.";
    case Code::permission_denied: return "Another key is needed for this; do not try again with this one.";
    case Code::unavailable:
    case Code::provider_failed: return "Trying again may help.";
    default: return "";
  }
}

}  // namespace

ToolReply ToolReply::error(const Error& error) {
  std::string message = error.message();
  if (const auto seconds = auth::retry_after_of(error))
    message += fmt::format(" (try again in {} s)", *seconds);
  if (const std::string_view hint = way_out(error); !hint.empty()) message += fmt::format("\n{}", hint);
  ToolReply reply = ToolReply::error(message);
  reply.code = error.code();
  return reply;
}

std::string denial_text(const std::string& policy, const session::ExecutionRecord& record) {
  constexpr std::size_t kFindingsShown = 10;
  std::string text = fmt::format("The policy '{}' denied this; nothing was run.", policy);
  std::size_t shown = 0;
  if (const auto verdict = json::parse(record.verdict); verdict && verdict->is_object()) {
    const bj::value* findings = verdict->get_object().if_contains("findings");
    const bj::array* list = findings == nullptr ? nullptr : findings->if_array();
    for (const bj::value& one : list == nullptr ? bj::array() : *list) {
      const bj::object* finding = one.if_object();
      if (finding == nullptr || shown++ >= kFindingsShown) break;
      text += fmt::format("\n- line {}: {} (rule {})", number_in(*finding, "line", 0),
                          text_in(*finding, "message"), text_in(*finding, "rule"));
      if (const std::string advice = text_in(*finding, "recommendation"); !advice.empty())
        text += ". Instead: " + advice;
    }
  }
  if (shown == 0) text += "\n- " + record.error_value;
  return text +
         "\nThe same will be denied again: change it, or tell the person you work for which rule is in the "
         "way.";
}

}  // namespace atl::api::mcp
