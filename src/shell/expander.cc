#include "shell/expander.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "shell/expansion.h"
#include "shell/parser.h"
#include "shell/pattern.h"
#include "shell/runner.h"

namespace atl::shell {

bool Expander::matches(const std::string& text, const std::string& pattern, bool ignore_case) {
  Pattern compiled(pattern, {.extglob = shell_.option(Shopt::extglob), .ignore_case = ignore_case});
  return compiled.matches(text);
}

namespace {
// A word that is itself whatever the variables and options are: most words of a script.
bool trivially_literal(const Word& word) {
  if (word.parts.size() != 1 || word.braces) return false;
  const Part& part = word.parts[0];
  if (part.kind == PartKind::quoted) return true;
  if (part.kind != PartKind::literal) return false;
  for (char c : part.text)
    if (c == '*' || c == '?' || c == '[' || c == '~' || c == '(' || c == quote_mark) return false;
  return true;
}
}  // namespace

// The value of "$x", or of $x where nothing in it can be split or match; null where that is not so simple.
const std::string* Expander::plain_value(const Word& word) {
  if (word.parts.size() != 1) return nullptr;
  const Part* part = &word.parts[0];
  bool in_quotes = part->kind == PartKind::dquote;
  if (in_quotes && part->children.size() != 1) return nullptr;
  if (in_quotes) part = &part->children[0];
  if (part->kind != PartKind::param || !part->param->plain) return nullptr;
  const Variable* variable = shell_.variables().find(part->param->name);
  if (!variable || !variable->set || variable->is(attr::nameref | attr::array | attr::assoc)) return nullptr;
  if (in_quotes) return &variable->value;
  const std::string& value = variable->value;
  // An empty value is no word at all; a long one is likely to need splitting, and would be looked at twice.
  if (value.empty() || value.size() > 64) return nullptr;
  const std::string& separators = shell_.variables().ifs();
  for (char c : value)
    if (special_in_pattern(c) || separators.find(c) != std::string::npos) return nullptr;
  return &value;
}

void Expander::expand_into(const Word& word, std::vector<std::string>& out) {
  if (trivially_literal(word)) {
    out.push_back(word.parts[0].text);
    return;
  }
  if (const std::string* value = plain_value(word)) {
    out.push_back(*value);
    return;
  }
  if (word.braces && shell_.option(Opt::braceexpand)) {
    bool too_many = false;
    std::vector<Word> words = expand_braces(word, shell_.machine().limits.brace_items, too_many);
    if (too_many) shell_.machine().stop_limit(Limit::brace_items);
    for (const Word& one : words) {
      shell_.machine().charge(8);
      Expansion expansion(shell_, Expansion::Mode::fields);
      expansion.word(one);
      expansion.finish(out);
    }
    return;
  }
  Expansion expansion(shell_, Expansion::Mode::fields);
  expansion.word(word);
  expansion.finish(out);
}

std::vector<std::string> Expander::expand(const std::vector<Word>& words) {
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const Word& word : words) expand_into(word, out);
  return out;
}

std::string Expander::single(const Word& word) {
  if (trivially_literal(word)) return word.parts[0].text;
  if (const std::string* value = plain_value(word)) return *value;
  Expansion expansion(shell_, Expansion::Mode::single);
  expansion.word(word);
  return expansion.plain();
}

std::string Expander::assignment(const Word& word) {
  if (trivially_literal(word)) return word.parts[0].text;
  if (const std::string* value = plain_value(word)) return *value;
  // i=$((i+1)) without a detour through an Expansion.
  if (word.parts.size() == 1 && word.parts[0].kind == PartKind::arith)
    return std::to_string(evaluate(*word.parts[0].arith));
  Expansion expansion(shell_, Expansion::Mode::single);
  expansion.assignment = true;
  expansion.word(word);
  return expansion.plain();
}

std::string Expander::without_tilde(const Word& word) {
  Expansion expansion(shell_, Expansion::Mode::single);
  expansion.no_tilde = true;
  expansion.word(word);
  return expansion.plain();
}

std::string Expander::pattern(const Word& word) {
  Expansion expansion(shell_, Expansion::Mode::single);
  expansion.word(word);
  return expansion.pattern();
}

