// The edits that GNU diff would choose. Among many shortest edits it finds one by four steps, each of which
// decides where hunks fall, so all four are here:
//
//   1. Equal lines at both ends are set aside, except for as many as there are lines of context.
//   2. Lines without a partner in the other file are changed for certain and leave the comparison. So do
//      lines with very many partners (blank ones, braces) in the middle of such runs: matching them would
//      tear a rewritten block apart.
//   3. Myers' search from both ends at once finds a point on a shortest path and splits there. When it takes
//      too long the furthest point reached so far has to do.
//   4. Runs of changes are moved: up to join others, then down as far as possible, then back to face a run of
//      the other file.

#include "shell/commands/diff/align.h"

#include <algorithm>
#include <limits>

namespace atl::shell {

namespace {

// ---- 2: lines that need no comparison ----

enum class Mark : unsigned char { kept, dropped, doubtful };

// Twice `many` for each factor of four that `amount` holds.
std::size_t doubled_by_fours(std::size_t many, std::size_t amount) {
  while ((amount >>= 2) > 0) many *= 2;
  return many;
}

std::vector<Mark> marks_of(const LineClasses& lines, std::size_t begin, std::size_t end,
                           const std::vector<std::size_t>& partners) {
  std::vector<Mark> marks(end - begin, Mark::kept);
  std::size_t many = doubled_by_fours(5, (end - begin) / 64);
  for (std::size_t i = begin; i < end; ++i) {
    std::size_t count = partners[static_cast<std::size_t>(lines[i])];
    if (count == 0)
      marks[i - begin] = Mark::dropped;
    else if (count > many)
      marks[i - begin] = Mark::doubtful;
  }
  return marks;
}

// Keeps doubtful lines from one end of a run until it is clear that the run is one: three dropped lines in a
// row, or a dropped one after eight lines. `at` gives the run's line that far from that end.
template <class At>
void keep_near_end(std::size_t length, At at) {
  std::size_t row = 0;
  for (std::size_t i = 0; i < length && row < 3; ++i) {
    Mark& mark = at(i);
    if (i >= 8 && mark == Mark::dropped) break;
    if (mark == Mark::doubtful) mark = Mark::kept;
    row = mark == Mark::dropped ? row + 1 : 0;
  }
}

// A run that begins and ends with dropped lines: its doubtful lines go only where they are few and scattered.
void settle_run(std::vector<Mark>& marks, std::size_t begin, std::size_t end) {
  std::size_t length = end - begin;
  auto doubtful =
      static_cast<std::size_t>(std::count(marks.begin() + static_cast<std::ptrdiff_t>(begin),
                                          marks.begin() + static_cast<std::ptrdiff_t>(end), Mark::doubtful));
  if (doubtful * 4 > length) {
    for (std::size_t i = begin; i < end; ++i)
      if (marks[i] == Mark::doubtful) marks[i] = Mark::kept;
    return;
  }
  std::size_t longest = doubled_by_fours(1, length >> 2) + 1;
  for (std::size_t i = begin; i < end;) {
    std::size_t stop = i;
    while (stop < end && marks[stop] == Mark::doubtful) ++stop;
    if (stop - i >= longest)
      std::fill(marks.begin() + static_cast<std::ptrdiff_t>(i),
                marks.begin() + static_cast<std::ptrdiff_t>(stop), Mark::kept);
    i = std::max(stop, i + 1);
  }
  keep_near_end(length, [&](std::size_t i) -> Mark& { return marks[begin + i]; });
  keep_near_end(length, [&](std::size_t i) -> Mark& { return marks[end - 1 - i]; });
}

void settle(std::vector<Mark>& marks) {
  for (std::size_t i = 0; i < marks.size();) {
    if (marks[i] == Mark::doubtful) marks[i] = Mark::kept;
    if (marks[i] == Mark::kept) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < marks.size() && marks[end] != Mark::kept) ++end;
    while (marks[end - 1] == Mark::doubtful) marks[--end] = Mark::kept;
    settle_run(marks, i, end);
    i = end;
  }
}

// What is left of a file for the search, and where each line stood.
struct Remaining {
  LineClasses lines;
  std::vector<std::size_t> places;
};

Remaining remaining(const LineClasses& lines, std::size_t begin, std::size_t end,
                    const std::vector<std::size_t>& partners, bool minimal, std::vector<bool>& changed) {
  std::vector<Mark> marks = marks_of(lines, begin, end, partners);
  settle(marks);
  Remaining out;
  for (std::size_t i = begin; i < end; ++i) {
    if (!minimal && marks[i - begin] != Mark::kept) {
      changed[i] = true;
    } else {
      out.lines.push_back(lines[i]);
      out.places.push_back(i);
    }
  }
  return out;
}

// ---- 3: the search ----

class Search {
 public:
  Search(Invocation& call, const Remaining& a, const Remaining& b, Alignment& found)
      : call_(call),
        a_(a),
        b_(b),
        found_(found),
        offset_(b.lines.size() + 1),
        forward_(a.lines.size() + b.lines.size() + 3),
        backward_(forward_.size()) {
    std::size_t diagonals = forward_.size();
    long enough = 1;
    for (; diagonals != 0; diagonals >>= 2) enough <<= 1;
    steps_max_ = std::max(4096L, enough);
  }

