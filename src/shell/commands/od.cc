#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::od_program {

namespace {

enum Long { kStrings = 256, kEndian };

constexpr Option kOptions[] = {
    {'A', 'A', "address-radix", Arg::required},
    {'j', 'j', "skip-bytes", Arg::required},
    {'N', 'N', "read-bytes", Arg::required},
    {'t', 't', "format", Arg::required},
    {'v', 'v', "output-duplicates"},
    {'w', 'w', "width", Arg::optional},
    {'a', 'a', ""},
    {'b', 'b', ""},
    {'c', 'c', ""},
    {'d', 'd', ""},
    {'o', 'o', ""},
    {'x', 'x', ""},
    {'i', 'i', ""},
    {'l', 'l', ""},
    {'s', 's', ""},
    {'f', 'f', ""},
    {'S', 'S', "", Arg::required},
    {kStrings, 0, "strings", Arg::optional},
    {kEndian, 0, "endian", Arg::required},
    {'h', 'h', ""},
    {'B', 'B', ""},
    {'D', 'D', ""},
    {'O', 'O', ""},
    {'X', 'X', ""},
    {'H', 'H', ""},
    {'I', 'I', ""},
    {'L', 'L', ""},
    {'e', 'e', ""},
    {'F', 'F', ""},
};

struct Format {
  char kind;  // a c d u o x f
  std::size_t size;
  bool text = false;  // z: the characters at the end of the line
  // The longest that a value of that size can be.
  std::size_t width() const {
    if (kind == 'a' || kind == 'c') return 3;
    if (kind == 'x') return size * 2;
    if (kind == 'o') return (size * 8 + 2) / 3;
    if (kind == 'f') return size == 4 ? 15 : 24;
    static constexpr std::size_t kSigned[] = {4, 6, 11, 20}, kUnsigned[] = {3, 5, 10, 20};
    std::size_t i = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return kind == 'd' ? kSigned[i] : kUnsigned[i];
  }
};

std::string cell(const Format& f, std::string_view bytes, bool big) {
  std::string turned;
  if (big && f.size > 1) {
    turned.assign(bytes);
    turned.resize(f.size, '\0');
    std::reverse(turned.begin(), turned.end());
    bytes = turned;
  }
  // Little-endian whatever the machine, as od -t prints where everybody runs it. Missing bytes at the end of
  // the input are zero.
  std::uint64_t value = 0;
  for (std::size_t i = std::min(bytes.size(), f.size); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  unsigned char c = static_cast<unsigned char>(bytes[0]);
  switch (f.kind) {
    case 'x': return fmt::format("{:0{}x}", value, f.width());
    case 'o': return fmt::format("{:0{}o}", value, f.width());
    case 'u': return std::to_string(value);
    case 'd': {
      std::int64_t s = f.size == 1   ? static_cast<std::int8_t>(value)
                       : f.size == 2 ? static_cast<std::int16_t>(value)
                       : f.size == 4 ? static_cast<std::int32_t>(value)
                                     : static_cast<std::int64_t>(value);
      return std::to_string(s);
    }
    case 'f': {
      if (f.size == 4) {
        float v;
        auto bits = static_cast<std::uint32_t>(value);
        memcpy(&v, &bits, 4);
        return fmt::format("{:.8g}", v);
      }
      double v;
      memcpy(&v, &value, 8);
      return fmt::format("{:.17g}", v);
    }
    case 'a': {
      static constexpr std::string_view kNames[] = {
          "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs",  "ht",  "nl",
          "vt",  "ff",  "cr",  "so",  "si",  "dle", "dc1", "dc2", "dc3", "dc4", "nak",
          "syn", "etb", "can", "em",  "sub", "esc", "fs",  "gs",  "rs",  "us",  "sp"};
      // -a ignores the high bit.
      c &= 0x7F;
      return c <= 32 ? std::string(kNames[c]) : c == 127 ? "del" : std::string(1, static_cast<char>(c));
    }
    default: {
      static constexpr std::string_view kFrom("\0\a\b\f\n\r\t\v", 8);
      static constexpr std::string_view kTo = "0abfnrtv";
      std::size_t at = kFrom.find(static_cast<char>(c));
      if (at != std::string_view::npos) return std::string("\\") + kTo[at];
      if (c >= 32 && c < 127) return std::string(1, static_cast<char>(c));
      return fmt::format("{:03o}", c);
    }
  }
}

bool parse_formats(std::string_view text, std::vector<Format>& out) {
  for (std::size_t i = 0; i < text.size();) {
    Format f{text[i++], 4};
    if (std::string_view("acduoxf").find(f.kind) == std::string_view::npos) return false;
    if (f.kind == 'a' || f.kind == 'c') f.size = 1;
    if (f.kind == 'f') f.size = 8;
    if (i < text.size() && std::string_view("CSILFD").find(text[i]) != std::string_view::npos) {
      char u = text[i++];
      f.size = u == 'C' ? 1 : u == 'S' ? 2 : u == 'I' || u == 'F' ? 4 : 8;
    } else {
      std::size_t n = 0;
      bool any = false;
      while (i < text.size() && isdigit(static_cast<unsigned char>(text[i])))
        n = n * 10 + static_cast<unsigned>(text[i++] - '0'), any = true;
      if (any) f.size = n;
    }
    if (f.size != 1 && f.size != 2 && f.size != 4 && f.size != 8) return false;
    if (i < text.size() && text[i] == 'z') f.text = true, ++i;
    out.push_back(f);
  }
  return true;
}

struct Request {
  char radix = 'o';
  std::uint64_t skip = 0, limit = UINT64_MAX, width = 16;
  bool all = false, big = false;
  std::uint64_t strings = 0;  // 0: no strings; else their least length
  std::vector<Format> formats;
};

// 0, or the status with which od ends after a message.
int read_options(Invocation& call, const CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'A':
        if (value.size() != 1 || std::string_view("doxn").find(value[0]) == std::string_view::npos)
          return call.fail(
              fmt::format("invalid output address radix '{}'; it must be one character from [doxn]", value));
        r.radix = value[0];
        break;
      case 'j':
        if (!parse_size(value, r.skip))
          return call.fail(fmt::format("invalid -j argument {}", quote_operand(value)));
        break;
      case 'N':
        if (!parse_size(value, r.limit))
          return call.fail(fmt::format("invalid -N argument {}", quote_operand(value)));
        break;
      case 't':
        if (!parse_formats(value, r.formats))
          return call.fail(
              value.empty() || std::string_view("acduoxf").find(value[0]) != std::string_view::npos
                  ? fmt::format("invalid type string {}", quote_operand(value))
                  : fmt::format("invalid character '{}' in type string {}", value[0], quote_operand(value)));
        break;
      case 'v': r.all = true; break;
      case 'w':
        r.width = 32;
        if (!value.empty() && (!parse_size(value, r.width) || r.width == 0 || r.width > 4096))
          return call.fail(fmt::format("invalid -w argument {}", quote_operand(value)));
        break;
      case 'a': r.formats.push_back({'a', 1}); break;
      case 'b': r.formats.push_back({'o', 1}); break;
      case 'c': r.formats.push_back({'c', 1}); break;
      case 'd': r.formats.push_back({'u', 2}); break;
      case 'o': r.formats.push_back({'o', 2}); break;
      case 'x': r.formats.push_back({'x', 2}); break;
      case 'i': r.formats.push_back({'d', 4}); break;
      case 'l': r.formats.push_back({'d', 8}); break;
      case 's': r.formats.push_back({'d', 2}); break;
      case 'f': r.formats.push_back({'f', 4}); break;
      case 'h': r.formats.push_back({'x', 2}); break;
      case 'B': r.formats.push_back({'o', 2}); break;
      case 'D': r.formats.push_back({'u', 4}); break;
      case 'O': r.formats.push_back({'o', 4}); break;
      case 'X':
      case 'H': r.formats.push_back({'x', 4}); break;
      case 'I':
      case 'L': r.formats.push_back({'d', 8}); break;
      case 'e':
      case 'F': r.formats.push_back({'f', 8}); break;
      case kEndian: {
        static constexpr Choice kOrders[] = {{"little", 0}, {"big", 1}};
        auto order = choose(call, "--endian", value, kOrders);
        if (!order) return 1;
        r.big = *order == 1;
        break;
      }
      case 'S':
      case kStrings:
        r.strings = 3;
        if (!value.empty() && (!parse_size(value, r.strings) || r.strings == 0))
          return call.fail(fmt::format("invalid -S argument {}", quote_operand(value)));
        break;
      default: break;
    }
  }
  if (r.strings && !r.formats.empty()) return call.fail("no type may be specified when dumping strings");
  if (r.formats.empty()) r.formats.push_back({'o', 2});
  return 0;
}

std::string address(const Request& r, std::uint64_t at) {
  switch (r.radix) {
    case 'n': return {};
    case 'd': return fmt::format("{:07}", at);
    case 'x': return fmt::format("{:06x}", at);
    default: return fmt::format("{:07o}", at);
  }
}

// What is printable and ends with a zero byte, one a line.
void print_strings(Invocation& call, const Request& r, std::string_view view, Sink& out) {
  for (std::size_t at = 0; at < view.size();) {
    std::size_t end = at;
    while (end < view.size() && isprint(static_cast<unsigned char>(view[end]))) ++end;
    call.charge(end - at + 1);
    if (end - at >= r.strings && end < view.size() && view[end] == '\0')
      out.line(address(r, r.skip + at) + (r.radix == 'n' ? "" : " ") +
               std::string(view.substr(at, end - at)));
    at = end + 1;
  }
}

// One row in every format. The widest cell per byte decides how all of them line up.
void print_row(const Request& r, std::string_view row, std::uint64_t at, double per_byte, Sink& out) {
  bool first = true;
  for (const Format& f : r.formats) {
    std::string line = first ? address(r, r.skip + at) : std::string(address(r, 0).size(), ' ');
    first = false;
    // Formats of several sizes stand under each other, byte above byte.
    std::size_t column = static_cast<std::size_t>(per_byte * static_cast<double>(f.size) + 0.5);
    for (std::size_t i = 0; i < row.size(); i += f.size)
      line += fmt::format("{:>{}}", cell(f, row.substr(i, f.size), r.big), column);
    if (f.text) {
      std::size_t cells = (static_cast<std::size_t>(r.width) - row.size()) / f.size;
      line += std::string(cells * column, ' ') + "  >";
      for (char c : row) line += c >= 32 && c < 127 ? c : '.';
      line += '<';
    }
    out.line(line);
  }
}

