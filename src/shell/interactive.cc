#include "shell/interactive.h"

#include <algorithm>
#include <set>

#include "shell/command_table.h"
#include "shell/runner.h"

namespace atl::shell {

namespace {

constexpr std::string_view word_ends = " \t\n|&;<>()=";

// The last word: its begin and its text without escapes. Quotes do not count; nobody completes inside them.
std::size_t word_begin(std::string_view line, std::string& text) {
  std::size_t begin = line.size();
  while (begin > 0) {
    bool completion_escaped = begin >= 2 && line[begin - 2] == '\\';
    if (word_ends.find(line[begin - 1]) != std::string_view::npos && !completion_escaped) break;
    --begin;
  }
  for (std::size_t i = begin; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    text += line[i];
  }
  return begin;
}

// Whether a command may stand behind `before`: at the beginning, behind an operator or a keyword.
bool command_position(std::string_view before) {
  std::size_t last = before.find_last_not_of(" \t");
  if (last == std::string_view::npos) return true;
  if (std::string_view("|&;(\n").find(before[last]) != std::string_view::npos) return true;
  std::size_t begin = before.find_last_of(" \t\n;|&(", last);
  std::string_view word = before.substr(begin == std::string_view::npos ? 0 : begin + 1);
  word = word.substr(0, word.find_last_not_of(" \t") + 1);
  for (std::string_view keyword : {"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time"})
    if (word == keyword) return true;
  return false;
}

std::string completion_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view(" \t\\'\"$`&|;<>()*?[]#!{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

bool needs_more(std::string_view text) {
  std::string until;
  std::string_view line = text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
  std::size_t escapes = line.size() - (line.find_last_not_of('\\') + 1);
  if (escapes % 2 == 1 && line.find('#') == std::string_view::npos) return true;  // the line goes on
  return incomplete(std::string(text), ParserContext(), until);
}

Completion complete(const SandboxShell& shell, std::string_view line) {
  Completion out;
  std::string typed;
  out.word = word_begin(line, typed);
  std::set<std::string> found;
  std::size_t slash = typed.rfind('/');
  // Names of commands first; without one, and with a slash, names of files.
  if (slash == std::string::npos && command_position(line.substr(0, out.word)))
    for (const std::string& name : shell.command_names())
      if (name.starts_with(typed)) found.insert(completion_escaped(name));
  if (found.empty()) {
    std::string directory = slash == std::string::npos ? "" : typed.substr(0, slash + 1);
    std::string start = typed.substr(directory.size());
    for (const auto& [name, is_directory] : shell.names_in(directory)) {
      if (!name.starts_with(start) || (start.empty() && name.starts_with('.'))) continue;
      // A leading ~ must stay unescaped to mean the home directory.
      std::string shown =
          completion_escaped(directory.starts_with('~') ? directory.substr(1) + name : directory + name);
      found.insert((directory.starts_with('~') ? "~" : "") + shown + (is_directory ? "/" : ""));
    }
  }
  out.words.assign(found.begin(), found.end());
  return out;
}

std::vector<std::string> SandboxShell::command_names() const {
  std::vector<std::string> out;
  for (const Command& command : command_table()) out.emplace_back(command.name);
  for (const Builtin* builtin : all_builtins()) out.emplace_back(builtin->name);
  for (const Command* command : options_->commands) out.emplace_back(command->name);
  for (const auto& [name, function] : *state_->names.functions) out.push_back(name);
  for (const auto& [name, text] : *state_->names.aliases) out.push_back(name);
  for (std::string_view word : {"case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
                                "select", "then", "time", "until", "while"})
    out.emplace_back(word);
  return out;
}

std::vector<std::pair<std::string, bool>> SandboxShell::names_in(std::string_view directory) const {
  std::string text(directory);
  if (text.starts_with("~/")) text = variable("HOME") + text.substr(1);
  if (!text.starts_with('/')) text = state_->descriptors.cwd.str() + "/" + text;
  std::vector<std::pair<std::string, bool>> out;
  auto path = vfs::Path::posix(text);
  if (!path) return out;
  auto names = fs_->list_names(*path);
  if (!names) return out;
  for (const std::string& name : *names) {
    auto below = path->child(name);
    out.emplace_back(name, below && fs_->is_directory(*below));
  }
  return out;
}

std::string SandboxShell::prompt(const std::string& name) const {
  // In a copy, so that a prompt with a command substitution changes nothing in the shell.
  Executed done = fork(*fs_)->execute("printf %s \"${" + name + "@P}\"");
  return done.out;
}

void SandboxShell::remember(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.find_first_not_of(" \t\n") != std::string_view::npos)
    state_->prompt.history.edit().emplace_back(text);
}

}  // namespace atl::shell
