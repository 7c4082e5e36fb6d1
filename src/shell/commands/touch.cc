#include <fmt/format.h>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/calendar/calendar.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/quotes.h"

namespace atl::shell::touch_program {

namespace {

enum Long { kTime = 256 };

constexpr Option kOptions[] = {
    {'a', 'a', ""},
    {'c', 'c', "no-create"},
    {'d', 'd', "date", Arg::required},
    {'f', 'f', ""},
    {'h', 'h', "no-dereference"},
    {'m', 'm', ""},
    {'r', 'r', "reference", Arg::required},
    {'t', 't', "", Arg::required},
    {kTime, 0, "time", Arg::required},
};

// [[CC]YY]MMDDhhmm[.ss]
bool parse_stamp(std::string_view text, WallTime now, const Zone& zone, WallTime& out) {
  int second = 0;
  std::size_t dot = text.find('.');
  auto pair = [&](std::string_view s, std::size_t at) { return (s[at] - '0') * 10 + (s[at + 1] - '0'); };
  if (dot != std::string_view::npos) {
    if (text.size() - dot != 3) return false;
    second = pair(text, dot + 1);
    text = text.substr(0, dot);
  }
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  CivilTime c =
      to_civil(std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count(), zone);
  if (text.size() == 12)
    c.year = pair(text, 0) * 100 + pair(text, 2), text.remove_prefix(4);
  else if (text.size() == 10) {
    int yy = pair(text, 0);
    c.year = yy < 69 ? 2000 + yy : 1900 + yy;
    text.remove_prefix(2);
  }
  if (text.size() != 8) return false;
  c.month = pair(text, 0);
  c.day = pair(text, 2);
  c.hour = pair(text, 4);
  c.minute = pair(text, 6);
  c.second = second;
  if (c.month < 1 || c.month > 12 || c.day < 1 || c.day > 31 || c.hour > 23 || c.minute > 59 || second > 60)
    return false;
  out = WallTime(std::chrono::seconds(to_unix_seconds(c, zone)));
  return true;
}

}  // namespace

int run_touch(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool access = false, modify = false, create = true, referenced = false, stamped = false;
  std::optional<std::string> date;
  vfs::Follow follow = vfs::Follow::yes;
  WallTime accessed = call.now(), modified = accessed;
  Zone zone = Zone::of(call);
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a': access = true; break;
      case 'c': create = false; break;
      case 'm': modify = true; break;
      case kTime: {
        static constexpr Choice kWords[] = {
            {"atime", 0}, {"access", 0}, {"use", 0}, {"mtime", 1}, {"modify", 1}};
        auto which = choose(call, "--time", value, kWords);
        if (!which) return 1;
        (*which == 0 ? access : modify) = true;
        break;
      }
      case 'h': follow = vfs::Follow::no; break;
      case 'd': date = value; break;
      case 't': {
        WallTime time;
        if (!parse_stamp(value, call.now(), zone, time))
          return call.fail(fmt::format("invalid date format {}", quote_operand(value)));
        accessed = modified = time;
        stamped = true;
        break;
      }
      case 'r': {
        auto path = call.resolve(value);
        auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
        if (!stat)
          return call.fail(
              fmt::format("failed to get attributes of {}: {}", quote_operand(value), reason(stat.error())));
        modified = stat->modified;
        accessed = stat->accessed.value_or(stat->modified);
        referenced = true;
        break;
      }
      default: break;
    }
  }
  if (stamped && (date || referenced))
    return usage_error(call, "cannot specify times from more than one source");
  if (date) {
    // Relative to what -r names, if it does.
    auto access_time = parse_date(*date, accessed, zone), modify_time = parse_date(*date, modified, zone);
    if (!access_time || !modify_time)
      return call.fail(fmt::format("invalid date format {}", quote_operand(*date)));
    accessed = access_time->wall();
    modified = modify_time->wall();
  }
  if (!access && !modify) access = modify = true;
  if (options.operands().empty()) return usage_error(call, "missing file operand");
  int status = 0;
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    auto work = [&]() -> Result<void> {
      if (!path) return fail(path.error());
      auto there = call.fs().find(*path, follow);
      if (!there) {
        if (!create) return {};
        if (operand.ends_with('/')) return fail(Code::not_found, "");
        vfs::WriteOptions write;
        write.mode = 0666 & ~call.umask();
        write.parents = vfs::Parents::must_exist;
        auto made = call.fs().write(*path, vfs::Content(), write);
        if (!made) return made;
      }
      vfs::Times times;
      if (access) times.accessed = accessed;
      if (modify) times.modified = modified;
      return call.fs().set_times(*path, times, follow);
    };
    auto done = work();
    if (!done) {
      call.complain(fmt::format("cannot touch {}: {}", quote_operand(operand), reason(done.error())));
      status = 1;
    }
  }
  return status;
}

}  // namespace atl::shell::touch_program
