#include <fmt/format.h>

#include "base/utf8.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/sink.h"

namespace atl::shell::rev_program {

int run_rev(Invocation& call) {
  static constexpr Option kOptions[] = {{'0', '0', "zero"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  char delimiter = options.found().empty() ? '\n' : '\0';
  Sink out(call.out());
  std::string reversed;
  auto reverse = [&](Input& in) {
    Lines lines(in, delimiter);
    std::string_view line;
    while (lines.next(line)) {
      call.charge(line.size() / 16 + 1);
      reversed.clear();
      reversed.resize(line.size());
      std::size_t end = line.size();
      for (std::size_t i = 0; i < line.size();) {
        std::size_t length = utf8::read_length(line, i);
        end -= length;
        line.copy(reversed.data() + end, length, i);
        i += length;
      }
      out.append(reversed);
      if (lines.complete()) out.put(delimiter);
    }
  };
  bool good = true;
  if (options.operands().empty()) reverse(call.in());
  for (const std::string& operand : options.operands()) {
    if (auto in = call.open_input(operand)) {
      reverse(**in);
    } else {
      bool directory =
          in.error().code() == Code::is_a_directory;  // opened, but its first line could not be read
      call.complain(directory ? fmt::format("{}: 0: Is a directory", operand)
                              : fmt::format("cannot open {}: {}", operand, reason(in.error())));
      good = false;
    }
  }
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::rev_program
