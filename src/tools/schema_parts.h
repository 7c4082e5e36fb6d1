#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "tools/schema.h"

// What schema_compile.cc makes of a schema and schema_check.cc asks. Internal to the room.
namespace atl::tools {

struct Schema::Parts {
  boost::json::value document;
  SchemaBounds bounds;
  // By the address of the schema object whose "$ref" it is; into `document`, which never moves.
  std::unordered_map<const boost::json::object*, const boost::json::value*> references;
  // The size of the program that each is compiled to (pattern_cache.h).
  std::map<std::string, std::size_t, std::less<>> patterns;
};

// "/a~1b" for the member "a/b" of `base`.
std::string pointer_to(std::string_view base, std::string_view member);

// The words that JSON Schema has for kinds of values.
std::string_view json_type(const boost::json::value& value);

}  // namespace atl::tools
