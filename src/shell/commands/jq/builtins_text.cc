#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/utf8.h"
#include "shell/calendar/calendar.h"
#include "shell/commands/jq/builtins.h"
#include "shell/text/quotes.h"

namespace atl::shell::jq {

namespace {

bool need_string(Machine& m, const Value& in, std::string_view what) {
  if (in.is_string()) return true;
  return m.raise(fmt::format("{} ({}) {}", kind_name(in.kind()), to_text(in), what));
}

ATOLL_JQ_BUILTIN(do_case) {
  if (!need_string(m, in, "cannot be case-changed"))
    return m.raise(fmt::format("{} input must be a string", n.text));
  std::string text = in.text();
  for (char& c : text) {
    if (n.text == "ascii_downcase" && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (n.text == "ascii_upcase" && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return out(Value(std::move(text)), nullptr);
}
ATOLL_JQ_BUILTIN(do_explode) {
  if (!in.is_string())
    return m.raise(fmt::format("{} ({}) cannot be exploded", kind_name(in.kind()), to_text(in)));
  std::vector<Value> points;
  std::string_view text = in.text();
  while (!text.empty()) {
    std::size_t length = 1;
    points.emplace_back(static_cast<double>(utf8::read(text, length)));
    text.remove_prefix(length);
  }
  return out(Value::array(std::move(points)), nullptr);
}
ATOLL_JQ_BUILTIN(do_implode) {
  if (!in.is_array())
    return m.raise(fmt::format("{} ({}) cannot be imploded", kind_name(in.kind()), to_text(in)));
  std::string text;
  for (const Value& v : in.items()) {
    if (!v.is_number() || v.number() < 0 || v.number() > 0x10FFFF)
      return m.raise(std::string("Unicode codepoint must be numeric"));
    utf8::append(text, static_cast<char32_t>(v.number()));
  }
  return out(Value(std::move(text)), nullptr);
}
ATOLL_JQ_BUILTIN(do_starts_ends) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
    if (!in.is_string() || !v.is_string()) return m.raise(fmt::format("{}() requires string inputs", n.text));
    return out(
        Value(n.text == "startswith" ? in.text().starts_with(v.text()) : in.text().ends_with(v.text())),
        nullptr);
  });
}
ATOLL_JQ_BUILTIN(do_trim) {
  if (!in.is_string())
    return m.raise(fmt::format("{} ({}) cannot be trimmed", kind_name(in.kind()), to_text(in)));
  std::string_view text = in.text();
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  if (n.text != "rtrim") text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  if (n.text != "ltrim") text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  return out(Value(std::string(text)), nullptr);
}
ATOLL_JQ_BUILTIN(do_join) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& separator, const Path*) {
    if (!in.is_array()) return m.raise(fmt::format("Cannot iterate over {}", kind_name(in.kind())));
    if (in.items().empty()) return out(Value(std::string()), nullptr);
    if (!separator.is_string())
      return m.raise(fmt::format("{} ({}) and string (\"\") cannot be added", kind_name(separator.kind()),
                                 to_text(separator)));
    std::string text;
    bool first = true;
    for (const Value& v : in.items()) {
      if (!first) text += separator.text();
      first = false;
      if (v.is_string())
        text += v.text();
      else if (v.is_array() || v.is_object()) {
        Value ignored;
        return m.arithmetic(Op::add, Value(text), v, ignored);
      } else if (!v.is_null())
        text += to_text(v);
    }
    return out(Value(std::move(text)), nullptr);
  });
}
ATOLL_JQ_BUILTIN(do_ascii) {
  if (!in.is_number()) return m.raise(std::string("ascii: number required"));
  return out(Value(std::string(1, static_cast<char>(in.number()))), nullptr);
}

struct Match {
  std::vector<Regex::Span> spans;
};

