#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

int run_cmp(Invocation& call) {
  static constexpr Option kOptions[] = {{'b', 'b', "print-bytes"}, {'i', 'i', "ignore-initial", Arg::required}, {'l', 'l', "verbose"}, {'n', 'n', "bytes", Arg::required}, {'s', 's', "quiet"}, {'s', 0, "silent"}};
  CommandLine options(call, kOptions, {.status = 2});
  if (options.stopped()) return options.status();
  bool verbose = false, silent = false, bytes = false;
  std::uint64_t limit = UINT64_MAX, skip[2] = {};
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'l': verbose = true; break;
      case 's': silent = true; break;
      case 'b': bytes = true; break;
      case 'n': if (!parse_size(value, limit)) return usage_error(call, fmt::format("invalid --bytes value {}", quoted(value)), 2); break;
      case 'i': {
        std::size_t colon = value.find(':');
        if (!parse_size(value.substr(0, colon), skip[0])) return usage_error(call, fmt::format("invalid --ignore-initial value {}", quoted(value)), 2);
        skip[1] = skip[0];
        if (colon != std::string::npos) parse_size(value.substr(colon + 1), skip[1]);
        break;
      }
      default: break;
    }
  }
  auto operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing operand after 'cmp'", 2);
  if (operands.size() == 1) operands.push_back("-");
  for (std::size_t i = 2; i < operands.size() && i < 4; ++i) parse_size(operands[i], skip[i - 2]);
  if (operands.size() > 4) return usage_error(call, fmt::format("extra operand {}", quoted(operands[4])), 2);
  std::string text[2];
  for (std::size_t i = 0; i < 2; ++i) {
    if (operands[i] == "-") {
      text[i] = call.in().read_all();
    } else {
      auto in = call.open_input(operands[i]);
      if (!in) {
        if (!silent) call.complain(fmt::format("{}: {}", operands[i], reason(in.error())));
        return 2;
      }
      text[i] = (*in)->read_all();
    }
    text[i].erase(0, static_cast<std::size_t>(std::min<std::uint64_t>(skip[i], text[i].size())));
    if (text[i].size() > limit) text[i].resize(static_cast<std::size_t>(limit));
    call.charge(text[i].size() / 16 + 1);
  }
  std::size_t common = std::min(text[0].size(), text[1].size());
  std::uint64_t line = 1;
  int status = 0;
  Sink out(call.out());
  int width = static_cast<int>(std::to_string(std::max<std::size_t>(std::max(text[0].size(), text[1].size()), 1)).size());
  for (std::size_t i = 0; i < common; ++i) {
    if (text[0][i] == text[1][i]) {
      line += text[0][i] == '\n';
      continue;
    }
    status = 1;
    if (silent) return 1;
    auto a = static_cast<unsigned char>(text[0][i]), b = static_cast<unsigned char>(text[1][i]);
    if (verbose) {
      out.append(fmt::format("{:>{}} {:>3o} {:>3o}\n", i + 1, width, a, b));
      continue;
    }
    out.append(bytes ? fmt::format("{} {} differ: byte {}, line {} is {:>3o} {} {:>3o} {}\n", operands[0], operands[1], i + 1, line, a, static_cast<char>(a), b, static_cast<char>(b))
                     : fmt::format("{} {} differ: byte {}, line {}\n", operands[0], operands[1], i + 1, line));
    return out.finish(call, 1);
  }
  out.flush();
  if (text[0].size() != text[1].size()) {
    if (!silent) {
      const std::string& shorter = text[0].size() < text[1].size() ? operands[0] : operands[1];
      bool whole = common > 0 && text[0][common - 1] == '\n';
      call.err().write(common == 0 ? fmt::format("cmp: EOF on {} which is empty\n", shorter)
                       : verbose  ? fmt::format("cmp: EOF on {} after byte {}\n", shorter, common)
                                  : fmt::format("cmp: EOF on {} after byte {}, {}line {}\n", shorter, common, whole ? "" : "in ", whole ? line - 1 : line));
    }
    return 1;
  }
  return status;
}

}  // namespace atl::shell
