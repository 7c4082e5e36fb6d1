#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::cut_program {

namespace {

enum Long { kComplement = 256, kOutputDelimiter };

constexpr Option kOptions[] = {
    {'b', 'b', "bytes", Arg::required},
    {'c', 'c', "characters", Arg::required},
    {'d', 'd', "delimiter", Arg::required},
    {'f', 'f', "fields", Arg::required},
    {'n', 'n', ""},
    {kComplement, 0, "complement"},
    {'s', 's', "only-delimited"},
    {kOutputDelimiter, 0, "output-delimiter", Arg::required},
    {'z', 'z', "zero-terminated"},
};

struct Range {
  std::uint64_t low, high;
};

bool number(std::string_view text, std::uint64_t& value) {
  value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, static_cast<unsigned>(c - '0'), &value))
      return false;
  }
  return true;
}

// Sorted and merged; an error message otherwise.
std::string parse_list(std::string_view list, bool fields, bool merge, std::vector<Range>& ranges) {
  std::string_view things = fields ? "fields" : "byte/character positions";
  while (true) {
    std::size_t comma = list.find_first_of(", \t");
    std::string_view item = list.substr(0, comma);
    std::size_t dash = item.find('-');
    Range r{1, UINT64_MAX};
    std::string_view low = item.substr(0, dash);
    std::string_view high = dash == std::string_view::npos ? low : item.substr(dash + 1);
    if (item == "-") return "invalid range with no endpoint: -";
    if (item.empty()) return fmt::format("{} are numbered from 1", things);
    if ((!low.empty() && !number(low, r.low)) || (!high.empty() && !number(high, r.high)))
      return fmt::format("invalid {} {}", fields ? "field value" : "byte/character position",
                         quote_operand(item));
    if (r.low == 0) return fmt::format("{} are numbered from 1", things);
    if (r.high < r.low) return "invalid decreasing range";
    ranges.push_back(r);
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.low < b.low; });
  std::vector<Range> merged;
  for (const Range& r : ranges) {
    bool joins =
        !merged.empty() && (r.low <= merged.back().high ||
                            (merge && merged.back().high != UINT64_MAX && r.low == merged.back().high + 1));
    if (joins)
      merged.back().high = std::max(merged.back().high, r.high);
    else
      merged.push_back(r);
  }
  ranges = std::move(merged);
  return {};
}

std::vector<Range> complement(const std::vector<Range>& ranges) {
  std::vector<Range> out;
  std::uint64_t next = 1;
  for (const Range& r : ranges) {
    if (r.low > next) out.push_back({next, r.low - 1});
    if (r.high == UINT64_MAX) return out;
    next = r.high + 1;
  }
  out.push_back({next, UINT64_MAX});
  return out;
}

struct Request {
  std::vector<Range> ranges;
  char delimiter = '\t', line_end = '\n';
  std::string join;
  bool has_join = false, only_delimited = false;
};

void cut_fields(std::string_view line, const Request& r, Sink& out) {
  const char* p = line.data();
  const char* end = p + line.size();
  const char* stop = static_cast<const char*>(memchr(p, r.delimiter, line.size()));
  if (!stop) {
    if (!r.only_delimited) out.line(line, r.line_end);
    return;
  }
  std::uint64_t field = 1;
  bool printed = false;
  // Steps to the next field; p goes beyond end behind the last one.
  auto step = [&] {
    if (stop == end) {
      p = end + 1;
      return;
    }
    p = stop + 1;
    const char* next = static_cast<const char*>(memchr(p, r.delimiter, static_cast<std::size_t>(end - p)));
    stop = next ? next : end;
    ++field;
  };
  for (const Range& range : r.ranges) {
    while (field < range.low && p <= end) step();
    if (p > end) break;
    if (range.high == UINT64_MAX && !r.has_join) {
      if (printed) out.append(r.join);
      out.append({p, static_cast<std::size_t>(end - p)});
      break;
    }
    while (field <= range.high && p <= end) {
      if (printed) out.append(r.join);
      printed = true;
      out.append({p, static_cast<std::size_t>(stop - p)});
      step();
    }
    if (p > end) break;
  }
  out.put(r.line_end);
}

void cut_positions(std::string_view line, const Request& r, Sink& out) {
  bool printed = false;
  for (const Range& range : r.ranges) {
    if (range.low > line.size()) break;
    std::size_t begin = static_cast<std::size_t>(range.low) - 1;
    std::size_t end = static_cast<std::size_t>(std::min<std::uint64_t>(range.high, line.size()));
    if (printed && r.has_join) out.append(r.join);
    printed = true;
    out.append(line.substr(begin, end - begin));
  }
  out.put(r.line_end);
}

}  // namespace

int run_cut(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  char mode = 0;
  std::string list;
  bool inverted = false, has_delimiter = false;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'b':
      case 'c':
      case 'f':
        if (mode) return usage_error(call, "only one list may be specified");
        mode = static_cast<char>(id);
        list = value;
        break;
      case 'd':
        if (value.size() > 1) return usage_error(call, "the delimiter must be a single character");
        r.delimiter = value.empty() ? '\0' : value[0];
        has_delimiter = true;
        break;
      case kComplement: inverted = true; break;
      case 's': r.only_delimited = true; break;
      case kOutputDelimiter:
        r.join = value;
        r.has_join = true;
        break;
      case 'z': r.line_end = '\0'; break;
      default: break;
    }
  }
  if (!mode) return usage_error(call, "you must specify a list of bytes, characters, or fields");
  if (has_delimiter && mode != 'f')
    return usage_error(call, "an input delimiter may be specified only when operating on fields");
  if (r.only_delimited && mode != 'f')
    return usage_error(call, "suppressing non-delimited lines makes sense\n\tonly when operating on fields");
  // GNU cut counts bytes for -c as well.
  std::string problem = parse_list(list, mode == 'f', !r.has_join, r.ranges);
  if (!problem.empty()) return usage_error(call, problem);
  if (inverted) r.ranges = complement(r.ranges);
  if (mode == 'f' && !r.has_join) r.join = std::string(1, r.delimiter);
  Sink out(call.out());
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Lines lines(in, r.line_end);
    std::string_view line;
    std::uint64_t work = 0;
    while (lines.next(line)) {
      if ((work += line.size() + 8) > 65536) {
        call.charge(work / 32);
        work = 0;
      }
      if (mode == 'f')
        cut_fields(line, r, out);
      else
        cut_positions(line, r, out);
    }
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::cut_program
