#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "shell/builtins/builtins.h"
#include "shell/command_table.h"
#include "shell/pattern.h"
#include "shell/quoting.h"
#include "shell/reserved_words.h"

namespace atl::shell::builtins {

namespace {

struct CompletionSpec {
  std::vector<std::string> actions;
  std::string words, glob, function, command, filter, prefix, suffix;
  bool has_words = false;
  std::vector<std::string> options;
  bool remove = false, print = false, default_ = false, empty = false;
};

constexpr std::string_view completion_options[] = {"bashdefault", "default", "dirnames", "filenames",
                                                   "noquote",     "nosort",  "nospace",  "plusdirs"};

bool is_option(std::string_view name) {
  return std::find(std::begin(completion_options), std::end(completion_options), name) !=
         std::end(completion_options);
}

const char* action_of(char letter) {
  switch (letter) {
    case 'a': return "alias";
    case 'b': return "builtin";
    case 'c': return "command";
    case 'd': return "directory";
    case 'e': return "export";
    case 'f': return "file";
    case 'g': return "group";
    case 'j': return "job";
    case 'k': return "keyword";
    case 's': return "service";
    case 'u': return "user";
    case 'v': return "variable";
    default: return nullptr;
  }
}

int parse(ShellRunner& shell, const Args& args, std::size_t& at, CompletionSpec& out) {
  for (; at < args.size() && args[at].size() > 1 && args[at][0] == '-'; ++at) {
    if (args[at] == "--") {
      ++at;
      break;
    }
    for (std::size_t i = 1; i < args[at].size(); ++i) {
      char c = args[at][i];
      if (const char* action = action_of(c)) {
        out.actions.emplace_back(action);
        continue;
      }
      if (c == 'p') {
        out.print = true;
        continue;
      }
      if (c == 'r') {
        out.remove = true;
        continue;
      }
      if (c == 'D') {
        out.default_ = true;
        continue;
      }
      if (c == 'E' || c == 'I') {
        out.empty = true;
        continue;
      }
      if (std::string_view("oAGWFCXPS").find(c) == std::string_view::npos)
        return bad_option(shell, args, fmt::format("-{}", c));
      std::string value = args[at].substr(i + 1);
      if (value.empty()) {
        if (at + 1 >= args.size()) {
          shell.error(fmt::format("{}: -{}: option requires an argument", args[0], c));
          return usage(shell, args);
        }
        value = args[++at];
      }
      switch (c) {
        case 'o':
          if (!is_option(value)) {
            shell.error(fmt::format("{}: {}: invalid option name", args[0], value));
            return 2;
          }
          out.options.push_back(value);
          break;
        case 'A': out.actions.push_back(value); break;
        case 'G': out.glob = value; break;
        case 'W':
          out.words = value;
          out.has_words = true;
          break;
        case 'F': out.function = value; break;
        case 'C': out.command = value; break;
        case 'X': out.filter = value; break;
        case 'P': out.prefix = value; break;
        case 'S': out.suffix = value; break;
        default: break;
      }
      break;
    }
  }
  return 0;
}

void files(ShellRunner& shell, const std::string& word, bool directories, std::vector<std::string>& out) {
  std::size_t slash = word.rfind('/');
  std::string directory = slash == std::string::npos ? "" : word.substr(0, slash + 1);
  std::string start = slash == std::string::npos ? word : word.substr(slash + 1);
  auto path = shell.descriptors().path_of(directory.empty() ? "." : directory);
  if (!path) return;
  auto listing = shell.machine().fs.list(*path);
  if (!listing) return;
  for (auto entry : *listing) {
    if (!entry.name.starts_with(start) || (start.empty() && entry.name[0] == '.')) continue;
    if (directories && entry.type != vfs::Type::directory) continue;
    out.push_back(directory + std::string(entry.name));
  }
}

// One word of -W's list. What came of substitutions outside of quotes is split by IFS too.
void add_listed(ShellRunner& shell, const std::string& word, bool substitutes,
                std::vector<std::string>& out) {
  std::string text = shell.expander().single(shell.expander().parse_word(word));
  if (!substitutes) return out.push_back(std::move(text));
  const std::string ifs = shell.variables().ifs();
  for (std::size_t from = 0; (from = text.find_first_not_of(ifs, from)) != std::string::npos;) {
    std::size_t end = std::min(text.find_first_of(ifs, from), text.size());
    out.push_back(text.substr(from, end - from));
    from = end;
  }
}

// -W: split by IFS outside of quotes and substitutions, then each word is expanded.
std::vector<std::string> listed_words(ShellRunner& shell, const std::string& list) {
  const std::string ifs = shell.variables().ifs();
  std::vector<std::string> out;
  std::string word;
  char quote = 0;
  int open = 0;  // parentheses and braces of substitutions
  bool substitutes = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    char c = list[i];
    if (quote == 0 && open == 0 && ifs.find(c) != std::string::npos) {
      if (!word.empty()) add_listed(shell, std::exchange(word, {}), std::exchange(substitutes, false), out);
      continue;
    }
    word += c;
    substitutes = substitutes || (quote == 0 && (c == '$' || c == '`'));
    if (c == '\\' && quote != '\'' && i + 1 < list.size())
      word += list[++i];
    else if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '\'' || c == '"' || c == '`')
      quote = c;
    else if ((c == '(' || c == '{') && (open > 0 || (i > 0 && list[i - 1] == '$')))
      ++open;
    else if ((c == ')' || c == '}') && open > 0)
      --open;
  }
  if (quote != 0) word += quote;
  if (!word.empty()) add_listed(shell, word, substitutes, out);
  return out;
}

