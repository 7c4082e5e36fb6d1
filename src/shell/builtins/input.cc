#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/utf8.h"
#include "shell/builtins/builtins.h"
#include "shell/builtins/option_reader.h"
#include "shell/quoting.h"

namespace atl::shell::builtins {

namespace {

struct ReadOptions {
  bool raw = false;
  std::string array;
  char delimiter = '\n';
  std::int64_t count = -1;
  bool exact = false;  // -N
  std::string prompt;
  std::optional<double> timeout;
  int fd = 0;
  bool silent = false;
};

// Characters read, each with whether a backslash protected it.
struct Line {
  std::string text;
  std::string quoted;  // '1' where protected
  void add(char c, bool protect) {
    text += c;
    quoted += protect ? '1' : '0';
  }
};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

// One field from `at` on, by IFS. `last`: the rest of the line, trimmed.
std::string take_field(const Line& line, std::size_t& at, const std::string& ifs, bool last) {
  auto separates = [&](std::size_t i) {
    return line.quoted[i] == '0' && ifs.find(line.text[i]) != std::string::npos;
  };
  while (at < line.text.size() && separates(at) && is_space(line.text[at])) ++at;
  std::string out;
  if (last) {
    std::size_t end = line.text.size();
    while (end > at && separates(end - 1) && is_space(line.text[end - 1])) --end;
    // A single trailing separator that is not white space goes as well, if it is the only one.
    std::size_t probe = at;
    std::size_t field_end = at;
    while (probe < end && !separates(probe)) ++probe;
    field_end = probe;
    // Then the field ends before the separator: `IFS=: read x <<< a:` gives a, but a:b: stays whole.
    if (probe < end && !is_space(line.text[probe])) {
      std::size_t next = probe + 1;
      while (next < end && separates(next) && is_space(line.text[next])) ++next;
      if (next == end) end = field_end;
    } else if (probe < end) {
      std::size_t next = probe;
      while (next < end && separates(next) && is_space(line.text[next])) ++next;
      if (next < end && separates(next) && next + 1 == end) end = field_end;
    }
    out = line.text.substr(at, end - at);
    at = line.text.size();
    return out;
  }
  while (at < line.text.size() && !separates(at)) out += line.text[at++];
  while (at < line.text.size() && separates(at) && is_space(line.text[at])) ++at;
  if (at < line.text.size() && separates(at) && !is_space(line.text[at])) {
    ++at;
    while (at < line.text.size() && separates(at) && is_space(line.text[at])) ++at;
  }
  return out;
}

// One option of read. False after a message.
bool set_option(ShellRunner& shell, char letter, const std::string& value, ReadOptions& options) {
  std::int64_t number = 0;
  switch (letter) {
    case 'r': options.raw = true; return true;
    case 's':
    case 'e': options.silent = true; return true;
    case 'a': options.array = value; return true;
    case 'd': options.delimiter = value.empty() ? '\0' : value[0]; return true;
    case 'p': options.prompt = value; return true;
    case 'n':
    case 'N':
      if (!parse_int(value, number) || number < 0) {
        shell.error(fmt::format("read: {}: invalid number", value));
        return false;
      }
      options.count = number;
      options.exact = letter == 'N';
      return true;
    case 't': {
      char* end = nullptr;
      double seconds = std::strtod(value.c_str(), &end);
      if (*end != '\0' || seconds < 0 || value.empty()) {
        shell.error(fmt::format("read: {}: invalid timeout specification", value));
        return false;
      }
      options.timeout = seconds;
      return true;
    }
    case 'u':
      if (!parse_int(value, number) || !shell.descriptors().file(static_cast<int>(number))) {
        shell.error(fmt::format("read: {}: invalid file descriptor{}", value,
                                parse_int(value, number) ? ": Bad file descriptor" : " specification"));
        return false;
      }
      options.fd = static_cast<int>(number);
      return true;
    default: return true;
  }
}

// The options of read, and where its operands begin. A status other than 0 ends it.
int parse_options(ShellRunner& shell, const Args& args, std::size_t& at, ReadOptions& options) {
  OptionReader reader(shell, args, "rsea:d:i:n:N:p:t:u:");
  while (char letter = reader.next())
    if (!set_option(shell, letter, reader.value(), options)) return 1;
  at = reader.operands();
  return reader.failed() ? reader.status() : 0;
}

}  // namespace

namespace {

// Waits until the file can be read. False if the time of -t is over first.
bool wait_readable(ShellRunner& shell, OpenFile& file, double seconds) {
  auto now = [] { return std::chrono::steady_clock::now(); };
  SteadyTime deadline = now() + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  WaitQueue nothing;
  while (!file.ready()) {
    if (now() >= deadline) return false;
    shell.machine().wait_until(nothing, std::min<SteadyTime>(deadline, now() + std::chrono::milliseconds(1)));
  }
  return true;
}

// Reads one line, or as many characters as -n and -N ask for.
class LineReader {
 public:
  LineReader(ShellRunner& shell, OpenFile& file, const ReadOptions& options)
      : shell_(shell), file_(file), options_(options) {}

