#pragma once

#include <string>
#include <string_view>

namespace atl::shell {

// 'text' as GNU quotes operands in messages: always in single quotes.
std::string quote_operand(std::string_view text);
// As a shell would need it: bare when harmless, else in single quotes.
std::string shell_quoted(std::string_view text);

}  // namespace atl::shell
