#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atl::policy {

struct Place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

// The text under inspection, with lines found when they are first asked for. Borrows the text.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text), written_(text) {}
  // `text` is inspected in the place of `written`, which has the same lines: findings name places in
  // `written`.
  Source(std::string_view text, std::string_view written) : text_(text), written_(written) {}
  std::string_view text() const { return text_; }
  std::string_view slice(std::uint32_t start, std::uint32_t end) const {
    return text_.substr(start, end - start);
  }
  // Offsets behind the end give the end. The first call reads the whole text for its line ends.
  Place place(std::uint32_t offset);
  // The line that holds `offset`, cut to 160 characters around it; valid UTF-8 without control characters.
  std::string excerpt(std::uint32_t offset);

 private:
  void index();
  std::string_view written_line(std::uint32_t line) const;
  std::string_view text_;
  std::string_view written_;
  std::vector<std::uint32_t> line_starts_;
};

// Why text cannot be code; empty if it can. NUL bytes, UTF-16 and UTF-32, malformed UTF-8.
// A sentence for the user.
std::string refuse_text(std::string_view text);

// Offset of the first character that reorders or hides text for a reader (bidirectional controls, U+202A to
// U+202E, U+2066 to U+2069), or npos.
std::size_t find_hidden_text(std::string_view text);

}  // namespace atl::policy
