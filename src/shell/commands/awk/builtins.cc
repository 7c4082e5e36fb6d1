#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/utf8.h"
#include "shell/calendar/calendar.h"
#include "shell/commands/awk/machine.h"

namespace atl::shell::awk {

namespace {

// Byte offset of the character with this index.
std::size_t byte_offset(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  while (index > 0 && at < text.size()) {
    at += utf8::read_length(text, at);
    --index;
  }
  return at;
}

bool ascii(std::string_view text) {
  for (char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

}  // namespace

Value Machine::builtin(const Node* node) {
  auto count = node->list.size();
  auto need = [&](std::size_t low, std::size_t high) {
    if (count < low || count > high) fatal(fmt::format("wrong number of arguments to {}", node->text));
  };
  auto num = [&](std::size_t i) { return number(node->list[i]); };
  std::string scratch;
  switch (static_cast<Builtin>(node->slot)) {
    case Builtin::length: return builtin_length(node);
    case Builtin::substr: need(2, 3); return builtin_substr(node);
    case Builtin::index: {
      need(2, 2);
      std::string hay(text(node->list[0], scratch));
      std::string_view needle = text(node->list[1], scratch);
      std::size_t at = hay.find(needle);
      if (at == std::string::npos) return Value::of(0.0);
      return Value::of(static_cast<double>(utf8::count_starts(std::string_view(hay).substr(0, at)) + 1));
    }
    case Builtin::split: need(2, 4); return builtin_split(node, false);
    case Builtin::patsplit: need(2, 4); return builtin_split(node, true);
    case Builtin::sub: need(2, 3); return builtin_substitute(node, false);
    case Builtin::gsub: need(2, 3); return builtin_substitute(node, true);
    case Builtin::gensub: need(3, 4); return builtin_gensub(node);
    case Builtin::match: need(2, 3); return builtin_match(node);
    case Builtin::sprintf_: {
      need(1, 1000);
      std::vector<Value> arguments;
      std::string spec(text(node->list[0], scratch));
      for (std::size_t i = 1; i < count; ++i) arguments.push_back(eval(node->list[i]));
      std::string out;
      format(spec, arguments, out);
      return Value::of(std::move(out));
    }
    case Builtin::sin: need(1, 1); return Value::of(std::sin(num(0)));
    case Builtin::cos: need(1, 1); return Value::of(std::cos(num(0)));
    case Builtin::atan2: {
      need(2, 2);
      double y = num(0);
      return Value::of(std::atan2(y, num(1)));
    }
    case Builtin::exp: need(1, 1); return Value::of(std::exp(num(0)));
    case Builtin::log: need(1, 1); return Value::of(std::log(num(0)));
    case Builtin::sqrt: need(1, 1); return Value::of(std::sqrt(num(0)));
    case Builtin::int_: need(1, 1); return Value::of(std::trunc(num(0)));
    case Builtin::rand: return Value::of(static_cast<double>(random_() >> 11) * 0x1.0p-53);
    case Builtin::srand: {
      double before = seed_;
      seed_ =
          count
              ? num(0)
              : static_cast<double>(
                    std::chrono::duration_cast<std::chrono::seconds>(call_.now().time_since_epoch()).count());
      // srand() gives the seed before it.
      random_.seed(static_cast<std::uint64_t>(static_cast<std::int64_t>(seed_)));
      return Value::of(before);
    }
    case Builtin::tolower:
    case Builtin::toupper: {
      need(1, 1);
      bool upper = static_cast<Builtin>(node->slot) == Builtin::toupper;
      std::string_view given = text(node->list[0], scratch);
      return Value::of(upper ? utf8::to_upper(given) : utf8::to_lower(given));
    }
    case Builtin::system: need(1, 1); return builtin_system(node);
    case Builtin::close: {
      need(1, 2);
      std::string name(text(node->list[0], scratch));
      return Value::of(static_cast<double>(close_stream(name)));
    }
    case Builtin::fflush: flush_all(); return Value::of(0.0);
    case Builtin::systime:
      return Value::of(static_cast<double>(
          std::chrono::duration_cast<std::chrono::seconds>(call_.now().time_since_epoch()).count()));
    case Builtin::strftime: return builtin_strftime(node);
    case Builtin::mktime: need(1, 2); return builtin_mktime(node);
    case Builtin::asort: need(1, 3); return builtin_sort(node, false);
    case Builtin::asorti: need(1, 3); return builtin_sort(node, true);
    case Builtin::and_:
    case Builtin::or_:
    case Builtin::xor_:
    case Builtin::lshift:
    case Builtin::rshift: need(2, 100); return builtin_bits(node);
    case Builtin::compl_:
      need(1, 1);
      // gawk's integers have 53 bits, as many as a double holds exactly.
      return Value::of(static_cast<double>(~static_cast<std::uint64_t>(num(0)) & ((1ULL << 53) - 1)));
    case Builtin::strtonum: {
      need(1, 1);
      Value value = eval(node->list[0]);
      if (value.is_number() && !value.is_string()) return value;
      std::string body(text_of(value, scratch));
      std::size_t start = body.find_first_not_of(" \t\n");
      if (start == std::string::npos) return Value::of(0.0);
      std::size_t digits = start + (body[start] == '-' || body[start] == '+');
      double sign = body[start] == '-' ? -1 : 1;
      if (body.compare(digits, 2, "0x") == 0 || body.compare(digits, 2, "0X") == 0)
        return Value::of(sign * static_cast<double>(std::strtoull(body.c_str() + digits, nullptr, 16)));
      if (body.size() > digits + 1 && body[digits] == '0' &&
          body.find_first_of(".eE89", digits) == std::string::npos)
        return Value::of(sign * static_cast<double>(std::strtoull(body.c_str() + digits, nullptr, 8)));
      return Value::of(to_number(body));
    }
    case Builtin::isarray:
    case Builtin::typeof_: {
      need(1, 1);
      const Node* argument = node->list[0];
      std::string kind;
      if (argument->op == Op::regex) kind = "regexp";
      if (argument->op == Op::global || argument->op == Op::local) {
        Cell& c = cell(argument);
        if (c.array && c.value.unset())
          kind = c.array->size() || argument->op == Op::global ? "array" : "untyped";
        else if (c.value.unset() && (argument->op == Op::local || argument->slot > kFNR))
          kind = "untyped";
      } else if (argument->op == Op::index && element(argument).sub) {
        kind = "array";
      }
      if (kind.empty()) {
        Value value = eval(argument);
        bool maybe = (value.flags & Value::kMaybe) != 0;
        settle(value);
        kind = value.unset()                ? "unassigned"
               : maybe && value.is_number() ? "strnum"
               : value.is_number()          ? "number"
                                            : "string";
      }
      if (static_cast<Builtin>(node->slot) == Builtin::isarray) return Value::of(kind == "array" ? 1.0 : 0.0);
      return Value::of(kind);
    }
  }
  return {};
}

Value Machine::builtin_length(const Node* node) {
  if (node->list.empty()) return Value::of(static_cast<double>(utf8::count_starts(record())));
  const Node* argument = node->list[0];
  if (argument->op == Op::global || argument->op == Op::local) {
    Cell& c = cell(argument);
    if (c.array && c.value.unset()) return Value::of(static_cast<double>(c.array->size()));
  } else if (argument->op == Op::index) {
    auto& e = element(argument);
    if (e.sub) return Value::of(static_cast<double>(e.sub->size()));
  }
  std::string scratch;
  return Value::of(static_cast<double>(utf8::count_starts(text(argument, scratch))));
}

Value Machine::builtin_substr(const Node* node) {
  std::string scratch;
  std::string_view held = text(node->list[0], scratch);
  std::string copy;
  // The other arguments may change what the view looks at.
  if (node->list[1]->op != Op::number || (node->list.size() > 2 && node->list[2]->op != Op::number)) {
    copy.assign(held);
    held = copy;
  }
  // POSIX rounds both numbers, and a start before the text shortens the length.
  double start = std::nearbyint(number(node->list[1]));
  double length = node->list.size() > 2 ? number(node->list[2]) : INFINITY;
  if (!std::isinf(length)) length = std::nearbyint(length);
  if (std::isnan(start) || std::isnan(length)) return Value::of(std::string());
  if (start == 0) start = 1;    // as gawk does
  double end = start + length;  // exclusive
  if (start < 1) start = 1;
  if (end <= start) return Value::of(std::string());
  if (ascii(held)) {
    if (start > static_cast<double>(held.size())) return Value::of(std::string());
    std::size_t from = static_cast<std::size_t>(start) - 1;
    std::size_t count = end > static_cast<double>(held.size()) + 1 ? held.size() - from
                                                                   : static_cast<std::size_t>(end - start);
    return Value::of(std::string(held.substr(from, count)));
  }
  std::size_t from = start > 1e9 ? held.size() : byte_offset(held, static_cast<std::size_t>(start) - 1);
  std::size_t to = end > 1e9 ? held.size() : byte_offset(held, static_cast<std::size_t>(end) - 1);
  return Value::of(std::string(held.substr(from, to - from)));
}

Value Machine::builtin_split(const Node* node, bool by_pattern) {
  std::string scratch;
  std::string subject(text(node->list[0], scratch));
  auto target = array_pointer(node->list[1]);
  std::shared_ptr<Array> gaps = node->list.size() > 3 ? array_pointer(node->list[3]) : nullptr;
  std::vector<std::string_view> parts, separators;
  if (by_pattern) {
    const Regex& regex = node->list.size() < 3 ? dynamic_regex(text_of(globals_[kFPAT].value, scratch))
                         : node->list[2]->op == Op::regex ? regex_of(node->list[2])
                                                          : dynamic_regex(text(node->list[2], scratch));
    std::size_t from = 0, gap = 0;
    std::string_view whole = subject;
    Regex::Span span;
    while (from <= whole.size() && regex.search(whole, from, span)) {
      if (span.end == span.begin) {
        from = span.end + 1;
        continue;
      }
      separators.push_back(whole.substr(gap, span.begin - gap));
      parts.push_back(whole.substr(span.begin, span.end - span.begin));
      gap = from = span.end;
    }
    separators.push_back(whole.substr(gap));
  } else if (node->list.size() < 3) {
    split_text(subject, fs_, fs_regex_, parts, &separators);
  } else if (node->list[2]->op == Op::regex) {
    const Node* regex = node->list[2];
    if (regex->text.empty())
      split_text(subject, "", nullptr, parts, &separators);
    else
      split_text(subject, "x", regex->text == " " ? &dynamic_regex("[ ]") : &regex_of(regex), parts,
                 &separators);
  } else {
    std::string separator(text(node->list[2], scratch));
    if (separator.size() > 1)
      split_text(subject, separator, &dynamic_regex(separator), parts, &separators);
    else
      split_text(subject, separator, nullptr, parts, &separators);
  }
  target->clear();
  call_.charge(parts.size());
  bool blanks =
      !by_pattern &&
      (node->list.size() < 3 ? fs_ == " " : node->list[2]->op == Op::string && node->list[2]->text == " ");
  std::string key;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    key.clear();
    append_number(key, static_cast<double>(i + 1), convfmt_);
    target->at(key).value = Value::input(parts[i]);
  }
  if (gaps) {
    gaps->clear();
    std::size_t base = by_pattern || blanks ? 0 : 1;
    for (std::size_t i = 0; i < separators.size(); ++i)
      gaps->at(std::to_string(i + base)).value = Value::of(std::string(separators[i]));
  }
  return Value::of(static_cast<double>(parts.size()));
}

Value Machine::builtin_substitute(const Node* node, bool global) {
  std::string scratch;
  static const Node kWholeIndex = [] {
    Node n;
    n.op = Op::number;
    return n;
  }();
  static const Node kWhole = [] {
    Node n;
    n.op = Op::field;
    // JUSTIFICATION: the constant is only read.
    n.a = const_cast<Node*>(&kWholeIndex);
    return n;
  }();
  const Node* target = node->list.size() > 2 ? node->list[2] : &kWhole;
  while (target->op == Op::group) target = target->a;
  std::string pattern;
  const Node* pattern_node = node->list[0];
  if (pattern_node->op != Op::regex) pattern = text(pattern_node, scratch);
  std::string replacement(text(node->list[1], scratch));
  std::string subject(text(target, scratch));
  const Regex& regex = pattern_node->op == Op::regex ? regex_of(pattern_node) : dynamic_regex(pattern);
  // What to insert, cut at unescaped ampersands once.
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] == '\\' && i + 1 < replacement.size() &&
        (replacement[i + 1] == '&' || replacement[i + 1] == '\\')) {
      pieces.back() += replacement[++i];
    } else if (replacement[i] == '&') {
      pieces.emplace_back();
    } else {
      pieces.back() += replacement[i];
    }
  }
  std::string out;
  std::size_t at = 0, from = 0;
  double count = 0;
  Regex::Span span;
  std::size_t last_end = std::string::npos;
  while (from <= subject.size() && regex.search(subject, from, span)) {
    bool empty = span.end == span.begin;
    if (empty && span.begin == last_end) {
      from = span.end +
             std::max<std::size_t>(1, span.end < subject.size() ? utf8::read_length(subject, span.end) : 1);
      continue;
    }
    out.append(subject, at, span.begin - at);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i) out.append(subject, span.begin, span.end - span.begin);
      out += pieces[i];
    }
    ++count;
    at = last_end = span.end;
    if (!global) break;
    if (empty) {
      from = span.end +
             std::max<std::size_t>(1, span.end < subject.size() ? utf8::read_length(subject, span.end) : 1);
    } else {
      from = span.end;
    }
    tick();
  }
  if (count == 0) return Value::of(0.0);
  if (at < subject.size()) out.append(subject, at);
  if (target->op == Op::field || target->op == Op::global || target->op == Op::local ||
      target->op == Op::index)
    store(target, Value::of(std::move(out)));
  return Value::of(count);
}

