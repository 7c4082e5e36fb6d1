#include "base/json.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "base/bytes.h"

namespace atl::json {
namespace {

// Boost.JSON keeps the last of two equal keys, so two readers of one document could disagree. This pass
// refuses such documents; `text` is known to be valid JSON.
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

Result<boost::json::value> parse(std::string_view text, const Bounds& bounds) {
  if (text.size() > bounds.max_bytes) {
    return fail(Code::too_large, fmt::format("JSON text of {} bytes is over the limit of {}", text.size(), bounds.max_bytes));
  }
  if (!is_utf8(text)) return fail(Code::invalid_argument, "JSON text is not valid UTF-8");
  boost::json::parse_options options;
  options.max_depth = bounds.max_depth;
  boost::json::parser parser({}, options);
  boost::json::error_code error;
  const auto consumed = parser.write_some(text.data(), text.size(), error);
  if (error) return fail(Code::invalid_argument, fmt::format("bad JSON at byte {}: {}", consumed, error.message()));
  if (text.find_first_not_of(" \t\r\n", consumed) != std::string_view::npos) {
    return fail(Code::invalid_argument, fmt::format("bad JSON at byte {}: extra text after the value", consumed));
  }
  if (auto key = KeyScanner(text.substr(0, consumed)).duplicate()) {
    return fail(Code::invalid_argument, fmt::format("bad JSON: the key {} stands twice", quoted(*key)));
  }
  return parser.release();
}

void append_quoted(std::string& out, std::string_view text) {
  std::string repaired;
  if (!is_utf8(text)) text = repaired = to_valid_utf8(text);
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace atl::json