bool parse_flags(Machine& m, const Value& flags, std::string& text) {
  if (flags.is_null()) return true;
  if (!flags.is_string())
    return m.raise(fmt::format("{} ({}) is not a string", kind_name(flags.kind()), to_text(flags)));
  for (char c : flags.text())
    if (!std::strchr("gimnpslx", c))
      return m.raise(fmt::format("{} is not a valid modifier string", flags.text()));
  text = flags.text();
  return true;
}

bool matches(Machine& m, const Value& in, const Value& pattern, std::string flags, std::vector<Match>& out,
             const Regex*& regex) {
  if (!in.is_string())
    return m.raise(
        fmt::format("{} ({}) cannot be matched, as it is not a string", kind_name(in.kind()), to_text(in)));
  Value p = pattern;
  if (p.is_array()) {
    if (p.items().size() > 1 && !parse_flags(m, p.items()[1], flags)) return false;
    p = p.items().empty() ? Value() : Value(p.items()[0]);
  }
  if (!p.is_string())
    return m.raise(
        fmt::format("{} ({}) cannot be matched, as it is not a string", kind_name(p.kind()), to_text(p)));
  regex = m.regex(p.text(), flags);
  if (!regex) return false;
  bool global = flags.find('g') != std::string::npos, skip_empty = flags.find('n') != std::string::npos;
  std::size_t from = 0;
  const std::string& text = in.text();
  while (from <= text.size()) {
    Match match;
    if (!regex->search(text, from, match.spans)) break;
    m.tick(8);
    Regex::Span span = match.spans[0];
    bool empty = span.begin == span.end;
    if (!(empty && skip_empty)) out.push_back(std::move(match));
    from = empty ? span.end + (span.end < text.size() ? utf8::read_length(text, span.end) : 1) : span.end;
    if (!global) break;
  }
  return true;
}

std::string name_of(const Regex& regex, std::size_t group) {
  for (auto& [name, number] : regex.names())
    if (number == group) return name;
  return {};
}

Value match_object(const std::string& text, const Match& match, const Regex& regex) {
  auto part = [&](Regex::Span span) {
    Value v = Value::object();
    Object& o = v.own_members();
    if (!span.matched()) {
      o.at("offset") = Value(-1);
      o.at("length") = Value(0);
      o.at("string") = Value();
    } else {
      std::string_view whole = text;
      std::string piece(whole.substr(span.begin, span.end - span.begin));
      o.at("offset") = Value(static_cast<double>(utf8::count_starts(whole.substr(0, span.begin))));
      o.at("length") = Value(static_cast<double>(utf8::count_starts(piece)));
      o.at("string") = Value(piece);
    }
    return v;
  };
  Value v = part(match.spans[0]);
  std::vector<Value> captures;
  for (std::size_t i = 1; i < match.spans.size(); ++i) {
    Value capture = part(match.spans[i]);
    std::string name = name_of(regex, i);
    capture.own_members().at("name") = name.empty() ? Value() : Value(name);
    captures.push_back(std::move(capture));
  }
  v.own_members().at("captures") = Value::array(std::move(captures));
  return v;
}

Value capture_object(const std::string& text, const Match& match, const Regex& regex) {
  Value v = Value::object();
  for (std::size_t i = 1; i < match.spans.size(); ++i) {
    std::string name = name_of(regex, i);
    if (name.empty()) continue;
    Regex::Span span = match.spans[i];
    v.own_members().at(name) =
        span.matched() ? Value(text.substr(span.begin, span.end - span.begin)) : Value();
  }
  return v;
}

