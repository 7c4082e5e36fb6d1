#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

enum Long { kCheck = 256, kNoCheck, kHeader };

constexpr Option kOptions[] = {
    {'a', 'a', "", Arg::required}, {'e', 'e', "", Arg::required}, {'i', 'i', "ignore-case"}, {'j', 'j', "", Arg::required}, {'o', 'o', "", Arg::required}, {'t', 't', "", Arg::required},
    {'v', 'v', "", Arg::required}, {'1', '1', "", Arg::required}, {'2', '2', "", Arg::required}, {kCheck, 0, "check-order"}, {kNoCheck, 0, "nocheck-order"}, {kHeader, 0, "header"}, {'z', 'z', "zero-terminated"},
};

struct Row {
  std::string text;
  std::vector<std::string_view> fields;
};

struct Request {
  int separator = -1;
  bool ignore_case = false, unpaired[2] = {}, paired = true, automatic = false, header = false;
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

std::string_view field(const Row& row, std::size_t i) { return i < row.fields.size() ? row.fields[i] : std::string_view(); }

void print(Sink& out, const Request& r, const Row* a, const Row* b, std::size_t width_a, std::size_t width_b) {
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
      if (file == 0) add(key);
      else if (file == 1) add(a ? field(*a, i) : std::string_view());
      else add(b ? field(*b, i) : std::string_view());
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
  out.line(line);
}

}  // namespace

int run_join(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  char delimiter = '\n';
  for (auto& [id, value] : options.found()) {
    std::uint64_t n = 0;
    switch (id) {
      case 'a':
      case 'v':
        if (value != "1" && value != "2") return call.fail(fmt::format("invalid file number: {}", quoted(value)));
        r.unpaired[value[0] - '1'] = true;
        if (id == 'v') r.paired = false;
        break;
      case 'e': r.empty = value; break;
      case 'i': r.ignore_case = true; break;
      case 'j':
      case '1':
      case '2':
        if (!parse_size(value, n) || n == 0) return call.fail(fmt::format("invalid field number: {}", quoted(value)));
        if (id != '2') r.key[0] = static_cast<std::size_t>(n - 1);
        if (id != '1') r.key[1] = static_cast<std::size_t>(n - 1);
        break;
      case 't': r.separator = value == "\\0" ? 0 : value.empty() ? '\n' : static_cast<unsigned char>(value[0]);
        if (value.size() > 1 && value != "\\0") return call.fail(fmt::format("multi-character tab {}", quoted(value)));
        break;
      case 'o': {
        if (value == "auto") {
          r.automatic = true;
          break;
        }
        std::string_view rest = value;
        while (!rest.empty()) {
          std::size_t end = rest.find_first_of(", ");
          std::string_view one = rest.substr(0, end);
          if (one == "0") r.format.emplace_back(0, 0);
          else if (one.size() > 2 && (one[0] == '1' || one[0] == '2') && one[1] == '.' && parse_size(one.substr(2), n) && n > 0) r.format.emplace_back(one[0] - '0', static_cast<std::size_t>(n - 1));
          else return call.fail(fmt::format("invalid field specifier: {}", quoted(one)));
          if (end == std::string_view::npos) break;
          rest.remove_prefix(end + 1);
        }
        break;
      }
      case kHeader: r.header = true; break;
      case 'z': delimiter = '\0'; break;
      default: break;
    }
  }
  auto& operands = options.operands();
  if (operands.size() < 2) return usage_error(call, operands.empty() ? "missing operand" : fmt::format("missing operand after {}", quoted(operands[0])));
  if (operands.size() > 2) return usage_error(call, fmt::format("extra operand {}", quoted(operands[2])));
  if (operands[0] == "-" && operands[1] == "-") return call.fail("both files cannot be standard input");
  std::vector<Row> rows[2];
  for (std::size_t f = 0; f < 2; ++f) {
    std::unique_ptr<Input> owned;
    if (operands[f] != "-" && !(owned = open_or_complain(call, operands[f]))) return 1;
    Lines lines(owned ? *owned : call.in(), delimiter);
    std::string_view line;
    while (lines.next(line)) {
      rows[f].push_back({std::string(line), {}});
      call.charge(line.size() / 8 + 1);
    }
    for (Row& row : rows[f]) split_row(row, r);
  }
  auto compare = [&](std::string_view a, std::string_view b) {
    if (!r.ignore_case) return a.compare(b);
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (int order = tolower(static_cast<unsigned char>(a[i])) - tolower(static_cast<unsigned char>(b[i]))) return order;
    return a.size() < b.size() ? -1 : static_cast<int>(a.size() > b.size());
  };
  int status = 0;
  Sink out(call.out());
  std::size_t wa = rows[0].empty() ? 0 : rows[0][0].fields.size(), wb = rows[1].empty() ? 0 : rows[1][0].fields.size();
  std::size_t i = 0, k = 0;
  if (r.header && !rows[0].empty() && !rows[1].empty()) {
    print(out, r, &rows[0][0], &rows[1][0], wa, wb);
    i = k = 1;
  }
  // GNU complains about disorder only when some line found no partner.
  bool unpairable = false;
  for (std::size_t f = 0; f < 2 && !unpairable; ++f)
    for (const Row& row : rows[f]) {
      call.charge(1);
      bool found = false;
      for (const Row& other : rows[1 - f]) found = found || compare(field(row, r.key[f]), field(other, r.key[1 - f])) == 0;
      call.charge(rows[1 - f].size() / 8 + 1);
      if (!found) {
        unpairable = true;
        break;
      }
    }
  for (std::size_t f = 0; f < 2; ++f)
    for (std::size_t n = r.header ? 2 : 1; n < rows[f].size() && !status && unpairable; ++n)
      if (compare(field(rows[f][n - 1], r.key[f]), field(rows[f][n], r.key[f])) > 0) {
        call.complain(fmt::format("{}:{}: is not sorted: {}", operands[f], n + 1, rows[f][n].text));
        status = 1;
      }
  while (i < rows[0].size() || k < rows[1].size()) {
    call.charge(1);
    int order = i >= rows[0].size() ? 1 : k >= rows[1].size() ? -1 : compare(field(rows[0][i], r.key[0]), field(rows[1][k], r.key[1]));
    if (order < 0) {
      if (r.unpaired[0]) print(out, r, &rows[0][i], nullptr, wa, wb);
      ++i;
    } else if (order > 0) {
      if (r.unpaired[1]) print(out, r, nullptr, &rows[1][k], wa, wb);
      ++k;
    } else {
      std::size_t i2 = i, k2 = k;
      while (i2 < rows[0].size() && compare(field(rows[0][i2], r.key[0]), field(rows[0][i], r.key[0])) == 0) ++i2;
      while (k2 < rows[1].size() && compare(field(rows[1][k2], r.key[1]), field(rows[1][k], r.key[1])) == 0) ++k2;
      if (r.paired)
        for (std::size_t x = i; x < i2; ++x)
          for (std::size_t y = k; y < k2; ++y) {
            call.charge(1);
            print(out, r, &rows[0][x], &rows[1][y], wa, wb);
          }
      i = i2;
      k = k2;
    }
  }
  if (status) call.complain("input is not in sorted order");
  return out.finish(call, status);
}

}  // namespace atl::shell
