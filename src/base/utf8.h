#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// UTF-8, encoded and decoded in one place. Nothing here allocates except where a std::string is written or
// returned, and nothing fails: malformed bytes have a defined result, which each function states. Every
// function may be called from any thread.
namespace atl::utf8 {

// What a decoder gives for bytes that are not UTF-8 (U+FFFD).
inline constexpr char32_t replacement = 0xFFFD;

// True for a byte that only continues a character (10xxxxxx).
inline bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// The length of the character at the front of `text`, which must not be empty; 1 for a byte that begins none,
// so that a stray byte counts as a character. Looks at the shape only: surrogates, some overlong forms and
// characters beyond U+10FFFF pass. A program that shows text as bash does counts this way.
inline std::size_t sequence(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (text.size() < length) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(text[i])) return 1;
  return length;
}

// How many bytes a character has that begins with this byte, by the byte alone; 1 for a byte that begins
// none.
inline std::size_t announced_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

// How many bytes at the end of `text` begin a character that is not complete: 0 to 3. For text that comes in
// pieces which are cut anywhere. Looks at the shape only; malformed bytes count as complete.
inline std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const char byte = text[text.size() - back];
    if (is_continuation(byte)) continue;  // the beginning is further back
    return announced_length(byte) > back ? back : 0;
  }
  return 0;
}

// The length of the well-formed character at the front of `text`; 0 if there is none (an empty text, a stray
// byte, an incomplete or overlong form, a surrogate, or more than U+10FFFF).
std::size_t well_formed_sequence(std::string_view text);

// The character in the first `length` bytes, which sequence() or well_formed_sequence() counted. A length of
// 1 gives the byte's own value.
inline char32_t decode(std::string_view text, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  char32_t code = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = (code << 6U) | (byte(i) & 0x3FU);
  return code;
}

// Decodes the well-formed character at the front of `text` and stores its length. Malformed bytes give
// `replacement` and a length of 1; an empty text gives 0 and a length of 1.
char32_t read(std::string_view text, std::size_t& length);

// The length that read() stores for the text from byte `at` on: at least 1.
std::size_t read_length(std::string_view text, std::size_t at = 0);

// Appends the character. A surrogate is written as if it were a character, as printf '\ud800' does; bits
// above the 21st are dropped.
void append(std::string& out, char32_t code);

// Characters in `text`, counted by sequence().
std::size_t length(std::string_view text);

// Bytes that begin a character. In well-formed text that is the number of characters, found without decoding.
inline std::size_t count_starts(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += !is_continuation(c);
  return count;
}

// The byte at which character number `index` begins, counted by sequence(); text.size() if there are fewer.
std::size_t offset(std::string_view text, std::size_t index);

// The other case of one character: ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic. Others stay as they
// are, and so do characters whose other case has a different number of characters.
char32_t to_upper(char32_t code);
char32_t to_lower(char32_t code);

// The same for every character of a text; malformed bytes stay as they are.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);

}  // namespace atl::utf8
