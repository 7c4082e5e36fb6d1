#include "registry/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cctype>
#include <set>

#include "base/json.h"
#include "config/node_json.h"
#include "registry/kinds.h"

namespace atl::registry {
namespace {

namespace bj = boost::json;
using Variables = std::map<std::string, Variable, std::less<>>;

constexpr std::size_t kPiecesMax = 10'000;
constexpr std::array<std::string_view, 5> kTypes = {"string", "integer", "number", "boolean", "list"};

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool has_type(const bj::value& value, VariableType type) {
  switch (type) {
    case VariableType::string: return value.is_string();
    case VariableType::integer: return value.is_int64() || value.is_uint64();
    case VariableType::number: return value.is_number();
    case VariableType::boolean: return value.is_bool();
    case VariableType::list:
      return value.is_array() &&
             std::ranges::all_of(value.get_array(), [](const bj::value& item) { return item.is_string(); });
  }
  std::unreachable();
}

std::string_view described(VariableType type) {
  constexpr std::array<std::string_view, 5> kWords = {"a string", "a whole number", "a number",
                                                      "true or false", "a list of strings"};
  return kWords[static_cast<std::size_t>(type)];
}

std::string text_of(const bj::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_double()) return fmt::format("{}", value.get_double());
  if (!value.is_array()) return bj::serialize(value);
  std::string text;
  for (const bj::value& item : value.get_array()) {
    if (!text.empty()) text += ", ";
    text += std::string_view(item.get_string());
  }
  return text;
}

bool is_allowed(const bj::value& value, const Variable& variable) {
  const auto among = [&](const std::string& text) {
    return std::ranges::find(variable.values, text) != variable.values.end();
  };
  if (variable.values.empty()) return true;
  if (!value.is_array()) return among(text_of(value));
  return std::ranges::all_of(value.get_array(), [&](const bj::value& item) { return among(text_of(item)); });
}

Result<Variable> parse_variable(const config::Node& node, std::string_view name) {
  Variable variable;
  if (node.is_null()) return variable;
  const std::string type = TRY(node.get_or<std::string>("type", "string"));
  variable.type = static_cast<VariableType>(std::ranges::find(kTypes, type) - kTypes.begin());
  variable.description = TRY(node.get_or<std::string>("description", ""));
  variable.values = TRY(node.get_or<std::vector<std::string>>("values", {}));
  const config::Node* otherwise = node.find("default");
  if (otherwise == nullptr || otherwise->is_null()) return variable;
  bj::value value = TRY(json::parse(config::to_json(*otherwise)));
  // `default: 1.10` of a text is what was written.
  if (variable.type == VariableType::string && otherwise->is_scalar()) value = bj::value(otherwise->text());
  if (!has_type(value, variable.type) || !is_allowed(value, variable))
    return fail(otherwise->error(fmt::format(
        "the default of '{}' is {}{}", name, described(variable.type),
        variable.values.empty() ? "" : fmt::format(", one of {}", fmt::join(variable.values, ", ")))));
  variable.otherwise = std::move(value);
  return variable;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Result<Prompt::Piece> parse_reference(const config::Node& node, std::string_view inside,
                                      const Prompt& prompt) {
  inside = trimmed(inside);
  if (inside.starts_with('>')) {
    const std::string_view name = trimmed(inside.substr(1));
    if (name.empty()) return fail(node.error("'{{>' needs the name of a prompt: '{{> NAME}}'"));
    return Prompt::Piece{Prompt::PieceKind::include, std::string(name)};
  }
  if (!prompt.variables.contains(inside)) {
    std::vector<std::string_view> known;
    for (const auto& [name, variable] : prompt.variables) known.push_back(name);
    return fail(
        node.error(fmt::format("'{{{{{}}}}}' names no variable{}; declare it in 'variables', or write "
                               "'\\{{{{' for two braces",
                               inside, config::did_you_mean(inside, known))));
  }
  return Prompt::Piece{Prompt::PieceKind::variable, std::string(inside)};
}

Result<void> split(const config::Node& node, Prompt& prompt) {
  const std::string text = TRY(node.as<std::string>());
  std::string plain;
  const auto flush = [&] {
    if (!plain.empty()) prompt.pieces.push_back({Prompt::PieceKind::text, std::exchange(plain, {})});
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest.starts_with("\\{{")) {
      plain += "{{";
      at += 3;
      continue;
    }
    if (!rest.starts_with("{{")) {
      plain += text[at++];
      continue;
    }
    const auto end = rest.find("}}");
    if (end == std::string_view::npos) return fail(node.error("'{{' without '}}' behind it"));
    flush();
    prompt.pieces.push_back(TRY(parse_reference(node, rest.substr(2, end - 2), prompt)));
    at += end + 2;
    if (prompt.pieces.size() > kPiecesMax)
      return fail(node.error("the text names variables and prompts too many times"));
  }
  flush();
  std::set<std::string_view> included;
  for (const Prompt::Piece& piece : prompt.pieces)
    if (piece.kind == Prompt::PieceKind::include && included.insert(piece.text).second)
      prompt.includes.push_back(piece.text);
  return {};
}

// Calls `visit` with the prompt and everything it includes, each once. Bounded by depth, by how many names
// are looked up, and by circles being refused.
struct Walk {
  const FindPrompt& find;
  std::function<Result<void>(const Prompt&)> visit;
  std::vector<const Prompt*> path{};
  std::set<std::string, std::less<>> seen{};
  std::size_t includes = 0;

