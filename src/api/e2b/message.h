#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/http.h"

// What both planes of the dialect share about JSON: tolerant reading (unknown fields are dropped, absent
// means zero) and errors in E2B's two forms.
namespace atl::api::e2b {

using Object = boost::json::object;
using Array = boost::json::array;

// The body as an object; an empty body is an empty object. Code::invalid_argument otherwise.
Result<Object> parse_object(std::string_view body);

// Member readings. Absent or null gives nothing; a wrong type is Code::invalid_argument naming the field.
// proto3's JSON is understood: integers also as strings, `snake_case` beside `camelCase`.
const boost::json::value* member(const Object& object, std::string_view name);
Result<std::optional<std::string>> text(const Object& object, std::string_view name);
Result<std::string> text_or(const Object& object, std::string_view name, std::string otherwise);
Result<std::optional<std::int64_t>> integer(const Object& object, std::string_view name);
Result<std::optional<bool>> boolean(const Object& object, std::string_view name);
Result<bool> boolean_or(const Object& object, std::string_view name, bool otherwise);
// Null if absent.
Result<const Object*> object(const Object& object, std::string_view name);
Result<const Array*> array(const Object& object, std::string_view name);
Result<std::map<std::string, std::string>> text_map(const Object& object, std::string_view name);
Result<std::vector<std::string>> text_list(const Object& object, std::string_view name);

std::string to_text(const boost::json::value& value);
net::Response json_response(int status, const boost::json::value& value);
// Whole seconds, for whoever is told 429.
inline constexpr const char* kRetryAfter = "1";
// {"code":404,"message":"..."}
net::Response control_error(int status, std::string_view message);
net::Response render_control_error(const Error& error, const net::Request& request);

// The `limit` of a list: 1 to 100, 100 if absent.
Result<std::size_t> page_limit(const net::Request& request);

// E2B's template for RFC 3339 with milliseconds: "2026-11-15T09:08:07.123Z".
std::string to_timestamp(WallTime time);

// The `metadata` filter of the list: percent-decoded whole, split on '&' and '=', then each part decoded
// again. `once_decoded` is what the query parser gives.
Result<std::map<std::string, std::string>> parse_metadata_filter(std::string_view once_decoded);

// A reference to a template: "[namespace/]name[:tag]", lower-cased and trimmed.
struct TemplateRef {
  std::string space, name, tag;  // tag empty: not given
};
Result<TemplateRef> parse_template_ref(std::string_view text);

}  // namespace atl::api::e2b
