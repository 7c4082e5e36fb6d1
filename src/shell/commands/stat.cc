#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/calendar/calendar.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/text/quotes.h"

namespace atl::shell::stat_program {

namespace {

enum Long { kPrintf = 256, kCached };

constexpr Option kOptions[] = {
    {'c', 'c', "format", Arg::required},
    {kPrintf, 0, "printf", Arg::required},
    {'f', 'f', "file-system"},
    {'L', 'L', "dereference"},
    {'t', 't', "terse"},
    {kCached, 0, "cached", Arg::required},
};

std::string_view type_name(const vfs::Stat& stat) {
  switch (stat.type) {
    case vfs::Type::directory: return "directory";
    case vfs::Type::symlink: return "symbolic link";
    case vfs::Type::fifo: return "fifo";
    default: return stat.size == 0 ? "regular empty file" : "regular file";
  }
}

std::uint32_t type_bits(vfs::Type type) {
  return type == vfs::Type::directory ? 040000U
         : type == vfs::Type::symlink ? 0120000U
         : type == vfs::Type::fifo    ? 010000U
                                      : 0100000U;
}

struct Subject {
  std::string name;
  vfs::Stat stat;
  std::string target;
  vfs::Stats totals;  // of the filesystem
  bool filesystem = false;
};

// The one filesystem, as df shows it: 1 GiB in blocks of 4096 bytes.
std::string filesystem_directive(const Subject& s, char c) {
  constexpr std::uint64_t kBlocks = (1ULL << 30) / 4096, kNodes = 1 << 20;
  std::uint64_t used = std::min(kBlocks, (s.totals.bytes + 4095) / 4096),
                nodes = std::min(kNodes, s.totals.nodes());
  switch (c) {
    case 'a':
    case 'f': return std::to_string(kBlocks - used);
    case 'b': return std::to_string(kBlocks);
    case 'c': return std::to_string(kNodes);
    case 'd': return std::to_string(kNodes - nodes);
    case 'i': return "0";
    case 'l': return "255";
    case 'n': return s.name;
    case 's':
    case 'S': return "4096";
    case 't': return "1021994";
    case 'T': return "tmpfs";
    default: return "?";
  }
}

std::uint64_t size_of(const vfs::Stat& stat) {
  return stat.is_directory() ? 4096 : stat.size;
}
std::uint64_t blocks_of(const vfs::Stat& stat) {
  return stat.is_directory() ? 8 : stat.type == vfs::Type::file ? (stat.size + 4095) / 4096 * 8 : 0;
}

std::string directive(const Invocation& call, const Subject& s, char c) {
  Zone zone = Zone::of(call);
  auto when = [&](WallTime t) { return format_time("%Y-%m-%d %H:%M:%S.%N %z", t, zone); };
  auto seconds = [&](WallTime t) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count());
  };
  WallTime accessed = s.stat.accessed.value_or(s.stat.modified);
  switch (c) {
    case 'a': return fmt::format("{:o}", s.stat.mode);
    case 'A': return mode_text(s.stat.type, s.stat.mode);
    case 'b': return std::to_string(blocks_of(s.stat));
    case 'B': return "512";
    case 'C': return "?";
    case 'd': return "1";
    case 'D': return "1";
    case 'f': return fmt::format("{:x}", type_bits(s.stat.type) | s.stat.mode);
    case 'F': return std::string(type_name(s.stat));
    case 'g': return std::to_string(s.stat.gid);
    case 'G': return group_name(call, s.stat.gid);
    case 'h': return std::to_string(std::max<std::uint32_t>(s.stat.is_directory() ? 2 : 1, s.stat.links));
    case 'i': return std::to_string(s.stat.inode);
    case 'm': return "/";
    case 'n': return s.name;
    case 'N':
      return s.stat.is_symlink() ? fmt::format("{} -> {}", quote_operand(s.name), quote_operand(s.target))
                                 : quote_operand(s.name);
    case 'o': return "4096";
    case 's': return std::to_string(size_of(s.stat));
    case 't':
    case 'T': return "0";
    case 'u': return std::to_string(s.stat.uid);
    case 'U': return user_name(call, s.stat.uid);
    case 'w': return when(s.stat.created);
    case 'W': return seconds(s.stat.created);
    case 'x': return when(accessed);
    case 'X': return seconds(accessed);
    case 'y': return when(s.stat.modified);
    case 'Y': return seconds(s.stat.modified);
    case 'z': return when(s.stat.changed);
    case 'Z': return seconds(s.stat.changed);
    default: return "?";
  }
}

