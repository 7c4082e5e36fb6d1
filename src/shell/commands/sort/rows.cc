#include <algorithm>
#include <cstring>

#include "shell/commands/sort/order.h"
#include "shell/text/count_byte.h"

namespace atl::shell {

namespace {

// One key of one line, found once.
struct Cell {
  std::string_view text;
  std::uint64_t head = 0;  // orders keys as far as it goes
};

// What heads of a key say.
enum class Heads : unsigned char {
  nothing,
  unequal,  // different heads: decided; equal ones say nothing
  all,      // equal heads: equal keys
};

struct SortRow {
  std::string_view line;
  std::uint64_t head;  // of the first key, or of the line
  std::uint32_t index;
};

std::uint64_t text_head(std::string_view text) {
  std::uint64_t head = 0;
  memcpy(&head, text.data(), std::min<std::size_t>(8, text.size()));
  return __builtin_bswap64(head);
}

// The same for -d, -f and -i: eight bytes of what is compared.
std::uint64_t reduced_head(std::string_view text, const SortKey& key) {
  std::uint64_t head = 0;
  int bytes = 0;
  for (char ch : text) {
    auto c = static_cast<unsigned char>(ch);
    if ((key.dictionary && !isalnum(c) && c != ' ' && c != '\t' && c != '\n') ||
        (key.printable && !isprint(c)))
      continue;
    head = head << 8 | static_cast<unsigned char>(key.fold ? toupper(c) : c);
    if (++bytes == 8) return head;
  }
  return bytes == 0 ? 0 : head << (8 * (8 - bytes));
}

std::uint64_t number_head(double value) {
  if (value == 0) value = 0;  // -0 is 0
  std::uint64_t bits;
  memcpy(&bits, &value, 8);
  return bits & (1ULL << 63) ? ~bits : bits | (1ULL << 63);
}

class Sorter {
 public:
  Sorter(Invocation& call, const SortOrder& order) : call_(call), order_(order) {
    for (const SortKey& key : order.keys) heads_.push_back(begins_as(key));
  }

  void read(std::string_view text) {
    std::size_t lines = count_byte(text, order_.delimiter) + 1;
    held_ = static_cast<std::int64_t>(lines * (sizeof(SortRow) + order_.keys.size() * sizeof(Cell)));
    call_.charge_memory(held_);
    rows_.reserve(lines);
    cells_.reserve(lines * order_.keys.size());
    for (std::size_t at = 0; at < text.size();) {
      const void* found = memchr(text.data() + at, order_.delimiter, text.size() - at);
      std::size_t end =
          found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.size();
      add(text.substr(at, end - at));
      at = end + 1;
    }
  }

  std::vector<std::string_view> sorted() {
    bool by_head = heads_.empty() || heads_[0] != Heads::nothing;
    bool reverse = order_.keys.empty() ? order_.reverse_last : order_.keys[0].reverse;
    std::uint64_t work = 0;
    std::sort(rows_.begin(), rows_.end(), [&](const SortRow& a, const SortRow& b) {
      if (++work >= 4096) {
        call_.charge(work);
        work = 0;
      }
      if (by_head && a.head != b.head) return (a.head < b.head) != reverse;
      int order = compare(a, b);
      return order != 0 ? order < 0 : a.index < b.index;
    });
    std::vector<std::string_view> out;
    out.reserve(rows_.size());
    const SortRow* last = nullptr;
    for (const SortRow& row : rows_) {
      if (order_.unique && last && compare(*last, row) == 0) continue;
      last = &row;
      out.push_back(row.line);
    }
    call_.charge_memory(-held_);
    return out;
  }

 private:
  static Heads begins_as(const SortKey& key) {
    switch (key.kind) {
      case SortKey::Kind::text:
        return key.dictionary || key.fold || key.printable ? Heads::unequal : Heads::all;
      case SortKey::Kind::numeric: return Heads::all;
      case SortKey::Kind::human: return Heads::unequal;
      default: return Heads::nothing;
    }
  }

  void add(std::string_view line) {
    std::uint64_t first = order_.keys.empty() ? text_head(line) : 0;
    for (std::size_t i = 0; i < order_.keys.size(); ++i) {
      const SortKey& key = order_.keys[i];
      Cell cell{order_.extract(line, key)};
      if (heads_[i] != Heads::nothing) cell.head = head_of(cell.text, key, heads_[i]);
      if (i == 0) first = cell.head;
      cells_.push_back(cell);
    }
    rows_.push_back({line, first, static_cast<std::uint32_t>(rows_.size())});
  }

  // Takes back what heads say where one of them is not exact.
  static std::uint64_t head_of(std::string_view text, const SortKey& key, Heads& heads) {
    if (key.kind == SortKey::Kind::text) {
      if (key.dictionary || key.fold || key.printable) return reduced_head(text, key);
      if (text.size() > 8 || memchr(text.data(), 0, text.size())) heads = Heads::unequal;
      return text_head(text);
    }
    double value = 0;
    if (!exact_number(text, value)) {
      heads = Heads::nothing;
      return 0;
    }
    if (key.kind == SortKey::Kind::numeric) return number_head(value);
    return static_cast<std::uint64_t>(unit_of(text) + 16) << 58 | number_head(value) >> 6;
  }

  int compare(const SortRow& a, const SortRow& b) const {
    std::size_t keys = order_.keys.size();
    const Cell* x = cells_.data() + a.index * keys;
    const Cell* y = cells_.data() + b.index * keys;
    for (std::size_t i = 0; i < keys; ++i) {
      const SortKey& key = order_.keys[i];
      int order = 0;
      if (heads_[i] != Heads::nothing && x[i].head != y[i].head)
        order = x[i].head < y[i].head ? -1 : 1;
      else if (heads_[i] != Heads::all)
        order = compare_key(x[i].text, y[i].text, key);
      if (order != 0) return key.reverse ? -order : order;
    }
    if (keys > 0 && (order_.stable || order_.unique)) return 0;
    int order = memcmp(a.line.data(), b.line.data(), std::min(a.line.size(), b.line.size()));
    if (order == 0) order = a.line.size() < b.line.size() ? -1 : a.line.size() > b.line.size() ? 1 : 0;
    return order_.reverse_last ? -order : order;
  }

  Invocation& call_;
  const SortOrder& order_;
  std::vector<Heads> heads_;  // by key
  std::vector<SortRow> rows_;
  std::vector<Cell> cells_;  // of a row: keys.size() of them from index * keys.size() on
  std::int64_t held_ = 0;
};

}  // namespace

std::vector<std::string_view> sort_lines(Invocation& call, std::string_view text, const SortOrder& order) {
  Sorter sorter(call, order);
  sorter.read(text);
  return sorter.sorted();
}

}  // namespace atl::shell
