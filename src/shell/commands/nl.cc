#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/regex/regex.h"
#include "shell/text/lines.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::nl_program {

namespace {

constexpr Option kOptions[] = {
    {'b', 'b', "body-numbering", Arg::required},   {'d', 'd', "section-delimiter", Arg::required},
    {'f', 'f', "footer-numbering", Arg::required}, {'h', 'h', "header-numbering", Arg::required},
    {'i', 'i', "line-increment", Arg::required},   {'l', 'l', "join-blank-lines", Arg::required},
    {'n', 'n', "number-format", Arg::required},    {'p', 'p', "no-renumber"},
    {'s', 's', "number-separator", Arg::required}, {'v', 'v', "starting-line-number", Arg::required},
    {'w', 'w', "number-width", Arg::required},
};

struct Section {
  char style = 'n';
  std::unique_ptr<Regex> regex;
};

struct Request {
  Section sections[3];  // header, body, footer
  std::string delimiter = "\\:", separator = "\t", format = "rn";
  std::int64_t increment = 1, start = 1, width = 6, join = 1;
  bool renumber = true;
};

// The number of an option. False after a message.
bool read_number(Invocation& call, const std::string& text, std::int64_t low, std::int64_t& out,
                 std::string_view what) {
  bool number = parse_integer(text, out);
  if (number && out >= low) return true;
  call.complain(fmt::format("invalid {}: {}{}", what, quote_operand(text),
                            number ? ": Numerical result out of range" : ""));
  return false;
}

// 0, or the status with which nl ends after a message.
int read_options(Invocation& call, const CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'b':
      case 'f':
      case 'h': {
        Section& s = r.sections[id == 'h' ? 0 : id == 'b' ? 1 : 2];
        if (value.empty() || std::string_view("atnp").find(value[0]) == std::string_view::npos)
          return usage_error(call, fmt::format("invalid {} numbering style: {}",
                                               id == 'h'   ? "header"
                                               : id == 'b' ? "body"
                                                           : "footer",
                                               quote_operand(value)));
        s.style = value[0];
        if (s.style == 'p') {
          auto regex = Regex::compile(std::string_view(value).substr(1), Syntax::basic);
          if (!regex) return call.fail(regex.error().message());
          s.regex = std::make_unique<Regex>(std::move(*regex));
        }
        break;
      }
      case 'd': r.delimiter = value.size() == 1 ? value + ":" : value; break;
      case 'i':
        if (!read_number(call, value, INT64_MIN, r.increment, "line number increment")) return 1;
        break;
      case 'l':
        if (!read_number(call, value, 1, r.join, "line number of blank lines")) return 1;
        break;
      case 'n':
        if (value != "ln" && value != "rn" && value != "rz")
          return usage_error(call, fmt::format("invalid line numbering format: {}", quote_operand(value)));
        r.format = value;
        break;
      case 'p': r.renumber = false; break;
      case 's': r.separator = value; break;
      case 'v':
        if (!read_number(call, value, INT64_MIN, r.start, "starting line number")) return 1;
        break;
      case 'w':
        if (!read_number(call, value, 1, r.width, "line number field width")) return 1;
        r.width = std::min<std::int64_t>(r.width, 4096);
        break;
      default: break;
    }
  }
  return 0;
}

// Numbers lines, from one input to the next.
class Numberer {
 public:
  Numberer(const Request& r, Sink& out)
      : r_(r),
        out_(out),
        number_(r.start),
        section_(&r.sections[1]),
        unnumbered_(static_cast<std::size_t>(r.width) + r.separator.size(), ' ') {}

  void line(std::string_view line) {
    if (int which = section_of(line); which >= 0) {
      section_ = &r_.sections[which];
      if (r_.renumber) number_ = r_.start;
      out_.put('\n');
      return;
    }
    if (counts(line)) {
      out_.append(digits());
      out_.append(r_.separator);
      number_ += r_.increment;
    } else {
      out_.append(unnumbered_);
    }
    out_.line(line);
  }

 private:
  // Which section begins with this line; -1: none.
  int section_of(std::string_view line) const {
    const std::string& mark = r_.delimiter;
    if (mark.empty()) return -1;
    if (line == mark + mark + mark) return 0;
    if (line == mark + mark) return 1;
    return line == mark ? 2 : -1;
  }

  bool counts(std::string_view line) {
    if (section_->style == 'a' && r_.join > 1) {
      blanks_ = line.empty() ? blanks_ + 1 : 0;
      bool last_blank = blanks_ == r_.join;
      if (last_blank) blanks_ = 0;
      return !line.empty() || last_blank;
    }
    return section_->style == 'a' || (section_->style == 't' && !line.empty()) ||
           (section_->style == 'p' && section_->regex->matches(line));
  }

  std::string digits() const {
    if (r_.format == "ln") return fmt::format("{:<{}}", number_, r_.width);
    if (r_.format == "rn") return fmt::format("{:>{}}", number_, r_.width);
    return number_ < 0 ? fmt::format("-{:0>{}}", -number_, r_.width - 1)
                       : fmt::format("{:0>{}}", number_, r_.width);
  }

  const Request& r_;
  Sink& out_;
  std::int64_t number_;
  std::int64_t blanks_ = 0;
  const Section* section_;
  std::string unnumbered_;
};

}  // namespace

int run_nl(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  r.sections[1].style = 't';
  if (int status = read_options(call, options, r)) return status;
  Sink out(call.out());
  Numberer numberer(r, out);
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Lines lines(in);
    std::string_view line;
    while (lines.next(line)) {
      call.charge(line.size() / 16 + 1);
      numberer.line(line);
    }
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::nl_program
