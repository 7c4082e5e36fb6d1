#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::shell::hexdump {

// One piece of a format unit: text, or a conversion of some bytes of the input.
struct Piece {
  enum class Kind : unsigned char {
    text,
    integer,
    real,
    character,
    string,
    address,
    end_address,
    escaped,
    printable,
    named
  };
  Kind kind = Kind::text;
  std::string text;  // of text: itself; of a conversion: flags, width and precision as printf takes them
  char conversion = 's';
  std::size_t bytes = 0;
};

// `iterations/bytes "format"`.
struct Unit {
  std::size_t repeat = 1;
  bool repeat_given = false;
  std::vector<Piece> pieces;
  std::size_t bytes() const;
};

// One -e: what is printed of each block.
struct Format {
  std::vector<Unit> units;
  std::size_t bytes() const;
};

// A format string of -e or a line of -f.
Result<Format> parse(std::string_view text);

// What is printed of the block that starts at `address`. `data` may be shorter than the block at the end of
// the input: conversions without bytes leave blanks.
std::string render(const Format& format, std::string_view data, std::uint64_t address);
// The same for the end of the input: only units with %_A print.
std::string render_end(const Format& format, std::uint64_t address);

}  // namespace atl::shell::hexdump
