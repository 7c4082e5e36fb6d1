#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "base/utf8.h"
#include "shell/builtins/builtins.h"
#include "shell/calendar/calendar.h"
#include "shell/quoting.h"

namespace atl::shell::builtins {

namespace {

// Escapes of `echo -e` and of printf's %b. False when \c ends the output.
bool escapes(std::string_view text, std::string& out, bool printf_b, bool format = false) {
  auto hex = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : (c | 32) - 'a' + 10;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    char c = text[++i];
    switch (c) {
      case 'a': out += '\a'; break;
      case 'b': out += '\b'; break;
      case 'c': return false;
      case 'e':
      case 'E': out += '\033'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'v': out += '\v'; break;
      case '\\': out += '\\'; break;
      case '"':
        if (format)
          out += '"';
        else
          out += "\\\"";
        break;
      case '\'':
        if (printf_b)
          out += '\'';
        else
          out += "\\'";
        break;
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7': {
        // echo -e knows octal numbers only with a leading 0, %b and printf's format also without.
        if (!printf_b && c != '0') {
          out += '\\', out += c;
          break;
        }
        int value = c - '0', most = c == '0' ? 3 : 2;
        while (most-- > 0 && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '7')
          value = value * 8 + text[++i] - '0';
        out += static_cast<char>(value);
        break;
      }
      case 'x': {
        int value = 0, digits = 0;
        while (digits < 2 && i + 1 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])))
          value = value * 16 + hex(text[++i]), ++digits;
        if (digits)
          out += static_cast<char>(value);
        else
          out += "\\x";
        break;
      }
      case 'u':
      case 'U': {
        std::uint32_t value = 0;
        int digits = 0, most = c == 'u' ? 4 : 8;
        while (digits < most && i + 1 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])))
          value = value * 16 + static_cast<std::uint32_t>(hex(text[++i])), ++digits;
        if (digits)
          utf8::append(out, value);
        else
          out += '\\', out += c;
        break;
      }
      default: out += '\\', out += c;
    }
  }
  return true;
}

struct Spec {
  std::string flags;
  std::int64_t width = 0;
  std::int64_t precision = -1;
  bool has_width = false;
};

std::string pad(std::string text, const Spec& spec, std::size_t shown) {
  std::int64_t width = spec.width;
  bool left = spec.flags.find('-') != std::string::npos;
  if (width < 0) left = true, width = -width;
  if (static_cast<std::int64_t>(shown) >= width) return text;
  std::string fill(static_cast<std::size_t>(width) - shown, ' ');
  return left ? text + fill : fill + text;
}

class Printf {
 public:
  Printf(ShellRunner& shell, const std::string& format, Args values)
      : shell_(shell), format_(format), values_(std::move(values)) {}

  // The format is used again and again until all arguments are used up; one that takes none is used once.
  int run(std::string& out) {
    do {
      consumed_ = false;
      std::size_t before = next_;
      if (!pass(out)) break;
      if (next_ == before && !consumed_) break;
      if (out.size() > shell_.machine().limits.expansion_bytes)
        shell_.machine().stop_limit(Limit::expansion_bytes);
    } while (next_ < values_.size());
    return status_;
  }

 private:
  std::string value() {
    consumed_ = true;
    return next_ < values_.size() ? values_[next_++] : std::string();
  }

  std::int64_t integer() {
    std::string text = value();
    if (text.empty()) return 0;
    // 'A is the code of the letter A.
    if (text[0] == '"' || text[0] == '\'') {
      if (text.size() == 1) return 0;
      std::string_view rest = std::string_view(text).substr(1);
      std::size_t n = utf8::sequence(rest);
      return utf8::decode(rest, n);
    }
    errno = 0;
    char* end = nullptr;
    const char* begin = text.c_str();
    // Base 0: 0x and leading zeros are understood as in C.
    long long result = std::strtoll(begin, &end, 0);
    // %u and %x take the upper half of 64 bits as well.
    if (errno == ERANGE) {
      errno = 0;
      unsigned long long large = std::strtoull(begin, &end, 0);
      if (errno == ERANGE || text[0] == '-') {
        shell_.error(fmt::format("printf: warning: {}: Numerical result out of range", text));
        status_ = 1;
        return text[0] == '-' ? INT64_MIN : INT64_MAX;
      }
      if (!want_unsigned_) {
        shell_.error(fmt::format("printf: warning: {}: Numerical result out of range", text));
        status_ = 1;
        return INT64_MAX;
      }
      return static_cast<std::int64_t>(large);
    }
    if (*end != '\0' || end == begin) {
      bool octal = text.size() > 1 && text[0] == '0' && std::isdigit(static_cast<unsigned char>(text[1]));
      shell_.error(fmt::format("printf: {}: invalid {}", text,
                               octal                    ? "octal number"
                               : text.starts_with("0x") ? "hex number"
                                                        : "number"));
      status_ = 1;
    }
    return result;
  }

