#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/numbers.h"
#include "shell/text/sink.h"
#include "shell/text/width.h"

namespace atl::shell::column_program {

namespace {

constexpr Option kOptions[] = {
    {'t', 't', "table"},
    {'n', 'n', "table-name", Arg::required},
    {'O', 'O', "table-order", Arg::required},
    {'N', 'N', "table-columns", Arg::required},
    {'l', 'l', "table-columns-limit", Arg::required},
    {'d', 'd', "table-noheadings"},
    {'e', 'e', "table-header-repeat"},
    {'H', 'H', "table-hide", Arg::required},
    {'R', 'R', "table-right", Arg::required},
    {'L', 'L', "keep-empty-lines"},
    {'L', 0, "table-empty-lines"},
    {'J', 'J', "json"},
    {'c', 'c', "output-width", Arg::required},
    {'c', 0, "columns", Arg::required},
    {'o', 'o', "output-separator", Arg::required},
    {'s', 's', "separator", Arg::required},
    {'x', 'x', "fillrows"},
};

struct Settings {
  bool table = false, across = false, keep_empty = false, json = false, headings_shown = true;
  std::string separators, join = "  ", name = "table", right, hidden, order;
  std::vector<std::string> headings;
  std::uint64_t width = 80, columns_max = 0;
};

using Row = std::vector<std::string>;

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> out;
  while (true) {
    std::size_t comma = list.find(',');
    out.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    list.remove_prefix(comma + 1);
  }
}

class Table {
 public:
  Table(Invocation& call, const Settings& s, Sink& out) : call_(call), s_(s), out_(out) {}

  int run(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) rows_.push_back(cut(line));
    std::size_t count = s_.headings.size();
    for (const Row& row : rows_) count = std::max(count, row.size());
    for (std::size_t i = 0; i < count; ++i) order_.push_back(i);
    if (!choose(s_.order, true) || !choose(s_.hidden, false) || !align()) return 1;
    if (s_.json)
      print_json();
    else
      print();
    return 0;
  }

 private:
  Row cut(std::string_view line) const {
    // Without -s any run of blanks separates; with it every character does, so cells may be empty.
    bool greedy = s_.separators.empty();
    std::string_view set = greedy ? std::string_view(" \t") : std::string_view(s_.separators);
    Row cells;
    while (true) {
      if (greedy) {
        std::size_t start = line.find_first_not_of(set);
        if (start == std::string_view::npos) break;
        line.remove_prefix(start);
      }
      // -l: the last column takes the rest of the line, separators and all.
      bool rest = s_.columns_max && cells.size() + 1 == s_.columns_max;
      std::size_t end = rest ? std::string_view::npos : line.find_first_of(set);
      cells.emplace_back(line.substr(0, end));
      if (end == std::string_view::npos) break;
      line.remove_prefix(end + 1);
    }
    return cells;
  }
  // A column by its heading or its number from 1.
  std::optional<std::size_t> find(const std::string& text) {
    auto named = std::find(s_.headings.begin(), s_.headings.end(), text);
    if (named != s_.headings.end()) return static_cast<std::size_t>(named - s_.headings.begin());
    std::uint64_t number = 0;
    if (parse_size(text, number) && number > 0 && number <= order_.size() + dropped_)
      return static_cast<std::size_t>(number - 1);
    call_.complain(fmt::format("undefined column name '{}'", text));
    return std::nullopt;
  }
  // The columns of a list first (-O), or none of them at all (-H).
  bool choose(const std::string& list, bool first) {
    if (list.empty()) return true;
    std::vector<std::size_t> front;
    for (const std::string& text : split_list(list)) {
      // -H -: every column without a name.
      if (text == "-" && !first) {
        std::erase_if(order_,
                      [&](std::size_t i) { return i >= s_.headings.size() || s_.headings[i].empty(); });
        continue;
      }
      auto column = find(text);
      if (!column) return false;
      std::erase(order_, *column);
      front.push_back(*column);
    }
    if (first)
      order_.insert(order_.begin(), front.begin(), front.end());
    else
      dropped_ += front.size();
    return true;
  }
  bool align() {
    right_.assign(order_.size() + dropped_, false);
    if (s_.right.empty()) return true;
    for (const std::string& text : split_list(s_.right)) {
      auto column = find(text);
      if (!column) return false;
      right_[*column] = true;
    }
    return true;
  }
  static std::string_view cell(const Row& row, std::size_t i) {
    return i < row.size() ? std::string_view(row[i]) : std::string_view();
  }
  void print() {
    std::vector<const Row*> shown;
    if (!s_.headings.empty() && s_.headings_shown) shown.push_back(&s_.headings);
    for (const Row& row : rows_) shown.push_back(&row);
    std::vector<std::size_t> widths(order_.size() + dropped_, 0);
    for (const Row* row : shown)
      for (std::size_t i : order_) widths[i] = std::max(widths[i], display_width(cell(*row, i)));
    for (const Row* row : shown) {
      std::string text;
      call_.charge(order_.size());
      for (std::size_t n = 0; n < order_.size(); ++n) {
        std::size_t i = order_[n];
        std::string pad(widths[i] - display_width(cell(*row, i)), ' ');
        bool last = n + 1 == order_.size();
        if (right_[i]) text += pad;
        text += cell(*row, i);
        if (!right_[i] && !last) text += pad;
        if (!last) text += s_.join;
      }
      out_.line(text);
    }
  }
  void print_json() {
    auto quote = [](std::string_view text) {
      std::string out = "\"";
      for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 32)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
          out += c;
      }
      return out + "\"";
    };
    out_.append(fmt::format("{{\n   {}: [\n      ", quote(s_.name)));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      out_.append(r ? ",{\n" : "{\n");
      for (std::size_t n = 0; n < order_.size(); ++n) {
        std::string name = order_[n] < s_.headings.size() ? s_.headings[order_[n]] : "";
        for (char& c : name) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
        std::string_view value = cell(rows_[r], order_[n]);
        out_.append(fmt::format("         {}: {}{}\n", quote(name),
                                order_[n] < rows_[r].size() ? quote(value) : "null",
                                n + 1 < order_.size() ? "," : ""));
      }
      out_.append("      }");
    }
    out_.append("\n   ]\n}\n");
  }

  Invocation& call_;
  const Settings& s_;
  Sink& out_;
  std::vector<Row> rows_;
  std::vector<std::size_t> order_;  // the columns that are shown
  std::size_t dropped_ = 0;
  std::vector<bool> right_;
};

