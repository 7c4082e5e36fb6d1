#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/regex/regex.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::csplit_program {

namespace {

enum Long { kSuppressMatched = 256 };

constexpr Option kOptions[] = {
    {'b', 'b', "suffix-format", Arg::required},
    {'f', 'f', "prefix", Arg::required},
    {'k', 'k', "keep-files"},
    {kSuppressMatched, 0, "suppress-matched"},
    {'n', 'n', "digits", Arg::required},
    {'q', 'q', "quiet"},
    {'q', 's', "silent"},
    {'z', 'z', "elide-empty-files"},
};

struct Request {
  std::string prefix = "xx", suffix;
  std::size_t digits = 2;
  bool keep = false, suppress_matched = false, quiet = false, elide = false;
};

struct Pattern {
  std::string text;
  std::optional<Regex> regex;
  bool skips = false;  // %regex%: what is before the match goes nowhere
  std::int64_t offset = 0;
  std::uint64_t line = 0;
  std::uint64_t repeat = 0;
  bool forever = false;
};

// Ends the splitting; the message was told already.
struct Failed {};

// printf's %d and friends for one number, as -b allows.
std::optional<std::string> formatted(std::string_view format, std::uint64_t value, std::string& problem) {
  std::string out;
  bool seen = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out += '%';
      ++i;
      continue;
    }
    if (std::exchange(seen, true)) {
      problem = "too many % conversion specifications in suffix";
      return std::nullopt;
    }
    std::size_t from = ++i;
    while (i < format.size() && std::string_view("-+ #0'").find(format[i]) != std::string_view::npos) ++i;
    std::string flags(format.substr(from, i - from));
    std::size_t width = 0, precision = 0;
    for (; i < format.size() && isdigit(static_cast<unsigned char>(format[i])); ++i)
      width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(format[i] - '0'), 1000);
    if (i < format.size() && format[i] == '.')
      for (++i; i < format.size() && isdigit(static_cast<unsigned char>(format[i])); ++i)
        precision = std::min<std::size_t>(precision * 10 + static_cast<std::size_t>(format[i] - '0'), 1000);
    if (i >= format.size()) {
      problem = "missing conversion specifier in suffix";
      return std::nullopt;
    }
    char c = format[i];
    if (std::string_view("diuoxX").find(c) == std::string_view::npos) {
      problem = fmt::format("invalid conversion specifier in suffix: {}", c);
      return std::nullopt;
    }
    std::string digits = c == 'o'   ? fmt::format("{:o}", value)
                         : c == 'x' ? fmt::format("{:x}", value)
                         : c == 'X' ? fmt::format("{:X}", value)
                                    : fmt::format("{}", value);
    if (digits.size() < precision) digits.insert(0, precision - digits.size(), '0');
    bool left = flags.find('-') != std::string::npos,
         zero = flags.find('0') != std::string::npos && !left && precision == 0;
    if (digits.size() < width)
      digits.insert(left ? digits.size() : 0, width - digits.size(), zero ? '0' : ' ');
    out += digits;
  }
  if (!seen) {
    problem = "missing % conversion specification in suffix";
    return std::nullopt;
  }
  return out;
}

