#include "shell/text/lines.h"

#include <cstring>

namespace atl::shell {

Lines::~Lines() {
  if (at_ > 0) in_.consume(at_);
}

void Lines::release() {
  if (at_ > 0) in_.consume(at_);
  at_ = 0;
  block_ = {};
}

bool Lines::next(std::string_view& line) {
  const char* found = nullptr;
  if (at_ < block_.size())
    found = static_cast<const char*>(memchr(block_.data() + at_, delimiter_, block_.size() - at_));
  if (found) [[likely]] {
    std::size_t end = static_cast<std::size_t>(found - block_.data());
    line = block_.substr(at_, end - at_);
    at_ = end + 1;
    complete_ = true;
    return true;
  }
  carry_.clear();
  while (true) {
    if (at_ < block_.size()) {
      std::string_view rest = block_.substr(at_);
      std::size_t end = rest.find(delimiter_);
      if (end != std::string_view::npos) {
        at_ += end + 1;
        complete_ = true;
        if (carry_.empty()) {
          line = rest.substr(0, end);
        } else {
          carry_.append(rest.substr(0, end));
          line = carry_;
        }
        return true;
      }
      carry_.append(rest);
      in_.held(carry_.size());
    }
    if (!block_.empty()) in_.consume(block_.size());
    at_ = 0;
    block_ = {};
    block_ = in_.fill();
    if (block_.empty()) break;
  }
  complete_ = false;
  line = carry_;
  return !carry_.empty();
}

}  // namespace atl::shell
