#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "shell/calendar/calendar.h"

namespace atl::shell {

namespace {

struct Token {
  enum class Kind : unsigned char { number, word, symbol } kind;
  std::string text;
  bool space_before = false;
};

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> out;
  bool space = true;
  for (std::size_t i = 0; i < text.size();) {
    char c = text[i];
    if (isspace(static_cast<unsigned char>(c)) || c == ',') {
      space = true;
      ++i;
      continue;
    }
    // GNU date takes text in parentheses for a comment.
    if (c == '(') {
      while (i < text.size() && text[i] != ')') ++i;
      ++i;
      continue;
    }
    std::size_t start = i;
    Token token{Token::Kind::symbol, {}, space};
    if (isdigit(static_cast<unsigned char>(c))) {
      token.kind = Token::Kind::number;
      while (i < text.size() && isdigit(static_cast<unsigned char>(text[i]))) ++i;
    } else if (isalpha(static_cast<unsigned char>(c))) {
      token.kind = Token::Kind::word;
      while (i < text.size() && (isalpha(static_cast<unsigned char>(text[i])) || text[i] == '.')) ++i;
    } else {
      ++i;
    }
    token.text.assign(text.substr(start, i - start));
    for (char& ch : token.text) ch = static_cast<char>(tolower(static_cast<unsigned char>(ch)));
    while (token.kind == Token::Kind::word && token.text.ends_with('.')) token.text.pop_back();
    out.push_back(std::move(token));
    space = false;
  }
  return out;
}

// Full names, and their first three or four letters: mon, sept, tues.
int named(std::string_view word, std::initializer_list<std::string_view> names) {
  int i = 0;
  for (std::string_view name : names) {
    if (word == name || (word.size() >= 3 && word == name.substr(0, 3)) ||
        (word.size() == 4 && word == name.substr(0, 4)))
      return i;
    ++i;
  }
  return -1;
}

class DateParser {
 public:
  DateParser(std::string_view text, WallTime now, const Zone& zone) : tokens_(tokens_of(text)), zone_(zone) {
    nanos_ = now.time_since_epoch().count() % 1'000'000'000;
    now_ = now.time_since_epoch().count() / 1'000'000'000;
    civil_ = to_civil(now_, zone);
  }

  std::optional<Moment> run() {
    if (!tokens_.empty() && tokens_[0].text == "@") return seconds_since_epoch();
    while (at_ < tokens_.size())
      if (!item()) return std::nullopt;
    return finish();
  }

 private:
  const Token* peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? &tokens_[at_ + ahead] : nullptr;
  }
  bool symbol(std::size_t ahead, char c) const {
    const Token* t = peek(ahead);
    return t && t->kind == Token::Kind::symbol && t->text[0] == c;
  }
  bool number(std::size_t ahead) const {
    const Token* t = peek(ahead);
    return t && t->kind == Token::Kind::number;
  }
  long value(std::size_t ahead) const { return std::strtol(tokens_[at_ + ahead].text.c_str(), nullptr, 10); }

  std::optional<Moment> seconds_since_epoch() {
    ++at_;
    bool negative = symbol(0, '-');
    if (negative) ++at_;
    if (!number(0)) return std::nullopt;
    std::int64_t seconds = std::strtoll(tokens_[at_++].text.c_str(), nullptr, 10);
    std::int64_t nanos = 0;
    if (symbol(0, '.') && number(1)) {
      std::string digits = (tokens_[at_ + 1].text + "000000000").substr(0, 9);
      nanos = std::strtoll(digits.c_str(), nullptr, 10);
      at_ += 2;
    }
    if (at_ < tokens_.size() || seconds > Moment::seconds_max) return std::nullopt;
    if (negative) seconds = -seconds, nanos = -nanos;
    return Moment::at(seconds, nanos);
  }