std::string expand(const Invocation& call, std::string_view format, const Subject& s, bool escapes) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    char c = format[i];
    if (c == '\\' && escapes && i + 1 < format.size()) {
      char e = format[++i];
      switch (e) {
        case 'n': out += '\n'; break;
        case 't': out += '\t'; break;
        case 'r': out += '\r'; break;
        case 'a': out += '\a'; break;
        case '\\': out += '\\'; break;
        case '"': out += '"'; break;
        default:
          if (e >= '0' && e <= '7') {
            int value = e - '0';
            for (int k = 0; k < 2 && i + 1 < format.size() && format[i + 1] >= '0' && format[i + 1] <= '7';
                 ++k)
              value = value * 8 + (format[++i] - '0');
            out += static_cast<char>(value);
          } else {
            out += '\\';
            out += e;
          }
      }
      continue;
    }
    if (c != '%' || i + 1 >= format.size()) {
      out += c;
      continue;
    }
    bool left = false, zero = false, alternate = false;
    for (++i; i < format.size() && std::string_view("-0#+ ").find(format[i]) != std::string_view::npos; ++i) {
      left |= format[i] == '-';
      zero |= format[i] == '0';
      alternate |= format[i] == '#';
    }
    std::size_t width = 0;
    while (i < format.size() && isdigit(static_cast<unsigned char>(format[i])))
      width = std::min<std::size_t>(width * 10 + static_cast<unsigned>(format[i++] - '0'), 4096);
    std::size_t precision = std::string::npos;
    if (i < format.size() && format[i] == '.') {
      precision = 0;
      for (++i; i < format.size() && isdigit(static_cast<unsigned char>(format[i])); ++i)
        precision = precision * 10 + static_cast<unsigned>(format[i] - '0');
    }
    if (i < format.size() && (format[i] == 'H' || format[i] == 'L') && i + 1 < format.size()) ++i;
    if (i >= format.size()) break;
    if (format[i] == '%') {
      out += '%';
      continue;
    }
    std::string text = s.filesystem ? filesystem_directive(s, format[i]) : directive(call, s, format[i]);
    if (alternate && format[i] == 'a' && !text.starts_with('0')) text = "0" + text;
    if (alternate && format[i] == 'f') text = "0x" + text;
    if (precision != std::string::npos &&
        std::string_view("nNAFGU").find(format[i]) != std::string_view::npos)
      text = text.substr(0, precision);
    if (text.size() < width) {
      std::string pad(width - text.size(), zero && !left ? '0' : ' ');
      text = left ? text + pad : pad + text;
    }
    out += text;
  }
  return out;
}

constexpr std::string_view kDefault =
    "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: 0,1\tInode: %-11i Links: %h\n"
    "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: "
    "%w\n";

constexpr std::string_view kFilesystem =
    "  File: \"%n\"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: %S\n"
    "Blocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n";

}  // namespace

int run_stat(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::string format(kDefault);
  bool escapes = false, newline = false, filesystem = false, given = false, terse = false;
  vfs::Follow follow = vfs::Follow::no;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c':
        format = value;
        newline = given = true;
        escapes = false;
        break;
      case kPrintf:
        format = value;
        escapes = given = true;
        newline = false;
        break;
      case 'f': filesystem = true; break;
      case 'L': follow = vfs::Follow::yes; break;
      case 't': terse = true; break;
      case kCached: {
        static constexpr Choice kWords[] = {{"default", 0}, {"never", 1}, {"always", 2}};
        if (!choose(call, "--cached", value, kWords)) return 1;
        break;
      }
      default: break;
    }
  }
  if (options.operands().empty()) return usage_error(call, "missing operand");
  if (!given && (terse || filesystem)) {
    newline = terse;
    format = !filesystem ? "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o"
             : terse     ? "%n %i %l %t %s %S %b %f %a %c %d"
                         : kFilesystem;
  }
  int status = 0;
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    auto stat = path ? call.fs().stat(*path, follow) : Result<vfs::Stat>(fail(path.error()));
    if (!stat) {
      call.complain(fmt::format("cannot {} {}: {}", filesystem ? "read file system information for" : "statx",
                                quote_operand(operand), reason(stat.error())));
      status = 1;
      continue;
    }
    Subject subject{operand, *stat, {}, {}, filesystem};
    if (filesystem) subject.totals = call.fs().stats().value_or(vfs::Stats{});
    if (stat->is_symlink())
      if (auto target = call.fs().read_link(*path)) subject.target = *target;
    std::string text = expand(call, format, subject, escapes);
    if (newline) text += '\n';
    call.out().write(text);
  }
  return status;
}

}  // namespace atl::shell::stat_program
