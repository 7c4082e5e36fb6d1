#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "shell/expansion.h"
#include "shell/parser.h"

namespace atl::shell {

namespace {

// A word as a sequence of characters and opaque parts, so that braces can be found across quotes and
// expansions.
struct Unit {
  char c = 0;                  // an unquoted character, or
  bool text = false;           // one that is no brace and no comma, whatever it looks like, or
  const Part* part = nullptr;  // something that stands for itself
  char syntax() const { return text ? '\0' : c; }
};
using Units = std::vector<Unit>;

// How many braces the text of ${...} leaves open.
int left_open(std::string_view raw) {
  int open = 0;
  char quote = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '\\' && quote != '\'')
      ++i;
    else if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else
      open += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
  return std::max(open, 0);
}

Units units_of(const Word& word) {
  Units out;
  int open = 0;  // ${a-{b}{x,y}}: the parameter ends at the first }, but braces are text up to the last
  for (const Part& part : word.parts) {
    if (part.kind != PartKind::literal) {
      out.push_back({0, false, &part});
      if (part.kind == PartKind::param && part.param->braced) open += left_open(part.param->raw);
      continue;
    }
    for (char c : part.text) {
      out.push_back({c, open > 0});
      if (open > 0) open += c == '{' ? 1 : c == '}' ? -1 : 0;
    }
  }
  return out;
}

Word word_of(const Units& units, const std::string& raw) {
  Word out;
  out.raw = raw;
  for (const Unit& unit : units) {
    // Braces are expanded before anything else, as text: $a before the letter b reads $ab.
    bool joins = !unit.part && !out.parts.empty() && out.parts.back().kind == PartKind::param &&
                 !out.parts.back().param->braced && is_name(out.parts.back().param->name) &&
                 (std::isalnum(static_cast<unsigned char>(unit.c)) || unit.c == '_');
    if (joins) {
      auto longer = std::make_shared<Param>(*out.parts.back().param);
      longer->name += unit.c;
      longer->raw = longer->name;
      out.parts.back().param = std::move(longer);
    } else if (unit.part) {
      out.parts.push_back(*unit.part);
    } else if (!out.parts.empty() && out.parts.back().kind == PartKind::literal) {
      out.parts.back().text += unit.c;
    } else {
      Part part;
      part.kind = PartKind::literal;
      part.text = std::string(1, unit.c);
      out.parts.push_back(std::move(part));
    }
  }
  return out;
}

// Empty if something is not plain text: $a..$b is no range, since braces come before parameters.
std::string text_of(const Units& units, std::size_t from, std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) {
    if (units[i].part) return {};
    out += units[i].c;
  }
  return out;
}

class Braces {
 public:
  Braces(std::uint64_t limit) : limit_(limit) {}
  bool too_many = false;

  std::vector<Units> expand(const Units& units) {
    std::size_t open = 0, close = 0;
    std::vector<std::size_t> commas;
    std::vector<std::string> sequence;
    // Deeper nesting stays text; it recurses once for each level.
    if (too_many || depth_ > 200 || !find(units, open, close, commas, sequence)) return {units};
    ++depth_;
    std::vector<Units> middles;
    if (!sequence.empty()) {
      for (const std::string& text : sequence) {
        Units one;
        for (char c : text) {
          one.push_back({c});
        }
        middles.push_back(std::move(one));
      }
    } else {
      std::size_t from = open + 1;
      commas.push_back(close);
      for (std::size_t comma : commas) {
        Units piece(units.begin() + static_cast<std::ptrdiff_t>(from),
                    units.begin() + static_cast<std::ptrdiff_t>(comma));
        for (Units& one : expand(piece)) middles.push_back(std::move(one));
        from = comma + 1;
      }
    }
    Units head(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(open));
    Units rest(units.begin() + static_cast<std::ptrdiff_t>(close) + 1, units.end());
    std::vector<Units> tails = expand(rest);
    std::vector<Units> out;
    std::uint64_t units_made = 0;
    // Counted before anything is built: {a,b}{a,b}... doubles with every pair.
    for (const Units& middle : middles) units_made += (middle.size() + head.size()) * tails.size();
    for (const Units& tail : tails) units_made += tail.size() * middles.size();
    if (units_made > units_max || middles.size() * tails.size() > limit_ ||
        (made_ += middles.size() * tails.size()) > limit_ * 4) {
      too_many = true;
      return {units};
    }
    for (const Units& middle : middles) {
      for (const Units& tail : tails) {
        Units one = head;
        one.insert(one.end(), middle.begin(), middle.end());
        one.insert(one.end(), tail.begin(), tail.end());
        out.push_back(std::move(one));
      }
    }
    --depth_;
    return out;
  }

