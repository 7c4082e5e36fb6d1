#include <fmt/format.h>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/ls/listing.h"
#include "shell/files/file_names.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::ls_program {

namespace {

enum Long {
  kColor = 256,
  kGroupDirectories,
  kTimeStyle,
  kTime,
  kSort,
  kFormat,
  kIndicator,
  kClassify,
  kFullTime,
  kSi,
  kFileType,
  kHide,
  kAuthor,
  kQuoting,
  kBlockSize,
  kHyperlink,
  kZero,
  kShowControl,
  kFollowDirectories
};

constexpr Option kOptions[] = {
    {'a', 'a', "all"},
    {'A', 'A', "almost-all"},
    {kAuthor, 0, "author"},
    {'b', 'b', "escape"},
    {kBlockSize, 0, "block-size", Arg::required},
    {'B', 'B', "ignore-backups"},
    {'c', 'c', ""},
    {'C', 'C', ""},
    {kColor, 0, "color", Arg::optional},
    {'d', 'd', "directory"},
    {'f', 'f', ""},
    {'F', 'F', ""},
    {kClassify, 0, "classify", Arg::optional},
    {kFileType, 0, "file-type"},
    {kFormat, 0, "format", Arg::required},
    {kFullTime, 0, "full-time"},
    {'g', 'g', ""},
    {kGroupDirectories, 0, "group-directories-first"},
    {'G', 'G', "no-group"},
    {'h', 'h', "human-readable"},
    {kSi, 0, "si"},
    {'H', 'H', "dereference-command-line"},
    {kFollowDirectories, 0, "dereference-command-line-symlink-to-dir"},
    {kHide, 0, "hide", Arg::required},
    {kHyperlink, 0, "hyperlink", Arg::optional},
    {kIndicator, 0, "indicator-style", Arg::required},
    {'i', 'i', "inode"},
    {'I', 'I', "ignore", Arg::required},
    {'k', 'k', "kibibytes"},
    {'l', 'l', ""},
    {'L', 'L', "dereference"},
    {'m', 'm', ""},
    {'n', 'n', "numeric-uid-gid"},
    {'N', 'N', "literal"},
    {'o', 'o', ""},
    {'p', 'p', ""},
    {'q', 'q', "hide-control-chars"},
    {kShowControl, 0, "show-control-chars"},
    {'Q', 'Q', "quote-name"},
    {kQuoting, 0, "quoting-style", Arg::required},
    {'r', 'r', "reverse"},
    {'R', 'R', "recursive"},
    {'s', 's', "size"},
    {'S', 'S', ""},
    {kSort, 0, "sort", Arg::required},
    {kTime, 0, "time", Arg::required},
    {kTimeStyle, 0, "time-style", Arg::required},
    {'t', 't', ""},
    {'T', 'T', "tabsize", Arg::required},
    {'u', 'u', ""},
    {'U', 'U', ""},
    {'v', 'v', ""},
    {'w', 'w', "width", Arg::required},
    {'x', 'x', ""},
    {'X', 'X', ""},
    {'Z', 'Z', "context"},
    {kZero, 0, "zero"},
    {'1', '1', ""},
};

using Format = LsSettings::Format;
using Sort = LsSettings::Sort;
using Quote = LsSettings::Quote;

template <class T>
constexpr Choice word(std::string_view text, T value) {
  return {text, static_cast<int>(value)};
}

constexpr Choice kWhen[] = {{"always", 1}, {"yes", 1},  {"force", 1}, {"never", 0}, {"no", 0},
                            {"none", 0},   {"auto", 2}, {"tty", 2},   {"if-tty", 2}};
constexpr Choice kSorts[] = {word("none", Sort::none),       word("time", Sort::time),
                             word("size", Sort::size),       word("extension", Sort::extension),
                             word("version", Sort::version), word("width", Sort::width),
                             word("name", Sort::name)};
constexpr Choice kTimes[] = {{"atime", 'u'},    {"access", 'u'}, {"use", 'u'},
                             {"ctime", 'c'},    {"status", 'c'}, {"birth", 'b'},
                             {"creation", 'b'}, {"mtime", 'm'},  {"modification", 'm'}};
constexpr Choice kFormats[] = {word("verbose", Format::lengthy),     word("long", Format::lengthy),
                               word("commas", Format::commas),       word("horizontal", Format::across),
                               word("across", Format::across),       word("vertical", Format::columns),
                               word("single-column", Format::single)};
constexpr Choice kIndicators[] = {{"none", 0}, {"slash", 'p'}, {"file-type", 't'}, {"classify", 'F'}};
constexpr Choice kQuotes[] = {word("literal", Quote::literal),
                              word("shell", Quote::shell),
                              word("shell-always", Quote::shell_always),
                              word("shell-escape", Quote::shell_escape),
                              word("shell-escape-always", Quote::shell_escape_always),
                              word("c", Quote::c),
                              word("c-maybe", Quote::c_maybe),
                              word("escape", Quote::escape),
                              word("locale", Quote::locale),
                              word("clocale", Quote::clocale)};

// One option whose value is a word or a number. After a complaint the status to end with; 0: go on.
int read_value(Invocation& call, int id, const std::string& value, LsSettings& s) {
  auto pick = [&](std::string_view option, std::span<const Choice> words, auto& into) {
    auto found = choose(call, option, value, words);
    if (found) into = static_cast<std::remove_reference_t<decltype(into)>>(*found);
    return found ? 0 : 1;
  };
  // Standard output is never a terminal here.
  auto always = [&](std::string_view option, bool& into) {
    auto when = value.empty() ? std::optional<int>(1) : choose(call, option, value, kWhen);
    into = when == 1;
    return when ? 0 : 1;
  };
  auto number = [&](std::string_view what, std::size_t& into) {
    std::uint64_t n = 0;
    if (!parse_size(value, n))
      return call.complain(fmt::format("invalid {}: {}", what, quote_operand(value))), 2;
    into = static_cast<std::size_t>(n);
    return 0;
  };
  switch (id) {
    case kSort: return pick("--sort", kSorts, s.sort);
    case kTime: return pick("--time", kTimes, s.time);
    case kFormat: return pick("--format", kFormats, s.format);
    case kIndicator: return pick("--indicator-style", kIndicators, s.indicator);
    case kQuoting: return pick("--quoting-style", kQuotes, s.quote);
    case kColor: return always("--color", s.color);
    case kHyperlink: return always("--hyperlink", s.links);
    case kClassify: {
      bool on = false;
      if (int status = always("--classify", on)) return status;
      if (on) s.indicator = 'F';
      return 0;
    }
    case 'w': return number("line width", s.width);
    case 'T': return number("tab size", s.tab);
    case kBlockSize:
      if (!parse_block_size(call, "--block-size", value, s.block_size)) return 2;
      s.file_size = s.block_size;
      return 0;
    default: s.time_style = value.starts_with("posix-") ? "locale" : value; return 0;
  }
}

bool check_time_style(Invocation& call, const std::string& style) {
  if (style.empty() || style.starts_with('+') || style == "full-iso" || style == "long-iso" ||
      style == "iso" || style == "locale")
    return true;
  usage_error(call, fmt::format("invalid argument {} for 'time style'\nValid arguments are:\n  - "
                                "[posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n"
                                "  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format",
                                quote_operand(style)));
  return false;
}

// -1: go on.
int read_options(Invocation& call, CommandLine& options, LsSettings& s) {
  bool time_given = false, sort_given = false;
  for (auto& [id, value] : options.found()) {
    sort_given |= id == 'S' || id == 't' || id == 'U' || id == 'v' || id == 'X' || id == 'f' || id == kSort;
    time_given |= id == 'c' || id == 'u' || id == kTime;
    switch (id) {
      case 'a': s.hidden = LsSettings::Hidden::all; break;
      case 'A': s.hidden = LsSettings::Hidden::almost; break;
      case kAuthor: s.author = true; break;
      case 'b': s.quote = Quote::escape; break;
      case 'B':
        s.ignore.push_back("*~");
        s.ignore.push_back(".*~");
        break;
      case 'c': s.time = 'c'; break;
      case 'C': s.format = Format::columns; break;
      case 'd': s.directories = true; break;
      case 'f':
        s.sort = Sort::none;
        s.hidden = LsSettings::Hidden::all;
        if (s.format == Format::lengthy) s.format = Format::single;
        s.color = s.blocks = s.links = false;
        break;
      case 'F': s.indicator = 'F'; break;
      case kFileType: s.indicator = 't'; break;
      case kFullTime:
        s.format = Format::lengthy;
        s.time_style = "full-iso";
        break;
      case 'g':
        s.format = Format::lengthy;
        s.owner = false;
        break;
      case kGroupDirectories: s.directories_first = true; break;
      case 'G': s.group = false; break;
      case 'h': s.block_size = s.file_size = {1024, 1, ""}; break;
      case kSi: s.block_size = s.file_size = {1000, 1, ""}; break;
      case 'H': s.follow = LsSettings::Follow::arguments; break;
      case kFollowDirectories: s.follow = LsSettings::Follow::argument_directories; break;
      case kHide: s.hide.push_back(value); break;
      case 'i': s.inodes = true; break;
      case 'I': s.ignore.push_back(value); break;
      case 'k': break;  // it is the unit anyway
      case 'l': s.format = Format::lengthy; break;
      case 'L': s.follow = LsSettings::Follow::always; break;
      case 'm': s.format = Format::commas; break;
      case 'n':
        s.format = Format::lengthy;
        s.numeric = true;
        break;
      case 'N': s.quote = Quote::literal; break;
      case 'o':
        s.format = Format::lengthy;
        s.group = false;
        break;
      case 'p': s.indicator = 'p'; break;
      case 'q': s.hide_controls = true; break;
      case kShowControl: s.hide_controls = false; break;
      case 'Q': s.quote = Quote::c; break;
      case 'r': s.reverse = true; break;
      case 'R': s.recursive = true; break;
      case 's': s.blocks = true; break;
      case 'S': s.sort = Sort::size; break;
      case 't': s.sort = Sort::time; break;
      case 'u': s.time = 'u'; break;
      case 'U': s.sort = Sort::none; break;
      case 'v': s.sort = Sort::version; break;
      case 'x': s.format = Format::across; break;
      case 'X': s.sort = Sort::extension; break;
      case 'Z': s.context = true; break;
      case kZero:
        if (s.format != Format::lengthy) s.format = Format::single;
        s.end = '\0';
        s.hide_controls = s.color = false;
        s.quote = Quote::literal;
        break;
      case '1':
        if (s.format != Format::lengthy) s.format = Format::single;
        break;
      default:
        if (int status = read_value(call, id, value, s)) return status;
    }
  }
  if (s.format == Format::lengthy && !check_time_style(call, s.time_style)) return 2;
  if (time_given && !sort_given && s.format != Format::lengthy) s.sort = Sort::time;
  return -1;
}

}  // namespace

int run_ls(Invocation& call) {
  CommandLine options(call, kOptions, {.status = 2});
  if (options.stopped()) return options.status();
  LsSettings settings;
  if (auto columns = call.variable("COLUMNS"); columns && !columns->empty())
    if (std::uint64_t width = 0; parse_size(*columns, width))
      settings.width = static_cast<std::size_t>(width);
  settings.time_style = call.variable("TIME_STYLE").value_or("");
  std::string_view name = base_name(call.args()[0]);
  if (name == "dir") settings.format = LsSettings::Format::columns, settings.quote = Quote::escape;
  if (name == "vdir") settings.format = LsSettings::Format::lengthy, settings.quote = Quote::escape;
  if (int status = read_options(call, options, settings); status >= 0) return status;
  return Ls(call, settings).run(options.operands());
}

}  // namespace atl::shell::ls_program