class Splitter {
 public:
  Splitter(Invocation& call, const Request& r, std::string text)
      : call_(call), r_(r), text_(std::move(text)) {
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = text_.find('\n', at);
      std::size_t next = end == std::string::npos ? text_.size() : end + 1;
      starts_.push_back(at);
      at = next;
    }
    starts_.push_back(text_.size());
    call_.charge_memory(static_cast<std::int64_t>(text_.size() + starts_.size() * sizeof(std::size_t)));
  }

  int run(const std::vector<Pattern>& patterns) {
    bool good = true;
    try {
      split(patterns);
      // An error takes back what was made, unless -k.
    } catch (const Failed&) {
      good = false;
      if (open_) close();
      if (!r_.keep)
        for (const std::string& name : made_)
          if (auto path = call_.resolve(name)) (void)call_.fs().remove_file(*path);
    }
    call_.out().write(sizes_);
    return good ? 0 : 1;
  }

 private:
  bool exhausted() const { return next_ + 1 >= starts_.size(); }
  std::string_view line_text(std::uint64_t number) const {
    std::string_view line =
        std::string_view(text_).substr(starts_[number - 1], starts_[number] - starts_[number - 1]);
    if (line.ends_with('\n')) line.remove_suffix(1);
    return line;
  }
  // The next line goes to the open piece, or nowhere. False at the end.
  bool pass(bool skips) {
    if (exhausted()) return false;
    current_ = std::max(current_, static_cast<std::uint64_t>(next_) + 1);
    if (!skips) piece_.append(text_, starts_[next_], starts_[next_ + 1] - starts_[next_]);
    ++next_;
    call_.charge(8);
    return true;
  }
  void open() {
    piece_.clear();
    open_ = true;
  }
  void close();
  void rest() {
    while (pass(false)) {
    }
  }
  [[noreturn]] void stop(std::string_view message, const Pattern& pattern, std::uint64_t repetition) {
    std::string text = fmt::format("{}: {}", quote_operand(pattern.text), message);
    if (repetition > 0) text += fmt::format(" on repetition {}", repetition);
    call_.complain(text);
    throw Failed{};
  }
  void split(const std::vector<Pattern>& patterns);
  bool at_regex(const Pattern& pattern, std::uint64_t repetition);
  void at_line(const Pattern& pattern, std::uint64_t repetition);

  Invocation& call_;
  const Request& r_;
  std::string text_;
  std::vector<std::size_t> starts_;  // of each line, and the end
  std::size_t next_ = 0;             // the first line not yet written, from 0
  std::uint64_t current_ = 0;        // the last line looked at, from 1
  std::string piece_, sizes_;
  std::vector<std::string> made_;
  std::uint64_t files_ = 0;
  bool open_ = false;
};

void Splitter::close() {
  open_ = false;
  if (piece_.empty() && r_.elide) return;
  std::string problem;
  std::string number = r_.suffix.empty() ? fmt::format("{:0{}}", files_, r_.digits)
                                         : formatted(r_.suffix, files_, problem).value_or("");
  std::string name = r_.prefix + number;
  ++files_;
  auto out = call_.open_output(name, false);
  if (!out || !(*out)->write(piece_)) {
    call_.complain(fmt::format("{}: {}", name, out ? (*out)->error() : reason(out.error())));
    throw Failed{};
  }
  made_.push_back(name);
  if (!r_.quiet) sizes_ += fmt::format("{}\n", piece_.size());
}

// False when the input ended and the pattern is to be repeated for ever: all is done.
bool Splitter::at_regex(const Pattern& pattern, std::uint64_t repetition) {
  if (!pattern.skips) open();
  while (true) {
    ++current_;
    call_.charge(8);
    if (current_ >= starts_.size()) {
      if (!pattern.skips) {
        rest();
        close();
      }
      if (pattern.forever) return false;
      stop("match not found", pattern, repetition);
    }
    std::string_view line = line_text(current_);
    call_.charge(line.size());
    Regex::Span span;
    if (pattern.regex->search(line, 0, span)) break;
    // With a negative offset lines are held back: the piece may have to end before the match.
    if (pattern.offset >= 0) pass(pattern.skips);
  }
  std::int64_t target =
      static_cast<std::int64_t>(current_) + pattern.offset;  // the first line of what follows
  if (target < static_cast<std::int64_t>(next_) + 1) stop("line number out of range", pattern, 0);
  while (static_cast<std::int64_t>(next_) + 1 < target)
    if (!pass(pattern.skips)) stop("line number out of range", pattern, 0);
  if (!pattern.skips) close();
  // The next search begins behind what the offset has passed.
  if (pattern.offset > 0) current_ = static_cast<std::uint64_t>(target);
  if (r_.suppress_matched) pass(true);
  return true;
}

void Splitter::at_line(const Pattern& pattern, std::uint64_t repetition) {
  std::uint64_t last = pattern.line * (repetition + 1);
  open();
  if (exhausted() && r_.suppress_matched) stop("line number out of range", pattern, repetition);
  while (next_ + 1 < last)
    if (!pass(false)) stop("line number out of range", pattern, repetition);
  close();
  if (r_.suppress_matched) pass(true);
  if (exhausted() && !r_.suppress_matched) stop("line number out of range", pattern, repetition);
}

void Splitter::split(const std::vector<Pattern>& patterns) {
  for (const Pattern& pattern : patterns) {
    for (std::uint64_t i = 0; pattern.forever || i <= pattern.repeat; ++i) {
      if (!pattern.regex)
        at_line(pattern, i);
      else if (!at_regex(pattern, i))
        return;
    }
  }
  open();
  rest();
  close();
}

