#include "shell/calendar/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "shell/calendar/zones.h"

namespace atl::shell {

namespace {

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};

bool leap(std::int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

// Years are counted from 1 March, so that the leap day is the last of a year, in eras of 400 years of 146,097
// days; 719,468 days lie between 1 March of year 0 and 1970.
void civil_from_days(std::int64_t days, std::int64_t& year, int& month, int& day) {
  days += 719468;
  std::int64_t era = floor_div(days, 146097);
  auto doe = static_cast<unsigned>(days - era * 146097);
  unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  unsigned mp = (5 * doy + 2) / 153;
  day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  year = static_cast<std::int64_t>(yoe) + era * 400 + (month <= 2);
}

bool parse_hms(std::string_view& text, int& seconds) {
  int sign = 1;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    sign = text[0] == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  int parts[3] = {};
  for (int i = 0; i < 3; ++i) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts[i]);
    if (end == text.data() || error != std::errc()) return i > 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text[0] != ':') break;
    text.remove_prefix(1);
  }
  seconds = sign * (parts[0] * 3600 + parts[1] * 60 + parts[2]);
  return true;
}

bool parse_zone_name(std::string_view& text, std::string& name) {
  if (text.empty()) return false;
  if (text[0] == '<') {
    std::size_t close = text.find('>');
    if (close == std::string_view::npos) return false;
    name.assign(text.substr(1, close - 1));
    text.remove_prefix(close + 1);
    return true;
  }
  std::size_t n = 0;
  while (n < text.size() && isalpha(static_cast<unsigned char>(text[n]))) ++n;
  if (n < 3) return false;
  name.assign(text.substr(0, n));
  text.remove_prefix(n);
  return true;
}

}  // namespace

