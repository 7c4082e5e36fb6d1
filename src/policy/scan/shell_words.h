#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/scan/grammar.h"

namespace atl::policy {

// What a word of a shell script may expand to, as far as reading tells.
struct Word {
  std::vector<std::string> values;  // empty: not known
  bool dynamic = false;             // holds a substitution or a variable
  bool glob = false;                // holds an unquoted * ? [
  bool decoded = false;             // holds output of a decoder
  bool remote = false;              // holds output of a download
  std::uint32_t offset = 0;

  bool known() const { return !values.empty(); }
  // The first value, or "".
  std::string text() const { return values.empty() ? std::string() : values.front(); }
};

// What a command writes, likewise.
struct Output {
  std::optional<std::string> text;
  bool decoded = false;
  bool remote = false;
};

// Where the real command starts after env, xargs, sudo and their kind; words.size() if there is none.
// `wrappers` gets the indices of the words passed over that are commands themselves.
// Options of the wrappers are passed over, so that `sudo -u root rm` is `rm`.
std::size_t unwrap(const std::vector<Word>& words, std::vector<std::size_t>& wrappers);
// "/bin/rm" -> "rm"
std::string_view base_name(std::string_view command);
// sh, bash, dash, zsh and their kind, by base name.
bool is_shell(std::string_view command);
// Which language an interpreter runs, and the option that takes code ("-c", "-e").
struct Interpreter {
  Language language;
  std::string_view option;
};
// By base name, versions included ("python3.11"); none for everything else.
std::optional<Interpreter> interpreter_of(std::string_view command);
// "a/../b//c" -> "b/c", absolute paths only.
std::string plain_path(std::string_view path);

// Reads words and the output of simple commands. Variables are what they are assigned anywhere in the script.
// Nothing is run: a word that depends on more than constants and variables of the script is `dynamic`. Depth
// and the number of values are bounded; beyond that the value is unknown. For one thread; results are copies
// and outlive it.
class ShellReader {
 public:
  // Borrows both. Reads all assignments and function definitions at once.
  ShellReader(std::string_view text, const TSTree& syntax);

  // The kinds of node that the scanner distinguishes; everything else is `other`.
  enum Type : std::uint8_t {
    other,
    comment,
    command,
    command_name,
    plain_word,
    number,
    raw_string,
    string,
    string_content,
    ansi_c_string,
    translated_string,
    concatenation,
    simple_expansion,
    expansion,
    command_substitution,
    process_substitution,
    arithmetic,
    variable_name,
    special_variable,
    variable_assignment,
    declaration,
    file_redirect,
    heredoc_redirect,
    herestring_redirect,
    heredoc_body,
    heredoc_start,
    heredoc_end,
    redirected_statement,
    pipeline,
    function_definition,
    brace_expression,
    branch,
    subshell,
    list,
    for_statement,
    test_command,
  };
  Type type_of(TSNode node) const { return static_cast<Type>(types_.of(node)); }
  // The source of the node.
  std::string_view slice(TSNode node) const;

  // What one word may be. `depth` counts nested substitutions; callers leave it at 0.
  Word read(TSNode node, int depth = 0) const;
  // Name and arguments of a command, redirections left out.
  std::vector<Word> words_of(TSNode command_node, int depth = 0) const;
  // What a command, pipeline or list writes, if it is echo, printf, cat of a here-document or a decoder of
  // known input. Otherwise `text` is missing.
  Output output_of(TSNode node, int depth = 0) const;
  // What a command makes of its input, for the decoders and filters that are known; without text for every
  // other command.
  Output filter(const std::vector<Word>& words, const Output& input) const;
  // The here-document or here-string of a redirected statement or command, if it has one.
  std::optional<std::string> given_input(TSNode node) const;

  bool is_function(std::string_view name) const { return functions_.contains(name); }

 private:
  void collect(const TSTree& syntax);
  void assign(TSNode assignment);
  Word variable(std::string_view name) const;
  Word expand(TSNode node) const;
  static Word join(Word left, const Word& right);

  std::string_view text_;
  const NodeTypes& types_;
  TSFieldId name_ = 0;
  TSFieldId value_ = 0;
  std::map<std::string, std::vector<std::string>, std::less<>> variables_;
  std::set<std::string, std::less<>> functions_;
};

}  // namespace atl::policy
