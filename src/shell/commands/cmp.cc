#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/count_byte.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::cmp_program {

namespace {

void drop(Invocation& call, Input& in, std::uint64_t count) {
  while (count > 0) {
    std::string_view block = in.fill();
    if (block.empty()) return;
    std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(count, block.size()));
    call.charge(some / 64 + 1);
    in.consume(some);
    count -= some;
  }
}

// Of the offsets that -l prints: as wide as the larger size.
int width_of(Invocation& call, const std::vector<std::string>& operands, const std::uint64_t* skip,
             std::uint64_t limit) {
  std::uint64_t most = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    auto path = call.resolve(operands[i]);
    auto stat = operands[i] == "-" || !path ? std::nullopt : call.fs().find(*path);
    if (!stat || !stat->is_file())
      return static_cast<int>(std::to_string(std::min<std::uint64_t>(limit, INT64_MAX)).size());
    most = std::max<std::uint64_t>(most, stat->size - std::min<std::uint64_t>(skip[i], stat->size));
  }
  return static_cast<int>(std::to_string(std::min(most, limit)).size());
}

// Two inputs, block by block.
struct Comparison {
  Invocation& call;
  const std::string& left;
  const std::string& right;
  bool verbose, silent, bytes;
  std::uint64_t limit;
  int width = 1;
  std::uint64_t at = 0, line = 1;
  bool ended_line = false;

  int run(Input& a, Input& b) {
    Sink out(call.out());
    int status = 0;
    while (at < limit) {
      std::string_view x = a.fill(), y = b.fill();
      if (x.empty() || y.empty()) {
        out.flush();
        return x.empty() && y.empty() ? status : ended(x.empty() ? left : right);
      }
      std::size_t size =
          static_cast<std::size_t>(std::min<std::uint64_t>(std::min(x.size(), y.size()), limit - at));
      call.charge(size / 16 + 1);
      x = x.substr(0, size);
      y = y.substr(0, size);
      if (x != y) {
        status = 1;
        if (!differences(x, y, out)) return silent ? 1 : out.finish(call, 1);
      }
      if (!verbose && !silent) line += count_byte(x, '\n');
      ended_line = x.back() == '\n';
      at += size;
      a.consume(size);
      b.consume(size);
    }
    return out.finish(call, status);
  }

  // False after the first, unless all are wanted.
  bool differences(std::string_view x, std::string_view y, Sink& out) {
    if (silent) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == y[i]) continue;
      auto p = static_cast<unsigned char>(x[i]), q = static_cast<unsigned char>(y[i]);
      std::uint64_t offset = at + i + 1;
      if (verbose) {
        out.append(fmt::format("{:>{}} {:>3o} {:>3o}\n", offset, width, p, q));
        continue;
      }
      line += count_byte(x.substr(0, i), '\n');
      out.append(bytes ? fmt::format("{} {} differ: byte {}, line {} is {:>3o} {} {:>3o} {}\n", left, right,
                                     offset, line, p, static_cast<char>(p), q, static_cast<char>(q))
                       : fmt::format("{} {} differ: byte {}, line {}\n", left, right, offset, line));
      return false;
    }
    return true;
  }

  int ended(const std::string& shorter) {
    if (silent) return 1;
    call.err().write(at == 0   ? fmt::format("cmp: EOF on {} which is empty\n", shorter)
                     : verbose ? fmt::format("cmp: EOF on {} after byte {}\n", shorter, at)
                               : fmt::format("cmp: EOF on {} after byte {}, {}line {}\n", shorter, at,
                                             ended_line ? "" : "in ", ended_line ? line - 1 : line));
    return 1;
  }
};

}  // namespace

int run_cmp(Invocation& call) {
  static constexpr Option kOptions[] = {
      {'b', 'b', "print-bytes"}, {'i', 'i', "ignore-initial", Arg::required},
      {'l', 'l', "verbose"},     {'n', 'n', "bytes", Arg::required},
      {'s', 's', "quiet"},       {'s', 0, "silent"}};
  CommandLine options(call, kOptions, {.status = 2});
  if (options.stopped()) return options.status();
  bool verbose = false, silent = false, bytes = false;
  std::uint64_t limit = UINT64_MAX, skip[2] = {};
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'l': verbose = true; break;
      case 's': silent = true; break;
      case 'b': bytes = true; break;
      case 'n':
        if (!parse_size(value, limit))
          return usage_error(call, fmt::format("invalid --bytes value {}", quote_operand(value)), 2);
        break;
      case 'i': {
        std::size_t colon = value.find(':');
        if (!parse_size(value.substr(0, colon), skip[0]))
          return usage_error(call, fmt::format("invalid --ignore-initial value {}", quote_operand(value)), 2);
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
  if (operands.size() > 4)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[4])), 2);
  std::unique_ptr<Input> owned[2];
  Input* in[2] = {&call.in(), &call.in()};
  for (std::size_t i = 0; i < 2; ++i) {
    if (operands[i] == "-") continue;
    auto opened = call.open_input(operands[i]);
    if (!opened) {
      if (!silent) call.complain(fmt::format("{}: {}", operands[i], reason(opened.error())));
      return 2;
    }
    owned[i] = std::move(*opened);
    in[i] = owned[i].get();
  }
  if (in[0] == in[1]) return 0;
  for (std::size_t i = 0; i < 2; ++i) drop(call, *in[i], skip[i]);
  Comparison comparison{call, operands[0], operands[1], verbose, silent, bytes, limit};
  if (verbose) comparison.width = width_of(call, operands, skip, limit);
  return comparison.run(*in[0], *in[1]);
}

}  // namespace atl::shell::cmp_program
