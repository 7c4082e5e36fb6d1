#include "shell/commands/text_io.h"

#include <fmt/format.h>
#include <wchar.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "shell/commands/usage.h"

namespace atl::shell {

Lines::~Lines() {
  if (at_ > 0) in_.consume(at_);
}

void Lines::release() {
  if (at_ > 0) in_.consume(at_);
  at_ = 0;
  block_ = {};
}

bool Lines::next(std::string_view& line) {
  const char* found = nullptr;
  if (at_ < block_.size())
    found = static_cast<const char*>(memchr(block_.data() + at_, delimiter_, block_.size() - at_));
  if (found) [[likely]] {
    std::size_t end = static_cast<std::size_t>(found - block_.data());
    line = block_.substr(at_, end - at_);
    at_ = end + 1;
    complete_ = true;
    return true;
  }
  carry_.clear();
  while (true) {
    if (at_ < block_.size()) {
      std::string_view rest = block_.substr(at_);
      std::size_t end = rest.find(delimiter_);
      if (end != std::string_view::npos) {
        at_ += end + 1;
        complete_ = true;
        if (carry_.empty()) {
          line = rest.substr(0, end);
        } else {
          carry_.append(rest.substr(0, end));
          line = carry_;
        }
        return true;
      }
      carry_.append(rest);
      in_.held(carry_.size());
    }
    if (!block_.empty()) in_.consume(block_.size());
    at_ = 0;
    block_ = {};
    block_ = in_.fill();
    if (block_.empty()) break;
  }
  complete_ = false;
  line = carry_;
  return !carry_.empty();
}

bool Sink::flush() {
  if (!buffer_.empty() && !failed_) {
    // Taken out first: a write may end the command, and must not be repeated then.
    if (!out_.write(buffer_)) failed_ = true;
  }
  buffer_.clear();
  return !failed_;
}

int Sink::finish(Invocation& call, int status) {
  if (flush()) return status;
  call.complain(fmt::format("write error: {}", out_.error()));
  return status ? status : 1;
}

std::string usage_hint(std::string_view name) {
  std::string_view base = name.substr(name.rfind('/') + 1);
  if (base.ends_with("grep")) return fmt::format("Usage: {0} [OPTION]... PATTERNS [FILE]...\nTry '{0} --help' for more information.\n", name);
  if (base == "diff" || base == "cmp" || base == "patch") return fmt::format("{0}: Try '{0} --help' for more information.\n", name);
  if (base == "tar") return fmt::format("Try '{0} --help' or '{0} --usage' for more information.\n", name);
  if (base == "gzip" || base == "gunzip" || base == "zcat") return "Try `gzip --help' for more information.\n";
  if (base == "iconv") return fmt::format("Try `{0} --help' or `{0} --usage' for more information.\n", name);
  return fmt::format("Try '{} --help' for more information.\n", name);
}

int usage_error(Invocation& call, std::string_view message, int status) {
  call.complain(message);
  call.err().write(usage_hint(call.args()[0]));
  return status;
}

std::string_view reason(const Error& error) {
  switch (error.code()) {
    case Code::not_found: return "No such file or directory";
    case Code::already_exists: return "File exists";
    case Code::not_a_directory: return "Not a directory";
    case Code::is_a_directory: return "Is a directory";
    case Code::not_empty: return "Directory not empty";
    case Code::loop: return "Too many levels of symbolic links";
    case Code::no_space: return "No space left on device";
    case Code::read_only: return "Read-only file system";
    case Code::too_large: return "File name too long";
    case Code::permission_denied: return "Permission denied";
    case Code::invalid_argument: return "Invalid argument";
    case Code::unsupported: return "Operation not supported";
    case Code::resource_exhausted: return "Too many open files";
    default: return error.message();
  }
}

std::unique_ptr<Input> open_or_complain(Invocation& call, const std::string& path) {
  auto opened = call.open_input(path);
  if (opened) return std::move(*opened);
  call.complain(fmt::format("{}: {}", path, reason(opened.error())));
  return nullptr;
}

bool each_input(Invocation& call, const std::vector<std::string>& operands,
                const std::function<void(Input&, const std::string& name)>& each) {
  if (operands.empty()) {
    each(call.in(), "-");
    return true;
  }
  bool all = true;
  for (const std::string& operand : operands) {
    if (operand == "-") {
      each(call.in(), operand);
    } else if (auto input = open_or_complain(call, operand)) {
      each(*input, operand);
    } else {
      all = false;
    }
  }
  return all;
}

bool parse_integer(std::string_view text, std::int64_t& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_size(std::string_view text, std::uint64_t& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end == text.data()) {
    if (text.empty() || std::strchr("bcwkKMGTPE", text[0]) == nullptr) return false;
    value = 1;
  } else if (error != std::errc()) {
    return false;
  }
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (suffix.empty()) return true;
  if (suffix == "b") return !__builtin_mul_overflow(value, 512, &value);
  if (suffix == "c") return true;
  if (suffix == "w") return !__builtin_mul_overflow(value, 2, &value);
  static constexpr std::string_view kLetters = "KMGTPE";
  std::size_t power = kLetters.find(suffix[0] == 'k' ? 'K' : suffix[0]);
  if (power == std::string_view::npos) return false;
  std::string_view unit = suffix.substr(1);
  std::uint64_t base = 1024;
  if (unit == "B") base = 1000;
  else if (!unit.empty() && unit != "iB") return false;
  for (std::size_t i = 0; i <= power; ++i)
    if (__builtin_mul_overflow(value, base, &value)) return false;
  return true;
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'') result += "'\\''";
    else result += c;
  }
  return result + "'";
}

std::string shell_quoted(std::string_view text) {
  bool plain = !text.empty();
  bool control = false;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) control = true;
    if (!(isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 128 ||
          std::strchr("%+,-./:=@_", c)))
      plain = false;
  }
  if (plain) return std::string(text);
  if (!control) {
    if (text.find('\'') != std::string_view::npos && text.find_first_of("\"$`\\!") == std::string_view::npos)
      return fmt::format("\"{}\"", text);
    return quoted(text);
  }
  std::string result = "'";
  bool escaped = false;
  for (char c : text) {
    unsigned char u = static_cast<unsigned char>(c);
    if (u < 32 || u == 127) {
      if (!escaped) result += "'$'";
      escaped = true;
      switch (c) {
        case '\n': result += "\\n"; break;
        case '\t': result += "\\t"; break;
        case '\r': result += "\\r"; break;
        case '\a': result += "\\a"; break;
        case '\b': result += "\\b"; break;
        case '\v': result += "\\v"; break;
        case '\f': result += "\\f"; break;
        default: result += fmt::format("\\{:03o}", u);
      }
      continue;
    }
    if (escaped) result += "''";
    escaped = false;
    if (c == '\'') result += "'\\''";
    else result += c;
  }
  return result + "'";
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  decode_utf8(text.substr(at), length);
  return length;
}

char32_t decode_utf8(std::string_view text, std::size_t& length) {
  length = 1;
  if (text.empty()) return 0;
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return first;
  std::size_t need = first >= 0xF0 && first < 0xF5 ? 3 : first >= 0xE0 ? 2 : first >= 0xC2 ? 1 : 0;
  if (need == 0 || first >= 0xF5 || text.size() <= need) return 0xFFFD;
  char32_t value = first & (0x3F >> need);
  for (std::size_t i = 1; i <= need; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0xFFFD;
    value = (value << 6) | (byte(i) & 0x3F);
  }
  if ((need == 2 && value < 0x800) || (need == 3 && (value < 0x10000 || value > 0x10FFFF)) ||
      (value >= 0xD800 && value < 0xE000))
    return 0xFFFD;
  length = need + 1;
  return value;
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

namespace {

// What takes two columns: East Asian wide and full-width characters and the pictures among them (Unicode 14).
struct Span {
  char32_t first, last;
};
constexpr Span kWide[] = {
    {0x1100, 0x115F}, {0x231A, 0x231B}, {0x2329, 0x232A}, {0x23E9, 0x23EC}, {0x23F0, 0x23F0}, {0x23F3, 0x23F3},
    {0x25FD, 0x25FE}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267F, 0x267F}, {0x2693, 0x2693}, {0x26A1, 0x26A1},
    {0x26AA, 0x26AB}, {0x26BD, 0x26BE}, {0x26C4, 0x26C5}, {0x26CE, 0x26CE}, {0x26D4, 0x26D4}, {0x26EA, 0x26EA},
    {0x26F2, 0x26F3}, {0x26F5, 0x26F5}, {0x26FA, 0x26FA}, {0x26FD, 0x26FD}, {0x2705, 0x2705}, {0x270A, 0x270B},
    {0x2728, 0x2728}, {0x274C, 0x274C}, {0x274E, 0x274E}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
    {0x27B0, 0x27B0}, {0x27BF, 0x27BF}, {0x2B1B, 0x2B1C}, {0x2B50, 0x2B50}, {0x2B55, 0x2B55}, {0x2E80, 0x2E99},
    {0x2E9B, 0x2EF3}, {0x2F00, 0x2FD5}, {0x2FF0, 0x2FFB}, {0x3000, 0x3029}, {0x302E, 0x303E}, {0x3041, 0x3096},
    {0x309B, 0x30FF}, {0x3105, 0x312F}, {0x3131, 0x318E}, {0x3190, 0x31E3}, {0x31F0, 0x321E}, {0x3220, 0xA48C},
    {0xA490, 0xA4C6}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xF900, 0xFA6D}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE19},
    {0xFE30, 0xFE52}, {0xFE54, 0xFE66}, {0xFE68, 0xFE6B}, {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6}, {0x16FE0, 0x16FE3},
    {0x16FF0, 0x16FF1}, {0x17000, 0x187F7}, {0x18800, 0x18CD5}, {0x18D00, 0x18D08}, {0x1AFF0, 0x1AFF3},
    {0x1AFF5, 0x1AFFB}, {0x1AFFD, 0x1AFFE}, {0x1B000, 0x1B122}, {0x1B150, 0x1B152}, {0x1B164, 0x1B167},
    {0x1B170, 0x1B2FB}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F202}, {0x1F210, 0x1F23B}, {0x1F240, 0x1F248}, {0x1F250, 0x1F251}, {0x1F260, 0x1F265},
    {0x1F300, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440},
    {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A},
    {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
    {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DD, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC},
    {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0}, {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF},
    {0x1FA70, 0x1FA74}, {0x1FA78, 0x1FA7C}, {0x1FA80, 0x1FA86}, {0x1FA90, 0x1FAAC}, {0x1FAB0, 0x1FABA},
    {0x1FAC0, 0x1FAC5}, {0x1FAD0, 0x1FAD9}, {0x1FAE0, 0x1FAE7}, {0x1FAF0, 0x1FAF6}, {0x20000, 0x3FFFD},
};

}  // namespace

int char_width(char32_t c) {
  if (c < 32 || (c >= 0x7F && c < 0xA0)) return 0;
  if (c < 0x300) return 1;
  if ((c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || c == 0xFEFF || (c >= 0xFE00 && c <= 0xFE0F) ||
      (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x20D0 && c <= 0x20FF))
    return 0;
  const Span* at = std::lower_bound(std::begin(kWide), std::end(kWide), c, [](const Span& span, char32_t which) { return span.last < which; });
  return at != std::end(kWide) && at->first <= c ? 2 : 1;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    std::size_t length = 1;
    width += static_cast<std::size_t>(char_width(decode_utf8(text, length)));
    text.remove_prefix(length);
  }
  return width;
}

}  // namespace atl::shell
