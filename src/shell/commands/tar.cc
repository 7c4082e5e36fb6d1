#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/calendar/calendar.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/tar/archive.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/regex/regex.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::tar_program {

namespace {

enum Long {
  kExclude = 256,
  kStrip,
  kOwner,
  kGroup,
  kMtime,
  kTransform,
  kWildcards,
  kNoRecursion,
  kNumeric,
  kSort,
  kShowTransformed,
  kOverwrite,
  kOneTop,
  kNull,
  kIgnored,
  kZstd,
  kFormat,
  kNoSame,
  kMode,
  kSkipOld,
  kExcludeVcs
};

constexpr Option kOptions[] = {
    {'c', 'c', "create"},
    {'x', 'x', "extract"},
    {'x', 0, "get"},
    {'t', 't', "list"},
    {'r', 'r', "append"},
    {'u', 'u', "update"},
    {'f', 'f', "file", Arg::required},
    {'z', 'z', "gzip"},
    {'z', 0, "gunzip"},
    {'j', 'j', "bzip2"},
    {'J', 'J', "xz"},
    {kZstd, 0, "zstd"},
    {'a', 'a', "auto-compress"},
    {'I', 'I', "use-compress-program", Arg::required},
    {'v', 'v', "verbose"},
    {'C', 'C', "directory", Arg::required},
    {kExclude, 0, "exclude", Arg::required},
    {'X', 'X', "exclude-from", Arg::required},
    {'T', 'T', "files-from", Arg::required},
    {kStrip, 0, "strip-components", Arg::required},
    {kStrip, 0, "strip", Arg::required},
    {'k', 'k', "keep-old-files"},
    {'O', 'O', "to-stdout"},
    {'p', 'p', "preserve-permissions"},
    {'p', 0, "same-permissions"},
    {'P', 'P', "absolute-names"},
    {'h', 'h', "dereference"},
    {'m', 'm', "touch"},
    {kOwner, 0, "owner", Arg::required},
    {kGroup, 0, "group", Arg::required},
    {kMtime, 0, "mtime", Arg::required},
    {kTransform, 0, "transform", Arg::required},
    {kTransform, 0, "xform", Arg::required},
    {kWildcards, 0, "wildcards"},
    {kNoRecursion, 0, "no-recursion"},
    {kNumeric, 0, "numeric-owner"},
    {kSort, 0, "sort", Arg::required},
    {kShowTransformed, 0, "show-transformed-names"},
    {kOverwrite, 0, "overwrite"},
    {kSkipOld, 0, "skip-old-files"},
    {kExcludeVcs, 0, "exclude-vcs"},
    {kOneTop, 0, "one-top-level", Arg::optional},
    {kNull, 0, "null"},
    {'S', 'S', "sparse"},
    {'b', 'b', "blocking-factor", Arg::required},
    {kFormat, 0, "format", Arg::required},
    {kFormat, 'H', "", Arg::required},
    {kNoSame, 0, "no-same-owner"},
    {kNoSame, 0, "no-same-permissions"},
    {'o', 'o', ""},
    {kMode, 0, "mode", Arg::required},
    {kIgnored, 0, "ignore-failed-read"},
    {'U', 'U', "unlink-first"},
    {kIgnored, 0, "warning", Arg::required},
    {kIgnored, 0, "posix"},
    {'s', 's', "preserve-order"},
};

struct Request {
  char action = 0;
  std::string file = "-";
  ArchiveFilter filter = ArchiveFilter::none;
  int verbose = 0;
  bool keep = false, to_stdout = false, absolute = false, follow = false, touch = false, recursion = true,
       auto_compress = false, show_transformed = false, wildcards = false, numeric = false,
       permissions = false, skip_old = false;
  std::string mode;
  std::vector<std::string> exclude;
  std::size_t strip = 0;
  std::string owner, group, transform;
  std::optional<WallTime> mtime;
  std::string top;
  // Names with the directory they are to be looked for in.
  std::vector<std::pair<std::string, std::string>> names;
  std::string directory;
};

ArchiveFilter filter_by_name(std::string_view name) {
  if (name.ends_with(".gz") || name.ends_with(".tgz")) return ArchiveFilter::gzip;
  if (name.ends_with(".bz2") || name.ends_with(".tbz") || name.ends_with(".tbz2"))
    return ArchiveFilter::bzip2;
  if (name.ends_with(".xz") || name.ends_with(".txz")) return ArchiveFilter::xz;
  if (name.ends_with(".zst") || name.ends_with(".tzst")) return ArchiveFilter::zstd;
  return ArchiveFilter::none;
}

bool excluded(const Request& r, std::string_view name) {
  for (const std::string& pattern : r.exclude) {
    std::string_view trimmed = pattern;
    while (trimmed.size() > 1 && trimmed.ends_with('/')) trimmed.remove_suffix(1);
    // A pattern matches the whole name or any rest of it behind a slash: --exclude=b excludes a/b.
    std::string_view rest = name;
    while (true) {
      if (glob_match(trimmed, rest) || glob_match(std::string(trimmed) + "/*", rest)) return true;
      std::size_t slash = rest.find('/');
      if (slash == std::string_view::npos) break;
      rest.remove_prefix(slash + 1);
    }
  }
  return false;
}

std::string transformed(const Request& r, std::string name) {
  if (r.strip) {
    std::string_view rest = name;
    while (rest.starts_with('/')) rest.remove_prefix(1);
    for (std::size_t i = 0; i < r.strip; ++i) {
      std::size_t slash = rest.find('/');
      // A name with fewer components than are stripped is left out.
      if (slash == std::string_view::npos) return {};
      rest.remove_prefix(slash + 1);
      while (rest.starts_with('/')) rest.remove_prefix(1);
    }
    name = std::string(rest);
  }
  // s/regex/replacement/flags of sed, with any character instead of the slash.
  if (r.transform.size() > 3 && r.transform[0] == 's') {
    char d = r.transform[1];
    std::size_t second = r.transform.find(d, 2);
    std::size_t third = second == std::string::npos ? second : r.transform.find(d, second + 1);
    if (third != std::string::npos) {
      auto flag = [&](char c) { return r.transform.find(c, third + 1) != std::string::npos; };
      RegexOptions how;
      how.ignore_case = flag('i');
      auto regex = Regex::compile(r.transform.substr(2, second - 2),
                                  flag('x') ? Syntax::extended : Syntax::basic, how);
      std::string with = r.transform.substr(second + 1, third - second - 1);
      bool global = flag('g');
      std::vector<Regex::Span> spans;
      std::string out;
      std::size_t at = 0;
      while (regex && at <= name.size() && regex->search(name, at, spans) && spans[0].matched()) {
        out += name.substr(at, spans[0].begin - at);
        for (std::size_t i = 0; i < with.size(); ++i) {
          if (with[i] == '&')
            out += name.substr(spans[0].begin, spans[0].end - spans[0].begin);
          else if (with[i] == '\\' && i + 1 < with.size() &&
                   isdigit(static_cast<unsigned char>(with[i + 1]))) {
            std::size_t g = static_cast<std::size_t>(with[++i] - '0');
            if (g < spans.size() && spans[g].matched())
              out += name.substr(spans[g].begin, spans[g].end - spans[g].begin);
          } else
            out += with[i];
        }
        at = spans[0].end;
        if (!global || spans[0].end == spans[0].begin) break;
      }
      name = out + name.substr(std::min(at, name.size()));
    }
  }
  return name;
}

std::string listing_line(const Invocation& call, const Request& r, const ArchiveEntry& e,
                         const std::string& name) {
  std::string user = r.numeric || e.user.empty() ? std::to_string(e.uid) : e.user,
              group = r.numeric || e.group.empty() ? std::to_string(e.gid) : e.group;
  std::string owner = user + "/" + group;
  std::string size = std::to_string(e.size);
  // GNU tar gives owner and size 19 columns together.
  std::size_t pad = owner.size() + 1 + size.size() < 19 ? 19 - owner.size() - 1 - size.size() : 0;
  std::string text = mode_text(e.type, e.mode);
  if (!e.hard_link.empty()) text[0] = 'h';
  std::string line = fmt::format("{} {} {}{} {} {}", text, owner, std::string(pad, ' '), size,
                                 format_time("%Y-%m-%d %H:%M", e.modified, Zone::of(call)), name);
  if (e.type == vfs::Type::symlink) line += " -> " + e.target;
  if (!e.hard_link.empty()) line += " link to " + e.hard_link;
  return line;
}

bool wanted(const Request& r, const std::string& name, std::vector<bool>& used) {
  if (r.names.empty()) return true;
  std::string_view trimmed = name;
  while (trimmed.size() > 1 && trimmed.ends_with('/')) trimmed.remove_suffix(1);
  // Naming a directory names everything below it.
  for (std::size_t i = 0; i < r.names.size(); ++i) {
    std::string_view want = r.names[i].first;
    while (want.size() > 1 && want.ends_with('/')) want.remove_suffix(1);
    bool match = r.wildcards
                     ? glob_match(want, trimmed)
                     : trimmed == want || (trimmed.starts_with(want) && trimmed.size() > want.size() &&
                                           trimmed[want.size()] == '/');
    if (!match) continue;
    used[i] = true;
    return true;
  }
  return false;
}

class Tar {
 public:
  Tar(Invocation& call, Request& r) : call_(call), r_(r) {}

