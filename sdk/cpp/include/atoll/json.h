#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// @file
/// JSON as a value: what the service answers beyond the typed structures, and what tools take and give.
namespace atl::client {

/// One JSON value. Members of an object keep their order. Copies are deep; one value belongs to one thread at
/// a time unless all of them only read.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() = default;  ///< null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) Json(Number value) : value_(static_cast<std::int64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(Array items);
  Json(Object members);
  /// A list of texts.
  Json(const std::vector<std::string>& texts);

  /// Json::object({{"name", "x"}, {"count", 2}})
  static Json object(std::initializer_list<Member> members = {});
  static Json array(std::initializer_list<Json> items = {});

  /// Strict JSON in UTF-8. Throws JsonError with the place of what is wrong.
  static Json parse(std::string_view text);
  /// One line without spaces. `indent` above 0: readable, each level so many spaces further in.
  std::string dump(int indent = 0) const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // Each throws JsonError if the value is of another kind.
  bool as_bool() const;
  std::int64_t as_integer() const;  ///< A number without a fraction that fits.
  double as_double() const;
  const std::string& as_string() const;
  const Array& items() const;
  const Object& members() const;

  /// The member of that name; null if there is none or this is no object.
  const Json* find(std::string_view name) const;
  /// The member of that name, or a null value.
  const Json& operator[](std::string_view name) const;
  /// The item at `index`, or a null value.
  const Json& operator[](std::size_t index) const;
  /// Sets a member; a null value becomes an object first. Gives itself, so that calls can follow each other.
  Json& set(std::string_view name, Json value);
  /// Appends an item; a null value becomes a list first.
  Json& push(Json value);
  /// Items or members; 0 for everything else.
  std::size_t size() const;

  /// Numbers compare by value, objects without regard to the order of their members.
  bool operator==(const Json& other) const;

 private:
  void write(std::string& out, int indent, int depth) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

/// A name and its value.
struct Json::Member {
  std::string name;
  Json value;
};

}  // namespace atl::client
