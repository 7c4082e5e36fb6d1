#include "cli/table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "config/checked.h"

namespace atl::cli {
namespace {

constexpr std::string_view kCodes[] = {"", "32", "33", "31", "2", "1"};  // in the order of Tone
constexpr std::string_view kGap = "  ";
constexpr std::size_t kCellMax = 200;

// Characters, not bytes. Wide ones count as one: ids, states and paths of sandboxes rarely have any.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string cut(std::string_view text, std::size_t width) {
  std::size_t at = 0, seen = 0;
  while (at < text.size() && seen < width) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    ++seen;
  }
  return std::string(text.substr(0, at));
}

}  // namespace

Paint paint_of_output() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (refused != nullptr && *refused != '\0') return Paint::never;
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return Paint::never;
  return ::isatty(STDOUT_FILENO) == 1 ? Paint::always : Paint::never;
}

std::string painted(std::string_view text, Tone tone, Paint paint) {
  if (paint == Paint::never || tone == Tone::plain) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<std::size_t>(tone)], text);
}

Tone tone_of(std::string_view word) {
  constexpr std::array good = {std::string_view("running"), std::string_view("success"),
                               std::string_view("ok")};
  constexpr std::array waiting = {std::string_view("paused"), std::string_view("creating"),
                                  std::string_view("stopping"), std::string_view("admitted")};
  if (std::ranges::find(good, word) != good.end()) return Tone::good;
  if (std::ranges::find(waiting, word) != waiting.end()) return Tone::waiting;
  return word == "stopped" ? Tone::dim : Tone::bad;
}

void Table::add(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  for (Cell& cell : cells) cell.text = config::shown(cell.text, kCellMax);
  rows_.push_back(std::move(cells));
}

std::string Table::text(Paint paint, std::size_t columns_max) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.title));
  for (const auto& row : rows_)
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], width_of(row[at].text));
  std::string out;
  const auto add_line = [&](const std::vector<Cell>& row) {
    std::size_t used = 0;
    std::string line, blanks;
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::size_t room = columns_max == 0 ? kCellMax : columns_max - std::min(columns_max, used);
      const std::string shown = cut(row[at].text, room);
      const std::string pad(widths[at] - std::min(widths[at], width_of(shown)), ' ');
      const std::string cell = painted(shown, row[at].tone, paint);
      // Blanks are written only before something.
      if (shown.empty()) {
        blanks += pad;
      } else if (columns_[at].align == Align::right) {
        line += blanks + pad + cell;
        blanks.clear();
      } else {
        line += blanks + cell;
        blanks = pad;
      }
      blanks += kGap;
      used += widths[at] + kGap.size();
    }
    out += line + "\n";
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Tone::strong});
  add_line(titles);
  for (const auto& row : rows_) add_line(row);
  return out;
}

std::string short_bytes(std::uint64_t bytes) {
  constexpr std::string_view units = "KMGTP";
  if (bytes < 1024) return fmt::format("{}", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return value < 9.95 ? fmt::format("{:.1f}{}", value, units[unit])
                      : fmt::format("{:.0f}{}", value, units[unit]);
}

std::string short_time(double seconds) {
  const double whole = std::max(0.0, std::floor(seconds));
  if (whole < 60) return fmt::format("{:.0f}s", whole);
  if (whole < 3600) return fmt::format("{:.0f}m", std::floor(whole / 60));
  if (whole < 2 * 86400) return fmt::format("{:.0f}h", std::floor(whole / 3600));
  return fmt::format("{:.0f}d", std::floor(whole / 86400));
}

std::string spark_line(const std::vector<double>& values, double top, std::size_t width) {
  constexpr std::array blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string line;
  const std::size_t shown = std::min(width, values.size());
  for (std::size_t at = shown; at < width; ++at) line += " ";
  for (std::size_t at = values.size() - shown; at < values.size(); ++at) {
    const double share = top <= 0 ? 0 : std::clamp(values[at] / top, 0.0, 1.0);
    // Anything at all is seen.
    line += blocks[static_cast<std::size_t>(std::ceil(share * 8))];
  }
  return line;
}

}  // namespace atl::cli
