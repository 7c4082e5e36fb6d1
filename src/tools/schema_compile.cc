#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <cstdio>
#include <deque>
#include <set>

#include "tools/pattern_cache.h"
#include "tools/schema.h"
#include "tools/schema_parts.h"

namespace atl::tools {

std::string pointer_to(std::string_view base, std::string_view member) {
  std::string pointer(base);
  pointer += '/';
  for (const char c : member) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

std::string_view json_type(const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "boolean";
    case boost::json::kind::string: return "string";
    case boost::json::kind::array: return "array";
    case boost::json::kind::object: return "object";
    default: return "number";
  }
}

namespace {

namespace bj = boost::json;

// What the value of a keyword must look like.
enum class Shape : std::uint8_t {
  schema,           // a subschema
  schemas,          // a list of at least one subschema
  schema_map,       // subschemas by name
  schema_or_list,   // `items`
  dependencies,     // by name a subschema or a list of names
  pattern_map,      // subschemas by regular expression
  pattern,          // a regular expression
  count,            // a whole number that is not negative
  number,           //
  positive_number,  //
  boolean,          //
  names,            // a list of texts, all different
  types,            // one type or a list of them
  list,             // `enum`
  text,             // `$ref`, `$id`, ...
  anything,
};

struct Keyword {
  std::string_view name;
  Shape shape;
};

constexpr std::array kKeywords = {
    Keyword{"$ref", Shape::text},
    Keyword{"$id", Shape::text},
    Keyword{"$schema", Shape::text},
    Keyword{"$comment", Shape::text},
    Keyword{"definitions", Shape::schema_map},
    Keyword{"$defs", Shape::schema_map},
    Keyword{"type", Shape::types},
    Keyword{"enum", Shape::list},
    Keyword{"const", Shape::anything},
    Keyword{"multipleOf", Shape::positive_number},
    Keyword{"maximum", Shape::number},
    Keyword{"exclusiveMaximum", Shape::number},
    Keyword{"minimum", Shape::number},
    Keyword{"exclusiveMinimum", Shape::number},
    Keyword{"maxLength", Shape::count},
    Keyword{"minLength", Shape::count},
    Keyword{"pattern", Shape::pattern},
    Keyword{"items", Shape::schema_or_list},
    Keyword{"additionalItems", Shape::schema},
    Keyword{"maxItems", Shape::count},
    Keyword{"minItems", Shape::count},
    Keyword{"uniqueItems", Shape::boolean},
    Keyword{"contains", Shape::schema},
    Keyword{"maxProperties", Shape::count},
    Keyword{"minProperties", Shape::count},
    Keyword{"required", Shape::names},
    Keyword{"properties", Shape::schema_map},
    Keyword{"patternProperties", Shape::pattern_map},
    Keyword{"additionalProperties", Shape::schema},
    Keyword{"dependencies", Shape::dependencies},
    Keyword{"propertyNames", Shape::schema},
    Keyword{"if", Shape::schema},
    Keyword{"then", Shape::schema},
    Keyword{"else", Shape::schema},
    Keyword{"allOf", Shape::schemas},
    Keyword{"anyOf", Shape::schemas},
    Keyword{"oneOf", Shape::schemas},
    Keyword{"not", Shape::schema},
};

constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "object", "array",
                                                    "number", "string",  "integer"};

// Keywords whose effect a reader of newer drafts would expect and draft 7 does not have. A schema that is
// silently weaker than its author meant is worse than none.
constexpr std::array<std::string_view, 10> kNewer = {
    "prefixItems", "dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties",
    "minContains", "maxContains",       "$dynamicRef",      "$recursiveRef",    "$anchor"};

constexpr std::size_t kPlaceMax = 4096;

Error refused(std::string_view pointer, std::string message) {
  return Error(Code::invalid_argument,
               fmt::format("JSON Schema at '{}': {}", pointer.empty() ? "/" : pointer, message))
      .with_field(std::string(pointer));
}

class Compiler {
 public:
  explicit Compiler(Schema::Parts* parts) : parts_(*parts) {}

  Result<void> run() {
    TRY(count(parts_.document, 0));
    TRY(schema(parts_.document, "", 0));
    return resolve();
  }

