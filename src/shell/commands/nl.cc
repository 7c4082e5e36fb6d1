#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"
#include "shell/regex/regex.h"

namespace atl::shell {

namespace {

constexpr Option kOptions[] = {
    {'b', 'b', "body-numbering", Arg::required}, {'d', 'd', "section-delimiter", Arg::required}, {'f', 'f', "footer-numbering", Arg::required},
    {'h', 'h', "header-numbering", Arg::required}, {'i', 'i', "line-increment", Arg::required}, {'l', 'l', "join-blank-lines", Arg::required},
    {'n', 'n', "number-format", Arg::required}, {'p', 'p', "no-renumber"}, {'s', 's', "number-separator", Arg::required},
    {'v', 'v', "starting-line-number", Arg::required}, {'w', 'w', "number-width", Arg::required},
};

struct Section {
  char style = 'n';
  std::unique_ptr<Regex> regex;
};

}  // namespace

int run_nl(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Section sections[3];  // header, body, footer
  sections[1].style = 't';
  std::string delimiter = "\\:", separator = "\t", format = "rn";
  std::int64_t increment = 1, start = 1, width = 6, join = 1;
  bool renumber = true;
  for (auto& [id, value] : options.found()) {
    const std::string& text = value;
    auto number = [&](std::int64_t& out, std::int64_t low, std::string_view what) {
      if (parse_integer(text, out) && out >= low) return true;
      bool number_at_all = parse_integer(text, out);
      call.complain(fmt::format("invalid {}: {}{}", what, quoted(text), number_at_all ? ": Numerical result out of range" : ""));
      return false;
    };
    switch (id) {
      case 'b':
      case 'f':
      case 'h': {
        Section& s = sections[id == 'h' ? 0 : id == 'b' ? 1 : 2];
        if (value.empty() || std::string_view("atnp").find(value[0]) == std::string_view::npos)
          return usage_error(call, fmt::format("invalid {} numbering style: {}", id == 'h' ? "header" : id == 'b' ? "body" : "footer", quoted(value)));
        s.style = value[0];
        if (s.style == 'p') {
          auto regex = Regex::compile(std::string_view(value).substr(1), Syntax::basic);
          if (!regex) return call.fail(regex.error().message());
          s.regex = std::make_unique<Regex>(std::move(*regex));
        }
        break;
      }
      case 'd': delimiter = value.size() == 1 ? value + ":" : value; break;
      case 'i': if (!number(increment, INT64_MIN, "line number increment")) return 1; break;
      case 'l': if (!number(join, 1, "line number of blank lines")) return 1; break;
      case 'n':
        if (value != "ln" && value != "rn" && value != "rz") return usage_error(call, fmt::format("invalid line numbering format: {}", quoted(value)));
        format = value;
        break;
      case 'p': renumber = false; break;
      case 's': separator = value; break;
      case 'v': if (!number(start, INT64_MIN, "starting line number")) return 1; break;
      case 'w':
        if (!number(width, 1, "line number field width")) return 1;
        width = std::min<std::int64_t>(width, 4096);
        break;
      default: break;
    }
  }
  Sink out(call.out());
  std::int64_t line_number = start;
  std::int64_t blanks = 0;
  Section* section = &sections[1];
  std::string unnumbered(static_cast<std::size_t>(width) + separator.size(), ' ');
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Lines lines(in);
    std::string_view line;
    while (lines.next(line)) {
      call.charge(line.size() / 16 + 1);
      int which = -1;
      if (!delimiter.empty()) {
        if (line == delimiter + delimiter + delimiter) which = 0;
        else if (line == delimiter + delimiter) which = 1;
        else if (line == delimiter) which = 2;
      }
      if (which >= 0) {
        section = &sections[which];
        if (renumber) line_number = start;
        out.put('\n');
        continue;
      }
      bool counts = section->style == 'a' || (section->style == 't' && !line.empty()) || (section->style == 'p' && section->regex->matches(line));
      if (section->style == 'a' && join > 1) {
        blanks = line.empty() ? blanks + 1 : 0;
        counts = !line.empty() || blanks == join;
        if (blanks == join) blanks = 0;
      }
      if (counts) {
        std::string digits;
        if (format == "ln") digits = fmt::format("{:<{}}", line_number, width);
        else if (format == "rz") digits = line_number < 0 ? fmt::format("-{:0>{}}", -line_number, width - 1) : fmt::format("{:0>{}}", line_number, width);
        else digits = fmt::format("{:>{}}", line_number, width);
        out.append(digits);
        out.append(separator);
        line_number += increment;
      } else {
        out.append(unnumbered);
      }
      out.line(line);
    }
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell
