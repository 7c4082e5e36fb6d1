#pragma once

#include <string>
#include <string_view>

// How bash writes a text so that it can be read again. Every form gives back the same text when a shell
// evaluates it.
namespace atl::shell {

// 'text' in single quotes, or $'...' if it holds control characters; as ${x@Q} and declare -p do.
std::string quote_single(std::string_view text);
// '...' around the text as it is, control characters included: how functions are printed.
std::string quote_verbatim(std::string_view text);
// As `set` and xtrace print a value: bare if nothing needs quoting.
std::string quote_if_needed(std::string_view text);
// As printf %q.
std::string quote_backslash(std::string_view text);
// "text" with \ before $ ` " \ , or $'...' if it holds control characters: declare -p.
std::string quote_double(std::string_view text);
// A key of an associative array as declare -p shows it: bare, or in double quotes.
std::string quote_key(const std::string& key);

}  // namespace atl::shell
