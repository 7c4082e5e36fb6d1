#include "shell/pattern.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <cwctype>

#include "base/utf8.h"

namespace atl::shell {

thread_local const std::function<void(std::uint64_t)>* Pattern::meter = nullptr;

namespace {

constexpr std::array<std::string_view, 14> class_names = {"alpha", "digit",  "alnum", "upper", "lower",
                                                          "space", "blank",  "punct", "cntrl", "graph",
                                                          "print", "xdigit", "word",  "ascii"};

// Beyond ASCII there is no table of classes: everything from the first letter of Latin-1 on counts as a
// printing letter, cases as far as they are known.
bool in_class(std::size_t which, std::uint32_t code) {
  if (code >= 0x80) {
    switch (which) {
      case 0:
      case 2:
      case 9:
      case 10:
      case 12: return code >= 0xAA;
      case 3: return utf8::to_lower(code) != code;
      case 4: return utf8::to_upper(code) != code;
      default: return false;
    }
  }
  int c = static_cast<int>(code);
  switch (which) {
    case 0: return std::isalpha(c);
    case 1: return std::isdigit(c);
    case 2: return std::isalnum(c);
    case 3: return std::isupper(c);
    case 4: return std::islower(c);
    case 5: return std::isspace(c);
    case 6: return c == ' ' || c == '\t';
    case 7: return std::ispunct(c);
    case 8: return std::iscntrl(c);
    case 9: return std::isgraph(c);
    case 10: return std::isprint(c);
    case 11: return std::isxdigit(c);
    case 12: return std::isalnum(c) || c == '_';
    default: return true;
  }
}

void charge(std::uint64_t work) {
  if (Pattern::meter) (*Pattern::meter)(work);
}

}  // namespace

Pattern::Pattern(std::string_view text, Flags flags) : flags_(flags) {
  std::size_t at = 0;
  items_ = parse(text, at, 0);
  for (const Item& item : items_) {
    if (item.kind != Kind::text) {
      literal_ = false;
      literal_text_.clear();
      break;
    }
    // Codes above Unicode's last stand for bytes that are no UTF-8, so that a pattern can match them one by
    // one.
    if (item.code >= 0x110000)
      literal_text_ += static_cast<char>(item.code - 0x110000);
    else
      utf8::append(literal_text_, item.code);
  }
}

// Whether the group whose content begins at `at` ends: without that its beginning is plain text.
bool Pattern::closes(std::string_view text, std::size_t at) {
  std::size_t start = at;
  // Brackets are read only to skip them; the sets that this makes are dropped again.
  std::size_t sets = sets_.size();
  int open = 1;
  for (Item ignored; at < text.size() && open > 0;) {
    char c = text[at];
    bool opens = at + 1 < text.size() && text[at + 1] == '(' && std::strchr("?*+@!", c);
    if (c == '[' && parse_set(text, at, ignored)) continue;
    if (c == ')') --open;
    if (opens && ++open > depth_max) break;
    at += opens || (c == '\\' && at + 1 < text.size()) ? 2 : 1;
  }
  sets_.resize(sets);
  charge((at - start) / 8);
  return open == 0;
}

Pattern::Sequence Pattern::parse(std::string_view text, std::size_t& at, int depth) {
  Sequence out;
  while (at < text.size()) {
    char c = text[at];
    if (depth > 0 && (c == '|' || c == ')')) break;
    Item item;
    bool group = flags_.extglob && (c == '?' || c == '*' || c == '+' || c == '@' || c == '!') &&
                 at + 1 < text.size() && text[at + 1] == '(' && depth < depth_max && closes(text, at + 2);
    if (group) {
      at += 2;
      Group parsed;
      for (bool open = true; open;) {
        parsed.alternatives.push_back(parse(text, at, depth + 1));
        open = at < text.size() && text[at] != ')';
        if (at < text.size()) ++at;
      }
      item.kind = Kind::group;
      item.op = c;
      item.index = static_cast<int>(groups_.size());
      groups_.push_back(std::move(parsed));
      out.push_back(item);
      continue;
    }
    if (c == '*') {
      ++at;
      // ** matches what * matches, and costs a loop more for each star.
      if (!out.empty() && out.back().kind == Kind::star) continue;
      item.kind = Kind::star;
    } else if (c == '?') {
      ++at;
      item.kind = Kind::any;
    } else if (c == '[' && parse_set(text, at, item)) {
    } else {
      if (c == '\\' && at + 1 < text.size()) ++at;
      std::size_t n = utf8::sequence(text.substr(at));
      item.kind = Kind::text;
      item.code = n == 1 && static_cast<unsigned char>(text[at]) >= 0x80
                      ? 0x110000U + static_cast<unsigned char>(text[at])
                      : utf8::decode(text.substr(at), n);
      at += n;
    }
    out.push_back(item);
  }
  return out;
}

bool Pattern::parse_set(std::string_view text, std::size_t& at, Item& item) {
  std::size_t i = at + 1;
  // Without this "[[[[..." would be read to its end at every bracket.
  if (text.find(']', i) == std::string_view::npos) return charge((text.size() - i) / 64), false;
  Set set;
  if (i < text.size() && (text[i] == '!' || text[i] == '^')) set.negated = true, ++i;
  bool first = true;
  while (true) {
    if (i >= text.size()) return false;
    // A ] that comes first is a member: []abc].
    if (text[i] == ']' && !first) break;
    first = false;
    if (text[i] == '[' && i + 1 < text.size() && text[i + 1] == ':') {
      std::size_t end = text.find(":]", i + 2);
      if (end != std::string_view::npos) {
        std::string_view name = text.substr(i + 2, end - i - 2);
        auto it = std::find(class_names.begin(), class_names.end(), name);
        // An unknown class matches nothing and is no error.
        if (it != class_names.end()) set.classes |= 1U << (it - class_names.begin());
        i = end + 2;
        continue;
      }
    }
    auto one = [&](std::uint32_t& code) {
      // [.x.] and [=x=]: in this locale a collating element is one character.
      if (text[i] == '[' && i + 1 < text.size() && (text[i + 1] == '.' || text[i + 1] == '=')) {
        std::string close = {text[i + 1], ']'};
        std::size_t end = text.find(close, i + 2);
        if (end != std::string_view::npos && end > i + 2) {
          std::size_t n = utf8::sequence(text.substr(i + 2));
          code = utf8::decode(text.substr(i + 2), n);
          i = end + 2;
          return true;
        }
      }
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      std::size_t n = utf8::sequence(text.substr(i));
      code = n == 1 && static_cast<unsigned char>(text[i]) >= 0x80
                 ? 0x110000U + static_cast<unsigned char>(text[i])
                 : utf8::decode(text.substr(i), n);
      i += n;
      return true;
    };
    Range range{};
    one(range.low);
    range.high = range.low;
    if (i + 1 < text.size() && text[i] == '-' && text[i + 1] != ']') {
      ++i;
      one(range.high);
    }
    set.ranges.push_back(range);
  }
  at = i + 1;
  item.kind = Kind::set;
  item.index = static_cast<int>(sets_.size());
  sets_.push_back(std::move(set));
  return true;
}

bool Pattern::in_set(const Set& set, std::uint32_t code) const {
  auto in_range = [&](std::uint32_t c) {
    for (const Range& range : set.ranges)
      if (c >= range.low && c <= range.high) return true;
    return false;
  };
  bool found = in_range(code);
  if (!found && flags_.ignore_case) found = in_range(utf8::to_lower(code)) || in_range(utf8::to_upper(code));
  // A class asks for the character as it is.
  for (std::size_t i = 0; !found && set.classes && i < class_names.size(); ++i)
    found = (set.classes >> i & 1U) && in_class(i, code);
  return found != set.negated;
}

class Pattern::Matcher {
 public:
  Matcher(const Pattern& pattern, std::string_view text) : p_(pattern), text_(text) {}

