// Evaluator: the values of literals, operators, lists, and the methods of text and lists.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "policy/scan/evaluate.h"
#include "policy/scan/nfkc.h"
#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {
// Longer texts are not put together: names that matter are short.
constexpr std::size_t operand_max = 1U << 16U;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}
std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return out;
}
std::string swap_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + 32);
    else if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 32);
  }
  return out;
}
std::string_view strip(std::string_view text, std::string_view set, bool left, bool right) {
  while (left && !text.empty() && set.contains(text.front())) text.remove_prefix(1);
  while (right && !text.empty() && set.contains(text.back())) text.remove_suffix(1);
  return text;
}
constexpr std::string_view white = " \t\r\n\v\f";
}  // namespace

ValueIndex Evaluator::string_value(const Node& node) {
  std::string_view literal = text_.substr(node.start, node.end - node.start);
  bool escaped = literal.contains('\\');
  if (node.kind == Kind::string_part) {
    bool raw = (node.flags & flag_star) != 0;
    if (language_ == Language::python) {
      // A view into the source needs no copy; most literals are plain.
      if ((raw || !escaped) && !literal.contains("{{") && !literal.contains("}}")) return make_view(literal);
      std::string text = raw ? std::string(literal) : decode_python(literal, false);
      return make_text(replace_text(replace_text(text, "{{", "{"), "}}", "}"));
    }
    return escaped ? make_text(decode_javascript(literal)) : make_view(literal);
  }
  if (language_ == Language::javascript) {
    std::string_view body = literal.size() >= 2 ? literal.substr(1, literal.size() - 2) : literal;
    return escaped ? make_text(decode_javascript(body)) : make_view(body);
  }
  char first = literal.empty() ? '\0' : literal.front();
  if ((first == '\'' || first == '"') && !escaped) {
    std::size_t width = literal.starts_with("'''") || literal.starts_with("\"\"\"") ? 3 : 1;
    if (literal.size() < 2 * width) return unknown_value;
    return make_view(literal.substr(width, literal.size() - 2 * width));
  }
  auto decoded = decode_python_literal(literal);
  if (!decoded) return unknown_value;
  std::size_t quote = literal.find_first_of("'\"");
  bool bytes = literal.substr(0, quote).find_first_of("bB") != std::string_view::npos;
  return make_text(std::move(*decoded), false, false, bytes);
}

ValueIndex Evaluator::format_value(NodeIndex index) {
  const Node& node = tree_.nodes[index];
  std::string out;
  bool decoded = false;
  bool remote = false;
  bool known = true;
  for (NodeIndex child = node.first_child; child != no_node; child = tree_.nodes[child].next) {
    ValueIndex part = value_of(child);
    // Of several values only the first is put in: all combinations would be too many.
    if (value(part).type == Value::Type::choices) part = alternatives(part).front();
    const Value& one = value(part);
    decoded = decoded || one.decoded;
    remote = remote || one.remote;
    if (one.type == Value::Type::text) {
      out += one.text;
    } else if (one.type == Value::Type::number) {
      out += std::to_string(one.number);
    } else {
      known = false;
    }
    if (out.size() > operand_max) known = false, out.clear();
  }
  if (known) return make_text(std::move(out), decoded, remote);
  return tainted({.decoded = decoded, .remote = remote});
}

ValueIndex Evaluator::add_values(ValueIndex left, ValueIndex right) {
  std::vector<ValueIndex> results;
  for (ValueIndex a : alternatives(left)) {
    for (ValueIndex b : alternatives(right)) {
      const Value& one = value(a);
      const Value& two = value(b);
      using Type = Value::Type;
      bool texts = (one.type == Type::text || one.type == Type::number) &&
                   (two.type == Type::text || two.type == Type::number);
      if (one.type == Type::number && two.type == Type::number) {
        std::int64_t sum = 0;
        if (!__builtin_add_overflow(one.number, two.number, &sum)) results.push_back(make_number(sum));
      } else if (texts && (language_ == Language::javascript || one.type == two.type)) {
        auto spell = [](const Value& v) {
          return v.type == Type::text ? std::string(v.text) : std::to_string(v.number);
        };
        if (one.text.size() + two.text.size() > operand_max) continue;
        results.push_back(make_text(spell(one) + spell(two), one.decoded || two.decoded,
                                    one.remote || two.remote, one.bytes));
      } else if (one.type == Type::list && two.type == Type::list) {
        std::vector<ValueIndex> all(items(one).begin(), items(one).end());
        all.insert(all.end(), items(two).begin(), items(two).end());
        results.push_back(make_items(Type::list, all));
      } else {
        results.push_back(
            tainted({.decoded = one.decoded || two.decoded, .remote = one.remote || two.remote}));
      }
    }
  }
  return choices(results);
}