 private:
  struct Reference {
    const bj::object* from;
    std::string pointer, text, base;
  };

  Result<void> count(const bj::value& value, std::size_t depth) {
    if (++nodes_ > parts_.bounds.nodes_max)
      return fail(refused("", fmt::format("has more than {} values", parts_.bounds.nodes_max)));
    if (depth > 4 * parts_.bounds.depth_max)
      return fail(refused("", fmt::format("is nested deeper than {} levels", 4 * parts_.bounds.depth_max)));
    if (const auto* object = value.if_object())
      for (const auto& member : *object) TRY(count(member.value(), depth + 1));
    if (const auto* array = value.if_array())
      for (const bj::value& item : *array) TRY(count(item, depth + 1));
    return {};
  }

  Result<void> schema(const bj::value& value, const std::string& pointer, std::size_t depth) {
    if (depth > parts_.bounds.depth_max)
      return fail(refused(pointer, fmt::format("is nested deeper than {} schemas", parts_.bounds.depth_max)));
    // Places and addresses are written down for everything below them.
    if (pointer.size() > kPlaceMax || base_.size() > kPlaceMax)
      return fail(refused(pointer.substr(0, kPlaceMax),
                          fmt::format("its place or address has more than {} characters", kPlaceMax)));
    if (value.is_bool()) return {};
    const auto* object = value.if_object();
    if (object == nullptr)
      return fail(refused(pointer, fmt::format("a schema is an object or a boolean, not {}", shown(value))));
    if (!seen_.insert(object).second) return {};
    const std::string base = base_;
    TRY(identify(*object, value, pointer));
    if (const bj::value* reference = object->if_contains("$ref")) {
      // Draft 7: beside a reference nothing else has an effect. Definitions there can still be referred to.
      if (!reference->is_string()) return fail(refused(pointer_to(pointer, "$ref"), "is a text"));
      references_.push_back({object, pointer, std::string(reference->get_string()), base_});
      for (const std::string_view name : {"definitions", "$defs"})
        if (const bj::value* map = object->if_contains(name))
          TRY(shape(Shape::schema_map, *map, pointer_to(pointer, name), depth));
    } else {
      TRY(members(*object, pointer, depth));
    }
    base_ = base;
    return {};
  }

  // A part with an "$id" can be referred to by it; "#name" names a place, anything else opens a new base.
  Result<void> identify(const bj::object& object, const bj::value& value, const std::string& pointer) {
    const bj::value* id = object.if_contains("$id");
    if (id == nullptr || object.contains("$ref")) return {};
    if (!id->is_string()) return fail(refused(pointer_to(pointer, "$id"), "is a text"));
    std::string text(id->get_string());
    if (text.ends_with('#')) text.pop_back();
    if (text.starts_with('#')) {
      places_.insert_or_assign(base_ + text, &value);
      return {};
    }
    if (text.empty()) return {};
    base_ = resolved(text);
    if (base_.size() > kPlaceMax)
      return fail(refused(pointer_to(pointer, "$id"), fmt::format("more than {} characters", kPlaceMax)));
    places_.insert_or_assign(base_, &value);
    return {};
  }

  Result<void> members(const bj::object& object, const std::string& pointer, std::size_t depth) {
    for (const auto& member : object) {
      const std::string_view name = member.key();
      if (std::ranges::find(kNewer, name) != kNewer.end())
        return fail(refused(pointer_to(pointer, name), "is of a newer draft; schemas here are of draft 7"));
      const auto* keyword = std::ranges::find(kKeywords, name, &Keyword::name);
      if (keyword == kKeywords.end()) continue;  // a note
      TRY(shape(keyword->shape, member.value(), pointer_to(pointer, name), depth));
    }
    return {};
  }

  Result<void> shape(Shape wanted, const bj::value& value, const std::string& pointer, std::size_t depth) {
    switch (wanted) {
      case Shape::schema: return schema(value, pointer, depth + 1);
      case Shape::schemas: return schemas(value, pointer, depth);
      case Shape::schema_or_list:
        return value.is_array() ? schema_list(value.get_array(), pointer, depth)
                                : schema(value, pointer, depth + 1);
      case Shape::schema_map:
      case Shape::pattern_map: return schema_map(wanted, value, pointer, depth);
      case Shape::dependencies: return dependencies(value, pointer, depth);
      case Shape::names: return names(value, pointer);
      case Shape::types: return types(value, pointer);
      case Shape::anything: return {};
      default: return simple(wanted, value, pointer);
    }
  }

