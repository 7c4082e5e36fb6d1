#include "shell/commands/jq/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/utf8.h"
#include "shell/heap.h"
#include "shell/stack.h"

namespace atl::shell::jq {

namespace {

constexpr int kTextDepthMax = 256;

}  // namespace

Value::Value(std::string text) : kind_(Kind::string) {
  u_.text = new Text;
  u_.text->text = std::move(text);
}

Value::Value(const Value& other) : kind_(other.kind_), u_(other.u_) {
  switch (kind_) {
    case Kind::string: ++u_.text->refs; break;
    case Kind::array: ++u_.array->refs; break;
    case Kind::object: ++u_.object->refs; break;
    default: break;
  }
}

namespace {

// Values nest as deep as a program likes, so that what a value held is destroyed one after the other and not
// inside each other. `open` takes a value's content out and deletes its shell.
template <class Open>
void bury(const Open& open) {
  static thread_local std::vector<Value>* waiting = nullptr;
  if (waiting) return open(*waiting);
  HeapMeter::Quiet quiet;  // this runs in destructors, where the memory limit must not throw
  std::vector<Value> graves;
  waiting = &graves;
  open(graves);
  while (!graves.empty()) {
    Value next = std::move(graves.back());
    graves.pop_back();
  }
  waiting = nullptr;
}

}  // namespace

void Value::release() {
  switch (kind_) {
    case Kind::string:
      if (--u_.text->refs == 0) delete u_.text;
      break;
    case Kind::array:
      if (--u_.array->refs == 0)
        bury([this](std::vector<Value>& inner) {
          for (Value& item : u_.array->items) inner.push_back(std::move(item));
          delete u_.array;
        });
      break;
    case Kind::object:
      if (--u_.object->refs == 0)
        bury([this](std::vector<Value>& inner) {
          for (Object::Member& member : u_.object->members) inner.push_back(std::move(member.value));
          delete u_.object;
        });
      break;
    default: break;
  }
}

Value Value::array() {
  return array({});
}

Value Value::array(std::vector<Value> items) {
  Value v;
  v.kind_ = Kind::array;
  v.u_.array = new Array;
  v.u_.array->items = std::move(items);
  return v;
}

Value Value::object() {
  Value v;
  v.kind_ = Kind::object;
  v.u_.object = new Object;
  return v;
}

const std::string& Value::text() const {
  return u_.text->text;
}
const std::vector<Value>& Value::items() const {
  return u_.array->items;
}
const Object& Value::members() const {
  return *u_.object;
}

std::vector<Value>& Value::own_items() {
  // The only owner changes in place; a shared one is copied first.
  if (u_.array->refs > 1) {
    auto* copy = new Array;
    copy->items = u_.array->items;
    --u_.array->refs;
    u_.array = copy;
  }
  return u_.array->items;
}

Object& Value::own_members() {
  if (u_.object->refs > 1) {
    auto* copy = new Object;
    for (const auto& member : u_.object->members) copy->at(member.key) = member.value;
    --u_.object->refs;
    u_.object = copy;
  }
  return *u_.object;
}

std::size_t Value::size() const {
  switch (kind_) {
    case Kind::array: return items().size();
    case Kind::object: return members().members.size();
    case Kind::string: return text().size();
    default: return 0;
  }
}

void Object::reindex() {
  index.clear();
  if (members.size() <= kScanned) return;
  for (std::size_t i = 0; i < members.size(); ++i) index[members[i].key] = i;
}

const Value* Object::find(std::string_view key) const {
  if (members.size() <= kScanned) {
    for (const Member& member : members)
      if (member.key == key) return &member.value;
    return nullptr;
  }
  auto found = index.find(key);
  return found == index.end() ? nullptr : &members[found->second].value;
}

Value& Object::at(std::string_view key) {
  // JUSTIFICATION: the const form of the same look-up; the value itself is ours to change.
  if (auto* value = find(key)) return const_cast<Value&>(*value);
  bool moves = members.size() == members.capacity();
  members.push_back({std::string(key), Value()});
  if (members.size() > kScanned) {
    // Short keys live inside the members: they move when the vector grows.
    if (moves || index.empty())
      reindex();
    else
      index[members.back().key] = members.size() - 1;
  }
  return members.back().value;
}

bool Object::erase(std::string_view key) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].key != key) continue;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
    reindex();
    return true;
  }
  return false;
}