Value Machine::builtin_gensub(const Node* node) {
  std::string scratch;
  std::string pattern;
  if (node->list[0]->op != Op::regex) pattern = text(node->list[0], scratch);
  std::string replacement(text(node->list[1], scratch));
  std::string how(text(node->list[2], scratch));
  std::string subject(node->list.size() > 3 ? text(node->list[3], scratch) : record());
  const Regex& regex = node->list[0]->op == Op::regex ? regex_of(node->list[0]) : dynamic_regex(pattern);
  bool all = !how.empty() && (how[0] == 'g' || how[0] == 'G');
  double wanted = all ? 0 : std::max(1.0, to_number(how));
  std::string out;
  std::size_t at = 0, from = 0, last_end = std::string::npos;
  double count = 0;
  std::vector<Regex::Span> spans;
  while (from <= subject.size() && regex.search(subject, from, spans)) {
    Regex::Span span = spans[0];
    bool empty = span.begin == span.end;
    if (empty && span.begin == last_end) {
      ++from;
      continue;
    }
    ++count;
    last_end = span.end;
    from = empty ? span.end + 1 : span.end;
    if (!all && count < wanted) continue;
    out.append(subject, at, span.begin - at);
    at = span.end;
    for (std::size_t i = 0; i < replacement.size(); ++i) {
      char c = replacement[i];
      std::size_t group = std::string::npos;
      if (c == '&')
        group = 0;
      else if (c == '\\' && i + 1 < replacement.size()) {
        char e = replacement[++i];
        if (e >= '0' && e <= '9')
          group = static_cast<std::size_t>(e - '0');
        else {
          if (e != '\\' && e != '&') out += '\\';
          out += e;
          continue;
        }
      }
      if (group == std::string::npos)
        out += c;
      else if (group < spans.size() && spans[group].matched())
        out.append(subject, spans[group].begin, spans[group].end - spans[group].begin);
    }
    if (!all) break;
    tick();
  }
  if (at < subject.size()) out.append(subject, at);
  return Value::of(std::move(out));
}

