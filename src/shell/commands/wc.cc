#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/count_byte.h"
#include "shell/text/width.h"

namespace atl::shell::wc_program {

namespace {

enum Long { kFiles0 = 256, kTotal };

constexpr Option kOptions[] = {
    {'c', 'c', "bytes"},
    {'m', 'm', "chars"},
    {'l', 'l', "lines"},
    {'L', 'L', "max-line-length"},
    {'w', 'w', "words"},
    {kFiles0, 0, "files0-from", Arg::required},
    {kTotal, 0, "total", Arg::required},
};

struct Counts {
  std::uint64_t lines = 0, words = 0, chars = 0, bytes = 0, longest = 0;
  void add(const Counts& o) {
    lines += o.lines;
    words += o.words;
    chars += o.chars;
    bytes += o.bytes;
    longest = std::max(longest, o.longest);
  }
};

struct What {
  bool lines = false, words = false, chars = false, bytes = false, longest = false;
  int columns() const { return lines + words + chars + bytes + longest; }
};

// One look-up a byte: 1 for what is between words.
constexpr auto kSpace = [] {
  std::array<unsigned char, 256> table{};
  for (char c : {' ', '\t', '\n', '\v', '\f', '\r'}) table[static_cast<unsigned char>(c)] = 1;
  return table;
}();

void measure(std::string_view line, std::uint64_t& longest) {
  std::uint64_t width = 0;
  for (std::size_t at = 0; at < line.size();) {
    char c = line[at];
    if (c == '\r' || c == '\f') {
      longest = std::max(longest, width);
      width = 0;
      ++at;
    } else if (c == '\t') {
      width += 8 - width % 8;
      ++at;
    } else {
      std::size_t length = 1;
      width += static_cast<std::uint64_t>(char_width(utf8::read(line.substr(at), length)));
      at += length;
    }
  }
  longest = std::max(longest, width);
}

Counts count(Invocation& call, Input& in, const What& what) {
  Counts n;
  unsigned in_word = 0;
  std::string carry;
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) break;
    call.charge(block.size() / 32 + 1);
    n.bytes += block.size();
    if (what.lines) n.lines += count_byte(block, '\n');
    if (what.chars) n.chars += utf8::count_starts(block);
    if (what.words) {
      std::uint64_t words = 0;
      for (char c : block) {
        unsigned now = kSpace[static_cast<unsigned char>(c)] ^ 1U;
        words += now & (in_word ^ 1U);
        in_word = now;
      }
      n.words += words;
    }
    if (what.longest) {
      std::string_view rest = block;
      for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
        carry.append(rest.substr(0, end));
        measure(carry, n.longest);
        carry.clear();
      }
      carry.append(rest);
    }
    in.consume(block.size());
  }
  measure(carry, n.longest);
  return n;
}

struct Row {
  Counts counts;
  std::string name;
};

// As wide as the sizes of all files together need; 7 where one of them is not known before it is read.
int width_of(Invocation& call, const std::vector<std::string>& operands, const What& what,
             const std::vector<Row>& rows) {
  if (operands.size() <= 1 && what.columns() == 1) return 1;
  std::uint64_t size = 0;
  bool unknown = false, standard_file = call.in().inode() != 0;
  if (operands.empty()) {
    unknown = !standard_file;
    if (standard_file) size += rows[0].counts.bytes;
  }
  for (const std::string& operand : operands) {
    auto path = call.resolve(operand);
    auto stat = operand == "-" || !path ? std::nullopt : call.fs().find(*path);
    if (operand == "-" || (stat && !stat->is_file()))
      unknown = true;
    else if (stat)
      size += stat->size;
  }
  return unknown ? 7 : static_cast<int>(std::to_string(size).size());
}

std::string table(const std::vector<Row>& rows, const What& what, int width) {
  std::string text;
  for (const Row& row : rows) {
    bool first = true;
    auto column = [&](bool wanted, std::uint64_t value) {
      if (!wanted) return;
      if (!first) text += ' ';
      first = false;
      text += fmt::format("{:>{}}", value, width);
    };
    column(what.lines, row.counts.lines);
    column(what.words, row.counts.words);
    column(what.chars, row.counts.chars);
    column(what.bytes, row.counts.bytes);
    column(what.longest, row.counts.longest);
    if (!row.name.empty()) text += " " + row.name;
    text += '\n';
  }
  return text;
}

}  // namespace

int run_wc(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  What what;
  std::string total_when = "auto";
  auto& operands = options.operands();
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c': what.bytes = true; break;
      case 'm': what.chars = true; break;
      case 'l': what.lines = true; break;
      case 'L': what.longest = true; break;
      case 'w': what.words = true; break;
      case kTotal: {
        static constexpr Choice kWhen[] = {{"auto", 0}, {"always", 1}, {"only", 2}, {"never", 3}};
        auto when = choose(call, "--total", value, kWhen);
        if (!when) return 1;
        total_when = kWhen[*when].word;
        break;
      }
      case kFiles0: {
        auto in = value == "-" ? nullptr : open_or_complain(call, value);
        if (value != "-" && !in) return 1;
        std::string name;
        Input& from = in ? *in : call.in();
        while (from.read_line(name, '\0')) operands.push_back(name);
        break;
      }
      default: break;
    }
  }
  if (what.columns() == 0) what.lines = what.words = what.bytes = true;
  std::vector<Row> rows;
  Counts total;
  bool good = true;
  if (operands.empty()) rows.push_back({count(call, call.in(), what), ""});
  for (const std::string& operand : operands) {
    if (operand == "-") {
      rows.push_back({count(call, call.in(), what), "-"});
    } else {
      auto in = call.open_input(operand);
      if (!in) {
        call.complain(fmt::format("{}: {}", operand, reason(in.error())));
        good = false;
        if (in.error().code() == Code::is_a_directory) rows.push_back({Counts{}, operand});
        continue;
      }
      rows.push_back({count(call, **in, what), operand});
    }
    total.add(rows.back().counts);
  }
  int width = width_of(call, operands, what, rows);
  bool only = total_when == "only";
  if (only) {
    rows.clear();
    width = 1;
  }
  if (only || total_when == "always" || (total_when == "auto" && operands.size() > 1))
    rows.push_back({total, only ? "" : "total"});
  if (!call.out().write(table(rows, what, width))) return call.fail("write error");
  return good ? 0 : 1;
}

}  // namespace atl::shell::wc_program