ValueIndex Evaluator::binary_value(const Node& node) {
  NodeIndex left = node.first_child;
  if (left == no_node || tree_.nodes[left].next == no_node) return unknown_value;
  ValueIndex a = value_of(left);
  ValueIndex b = value_of(tree_.nodes[left].next);
  if (a == unknown_value && b == unknown_value) return unknown_value;
  const Value& one = value(a);
  const Value& two = value(b);
  using Type = Value::Type;
  if (node.op == '+') return add_values(a, b);
  if (node.op == '%' && one.type == Type::text) return percent_format(one.text, b);
  bool numbers = one.type == Type::number && two.type == Type::number;
  if (numbers && (node.op == '-' || node.op == '*' || node.op == '^')) {
    std::int64_t result = 0;
    bool overflow = node.op == '-'   ? __builtin_sub_overflow(one.number, two.number, &result)
                    : node.op == '*' ? __builtin_mul_overflow(one.number, two.number, &result)
                                     : ((result = one.number ^ two.number), false);
    return overflow ? unknown_value : make_number(result);
  }
  if (node.op == '*' && language_ == Language::python && (one.type == Type::text) &&
      two.type == Type::number) {
    if (two.number < 0 || two.number > 64 || one.text.size() > 1024) return unknown_value;
    std::string out;
    for (std::int64_t i = 0; i < two.number; ++i) out += one.text;
    return make_text(std::move(out), one.decoded, one.remote, one.bytes);
  }
  return unknown_value;
}

ValueIndex Evaluator::percent_format(std::string_view text, ValueIndex right) {
  std::vector<ValueIndex> given{right};
  if (value(right).type == Value::Type::list)
    given.assign(items(value(right)).begin(), items(value(right)).end());
  std::string out;
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    char kind = text[++i];
    if (kind == '%') {
      out += '%';
      continue;
    }
    if (used >= given.size()) return unknown_value;
    const Value& one = value(given[used++]);
    if (kind == 's' && one.type == Value::Type::text) {
      out += one.text;
    } else if ((kind == 's' || kind == 'd') && one.type == Value::Type::number) {
      out += std::to_string(one.number);
    } else if (kind == 'c' && one.type == Value::Type::number && one.number >= 0 && one.number < 0x110000) {
      utf8::append(out, static_cast<char32_t>(one.number));
    } else if (kind == 'c' && one.type == Value::Type::text) {
      out += one.text;
    } else {
      return unknown_value;
    }
  }
  return make_text(std::move(out));
}

ValueIndex Evaluator::brace_format(std::string_view text, const Arguments& arguments) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{' && text[i] != '}') {
      out += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == text[i]) {
      out += text[i++];
      continue;
    }
    std::size_t close = text.find('}', i);
    if (text[i] == '}' || close == std::string_view::npos) return unknown_value;
    std::string_view field = text.substr(i + 1, close - i - 1);
    // "{0.__class__}" reaches attributes from inside a string.
    std::string_view name = field.substr(0, field.find_first_of(":!.["));
    ValueIndex given = unknown_value;
    if (name.empty()) {
      given = argument(arguments, used++);
    } else if (auto number = decode_number(name)) {
      given = argument(arguments, static_cast<std::size_t>(std::clamp<std::int64_t>(*number, 0, 1000)));
    } else {
      given = argument(arguments, ~std::size_t{0}, name);
    }
    if (name.size() != field.size()) return unknown_value;
    const Value& one = value(given);
    if (one.type == Value::Type::text)
      out += one.text;
    else if (one.type == Value::Type::number)
      out += std::to_string(one.number);
    else
      return unknown_value;
    if (out.size() > operand_max) return unknown_value;
    i = close;
  }
  return make_text(std::move(out));
}

ValueIndex Evaluator::list_value(NodeIndex index) {
  const Node& node = tree_.nodes[index];
  std::vector<ValueIndex> list;
  constexpr std::size_t longest = 512;
  bool known = false;
  for (NodeIndex child = node.first_child; child != no_node && list.size() < longest;
       child = tree_.nodes[child].next) {
    list.push_back(value_of(child));
    known = known || value_of(child) != unknown_value;
  }
  return known || list.empty() ? make_items(Value::Type::list, list) : make({.type = Value::Type::literal});
}

