#include "shell/commands/sort/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace atl::shell {

namespace {

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

// -n as GNU compares: sign, digits and fraction of any length, without converting to a double.
int compare_numeric(std::string_view a, std::string_view b) {
  auto trim = [](std::string_view s) {
    while (!s.empty() && blank(s[0])) s.remove_prefix(1);
    return s;
  };
  a = trim(a);
  b = trim(b);
  auto take = [](std::string_view s, bool& negative, std::string_view& whole, std::string_view& fraction) {
    negative = s.starts_with('-');
    if (negative) s.remove_prefix(1);
    std::size_t n = 0;
    while (n < s.size() && digit(s[n])) ++n;
    whole = s.substr(0, n);
    while (!whole.empty() && whole[0] == '0') whole.remove_prefix(1);
    fraction = {};
    if (n < s.size() && s[n] == '.') {
      std::size_t f = n + 1;
      while (f < s.size() && digit(s[f])) ++f;
      fraction = s.substr(n + 1, f - n - 1);
      while (fraction.ends_with('0')) fraction.remove_suffix(1);
    }
    // -0 equals 0.
    if (whole.empty() && fraction.empty()) negative = false;
  };
  bool na, nb;
  std::string_view wa, wb, fa, fb;
  take(a, na, wa, fa);
  take(b, nb, wb, fb);
  // Text that is no number sorts before all numbers, NaN behind that.
  if (na != nb) return na ? -1 : 1;
  int order = wa.size() != wb.size() ? (wa.size() < wb.size() ? -1 : 1) : wa.compare(wb);
  if (order == 0) order = fa.compare(fb);
  order = order < 0 ? -1 : order > 0 ? 1 : 0;
  return na ? -order : order;
}

double leading_double(std::string_view text, bool& none) {
  std::string copy(text.substr(0, 64));
  char* end = nullptr;
  double value = strtod(copy.c_str(), &end);
  none = end == copy.c_str();
  return value;
}

int compare_general(std::string_view a, std::string_view b) {
  bool na = false, nb = false;
  double x = leading_double(a, na), y = leading_double(b, nb);
  if (na != nb) return na ? -1 : 1;
  if (na) return 0;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y) ? 0 : std::isnan(x) ? -1 : 1;
  return x < y ? -1 : x > y ? 1 : 0;
}

int month_of(std::string_view text) {
  while (!text.empty() && blank(text[0])) text.remove_prefix(1);
  static constexpr const char* kNames[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                           "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
  for (int i = 0; i < 12; ++i)
    if (text.size() >= 3 && strcasecmp(std::string(text.substr(0, 3)).c_str(), kNames[i]) == 0) return i + 1;
  return 0;
}

int compare_text(std::string_view a, std::string_view b, const SortKey& key) {
  auto skip = [&](unsigned char c) {
    return (key.dictionary && !isalnum(c) && !blank(static_cast<char>(c))) || (key.printable && !isprint(c));
  };
  if (!key.dictionary && !key.fold && !key.printable) {
    int order = memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
    if (order != 0) return order;
    return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
  }
  std::size_t i = 0, k = 0;
  while (true) {
    while (i < a.size() && skip(static_cast<unsigned char>(a[i]))) ++i;
    while (k < b.size() && skip(static_cast<unsigned char>(b[k]))) ++k;
    if (i >= a.size() || k >= b.size()) return i < a.size() ? 1 : k < b.size() ? -1 : 0;
    int x = static_cast<unsigned char>(a[i++]), y = static_cast<unsigned char>(b[k++]);
    if (key.fold) x = toupper(x), y = toupper(y);
    if (x != y) return x < y ? -1 : 1;
  }
}

// Equal keys get equal numbers, so that -R keeps them together.
std::uint64_t scramble(std::string_view text) {
  std::uint64_t h = 0x9E3779B97F4A7C15ULL;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return h ^ (h >> 29);
}

}  // namespace

int unit_of(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && blank(text[i])) ++i;
  bool negative = i < text.size() && text[i] == '-';
  if (negative) ++i;
  bool nonzero = false;
  while (i < text.size() && (digit(text[i]) || text[i] == '.'))
    nonzero |= digit(text[i]) && text[i] != '0', ++i;
  if (!nonzero || i >= text.size()) return 0;
  static constexpr std::string_view kUnits = "KMGTPEZYRQ";
  std::size_t at = kUnits.find(text[i] == 'k' ? 'K' : text[i]);
  int order = at == std::string_view::npos ? 0 : static_cast<int>(at) + 1;
  return negative ? -order : order;
}

int compare_key(std::string_view a, std::string_view b, const SortKey& key) {
  switch (key.kind) {
    case SortKey::Kind::numeric: return compare_numeric(a, b);
    case SortKey::Kind::general: return compare_general(a, b);
    case SortKey::Kind::human: {
      int x = unit_of(a), y = unit_of(b);
      return x != y ? (x < y ? -1 : 1) : compare_numeric(a, b);
    }
    case SortKey::Kind::month: return month_of(a) - month_of(b);
    case SortKey::Kind::version: return compare_versions(a, b);
    case SortKey::Kind::random: {
      std::uint64_t x = scramble(a), y = scramble(b);
      return x < y ? -1 : x > y ? 1 : compare_text(a, b, key);
    }
    default: return compare_text(a, b, key);
  }
}

