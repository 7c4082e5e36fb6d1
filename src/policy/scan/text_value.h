#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What simple operations on text give, so that text put together at run time can be read beforehand. All are
// total: what cannot be computed is nullopt, never an error.
namespace atl::policy {

// The value of a Python literal with its prefix and quotes. Nullopt for what is not one.
std::optional<std::string> decode_python_literal(std::string_view literal);
// Text between quotes with Python's escapes.
std::string decode_python(std::string_view text, bool bytes);
// Text between quotes with JavaScript's escapes; also identifiers with \u escapes.
std::string decode_javascript(std::string_view text);
// A shell's $'...' text between its quotes.
std::string decode_ansi_c(std::string_view text);

// Decimal, 0x, 0o, 0b, digits grouped by '_', an optional minus sign.
std::optional<std::int64_t> decode_number(std::string_view text);

// Standard and URL-safe alphabets, padding and white space optional.
std::optional<std::string> decode_base64(std::string_view text);
// Pairs of digits in either case, blanks and newlines between them allowed; nullopt for an odd number of
// digits. The two below take the alphabets of RFC 4648 and of Python's b85encode.
std::optional<std::string> decode_hex(std::string_view text);
std::optional<std::string> decode_base32(std::string_view text);
std::optional<std::string> decode_base85(std::string_view text);
std::string rot13(std::string_view text);
// %41, %u0041
std::string decode_percent(std::string_view text);

std::string reverse_text(std::string_view text);
// Every occurrence from left to right; an empty `from` changes nothing.
std::string replace_text(std::string_view text, std::string_view from, std::string_view to);
// text[start:stop:step] as Python means it, by characters.
std::string slice_text(std::string_view text, std::optional<std::int64_t> start,
                       std::optional<std::int64_t> stop, std::int64_t step);
// Negative indices count from the end, as in Python. Nullopt outside of the text.
std::optional<std::string> character_at(std::string_view text, std::int64_t index);

}  // namespace atl::policy