Value Machine::builtin_match(const Node* node) {
  std::string scratch;
  std::string subject(text(node->list[0], scratch));
  std::string pattern;
  if (node->list[1]->op != Op::regex) pattern = text(node->list[1], scratch);
  const Regex& regex = node->list[1]->op == Op::regex ? regex_of(node->list[1]) : dynamic_regex(pattern);
  bool found = regex.search(subject, 0, spans_);
  double start = 0, length = -1;
  std::string_view whole = subject;
  if (found) {
    start = static_cast<double>(utf8::count_starts(whole.substr(0, spans_[0].begin)) + 1);
    length = static_cast<double>(
        utf8::count_starts(whole.substr(spans_[0].begin, spans_[0].end - spans_[0].begin)));
  }
  globals_[kRSTART].value = Value::of(start);
  globals_[kRLENGTH].value = Value::of(length);
  if (node->list.size() > 2) {
    Array& groups = array(node->list[2]);
    groups.clear();
    for (std::size_t i = 0; found && i < spans_.size(); ++i) {
      if (!spans_[i].matched()) continue;
      std::string key = std::to_string(i);
      std::string_view part = whole.substr(spans_[i].begin, spans_[i].end - spans_[i].begin);
      groups.at(key).value = Value::input(part);
      groups.at(key + subsep_ + "start").value =
          Value::of(static_cast<double>(utf8::count_starts(whole.substr(0, spans_[i].begin)) + 1));
      groups.at(key + subsep_ + "length").value = Value::of(static_cast<double>(utf8::count_starts(part)));
    }
  }
  return Value::of(start);
}

