#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/policy.h"
#include "policy/scan/model.h"

namespace atl::policy {

// Index into rules().
using RuleIndex = std::uint16_t;

// What a policy says about a rule of the house.
struct RuleSetting {
  Effect effect = Effect::deny;
  RiskLevel severity = RiskLevel::high;
  std::string message;         // replaces ours if not empty
  std::string recommendation;  // likewise
};

// One entry of one of the policy's lists.
struct Listed {
  RuleIndex rule = 0;
  std::string name;  // as the policy spells it
  RuleSetting setting;
};
// Index into Compiled::listed.
using ListedIndex = std::int32_t;
inline constexpr ListedIndex not_listed = -1;

// So that maps by std::string are searched by string_view without a copy.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using NameMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

// The dotted names that mean something: to the policy, or to the scanner that knows what a function does.
// State 0 is "nothing known", state 1 the root.
// Built once with a policy and then only read, from any thread. Words are numbered, so that a scanner
// compares numbers after it has looked up each identifier once.
class PathTrie {
 public:
  using State = std::uint32_t;
  static constexpr State nothing = 0;
  static constexpr State root = 1;

  PathTrie();
  // Adds "a.b.c" and returns its state; the same state if it was there. The three below add the path, too.
  State add(std::string_view dotted);
  void set_model(std::string_view dotted, Model model);
  void set_mention(std::string_view dotted, ListedIndex listed);
  void set_call(std::string_view dotted, ListedIndex listed);

  // 0 for a word that no path uses.
  std::uint32_t word(std::string_view text) const;
  // The state of "path.word"; `nothing` if no path continues so.
  State child(State state, std::uint32_t word) const;
  Model model(State state) const { return states_[state].model; }
  ListedIndex mention(State state) const { return states_[state].mention; }
  ListedIndex call(State state) const { return states_[state].call; }
  // "a.b.c", for messages.
  std::string name(State state) const;
  const std::vector<std::pair<std::uint32_t, State>>& children(State state) const {
    return states_[state].children;
  }
  // The word of that number.
  const std::string& text(std::uint32_t word) const { return texts_[word]; }

 private:
  struct Entry {
    State parent = 0;
    std::uint32_t word = 0;
    Model model = Model::none;
    ListedIndex mention = not_listed;
    ListedIndex call = not_listed;
    std::vector<std::pair<std::uint32_t, State>> children;  // sorted by word
  };
  std::vector<Entry> states_;
  NameMap<std::uint32_t> words_;
  std::vector<std::string> texts_;
};

// A pattern that is more than a name: its tokens, in order.
struct Token {
  enum class Kind : std::uint8_t { word, text, punctuation };  // text: a string, by its value
  Kind kind = Kind::word;
  std::string value;
  bool operator==(const Token&) const = default;
};
struct TokenPattern {
  std::vector<Token> tokens;
  ListedIndex listed = not_listed;
};

// What a policy says about one language. Compiled once, then immutable.
struct LanguageRules {
  PathTrie paths;
  NameMap<ListedIndex> imports;                  // forbidden modules; a module forbids what is below it
  std::optional<NameMap<bool>> allowed_imports;  // given: everything else is a finding
  NameMap<ListedIndex> attributes;               // on any object
  std::vector<TokenPattern> patterns;
  NameMap<ListedIndex> commands;                  // shell
  std::optional<NameMap<bool>> allowed_commands;  // shell
  std::vector<std::string> allowed_devices;       // shell; "/dev/null"
};

// A whole policy as the scanners use it. Owned by Policy; immutable, so any thread may read it.
struct Compiled {
  std::vector<RuleSetting> rules;  // by RuleIndex
  std::vector<Listed> listed;
  std::array<LanguageRules, kLanguagesRead> languages;

  const LanguageRules& of(Language language) const { return languages[static_cast<std::size_t>(language)]; }
};

// Indices of the rules that scanners name.
// The order is that of rules().
enum class RuleId : RuleIndex {
  forbidden_import,
  forbidden_function,
  forbidden_attribute,
  forbidden_call,
  forbidden_pattern,
  forbidden_command,
  import_not_allowed,
  command_not_allowed,
  dynamic_import,
  dynamic_attribute,
  dynamic_code,
  builtins_access,
  introspection,
  object_escape,
  disguised_name,
  hidden_text,
  encoded_payload,
  remote_code,
  internal_access,
  dynamic_command,
  device_write,
  reverse_shell,
  fork_bomb,
  wipe_root,
  parse_error,
  invalid_text,
  too_large,
  too_deep,
  too_complex,
  unread_language,
};

// "a.b(" -> tokens. The error is a sentence about the pattern, without a place.
// Code::invalid_argument for a pattern that is empty, longer than 200 characters, of several lines, with a
// quote that is not closed, or that looks like a regular expression.
Result<std::vector<Token>> tokenize_pattern(std::string_view pattern, Language language);

// Tells each language's trie what the functions do that its scanner understands.
// Each adds to what is there. For the compiler of policies.
void add_python_models(PathTrie& paths);
void add_javascript_models(PathTrie& paths);

}  // namespace atl::policy