// test, match, capture, scan with (re) or (re; flags).
ATOLL_JQ_BUILTIN(do_regex) {
  std::vector<Value> a;
  return m.arguments(n, env, in, a, [&] {
    std::string flags;
    if (a.size() > 1 && !parse_flags(m, a[1], flags)) return false;
    if (n.text == "scan") flags += 'g';
    std::vector<Match> found;
    const Regex* regex = nullptr;
    if (!matches(m, in, a[0], flags, found, regex)) return false;
    if (n.text == "test") return out(Value(!found.empty()), nullptr);
    for (const Match& match : found) {
      Value v;
      if (n.text == "match")
        v = match_object(in.text(), match, *regex);
      else if (n.text == "capture")
        v = capture_object(in.text(), match, *regex);
      else if (match.spans.size() == 1)
        v = Value(in.text().substr(match.spans[0].begin, match.spans[0].end - match.spans[0].begin));
      else {
        std::vector<Value> groups;
        for (std::size_t i = 1; i < match.spans.size(); ++i) {
          Regex::Span span = match.spans[i];
          groups.push_back(span.matched() ? Value(in.text().substr(span.begin, span.end - span.begin))
                                          : Value());
        }
        v = Value::array(std::move(groups));
      }
      if (!out(v, nullptr)) return false;
    }
    return true;
  });
}

ATOLL_JQ_BUILTIN(do_sub) {
  auto run = [&](const Value& pattern, std::string flags) {
    if (n.text == "gsub") flags += 'g';
    std::vector<Match> found;
    const Regex* regex = nullptr;
    if (!matches(m, in, pattern, flags, found, regex)) return false;
    const std::string& text = in.text();
    // Each output of the replacement gives an output of the whole.
    std::function<bool(std::size_t, std::size_t, const std::string&)> next =
        [&](std::size_t i, std::size_t at, const std::string& so_far) -> bool {
      if (i >= found.size()) return out(Value(so_far + text.substr(at)), nullptr);
      Regex::Span span = found[i].spans[0];
      return m.eval(
          n.list[1], env, capture_object(text, found[i], *regex), nullptr, [&](const Value& v, const Path*) {
            if (!v.is_string())
              return m.raise(
                  fmt::format("{} ({}) cannot be added to a string", kind_name(v.kind()), to_text(v)));
            return next(i + 1, span.end, so_far + text.substr(at, span.begin - at) + v.text());
          });
    };
    if (found.size() > 300) {
      // Too many for nesting; the first output of each replacement.
      std::string result;
      std::size_t at = 0;
      for (const Match& match : found) {
        Regex::Span span = match.spans[0];
        result += text.substr(at, span.begin - at);
        bool stopped = false;
        bool go = m.eval(n.list[1], env, capture_object(text, match, *regex), nullptr,
                         [&](const Value& v, const Path*) {
                           stopped = true;
                           if (v.is_string()) result += v.text();
                           return false;
                         });
        if (!go && !stopped) return false;
        at = span.end;
      }
      return out(Value(result + text.substr(at)), nullptr);
    }
    return next(0, 0, "");
  };
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& pattern, const Path*) {
    if (n.list.size() < 3) return run(pattern, "");
    return m.eval(n.list[2], env, in, nullptr, [&](const Value& flags, const Path*) {
      std::string text;
      return parse_flags(m, flags, text) && run(pattern, text);
    });
  });
}

ATOLL_JQ_BUILTIN(do_split) {
  if (n.list.size() == 2) return split_by_regex(m, n, env, in, out, false);
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
    if (!in.is_string() || !v.is_string())
      return m.raise(std::string("split input and separator must be strings"));
    Value result;
    return m.arithmetic(Op::divide, in, v, result) && out(result, nullptr);
  });
}

// ---- dates ----

bool to_broken(Machine& m, double seconds, const Zone& zone, Value& out) {
  if (std::isnan(seconds) || std::fabs(seconds) > 1e15)
    return m.raise(std::string("error converting number of seconds since epoch to datetime"));
  auto whole = static_cast<std::int64_t>(std::floor(seconds));
  CivilTime c = to_civil(whole, zone);
  std::int64_t days = days_from_civil(c.year, c.month, c.day);
  out = Value::array({Value(static_cast<double>(c.year)), Value(c.month - 1), Value(c.day), Value(c.hour),
                      Value(c.minute), Value(c.second + (seconds - static_cast<double>(whole))),
                      Value(weekday_of(days)),
                      Value(static_cast<double>(days - days_from_civil(c.year, 1, 1)))});
  return true;
}