bool action(ShellRunner& shell, const std::string& name, const std::string& word,
            std::vector<std::string>& out) {
  std::vector<std::string> found;
  if (name == "alias") {
    for (const auto& [key, text] : *shell.names().aliases()) found.push_back(key);
  } else if (name == "builtin" || name == "enabled") {
    for (const Builtin* row : all_builtins()) found.emplace_back(row->name);
  } else if (name == "keyword") {
    for (std::string_view one : reserved_words) found.emplace_back(one);
  } else if (name == "function") {
    for (const auto& [key, function] : *shell.names().functions()) found.push_back(key);
  } else if (name == "variable") {
    found = shell.variables().names();
  } else if (name == "export") {
    for (const auto& [key, value] : shell.variables().environment()) found.push_back(key);
  } else if (name == "arrayvar") {
    for (const auto& [key, variable] : *shell.variables().table())
      if (variable.is_array()) found.push_back(key);
    std::sort(found.begin(), found.end());
  } else if (name == "command") {
    for (std::string_view one : reserved_words) found.emplace_back(one);
    for (const auto& [key, text] : *shell.names().aliases()) found.push_back(key);
    for (const auto& [key, function] : *shell.names().functions()) found.push_back(key);
    for (const Builtin* row : all_builtins()) found.emplace_back(row->name);
    for (const Command& row : command_table()) found.emplace_back(row.name);
  } else if (name == "file") {
    files(shell, word, false, out);
  } else if (name == "directory") {
    files(shell, word, true, out);
  } else if (name == "setopt") {
    for (const auto& row : opt_rows) found.emplace_back(row.name);
  } else if (name == "shopt") {
    for (auto one : shopt_names) found.emplace_back(one);
  } else if (name == "signal") {
    for (int i = 1; i <= signal_max; ++i)
      if (!signal_name(i).empty()) found.push_back("SIG" + std::string(signal_name(i)));
  } else if (name == "user") {
    found = {"root", "user"};
  } else if (name == "group") {
    found = {"root", "user"};
  } else if (name == "helptopic") {
    for (const Builtin* row : all_builtins()) found.emplace_back(row->name);
  } else if (name == "hostname" || name == "job" || name == "running" || name == "stopped" ||
             name == "service" || name == "disabled" || name == "binding") {
  } else {
    return false;
  }
  for (auto& one : found)
    if (one.starts_with(word)) out.push_back(std::move(one));
  return true;
}

}  // namespace

