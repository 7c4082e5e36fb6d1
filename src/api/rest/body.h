#pragma once

#include <boost/json.hpp>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::api::rest {

// A JSON object from outside, read field by field. A wrong type, a number out of its range or an unknown
// field is Code::invalid_argument that names the field ("limits.memory_mb"). Null counts as absent.
class Body {
 public:
  // An empty body counts as an empty object. `known` are all fields there are.
  static Result<Body> parse(std::string_view text, std::initializer_list<std::string_view> known);

  bool has(std::string_view field) const { return find(field) != nullptr; }
  Result<std::optional<std::string>> text(std::string_view field) const;
  Result<std::string> required_text(std::string_view field) const;
  Result<std::optional<bool>> boolean(std::string_view field) const;
  Result<std::optional<double>> number(std::string_view field, double min, double max) const;
  // The same for what is counted: 5 and 5.0, not 5.5.
  Result<std::optional<std::int64_t>> whole_number(std::string_view field, std::int64_t min,
                                                   std::int64_t max) const;
  Result<std::optional<std::map<std::string, std::string>>> text_map(std::string_view field) const;
  Result<std::optional<std::vector<std::string>>> texts(std::string_view field) const;
  Result<std::optional<Body>> object(std::string_view field, std::span<const std::string_view> known) const;
  Result<std::optional<Body>> object(std::string_view field,
                                     std::initializer_list<std::string_view> known) const {
    return object(field, std::span(known.begin(), known.size()));
  }
  // The bytes that `value`, the text of `field`, stands for in base64: exactly as RFC 4648 writes them, with
  // padding.
  Result<std::string> decoded(std::string_view field, std::string_view value) const;
  const boost::json::value* find(std::string_view field) const;
  Error wrong(std::string_view field, std::string_view message) const;

 private:
  Result<void> check(std::span<const std::string_view> known) const;
  boost::json::object object_;
  std::string prefix_;
};

}  // namespace atl::api::rest
