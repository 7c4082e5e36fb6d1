#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shell/cow.h"

namespace atl::shell {

// Elements by index; unset ones are missing.
using IndexedArray = std::map<std::int64_t, std::string>;

// An associative array. Keys come out in the order in which bash's hash table would give them.
class AssocArray {
 public:
  // Null if there is no such key. Valid until the array changes.
  const std::string* find(const std::string& key) const;
  void set(const std::string& key, std::string value);
  bool erase(const std::string& key) { return entries_.erase(key) > 0; }
  std::size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }
  std::vector<std::string> keys() const;

 private:
  struct Entry {
    std::string value;
    std::uint64_t order;
  };
  std::unordered_map<std::string, Entry> entries_;
  std::uint64_t next_ = 0;
};

// What declare gives a variable. Bits of Variable::attrs.
namespace attr {
inline constexpr std::uint16_t exported = 1, readonly = 2, integer = 4, lower = 8, upper = 16, nameref = 32,
                               array = 64, assoc = 128, trace = 256, capital = 512;
}

// A variable of the script: a scalar, an indexed or an associative array, or a reference to another. A copy
// shares its arrays until one of the two changes them.
struct Variable {
  std::uint16_t attrs = 0;
  bool set = false;      // has a value; declared only, otherwise
  bool special = false;  // assignment has an effect beyond the value
  std::string value;
  Cow<IndexedArray> array;
  Cow<AssocArray> assoc;

  bool is(std::uint16_t bits) const { return (attrs & bits) != 0; }
  bool is_array() const { return is(attr::array | attr::assoc); }
  // Only for arrays.
  bool has_elements() const { return is(attr::array) ? !array->empty() : assoc->size() > 0; }
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
// All variables of a shell by name. Iterating gives no particular order.
using VariableTable = std::unordered_map<std::string, Variable, NameHash, std::equal_to<>>;

// How declare -p shows it: declare -ai x=([0]="1").
std::string describe(const std::string& name, const Variable& variable);
// "aix": the letters of its attributes, in the order of declare -p.
std::string attribute_letters(const Variable& variable);
// "([0]=\"1\" [2]=\"x\")".
std::string array_literal(const Variable& variable);

}  // namespace atl::shell
