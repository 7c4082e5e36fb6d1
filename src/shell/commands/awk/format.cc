#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/utf8.h"
#include "shell/commands/awk/machine.h"

namespace atl::shell::awk {

namespace {

constexpr int kWidthMax = 1 << 20;

void pad(std::string& out, std::string_view body, std::size_t width_of_body, int width, bool left) {
  std::size_t fill =
      static_cast<std::size_t>(width) > width_of_body ? static_cast<std::size_t>(width) - width_of_body : 0;
  if (!left) out.append(fill, ' ');
  out.append(body);
  if (left) out.append(fill, ' ');
}

// One conversion of a format: %-5.2f.
struct Conversion {
  std::string flags;
  bool left = false;
  int width = 0, precision = -1;
  char letter = 0;
};

int read_digits(std::string_view spec, std::size_t& at) {
  int value = 0;
  for (; at < spec.size() && isdigit(static_cast<unsigned char>(spec[at])); ++at)
    value = std::min(value * 10 + (spec[at] - '0'), kWidthMax + 1);
  return value;
}

// What printf of C makes of a number that is finite. Nothing for one that an unsigned conversion cannot hold.
std::optional<std::string> printed(const Conversion& c, double number) {
  std::string c_format = "%" + c.flags + "*";
  if (c.precision >= 0) c_format += fmt::format(".{}", c.precision);
  std::vector<char> buffer(static_cast<std::size_t>(c.width + std::max(c.precision, 0)) + 400);
  int length = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  // The format is built above from checked parts.
  auto print = [&](auto value) {
    length = snprintf(buffer.data(), buffer.size(), c_format.c_str(), c.width, value);
  };
#pragma GCC diagnostic pop
  double whole = std::trunc(number);
  if (c.letter == 'd' || c.letter == 'i') {
    if (std::fabs(whole) < 9.2e18) {
      c_format += "lld";
      print(static_cast<long long>(whole));
    } else {
      c_format = "%" + c.flags + "*.0f";
      print(whole);
    }
  } else if (std::string_view("ouxX").find(c.letter) != std::string_view::npos) {
    if (whole < 0 || whole > 1.8e19) return std::nullopt;
    c_format += std::string("ll") + c.letter;
    print(static_cast<unsigned long long>(whole));
  } else {
    c_format += c.letter;
    print(number);
  }
  if (length <= 0) return std::string();
  return std::string(buffer.data(), std::min(static_cast<std::size_t>(length), buffer.size() - 1));
}

}  // namespace

// A width or a precision: digits, * for the next argument, or N$ for the argument of that number and then
// digits.
int Machine::format_number(std::string_view spec, std::size_t& at, std::vector<Value>& arguments,
                           std::size_t& next) {
  if (at < spec.size() && spec[at] == '*') {
    ++at;
    constexpr double most = kWidthMax + 1;
    double given = next < arguments.size() ? number_of(arguments[next++]) : 0;
    return std::isnan(given) ? 0 : static_cast<int>(std::clamp(given, -most, most));
  }
  int value = read_digits(spec, at);
  if (at >= spec.size() || spec[at] != '$' || value == 0) return value;
  next = static_cast<std::size_t>(value) - 1;
  return read_digits(spec, ++at);
}

// %c: the character of a number, or the first of a text.
std::string Machine::format_character(Value& value) {
  std::string body;
  if (!value.is_number() || (value.flags & Value::kMaybe)) settle(value);
  if (value.is_number())
    utf8::append(body, static_cast<char32_t>(value.number));
  else
    body = value.text.empty() ? std::string(1, '\0') : value.text.substr(0, utf8::read_length(value.text));
  return body;
}

void Machine::format(std::string_view spec, std::vector<Value>& arguments, std::string& out) {
  std::size_t next = 0;
  std::string scratch;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    if (spec[i] != '%') {
      std::size_t end = std::min(spec.find('%', i), spec.size());
      out.append(spec.substr(i, end - i));
      i = end - 1;
      continue;
    }
    std::size_t start = i++;
    Conversion c;
    for (; i < spec.size() && std::string_view("-+ #0'").find(spec[i]) != std::string_view::npos; ++i) {
      c.left = c.left || spec[i] == '-';
      if (spec[i] != '\'') c.flags += spec[i];
    }
    c.width = format_number(spec, i, arguments, next);
    if (c.width < 0) {
      c.left = true;
      c.flags += '-';
      c.width = -c.width;
    }
    if (i < spec.size() && spec[i] == '.') c.precision = format_number(spec, ++i, arguments, next);
    if (c.width > kWidthMax || c.precision > kWidthMax)
      fatal(fmt::format("format: a width or precision is too large (limit {})", kWidthMax));
    while (i < spec.size() && (spec[i] == 'l' || spec[i] == 'h' || spec[i] == 'L')) ++i;
    if (i >= spec.size()) {
      out.append(spec.substr(start));
      return;
    }
    c.letter = spec[i];
    if (c.letter == '%') {
      out += '%';
      continue;
    }
    if (std::string_view("diouxXeEfFgGaAcs").find(c.letter) == std::string_view::npos) {
      out.append(spec.substr(start, i - start + 1));
      continue;
    }
    bool text = c.letter == 's' || c.letter == 'c';
    if (next >= arguments.size()) {
      bool only = arguments.empty() && next == 0 && spec.find('%') == start && c.width == 0;
      if (!text || only) fatal("not enough arguments to satisfy format string");
      pad(out, "", 0, c.width, c.left);
      ++next;
      continue;
    }
    Value& value = arguments[next++];
    if (c.letter == 's') {
      std::string_view body = text_of(value, scratch);
      std::size_t length = 0, bytes = 0;
      while (bytes < body.size() && (c.precision < 0 || length < static_cast<std::size_t>(c.precision))) {
        bytes += utf8::read_length(body, bytes);
        ++length;
      }
      pad(out, body.substr(0, bytes), length, c.width, c.left);
    } else if (c.letter == 'c') {
      pad(out, format_character(value), 1, c.width, c.left);
    } else {
      double number = number_of(value);
      std::optional<std::string> body;
      if (std::isfinite(number)) body = printed(c, number);
      if (body) {
        out.append(*body);
        continue;
      }
      std::string shown;
      if (std::isnan(number))
        shown = std::signbit(number) ? "-nan" : "+nan";
      else if (std::isinf(number))
        shown = number < 0 ? "-inf" : "+inf";
      else  // gawk prints what an unsigned conversion cannot hold as a plain number
        append_number(shown, std::trunc(number), "%.6g");
      pad(out, shown, shown.size(), c.width, c.left);
    }
  }
}

}  // namespace atl::shell::awk