std::vector<const Object::Member*> Object::sorted() const {
  std::vector<const Member*> out;
  out.reserve(members.size());
  for (const Member& member : members) out.push_back(&member);
  std::sort(out.begin(), out.end(), [](const Member* a, const Member* b) { return a->key < b->key; });
  return out;
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::false_:
    case Kind::true_: return "boolean";
    case Kind::number: return "number";
    case Kind::string: return "string";
    case Kind::array: return "array";
    default: return "object";
  }
}

int compare(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return a.kind() < b.kind() ? -1 : 1;
  if (a.kind() >= Kind::array) need_stack();
  switch (a.kind()) {
    case Kind::number:
      // nan is less than any number, itself included.
      if (std::isnan(a.number())) return -1;
      if (std::isnan(b.number())) return 1;
      return a.number() < b.number() ? -1 : a.number() > b.number() ? 1 : 0;
    case Kind::string: {
      int order = a.text().compare(b.text());
      return order < 0 ? -1 : order > 0 ? 1 : 0;
    }
    case Kind::array: {
      const auto &x = a.items(), &y = b.items();
      for (std::size_t i = 0; i < x.size() && i < y.size(); ++i)
        if (int order = compare(x[i], y[i])) return order;
      return x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0;
    }
    case Kind::object: {
      auto x = a.members().sorted(), y = b.members().sorted();
      for (std::size_t i = 0; i < x.size() && i < y.size(); ++i)
        if (int order = x[i]->key.compare(y[i]->key)) return order < 0 ? -1 : 1;
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (int order = compare(x[i]->value, y[i]->value)) return order;
      return 0;
    }
    default: return 0;
  }
}

void append_number(std::string& out, double number) {
  if (std::isnan(number)) {
    out += "null";
    return;
  }
  // JSON has no infinity; jq prints the largest number there is.
  if (std::isinf(number)) number = number < 0 ? -1.7976931348623157e308 : 1.7976931348623157e308;
  if (number == static_cast<double>(static_cast<std::int64_t>(number)) && std::fabs(number) < 1e16) {
    if (number == 0 && std::signbit(number)) {
      out += "-0";
      return;
    }
    char digits[32];
    auto [end, error] = std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(number));
    out.append(digits, static_cast<std::size_t>(end - digits));
    return;
  }
  // The shortest digits that read back the same, at most 17.
  char raw[64];
  auto [end, error] = std::to_chars(raw, raw + sizeof raw, std::fabs(number), std::chars_format::scientific);
  std::string_view text(raw, static_cast<std::size_t>(end - raw));
  std::size_t e = text.find('e');
  int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  std::string digits;
  for (char c : text.substr(0, e))
    if (c != '.') digits += c;
  if (number < 0) out += '-';
  int point = exponent + 1;  // digits before the decimal point
  int count = static_cast<int>(digits.size());
  if (point <= -4 || point > count + 15) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    out += fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  } else if (point <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else if (point >= count) {
    out += digits + std::string(static_cast<std::size_t>(point - count), '0');
  } else {
    out += digits.substr(0, static_cast<std::size_t>(point)) + "." +
           digits.substr(static_cast<std::size_t>(point));
  }
}

namespace {

void print_string(std::string& out, std::string_view text, bool ascii) {
  out += '"';
  std::size_t run = 0;
  auto flush = [&](std::size_t upto) { out.append(text.substr(run, upto - run)); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F && c < 0x80) continue;
    if (c >= 0x80) {
      std::size_t length = 1;
      char32_t point = utf8::read(text.substr(i), length);
      bool bad = point == 0xFFFD && length == 1;
      if (!bad && !ascii) {
        i += length - 1;
        continue;
      }
      flush(i);
      if (bad && !ascii)
        out += "\xEF\xBF\xBD";
      else if (point >= 0x10000)
        out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((static_cast<unsigned>(point) - 0x10000) >> 10),
                           0xDC00 + ((static_cast<unsigned>(point) - 0x10000) & 0x3FF));
      else
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(point));
      i += length - 1;
      run = i + 1;
      continue;
    }
    flush(i);
    run = i + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default: out += fmt::format("\\u{:04x}", c);
    }
  }
  flush(text.size());
  out += '"';
}

constexpr std::string_view kColors[] = {"1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39"};

class Printer {
 public:
  Printer(std::string& out, const Style& style) : out_(out), s_(style) {}

  void value(const Value& v, int depth) {
    std::string_view color = kColors[static_cast<int>(v.kind())];
    if (s_.color) out_ += fmt::format("\33[{}m", color);
    switch (v.kind()) {
      case Kind::null: out_ += "null"; break;
      case Kind::false_: out_ += "false"; break;
      case Kind::true_: out_ += "true"; break;
      case Kind::number: append_number(out_, v.number()); break;
      case Kind::string: print_string(out_, v.text(), s_.ascii); break;
      case Kind::array: array(v, depth, color); break;
      case Kind::object: object(v, depth, color); break;
    }
    if (s_.color) out_ += "\33[0m";
  }

