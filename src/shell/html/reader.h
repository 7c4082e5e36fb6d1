#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atl::shell::html {

// One piece of an HTML text: characters (entities decoded) or a tag.
struct Token {
  enum class Kind : unsigned char { text, open, close } kind = Kind::text;
  std::string name;  // of a tag, in small letters
  std::string text;
  std::vector<std::pair<std::string, std::string>> attributes;
  // The value of an attribute; empty if there is none. Points into this token.
  std::string_view attribute(std::string_view wanted) const;
};

// Reads tags as browsers forgive them: unknown ones pass, comments, scripts and styles are left out, a lone
// '<' is text. Linear in the input.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  // The next piece; false at the end.
  bool next(Token& token);

 private:
  bool tag(Token& token);
  void attributes(Token& token);
  void skip_element(std::string_view name);

  std::string_view text_;
  std::size_t at_ = 0;
};

// "&amp;" and its kin to characters; what is no entity stays.
std::string decode_entities(std::string_view text);

}  // namespace atl::shell::html
