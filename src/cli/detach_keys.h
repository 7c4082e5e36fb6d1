#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::cli {

// The keys that leave a terminal without ending what runs in it. They are held back while they may still
// become the whole sequence, and passed on once they cannot.
class DetachKeys {
 public:
  // "ctrl-p,ctrl-q": keys with commas between them, each a character or ctrl- and a letter or one of @[\]^_.
  static Result<DetachKeys> parse(std::string_view text);

  struct Split {
    std::string pass;  // for the program
    bool detach = false;
  };
  // What comes behind the sequence is dropped.
  Split take(std::string_view typed);

 private:
  explicit DetachKeys(std::string keys) : keys_(std::move(keys)) {}
  std::string keys_;
  std::size_t matched_ = 0;
};

}  // namespace atl::cli
