#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "shell/command.h"

namespace atl::shell {

// Date and time as people write them; fields may be out of range where a function says that it normalises.
struct CivilTime {
  std::int64_t year = 1970;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0;
};

// A moment of any year that people write; WallTime ends in 2262.
struct Moment {
  std::int64_t seconds = 0;  // since 1970
  std::int64_t nanos = 0;    // 0 to 999,999,999

  Moment() = default;
  Moment(WallTime time);
  // Of a year that does not fit, the last that does; nanoseconds may be negative.
  static Moment at(std::int64_t seconds, std::int64_t nanos = 0);
  static Moment at(double seconds);
  // The nearest that a file's time can be.
  WallTime wall() const;

  static constexpr std::int64_t seconds_max =
      67'767'976'233'532'799;  // the end of the year 2147485547, as in GNU's tools
};

// A time zone: a fixed offset or a POSIX rule with daylight saving time. Never reads the host's files.
class Zone {
 public:
  static Zone utc() { return Zone(); }
  // From the shell's TZ variable; UTC if unset or unknown.
  static Zone of(const Invocation& call);
  static Zone named(std::string_view text);
  static Zone fixed(int seconds_east, std::string name);

  struct Offset {
    int seconds = 0;  // east of Greenwich
    std::string_view name = "UTC";
    bool daylight = false;
  };
  Offset at(std::int64_t unix_seconds) const;
  // For a local time; in the gap and the overlap of a change, the earlier offset.
  Offset at_local(std::int64_t local_seconds) const;

 private:
  struct Change {
    int month = 0, week = 0, weekday = 0, second = 7200;
    int day = -1;  // Jn or n forms
    bool leap_counts = false;
  };
  bool parse(std::string_view rule);
  static std::int64_t change_at(const Change& change, std::int64_t year);

  std::string standard_ = "UTC", daylight_;
  int standard_seconds_ = 0, daylight_seconds_ = 0;
  Change to_daylight_, to_standard_;
};

// Days since 1970-01-01 in the Gregorian calendar, also before its time.
std::int64_t days_from_civil(std::int64_t year, int month, int day);
// Local fields of a moment.
CivilTime to_civil(std::int64_t unix_seconds, const Zone& zone);
// Normalises fields out of range (month 13, day 0, ...).
std::int64_t to_unix_seconds(const CivilTime& civil, const Zone& zone);
// 0 is Sunday.
int weekday_of(std::int64_t days);

// strftime with GNU date's extensions (%N, %s, %:z, %-d, %^a, ...), C locale.
std::string format_time(std::string_view format, Moment time, const Zone& zone);

// What GNU date -d understands of what people write: ISO forms, "Jan 5 2024 10:00", "next friday", "2 days
// ago",
// "@123", "tomorrow 9am", "yesterday", "last monday", zones and offsets.
std::optional<Moment> parse_date(std::string_view text, WallTime now, const Zone& zone);

}  // namespace atl::shell