bool from_broken(Machine& m, const Value& in, std::string_view what, CivilTime& c) {
  if (!in.is_array() || in.items().size() < 6)
    return m.raise(fmt::format("{} requires array of 6 numbers", what));
  for (std::size_t i = 0; i < 6; ++i)
    if (!in.items()[i].is_number()) return m.raise(fmt::format("{} requires parsed datetime inputs", what));
  auto at = [&](std::size_t i) { return static_cast<int>(std::floor(in.items()[i].number())); };
  c.year = at(0);
  c.month = at(1) + 1;
  c.day = at(2);
  c.hour = at(3);
  c.minute = at(4);
  c.second = at(5);
  return true;
}

ATOLL_JQ_BUILTIN(do_gmtime) {
  if (!in.is_number()) return m.raise(fmt::format("{} requires a number", n.text));
  Value result;
  return to_broken(m, in.number(), n.text == "localtime" ? Zone::of(m.call()) : Zone::utc(), result) &&
         out(result, nullptr);
}
ATOLL_JQ_BUILTIN(do_mktime) {
  CivilTime c;
  if (!from_broken(m, in, "mktime", c)) return false;
  return out(Value(static_cast<double>(to_unix_seconds(c, Zone::utc()))), nullptr);
}
ATOLL_JQ_BUILTIN(do_strftime) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& format, const Path*) {
    if (!format.is_string()) return m.raise(fmt::format("{}/1 requires a string format", n.text));
    Zone zone = n.text == "strflocaltime" ? Zone::of(m.call()) : Zone::utc();
    std::int64_t seconds = 0;
    if (in.is_number()) {
      seconds = static_cast<std::int64_t>(std::floor(std::clamp(in.number(), -1e14, 1e14)));
    } else {
      if (!in.is_array()) return m.raise(fmt::format("{}/1 requires parsed datetime inputs", n.text));
      CivilTime c;
      if (!from_broken(m, in, n.text + "/1", c)) return false;
      seconds = to_unix_seconds(c, zone);
    }
    return out(Value(format_time(format.text(), Moment::at(seconds), zone)), nullptr);
  });
}