 private:
  void newline(int depth) {
    if (s_.indent == 0) return;
    out_ += '\n';
    if (s_.indent < 0)
      out_.append(static_cast<std::size_t>(depth), '\t');
    else
      out_.append(static_cast<std::size_t>(depth * s_.indent), ' ');
  }
  void array(const Value& v, int depth, std::string_view color) {
    need_stack();
    out_ += '[';
    bool first = true;
    for (const Value& item : v.items()) {
      if (!first) {
        if (s_.color)
          out_ += fmt::format("\33[{}m,", color);
        else
          out_ += ',';
      }
      first = false;
      newline(depth + 1);
      if (depth > 10000) {
        out_ += "\"<skipped: too deep>\"";
        break;
      }
      value(item, depth + 1);
    }
    if (s_.color) out_ += fmt::format("\33[{}m", color);
    if (!first) newline(depth);
    if (s_.color)
      out_ += fmt::format("\33[{}m]", color);
    else
      out_ += ']';
  }
  void member(const std::string& key, const Value& item, int depth, bool first, std::string_view color) {
    if (!first) {
      if (s_.color)
        out_ += fmt::format("\33[{}m,", color);
      else
        out_ += ',';
    }
    newline(depth + 1);
    if (s_.color) out_ += "\33[0m\33[34;1m";
    print_string(out_, key, s_.ascii);
    if (s_.color) out_ += fmt::format("\33[0m\33[{}m", color);
    out_ += ':';
    if (s_.indent != 0) out_ += ' ';
    if (s_.color) out_ += "\33[0m";
    value(item, depth + 1);
  }
  void object(const Value& v, int depth, std::string_view color) {
    need_stack();
    out_ += '{';
    bool first = true;
    if (s_.sort_keys) {
      for (const auto* m : v.members().sorted()) {
        member(m->key, m->value, depth, first, color);
        first = false;
      }
    } else {
      for (const auto& m : v.members().members) {
        member(m.key, m.value, depth, first, color);
        first = false;
      }
    }
    if (s_.color) out_ += fmt::format("\33[{}m", color);
    if (!first) newline(depth);
    if (s_.color)
      out_ += fmt::format("\33[{}m}}", color);
    else
      out_ += '}';
  }

  std::string& out_;
  const Style& s_;
};

}  // namespace

void print(std::string& out, const Value& value, const Style& style) {
  Printer(out, style).value(value, 0);
}

std::string to_text(const Value& value) {
  std::string out;
  Style style;
  style.indent = 0;
  print(out, value, style);
  return out;
}

std::unexpected<Error> Reader::error(std::string_view what) const {
  std::size_t line =
      1 + static_cast<std::size_t>(std::count(
              text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n'));
  std::size_t start = text_.substr(0, std::min(at_, text_.size())).rfind('\n');
  std::size_t column = at_ - (start == std::string_view::npos ? 0 : start + 1);
  return fail(Code::invalid_argument, fmt::format("{} at line {}, column {}", what, line, column));
}

void Reader::space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' ||
                                text_[at_] == '\r' || text_[at_] == '\x1e'))
    ++at_;
}

