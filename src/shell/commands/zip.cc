#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/calendar/calendar.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/tar/archive.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/sink.h"

namespace atl::shell::zip_program {

namespace {

int nothing_to_do(Invocation& call, const std::string& archive) {
  call.err().write(fmt::format("\nzip error: Nothing to do! ({})\n", archive));
  return 12;
}

}  // namespace

int run_zip(Invocation& call) {
  static constexpr Option kOptions[] = {{'r', 'r', "recurse-paths"},
                                        {'q', 'q', "quiet"},
                                        {'j', 'j', "junk-paths"},
                                        {'x', 'x', "exclude", Arg::required},
                                        {'0', '0', ""},
                                        {'1', '1', ""},
                                        {'2', '2', ""},
                                        {'3', '3', ""},
                                        {'4', '4', ""},
                                        {'5', '5', ""},
                                        {'6', '6', ""},
                                        {'7', '7', ""},
                                        {'8', '8', ""},
                                        {'9', '9', ""},
                                        {'m', 'm', "move"},
                                        {'u', 'u', "update"},
                                        {'y', 'y', "symlinks"},
                                        {'D', 'D', ""}};
  CommandLine options(call, kOptions, {.status = 16});
  if (options.stopped()) return options.status();
  bool recursive = false, quiet = false, junk = false, links = false, update = false, directories = true,
       move = false;
  std::vector<std::string> exclude;
  for (auto& [id, value] : options.found()) {
    if (id == 'r') recursive = true;
    if (id == 'q') quiet = true;
    if (id == 'j') junk = true;
    if (id == 'y') links = true;
    if (id == 'u') update = true;
    if (id == 'D') directories = false;
    if (id == 'm') move = true;
    if (id == 'x') exclude.push_back(value);
  }
  auto& operands = options.operands();
  if (operands.size() < 2) return call.fail("error: Nothing to do!", 12);
  std::string archive = operands[0].find('.') == std::string::npos ? operands[0] + ".zip" : operands[0];
  std::vector<ArchiveEntry> entries;
  auto path = call.resolve(archive);
  if (path && call.fs().is_file(*path)) {
    auto loaded = read_archive(call, call.fs().read_bytes(*path).value_or(""), [&](ArchiveEntry& e) {
      entries.push_back(e);
      return true;
    });
    if (!loaded) return call.fail(fmt::format("error: Zip file structure invalid ({})", archive), 3);
  }
  bool missing = false;
  std::vector<vfs::Path> moved;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    walk(
        call, operands[i], !links,
        [&](const Visit& visit) {
          for (const std::string& pattern : exclude)
            if (glob_match(pattern, visit.shown)) return Step::over;
          auto stat = call.fs().find(visit.path, links ? vfs::Follow::no : vfs::Follow::yes);
          if (!stat) return Step::over;
          ArchiveEntry e;
          e.name = visit.shown;
          while (e.name.starts_with("./")) e.name.erase(0, 2);
          while (e.name.starts_with('/')) e.name.erase(0, 1);
          if (junk) e.name = e.name.substr(e.name.rfind('/') + 1);
          e.type = stat->type;
          e.mode = stat->mode;
          e.modified = stat->modified;
          if (e.type == vfs::Type::directory && !e.name.empty() && !e.name.ends_with('/')) e.name += '/';
          if (e.type == vfs::Type::symlink) e.target = call.fs().read_link(visit.path).value_or("");
          if (e.type == vfs::Type::file) e.content = call.fs().read_bytes(visit.path).value_or("");
          bool directory = e.type == vfs::Type::directory;
          if (!e.name.empty() && e.name != "." && e.name != "./" && !(directory && (junk || !directories))) {
            auto old = std::find_if(entries.begin(), entries.end(),
                                    [&](const ArchiveEntry& x) { return x.name == e.name; });
            // Times in an archive are even seconds.
            if (update && old != entries.end() && e.modified < old->modified + std::chrono::seconds(2))
              return recursive ? Step::into : Step::over;
            moved.push_back(visit.path);
            if (!quiet)
              call.out().write(fmt::format("{}: {} (stored 0%)\n",
                                           old == entries.end() ? "  adding" : "updating", e.name));
            if (old != entries.end())
              *old = std::move(e);
            else
              entries.push_back(std::move(e));
          }
          return recursive ? Step::into : Step::over;
        },
        [&](const std::string& shown, const Error&) {
          call.out().write(fmt::format("\tzip warning: name not matched: {}\n", shown));
          missing = true;
        });
  }
  if (entries.empty()) return nothing_to_do(call, archive);
  auto bytes = write_archive(call, entries, ArchiveFormat::zip, ArchiveFilter::none);
  if (!bytes) return call.fail(bytes.error().message(), 15);
  auto written = path ? call.fs().write(*path, vfs::Content(*bytes)) : Result<void>(fail(path.error()));
  if (!written) return call.fail(fmt::format("I/O error: {}", reason(written.error())), 15);
  // Contents stand behind their directory in the list; one that holds what was not taken stays.
  for (auto it = moved.rbegin(); move && it != moved.rend(); ++it) (void)call.fs().remove(*it);
  return missing ? 18 : 0;
}