  Result<void> from(const Prompt& prompt) {
    if (path.size() > kIncludeDepthMax)
      return fail(Code::invalid_argument, fmt::format("{}: prompts include each other more than {} deep",
                                                      prompt.where, kIncludeDepthMax));
    if (std::ranges::find(path, &prompt) != path.end())
      return fail(Code::invalid_argument,
                  fmt::format("{}: prompt '{}' includes itself", prompt.where, prompt.name));
    if (!seen.insert(prompt.name).second) return {};
    TRY(visit(prompt));
    path.push_back(&prompt);
    for (const std::string& name : prompt.includes) {
      if (++includes > kIncludesMax)
        return fail(Code::too_large, fmt::format("{}: prompts include each other more than {} times",
                                                 prompt.where, kIncludesMax));
      const Prompt* included = find(name);
      if (included == nullptr)
        return fail(Code::invalid_argument, fmt::format("{}: prompt '{}' includes '{}', which does not exist",
                                                        prompt.where, prompt.name, name));
      TRY(from(*included));
    }
    path.pop_back();
    return {};
  }
};

std::size_t bytes_of(std::string_view name, const Variable& variable) {
  std::size_t bytes = name.size() + variable.description.size();
  for (const std::string& value : variable.values) bytes += value.size() + 4;
  if (variable.otherwise) bytes += bj::serialize(*variable.otherwise).size();
  return bytes;
}

Result<void> append(const Prompt& prompt, const std::map<std::string, std::string>& values,
                    const FindPrompt& find, std::string& out, std::size_t& pieces_left) {
  for (const Prompt::Piece& piece : prompt.pieces) {
    // Prompts that include each other many times over do much work also where the text stays short.
    if (pieces_left-- == 0)
      return fail(Code::too_large, fmt::format("prompt '{}' includes others too many times", prompt.name));
    switch (piece.kind) {
      case Prompt::PieceKind::text: out += piece.text; break;
      case Prompt::PieceKind::variable: out += values.at(piece.text); break;
      case Prompt::PieceKind::include: TRY(append(*find(piece.text), values, find, out, pieces_left)); break;
    }
    if (out.size() > kRenderedBytesMax)
      return fail(Code::too_large, fmt::format("prompt '{}' is longer than {} bytes with these variables",
                                               prompt.name, kRenderedBytesMax));
  }
  return {};
}

Error wrong(std::string_view name, std::string message) {
  return Error(Code::invalid_argument, std::move(message)).with_field(fmt::format("variables.{}", name));
}

}  // namespace