  int create(std::vector<ArchiveEntry> entries);
  int read_all(std::string& data);
  int list_or_extract();

 private:
  void add(const std::string& shown, const std::string& directory, std::vector<ArchiveEntry>& entries);
  bool extract(ArchiveEntry& e, const std::string& name);
  int finish(int status) {
    if (failed_) {
      call_.complain("Exiting with failure status due to previous errors");
      return 2;
    }
    return status;
  }

  Invocation& call_;
  Request& r_;
  bool failed_ = false, told_absolute_ = false;
  std::unordered_map<std::uint64_t, std::string> links_;
  std::vector<std::pair<vfs::Path, WallTime>> directories_;
};

void Tar::add(const std::string& shown, const std::string& directory, std::vector<ArchiveEntry>& entries) {
  std::string start = directory.empty() || shown.starts_with('/') ? shown : join_shown(directory, shown);
  std::size_t prefix = start.size() - shown.size();
  walk(
      call_, start, r_.follow,
      [&](const Visit& visit) {
        std::string name = visit.shown.substr(prefix);
        if (excluded(r_, name)) return Step::over;
        auto stat = call_.fs().find(visit.path, r_.follow ? vfs::Follow::yes : vfs::Follow::no);
        if (!stat) return Step::over;
        ArchiveEntry e;
        e.type = stat->type;
        e.mode = stat->mode;
        if (!r_.mode.empty()) apply_mode(r_.mode, e.mode, stat->is_directory(), 0);
        e.uid = stat->uid;
        e.gid = stat->gid;
        e.user = user_name(call_, stat->uid);
        e.group = group_name(call_, stat->gid);
        if (!r_.owner.empty())
          e.user = r_.owner.substr(0, r_.owner.find(':')),
          e.uid = e.user == "root" ? 0 : static_cast<std::uint32_t>(atoi(e.user.c_str()));
        if (!r_.group.empty())
          e.group = r_.group.substr(0, r_.group.find(':')),
          e.gid = e.group == "root" ? 0 : static_cast<std::uint32_t>(atoi(e.group.c_str()));
        e.modified = r_.mtime.value_or(stat->modified);
        if (!r_.absolute && name.starts_with('/')) {
          if (!told_absolute_) call_.complain("Removing leading `/' from member names");
          told_absolute_ = true;
          while (name.starts_with('/')) name.erase(0, 1);
          if (name.empty()) name = "./";
        }
        std::string before = name;
        name = transformed(r_, name);
        if (name.empty()) return Step::into;
        if (e.type == vfs::Type::directory && !name.ends_with('/')) name += '/', before += '/';
        e.name = name;
        if (e.type == vfs::Type::symlink) e.target = call_.fs().read_link(visit.path).value_or("");
        if (e.type == vfs::Type::file) {
          // The second name of a file is stored as a link to the first.
          if (stat->links > 1) {
            auto [it, fresh] = links_.emplace(stat->inode, name);
            if (!fresh) e.hard_link = it->second;
          }
          if (e.hard_link.empty()) {
            auto content = call_.fs().read_bytes(visit.path);
            if (content) e.content = std::move(*content);
          }
          e.size = e.content.size();
        }
        // Standard output may be the archive itself.
        if (r_.verbose)
          (r_.file == "-" ? call_.err() : call_.out())
              .write((r_.verbose > 1 ? listing_line(call_, r_, e, r_.show_transformed ? name : before)
                                     : (r_.show_transformed ? name : before)) +
                     "\n");
        entries.push_back(std::move(e));
        return r_.recursion ? Step::into : Step::over;
      },
      [&](const std::string& where, const Error& why) {
        call_.complain(
            fmt::format("{}: Cannot stat: {}", where.substr(std::min(prefix, where.size())), reason(why)));
        failed_ = true;
      });
}

int Tar::create(std::vector<ArchiveEntry> entries) {
  if (r_.names.empty() && r_.action == 'c') {
    call_.complain("Cowardly refusing to create an empty archive");
    call_.err().write("Try 'tar --help' or 'tar --usage' for more information.\n");
    return 2;
  }
  for (auto& [name, directory] : r_.names) add(name, directory, entries);
  auto bytes = write_archive(call_, entries, ArchiveFormat::tar, r_.filter);
  if (!bytes) return call_.fail(bytes.error().message(), 2);
  if (r_.file == "-") {
    call_.out().write(*bytes);
    return finish(0);
  }
  auto out = call_.open_output(r_.file, false);
  if (!out) {
    call_.complain(fmt::format("{}: Cannot open: {}", r_.file, reason(out.error())));
    return call_.fail("Error is not recoverable: exiting now", 2);
  }
  (*out)->write(*bytes);
  (*out)->flush();
  return finish(0);
}

int Tar::read_all(std::string& data) {
  if (r_.file == "-") {
    data = call_.in().read_all();
    return 0;
  }
  auto in = call_.open_input(r_.file);
  if (!in) {
    call_.complain(fmt::format("{}: Cannot open: {}", r_.file, reason(in.error())));
    return call_.fail("Error is not recoverable: exiting now", 2);
  }
  data = (*in)->read_all();
  return 0;
}

bool Tar::extract(ArchiveEntry& e, const std::string& given) {
  std::string name = given;
  if (!r_.absolute) {
    if (name.starts_with('/')) {
      if (!told_absolute_) call_.complain("Removing leading `/' from member names");
      told_absolute_ = true;
      while (name.starts_with('/')) name.erase(0, 1);
    }
    // A member may not climb out of where it is extracted to.
    std::string_view rest = name;
    while (true) {
      auto part = vfs::next_component(rest);
      if (part.empty()) break;
      if (part == "..") {
        call_.complain(fmt::format("{}: Member name contains '..', skipping", given));
        failed_ = true;
        return false;
      }
    }
    if (name.empty()) return true;
  }
  std::string shown = r_.directory.empty() || name.starts_with('/') ? name : join_shown(r_.directory, name);
  if (!r_.top.empty())
    shown = join_shown(r_.directory.empty() ? r_.top : join_shown(r_.directory, r_.top), name);
  auto path = call_.resolve(shown);
  auto bad = [&](const Error& error) {
    call_.complain(fmt::format("{}: Cannot open: {}", given, reason(error)));
    failed_ = true;
    return false;
  };
  if (!path) return bad(path.error());
  // Nor through a link that an earlier member made.
  for (vfs::Path up = path->parent(); !up.is_root(); up = up.parent()) {
    auto stat = call_.fs().find(up, vfs::Follow::no);
    if (stat && !stat->is_directory() && !(stat->is_symlink() && call_.fs().is_directory(up))) {
      auto removed = call_.fs().remove_file(up);
      if (!removed) return bad(removed.error());
    }
  }
  (void)call_.fs().make_directory(path->parent(), 0777 & ~call_.umask(), vfs::Parents::create);
  std::uint32_t mode = r_.permissions ? e.mode : e.mode & ~call_.umask();
  auto there = call_.fs().find(*path, vfs::Follow::no);
  Result<void> done;
  if (e.type == vfs::Type::directory) {
    if (!there || !there->is_directory())
      done = call_.fs().make_directory(*path, mode | 0700, vfs::Parents::create);
    // Set at the end: extracting into the directory changes its time.
    if (done && !r_.touch) directories_.emplace_back(*path, e.modified);
  } else {
    if (there && r_.skip_old) return true;
    if (there && r_.keep) {
      call_.complain(fmt::format("{}: Cannot open: File exists", given));
      failed_ = true;
      return false;
    }
    // A new file in place of the old one: other names and links of the old one keep what they have.
    if (there && !there->is_directory()) (void)call_.fs().remove_file(*path);
    if (e.type == vfs::Type::symlink)
      done = call_.fs().make_symlink(*path, e.target);
    else if (e.type == vfs::Type::fifo)
      done = call_.fs().make_fifo(*path, mode);
    else if (!e.hard_link.empty()) {
      auto target = call_.resolve(r_.directory.empty() ? e.hard_link : join_shown(r_.directory, e.hard_link));
      done = target ? call_.fs().make_link(*target, *path) : Result<void>(fail(target.error()));
    } else {
      vfs::WriteOptions write;
      write.mode = mode;
      done = call_.fs().write(*path, vfs::Content(e.content), write);
      if (done) (void)call_.fs().set_mode(*path, mode);
    }
    if (done && !r_.touch) (void)call_.fs().set_times(*path, {e.modified, e.modified}, vfs::Follow::no);
  }
  return done ? true : bad(done.error());
}

int Tar::list_or_extract() {
  std::string data;
  if (int status = read_all(data)) return status;
  if (data.empty()) return finish(0);
  std::vector<bool> used(r_.names.size(), false);
  Sink out(call_.out());
  auto result = read_archive(call_, data, [&](ArchiveEntry& e) {
    if (!wanted(r_, e.name, used) || excluded(r_, e.name)) return true;
    std::string name = transformed(r_, e.name);
    if (name.empty() && (r_.strip || !r_.transform.empty())) {
      if (r_.action == 'x') return true;
      name = e.name;
    }
    std::string shown = r_.show_transformed ? name : e.name;
    if (r_.action == 't') {
      out.line(r_.verbose ? listing_line(call_, r_, e, shown) : shown);
      return true;
    }
    if (r_.to_stdout) {
      out.append(e.content);
      if (r_.verbose) call_.err().write(shown + "\n");
      return true;
    }
    if (r_.verbose) out.line(r_.verbose > 1 ? listing_line(call_, r_, e, shown) : shown);
    extract(e, name);
    return true;
  });
  out.flush();
  for (auto it = directories_.rbegin(); it != directories_.rend(); ++it)
    (void)call_.fs().set_times(it->first, {it->second, it->second});
  if (!result) {
    call_.complain(result.error().code() == Code::too_large ? result.error().message()
                                                            : "This does not look like a tar archive");
    return call_.fail("Exiting with failure status due to previous errors", 2);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    call_.complain(fmt::format("{}: Not found in archive", r_.names[i].first));
    failed_ = true;
  }
  return finish(0);
}

}  // namespace

