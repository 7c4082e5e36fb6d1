#include <fmt/format.h>

#include <random>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::shuf_program {

int run_shuf(Invocation& call) {
  static constexpr Option kOptions[] = {{'e', 'e', "echo"},
                                        {'i', 'i', "input-range", Arg::required},
                                        {'n', 'n', "head-count", Arg::required},
                                        {'o', 'o', "output", Arg::required},
                                        {'r', 'r', "repeat"},
                                        {'z', 'z', "zero-terminated"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool echo = false, repeat = false, ranged = false;
  std::uint64_t count = UINT64_MAX;
  std::int64_t low = 0, high = 0;
  char end = '\n';
  std::string output;
  std::mt19937_64 random(std::random_device{}());
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'e': echo = true; break;
      case 'i': {
        std::size_t dash = value.find('-', 1);
        if (dash == std::string::npos || !parse_integer(value.substr(0, dash), low) ||
            !parse_integer(value.substr(dash + 1), high) || high < low - 1)
          return call.fail(fmt::format("invalid input range: {}", quote_operand(value)));
        if (high - low > 10'000'000) return call.fail("input range too large");
        ranged = true;
        break;
      }
      case 'n':
        if (!parse_size(value, count))
          return call.fail(fmt::format("invalid line count: {}", quote_operand(value)));
        break;
      case 'o': output = value; break;
      case 'r': repeat = true; break;
      case 'z': end = '\0'; break;
      default: break;
    }
  }
  if (echo && ranged) return usage_error(call, "cannot combine -e and -i options");
  std::string text;
  std::vector<std::string> owned;
  if (ranged)
    for (std::int64_t i = low; i <= high; ++i) owned.push_back(std::to_string(i)), call.charge(1);
  if (ranged && !options.operands().empty())
    return usage_error(call, fmt::format("extra operand {}", quote_operand(options.operands()[0])));
  std::vector<std::string_view> lines(owned.begin(), owned.end());
  if (echo)
    lines.assign(options.operands().begin(), options.operands().end());
  else if (!ranged) {
    bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
      text += in.read_all();
      if (!text.empty() && text.back() != end) text += end;
    });
    if (!good) return 1;
    call.charge(text.size() / 16 + 1);
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(lines.back().size() + 1))
      lines.push_back(rest.substr(0, rest.find(end)));
  }
  std::unique_ptr<Output> file;
  if (!output.empty()) {
    auto opened = call.open_output(output, false);
    if (!opened) return call.fail(fmt::format("{}: {}", output, reason(opened.error())));
    file = std::move(*opened);
  }
  Sink out(file ? *file : call.out());
  if (repeat && lines.empty() && count > 0) return call.fail("no lines to repeat");
  for (std::uint64_t i = 0; i < count && (repeat || i < lines.size()); ++i) {
    call.charge(1);
    // Without repetition each is drawn from those that are left.
    std::size_t from = repeat ? 0 : static_cast<std::size_t>(i);
    std::size_t drawn = std::uniform_int_distribution<std::size_t>(from, lines.size() - 1)(random);
    out.line(lines[drawn], end);
    if (!repeat) std::swap(lines[drawn], lines[from]);
  }
  int status = out.finish(call);
  if (file) file->flush();
  return status;
}

}  // namespace atl::shell::shuf_program
