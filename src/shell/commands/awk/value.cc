#include "shell/commands/awk/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

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
  while (p < end && *p >= '0' && *p <= '9' && p - digits < 15) integer = integer * 10 + static_cast<unsigned>(*p++ - '0');
  if (p > digits && (p == end || (*p != '.' && *p != 'e' && *p != 'E' && !(*p >= '0' && *p <= '9')))) {
    number = negative ? -static_cast<double>(integer) : static_cast<double>(integer);
    return p;
  }
  if (end - digits >= 3 && p == digits && p > start) {
    if (strncasecmp(digits, "inf", 3) == 0 && (end - digits == 3 || !isalpha(static_cast<unsigned char>(digits[3])))) {
      number = negative ? -INFINITY : INFINITY;
      return digits + 3;
    }
    if (strncasecmp(digits, "nan", 3) == 0 && (end - digits == 3 || !isalpha(static_cast<unsigned char>(digits[3])))) {
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
  value = std::strtol(key.c_str(), nullptr, 10);
  return true;
}

// The order of gawk's chained string table, grown the way gawk grows it.
std::vector<std::string> table_order(std::vector<std::pair<std::uint64_t, const std::string*>> strings) {
  std::sort(strings.begin(), strings.end());
  std::size_t size = 16;
  std::vector<std::vector<const std::string*>> buckets(size);  // back of a vector = head of gawk's chain
  std::size_t count = 0;
  for (auto& [sequence, key] : strings) {
    ++count;
    if (count / size > 2) {
      std::vector<std::vector<const std::string*>> grown(size * 2);
      for (auto& chain : buckets)
        for (std::size_t i = chain.size(); i-- > 0;) grown[string_hash(*chain[i]) % (size * 2)].push_back(chain[i]);
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
  const char* p = skip_blank(text.data(), end);
  return scan_number(p, end, number) == p ? 0 : number;
}

bool looks_numeric(std::string_view text, double& number) {
  const char* end = text.data() + text.size();
  const char* p = skip_blank(text.data(), end);
  const char* stop = scan_number(p, end, number);
  return stop != p && skip_blank(stop, end) == end;
}

void append_number(std::string& out, double number, const std::string& format) {
  if (number == static_cast<double>(static_cast<std::int64_t>(number)) && std::fabs(number) < 1e18) [[likely]] {
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

Array::Element& Array::at(std::string_view key) {
  auto found = map_.find(key);
  if (found != map_.end()) return found->second;
  auto [it, inserted] = map_.emplace(std::string(key), Element{Value{}, nullptr, next_++});
  if (next_ == 1) {
    long value = 0;
    strings_first_ = !integer_key(it->first, value);
  }
  return it->second;
}

Array::Element* Array::find(std::string_view key) {
  auto found = map_.find(key);
  return found == map_.end() ? nullptr : &found->second;
}

bool Array::erase(std::string_view key) {
  auto found = map_.find(key);
  if (found == map_.end()) return false;
  map_.erase(found);
  if (map_.empty()) next_ = 0;
  return true;
}

void Array::clear() {
  map_.clear();
  next_ = 0;
}

std::vector<std::string> Array::keys() const {
  std::vector<std::pair<std::uint64_t, const std::string*>> strings;
  std::vector<std::pair<long, const std::string*>> integers;
  for (const auto& [key, element] : map_) {
    long value = 0;
    if (!strings_first_ && integer_key(key, value)) integers.emplace_back(value, &key);
    else strings.emplace_back(element.sequence, &key);
  }
  std::sort(integers.begin(), integers.end());
  std::vector<std::string> out = table_order(std::move(strings));
  out.reserve(map_.size());
  for (auto& [value, key] : integers) out.push_back(*key);
  return out;
}

}  // namespace atl::shell::awk