// Numbers that a double holds exactly are compared as doubles, which is much faster; longer ones as text.
bool exact_number(std::string_view text, double& value) {
  std::size_t i = 0;
  while (i < text.size() && blank(text[i])) ++i;
  bool negative = i < text.size() && text[i] == '-';
  if (negative) ++i;
  std::uint64_t whole = 0;
  std::size_t start = i;
  while (i < text.size() && digit(text[i])) whole = whole * 10 + static_cast<unsigned>(text[i++] - '0');
  if (i - start > 15) return false;
  value = static_cast<double>(whole);
  if (i < text.size() && text[i] == '.' && i + 1 < text.size() && digit(text[i + 1])) {
    // Decimal fractions convert monotonically as long as they are short.
    std::uint64_t fraction = 0, scale = 1;
    std::size_t f = i + 1;
    while (f < text.size() && digit(text[f]) && f - i <= 8)
      fraction = fraction * 10 + static_cast<unsigned>(text[f++] - '0'), scale *= 10;
    if (f < text.size() && digit(text[f])) return false;
    if (i - start > 7) return false;
    value = static_cast<double>(whole) + static_cast<double>(fraction) / static_cast<double>(scale);
  }
  if (negative) value = -value;
  return true;
}

// GNU's version order (filevercmp): suffixes are set aside, digits compare as numbers, ~ sorts first.
int compare_versions(std::string_view a, std::string_view b) {
  auto rank = [](char c) {
    if (c == '~') return -1;
    if (isalpha(static_cast<unsigned char>(c))) return static_cast<int>(static_cast<unsigned char>(c));
    return static_cast<int>(static_cast<unsigned char>(c)) + 256;
  };
  auto bare = [](std::string_view s) {
    // (\.[A-Za-z~][A-Za-z0-9~]*)*$
    std::size_t end = s.size();
    while (true) {
      std::size_t dot = s.substr(0, end).rfind('.');
      if (dot == std::string_view::npos || dot == 0 || dot + 1 >= end) return s.substr(0, end);
      std::string_view part = s.substr(dot + 1, end - dot - 1);
      if (!(isalpha(static_cast<unsigned char>(part[0])) || part[0] == '~')) return s.substr(0, end);
      for (char c : part)
        if (!isalnum(static_cast<unsigned char>(c)) && c != '~') return s.substr(0, end);
      end = dot;
    }
  };
  auto compare = [&](std::string_view x, std::string_view y) {
    std::size_t i = 0, k = 0;
    while (i < x.size() || k < y.size()) {
      while ((i < x.size() && !digit(x[i])) || (k < y.size() && !digit(y[k]))) {
        int p = i < x.size() && !digit(x[i]) ? rank(x[i]) : 0;
        int q = k < y.size() && !digit(y[k]) ? rank(y[k]) : 0;
        if (p != q) return p < q ? -1 : 1;
        ++i;
        ++k;
      }
      while (i < x.size() && x[i] == '0') ++i;
      while (k < y.size() && y[k] == '0') ++k;
      std::size_t m = i, n = k;
      while (m < x.size() && digit(x[m])) ++m;
      while (n < y.size() && digit(y[n])) ++n;
      if (m - i != n - k) return m - i < n - k ? -1 : 1;
      int order = x.substr(i, m - i).compare(y.substr(k, n - k));
      if (order != 0) return order < 0 ? -1 : 1;
      i = m;
      k = n;
    }
    return 0;
  };
  if (a == b) return 0;
  if (a.empty() || b.empty()) return a.empty() ? -1 : 1;
  auto dotted = [](std::string_view s) { return s == "." ? 1 : s == ".." ? 2 : s[0] == '.' ? 3 : 4; };
  if (dotted(a) != dotted(b)) return dotted(a) < dotted(b) ? -1 : 1;
  int order = compare(bare(a), bare(b));
  return order != 0 ? order : compare(a, b);
}

std::string incompatible(const SortKey& key) {
  auto has = [&](char c) { return key.letters.find(c) != std::string::npos; };
  if (has('g') + has('h') + has('n') + has('M') + (has('V') || has('R') || has('d') || has('i')) < 2)
    return {};
  std::string shown;
  for (char c : std::string_view("dfghiMnRV"))
    if (has(c)) shown += c;
  return fmt::format("options '-{}' are incompatible", shown);
}

void set_ordering(SortKey& key, char letter) {
  if (key.letters.find(letter) == std::string::npos) key.letters += letter;
  switch (letter) {
    case 'b': key.skip_begin = key.skip_end = true; break;
    case 'd': key.dictionary = true; break;
    case 'f': key.fold = true; break;
    case 'i': key.printable = true; break;
    case 'r': key.reverse = true; break;
    case 'n': key.kind = SortKey::Kind::numeric; break;
    case 'g': key.kind = SortKey::Kind::general; break;
    case 'h': key.kind = SortKey::Kind::human; break;
    case 'M': key.kind = SortKey::Kind::month; break;
    case 'R': key.kind = SortKey::Kind::random; break;
    case 'V': key.kind = SortKey::Kind::version; break;
    default: break;
  }
}

