#include "egress/redactor.h"

#include <algorithm>
#include <utility>

namespace atl::egress {

void Redactor::keep_out(std::string text) {
  if (text.size() < kShortest) return;
  longest_ = std::max(longest_, text.size());
  texts_.push_back(std::move(text));
}

void Redactor::cover() {
  for (const std::string& text : texts_) {
    for (auto at = held_.find(text); at != std::string::npos; at = held_.find(text, at + text.size()))
      std::fill_n(held_.begin() + static_cast<std::ptrdiff_t>(at), text.size(), '*');
  }
}

std::string Redactor::pass(std::string bytes) {
  if (texts_.empty()) return bytes;
  held_ += bytes;
  cover();
  // Only what could be the beginning of a text stays behind.
  std::size_t from = held_.size() > longest_ - 1 ? held_.size() - (longest_ - 1) : 0;
  const auto begins_one = [&](std::size_t at) {
    return std::ranges::any_of(texts_, [&](const std::string& text) {
      return text.compare(0, std::min(text.size(), held_.size() - at), held_, at, text.size()) == 0;
    });
  };
  while (from < held_.size() && !begins_one(from)) ++from;
  std::string passed = held_.substr(0, from);
  held_.erase(0, from);
  return passed;
}

std::string Redactor::finish() {
  return std::exchange(held_, {});
}

}  // namespace atl::egress