// The directives of strptime that dates in JSON use.
bool parse_time(std::string_view text, std::string_view format, CivilTime& c, int& offset) {
  static constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                                 "jul", "aug", "sep", "oct", "nov", "dec"};
  std::size_t at = 0;
  auto number = [&](std::size_t digits, int& value) {
    std::size_t used = 0;
    value = 0;
    while (at < text.size() && text[at] == ' ') ++at;
    while (used < digits && at < text.size() && isdigit(static_cast<unsigned char>(text[at])))
      value = value * 10 + (text[at++] - '0'), ++used;
    return used > 0;
  };
  bool afternoon = false, half = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (isspace(static_cast<unsigned char>(format[i]))) {
      while (at < text.size() && isspace(static_cast<unsigned char>(text[at]))) ++at;
      continue;
    }
    if (format[i] != '%' || i + 1 >= format.size()) {
      if (at >= text.size() || text[at] != format[i]) return false;
      ++at;
      continue;
    }
    int v = 0;
    switch (format[++i]) {
      case 'Y':
        if (!number(4, v)) return false;
        c.year = v;
        break;
      case 'm':
        if (!number(2, c.month)) return false;
        break;
      case 'd':
      case 'e':
        if (!number(2, c.day)) return false;
        break;
      case 'H':
      case 'k':
        if (!number(2, c.hour)) return false;
        break;
      case 'I':
        if (!number(2, c.hour)) return false;
        half = true;
        break;
      case 'M':
        if (!number(2, c.minute)) return false;
        break;
      case 'S':
        if (!number(2, c.second)) return false;
        break;
      case 'j':
        if (!number(3, v)) return false;
        c.month = 1;
        c.day = v;
        break;
      case 'y':
        if (!number(2, v)) return false;
        c.year = v < 69 ? 2000 + v : 1900 + v;
        break;
      case 'p':
        if (at + 2 > text.size()) return false;
        afternoon = tolower(static_cast<unsigned char>(text[at])) == 'p';
        at += 2;
        break;
      case 'a':
      case 'A':
        while (at < text.size() && isalpha(static_cast<unsigned char>(text[at]))) ++at;
        break;
      case 'b':
      case 'B':
      case 'h': {
        std::size_t found = 12;
        for (std::size_t k = 0; k < 12; ++k)
          if (text.size() - at >= 3 && strncasecmp(text.data() + at, kMonths[k].data(), 3) == 0) found = k;
        if (found == 12) return false;
        c.month = static_cast<int>(found) + 1;
        while (at < text.size() && isalpha(static_cast<unsigned char>(text[at]))) ++at;
        break;
      }
      case 'Z':
        while (at < text.size() && isalpha(static_cast<unsigned char>(text[at]))) ++at;
        break;
      case 'z': {
        if (at < text.size() && (text[at] == 'Z' || text[at] == 'z')) {
          ++at;
          break;
        }
        if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return false;
        int sign = text[at++] == '-' ? -1 : 1, h = 0, mi = 0;
        if (!number(2, h)) return false;
        if (at < text.size() && text[at] == ':') ++at;
        number(2, mi);
        offset = sign * (h * 3600 + mi * 60);
        break;
      }
      case 'T': {
        if (!number(2, c.hour) || at >= text.size() || text[at++] != ':' || !number(2, c.minute) ||
            at >= text.size() || text[at++] != ':' || !number(2, c.second))
          return false;
        break;
      }
      case 'F': {
        if (!number(4, v) || at >= text.size() || text[at++] != '-' || !number(2, c.month) ||
            at >= text.size() || text[at++] != '-' || !number(2, c.day))
          return false;
        c.year = v;
        break;
      }
      case 's': {
        char* end = nullptr;
        std::string rest(text.substr(at));
        long long seconds = strtoll(rest.c_str(), &end, 10);
        if (end == rest.c_str()) return false;
        c = to_civil(seconds, Zone::utc());
        at += static_cast<std::size_t>(end - rest.c_str());
        break;
      }
      case '%':
        if (at >= text.size() || text[at++] != '%') return false;
        break;
      default: return false;
    }
  }
  if (half) c.hour = c.hour % 12 + (afternoon ? 12 : 0);
  return at == text.size();
}

ATOLL_JQ_BUILTIN(do_strptime) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& format, const Path*) {
    if (!in.is_string() || !format.is_string())
      return m.raise(fmt::format("strptime/1 requires string inputs and arguments"));
    CivilTime c;
    c.year = 1900;
    int offset = 0;
    if (!parse_time(in.text(), format.text(), c, offset))
      return m.raise(fmt::format("date \"{}\" does not match format \"{}\"", in.text(), format.text()));
    Value result;
    return to_broken(m, static_cast<double>(to_unix_seconds(c, Zone::utc())), Zone::utc(), result) &&
           out(result, nullptr);
  });
}
ATOLL_JQ_BUILTIN(do_now) {
  return out(Value(static_cast<double>(m.call().now().time_since_epoch().count()) / 1e9), nullptr);
}
ATOLL_JQ_BUILTIN(do_fromdate) {
  if (!in.is_string()) return m.raise(std::string("strptime/1 requires string inputs and arguments"));
  CivilTime c;
  int offset = 0;
  if (!parse_time(in.text(), "%Y-%m-%dT%H:%M:%SZ", c, offset))
    return m.raise(fmt::format("date \"{}\" does not match format \"%Y-%m-%dT%H:%M:%SZ\"", in.text()));
  return out(Value(static_cast<double>(to_unix_seconds(c, Zone::utc()))), nullptr);
}
ATOLL_JQ_BUILTIN(do_todate) {
  if (!in.is_number()) return m.raise(std::string("strftime/1 requires parsed datetime inputs"));
  return out(Value(format_time("%Y-%m-%dT%H:%M:%SZ", Moment::at(in.number()), Zone::utc())), nullptr);
}
ATOLL_JQ_BUILTIN(do_dateadd) {
  std::vector<Value> a;
  return m.arguments(n, env, in, a, [&] {
    if (!in.is_number() || !a[1].is_number()) return m.raise(std::string("dateadd requires numbers"));
    return out(Value(in.number() + (n.text == "datesub" ? -a[1].number() : a[1].number())), nullptr);
  });
}

