#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/grep/search.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::grep_program {

namespace {

enum Long {
  kColor = 256,
  kInclude,
  kExclude,
  kExcludeDir,
  kExcludeFrom,
  kBinaryFiles,
  kLabel,
  kNoIgnoreCase,
  kLineBuffered,
  kGroupSeparator,
  kNoGroupSeparator
};

constexpr Option kOptions[] = {
    {'E', 'E', "extended-regexp"},
    {'F', 'F', "fixed-strings"},
    {'G', 'G', "basic-regexp"},
    {'P', 'P', "perl-regexp"},
    {'e', 'e', "regexp", Arg::required},
    {'f', 'f', "file", Arg::required},
    {'i', 'i', "ignore-case"},
    {'i', 'y', ""},
    {kNoIgnoreCase, 0, "no-ignore-case"},
    {'w', 'w', "word-regexp"},
    {'x', 'x', "line-regexp"},
    {'z', 'z', "null-data"},
    {'s', 's', "no-messages"},
    {'v', 'v', "invert-match"},
    {'m', 'm', "max-count", Arg::required},
    {'b', 'b', "byte-offset"},
    {'n', 'n', "line-number"},
    {kLineBuffered, 0, "line-buffered"},
    {'H', 'H', "with-filename"},
    {'h', 'h', "no-filename"},
    {kLabel, 0, "label", Arg::required},
    {'o', 'o', "only-matching"},
    {'q', 'q', "quiet"},
    {'q', 0, "silent"},
    {kBinaryFiles, 0, "binary-files", Arg::required},
    {'a', 'a', "text"},
    {'I', 'I', ""},
    {'d', 'd', "directories", Arg::required},
    {'D', 'D', "devices", Arg::required},
    {'r', 'r', "recursive"},
    {'R', 'R', "dereference-recursive"},
    {kInclude, 0, "include", Arg::required},
    {kExclude, 0, "exclude", Arg::required},
    {kExcludeFrom, 0, "exclude-from", Arg::required},
    {kExcludeDir, 0, "exclude-dir", Arg::required},
    {'L', 'L', "files-without-match"},
    {'l', 'l', "files-with-matches"},
    {'c', 'c', "count"},
    {'T', 'T', "initial-tab"},
    {'Z', 'Z', "null"},
    {'A', 'A', "after-context", Arg::required},
    {'B', 'B', "before-context", Arg::required},
    {'C', 'C', "context", Arg::required},
    {kColor, 0, "color", Arg::optional},
    {kColor, 0, "colour", Arg::optional},
    {kGroupSeparator, 0, "group-separator", Arg::required},
    {kNoGroupSeparator, 0, "no-group-separator"},
    {'U', 'U', "binary"},
    {'V', 'V', ""},
};

struct Request {
  GrepSettings settings;
  Syntax syntax = Syntax::basic;
  RegexOptions regex;
  std::vector<std::string> patterns;
  bool has_patterns = false;
  bool recursive = false, follow = false, skip_directories = false, skip_devices = false;
  std::vector<std::string> include, exclude, exclude_dir;
  std::string label = "(standard input)";
};

constexpr std::string_view kUsage =
    "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.";

int bad_word(Invocation& call, std::string_view option, std::string_view value, std::string_view words) {
  return call.fail(fmt::format("invalid argument {} for '{}'\nValid arguments are:{}\n{}",
                               quote_operand(value), option, words, kUsage),
                   1);
}

void add_patterns(Request& request, std::string_view text) {
  request.has_patterns = true;
  while (true) {
    std::size_t newline = text.find('\n');
    request.patterns.emplace_back(text.substr(0, newline));
    if (newline == std::string_view::npos) return;
    text.remove_prefix(newline + 1);
  }
}

// -1: go on; else the status to return.
int read_options(Invocation& call, CommandLine& options, Request& request) {
  GrepSettings& s = request.settings;
  auto count = [&](const std::string& value, std::int64_t& out) {
    if (parse_integer(value, out) && out >= 0) return true;
    call.complain(fmt::format("{}: invalid context length argument", value));
    return false;
  };
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'E': request.syntax = Syntax::extended; break;
      case 'F': request.syntax = Syntax::fixed; break;
      case 'G': request.syntax = Syntax::basic; break;
      case 'P': request.syntax = Syntax::perl; break;
      case 'e': add_patterns(request, value); break;
      case 'f': {
        auto in = open_or_complain(call, value);
        if (!in) return 2;
        std::string text = in->read_all();
        if (text.ends_with('\n'))
          text.pop_back();
        else if (text.empty()) {
          request.has_patterns = true;
          break;
        }
        add_patterns(request, text);
        break;
      }
      case 'i': request.regex.ignore_case = true; break;
      case kNoIgnoreCase: request.regex.ignore_case = false; break;
      case 'w': s.words = true; break;
      case 'x': request.regex.whole_line = true; break;
      case 'z': s.delimiter = '\0'; break;
      case 's': s.silent_errors = true; break;
      case 'v': s.invert = true; break;
      case 'm': {
        if (!parse_integer(value, s.max_count)) return call.fail("invalid max count", 2);
        if (s.max_count < 0) s.max_count = INT64_MAX;
        break;
      }
      case 'b': s.byte_offset = true; break;
      case 'n': s.line_numbers = true; break;
      case 'H': s.with_name = 1; break;
      case 'h': s.with_name = 0; break;
      case kLabel: request.label = value; break;
      case 'o': s.only_matching = true; break;
      case 'q': s.quiet = true; break;
      case 'a': s.binary = Binary::text; break;
      case 'I': s.binary = Binary::without_match; break;
      case kBinaryFiles:
        if (value == "text")
          s.binary = Binary::text;
        else if (value == "without-match")
          s.binary = Binary::without_match;
        else if (value == "binary")
          s.binary = Binary::detect;
        else
          return call.fail("unknown binary-files type", 2);
        break;
      case 'd':
        if (value == "recurse")
          request.recursive = true;
        else if (value == "skip")
          request.skip_directories = true;
        else if (value != "read")
          return bad_word(call, "--directories", value, "\n  - 'read'\n  - 'recurse'\n  - 'skip'");
        break;
      case 'D':
        if (value != "read" && value != "skip") return call.fail("unknown devices method", 2);
        request.skip_devices = value == "skip";
        break;
      case 'r':
        request.recursive = true;
        request.follow = false;
        break;
      case 'R': request.recursive = request.follow = true; break;
      case kInclude: request.include.push_back(value); break;
      case kExclude: request.exclude.push_back(value); break;
      case kExcludeDir: request.exclude_dir.push_back(value); break;
      case kExcludeFrom: {
        auto in = open_or_complain(call, value);
        if (!in) return 2;
        std::string line;
        while (in->read_line(line)) request.exclude.push_back(line);
        break;
      }
      case 'L': s.list = FileList::without; break;
      case 'l': s.list = FileList::with; break;
      case 'c': s.count = true; break;
      case 'T': s.initial_tab = true; break;
      case 'Z': s.null_names = true; break;
      case 'A':
        if (!count(value, s.after)) return 2;
        break;
      case 'B':
        if (!count(value, s.before)) return 2;
        break;
      case 'C':
      case '0':
        if (!count(value, s.after)) return 2;
        s.before = s.after;
        break;
      case kGroupSeparator: s.group_separator = value; break;
      case kNoGroupSeparator: s.group_separator.reset(); break;
      case kColor:
        s.color = value == "always" || value == "yes" || value == "force";
        if (!s.color && !value.empty() && value != "never" && value != "no" && value != "none" &&
            value != "auto" && value != "tty" && value != "if-tty")
          return call.fail(fmt::format("invalid argument {} for '--color' (always, never or auto)\n{}",
                                       quote_operand(value), kUsage),
                           2);
        break;
      case 'V': call.out().write(fmt::format("grep (Atoll) {}\n", ATOLL_VERSION)); return 0;
      default: break;
    }
  }
  return -1;
}

