#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace atl::shell::jq {

enum class Kind : unsigned char { null, false_, true_, number, string, array, object };

struct Text;
struct Array;
struct Object;

// A JSON value: immutable to everybody who shares it, changed in place by its only owner. One thread.
// Copying costs a counter. Numbers are doubles, as in jq 1.6.
class Value {
 public:
  Value() = default;
  Value(bool b) : kind_(b ? Kind::true_ : Kind::false_) {}
  Value(double n) : kind_(Kind::number) { u_.number = n; }
  Value(int n) : Value(static_cast<double>(n)) {}
  explicit Value(std::string text);
  Value(const Value& other);
  Value(Value&& other) noexcept : kind_(other.kind_), u_(other.u_) { other.kind_ = Kind::null; }
  Value& operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(u_, other.u_);
    return *this;
  }
  ~Value() {
    if (kind_ >= Kind::string) release();
  }

  static Value array();
  static Value array(std::vector<Value> items);
  static Value object();

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_number() const { return kind_ == Kind::number; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }
  bool truthy() const { return kind_ != Kind::null && kind_ != Kind::false_; }

  double number() const { return u_.number; }
  // Only of that kind; anything else is undefined.
  const std::string& text() const;
  const std::vector<Value>& items() const;
  const Object& members() const;
  // Own and changeable; copies what is shared.
  std::vector<Value>& own_items();
  Object& own_members();
  std::size_t size() const;

 private:
  void release();
  Kind kind_ = Kind::null;
  union U {
    double number;
    Text* text;
    Array* array;
    Object* object;
  } u_{};
};

// The shared bodies of values, counted by hand because a value must be two words.
struct Text {
  std::uint32_t refs = 1;
  std::string text;
};

struct Array {
  std::uint32_t refs = 1;
  std::vector<Value> items;
};

// Members in order of insertion; found by scanning while few, by hash beyond.
struct Object {
  struct Member {
    std::string key;
    Value value;
  };
  std::uint32_t refs = 1;
  std::vector<Member> members;
  std::unordered_map<std::string_view, std::size_t> index;  // only when members are many

  // Null if there is none. Valid until the object changes.
  const Value* find(std::string_view key) const;
  // The member's value, null and last if it is new.
  Value& at(std::string_view key);
  bool erase(std::string_view key);
  // By key, in the order of code points. Valid until the object changes.
  std::vector<const Member*> sorted() const;

 private:
  static constexpr std::size_t kScanned = 8;
  void reindex();
};

// "null", "boolean", "number", "string", "array", "object".
std::string_view kind_name(Kind kind);
// jq's order: null < false < true < numbers < strings < arrays < objects.
int compare(const Value& a, const Value& b);

// How print() writes.
struct Style {
  int indent = 2;  // -1: tabs; 0: one line
  bool sort_keys = false, ascii = false, color = false;
};
void print(std::string& out, const Value& value, const Style& style);
// On one line, as tojson gives it.
std::string to_text(const Value& value);
// As jq writes it: integers plainly, others with 17 digits at most.
void append_number(std::string& out, double number);

// A stream of JSON texts.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  // False at the end; an error leaves the reader at its place.
  // Code::invalid_argument for what is not JSON, or is nested too deeply.
  Result<bool> next(Value& value);
  std::size_t position() const { return at_; }

 private:
  Result<void> parse(Value& value, int depth);
  Result<std::string> string();
  Result<void> number(Value& value);
  Result<void> word(Value& value);
  std::unexpected<Error> error(std::string_view what) const;
  void space();
  std::string_view text_;
  std::size_t at_ = 0;
};

// One JSON text and nothing behind it.
Result<Value> parse_json(std::string_view text);

}  // namespace atl::shell::jq
