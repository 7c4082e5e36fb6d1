#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

int run_strings(Invocation& call) {
  static constexpr Option kOptions[] = {{'a', 'a', "all"}, {'d', 'd', "data"}, {'f', 'f', "print-file-name"}, {'n', 'n', "bytes", Arg::required}, {'t', 't', "radix", Arg::required}, {'o', 'o', ""}, {'e', 'e', "encoding", Arg::required}, {'w', 'w', "include-all-whitespace"}, {'s', 's', "output-separator", Arg::required}};
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  std::uint64_t least = 4;
  char radix = 0;
  bool names = false, white = false;
  std::string separator = "\n";
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'f': names = true; break;
      case 'n':
      case '0': if (!parse_size(value, least) || least == 0) return call.fail(fmt::format("invalid minimum string length {}", value)); break;
      case 't':
        if (value != "d" && value != "o" && value != "x") return usage_error(call, "invalid radix");
        radix = value[0];
        break;
      case 'o': radix = 'o'; break;
      case 'w': white = true; break;
      case 's': separator = value; break;
      default: break;
    }
  }
  Sink out(call.out());
  std::vector<std::string> readable;
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    if (operand == "-" || (path && call.fs().find(*path)) || operand.starts_with("/dev/")) readable.push_back(operand);
    else call.complain(fmt::format("{}: No such file", quoted(operand)));
  }
  bool missing = readable.size() < options.operands().size();
  if (missing && readable.empty()) return 1;
  bool good = each_input(call, readable, [&](Input& in, const std::string& name) {
    std::string run;
    std::uint64_t offset = 0;
    auto flush = [&] {
      if (run.size() >= least) {
        if (names) out.append((name == "-" ? "{standard input}" : name) + ": ");
        std::uint64_t at = offset - run.size();
        if (radix) out.append(radix == 'd' ? fmt::format("{:>7} ", at) : radix == 'o' ? fmt::format("{:>7o} ", at) : fmt::format("{:>7x} ", at));
        out.append(run);
        out.append(separator);
      }
      run.clear();
    };
    while (true) {
      std::string_view block = in.fill();
      if (block.empty()) break;
      call.charge(block.size() / 8 + 1);
      for (char c : block) {
        bool printable = (c >= 32 && c < 127) || c == '\t' || (white && isspace(static_cast<unsigned char>(c)));
        if (printable) run += c;
        else flush();
        ++offset;
      }
      in.consume(block.size());
    }
    flush();
  });
  return out.finish(call, good && !missing ? 0 : 1);
}

}  // namespace atl::shell
