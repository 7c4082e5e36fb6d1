#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/calendar/calendar.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/diff/compare.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::diff_program {

namespace {

enum Long {
  kLabel = 256,
  kColor,
  kStripCr,
  kNormal,
  kSuppress,
  kFromFile,
  kToFile,
  kLeftColumn,
  kTabSize,
  kBlankEmpty,
  kNoDereference,
  kLineFormat,
  kOldLine,
  kNewLine,
  kSameLine,
  kOldGroup,
  kNewGroup,
  kChangedGroup,
  kSameGroup,
  kNothing,
  kOneSided
};

constexpr Option kOptions[] = {
    {'u', 'u', ""},
    {'U', 'U', "", Arg::required},
    {'U', 0, "unified", Arg::optional},
    {'c', 'c', ""},
    {'C', 'C', "", Arg::required},
    {'C', 0, "context", Arg::optional},
    {kNormal, 0, "normal"},
    {'y', 'y', "side-by-side"},
    {'W', 'W', "width", Arg::required},
    {'q', 'q', "brief"},
    {'s', 's', "report-identical-files"},
    {'r', 'r', "recursive"},
    {'N', 'N', "new-file"},
    {'i', 'i', "ignore-case"},
    {'w', 'w', "ignore-all-space"},
    {'b', 'b', "ignore-space-change"},
    {'B', 'B', "ignore-blank-lines"},
    {'Z', 'Z', "ignore-trailing-space"},
    {'a', 'a', "text"},
    {'L', 'L', "label", Arg::required},
    {'e', 'e', "ed"},
    {'p', 'p', "show-c-function"},
    {'x', 'x', "exclude", Arg::required},
    {kColor, 0, "color", Arg::optional},
    {kStripCr, 0, "strip-trailing-cr"},
    {kSuppress, 0, "suppress-common-lines"},
    {'d', 'd', "minimal"},
    {'n', 'n', "rcs"},
    {'D', 'D', "ifdef", Arg::required},
    {'I', 'I', "ignore-matching-lines", Arg::required},
    {'t', 't', "expand-tabs"},
    {'T', 'T', "initial-tab"},
    {kTabSize, 0, "tabsize", Arg::required},
    {kBlankEmpty, 0, "suppress-blank-empty"},
    {'F', 'F', "show-function-line", Arg::required},
    {'E', 'E', "ignore-tab-expansion"},
    {'X', 'X', "exclude-from", Arg::required},
    {'S', 'S', "starting-file", Arg::required},
    {kFromFile, 0, "from-file", Arg::required},
    {kToFile, 0, "to-file", Arg::required},
    {kLeftColumn, 0, "left-column"},
    {kNoDereference, 0, "no-dereference"},
    {kOneSided, 0, "unidirectional-new-file"},
    {kLineFormat, 0, "line-format", Arg::required},
    {kOldLine, 0, "old-line-format", Arg::required},
    {kNewLine, 0, "new-line-format", Arg::required},
    {kSameLine, 0, "unchanged-line-format", Arg::required},
    {kOldGroup, 0, "old-group-format", Arg::required},
    {kNewGroup, 0, "new-group-format", Arg::required},
    {kChangedGroup, 0, "changed-group-format", Arg::required},
    {kSameGroup, 0, "unchanged-group-format", Arg::required},
    {kNothing, 'H', "speed-large-files"},
    {kNothing, 0, "horizon-lines", Arg::required},
    {'v', 'v', ""},
};

struct Request {
  DiffStyle style;
  bool brief = false, identical = false, recursive = false, new_file = false, text = false, links = false,
       one_sided = false;
  std::vector<std::string> labels, exclude;
  std::string shown_options, start;
  std::optional<std::string> from_file, to_file;
};

struct Side {
  std::string shown;
  std::string text;
  bool exists = true, directory = false;
  WallTime modified;
};

bool load(Invocation& call, const std::string& shown, bool may_miss, bool links, Side& side) {
  side.shown = shown;
  side.modified = call.now();
  if (shown == "-") {
    side.text = call.in().read_all();
    return true;
  }
  auto path = call.resolve(shown);
  if (links && path) {
    // A link is its text, with no line's end behind it.
    auto link = call.fs().read_link(*path);
    if (link) return side.text = *link, true;
  }
  auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
  if (stat) {
    side.modified = stat->modified;
    side.directory = stat->is_directory();
    if (side.directory) return true;
  } else if (may_miss && stat.error().code() == Code::not_found) {
    side.exists = false;
    side.modified = WallTime{};
    return true;
  }
  auto in = call.open_input(shown);
  if (!in) {
    call.complain(fmt::format("{}: {}", shown, reason(in.error())));
    return false;
  }
  side.text = (*in)->read_all();
  call.charge(side.text.size() / 8 + 1);
  return true;
}

int compare_files(Invocation& call, const Request& r, Side& a, Side& b, Sink& out, bool in_tree) {
  bool all = r.style.kind == DiffStyle::Kind::formats && !r.brief;
  if (a.text == b.text) {
    // What the formats say of unchanged lines is shown too.
    if (all) print_diff(call, out, diff_lines(call, a.text, b.text, r.style), r.style, "", "");
    if (r.identical) out.append(fmt::format("Files {} and {} are identical\n", a.shown, b.shown));
    return 0;
  }
  bool binary = !r.text && (a.text.find('\0') != std::string::npos || b.text.find('\0') != std::string::npos);
  DiffResult result = binary ? DiffResult{} : diff_lines(call, a.text, b.text, r.style);
  if (!binary && result.changes.empty()) {
    if (all) print_diff(call, out, result, r.style, "", "");
    return 0;
  }
  if (r.brief) {
    out.append(fmt::format("Files {} and {} differ\n", a.shown, b.shown));
    return 1;
  }
  if (binary) {
    out.append(fmt::format("Binary files {} and {} differ\n", a.shown, b.shown));
    // GNU diff treats it as trouble, not as a difference.
    return 2;
  }
  if (in_tree)
    out.append(fmt::format("diff{} {} {}\n", r.shown_options, shell_quoted(a.shown), shell_quoted(b.shown)));
  Zone zone = Zone::of(call);
  auto header = [&](const Side& side, std::size_t i) {
    if (i < r.labels.size()) return r.labels[i];
    std::string name = side.shown;
    return fmt::format("{}\t{}", name,
                       format_time(r.style.kind == DiffStyle::Kind::context ? "%a %b %e %H:%M:%S %Y"
                                                                            : "%Y-%m-%d %H:%M:%S.%N %z",
                                   side.modified, zone));
  };
  print_diff(call, out, result, r.style, header(a, 0), header(b, 1));
  return 1;
}

int compare_trees(Invocation& call, const Request& r, const std::string& a, const std::string& b, Sink& out) {
  int status = 0;
  auto names = [&](const std::string& shown) {
    std::vector<std::string> list;
    auto path = call.resolve(shown);
    auto listing = path ? call.fs().list(*path) : Result<vfs::Listing>(fail(path.error()));
    if (listing)
      for (auto entry : *listing) list.emplace_back(entry.name);
    return list;
  };
  auto left = names(a), right = names(b);
  std::vector<std::string> all = left;
  all.insert(all.end(), right.begin(), right.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const std::string& name : all) {
    call.charge(1);
    bool skipped = false;
    for (const std::string& pattern : r.exclude) skipped |= glob_match(pattern, name);
    skipped |= !r.start.empty() && name < r.start;
    if (skipped) continue;
    bool in_left = std::binary_search(left.begin(), left.end(), name),
         in_right = std::binary_search(right.begin(), right.end(), name);
    // -N compares a missing file with an empty one.
    if ((!in_left || !in_right) && !r.new_file && !(r.one_sided && in_right)) {
      out.append(fmt::format("Only in {}: {}\n", in_left ? a : b, name));
      status = std::max(status, 1);
      continue;
    }
    Side x, y;
    if (!load(call, join_shown(a, name), true, r.links, x) ||
        !load(call, join_shown(b, name), true, r.links, y)) {
      status = 2;
      continue;
    }
    if (x.directory && y.directory) {
      if (r.recursive) {
        out.flush();
        status = std::max(status, compare_trees(call, r, x.shown, y.shown, out));
      } else {
        out.append(fmt::format("Common subdirectories: {} and {}\n", x.shown, y.shown));
      }
    } else if (x.directory != y.directory && x.exists && y.exists) {
      out.append(fmt::format("File {} is a {} while file {} is a {}\n", x.shown,
                             x.directory ? "directory" : "regular file", y.shown,
                             y.directory ? "directory" : "regular file"));
      status = std::max(status, 1);
    } else {
      status = std::max(status, compare_files(call, r, x, y, out, true));
    }
  }
  return status;
}

int refuse(Invocation& call, std::string_view message) {
  call.complain(message);
  return call.fail("Try 'diff --help' for more information.", 2);
}

// -1: go on.
int read_options(Invocation& call, const CommandLine& options, Request& r) {
  DiffStyle& s = r.style;
  DiffFormats& f = s.formats;
  for (auto& [id, value] : options.found()) {
    std::uint64_t lines = 3;
    switch (id) {
      case 'u': s.kind = DiffStyle::Kind::unified; break;
      case 'U':
      case 'C':
        if (!value.empty() && !parse_size(value, lines))
          return refuse(call, fmt::format("invalid context length {}", quote_operand(value)));
        s.kind = id == 'U' ? DiffStyle::Kind::unified : DiffStyle::Kind::context;
        s.context = lines;
        break;
      case '0':
        if (parse_size(value, lines)) s.context = lines;
        break;
      case 'c': s.kind = DiffStyle::Kind::context; break;
      case 'y': s.kind = DiffStyle::Kind::side_by_side; break;
      case 'e': s.kind = DiffStyle::Kind::ed; break;
      case 'W':
        if (parse_size(value, lines)) s.width = lines;
        break;
      case 'q': r.brief = true; break;
      case 's': r.identical = true; break;
      case 'd': s.minimal = true; break;
      case 'r': r.recursive = true; break;
      case 'N': r.new_file = true; break;
      case 'i': s.ignore_case = true; break;
      case 'w': s.ignore_all_space = true; break;
      case 'b': s.ignore_space_change = true; break;
      case 'Z': s.ignore_trailing_space = true; break;
      case 'B': s.ignore_blank_lines = true; break;
      case kStripCr: s.strip_cr = true; break;
      case 'a': r.text = true; break;
      case 'L': r.labels.push_back(value); break;
      case 'x': r.exclude.push_back(value); break;
      case kSuppress: s.suppress_common = true; break;
      case 'p':
        s.function_names = true;
        if (s.kind == DiffStyle::Kind::normal) s.kind = DiffStyle::Kind::context;
        break;
      case kColor:
        s.color = value == "always";
        if (!value.empty() && value != "always" && value != "never" && value != "auto")
          return refuse(call, fmt::format("invalid color '{}'", value));
        break;
      case kNormal: s.kind = DiffStyle::Kind::normal; break;
      case 'n': s.kind = DiffStyle::Kind::rcs; break;
      case 't': s.expand_tabs = true; break;
      case 'T': s.initial_tab = true; break;
      case kTabSize:
        if (!parse_size(value, lines) || lines == 0)
          return refuse(call, fmt::format("invalid tabsize {}", quote_operand(value)));
        s.tab = lines;
        break;
      case kBlankEmpty: s.blank_empty = false; break;
      case 'E': s.ignore_tab_expansion = true; break;
      case kLeftColumn: s.left_column = true; break;
      case kOneSided: r.one_sided = true; break;
      case kNoDereference: r.links = true; break;
      case 'S': r.start = value; break;
      case kFromFile: r.from_file = value; break;
      case kToFile: r.to_file = value; break;
      case 'I':
      case 'F': {
        auto regex = Regex::compile(value, Syntax::basic);
        if (!regex) return call.fail(fmt::format("{}: {}", value, regex.error().message()), 2);
        auto compiled = std::make_unique<Regex>(std::move(*regex));
        if (id == 'I')
          s.ignored.push_back(std::move(compiled));
        else
          s.function = std::move(compiled);
        break;
      }
      case 'X': {
        auto in = value == "-" ? nullptr : open_or_complain(call, value);
        if (value != "-" && !in) return 2;
        std::string line;
        while ((in ? *in : call.in()).read_line(line)) r.exclude.push_back(line);
        break;
      }
      case 'v': call.out().write(fmt::format("diff (Atoll) {}\n", ATOLL_VERSION)); return 0;
      case 'D':
        s.kind = DiffStyle::Kind::formats;
        f.same_group = "%=";
        f.old_group = fmt::format("#ifndef {0}\n%<#endif /* ! {0} */\n", value);
        f.new_group = fmt::format("#ifdef {0}\n%>#endif /* {0} */\n", value);
        f.changed_group = fmt::format("#ifndef {0}\n%<#else /* {0} */\n%>#endif /* {0} */\n", value);
        break;
      default: {
        if (id < kLineFormat || id > kSameGroup) break;
        s.kind = DiffStyle::Kind::formats;
        if (id == kOldLine || id == kLineFormat) f.old_line = value;
        if (id == kNewLine || id == kLineFormat) f.new_line = value;
        if (id == kSameLine || id == kLineFormat) f.same_line = value;
        if (id == kOldGroup) f.old_group = value;
        if (id == kNewGroup) f.new_group = value;
        if (id == kChangedGroup) f.changed_group = value;
        if (id == kSameGroup) f.same_group = value;
      }
    }
  }
  return -1;
}

// Two names, of which each may be a file or a directory.
int compare(Invocation& call, const Request& r, const std::string& left, const std::string& right,
            Sink& out) {
  Side a, b;
  if (left == right && left == "-") return 0;
  bool good = load(call, left, r.new_file || r.one_sided, r.links, a);
  good = load(call, right, r.new_file, r.links, b) && good;
  if (!good) return 2;
  if (a.directory && b.directory) return compare_trees(call, r, a.shown, b.shown, out);
  // A directory and a file: the file of that name in the directory.
  if (a.directory != b.directory) {
    Side& directory = a.directory ? a : b;
    const Side& file = a.directory ? b : a;
    std::string name = join_shown(directory.shown, base_name(file.shown));
    directory = Side{};
    if (!load(call, name, r.new_file, r.links, directory)) return 2;
  }
  return compare_files(call, r, a, b, out, false);
}

}  // namespace

