#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::comm_program {

int run_comm(Invocation& call) {
  enum { kCheck = 256, kNoCheck, kDelimiter, kTotal };
  static constexpr Option kOptions[] = {{'1', '1', ""},
                                        {'2', '2', ""},
                                        {'3', '3', ""},
                                        {kCheck, 0, "check-order"},
                                        {kNoCheck, 0, "nocheck-order"},
                                        {kDelimiter, 0, "output-delimiter", Arg::required},
                                        {kTotal, 0, "total"},
                                        {'z', 'z', "zero-terminated"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool show[4] = {true, true, true, true};
  bool total = false, check = true, strict = false;
  std::string separator = "\t";
  char end = '\n';
  for (auto& [id, value] : options.found()) {
    if (id >= '1' && id <= '3') show[id - '0'] = false;
    if (id == kDelimiter) separator = value.empty() ? std::string(1, '\0') : value;
    if (id == kTotal) total = true;
    if (id == kNoCheck) check = false;
    if (id == kCheck) strict = true;
    if (id == 'z') end = '\0';
  }
  auto& operands = options.operands();
  if (operands.size() < 2)
    return usage_error(call, operands.empty()
                                 ? "missing operand"
                                 : fmt::format("missing operand after {}", quote_operand(operands[0])));
  if (operands.size() > 2)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[2])));
  std::unique_ptr<Input> owned[2];
  for (std::size_t i = 0; i < 2; ++i)
    if (!(owned[i] = open_or_complain(call, operands[i]))) return 1;
  Lines a(*owned[0], end), b(*owned[1], end);
  std::string left, right, previous[2];
  std::string_view line;
  bool has[2], seen[2] = {}, complained[2] = {};
  bool disorder = false;
  auto next = [&](int which) {
    Lines& lines = which ? b : a;
    std::string& target = which ? right : left;
    if (seen[which]) previous[which] = target;
    has[which] = lines.next(line);
    if (has[which]) {
      target.assign(line);
      if (check && seen[which] && target < previous[which] && !complained[which]) {
        complained[which] = disorder = true;
        call.complain(fmt::format("file {} is not in sorted order", which + 1));
      }
      seen[which] = true;
    }
  };
  next(0);
  next(1);
  std::uint64_t counts[4] = {};
  Sink out(call.out());
  std::string lead2 = show[1] ? separator : "", lead3 = lead2 + (show[2] ? separator : "");
  while (has[0] || has[1]) {
    call.charge(left.size() / 16 + 1);
    if (strict && disorder) break;
    int order = !has[0] ? 1 : !has[1] ? -1 : left.compare(right);
    int column = order < 0 ? 1 : order > 0 ? 2 : 3;
    ++counts[column];
    if (show[column]) {
      out.append(column == 2 ? lead2 : column == 3 ? lead3 : std::string());
      out.line(column == 2 ? right : left, end);
    }
    if (order <= 0) next(0);
    if (order >= 0) next(1);
  }
  if (total)
    out.append(fmt::format("{}{}{}{}{}{}total{}", counts[1], separator, counts[2], separator, counts[3],
                           separator, end));
  if (disorder) {
    call.complain("input is not in sorted order");
    return out.finish(call, 1);
  }
  return out.finish(call);
}

}  // namespace atl::shell::comm_program
