#include "cli/mistakes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "config/checked.h"
#include "config/document.h"

namespace atl::cli {
namespace {

// What other programs call a thing, and what it may be called here.
struct Synonym {
  std::string_view word;
  std::vector<std::string_view> here;
};

const std::vector<Synonym>& synonyms() {
  static const std::vector<Synonym> all = {
      {"ls", {"list", "ls"}},
      {"ps", {"list", "session"}},
      {"rm", {"rm", "remove", "revoke"}},
      {"delete", {"rm", "remove", "revoke"}},
      {"del", {"rm", "remove", "revoke"}},
      {"remove", {"rm", "revoke"}},
      {"kill", {"rm", "revoke"}},
      {"stop", {"pause", "rm", "revoke"}},
      {"end", {"rm", "revoke"}},
      {"destroy", {"rm", "remove"}},
      {"new", {"create", "new"}},
      {"add", {"create", "put"}},
      {"make", {"create"}},
      {"start", {"serve", "create", "resume"}},
      {"get", {"show", "get"}},
      {"cat", {"get", "show"}},
      {"info", {"show", "doctor"}},
      {"inspect", {"show"}},
      {"describe", {"show"}},
      {"view", {"show"}},
      {"check", {"validate", "verify", "check"}},
      {"lint", {"validate", "check"}},
      {"execute", {"exec", "run"}},
      {"eval", {"exec"}},
      {"ssh", {"attach"}},
      {"connect", {"attach"}},
      {"console", {"attach", "shell"}},
      {"terminal", {"attach"}},
      {"upload", {"put"}},
      {"download", {"get"}},
      {"cp", {"put", "get"}},
      {"clone", {"fork"}},
      {"copy", {"fork"}},
      {"unpause", {"resume"}},
      {"daemon", {"serve"}},
      {"server", {"serve"}},
      {"up", {"serve"}},
      {"sessions", {"session"}},
      {"sandbox", {"session"}},
      {"key", {"keys"}},
      {"environment", {"env"}},
      {"environments", {"env"}},
      {"skill", {"skills"}},
      {"tool", {"tools"}},
      {"settings", {"config"}},
      {"configuration", {"config"}},
      {"stats", {"top", "usage"}},
      {"log", {"logs", "history", "audit"}},
      {"bash", {"shell"}},
      {"sh", {"shell"}},
  };
  return all;
}

bool is_flag(std::string_view word) {
  return word.size() > 1 && word.starts_with('-') && word != "--";
}

std::string name_of(std::string_view flag) {
  return std::string(flag.substr(0, flag.find('=')));
}

// Whether this flag's value is the next word. An option that nobody knows is taken for a flag.
bool takes_next(const OptionFacts* option, std::string_view word) {
  if (option == nullptr || !option->takes_value()) return false;
  if (word.starts_with("--")) return !word.contains('=');
  return word.size() == 2;  // not -m256M
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// "--watch" whose number was left out gets it, so that the word behind is not taken for it.
Words with_values_left_out(const CommandFacts& program, Words words) {
  const CommandPath path = path_of(program, words);
  for (std::size_t at = path.size() - 1; at < words.size() && words[at] != "--"; ++at) {
    if (!is_flag(words[at])) continue;
    const OptionFacts* option = option_on(path, words[at]);
    if (option == nullptr || !takes_next(option, words[at])) continue;
    const bool follows = at + 1 < words.size();
    if (option->value_left_out().empty() || (follows && is_number(words[at + 1])))
      ++at;
    else
      words[at] = fmt::format("{}={}", words[at], option->value_left_out());
  }
  return words;
}

std::vector<std::string_view> names_below(const CommandFacts& command) {
  std::vector<std::string_view> names;
  for (const CommandFacts& below : command.commands)
    if (!below.hidden) names.push_back(below.name);
  return names;
}

std::string suggestion(const CommandFacts& command, std::string_view word) {
  for (const Synonym& one : synonyms())
    if (one.word == word)
      for (const std::string_view here : one.here)
        if (command.find(here) != nullptr) return std::string(here);
  const std::vector<std::string_view> known = names_below(command);
  // " (did you mean 'list'?)": the word between the marks.
  const std::string guess = config::did_you_mean(word, known);
  const std::size_t from = guess.find('\''), to = guess.rfind('\'');
  return from == std::string::npos || to <= from ? std::string() : guess.substr(from + 1, to - from - 1);
}

std::string joined(const Words& words) {
  std::vector<std::string> quoted;
  std::ranges::transform(words, std::back_inserter(quoted), quoted_for_shell);
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::string unknown_command(const CommandPath& path, const Words& words) {
  const CommandFacts& command = *path.back();
  const std::string& word = words[path.size() - 1];
  const std::string place = path.size() == 1 ? "no command" : fmt::format("no command of `{}`", typed(path));
  std::string text = fmt::format("atoll: {} is called '{}'", place, config::shown(word));
  if (const std::string better = suggestion(command, word); !better.empty()) {
    const Words rest(words.begin() + static_cast<std::ptrdiff_t>(path.size()), words.end());
    const CommandFacts* found = command.find(better);
    std::string line = fmt::format("{} {}", typed(path), better);
    if (!rest.empty()) line += " " + joined(rest);
    // Without its arguments the line would be another mistake.
    else if (found != nullptr && !found->commands.empty())
      line += " --help";
    return fmt::format("{}; did you mean\n  {}\n", text, line);
  }
  return fmt::format("{}; there are {}\n`{} --help` says what they do\n", text,
                     fmt::join(names_below(command), ", "), typed(path));
}

std::string command_missing(const CommandPath& path) {
  return fmt::format("atoll: `{0}` alone does nothing; there are {1}\n`{0} --help` says what they do\n",
                     typed(path), fmt::join(names_below(*path.back()), ", "));
}

std::string unknown_flag(const CommandFacts& program, const CommandPath& path, const std::string& flag) {
  std::vector<std::string_view> known;
  for (const CommandFacts* command : path)
    for (const OptionFacts& one : command->options)
      if (!one.positional) known.insert(known.end(), one.names.begin(), one.names.end());
  std::string text = fmt::format("atoll: `{}` has no option {}{}\n", typed(path), config::shown(flag),
                                 config::did_you_mean(flag, known));
  for (const CommandFacts& other : program.commands)
    if (!other.hidden && &other != path.back() && other.option(flag) != nullptr) {
      text += fmt::format("it is one of `{} {}`\n", program.name, other.name);
      break;
    }
  return text + fmt::format("`{} --help` lists what it has\n", typed(path));
}

// The lines that work for a program without "--" before it.
std::string dashes_missing(const CommandPath& path, const Words& words, std::size_t program_at,
                           std::size_t flag_at) {
  const auto at = [&](std::size_t index) { return words.begin() + static_cast<std::ptrdiff_t>(index); };
  const Words own(at(path.size() - 1), at(program_at)), program(at(program_at), words.end());
  const auto line = [&](const Words& before, const Words& after) {
    return fmt::format("  {}{}{} -- {}\n", typed(path), before.empty() ? "" : " ", joined(before),
                       joined(after));
  };
  std::string text = fmt::format(
      "atoll: '{}' stands behind the program '{}', and it is not clear whose it is; the program and what "
      "belongs to "
      "it go behind --:\n{}",
      config::shown(words[flag_at]), config::shown(words[program_at]), line(own, program));
  const OptionFacts* ours = option_on(path, name_of(words[flag_at]));
  if (ours == nullptr || ours->is_called("--help")) return text;
  const std::size_t after = flag_at + (takes_next(ours, words[flag_at]) ? 2 : 1);
  if (after > words.size()) return text;
  Words moved = own, rest(at(program_at), at(flag_at));
  moved.insert(moved.end(), at(flag_at), at(after));
  rest.insert(rest.end(), at(after), words.end());
  return text +
         fmt::format("or, if {} is meant for atoll:\n{}", config::shown(words[flag_at]), line(moved, rest));
}

// Goes through what follows the names of the commands.
std::optional<std::string> mistake_in_rest(const CommandFacts& program, const CommandPath& path,
                                           const Words& words) {
  const std::vector<const OptionFacts*> arguments = path.back()->arguments();
  const bool runs_program = !arguments.empty() && arguments.back()->name() == "command";
  std::vector<std::size_t> plain;  // where the positional words stand
  for (std::size_t at = path.size() - 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") return std::nullopt;
    if (!is_flag(word)) {
      if (path.back()->arguments_end_options) return std::nullopt;
      plain.push_back(at);
      continue;
    }
    if (runs_program && plain.size() >= arguments.size())
      return dashes_missing(path, words, plain[arguments.size() - 1], at);
    const OptionFacts* option = option_on(path, name_of(word));
    if (option == nullptr && !word.starts_with("--") && word.size() > 2)
      option = option_on(path, word.substr(0, 2));  // -it, -m256M
    // Numbers are values: -3.
    if (option == nullptr && word.find_first_not_of("-0123456789.") == std::string::npos) continue;
    if (option == nullptr) return unknown_flag(program, path, name_of(word));
    if (takes_next(option, word)) ++at;
  }
  return std::nullopt;
}

}  // namespace

std::string quoted_for_shell(std::string_view word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("-_./=:,+@%").contains(static_cast<char>(c));
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return std::string(word);
  std::string text = "'";
  for (const char c : config::shown(word, 400)) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

CommandPath path_of(const CommandFacts& program, const Words& words) {
  CommandPath path{&program};
  for (const std::string& word : words) {
    const CommandFacts* next = path.back()->find(word);
    if (next == nullptr) break;
    path.push_back(next);
  }
  return path;
}

Words put_in_order(const CommandFacts& program, Words words) {
  if (!words.empty() && words.front() == "help" && program.find("help") != nullptr) {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  const CommandFacts* command = &program;
  Words names, flags;
  std::size_t at = 0;
  for (; at < words.size() && !command->commands.empty(); ++at) {
    const std::string& word = words[at];
    if (word == "--version" && names.empty()) return words;
    if (const CommandFacts* next = command->find(word)) {
      command = next;
      names.push_back(word);
      continue;
    }
    if (!is_flag(word)) break;
    flags.push_back(word);
    const OptionFacts* option = command->option_anywhere(name_of(word));
    if (!takes_next(option, word) || at + 1 == words.size()) continue;
    if (option->value_left_out().empty() || is_number(words[at + 1])) flags.push_back(words[++at]);
  }
  names.insert(names.end(), flags.begin(), flags.end());
  names.insert(names.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return with_values_left_out(program, std::move(names));
}

std::optional<std::string> mistake_in(const CommandFacts& program, const Words& words) {
  const CommandPath path = path_of(program, words);
  const std::size_t named = path.size() - 1;
  if (!path.back()->commands.empty() && named > 0 && named == words.size()) return command_missing(path);
  // A word where a command's name should be.
  if (!path.back()->commands.empty() && named < words.size() && !is_flag(words[named]) &&
      words[named] != "--")
    return unknown_command(path, words);
  return mistake_in_rest(program, path, words);
}

}  // namespace atl::cli
