#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "shell/regex/regex.h"

namespace atl::shell {

// A POSIX pattern in the syntax that RE2 and PCRE2 share.
struct Translated {
  std::string text;
  std::size_t groups = 0;
  bool backtracks = false;  // needs PCRE2: back-references, word edges that \b cannot express
  bool literal = false;     // no operator at all; `plain` is the string it stands for
  std::string plain;
};

// invalid_argument with glibc's words for a malformed pattern. Does not check what RE2 or PCRE2 will say of
// the result.
Result<Translated> translate(std::string_view pattern, Syntax syntax);

}  // namespace atl::shell