constexpr BuiltinRow kTextRows[] = {
    {"ascii_downcase", 0, do_case},
    {"ascii_upcase", 0, do_case},
    {"explode", 0, do_explode},
    {"implode", 0, do_implode},
    {"startswith", 1, do_starts_ends},
    {"endswith", 1, do_starts_ends},
    {"trim", 0, do_trim},
    {"ltrim", 0, do_trim},
    {"rtrim", 0, do_trim},
    {"join", 1, do_join},
    {"ascii", 0, do_ascii},
    {"test", 1, do_regex},
    {"test", 2, do_regex},
    {"match", 1, do_regex},
    {"match", 2, do_regex},
    {"capture", 1, do_regex},
    {"capture", 2, do_regex},
    {"scan", 1, do_regex},
    {"scan", 2, do_regex},
    {"sub", 2, do_sub},
    {"sub", 3, do_sub},
    {"gsub", 2, do_sub},
    {"gsub", 3, do_sub},
    {"split", 1, do_split},
    {"split", 2, do_split},
    {"gmtime", 0, do_gmtime},
    {"localtime", 0, do_gmtime},
    {"mktime", 0, do_mktime},
    {"strftime", 1, do_strftime},
    {"strflocaltime", 1, do_strftime},
    {"strptime", 1, do_strptime},
    {"now", 0, do_now},
    {"fromdate", 0, do_fromdate},
    {"fromdateiso8601", 0, do_fromdate},
    {"todate", 0, do_todate},
    {"todateiso8601", 0, do_todate},
    {"dateadd", 2, do_dateadd},
    {"datesub", 2, do_dateadd},
    {"date", 0, do_todate},
};

}  // namespace

bool split_by_regex(Machine& m, const Node& n, const Env* env, const Value& in, const Out& out, bool stream) {
  std::vector<Value> a;
  return m.arguments(n, env, in, a, [&] {
    std::string flags;
    if (a.size() > 1 && !parse_flags(m, a[1], flags)) return false;
    std::vector<Match> found;
    const Regex* regex = nullptr;
    if (!matches(m, in, a[0], flags + "g", found, regex)) return false;
    std::vector<Value> parts;
    std::size_t at = 0;
    for (const Match& match : found) {
      parts.emplace_back(in.text().substr(at, match.spans[0].begin - at));
      at = match.spans[0].end;
    }
    parts.emplace_back(in.text().substr(at));
    if (!stream) return out(Value::array(std::move(parts)), nullptr);
    for (const Value& part : parts)
      if (!out(part, nullptr)) return false;
    return true;
  });
}

std::span<const BuiltinRow> text_builtins() {
  return kTextRows;
}

const Regex* Machine::regex(const std::string& pattern, const std::string& flags) {
  std::string key = flags + "/" + pattern;
  auto found = regexes_.find(key);
  if (found != regexes_.end()) return found->second.get();
  if (regexes_.size() > 200) regexes_.clear();
  RegexOptions options;
  options.dot_newline = false;
  for (char c : flags) {
    if (c == 'i') options.ignore_case = true;
    if (c == 'x') options.extended_space = true;
    if (c == 's' || c == 'p') options.dot_newline = true;
  }
  auto compiled = Regex::compile(pattern, Syntax::perl, options);
  if (!compiled) {
    raise(fmt::format("{} (at offset 0) is not a valid regex: {}", pattern, compiled.error().message()));
    return nullptr;
  }
  return regexes_.emplace(key, std::make_unique<Regex>(std::move(*compiled))).first->second.get();
}

