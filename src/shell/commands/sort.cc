#include <fmt/format.h>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/sort/order.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::sort_program {

namespace {

enum Long { kCheck = 256, kSort, kParallel, kBatch, kFiles0, kCompress };

constexpr Option kOptions[] = {
    {'b', 'b', "ignore-leading-blanks"},
    {'d', 'd', "dictionary-order"},
    {'f', 'f', "ignore-case"},
    {'g', 'g', "general-numeric-sort"},
    {'i', 'i', "ignore-nonprinting"},
    {'M', 'M', "month-sort"},
    {'h', 'h', "human-numeric-sort"},
    {'n', 'n', "numeric-sort"},
    {'R', 'R', "random-sort"},
    {'r', 'r', "reverse"},
    {'V', 'V', "version-sort"},
    {kSort, 0, "sort", Arg::required},
    {'c', 'c', ""},
    {'C', 'C', ""},
    {kCheck, 0, "check", Arg::optional},
    {'k', 'k', "key", Arg::required},
    {'m', 'm', "merge"},
    {'o', 'o', "output", Arg::required},
    {'s', 's', "stable"},
    {'S', 'S', "buffer-size", Arg::required},
    {'t', 't', "field-separator", Arg::required},
    {'T', 'T', "temporary-directory", Arg::required},
    {kParallel, 0, "parallel", Arg::required},
    {kBatch, 0, "batch-size", Arg::required},
    {kFiles0, 0, "files0-from", Arg::required},
    {'u', 'u', "unique"},
    {'z', 'z', "zero-terminated"},
    {kCompress, 0, "compress-program", Arg::required},
};

struct Request {
  SortOrder order;
  SortKey global;
  char check = 0;
  std::string output;
  bool has_output = false, merge = false;
};

constexpr Choice kChecks[] = {{"quiet", 'C'}, {"silent", 'C'}, {"diagnose-first", 'c'}};
constexpr Choice kSorts[] = {{"general-numeric", 'g'}, {"human-numeric", 'h'}, {"month", 'M'},
                             {"numeric", 'n'},         {"random", 'R'},        {"version", 'V'}};

// Memory, threads and temporary files are the shell's own affair: such options are read and have no effect.
bool check_tuning(Invocation& call, int id, const std::string& value) {
  std::uint64_t number = 0;
  std::string text = value.ends_with('%') ? value.substr(0, value.size() - 1) : value;
  switch (id) {
    case 'S':
      if (parse_size(text, number)) return true;
      call.complain(fmt::format("invalid -S argument '{}'", value));
      return false;
    case kParallel:
      if (!parse_size(value, number))
        call.complain(fmt::format("invalid --parallel argument '{}'", value));
      else if (number == 0)
        call.complain("number in parallel must be nonzero");
      return number > 0;
    case kBatch:
      if (parse_size(value, number) && number > 1) return true;
      call.complain(fmt::format("invalid --batch-size argument {}", quote_operand(value)));
      if (number < 2) call.complain("minimum --batch-size argument is '2'");
      return false;
    default: return true;
  }
}

// -m: the inputs are taken to be sorted, and stay in that order among themselves.
std::vector<std::string_view> merge_lines(Invocation& call, std::vector<std::string_view> inputs,
                                          const SortOrder& order) {
  std::vector<std::string_view> out;
  std::vector<std::optional<std::string_view>> heads(inputs.size());
  auto next = [&](std::size_t i) {
    if (inputs[i].empty()) return heads[i].reset();
    heads[i] = inputs[i].substr(0, inputs[i].find(order.delimiter));
    inputs[i].remove_prefix(heads[i]->size() + 1);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) next(i);
  while (true) {
    std::size_t best = inputs.size();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (heads[i] && (best == inputs.size() || order.compare_lines(*heads[i], *heads[best]) < 0)) best = i;
    if (best == inputs.size()) return out;
    call.charge(heads[best]->size() / 8 + inputs.size());
    if (!order.unique || out.empty() || order.compare_lines(out.back(), *heads[best]) != 0)
      out.push_back(*heads[best]);
    next(best);
  }
}

// -1: go on.
int read_options(Invocation& call, CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c': r.check = 'c'; break;
      case 'C': r.check = 'C'; break;
      case kCheck: {
        auto way = value.empty() ? std::optional<int>('c') : choose(call, "--check", value, kChecks);
        if (!way) return 1;
        r.check = static_cast<char>(*way);
        break;
      }
      case kSort: {
        auto letter = choose(call, "--sort", value, kSorts);
        if (!letter) return 1;
        set_ordering(r.global, static_cast<char>(*letter));
        break;
      }
      case 'k': {
        SortKey key;
        std::string problem = parse_key(value, key);
        if (!problem.empty()) return call.fail(problem, 2);
        r.order.keys.push_back(key);
        break;
      }
      case 'm': r.merge = true; break;
      case 'o':
        if (r.has_output && r.output != value) return call.fail("multiple output files specified", 2);
        r.output = value;
        r.has_output = true;
        break;
      case 's': r.order.stable = true; break;
      case 't':
        if (value == "\\0")
          r.order.separator = 0;
        else if (value.empty())
          return call.fail("empty tab", 2);
        else if (value.size() > 1)
          return call.fail(fmt::format("multi-character tab {}", quote_operand(value)), 2);
        else
          r.order.separator = static_cast<unsigned char>(value[0]);
        break;
      case 'u': r.order.unique = true; break;
      case 'z': r.order.delimiter = '\0'; break;
      case 'S':
      case 'T':
      case kParallel:
      case kBatch:
      case kCompress:
        if (!check_tuning(call, id, value)) return 2;
        break;
      case kFiles0: {
        auto in = value == "-" ? nullptr : open_or_complain(call, value);
        if (value != "-" && !in) return 2;
        std::string name;
        while ((in ? *in : call.in()).read_line(name, '\0')) options.operands().push_back(name);
        break;
      }
      default: set_ordering(r.global, static_cast<char>(id));
    }
  }
  r.order.finish(r.global);
  for (const SortKey& key : r.order.keys)
    if (std::string problem = incompatible(key); !problem.empty()) return call.fail(problem, 2);
  return -1;
}

