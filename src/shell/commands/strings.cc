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
  std::size_t unit = 1;  // bytes of a character
  bool big = false, eight_bits = false;
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
      case 'e':
        if (value.size() != 1 || std::string_view("sSblBL").find(value[0]) == std::string_view::npos) return usage_error(call, fmt::format("invalid encoding: {}", quoted(value)));
        unit = value == "b" || value == "l" ? 2 : value == "B" || value == "L" ? 4 : 1;
        big = value == "b" || value == "B";
        eight_bits = value == "S";
        break;
      default: break;  // -a, -d: there are no object files whose data alone would be looked at
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
        std::uint64_t at = offset - run.size() * unit;
        if (radix) out.append(radix == 'd' ? fmt::format("{:>7} ", at) : radix == 'o' ? fmt::format("{:>7o} ", at) : fmt::format("{:>7x} ", at));
        out.append(run);
        out.append(separator);
      }
      run.clear();
    };
    auto printable = [&](unsigned char c) {
      return (c >= 32 && c < 127) || c == '\t' || (white && isspace(c)) || (eight_bits && c >= 160);
    };
    if (unit > 1) {
      // Wide characters: one byte of each holds the character, the others are zero.
      std::string data = in.read_all();
      call.charge(data.size() / 4 + 1);
      while (offset + unit <= data.size()) {
        std::size_t low = static_cast<std::size_t>(offset) + (big ? unit - 1 : 0);
        bool zeros = true;
        for (std::size_t i = 0; i < unit; ++i) zeros = zeros && (offset + i == low || data[static_cast<std::size_t>(offset) + i] == '\0');
        if (zeros && printable(static_cast<unsigned char>(data[low]))) {
          run += data[low];
          offset += unit;
        } else {
          flush();
          ++offset;
        }
      }
      flush();
      return;
    }
    while (true) {
      std::string_view block = in.fill();
      if (block.empty()) break;
      call.charge(block.size() / 8 + 1);
      for (char c : block) {
        if (printable(static_cast<unsigned char>(c))) run += c;
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