// "/regex/offset" or "%regex%offset". False after a complaint.
bool parse_regex(Invocation& call, const std::string& text, Pattern& out) {
  std::size_t end = text.rfind(text[0]);
  if (end == 0) {
    call.complain(fmt::format("{}: closing delimiter '{}' missing", text, text[0]));
    return false;
  }
  std::string offset = text.substr(end + 1);
  if (!offset.empty() && !parse_integer(offset.starts_with('+') ? offset.substr(1) : offset, out.offset)) {
    call.complain(fmt::format("{}: integer expected after delimiter", quote_operand(text)));
    return false;
  }
  auto regex = Regex::compile(text.substr(1, end - 1), Syntax::basic, {});
  if (!regex) {
    call.complain(fmt::format("{}: invalid regular expression: {}", text, regex.error().message()));
    return false;
  }
  out.skips = text[0] == '%';
  out.regex = std::move(*regex);
  return true;
}

bool parse_repeat(Invocation& call, const std::string& text, Pattern& out) {
  if (!text.ends_with('}')) {
    call.complain(fmt::format("{}: '}}' is required in repeat count", text));
    return false;
  }
  std::string inner = text.substr(1, text.size() - 2);
  std::int64_t count = 0;
  if (inner == "*") {
    out.forever = true;
  } else if (!parse_integer(inner, count) || count < 0) {
    call.complain(fmt::format("{}: integer required between '{{' and '}}'", quote_operand(text)));
    return false;
  }
  out.repeat = static_cast<std::uint64_t>(count);
  return true;
}

bool parse_patterns(Invocation& call, const std::vector<std::string>& operands, std::vector<Pattern>& out) {
  std::uint64_t before = 0;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    Pattern pattern;
    pattern.text = operands[i];
    std::int64_t line = 0;
    if (!pattern.text.empty() && (pattern.text[0] == '/' || pattern.text[0] == '%')) {
      if (!parse_regex(call, pattern.text, pattern)) return false;
    } else if (!parse_integer(pattern.text, line)) {
      call.complain(fmt::format("{}: invalid pattern", quote_operand(pattern.text)));
      return false;
    } else if (line <= 0) {
      call.complain(fmt::format("{}: line number must be greater than zero", pattern.text));
      return false;
    } else {
      pattern.line = static_cast<std::uint64_t>(line);
      if (pattern.line < before) {
        call.complain(fmt::format("line number {} is smaller than preceding line number, {}",
                                  quote_operand(pattern.text), before));
        return false;
      }
      if (pattern.line == before)
        call.complain(fmt::format("warning: line number {} is the same as preceding line number",
                                  quote_operand(pattern.text)));
      before = pattern.line;
    }
    if (i + 1 < operands.size() && operands[i + 1].starts_with('{') &&
        !parse_repeat(call, operands[++i], pattern))
      return false;
    out.push_back(std::move(pattern));
  }
  return true;
}

}  // namespace

int run_csplit(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'b': r.suffix = value; break;
      case 'f': r.prefix = value; break;
      case 'k': r.keep = true; break;
      case kSuppressMatched: r.suppress_matched = true; break;
      case 'n': {
        std::int64_t digits = 0;
        if (!parse_integer(value, digits) || digits < 0 || digits > 1000)
          return call.fail(fmt::format("invalid number: {}", quote_operand(value)));
        r.digits = static_cast<std::size_t>(digits);
        break;
      }
      case 'q': r.quiet = true; break;
      case 'z': r.elide = true; break;
      default: break;
    }
  }
  auto& operands = options.operands();
  if (operands.size() < 2)
    return usage_error(call, operands.empty()
                                 ? "missing operand"
                                 : fmt::format("missing operand after {}", quote_operand(operands[0])));
  std::string problem;
  if (!r.suffix.empty() && !formatted(r.suffix, 0, problem)) return call.fail(problem);
  std::vector<Pattern> patterns;
  if (!parse_patterns(call, operands, patterns)) return 1;
  auto in = call.open_input(operands[0]);
  if (!in)
    return call.fail(
        fmt::format("cannot open {} for reading: {}", quote_operand(operands[0]), reason(in.error())));
  return Splitter(call, r, (*in)->read_all()).run(patterns);
}

}  // namespace atl::shell::csplit_program
