#include <fmt/format.h>

#include "shell/builtins/builtins.h"
#include "shell/utf8.h"

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

int parse_options(Interpreter& shell, const Args& args, std::size_t& at, ReadOptions& options) {
  for (; at < args.size() && args[at].size() > 1 && args[at][0] == '-'; ++at) {
    if (args[at] == "--") {
      ++at;
      break;
    }
    for (std::size_t i = 1; i < args[at].size(); ++i) {
      char c = args[at][i];
      if (c == 'r') {
        options.raw = true;
        continue;
      }
      if (c == 's' || c == 'e') {
        options.silent = true;
        continue;
      }
      if (std::string_view("adinNptu").find(c) == std::string_view::npos)
        return bad_option(shell, args, fmt::format("-{}", c));
      std::string value = args[at].substr(i + 1);
      if (value.empty()) {
        if (at + 1 >= args.size()) {
          shell.error(fmt::format("read: -{}: option requires an argument", c));
          return usage(shell, args);
        }
        value = args[++at];
        i = args[at].size();
      } else {
        i = args[at].size();
      }
      std::int64_t number = 0;
      switch (c) {
        case 'a':
          options.array = value;
          break;
        case 'd':
          options.delimiter = value.empty() ? '\0' : value[0];
          break;
        case 'p':
          options.prompt = value;
          break;
        case 'n':
        case 'N':
          if (!parse_int(value, number) || number < 0) {
            shell.error(fmt::format("read: {}: invalid number", value));
            return 1;
          }
          options.count = number;
          options.exact = c == 'N';
          break;
        case 't': {
          char* end = nullptr;
          double seconds = std::strtod(value.c_str(), &end);
          if (*end != '\0' || seconds < 0 || value.empty()) {
            shell.error(fmt::format("read: {}: invalid timeout specification", value));
            return 1;
          }
          options.timeout = seconds;
          break;
        }
        case 'u':
          if (!parse_int(value, number) || !shell.file(static_cast<int>(number))) {
            shell.error(fmt::format("read: {}: invalid file descriptor{}", value,
                                    parse_int(value, number) ? ": Bad file descriptor" : " specification"));
            return 1;
          }
          options.fd = static_cast<int>(number);
          break;
        default:
          break;
      }
      break;
    }
  }
  return 0;
}

}  // namespace