  bool item() {
    const Token& t = tokens_[at_];
    if (t.kind == Token::Kind::number) return number_item();
    if (t.kind == Token::Kind::word) return word_item();
    if ((t.text == "+" || t.text == "-") && number(1)) {
      // An offset directly behind a time, else a relative amount.
      if (has_time_ && !has_zone_ &&
          !(peek(2) && peek(2)->kind == Token::Kind::word && unit_of(peek(2)->text) >= 0))
        return offset();
      long sign = t.text == "-" ? -1 : 1;
      ++at_;
      return relative(sign);
    }
    return false;
  }

  bool set_date(std::int64_t year, long month, long day) {
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    static constexpr int kDaysOfMonth[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day > kDaysOfMonth[month - 1] || (month == 2 && day == 29 && !leap)) return false;
    civil_.year = year;
    civil_.month = static_cast<int>(month);
    civil_.day = static_cast<int>(day);
    has_date_ = true;
    return true;
  }

  bool time_of_day() {
    long hour = value(0), minute = 0, second = 0;
    at_ += 1;
    if (symbol(0, ':') && number(1)) {
      minute = value(1);
      at_ += 2;
      if (symbol(0, ':') && number(1)) {
        second = value(1);
        at_ += 2;
        if ((symbol(0, '.')) && number(1)) {
          std::string digits = (tokens_[at_ + 1].text + "000000000").substr(0, 9);
          time_nanos_ = std::strtoll(digits.c_str(), nullptr, 10);
          at_ += 2;
        }
      }
    }
    if (const Token* t = peek();
        t && t->kind == Token::Kind::word &&
        (t->text == "am" || t->text == "pm" || t->text == "a.m" || t->text == "p.m")) {
      if (hour < 1 || hour > 12) return false;
      hour = hour % 12 + (t->text[0] == 'p' ? 12 : 0);
      ++at_;
    }
    if (hour > 24 || minute > 59 || second > 60 || (hour == 24 && (minute || second))) return false;
    civil_.hour = static_cast<int>(hour);
    civil_.minute = static_cast<int>(minute);
    civil_.second = static_cast<int>(second);
    has_time_ = true;
    return true;
  }

  bool offset() {
    int sign = tokens_[at_].text == "-" ? -1 : 1;
    const std::string& digits = tokens_[at_ + 1].text;
    long hours = 0, minutes = 0;
    at_ += 2;
    if (digits.size() <= 2) {
      hours = std::strtol(digits.c_str(), nullptr, 10);
      if (symbol(0, ':') && number(1)) {
        minutes = value(1);
        at_ += 2;
      }
    } else {
      hours = std::strtol(digits.substr(0, digits.size() - 2).c_str(), nullptr, 10);
      minutes = std::strtol(digits.substr(digits.size() - 2).c_str(), nullptr, 10);
    }
    if (hours > 24 || minutes > 59) return false;
    zone_ = Zone::fixed(sign * static_cast<int>(hours * 3600 + minutes * 60), "");
    has_zone_ = true;
    return true;
  }