namespace {

constexpr Option kUnzipOptions[] = {{'d', 'd', "", Arg::required},
                                    {'l', 'l', ""},
                                    {'o', 'o', ""},
                                    {'n', 'n', ""},
                                    {'p', 'p', ""},
                                    {'q', 'q', ""},
                                    {'j', 'j', ""},
                                    {'t', 't', ""},
                                    {'x', 'x', ""},
                                    {'Z', 'Z', "", Arg::required}};

struct UnzipRequest {
  bool list = false, overwrite = false, never = false, pipe = false, quiet = false, junk = false,
       test = false;
  bool excluding = false, names_only = false;
  std::string directory, archive;
  std::vector<std::string> wanted, unwanted;
};

// 0, or the status with which unzip ends after a message.
int read_unzip_options(Invocation& call, const CommandLine& options, UnzipRequest& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'd': r.directory = value; break;
      case 'l': r.list = true; break;
      case 'o': r.overwrite = true; break;
      case 'n': r.never = true; break;
      case 'p': r.pipe = true; break;
      case 'q': r.quiet = true; break;
      case 'j': r.junk = true; break;
      case 't': r.test = true; break;
      case 'x': r.excluding = true; break;
      case 'Z':
        if (value != "1") return call.fail(fmt::format("-Z{}: of zipinfo only -Z1 is known", value), 10);
        r.names_only = true;
        break;
      case CommandLine::kOperand:
        if (r.archive.empty())
          r.archive = value;
        else
          (r.excluding ? r.unwanted : r.wanted).push_back(value);
        break;
      default: break;
    }
  }
  return r.archive.empty() ? call.fail("missing archive operand", 10) : 0;
}

// Takes the entries of an archive one by one.
class Unzip {
 public:
  Unzip(Invocation& call, const UnzipRequest& r) : call_(call), r_(r), out_(call.out()) {}

  int run(const std::string& data) {
    if (!r_.quiet && !r_.pipe && !r_.names_only) out_.append(fmt::format("Archive:  {}\n", r_.archive));
    if (r_.list) out_.append("  Length      Date    Time    Name\n---------  ---------- -----   ----\n");
    auto done = read_archive(call_, data, [&](ArchiveEntry& e) {
      entry(e);
      return true;
    });
    if (!done) {
      call_.complain(fmt::format("{}: {}", r_.archive, done.error().message()));
      status_ = 9;
    }
    if (r_.list)
      out_.append(fmt::format("---------                     -------\n{:>9}                     {} file{}\n",
                              total_, count_, count_ == 1 ? "" : "s"));
    if (r_.test) out_.append(fmt::format("No errors detected in compressed data of {}.\n", r_.archive));
    if (!r_.wanted.empty() && count_ == 0 && status_ == 0) status_ = 11;
    return out_.finish(call_, status_);
  }

