#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/regex/regex.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::tac_program {

int run_tac(Invocation& call) {
  static constexpr Option kOptions[] = {
      {'b', 'b', "before"}, {'r', 'r', "regex"}, {'s', 's', "separator", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::string separator = "\n";
  bool before = false, is_regex = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'b') before = true;
    if (id == 'r') is_regex = true;
    if (id == 's') separator = value.empty() ? std::string(1, '\0') : value;
  }
  auto regex = Regex::compile(separator, is_regex ? Syntax::basic : Syntax::fixed);
  if (!regex) return call.fail(regex.error().message());
  Sink out(call.out());
  bool good = true;
  std::vector<std::string> readable;
  for (const std::string& operand :
       options.operands().empty() ? std::vector<std::string>{"-"} : options.operands()) {
    auto opened = call.open_input(operand);
    if (opened)
      readable.push_back(operand);
    else if (opened.error().code() == Code::is_a_directory)
      call.complain(fmt::format("{}: read error: Invalid argument", operand));
    else
      call.complain(
          fmt::format("failed to open {} for reading: {}", quote_operand(operand), reason(opened.error())));
    good = good && opened;
  }
  if (readable.empty()) return 1;
  good &= each_input(call, readable, [&](Input& in, const std::string&) {
    std::string text = in.read_all();
    call.charge(text.size() / 8 + 1);
    std::vector<std::size_t> cuts{0};
    std::size_t from = 0;
    Regex::Span span;
    while (from <= text.size() && regex->search(text, from, span)) {
      if (span.end == span.begin) {
        from = span.end + 1;
        continue;
      }
      cuts.push_back(before ? span.begin : span.end);
      from = span.end;
    }
    if (cuts.back() != text.size()) cuts.push_back(text.size());
    for (std::size_t i = cuts.size() - 1; i > 0; --i)
      out.append(std::string_view(text).substr(cuts[i - 1], cuts[i] - cuts[i - 1]));
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::tac_program
