#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::fold_program {

int run_fold(Invocation& call) {
  static constexpr Option kOptions[] = {{'b', 'b', "bytes"},
                                        {'c', 'c', "characters"},
                                        {'s', 's', "spaces"},
                                        {'w', 'w', "width", Arg::required}};
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  std::uint64_t width = 80;
  bool bytes = false, spaces = false, characters = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'b') bytes = true;
    if (id == 'c') characters = true;
    if (id == 's') spaces = true;
    if ((id == 'w' || id == '0') && (!parse_size(value, width) || width == 0))
      return call.fail(fmt::format("invalid number of columns: {}{}", quote_operand(value),
                                   value == "0" ? ": Numerical result out of range" : ""));
  }
  Sink out(call.out());
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Lines lines(in);
    std::string_view line;
    while (lines.next(line)) {
      call.charge(line.size() / 8 + 1);
      std::size_t start = 0, last_space = std::string_view::npos;
      std::uint64_t column = 0;
      auto advance = [&](std::uint64_t from, char c) -> std::uint64_t {
        if (bytes) return from + 1;
        if (characters) return from + ((static_cast<unsigned char>(c) & 0xC0) != 0x80);
        if (c == '\b') return from ? from - 1 : 0;
        if (c == '\r') return 0;
        if (c == '\t') return from + 8 - from % 8;
        return from + 1;
      };
      for (std::size_t i = 0; i < line.size(); ++i) {
        std::uint64_t next = advance(column, line[i]);
        if (next > width && i > start) {
          std::size_t cut = i;
          if (spaces && last_space != std::string_view::npos) cut = last_space + 1;
          out.line(line.substr(start, cut - start));
          start = cut;
          last_space = std::string_view::npos;
          column = 0;
          for (std::size_t k = start; k < i; ++k) {
            column = advance(column, line[k]);
            if (line[k] == ' ' || line[k] == '\t') last_space = k;
          }
          next = advance(column, line[i]);
        }
        column = next;
        if (line[i] == ' ' || line[i] == '\t') last_space = i;
      }
      out.append(line.substr(start));
      if (lines.complete()) out.put('\n');
    }
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::fold_program
