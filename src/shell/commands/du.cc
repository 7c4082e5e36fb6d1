#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/calendar/calendar.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/size_style.h"
#include "shell/files/walk.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::du_program {

namespace {

enum Long { kApparent = 256, kExclude, kTime, kTimeStyle, kInodes, kFiles0, kBlockSize, kThreshold, kSi };

constexpr Option kDuOptions[] = {
    {'a', 'a', "all"},
    {kApparent, 0, "apparent-size"},
    {'B', 'B', "", Arg::required},
    {kBlockSize, 0, "block-size", Arg::required},
    {'b', 'b', "bytes"},
    {'c', 'c', "total"},
    {'D', 'D', "dereference-args"},
    {'D', 'H', ""},
    {'d', 'd', "max-depth", Arg::required},
    {kFiles0, 0, "files0-from", Arg::required},
    {'h', 'h', "human-readable"},
    {kInodes, 0, "inodes"},
    {'k', 'k', ""},
    {'L', 'L', "dereference"},
    {'l', 'l', "count-links"},
    {'m', 'm', ""},
    {'0', '0', "null"},
    {'P', 'P', "no-dereference"},
    {'S', 'S', "separate-dirs"},
    {kSi, 0, "si"},
    {'s', 's', "summarize"},
    {'t', 't', "", Arg::required},
    {kThreshold, 0, "threshold", Arg::required},
    {kTime, 0, "time", Arg::optional},
    {kTimeStyle, 0, "time-style", Arg::required},
    {'X', 'X', "exclude-from", Arg::required},
    {kExclude, 0, "exclude", Arg::required},
    {'x', 'x', "one-file-system"},
};

struct DuSettings {
  bool all = false, apparent = false, total = false, summarize = false, separate = false, count_links = false,
       inodes = false;
  bool follow = false, follow_operands = false;
  std::optional<std::int64_t> depth;
  SizeStyle size;
  std::int64_t threshold = 0;  // negative: nothing larger
  char time = 0, end = '\n';
  std::string time_style = "long-iso";
  std::vector<std::string> exclude;
};

class Du {
 public:
  Du(Invocation& call, const DuSettings& settings)
      : call_(call), s_(settings), out_(call.out()), zone_(Zone::of(call)) {}

  int run(const std::vector<std::string>& operands) {
    for (const std::string& operand : operands) tree(operand);
    if (s_.total) show(grand_, "total", newest_, true);
    return out_.finish(call_, status_);
  }

 private:
  struct Open {
    std::string shown;
    int depth;
    std::uint64_t sum;
    WallTime newest;
  };

  void tree(const std::string& operand);
  Step visit(const Visit& visit);
  WallTime time_of(const vfs::Stat& stat) const {
    return s_.time == 'u'   ? stat.accessed.value_or(stat.modified)
           : s_.time == 'c' ? stat.changed
                            : stat.modified;
  }
  // The walk is in pre-order, du prints a directory behind what is in it: directories stay open until the
  // walk leaves them.
  void close_to(int level) {
    while (!open_.empty() && open_.back().depth >= level) {
      Open done = std::move(open_.back());
      open_.pop_back();
      if (done.depth <= s_.depth.value_or(INT32_MAX)) show(done.sum, done.shown, done.newest, false);
      if (!open_.empty() && !s_.separate) open_.back().sum += done.sum;
      if (!open_.empty()) open_.back().newest = std::max(open_.back().newest, done.newest);
      if (open_.empty()) add_to_grand(done.sum, done.newest);
    }
  }
  void add_to_grand(std::uint64_t sum, WallTime newest) {
    grand_ += sum;
    newest_ = std::max(newest_, newest);
  }
  void show(std::uint64_t sum, std::string_view name, WallTime newest, bool always) {
    auto size = static_cast<std::int64_t>(sum);
    if (!always && (s_.threshold < 0 ? size > -s_.threshold : size < s_.threshold)) return;
    out_.append(s_.inodes && !s_.size.human ? std::to_string(sum) : s_.size.text(sum));
    out_.put('\t');
    if (s_.time) {
      std::string_view format = s_.time_style == "full-iso" ? "%Y-%m-%d %H:%M:%S.%N %z"
                                : s_.time_style == "iso"    ? "%Y-%m-%d"
                                                            : "%Y-%m-%d %H:%M";
      out_.append(
          format_time(s_.time_style.starts_with('+') ? std::string_view(s_.time_style).substr(1) : format,
                      newest, zone_));
      out_.put('\t');
    }
    out_.line(name, s_.end);
  }

