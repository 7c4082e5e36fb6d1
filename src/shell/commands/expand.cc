#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::expand_program {

namespace {

struct Stops {
  std::vector<std::uint64_t> list;
  std::uint64_t every = 8;  // behind the list; 0: none

  std::uint64_t next(std::uint64_t column, bool& last) const {
    last = false;
    for (std::uint64_t stop : list)
      if (stop > column) return stop;
    if (!list.empty() && every == 0) {
      last = true;
      return column + 1;
    }
    return column + every - column % every;
  }
};

std::string parse_stops(std::string_view text, Stops& stops) {
  while (!text.empty()) {
    std::size_t end = text.find_first_of(", \t");
    std::string_view one = text.substr(0, end);
    if (!one.empty()) {
      char mark = one[0] == '/' || one[0] == '+' ? one[0] : '\0';
      if (mark) one.remove_prefix(1);
      std::uint64_t value = 0;
      if (one.empty() || one.find_first_not_of("0123456789") != std::string_view::npos ||
          !parse_size(one, value))
        return fmt::format("tab size contains invalid character(s): {}", quote_operand(one));
      if (value == 0) return "tab size cannot be 0";
      if (mark)
        stops.every = value;
      else {
        if (!stops.list.empty() && value <= stops.list.back()) return "tab sizes must be ascending";
        stops.list.push_back(value);
        stops.every = 0;
      }
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (stops.list.size() == 1 && stops.every == 0) {
    stops.every = stops.list[0];
    stops.list.clear();
  }
  return {};
}

}  // namespace

int run_expand(Invocation& call) {
  static constexpr Option kOptions[] = {{'i', 'i', "initial"}, {'t', 't', "tabs", Arg::required}};
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Stops stops;
  bool initial = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'i') initial = true;
    if (id == 't' || id == '0') {
      std::string problem = parse_stops(value, stops);
      if (!problem.empty()) return call.fail(problem);
    }
  }
  Sink out(call.out());
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Lines lines(in);
    std::string_view line;
    while (lines.next(line)) {
      call.charge(line.size() / 8 + 1);
      std::uint64_t column = 0;
      bool leading = true;
      for (char c : line) {
        if (c == '\t' && (!initial || leading)) {
          bool last = false;
          std::uint64_t to = stops.next(column, last);
          for (; column < to; ++column) out.put(' ');
          continue;
        }
        if (c == '\b')
          column -= column > 0;
        else if (c == '\t') {
          bool last = false;
          column = stops.next(column, last);
        } else
          ++column;
        if (c != ' ' && c != '\t') leading = false;
        out.put(c);
      }
      if (lines.complete()) out.put('\n');
    }
  });
  return out.finish(call, good ? 0 : 1);
}

int run_unexpand(Invocation& call) {
  static constexpr Option kOptions[] = {
      {'a', 'a', "all"}, {'f', 0, "first-only"}, {'t', 't', "tabs", Arg::required}};
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Stops stops;
  bool all = false, first_only = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'a') all = true;
    if (id == 'f') first_only = true;
    if (id == 't' || id == '0') {
      std::string problem = parse_stops(value, stops);
      if (!problem.empty()) return call.fail(problem);
      all = true;
    }
  }
  if (first_only) all = false;
  Sink out(call.out());
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Lines lines(in);
    std::string_view line;
    while (lines.next(line)) {
      call.charge(line.size() / 8 + 1);
      std::uint64_t column = 0;
      std::string pending;  // blanks not yet written
      bool convert = true;
      for (char c : line) {
        if (convert && (c == ' ' || c == '\t')) {
          bool last = false;
          std::uint64_t stop = stops.next(column, last);
          if (last) {
            convert = false;
            out.append(pending);
            pending.clear();
            out.put(c);
            continue;
          }
          if (c == '\t') {
            pending = (pending.starts_with('\t') ? pending : std::string());
            // Blanks before a tab are part of it.
            std::size_t tabs = 0;
            while (tabs < pending.size() && pending[tabs] == '\t') ++tabs;
            pending = std::string(tabs, '\t') + "\t";
            column = stop;
            continue;
          }
          ++column;
          pending += ' ';
          if (column == stop) {
            std::size_t tabs = 0;
            while (tabs < pending.size() && pending[tabs] == '\t') ++tabs;
            // A single blank that ends at a stop stays one.
            if (pending.size() - tabs > 1 || (tabs > 0 && pending.size() - tabs >= 1))
              pending = std::string(tabs, '\t') + "\t";
          }
          continue;
        }
        out.append(pending);
        pending.clear();
        if (c == '\b')
          column -= column > 0;
        else
          ++column;
        out.put(c);
        if (!all) convert = false;
      }
      out.append(pending);
      if (lines.complete()) out.put('\n');
    }
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::expand_program