  void run(bool minimal) {
    std::vector<Part> pending{
        {0, static_cast<long>(a_.lines.size()), 0, static_cast<long>(b_.lines.size()), minimal}};
    while (!pending.empty()) {
      Part p = pending.back();
      pending.pop_back();
      while (p.a0 < p.a1 && p.b0 < p.b1 && same(p.a0, p.b0)) ++p.a0, ++p.b0;
      while (p.a0 < p.a1 && p.b0 < p.b1 && same(p.a1 - 1, p.b1 - 1)) --p.a1, --p.b1;
      if (p.a0 == p.a1 || p.b0 == p.b1) {
        for (long i = p.a0; i < p.a1; ++i) found_.a[a_.places[static_cast<std::size_t>(i)]] = true;
        for (long i = p.b0; i < p.b1; ++i) found_.b[b_.places[static_cast<std::size_t>(i)]] = true;
        continue;
      }
      Split split = middle(p);
      pending.push_back({p.a0, split.a, p.b0, split.b, split.first_minimal});
      pending.push_back({split.a, p.a1, split.b, p.b1, split.second_minimal});
    }
  }

 private:
  struct Part {
    long a0, a1, b0, b1;
    bool minimal;
  };
  struct Split {
    long a, b;
    bool first_minimal, second_minimal;
  };
  // The diagonals one side has reached: every second one from low to high.
  struct Span {
    long low, high;
  };
  static constexpr long kFar = std::numeric_limits<long>::max();

  bool same(long i, long k) const {
    return a_.lines[static_cast<std::size_t>(i)] == b_.lines[static_cast<std::size_t>(k)];
  }
  // How far a diagonal (place in a minus place in b) was followed, in a.
  long& forward(long d) { return forward_[static_cast<std::size_t>(d) + offset_]; }
  long& backward(long d) { return backward_[static_cast<std::size_t>(d) + offset_]; }

  Split middle(const Part& p) {
    long lowest = p.a0 - p.b1, highest = p.a1 - p.b0, start = p.a0 - p.b0, finish = p.a1 - p.b1;
    Span from{start, start}, to{finish, finish};
    bool odd = ((start - finish) & 1) != 0;
    forward(start) = p.a0;
    backward(finish) = p.a1;
    for (long step = 1;; ++step) {
      call_.charge(static_cast<std::uint64_t>(step) / 4 + 1);
      if (from.low > lowest)
        forward(--from.low - 1) = -1;
      else
        ++from.low;
      if (from.high < highest)
        forward(++from.high + 1) = -1;
      else
        --from.high;
      for (long d = from.high; d >= from.low; d -= 2) {
        long x = forward(d - 1) < forward(d + 1) ? forward(d + 1) : forward(d - 1) + 1;
        while (x < p.a1 && x - d < p.b1 && same(x, x - d)) ++x;
        forward(d) = x;
        if (odd && to.low <= d && d <= to.high && backward(d) <= x) return {x, x - d, true, true};
      }
      if (to.low > lowest)
        backward(--to.low - 1) = kFar;
      else
        ++to.low;
      if (to.high < highest)
        backward(++to.high + 1) = kFar;
      else
        --to.high;
      for (long d = to.high; d >= to.low; d -= 2) {
        long x = backward(d - 1) < backward(d + 1) ? backward(d - 1) : backward(d + 1) - 1;
        while (p.a0 < x && p.b0 < x - d && same(x - 1, x - d - 1)) --x;
        backward(d) = x;
        if (!odd && from.low <= d && d <= from.high && x <= forward(d)) return {x, x - d, true, true};
      }
      if (!p.minimal && step >= steps_max_) return furthest(p, from, to);
    }
  }
  // Of all ends reached, the one that leaves least to do.
  Split furthest(const Part& p, Span from, Span to) {
    long best = -1, best_x = 0, least = kFar, least_x = 0;
    for (long d = from.high; d >= from.low; d -= 2) {
      long x = std::min(forward(d), p.a1), y = x - d;
      if (p.b1 < y) x = p.b1 + d, y = p.b1;
      if (best < x + y) best = x + y, best_x = x;
    }
    for (long d = to.high; d >= to.low; d -= 2) {
      long x = std::max(backward(d), p.a0), y = x - d;
      if (y < p.b0) x = p.b0 + d, y = p.b0;
      if (x + y < least) least = x + y, least_x = x;
    }
    if (p.a1 + p.b1 - least < best - (p.a0 + p.b0)) return {best_x, best - best_x, true, false};
    return {least_x, least - least_x, false, true};
  }