  Result<void> simple(Shape wanted, const bj::value& value, const std::string& pointer) {
    const auto expect = [&](bool good, std::string_view what) -> Result<void> {
      if (good) return {};
      return fail(refused(pointer, fmt::format("must be {}, not {}", what, shown(value))));
    };
    const bool is_number = value.is_number();
    const double number = is_number ? value.to_number<double>() : 0;
    switch (wanted) {
      case Shape::count:
        return expect(is_number && number >= 0 && number < 1e15 && std::floor(number) == number,
                      "a whole number from 0");
      case Shape::number: return expect(is_number, "a number");
      case Shape::positive_number: return expect(is_number && number > 0, "a number over 0");
      case Shape::boolean: return expect(value.is_bool(), "true or false");
      case Shape::list: return expect(value.is_array(), "a list");
      case Shape::text: return expect(value.is_string(), "a text");
      default: break;
    }
    TRY(expect(value.is_string(), "a regular expression as text"));
    return pattern(value.get_string(), pointer);
  }

  Result<void> pattern(std::string_view text, const std::string& pointer) {
    if (parts_.patterns.contains(text)) return {};
    if (parts_.patterns.size() >= parts_.bounds.patterns_max)
      return fail(refused(pointer, fmt::format("more than {} patterns", parts_.bounds.patterns_max)));
    const auto made = compiled_pattern(text);
    if (!made)
      return fail(refused(
          pointer, fmt::format("the pattern cannot be used: {} (look-around and back references are not "
                               "supported)",
                               made.error().message())));
    const auto program = static_cast<std::size_t>((*made)->ProgramSize());
    program_ += program;
    if (program_ > parts_.bounds.program_max)
      return fail(
          refused(pointer, fmt::format("the patterns are too large together: {} instructions, at most {}",
                                       program_, parts_.bounds.program_max)));
    parts_.patterns.emplace(std::string(text), program);
    return {};
  }

  Result<void> schemas(const bj::value& value, const std::string& pointer, std::size_t depth) {
    if (!value.is_array() || value.get_array().empty())
      return fail(refused(pointer, "must be a list of at least one schema"));
    return schema_list(value.get_array(), pointer, depth);
  }

  Result<void> schema_list(const bj::array& list, const std::string& pointer, std::size_t depth) {
    for (std::size_t i = 0; i < list.size(); ++i)
      TRY(schema(list[i], fmt::format("{}/{}", pointer, i), depth + 1));
    return {};
  }

  Result<void> schema_map(Shape wanted, const bj::value& value, const std::string& pointer,
                          std::size_t depth) {
    if (!value.is_object()) return fail(refused(pointer, "must be an object of schemas"));
    for (const auto& member : value.get_object()) {
      const std::string place = pointer_to(pointer, member.key());
      if (wanted == Shape::pattern_map) TRY(pattern(member.key(), place));
      TRY(schema(member.value(), place, depth + 1));
    }
    return {};
  }

  Result<void> dependencies(const bj::value& value, const std::string& pointer, std::size_t depth) {
    if (!value.is_object()) return fail(refused(pointer, "must be an object"));
    for (const auto& member : value.get_object()) {
      const std::string place = pointer_to(pointer, member.key());
      if (member.value().is_array()) {
        TRY(names(member.value(), place));
      } else {
        TRY(schema(member.value(), place, depth + 1));
      }
    }
    return {};
  }

  static Result<void> names(const bj::value& value, const std::string& pointer) {
    const auto* list = value.if_array();
    std::set<std::string_view> seen;
    const bool good = list != nullptr && std::ranges::all_of(*list, [&](const bj::value& item) {
                        return item.is_string() && seen.insert(item.get_string()).second;
                      });
    if (!good) return fail(refused(pointer, "must be a list of different names"));
    return {};
  }

