#include "shell/commands/awk/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

namespace atl::shell::awk {

namespace {

const char* skip_blank(const char* p, const char* end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == '\f' || *p == '\v')) ++p;
  return p;
}

// The end of the number at p, or p. Only decimal: hexadecimal text is the number before the x.
const char* scan_number(const char* p, const char* end, double& number) {
  const char* start = p;
  bool negative = false;
  if (p < end && (*p == '+' || *p == '-')) negative = *p++ == '-';
  const char* digits = p;
  std::uint64_t integer = 0;
  while (p < end && *p >= '0' && *p <= '9' && p - digits < 15)
    integer = integer * 10 + static_cast<unsigned>(*p++ - '0');
  if (p > digits && (p == end || (*p != '.' && *p != 'e' && *p != 'E' && !(*p >= '0' && *p <= '9')))) {
    number = negative ? -static_cast<double>(integer) : static_cast<double>(integer);
    return p;
  }
  // gawk takes "+inf" and "-nan", with a sign, and "nan" without one for text.
  if (end - digits >= 3 && p == digits && p > start) {
    if (strncasecmp(digits, "inf", 3) == 0 &&
        (end - digits == 3 || !isalpha(static_cast<unsigned char>(digits[3])))) {
      number = negative ? -INFINITY : INFINITY;
      return digits + 3;
    }
    if (strncasecmp(digits, "nan", 3) == 0 &&
        (end - digits == 3 || !isalpha(static_cast<unsigned char>(digits[3])))) {
      number = negative ? -NAN : NAN;
      return digits + 3;
    }
  }
  if (digits == end || !((*digits >= '0' && *digits <= '9') || *digits == '.')) return start;
  auto [stop, error] = std::from_chars(digits, end, number);
  if (stop == digits) return start;
  if (error == std::errc::result_out_of_range) number = strtod(std::string(digits, stop).c_str(), nullptr);
  if (negative) number = -number;
  return stop;
}

// gawk's own hash: the order of `for (k in a)` is not defined, but scripts have come to rely on it.
std::uint32_t string_hash(std::string_view s) {
  std::uint32_t h = 0;
  for (char c : s) h = static_cast<std::uint32_t>(static_cast<signed char>(c)) + 65599U * h;
  return h;
}

bool integer_key(const std::string& key, long& value) {
  if (key.empty() || key.size() > 18) return false;
  std::size_t i = key[0] == '-' ? 1 : 0;
  if (i == key.size() || (key[i] == '0' && key.size() > 1)) return false;
  for (std::size_t k = i; k < key.size(); ++k)
    if (key[k] < '0' || key[k] > '9') return false;
  std::from_chars(key.data(), key.data() + key.size(), value);
  return true;
}

// Compares, and asks as it does: one sort of many keys can take long.
auto asking(const std::function<void()>& ask) {
  return [&ask](const auto& a, const auto& b) {
    ask();
    return a < b;
  };
}

// The order of gawk's chained string table, grown the way gawk grows it.
std::vector<std::string> table_order(std::vector<std::pair<std::uint64_t, const std::string*>> strings,
                                     const std::function<void()>& ask) {
  std::sort(strings.begin(), strings.end(), asking(ask));
  std::size_t size = 16;
  std::vector<std::vector<const std::string*>> buckets(size);  // back of a vector = head of gawk's chain
  std::size_t count = 0;
  for (auto& [sequence, key] : strings) {
    ask();
    ++count;
    if (count / size > 2) {
      std::vector<std::vector<const std::string*>> grown(size * 2);
      for (auto& chain : buckets)
        for (std::size_t i = chain.size(); i-- > 0;)
          grown[string_hash(*chain[i]) % (size * 2)].push_back(chain[i]);
      buckets = std::move(grown);
      size *= 2;
    }
    buckets[string_hash(*key) % size].push_back(key);
  }
  std::vector<std::string> out;
  for (auto& chain : buckets)
    for (std::size_t i = chain.size(); i-- > 0;) out.push_back(*chain[i]);
  return out;
}

}  // namespace

double to_number(std::string_view text) {
  const char* end = text.data() + text.size();
  double number = 0;
  const char* p = skip_blank(end - text.size(), end);
  return scan_number(p, end, number) == p ? 0 : number;
}

bool looks_numeric(std::string_view text, double& number) {
  const char* end = text.data() + text.size();
  const char* p = skip_blank(end - text.size(), end);
  const char* stop = scan_number(p, end, number);
  return stop != p && skip_blank(stop, end) == end;
}