std::vector<std::string> Machine::ordered_keys(Array& a, std::string_view how) {
  std::vector<std::string> keys = a.keys([this] { tick(); });
  call_.charge(keys.size() * 16);
  auto user = program_.function_index.find(std::string(how));
  if (user != program_.function_index.end()) {
    const Function& function = program_.functions[static_cast<std::size_t>(user->second)];
    // A comparison written by the user may be inconsistent; merging keeps to what it says without harm.
    std::stable_sort(keys.begin(), keys.end(), [&](const std::string& x, const std::string& y) {
      Node nodes[4];
      std::vector<Node*> list;
      const Value values[4] = {Value::input(x), a.at(x).value, Value::input(y), a.at(y).value};
      for (int i = 0; i < 4; ++i) {
        nodes[i].op = Op::string;
        nodes[i].constant = values[i];
        nodes[i].text = values[i].text;
        list.push_back(&nodes[i]);
      }
      return number_of(call_user(function, list)) < 0;
    });
    return keys;
  }
  bool by_value = how.find("@val") == 0;
  bool numeric = how.find("_num_") != std::string_view::npos;
  bool by_type = how.find("_type_") != std::string_view::npos;
  bool descending = how.ends_with("desc");
  auto number_key = [&](const std::string& k) { return by_value ? number_of(a.at(k).value) : to_number(k); };
  std::stable_sort(keys.begin(), keys.end(), [&](const std::string& x, const std::string& y) {
    tick();
    if (descending) {
      if (numeric) return number_key(x) > number_key(y);
      std::string s, t;
      if (by_value && by_type) {
        Value left = a.at(x).value, right = a.at(y).value;
        return compare_values(left, right) > 0;
      }
      return by_value ? text_of(a.at(x).value, s) > text_of(a.at(y).value, t) : x > y;
    }
    if (numeric) {
      double m = number_key(x), n = number_key(y);
      return m != n ? m < n : x < y;
    }
    std::string s, t;
    if (by_value && by_type) {
      Value left = a.at(x).value, right = a.at(y).value;
      settle(left);
      settle(right);
      if (left.is_number() != right.is_number()) return left.is_number();
      return compare_values(left, right) < 0;
    }
    return by_value ? text_of(a.at(x).value, s) < text_of(a.at(y).value, t) : x < y;
  });
  return keys;
}