  static Result<void> types(const bj::value& value, const std::string& pointer) {
    const auto known = [](const bj::value& item) {
      return item.is_string() &&
             std::ranges::find(kTypes, std::string_view(item.get_string())) != kTypes.end();
    };
    const bool good = value.is_array()
                          ? !value.get_array().empty() && std::ranges::all_of(value.get_array(), known)
                          : known(value);
    if (!good)
      return fail(refused(pointer, fmt::format("must be null, boolean, object, array, number, string or "
                                               "integer, or a list of these, not {}",
                                               shown(value))));
    return {};
  }

  static std::string shown(const bj::value& value) {
    std::string text = bj::serialize(value);
    if (text.size() > 40) text = text.substr(0, 40) + "...";
    return text;
  }

  // An address relative to the base of the place where it stands. Schemas here have no address of their own,
  // so only the forms that occur within one document are needed: a path replaces the base's last part.
  std::string resolved(const std::string& text) const {
    if (text.find("://") != std::string::npos || text.starts_with("urn:")) return text;
    const std::size_t scheme = base_.find("://");
    if (text.starts_with('/')) {
      const std::size_t end = scheme == std::string::npos ? 0 : base_.find('/', scheme + 3);
      return base_.substr(0, end) + text;
    }
    const std::size_t slash = base_.rfind('/');
    if (slash == std::string::npos || (scheme != std::string::npos && slash < scheme + 3)) return text;
    return base_.substr(0, slash + 1) + text;
  }

  Result<void> resolve() {
    // Reading a target may add references, so this goes by number.
    for (std::size_t i = 0; i < references_.size(); ++i) {
      const Reference& reference = references_[i];
      base_ = reference.base;
      const bj::value* target = find(reference);
      if (target == nullptr || !(target->is_object() || target->is_bool()))
        return fail(refused(pointer_to(reference.pointer, "$ref"),
                            fmt::format("'{}' names no schema within this document; others are not fetched",
                                        reference.text.substr(0, 200))));
      parts_.references.emplace(reference.from, target);
      // What only references lead to has not been read as a schema yet.
      TRY(schema(*target, reference.text, 0));
    }
    return {};
  }

  const bj::value* find(const Reference& reference) {
    const std::size_t hash = reference.text.find('#');
    const std::string address = reference.text.substr(0, hash);
    const std::string fragment =
        hash == std::string::npos ? "" : decoded(std::string_view(reference.text).substr(hash + 1));
    const std::string whole = address.empty() ? base_ : resolved(address);
    const bj::value* root = nullptr;
    if (whole.empty()) {
      root = &parts_.document;
    } else if (const auto found = places_.find(whole); found != places_.end()) {
      root = found->second;
    }
    if (root == nullptr) return nullptr;
    if (fragment.empty()) return root;
    if (!fragment.starts_with('/')) {
      const auto found = places_.find(whole + "#" + fragment);
      return found == places_.end() ? nullptr : found->second;
    }
    boost::system::error_code failed;
    return root->find_pointer(fragment, failed);
  }

  static std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      unsigned byte = 0;
      if (text[i] == '%' && i + 2 < text.size() &&
          std::sscanf(std::string(text.substr(i + 1, 2)).c_str(), "%2x", &byte) == 1) {
        out += static_cast<char>(byte);
        i += 2;
      } else {
        out += text[i];
      }
    }
    return out;
  }

  Schema::Parts& parts_;
  std::size_t nodes_ = 0, program_ = 0;
  std::string base_;
  std::map<std::string, const bj::value*> places_;
  std::deque<Reference> references_;
  std::set<const bj::object*> seen_;
};

}  // namespace

Result<Schema> Schema::compile(bj::value document, const SchemaBounds& bounds) {
  auto parts = std::make_unique<Parts>();
  parts->document = std::move(document);
  parts->bounds = bounds;
  TRY(Compiler(parts.get()).run());
  return Schema(std::move(parts));
}

Schema::Schema()
    : Schema([] {
        auto parts = std::make_unique<Parts>();
        parts->document = true;
        return parts;
      }()) {}
Schema::Schema(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

const bj::value& Schema::document() const {
  return parts_->document;
}

}  // namespace atl::tools