namespace {

// tar cf x y: the first word without its dash; letters take their values from the words behind, in order. The
// words with a dash before each letter; nothing after a message about a letter whose value is missing.
std::optional<std::vector<std::string>> with_dashes(Invocation& call) {
  std::vector<std::string> args(call.args().begin(), call.args().end());
  if (args.size() < 2 || args[1].empty() || args[1][0] == '-') return args;
  std::vector<std::string> expanded{args[0]};
  std::size_t next = 2;
  for (char c : args[1]) {
    expanded.push_back(std::string("-") + c);
    if (std::string_view("fCXTIbH").find(c) == std::string_view::npos) continue;
    if (next >= args.size()) {
      usage_error(call, fmt::format("Old option '{}' requires an argument.", c), 64);
      return std::nullopt;
    }
    expanded.push_back(args[next++]);
  }
  expanded.insert(expanded.end(), args.begin() + static_cast<std::ptrdiff_t>(next), args.end());
  return expanded;
}

bool set_action(Invocation& call, Request& r, char action) {
  if (r.action && r.action != action) {
    usage_error(call, "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option");
    return false;
  }
  r.action = action;
  return true;
}

// Calls `each` for every line of a list of names. False after a message if it cannot be opened.
bool read_list(Invocation& call, const std::string& file, char delimiter,
               const std::function<void(const std::string&)>& each) {
  std::unique_ptr<Input> in;
  if (file != "-" && !(in = open_or_complain(call, file))) return false;
  std::string line;
  while ((in ? *in : call.in()).read_line(line, delimiter)) each(line);
  return true;
}

// 0, or the status with which tar ends after a message.
int read_options(Invocation& call, const CommandLine& options, Request& r, std::string& directory) {
  char delimiter = '\n';  // --null: of the lists behind it
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c':
      case 'x':
      case 't':
      case 'r':
      case 'u':
        if (!set_action(call, r, static_cast<char>(id))) return 2;
        break;
      case 'f': r.file = value; break;
      case 'z': r.filter = ArchiveFilter::gzip; break;
      case 'j': r.filter = ArchiveFilter::bzip2; break;
      case 'J': r.filter = ArchiveFilter::xz; break;
      case kZstd: r.filter = ArchiveFilter::zstd; break;
      case 'I':
        r.filter = value.starts_with("gzip")    ? ArchiveFilter::gzip
                   : value.starts_with("bzip2") ? ArchiveFilter::bzip2
                   : value.starts_with("xz")    ? ArchiveFilter::xz
                   : value.starts_with("zstd")  ? ArchiveFilter::zstd
                                                : ArchiveFilter::none;
        if (r.filter == ArchiveFilter::none)
          return call.fail(fmt::format("--use-compress-program: {} is none of gzip, bzip2, xz and zstd",
                                       quote_operand(value)),
                           2);
        break;
      case 'a': r.auto_compress = true; break;
      case 'v': ++r.verbose; break;
      case 'C':
        directory = directory.empty() || value.starts_with('/') ? value : join_shown(directory, value);
        break;
      case 'm': r.touch = true; break;
      case 'k': r.keep = true; break;
      case 'O': r.to_stdout = true; break;
      case 'p': r.permissions = true; break;
      case 'P': r.absolute = true; break;
      case 'h': r.follow = true; break;
      case kExclude: r.exclude.push_back(value); break;
      case 'X':
        if (!read_list(call, value, delimiter, [&](const std::string& line) { r.exclude.push_back(line); }))
          return 2;
        break;
      case 'T':
        if (!read_list(call, value, delimiter,
                       [&](const std::string& line) { r.names.emplace_back(line, directory); }))
          return 2;
        break;
      case kStrip: r.strip = static_cast<std::size_t>(atoi(value.c_str())); break;
      case kOwner: r.owner = value; break;
      case kGroup: r.group = value; break;
      case kMtime: {
        auto time = parse_date(value, call.now(), Zone::of(call));
        if (!time) return call.fail(fmt::format("Invalid mtime: {}", value), 2);
        r.mtime = time->wall();
        break;
      }
      case kTransform: {
        std::size_t second =
            value.size() > 1 && value[0] == 's' ? value.find(value[1], 2) : std::string::npos;
        std::size_t third = second == std::string::npos ? second : value.find(value[1], second + 1);
        if (third == std::string::npos ||
            value.find_first_not_of("gixrRsShH", third + 1) != std::string::npos)
          return call.fail("Invalid transform expression", 2);
        r.transform = value;
        break;
      }
      case kWildcards: r.wildcards = true; break;
      case kNoRecursion: r.recursion = false; break;
      case kNumeric: r.numeric = true; break;
      case kShowTransformed: r.show_transformed = true; break;
      case kSkipOld: r.skip_old = true; break;
      case kNull: delimiter = '\0'; break;
      case kExcludeVcs:
        for (const char* name : {"CVS", "RCS", "SCCS", ".git", ".gitignore", ".gitmodules", ".gitattributes",
                                 ".cvsignore", ".svn", ".arch-ids", "{arch}", ".bzr", ".bzrignore",
                                 ".bzrtags", ".hg", ".hgignore", ".hgtags", "_darcs"})
          r.exclude.emplace_back(name);
        break;
      case kMode: {
        std::uint32_t probe = 0;
        if (!apply_mode(value, probe, false, 0)) return call.fail("Invalid mode given on option", 2);
        r.mode = value;
        break;
      }
      case kFormat: {
        // Readers of all of them are everywhere; what differs is how long names are kept.
        static constexpr Choice kFormats[] = {{"v7", 0},    {"oldgnu", 1}, {"ustar", 2},
                                              {"posix", 3}, {"pax", 3},    {"gnu", 4}};
        if (std::none_of(std::begin(kFormats), std::end(kFormats),
                         [&](const Choice& c) { return c.word == value; }))
          return call.fail(fmt::format("{}: Invalid archive format", value), 2);
        break;
      }
      case kSort: {
        // Names come sorted, whatever is asked for.
        static constexpr Choice kOrders[] = {{"none", 0}, {"name", 1}, {"inode", 2}};
        if (!choose(call, "--sort", value, kOrders)) return 2;
        break;
      }
      case kOneTop:
        r.top =
            value.empty() ? std::string(base_name(r.file)).substr(0, base_name(r.file).find(".t")) : value;
        break;
      case CommandLine::kOperand: r.names.emplace_back(value, directory); break;
      default: break;
    }
  }
  return 0;
}