int compgen(ShellRunner& shell, const Args& args) {
  CompletionSpec spec;
  std::size_t at = 1;
  if (int bad = parse(shell, args, at, spec)) return bad;
  std::string word = at < args.size() ? args[at] : "";
  std::vector<std::string> out;
  for (const std::string& name : spec.actions) {
    if (!action(shell, name, word, out)) {
      shell.error(fmt::format("compgen: {}: invalid action name", name));
      return 2;
    }
  }
  if (!spec.glob.empty()) {
    bool matched = false;
    for (auto& name : shell.expander().glob(spec.glob, matched)) out.push_back(std::move(name));
  }
  if (spec.has_words) {
    for (std::string& one : listed_words(shell, spec.words))
      if (one.starts_with(word)) out.push_back(std::move(one));
  }
  if (!spec.function.empty()) {
    if (const Function* function = shell.names().find_function(spec.function)) {
      shell.variables().assign_array("COMPREPLY", {});
      shell.executor().call_function(*function, {spec.function, "compgen", word, ""});
      if (const Variable* reply = shell.variables().find("COMPREPLY"); reply && reply->is(attr::array))
        for (const auto& [index, text] : *reply->array) out.push_back(text);
    }
  }
  if (!spec.filter.empty()) {
    bool negate = spec.filter[0] == '!';
    Pattern pattern(negate ? spec.filter.substr(1) : spec.filter, {});
    std::erase_if(out, [&](const std::string& one) { return pattern.matches(one) != negate; });
  }
  auto has = [&](std::string_view option) {
    return std::find(spec.options.begin(), spec.options.end(), option) != spec.options.end();
  };
  std::vector<std::string> more;
  if (has("plusdirs") || (out.empty() && has("dirnames"))) files(shell, word, true, more);
  if (out.empty() && more.empty() && has("default")) files(shell, word, false, more);
  std::string text;
  for (const auto& one : out) text += spec.prefix + one + spec.suffix + "\n";
  for (const auto& one : more) text += one + "\n";
  out.insert(out.end(), more.begin(), more.end());
  if (!shell.print(text, "compgen")) return 1;
  return out.empty() ? 1 : 0;
}

int complete(ShellRunner& shell, const Args& args) {
  CompletionSpec spec;
  std::size_t at = 1;
  if (int bad = parse(shell, args, at, spec)) return bad;
  auto& table = shell.prompt().completions.edit();
  std::string out;
  int status = 0;
  auto line = [&](const std::string& name, const std::vector<std::string>& words) {
    out += "complete";
    for (const auto& word : words) out += " " + word;
    if (name != "-D" && name != "-E" && !(words.size() && words.back() == name)) out += " " + name;
    out += "\n";
  };
  if (spec.remove) {
    if (at >= args.size() && !spec.default_ && !spec.empty) table.clear();
    if (spec.default_) table.erase("-D");
    if (spec.empty) table.erase("-E");
    for (; at < args.size(); ++at) table.erase(args[at]);
    return 0;
  }
  if (spec.print || args.size() == 1) {
    if (at >= args.size())
      for (const auto& [name, words] : table) line(name, words);
    for (; at < args.size(); ++at) {
      auto it = table.find(args[at]);
      if (it == table.end()) {
        shell.error(fmt::format("complete: {}: no completion specification", args[at]));
        status = 1;
      } else {
        line(it->first, it->second);
      }
    }
    return shell.print(out, "complete") ? status : 1;
  }
  std::vector<std::string> words;
  for (const auto& option : spec.options) words.push_back("-o " + option);
  for (const auto& name : spec.actions) {
    bool letter = false;
    for (char c : std::string_view("abcdefgjksuv"))
      if (action_of(c) == name) words.push_back(std::string("-") + c), letter = true;
    if (!letter) words.push_back("-A " + name);
  }
  if (!spec.glob.empty()) words.push_back("-G " + quote_single(spec.glob));
  if (spec.has_words) words.push_back("-W " + quote_single(spec.words));
  if (!spec.prefix.empty()) words.push_back("-P " + quote_single(spec.prefix));
  if (!spec.suffix.empty()) words.push_back("-S " + quote_single(spec.suffix));
  if (!spec.filter.empty()) words.push_back("-X " + quote_single(spec.filter));
  if (!spec.command.empty()) words.push_back("-C " + quote_single(spec.command));
  if (!spec.function.empty()) words.push_back("-F " + spec.function);
  if (spec.default_)
    words.push_back("-D"), table["-D"] = words;
  else if (spec.empty)
    words.push_back("-E"), table["-E"] = words;
  else if (at >= args.size())
    return usage(shell, args);
  for (; at < args.size(); ++at) table[args[at]] = words;
  return 0;
}