  Invocation& call_;
  const DuSettings& s_;
  Sink out_;
  Zone zone_;
  std::vector<Open> open_;
  std::unordered_set<std::uint64_t> seen_;
  std::uint64_t grand_ = 0;
  WallTime newest_{};
  int status_ = 0;
};

Step Du::visit(const Visit& visit) {
  for (const std::string& pattern : s_.exclude)
    if (glob_match(pattern, base_name(visit.shown)) || glob_match(pattern, visit.shown)) return Step::over;
  close_to(visit.depth);
  bool through = s_.follow || (s_.follow_operands && visit.depth == 0);
  auto stat = call_.fs().find(visit.path, through ? vfs::Follow::yes : vfs::Follow::no);
  if (!stat) return Step::over;
  // A file with several names counts once.
  bool counted =
      s_.count_links || stat->links < 2 || stat->is_directory() || seen_.insert(stat->inode).second;
  if (!counted) return Step::over;
  // In blocks of 4 KiB, as if on a disk; a directory takes one.
  std::uint64_t size = s_.inodes              ? 1
                       : stat->is_directory() ? 4096
                       : s_.apparent          ? stat->size
                                              : (stat->is_file() ? (stat->size + 4095) / 4096 * 4096 : 0);
  if (stat->is_directory()) {
    open_.push_back({visit.shown, visit.depth, size, time_of(*stat)});
    return Step::into;
  }
  if (open_.empty()) {
    add_to_grand(size, time_of(*stat));
  } else {
    open_.back().sum += size;
    open_.back().newest = std::max(open_.back().newest, time_of(*stat));
  }
  if ((s_.all || visit.depth == 0) && visit.depth <= s_.depth.value_or(INT32_MAX))
    show(size, visit.shown, time_of(*stat), false);
  return Step::over;
}

void Du::tree(const std::string& operand) {
  auto path = call_.resolve(operand);
  auto stat = path ? call_.fs().find(*path, vfs::Follow::no) : std::nullopt;
  bool link = stat && stat->is_symlink() && !s_.follow && !s_.follow_operands;
  walk(
      call_, operand, s_.follow,
      [&](const Visit& v) {
        Step step = visit(v);
        return link ? Step::over : step;
      },
      [&](const std::string& shown, const Error& why) {
        call_.complain(fmt::format("cannot access {}: {}", quote_operand(shown), reason(why)));
        status_ = 1;
      });
  close_to(0);
}

// "-5K", "1M": false if malformed.
bool parse_threshold(std::string_view text, std::int64_t& out) {
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::uint64_t value = 0;
  if (!parse_size(text, value) || value > INT64_MAX || (negative && value == 0)) return false;
  out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return true;
}

// -1: go on.
int read_du_options(Invocation& call, CommandLine& options, DuSettings& s) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a': s.all = true; break;
      case kApparent: s.apparent = true; break;
      case 'b':
        s.apparent = true;
        s.size = {0, 1, ""};
        break;
      case 'c': s.total = true; break;
      case 'd': {
        std::int64_t depth = 0;
        if (!parse_integer(value, depth) || depth < 0)
          return usage_error(call, fmt::format("invalid maximum depth {}", quote_operand(value)));
        s.depth = depth;
        break;
      }
      case 'h': s.size = {1024, 1, ""}; break;
      case kSi: s.size = {1000, 1, ""}; break;
      case 'k': s.size = {0, 1024, ""}; break;
      case 'm': s.size = {0, 1 << 20, ""}; break;
      case 's': s.summarize = true; break;
      case 'S': s.separate = true; break;
      case '0': s.end = '\0'; break;
      case 'l': s.count_links = true; break;
      case 'L': s.follow = true; break;
      case 'D': s.follow_operands = true; break;
      case 'P': s.follow = s.follow_operands = false; break;
      case kInodes: s.inodes = true; break;
      case 'B':
      case kBlockSize:
        if (!parse_block_size(call, id == 'B' ? "-B" : "--block-size", value, s.size)) return 1;
        break;
      case 't':
      case kThreshold:
        if (!parse_threshold(value, s.threshold))
          return call.fail(fmt::format("invalid {} argument '{}'", id == 't' ? "-t" : "--threshold", value));
        break;
      case kTime: {
        static constexpr Choice kWords[] = {
            {"atime", 'u'}, {"access", 'u'}, {"use", 'u'}, {"ctime", 'c'}, {"status", 'c'}};
        auto word = value.empty() ? std::optional<int>('m') : choose(call, "--time", value, kWords);
        if (!word) return 1;
        s.time = static_cast<char>(*word);
        break;
      }
      case kTimeStyle:
        if (!value.starts_with('+') && value != "full-iso" && value != "long-iso" && value != "iso")
          return usage_error(call, fmt::format("invalid argument {} for 'time style'", quote_operand(value)));
        s.time_style = value;
        break;
      case kExclude: s.exclude.push_back(value); break;
      case 'X':
      case kFiles0: {
        auto in = value == "-" ? nullptr : open_or_complain(call, value);
        if (value != "-" && !in) return 1;
        if (id == kFiles0 && !options.operands().empty())
          return usage_error(
              call, fmt::format("extra operand {}\nfile operands cannot be combined with --files0-from",
                                quote_operand(options.operands()[0])));
        std::vector<std::string>& into = id == 'X' ? s.exclude : options.operands();
        std::string line;
        while ((in ? *in : call.in()).read_line(line, id == 'X' ? '\n' : '\0')) into.push_back(line);
        break;
      }
      default: break;  // -x: there is one filesystem
    }
  }
  if (s.summarize && s.all) return usage_error(call, "cannot both summarize and show all entries");
  if (s.summarize && s.depth && *s.depth != 0) {
    call.complain(fmt::format("warning: summarizing conflicts with --max-depth={}", *s.depth));
    call.err().write("Try 'du --help' for more information.\n");
    return 1;
  }
  if (s.summarize) s.depth = 0;
  return -1;
}

}  // namespace

