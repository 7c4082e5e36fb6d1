#include "atoll/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <cmath>

#include "atoll/errors.h"
#include "base/json.h"
#include "base/json_values.h"

namespace atl::client {
namespace {

constexpr std::size_t kTextBytesMax = 256U << 20;
constexpr std::size_t kDepthMax = 200;
constexpr std::size_t kValuesMax = 4'000'000;  // each takes a hundred bytes, however short its text

Json json_from(const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return {};
    case boost::json::kind::bool_: return value.get_bool();
    case boost::json::kind::int64: return value.get_int64();
    case boost::json::kind::uint64: return static_cast<double>(value.get_uint64());
    case boost::json::kind::double_: return value.get_double();
    case boost::json::kind::string: return std::string_view(value.get_string());
    case boost::json::kind::array: {
      Json::Array items;
      items.reserve(value.get_array().size());
      for (const auto& item : value.get_array()) items.push_back(json_from(item));
      return items;
    }
    case boost::json::kind::object: {
      Json::Object members;
      members.reserve(value.get_object().size());
      for (const auto& member : value.get_object())
        members.push_back({std::string(member.key()), json_from(member.value())});
      return members;
    }
  }
  return {};
}

[[noreturn]] void throw_kind(const char* wanted) {
  throw JsonError(fmt::format("the value is no {}", wanted));
}

const Json kNull;

}  // namespace

Json::Json(Array items) : value_(std::move(items)) {}
Json::Json(Object members) : value_(std::move(members)) {}
Json::Json(const std::vector<std::string>& texts) : value_(Array(texts.begin(), texts.end())) {}

Json Json::object(std::initializer_list<Member> members) {
  return Object(members);
}

Json Json::array(std::initializer_list<Json> items) {
  return Array(items);
}

Json Json::parse(std::string_view text) {
  if (auto bounded = json::bound_values(text, kValuesMax); !bounded)
    throw JsonError(bounded.error().message());
  auto value = json::parse(text, {kTextBytesMax, kDepthMax});
  if (!value) throw JsonError(value.error().message());
  return json_from(*value);
}

bool Json::as_bool() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  throw_kind("boolean");
}

std::int64_t Json::as_integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<double>(&value_)) {
    if (std::trunc(*value) == *value && std::abs(*value) < 9.2e18) return static_cast<std::int64_t>(*value);
  }
  throw_kind("whole number");
}

double Json::as_double() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  throw_kind("number");
}

const std::string& Json::as_string() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  throw_kind("text");
}

const Json::Array& Json::items() const {
  if (const auto* value = std::get_if<Array>(&value_)) return *value;
  throw_kind("list");
}

const Json::Object& Json::members() const {
  if (const auto* value = std::get_if<Object>(&value_)) return *value;
  throw_kind("object");
}

const Json* Json::find(std::string_view name) const {
  const auto* object = std::get_if<Object>(&value_);
  if (!object) return nullptr;
  auto found = std::ranges::find(*object, name, &Member::name);
  return found == object->end() ? nullptr : &found->value;
}

const Json& Json::operator[](std::string_view name) const {
  const Json* found = find(name);
  return found ? *found : kNull;
}

const Json& Json::operator[](std::size_t index) const {
  const auto* items = std::get_if<Array>(&value_);
  return items && index < items->size() ? (*items)[index] : kNull;
}

Json& Json::set(std::string_view name, Json value) {
  if (is_null()) value_ = Object();
  auto* object = std::get_if<Object>(&value_);
  if (!object) throw_kind("object");
  auto found = std::ranges::find(*object, name, &Member::name);
  if (found == object->end()) {
    object->push_back({std::string(name), std::move(value)});
  } else {
    found->value = std::move(value);
  }
  return *this;
}

Json& Json::push(Json value) {
  if (is_null()) value_ = Array();
  auto* items = std::get_if<Array>(&value_);
  if (!items) throw_kind("list");
  items->push_back(std::move(value));
  return *this;
}

std::size_t Json::size() const {
  if (const auto* items = std::get_if<Array>(&value_)) return items->size();
  if (const auto* members = std::get_if<Object>(&value_)) return members->size();
  return 0;
}

bool Json::operator==(const Json& other) const {
  if (is_number() && other.is_number()) {
    if (is_integer() && other.is_integer()) return as_integer() == other.as_integer();
    return as_double() == other.as_double();
  }
  if (is_object() && other.is_object()) {
    return size() == other.size() && std::ranges::all_of(members(), [&](const Member& member) {
             const Json* same = other.find(member.name);
             return same && *same == member.value;
           });
  }
  if (is_array() && other.is_array()) return items() == other.items();
  if (is_string() && other.is_string()) return as_string() == other.as_string();
  if (is_bool() && other.is_bool()) return as_bool() == other.as_bool();
  return is_null() && other.is_null();
}

void Json::write(std::string& out, int indent, int depth) const {
  auto line = [&](int level) {
    if (indent > 0) out += '\n' + std::string(static_cast<std::size_t>(indent * level), ' ');
  };
  if (is_null()) {
    out += "null";
  } else if (is_bool()) {
    out += as_bool() ? "true" : "false";
  } else if (is_integer()) {
    out += std::to_string(as_integer());
  } else if (is_number()) {
    // JSON has no word for what is no number.
    out += std::isfinite(as_double()) ? fmt::format("{}", as_double()) : "null";
  } else if (is_string()) {
    json::append_quoted(out, as_string());
  } else if (is_array()) {
    out += '[';
    for (bool first = true; const Json& item : items()) {
      if (!std::exchange(first, false)) out += ',';
      line(depth + 1);
      item.write(out, indent, depth + 1);
    }
    if (size() > 0) line(depth);
    out += ']';
  } else {
    out += '{';
    for (bool first = true; const auto& [name, value] : members()) {
      if (!std::exchange(first, false)) out += ',';
      line(depth + 1);
      json::append_quoted(out, name);
      out += indent > 0 ? ": " : ":";
      value.write(out, indent, depth + 1);
    }
    if (size() > 0) line(depth);
    out += '}';
  }
}

std::string Json::dump(int indent) const {
  std::string out;
  write(out, indent, 0);
  return out;
}

}  // namespace atl::client
