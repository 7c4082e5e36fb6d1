#pragma once

#include "shell/parser.h"

namespace atl::shell {

// Counts a level of nesting for a scope; too many, or too little stack, is a syntax error.
struct Parser::Nested {
  explicit Nested(Parser& p) : parser(p) {
    if (++parser.depth_ > nesting_max || parser.context_.stack_left() < 64 * 1024) {
      --parser.depth_;
      parser.error("nesting too deep");
    }
  }
  ~Nested() { --parser.depth_; }
  Parser& parser;
};

}  // namespace atl::shell
