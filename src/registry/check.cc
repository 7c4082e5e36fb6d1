// The checks that the table in kinds.cc asks for.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "registry/kinds.h"

namespace atl::registry {
namespace {

using config::Node;

Result<void> check_fields(const Node& node, const std::vector<Field>& fields);

std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (at > 0) text += at + 1 == words.size() ? " or " : ", ";
    text += fmt::format("'{}'", words[at]);
  }
  return text;
}

Result<void> check_word(const Node& node, const Field& field) {
  if (node.is_scalar() && std::ranges::find(field.words, node.text()) != field.words.end()) return {};
  return fail(node.error(
      fmt::format("'{}' is {}{}", field.name, listed(field.words),
                  node.is_scalar() ? config::did_you_mean(node.text(), field.words) : std::string())));
}

Result<void> check_name(const Node& node) {
  const std::string name = TRY(node.as<std::string>());
  const bool is_good = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (!is_good) return fail(node.error("a name has letters, digits, '-', '_' and '.', at most 64"));
  return {};
}

Result<void> check_number(const Node& node, const Field& field) {
  const double value = TRY(node.as<double>());
  if (!(value >= field.least && value <= field.most))
    return fail(
        node.error(fmt::format("'{}' must be between {} and {}", field.name, field.least, field.most)));
  if (field.shape == Shape::integer && value != std::floor(value))
    return fail(node.error(fmt::format("'{}' is a whole number", field.name)));
  return {};
}

Result<void> check_text(const Node& node, const Field& field) {
  const std::string text = TRY(node.as<std::string>());
  if (static_cast<double>(text.size()) > field.most)
    return fail(node.error(
        fmt::format("'{}' has {} bytes; at most {} are possible", field.name, text.size(), field.most)));
  return {};
}

Result<void> check_count(const Node& node, const Field& field, std::size_t count) {
  if (static_cast<double>(count) <= field.most) return {};
  return fail(
      node.error(fmt::format("'{}' has {} entries; at most {} are possible", field.name, count, field.most)));
}

Result<void> check_texts(const Node& node, const Field& field) {
  TRY(node.expect(config::Kind::sequence));
  TRY(check_count(node, field, node.items().size()));
  for (const Node& item : node.items()) {
    if (field.words.empty())
      TRY(item.as<std::string>());
    else
      TRY(check_word(item, field));
  }
  return {};
}

Result<void> check_objects(const Node& node, const Field& field) {
  if (field.shape == Shape::objects) {
    TRY(node.expect(config::Kind::sequence));
    TRY(check_count(node, field, node.items().size()));
    for (const Node& item : node.items()) TRY(check_fields(item, field.fields));
    return {};
  }
  TRY(node.expect(config::Kind::map));
  TRY(check_count(node, field, node.members().size()));
  for (const config::Member& member : node.members()) TRY(check_fields(member.value, field.fields));
  return {};
}

Result<void> check_value(const Node& node, const Field& field) {
  switch (field.shape) {
    case Shape::text: return check_text(node, field);
    case Shape::name: return check_name(node);
    case Shape::word:
      return node.is_map() && !field.fields.empty() ? check_fields(node, field.fields)
                                                    : check_word(node, field);
    case Shape::boolean: TRY(node.as<bool>()); return {};
    case Shape::number:
    case Shape::integer: return check_number(node, field);
    case Shape::texts: return check_texts(node, field);
    case Shape::text_map:
      TRY((node.as<std::map<std::string, std::string>>()));
      return check_count(node, field, node.members().size());
    case Shape::object: return check_fields(node, field.fields);
    case Shape::objects:
    case Shape::objects_by_name: return check_objects(node, field);
    case Shape::any: return {};
  }
  std::unreachable();
}

Result<void> check_fields(const Node& node, const std::vector<Field>& fields) {
  std::vector<std::string_view> known;
  for (const Field& field : fields) known.push_back(field.name);
  TRY(node.check_keys(known));
  for (const Field& field : fields) {
    const Node* value = node.find(field.name);
    if (value == nullptr || value->is_null()) {
      if (field.required)
        return fail(node.error(fmt::format("missing key '{}'; {}", field.name, field.help)));
      continue;
    }
    TRY(check_value(*value, field));
  }
  return {};
}

}  // namespace

Result<void> check(const Kind& kind, const config::Document& document) {
  if (document.root.is_null())
    return fail(Code::invalid_argument,
                fmt::format("{}:1:1: the file is empty; it declares one of {}", document.name, kind.folder));
  TRY(document.root.expect(config::Kind::map));
  return check_fields(document.root, kind.fields);
}

std::string declared_name(const config::Document& document) {
  if (const Node* name = document.root.find("name"); name != nullptr && name->is_scalar())
    return name->text();
  std::string_view file = document.name;
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return std::string(file.substr(0, file.rfind('.')));
}

}  // namespace atl::registry
