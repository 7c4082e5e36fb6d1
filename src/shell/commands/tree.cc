#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"
#include "shell/commands/walk.h"

namespace atl::shell {

namespace {

// What -F puts behind a name.
std::string_view mark_of(const std::optional<vfs::Stat>& stat) {
  if (!stat) return "";
  if (stat->is_directory()) return "/";
  if (stat->type == vfs::Type::fifo) return "|";
  return stat->mode & 0111 ? "*" : "";
}

}  // namespace

int run_tree(Invocation& call) {
  enum { kNoReport = 256, kDirsFirst };
  static constexpr Option kOptions[] = {{'a', 'a', ""}, {'d', 'd', ""}, {'f', 'f', ""}, {'F', 'F', ""}, {'i', 'i', ""}, {'L', 'L', "", Arg::required}, {'I', 'I', "", Arg::required}, {'P', 'P', "", Arg::required}, {'s', 's', ""}, {'h', 'h', ""}, {'p', 'p', ""}, {kNoReport, 0, "noreport"}, {kDirsFirst, 0, "dirsfirst"}, {'n', 'n', ""}, {'C', 'C', ""}, {'r', 'r', ""}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool all = false, only_directories = false, full = false, classify = false, flat = false, sizes = false, human = false, modes = false, report = true, first = false, reverse = false;
  std::int64_t depth = INT32_MAX;
  std::string ignore, pattern;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a': all = true; break;
      case 'd': only_directories = true; break;
      case 'f': full = true; break;
      case 'F': classify = true; break;
      case 'i': flat = true; break;
      case 'L': if (!parse_integer(value, depth) || depth < 1) return call.fail("Invalid level, must be greater than 0."); break;
      case 'I': ignore = value; break;
      case 'P': pattern = value; break;
      case 's': sizes = true; break;
      case 'h': sizes = human = true; break;
      case 'p': modes = true; break;
      case kNoReport: report = false; break;
      case kDirsFirst: first = true; break;
      case 'r': reverse = true; break;
      default: break;
    }
  }
  auto matches = [](const std::string& list, std::string_view name) {
    std::string_view rest = list;
    while (true) {
      std::size_t bar = rest.find('|');
      if (glob_match(rest.substr(0, bar), name)) return true;
      if (bar == std::string_view::npos) return false;
      rest.remove_prefix(bar + 1);
    }
  };
  auto& operands = options.operands();
  if (operands.empty()) operands.push_back(".");
  Sink out(call.out());
  std::uint64_t directories = 0, files = 0;
  int status = 0;
  struct Item {
    std::string shown;
    vfs::Path path;
    vfs::Type type;
    std::string lead;
    int depth;
    bool last;
  };
  for (const std::string& operand : operands) {
    auto top = call.resolve(operand);
    if (!top || !call.fs().is_directory(*top)) {
      out.append(fmt::format("{}  [error opening dir]\n", operand));
      if (top && call.fs().find(*top)) ++files;
      else status = 2;
      continue;
    }
    std::vector<Item> stack{{operand, *top, vfs::Type::directory, "", 0, true}};
    while (!stack.empty()) {
      Item item = std::move(stack.back());
      stack.pop_back();
      call.charge(1);
      std::string line = flat || item.depth == 0 ? "" : item.lead + (item.last ? "\u2514\u2500\u2500 " : "\u251c\u2500\u2500 ");
      auto stat = call.fs().find(item.path, vfs::Follow::no);
      if (stat && (modes || sizes)) {
        line += '[';
        if (modes) line += mode_text(stat->type, stat->mode);
        if (sizes) line += fmt::format("{}{:>11}", modes ? " " : "", human ? human_size(stat->is_directory() ? 4096 : stat->size) : std::to_string(stat->is_directory() ? 4096 : stat->size));
        line += "]  ";
      }
      line += full || item.depth == 0 ? item.shown : std::string(base_name(item.shown));
      if (item.type == vfs::Type::symlink) line += " -> " + call.fs().read_link(item.path).value_or("");
      if (classify) line += mark_of(call.fs().find(item.path));
      out.line(line);
      if (item.depth) ++(item.type == vfs::Type::directory ? directories : files);
      if (item.type != vfs::Type::directory || item.depth >= depth) continue;
      auto listing = call.fs().list(item.path);
      if (!listing) continue;
      std::vector<Item> children;
      for (auto entry : *listing) {
        if (entry.name.starts_with('.') && !all) continue;
        bool directory = entry.type == vfs::Type::directory;
        if (only_directories && !directory) continue;
        if (!ignore.empty() && matches(ignore, entry.name)) continue;
        if (!pattern.empty() && !directory && !matches(pattern, entry.name)) continue;
        auto child = item.path.child(entry.name);
        if (!child) continue;
        children.push_back({join_shown(item.shown, entry.name), *child, entry.type, flat || item.depth == 0 ? "" : item.lead + (item.last ? "    " : "\u2502\u00a0\u00a0 "), item.depth + 1, false});
      }
      if (reverse) std::reverse(children.begin(), children.end());
      if (first) std::stable_partition(children.begin(), children.end(), [](const Item& i) { return i.type == vfs::Type::directory; });
      if (!children.empty() && item.depth == 0) ++directories;
      if (!children.empty()) children.back().last = true;
      for (std::size_t i = children.size(); i-- > 0;) stack.push_back(std::move(children[i]));
    }
  }
  if (report) {
    out.append(fmt::format("\n{} director{}", directories, directories == 1 ? "y" : "ies"));
    if (!only_directories) out.append(fmt::format(", {} file{}", files, files == 1 ? "" : "s"));
    out.put('\n');
  }
  return out.finish(call, status);
}

}  // namespace atl::shell