  long double floating() {
    std::string text = value();
    if (text.empty()) return 0;
    if (text[0] == '"' || text[0] == '\'') return text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0;
    char* end = nullptr;
    long double result = std::strtold(text.c_str(), &end);
    if (*end != '\0') {
      shell_.error(fmt::format("printf: {}: invalid number", text));
      status_ = 1;
    }
    return result;
  }

  // One walk over the format. False when output ends (\c, bad format).
  bool pass(std::string& out) {
    for (std::size_t i = 0; i < format_.size(); ++i) {
      char c = format_[i];
      if (c == '\\') {
        std::size_t end = escape_end(i);
        std::string piece;
        if (format_.compare(i, 2, "\\c") == 0) return false;
        if (!escapes(std::string_view(format_).substr(i, end - i), piece, true, true)) return false;
        out += piece;
        i = end - 1;
        continue;
      }
      if (c != '%') {
        out += c;
        continue;
      }
      if (i + 1 < format_.size() && format_[i + 1] == '%') {
        out += '%';
        ++i;
        continue;
      }
      if (!conversion(out, i)) return false;
    }
    return true;
  }

  std::size_t escape_end(std::size_t i) const {
    std::size_t end = i + 2;
    if (i + 1 >= format_.size()) return i + 1;
    char c = format_[i + 1];
    if (c >= '0' && c <= '7') {
      while (end < format_.size() && end < i + 4 && format_[end] >= '0' && format_[end] <= '7') ++end;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      std::size_t most = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      while (end < format_.size() && end < i + 2 + most &&
             std::isxdigit(static_cast<unsigned char>(format_[end])))
        ++end;
    }
    return std::min(end, format_.size());
  }

  bool conversion(std::string& out, std::size_t& i) {
    std::size_t begin = i++;
    Spec spec;
    while (i < format_.size() && std::string_view("-+ #0'").find(format_[i]) != std::string_view::npos)
      spec.flags += format_[i++];
    auto number = [&](std::int64_t& into) {
      if (i < format_.size() && format_[i] == '*') {
        ++i;
        into = integer();
        return;
      }
      into = 0;
      bool negative = i < format_.size() && format_[i] == '-';
      if (negative) ++i;
      while (i < format_.size() && std::isdigit(static_cast<unsigned char>(format_[i])))
        // Capped far above every limit, so that no number of digits overflows.
        into = std::min<std::int64_t>(into * 10 + format_[i++] - '0', 1LL << 40);
      if (negative) into = -1;
    };
    number(spec.width);
    if (i < format_.size() && format_[i] == '.') {
      ++i;
      number(spec.precision);
    }
    // A width is memory: %1000000000d must not get it before the limit is asked.
    if (std::abs(spec.width) > 1'000'000'000 || spec.precision > 1'000'000'000 ||
        static_cast<std::uint64_t>(std::abs(spec.width)) > shell_.machine().limits.expansion_bytes ||
        (spec.precision > 0 &&
         static_cast<std::uint64_t>(spec.precision) > shell_.machine().limits.expansion_bytes))
      shell_.machine().stop_limit(Limit::expansion_bytes);
    while (i < format_.size() && std::string_view("hlLjzt").find(format_[i]) != std::string_view::npos) ++i;
    if (i >= format_.size()) {
      shell_.error(fmt::format("printf: `{}': missing format character", format_.substr(begin)));
      status_ = 1;
      return false;
    }
    char c = format_[i];
    switch (c) {
      case 's': {
        std::string text = value();
        if (spec.precision >= 0) text = text.substr(0, static_cast<std::size_t>(spec.precision));
        out += pad(text, spec, text.size());  // bash counts bytes
        return true;
      }
      case 'b': {
        std::string raw;
        bool go_on = escapes(value(), raw, true);
        if (spec.precision >= 0) raw = raw.substr(0, static_cast<std::size_t>(spec.precision));
        out += pad(raw, spec, raw.size());
        return go_on;
      }
      case 'q':
      case 'Q': {
        std::string text = value();
        if (c == 'Q' && spec.precision >= 0) text = text.substr(0, static_cast<std::size_t>(spec.precision));
        // %q cuts the quoted text at the precision, %Q the text before it is quoted.
        text = quote_backslash(text);
        if (c == 'q' && spec.precision >= 0) text = text.substr(0, static_cast<std::size_t>(spec.precision));
        out += pad(text, spec, text.size());
        return true;
      }
      case 'c': {
        std::string text = value();
        std::string one = text.empty() ? std::string(1, '\0') : text.substr(0, 1);
        out += pad(one, spec, one.size());
        return true;
      }
      case 'd':
      case 'i':
      case 'o':
      case 'u':
      case 'x':
      case 'X': out += whole(spec, c); return true;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': out += real(spec, c); return true;
      case '(': return time(out, spec, i);
      case 'n': {
        std::string name = value();
        if (!name.empty()) shell_.variables().assign(name, std::to_string(out.size()));
        return true;
      }
      default:
        shell_.error(fmt::format("printf: `{}': invalid format character", c));
        status_ = 1;
        return false;
    }
  }