void fill(Invocation& call, const Settings& s, const std::vector<std::string>& lines, Sink& out) {
  std::size_t longest = 0;
  for (const std::string& line : lines) longest = std::max(longest, display_width(line));
  // Columns begin at tab stops, because they are filled up with tabs.
  std::size_t cell = (longest + 8) / 8 * 8;
  std::size_t columns =
      std::max<std::size_t>(1, static_cast<std::size_t>(s.width) / std::max<std::size_t>(cell, 1));
  std::size_t rows = (lines.size() + columns - 1) / columns;
  if (longest >= s.width) columns = 1, rows = lines.size();
  for (std::size_t row = 0; row < rows; ++row) {
    std::string text;
    std::size_t at = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      std::size_t i = s.across ? row * columns + column : column * rows + row;
      if (i >= lines.size()) break;
      call.charge(1);
      while (at < column * cell) {
        text += '\t';
        at = at / 8 * 8 + 8;
      }
      text += lines[i];
      at += display_width(lines[i]);
    }
    out.line(text);
  }
}

}  // namespace

int run_column(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Settings s;
  if (auto columns = call.variable("COLUMNS"); columns && !columns->empty()) parse_size(*columns, s.width);
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 't': s.table = true; break;
      case 'J': s.table = s.json = true; break;
      case 's': s.separators = value; break;
      case 'o': s.join = value; break;
      case 'c':
        if (value == "unlimited")
          s.width = UINT64_MAX;
        else if (!parse_size(value, s.width) || s.width == 0)
          return call.fail(fmt::format("invalid columns argument: '{}'", value));
        break;
      case 'x': s.across = true; break;
      case 'L': s.keep_empty = true; break;
      case 'R': s.right = value; break;
      case 'H': s.hidden = value; break;
      case 'O': s.order = value; break;
      case 'N': s.headings = split_list(value); break;
      case 'n': s.name = value; break;
      case 'd': s.headings_shown = false; break;
      case 'l':
        if (!parse_size(value, s.columns_max) || s.columns_max == 0)
          return call.fail(fmt::format("invalid columns limit argument: '{}'", value));
        break;
      default: break;  // -e: there are no pages
    }
  }
  if (s.json && s.headings.empty()) return call.fail("option --table-columns required for --json");
  std::vector<std::string> lines;
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Lines reader(in);
    std::string_view line;
    while (reader.next(line)) {
      call.charge(line.size() / 8 + 1);
      if (line.find_first_not_of(" \t") != std::string_view::npos || s.keep_empty) lines.emplace_back(line);
    }
  });
  Sink out(call.out());
  int status = good ? 0 : 1;
  if (s.table)
    status = std::max(status, Table(call, s, out).run(lines));
  else
    fill(call, s, lines, out);
  return out.finish(call, status);
}

}  // namespace atl::shell::column_program
