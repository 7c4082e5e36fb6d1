#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace atl::shell::awk {

// A scalar: number, string, or both. `maybe_number` marks input (fields, getline, ARGV, -v) that compares as a number
// if it looks like one.
struct Value {
  enum : std::uint8_t { kNumber = 1, kString = 2, kMaybe = 4 };
  double number = 0;
  std::string text;
  std::uint8_t flags = 0;  // 0: never assigned

  static Value of(double n) {
    Value v;
    v.number = n;
    v.flags = kNumber;
    return v;
  }
  static Value of(std::string s) {
    Value v;
    v.text = std::move(s);
    v.flags = kString;
    return v;
  }
  static Value input(std::string_view s) {
    Value v;
    v.text.assign(s);
    v.flags = kString | kMaybe;
    return v;
  }
  bool unset() const { return flags == 0; }
  bool is_number() const { return (flags & kNumber) != 0; }
  bool is_string() const { return (flags & kString) != 0; }
};

// The number at the start of a text, as awk reads it; 0 if there is none.
double to_number(std::string_view text);
// Whether the whole text, blanks aside, is a number; gives it.
bool looks_numeric(std::string_view text, double& number);
// A number as text: integers plainly, others by `format`.
void append_number(std::string& out, double number, const std::string& format);
// The value of a Maybe that looks numeric becomes a number too. Call before comparing.
void settle(Value& value);

class Array {
 public:
  struct Element {
    Value value;
    std::shared_ptr<Array> sub;
    std::uint64_t sequence;
  };

  Element& at(std::string_view key);
  Element* find(std::string_view key);
  bool erase(std::string_view key);
  void clear();
  std::size_t size() const { return map_.size(); }
  // The order in which gawk's for (k in a) visits.
  std::vector<std::string> keys() const;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  const auto& map() const { return map_; }

 private:
  std::unordered_map<std::string, Element, Hash, std::equal_to<>> map_;
  std::uint64_t next_ = 0;
  bool strings_first_ = false;
};

struct Cell {
  Value value;
  std::shared_ptr<Array> array;
};

}  // namespace atl::shell::awk
