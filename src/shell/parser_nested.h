#pragma once

#include "shell/parser.h"

namespace atl::shell {

// Counts a level of nesting for a scope; too many, or too little stack, is an error.
struct Parser::Nested {
  explicit Nested(Parser& p) : parser(p) {
    if (parser.depth_ < parser.context_.nesting_max() && parser.context_.stack_left() >= 64 * 1024) {
      ++parser.depth_;
      return;
    }
    parser.context_.too_deep();
    parser.error("nesting too deep");
  }
  ~Nested() { --parser.depth_; }
  Parser& parser;
};

}  // namespace atl::shell