int read(Interpreter& shell, const Args& args) {
  ReadOptions options;
  std::size_t at = 1;
  if (int bad = parse_options(shell, args, at, options)) return bad;
  if (!options.array.empty() && !is_name(options.array)) {
    shell.error(fmt::format("read: `{}': not a valid identifier", options.array));
    return 1;
  }
  for (std::size_t i = at; i < args.size(); ++i) {
    if (!is_name(args[i].substr(0, args[i].find('[')))) {
      shell.error(fmt::format("read: `{}': not a valid identifier", args[i]));
      return 1;
    }
  }
  OpenFilePtr file = shell.file(options.fd);
  if (!file || !file->readable()) {
    shell.error(fmt::format("read: read error: {}: Bad file descriptor", options.fd));
    return 1;
  }
  if (options.timeout && *options.timeout == 0) return file->ready() ? 0 : 1;
  if (options.timeout && file->is_pipe()) {
    SteadyTime deadline =
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*options.timeout));
    WaitQueue nothing;
    while (!file->ready()) {
      if (std::chrono::steady_clock::now() >= deadline) return 142;
      shell.machine.wait_until(nothing, std::min<SteadyTime>(deadline, std::chrono::steady_clock::now() +
                                                                           std::chrono::milliseconds(1)));
    }
  }
  Line line;
  bool ended = false;  // by the delimiter
  std::int64_t characters = 0;
  bool stop = options.count == 0;
  while (!stop) {
    std::string_view bytes = file->fill();
    if (bytes.empty()) break;
    std::size_t used = 0;
    while (used < bytes.size() && !stop) {
      char c = bytes[used++];
      if (c == '\\' && !options.raw) {
        if (used == bytes.size()) {
          file->consume(used);
          bytes = file->fill();
          used = 0;
          if (bytes.empty()) break;
        }
        char d = bytes[used++];
        if (d == '\n') continue;
        line.add(d, true);
        ++characters;
      } else if (c == options.delimiter && !options.exact) {
        ended = true;
        stop = true;
        break;
      } else if (c == '\0') {
        continue;
      } else {
        line.add(c, false);
        if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++characters;
      }
      if (options.count >= 0 && characters >= options.count) {
        // Take the rest of the character.
        auto lead = static_cast<unsigned char>(line.text.back());
        std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
        while (more-- > 0 && used < bytes.size()) line.add(bytes[used++], false);
        ended = true;
        stop = true;
      }
    }
    file->consume(used);
    shell.machine.charge(used / 8 + 1);
    if (line.text.size() > shell.machine.limits.expansion_bytes) shell.machine.stop_limit(Limit::expansion_bytes);
  }
  int status = ended || options.count == 0 ? 0 : 1;
  std::string ifs = options.exact ? "" : shell.ifs();
  if (!options.array.empty()) {
    std::vector<std::string> values;
    std::size_t from = 0;
    while (from < line.text.size()) {
      std::size_t before = from;
      std::string field = take_field(line, from, ifs, false);
      if (field.empty() && from == line.text.size() && before + 0 == from) break;
      if (field.empty() && from >= line.text.size() &&
          line.text.find_first_not_of(" \t\n", before) == std::string::npos)
        break;
      values.push_back(std::move(field));
    }
    return shell.assign_array(options.array, std::move(values)) ? status : 1;
  }
  if (at >= args.size()) {
    if (!shell.assign("REPLY", line.text)) return 1;
    return status;
  }
  std::size_t from = 0;
  for (std::size_t i = at; i < args.size(); ++i) {
    bool last = i + 1 == args.size();
    std::string field =
        options.exact ? (i == at ? line.text : std::string()) : take_field(line, from, ifs, last);
    if (!shell.assign_reference(args[i], std::move(field))) return 1;
  }
  return status;
}

int mapfile(Interpreter& shell, const Args& args) {
  char delimiter = '\n';
  std::int64_t count = 0, origin = 0, skip = 0, quantum = 5000;
  bool strip = false, has_origin = false;
  int fd = 0;
  std::string callback;
  std::size_t at = 1;
  for (; at < args.size() && args[at].size() > 1 && args[at][0] == '-'; ++at) {
    if (args[at] == "--") {
      ++at;
      break;
    }
    for (std::size_t i = 1; i < args[at].size(); ++i) {
      char c = args[at][i];
      if (c == 't') {
        strip = true;
        continue;
      }
      if (std::string_view("dnOsuCc").find(c) == std::string_view::npos)
        return bad_option(shell, args, fmt::format("-{}", c));
      std::string value = args[at].substr(i + 1);
      if (value.empty()) {
        if (at + 1 >= args.size()) {
          shell.error(fmt::format("{}: -{}: option requires an argument", args[0], c));
          return usage(shell, args);
        }
        value = args[++at];
      }
      std::int64_t number = 0;
      if (c == 'd')
        delimiter = value.empty() ? '\0' : value[0];
      else if (c == 'C')
        callback = value;
      else if (!parse_int(value, number) || (number < 0 && c != 'u')) {
        shell.error(fmt::format("{}: {}: invalid {}", args[0], value,
                                c == 'O'               ? "array origin"
                                : c == 'n' || c == 's' ? "line count"
                                : c == 'u'             ? "file descriptor specification"
                                                       : "callback quantum"));
        return 1;
      } else if (c == 'n')
        count = number;
      else if (c == 'O')
        origin = number, has_origin = true;
      else if (c == 's')
        skip = number;
      else if (c == 'c')
        quantum = std::max<std::int64_t>(number, 1);
      else
        fd = static_cast<int>(number);
      break;
    }
  }
  std::string name = at < args.size() ? args[at] : "MAPFILE";
  if (!is_name(name)) {
    shell.error(fmt::format("{}: `{}': not a valid identifier", args[0], name));
    return 1;
  }
  OpenFilePtr file = shell.file(fd);
  if (!file || !file->readable()) {
    shell.error(fmt::format("{}: {}: invalid file descriptor: Bad file descriptor", args[0], fd));
    return 1;
  }
  const Variable* existing = shell.find(shell.resolve_name(name));
  if (existing && existing->is(attr::assoc)) {
    shell.error(fmt::format("{}: {}: not an indexed array", args[0], name));
    return 1;
  }
  // Nothing looks at the array before it is full, and no attribute changes the values: it is set at once.
  constexpr std::uint16_t converts = attr::integer | attr::lower | attr::upper | attr::capital;
  bool at_once = !has_origin && callback.empty() && (!existing || !existing->is(converts));
  if (!has_origin && !shell.assign_array(name, {})) return 1;
  std::vector<std::string> values;
  std::string line;
  bool complete = false;
  std::int64_t taken = 0;
  while (file->read_line(line, delimiter, &complete)) {
    shell.machine.charge(line.size() / 8 + 8);
    if (skip > 0) {
      --skip;
      continue;
    }
    if (!strip && complete && delimiter != '\0') line += delimiter;
    line.resize(std::min(line.find('\0'), line.size()));
    if (!callback.empty() && (taken + 1) % quantum == 0) {
      std::string argument = line;
      shell.eval(fmt::format("{} {} {}", callback, origin + taken, quote_single(argument)));
    }
    if (at_once) {
      shell.machine.charge_memory(static_cast<std::int64_t>(line.size()) + 80);
      values.push_back(line);
    } else if (!shell.assign_element(name, std::to_string(origin + taken), line)) {
      return 1;
    }
    if (++taken == count && count > 0) break;
    if (static_cast<std::uint64_t>(taken) > shell.machine.limits.expansion_fields)
      shell.machine.stop_limit(Limit::expansion_fields);
  }
  if (at_once && !shell.assign_array(name, std::move(values))) return 1;
  return 0;
}