namespace {

void set_option(std::vector<std::string>& words, const std::string& name, bool on) {
  std::string word = "-o " + name;
  std::erase(words, word);
  if (on) words.insert(words.begin(), word);
}

std::string show_options(const std::string& name, const std::vector<std::string>& words) {
  std::string out = "compopt";
  for (std::string_view option : completion_options) {
    bool on = std::find(words.begin(), words.end(), fmt::format("-o {}", option)) != words.end();
    out += fmt::format(" {}o {}", on ? '-' : '+', option);
  }
  return out + " " + name + "\n";
}

}  // namespace

int compopt(ShellRunner& shell, const Args& args) {
  std::size_t at = 1;
  std::vector<std::pair<std::string, bool>> changes;
  for (; at + 1 < args.size() && (args[at] == "-o" || args[at] == "+o"); at += 2) {
    if (!is_option(args[at + 1])) {
      shell.error(fmt::format("compopt: {}: invalid option name", args[at + 1]));
      return 2;
    }
    changes.emplace_back(args[at + 1], args[at] == "-o");
  }
  if (at < args.size() && args[at].size() > 1 && args[at][0] == '-')
    return bad_option(shell, args, args[at].substr(0, 2));
  if (at >= args.size()) {
    shell.error("compopt: not currently executing completion function");
    return 1;
  }
  for (; at < args.size(); ++at) {
    if (!shell.prompt().completions->count(args[at])) {
      shell.error(fmt::format("compopt: {}: no completion specification", args[at]));
      return 1;
    }
    auto& words = shell.prompt().completions.edit()[args[at]];
    for (const auto& [name, on] : changes) set_option(words, name, on);
    if (changes.empty() && !shell.print(show_options(args[at], words), "compopt")) return 1;
  }
  return 0;
}

int history(ShellRunner& shell, const Args& args) {
  auto& lines = shell.prompt().history.edit();
  std::int64_t number = -1;
  if (args.size() > 1) {
    const std::string& option = args[1];
    if (option == "-c") {
      lines.clear();
      return 0;
    }
    if (option == "-d" && args.size() > 2) {
      std::int64_t at = 0;
      if (!parse_int(args[2], at) || at == 0 || at > static_cast<std::int64_t>(lines.size()) ||
          -at > static_cast<std::int64_t>(lines.size())) {
        shell.error(fmt::format("history: {}: history position out of range", args[2]));
        return 1;
      }
      lines.erase(lines.begin() + (at > 0 ? at - 1 : static_cast<std::int64_t>(lines.size()) + at));
      return 0;
    }
    if (option == "-s") {
      std::string text;
      for (std::size_t i = 2; i < args.size(); ++i) text += (i > 2 ? " " : "") + args[i];
      lines.push_back(text);
      return 0;
    }
    if (option == "-p") {
      std::string out;
      for (std::size_t i = 2; i < args.size(); ++i) out += args[i] + "\n";
      return shell.print(out, "history") ? 0 : 1;
    }
    if (option == "-w" || option == "-a" || option == "-r" || option == "-n") {
      std::string name = args.size() > 2 ? args[2] : shell.variables().get_or_empty("HISTFILE");
      if (name.empty()) return 0;
      bool writes = option == "-w" || option == "-a";
      auto file =
          writes ? shell.descriptors().open(
                       name,
                       {.write = true, .append = option == "-a", .truncate = option == "-w", .create = true})
                 : shell.descriptors().open(name, {.read = true});
      if (!file) {
        shell.error(fmt::format("history: {}: {}", name, vfs::strerror(file.error().code())));
        return 1;
      }
      if (writes) {
        for (const auto& line : lines) (*file)->write(line + "\n");
      } else {
        std::string line;
        while ((*file)->read_line(line)) lines.push_back(line);
      }
      return 0;
    }
    if (option.size() > 1 && option[0] == '-' && !std::isdigit(static_cast<unsigned char>(option[1])))
      return bad_option(shell, args, option.substr(0, 2));
    if (!parse_int(option, number) || number < 0) {
      shell.error(fmt::format("history: {}: numeric argument required", option));
      return 1;
    }
  }
  std::string out;
  std::size_t from = number >= 0 && static_cast<std::size_t>(number) < lines.size()
                         ? lines.size() - static_cast<std::size_t>(number)
                         : 0;
  for (std::size_t i = from; i < lines.size(); ++i) out += fmt::format("{:5}  {}\n", i + 1, lines[i]);
  return shell.print(out, "history") ? 0 : 1;
}

