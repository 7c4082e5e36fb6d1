#include <fmt/format.h>

#include <array>
#include <unordered_set>

#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"
#include "shell/commands/walk.h"

namespace atl::shell {

int run_du(Invocation& call) {
  enum { kApparent = 256, kExclude, kTime };
  static constexpr Option kOptions[] = {{'a', 'a', "all"}, {kApparent, 0, "apparent-size"}, {'b', 'b', "bytes"}, {'c', 'c', "total"}, {'d', 'd', "max-depth", Arg::required},
                                        {'h', 'h', "human-readable"}, {'k', 'k', ""}, {'m', 'm', ""}, {'s', 's', "summarize"}, {'S', 'S', "separate-dirs"}, {'0', '0', "null"},
                                        {'L', 'L', "dereference"}, {'x', 'x', "one-file-system"}, {kExclude, 0, "exclude", Arg::required}, {'B', 'B', "block-size", Arg::required},
                                        {'l', 'l', "count-links"}, {'H', 0, "si"}, {'D', 'D', "dereference-args"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool all = false, apparent = false, total = false, summarize = false, separate = false, count_links = false;
  std::int64_t depth = INT32_MAX;
  std::uint64_t unit = 1024;
  int human = 0;
  bool follow = false, follow_operands = false;
  char end = '\n';
  std::vector<std::string> exclude;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a': all = true; break;
      case kApparent: apparent = true; break;
      case 'b': apparent = true; unit = 1; break;
      case 'c': total = true; break;
      case 'd': if (!parse_integer(value, depth) || depth < 0) return usage_error(call, fmt::format("invalid maximum depth {}", quoted(value))); break;
      case 'h': human = 1024; break;
      case 'H': human = 1000; break;
      case 'k': unit = 1024; break;
      case 'm': unit = 1 << 20; break;
      case 's': summarize = true; break;
      case 'S': separate = true; break;
      case '0': end = '\0'; break;
      case 'l': count_links = true; break;
      case 'L': follow = true; break;
      case 'D': follow_operands = true; break;
      case 'B': if (!parse_size(value, unit) || unit == 0) return call.fail(fmt::format("invalid --block-size argument {}", quoted(value))); break;
      case kExclude: exclude.push_back(value); break;
      default: break;
    }
  }
  if (summarize && all) return usage_error(call, "cannot both summarize and show all entries");
  if (summarize) depth = 0;
  auto& operands = options.operands();
  if (operands.empty()) operands.push_back(".");
  Sink out(call.out());
  int status = 0;
  std::uint64_t grand = 0;
  auto show = [&](std::uint64_t bytes, std::string_view name) {
    out.append(human ? human_size(bytes, human) : std::to_string((bytes + unit - 1) / unit));
    out.put('\t');
    out.line(name, end);
  };
  std::unordered_set<std::uint64_t> seen;
  for (const std::string& operand : operands) {
    struct Open {
      std::string shown;
      int depth;
      std::uint64_t bytes;
    };
    std::vector<Open> open;
    auto close_to = [&](int level) {
      while (!open.empty() && open.back().depth >= level) {
        Open done = std::move(open.back());
        open.pop_back();
        if (done.depth <= depth) show(done.bytes, done.shown);
        if (!open.empty() && !separate) open.back().bytes += done.bytes;
        if (open.empty()) grand += done.bytes;
      }
    };
    walk(call, operand, follow,
         [&](const Visit& visit) {
           for (const std::string& pattern : exclude)
             if (glob_match(pattern, base_name(visit.shown)) || glob_match(pattern, visit.shown)) return Step::over;
           close_to(visit.depth);
           bool through = follow || (follow_operands && visit.depth == 0);
           auto stat = call.fs().find(visit.path, through ? vfs::Follow::yes : vfs::Follow::no);
           if (!stat) return Step::over;
           bool counted = count_links || stat->links < 2 || stat->is_directory() || seen.insert(stat->inode).second;
           std::uint64_t bytes = stat->is_directory() ? 4096 : apparent ? stat->size : (stat->is_file() ? (stat->size + 4095) / 4096 * 4096 : 0);
           if (!counted) return Step::over;
           if (stat->is_directory()) {
             open.push_back({visit.shown, visit.depth, bytes});
             return Step::into;
           }
           if (!open.empty()) open.back().bytes += bytes;
           else grand += bytes;
           if ((all || visit.depth == 0) && visit.depth <= depth) show(bytes, visit.shown);
           return Step::over;
         },
         [&](const std::string& shown, const Error& why) {
           call.complain(fmt::format("cannot access {}: {}", quoted(shown), reason(why)));
           status = 1;
         });
    close_to(0);
  }
  if (total) show(grand, "total");
  return out.finish(call, status);
}

int run_df(Invocation& call) {
  static constexpr Option kOptions[] = {{'h', 'h', "human-readable"}, {'k', 'k', ""}, {'T', 'T', "print-type"}, {'i', 'i', "inodes"}, {'a', 'a', "all"}, {'P', 'P', "portability"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool human = false, type = false, inodes = false, portable = false;
  for (auto& [id, value] : options.found()) {
    human |= id == 'h';
    type |= id == 'T';
    inodes |= id == 'i';
    portable |= id == 'P';
  }
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    if (!path || !call.fs().find(*path)) return call.fail(fmt::format("{}: No such file or directory", operand));
  }
  auto stats = call.fs().stats();
  std::uint64_t used = stats ? (inodes ? stats->nodes() : (stats->bytes + 1023) / 1024) : 0;
  constexpr std::uint64_t kTotal = 1 << 20;
  std::uint64_t free = kTotal > used ? kTotal - used : 0;
  auto text = [&](std::uint64_t n) { return human ? human_size(inodes ? n : n * 1024) : std::to_string(n); };
  // GNU's widths: each column as wide as its title or a usual number.
  std::size_t wide[3] = {human ? 5U : inodes ? 8U : portable ? 11U : 9U, human ? 5U : inodes ? 6U : 8U, human ? 5U : inodes ? 8U : 9U};
  auto row = [&](std::string_view name, std::string_view kind, const std::array<std::string, 3>& sizes, std::string_view share, std::string_view place) {
    std::string line = fmt::format("{:<14}", name);
    if (type) line += fmt::format(" {:<4}", kind);
    for (std::size_t i = 0; i < sizes.size(); ++i) line += fmt::format(" {:>{}}", sizes[i], wide[i]);
    call.out().write(fmt::format("{} {:>{}} {}\n", line, share, portable && !inodes ? 8 : 4, place));
  };
  std::array<std::string, 3> titles{"1K-blocks", "Used", "Available"};
  if (human) titles = {"Size", "Used", "Avail"};
  if (portable && !human) titles[0] = "1024-blocks";
  if (inodes) titles = {"Inodes", "IUsed", "IFree"};
  row("Filesystem", "Type", titles, inodes ? "IUse%" : portable ? "Capacity" : "Use%", "Mounted on");
  row("vfs", "vfs", {text(kTotal), text(used), text(free)}, fmt::format("{}%", used * 100 / kTotal), "/");
  return 0;
}

}  // namespace atl::shell