// -r and -u: the archive is read and written anew with more in it.
int append(Invocation& call, Tar& tar, const Request& r) {
  if (r.file == "-") return usage_error(call, "Options '-Aru' are incompatible with '-f -'", 2);
  if (r.filter != ArchiveFilter::none) return call.fail("Cannot update compressed archives", 2);
  std::vector<ArchiveEntry> entries;
  std::string data;
  auto path = call.resolve(r.file);
  if (path && call.fs().find(*path)) {
    if (int status = tar.read_all(data)) return status;
    auto loaded = read_archive(call, data, [&](ArchiveEntry& e) {
      entries.push_back(e);
      return true;
    });
    if (!loaded) return call.fail("This does not look like a tar archive", 2);
  }
  return tar.create(std::move(entries));
}

}  // namespace

int run_tar(Invocation& call) {
  auto args = with_dashes(call);
  if (!args) return 64;
  CommandLine options(call, kOptions, {.status = 64, .args = &*args});
  if (options.stopped()) return options.status();
  Request r;
  std::string directory;
  if (int status = read_options(call, options, r, directory)) return status;
  if (!r.action) {
    call.complain("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options");
    call.err().write("Try 'tar --help' or 'tar --usage' for more information.\n");
    return 2;
  }
  r.directory = directory;
  if (!directory.empty()) {
    auto path = call.resolve(directory);
    if (!path || !call.fs().is_directory(*path)) {
      call.complain(fmt::format("{}: Cannot open: No such file or directory", directory));
      return call.fail("Error is not recoverable: exiting now", 2);
    }
  }
  if (r.auto_compress && r.action == 'c') r.filter = filter_by_name(r.file);
  Tar tar(call, r);
  if (r.action == 'c') return tar.create({});
  if (r.action == 'r' || r.action == 'u') return append(call, tar, r);
  return tar.list_or_extract();
}

}  // namespace atl::shell::tar_program