int check(Invocation& call, const Request& r, const std::string& name) {
  std::unique_ptr<Input> owned;
  Input* in = &call.in();
  if (name != "-") {
    if (!(owned = open_or_complain(call, name))) return 2;
    in = owned.get();
  }
  Lines lines(*in, r.order.delimiter);
  std::string_view line;
  std::string previous;
  std::uint64_t number = 0;
  while (lines.next(line)) {
    call.charge(line.size() / 8 + 1);
    ++number;
    if (number > 1) {
      int order = r.order.compare_lines(previous, line);
      if (order > 0 || (order == 0 && r.order.unique)) {
        if (r.check == 'c') call.complain(fmt::format("{}:{}: disorder: {}", name, number, line));
        return 1;
      }
    }
    previous.assign(line);
  }
  return 0;
}

}  // namespace

int run_sort(Invocation& call) {
  CommandLine options(call, kOptions, {.status = 2});
  if (options.stopped()) return options.status();
  Request r;
  if (int status = read_options(call, options, r); status >= 0) return status;
  auto& operands = options.operands();
  if (operands.empty()) operands.push_back("-");
  if (r.check) {
    if (operands.size() > 1)
      return call.fail(
          fmt::format("extra operand {} not allowed with -{}", quote_operand(operands[1]), r.check), 2);
    return check(call, r, operands[0]);
  }
  std::string text;
  std::vector<std::size_t> ends;  // of each input in the text
  for (const std::string& operand : operands) {
    std::unique_ptr<Input> owned;
    Input* in = &call.in();
    if (operand != "-") {
      auto opened = call.open_input(operand);
      if (!opened) {
        bool directory = opened.error().code() == Code::is_a_directory;
        return call.fail(fmt::format("{}: {}: {}", directory ? "read failed" : "cannot read", operand,
                                     reason(opened.error())),
                         2);
      }
      owned = std::move(*opened);
      in = owned.get();
    }
    while (true) {
      std::string_view block = in->fill();
      if (block.empty()) break;
      call.charge(block.size() / 16 + 1);
      call.charge_memory(static_cast<std::int64_t>(block.size()));
      text.append(block);
      in->consume(block.size());
    }
    if (!text.empty() && text.back() != r.order.delimiter) text += r.order.delimiter;
    ends.push_back(text.size());
  }
  std::vector<std::string_view> lines;
  if (r.merge) {
    std::vector<std::string_view> inputs;
    for (std::size_t i = 0; i < ends.size(); ++i)
      inputs.push_back(std::string_view(text).substr(i ? ends[i - 1] : 0, ends[i] - (i ? ends[i - 1] : 0)));
    lines = merge_lines(call, std::move(inputs), r.order);
  } else {
    lines = sort_lines(call, text, r.order);
  }
  std::unique_ptr<Output> file;
  if (r.has_output) {
    auto opened = call.open_output(r.output, false);
    if (!opened) return call.fail(fmt::format("open failed: {}: {}", r.output, reason(opened.error())), 2);
    file = std::move(*opened);
  }
  Sink out(file ? *file : call.out());
  for (std::string_view line : lines) out.line(line, r.order.delimiter);
  int status = out.finish(call);
  if (file) file->flush();
  call.charge_memory(-static_cast<std::int64_t>(text.size()));
  return status ? 2 : 0;
}

}  // namespace atl::shell::sort_program
