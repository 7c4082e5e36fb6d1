#include <fmt/format.h>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/calendar/calendar.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/quotes.h"

namespace atl::shell::date_program {

namespace {

enum Long { kRfc3339 = 256, kResolution };

constexpr Option kOptions[] = {
    {'d', 'd', "date", Arg::required},
    {'f', 'f', "file", Arg::required},
    {'I', 'I', "iso-8601", Arg::optional},
    {'R', 'R', "rfc-email"},
    {'R', 0, "rfc-822"},
    {'R', 0, "rfc-2822"},
    {kRfc3339, 0, "rfc-3339", Arg::required},
    {'r', 'r', "reference", Arg::required},
    {'s', 's', "set", Arg::required},
    {'u', 'u', "utc"},
    {'u', 0, "universal"},
    {kResolution, 0, "resolution"},
};

constexpr Choice kPrecisions[] = {{"hours", 0}, {"minutes", 1}, {"date", 2}, {"seconds", 3}, {"ns", 4}};

std::string iso_format(std::string_view what, bool& good) {
  good = true;
  if (what.empty() || what == "date" || what == "d") return "%Y-%m-%d";
  if (what == "hours" || what == "h") return "%Y-%m-%dT%H%:z";
  if (what == "minutes" || what == "m") return "%Y-%m-%dT%H:%M%:z";
  if (what == "seconds" || what == "s" || what == "second") return "%Y-%m-%dT%H:%M:%S%:z";
  if (what == "ns" || what == "n") return "%Y-%m-%dT%H:%M:%S,%N%:z";
  good = false;
  return {};
}

}  // namespace

int run_date(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Zone zone = Zone::of(call);
  std::string format = "%a %b %e %H:%M:%S %Z %Y", text, file;
  bool has_text = false, has_format = false, has_file = false;
  WallTime time = call.now();
  for (auto& [id, value] : options.found()) {
    bool good = true;
    switch (id) {
      case 'u': zone = Zone::utc(); break;
      case 'd':
        text = value;
        has_text = true;
        break;
      case 'f':
        file = value;
        has_file = true;
        break;
      case 'I':
        if (!value.empty() && !choose(call, "--iso-8601", value, kPrecisions)) return 1;
        format = iso_format(
            value.empty() ? "date" : kPrecisions[*choose(call, "--iso-8601", value, kPrecisions)].word, good);
        has_format = true;
        break;
      case 'R':
        format = "%a, %d %b %Y %H:%M:%S %z";
        has_format = true;
        break;
      case kRfc3339: {
        static constexpr std::string_view kFormats[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M:%S%:z",
                                                        "%Y-%m-%d %H:%M:%S.%N%:z"};
        static constexpr Choice kWords[] = {{"date", 0}, {"seconds", 1}, {"ns", 2}};
        auto word = choose(call, "--rfc-3339", value, kWords);
        if (!word) return 1;
        format = kFormats[*word];
      }
        has_format = true;
        break;
      case kResolution: call.out().write("0.000000001\n"); return 0;
      case 'r': {
        auto path = call.resolve(value);
        auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
        if (!stat) return call.fail(fmt::format("{}: {}", value, reason(stat.error())));
        time = stat->modified;
        break;
      }
      case 's': return call.fail("cannot set date: Operation not permitted");
      default: break;
    }
  }
  if (options.operands().size() > 1)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(options.operands()[1])));
  for (const std::string& operand : options.operands()) {
    if (!operand.starts_with('+')) {
      if (has_text)
        return usage_error(
            call, fmt::format("the argument {} lacks a leading '+';\nwhen using an option to specify "
                              "date(s), any non-option\nargument must be a format string beginning with '+'",
                              quote_operand(operand)));
      return call.fail(fmt::format("invalid date {}", quote_operand(operand)));
    }
    if (has_format) return call.fail("multiple output formats specified");
    format = operand.substr(1);
    has_format = true;
  }
  auto show = [&](const std::string& spec) {
    auto parsed = parse_date(spec, call.now(), zone);
    if (!parsed) {
      call.complain(fmt::format("invalid date {}", quote_operand(spec)));
      return false;
    }
    call.out().write(format_time(format, *parsed, zone) + "\n");
    return true;
  };
  if (has_file) {
    std::unique_ptr<Input> in;
    if (file != "-" && !(in = open_or_complain(call, file))) return 1;
    std::string line;
    bool good = true;
    while ((in ? *in : call.in()).read_line(line)) good &= show(line);
    return good ? 0 : 1;
  }
  if (has_text) return show(text) ? 0 : 1;
  call.out().write(format_time(format, time, zone) + "\n");
  return 0;
}

}  // namespace atl::shell::date_program