std::int64_t days_from_civil(std::int64_t year, int month, int day) {
  // Months outside of 1 to 12 carry into the year.
  year += floor_div(month - 1, 12);
  month = static_cast<int>((month - 1) - floor_div(month - 1, 12) * 12) + 1;
  std::int64_t y = year - (month <= 2);
  std::int64_t era = floor_div(y, 400);
  auto yoe = static_cast<unsigned>(y - era * 400);
  auto doy = static_cast<unsigned>((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5);
  unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + static_cast<std::int64_t>(doe) - 719468 + day - 1;
}

int weekday_of(std::int64_t days) {
  return static_cast<int>(((days + 4) % 7 + 7) % 7);
}

Zone Zone::of(const Invocation& call) {
  auto text = call.variable("TZ");
  return text ? named(*text) : utc();
}

Zone Zone::fixed(int seconds_east, std::string name) {
  Zone zone;
  zone.standard_seconds_ = seconds_east;
  zone.standard_ = std::move(name);
  return zone;
}

Zone Zone::named(std::string_view text) {
  if (text.starts_with(':')) text.remove_prefix(1);
  Zone zone;
  if (text.empty()) return zone;
  std::string_view rule = zone_rule(text);
  if (!zone.parse(rule.empty() ? text : rule)) zone = Zone();
  return zone;
}

bool Zone::parse(std::string_view text) {
  if (!parse_zone_name(text, standard_)) return false;
  int offset = 0;
  if (text.empty() || !parse_hms(text, offset)) {
    standard_ = "UTC";
    return text.empty();
  }
  // POSIX counts offsets to the west: EST5 is UTC-5.
  standard_seconds_ = -offset;
  if (text.empty()) return true;
  if (!parse_zone_name(text, daylight_)) return false;
  daylight_seconds_ = standard_seconds_ + 3600;
  if (!text.empty() && text[0] != ',') {
    if (!parse_hms(text, offset)) return false;
    daylight_seconds_ = -offset;
  }
  // Without rules the American ones, as glibc assumes.
  if (text.empty()) text = ",M3.2.0,M11.1.0";
  for (Change* change : {&to_daylight_, &to_standard_}) {
    if (text.empty() || text[0] != ',') return false;
    text.remove_prefix(1);
    std::string head(text.substr(0, text.find_first_of(",/")));
    if (head.starts_with('M')) {
      if (sscanf(head.c_str(), "M%d.%d.%d", &change->month, &change->week, &change->weekday) != 3)
        return false;
    } else {
      change->leap_counts = !head.starts_with('J');
      change->day = atoi(head.c_str() + (head.starts_with('J') ? 1 : 0)) - (head.starts_with('J') ? 1 : 0);
    }
    text.remove_prefix(head.size());
    if (!text.empty() && text[0] == '/') {
      text.remove_prefix(1);
      if (!parse_hms(text, change->second)) return false;
    }
  }
  return true;
}

// Local wall-clock seconds of the change, by the clock in force before it.
std::int64_t Zone::change_at(const Change& change, std::int64_t year) {
  if (change.day >= 0) {
    // Jn counts days without 29 February, n with it.
    int day = change.day;
    if (!change.leap_counts && leap(year) && day >= 59) ++day;
    return (days_from_civil(year, 1, 1) + day) * 86400 + change.second;
  }
  std::int64_t first = days_from_civil(year, change.month, 1);
  int shift = (change.weekday - weekday_of(first) + 7) % 7;
  std::int64_t day = first + shift + (change.week - 1) * 7;
  std::int64_t next_month = days_from_civil(year, change.month + 1, 1);
  // Week 5 means the last one.
  while (day >= next_month) day -= 7;
  return day * 86400 + change.second;
}

Zone::Offset Zone::at(std::int64_t unix_seconds) const {
  if (daylight_.empty()) return {standard_seconds_, standard_, false};
  std::int64_t year = 0;
  int month = 0, day = 0;
  civil_from_days(floor_div(unix_seconds + standard_seconds_, 86400), year, month, day);
  std::int64_t on = change_at(to_daylight_, year) - standard_seconds_;
  std::int64_t off = change_at(to_standard_, year) - daylight_seconds_;
  // In the south daylight time goes over the turn of the year.
  bool daylight =
      on < off ? unix_seconds >= on && unix_seconds < off : unix_seconds >= on || unix_seconds < off;
  return daylight ? Offset{daylight_seconds_, daylight_, true} : Offset{standard_seconds_, standard_, false};
}

Zone::Offset Zone::at_local(std::int64_t local_seconds) const {
  // A time that exists twice in autumn is taken as daylight time; one that is left out in spring moves on by
  // an hour.
  Offset guess = at(local_seconds - daylight_seconds_);
  if (daylight_.empty()) return at(local_seconds - standard_seconds_);
  if (guess.daylight) return guess;
  return at(local_seconds - standard_seconds_);
}

CivilTime to_civil(std::int64_t unix_seconds, const Zone& zone) {
  std::int64_t local = unix_seconds + zone.at(unix_seconds).seconds;
  std::int64_t days = floor_div(local, 86400);
  auto rest = static_cast<int>(local - days * 86400);
  CivilTime out;
  civil_from_days(days, out.year, out.month, out.day);
  out.hour = rest / 3600;
  out.minute = rest / 60 % 60;
  out.second = rest % 60;
  return out;
}

std::int64_t to_unix_seconds(const CivilTime& c, const Zone& zone) {
  std::int64_t local =
      days_from_civil(c.year, c.month, 1) * 86400 + (static_cast<std::int64_t>(c.day) - 1) * 86400 +
      static_cast<std::int64_t>(c.hour) * 3600 + static_cast<std::int64_t>(c.minute) * 60 + c.second;
  return local - zone.at_local(local).seconds;
}

namespace {

struct Pieces {
  CivilTime civil;
  std::int64_t unix_seconds;
  std::int64_t nanos;
  Zone::Offset offset;
  std::int64_t days;
  int weekday;
  int year_day;
};

std::int64_t iso_year_week(const Pieces& t, int& week) {
  // The week that holds the Thursday.
  std::int64_t thursday = t.days - (t.weekday + 6) % 7 + 3;
  std::int64_t year = 0;
  int month = 0, day = 0;
  civil_from_days(thursday, year, month, day);
  week = static_cast<int>((thursday - days_from_civil(year, 1, 1)) / 7) + 1;
  return year;
}

struct Modifiers {
  char pad = 0;  // '-' none, '_' blank, '0' zero, 0 default
  bool upper = false, swap = false;
  int width = -1;
  int colons = 0;
};

void put_number(std::string& out, std::int64_t value, int width, char default_pad, const Modifiers& m) {
  char pad = m.pad ? m.pad : default_pad;
  if (m.width >= 0) width = m.width;
  if (pad == '-') width = 0;
  std::string digits = fmt::format("{}", value < 0 ? -value : value);
  std::string sign = value < 0 ? "-" : "";
  std::size_t want = static_cast<std::size_t>(std::max(width, 0));
  std::size_t fill = want > digits.size() + sign.size() ? want - digits.size() - sign.size() : 0;
  if (pad == '_')
    out += std::string(fill, ' ') + sign + digits;
  else
    out += sign + std::string(fill, '0') + digits;
}

void put_text(std::string& out, std::string_view text, const Modifiers& m) {
  std::string body(text);
  if (m.upper)
    for (char& c : body) c = static_cast<char>(toupper(static_cast<unsigned char>(c)));
  if (m.swap)
    for (char& c : body) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  if (m.width > static_cast<int>(body.size()))
    out.append(static_cast<std::size_t>(m.width) - body.size(), m.pad == '0' ? '0' : ' ');
  out += body;
}

std::string offset_text(int seconds, int colons) {
  char sign = seconds < 0 ? '-' : '+';
  int s = std::abs(seconds);
  if (colons == 0) return fmt::format("{}{:02}{:02}", sign, s / 3600, s / 60 % 60);
  if (colons == 1) return fmt::format("{}{:02}:{:02}", sign, s / 3600, s / 60 % 60);
  if (colons == 2) return fmt::format("{}{:02}:{:02}:{:02}", sign, s / 3600, s / 60 % 60, s % 60);
  if (s % 60) return offset_text(seconds, 2);
  if (s / 60 % 60) return offset_text(seconds, 1);
  return fmt::format("{}{:02}", sign, s / 3600);
}

void put_pieces(std::string& out, std::string_view format, const Pieces& t, int depth);

bool put_one(std::string& out, char c, const Pieces& t, const Modifiers& m, int depth) {
  auto composite = [&](std::string_view inner) {
    std::string body;
    put_pieces(body, inner, t, depth + 1);
    put_text(out, body, m);
  };
  auto num = [&](std::int64_t value, int width, char pad = '0') { put_number(out, value, width, pad, m); };
  const CivilTime& v = t.civil;
  int hour12 = v.hour % 12 == 0 ? 12 : v.hour % 12;
  int week = 0;
  switch (c) {
    case '%': out += '%'; break;
    case 'n': out += '\n'; break;
    case 't': out += '\t'; break;
    case 'a': put_text(out, kDays[t.weekday].substr(0, 3), m); break;
    case 'A': put_text(out, kDays[t.weekday], m); break;
    case 'b':
    case 'h': put_text(out, kMonths[v.month - 1].substr(0, 3), m); break;
    case 'B': put_text(out, kMonths[v.month - 1], m); break;
    case 'c': composite("%a %b %e %H:%M:%S %Y"); break;
    case 'C': num(floor_div(v.year, 100), 2); break;
    case 'd': num(v.day, 2); break;
    case 'D':
    case 'x': composite("%m/%d/%y"); break;
    case 'e': num(v.day, 2, '_'); break;
    case 'F': composite("%Y-%m-%d"); break;
    case 'g': num(iso_year_week(t, week) % 100, 2); break;
    case 'G': num(iso_year_week(t, week), 4); break;
    case 'H': num(v.hour, 2); break;
    case 'I': num(hour12, 2); break;
    case 'j': num(t.year_day + 1, 3); break;
    case 'k': num(v.hour, 2, '_'); break;
    case 'l': num(hour12, 2, '_'); break;
    case 'm': num(v.month, 2); break;
    case 'M': num(v.minute, 2); break;
    case 'N': {
      std::string digits = fmt::format("{:09}", t.nanos);
      if (m.width >= 0 && m.width < 9)
        digits.resize(static_cast<std::size_t>(m.width));
      else if (m.pad == '-')
        digits.erase(digits.find_last_not_of('0') + 1);
      out += digits;
      break;
    }
    case 'p':
      put_text(out, m.swap ? (v.hour < 12 ? "am" : "pm") : (v.hour < 12 ? "AM" : "PM"),
               Modifiers{m.pad, m.upper, false, m.width});
      break;
    case 'P': put_text(out, v.hour < 12 ? "am" : "pm", m); break;
    case 'q': num((v.month - 1) / 3 + 1, 1); break;
    case 'r': composite("%I:%M:%S %p"); break;
    case 'R': composite("%H:%M"); break;
    case 's': num(t.unix_seconds, 1); break;
    case 'S': num(v.second, 2); break;
    case 'T':
    case 'X': composite("%H:%M:%S"); break;
    case 'u': num(t.weekday == 0 ? 7 : t.weekday, 1); break;
    case 'U': num((t.year_day + 7 - t.weekday) / 7, 2); break;
    case 'V':
      iso_year_week(t, week);
      num(week, 2);
      break;
    case 'w': num(t.weekday, 1); break;
    case 'W': num((t.year_day + 7 - (t.weekday + 6) % 7) / 7, 2); break;
    case 'y': num((v.year % 100 + 100) % 100, 2); break;
    case 'Y': num(v.year, m.pad == '_' || v.year >= 1000 ? 1 : 4); break;
    case 'z': out += offset_text(t.offset.seconds, m.colons); break;
    case 'Z': put_text(out, t.offset.name, m); break;
    case '+': composite("%a %b %e %H:%M:%S %Z %Y"); break;
    default: return false;
  }
  return true;
}

void put_pieces(std::string& out, std::string_view format, const Pieces& t, int depth) {
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      out += format[i];
      continue;
    }
    std::size_t start = i++;
    Modifiers m;
    for (; i < format.size(); ++i) {
      char c = format[i];
      if (c == '-' || c == '_' || c == '0')
        m.pad = c;
      else if (c == '^')
        m.upper = true;
      else if (c == '#')
        m.swap = true;
      else if (c == ':')
        ++m.colons;
      else if (c == '+')
        m.pad = '0';
      else
        break;
      if (c == '+' && i + 1 >= format.size()) break;
    }
    int width = 0;
    bool has_width = false;
    while (i < format.size() && isdigit(static_cast<unsigned char>(format[i]))) {
      has_width = true;
      width = std::min(width * 10 + (format[i++] - '0'), 1024);
    }
    if (has_width) m.width = width;
    while (i < format.size() && (format[i] == 'E' || format[i] == 'O')) ++i;
    if (i >= format.size() || !put_one(out, format[i], t, m, depth))
      out.append(format.substr(start, std::min(i, format.size() - 1) - start + 1));
  }
}

}  // namespace

