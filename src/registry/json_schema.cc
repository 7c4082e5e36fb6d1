// JSON Schemas out of the table in kinds.cc.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

#include "base/json.h"
#include "registry/kinds.h"

namespace atl::registry {
namespace {

namespace bj = boost::json;

bj::object fields_schema(const std::vector<Field>& fields);

bj::value number_of(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

bj::array words_of(const Field& field) {
  bj::array words;
  for (const std::string_view word : field.words) words.push_back(bj::value(word));
  return words;
}

void bound(bj::object& schema, const Field& field, const char* least, const char* most) {
  if (field.least != 0) schema[least] = number_of(field.least);
  if (std::isfinite(field.most)) schema[most] = number_of(field.most);
}

// YAML writes texts such as 1.10 without quotes; the checks take them as they are written.
bj::object text_schema() {
  return {{"type", bj::array{"string", "number", "boolean"}}};
}

bj::object field_schema(const Field& field) {
  bj::object schema;
  switch (field.shape) {
    case Shape::text:
      schema = text_schema();
      bound(schema, field, "minLength", "maxLength");
      break;
    case Shape::name:
      schema["type"] = "string";
      schema["pattern"] = "^[A-Za-z0-9._-]{1,64}$";
      break;
    case Shape::word:
      if (field.fields.empty())
        schema["enum"] = words_of(field);
      else
        schema["anyOf"] = bj::array{bj::object{{"enum", words_of(field)}}, fields_schema(field.fields)};
      break;
    case Shape::boolean: schema["type"] = "boolean"; break;
    case Shape::number:
    case Shape::integer:
      schema["type"] = field.shape == Shape::number ? "number" : "integer";
      bound(schema, field, "minimum", "maximum");
      break;
    case Shape::texts: {
      schema["type"] = "array";
      bj::object item = text_schema();
      if (!field.words.empty()) item = {{"enum", words_of(field)}};
      schema["items"] = std::move(item);
      bound(schema, field, "minItems", "maxItems");
      break;
    }
    case Shape::text_map:
      schema["type"] = "object";
      schema["additionalProperties"] = text_schema();
      bound(schema, field, "minProperties", "maxProperties");
      break;
    case Shape::object: schema = fields_schema(field.fields); break;
    case Shape::objects:
      schema["type"] = "array";
      schema["items"] = fields_schema(field.fields);
      bound(schema, field, "minItems", "maxItems");
      break;
    case Shape::objects_by_name:
      schema["type"] = "object";
      schema["additionalProperties"] = fields_schema(field.fields);
      bound(schema, field, "minProperties", "maxProperties");
      break;
    case Shape::any: break;
  }
  if (!field.help.empty()) schema["description"] = field.help;
  return schema;
}

bj::object fields_schema(const std::vector<Field>& fields) {
  bj::object properties;
  bj::array required;
  for (const Field& field : fields) {
    properties[field.name] = field_schema(field);
    if (field.required) required.push_back(bj::value(field.name));
  }
  bj::object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

void append(std::string& out, const bj::value& value, std::size_t depth) {
  const std::string inner(2 * (depth + 1), ' '), outer(2 * depth, ' ');
  if (value.is_object() && !value.get_object().empty()) {
    out += "{\n";
    bool is_first = true;
    for (const auto& [key, member] : value.get_object()) {
      if (!std::exchange(is_first, false)) out += ",\n";
      out += inner;
      json::append_quoted(out, key);
      out += ": ";
      append(out, member, depth + 1);
    }
    out += "\n" + outer + "}";
    return;
  }
  if (value.is_double())
    out += fmt::format("{}", value.get_double());
  else
    out += bj::serialize(value);
}

}  // namespace

std::string json_schema(const Kind& kind) {
  bj::object schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"$id", fmt::format("/schemas/{}.json", kind.folder)},
                    {"title", kind.singular},
                    {"description", kind.help}};
  for (auto&& [key, value] : fields_schema(kind.fields)) schema[key] = std::move(value);
  std::string text;
  append(text, schema, 0);
  return text + "\n";
}

}  // namespace atl::registry