void append_number(std::string& out, double number, const std::string& format) {
  if (number == static_cast<double>(static_cast<std::int64_t>(number)) && std::fabs(number) < 1e18)
      [[likely]] {
    char buffer[32];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(number));
    out.append(buffer, static_cast<std::size_t>(end - buffer));
    return;
  }
  if (std::isnan(number)) {
    out += std::signbit(number) ? "-nan" : "+nan";
    return;
  }
  if (std::isinf(number)) {
    out += number < 0 ? "-inf" : "+inf";
    return;
  }
  char buffer[512];
  // Whole numbers print as integers whatever CONVFMT says.
  if (number == std::floor(number)) {
    int n = snprintf(buffer, sizeof buffer, "%.0f", number);
    out.append(buffer, static_cast<std::size_t>(n));
    return;
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  // The format was checked when CONVFMT or OFMT was assigned: one conversion of a double.
  int n = snprintf(buffer, sizeof buffer, format.c_str(), number);
#pragma GCC diagnostic pop
  if (n > 0) out.append(buffer, std::min<std::size_t>(static_cast<std::size_t>(n), sizeof buffer - 1));
}

void settle(Value& value) {
  if ((value.flags & Value::kMaybe) == 0) return;
  value.flags &= static_cast<std::uint8_t>(~Value::kMaybe);
  double number = 0;
  if (looks_numeric(value.text, number)) {
    value.number = number;
    value.flags |= Value::kNumber;
  }
}

namespace {

std::uint32_t hash_of(std::string_view key) {
  std::uint64_t hash = std::hash<std::string_view>()(key);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace

std::size_t Array::slot_of(std::string_view key, std::uint32_t hash) const {
  std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.entry == 0 || (slot.hash == hash && entry(slot.entry - 1).key == key)) return at;
  }
}

void Array::grow() {
  std::vector<Slot> grown(std::max<std::size_t>(16, slots_.size() * 2));
  std::size_t mask = grown.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.entry == 0) continue;
    std::size_t at = slot.hash & mask;
    while (grown[at].entry != 0) at = (at + 1) & mask;
    grown[at] = slot;
  }
  slots_ = std::move(grown);
}

std::uint32_t Array::take_entry() {
  if (!free_.empty()) {
    std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  if (used_ == blocks_.size() * kBlock) blocks_.push_back(std::make_unique<Entry[]>(kBlock));
  return static_cast<std::uint32_t>(used_++);
}

Array::Element& Array::at(std::string_view key) {
  if (size() * 4 >= slots_.size() * 3) grow();
  std::uint32_t hash = hash_of(key);
  Slot& slot = slots_[slot_of(key, hash)];
  if (slot.entry != 0) return entry(slot.entry - 1).element;
  std::uint32_t number = take_entry();
  Entry& fresh = entry(number);
  fresh.key.assign(key);
  fresh.live = true;
  fresh.element.sequence = next_++;
  slot = {hash, number + 1};
  if (next_ == 1) {
    long value = 0;
    strings_first_ = !integer_key(fresh.key, value);
  }
  return fresh.element;
}

Array::Element* Array::find(std::string_view key) {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[slot_of(key, hash_of(key))];
  return slot.entry == 0 ? nullptr : &entry(slot.entry - 1).element;
}

bool Array::erase(std::string_view key) {
  if (slots_.empty()) return false;
  std::size_t hole = slot_of(key, hash_of(key));
  if (slots_[hole].entry == 0) return false;
  std::uint32_t number = slots_[hole].entry - 1;
  // What stands behind the hole and could not be found across it moves up.
  std::size_t mask = slots_.size() - 1;
  for (std::size_t at = (hole + 1) & mask; slots_[at].entry != 0; at = (at + 1) & mask) {
    std::size_t home = slots_[at].hash & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  free_.push_back(number);
  Entry gone = std::exchange(entry(number), Entry{});  // `key` may be a part of it
  if (size() == 0) next_ = 0;
  return true;
}

void Array::clear() {
  slots_.clear();
  free_.clear();
  next_ = 0;
  // A few entries are kept: split() fills the same array again and again.
  blocks_.resize(std::min<std::size_t>(blocks_.size(), 4));
  for (std::size_t i = 0; i < std::min(used_, blocks_.size() * kBlock); ++i) {
    Entry& old = entry(i);
    old.key.clear();
    old.element = {};
    old.live = false;
  }
  used_ = 0;
}

std::vector<std::string> Array::keys(const std::function<void()>& ask) const {
  std::vector<std::pair<std::uint64_t, const std::string*>> strings;
  std::vector<std::pair<long, const std::string*>> integers;
  for (std::size_t i = 0; i < used_; ++i) {
    const Entry& one = entry(i);
    if (!one.live) continue;
    long value = 0;
    if (!strings_first_ && integer_key(one.key, value))
      integers.emplace_back(value, &one.key);
    else
      strings.emplace_back(one.element.sequence, &one.key);
  }
  if (!std::is_sorted(integers.begin(), integers.end()))
    std::sort(integers.begin(), integers.end(), asking(ask));
  std::vector<std::string> out = table_order(std::move(strings), ask);
  out.reserve(size());
  for (auto& [value, key] : integers) out.push_back(*key);
  return out;
}

}  // namespace atl::shell::awk
