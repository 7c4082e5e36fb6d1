#include "shell/builtins/option_reader.h"

#include <fmt/format.h>

#include "shell/builtins/builtins.h"

namespace atl::shell::builtins {

char OptionReader::next() {
  value_.clear();
  if (failed_ || at_ >= args_.size()) return 0;
  const std::string& word = args_[at_];
  if (within_ == 0) {
    if (word.size() < 2 || word[0] != '-') return 0;
    if (word == "--") {
      ++at_;
      letters_ = {};
      within_ = 0;
      return 0;
    }
  }
  char letter = word[++within_];
  std::size_t known = letter == ':' ? std::string_view::npos : letters_.find(letter);
  if (known == std::string_view::npos) {
    bad_option(shell_, args_, fmt::format("-{}", letter));
    failed_ = true;
    return 0;
  }
  bool takes_value = known + 1 < letters_.size() && letters_[known + 1] == ':';
  if (takes_value && within_ + 1 < word.size()) {
    value_ = word.substr(within_ + 1);
    within_ = word.size() - 1;
  } else if (takes_value) {
    if (at_ + 1 >= args_.size()) {
      shell_.error(fmt::format("{}: -{}: option requires an argument", args_[0], letter));
      usage(shell_, args_);
      failed_ = true;
      return 0;
    }
    value_ = args_[++at_];
    within_ = value_.empty() ? 0 : value_.size() - 1;
  }
  if (within_ + 1 >= args_[at_].size()) {
    ++at_;
    within_ = 0;
  }
  return letter;
}

}  // namespace atl::shell::builtins
