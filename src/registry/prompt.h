#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/document.h"

namespace atl::registry {

enum class VariableType : std::uint8_t { string, integer, number, boolean, list };
std::string_view to_string(VariableType type);

struct Variable {
  VariableType type = VariableType::string;
  std::string description;
  std::optional<boost::json::value> otherwise;  // unset: a caller must say
  std::vector<std::string> values;              // empty: any
};

// A text with variables. In it {{name}} stands for a variable, {{> name}} for another prompt with its own
// variables, and \{{ for two braces. What a caller fills in is never read again: braces in a value stay
// braces.
struct Prompt {
  enum class PieceKind : std::uint8_t { text, variable, include };
  struct Piece {
    PieceKind kind = PieceKind::text;
    std::string text;  // or the name
  };

  std::string name;
  std::string description;
  std::map<std::string, Variable, std::less<>> variables;
  std::size_t variable_bytes = 0;  // of names, descriptions, defaults and values
  std::vector<Piece> pieces;
  std::vector<std::string> includes;  // each name once
  std::string where;
};

using Prompts = std::map<std::string, Prompt, std::less<>>;
// Null if there is none of this name. Includes are looked up through it, so that a tenant's prompts may
// include the shared ones.
using FindPrompt = std::function<const Prompt*(std::string_view)>;

// Prompts include each other at most this deep, and a rendered text is no longer than this.
inline constexpr std::size_t kIncludeDepthMax = 8;
inline constexpr std::size_t kRenderedBytesMax = 1U << 20;
// Of a prompt with everything it includes: who names whom, variables, and the bytes of what is said of them.
// A list of prompts looks at all of that for each.
inline constexpr std::size_t kIncludesMax = 256;
inline constexpr std::size_t kVariablesMax = 256;
inline constexpr std::size_t kVariableBytesMax = 64U << 10;

// The table has checked the document (kinds.h). Refused with file, line and column: a variable that is used
// and not declared, braces that do not close, a default of another type than its variable's.
Result<Prompt> parse_prompt(const config::Document& document);
// Refused: an include of a prompt that is not there, circles, includes that are too deep, and more of them or
// of variables than there may be (Code::too_large).
Result<void> check_includes(const Prompt& prompt, const FindPrompt& find);
// Its own variables and those of what it includes. Code::invalid_argument if two of them have one name and
// different types; Code::too_large as above.
Result<std::map<std::string, Variable, std::less<>>> all_variables(const Prompt& prompt,
                                                                   const FindPrompt& find);
// Code::invalid_argument with the field "variables.NAME" for a variable that is missing, unknown or of
// another type; Code::too_large for a text beyond its bound.
Result<std::string> render(const Prompt& prompt, const boost::json::object& variables,
                           const FindPrompt& find);

}  // namespace atl::registry