Value Machine::builtin_sort(const Node* node, bool indices) {
  std::string scratch;
  auto source = array_pointer(node->list[0]);
  auto target = node->list.size() > 1 ? array_pointer(node->list[1]) : source;
  std::string how = node->list.size() > 2 ? std::string(text(node->list[2], scratch)) : "";
  if (how.empty()) how = indices ? "@ind_str_asc" : "@val_type_asc";
  std::vector<std::string> keys = ordered_keys(*source, how);
  std::vector<Value> values;
  for (const std::string& key : keys) values.push_back(indices ? Value::of(key) : source->at(key).value);
  target->clear();
  for (std::size_t i = 0; i < values.size(); ++i)
    target->at(std::to_string(i + 1)).value = std::move(values[i]);
  return Value::of(static_cast<double>(keys.size()));
}

Value Machine::builtin_system(const Node* node) {
  std::string scratch;
  std::string script(text(node->list[0], scratch));
  flush_all();
  return Value::of(static_cast<double>(call_.run_script(script, {})));
}

Value Machine::builtin_strftime(const Node* node) {
  std::string scratch;
  std::string spec =
      node->list.empty() ? "%a %b %e %H:%M:%S %Z %Y" : std::string(text(node->list[0], scratch));
  double seconds =
      node->list.size() > 1
          ? number(node->list[1])
          : static_cast<double>(
                std::chrono::duration_cast<std::chrono::seconds>(call_.now().time_since_epoch()).count());
  bool utc = node->list.size() > 2 && truth(node->list[2]);
  Zone zone = utc ? Zone::utc() : Zone::of(call_);
  return Value::of(format_time(spec, Moment::at(seconds), zone));
}

