#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "shell/commands/awk/machine.h"

namespace atl::shell::awk {

namespace {

constexpr int kWidthMax = 1 << 20;

void pad(std::string& out, std::string_view body, std::size_t width_of_body, int width, bool left) {
  std::size_t fill = static_cast<std::size_t>(width) > width_of_body ? static_cast<std::size_t>(width) - width_of_body : 0;
  if (!left) out.append(fill, ' ');
  out.append(body);
  if (left) out.append(fill, ' ');
}

}  // namespace

void Machine::format(std::string_view spec, std::vector<Value>& arguments, std::string& out) {
  std::size_t next = 0;
  std::string scratch;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    if (spec[i] != '%') {
      std::size_t end = spec.find('%', i);
      if (end == std::string_view::npos) end = spec.size();
      out.append(spec.substr(i, end - i));
      i = end - 1;
      continue;
    }
    std::size_t start = i++;
    std::string flags;
    bool left = false, zero = false;
    while (i < spec.size() && std::string_view("-+ #0'").find(spec[i]) != std::string_view::npos) {
      if (spec[i] == '-') left = true;
      if (spec[i] == '0') zero = true;
      if (spec[i] != '\'') flags += spec[i];
      ++i;
    }
    auto number_or_star = [&](int& value) {
      if (i < spec.size() && spec[i] == '*') {
        ++i;
        constexpr double most = kWidthMax + 1;
        double given = next < arguments.size() ? number_of(arguments[next++]) : 0;
        value = std::isnan(given) ? 0 : static_cast<int>(std::clamp(given, -most, most));
        return;
      }
      value = 0;
      while (i < spec.size() && isdigit(static_cast<unsigned char>(spec[i]))) {
        value = std::min(value * 10 + (spec[i] - '0'), kWidthMax + 1);
        ++i;
      }
      if (i < spec.size() && spec[i] == '$' && value > 0) {
        // %N$...: the argument by its number.
        next = static_cast<std::size_t>(value) - 1;
        ++i;
        value = 0;
        while (i < spec.size() && isdigit(static_cast<unsigned char>(spec[i]))) {
          value = std::min(value * 10 + (spec[i] - '0'), kWidthMax + 1);
          ++i;
        }
      }
    };
    int width = 0, precision = -1;
    number_or_star(width);
    if (width < 0) {
      left = true;
      flags += '-';
      width = -width;
    }
    if (i < spec.size() && spec[i] == '.') {
      ++i;
      number_or_star(precision);
    }
    if (width > kWidthMax || precision > kWidthMax) fatal(fmt::format("format: a width or precision is too large (limit {})", kWidthMax));
    while (i < spec.size() && (spec[i] == 'l' || spec[i] == 'h' || spec[i] == 'L')) ++i;
    if (i >= spec.size()) {
      out.append(spec.substr(start));
      return;
    }
    char conversion = spec[i];
    if (conversion == '%') {
      out += '%';
      continue;
    }
    if (std::string_view("diouxXeEfFgGaAcs").find(conversion) == std::string_view::npos) {
      out.append(spec.substr(start, i - start + 1));
      continue;
    }
    if (next >= arguments.size()) {
      if (conversion == 's' || conversion == 'c') {
        if (arguments.empty() && next == 0 && spec.find('%') == start && width == 0) fatal("not enough arguments to satisfy format string");
        pad(out, "", 0, width, left);
        ++next;
        continue;
      }
      fatal("not enough arguments to satisfy format string");
    }
    Value& value = arguments[next++];
    if (conversion == 's') {
      std::string_view body = text_of(value, scratch);
      std::size_t length = 0, bytes = 0;
      while (bytes < body.size() && (precision < 0 || length < static_cast<std::size_t>(precision))) {
        bytes += utf8_length(body, bytes);
        ++length;
      }
      pad(out, body.substr(0, bytes), length, width, left);
      continue;
    }
    if (conversion == 'c') {
      std::string body;
      if (value.is_number() && !(value.flags & Value::kMaybe)) append_utf8(body, static_cast<char32_t>(value.number));
      else {
        settle(value);
        if (value.is_number()) append_utf8(body, static_cast<char32_t>(value.number));
        else body = value.text.empty() ? std::string(1, '\0') : value.text.substr(0, utf8_length(value.text));
      }
      pad(out, body, 1, width, left);
      continue;
    }
    double number = number_of(value);
    if (std::isnan(number) || std::isinf(number)) {
      std::string body = std::isnan(number) ? (std::signbit(number) ? "-nan" : "+nan") : (number < 0 ? "-inf" : "+inf");
      pad(out, body, body.size(), width, left);
      continue;
    }
    std::string c_format = "%" + flags + "*";
    if (precision >= 0) c_format += fmt::format(".{}", precision);
    std::vector<char> buffer(static_cast<std::size_t>(width + std::max(precision, 0)) + 400);
    int length = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    // The format is built above from checked parts.
    if (std::string_view("di").find(conversion) != std::string_view::npos) {
      double whole = std::trunc(number);
      if (std::fabs(whole) < 9.2e18) {
        c_format += "lld";
        length = snprintf(buffer.data(), buffer.size(), c_format.c_str(), width, static_cast<long long>(whole));
      } else {
        c_format = "%" + flags + "*.0f";
        length = snprintf(buffer.data(), buffer.size(), c_format.c_str(), width, whole);
      }
    } else if (std::string_view("ouxX").find(conversion) != std::string_view::npos) {
      double whole = std::trunc(number);
      if (whole < 0 || whole > 1.8e19) {
        // gawk prints what an unsigned conversion cannot hold as a plain number.
        std::string body;
        append_number(body, whole, "%.6g");
        pad(out, body, body.size(), width, left);
        continue;
      }
      c_format += std::string("ll") + conversion;
      length = snprintf(buffer.data(), buffer.size(), c_format.c_str(), width, static_cast<unsigned long long>(whole));
    } else {
      c_format += conversion;
      length = snprintf(buffer.data(), buffer.size(), c_format.c_str(), width, number);
    }
#pragma GCC diagnostic pop
    (void)zero;
    if (length > 0) out.append(buffer.data(), std::min(static_cast<std::size_t>(length), buffer.size() - 1));
  }
}

}  // namespace atl::shell::awk