  void run() {
    bool stop = options_.count == 0;
    while (!stop) {
      std::string_view bytes = file_.fill();
      if (bytes.empty()) break;
      std::size_t used = 0;
      while (used < bytes.size() && !stop) stop = take(bytes, used);
      file_.consume(used);
      shell_.machine().charge(used / 8 + 1);
      if (line.text.size() > shell_.machine().limits.expansion_bytes)
        shell_.machine().stop_limit(Limit::expansion_bytes);
    }
  }

  Line line;
  bool ended = false;  // by the delimiter or by the count

 private:
  // Takes one character from bytes[used] on. True if it was the last that is wanted.
  bool take(std::string_view& bytes, std::size_t& used) {
    char c = bytes[used++];
    if (c == '\\' && !options_.raw) {
      // The backslash was the last byte of what is buffered; the character it protects is in the next piece.
      if (used == bytes.size()) {
        file_.consume(used);
        bytes = file_.fill();
        used = 0;
        if (bytes.empty()) return false;
      }
      char d = bytes[used++];
      // A continued line.
      if (d == '\n') return false;
      line.add(d, true);
      ++characters_;
    } else if (c == options_.delimiter && !options_.exact) {
      return ended = true;
    } else if (c == '\0') {
      return false;
    } else {
      line.add(c, false);
      if (!utf8::is_continuation(c)) ++characters_;
    }
    if (options_.count < 0 || characters_ < options_.count) return false;
    // Take the rest of the character.
    auto lead = static_cast<unsigned char>(line.text.back());
    std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    while (more-- > 0 && used < bytes.size()) line.add(bytes[used++], false);
    return ended = true;
  }

