#pragma once

#include "shell/commands/find/expression.h"

namespace atl::shell::find {

void print_formatted(Context& context, Subject& subject, std::string_view format, Sink& out);
void print_ls(Context& context, Subject& subject, Sink& out);

}  // namespace atl::shell::find