std::string parse_key(std::string_view text, SortKey& key) {
  key.whole = false;
  std::string_view rest = text;
  auto number = [&](std::size_t& value) {
    std::size_t n = 0;
    value = 0;
    while (n < rest.size() && digit(rest[n]))
      value = std::min<std::size_t>(value * 10 + static_cast<unsigned>(rest[n++] - '0'), 1U << 30);
    rest.remove_prefix(n);
    return n > 0;
  };
  auto letters = [&](bool end) {
    while (!rest.empty() && std::strchr("bdfgiMhnRrV", rest[0])) {
      if (rest[0] == 'b')
        (end ? key.skip_end : key.skip_begin) = true;
      else
        set_ordering(key, rest[0]);
      rest.remove_prefix(1);
    }
  };
  if (!number(key.begin_field))
    return fmt::format("invalid number at field start: invalid count at start of '{}'", rest);
  if (key.begin_field == 0)
    return fmt::format("field number is zero: invalid field specification '{}'", text);
  --key.begin_field;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (!number(key.begin_char))
      return fmt::format("invalid number after '.': invalid count at start of '{}'", rest);
    if (key.begin_char == 0)
      return fmt::format("character offset is zero: invalid field specification '{}'", text);
    --key.begin_char;
  }
  letters(false);
  if (rest.starts_with(',')) {
    rest.remove_prefix(1);
    if (!number(key.end_field))
      return fmt::format("invalid number after ',': invalid count at start of '{}'", rest);
    if (key.end_field == 0)
      return fmt::format("field number is zero: invalid field specification '{}'", text);
    --key.end_field;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      if (!number(key.end_char))
        return fmt::format("invalid number after '.': invalid count at start of '{}'", rest);
    }
    letters(true);
  }
  if (!rest.empty())
    return fmt::format("stray character in field spec: invalid field specification '{}'", text);
  return {};
}

void SortOrder::finish(const SortKey& global) {
  for (SortKey& key : keys) {
    if (!key.plain()) continue;
    key.skip_begin = global.skip_begin;
    key.skip_end = global.skip_end;
    key.reverse = global.reverse;
    key.dictionary = global.dictionary;
    key.fold = global.fold;
    key.printable = global.printable;
    key.kind = global.kind;
  }
  if (keys.empty() && !global.plain()) {
    SortKey key = global;
    key.whole = true;
    // A plain reverse needs no key of its own: the last resort does it.
    SortKey without = key;
    without.reverse = false;
    if (!without.plain()) keys.push_back(key);
  }
  reverse_last = global.reverse;
}

std::string_view SortOrder::extract(std::string_view line, const SortKey& key) const {
  const char* p = line.data();
  const char* end = p + line.size();
  auto skip_field = [&](const char* q) {
    if (separator >= 0) {
      const void* found = memchr(q, separator, static_cast<std::size_t>(end - q));
      return found ? static_cast<const char*>(found) : end;
    }
    while (q < end && blank(*q)) ++q;
    while (q < end && !blank(*q)) ++q;
    return q;
  };
  if (key.whole) {
    if (key.skip_begin)
      while (p < end && blank(*p)) ++p;
    return {p, static_cast<std::size_t>(end - p)};
  }
  const char* start = p;
  for (std::size_t i = 0; i < key.begin_field && start < end; ++i) {
    start = skip_field(start);
    if (separator >= 0 && start < end) ++start;
  }
  const char* limit = end;
  if (key.end_field != static_cast<std::size_t>(-1)) {
    limit = p;
    std::size_t fields = key.end_field + (key.end_char == 0 ? 1 : 0);
    for (std::size_t i = 0; i < fields && limit < end; ++i) {
      limit = skip_field(limit);
      if (separator >= 0 && limit < end && (i + 1 < fields || key.end_char != 0)) ++limit;
    }
    if (key.end_char != 0) {
      if (key.skip_end)
        while (limit < end && blank(*limit)) ++limit;
      limit =
          std::min(end, limit + std::min<std::size_t>(key.end_char, static_cast<std::size_t>(end - limit)));
    }
  }
  if (key.skip_begin)
    while (start < end && blank(*start)) ++start;
  start += std::min<std::size_t>(key.begin_char, static_cast<std::size_t>(end - start));
  if (limit < start) limit = start;
  return {start, static_cast<std::size_t>(limit - start)};
}

int SortOrder::compare_lines(std::string_view a, std::string_view b) const {
  for (const SortKey& key : keys) {
    int order = compare_key(extract(a, key), extract(b, key), key);
    if (order != 0) return key.reverse ? -order : order;
  }
  // The last resort: lines whose keys are equal are ordered as a whole.
  if (!keys.empty() && (stable || unique)) return 0;
  int order = memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
  if (order == 0) order = a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
  return reverse_last ? -order : order;
}

}  // namespace atl::shell