std::string_view to_string(VariableType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

Result<Prompt> parse_prompt(const config::Document& document) {
  const config::Node& root = document.root;
  Prompt prompt;
  prompt.name = declared_name(document);
  prompt.where = root.where();
  prompt.description = TRY(root.get_or<std::string>("description", ""));
  if (const config::Node* variables = root.find("variables")) {
    for (const config::Member& member : variables->members()) {
      if (!is_variable_name(member.key))
        return fail(variables->error(
            fmt::format("'{}' is no name of a variable: letters, digits and '_', not beginning with a digit",
                        member.key)));
      const auto [made, fresh] =
          prompt.variables.emplace(member.key, TRY(parse_variable(member.value, member.key)));
      prompt.variable_bytes += bytes_of(member.key, made->second);
    }
  }
  TRY(split(*root.find("text"), prompt));
  return prompt;
}

// A circle is found before the set of seen prompts hides it, because a prompt on the path is looked for
// first.
Result<void> check_includes(const Prompt& prompt, const FindPrompt& find) {
  Walk walk{find, [](const Prompt&) { return Result<void>{}; }};
  return walk.from(prompt);
}

Result<Variables> all_variables(const Prompt& prompt, const FindPrompt& find) {
  Variables all;
  std::size_t bytes = 0;
  Walk walk{
      find, [&](const Prompt& one) -> Result<void> {
        bytes += one.variable_bytes;
        if (all.size() + one.variables.size() > kVariablesMax || bytes > kVariableBytesMax)
          return fail(Code::too_large,
                      fmt::format("{}: a prompt and what it includes have at most {} variables, with {} "
                                  "bytes of descriptions, defaults and values",
                                  prompt.where, kVariablesMax, kVariableBytesMax));
        for (const auto& [name, variable] : one.variables) {
          const auto [had, fresh] = all.emplace(name, variable);
          if (!fresh && had->second.type != variable.type)
            return fail(Code::invalid_argument,
                        fmt::format("{}: variable '{}' is {} here and {} in a prompt that includes this one",
                                    one.where, name, described(variable.type), described(had->second.type)));
        }
        return {};
      }};
  TRY(walk.from(prompt));
  return all;
}

Result<std::string> render(const Prompt& prompt, const bj::object& given, const FindPrompt& find) {
  const Variables variables = TRY(all_variables(prompt, find));
  for (const auto& member : given) {
    const std::string_view name(member.key());
    if (variables.contains(name)) continue;
    std::vector<std::string_view> known;
    for (const auto& [one, variable] : variables) known.push_back(one);
    return fail(wrong(name, fmt::format("prompt '{}' has no variable '{}'{}", prompt.name, name,
                                        config::did_you_mean(name, known))));
  }
  std::map<std::string, std::string> values;
  for (const auto& [name, variable] : variables) {
    const bj::value* value = given.if_contains(name);
    if (value == nullptr && variable.otherwise) value = &*variable.otherwise;
    if (value == nullptr)
      return fail(wrong(name, fmt::format("prompt '{}' needs the variable '{}', {}", prompt.name, name,
                                          described(variable.type))));
    if (!has_type(*value, variable.type))
      return fail(wrong(name, fmt::format("'{}' is {}", name, described(variable.type))));
    if (!is_allowed(*value, variable))
      return fail(wrong(name, fmt::format("'{}' is one of {}", name, fmt::join(variable.values, ", "))));
    values.emplace(name, text_of(*value));
  }
  std::string text;
  std::size_t pieces_left = kPiecesMax;
  TRY(append(prompt, values, find, text, pieces_left));
  return text;
}

}  // namespace atl::registry
