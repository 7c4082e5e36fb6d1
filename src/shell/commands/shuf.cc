#include <fmt/format.h>

#include <random>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

int run_shuf(Invocation& call) {
  static constexpr Option kOptions[] = {{'e', 'e', "echo"}, {'i', 'i', "input-range", Arg::required}, {'n', 'n', "head-count", Arg::required}, {'o', 'o', "output", Arg::required}, {'r', 'r', "repeat"}, {'z', 'z', "zero-terminated"}, {256, 0, "random-source", Arg::required}};
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
        if (dash == std::string::npos || !parse_integer(value.substr(0, dash), low) || !parse_integer(value.substr(dash + 1), high) || high < low - 1) return call.fail(fmt::format("invalid input range: {}", quoted(value)));
        if (high - low > 10'000'000) return call.fail("input range too large");
        ranged = true;
        break;
      }
      case 'n': if (!parse_size(value, count)) return call.fail(fmt::format("invalid line count: {}", quoted(value))); break;
      case 'o': output = value; break;
      case 'r': repeat = true; break;
      case 'z': end = '\0'; break;
      default: break;
    }
  }
  std::vector<std::string> lines;
  if (echo) lines = options.operands();
  else if (ranged)
    for (std::int64_t i = low; i <= high; ++i) lines.push_back(std::to_string(i)), call.charge(1);
  else {
    bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
      Lines reader(in, end);
      std::string_view line;
      while (reader.next(line)) lines.emplace_back(line), call.charge(line.size() / 16 + 1);
    });
    if (!good) return 1;
  }
  std::unique_ptr<Output> file;
  if (!output.empty()) {
    auto opened = call.open_output(output, false);
    if (!opened) return call.fail(fmt::format("{}: {}", output, reason(opened.error())));
    file = std::move(*opened);
  }
  Sink out(file ? *file : call.out());
  if (repeat && lines.empty() && count > 0) return call.fail("no lines to repeat");
  if (!repeat) std::shuffle(lines.begin(), lines.end(), random);
  for (std::uint64_t i = 0; i < count && (repeat || i < lines.size()); ++i) {
    call.charge(1);
    out.line(repeat ? lines[random() % lines.size()] : lines[static_cast<std::size_t>(i)], end);
  }
  int status = out.finish(call);
  if (file) file->flush();
  return status;
}

}  // namespace atl::shell
