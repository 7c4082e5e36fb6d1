#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

int run_column(Invocation& call) {
  static constexpr Option kOptions[] = {{'t', 't', "table"}, {'s', 's', "separator", Arg::required}, {'o', 'o', "output-separator", Arg::required}, {'c', 'c', "output-width", Arg::required}, {'c', 0, "columns", Arg::required},
                                        {'x', 'x', "fillrows"}, {'L', 'L', "keep-empty-lines"}, {'R', 'R', "table-right", Arg::required}, {'N', 'N', "table-columns", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool table = false, across = false, keep_empty = false;
  std::string separators, join = "  ", right, headings;
  std::uint64_t width = 80;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 't': table = true; break;
      case 's': separators = value; break;
      case 'o': join = value; break;
      case 'c': if (!parse_size(value, width) || width == 0) return call.fail(fmt::format("invalid columns argument: {}", quoted(value))); break;
      case 'x': across = true; break;
      case 'L': keep_empty = true; break;
      case 'R': right = "," + value + ","; break;
      case 'N': headings = value; break;
      default: break;
    }
  }
  std::vector<std::string> lines;
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Lines reader(in);
    std::string_view line;
    while (reader.next(line)) {
      call.charge(line.size() / 8 + 1);
      if (line.find_first_not_of(" \t") != std::string_view::npos || keep_empty) lines.emplace_back(line);
    }
  });
  Sink out(call.out());
  if (table) {
    std::vector<std::vector<std::string>> rows;
    auto cut = [&](std::string_view line, bool greedy, std::string_view set) {
      std::vector<std::string> cells;
      while (true) {
        if (greedy) {
          std::size_t start = line.find_first_not_of(set);
          if (start == std::string_view::npos) break;
          line.remove_prefix(start);
        }
        std::size_t end = line.find_first_of(set);
        cells.emplace_back(line.substr(0, end));
        if (end == std::string_view::npos) break;
        line.remove_prefix(end + 1);
      }
      return cells;
    };
    if (!headings.empty()) rows.push_back(cut(headings, false, ","));
    for (const std::string& line : lines) rows.push_back(separators.empty() ? cut(line, true, " \t") : cut(line, false, separators));
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (i >= widths.size()) widths.resize(i + 1, 0);
        widths[i] = std::max(widths[i], display_width(row[i]));
      }
    for (const auto& row : rows) {
      std::string text;
      for (std::size_t i = 0; i < row.size(); ++i) {
        std::string pad(widths[i] - display_width(row[i]), ' ');
        bool to_right = right.find("," + std::to_string(i + 1) + ",") != std::string::npos;
        bool last = i + 1 == widths.size();
        text += to_right ? pad + row[i] : last ? row[i] : row[i] + pad;
        if (!last) text += join;
      }
      for (std::size_t i = row.size(); i < widths.size(); ++i) {
        if (i + 1 < widths.size()) text += std::string(widths[i], ' ') + join;
      }
      out.line(text);
    }
    return out.finish(call, good ? 0 : 1);
  }
  std::size_t longest = 0;
  for (const std::string& line : lines) longest = std::max(longest, display_width(line));
  std::size_t cell = (longest + 8) / 8 * 8;
  std::size_t columns = std::max<std::size_t>(1, static_cast<std::size_t>(width) / std::max<std::size_t>(cell, 1));
  std::size_t rows = (lines.size() + columns - 1) / columns;
  if (longest >= width) columns = 1, rows = lines.size();
  for (std::size_t row = 0; row < rows; ++row) {
    std::string text;
    std::size_t at = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      std::size_t i = across ? row * columns + column : column * rows + row;
      if (i >= lines.size()) break;
      while (at < column * cell) {
        text += '\t';
        at = at / 8 * 8 + 8;
      }
      text += lines[i];
      at += display_width(lines[i]);
    }
    out.line(text);
  }
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell
