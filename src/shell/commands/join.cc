#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::join_program {

namespace {

enum Long { kCheck = 256, kNoCheck, kHeader };

constexpr Option kOptions[] = {
    {'a', 'a', "", Arg::required}, {'e', 'e', "", Arg::required},  {'i', 'i', "ignore-case"},
    {'j', 'j', "", Arg::required}, {'o', 'o', "", Arg::required},  {'t', 't', "", Arg::required},
    {'v', 'v', "", Arg::required}, {'1', '1', "", Arg::required},  {'2', '2', "", Arg::required},
    {kCheck, 0, "check-order"},    {kNoCheck, 0, "nocheck-order"}, {kHeader, 0, "header"},
    {'z', 'z', "zero-terminated"},
};

struct Row {
  std::string text;
  std::vector<std::string_view> fields;
};

struct Request {
  int separator = -1;
  bool ignore_case = false, unpaired[2] = {}, paired = true, automatic = false, header = false;
  enum class Check : unsigned char { when_unpaired, always, never } check = Check::when_unpaired;
  char delimiter = '\n';
  std::size_t key[2] = {0, 0};
  std::string empty;
  std::vector<std::pair<int, std::size_t>> format;  // file 0: the join field
};

void split_row(Row& row, const Request& r) {
  std::string_view text = row.text;
  if (r.separator >= 0) {
    while (true) {
      std::size_t end = text.find(static_cast<char>(r.separator));
      row.fields.push_back(text.substr(0, end));
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }
  while (true) {
    std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) return;
    std::size_t end = text.find_first_of(" \t", start);
    row.fields.push_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end);
  }
}

std::string_view field(const Row& row, std::size_t i) {
  return i < row.fields.size() ? row.fields[i] : std::string_view();
}

void print(Sink& out, const Request& r, const Row* a, const Row* b, std::size_t width_a,
           std::size_t width_b) {
  std::string line;
  bool first = true;
  char separator = r.separator >= 0 ? static_cast<char>(r.separator) : ' ';
  auto add = [&](std::string_view text) {
    if (!first) line += separator;
    first = false;
    line += text.empty() ? std::string_view(r.empty) : text;
  };
  std::string_view key = a ? field(*a, r.key[0]) : field(*b, r.key[1]);
  if (!r.format.empty()) {
    for (auto& [file, i] : r.format) {
      if (file == 0)
        add(key);
      else if (file == 1)
        add(a ? field(*a, i) : std::string_view());
      else
        add(b ? field(*b, i) : std::string_view());
    }
  } else {
    add(key);
    auto rest = [&](const Row* row, std::size_t skip, std::size_t width) {
      std::size_t n = r.automatic ? width : row ? row->fields.size() : 0;
      for (std::size_t i = 0; i < n; ++i)
        if (i != skip) add(row ? field(*row, i) : std::string_view());
    };
    rest(a, r.key[0], width_a);
    rest(b, r.key[1], width_b);
  }
  out.line(line, r.delimiter);
}

// Two files of rows, met as GNU's join meets them: it matters where a disorder is noticed.
class Joiner {
 public:
  Joiner(Invocation& call, const Request& r, const std::vector<std::string>& names, std::vector<Row>* rows,
         Sink& out)
      : call_(call), r_(r), names_(names), rows_(rows), out_(out) {}

  // False when the order was found wrong and that was to end everything.
  bool run() {
    width_[0] = rows_[0].empty() ? 0 : rows_[0][0].fields.size();
    width_[1] = rows_[1].empty() ? 0 : rows_[1][0].fields.size();
    if (r_.header && (!rows_[0].empty() || !rows_[1].empty())) {
      show(rows_[0].empty() ? nullptr : &rows_[0][0], rows_[1].empty() ? nullptr : &rows_[1][0]);
      for (std::size_t f = 0; f < 2; ++f) at_[f] = first_[f] = rows_[f].empty() ? 0 : 1;
    }
    while (has(0) && has(1)) {
      call_.charge(1);
      int order = compare(key(0, at_[0]), key(1, at_[1]));
      if (order != 0) {
        std::size_t f = order < 0 ? 0 : 1;
        if (r_.unpaired[f]) alone(f);
        if (!advance(f)) return false;
        unpairable_ = true;
        continue;
      }
      if (!pairs()) return false;
    }
    return tail(0) && tail(1);
  }
  bool disorder() const { return told_[0] || told_[1]; }

 private:
  bool has(std::size_t f) const { return at_[f] < rows_[f].size(); }
  std::string_view key(std::size_t f, std::size_t row) const { return field(rows_[f][row], r_.key[f]); }
  void show(const Row* a, const Row* b) { print(out_, r_, a, b, width_[0], width_[1]); }
  void alone(std::size_t f) { f == 0 ? show(&rows_[0][at_[0]], nullptr) : show(nullptr, &rows_[1][at_[1]]); }
  int compare(std::string_view a, std::string_view b) const {
    if (!r_.ignore_case) return a.compare(b);
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (int order = tolower(static_cast<unsigned char>(a[i])) - tolower(static_cast<unsigned char>(b[i])))
        return order;
    return a.size() < b.size() ? -1 : static_cast<int>(a.size() > b.size());
  }
  // To the next row of a file, which is then looked at.
  bool advance(std::size_t f) {
    ++at_[f];
    if (!has(f) || at_[f] <= first_[f] || told_[f] || r_.check == Request::Check::never) return true;
    if (r_.check == Request::Check::when_unpaired && !unpairable_) return true;
    if (compare(key(f, at_[f] - 1), key(f, at_[f])) <= 0) return true;
    told_[f] = true;
    out_.flush();
    call_.complain(fmt::format("{}:{}: is not sorted: {}", names_[f], at_[f] + 1, rows_[f][at_[f]].text));
    return r_.check != Request::Check::always;
  }
  // All rows of one key with all of the other file's.
  bool pairs() {
    std::size_t begin[2] = {at_[0], at_[1]};
    for (std::size_t f = 0; f < 2; ++f) {
      do
        if (!advance(f)) return false;
      while (has(f) && compare(key(f, at_[f]), key(1 - f, begin[1 - f])) == 0);
    }
    if (!r_.paired) return true;
    for (std::size_t x = begin[0]; x < at_[0]; ++x)
      for (std::size_t y = begin[1]; y < at_[1]; ++y) {
        call_.charge(1);
        show(&rows_[0][x], &rows_[1][y]);
      }
    return true;
  }
  // What is left of a file when the other one is at its end.
  bool tail(std::size_t f) {
    if (has(f) && has(1 - f)) unpairable_ = true;
    while (has(f)) {
      call_.charge(1);
      if (r_.unpaired[f]) alone(f);
      if (!advance(f)) return false;
    }
    return true;
  }

