#include "shell/commands/hexdump/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace atl::shell::hexdump {

namespace {

constexpr std::size_t kRepeatMax = 65536;
constexpr std::size_t kWidthMax = 4096;

using Kind = Piece::Kind;

std::string unescaped(std::string_view text) {
  static constexpr std::string_view kFrom = "0abfnrtv\\\"", kTo("\0\a\b\f\n\r\t\v\\\"", 10);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    std::size_t which = kFrom.find(text[++i]);
    out += which == std::string_view::npos ? text[i] : kTo[which];
  }
  return out;
}

Result<std::size_t> number(std::string_view text, std::size_t& at, std::size_t max) {
  std::size_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = value * 10 + static_cast<std::size_t>(text[at] - '0');
    if (value > max) return fail(Code::invalid_argument, fmt::format("number too large in format: {}", text));
  }
  return value;
}

// A conversion; `at` stands behind the percent sign.
Result<Piece> conversion(std::string_view format, std::size_t& at, std::size_t unit_bytes) {
  Piece out;
  auto bad = [&](std::string_view what) {
    return fail(Code::invalid_argument, fmt::format("bad conversion character %{}", what));
  };
  std::size_t from = at;
  while (at < format.size() && std::string_view("#-+ 0").find(format[at]) != std::string_view::npos) ++at;
  TRY(number(format, at, kWidthMax));
  std::size_t precision = 0;
  bool precise = at < format.size() && format[at] == '.';
  if (precise) precision = TRY(number(format, ++at, kWidthMax));
  out.text = std::string(format.substr(from, at - from));
  if (at >= format.size()) return bad("");
  char c = format[at++];
  auto sized = [&](std::initializer_list<std::size_t> allowed, std::size_t otherwise) -> Result<std::size_t> {
    if (unit_bytes == 0) return otherwise;
    if (std::find(allowed.begin(), allowed.end(), unit_bytes) != allowed.end()) return unit_bytes;
    return fail(Code::invalid_argument, fmt::format("bad byte count for conversion character {}", c));
  };
  out.conversion = c;
  if (std::string_view("diouxX").find(c) != std::string_view::npos) {
    out.kind = Kind::integer;
    out.bytes = TRY(sized({1, 2, 4, 8}, 4));
  } else if (std::string_view("eEfgG").find(c) != std::string_view::npos) {
    out.kind = Kind::real;
    out.bytes = TRY(sized({4, 8}, 8));
  } else if (c == 'c') {
    out.kind = Kind::character;
    out.bytes = TRY(sized({1}, 1));
  } else if (c == 's') {
    out.kind = Kind::string;
    if (!precise && unit_bytes == 0)
      return fail(Code::invalid_argument, "%s requires a precision or a byte count");
    out.bytes = unit_bytes ? unit_bytes : precision;
  } else if (c == '_' && at < format.size()) {
    char which = format[at++];
    if (which == 'a' || which == 'A') {
      out.kind = which == 'a' ? Kind::address : Kind::end_address;
      char base = at < format.size() ? format[at++] : '\0';
      if (std::string_view("dox").find(base) == std::string_view::npos || base == '\0')
        return bad(fmt::format("_{}{}", which, base));
      out.conversion = base;
    } else if (which == 'c' || which == 'p' || which == 'u') {
      out.kind = which == 'c' ? Kind::escaped : which == 'p' ? Kind::printable : Kind::named;
      out.bytes = TRY(sized({1}, 1));
      out.conversion = 's';
    } else {
      return bad(fmt::format("_{}", which));
    }
  } else {
    return bad(std::string(1, c));
  }
  return out;
}

Result<std::vector<Piece>> pieces(std::string_view format, std::size_t unit_bytes) {
  std::vector<Piece> out;
  std::string text;
  auto flush = [&] {
    if (!text.empty()) out.push_back({Kind::text, unescaped(text), 's', 0});
    text.clear();
  };
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      text += format[at];
      if (format[at] == '\\' && at + 1 < format.size()) text += format[++at];
      ++at;
      continue;
    }
    if (++at < format.size() && format[at] == '%') {
      text += format[at++];
      continue;
    }
    flush();
    out.push_back(TRY(conversion(format, at, unit_bytes)));
  }
  flush();
  return out;
}

std::string printed(const std::string& spec, std::string_view length, char conversion, auto value) {
  std::array<char, kWidthMax * 2 + 512> buffer;
  std::string format = "%" + spec + std::string(length) + conversion;
  // The format was taken apart by conversion(): flags, width and precision only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  int length_printed = std::snprintf(buffer.data(), buffer.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  return std::string(
      buffer.data(),
      std::min<std::size_t>(static_cast<std::size_t>(std::max(length_printed, 0)), buffer.size() - 1));
}

// Width and minus only: how a text or a blank takes the place of a number.
std::string text_spec(const std::string& spec) {
  std::string flags = spec.find('-') != std::string::npos ? "-" : "";
  std::size_t at = spec.find_first_not_of("#-+ 0");
  std::string width = at == std::string::npos ? "" : spec.substr(at, spec.find('.', at) - at);
  return flags + width;
}

template <class T>
T load(std::string_view data) {
  T value{};
  std::memcpy(&value, data.data(), std::min(sizeof value, data.size()));
  return value;
}