 private:
  // The first brace that makes an expansion. An unmatched { is text; a later one may still match.
  bool find(const Units& units, std::size_t& open, std::size_t& close, std::vector<std::size_t>& commas,
            std::vector<std::string>& sequence) {
    std::vector<Pair> pairs = pairs_of(units);
    // {a} and {} are text.
    for (const Pair& pair : pairs) {
      if (pair.close == 0) continue;
      open = pair.open, close = pair.close;
      if (!pair.comma && (close - open > range_max || !range(text_of(units, open + 1, close), sequence)))
        continue;
      commas.clear();
      int depth = 0;
      for (std::size_t i = open; i < close && pair.comma; ++i) {
        char c = units[i].syntax();
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (c == ',' && depth == 1) commas.push_back(i);
      }
      return true;
    }
    return false;
  }

  struct Pair {
    std::size_t open = 0;
    std::size_t close = 0;  // 0: none
    bool comma = false;     // between the two, not deeper
  };
  static constexpr std::size_t range_max = 100;  // characters of a range: numbers and dots

  static std::vector<Pair> pairs_of(const Units& units) {
    std::vector<Pair> pairs;
    std::vector<std::size_t> unmatched;
    for (std::size_t i = 0; i < units.size(); ++i) {
      char c = units[i].syntax();
      if (c == '{') {
        unmatched.push_back(pairs.size());
        pairs.push_back({i});
      } else if (c == '}' && !unmatched.empty()) {
        pairs[unmatched.back()].close = i;
        unmatched.pop_back();
      } else if (c == ',' && !unmatched.empty()) {
        pairs[unmatched.back()].comma = true;
      }
    }
    return pairs;
  }

  static bool number(std::string_view text, std::int64_t& value) {
    if (text.starts_with('+')) text.remove_prefix(1);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
  }

  bool range(const std::string& text, std::vector<std::string>& out) {
    std::size_t dots = text.find("..");
    if (dots == std::string::npos) return false;
    std::string first = text.substr(0, dots);
    std::string second = text.substr(dots + 2);
    std::string third;
    std::size_t more = second.find("..");
    if (more != std::string::npos) {
      third = second.substr(more + 2);
      second = second.substr(0, more);
      if (third.empty()) return false;
    }
    std::int64_t step = 1, a = 0, b = 0;
    if (!third.empty() && !number(third, step)) return false;
    // The direction follows from the ends; the sign of the step means nothing.
    if (step < 0) step = step == INT64_MIN ? 1 : -step;
    if (step == 0) step = 1;
    bool letters = first.size() == 1 && second.size() == 1 &&
                   std::isalpha(static_cast<unsigned char>(first[0])) &&
                   std::isalpha(static_cast<unsigned char>(second[0]));
    if (letters) {
      a = first[0];
      b = second[0];
    } else if (!number(first, a) || !number(second, b)) {
      return false;
    }
    // Unsigned: the distance of two 64-bit numbers may not fit a signed one.
    std::uint64_t span = a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
                               : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
    std::uint64_t count = span / static_cast<std::uint64_t>(step) + 1;
    if (count > limit_ || count == 0) {
      too_many = true;
      return false;
    }
    // {01..10} gives all numbers the width of the longer end.
    auto padded = [](const std::string& t) {
      std::string_view digits = t;
      if (digits.starts_with('-')) digits.remove_prefix(1);
      return digits.size() > 1 && digits[0] == '0';
    };
    std::size_t width =
        !letters && (padded(first) || padded(second)) ? std::max(first.size(), second.size()) : 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      auto offset = i * static_cast<std::uint64_t>(step);
      auto value = static_cast<std::int64_t>(a < b ? static_cast<std::uint64_t>(a) + offset
                                                   : static_cast<std::uint64_t>(a) - offset);
      if (letters)
        out.push_back(std::string(1, static_cast<char>(value)));
      else if (width == 0)
        out.push_back(std::to_string(value));
      else if (value < 0)
        out.push_back(fmt::format("-{:0{}}", -value, width > 0 ? width - 1 : 0));
      else
        out.push_back(fmt::format("{:0{}}", value, width));
    }
    return true;
  }

  static constexpr std::uint64_t units_max = 8'000'000;  // characters of all words together
  std::uint64_t limit_;
  std::uint64_t made_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<Word> expand_braces(const Word& word, std::uint64_t limit, bool& too_many) {
  Braces braces(limit);
  std::vector<Units> expanded = braces.expand(units_of(word));
  too_many = braces.too_many;
  std::vector<Word> out;
  out.reserve(expanded.size());
  for (const Units& units : expanded) {
    Word one = word_of(units, word.raw);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace atl::shell
