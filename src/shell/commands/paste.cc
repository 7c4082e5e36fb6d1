#include <fmt/format.h>

#include "base/utf8.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/sink.h"

namespace atl::shell::paste_program {

namespace {

std::vector<std::string> parse_delimiters(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      char e = text[i + 1];
      out.push_back(e == 'n'   ? "\n"
                    : e == 't' ? "\t"
                    : e == '0' ? ""
                    : e == 'b' ? "\b"
                    : e == 'f' ? "\f"
                    : e == 'r' ? "\r"
                    : e == 'v' ? "\v"
                               : std::string(1, e));
      i += 2;
      continue;
    }
    std::size_t length = utf8::read_length(text, i);
    out.emplace_back(text.substr(i, length));
    i += length;
  }
  if (out.empty()) out.emplace_back();
  return out;
}

}  // namespace

int run_paste(Invocation& call) {
  static constexpr Option kOptions[] = {
      {'d', 'd', "delimiters", Arg::required}, {'s', 's', "serial"}, {'z', 'z', "zero-terminated"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::vector<std::string> delimiters{"\t"};
  bool serial = false;
  char end = '\n';
  for (auto& [id, value] : options.found()) {
    if (id == 'd') {
      if (value.ends_with('\\') && !value.ends_with("\\\\"))
        return call.fail(fmt::format("delimiter list ends with an unescaped backslash: {}", value));
      delimiters = parse_delimiters(value);
    }
    if (id == 's') serial = true;
    if (id == 'z') end = '\0';
  }
  auto& operands = options.operands();
  if (operands.empty()) operands.push_back("-");
  Sink out(call.out());
  std::vector<std::unique_ptr<Input>> owned;
  std::unique_ptr<Lines> standard;
  std::vector<Lines*> sources;
  std::vector<std::unique_ptr<Lines>> lines;
  bool good = true;
  for (const std::string& operand : operands) {
    if (operand == "-") {
      if (!standard) standard = std::make_unique<Lines>(call.in(), end);
      sources.push_back(standard.get());
      continue;
    }
    auto in = open_or_complain(call, operand);
    if (!in) {
      if (!serial) return 1;
      good = false;
      continue;
    }
    owned.push_back(std::move(in));
    lines.push_back(std::make_unique<Lines>(*owned.back(), end));
    sources.push_back(lines.back().get());
  }
  std::string_view line;
  if (serial) {
    for (Lines* source : sources) {
      bool first = true;
      std::size_t at = 0;
      while (source->next(line)) {
        call.charge(line.size() / 16 + 1);
        if (!first) out.append(delimiters[at++ % delimiters.size()]);
        first = false;
        out.append(line);
      }
      out.put(end);
    }
    return out.finish(call, good ? 0 : 1);
  }
  std::vector<bool> open(sources.size(), true);
  std::string row;
  while (true) {
    row.clear();
    bool any = false;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (i) row += delimiters[(i - 1) % delimiters.size()];
      if (!open[i]) continue;
      if (sources[i]->next(line)) {
        any = true;
        row += line;
      } else {
        open[i] = false;
      }
    }
    if (!any) break;
    call.charge(row.size() / 16 + 1);
    out.line(row, end);
  }
  return out.finish(call);
}

}  // namespace atl::shell::paste_program
