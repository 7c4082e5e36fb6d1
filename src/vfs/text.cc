#include "vfs/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "base/utf8.h"

namespace atl::vfs {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kLittleMark = "\xFF\xFE";
constexpr std::string_view kBigMark = "\xFE\xFF";

std::string_view mark_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::utf8: return kUtf8Mark;
    case Encoding::utf16_le: return kLittleMark;
    case Encoding::utf16_be: return kBigMark;
    default: return {};
  }
}

std::unexpected<Error> malformed(std::string_view encoding, std::size_t offset) {
  return fail(Code::invalid_argument, fmt::format("not valid {} at byte {}", encoding, offset));
}

// The offset of the first byte that is not UTF-8.
std::size_t valid_prefix(std::string_view text) {
  std::size_t at = 0;
  while (std::size_t length = utf8::well_formed_sequence(text.substr(at))) at += length;
  return at;
}

Result<std::string> decode_utf16(std::string_view bytes, bool big, std::string_view name) {
  if (bytes.size() % 2 != 0) return malformed(name, bytes.size() - 1);
  auto unit = [&](std::size_t i) -> char32_t {
    auto first = static_cast<unsigned char>(bytes[i]), second = static_cast<unsigned char>(bytes[i + 1]);
    return big ? (first << 8 | second) : (second << 8 | first);
  };
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    char32_t c = unit(i);
    if (c >= 0xDC00 && c < 0xE000) return malformed(name, i);
    if (c >= 0xD800 && c < 0xDC00) {
      if (i + 2 >= bytes.size()) return malformed(name, i);
      char32_t low = unit(i + 2);
      if (low < 0xDC00 || low >= 0xE000) return malformed(name, i);
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      i += 2;
    }
    utf8::append(out, c);
  }
  return out;
}

void append_utf16(std::string& out, char32_t c, bool big) {
  auto unit = [&](char32_t u) {
    char high = static_cast<char>(u >> 8), low = static_cast<char>(u & 0xFF);
    out += big ? high : low;
    out += big ? low : high;
  };
  if (c < 0x10000) return unit(c);
  unit(0xD800 + ((c - 0x10000) >> 10));
  unit(0xDC00 + ((c - 0x10000) & 0x3FF));
}

Encoding detected(std::string_view bytes) {
  if (bytes.starts_with(kLittleMark)) return Encoding::utf16_le;
  if (bytes.starts_with(kBigMark)) return Encoding::utf16_be;
  return Encoding::utf8;
}

}  // namespace

std::string_view to_string(Encoding encoding) {
  switch (encoding) {
    case Encoding::detect: return "detect";
    case Encoding::utf8: return "utf-8";
    case Encoding::utf16_le: return "utf-16le";
    case Encoding::utf16_be: return "utf-16be";
    case Encoding::latin1: return "latin1";
    case Encoding::ascii: return "ascii";
  }
  std::unreachable();
}

Result<Encoding> parse_encoding(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, Encoding>, 13> kNames = {{
      {"detect", Encoding::detect},
      {"utf-8", Encoding::utf8},
      {"utf8", Encoding::utf8},
      {"utf-16", Encoding::utf16_le},
      {"utf16", Encoding::utf16_le},
      {"utf-16le", Encoding::utf16_le},
      {"utf-16be", Encoding::utf16_be},
      {"latin1", Encoding::latin1},
      {"latin-1", Encoding::latin1},
      {"iso-8859-1", Encoding::latin1},
      {"iso8859-1", Encoding::latin1},
      {"ascii", Encoding::ascii},
      {"us-ascii", Encoding::ascii},
  }};
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  for (auto& [name, encoding] : kNames)
    if (name == lower) return encoding;
  return fail(Code::invalid_argument, fmt::format("unknown encoding \"{}\"", to_valid_utf8(word)));
}

Result<std::string> decode(std::string_view bytes, Encoding encoding) {
  if (encoding == Encoding::detect) encoding = detected(bytes);
  if (auto mark = mark_of(encoding); !mark.empty() && bytes.starts_with(mark))
    bytes.remove_prefix(mark.size());
  switch (encoding) {
    case Encoding::detect:
    case Encoding::utf8:
      if (!is_utf8(bytes)) return malformed("UTF-8", valid_prefix(bytes));
      return std::string(bytes);
    case Encoding::utf16_le: return decode_utf16(bytes, false, "UTF-16LE");
    case Encoding::utf16_be: return decode_utf16(bytes, true, "UTF-16BE");
    case Encoding::latin1: {
      std::string out;
      out.reserve(bytes.size());
      for (char c : bytes) utf8::append(out, static_cast<unsigned char>(c));
      return out;
    }
    case Encoding::ascii: {
      auto high = std::ranges::find_if(bytes, [](char c) { return static_cast<unsigned char>(c) > 127; });
      if (high != bytes.end()) return malformed("ASCII", static_cast<std::size_t>(high - bytes.begin()));
      return std::string(bytes);
    }
  }
  std::unreachable();
}

Result<std::string> encode(std::string_view text, Encoding encoding, ByteOrderMark mark) {
  if (!is_utf8(text)) return malformed("UTF-8", valid_prefix(text));
  if (encoding == Encoding::detect) encoding = Encoding::utf8;
  std::string out(mark == ByteOrderMark::write ? mark_of(encoding) : std::string_view());
  if (encoding == Encoding::utf8) return out.append(text);
  char32_t limit = encoding == Encoding::ascii ? 0x7F : encoding == Encoding::latin1 ? 0xFF : 0x10FFFF;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    char32_t c = utf8::read(text.substr(at), length);
    at += length;
    if (c > limit)
      return fail(Code::invalid_argument, fmt::format("{} has no character U+{:04X}", to_string(encoding),
                                                      static_cast<std::uint32_t>(c)));
    if (limit == 0x10FFFF) {
      append_utf16(out, c, encoding == Encoding::utf16_be);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    auto end = text.find_first_of("\r\n");
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    bool pair = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
    text.remove_prefix(end + (pair ? 2 : 1));
  }
  return lines;
}

}  // namespace atl::vfs