  // Bytes that the item takes at `at`, or 0 if it does not fit. Not for stars and groups.
  std::size_t step(const Item& item, std::size_t at) const {
    if (at >= text_.size()) return 0;
    auto byte = static_cast<unsigned char>(text_[at]);
    std::size_t n = byte < 0x80 ? 1 : utf8::sequence(text_.substr(at));
    if (item.kind == Kind::any) return n;
    std::uint32_t code = byte < 0x80 ? byte : n == 1 ? 0x110000U + byte : utf8::decode(text_.substr(at), n);
    if (item.kind == Kind::set)
      return p_.in_set(p_.sets_[static_cast<std::size_t>(item.index)], code) ? n : 0;
    if (code == item.code) return n;
    if (p_.flags_.ignore_case && utf8::to_lower(code) == utf8::to_lower(item.code)) return n;
    return 0;
  }

  // Without groups: classic matching with one level of return to the last star.
  bool whole(const Sequence& items) const {
    std::size_t i = 0, at = 0, star = std::string_view::npos, mark = 0;
    std::uint64_t work = 0;
    while (at < text_.size()) {
      if (++work > 4096) charge(work), work = 0;
      if (i < items.size() && items[i].kind == Kind::star) {
        star = i++;
        mark = at;
        continue;
      }
      std::size_t n = i < items.size() ? step(items[i], at) : 0;
      if (n) {
        at += n;
        ++i;
        continue;
      }
      // Let the last star take one more character. Earlier stars need no second try: what they matched leaves
      // the rest the most room.
      if (star == std::string_view::npos) return false;
      i = star + 1;
      mark += utf8::sequence(text_.substr(mark));
      at = mark;
    }
    while (i < items.size() && items[i].kind == Kind::star) ++i;
    return i == items.size();
  }

  using Positions = std::vector<std::size_t>;  // sorted

  // With groups: all positions at which a match of `items` can end, from all at which it can begin. Sets of
  // positions instead of backtracking keep it polynomial.
  Positions ends(const Sequence& items, Positions from) const {
    for (const Item& item : items) {
      if (from.empty()) return from;
      charge(from.size() + 1);
      if (item.kind == Kind::star) {
        std::size_t first = from.front();
        from.clear();
        for (std::size_t at = first; at < text_.size(); at += utf8::sequence(text_.substr(at)))
          from.push_back(at);
        from.push_back(text_.size());
      } else if (item.kind == Kind::group) {
        from = group(item, from);
      } else {
        Positions next;
        for (std::size_t at : from)
          if (std::size_t n = step(item, at)) next.push_back(at + n);
        from = std::move(next);
      }
    }
    return from;
  }

 private:
  static void merge(Positions& into, const Positions& more) {
    Positions out;
    out.reserve(into.size() + more.size());
    std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(out));
    into = std::move(out);
  }
  Positions alternatives(const Group& group, const Positions& from) const {
    Positions out;
    for (const Sequence& items : group.alternatives) {
      Positions found = ends(items, from);
      std::sort(found.begin(), found.end());
      merge(out, found);
    }
    return out;
  }
  Positions group(const Item& item, const Positions& from) const {
    const Group& g = p_.groups_[static_cast<std::size_t>(item.index)];
    // !(...) takes every length that no alternative takes, the empty one included.
    if (item.op == '!') {
      Positions out;
      for (std::size_t start : from) {
        Positions bad = alternatives(g, {start});
        Positions good;
        for (std::size_t at = start; at <= text_.size();
             at += at < text_.size() ? utf8::sequence(text_.substr(at)) : 1)
          if (!std::binary_search(bad.begin(), bad.end(), at)) good.push_back(at);
        charge(good.size() + 1);
        merge(out, good);
      }
      return out;
    }
    Positions out = alternatives(g, from);
    if (item.op == '*' || item.op == '+') {
      Positions fresh = out;
      // Only positions that are new are tried again, so that a group that matches nothing ends the loop.
      while (!fresh.empty()) {
        Positions more = alternatives(g, fresh);
        Positions added;
        std::set_difference(more.begin(), more.end(), out.begin(), out.end(), std::back_inserter(added));
        merge(out, added);
        fresh = std::move(added);
      }
    }
    if (item.op == '*' || item.op == '?') merge(out, from);
    return out;
  }