  bool number_item() {
    std::size_t digits = tokens_[at_].text.size();
    if (symbol(1, ':') && number(2)) return time_of_day();
    if (symbol(1, '-') && number(2) && symbol(3, '-') && number(4)) {
      std::int64_t year = value(0);
      // POSIX: two digits mean 1969 to 2068.
      if (digits <= 2) year += year < 69 ? 2000 : 1900;
      long month = value(2), day = value(4);
      at_ += 5;
      if (!set_date(year, month, day)) return false;
      return iso_time();
    }
    if (symbol(1, '/') && number(2)) {
      long a = value(0), b = value(2);
      std::int64_t year = civil_.year;
      std::size_t used = 3;
      // 2024/1/5 is year first, 1/5/2024 month first, as in American usage.
      bool iso = digits == 4;
      if (symbol(3, '/') && number(4)) {
        std::int64_t c = value(4);
        used = 5;
        if (iso) {
          at_ += used;
          return set_date(a, b, static_cast<long>(c));
        }
        year = tokens_[at_ + 4].text.size() <= 2 ? c + (c < 69 ? 2000 : 1900) : c;
      }
      at_ += used;
      return set_date(year, a, b);
    }
    // 5 Jan 2024, 5-Jan-2024
    std::size_t word_at = symbol(1, '-') ? 2 : 1;
    if (const Token* w = peek(word_at); w && w->kind == Token::Kind::word) {
      int month = month_of(w->text);
      if (month > 0 && digits <= 2) {
        long day = value(0);
        at_ += word_at + 1;
        if (symbol(0, '-')) ++at_;
        return month_day(month, day);
      }
      if (word_at == 1 && (w->text == "am" || w->text == "pm")) return time_of_day();
      if (word_at == 1 && unit_of(w->text) >= 0) return relative(1);
    }
    if (digits == 8) {
      long v = value(0);
      ++at_;
      if (!set_date(v / 10000, v / 100 % 100, v % 100)) return false;
      return iso_time();
    }
    // Four digits behind a complete date are a time (1530); behind "Jan 5" they are its year.
    if (digits == 4 && has_date_ && !has_time_ && !year_open_) {
      long v = value(0);
      ++at_;
      civil_.hour = static_cast<int>(v / 100);
      civil_.minute = static_cast<int>(v % 100);
      civil_.second = 0;
      has_time_ = true;
      return civil_.hour < 24 && civil_.minute < 60;
    }
    if (digits == 4 && has_date_) {
      civil_.year = value(0);
      ++at_;
      year_open_ = false;
      return true;
    }
    if (digits <= 2 && !has_time_) {
      long hour = value(0);
      ++at_;
      civil_.hour = static_cast<int>(hour);
      civil_.minute = civil_.second = 0;
      has_time_ = true;
      return hour < 24;
    }
    return false;
  }

  // The T of 2024-01-05T10:00:00Z
  bool iso_time() {
    const Token* t = peek();
    if (!t || t->kind != Token::Kind::word || t->text != "t" || !number(1)) return true;
    ++at_;
    if (tokens_[at_].text.size() >= 4 && !symbol(1, ':')) {
      long v = value(0);
      bool seconds = tokens_[at_].text.size() == 6;
      ++at_;
      civil_.hour = static_cast<int>(seconds ? v / 10000 : v / 100);
      civil_.minute = static_cast<int>(seconds ? v / 100 % 100 : v % 100);
      civil_.second = static_cast<int>(seconds ? v % 100 : 0);
      has_time_ = true;
      return true;
    }
    return time_of_day();
  }

  bool month_day(int month, long day) {
    std::int64_t year = civil_.year;
    year_open_ = true;
    if (number(0) && !symbol(1, ':')) {
      std::size_t digits = tokens_[at_].text.size();
      if (digits == 4 || digits == 2) {
        year = value(0);
        if (digits == 2) year += year < 69 ? 2000 : 1900;
        ++at_;
        year_open_ = false;
      }
    }
    return set_date(year, month, day);
  }