bool Machine::format(const std::string& name, const Value& in, std::string& out) {
  auto plain = [](const Value& v) { return v.is_string() ? v.text() : to_text(v); };
  if (name == "@text") {
    out = plain(in);
  } else if (name == "@json") {
    out = to_text(in);
  } else if (name == "@csv" || name == "@tsv") {
    if (!in.is_array())
      return raise(fmt::format("{} ({}) cannot be {}-formatted, only an array can be", kind_name(in.kind()),
                               to_text(in), name.substr(1)));
    bool first = true;
    for (const Value& v : in.items()) {
      if (!first) out += name == "@csv" ? ',' : '\t';
      first = false;
      if (v.is_array() || v.is_object())
        return raise(fmt::format("{} ({}) is not valid in a csv row", kind_name(v.kind()), to_text(v)));
      if (!v.is_string()) {
        if (!v.is_null()) out += to_text(v);
        continue;
      }
      if (name == "@csv") {
        out += '"';
        for (char c : v.text()) out += c == '"' ? std::string("\"\"") : std::string(1, c);
        out += '"';
      } else {
        for (char c : v.text())
          out += c == '\t'   ? "\\t"
                 : c == '\n' ? "\\n"
                 : c == '\r' ? "\\r"
                 : c == '\\' ? "\\\\"
                             : std::string(1, c);
      }
    }
  } else if (name == "@html") {
    for (char c : plain(in))
      out += c == '<'    ? "&lt;"
             : c == '>'  ? "&gt;"
             : c == '&'  ? "&amp;"
             : c == '\'' ? "&#39;"
             : c == '"'  ? "&quot;"
                         : std::string(1, c);
  } else if (name == "@uri") {
    for (char c : plain(in)) {
      if (isalnum(static_cast<unsigned char>(c)) || std::strchr("-_.~", c))
        out += c;
      else
        out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  } else if (name == "@sh") {
    auto quote = [&](const Value& v) {
      if (v.is_array() || v.is_object())
        return raise(fmt::format("{} ({}) can not be escaped for shell", kind_name(v.kind()), to_text(v)));
      out += v.is_string() ? quote_operand(v.text()) : to_text(v);
      return true;
    };
    if (!in.is_array()) return quote(in);
    bool first = true;
    for (const Value& v : in.items()) {
      if (!first) out += ' ';
      first = false;
      if (!quote(v)) return false;
    }
  } else if (name == "@base64" || name == "@base32") {
    std::string_view alphabet = name == "@base64"
                                    ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                                    : "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    unsigned width = name == "@base64" ? 6 : 5;
    std::size_t group = name == "@base64" ? 4 : 8;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (char c : plain(in)) {
      bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xFFFFF;
      count += 8;
      while (count >= width) out += alphabet[(bits >> (count -= width)) & ((1U << width) - 1)];
    }
    if (count > 0) out += alphabet[(bits << (width - count)) & ((1U << width) - 1)];
    while (out.size() % group) out += '=';
  } else if (name == "@base64d" || name == "@base32d") {
    bool wide = name == "@base64d";
    std::string_view alphabet = wide ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                                     : "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    unsigned width = wide ? 6 : 5, count = 0;
    std::uint32_t bits = 0;
    std::string text = plain(in);
    for (char c : text) {
      if (c == '=') break;
      std::size_t digit = alphabet.find(c);
      if (digit == std::string_view::npos)
        return raise(fmt::format("{} ({}) is not valid base64 data", kind_name(in.kind()), to_text(in)));
      bits = (bits << width | static_cast<std::uint32_t>(digit)) & 0xFFFFF;
      count += width;
      if (count >= 8) out += static_cast<char>((bits >> (count -= 8)) & 0xFF);
    }
  } else {
    return raise(fmt::format("{} is not a valid format", name.substr(1)));
  }
  return true;
}

}  // namespace atl::shell::jq