  std::string whole(const Spec& spec, char c) {
    want_unsigned_ = c != 'd' && c != 'i';
    std::int64_t number = integer();
    std::string format = "%" + spec.flags;
    format += "*";
    if (spec.precision >= 0) format += ".*";
    format += "ll";
    format += c == 'i' ? 'd' : c;
    return formatted(format, spec, static_cast<long long>(number));
  }

  std::string real(const Spec& spec, char c) {
    long double number = floating();
    std::string format = "%" + spec.flags + "*";
    if (spec.precision >= 0) format += ".*";
    format += "L";
    format += c;
    return formatted(format, spec, number);
  }

  template <class T>
  std::string formatted(const std::string& format, const Spec& spec, T number) {
    auto width = static_cast<int>(spec.width);
    auto precision = static_cast<int>(spec.precision);
    std::string out(256, '\0');
    // The first round tells how long the text is, if the buffer does not do.
    for (int round = 0; round < 2; ++round) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      int n = spec.precision >= 0
                  ? std::snprintf(out.data(), out.size(), format.c_str(), width, precision, number)
                  : std::snprintf(out.data(), out.size(), format.c_str(), width, number);
#pragma GCC diagnostic pop
      if (n < 0) return {};
      bool fits = static_cast<std::size_t>(n) < out.size();
      out.resize(fits ? static_cast<std::size_t>(n) : static_cast<std::size_t>(n) + 1);
      if (fits) break;
    }
    return out;
  }

  bool time(std::string& out, const Spec& spec, std::size_t& i) {
    std::size_t close = format_.find(')', i);
    if (close == std::string::npos || close + 1 >= format_.size() || format_[close + 1] != 'T') {
      shell_.error(
          fmt::format("printf: warning: `{}': invalid time format specification", format_.substr(i)));
      status_ = 1;
      return false;
    }
    std::string format = format_.substr(i + 1, close - i - 1);
    i = close + 1;
    if (format.empty()) format = "%X";
    std::int64_t when = -1;
    if (next_ < values_.size())
      when = integer();
    else
      consumed_ = true;
    // -1 is now, -2 the start of the shell; here they are the same.
    if (when == -1 || when == -2) when = unix_micros(shell_.machine().clock.now()) / 1'000'000;
    std::string text = format_time(format, Moment::at(when), shell_.variables().zone());
    out += pad(text, spec, text.size());
    return true;
  }

  ShellRunner& shell_;
  const std::string& format_;
  Args values_;
  std::size_t next_ = 0;
  bool consumed_ = false;
  bool want_unsigned_ = false;
  int status_ = 0;
};

}  // namespace

int echo(ShellRunner& shell, const Args& args) {
  bool newline = true, escape = shell.option(Shopt::xpg_echo);
  std::size_t at = 1;
  if (!(shell.option(Opt::posix) && escape)) {
    for (; at < args.size() && args[at].size() > 1 && args[at][0] == '-'; ++at) {
      // -nx is text: an option has only letters that echo knows.
      if (args[at].find_first_not_of("neE", 1) != std::string::npos) break;
      for (char c : args[at].substr(1)) {
        if (c == 'n')
          newline = false;
        else
          escape = c == 'e';
      }
    }
  }
  std::string out;
  for (std::size_t i = at; i < args.size(); ++i) {
    if (i > at) out += ' ';
    if (!escape) {
      out += args[i];
    } else if (!escapes(args[i], out, false)) {
      newline = false;
      break;
    }
  }
  if (newline) out += '\n';
  return shell.print(out, "echo") ? 0 : 1;
}

int printf(ShellRunner& shell, const Args& args) {
  std::size_t at = 1;
  std::string variable;
  bool to_variable = false;
  while (at < args.size() && args[at].size() > 1 && args[at][0] == '-') {
    if (args[at] == "--") {
      ++at;
      break;
    }
    if (args[at].starts_with("-v")) {
      variable = args[at].size() > 2 ? args[at].substr(2) : at + 1 < args.size() ? args[++at] : "";
      to_variable = true;
      std::size_t bracket = variable.find('[');
      if (!is_name(variable.substr(0, bracket)) || (bracket != std::string::npos && variable.back() != ']')) {
        shell.error(fmt::format("printf: `{}': not a valid identifier", variable));
        return 2;
      }
      ++at;
      continue;
    }
    return bad_option(shell, args, args[at].substr(0, 2));
  }
  if (at >= args.size()) return usage(shell, args);
  Args values(args.begin() + static_cast<std::ptrdiff_t>(at) + 1, args.end());
  std::string out;
  Printf formatter(shell, args[at], std::move(values));
  int status = formatter.run(out);
  if (to_variable) {
    if (out.find('\0') != std::string::npos) out.resize(out.find('\0'));
    return shell.variables().assign_reference(variable, std::move(out)) ? status : 1;
  }
  return shell.print(out, "printf") ? status : 1;
}

}  // namespace atl::shell::builtins