int run_du(Invocation& call) {
  CommandLine options(call, kDuOptions);
  if (options.stopped()) return options.status();
  DuSettings settings;
  if (int status = read_du_options(call, options, settings); status >= 0) return status;
  auto& operands = options.operands();
  if (operands.empty()) operands.push_back(".");
  return Du(call, settings).run(operands);
}

namespace {

enum DfLong { kTotal = 512, kOutput, kDfSi, kDfBlockSize, kSync, kNoSync };

constexpr Option kDfOptions[] = {
    {'a', 'a', "all"},
    {'B', 'B', "", Arg::required},
    {kDfBlockSize, 0, "block-size", Arg::required},
    {'h', 'h', "human-readable"},
    {kDfSi, 'H', "si"},
    {'i', 'i', "inodes"},
    {'k', 'k', ""},
    {'l', 'l', "local"},
    {kNoSync, 0, "no-sync"},
    {kOutput, 0, "output", Arg::optional},
    {'P', 'P', "portability"},
    {kSync, 0, "sync"},
    {kTotal, 0, "total"},
    {'t', 't', "type", Arg::required},
    {'T', 'T', "print-type"},
    {'x', 'x', "exclude-type", Arg::required},
    {'v', 'v', ""},
};

struct Column {
  std::string_view field, title;
  bool left = false;
  std::size_t least = 0;  // as wide as a usual number
};

constexpr Column kColumns[] = {{"source", "Filesystem", true, 14},
                               {"fstype", "Type", true, 4},
                               {"itotal", "Inodes", false, 8},
                               {"iused", "IUsed", false, 6},
                               {"iavail", "IFree", false, 8},
                               {"ipcent", "IUse%"},
                               {"size", "1K-blocks"},
                               {"used", "Used", false, 8},
                               {"avail", "Avail"},
                               {"pcent", "Use%"},
                               {"file", "File", true},
                               {"target", "Mounted on", true}};

struct DfSettings {
  bool inodes = false, portable = false, type = false, total = false;
  SizeStyle size;
  std::string unit_title = "1K";
  std::vector<std::string> fields, types, excluded;
  bool chosen = false;  // --output
};

std::string title_of(const Column& column, const DfSettings& s) {
  if (column.field == "avail") return s.chosen || s.size.human ? "Avail" : "Available";
  if (column.field == "pcent" && s.portable) return "Capacity";
  if (column.field != "size") return std::string(column.title);
  if (s.size.human) return "Size";
  return s.portable ? "1024-blocks" : s.unit_title + "-blocks";
}

std::string value_of(std::string_view field, const DfSettings& s, const vfs::Stats& totals,
                     const std::string& operand, bool sum) {
  constexpr std::uint64_t kBytes = 1ULL << 30, kNodes = 1 << 20;
  std::uint64_t used = std::min(kBytes, (totals.bytes + 1023) / 1024 * 1024),
                nodes = std::min<std::uint64_t>(kNodes, totals.nodes());
  auto count = [&](std::uint64_t n) { return s.size.human ? s.size.text(n) : std::to_string(n); };
  auto share = [](std::uint64_t part, std::uint64_t whole) {
    return fmt::format("{}%", (part * 100 + whole - 1) / whole);
  };
  if (field == "source") return sum ? "total" : "vfs";
  if (field == "fstype") return sum ? "-" : "vfs";
  if (field == "itotal") return count(kNodes);
  if (field == "iused") return count(nodes);
  if (field == "iavail") return count(kNodes - nodes);
  if (field == "ipcent") return share(nodes, kNodes);
  if (field == "size") return s.size.text(kBytes);
  if (field == "used") return s.size.text(used);
  if (field == "avail") return s.size.text(kBytes - used);
  if (field == "pcent") return share(used, kBytes);
  if (field == "file") return sum || operand.empty() ? "-" : operand;
  return sum ? "-" : "/";
}

// -1: go on.
int read_df_options(Invocation& call, const CommandLine& options, DfSettings& s) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'h': s.size = {1024, 1, ""}; break;
      case kDfSi: s.size = {1000, 1, ""}; break;
      case 'k':
        s.size = {};
        s.unit_title = "1K";
        break;
      case 'B':
      case kDfBlockSize:
        if (!parse_block_size(call, id == 'B' ? "-B" : "--block-size", value, s.size)) return 1;
        s.unit_title = isdigit(static_cast<unsigned char>(value[0])) ? value : "1" + value;
        if (s.unit_title.find_first_not_of("0123456789") == std::string::npos) s.unit_title += "B";
        break;
      case 'T': s.type = true; break;
      case 'i': s.inodes = true; break;
      case 'P': s.portable = true; break;
      case 't': s.types.push_back(value); break;
      case 'x': s.excluded.push_back(value); break;
      case kTotal: s.total = true; break;
      case kOutput: {
        s.chosen = true;
        if (value.empty()) {
          for (const Column& column : kColumns) s.fields.emplace_back(column.field);
          break;
        }
        for (std::string_view rest = value;;) {
          std::size_t comma = rest.find(',');
          std::string field(rest.substr(0, comma));
          if (std::none_of(std::begin(kColumns), std::end(kColumns),
                           [&](const Column& c) { return c.field == field; }))
            return usage_error(call, fmt::format("option --output: field {} unknown", quote_operand(field)));
          s.fields.push_back(field);
          if (comma == std::string_view::npos) break;
          rest.remove_prefix(comma + 1);
        }
        break;
      }
      default:
        break;  // -a, -l, --sync and --no-sync: the one filesystem is local, shown anyway, and always written
    }
  }
  if (s.chosen && (s.type || s.inodes || s.portable))
    return usage_error(call,
                       fmt::format("options {} and --output are mutually exclusive", s.inodes     ? "-i"
                                                                                     : s.portable ? "-P"
                                                                                                  : "-T"));
  if (s.chosen) return -1;
  s.fields = {"source"};
  if (s.type) s.fields.emplace_back("fstype");
  for (const char* field : {"total", "used", "avail", "pcent"})
    s.fields.emplace_back((s.inodes ? std::string("i") : std::string()) +
                          (s.inodes || std::string_view(field) != "total" ? field : "size"));
  s.fields.emplace_back("target");
  return -1;
}

}  // namespace

