#include "shell/commands/diff/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "shell/commands/diff/align.h"

namespace atl::shell {

namespace {

std::vector<std::string_view> split_lines(std::string_view text, bool& open) {
  std::vector<std::string_view> lines;
  open = !text.empty() && !text.ends_with('\n');
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string normal_form(std::string_view line, const DiffStyle& s) {
  std::string out;
  if (s.strip_cr && line.ends_with('\r')) line.remove_suffix(1);
  if (s.ignore_trailing_space || s.ignore_space_change)
    while (!line.empty() && isspace(static_cast<unsigned char>(line.back()))) line.remove_suffix(1);
  std::string expanded;
  if (s.ignore_tab_expansion) {
    for (char c : line) {
      if (c == '\t')
        expanded.append(s.tab - expanded.size() % s.tab, ' ');
      else
        expanded += c;
    }
    line = expanded;
  }
  bool space = false;
  for (char c : line) {
    if (isspace(static_cast<unsigned char>(c)) && (s.ignore_all_space || s.ignore_space_change)) {
      space = true;
      continue;
    }
    if (space && s.ignore_space_change) out += ' ';
    space = false;
    out += s.ignore_case ? static_cast<char>(tolower(static_cast<unsigned char>(c))) : c;
  }
  return out;
}

}  // namespace

DiffResult diff_lines(Invocation& call, std::string_view a, std::string_view b, const DiffStyle& style) {
  DiffResult r;
  r.a = split_lines(a, r.a_open);
  r.b = split_lines(b, r.b_open);
  std::unordered_map<std::string, int> ids;
  auto number = [&](const std::vector<std::string_view>& lines, bool open) {
    std::vector<int> out;
    out.reserve(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::string key = normal_form(lines[i], style);
      // A last line without newline differs from the same line with one.
      if (open && i + 1 == lines.size() && !style.ignore_all_space && !style.ignore_space_change &&
          !style.ignore_trailing_space)
        key += "\n";
      call.charge(key.size() + 32);  // one by one: millions of short lines take seconds
      out.push_back(ids.emplace(std::move(key), static_cast<int>(ids.size())).first->second);
    }
    return out;
  };
  auto x = number(r.a, r.a_open), y = number(r.b, r.b_open);
  bool hunks = style.kind == DiffStyle::Kind::unified || style.kind == DiffStyle::Kind::context;
  auto [a_changed, b_changed] = align(call, x, y, hunks ? style.context : 0, style.minimal);
  std::size_t i = 0, k = 0;
  while (i < x.size() || k < y.size()) {
    if ((i < x.size() && a_changed[i]) || (k < y.size() && b_changed[k])) {
      Change c{i, 0, k, 0};
      while (i < x.size() && a_changed[i]) ++i, ++c.a_count;
      while (k < y.size() && b_changed[k]) ++k, ++c.b_count;
      bool blank = style.ignore_blank_lines;
      for (std::size_t n = 0; blank && n < c.a_count; ++n) blank = r.a[c.a + n].empty();
      for (std::size_t n = 0; blank && n < c.b_count; ++n) blank = r.b[c.b + n].empty();
      auto ignored = [&](std::string_view line) {
        return std::any_of(style.ignored.begin(), style.ignored.end(),
                           [&](const auto& regex) { return regex->matches(line); });
      };
      bool passed = !style.ignored.empty();
      for (std::size_t n = 0; passed && n < c.a_count; ++n) passed = ignored(r.a[c.a + n]);
      for (std::size_t n = 0; passed && n < c.b_count; ++n) passed = ignored(r.b[c.b + n]);
      if (!blank && !passed) r.changes.push_back(c);
    } else {
      ++i;
      ++k;
    }
  }
  return r;
}

}  // namespace atl::shell