int run_diff(Invocation& call) {
  CommandLine options(call, kOptions, {.status = 2, .digits = true});
  if (options.stopped()) return options.status();
  Request r;
  if (int status = read_options(call, options, r); status >= 0) return status;
  // All but the operands, as they were typed.
  std::size_t passed = 0;
  for (const std::string& arg : call.args().subspan(1)) {
    if (passed < options.operands().size() && arg == options.operands()[passed])
      ++passed;
    else
      r.shown_options += " " + shell_quoted(arg);
  }
  auto operands = options.operands();
  Sink out(call.out());
  int status = 0;
  if (r.from_file || r.to_file) {
    if (r.from_file && r.to_file) return call.fail("--from-file and --to-file both specified", 2);
    for (const std::string& operand : operands)
      status = std::max(status, compare(call, r, r.from_file ? *r.from_file : operand,
                                        r.from_file ? operand : *r.to_file, out));
  } else {
    if (operands.size() < 2)
      return refuse(call, fmt::format("missing operand after {}",
                                      quote_operand(operands.empty() ? "diff" : operands[0])));
    if (operands.size() > 2) return refuse(call, fmt::format("extra operand {}", quote_operand(operands[2])));
    status = compare(call, r, operands[0], operands[1], out);
  }
  int flushed = out.finish(call, 0);
  return flushed ? 2 : status;
}

}  // namespace atl::shell::diff_program