int run_df(Invocation& call) {
  CommandLine options(call, kDfOptions);
  if (options.stopped()) return options.status();
  DfSettings s;
  if (int status = read_df_options(call, options, s); status >= 0) return status;
  std::vector<std::string> places;
  int status = 0;
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    if (path && call.fs().find(*path))
      places.push_back(operand);
    else
      call.complain(fmt::format("{}: No such file or directory", operand)), status = 1;
  }
  if (places.empty() && status) return status;
  bool wanted = (s.types.empty() || std::find(s.types.begin(), s.types.end(), "vfs") != s.types.end()) &&
                std::find(s.excluded.begin(), s.excluded.end(), "vfs") == s.excluded.end();
  if (!wanted) return call.fail("no file systems processed");
  if (places.empty()) places.emplace_back();
  vfs::Stats totals = call.fs().stats().value_or(vfs::Stats{});
  std::vector<std::vector<std::string>> rows(1);
  auto column_of = [](const std::string& field) {
    return *std::find_if(std::begin(kColumns), std::end(kColumns),
                         [&](const Column& c) { return c.field == field; });
  };
  for (const std::string& field : s.fields) rows[0].push_back(title_of(column_of(field), s));
  for (std::size_t i = 0; i < places.size() + (s.total ? 1 : 0); ++i) {
    rows.emplace_back();
    for (const std::string& field : s.fields)
      rows.back().push_back(
          value_of(field, s, totals, i < places.size() ? places[i] : "", i == places.size()));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      Column column = column_of(s.fields[i]);
      std::size_t width = column.left ? column.least
                                      : std::max<std::size_t>(column.field.ends_with("pcent") ? 4 : 5,
                                                              s.size.human ? 0 : column.least);
      for (const auto& other : rows) width = std::max(width, other[i].size());
      if (i) line += ' ';
      line += !column.left          ? fmt::format("{:>{}}", row[i], width)
              : i + 1 == row.size() ? row[i]
                                    : fmt::format("{:<{}}", row[i], width);
    }
    call.out().write(line + "\n");
  }
  return status;
}

}  // namespace atl::shell::du_program