Value Machine::builtin_mktime(const Node* node) {
  std::string scratch;
  std::string spec(text(node->list[0], scratch));
  long parts[6] = {};
  if (sscanf(spec.c_str(), "%ld %ld %ld %ld %ld %ld", &parts[0], &parts[1], &parts[2], &parts[3], &parts[4],
             &parts[5]) != 6)
    return Value::of(-1.0);
  bool utc = node->list.size() > 1 && truth(node->list[1]);
  Zone zone = utc ? Zone::utc() : Zone::of(call_);
  CivilTime civil;
  civil.year = parts[0];
  civil.month = static_cast<int>(parts[1]);
  civil.day = static_cast<int>(parts[2]);
  civil.hour = static_cast<int>(parts[3]);
  civil.minute = static_cast<int>(parts[4]);
  civil.second = static_cast<int>(parts[5]);
  return Value::of(static_cast<double>(to_unix_seconds(civil, zone)));
}

Value Machine::builtin_bits(const Node* node) {
  auto whole = [&](std::size_t i) {
    return static_cast<std::uint64_t>(std::max(0.0, number(node->list[i])));
  };
  std::uint64_t result = whole(0);
  for (std::size_t i = 1; i < node->list.size(); ++i) {
    std::uint64_t right = whole(i);
    switch (static_cast<Builtin>(node->slot)) {
      case Builtin::and_: result &= right; break;
      case Builtin::or_: result |= right; break;
      case Builtin::xor_: result ^= right; break;
      case Builtin::lshift: result = right > 63 ? 0 : result << right; break;
      default: result = right > 63 ? 0 : result >> right;
    }
  }
  return Value::of(static_cast<double>(result));
}

}  // namespace atl::shell::awk
