#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

// Members of JSON that the store kept for us. It may be of an older version: what is missing or of another
// type is the default, never an error.
namespace atl::session {

inline std::int64_t json_integer(const boost::json::object& object, std::string_view key,
                                 std::int64_t otherwise = 0) {
  const boost::json::value* const value = object.if_contains(key);
  if (value == nullptr) return otherwise;
  if (value->is_double()) return static_cast<std::int64_t>(value->get_double());
  boost::system::error_code failed;
  const auto number = value->to_number<std::int64_t>(failed);
  return failed ? otherwise : number;
}

inline std::string json_text(const boost::json::object& object, std::string_view key) {
  const boost::json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace atl::session
