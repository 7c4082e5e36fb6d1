#include <fmt/format.h>

#include "shell/commands/calendar.h"
#include "shell/commands/commands.h"
#include "shell/commands/diff/compare.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"
#include "shell/commands/walk.h"

namespace atl::shell {

namespace {

enum Long { kLabel = 256, kColor, kStripCr, kNormal, kSuppress };

constexpr Option kOptions[] = {
    {'u', 'u', ""}, {'U', 'U', "", Arg::required}, {'U', 0, "unified", Arg::optional}, {'c', 'c', ""}, {'C', 'C', "", Arg::required}, {'C', 0, "context", Arg::optional}, {kNormal, 0, "normal"}, {'y', 'y', "side-by-side"},
    {'W', 'W', "width", Arg::required}, {'q', 'q', "brief"}, {'s', 's', "report-identical-files"}, {'r', 'r', "recursive"}, {'N', 'N', "new-file"},
    {'i', 'i', "ignore-case"}, {'w', 'w', "ignore-all-space"}, {'b', 'b', "ignore-space-change"}, {'B', 'B', "ignore-blank-lines"}, {'Z', 'Z', "ignore-trailing-space"},
    {'a', 'a', "text"}, {'L', 'L', "label", Arg::required}, {'e', 'e', "ed"}, {'p', 'p', "show-c-function"},
    {'x', 'x', "exclude", Arg::required}, {kColor, 0, "color", Arg::optional}, {kStripCr, 0, "strip-trailing-cr"}, {kSuppress, 0, "suppress-common-lines"},
    {'d', 'd', "minimal"},
};

struct Request {
  DiffStyle style;
  bool brief = false, identical = false, recursive = false, new_file = false, text = false;
  std::vector<std::string> labels, exclude;
  std::string shown_options;
};

struct Side {
  std::string shown;
  std::string text;
  bool exists = true, directory = false;
  WallTime modified;
};

bool load(Invocation& call, const std::string& shown, bool may_miss, Side& side) {
  side.shown = shown;
  side.modified = call.now();
  if (shown == "-") {
    side.text = call.in().read_all();
    return true;
  }
  auto path = call.resolve(shown);
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
  if (a.text == b.text) {
    if (r.identical) out.append(fmt::format("Files {} and {} are identical\n", a.shown, b.shown));
    return 0;
  }
  bool binary = !r.text && (a.text.find('\0') != std::string::npos || b.text.find('\0') != std::string::npos);
  DiffResult result = binary ? DiffResult{} : diff_lines(call, a.text, b.text, r.style);
  if (!binary && result.changes.empty()) return 0;
  if (r.brief) {
    out.append(fmt::format("Files {} and {} differ\n", a.shown, b.shown));
    return 1;
  }
  if (binary) {
    out.append(fmt::format("Binary files {} and {} differ\n", a.shown, b.shown));
    return 2;
  }
  if (in_tree) out.append(fmt::format("diff{} {} {}\n", r.shown_options, shell_quoted(a.shown), shell_quoted(b.shown)));
  Zone zone = Zone::of(call);
  auto header = [&](const Side& side, std::size_t i) {
    if (i < r.labels.size()) return r.labels[i];
    std::string name = side.shown;
    return fmt::format("{}\t{}", name, format_time(r.style.kind == DiffStyle::Kind::context ? "%a %b %e %H:%M:%S %Y" : "%Y-%m-%d %H:%M:%S.%N %z", side.modified, zone));
  };
  print_diff(call, out, result, r.style, header(a, 0), header(b, 1));
  return 1;
}

int compare_trees(Invocation& call, const Request& r, const std::string& a, const std::string& b, Sink& out) {
  struct Pair {
    std::string a, b;
  };
  std::vector<Pair> pending{{a, b}};
  int status = 0;
  while (!pending.empty()) {
    Pair now = std::move(pending.back());
    pending.pop_back();
    auto names = [&](const std::string& shown) {
      std::vector<std::string> list;
      auto path = call.resolve(shown);
      auto listing = path ? call.fs().list(*path) : Result<vfs::Listing>(fail(path.error()));
      if (listing)
        for (auto entry : *listing) list.emplace_back(entry.name);
      return list;
    };
    auto left = names(now.a), right = names(now.b);
    std::vector<std::string> all = left;
    all.insert(all.end(), right.begin(), right.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<Pair> below;
    for (const std::string& name : all) {
      call.charge(1);
      bool skipped = false;
      for (const std::string& pattern : r.exclude) skipped |= glob_match(pattern, name);
      if (skipped) continue;
      bool in_left = std::binary_search(left.begin(), left.end(), name), in_right = std::binary_search(right.begin(), right.end(), name);
      if ((!in_left || !in_right) && !r.new_file) {
        out.append(fmt::format("Only in {}: {}\n", in_left ? now.a : now.b, name));
        status = std::max(status, 1);
        continue;
      }
      Side x, y;
      if (!load(call, join_shown(now.a, name), true, x) || !load(call, join_shown(now.b, name), true, y)) {
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
        out.append(fmt::format("File {} is a {} while file {} is a {}\n", x.shown, x.directory ? "directory" : "regular file", y.shown, y.directory ? "directory" : "regular file"));
        status = std::max(status, 1);
      } else {
        status = std::max(status, compare_files(call, r, x, y, out, true));
      }
    }
  }
  return status;
}

}  // namespace

int run_diff(Invocation& call) {
  CommandLine options(call, kOptions, {.status = 2, .digits = true});
  if (options.stopped()) return options.status();
  Request r;
  DiffStyle& s = r.style;
  for (auto& [id, value] : options.found()) {
    std::uint64_t lines = 3;
    switch (id) {
      case 'u': s.kind = DiffStyle::Kind::unified; break;
      case 'U':
      case 'C':
        if (!value.empty() && !parse_size(value, lines)) return call.fail(fmt::format("invalid context length {}", quoted(value)), 2);
        s.kind = id == 'U' ? DiffStyle::Kind::unified : DiffStyle::Kind::context;
        s.context = lines;
        break;
      case '0': if (parse_size(value, lines)) s.context = lines; break;
      case 'c': s.kind = DiffStyle::Kind::context; break;
      case 'y': s.kind = DiffStyle::Kind::side_by_side; break;
      case 'e': s.kind = DiffStyle::Kind::ed; break;
      case 'W': if (parse_size(value, lines)) s.width = lines; break;
      case 'q': r.brief = true; break;
      case 's': r.identical = true; break;
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
      case kColor: s.color = value == "always"; break;
      default: break;
    }
  }
  for (const std::string& arg : call.args().subspan(1))
    if (arg.size() > 1 && arg[0] == '-') r.shown_options += " " + shell_quoted(arg);
  auto& operands = options.operands();
  auto refuse = [&](std::string_view message) {
    call.complain(message);
    return call.fail("Try 'diff --help' for more information.", 2);
  };
  if (operands.size() < 2) return refuse(fmt::format("missing operand after {}", quoted(operands.empty() ? "diff" : operands[0])));
  if (operands.size() > 2) return refuse(fmt::format("extra operand {}", quoted(operands[2])));
  Side a, b;
  Sink out(call.out());
  if (operands[0] == operands[1] && operands[0] == "-") return 0;
  bool good = load(call, operands[0], r.new_file, a);
  good = load(call, operands[1], r.new_file, b) && good;
  if (!good) return 2;
  int status = 0;
  if (a.directory && b.directory) {
    status = compare_trees(call, r, a.shown, b.shown, out);
  } else {
    // A directory and a file: the file of that name in the directory.
    if (a.directory != b.directory) {
      Side& directory = a.directory ? a : b;
      const Side& file = a.directory ? b : a;
      std::string name = join_shown(directory.shown, base_name(file.shown));
      directory = Side{};
      if (!load(call, name, r.new_file, directory)) return 2;
    }
    status = compare_files(call, r, a, b, out, false);
  }
  int flushed = out.finish(call, 0);
  return flushed ? 2 : status;
}

}  // namespace atl::shell