// [chr(c) for c in [111, 115]] and the like: the body once for each element, where the body is chr of the
// variable or the variable itself.
ValueIndex Evaluator::comprehension_value(NodeIndex index) {
  const Node& node = tree_.nodes[index];
  NodeIndex clause = node.first_child;
  if (clause == no_node || tree_.nodes[clause].kind != Kind::iterate) return unknown_value;
  NodeIndex body = tree_.nodes[clause].next;
  if (body == no_node || tree_.nodes[body].next != no_node) return unknown_value;
  NodeIndex target = tree_.nodes[clause].first_child;
  if (target == no_node || tree_.nodes[target].next == no_node) return unknown_value;
  ValueIndex source = value_of(tree_.nodes[target].next);
  if (tree_.nodes[target].kind != Kind::name) return unknown_value;
  NameIndex variable = tree_.nodes[target].name;
  auto is_variable = [&](NodeIndex at) {
    return at != no_node && tree_.nodes[at].kind == Kind::name && tree_.nodes[at].name == variable;
  };
  std::vector<ValueIndex> elements;
  const Value from = value(source);
  if (from.type == Value::Type::list) {
    elements.assign(items(from).begin(), items(from).end());
  } else if (from.type == Value::Type::text && from.text.size() < operand_max) {
    for (std::size_t at = 0; at < from.text.size();) {
      std::size_t start = at;
      char32_t character = next_character(from.text, at);
      elements.push_back(from.bytes ? make_number(character)
                                    : make_view(from.text.substr(start, at - start)));
    }
  } else {
    return unknown_value;
  }
  if (is_variable(body)) return make_items(Value::Type::list, elements);
  if (tree_.nodes[body].kind != Kind::call) return unknown_value;
  NodeIndex callee = tree_.nodes[body].first_child;
  if (callee == no_node || !is_variable(tree_.nodes[callee].next)) return unknown_value;
  const Value& function = value(value_of(callee));
  if (function.type != Value::Type::path || paths_.model(function.state) != Model::chr) return unknown_value;
  for (ValueIndex& one : elements) {
    std::string text;
    const Value& code = value(one);
    if (code.type != Value::Type::number || code.number < 0 || code.number >= 0x110000) return unknown_value;
    utf8::append(text, static_cast<char32_t>(code.number));
    one = make_text(std::move(text));
  }
  return make_items(Value::Type::list, elements);
}

ValueIndex Evaluator::join_items(std::string_view separator, ValueIndex list) {
  const Value from = value(list);
  if (from.type == Value::Type::text) {
    if (separator.empty()) return list;
    return unknown_value;
  }
  if (from.type != Value::Type::list) return tainted(from);
  std::string out;
  bool decoded = false;
  bool first = true;
  for (ValueIndex item : items(from)) {
    const Value& one = value(item);
    if (one.type != Value::Type::text && one.type != Value::Type::number) return unknown_value;
    if (!first) out += separator;
    first = false;
    out += one.type == Value::Type::text ? std::string(one.text) : std::to_string(one.number);
    decoded = decoded || one.decoded;
    if (out.size() > operand_max) return unknown_value;
  }
  return make_text(std::move(out), decoded);
}

