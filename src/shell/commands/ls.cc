#include <fmt/format.h>

#include "shell/commands/calendar.h"
#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/ls/listing.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

enum Long { kColor = 256, kGroupDirectories, kTimeStyle, kTime, kSort, kFormat, kIndicator, kFullTime, kSi, kFileType, kHide, kAuthor, kQuoting, kBlockSize, kHyperlink, kZero, kShowControl, kDerefDir };

constexpr Option kOptions[] = {
    {'a', 'a', "all"}, {'A', 'A', "almost-all"}, {'b', 'b', "escape"}, {'B', 'B', "ignore-backups"}, {'c', 'c', ""},
    {'C', 'C', ""}, {kColor, 0, "color", Arg::optional}, {'d', 'd', "directory"}, {'f', 'f', ""},
    {'F', 'F', "classify", Arg::none}, {'g', 'g', ""}, {kGroupDirectories, 0, "group-directories-first"}, {'G', 'G', "no-group"},
    {'h', 'h', "human-readable"}, {kSi, 0, "si"}, {'H', 'H', "dereference-command-line"}, {'i', 'i', "inode"},
    {'I', 'I', "ignore", Arg::required}, {'k', 'k', "kibibytes"}, {'l', 'l', ""}, {'L', 'L', "dereference"}, {'m', 'm', ""},
    {'n', 'n', "numeric-uid-gid"}, {'N', 'N', "literal"}, {'o', 'o', ""}, {'p', 'p', ""}, {kFileType, 0, "file-type"},
    {'q', 'q', "hide-control-chars"}, {'Q', 'Q', "quote-name"}, {'r', 'r', "reverse"}, {'R', 'R', "recursive"},
    {'s', 's', "size"}, {'S', 'S', ""}, {kSort, 0, "sort", Arg::required}, {kTime, 0, "time", Arg::required},
    {kTimeStyle, 0, "time-style", Arg::required}, {kFullTime, 0, "full-time"}, {'t', 't', ""}, {'u', 'u', ""},
    {'U', 'U', ""}, {'v', 'v', ""}, {'w', 'w', "width", Arg::required}, {'x', 'x', ""}, {'X', 'X', ""}, {'1', '1', ""},
    {kFormat, 0, "format", Arg::required}, {kIndicator, 0, "indicator-style", Arg::required}, {kHide, 0, "hide", Arg::required},
    {kAuthor, 0, "author"}, {kQuoting, 0, "quoting-style", Arg::required}, {kBlockSize, 0, "block-size", Arg::required},
    {kHyperlink, 0, "hyperlink", Arg::optional}, {kZero, 0, "zero"}, {kShowControl, 0, "show-control-chars"},
    {'T', 'T', "tabsize", Arg::required}, {'Z', 'Z', "context"}, {kDerefDir, 0, "dereference-command-line-symlink-to-dir"},
};