Moment::Moment(WallTime time) {
  std::int64_t count = time.time_since_epoch().count();
  seconds = floor_div(count, 1'000'000'000);
  nanos = count - seconds * 1'000'000'000;
}

Moment Moment::at(std::int64_t seconds, std::int64_t nanos) {
  Moment out;
  std::int64_t carried = floor_div(nanos, 1'000'000'000);
  out.nanos = nanos - carried * 1'000'000'000;
  out.seconds =
      std::clamp(std::clamp(seconds, -seconds_max, seconds_max) + carried, -seconds_max, seconds_max);
  return out;
}

Moment Moment::at(double seconds) {
  constexpr auto most = static_cast<double>(seconds_max);
  return at(std::isnan(seconds) ? std::int64_t{0}
                                : static_cast<std::int64_t>(std::floor(std::clamp(seconds, -most, most))));
}

WallTime Moment::wall() const {
  std::int64_t fits = std::clamp<std::int64_t>(seconds, -9'200'000'000, 9'200'000'000);
  return WallTime(std::chrono::seconds(fits) + std::chrono::nanoseconds(nanos));
}

std::string format_time(std::string_view format, Moment time, const Zone& zone) {
  Pieces t;
  t.unix_seconds = time.seconds;
  t.nanos = time.nanos;
  t.offset = zone.at(t.unix_seconds);
  t.civil = to_civil(t.unix_seconds, zone);
  t.days = days_from_civil(t.civil.year, t.civil.month, t.civil.day);
  t.weekday = weekday_of(t.days);
  t.year_day = static_cast<int>(t.days - days_from_civil(t.civil.year, 1, 1));
  std::string out;
  put_pieces(out, format, t, 0);
  return out;
}

}  // namespace atl::shell
