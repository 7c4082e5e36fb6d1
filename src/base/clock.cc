#include "base/clock.h"

#include <fmt/format.h>

#include <charconv>

namespace atl {
namespace {

class MachineClock final : public Clock {
 public:
  WallTime now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
  SteadyTime steady() const override { return std::chrono::steady_clock::now(); }
};

// Reads exactly `digits` digits at `at` and moves past them.
bool read_number(std::string_view text, std::size_t& at, std::size_t digits, int& value) {
  if (text.size() < at + digits) return false;
  const auto* first = text.data() + at;
  const auto [end, error] = std::from_chars(first, first + digits, value);
  at += digits;
  return error == std::errc() && end == first + digits && *first != '-';
}

bool read_letter(std::string_view text, std::size_t& at, std::string_view allowed) {
  return at < text.size() && allowed.find(text[at++]) != std::string_view::npos;
}

}  // namespace

Clock& Clock::machine() {
  static MachineClock clock;
  return clock;
}

std::string to_rfc3339(WallTime time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<microseconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count(), clock.subseconds().count());
}

Result<WallTime> from_rfc3339(std::string_view text) {
  using namespace std::chrono;
  const auto bad = [&] {
    return fail(Code::invalid_argument, fmt::format("'{}' is not an RFC 3339 time", text));
  };
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  std::size_t at = 0;
  if (!read_number(text, at, 4, y) || !read_letter(text, at, "-") || !read_number(text, at, 2, mo) ||
      !read_letter(text, at, "-") || !read_number(text, at, 2, d) || !read_letter(text, at, "Tt ") ||
      !read_number(text, at, 2, h) || !read_letter(text, at, ":") || !read_number(text, at, 2, mi) ||
      !read_letter(text, at, ":") || !read_number(text, at, 2, s)) {
    return bad();
  }
  std::int64_t nanos = 0;
  if (at < text.size() && text[at] == '.') {
    std::int64_t unit = 100'000'000;
    const auto start = ++at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
      nanos += (text[at] - '0') * unit;
    if (at == start || at - start > 9) return bad();
  }
  int offset_minutes = 0;
  if (at >= text.size()) return bad();
  const char zone = text[at++];
  if (zone == '+' || zone == '-') {
    int oh = 0, om = 0;
    if (!read_number(text, at, 2, oh) || !read_letter(text, at, ":") || !read_number(text, at, 2, om))
      return bad();
    if (oh > 23 || om > 59) return bad();
    offset_minutes = (oh * 60 + om) * (zone == '-' ? -1 : 1);
  } else if (zone != 'Z' && zone != 'z') {
    return bad();
  }
  const year_month_day date(year(y), month(static_cast<unsigned>(mo)), day(static_cast<unsigned>(d)));
  if (at != text.size() || !date.ok() || h > 23 || mi > 59 || s > 60) return bad();
  return WallTime(sys_days(date)) + hours(h) + minutes(mi - offset_minutes) + seconds(s) + nanoseconds(nanos);
}

}  // namespace atl
