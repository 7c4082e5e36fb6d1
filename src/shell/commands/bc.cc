#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/bc/run.h"
#include "shell/text/sink.h"

namespace atl::shell::bc_program {

int run_bc(Invocation& call) {
  static constexpr Option kOptions[] = {
      {'l', 'l', "mathlib"}, {'q', 'q', "quiet"}, {'h', 'h', ""}, {'v', 'v', ""}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool library = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'l') library = true;
    if (id == 'h') return call.out().write("usage: bc [options] [file ...]\n"), 0;
    if (id == 'v') return call.out().write("bc (Atoll), the language of GNU bc 1.07\n"), 0;
  }
  Sink out(call.out());
  bc::Runner runner(call, out, library);
  for (const std::string& name : options.operands()) {
    auto in = call.open_input(name);
    if (!in) {
      out.flush();
      call.err().write(fmt::format("File {} is unavailable.\n", name));
      return 1;
    }
    std::string text = (*in)->read_all();
    if (!runner.run(text, name, false)) return out.finish(call);
  }
  std::string text = call.in().read_all();
  runner.run(text, "(standard_in)", true);
  return out.finish(call);
}

}  // namespace atl::shell::bc_program
