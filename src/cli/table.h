#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Tables and values for people: aligned, coloured on a terminal, plain in pipes.
namespace atl::cli {

enum class Tone : std::uint8_t { plain, good, waiting, bad, dim, strong };
enum class Paint : std::uint8_t { never, always };

// Colour for standard output: where it is a terminal that can show it, and NO_COLOR is not set.
Paint paint_of_output();
std::string painted(std::string_view text, Tone tone, Paint paint);
// What colour a state or status of the service has.
Tone tone_of(std::string_view word);

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

class Table {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns. Control characters are shown as escapes.
  void add(std::vector<Cell> cells);
  std::size_t size() const { return rows_.size(); }
  // One line for the titles and one for each row, without blanks at their ends. `columns_max`: lines are cut
  // there; 0: they are not.
  std::string text(Paint paint, std::size_t columns_max = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// "0", "812", "1.5K", "23M", "1.1G".
std::string short_bytes(std::uint64_t bytes);
// "3s", "12m", "4h", "2d".
std::string short_time(double seconds);
// A line of blocks, one for each of the last `width` values between 0 and `top`: "  ▁▂▇".
std::string spark_line(const std::vector<double>& values, double top, std::size_t width);

}  // namespace atl::cli