ValueIndex Evaluator::text_method(std::string_view text, const Value& object, std::string_view method,
                                  const Arguments& arguments) {
  auto same = [&](std::string result) {
    return make_text(std::move(result), object.decoded, object.remote, object.bytes);
  };
  if (text.size() > operand_max) return tainted(object);
  ValueIndex first = argument(arguments, 0);
  ValueIndex second = argument(arguments, 1);
  auto first_text = text_of(first);
  auto second_text = text_of(second);
  auto number = [&](ValueIndex index) -> std::optional<std::int64_t> {
    if (value(index).type != Value::Type::number) return std::nullopt;
    return value(index).number;
  };
  if (method == "join") return join_items(text, first);
  if ((method == "replace" || method == "replaceAll") && first_text && second_text) {
    if (text.size() * (second_text->size() + 1) > operand_max) return unknown_value;
    return same(replace_text(text, *first_text, *second_text));
  }
  if (method == "lower" || method == "casefold" || method == "toLowerCase") return same(lower(text));
  if (method == "upper" || method == "toUpperCase") return same(upper(text));
  if (method == "swapcase") return same(swap_case(text));
  if (method == "strip" || method == "trim")
    return same(std::string(strip(text, first_text.value_or(white), true, true)));
  if (method == "lstrip" || method == "trimStart")
    return same(std::string(strip(text, first_text.value_or(white), true, false)));
  if (method == "rstrip" || method == "trimEnd")
    return same(std::string(strip(text, first_text.value_or(white), false, true)));
  if (method == "removeprefix" && first_text) {
    return same(std::string(text.starts_with(*first_text) ? text.substr(first_text->size()) : text));
  }
  if (method == "removesuffix" && first_text) {
    return same(
        std::string(text.ends_with(*first_text) ? text.substr(0, text.size() - first_text->size()) : text));
  }
  if (method == "format") return brace_format(text, arguments);
  if (method == "encode" || method == "toString" || method == "valueOf" || method == "String" ||
      method == "__str__") {
    return same(std::string(text));
  }
  if (method == "decode")
    return first_text ? decode_by_name(text, *first_text, object) : same(std::string(text));
  if (method == "hex") return unknown_value;
  if (method == "concat") {
    std::string out(text);
    for (NodeIndex node : arguments.positional) {
      auto part = text_of(value_of(node));
      if (!part) return unknown_value;
      out += *part;
    }
    return same(std::move(out));
  }
  if (method == "__add__" && first_text) return same(std::string(text) + std::string(*first_text));
  if (method == "slice" || method == "substring" || method == "substr") {
    auto from = number(first);
    auto to = number(second);
    if (!from) return unknown_value;
    if (method == "substr" && to) to = *from + *to;
    return same(slice_text(text, from, to, 1));
  }
  if (method == "charAt" || method == "at" || method == "__getitem__") {
    auto at = number(first);
    auto found = at ? character_at(text, *at) : std::nullopt;
    return found ? same(std::move(*found)) : unknown_value;
  }
  if (method == "split") {
    std::vector<ValueIndex> parts;
    std::string_view separator = first_text.value_or(language_ == Language::python ? " " : ",");
    if (separator.empty()) {
      for (std::size_t at = 0; at < text.size();) {
        std::size_t start = at;
        next_character(text, at);
        parts.push_back(make_view(text.substr(start, at - start)));
      }
    } else {
      std::string_view rest = text;
      for (std::size_t found = 0; parts.size() < 512;) {
        found = rest.find(separator);
        parts.push_back(make_view(rest.substr(0, found)));
        if (found == std::string_view::npos) break;
        rest.remove_prefix(found + separator.size());
      }
    }
    return make_items(Value::Type::list, parts);
  }
  return tainted(object);
}

ValueIndex Evaluator::list_method(const Value& list, std::string_view method, const Arguments& arguments) {
  std::vector<ValueIndex> all(items(list).begin(), items(list).end());
  if (method == "join") {
    auto separator =
        arguments.positional.empty() ? std::optional<std::string_view>(",") : text_of(argument(arguments, 0));
    return separator ? join_items(*separator, make_items(Value::Type::list, all)) : unknown_value;
  }
  if (method == "reverse" || method == "toReversed") {
    std::ranges::reverse(all);
    return make_items(Value::Type::list, all);
  }
  if (method == "concat") {
    for (NodeIndex node : arguments.positional) {
      const Value& more = value(value_of(node));
      if (more.type != Value::Type::list) return unknown_value;
      all.insert(all.end(), items(more).begin(), items(more).end());
    }
    return make_items(Value::Type::list, all);
  }
  if (method == "map") {
    const Value& function = value(argument(arguments, 0));
    if (function.type != Value::Type::path || paths_.model(function.state) != Model::from_char_codes)
      return unknown_value;
    for (ValueIndex& one : all) {
      std::string text;
      if (value(one).type != Value::Type::number || value(one).number < 0 || value(one).number >= 0x110000)
        return unknown_value;
      utf8::append(text, static_cast<char32_t>(value(one).number));
      one = make_text(std::move(text));
    }
    return make_items(Value::Type::list, all);
  }
  if ((method == "pop" || method == "at") && !all.empty()) return all.back();
  if (method == "shift" && !all.empty()) return all.front();
  return unknown_value;
}

}  // namespace atl::policy
