#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/utf8.h"
#include "shell/computed.h"
#include "shell/expansion.h"
#include "shell/quoting.h"
#include "shell/runner.h"

namespace atl::shell {

std::string Expansion::describe_name(const Param& param) {
  if (param.subscript == Subscript::none) return param.name;
  return param.name + "[" +
         (param.subscript == Subscript::at     ? "@"
          : param.subscript == Subscript::star ? "*"
                                               : param.index.raw) +
         "]";
}

Pattern Expansion::make_pattern(const Word& word, bool ignore_case) {
  return Pattern(shell_.expander().pattern(word),
                 {.extglob = shell_.option(Shopt::extglob), .ignore_case = ignore_case});
}

Expansion::Value Expansion::positional(bool star, bool from_zero) {
  Value out;
  out.set = true;
  out.list = true;
  out.star = star;
  if (from_zero) out.items.push_back(shell_.calls().arg0);
  if (shell_.calls().args)
    out.items.insert(out.items.end(), shell_.calls().args->begin(), shell_.calls().args->end());
  return out;
}

Expansion::Value Expansion::special_parameter(char name) {
  Value out;
  switch (name) {
    case '@':
    case '*': return positional(name == '*');
    case '#': out.text = std::to_string(shell_.calls().args ? shell_.calls().args->size() : 0); break;
    case '?': out.text = std::to_string(shell_.last().status); break;
    case '$': out.text = std::to_string(shell_.origin().pid); break;
    case '!':
      if (!shell_.jobs().last_pid()) return out;
      out.text = std::to_string(shell_.jobs().last_pid());
      break;
    case '-': out.text = option_letters(shell_); break;
    case '_': out.text = shell_.last().argument; break;
    default: return positional_parameter(std::string_view(&name, 1));
  }
  out.set = true;
  return out;
}

Expansion::Value Expansion::positional_parameter(std::string_view digits) {
  Value out;
  std::size_t at = 0;
  // Capped instead of overflowing: ${99999999999} is just unset.
  for (char c : digits) at = std::min<std::size_t>(at * 10 + static_cast<std::size_t>(c - '0'), 1U << 30);
  if (at == 0) {
    out.set = true;
    out.text = shell_.calls().arg0;
  } else if (shell_.calls().args && at <= shell_.calls().args->size()) {
    out.set = true;
    out.text = (*shell_.calls().args)[at - 1];
  }
  return out;
}

Expansion::Value Expansion::all_elements(const Variable* variable, bool star) {
  Value out;
  out.list = true;
  out.star = star;
  if (!variable) return out;
  if (variable->is(attr::array)) {
    for (const auto& [i, value] : *variable->array) out.items.push_back(value);
  } else if (variable->is(attr::assoc)) {
    for (const std::string& key : variable->assoc->keys()) out.items.push_back(*variable->assoc->find(key));
  } else if (variable->set) {
    out.items.push_back(variable->value);
  }
  out.set = !out.items.empty();
  return out;
}

Expansion::Value Expansion::one_element(const std::string& name, const Variable* variable, const Word* index,
                                        const std::string& index_text, const ArithText* index_arith) {
  Value out;
  if (variable && variable->is(attr::assoc)) {
    std::string key = index ? shell_.expander().single(*index) : index_text;
    const std::string* value = variable->assoc->find(key);
    if (value) out.set = true, out.text = *value;
    return out;
  }
  if (index && index->parts.empty()) shell_.abandon(fmt::format("{}[]: bad array subscript", name));
  // The subscript is evaluated even if there is no such variable: ${a[i++]} counts.
  std::int64_t at =
      index_arith ? shell_.expander().evaluate(*index_arith) : shell_.expander().evaluate(index_text);
  if (!variable) return out;
  if (variable->is(attr::array)) {
    if (at < 0) {
      std::int64_t size = variable->array->empty() ? 0 : variable->array->rbegin()->first + 1;
      at += size;
      if (at < 0) {
        shell_.error(fmt::format("{}: bad array subscript", name));
        return out;
      }
    }
    auto it = variable->array->find(at);
    if (it != variable->array->end()) out.set = true, out.text = it->second;
  } else if (variable->set && (at == 0 || at == -1)) {
    out.set = true;
    out.text = variable->value;
  }
  return out;
}

Expansion::Value Expansion::whole_variable(const Variable& variable) {
  Value out;
  if (variable.is(attr::array)) {
    auto it = variable.array->find(0);
    if (it != variable.array->end()) out.set = true, out.text = it->second;
  } else if (variable.is(attr::assoc)) {
    const std::string* value = variable.assoc->find("0");
    if (value) out.set = true, out.text = *value;
  } else {
    out.set = variable.set;
    if (out.set) out.text = variable.value;
  }
  return out;
}

std::optional<Expansion::Value> Expansion::follow_reference(const std::string& name, Subscript subscript,
                                                            std::string& target, const Variable*& variable) {
  Value out;
  std::string target_subscript;
  bool loop = false;
  target = shell_.variables().resolve_name(name, &target_subscript, &loop);
  if (loop) {
    shell_.error(fmt::format("warning: {}: circular name reference", name));
    return out;
  }
  // An element has no elements: ${r[0]} of a reference to a[1] is unset.
  if (!target_subscript.empty() && subscript != Subscript::none) {
    out.list = subscript != Subscript::index;
    return out;
  }
  if (!target_subscript.empty()) {
    if (target_subscript == "@" || target_subscript == "*")
      return fetch_name(target, target_subscript == "@" ? Subscript::at : Subscript::star, nullptr, "",
                        nullptr);
    auto value = shell_.variables().get_element(target, target_subscript, nullptr);
    out.set = value.has_value();
    out.text = value.value_or("");
    return out;
  }
  variable = shell_.variables().find(target);
  if (variable && variable->is(attr::nameref)) return out;
  return std::nullopt;
}

Expansion::Value Expansion::fetch_name(const std::string& name, Subscript subscript, const Word* index,
                                       const std::string& index_text, const ArithText* index_arith) {
  // Names are the parser's: a single character that is no letter is a special parameter, `_` included.
  if (name.size() == 1 && !std::isalpha(static_cast<unsigned char>(name[0])))
    return special_parameter(name[0]);
  if (std::isdigit(static_cast<unsigned char>(name[0]))) return positional_parameter(name);
  const Variable* variable = shell_.variables().find(name);
  std::string target = name;
  if (variable && variable->is(attr::nameref))
    if (auto done = follow_reference(name, subscript, target, variable)) return std::move(*done);
  std::optional<Variable> computed;
  if (!variable) {
    computed = computed_variable(shell_, target);
    if (computed) variable = &*computed;
  }
  switch (subscript) {
    case Subscript::at:
    case Subscript::star: return all_elements(variable, subscript == Subscript::star);
    case Subscript::index: return one_element(name, variable, index, index_text, index_arith);
    case Subscript::none: break;
  }
  return variable ? whole_variable(*variable) : Value{};
}

Expansion::Value Expansion::fetch(const Param& param) {
  return fetch_name(param.name, param.subscript, &param.index, param.index.raw, param.index_arith.get());
}

// ${!name...}: the parameter that name's value names. For a nameref: the name of its target.
void Expansion::indirect(const Param& param, Value& value) {
  const Variable* variable = shell_.variables().find(param.name);
  if (variable && variable->is(attr::nameref) && param.subscript == Subscript::none) {
    value = Value();
    value.set = true;
    value.text = variable->value;
    return;
  }
  Value name = fetch(param);
  std::string text = name.list ? (name.items.empty() ? "" : name.items[0]) : name.text;
  // ${!a[@]op} joins the elements and takes the result as a name, and blanks in a name are refused below.
  if (name.list && name.items.size() > 1) {
    text.clear();
    for (std::size_t i = 0; i < name.items.size(); ++i) text += (i ? " " : "") + name.items[i];
  }
  if (text.empty() && variable && variable->is(attr::assoc) && param.subscript == Subscript::none) {
    value = Value();
    value.set = true;
    return;
  }
  if (text.empty()) {
    // ${!x-default} and ${!x+word} ask whether something is set; for every other operator nothing to follow
    // is an error.
    bool tolerant = param.op == ParamOp::defaulted || param.op == ParamOp::alternate;
    if (!name.set && !tolerant && shell_.option(Opt::nounset)) shell_.unbound("!" + param.name);
    if (!tolerant || name.set)
      shell_.abandon(fmt::format("{}: invalid indirect expansion", name.set ? text : param.name));
    value = Value();
    return;
  }
  std::size_t bracket = text.find('[');
  std::string base = text.substr(0, bracket);
  bool special =
      text.size() == 1 && std::string_view("@*#?-$!0123456789").find(text[0]) != std::string_view::npos;
  bool digits = std::all_of(text.begin(), text.end(),
                            [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
  if (!special && !digits && (!is_name(base) || (bracket != std::string::npos && text.back() != ']')))
    shell_.abandon(fmt::format("{}: invalid variable name", text));
  if (bracket == std::string::npos) {
    value = fetch_name(text, Subscript::none, nullptr, "", nullptr);
    return;
  }
  std::string subscript = text.substr(bracket + 1, text.size() - bracket - 2);
  if (subscript == "@" || subscript == "*") {
    value = fetch_name(base, subscript == "@" ? Subscript::at : Subscript::star, nullptr, "", nullptr);
    return;
  }
  Word index = shell_.expander().parse_word(subscript);
  auto index_arith =
      Parser::make_arith(Parser::parse_text(subscript, shell_.parser_context(), shell_.calls().line));
  value = fetch_name(base, Subscript::index, &index, subscript, index_arith.get());
}

void Expansion::param(const Param& param, bool in_quotes) {
  if (param.bad) shell_.abandon(fmt::format("${{{}}}: bad substitution", param.raw), false, 1);
  if (param.op == ParamOp::none && !param.indirect) {
    Value value = fetch(param);
    if (!value.set && !value.list && shell_.option(Opt::nounset)) {
      const Variable* reference = shell_.variables().find(param.name);
      // bash does not report an element that a reference names as unbound.
      bool element =
          reference && reference->is(attr::nameref) && reference->value.find('[') != std::string::npos;
      if (!element) shell_.unbound(describe_name(param));
    }
    return emit(value, in_quotes);
  }
  if (param.op == ParamOp::length) return length(param);
  if (param.op == ParamOp::names) return names(param, in_quotes);
  if (param.op == ParamOp::keys) return keys(param, in_quotes);
  Value value;
  if (param.indirect)
    indirect(param, value);
  else
    value = fetch(param);
  if (conditional(param, value, in_quotes)) return;
  if (!value.set && !value.list && shell_.option(Opt::nounset)) {
    shell_.unbound(describe_name(param));
  }
  operate(param, value);
  emit(value, in_quotes);
}

// - = ? + ; true when everything is done.
bool Expansion::conditional(const Param& param, Value& value, bool in_quotes) {
  // With a colon an empty value counts as unset.
  bool empty = value.list ? value.items.empty() || (value.items.size() == 1 && value.items[0].empty())
                          : value.text.empty();
  if (value.list && param.subscript == Subscript::none && value.items.size() > 1) {
    // $* and $@ count as null only if all of it is; "$*" is one word.
    empty = value.star && in_quotes && shell_.variables().ifs().empty() &&
            std::all_of(value.items.begin(), value.items.end(),
                        [](const std::string& item) { return item.empty(); });
  }
  bool set = value.set && (!value.list || !value.items.empty());
  bool missing = !set || (param.colon && empty);
  switch (param.op) {
    case ParamOp::defaulted:
      if (!missing) break;
      default_word(param.arg, in_quotes);
      return true;
    case ParamOp::alternate:
      if (missing) {
        // "${x+word}" is an empty word if x is unset, "${@+word}" is no word.
        if (in_quotes && !value.list) started_ = true;
        return true;
      }
      default_word(param.arg, in_quotes);
      return true;
    case ParamOp::assign: {
      if (!missing) break;
      Expansion inner(shell_, Mode::single);
      inner.quoted_all = false;
      inner.parts(param.arg.parts, false, false);
      std::string text = inner.plain();
      assign_default(param, text);
      // The value that is given is the one that the variable has now: attributes may have changed it (declare
      // -u).
      auto now = param.subscript == Subscript::none && !param.indirect
                     ? shell_.variables().get_value(param.name)
                     : std::optional<std::string>(text);
      emit_scalar(now.value_or(text), in_quotes);
      return true;
    }
    case ParamOp::error: {
      if (!missing) break;
      Expansion inner(shell_, Mode::single);
      inner.parts(param.arg.parts, false, false);
      std::string text = inner.plain();
      if (param.arg.raw.empty()) text = param.colon ? "parameter null or not set" : "parameter not set";
      shell_.abandon(fmt::format("{}: {}", describe_name(param), text), true, shell_.fatal_status());
    }
    default: return false;
  }
  emit(value, in_quotes);
  return true;
}

void Expansion::default_word(const Word& word, bool in_quotes) {
  if (in_quotes) {
    started_ = true;
    parts(word.parts, true, false);
  } else {
    parts(word.parts, false, mode_ == Mode::fields);
  }
}

void Expansion::assign_default(const Param& param, const std::string& text) {
  if (!is_name(param.name)) shell_.abandon(fmt::format("${}: cannot assign in this way", param.name));
  bool done = true;
  if (param.indirect) {
    done = shell_.variables().assign_reference(shell_.variables().get_or_empty(param.name), text);
  } else if (param.subscript == Subscript::index) {
    const Variable* variable = shell_.variables().find(param.name);
    std::string key = variable && variable->is(attr::assoc)
                          ? shell_.expander().single(param.index)
                          : std::to_string(shell_.expander().evaluate(*param.index_arith));
    done = shell_.variables().assign_element(param.name, key, text);
  } else if (param.subscript == Subscript::none) {
    done = shell_.variables().assign(param.name, text);
  } else {
    shell_.abandon(fmt::format("{}: bad array subscript", describe_name(param)));
  }
  if (!done) throw Abandoned{false, 1};
}

void Expansion::length(const Param& param) {
  Value value = fetch(param);
  if (!value.list && !value.set && shell_.option(Opt::nounset)) shell_.unbound(describe_name(param));
  if (const Variable* reference = shell_.variables().find(param.name);
      reference && reference->is(attr::nameref) && reference->value.find('[') != std::string::npos)
    // As in param(): an element behind a reference counts as unset.
    value = Value();
  std::size_t n = value.list ? value.items.size() : utf8::length(value.text);
  if (param.name == "@" || param.name == "*") n = shell_.calls().args ? shell_.calls().args->size() : 0;
  emit_scalar(std::to_string(n), false);
  // A number is a word even if IFS contains digits.
  started_ = true;
}

void Expansion::names(const Param& param, bool in_quotes) {
  Value value;
  value.list = true;
  value.star = param.mode == '*';
  value.items = shell_.variables().names(param.name);
  emit(value, in_quotes);
}

void Expansion::keys(const Param& param, bool in_quotes) {
  Value value;
  value.list = true;
  value.star = param.subscript == Subscript::star;
  std::string element;
  std::string name = shell_.variables().resolve_name(param.name, &element);
  const Variable* variable = element.empty() ? shell_.variables().find(name) : nullptr;
  std::optional<Variable> computed;
  if (!variable && element.empty() && (computed = computed_variable(shell_, name))) variable = &*computed;
  if (variable) {
    if (variable->is(attr::array)) {
      for (const auto& [index, unused] : *variable->array) value.items.push_back(std::to_string(index));
    } else if (variable->is(attr::assoc)) {
      value.items = variable->assoc->keys();
    } else if (variable->set) {
      value.items.push_back("0");
    }
  }
  emit(value, in_quotes);
}

template <class F>
void Expansion::map(Value& value, F&& change) {
  if (!value.list) {
    value.text = change(value.text);
    return;
  }
  for (std::string& item : value.items) item = change(item);
}

void Expansion::slice(const Param& param, Value& value) {
  if (!value.list && !value.set) return;  // then nobody asks what the expressions are worth
  std::int64_t offset = shell_.expander().evaluate(*param.offset);
  std::optional<std::int64_t> length;
  if (param.length) length = shell_.expander().evaluate(*param.length);
  if (value.list) {
    bool positional_params = param.name == "@" || param.name == "*";
    std::int64_t least = 0;
    std::vector<std::pair<std::int64_t, std::string>> items;
    // ${@:0} begins with $0, ${@:1} with the first argument.
    if (positional_params) {
      value = positional(value.star, true);
      std::int64_t i = 0;
      for (auto& item : value.items) items.emplace_back(i++, std::move(item));
    } else {
      const Variable* variable = shell_.variables().find(shell_.variables().resolve_name(param.name));
      bool assoc = variable && variable->is(attr::assoc);
      std::int64_t i = assoc ? 1 : 0;  // bash counts those from 1
      least = assoc ? 1 : 0;           // and gives one where none is asked for
      if (variable && variable->is(attr::array)) {
        for (const auto& [index, item] : *variable->array) items.emplace_back(index, item);
      } else {
        for (auto& item : value.items) items.emplace_back(i++, item);
      }
    }
    // Offsets mean indices, not positions: an array with holes gives the elements whose index is at least the
    // offset.
    std::int64_t size = items.empty() ? 0 : items.back().first + 1;
    if (offset < 0) offset += size;
    value.items.clear();
    if (length && *length < 0)
      shell_.abandon(fmt::format("{}: substring expression < 0", param.length->word.raw));
    if (offset < 0) return;
    for (auto& [index, item] : items) {
      if (index < offset) continue;
      if (length && static_cast<std::int64_t>(value.items.size()) >= std::max(*length, least)) break;
      value.items.push_back(std::move(item));
    }
    return;
  }
  auto size = static_cast<std::int64_t>(utf8::length(value.text));
  if (offset < 0) offset += size;
  if (offset < 0 || offset > size) {
    value.text.clear();
    return;
  }
  std::int64_t end = size;
  if (length) {
    end = *length < 0 ? size + *length : offset + *length;
    // Against overflow of offset + length.
    if (*length > size) end = size;
    if (end < offset) shell_.abandon(fmt::format("{}: substring expression < 0", param.length->word.raw));
    end = std::min(end, size);
  }
  std::size_t from = utf8::offset(value.text, static_cast<std::size_t>(offset));
  std::size_t to = utf8::offset(value.text, static_cast<std::size_t>(end));
  value.text = value.text.substr(from, to - from);
}

std::string Expansion::replace(const Param& param, const Pattern& pattern, const std::string& replacement,
                               bool literal_replacement, const std::string& text) {
  auto put = [&](std::string& out, std::string_view matched) {
    if (literal_replacement) {
      out += replacement;
      return;
    }
    // In the replacement an unquoted & stands for the match; marks protect quoted ones.
    for (std::size_t i = 0; i < replacement.size(); ++i) {
      if (replacement[i] == quote_mark && i + 1 < replacement.size())
        out += replacement[++i];
      else if (replacement[i] == '\\' && i + 1 < replacement.size() &&
               (replacement[i + 1] == '&' || replacement[i + 1] == '\\'))
        out += replacement[++i];
      else if (replacement[i] == '&')
        out += matched;
      else
        out += replacement[i];
    }
  };
  std::string out;
  if (param.mode == '#') {
    std::size_t n = pattern.prefix(text, true);
    if (n == std::string::npos) return text;
    put(out, std::string_view(text).substr(0, n));
    return out + text.substr(n);
  }
  if (param.mode == '%') {
    std::size_t n = pattern.suffix(text, true);
    if (n == std::string::npos) return text;
    out = text.substr(0, text.size() - n);
    put(out, std::string_view(text).substr(text.size() - n));
    return out;
  }
  std::size_t from = 0, at = 0, n = 0;
  // ${x//} and ${x/""/y} change nothing.
  if (pattern.is_literal() && pattern.literal().empty()) return text;
  while (from <= text.size() && pattern.find(text, from, at, n)) {
    // A pattern that matches nothing (*(x)) is replaced before every character, but not behind the last.
    if (n == 0 && at >= text.size() && !text.empty()) break;
    out += text.substr(from, at - from);
    put(out, std::string_view(text).substr(at, n));
    from = at + n;
    if (n == 0) {
      if (from < text.size()) out += text[from];
      ++from;
    }
    if (!param.longest) break;
    // Replacing can multiply a text: steps and size are bounded while it grows, not afterwards.
    shell_.machine().charge(1 + n / 8);
    if (out.size() > shell_.machine().limits.expansion_bytes)
      shell_.machine().stop_limit(Limit::expansion_bytes);
    if (from >= text.size()) break;
  }
  if (from < text.size()) out += text.substr(from);
  return out;
}

std::string Expansion::recase(const Param& param, const Pattern* pattern, const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t n = utf8::sequence(std::string_view(text).substr(i));
    std::string_view one = std::string_view(text).substr(i, n);
    bool matched = !pattern || pattern->matches(one);
    // Bytes that are no UTF-8 pass unchanged.
    if (matched && (n > 1 || static_cast<unsigned char>(one[0]) < 0x80)) {
      std::uint32_t code = utf8::decode(one, n);
      std::uint32_t up = utf8::to_upper(code), low = utf8::to_lower(code);
      utf8::append(out, param.op == ParamOp::upper   ? up
                        : param.op == ParamOp::lower ? low
                        : code == up                 ? low
                                                     : up);
    } else {
      out += one;
    }
    i += n;
    if (!param.longest) return out + text.substr(i);
  }
  return out;
}

void Expansion::transform(const Param& param, Value& value) {
  std::string named = param.name;
  if (param.indirect) {  // ${!r@a} is about what r names
    named = param.subscript == Subscript::none ? shell_.variables().get_value(param.name).value_or("") : "";
    named = named.substr(0, named.find('['));
  }
  std::string name = shell_.variables().resolve_name(named);
  const Variable* variable = is_name(named) ? shell_.variables().find(name) : nullptr;
  switch (param.mode) {
    case 'Q': map(value, [](const std::string& text) { return quote_single(text); }); break;
    case 'E': map(value, [](const std::string& text) { return decode_ansi(text); }); break;
    case 'P': map(value, [&](const std::string& text) { return shell_.expander().prompt(text); }); break;
    case 'U': map(value, [](const std::string& text) { return utf8::to_upper(text); }); break;
    case 'L': map(value, [](const std::string& text) { return utf8::to_lower(text); }); break;
    case 'u': {
      Param first;
      first.op = ParamOp::upper;
      map(value, [&](const std::string& text) { return recase(first, nullptr, text); });
      break;
    }
    case 'a': {
      std::string letters = variable ? attribute_letters(*variable) : "";
      if (value.list) {
        for (auto& item : value.items) item = letters;
      } else {
        value.text = letters;
        value.set = true;
      }
      break;
    }
    case 'A': transform_assignment(param, name, variable, value); break;
    case 'K':
    case 'k': transform_pairs(param, variable, value); break;
    default: break;
  }
}

// ${x@A}: the command that makes the variable again.
void Expansion::transform_assignment(const Param& param, const std::string& name, const Variable* variable,
                                     Value& value) {
  auto give_words = [&](bool several, std::vector<std::string> words) {
    if (several) {
      value.items = std::move(words);
      return;
    }
    value = Value();
    value.set = true;
    value.text = fmt::format("{}", fmt::join(words, " "));
  };
  if (!variable) {
    if (param.name != "@" && param.name != "*") return;
    std::vector<std::string> words = {"set", "--"};
    for (auto& item : value.items) words.push_back(quote_single(item));
    return give_words(param.name == "@", std::move(words));
  }
  std::string letters = attribute_letters(*variable);
  if (value.list && variable->is_array())
    return give_words(param.subscript == Subscript::at,
                      {"declare", "-" + letters, fmt::format("{}={}", name, array_literal(*variable))});
  std::string text;
  if (letters.empty())
    text = fmt::format("{}={}", name, quote_single(value.text));
  else if (!value.set)
    text = fmt::format("declare -{} {}", letters, name);
  else
    text = fmt::format("declare -{} {}={}", letters, name, quote_single(value.text));
  value = Value();
  value.set = true;
  value.text = std::move(text);
}

// ${x[@]@K} and ${x[@]@k}: keys and values, as one text or as words.
void Expansion::transform_pairs(const Param& param, const Variable* variable, Value& value) {
  if (!value.list || !variable || !variable->is_array()) {
    map(value, [](const std::string& text) { return quote_single(text); });
    return;
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  if (variable->is(attr::array)) {
    for (const auto& [index, item] : *variable->array) pairs.emplace_back(std::to_string(index), item);
  } else {
    for (const auto& key : variable->assoc->keys()) pairs.emplace_back(key, *variable->assoc->find(key));
  }
  if (param.mode == 'k') {
    value.items.clear();
    for (auto& [key, item] : pairs) value.items.push_back(key), value.items.push_back(item);
    return;
  }
  std::string text;
  for (auto& [key, item] : pairs) {
    if (!text.empty()) text += ' ';
    text += (variable->is(attr::assoc) ? quote_key(key) : key) + " " + quote_double(item);
  }
  // bash leaves a blank behind the last pair of an associative array.
  if (variable->is(attr::assoc) && !text.empty()) text += ' ';
  value.items = {text};
}

void Expansion::operate(const Param& param, Value& value) {
  switch (param.op) {
    case ParamOp::strip_prefix: {
      Pattern pattern = make_pattern(param.arg);
      map(value, [&](const std::string& text) {
        std::size_t n = pattern.prefix(text, param.longest);
        return n == std::string::npos ? text : text.substr(n);
      });
      return;
    }
    case ParamOp::strip_suffix: {
      Pattern pattern = make_pattern(param.arg);
      map(value, [&](const std::string& text) {
        std::size_t n = pattern.suffix(text, param.longest);
        return n == std::string::npos ? text : text.substr(0, text.size() - n);
      });
      return;
    }
    case ParamOp::replace: {
      // The pattern of an unset variable is not expanded: its side effects do not happen.
      if (!value.list && !value.set) return;
      Pattern pattern = make_pattern(param.arg, shell_.option(Shopt::nocasematch));
      bool ampersand = shell_.option(Shopt::patsub_replacement);
      Expansion inner(shell_, Mode::single);
      inner.parts(param.arg2.parts, false, false);
      std::string replacement = ampersand ? inner.marked() : inner.plain();
      // Marks only guard pattern characters; a quoted & needs one as well.
      if (ampersand && replacement.find('&') != std::string::npos) {
        replacement.clear();
        for (const Part& part : param.arg2.parts) {
          Expansion piece(shell_, Mode::single);
          piece.parts({part}, false, false);
          bool quoted_part = part.kind == PartKind::quoted || part.kind == PartKind::dquote;
          for (std::size_t i = 0; i < piece.marked().size(); ++i) {
            char c = piece.marked()[i];
            if (c == quote_mark)
              replacement += c, c = piece.marked()[++i];
            else if (quoted_part && c == '&')
              replacement += quote_mark;
            replacement += c;
          }
        }
      }
      map(value,
          [&](const std::string& text) { return replace(param, pattern, replacement, !ampersand, text); });
      return;
    }
    case ParamOp::substring: slice(param, value); return;
    case ParamOp::upper:
    case ParamOp::lower:
    case ParamOp::toggle: {
      if (param.arg.parts.empty()) {
        map(value, [&](const std::string& text) { return recase(param, nullptr, text); });
      } else {
        Pattern pattern = make_pattern(param.arg);
        map(value, [&](const std::string& text) { return recase(param, &pattern, text); });
      }
      return;
    }
    case ParamOp::transform:
      // ${x@a} and ${x@A} describe the variable, which exists without a value.
      if (!value.set && !value.list && param.mode != 'a' && param.mode != 'A') return;
      transform(param, value);
      return;
    default: return;
  }
}

}  // namespace atl::shell
