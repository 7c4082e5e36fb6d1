#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

// Reading of JSON that an engine or the other process of ours sent: what is not there, or is something else,
// is empty.
namespace atl::sandbox::docker {

using Keys = std::initializer_list<const char*>;

// The value at a path of keys; null if one of them is not there.
inline const boost::json::value* find_at(const boost::json::value& value, Keys keys) {
  const boost::json::value* at = &value;
  for (const char* key : keys) {
    if (at == nullptr || !at->is_object()) return nullptr;
    at = at->as_object().if_contains(key);
  }
  return at;
}

inline std::string text_at(const boost::json::value& value, Keys keys) {
  const boost::json::value* found = find_at(value, keys);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
}

inline std::int64_t number_at(const boost::json::value& value, Keys keys) {
  const boost::json::value* found = find_at(value, keys);
  if (found == nullptr || !found->is_number()) return 0;
  boost::json::error_code error;
  const auto number = found->to_number<std::int64_t>(error);
  return error ? 0 : number;
}

inline std::vector<std::string> texts_at(const boost::json::value& value, Keys keys) {
  std::vector<std::string> texts;
  const boost::json::value* found = find_at(value, keys);
  if (found != nullptr && found->is_array())
    for (const boost::json::value& each : found->as_array())
      if (each.is_string()) texts.emplace_back(each.as_string());
  return texts;
}

inline bool is_true_at(const boost::json::value& value, Keys keys) {
  const boost::json::value* found = find_at(value, keys);
  return found != nullptr && found->is_bool() && found->as_bool();
}

// Of an object, by one key.
inline std::string text_in(const boost::json::object& object, const char* key) {
  const boost::json::value* found = object.if_contains(key);
  return found != nullptr ? text_at(*found, {}) : "";
}
inline std::int64_t number_in(const boost::json::object& object, const char* key) {
  const boost::json::value* found = object.if_contains(key);
  return found != nullptr ? number_at(*found, {}) : 0;
}
inline std::vector<std::string> texts_in(const boost::json::object& object, const char* key) {
  const boost::json::value* found = object.if_contains(key);
  return found != nullptr ? texts_at(*found, {}) : std::vector<std::string>();
}

}  // namespace atl::sandbox::docker
