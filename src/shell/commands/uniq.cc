#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::uniq_program {

namespace {

enum Long { kGroup = 256, kAllRepeated };

constexpr Option kOptions[] = {
    {'c', 'c', "count"},
    {'d', 'd', "repeated"},
    {'D', 'D', ""},
    {kAllRepeated, 0, "all-repeated", Arg::optional},
    {'f', 'f', "skip-fields", Arg::required},
    {kGroup, 0, "group", Arg::optional},
    {'i', 'i', "ignore-case"},
    {'s', 's', "skip-chars", Arg::required},
    {'u', 'u', "unique"},
    {'z', 'z', "zero-terminated"},
    {'w', 'w', "check-chars", Arg::required},
};

struct Request {
  bool count = false, repeated = false, unique = false, all_repeated = false, ignore_case = false;
  std::string separate = "none", group;
  std::uint64_t skip_fields = 0, skip_chars = 0, check_chars = UINT64_MAX;
  char delimiter = '\n';
};

std::string_view key_of(std::string_view line, const Request& r) {
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < r.skip_fields && at < line.size(); ++i) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    while (at < line.size() && line[at] != ' ' && line[at] != '\t') ++at;
  }
  at += static_cast<std::size_t>(std::min<std::uint64_t>(r.skip_chars, line.size() - at));
  return line.substr(at, static_cast<std::size_t>(std::min<std::uint64_t>(r.check_chars, line.size())));
}

bool same(std::string_view a, std::string_view b, bool ignore_case) {
  if (!ignore_case) return a == b;
  auto fold = [](char c) { return tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return fold(x) == fold(y); });
}

class Grouper {
 public:
  Grouper(Sink& out, const Request& request) : out_(out), r_(request) {}

  void group(const std::string& first, std::uint64_t count, const std::vector<std::string>& all) {
    if (!r_.group.empty()) {
      if (r_.group == "prepend" || (r_.group == "both" && !any_) || (r_.group == "separate" && any_))
        out_.put(r_.delimiter);
      for (const std::string& line : all) out_.line(line, r_.delimiter);
      if (r_.group == "append" || r_.group == "both") out_.put(r_.delimiter);
      any_ = true;
      return;
    }
    if (r_.all_repeated) {
      if (count < 2) return;
      if (r_.separate == "prepend" || (r_.separate == "separate" && any_)) out_.put(r_.delimiter);
      for (const std::string& line : all) out_.line(line, r_.delimiter);
      any_ = true;
      return;
    }
    if ((r_.repeated && count < 2) || (r_.unique && count > 1)) return;
    if (r_.count) {
      char digits[32];
      int n = snprintf(digits, sizeof digits, "%7llu ", static_cast<unsigned long long>(count));
      out_.append({digits, static_cast<std::size_t>(n)});
    }
    out_.line(first, r_.delimiter);
  }

 private:
  Sink& out_;
  const Request& r_;
  bool any_ = false;
};

constexpr Choice kSeparate[] = {{"none", 0}, {"prepend", 1}, {"separate", 2}};
constexpr Choice kGroups[] = {{"prepend", 0}, {"append", 1}, {"separate", 2}, {"both", 3}};

bool word(Invocation& call, std::string_view option, const std::string& value, std::span<const Choice> words,
          std::string& into) {
  auto found = choose(call, option, value, words);
  if (found) into = words[static_cast<std::size_t>(*found)].word;
  return found.has_value();
}

// -1: go on.
int read_options(Invocation& call, CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    const std::string& text = value;
    auto number = [&](std::uint64_t& out, std::string_view what) {
      if (parse_size(text, out)) return true;
      call.complain(fmt::format("{}: invalid number of {}", text, what));
      return false;
    };
    switch (id) {
      case 'c': r.count = true; break;
      case 'd': r.repeated = true; break;
      case 'D': r.all_repeated = true; break;
      case kAllRepeated:
        r.all_repeated = true;
        if (!value.empty() && !word(call, "--all-repeated", value, kSeparate, r.separate)) return 1;
        break;
      case 'f':
      case '0':
        if (!number(r.skip_fields, "fields to skip")) return 1;
        break;
      case kGroup:
        r.group = "separate";
        if (!value.empty() && !word(call, "--group", value, kGroups, r.group)) return 1;
        break;
      case 'i': r.ignore_case = true; break;
      case 's':
        if (!number(r.skip_chars, "bytes to skip")) return 1;
        break;
      case 'u': r.unique = true; break;
      case 'z': r.delimiter = '\0'; break;
      case 'w':
        if (!number(r.check_chars, "bytes to compare")) return 1;
        break;
      default: break;
    }
  }
  if (!r.group.empty() && (r.count || r.repeated || r.all_repeated || r.unique))
    return usage_error(call, "--group is mutually exclusive with -c/-d/-D/-u");
  if (r.all_repeated && r.count)
    return usage_error(call, "printing all duplicated lines and repeat counts is meaningless");
  return -1;
}

}  // namespace

int run_uniq(Invocation& call) {
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Request r;
  if (int status = read_options(call, options, r); status >= 0) return status;
  auto& operands = options.operands();
  if (operands.size() > 2)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[2])));
  std::unique_ptr<Input> owned;
  Input* in = &call.in();
  if (!operands.empty() && operands[0] != "-") {
    if (!(owned = open_or_complain(call, operands[0]))) return 1;
    in = owned.get();
  }
  std::unique_ptr<Output> file;
  if (operands.size() > 1 && operands[1] != "-") {
    auto opened = call.open_output(operands[1], false);
    if (!opened) return call.fail(fmt::format("{}: {}", operands[1], reason(opened.error())));
    file = std::move(*opened);
  }
  Sink out(file ? *file : call.out());
  Grouper grouper(out, r);
  Lines lines(*in, r.delimiter);
  std::string_view line;
  std::string first, key;
  std::vector<std::string> all;
  bool collects = r.all_repeated || !r.group.empty();
  std::uint64_t count = 0;
  while (lines.next(line)) {
    call.charge(line.size() / 32 + 1);
    std::string_view k = key_of(line, r);
    if (count > 0 && same(k, key, r.ignore_case)) {
      ++count;
      if (collects) all.emplace_back(line);
      continue;
    }
    if (count > 0) grouper.group(first, count, all);
    first.assign(line);
    key.assign(k);
    count = 1;
    if (collects) all.assign(1, first);
  }
  if (count > 0) grouper.group(first, count, all);
  int status = out.finish(call);
  if (file) file->flush();
  return status;
}

}  // namespace atl::shell::uniq_program
