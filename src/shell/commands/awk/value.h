#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atl::shell::awk {

// A scalar: number, string, or both. `maybe_number` marks input (fields, getline, ARGV, -v) that compares as
// a number if it looks like one.
struct Value {
  enum : std::uint8_t { kNumber = 1, kString = 2, kMaybe = 4 };
  double number = 0;
  std::string text;
  std::uint8_t flags = 0;  // 0: never assigned

  // A number, a string, and a text from outside of the program.
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

// An associative array: entries side by side in the order in which they came, found through a table of their
// hashes. References to elements stay good until the element is erased.
class Array {
 public:
  // `sub` is set for an element that is itself an array; then `value` means nothing.
  struct Element {
    Value value;
    std::shared_ptr<Array> sub;
    std::uint64_t sequence = 0;
  };

  // The element, made if it is missing.
  Element& at(std::string_view key);
  // Null if there is none.
  Element* find(std::string_view key);
  // True if it was there.
  bool erase(std::string_view key);
  void clear();
  std::size_t size() const { return used_ - free_.size(); }
  // The order in which gawk's for (k in a) visits. Calls `ask` again and again: many keys take long.
  std::vector<std::string> keys(const std::function<void()>& ask) const;

 private:
  struct Entry {
    std::string key;
    Element element;
    bool live = false;
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t entry = 0;  // its number + 1; 0: none
  };
  static constexpr std::size_t kBlock = 8;

  Entry& entry(std::size_t number) const { return blocks_[number / kBlock][number % kBlock]; }
  // The slot that holds the key, or the free one where it would go.
  std::size_t slot_of(std::string_view key, std::uint32_t hash) const;
  void grow();
  std::uint32_t take_entry();

  std::vector<Slot> slots_;  // a power of two of them, at most three quarters taken
  std::vector<std::unique_ptr<Entry[]>> blocks_;
  std::size_t used_ = 0;             // entries taken so far
  std::vector<std::uint32_t> free_;  // those of them that were erased
  std::uint64_t next_ = 0;
  bool strings_first_ = false;
};

// What a variable holds: a scalar, or an array once it was used as one. Never both.
struct Cell {
  Value value;
  std::shared_ptr<Array> array;
};

}  // namespace atl::shell::awk