 private:
  static bool matches(const std::vector<std::string>& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& p) { return glob_match(p, name); });
  }

  void entry(ArchiveEntry& e) {
    if ((!r_.wanted.empty() && !matches(r_.wanted, e.name)) || matches(r_.unwanted, e.name)) return;
    ++count_;
    total_ += e.size;
    if (r_.names_only) {
      out_.line(e.name);
    } else if (r_.list) {
      std::string time = format_time("%Y-%m-%d %H:%M", e.modified, Zone::of(call_));
      out_.append(fmt::format("{:>9}  {}   {}\n", e.size, time, e.name));
    } else if (r_.test) {
      if (!r_.quiet) out_.append(fmt::format("    testing: {:<22}   OK\n", e.name));
    } else if (r_.pipe) {
      out_.append(e.content);
    } else {
      extract(e);
    }
  }

  void extract(ArchiveEntry& e) {
    std::string name = e.name;
    while (name.starts_with('/')) name.erase(0, 1);
    if (r_.junk) {
      if (name.ends_with('/')) return;
      name = name.substr(name.rfind('/') + 1);
    }
    std::string_view rest = name;
    for (auto part = vfs::next_component(rest); !part.empty(); part = vfs::next_component(rest)) {
      if (part != "..") continue;
      call_.complain(fmt::format("warning:  skipped \"../\" path component(s) in {}", e.name));
      status_ = 1;
      return;
    }
    std::string shown = r_.directory.empty() ? name : join_shown(r_.directory, name);
    auto path = call_.resolve(shown);
    if (!path) return;
    if (e.type == vfs::Type::directory) {
      if (!r_.quiet) out_.append(fmt::format("   creating: {}\n", shown));
      (void)call_.fs().make_directory(*path, 0755, vfs::Parents::create);
      return;
    }
    if (call_.fs().find(*path) && !r_.overwrite) {
      if (r_.never) return;
      call_.complain(fmt::format("{} exists; use -o to replace it", shown));
      status_ = 1;
      return;
    }
    write(e, *path, shown);
  }

  void write(ArchiveEntry& e, const vfs::Path& path, const std::string& shown) {
    if (!r_.quiet) out_.append(fmt::format("  inflating: {:<22}  \n", shown));
    vfs::WriteOptions options;
    options.mode = e.mode ? e.mode : 0644;
    auto written = e.type == vfs::Type::symlink ? call_.fs().make_symlink(path, e.target)
                                                : call_.fs().write(path, vfs::Content(e.content), options);
    if (!written) {
      call_.complain(fmt::format("{}: {}", shown, reason(written.error())));
      status_ = 50;
      return;
    }
    (void)call_.fs().set_times(path, {e.modified, e.modified}, vfs::Follow::no);
  }

  Invocation& call_;
  const UnzipRequest& r_;
  Sink out_;
  int status_ = 0;
  std::uint64_t total_ = 0, count_ = 0;
};

}  // namespace

int run_unzip(Invocation& call) {
  std::vector<std::string> args(call.args().begin(), call.args().end());
  CommandLine options(call, kUnzipOptions, {.status = 10, .args = &args});
  if (options.stopped()) return options.status();
  UnzipRequest r;
  if (int status = read_unzip_options(call, options, r)) return status;
  auto in = call.open_input(r.archive);
  if (!in && !r.archive.ends_with(".zip")) in = call.open_input(r.archive + ".zip");
  if (!in) {
    call.err().write(fmt::format("unzip:  cannot find or open {0}, {0}.zip or {0}.ZIP.\n", r.archive));
    return 9;
  }
  return Unzip(call, r).run((*in)->read_all());
}

}  // namespace atl::shell::zip_program
