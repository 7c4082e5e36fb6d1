#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/command.h"
#include "shell/regex/regex.h"
#include "shell/text/sink.h"

namespace atl::shell {

// How groups of lines and lines are written where the user said it: --old-line-format, -D, ...
struct DiffFormats {
  std::string old_line = "%l\n", new_line = "%l\n", same_line = "%l\n";
  std::optional<std::string> old_group, new_group, changed_group, same_group;
};

// What the options of diff ask for.
struct DiffStyle {
  enum class Kind : unsigned char {
    normal,
    unified,
    context,
    side_by_side,
    ed,
    rcs,
    formats
  } kind = Kind::normal;
  std::size_t context = 3, width = 130, tab = 8;
  bool expand_tabs = false, initial_tab = false, blank_empty = true, left_column = false,
       ignore_tab_expansion = false;
  std::vector<std::unique_ptr<Regex>> ignored;  // -I: changes of nothing but such lines do not count
  std::unique_ptr<Regex> function;              // -F
  DiffFormats formats;
  bool ignore_case = false, ignore_all_space = false, ignore_space_change = false,
       ignore_trailing_space = false;
  bool ignore_blank_lines = false, strip_cr = false, suppress_common = false, color = false,
       function_names = false, minimal = false;
};

// Lines [a, a + a_count) of the first became [b, b + b_count) of the second. From 0.
struct Change {
  std::size_t a, a_count, b, b_count;
};

struct DiffResult {
  std::vector<std::string_view> a, b;   // lines without their newline
  bool a_open = false, b_open = false;  // the last line lacks its newline
  std::vector<Change> changes;
};

// The edits that GNU diff would choose (align.h). Views into the texts.
// Charges the script for its work, so a large comparison may end it.
DiffResult diff_lines(Invocation& call, std::string_view a, std::string_view b, const DiffStyle& style);

void print_diff(Invocation& call, Sink& out, const DiffResult& result, const DiffStyle& style,
                const std::string& a_header, const std::string& b_header);

}  // namespace atl::shell