  Invocation& call_;
  const Remaining &a_, &b_;
  Alignment& found_;
  std::size_t offset_;
  std::vector<long> forward_, backward_;
  long steps_max_ = 0;
};

// ---- 4: moving runs of changes ----

// Between begin and end, `mine` are the changes of the file with these lines, `other` those of the other one.
class Mover {
 public:
  Mover(const LineClasses& lines, std::size_t begin, std::size_t end, std::vector<bool>& mine,
        std::size_t other_begin, std::size_t other_end, const std::vector<bool>& other)
      : lines_(lines),
        begin_(static_cast<long>(begin)),
        end_(static_cast<long>(end)),
        mine_(mine),
        other_begin_(static_cast<long>(other_begin)),
        other_end_(static_cast<long>(other_end)),
        other_(other) {}

  void run() {
    long i = begin_, k = other_begin_;
    while (true) {
      for (; i < end_ && !changed(i); ++i)
        while (changed_there(k++)) continue;
      if (i >= end_) return;
      long start = i;
      while (changed(++i)) continue;
      while (changed_there(k)) ++k;
      move(start, i, k);
    }
  }

 private:
  bool changed(long i) const { return i >= begin_ && i < end_ && mine_[static_cast<std::size_t>(i)]; }
  bool changed_there(long k) const {
    return k >= other_begin_ && k < other_end_ && other_[static_cast<std::size_t>(k)];
  }
  bool equal(long i, long k) const {
    return lines_[static_cast<std::size_t>(i)] == lines_[static_cast<std::size_t>(k)];
  }
  void set(long i, bool is) { mine_[static_cast<std::size_t>(i)] = is; }

  // The run from start to end, whose end faces k in the other file.
  void move(long start, long& end, long& k) {
    long facing, length;
    do {
      length = end - start;
      while (start > begin_ && equal(start - 1, end - 1)) {
        set(--start, true);
        set(--end, false);
        while (changed(start - 1)) --start;
        while (changed_there(--k)) continue;
      }
      facing = changed_there(k - 1) ? end : end_;
      while (end != end_ && equal(start, end)) {
        set(start++, false);
        set(end++, true);
        while (changed(end)) ++end;
        while (changed_there(++k)) facing = end;
      }
    } while (length != end - start);
    while (facing < end) {
      set(--start, true);
      set(--end, false);
      while (changed_there(--k)) continue;
    }
  }

  const LineClasses& lines_;
  long begin_, end_;
  std::vector<bool>& mine_;
  long other_begin_, other_end_;
  const std::vector<bool>& other_;
};

std::vector<std::size_t> counted(const LineClasses& lines, std::size_t begin, std::size_t end,
                                 std::size_t classes) {
  std::vector<std::size_t> out(classes);
  for (std::size_t i = begin; i < end; ++i) ++out[static_cast<std::size_t>(lines[i])];
  return out;
}

}  // namespace

Alignment align(Invocation& call, const LineClasses& a, const LineClasses& b, std::size_t margin,
                bool minimal) {
  Alignment found{std::vector<bool>(a.size()), std::vector<bool>(b.size())};
  std::size_t shorter = std::min(a.size(), b.size()), begin = 0;
  while (begin < shorter && a[begin] == b[begin]) ++begin;
  if (begin == a.size() && begin == b.size()) return found;
  begin -= std::min(begin, margin);
  std::size_t after = 0;
  while (after < shorter - begin && a[a.size() - 1 - after] == b[b.size() - 1 - after]) ++after;
  after -= std::min(after, margin);
  std::size_t a_end = a.size() - after, b_end = b.size() - after;
  std::size_t classes = 0;
  for (const LineClasses* lines : {&a, &b})
    for (int each : *lines) classes = std::max(classes, static_cast<std::size_t>(each) + 1);
  Remaining left = remaining(a, begin, a_end, counted(b, begin, b_end, classes), minimal, found.a);
  Remaining right = remaining(b, begin, b_end, counted(a, begin, a_end, classes), minimal, found.b);
  Search(call, left, right, found).run(minimal);
  Mover(a, begin, a_end, found.a, begin, b_end, found.b).run();
  Mover(b, begin, b_end, found.b, begin, a_end, found.a).run();
  return found;
}

}  // namespace atl::shell