bool excluded(const std::vector<std::string>& patterns, std::string_view shown) {
  std::string_view name = shown.substr(shown.rfind('/') + 1);
  for (const std::string& pattern : patterns)
    if (glob_match(pattern, name) || glob_match(pattern, shown)) return true;
  return false;
}

bool wanted(const Request& request, std::string_view shown) {
  if (excluded(request.exclude, shown)) return false;
  return request.include.empty() || excluded(request.include, shown);
}

int search_all(Invocation& call, Request& request, Grep& grep, const std::vector<std::string>& operands) {
  GrepSettings& s = request.settings;
  bool failed = false;
  auto error = [&](const std::string& name, std::string_view why) {
    failed = true;
    if (!s.silent_errors) {
      call.complain(fmt::format("{}: {}", name, why));
    }
  };
  auto file = [&](const std::string& shown) {
    auto in = call.open_input(shown);
    if (!in) return error(shown, reason(in.error()));
    grep.search(**in, shown);
  };
  for (const std::string& operand : operands) {
    if (grep.done()) break;
    if (operand == "-") {
      grep.search(call.in(), request.label);
      continue;
    }
    auto path = call.resolve(operand);
    auto stat = path ? call.fs().find(*path) : std::nullopt;
    bool directory = stat && stat->is_directory();
    if (!directory) {
      if (request.skip_devices && stat && stat->type == vfs::Type::fifo) continue;
      if (request.include.empty() && request.exclude.empty())
        file(operand);
      else if (wanted(request, operand))
        file(operand);
      continue;
    }
    if (!request.recursive) {
      if (!request.skip_directories) {
        if (!s.silent_errors) call.complain(fmt::format("{}: Is a directory", operand));
        failed = true;
      }
      continue;
    }
    walk(
        call, operand, request.follow,
        [&](const Visit& visit) {
          if (grep.done()) return Step::stop;
          std::string shown = visit.shown;
          if (visit.type == vfs::Type::directory) {
            std::string_view trimmed = shown;
            while (trimmed.size() > 1 && trimmed.ends_with('/')) trimmed.remove_suffix(1);
            if (!request.exclude_dir.empty() && excluded(request.exclude_dir, trimmed)) return Step::over;
            return Step::into;
          }
          if (visit.type != vfs::Type::file) return Step::over;  // links, unless followed, and FIFOs
          if (s.strip_dot && shown.starts_with("./")) shown.erase(0, 2);
          if (wanted(request, shown)) file(shown);
          return Step::over;
        },
        [&](const std::string& shown, const Error& why) { error(shown, reason(why)); });
  }
  int status = grep.finish();
  if (status == 0 && s.quiet) return 0;
  return failed ? 2 : status;
}

}  // namespace

