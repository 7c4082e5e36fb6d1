#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::head_program {

namespace {

constexpr Option kOptions[] = {
    {'c', 'c', "bytes", Arg::required},
    {'n', 'n', "lines", Arg::required},
    {'q', 'q', "quiet"},
    {'q', 0, "silent"},
    {'v', 'v', "verbose"},
    {'z', 'z', "zero-terminated"},
};

struct Request {
  std::uint64_t count = 10;
  bool bytes = false, all_but = false;
  int headers = -1;
  char delimiter = '\n';
};

void copy_bytes(Invocation& call, Input& in, Sink& out, std::uint64_t count) {
  while (count > 0) {
    std::string_view block = in.fill();
    if (block.empty()) return;
    std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(count, block.size()));
    out.append(block.substr(0, take));
    in.consume(take);
    call.charge(take / 64 + 1);
    count -= take;
  }
}

void copy_lines(Invocation& call, Input& in, Sink& out, std::uint64_t count, char delimiter) {
  if (count == 0) return;
  Lines lines(in, delimiter);
  std::string_view line;
  while (count-- > 0 && lines.next(line)) {
    call.charge(line.size() / 64 + 1);
    out.append(line);
    if (lines.complete()) out.put(delimiter);
  }
}

void all_but_lines(Invocation& call, Input& in, Sink& out, std::uint64_t count, char delimiter) {
  std::deque<std::string> held;
  Lines lines(in, delimiter);
  std::string_view line;
  while (lines.next(line)) {
    call.charge(line.size() / 16 + 1);
    held.emplace_back(line);
    if (lines.complete()) held.back() += delimiter;
    if (held.size() > count) {
      out.append(held.front());
      held.pop_front();
    }
  }
}

void all_but_bytes(Input& in, Sink& out, std::uint64_t count) {
  std::string held;
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) return;
    held.append(block);
    in.consume(block.size());
    if (held.size() > count) {
      out.append(std::string_view(held).substr(0, held.size() - count));
      held.erase(0, held.size() - count);
    }
  }
}

void one(Invocation& call, Input& in, Sink& out, const Request& r) {
  if (r.bytes)
    r.all_but ? all_but_bytes(in, out, r.count) : copy_bytes(call, in, out, r.count);
  else
    r.all_but ? all_but_lines(call, in, out, r.count, r.delimiter)
              : copy_lines(call, in, out, r.count, r.delimiter);
}

}  // namespace

int run_head(Invocation& call) {
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Request r;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c':
      case 'n':
      case '0': {
        if (id != '0') r.bytes = id == 'c';
        std::string_view text = value;
        r.all_but = text.starts_with('-');
        if (r.all_but || text.starts_with('+')) text.remove_prefix(1);
        if (text.empty() || !isdigit(static_cast<unsigned char>(text[0])) || !parse_size(text, r.count))
          return call.fail(
              fmt::format("invalid number of {}: {}", r.bytes ? "bytes" : "lines", quote_operand(value)));
        break;
      }
      case 'q': r.headers = 0; break;
      case 'v': r.headers = 1; break;
      case 'z': r.delimiter = '\0'; break;
      default: break;
    }
  }
  auto& operands = options.operands();
  if (r.headers < 0) r.headers = operands.size() > 1;
  if (operands.empty()) operands.push_back("-");
  Sink out(call.out());
  bool first = true, good = true;
  for (const std::string& operand : operands) {
    std::unique_ptr<Input> owned;
    Input* in = &call.in();
    bool directory = false;
    if (operand != "-") {
      auto opened = call.open_input(operand);
      directory = !opened && opened.error().code() == Code::is_a_directory;
      if (!opened) {
        good = false;
        call.complain(directory
                          ? fmt::format("error reading '{}': Is a directory", operand)
                          : fmt::format("cannot open '{}' for reading: {}", operand, reason(opened.error())));
        if (!directory) continue;
      } else {
        owned = std::move(*opened);
        in = owned.get();
      }
    }
    if (r.headers)
      out.append(
          fmt::format("{}==> {} <==\n", first ? "" : "\n", operand == "-" ? "standard input" : operand));
    first = false;
    if (!directory) one(call, *in, out, r);
  }
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::head_program
