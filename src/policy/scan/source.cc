#include "policy/scan/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/utf8.h"

namespace atl::policy {

namespace {

std::string_view line_of(std::string_view text, std::size_t start) {
  return text.substr(start, text.find('\n', start) - start);
}

}  // namespace

void Source::index() {
  line_starts_.push_back(0);
  const char* begin = text_.data();
  const char* end = begin + text_.size();
  for (const char* at = begin; at < end;) {
    const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    if (found == nullptr) break;
    at = static_cast<const char*>(found) + 1;
    line_starts_.push_back(static_cast<std::uint32_t>(at - begin));
  }
}

Place Source::place(std::uint32_t offset) {
  if (line_starts_.empty()) index();
  offset = std::min<std::uint32_t>(offset, static_cast<std::uint32_t>(text_.size()));
  auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  std::uint32_t start = *(next - 1);
  const auto line = static_cast<std::uint32_t>(next - line_starts_.begin());
  std::string_view before = text_.substr(start, offset - start);
  if (written_.data() != text_.data()) {
    // The line itself, more of it behind its indentation, or another one that begins where it does.
    const std::string_view now = line_of(text_, start), was = written_line(line);
    if (was.ends_with(now))
      before = was.substr(0, was.size() - now.size() + before.size());
    else
      before = was.substr(0, std::min(was.find_first_not_of(" \t"), was.size()));
  }
  return {line, static_cast<std::uint32_t>(1 + utf8::count_starts(before))};
}

std::string_view Source::written_line(std::uint32_t line) const {
  std::size_t start = 0;
  for (std::uint32_t i = 1; i < line && start < written_.size(); ++i) {
    const std::size_t end = written_.find('\n', start);
    start = end == std::string_view::npos ? written_.size() : end + 1;
  }
  return line_of(written_, start);
}

std::string Source::excerpt(std::uint32_t offset) {
  constexpr std::size_t widest = 160;
  if (text_.empty()) return {};
  Place where = place(offset);
  std::size_t start = line_starts_[where.line - 1];
  std::string_view whole = line_of(text_, start);
  const std::size_t within = offset - start;
  start = 0;
  if (written_.data() != text_.data() && written_line(where.line) != whole) {
    whole = written_line(where.line);
  } else if (whole.size() > widest && within > widest / 2) {
    start = std::min<std::size_t>(within - widest / 2, whole.size() - widest);
  }
  std::string line = to_valid_utf8(whole.substr(start, widest));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  std::size_t first = line.find_first_not_of(' ');
  std::size_t last = line.find_last_not_of(' ');
  return first == std::string::npos ? std::string() : line.substr(first, last - first + 1);
}

std::string refuse_text(std::string_view text) {
  auto starts = [&](std::string_view bytes) { return text.starts_with(bytes); };
  using namespace std::string_view_literals;
  if (starts("\xFF\xFE"sv) || starts("\xFE\xFF"sv)) return "the code is UTF-16 or UTF-32; send UTF-8";
  std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) return fmt::format("the code holds a NUL byte (at byte {})", nul);
  if (!is_utf8(text)) return "the code is not valid UTF-8";
  return {};
}

std::size_t find_hidden_text(std::string_view text) {
  // U+202A..U+202E are E2 80 AA..AE, U+2066..U+2069 are E2 81 A6..A9.
  std::size_t at = 0;
  while ((at = text.find('\xE2', at)) != std::string_view::npos && at + 2 < text.size()) {
    auto second = static_cast<unsigned char>(text[at + 1]);
    auto third = static_cast<unsigned char>(text[at + 2]);
    if (second == 0x80 && third >= 0xAA && third <= 0xAE) return at;
    if (second == 0x81 && third >= 0xA6 && third <= 0xA9) return at;
    ++at;
  }
  return std::string_view::npos;
}

}  // namespace atl::policy