std::string integer(const Piece& piece, std::string_view data) {
  bool is_signed = piece.conversion == 'd' || piece.conversion == 'i';
  if (is_signed) {
    std::int64_t value = piece.bytes == 1   ? load<std::int8_t>(data)
                         : piece.bytes == 2 ? load<std::int16_t>(data)
                         : piece.bytes == 4 ? load<std::int32_t>(data)
                                            : load<std::int64_t>(data);
    return printed(piece.text, "l", 'd', value);
  }
  return printed(piece.text, "l", piece.conversion, load<std::uint64_t>(data.substr(0, piece.bytes)));
}

std::string escaped(unsigned char c) {
  static constexpr std::pair<char, const char*> kRows[] = {{'\0', "\\0"}, {'\a', "\\a"}, {'\b', "\\b"},
                                                           {'\f', "\\f"}, {'\n', "\\n"}, {'\r', "\\r"},
                                                           {'\t', "\\t"}, {'\v', "\\v"}};
  for (auto [from, to] : kRows)
    if (static_cast<char>(c) == from) return to;
  return c >= 32 && c < 127 ? std::string(1, static_cast<char>(c)) : fmt::format("{:03o}", c);
}

std::string named(unsigned char c) {
  static constexpr const char* kNames[] = {"nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel",
                                           "bs",  "ht",  "lf",  "vt",  "ff",  "cr",  "so",  "si",
                                           "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb",
                                           "can", "em",  "sub", "esc", "fs",  "gs",  "rs",  "us"};
  if (c < 32) return kNames[c];
  if (c == 127) return "del";
  return c < 127 ? std::string(1, static_cast<char>(c)) : fmt::format("{:02x}", c);
}

std::string converted(const Piece& piece, std::string_view data) {
  auto byte = static_cast<unsigned char>(data[0]);
  switch (piece.kind) {
    case Kind::integer: return integer(piece, data);
    case Kind::real:
      return printed(piece.text, "", piece.conversion,
                     piece.bytes == 4 ? static_cast<double>(load<float>(data)) : load<double>(data));
    case Kind::character: return printed(text_spec(piece.text), "", 'c', static_cast<int>(byte));
    case Kind::string: {
      std::string text(data.substr(0, piece.bytes));
      return printed(piece.text, "", 's', text.c_str());
    }
    case Kind::escaped: return printed(text_spec(piece.text), "", 's', escaped(byte).c_str());
    case Kind::printable:
      return printed(text_spec(piece.text), "", 's',
                     std::string(1, byte >= 32 && byte < 127 ? data[0] : '.').c_str());
    case Kind::named: return printed(text_spec(piece.text), "", 's', named(byte).c_str());
    default: return {};
  }
}

}  // namespace

std::size_t Unit::bytes() const {
  std::size_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.bytes;
  return sum * repeat;
}

std::size_t Format::bytes() const {
  std::size_t sum = 0;
  for (const Unit& unit : units) sum += unit.bytes();
  return sum;
}

Result<Format> parse(std::string_view text) {
  Format out;
  auto bad = [&] { return fail(Code::invalid_argument, fmt::format("bad format {{{}}}", text)); };
  for (std::size_t at = 0;;) {
    at = text.find_first_not_of(" \t\n", at);
    if (at == std::string_view::npos) return out;
    Unit unit;
    std::size_t bytes = 0, before = at;
    std::size_t repeat = TRY(number(text, at, kRepeatMax));
    if (at > before) {
      unit.repeat = repeat;
      unit.repeat_given = true;
      at = std::min(text.find_first_not_of(" \t", at), text.size());
    }
    if (at < text.size() && text[at] == '/') {
      at = std::min(text.find_first_not_of(" \t", at + 1), text.size());
      bytes = TRY(number(text, at, kRepeatMax));
      at = std::min(text.find_first_not_of(" \t", at), text.size());
    }
    if (at >= text.size() || text[at] != '"') return bad();
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size()) return bad();
    unit.pieces = TRY(pieces(text.substr(at + 1, end - at - 1), bytes));
    out.units.push_back(std::move(unit));
    at = end + 1;
  }
}

std::string render(const Format& format, std::string_view data, std::uint64_t address) {
  std::string out;
  std::size_t at = 0;
  for (const Unit& unit : format.units) {
    bool ends = std::any_of(unit.pieces.begin(), unit.pieces.end(),
                            [](const Piece& p) { return p.kind == Kind::end_address; });
    if (ends) continue;
    for (std::size_t round = 0; round < unit.repeat; ++round) {
      for (std::size_t i = 0; i < unit.pieces.size(); ++i) {
        const Piece& piece = unit.pieces[i];
        if (piece.kind == Kind::text) {
          std::string_view text = piece.text;
          // The blanks between repetitions do not follow the last one.
          bool last = unit.repeat > 1 && round + 1 == unit.repeat && i + 1 == unit.pieces.size();
          if (last) text = text.substr(0, text.find_last_not_of(" \t") + 1);
          out += text;
        } else if (piece.kind == Kind::address) {
          out += printed(piece.text, "l", piece.conversion, address + at);
        } else {
          out += at < data.size() ? converted(piece, data.substr(at))
                                  : printed(text_spec(piece.text), "", 's', "");
          at += piece.bytes;
        }
      }
    }
  }
  return out;
}

std::string render_end(const Format& format, std::uint64_t address) {
  std::string out;
  for (const Unit& unit : format.units) {
    bool ends = std::any_of(unit.pieces.begin(), unit.pieces.end(),
                            [](const Piece& p) { return p.kind == Kind::end_address; });
    if (!ends) continue;
    for (const Piece& piece : unit.pieces)
      out += piece.kind == Kind::text ? piece.text : printed(piece.text, "l", piece.conversion, address);
  }
  return out;
}

}  // namespace atl::shell::hexdump