int getopts(Interpreter& shell, const Args& args) {
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
  else if (shell.state.args)
    words = *shell.state.args;
  std::int64_t index = 1;
  parse_int(shell.get_or_empty("OPTIND"), index);
  if (index < 1) index = 1;
  int& within = shell.state.getopts_at;
  bool errors = shell.get_or_empty("OPTERR") != "0";
  auto finish = [&](const std::string& value, int status) {
    int keep = within;
    shell.assign("OPTIND", std::to_string(index));
    within = keep;
    if (!is_name(name)) {
      shell.error(fmt::format("getopts: `{}': not a valid identifier", name));
      return 1;
    }
    if (!shell.assign(name, value)) return 1;
    return status;
  };
  auto at = static_cast<std::size_t>(index - 1);
  if (at >= words.size() || (within == 1 && (words[at].size() < 2 || words[at][0] != '-'))) {
    shell.unset_variable("OPTARG");
    within = 1;
    if (at > words.size()) index = static_cast<std::int64_t>(words.size()) + 1;
    return finish("?", 1);
  }
  if (within == 1 && words[at] == "--") {
    ++index;
    shell.unset_variable("OPTARG");
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
      shell.assign("OPTARG", std::string(1, option));
    } else {
      if (errors) shell.err().write(fmt::format("{}: illegal option -- {}\n", shell.state.arg0, option));
      shell.unset_variable("OPTARG");
    }
    return finish("?", 0);
  }
  if (found + 1 < spec.size() && spec[found + 1] == ':') {
    if (!last) {
      shell.assign("OPTARG", words[at].substr(static_cast<std::size_t>(within)));
      ++index;
      within = 1;
      return finish(std::string(1, option), 0);
    }
    ++index;
    within = 1;
    if (at + 1 < words.size()) {
      shell.assign("OPTARG", words[at + 1]);
      ++index;
      return finish(std::string(1, option), 0);
    }
    if (silent) {
      shell.assign("OPTARG", std::string(1, option));
      return finish(":", 0);
    }
    if (errors)
      shell.err().write(fmt::format("{}: option requires an argument -- {}\n", shell.state.arg0, option));
    shell.unset_variable("OPTARG");
    return finish("?", 0);
  }
  if (last) ++index, within = 1;
  shell.unset_variable("OPTARG");
  return finish(std::string(1, option), 0);
}

}  // namespace atl::shell::builtins
