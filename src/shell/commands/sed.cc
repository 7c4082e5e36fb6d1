#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/sed/editor.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"

namespace atl::shell::sed_program {

namespace {

enum Long { kPosix = 256, kSandbox, kFollow };

constexpr Option kOptions[] = {
    {'n', 'n', "quiet"},
    {'n', 0, "silent"},
    {'e', 'e', "expression", Arg::required},
    {'f', 'f', "file", Arg::required},
    {'E', 'E', "regexp-extended"},
    {'E', 'r', ""},
    {'i', 'i', "in-place", Arg::optional},
    {'l', 'l', "line-length", Arg::required},
    {'s', 's', "separate"},
    {'u', 'u', "unbuffered"},
    {'z', 'z', "null-data"},
    {kPosix, 0, "posix"},
    {kSandbox, 0, "sandbox"},
    {kFollow, 0, "follow-symlinks"},
    {'b', 'b', "binary"},
};

}  // namespace

int run_sed(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  sed::EditorOptions editor;
  sed::ParseOptions parsing;
  std::string text;
  bool given = false;
  auto add = [&](std::string_view part) {
    if (given) text += '\n';
    text += part;
    given = true;
  };
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'n': editor.quiet = true; break;
      case 'e': add(value); break;
      case 'f': {
        std::string script;
        if (value == "-") {
          script = call.in().read_all();
        } else {
          auto in = call.open_input(value);
          if (!in) return call.fail(fmt::format("couldn't open file {}: {}", value, reason(in.error())), 4);
          script = (*in)->read_all();
        }
        if (script.ends_with('\n')) script.pop_back();
        if (script.starts_with("#!")) script.erase(0, std::min(script.size(), script.find('\n')));
        add(script);
        break;
      }
      case 'E': parsing.extended = true; break;
      case 'i':
        editor.in_place = editor.separate = true;
        editor.backup_suffix = value;
        break;
      case 'l': {
        std::uint64_t length = 0;
        if (!parse_size(value, length)) return call.fail(fmt::format("invalid line length: {}", value));
        editor.line_length = length;
        break;
      }
      case 's': editor.separate = true; break;
      case 'z': editor.delimiter = '\0'; break;
      case kPosix: editor.posix = parsing.posix = true; break;
      case kSandbox: parsing.sandbox = true; break;
      case kFollow: editor.follow_links = true; break;
      default: break;
    }
  }
  auto& operands = options.operands();
  if (!given) {
    if (operands.empty()) {
      call.err().write("Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n");
      return 1;
    }
    text = operands.front();
    operands.erase(operands.begin());
  }
  auto script = sed::parse(text, parsing);
  if (!script) return call.fail(script.error().message());
  return sed::Editor(call, *script, editor).run(operands);
}

}  // namespace atl::shell::sed_program