// Quoted text must match itself: every character of it that is special in a regular expression is escaped.
std::string Expander::regex(const Word& word) {
  std::string out;
  for (const Part& part : word.parts) {
    Word one;
    one.parts.push_back(part);
    bool is_quoted = part.kind == PartKind::quoted || part.kind == PartKind::dquote;
    std::string text = single(one);
    if (!is_quoted) {
      out += text;
      continue;
    }
    for (char c : text) {
      if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

Word Expander::parse_word(const std::string& text) {
  try {
    return Parser::parse_word_text(text, shell_.parser_context(), shell_.calls().line);
  } catch (const SyntaxError& failure) {
    shell_.abandon(failure.message);
  }
}

std::string Expander::text(const std::string& text) {
  Word word;
  try {
    word = Parser::parse_text(text, shell_.parser_context(), shell_.calls().line);
  } catch (const SyntaxError& failure) {
    shell_.abandon(failure.message);
  }
  Expansion expansion(shell_, Expansion::Mode::single);
  // Quotes inside are plain characters, and nothing is split.
  expansion.quoted_all = true;
  expansion.word(word);
  return expansion.plain();
}

std::string Expander::here_document(const Word& word) {
  Expansion expansion(shell_, Expansion::Mode::single);
  expansion.quoted_all = true;
  expansion.word(word);
  return expansion.plain();
}

std::string Expander::arith_text(const ArithText& text) {
  if (text.constant) return text.text;
  Expansion expansion(shell_, Expansion::Mode::single);
  expansion.quoted_all = true;
  expansion.word(text.word);
  return expansion.plain();
}

std::int64_t Expander::evaluate(const ArithText& text) {
  try {
    if (text.constant) {
      if (!text.parsed) text.parsed = arith::parse(text.text);
      return arith::evaluate(*text.parsed, shell_.variables());
    }
    std::string expanded = arith_text(text);
    // The tree is kept for as long as the expanded text is the same, as it is in most loops.
    if (!text.parsed || text.parsed_from != expanded) {
      auto parsed = arith::parse(expanded);
      text.parsed = parsed;
      text.parsed_from = expanded;
      return arith::evaluate(*parsed, shell_.variables());
    }
    // Held here: evaluating may come back to this very expression and replace what is kept.
    auto parsed = text.parsed;
    return arith::evaluate(*parsed, shell_.variables());
  } catch (const arith::Error& failure) {
    shell_.abandon(failure.message);
  }
}

std::int64_t Expander::evaluate(const std::string& text) {
  try {
    return arith::evaluate_text(text, shell_.variables());
  } catch (const arith::Error& failure) {
    shell_.abandon(failure.message);
  }
}

std::string Expander::tilde(std::string_view name, bool& ok) {
  ok = true;
  if (name.empty()) {
    auto home = shell_.variables().get_value("HOME");
    return home ? *home : "/home/user";
  }
  if (name == "+") {
    auto pwd = shell_.variables().get_value("PWD");
    ok = pwd.has_value();
    return pwd.value_or("");
  }
  if (name == "-") {
    auto old = shell_.variables().get_value("OLDPWD");
    ok = old.has_value();
    return old.value_or("");
  }
  // The machine has these two users and no table of them.
  if (name == "root") return "/root";
  if (name == "user") return "/home/user";
  // ~2 and ~-1 are entries of the directory stack, counted from either end.
  bool digits = !name.empty();
  std::string_view number = name;
  if (number[0] == '+' || number[0] == '-') number.remove_prefix(1);
  for (char c : number)
    if (!std::isdigit(static_cast<unsigned char>(c))) digits = false;
  if (digits && !number.empty() && number.size() < 6) {
    std::vector<std::string> stack{shell_.variables().get_or_empty("PWD")};
    stack.insert(stack.end(), shell_.descriptors().directories().begin(),
                 shell_.descriptors().directories().end());
    auto index = static_cast<std::size_t>(std::stoi(std::string(number)));
    if (index < stack.size()) return name[0] == '-' ? stack[stack.size() - 1 - index] : stack[index];
  }
  ok = false;
  return {};
}

}  // namespace atl::shell
