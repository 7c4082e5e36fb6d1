#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/command.h"

namespace atl::shell {

// One -k: which part of a line, and how it compares.
struct SortKey {
  std::size_t begin_field = 0, begin_char = 0;                         // from 0
  std::size_t end_field = static_cast<std::size_t>(-1), end_char = 0;  // end_char 0: the whole field
  bool whole = true;                                                   // no -k at all
  bool skip_begin = false, skip_end = false, reverse = false, dictionary = false, fold = false,
       printable = false;
  enum class Kind : unsigned char { text, numeric, general, human, month, version, random } kind = Kind::text;
  std::string letters;  // that were given, to see which do not go together
  bool plain() const {
    return !(skip_begin || skip_end || reverse || dictionary || fold || printable) && kind == Kind::text;
  }
};

// Applies one ordering letter (b d f g h i M n R r V).
void set_ordering(SortKey& key, char letter);
// "options '-Mn' are incompatible", or nothing.
std::string incompatible(const SortKey& key);
// "2.3,4nr"; a message if it is none.
std::string parse_key(std::string_view text, SortKey& key);

// How lines compare: all keys, and what decides when they are equal.
struct SortOrder {
  std::vector<SortKey> keys;
  int separator = -1;
  char delimiter = '\n';
  bool unique = false, stable = false;
  bool reverse_last = false;  // the last-resort comparison

  // Gives keys without letters of their own the global ones; without -k the whole line is the key.
  void finish(const SortKey& global);
  std::string_view extract(std::string_view line, const SortKey& key) const;
  // By keys, then, unless stable or unique, by the whole line.
  int compare_lines(std::string_view a, std::string_view b) const;
};

// The lines of `text` in order, duplicates dropped if the order is unique. Views into `text`.
std::vector<std::string_view> sort_lines(Invocation& call, std::string_view text, const SortOrder& order);

// Two keys' texts by the key's kind, its direction aside.
int compare_key(std::string_view a, std::string_view b, const SortKey& key);
// The number at the front as a double when that is exact; false otherwise.
bool exact_number(std::string_view text, double& value);
// K is 1, M 2, ...; negative for a negative number, 0 for none.
int unit_of(std::string_view text);
// As ls -v and sort -V compare: less than, equal to or greater than 0.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace atl::shell
