#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::tools {

// Where a value does not fit its schema, and why.
struct Mismatch {
  std::string pointer;  // JSON pointer (RFC 6901) relative to the checked value; empty: the value itself
  std::string message;  // for a person: "must be a string, not a number"
};

// What one schema and one check of a value may cost. Schemas come from tenants: without bounds a few hundred
// bytes of references could keep the service busy for ever.
struct SchemaBounds {
  std::size_t depth_max = 64;        // of nested subschemas
  std::size_t nodes_max = 20'000;    // values in the schema
  std::size_t patterns_max = 256;    // regular expressions
  std::size_t program_max = 20'000;  // instructions that they are compiled to, together
  std::size_t steps_max = 500'000;   // of one check, each a fraction of a microsecond
  std::size_t nesting_max = 128;     // subschemas under way at once in one check
};

// A JSON Schema of draft 7, compiled once and asked often. Immutable; any thread may use it.
//
// All assertions of draft 7 are in force. `format`, `contentEncoding`, `title`, `default`, `examples` and the
// like are notes without effect, as the draft allows. References stay inside the schema ("#",
// "#/definitions/x", and the "$id" of a part); nothing is ever fetched. Patterns are RE2's: linear in time,
// without look-around and back references, which compile() refuses. docs/decisions/json-schema.md says why no
// library does this.
class Schema {
 public:
  struct Parts;  // what is made of it, for this room alone

  // Code::invalid_argument with the place in the schema as field (a JSON pointer) if it is none, if a
  // reference leads nowhere or outside, or if a bound is exceeded.
  static Result<Schema> compile(boost::json::value document, const SchemaBounds& bounds = {});
  // A schema that everything fits.
  Schema();
  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  const boost::json::value& document() const;
  // Nothing if the value fits; otherwise the first place where it does not. Code::invalid_argument if the
  // check would cost more than the bounds allow: then it is unknown whether the value fits, and another try
  // would cost as much. The message goes on after the name of the value ("takes too many steps ...").
  Result<std::optional<Mismatch>> check(const boost::json::value& value) const;
  // The same for several checks that share one budget: takes the steps that it needed off `steps_left`.
  Result<std::optional<Mismatch>> check(const boost::json::value& value, std::size_t& steps_left) const;

 private:
  explicit Schema(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;  // never null, but after a move
};

// Equal as JSON Schema compares: numbers by value, objects without order.
bool same_json(const boost::json::value& a, const boost::json::value& b);
// One text for all values that are equal: keys sorted, numbers in one form, no white space.
std::string canonical_json(const boost::json::value& value);

}  // namespace atl::tools
