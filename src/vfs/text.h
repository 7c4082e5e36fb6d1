#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::vfs {

// `detect`: what the byte-order mark says, else UTF-8. Only for reading.
enum class Encoding : std::uint8_t { detect, utf8, utf16_le, utf16_be, latin1, ascii };
enum class ByteOrderMark : std::uint8_t { none, write };

std::string_view to_string(Encoding encoding);
// "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "latin1", "iso-8859-1", "ascii", any case.
Result<Encoding> parse_encoding(std::string_view word);

// Bytes in `encoding` as UTF-8. A mark of that very encoding is dropped. invalid_argument with the offset of
// the first byte that does not belong: an overlong or surrogate sequence, a lone surrogate, a byte over 127
// in ASCII.
Result<std::string> decode(std::string_view bytes, Encoding encoding);
// The reverse; invalid_argument for a character that `encoding` lacks. `detect` means UTF-8.
Result<std::string> encode(std::string_view utf8, Encoding encoding,
                           ByteOrderMark mark = ByteOrderMark::none);

// Split at \n, \r\n and \r.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace atl::vfs