  const Pattern& p_;
  std::string_view text_;
};

bool Pattern::matches(std::string_view text) const {
  if (literal_ && !flags_.ignore_case) return text == literal_text_;
  Matcher matcher(*this, text);
  if (groups_.empty()) return matcher.whole(items_);
  auto ends = matcher.ends(items_, {0});
  return std::binary_search(ends.begin(), ends.end(), text.size());
}

std::size_t Pattern::prefix(std::string_view text, bool longest) const {
  if (literal_ && !flags_.ignore_case)
    return text.starts_with(literal_text_) ? literal_text_.size() : std::string_view::npos;
  if (!items_.empty() && items_.back().kind == Kind::star && groups_.empty() && longest) {
    // "...*": if it matches at all, it matches to the end.
    Matcher matcher(*this, text);
    return matcher.whole(items_) ? text.size() : std::string_view::npos;
  }
  Matcher matcher(*this, text);
  auto ends = matcher.ends(items_, {0});
  if (ends.empty()) return std::string_view::npos;
  return longest ? ends.back() : ends.front();
}

std::size_t Pattern::suffix(std::string_view text, bool longest) const {
  if (literal_ && !flags_.ignore_case)
    return text.ends_with(literal_text_) ? literal_text_.size() : std::string_view::npos;
  if (longest) {
    for (std::size_t at = 0; at <= text.size();
         at += at < text.size() ? utf8::sequence(text.substr(at)) : 1) {
      charge(8);
      if (matches(text.substr(at))) return text.size() - at;
    }
    return std::string_view::npos;
  }
  // The shortest suffix first; positions inside a character of several bytes are none.
  for (std::size_t at = text.size() + 1; at-- > 0;) {
    if (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80 && at > 0 &&
        utf8::sequence(text.substr(at - 1)) > 1)
      continue;
    charge(8);
    if (matches(text.substr(at))) return text.size() - at;
  }
  return std::string_view::npos;
}

bool Pattern::find(std::string_view text, std::size_t from, std::size_t& at, std::size_t& length) const {
  if (literal_ && !flags_.ignore_case) {
    if (literal_text_.empty()) return false;
    at = text.find(literal_text_, from);
    length = literal_text_.size();
    return at != std::string_view::npos;
  }
  for (std::size_t i = from; i <= text.size(); i += i < text.size() ? utf8::sequence(text.substr(i)) : 1) {
    charge(4);
    // Most positions fail at the first item, which is cheap to ask.
    if (!items_.empty() && items_[0].kind != Kind::star && items_[0].kind != Kind::group) {
      Matcher matcher(*this, text);
      if (!matcher.step(items_[0], i)) continue;
    }
    std::size_t n = prefix(text.substr(i), true);
    if (n != std::string_view::npos) {
      at = i;
      length = n;
      return true;
    }
  }
  return false;
}

bool has_glob(std::string_view pattern, bool extglob) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\')
      ++i;
    else if (c == '*' || c == '?' || c == '[')
      return true;
    else if (extglob && (c == '+' || c == '@' || c == '!') && i + 1 < pattern.size() && pattern[i + 1] == '(')
      return true;
  }
  return false;
}

std::string unquote_pattern(std::string_view pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    out += pattern[i];
  }
  return out;
}

}  // namespace atl::shell
