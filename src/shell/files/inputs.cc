#include "shell/files/inputs.h"

#include <fmt/format.h>

#include "shell/command.h"

namespace atl::shell {

std::string_view reason(const Error& error) {
  switch (error.code()) {
    case Code::not_found: return "No such file or directory";
    case Code::already_exists: return "File exists";
    case Code::not_a_directory: return "Not a directory";
    case Code::is_a_directory: return "Is a directory";
    case Code::not_empty: return "Directory not empty";
    case Code::loop: return "Too many levels of symbolic links";
    case Code::no_space: return "No space left on device";
    case Code::read_only: return "Read-only file system";
    case Code::too_large: return "File name too long";
    case Code::permission_denied: return "Permission denied";
    case Code::invalid_argument: return "Invalid argument";
    case Code::unsupported: return "Operation not supported";
    case Code::resource_exhausted: return "Too many open files";
    default: return error.message();
  }
}

std::unique_ptr<Input> open_or_complain(Invocation& call, const std::string& path) {
  auto opened = call.open_input(path);
  if (opened) return std::move(*opened);
  call.complain(fmt::format("{}: {}", path, reason(opened.error())));
  return nullptr;
}

bool each_input(Invocation& call, const std::vector<std::string>& operands,
                const std::function<void(Input&, const std::string& name)>& each) {
  if (operands.empty()) {
    each(call.in(), "-");
    return true;
  }
  bool all = true;
  for (const std::string& operand : operands) {
    if (operand == "-") {
      each(call.in(), operand);
    } else if (auto input = open_or_complain(call, operand)) {
      each(*input, operand);
    } else {
      all = false;
    }
  }
  return all;
}

}  // namespace atl::shell