int run_grep(Invocation& call) {
  CommandLine options(call, kOptions, {.status = 2, .digits = true});
  if (options.stopped()) return options.status();
  Request request;
  std::string_view name = call.args()[0];
  name.remove_prefix(name.rfind('/') + 1);
  if (name == "egrep") request.syntax = Syntax::extended;
  if (name == "fgrep") request.syntax = Syntax::fixed;
  if (int status = read_options(call, options, request); status >= 0) return status;
  auto& operands = options.operands();
  if (!request.has_patterns) {
    if (operands.empty()) {
      call.err().write(fmt::format("{}\n", kUsage));
      return 2;
    }
    add_patterns(request, operands.front());
    operands.erase(operands.begin());
  }
  GrepSettings& s = request.settings;
  bool none = operands.empty();
  if (none) operands.push_back(request.recursive ? "." : "-");
  if (none && request.recursive) s.strip_dot = true;
  if (s.with_name < 0) {
    s.with_name = operands.size() > 1 || request.recursive;
    if (request.recursive && operands.size() == 1 && !none) {
      auto path = call.resolve(operands[0]);
      auto stat = path ? call.fs().find(*path) : std::nullopt;
      if (operands[0] == "-" || (stat && !stat->is_directory())) s.with_name = 0;
    }
  }
  if (request.syntax == Syntax::perl && request.patterns.size() > 1)
    return call.fail("the -P option only supports a single pattern", 2);
  auto grep = Grep::create(call, s, request.patterns, request.syntax, request.regex);
  if (!grep) return call.fail(grep.error().message(), 2);
  return search_all(call, request, **grep, operands);
}

}  // namespace atl::shell::grep_program
