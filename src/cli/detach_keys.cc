#include "cli/detach_keys.h"

#include <cctype>
#include <ranges>

#include "config/checked.h"

namespace atl::cli {

Result<DetachKeys> DetachKeys::parse(std::string_view text) {
  std::string keys;
  for (const auto part : text | std::views::split(',')) {
    std::string_view key(part.begin(), part.end());
    if (key.size() == 1) {
      keys += key;
      continue;
    }
    const char letter = key.size() == 6 && key.starts_with("ctrl-")
                            ? static_cast<char>(std::toupper(static_cast<unsigned char>(key[5])))
                            : '\0';
    if (letter < '@' || letter > '_')
      return fail(
          config::Checked("--detach-keys", text)
              .wrong("names no keys", "write keys like ctrl-p,ctrl-q: a character, or ctrl- and a letter"));
    keys += static_cast<char>(letter & 0x1F);
  }
  if (keys.empty())
    return fail(config::Checked("--detach-keys", text).wrong("names no keys", "write ctrl-p,ctrl-q"));
  return DetachKeys(std::move(keys));
}

DetachKeys::Split DetachKeys::take(std::string_view typed) {
  Split split;
  for (const char key : typed) {
    // A beginning that came to nothing belongs to the program; the key may begin anew.
    if (key != keys_[matched_] && matched_ > 0) {
      split.pass += keys_.substr(0, matched_);
      matched_ = 0;
    }
    if (key != keys_[matched_]) {
      split.pass += key;
      continue;
    }
    if (++matched_ < keys_.size()) continue;
    matched_ = 0;
    split.detach = true;
    return split;
  }
  return split;
}

}  // namespace atl::cli
