#include "api/e2b/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"

namespace atl::api::e2b {
namespace {

std::unexpected<Error> wrong(std::string_view name, std::string_view what) {
  return fail(Error(Code::invalid_argument, fmt::format("field '{}' must be {}", name, what))
                  .with_field(std::string(name)));
}

std::string snake_case(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') out += '_', c = static_cast<char>(c | 0x20);
    out += c;
  }
  return out;
}

bool all_of(std::string_view text, std::string_view allowed_beside_letters) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           allowed_beside_letters.find(c) != std::string_view::npos;
  });
}

// A build's id is no tag: both stand in the same place.
bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (text[i] == '-') ||
        (!dash && std::string_view("0123456789abcdef").find(text[i]) == std::string_view::npos))
      return false;
  }
  return true;
}

}  // namespace

Result<Object> parse_object(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return Object();
  boost::json::value value = TRY(json::parse(body));
  if (value.is_null()) return Object();
  if (!value.is_object()) return fail(Code::invalid_argument, "the body must be a JSON object");
  return std::move(value.as_object());
}

const boost::json::value* member(const Object& object, std::string_view name) {
  auto found = object.find(name);
  if (found == object.end()) found = object.find(snake_case(name));
  if (found == object.end() || found->value().is_null()) return nullptr;
  return &found->value();
}

Result<std::optional<std::string>> text(const Object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return wrong(name, "a string");
  return std::optional<std::string>(std::string(value->as_string()));
}

Result<std::string> text_or(const Object& object, std::string_view name, std::string otherwise) {
  return TRY(text(object, name)).value_or(std::move(otherwise));
}

Result<std::optional<std::int64_t>> integer(const Object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr) return std::optional<std::int64_t>();
  if (value->is_int64()) return std::optional<std::int64_t>(value->as_int64());
  if (value->is_uint64()) return wrong(name, "a smaller number");
  if (value->is_double() &&
      value->as_double() == static_cast<double>(static_cast<std::int64_t>(value->as_double()))) {
    return std::optional<std::int64_t>(static_cast<std::int64_t>(value->as_double()));
  }
  if (value->is_string()) {
    std::string_view digits = value->as_string();
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size())
      return std::optional<std::int64_t>(number);
  }
  return wrong(name, "a whole number");
}

Result<std::optional<bool>> boolean(const Object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_bool()) return wrong(name, "true or false");
  return std::optional<bool>(value->as_bool());
}

Result<bool> boolean_or(const Object& object, std::string_view name, bool otherwise) {
  return TRY(boolean(object, name)).value_or(otherwise);
}

Result<const Object*> object(const Object& from, std::string_view name) {
  const auto* value = member(from, name);
  if (value == nullptr) return static_cast<const Object*>(nullptr);
  if (!value->is_object()) return wrong(name, "an object");
  return &value->as_object();
}

Result<const Array*> array(const Object& from, std::string_view name) {
  const auto* value = member(from, name);
  if (value == nullptr) return static_cast<const Array*>(nullptr);
  if (!value->is_array()) return wrong(name, "an array");
  return &value->as_array();
}

Result<std::map<std::string, std::string>> text_map(const Object& from, std::string_view name) {
  std::map<std::string, std::string> map;
  const Object* members = TRY(object(from, name));
  if (members == nullptr) return map;
  for (const auto& [key, value] : *members) {
    if (!value.is_string()) return wrong(name, "an object with string values");
    map.emplace(key, value.as_string());
  }
  return map;
}

Result<std::vector<std::string>> text_list(const Object& from, std::string_view name) {
  std::vector<std::string> list;
  const Array* items = TRY(array(from, name));
  if (items == nullptr) return list;
  for (const auto& item : *items) {
    if (!item.is_string()) return wrong(name, "an array of strings");
    list.emplace_back(item.as_string());
  }
  return list;
}

std::string to_text(const boost::json::value& value) {
  return boost::json::serialize(value);
}

net::Response json_response(int status, const boost::json::value& value) {
  return net::Response::json(status, to_text(value));
}

net::Response control_error(int status, std::string_view message) {
  std::string body = fmt::format(R"({{"code":{},"message":)", status);
  json::append_quoted(body, message);
  body += '}';
  net::Response response = net::Response::json(status, std::move(body));
  // Clients try again only if Retry-After tells them when.
  if (status == 429) response.headers.set("Retry-After", kRetryAfter);
  return response;
}

net::Response render_control_error(const Error& error, const net::Request&) {
  // As the client spelled it.
  const std::string_view field = error.field() == "network.allow" ? "network.allowOut: " : "";
  return control_error(row(error.code()).http_status, std::string(field) + error.message());
}

Result<std::size_t> page_limit(const net::Request& request) {
  auto text = request.query("limit");
  if (!text || text->empty()) return std::size_t{100};
  std::size_t limit = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error != std::errc() || end != text->data() + text->size() || limit < 1 || limit > 100)
    return fail(Error(Code::invalid_argument, "limit must be between 1 and 100").with_field("limit"));
  return limit;
}

std::string to_timestamp(WallTime time) {
  std::string full = to_rfc3339(time);  // ...123456Z
  return full.substr(0, full.size() - 4) + "Z";
}

Result<std::map<std::string, std::string>> parse_metadata_filter(std::string_view once_decoded) {
  std::map<std::string, std::string> filter;
  std::string whole = TRY(net::percent_decode(once_decoded));
  std::string_view left = whole;
  while (!left.empty()) {
    auto end = left.find('&');
    std::string_view pair = left.substr(0, end);
    left = end == std::string_view::npos ? std::string_view() : left.substr(end + 1);
    auto equals = pair.find('=');
    if (equals == std::string_view::npos || pair.find('=', equals + 1) != std::string_view::npos) {
      return fail(Code::invalid_argument, "Invalid metadata filter");
    }
    std::string key = TRY(net::percent_decode(pair.substr(0, equals)));
    filter[key] = TRY(net::percent_decode(pair.substr(equals + 1)));
  }
  return filter;
}

Result<TemplateRef> parse_template_ref(std::string_view given) {
  std::string lower;
  for (char c : given) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  std::string_view left = lower;
  while (!left.empty() && left.front() == ' ') left.remove_prefix(1);
  while (!left.empty() && left.back() == ' ') left.remove_suffix(1);
  TemplateRef ref;
  auto slash = left.find('/');
  if (slash != std::string_view::npos) {
    ref.space = left.substr(0, slash);
    left.remove_prefix(slash + 1);
  }
  auto colon = left.find(':');
  bool tagged = colon != std::string_view::npos;
  if (tagged) ref.tag = left.substr(colon + 1);
  ref.name = left.substr(0, colon);
  bool good = !ref.name.empty() && all_of(ref.name, "-_.") && all_of(ref.space, "-_.") &&
              (slash == std::string_view::npos || !ref.space.empty()) &&
              (!tagged || (!ref.tag.empty() && all_of(ref.tag, "-_.") && !is_uuid(ref.tag)));
  if (!good) return fail(Code::invalid_argument, fmt::format("Invalid template reference: '{}'", given));
  return ref;
}

}  // namespace atl::api::e2b