  ShellRunner& shell_;
  OpenFile& file_;
  const ReadOptions& options_;
  std::int64_t characters_ = 0;
};

// read -a: the fields of the line.
std::vector<std::string> all_fields(const Line& line, const std::string& ifs) {
  std::vector<std::string> values;
  std::size_t from = 0;
  while (from < line.text.size()) {
    std::size_t before = from;
    std::string field = take_field(line, from, ifs, false);
    bool at_end = from >= line.text.size();
    if (field.empty() && at_end && line.text.find_first_not_of(" \t\n", before) == std::string::npos) break;
    values.push_back(std::move(field));
  }
  return values;
}

// The names that read is to assign. False after a message about one that is none.
bool check_names(ShellRunner& shell, const Args& args, std::size_t at, const ReadOptions& options) {
  auto refuse = [&](const std::string& name) {
    shell.error(fmt::format("read: `{}': not a valid identifier", name));
    return false;
  };
  if (!options.array.empty() && !is_name(options.array)) return refuse(options.array);
  for (std::size_t i = at; i < args.size(); ++i)
    if (!is_name(args[i].substr(0, args[i].find('[')))) return refuse(args[i]);
  return true;
}

}  // namespace

int read(ShellRunner& shell, const Args& args) {
  ReadOptions options;
  std::size_t at = 1;
  if (int bad = parse_options(shell, args, at, options)) return bad;
  if (!check_names(shell, args, at, options)) return 1;
  OpenFilePtr file = shell.descriptors().file(options.fd);
  if (!file || !file->readable()) {
    shell.error(fmt::format("read: read error: {}: Bad file descriptor", options.fd));
    return 1;
  }
  // read -t 0 only asks whether there is something to read.
  if (options.timeout && *options.timeout == 0) return file->ready() ? 0 : 1;
  // 142 is 128 + SIGALRM, which bash reports. What is no pipe never has to be waited for.
  if (options.timeout && file->is_pipe() && !wait_readable(shell, *file, *options.timeout)) return 142;
  LineReader reader(shell, *file, options);
  reader.run();
  const Line& line = reader.line;
  int status = reader.ended || options.count == 0 ? 0 : 1;
  // -N does not split: the first name gets everything.
  std::string ifs = options.exact ? "" : shell.variables().ifs();
  if (!options.array.empty())
    return shell.variables().assign_array(options.array, all_fields(line, ifs)) ? status : 1;
  if (at >= args.size()) return shell.variables().assign("REPLY", line.text) ? status : 1;
  std::size_t from = 0;
  for (std::size_t i = at; i < args.size(); ++i) {
    bool last = i + 1 == args.size();
    std::string field =
        options.exact ? (i == at ? line.text : std::string()) : take_field(line, from, ifs, last);
    if (!shell.variables().assign_reference(args[i], std::move(field))) return 1;
  }
  return status;
}

namespace {

// What the number of an option of mapfile is called in messages.
std::string_view mapfile_number(char letter) {
  switch (letter) {
    case 'O': return "array origin";
    case 'n':
    case 's': return "line count";
    case 'u': return "file descriptor specification";
    default: return "callback quantum";
  }
}

}  // namespace

int mapfile(ShellRunner& shell, const Args& args) {
  char delimiter = '\n';
  std::int64_t count = 0, origin = 0, skip = 0, quantum = 5000;
  bool strip = false, has_origin = false;
  int fd = 0;
  std::string callback;
  OptionReader options(shell, args, "td:n:O:s:u:C:c:");
  while (char letter = options.next()) {
    const std::string& value = options.value();
    std::int64_t number = 0;
    if (letter == 't')
      strip = true;
    else if (letter == 'd')
      delimiter = value.empty() ? '\0' : value[0];
    else if (letter == 'C')
      callback = value;
    else if (!parse_int(value, number) || (number < 0 && letter != 'u'))
      return shell.fail(args, fmt::format("{}: invalid {}", value, mapfile_number(letter)));
    else if (letter == 'n')
      count = number;
    else if (letter == 'O')
      origin = number, has_origin = true;
    else if (letter == 's')
      skip = number;
    else if (letter == 'c')
      quantum = std::max<std::int64_t>(number, 1);
    else
      fd = static_cast<int>(number);
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  std::string name = at < args.size() ? args[at] : "MAPFILE";
  if (!is_name(name)) {
    shell.error(fmt::format("{}: `{}': not a valid identifier", args[0], name));
    return 1;
  }
  OpenFilePtr file = shell.descriptors().file(fd);
  if (!file || !file->readable()) {
    shell.error(fmt::format("{}: {}: invalid file descriptor: Bad file descriptor", args[0], fd));
    return 1;
  }
  const Variable* existing = shell.variables().find(shell.variables().resolve_name(name));
  if (existing && existing->is(attr::assoc)) {
    shell.error(fmt::format("{}: {}: not an indexed array", args[0], name));
    return 1;
  }
  // Nothing looks at the array before it is full, and no attribute changes the values: it is set at once.
  constexpr std::uint16_t converts = attr::integer | attr::lower | attr::upper | attr::capital;
  bool at_once = !has_origin && callback.empty() && (!existing || !existing->is(converts));
  if (!has_origin && !shell.variables().assign_array(name, {})) return 1;
  std::vector<std::string> values;
  std::string line;
  bool complete = false;
  std::int64_t taken = 0;
  while (file->read_line(line, delimiter, &complete)) {
    shell.machine().charge(line.size() / 8 + 8);
    if (skip > 0) {
      --skip;
      continue;
    }
    if (!strip && complete && delimiter != '\0') line += delimiter;
    line.resize(std::min(line.find('\0'), line.size()));
    if (!callback.empty() && (taken + 1) % quantum == 0) {
      std::string argument = line;
      shell.executor().eval(fmt::format("{} {} {}", callback, origin + taken, quote_single(argument)));
    }
    if (at_once) {
      shell.machine().charge_memory(static_cast<std::int64_t>(line.size()) + 80);
      values.push_back(line);
    } else if (!shell.variables().assign_element(name, std::to_string(origin + taken), line)) {
      return 1;
    }
    if (++taken == count && count > 0) break;
    if (static_cast<std::uint64_t>(taken) > shell.machine().limits.expansion_fields)
      shell.machine().stop_limit(Limit::expansion_fields);
  }
  if (at_once && !shell.variables().assign_array(name, std::move(values))) return 1;
  return 0;
}

int getopts(ShellRunner& shell, const Args& args) {
  std::size_t base = args.size() > 1 && args[1] == "--" ? 2 : 1;
  if (args.size() > 1 && base == 1 && args[1].size() > 1 && args[1][0] == '-' && args[1] != "--" &&
      args.size() < 3)
    return bad_option(shell, args, args[1].substr(0, 2));
  if (args.size() < base + 2) return usage(shell, args);
  std::string spec = args[base];
  const std::string& name = args[base + 1];
  bool silent = spec.starts_with(':');
  if (silent) spec.erase(0, 1);
  Args words;
  if (args.size() > base + 2)
    words.assign(args.begin() + static_cast<std::ptrdiff_t>(base) + 2, args.end());
  else if (shell.calls().args)
    words = *shell.calls().args;
  std::int64_t index = 1;
  parse_int(shell.variables().get_or_empty("OPTIND"), index);
  if (index < 1) index = 1;
  int& within = shell.variables().specials().getopts_at;
  bool errors = shell.variables().get_or_empty("OPTERR") != "0";
  auto finish = [&](const std::string& value, int status) {
    // Assigning OPTIND starts getopts anew; this assignment is its own.
    int keep = within;
    shell.variables().assign("OPTIND", std::to_string(index));
    within = keep;
    if (!is_name(name)) {
      shell.error(fmt::format("getopts: `{}': not a valid identifier", name));
      return 1;
    }
    if (!shell.variables().assign(name, value)) return 1;
    return status;
  };
  auto at = static_cast<std::size_t>(index - 1);
  if (at >= words.size() || (within == 1 && (words[at].size() < 2 || words[at][0] != '-'))) {
    shell.variables().unset("OPTARG");
    within = 1;
    if (at > words.size()) index = static_cast<std::int64_t>(words.size()) + 1;
    return finish("?", 1);
  }
  if (within == 1 && words[at] == "--") {
    ++index;
    shell.variables().unset("OPTARG");
    return finish("?", 1);
  }
  if (within >= static_cast<int>(words[at].size())) within = 1;
  char option = words[at][static_cast<std::size_t>(within)];
  ++within;
  bool last = within >= static_cast<int>(words[at].size());
  std::size_t found = option == ':' ? std::string::npos : spec.find(option);
  if (found == std::string::npos) {
    if (last) ++index, within = 1;
    if (silent) {
      shell.variables().assign("OPTARG", std::string(1, option));
    } else {
      if (errors)
        shell.descriptors().err().write(
            fmt::format("{}: illegal option -- {}\n", shell.calls().arg0, option));
      shell.variables().unset("OPTARG");
    }
    return finish("?", 0);
  }
  if (found + 1 < spec.size() && spec[found + 1] == ':') {
    if (!last) {
      shell.variables().assign("OPTARG", words[at].substr(static_cast<std::size_t>(within)));
      ++index;
      within = 1;
      return finish(std::string(1, option), 0);
    }
    ++index;
    within = 1;
    if (at + 1 < words.size()) {
      shell.variables().assign("OPTARG", words[at + 1]);
      ++index;
      return finish(std::string(1, option), 0);
    }
    if (silent) {
      shell.variables().assign("OPTARG", std::string(1, option));
      return finish(":", 0);
    }
    if (errors)
      shell.descriptors().err().write(
          fmt::format("{}: option requires an argument -- {}\n", shell.calls().arg0, option));
    shell.variables().unset("OPTARG");
    return finish("?", 0);
  }
  if (last) ++index, within = 1;
  shell.variables().unset("OPTARG");
  return finish(std::string(1, option), 0);
}

}  // namespace atl::shell::builtins
