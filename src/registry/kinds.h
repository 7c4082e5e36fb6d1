#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/document.h"

// The one table of what the files of registry/ may say. The checks on load and the published JSON Schemas
// both come from it, so that they cannot differ. A new kind of file is one row in kinds.cc.
namespace atl::registry {

// What a value may be.
enum class Shape : std::uint8_t {
  text,
  name,  // letters, digits, '-', '_' and '.', at most 64
  word,  // one of Field::words; where Field::fields are given, also an object with those
  boolean,
  number,    // between least and most
  integer,   // the same, and whole
  texts,     // a list of texts, each one of Field::words where those are given
  text_map,  // texts by name
  object,    // with Field::fields
  objects,   // a list of such
  objects_by_name,
  any,  // checked elsewhere, or free
};

struct Field {
  std::string_view name;
  Shape shape = Shape::text;
  std::string_view help;
  bool required = false;
  double least = 0;  // of numbers: the value; of texts: characters; of lists and maps: entries
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string_view> words;
  std::vector<Field> fields;
};

// Whose declarations of a kind there may be, beside the shipped ones and the operator's.
enum class Owners : std::uint8_t { operator_only, tenants_too };

struct Kind {
  std::string_view folder;    // "agents": the directory, and the word in paths of the API
  std::string_view singular;  // "agent"
  std::string_view help;
  std::vector<Field> fields;
  Owners owners = Owners::operator_only;
};

// In the order of reading: what others refer to first.
const std::vector<Kind>& kinds();
// Null if there is none.
const Kind* find_kind(std::string_view folder);

// Everything the table knows about a document of the kind: unknown keys, missing keys, wrong types, numbers
// out of range, words that do not exist. Code::invalid_argument with file, line, column and a hint.
Result<void> check(const Kind& kind, const config::Document& document);
// What a document declares: its `name`, or the name of its file.
std::string declared_name(const config::Document& document);

// JSON Schema (draft 7) of the kind, as indented text that ends with a line break.
std::string json_schema(const Kind& kind);

}  // namespace atl::registry
