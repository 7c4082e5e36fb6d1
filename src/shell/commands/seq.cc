#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::seq_program {

namespace {

constexpr Option kOptions[] = {
    {'f', 'f', "format", Arg::required},
    {'s', 's', "separator", Arg::required},
    {'w', 'w', "equal-width"},
};

struct Number {
  long double value = 0;
  int precision = 0;
  bool plain = true;  // no exponent
};

bool parse(const std::string& text, Number& n) {
  char* end = nullptr;
  n.value = strtold(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || isspace(static_cast<unsigned char>(text[0]))) return false;
  std::size_t dot = text.find('.');
  std::size_t e = text.find_first_of("eE");
  n.plain = e == std::string::npos && text.find_first_of("xXinp") == std::string::npos;
  if (dot != std::string::npos)
    n.precision = static_cast<int>((e == std::string::npos ? text.size() : e) - dot - 1);
  if (e != std::string::npos) n.precision = std::max(0, n.precision - atoi(text.c_str() + e + 1));
  return true;
}

// One conversion of a floating number; the text before and behind it.
std::string check_format(const std::string& format, std::string& converted) {
  std::size_t i = 0;
  bool found = false;
  for (; i < format.size(); ++i) {
    if (format[i] != '%') {
      converted += format[i];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      converted += "%%";
      ++i;
      continue;
    }
    if (found) return fmt::format("format {} has too many % directives", quote_operand(format));
    found = true;
    std::size_t start = i++;
    i = std::min(format.find_first_not_of("-+#0 '", i), format.size());
    std::size_t digits = i;
    i = std::min(format.find_first_not_of("0123456789", i), format.size());
    if (i - digits > 4) return "format width too large";
    if (i < format.size() && format[i] == '.') {
      digits = ++i;
      i = std::min(format.find_first_not_of("0123456789", i), format.size());
      if (i - digits > 4) return "format precision too large";
    }
    if (i >= format.size()) return fmt::format("format {} ends in %", quote_operand(format));
    if (std::string_view("efgaEFGA").find(format[i]) == std::string_view::npos)
      return fmt::format("format {} has unknown %{} directive", quote_operand(format), format[i]);
    converted += format.substr(start, i - start) + "L" + format[i];
  }
  if (!found) return fmt::format("format {} has no % directive", quote_operand(format));
  return {};
}

struct Range {
  std::int64_t first, step, last;
};

// Whole numbers, with zeros in front up to `width`.
void count_up(Invocation& call, const Range& range, std::size_t width, std::string_view separator,
              Sink& out) {
  bool any = false;
  char digits[32];
  for (std::int64_t value = range.first; range.step > 0 ? value <= range.last : value >= range.last;
       value += range.step) {
    if (any) out.append(separator);
    any = true;
    call.charge(1);
    auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    std::string_view text(digits, static_cast<std::size_t>(end - digits));
    if (text.size() < width) {
      if (value < 0) out.put('-'), text.remove_prefix(1);
      for (std::size_t i = text.size() + (value < 0); i < width; ++i) out.put('0');
    }
    out.append(text);
  }
  if (any) out.put('\n');
}

}  // namespace

int run_seq(Invocation& call) {
  CommandLine options(call, kOptions, {.permute = false, .negative_numbers = true});
  if (options.stopped()) return options.status();
  std::string format, separator = "\n";
  bool equal = false, has_format = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'f') {
      std::string problem = check_format(value, format);
      if (!problem.empty()) return call.fail(problem);
      has_format = true;
    }
    if (id == 's') separator = value;
    if (id == 'w') equal = true;
  }
  if (has_format && equal)
    return usage_error(call, "format string may not be specified when printing equal width strings");
  auto& operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing operand");
  if (operands.size() > 3)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[3])));
  Number first, step, last;
  first.value = step.value = 1;
  std::vector<Number*> into = operands.size() == 1   ? std::vector<Number*>{&last}
                              : operands.size() == 2 ? std::vector<Number*>{&first, &last}
                                                     : std::vector<Number*>{&first, &step, &last};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!parse(operands[i], *into[i]))
      return usage_error(call,
                         fmt::format("invalid floating point argument: {}", quote_operand(operands[i])));
    if (std::isnan(into[i]->value))
      return usage_error(call,
                         fmt::format("invalid 'not-a-number' argument: {}", quote_operand(operands[i])));
  }
  if (step.value == 0)
    return usage_error(call, fmt::format("invalid Zero increment value: {}",
                                         quote_operand(operands.size() > 2 ? operands[1] : "0")));
  Sink out(call.out());
  int precision = std::max(first.precision, step.precision);
  bool integers = !has_format && precision == 0 && std::fabs(first.value) < 1e18L &&
                  std::fabs(step.value) < 1e18L && first.value == std::floor(first.value) &&
                  step.value == std::floor(step.value);
  std::size_t width = 0;
  if (equal) {
    auto digits = [&](long double v) {
      return fmt::format("{:.{}f}", static_cast<double>(v), precision).size();
    };
    long double steps = std::floor((last.value - first.value) / step.value + 1e-10L);
    long double end = first.value + (steps > 0 ? steps : 0) * step.value;
    width = std::max(digits(first.value), digits(end));
  }
  if (integers && std::fabs(last.value) < 1e18L) {
    count_up(call,
             {static_cast<std::int64_t>(first.value), static_cast<std::int64_t>(step.value),
              static_cast<std::int64_t>(std::floor(last.value))},
             width, separator, out);
    return out.finish(call);
  }
  bool any = false;
  char buffer[512];
  for (std::uint64_t i = 0;; ++i) {
    long double value = first.value + static_cast<long double>(i) * step.value;
    // A last value that is only just too large by rounding still counts.
    if (step.value > 0 ? value > last.value : value < last.value) {
      if (integers) break;
      std::string shown = fmt::format("{:.{}f}", static_cast<double>(value), precision);
      if (strtold(shown.c_str(), nullptr) != last.value ||
          std::fabs(value - last.value) > std::fabs(step.value) / 2)
        break;
    }
    if (any) out.append(separator);
    any = true;
    call.charge(1);
    int length = 0;
    if (has_format) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      length = snprintf(buffer, sizeof buffer, format.c_str(), value);
#pragma GCC diagnostic pop
      out.append({buffer, static_cast<std::size_t>(std::clamp(length, 0, 511))});
    } else {
      std::string text = integers ? fmt::format("{}", static_cast<std::int64_t>(value))
                                  : fmt::format("{:.{}f}", static_cast<double>(value), precision);
      if (text.size() < width) text.insert(text.starts_with('-') ? 1 : 0, width - text.size(), '0');
      out.append(text);
    }
  }
  if (any) out.put('\n');
  return out.finish(call);
}

int run_yes(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  std::string line;
  for (const std::string& operand : options.operands()) line += (line.empty() ? "" : " ") + operand;
  if (options.operands().empty()) line = "y";
  line += '\n';
  std::string block;
  while (block.size() < 8192) block += line;
  while (call.out().write(block)) call.charge(block.size() / 64 + 1);
  return call.fail(fmt::format("standard output: {}", call.out().error()));
}

}  // namespace atl::shell::seq_program