Result<bool> Reader::next(Value& value) {
  if (at_ == 0 && text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  space();
  if (at_ >= text_.size()) return false;
  auto done = parse(value, 0);
  if (!done) return std::unexpected(done.error());
  return true;
}

Result<void> Reader::parse(Value& value, int depth) {
  if (depth > kTextDepthMax) return error("Exceeds depth limit for parsing");
  space();
  if (at_ >= text_.size()) return error("Unfinished JSON term");
  char c = text_[at_];
  if (c == '{') {
    ++at_;
    value = Value::object();
    Object& object = value.own_members();
    space();
    if (at_ < text_.size() && text_[at_] == '}') {
      ++at_;
      return {};
    }
    while (true) {
      space();
      if (at_ >= text_.size()) return error("Unfinished JSON term");
      if (text_[at_] != '"')
        return error(text_[at_] == '}' ? "Objects must consist of key:value pairs"
                                       : "Object keys must be strings");
      auto key = string();
      if (!key) return std::unexpected(key.error());
      space();
      if (at_ >= text_.size()) return error("Unfinished JSON term");
      if (text_[at_] != ':') return error("Objects must consist of key:value pairs");
      ++at_;
      Value item;
      auto done = parse(item, depth + 1);
      if (!done) return done;
      object.at(*key) = std::move(item);
      space();
      if (at_ >= text_.size()) return error("Unfinished JSON term");
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (text_[at_] != '}') return error("Expected separator between values");
      ++at_;
      return {};
    }
  }
  if (c == '[') {
    ++at_;
    value = Value::array();
    auto& items = value.own_items();
    space();
    if (at_ < text_.size() && text_[at_] == ']') {
      ++at_;
      return {};
    }
    while (true) {
      items.emplace_back();
      auto done = parse(items.back(), depth + 1);
      if (!done) return done;
      space();
      if (at_ >= text_.size()) return error("Unfinished JSON term");
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (text_[at_] != ']') return error("Expected separator between values");
      ++at_;
      return {};
    }
  }
  if (c == '"') {
    auto text = string();
    if (!text) return std::unexpected(text.error());
    value = Value(std::move(*text));
    return {};
  }
  if (c == '-' || (c >= '0' && c <= '9') || c == '.') return number(value);
  return word(value);
}

Result<void> Reader::word(Value& value) {
  std::size_t end = at_;
  while (end < text_.size() && isalnum(static_cast<unsigned char>(text_[end]))) ++end;
  std::string_view w = text_.substr(at_, end - at_);
  if (w == "true")
    value = Value(true);
  else if (w == "false")
    value = Value(false);
  else if (w == "null")
    value = Value();
  else if (w == "nan" || w == "NaN")
    value = Value(std::nan(""));
  else {
    at_ = std::max(end, at_ + 1);
    return error(w.empty() ? "Invalid literal" : "Invalid literal");
  }
  at_ = end;
  return {};
}

Result<void> Reader::number(Value& value) {
  std::size_t end = at_;
  if (text_[end] == '-') ++end;
  if (text_.substr(end).starts_with("Infinity")) {
    value = Value(text_[at_] == '-' ? -INFINITY : INFINITY);
    at_ = end + 8;
    return {};
  }
  while (end < text_.size() &&
         (isdigit(static_cast<unsigned char>(text_[end])) || text_[end] == '.' || text_[end] == 'e' ||
          text_[end] == 'E' ||
          ((text_[end] == '+' || text_[end] == '-') && (text_[end - 1] == 'e' || text_[end - 1] == 'E'))))
    ++end;
  std::string_view digits = text_.substr(at_, end - at_);
  double n = 0;
  auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (problem == std::errc::result_out_of_range)
    n = strtod(std::string(digits).c_str(), nullptr);
  else if (problem != std::errc() || stop != digits.data() + digits.size()) {
    if (!(digits.ends_with('.') && stop == digits.data() + digits.size() - 1))
      return error("Invalid numeric literal");
  }
  if (end < text_.size() && isalpha(static_cast<unsigned char>(text_[end])))
    return error("Invalid numeric literal");
  at_ = end;
  value = Value(n);
  return {};
}

Result<std::string> Reader::string() {
  std::string out;
  ++at_;
  while (true) {
    std::size_t run = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') ++at_;
    out.append(text_.substr(run, at_ - run));
    if (at_ >= text_.size()) return error("Unfinished string");
    if (text_[at_++] == '"') return out;
    if (at_ >= text_.size()) return error("Unfinished string");
    char e = text_[at_++];
    switch (e) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case '"':
      case '\\':
      case '/': out += e; break;
      case 'u': {
        auto hex = [&](char32_t& point) {
          if (at_ + 4 > text_.size()) return false;
          unsigned v = 0;
          auto [stop, problem] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, v, 16);
          if (problem != std::errc() || stop != text_.data() + at_ + 4) return false;
          point = v;
          at_ += 4;
          return true;
        };
        char32_t point = 0;
        if (!hex(point)) return error("Invalid escape");
        if (point >= 0xD800 && point < 0xDC00) {
          char32_t low = 0;
          if (text_.substr(at_).starts_with("\\u")) {
            at_ += 2;
            if (!hex(low)) return error("Invalid escape");
          }
          point =
              low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
        } else if (point >= 0xDC00 && point < 0xE000) {
          point = 0xFFFD;
        }
        utf8::append(out, point);
        break;
      }
      default: return error("Invalid escape");
    }
  }
}

Result<Value> parse_json(std::string_view text) {
  Reader reader(text);
  Value value;
  bool any = TRY(reader.next(value));
  if (!any) return fail(Code::invalid_argument, "Expected JSON value");
  Value more;
  bool again = TRY(reader.next(more));
  if (again) return fail(Code::invalid_argument, "Unexpected extra JSON values");
  return value;
}

}  // namespace atl::shell::jq
