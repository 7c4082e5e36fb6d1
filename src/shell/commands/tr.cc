#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/text/quotes.h"

namespace atl::shell::tr_program {

namespace {

constexpr Option kOptions[] = {
    {'c', 'c', "complement"},    {'c', 'C', ""}, {'d', 'd', "delete"}, {'s', 's', "squeeze-repeats"},
    {'t', 't', "truncate-set1"},
};

struct Set {
  std::vector<unsigned char> bytes;
  // Where a [x*] without a count stands: it is stretched to the other set's length.
  std::size_t fill_at = std::string::npos;
  unsigned char fill = 0;
  // A class besides upper and lower was named: those two alone have an order that maps to each other.
  bool other_class = false;
};

bool in_class(std::string_view name, int c, bool& known) {
  known = true;
  if (name == "alpha") return isalpha(c);
  if (name == "digit") return isdigit(c);
  if (name == "alnum") return isalnum(c);
  if (name == "upper") return isupper(c);
  if (name == "lower") return islower(c);
  if (name == "space") return isspace(c);
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "punct") return ispunct(c);
  if (name == "print") return isprint(c);
  if (name == "graph") return isgraph(c);
  if (name == "cntrl") return iscntrl(c);
  if (name == "xdigit") return isxdigit(c);
  known = false;
  return false;
}

unsigned char one_char(std::string_view text, std::size_t& at) {
  char c = text[at++];
  if (c != '\\' || at >= text.size()) return static_cast<unsigned char>(c);
  c = text[at++];
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'v': return '\v';
    default: break;
  }
  if (c < '0' || c > '7') return static_cast<unsigned char>(c);
  int value = c - '0';
  for (int i = 0;
       // A third digit that would not fit into a byte is a character of its own, as in GNU tr.
       i < 2 && at < text.size() && text[at] >= '0' && text[at] <= '7' && value * 8 + (text[at] - '0') < 256;
       ++i)
    value = value * 8 + (text[at++] - '0');
  return static_cast<unsigned char>(value);
}

// [x*n] and [x*]; false if this is none.
bool parse_repeat(std::string_view text, std::size_t& at, Set& set) {
  std::size_t probe = at + 1;
  if (probe >= text.size()) return false;
  unsigned char c = one_char(text, probe);
  if (probe >= text.size() || text[probe] != '*') return false;
  std::size_t close = text.find(']', probe);
  if (close == std::string_view::npos) return false;
  std::string digits(text.substr(probe + 1, close - probe - 1));
  if (digits.find_first_not_of("0123456789") != std::string::npos) return false;
  unsigned long count = digits.empty() ? 0 : strtoul(digits.c_str(), nullptr, digits[0] == '0' ? 8 : 10);
  if (count == 0) {
    set.fill_at = set.bytes.size();
    set.fill = c;
  } else {
    set.bytes.insert(set.bytes.end(), std::min<unsigned long>(count, 65536), c);
  }
  at = close + 1;
  return true;
}

std::string parse_set(std::string_view text, Set& set, bool second) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.substr(at).starts_with("[:")) {
      std::size_t close = text.find(":]", at + 2);
      if (close != std::string_view::npos) {
        std::string_view name = text.substr(at + 2, close - at - 2);
        bool known = false;
        in_class(name, 'a', known);
        if (!known) return fmt::format("invalid character class {}", quote_operand(name));
        for (int c = 0; c < 256; ++c)
          if (in_class(name, c, known)) set.bytes.push_back(static_cast<unsigned char>(c));
        if (name != "upper" && name != "lower") set.other_class = true;
        at = close + 2;
        continue;
      }
    }
    // An equivalence class; in this locale every character is equivalent to itself alone.
    if (text.substr(at).starts_with("[=") && at + 4 < text.size() && text.substr(at + 3, 2) == "=]") {
      set.bytes.push_back(static_cast<unsigned char>(text[at + 2]));
      at += 5;
      continue;
    }
    if (text[at] == '[' && second && parse_repeat(text, at, set)) continue;
    std::size_t start = at;
    unsigned char low = one_char(text, at);
    if (at + 1 < text.size() && text[at] == '-') {
      std::size_t after = at + 1;
      unsigned char high = one_char(text, after);
      if (high < low)
        return fmt::format("range-endpoints of '{}' are in reverse collating sequence order",
                           text.substr(start, after - start));
      for (int c = low; c <= high; ++c) set.bytes.push_back(static_cast<unsigned char>(c));
      at = after;
      continue;
    }
    set.bytes.push_back(low);
  }
  return {};
}