namespace {

// fc -s [OLD=NEW] [COMMAND]: the last line that begins with COMMAND, once more.
int run_again(ShellRunner& shell, Args args) {
  std::size_t equals = args.empty() ? std::string::npos : args[0].find('=');
  std::string old, with;
  if (equals != std::string::npos) {
    old = args[0].substr(0, equals);
    with = args[0].substr(equals + 1);
    args.erase(args.begin());
  }
  const auto& lines = *shell.prompt().history;
  auto found = std::find_if(lines.rbegin(), lines.rend(), [&](const std::string& line) {
    return args.empty() || line.starts_with(args[0]);
  });
  if (found == lines.rend()) {
    shell.error("fc: no command found");
    return 1;
  }
  std::string text = *found;
  for (std::size_t at = 0; !old.empty() && (at = text.find(old, at)) != std::string::npos; at += with.size())
    text.replace(at, old.size(), with);
  shell.descriptors().err().write(text + "\n");
  return shell.executor().eval(text);
}

}  // namespace

int fc(ShellRunner& shell, const Args& args) {
  bool list = false, numbers = true, reverse = false, again = false;
  std::size_t at = 1;
  for (; at < args.size() && args[at].size() > 1 && args[at][0] == '-' &&
         !std::isdigit(static_cast<unsigned char>(args[at][1]));
       ++at) {
    for (char c : args[at].substr(1)) {
      if (c == 'l')
        list = true;
      else if (c == 'n')
        numbers = false;
      else if (c == 'r')
        reverse = true;
      else if (c == 's')
        again = true;
      else
        return bad_option(shell, args, fmt::format("-{}", c));
    }
  }
  const auto& lines = *shell.prompt().history;
  if (again) return run_again(shell, Args(args.begin() + static_cast<std::ptrdiff_t>(at), args.end()));
  if (!list) {
    shell.error("fc: no command found");
    return 1;
  }
  auto count = static_cast<std::int64_t>(lines.size());
  std::int64_t first = std::max<std::int64_t>(1, count - 15), last = count;
  if (at < args.size() && parse_int(args[at], first) && first < 0) first = count + first + 1;
  if (at + 1 < args.size() && parse_int(args[at + 1], last) && last < 0) last = count + last + 1;
  std::vector<std::string> shown;
  for (std::int64_t i = std::max<std::int64_t>(first, 1); i <= std::min(last, count); ++i)
    shown.push_back(numbers ? fmt::format("{}\t {}\n", i, lines[static_cast<std::size_t>(i) - 1])
                            : fmt::format("\t {}\n", lines[static_cast<std::size_t>(i) - 1]));
  if (reverse) std::reverse(shown.begin(), shown.end());
  std::string out;
  for (auto& line : shown) out += line;
  return shell.print(out, "fc") ? 0 : 1;
}

// There is no line editor to bind keys for in a script.
int bind(ShellRunner& shell, const Args&) {
  shell.error("bind: warning: line editing not enabled");
  return 0;
}

}  // namespace atl::shell::builtins