  static int month_of(std::string_view word) {
    int i = named(word, {"january", "february", "march", "april", "may", "june", "july", "august",
                         "september", "october", "november", "december"});
    return word.size() >= 3 ? i + 1 : 0;
  }
  static int weekday_named(std::string_view word) {
    return word.size() >= 3
               ? named(word, {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"})
               : -1;
  }
  // 0 second, 1 minute, 2 hour, 3 day, 4 week, 5 fortnight, 6 month, 7 year
  static int unit_of(std::string_view word) {
    if (word.ends_with('s') && word.size() > 3) word.remove_suffix(1);
    static constexpr std::pair<std::string_view, int> kUnits[] = {
        {"sec", 0}, {"second", 0}, {"min", 1},       {"minute", 1}, {"hour", 2},
        {"day", 3}, {"week", 4},   {"fortnight", 5}, {"month", 6},  {"year", 7}};
    for (auto& [name, unit] : kUnits)
      if (word == name) return unit;
    return -1;
  }

  bool add(int unit, long amount) {
    // So that months and days fit an int when they are added.
    if (amount > 1'000'000'000 || amount < -1'000'000'000) return false;
    switch (unit) {
      case 0: shift_seconds_ += amount; break;
      case 1: shift_seconds_ += amount * 60; break;
      case 2: shift_seconds_ += amount * 3600; break;
      case 3: shift_days_ += amount; break;
      case 4: shift_days_ += amount * 7; break;
      case 5: shift_days_ += amount * 14; break;
      case 6: shift_months_ += amount; break;
      default: shift_months_ += amount * 12;
    }
    return true;
  }

  bool relative(long sign) {
    long amount = sign;
    if (number(0)) amount = sign * value(0), ++at_;
    const Token* t = peek();
    if (!t || t->kind != Token::Kind::word) return false;
    int unit = unit_of(t->text);
    if (unit < 0) return false;
    ++at_;
    if (const Token* ago = peek(); ago && ago->text == "ago") {
      amount = -amount;
      ++at_;
    }
    return add(unit, amount);
  }

  bool word_item() {
    std::string word = tokens_[at_].text;
    if (word == "now") return ++at_, true;
    if (word == "today") return ++at_, midnight_unless_timed();
    if (word == "tomorrow") return ++at_, shift_days_ += 1, midnight_unless_timed();
    if (word == "yesterday") return ++at_, shift_days_ -= 1, midnight_unless_timed();
    if (word == "midnight") return ++at_, set_clock(0);
    if (word == "noon") return ++at_, set_clock(12);
    // It turns everything relative before it around.
    if (word == "ago") {
      ++at_;
      shift_days_ = -shift_days_;
      shift_months_ = -shift_months_;
      shift_seconds_ = -shift_seconds_;
      return true;
    }
    if (word == "at" || word == "on" || word == "and" || word == "of" || word == "the") return ++at_, true;
    if (word == "t" && number(1)) return ++at_, time_of_day();
    if (word == "z" || word == "utc" || word == "gmt") {
      ++at_;
      zone_ = Zone::utc();
      has_zone_ = true;
      if ((symbol(0, '+') || symbol(0, '-')) && number(1) &&
          !(peek(2) && peek(2)->kind == Token::Kind::word && unit_of(peek(2)->text) >= 0))
        return offset();
      return true;
    }
    static constexpr std::pair<std::string_view, int> kZones[] = {
        {"est", -5}, {"edt", -4}, {"cst", -6}, {"cdt", -5}, {"mst", -7}, {"mdt", -6},
        {"pst", -8}, {"pdt", -7}, {"cet", 1},  {"cest", 2}, {"bst", 1},  {"wet", 0},
        {"west", 1}, {"eet", 2},  {"eest", 3}, {"jst", 9},  {"msk", 3}};
    for (auto& [name, hours] : kZones) {
      if (word != name) continue;
      ++at_;
      zone_ = Zone::fixed(hours * 3600, "");
      has_zone_ = true;
      return true;
    }
    if (word == "next" || word == "last" || word == "this" || ordinal(word) > 0) {
      long amount = word == "next" ? 1 : word == "last" ? -1 : word == "this" ? 0 : ordinal(word);
      ++at_;
      const Token* t = peek();
      if (!t || t->kind != Token::Kind::word) return false;
      int day = weekday_named(t->text);
      int unit = unit_of(t->text);
      ++at_;
      if (unit >= 0) return add(unit, amount);
      if (day < 0) return false;
      weekday_ = day;
      weekday_amount_ = amount;
      return midnight_unless_timed();
    }
    if (int month = month_of(word); month > 0) {
      ++at_;
      if (symbol(0, '-')) ++at_;
      if (!number(0)) return set_date(civil_.year, month, 1);
      if (tokens_[at_].text.size() == 4) {
        std::int64_t year = value(0);
        ++at_;
        return set_date(year, month, 1);
      }
      long day = value(0);
      ++at_;
      if (const Token* t = peek();
          t && !t->space_before && (t->text == "st" || t->text == "nd" || t->text == "rd" || t->text == "th"))
        ++at_;
      if (symbol(0, '-')) ++at_;
      return month_day(month, day);
    }
    if (int day = weekday_named(word); day >= 0) {
      ++at_;
      weekday_ = day;
      weekday_amount_ = 0;
      return midnight_unless_timed();
    }
    if (int unit = unit_of(word); unit >= 0) return relative(1);
    return false;
  }

  static long ordinal(std::string_view word) {
    static constexpr std::string_view kWords[] = {"first", "second", "third",    "fourth",
                                                  "fifth", "sixth",  "seventh",  "eighth",
                                                  "ninth", "tenth",  "eleventh", "twelfth"};
    for (long i = 0; i < 12; ++i)
      // "second" is the unit of time, never an ordinal.
      if (word == kWords[i] && i != 1) return i + 1;
    return 0;
  }
  bool midnight_unless_timed() {
    wants_midnight_ = true;
    return true;
  }
  bool set_clock(int hour) {
    civil_.hour = hour;
    civil_.minute = civil_.second = 0;
    has_time_ = true;
    return true;
  }

  std::optional<Moment> finish() {
    bool keeps_now = !has_date_ && !has_time_ && weekday_ < 0 && !wants_midnight_;
    if (wants_midnight_ && !has_date_ && !has_time_ && weekday_ < 0)
      keeps_now = true;  // today, tomorrow: the same time
    if (!has_time_ && (has_date_ || weekday_ >= 0)) civil_.hour = civil_.minute = civil_.second = 0;
    std::int64_t nanos = keeps_now ? nanos_ : time_nanos_;
    if (weekday_ >= 0 && !has_date_) {
      int today = weekday_of(days_from_civil(civil_.year, civil_.month, civil_.day));
      long ahead = (weekday_ - today + 7) % 7;
      // "next monday" on a Monday is a week away; "monday" is today.
      if (weekday_amount_ > 0 && ahead == 0)
        ahead += 7, ahead += (weekday_amount_ - 1) * 7;
      else if (weekday_amount_ > 0)
        ahead += (weekday_amount_ - 1) * 7;
      else if (weekday_amount_ < 0)
        ahead += weekday_amount_ * 7;
      shift_days_ += ahead;
    }
    CivilTime c = civil_;
    // Out of range on purpose: to_unix_seconds() carries over, so 31 January plus a month is early March, as
    // GNU date has it.
    c.month += static_cast<int>(shift_months_);
    c.day += static_cast<int>(shift_days_);
    std::int64_t seconds = to_unix_seconds(c, zone_) + shift_seconds_;
    if (seconds > Moment::seconds_max || seconds < -Moment::seconds_max) return std::nullopt;
    return Moment::at(seconds, nanos);
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Zone zone_;
  CivilTime civil_;
  std::int64_t now_ = 0, nanos_ = 0, time_nanos_ = 0;
  bool has_date_ = false, has_time_ = false, has_zone_ = false, year_open_ = false, wants_midnight_ = false;
  int weekday_ = -1;
  long weekday_amount_ = 0, shift_days_ = 0, shift_months_ = 0;
  std::int64_t shift_seconds_ = 0;
};

}  // namespace

std::optional<Moment> parse_date(std::string_view text, WallTime now, const Zone& zone) {
  // TZ="Zone" in front sets the zone.
  std::string name;
  if (text.starts_with("TZ=\"")) {
    std::size_t close = text.find('"', 4);
    if (close == std::string_view::npos) return std::nullopt;
    name.assign(text.substr(4, close - 4));
    return DateParser(text.substr(close + 1), now, Zone::named(name)).run();
  }
  std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) {
    // Nothing at all is midnight today.
    CivilTime c = to_civil(now.time_since_epoch().count() / 1'000'000'000, zone);
    c.hour = c.minute = c.second = 0;
    return Moment::at(to_unix_seconds(c, zone));
  }
  return DateParser(text.substr(first), now, zone).run();
}

}  // namespace atl::shell