void complement(Set& set) {
  bool present[256] = {};
  for (unsigned char c : set.bytes) present[c] = true;
  set.bytes.clear();
  for (int c = 0; c < 256; ++c)
    if (!present[c]) set.bytes.push_back(static_cast<unsigned char>(c));
}

struct Tables {
  std::array<unsigned char, 256> map;
  bool drop[256] = {}, once[256] = {};
  bool removes = false, squeezes = false;
};

int transform(Invocation& call, const Tables& t) {
  int last = -1;
  std::string out;
  while (true) {
    std::string_view block = call.in().fill();
    if (block.empty()) return 0;
    call.charge(block.size() / 32 + 1);
    out.resize(block.size());
    std::size_t n = 0;
    if (!t.removes && !t.squeezes) {
      for (char c : block) out[n++] = static_cast<char>(t.map[static_cast<unsigned char>(c)]);
    } else {
      for (char raw : block) {
        unsigned char c = static_cast<unsigned char>(raw);
        if (t.drop[c]) continue;
        c = t.map[c];
        if (t.once[c] && c == last) continue;
        last = c;
        out[n++] = static_cast<char>(c);
      }
    }
    call.in().consume(block.size());
    if (!call.out().write(std::string_view(out).substr(0, n)))
      return call.fail(fmt::format("write error: {}", call.out().error()));
  }
}

}  // namespace

int run_tr(Invocation& call) {
  CommandLine options(call, kOptions, {.permute = false});
  if (options.stopped()) return options.status();
  bool invert = false, truncate = false;
  Tables t;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c': invert = true; break;
      case 'd': t.removes = true; break;
      case 's': t.squeezes = true; break;
      case 't': truncate = true; break;
      default: break;
    }
  }
  auto& operands = options.operands();
  bool needs_two = t.removes == t.squeezes;
  if (operands.empty()) return usage_error(call, "missing operand");
  if (operands.size() < 2 && needs_two)
    return usage_error(
        call, fmt::format("missing operand after {}\n{}", quote_operand(operands.back()),
                          t.removes ? "Two strings must be given when both deleting and squeezing repeats."
                                    : "Two strings must be given when translating."));
  std::size_t most = t.removes && !t.squeezes ? 1 : 2;
  if (operands.size() > most)
    return usage_error(
        call,
        fmt::format(
            "extra operand {}{}", quote_operand(operands[most]),
            most == 1 ? "\nOnly one string may be given when deleting without squeezing repeats." : ""));
  Set first, second;
  std::string problem = parse_set(operands[0], first, false);
  if (problem.empty() && operands.size() > 1) problem = parse_set(operands[1], second, true);
  if (!problem.empty()) return call.fail(problem);
  if (invert) complement(first);
  for (int c = 0; c < 256; ++c) t.map[static_cast<std::size_t>(c)] = static_cast<unsigned char>(c);
  if (operands.size() > 1 && !t.removes) {
    if (second.bytes.empty() && second.fill_at == std::string::npos && !first.bytes.empty())
      return call.fail("when not truncating set1, string2 must be non-empty");
    if (second.fill_at != std::string::npos && first.bytes.size() > second.bytes.size())
      second.bytes.insert(second.bytes.begin() + static_cast<std::ptrdiff_t>(second.fill_at),
                          first.bytes.size() - second.bytes.size(), second.fill);
    if (second.other_class && !invert)
      return call.fail(
          "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'");
    std::size_t count = truncate ? std::min(first.bytes.size(), second.bytes.size()) : first.bytes.size();
    for (std::size_t i = 0; i < count; ++i)
      // The last character of the second set stands for all that are missing; of repeated ones the last wins.
      t.map[first.bytes[i]] = second.bytes[std::min(i, second.bytes.size() - 1)];
  }
  if (t.removes)
    for (unsigned char c : first.bytes) t.drop[c] = true;
  if (t.squeezes)
    for (unsigned char c : operands.size() > 1 ? second.bytes : first.bytes) t.once[c] = true;
  return transform(call, t);
}

}  // namespace atl::shell::tr_program
