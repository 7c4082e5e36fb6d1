#include <fmt/format.h>

#include "shell/commands/calendar.h"
#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/tar/archive.h"
#include "shell/commands/text_io.h"
#include "shell/commands/walk.h"

namespace atl::shell {

namespace {

int nothing_to_do(Invocation& call, const std::string& archive) {
  call.err().write(fmt::format("\nzip error: Nothing to do! ({})\n", archive));
  return 12;
}

}  // namespace

int run_zip(Invocation& call) {
  static constexpr Option kOptions[] = {{'r', 'r', "recurse-paths"}, {'q', 'q', "quiet"}, {'j', 'j', "junk-paths"}, {'x', 'x', "exclude", Arg::required}, {'0', '0', ""}, {'1', '1', ""}, {'2', '2', ""}, {'3', '3', ""}, {'4', '4', ""}, {'5', '5', ""}, {'6', '6', ""}, {'7', '7', ""}, {'8', '8', ""}, {'9', '9', ""}, {'m', 'm', "move"}, {'u', 'u', "update"}, {'y', 'y', "symlinks"}, {'D', 'D', ""}};
  CommandLine options(call, kOptions, {.status = 16});
  if (options.stopped()) return options.status();
  bool recursive = false, quiet = false, junk = false, links = false, update = false, directories = true, move = false;
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
    walk(call, operands[i], !links,
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
             auto old = std::find_if(entries.begin(), entries.end(), [&](const ArchiveEntry& x) { return x.name == e.name; });
             // Times in an archive are even seconds.
             if (update && old != entries.end() && e.modified < old->modified + std::chrono::seconds(2)) return recursive ? Step::into : Step::over;
             moved.push_back(visit.path);
             if (!quiet) call.out().write(fmt::format("{}: {} (stored 0%)\n", old == entries.end() ? "  adding" : "updating", e.name));
             if (old != entries.end()) *old = std::move(e);
             else entries.push_back(std::move(e));
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

int run_unzip(Invocation& call) {
  static constexpr Option kOptions[] = {{'d', 'd', "", Arg::required}, {'l', 'l', ""}, {'o', 'o', ""}, {'n', 'n', ""}, {'p', 'p', ""}, {'q', 'q', ""}, {'j', 'j', ""}, {'t', 't', ""}, {'x', 'x', ""}, {'Z', 'Z', "", Arg::required}};
  std::vector<std::string> args(call.args().begin(), call.args().end());
  CommandLine options(call, kOptions, {.status = 10, .args = &args});
  if (options.stopped()) return options.status();
  bool list = false, overwrite = false, never = false, pipe = false, quiet = false, junk = false, test = false, excluding = false, names_only = false;
  std::string directory, archive;
  std::vector<std::string> wanted, unwanted;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'd': directory = value; break;
      case 'l': list = true; break;
      case 'o': overwrite = true; break;
      case 'n': never = true; break;
      case 'p': pipe = true; break;
      case 'q': quiet = true; break;
      case 'j': junk = true; break;
      case 't': test = true; break;
      case 'x': excluding = true; break;
      case 'Z':
        if (value != "1") return call.fail(fmt::format("-Z{}: of zipinfo only -Z1 is known", value), 10);
        names_only = true;
        break;
      case CommandLine::kOperand:
        if (archive.empty()) archive = value;
        else (excluding ? unwanted : wanted).push_back(value);
        break;
      default: break;
    }
  }
  if (archive.empty()) return call.fail("missing archive operand", 10);
  auto in = call.open_input(archive);
  if (!in && !archive.ends_with(".zip")) in = call.open_input(archive + ".zip");
  if (!in) {
    call.err().write(fmt::format("unzip:  cannot find or open {0}, {0}.zip or {0}.ZIP.\n", archive));
    return 9;
  }
  std::string data = (*in)->read_all();
  Sink out(call.out());
  int status = 0;
  std::uint64_t total = 0, count = 0;
  if (!quiet && !pipe && !names_only) out.append(fmt::format("Archive:  {}\n", archive));
  if (list) out.append("  Length      Date    Time    Name\n---------  ---------- -----   ----\n");
  auto matches = [](const std::vector<std::string>& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return glob_match(p, name); });
  };
  auto done = read_archive(call, data, [&](ArchiveEntry& e) {
    if ((!wanted.empty() && !matches(wanted, e.name)) || matches(unwanted, e.name)) return true;
    ++count;
    total += e.size;
    if (names_only) return out.line(e.name), true;
    if (list) return out.append(fmt::format("{:>9}  {}   {}\n", e.size, format_time("%Y-%m-%d %H:%M", e.modified, Zone::of(call)), e.name)), true;
    if (test) {
      if (!quiet) out.append(fmt::format("    testing: {:<22}   OK\n", e.name));
      return true;
    }
    if (pipe) return out.append(e.content), true;
    std::string name = e.name;
    while (name.starts_with('/')) name.erase(0, 1);
    if (junk) {
      if (name.ends_with('/')) return true;
      name = name.substr(name.rfind('/') + 1);
    }
    std::string_view rest = name;
    for (auto part = vfs::next_component(rest); !part.empty(); part = vfs::next_component(rest)) {
      if (part != "..") continue;
      call.complain(fmt::format("warning:  skipped \"../\" path component(s) in {}", e.name));
      status = 1;
      return true;
    }
    std::string shown = directory.empty() ? name : join_shown(directory, name);
    auto path = call.resolve(shown);
    if (!path) return true;
    if (e.type == vfs::Type::directory) {
      if (!quiet) out.append(fmt::format("   creating: {}\n", shown));
      (void)call.fs().make_directory(*path, 0755, vfs::Parents::create);
      return true;
    }
    if (call.fs().find(*path) && !overwrite) {
      if (!never) {
        call.complain(fmt::format("{} exists; use -o to replace it", shown));
        status = 1;
      }
      return true;
    }
    if (!quiet) out.append(fmt::format("  inflating: {:<22}  \n", shown));
    vfs::WriteOptions write;
    write.mode = e.mode ? e.mode : 0644;
    auto written = e.type == vfs::Type::symlink ? call.fs().make_symlink(*path, e.target) : call.fs().write(*path, vfs::Content(e.content), write);
    if (!written) {
      call.complain(fmt::format("{}: {}", shown, reason(written.error())));
      status = 50;
    } else {
      (void)call.fs().set_times(*path, {e.modified, e.modified}, vfs::Follow::no);
    }
    return true;
  });
  if (!done) {
    call.complain(fmt::format("{}: {}", archive, done.error().message()));
    status = 9;
  }
  if (list) out.append(fmt::format("---------                     -------\n{:>9}                     {} file{}\n", total, count, count == 1 ? "" : "s"));
  if (test) out.append(fmt::format("No errors detected in compressed data of {}.\n", archive));
  if (!wanted.empty() && count == 0 && status == 0) status = 11;
  return out.finish(call, status);
}

}  // namespace atl::shell
