#include "shell/commands/diff/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace atl::shell {

namespace {

constexpr std::size_t kEditsMax = 20000;

std::vector<std::string_view> split(std::string_view text, bool& open) {
  std::vector<std::string_view> lines;
  open = !text.empty() && !text.ends_with('\n');
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string normal_form(std::string_view line, const DiffStyle& s) {
  std::string out;
  if (s.strip_cr && line.ends_with('\r')) line.remove_suffix(1);
  if (s.ignore_trailing_space || s.ignore_space_change)
    while (!line.empty() && isspace(static_cast<unsigned char>(line.back()))) line.remove_suffix(1);
  std::string expanded;
  if (s.ignore_tab_expansion) {
    for (char c : line) {
      if (c == '\t') expanded.append(s.tab - expanded.size() % s.tab, ' ');
      else expanded += c;
    }
    line = expanded;
  }
  bool space = false;
  for (char c : line) {
    if (isspace(static_cast<unsigned char>(c)) && (s.ignore_all_space || s.ignore_space_change)) {
      space = true;
      continue;
    }
    if (space && s.ignore_space_change) out += ' ';
    space = false;
    out += s.ignore_case ? static_cast<char>(tolower(static_cast<unsigned char>(c))) : c;
  }
  return out;
}

// Marks of lines that are not common, by Myers' greedy algorithm with a stored trace per distance.
class Aligner {
 public:
  Aligner(Invocation& call, const std::vector<int>& a, const std::vector<int>& b, std::vector<bool>& a_changed, std::vector<bool>& b_changed)
      : call_(call), a_(a), b_(b), a_changed_(a_changed), b_changed_(b_changed) {}

  void run(std::size_t a0, std::size_t a1, std::size_t b0, std::size_t b1) {
    struct Part {
      std::size_t a0, a1, b0, b1;
    };
    std::vector<Part> pending{{a0, a1, b0, b1}};
    while (!pending.empty()) {
      Part p = pending.back();
      pending.pop_back();
      while (p.a0 < p.a1 && p.b0 < p.b1 && a_[p.a0] == b_[p.b0]) ++p.a0, ++p.b0;
      while (p.a0 < p.a1 && p.b0 < p.b1 && a_[p.a1 - 1] == b_[p.b1 - 1]) --p.a1, --p.b1;
      if (p.a0 == p.a1 || p.b0 == p.b1) {
        for (std::size_t i = p.a0; i < p.a1; ++i) a_changed_[i] = true;
        for (std::size_t i = p.b0; i < p.b1; ++i) b_changed_[i] = true;
        continue;
      }
      std::size_t x = 0, y = 0;
      if (!middle(p.a0, p.a1, p.b0, p.b1, x, y)) {
        for (std::size_t i = p.a0; i < p.a1; ++i) a_changed_[i] = true;
        for (std::size_t i = p.b0; i < p.b1; ++i) b_changed_[i] = true;
        continue;
      }
      pending.push_back({p.a0, x, p.b0, y});
      pending.push_back({x, p.a1, y, p.b1});
    }
  }

 private:
  // A point on a shortest path, by searching from both ends at once.
  bool middle(std::size_t a0, std::size_t a1, std::size_t b0, std::size_t b1, std::size_t& mx, std::size_t& my) {
    long n = static_cast<long>(a1 - a0), m = static_cast<long>(b1 - b0), delta = n - m;
    long most = (n + m + 1) / 2 + 1;
    std::vector<long> forward(static_cast<std::size_t>(2 * most + 3), -1), backward(static_cast<std::size_t>(2 * most + 3), -1);
    auto f = [&](long k) -> long& { return forward[static_cast<std::size_t>(k + most + 1)]; };
    auto g = [&](long k) -> long& { return backward[static_cast<std::size_t>(k + most + 1)]; };
    f(1) = 0;
    g(1) = 0;
    for (long d = 0; d <= most; ++d) {
      if (static_cast<std::size_t>(d) > kEditsMax) return false;
      call_.charge(static_cast<std::uint64_t>(d) / 4 + 1);
      for (long k = -d; k <= d; k += 2) {
        if (k < -m - 1 || k > n + 1) continue;
        long x = k == -d || (k != d && f(k - 1) < f(k + 1)) ? f(k + 1) : f(k - 1) + 1;
        long y = x - k;
        if (y < 0 || x > n) {
          f(k) = x;
          continue;
        }
        long sx = x, sy = y;
        while (x < n && y < m && a_[a0 + static_cast<std::size_t>(x)] == b_[b0 + static_cast<std::size_t>(y)]) ++x, ++y;
        f(k) = x;
        long back = delta - k;
        if (delta % 2 != 0 && back >= -(d - 1) && back <= d - 1 && x + g(back) >= n && y <= m) {
          mx = a0 + static_cast<std::size_t>(sx == 0 && sy == 0 && x == 0 ? x : x);
          my = b0 + static_cast<std::size_t>(y);
          // The point must split the work, or the loop would not end.
          if ((mx == a1 && my == b1)) mx = a0 + static_cast<std::size_t>(sx), my = b0 + static_cast<std::size_t>(sy);
          return !((mx == a0 && my == b0) || (mx == a1 && my == b1));
        }
      }
      for (long k = -d; k <= d; k += 2) {
        if (k < -m - 1 || k > n + 1) continue;
        long x = k == -d || (k != d && g(k - 1) < g(k + 1)) ? g(k + 1) : g(k - 1) + 1;
        long y = x - k;
        if (y < 0 || x > n) {
          g(k) = x;
          continue;
        }
        long sx = x, sy = y;
        while (x < n && y < m && a_[a1 - 1 - static_cast<std::size_t>(x)] == b_[b1 - 1 - static_cast<std::size_t>(y)]) ++x, ++y;
        g(k) = x;
        long ahead = delta - k;
        if (delta % 2 == 0 && ahead >= -d && ahead <= d && x + f(ahead) >= n && y <= m) {
          mx = a1 - static_cast<std::size_t>(x);
          my = b1 - static_cast<std::size_t>(y);
          if (mx == a0 && my == b0) mx = a1 - static_cast<std::size_t>(sx), my = b1 - static_cast<std::size_t>(sy);
          return !((mx == a0 && my == b0) || (mx == a1 && my == b1));
        }
      }
    }
    return false;
  }

  Invocation& call_;
  const std::vector<int>&a_, &b_;
  std::vector<bool>&a_changed_, &b_changed_;
};

// Slides a run of changed lines down as far as it goes, as GNU diff does, and joins runs it meets.
void slide(const std::vector<int>& lines, std::vector<bool>& changed) {
  std::size_t n = lines.size();
  for (std::size_t i = 0; i < n;) {
    if (!changed[i]) {
      ++i;
      continue;
    }
    std::size_t start = i, end = i;
    while (end < n && changed[end]) ++end;
    while (end < n && !changed[end] && lines[start] == lines[end]) {
      changed[start++] = false;
      changed[end++] = true;
      while (end < n && changed[end]) ++end;
    }
    i = end;
  }
}

}  // namespace

DiffResult diff_lines(Invocation& call, std::string_view a, std::string_view b, const DiffStyle& style) {
  DiffResult r;
  r.a = split(a, r.a_open);
  r.b = split(b, r.b_open);
  std::unordered_map<std::string, int> ids;
  auto number = [&](const std::vector<std::string_view>& lines, bool open) {
    std::vector<int> out;
    out.reserve(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::string key = normal_form(lines[i], style);
      // A last line without newline differs from the same line with one.
      if (open && i + 1 == lines.size() && !style.ignore_all_space && !style.ignore_space_change && !style.ignore_trailing_space) key += "\n";
      out.push_back(ids.emplace(std::move(key), static_cast<int>(ids.size())).first->second);
    }
    return out;
  };
  auto x = number(r.a, r.a_open), y = number(r.b, r.b_open);
  call.charge(x.size() + y.size());
  std::vector<bool> a_changed(x.size(), false), b_changed(y.size(), false);
  Aligner(call, x, y, a_changed, b_changed).run(0, x.size(), 0, y.size());
  slide(x, a_changed);
  slide(y, b_changed);
  std::size_t i = 0, k = 0;
  while (i < x.size() || k < y.size()) {
    if ((i < x.size() && a_changed[i]) || (k < y.size() && b_changed[k])) {
      Change c{i, 0, k, 0};
      while (i < x.size() && a_changed[i]) ++i, ++c.a_count;
      while (k < y.size() && b_changed[k]) ++k, ++c.b_count;
      bool blank = style.ignore_blank_lines;
      for (std::size_t n = 0; blank && n < c.a_count; ++n) blank = r.a[c.a + n].empty();
      for (std::size_t n = 0; blank && n < c.b_count; ++n) blank = r.b[c.b + n].empty();
      auto ignored = [&](std::string_view line) {
        return std::any_of(style.ignored.begin(), style.ignored.end(), [&](const auto& regex) { return regex->matches(line); });
      };
      bool passed = !style.ignored.empty();
      for (std::size_t n = 0; passed && n < c.a_count; ++n) passed = ignored(r.a[c.a + n]);
      for (std::size_t n = 0; passed && n < c.b_count; ++n) passed = ignored(r.b[c.b + n]);
      if (!blank && !passed) r.changes.push_back(c);
    } else {
      ++i;
      ++k;
    }
  }
  return r;
}

}  // namespace atl::shell
