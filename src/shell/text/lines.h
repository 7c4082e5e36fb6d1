#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "shell/stream.h"

namespace atl::shell {

// Lines of an input without a copy where the line lies whole in a block. Consumes exactly the lines it handed
// out, so that another reader of the same input goes on behind them; the destructor gives back the rest of
// the block.
class Lines {
 public:
  explicit Lines(Input& in, char delimiter = '\n') : in_(in), delimiter_(delimiter) {}
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // The next line without its delimiter; valid until the next call. False at the end.
  bool next(std::string_view& line);
  // Whether the line that next() gave ended with a delimiter.
  bool complete() const { return complete_; }
  // Gives back to the input what was read ahead. Lines handed out become invalid.
  void release();

 private:
  Input& in_;
  char delimiter_;
  std::string_view block_;
  std::size_t at_ = 0;
  std::string carry_;
  bool complete_ = false;
};

}  // namespace atl::shell