  Invocation& call_;
  const Request& r_;
  const std::vector<std::string>& names_;
  std::vector<Row>* rows_;
  Sink& out_;
  std::size_t at_[2] = {}, first_[2] = {}, width_[2] = {};
  bool told_[2] = {}, unpairable_ = false;
};

// "1.2,0,2.1" of -o. False after a complaint.
bool read_format(Invocation& call, std::string_view text, Request& r) {
  while (!text.empty()) {
    std::uint64_t n = 0;
    std::size_t end = text.find_first_of(", ");
    std::string_view one = text.substr(0, end);
    if (one == "0") {
      r.format.emplace_back(0, 0);
    } else if (one.size() > 2 && (one[0] == '1' || one[0] == '2') && one[1] == '.' &&
               parse_size(one.substr(2), n) && n > 0) {
      r.format.emplace_back(one[0] - '0', static_cast<std::size_t>(n - 1));
    } else {
      bool other_file = one.size() > 1 && one[1] == '.' && isdigit(static_cast<unsigned char>(one[0])) &&
                        one[0] != '1' && one[0] != '2';
      call.fail(fmt::format("{}: {}",
                            other_file ? "invalid file number in field spec" : "invalid field specifier",
                            quote_operand(one)));
      return false;
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return true;
}

// What the options ask for. The status to end with after a complaint.
std::optional<int> read_options(Invocation& call, const CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    std::uint64_t n = 0;
    switch (id) {
      case 'a':
      case 'v':
        if (value != "1" && value != "2")
          return call.fail(fmt::format("invalid field number: {}", quote_operand(value)));
        r.unpaired[value[0] - '1'] = true;
        if (id == 'v') r.paired = false;
        break;
      case 'e': r.empty = value; break;
      case 'i': r.ignore_case = true; break;
      case 'j':
      case '1':
      case '2':
        if (!parse_size(value, n) || n == 0)
          return call.fail(fmt::format("invalid field number: {}", quote_operand(value)));
        if (id != '2') r.key[0] = static_cast<std::size_t>(n - 1);
        if (id != '1') r.key[1] = static_cast<std::size_t>(n - 1);
        break;
      case 't':
        r.separator = value == "\\0" ? 0 : value.empty() ? '\n' : static_cast<unsigned char>(value[0]);
        if (value.size() > 1 && value != "\\0")
          return call.fail(fmt::format("multi-character tab {}", quote_operand(value)));
        break;
      case 'o':
        if (value == "auto")
          r.automatic = true;
        else if (!read_format(call, value, r))
          return 1;
        break;
      case kHeader: r.header = true; break;
      case 'z': r.delimiter = '\0'; break;
      case kCheck: r.check = Request::Check::always; break;
      case kNoCheck: r.check = Request::Check::never; break;
      default: break;
    }
  }
  return std::nullopt;
}

// Every line of a file, cut into its fields. False after a complaint.
bool read_rows(Invocation& call, const std::string& name, const Request& r, std::vector<Row>& rows) {
  std::unique_ptr<Input> owned;
  if (name != "-" && !(owned = open_or_complain(call, name))) return false;
  Lines lines(owned ? *owned : call.in(), r.delimiter);
  std::string_view line;
  while (lines.next(line)) {
    rows.push_back({std::string(line), {}});
    call.charge(line.size() / 8 + 1);
  }
  // Fields are views into rows that no longer move.
  for (Row& row : rows) split_row(row, r);
  return true;
}

}  // namespace

int run_join(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  if (const auto status = read_options(call, options, r)) return *status;
  auto& operands = options.operands();
  if (operands.size() < 2)
    return usage_error(call, operands.empty()
                                 ? "missing operand"
                                 : fmt::format("missing operand after {}", quote_operand(operands[0])));
  if (operands.size() > 2)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[2])));
  if (operands[0] == "-" && operands[1] == "-") return call.fail("both files cannot be standard input");
  std::vector<Row> rows[2];
  for (std::size_t f = 0; f < 2; ++f)
    if (!read_rows(call, operands[f], r, rows[f])) return 1;
  Sink out(call.out());
  Joiner joiner(call, r, operands, rows, out);
  if (!joiner.run()) return out.finish(call, 1);
  if (joiner.disorder()) {
    out.flush();
    call.complain("input is not in sorted order");
  }
  return out.finish(call, joiner.disorder() ? 1 : 0);
}

}  // namespace atl::shell::join_program
