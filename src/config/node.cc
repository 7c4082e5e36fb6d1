#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/document.h"

namespace atl::config {
namespace {

// Damerau-Levenshtein without a matrix library: words are short.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string shown(const Node& node) {
  if (!node.is_scalar()) return fmt::format("a {}", to_string(node.kind()));
  return fmt::format("'{}'", node.text().size() > 60 ? node.text().substr(0, 60) + "..." : node.text());
}

std::unexpected<Error> expected(const Node& node, std::string_view what) {
  return fail(node.error(fmt::format("expected {}, got {}", what, shown(node))));
}

template <class T>
Result<T> number(const Node& node, std::string_view what) {
  // "5" in quotes is text, as YAML has it.
  if (!node.is_scalar() || node.is_quoted()) return expected(node, what);
  const std::string& text = node.text();
  T value{};
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return fail(node.error(fmt::format("{} is out of range", text)));
  if (error != std::errc() || end != text.data() + text.size()) return expected(node, what);
  return value;
}

struct Amount {
  double value;
  std::string_view unit;
};

std::optional<Amount> split_amount(std::string_view text) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  return Amount{value, unit};
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::scalar: return "scalar";
    case Kind::sequence: return "list";
    case Kind::map: return "map";
  }
  std::unreachable();
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  // Up to a third of the word may differ; beyond that a proposal would only confuse.
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  if (word.size() > 100) return "";
  for (std::string_view candidate : known) {
    std::size_t d = distance(word, candidate);
    if (d < best_distance) best = candidate, best_distance = d;
  }
  return best.empty() ? "" : fmt::format(" (did you mean '{}'?)", best);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  auto amount = split_amount(text);
  std::string_view unit = amount ? amount->unit : "";
  double scale = 1;
  if (!unit.empty()) {
    constexpr std::string_view kLetters = "KMGT";
    // Small letters count as capital ones. All units are powers of 1024, also KB.
    auto power = kLetters.find(static_cast<char>(unit[0] & ~0x20));
    std::string_view rest = unit.substr(1);
    if (unit == "B") {
    } else if (power != std::string_view::npos && (rest.empty() || rest == "B" || rest == "iB")) {
      scale = std::pow(1024.0, static_cast<double>(power + 1));
    } else {
      amount.reset();
    }
  }
  // Below 2^63, so that whoever keeps it in a signed number cannot overflow.
  if (!amount || amount->value * scale >= 9e18) {
    return fail(Code::invalid_argument, fmt::format("expected a size such as 512M or 1.5G, got '{}'", text));
  }
  return static_cast<std::uint64_t>(amount->value * scale);
}

Result<std::int64_t> parse_milliseconds(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  auto amount = split_amount(text);
  for (auto [unit, scale] : kUnits) {
    if (amount && amount->unit == unit && amount->value * scale < 9e15) {
      return static_cast<std::int64_t>(std::llround(amount->value * scale));
    }
  }
  return fail(Code::invalid_argument,
              fmt::format("expected a time such as 30s, 500ms or 5m, got '{}'", text));
}

Result<bool> parse_bool(std::string_view text) {
  for (std::string_view yes : {"true", "True", "TRUE", "yes", "on", "1"}) {
    if (text == yes) return true;
  }
  for (std::string_view no : {"false", "False", "FALSE", "no", "off", "0"}) {
    if (text == no) return false;
  }
  return fail(Code::invalid_argument, fmt::format("expected true or false, got '{}'", text));
}

std::string Node::where() const {
  std::string file = file_ ? *file_ : "?";
  return position_.line == 0 ? file : fmt::format("{}:{}:{}", file, position_.line, position_.column);
}

Error Node::error(std::string_view message) const {
  return Error(Code::invalid_argument, fmt::format("{}: {}", where(), message));
}

const Node* Node::find(std::string_view key) const {
  for (const Member& member : members_) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Result<void> Node::expect(Kind kind) const {
  if (kind_ == kind) return {};
  return fail(error(fmt::format("expected a {}, got {}", to_string(kind), shown(*this))));
}

Result<void> Node::check_keys(std::span<const std::string_view> known) const {
  if (is_null()) return {};
  TRY(expect(Kind::map));
  for (const Member& member : members_) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    // The error is at the key, not at its value.
    Node at;
    at.file_ = file_;
    at.position_ = member.position;
    return fail(at.error(fmt::format("unknown key '{}'{}", member.key, did_you_mean(member.key, known))));
  }
  return {};
}

template <>
Result<std::string> Node::as<std::string>() const {
  if (!is_scalar()) return expected(*this, "text");
  return text_;
}
template <>
Result<bool> Node::as<bool>() const {
  // Only YAML 1.2's words: `on: no` and the like are text here, and a number is not a truth.
  if (is_scalar() && !quoted_ && (text_ == "true" || text_ == "True" || text_ == "TRUE")) return true;
  if (is_scalar() && !quoted_ && (text_ == "false" || text_ == "False" || text_ == "FALSE")) return false;
  return expected(*this, "true or false");
}
template <>
Result<int> Node::as<int>() const {
  return number<int>(*this, "a whole number");
}
template <>
Result<std::int64_t> Node::as<std::int64_t>() const {
  return number<std::int64_t>(*this, "a whole number");
}
template <>
Result<std::uint32_t> Node::as<std::uint32_t>() const {
  return number<std::uint32_t>(*this, "a whole number, not negative");
}
template <>
Result<std::uint64_t> Node::as<std::uint64_t>() const {
  return number<std::uint64_t>(*this, "a whole number, not negative");
}
template <>
Result<double> Node::as<double>() const {
  double value = TRY(number<double>(*this, "a number"));
  if (!std::isfinite(value)) return expected(*this, "a finite number");
  return value;
}
template <>
Result<std::vector<std::string>> Node::as<std::vector<std::string>>() const {
  TRY(expect(Kind::sequence));
  std::vector<std::string> texts;
  for (const Node& item : items_) texts.push_back(TRY(item.as<std::string>()));
  return texts;
}
template <>
Result<std::map<std::string, std::string>> Node::as<std::map<std::string, std::string>>() const {
  TRY(expect(Kind::map));
  std::map<std::string, std::string> texts;
  for (const Member& member : members_) {
    texts[member.key] = member.value.is_null() ? std::string() : TRY(member.value.as<std::string>());
  }
  return texts;
}

Result<std::uint64_t> Node::as_bytes() const {
  if (!is_scalar()) return expected(*this, "a size such as 512M");
  auto value = parse_bytes(text_);
  if (!value) return fail(error(value.error().message()));
  return value;
}

Result<std::int64_t> Node::as_milliseconds() const {
  if (!is_scalar()) return expected(*this, "a time such as 30s");
  auto value = parse_milliseconds(text_);
  if (!value) return fail(error(value.error().message()));
  return value;
}

}  // namespace atl::config
