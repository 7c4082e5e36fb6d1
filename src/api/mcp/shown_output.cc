#include "api/mcp/shown_output.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace atl::api::mcp {
namespace {

bool is_inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

void ShownOutput::add(std::string_view bytes) {
  total_ += bytes.size();
  keep(flow_.add(bytes));
}

void ShownOutput::finish() {
  keep(flow_.finish());
}

void ShownOutput::keep(std::string_view text) {
  if (head_.size() < kHead && tail_.empty()) {
    std::size_t fits = std::min(kHead - head_.size(), text.size());
    while (fits > 0 && fits < text.size() && is_inside_character(text[fits])) --fits;
    head_ += text.substr(0, fits);
    text.remove_prefix(fits);
  }
  tail_ += text;
  if (tail_.size() <= 2 * kTail) return;
  std::size_t surplus = tail_.size() - kTail;
  while (surplus < tail_.size() && is_inside_character(tail_[surplus])) ++surplus;
  tail_.erase(0, surplus);
  cut_ += surplus;
}

std::string ShownOutput::text() const {
  if (cut_ == 0) return head_ + tail_;
  return fmt::format("{}\n... {} bytes are left out ...\n{}", head_, cut_, tail_);
}

std::string ShownOutput::last_line() const {
  constexpr std::size_t kLineMax = 200;
  std::string_view all = tail_.empty() ? head_ : tail_;
  while (all.ends_with('\n')) all.remove_suffix(1);
  const auto start = all.rfind('\n');
  if (start != std::string_view::npos) all.remove_prefix(start + 1);
  std::size_t size = std::min(all.size(), kLineMax);
  while (size > 0 && size < all.size() && is_inside_character(all[size])) --size;
  return std::string(all.substr(0, size));
}

}  // namespace atl::api::mcp
