#include "api/rest/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/json.h"

namespace atl::api::rest {

Result<Body> Body::parse(std::string_view text, std::initializer_list<std::string_view> known) {
  Body body;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return body;
  boost::json::value value = TRY(json::parse(text));
  if (!value.is_object()) return fail(Code::invalid_argument, "the body is a JSON object");
  body.object_ = std::move(value.as_object());
  TRY(body.check(std::span(known.begin(), known.size())));
  return body;
}

Result<void> Body::check(std::span<const std::string_view> known) const {
  for (const auto& member : object_) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(known, key) == known.end()) {
      return fail(wrong(key, fmt::format("unknown field '{}{}'", prefix_, key)));
    }
  }
  return {};
}

const boost::json::value* Body::find(std::string_view field) const {
  const boost::json::value* value = object_.if_contains(field);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Error Body::wrong(std::string_view field, std::string_view message) const {
  return Error(Code::invalid_argument, std::string(message)).with_field(prefix_ + std::string(field));
}

Result<std::optional<std::string>> Body::text(std::string_view field) const {
  const boost::json::value* value = find(field);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return fail(wrong(field, fmt::format("'{}{}' is a string", prefix_, field)));
  return std::optional(std::string(value->get_string()));
}

Result<std::string> Body::required_text(std::string_view field) const {
  auto value = TRY(text(field));
  if (!value) return fail(wrong(field, fmt::format("'{}{}' is missing", prefix_, field)));
  return std::move(*value);
}

Result<std::optional<bool>> Body::boolean(std::string_view field) const {
  const boost::json::value* value = find(field);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_bool()) return fail(wrong(field, fmt::format("'{}{}' is true or false", prefix_, field)));
  return std::optional(value->get_bool());
}

Result<std::optional<double>> Body::number(std::string_view field, double min, double max) const {
  const boost::json::value* value = find(field);
  if (value == nullptr) return std::optional<double>();
  if (!value->is_number()) return fail(wrong(field, fmt::format("'{}{}' is a number", prefix_, field)));
  const auto number = value->to_number<double>();
  if (!(number >= min && number <= max)) {
    return fail(wrong(field, fmt::format("'{}{}' is between {} and {}", prefix_, field, min, max)));
  }
  return std::optional(number);
}

Result<std::optional<std::int64_t>> Body::whole_number(std::string_view field, std::int64_t min,
                                                       std::int64_t max) const {
  const auto number = TRY(this->number(field, static_cast<double>(min), static_cast<double>(max)));
  if (!number) return std::optional<std::int64_t>();
  if (*number != std::floor(*number))
    return fail(wrong(field, fmt::format("'{}{}' is a whole number", prefix_, field)));
  return std::optional(static_cast<std::int64_t>(*number));
}

Result<std::optional<std::map<std::string, std::string>>> Body::text_map(std::string_view field) const {
  const boost::json::value* value = find(field);
  if (value == nullptr) return std::optional<std::map<std::string, std::string>>();
  if (!value->is_object())
    return fail(wrong(field, fmt::format("'{}{}' is an object of strings", prefix_, field)));
  std::map<std::string, std::string> map;
  for (const auto& member : value->get_object()) {
    if (!member.value().is_string()) {
      return fail(wrong(fmt::format("{}.{}", field, std::string_view(member.key())),
                        fmt::format("'{}{}' is an object of strings", prefix_, field)));
    }
    map.emplace(member.key(), member.value().get_string());
  }
  return std::optional(std::move(map));
}

Result<std::optional<std::vector<std::string>>> Body::texts(std::string_view field) const {
  const boost::json::value* value = find(field);
  if (value == nullptr) return std::optional<std::vector<std::string>>();
  if (!value->is_array())
    return fail(wrong(field, fmt::format("'{}{}' is a list of strings", prefix_, field)));
  std::vector<std::string> list;
  for (const auto& item : value->get_array()) {
    if (!item.is_string())
      return fail(wrong(field, fmt::format("'{}{}' is a list of strings", prefix_, field)));
    list.emplace_back(item.get_string());
  }
  return std::optional(std::move(list));
}

Result<std::string> Body::decoded(std::string_view field, std::string_view value) const {
  auto bytes = from_base64(value);
  // Reading is generous about padding and spare bits; one text for each value is what is described.
  if (!bytes || to_base64(*bytes) != value)
    return fail(wrong(field, fmt::format("'{}{}' is text in base64, with padding", prefix_, field)));
  return bytes;
}

Result<std::optional<Body>> Body::object(std::string_view field,
                                         std::span<const std::string_view> known) const {
  const boost::json::value* value = find(field);
  if (value == nullptr) return std::optional<Body>();
  if (!value->is_object()) return fail(wrong(field, fmt::format("'{}{}' is an object", prefix_, field)));
  Body inner;
  inner.object_ = value->get_object();
  inner.prefix_ = fmt::format("{}{}.", prefix_, field);
  TRY(inner.check(known));
  return std::optional(std::move(inner));
}

}  // namespace atl::api::rest
