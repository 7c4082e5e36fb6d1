#include "base/json.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "base/bytes.h"
#include "base/json_values.h"

namespace atl::json {
namespace {

// Each value costs many times its text in memory and time; strings count once, however long. Who allows more
// bytes than usual (stored documents of our own) allows as many values as fit.
constexpr std::size_t kValuesMax = 100'000;
constexpr std::size_t kMembersMax = 10'000;  // of one object

struct Counts {
  std::size_t values = 1;  // at most this many
  std::size_t keys = 0;
};

// Looks at text of which nothing is known yet, and only at what stands outside strings. Stops at the first
// bound that is passed, so that a document of a million keys costs no more than one that is allowed.
Result<Counts> count_values(std::string_view text, std::size_t max_depth, std::size_t values_max,
                            std::size_t members_max) {
  Counts counts;
  std::vector<std::size_t> members;  // of the objects that are open
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at) {
          if (text[at] == '\\') ++at;
        }
        break;
      case '{':
      case '[':
        ++counts.values;
        if (members.size() >= max_depth) return counts;  // the parser will refuse it
        members.push_back(0);
        break;
      case '}':
      case ']':
        if (!members.empty()) members.pop_back();
        break;
      case ',': ++counts.values; break;
      case ':':
        ++counts.keys;
        if (!members.empty() && ++members.back() > members_max) {
          return fail(Code::too_large, fmt::format("JSON object with more than {} members", members_max));
        }
        break;
      default: break;
    }
    if (counts.values > values_max)
      return fail(Code::too_large, fmt::format("JSON text with more than {} values", values_max));
  }
  return counts;
}

std::size_t count_keys(const boost::json::value& value) {
  std::size_t keys = 0;
  if (const auto* object = value.if_object()) {
    keys = object->size();
    for (const auto& member : *object) keys += count_keys(member.value());
  } else if (const auto* array = value.if_array()) {
    for (const auto& item : *array) keys += count_keys(item);
  }
  return keys;
}

// Finds the key that stands twice in one object; `text` is known to be valid JSON.
class KeyScanner {
 public:
  explicit KeyScanner(std::string_view text) : text_(text) {}

  // The first duplicate key, or an empty optional.
  std::optional<std::string> duplicate() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        const auto start = at_;
        skip_string();
        if (expects_key_ && !open_.empty()) {
          auto key = std::string(boost::json::parse(text_.substr(start, at_ - start)).as_string());
          if (!open_.back().insert(key).second) return key;
          expects_key_ = false;
        }
        continue;
      }
      step(c);
      ++at_;
    }
    return std::nullopt;
  }

 private:
  void step(char c) {
    if (c == '{') {
      open_.emplace_back(), kinds_.push_back('{'), expects_key_ = true;
    } else if (c == '[') {
      kinds_.push_back('['), expects_key_ = false;
    } else if (c == '}') {
      open_.pop_back(), kinds_.pop_back(), expects_key_ = false;
    } else if (c == ']') {
      kinds_.pop_back(), expects_key_ = false;
    } else if (c == ',') {
      expects_key_ = !kinds_.empty() && kinds_.back() == '{';
    }
  }

  void skip_string() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool expects_key_ = false;
  std::vector<std::set<std::string>> open_;
  std::string kinds_;
};

}  // namespace

Result<void> bound_values(std::string_view text, std::size_t values_max) {
  TRY(count_values(text, text.size() + 1, values_max, text.size()));
  return {};
}

Result<boost::json::value> parse(std::string_view text, const Bounds& bounds) {
  if (text.size() > bounds.max_bytes) {
    return fail(Code::too_large,
                fmt::format("JSON text of {} bytes is over the limit of {}", text.size(), bounds.max_bytes));
  }
  if (!is_utf8(text)) return fail(Code::invalid_argument, "JSON text is not valid UTF-8");
  const bool bounded = bounds.max_bytes <= Bounds{}.max_bytes;
  const Counts counts = TRY(count_values(text, bounds.max_depth, bounded ? kValuesMax : bounds.max_bytes,
                                         bounded ? kMembersMax : bounds.max_bytes));
  boost::json::parse_options options;
  options.max_depth = bounds.max_depth;
  boost::json::parser parser({}, options);
  boost::json::error_code error;
  const auto consumed = parser.write_some(text.data(), text.size(), error);
  if (error)
    return fail(Code::invalid_argument, fmt::format("bad JSON at byte {}: {}", consumed, error.message()));
  if (text.find_first_not_of(" \t\r\n", consumed) != std::string_view::npos) {
    return fail(Code::invalid_argument,
                fmt::format("bad JSON at byte {}: extra text after the value", consumed));
  }
  boost::json::value value = parser.release();
  // Boost.JSON keeps the last of two equal keys, so two readers of one document could disagree. Then there
  // are fewer members than keys were written.
  if (count_keys(value) != counts.keys) {
    const auto key = KeyScanner(text.substr(0, consumed)).duplicate();
    return fail(Code::invalid_argument,
                fmt::format("bad JSON: the key {} stands twice", quoted(key.value_or(""))));
  }
  return value;
}

void append_quoted(std::string& out, std::string_view text) {
  std::string repaired;
  if (!is_utf8(text)) text = repaired = to_valid_utf8(text);
  out += '"';
  std::size_t copied = 0;  // up to here; most text has nothing to escape and goes as a whole
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, copied, at - copied);
    copied = at + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: out += fmt::format("\\u{:04x}", static_cast<int>(c));
    }
  }
  out.append(text, copied, text.size() - copied);
  out += '"';
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace atl::json