// -1: go on.
int read_options(Invocation& call, CommandLine& options, LsSettings& s) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a': s.hidden = LsSettings::Hidden::all; break;
      case 'A': s.hidden = LsSettings::Hidden::almost; break;
      case 'b': s.quote = LsSettings::Quote::escape; break;
      case 'B': s.ignore.push_back("*~"); s.ignore.push_back(".*~"); break;
      case 'c': s.time = 'c'; break;
      case 'C': s.format = LsSettings::Format::columns; break;
      case 'd': s.directories = true; break;
      case 'f': s.sort = LsSettings::Sort::none; s.hidden = LsSettings::Hidden::all; break;
      case 'F': s.indicator = 'F'; break;
      case 'g': s.format = LsSettings::Format::lengthy; s.owner = false; break;
      case kGroupDirectories: s.directories_first = true; break;
      case 'G': s.group = false; break;
      case 'h': s.human = 1024; break;
      case kSi: s.human = 1000; break;
      case 'H': s.follow_arguments = true; break;
      case 'i': s.inodes = true; break;
      case 'I':
      case kHide: s.ignore.push_back(value); break;
      case 'l': s.format = LsSettings::Format::lengthy; break;
      case 'L': s.follow = true; break;
      case 'm': s.format = LsSettings::Format::commas; break;
      case 'n': s.format = LsSettings::Format::lengthy; s.numeric = true; break;
      case 'N': s.quote = LsSettings::Quote::literal; break;
      case 'o': s.format = LsSettings::Format::lengthy; s.group = false; break;
      case 'p': s.indicator = 'p'; break;
      case kFileType: s.indicator = 't'; break;
      case 'q': s.quote = LsSettings::Quote::question; break;
      case 'Q': s.quote = LsSettings::Quote::c; break;
      case 'r': s.reverse = true; break;
      case 'R': s.recursive = true; break;
      case 's': s.blocks = true; break;
      case 'S': s.sort = LsSettings::Sort::size; break;
      case kSort:
        if (value == "none") s.sort = LsSettings::Sort::none;
        else if (value == "size") s.sort = LsSettings::Sort::size;
        else if (value == "time") s.sort = LsSettings::Sort::time;
        else if (value == "version") s.sort = LsSettings::Sort::version;
        else if (value == "extension") s.sort = LsSettings::Sort::extension;
        else if (value == "name") s.sort = LsSettings::Sort::name;
        else return call.fail(fmt::format("invalid argument {} for '--sort'", quoted(value)), 2);
        break;
      case kTime: s.time = value.starts_with("a") || value == "use" ? 'u' : value.starts_with("c") || value == "status" ? 'c' : value.starts_with("b") ? 'b' : 'm'; break;
      case kTimeStyle:
        if (!value.starts_with('+') && value != "full-iso" && value != "long-iso" && value != "iso" && value != "locale")
          return call.fail(fmt::format("invalid argument {} for 'time style'", quoted(value)), 2);
        s.time_style = value;
        break;
      case kFullTime: s.format = LsSettings::Format::lengthy; s.time_style = "full-iso"; break;
      case 't': s.sort = LsSettings::Sort::time; break;
      case 'u': s.time = 'u'; break;
      case 'U': s.sort = LsSettings::Sort::none; break;
      case 'v': s.sort = LsSettings::Sort::version; break;
      case 'w': {
        std::uint64_t columns = 0;
        if (!parse_size(value, columns)) return call.fail(fmt::format("invalid line width: {}", quoted(value)), 2);
        s.width = static_cast<std::size_t>(columns);
        break;
      }
      case 'x': s.format = LsSettings::Format::across; break;
      case 'X': s.sort = LsSettings::Sort::extension; break;
      case '1': if (s.format != LsSettings::Format::lengthy) s.format = LsSettings::Format::single; break;
      case kFormat:
        if (value == "long" || value == "verbose") s.format = LsSettings::Format::lengthy;
        else if (value == "single-column") s.format = LsSettings::Format::single;
        else if (value == "commas") s.format = LsSettings::Format::commas;
        else if (value == "across" || value == "horizontal") s.format = LsSettings::Format::across;
        else s.format = LsSettings::Format::columns;
        break;
      case kIndicator: s.indicator = value == "classify" ? 'F' : value == "slash" ? 'p' : value == "file-type" ? 't' : 0; break;
      case kQuoting: s.quote = value == "shell" || value == "shell-escape" ? LsSettings::Quote::shell : value == "c" ? LsSettings::Quote::c : value == "escape" ? LsSettings::Quote::escape : LsSettings::Quote::literal; break;
      case kColor: s.color = value.empty() || value == "always" || value == "yes" || value == "force"; break;
      case kZero: s.format = LsSettings::Format::single; s.end = '\0'; break;
      default: break;
    }
  }
  if (s.time != 'm' && s.sort == LsSettings::Sort::name && s.format != LsSettings::Format::lengthy) s.sort = LsSettings::Sort::time;
  return -1;
}

}  // namespace

int run_ls(Invocation& call) {
  CommandLine options(call, kOptions, {.status = 2});
  if (options.stopped()) return options.status();
  LsSettings settings;
  std::string_view name = base_name(call.args()[0]);
  if (name == "dir") settings.format = LsSettings::Format::columns;
  if (name == "vdir") settings.format = LsSettings::Format::lengthy;
  if (int status = read_options(call, options, settings); status >= 0) return status;
  return Ls(call, settings).run(options.operands());
}

}  // namespace atl::shell