void print_rows(Invocation& call, const Request& r, std::string_view view, Sink& out) {
  double per_byte = 0;
  for (const Format& f : r.formats)
    per_byte = std::max(per_byte, static_cast<double>(f.width() + 1) / static_cast<double>(f.size));
  std::string_view previous;
  bool starred = false;
  for (std::size_t at = 0; at < view.size(); at += r.width) {
    std::string_view row = view.substr(at, static_cast<std::size_t>(r.width));
    call.charge(row.size());
    // Rows that repeat the one before are one *, but never the last, short one.
    if (!r.all && at > 0 && row == previous && row.size() == r.width) {
      if (!starred) out.append("*\n");
      starred = true;
      continue;
    }
    starred = false;
    previous = row;
    print_row(r, row, at, per_byte, out);
  }
  if (r.radix != 'n') out.line(address(r, r.skip + view.size()));
}

}  // namespace

int run_od(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  if (int status = read_options(call, options, r)) return status;
  const std::uint64_t wanted = r.limit == UINT64_MAX ? UINT64_MAX : r.skip + r.limit;
  std::string data;
  bool any = false;
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    any = true;
    while (data.size() < wanted) {
      std::string_view block = in.fill();
      if (block.empty()) break;
      auto take = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), wanted - data.size()));
      data.append(block.substr(0, take));
      call.charge(take / 8 + 1);
      in.consume(take);
    }
  });
  if (!any) return 1;  // not even an address
  if (r.skip > data.size()) return call.fail("cannot skip past end of combined input");
  std::string_view view = std::string_view(data).substr(static_cast<std::size_t>(r.skip));
  Sink out(call.out());
  if (r.strings)
    print_strings(call, r, view, out);
  else
    print_rows(call, r, view, out);
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::od_program
