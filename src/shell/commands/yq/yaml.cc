#include "shell/commands/yq/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/document.h"

namespace atl::shell::yq {

namespace {

using config::Node;
using jq::Value;

constexpr config::Bounds kBounds{.max_bytes = 16U << 20, .max_nodes = 1'000'000, .max_copied = 16U << 20};

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// A plain scalar that stands for a number; false for any other.
bool number(std::string_view text, double& value) {
  std::string_view digits = text;
  bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty()) return false;
  if (one_of(digits, {".inf", ".Inf", ".INF"})) {
    value = negative ? -INFINITY : INFINITY;
    return true;
  }
  int base = digits.starts_with("0x") ? 16 : digits.starts_with("0o") ? 8 : 10;
  if (base != 10) {
    std::uint64_t whole = 0;
    auto [end, error] = std::from_chars(digits.data() + 2, digits.data() + digits.size(), whole, base);
    value = static_cast<double>(whole) * (negative ? -1 : 1);
    return error == std::errc() && end == digits.data() + digits.size();
  }
  bool starts = (digits[0] >= '0' && digits[0] <= '9') ||
                (digits[0] == '.' && digits.size() > 1 && digits[1] >= '0' && digits[1] <= '9');
  if (!starts) return false;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (negative) value = -value;
  return error == std::errc() && end == digits.data() + digits.size();
}

Value scalar(const Node& node) {
  const std::string& text = node.text();
  if (node.is_quoted()) return Value(text);
  if (one_of(text, {"true", "True", "TRUE"})) return Value(true);
  if (one_of(text, {"false", "False", "FALSE"})) return Value(false);
  if (one_of(text, {".nan", ".NaN", ".NAN"})) return Value(std::nan(""));
  double value = 0;
  if (number(text, value)) return Value(value);
  return Value(text);
}

Value convert(const Node& node);

// "<<": the members of one map or of several; what the map says itself wins.
void merge(jq::Object& into, const Value& from) {
  if (from.is_array()) {
    for (const Value& one : from.items()) merge(into, one);
  } else if (from.is_object()) {
    for (const auto& member : from.members().members)
      if (!into.find(member.key)) into.at(member.key) = member.value;
  }
}

Value convert(const Node& node) {
  switch (node.kind()) {
    case config::Kind::null: return {};
    case config::Kind::scalar: return scalar(node);
    case config::Kind::sequence: {
      std::vector<Value> items;
      items.reserve(node.items().size());
      for (const Node& item : node.items()) items.push_back(convert(item));
      return Value::array(std::move(items));
    }
    case config::Kind::map: {
      Value out = Value::object();
      jq::Object& members = out.own_members();
      for (const auto& member : node.members())
        if (member.key != "<<") members.at(member.key) = convert(member.value);
      if (const Node* merged = node.find("<<")) merge(members, convert(*merged));
      return out;
    }
  }
  return {};
}

// Whether a text must stand in quotes to stay a text.
bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  double ignored = 0;
  if (number(text, ignored)) return true;
  if (one_of(text,
             {"true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL", "~",  ".nan", ".NaN",
              ".NAN", "yes",  "no",   "on",    "off",   "y",     "n",    "Yes",  "No",   "On", "Off"}))
    return true;
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`").find(text[0]) != std::string_view::npos) {
    bool word = (text[0] == '-' || text[0] == '?' || text[0] == ':') && text.size() > 1 && text[1] != ' ' &&
                text != "---";
    if (!word) return true;
  }
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return true;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return true;
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_block_text(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text[0] == ' ' || text[0] == '\n') return false;
  return std::none_of(text.begin(), text.end(), [](char c) {
    return c != '\n' && c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
  });
}

class Writer {
 public:
  Writer(std::string& out, int indent) : out_(out), indent_(static_cast<std::size_t>(indent)) {}

  // What follows "key:" or "-"; `level` is the indentation of what lies below.
  void value(const Value& value, std::size_t level, bool in_sequence) {
    if (value.is_array() && !value.items().empty()) {
      if (!in_sequence) out_ += '\n';
      items(value, level, in_sequence);
    } else if (value.is_object() && !value.members().members.empty()) {
      if (!in_sequence) out_ += '\n';
      members(value, level, in_sequence);
    } else {
      if (!out_.empty() && out_.back() != '\n' && out_.back() != ' ') out_ += ' ';
      plain(value, level);
    }
  }
  void top(const Value& value) {
    if (value.is_array() && !value.items().empty())
      items(value, 0, false);
    else if (value.is_object() && !value.members().members.empty())
      members(value, 0, false);
    else if (value.is_string())
      out_ += value.text() + "\n";
    else
      plain(value, 0);
  }

 private:
  void pad(std::size_t level) { out_.append(level, ' '); }
  // The first line continues the one that is begun when `inside` says so.
  void items(const Value& value, std::size_t level, bool inside) {
    for (const Value& item : value.items()) {
      if (!std::exchange(inside, false)) pad(level);
      out_ += "- ";
      this->value(item, level + 2, true);
    }
  }
  void members(const Value& value, std::size_t level, bool inside) {
    for (const auto& member : value.members().members) {
      if (!std::exchange(inside, false)) pad(level);
      text(member.key, level, true);
      out_ += ':';
      this->value(member.value, level + indent_, false);
    }
  }
  void plain(const Value& value, std::size_t level) {
    switch (value.kind()) {
      case jq::Kind::string: text(value.text(), level, false); break;
      case jq::Kind::array: out_ += "[]"; break;
      case jq::Kind::object: out_ += "{}"; break;
      case jq::Kind::number:
        if (std::isnan(value.number()))
          out_ += ".nan";
        else if (std::isinf(value.number()))
          out_ += value.number() < 0 ? "-.inf" : ".inf";
        else
          jq::append_number(out_, value.number());
        break;
      default: out_ += jq::to_text(value);
    }
    if (out_.back() != '\n') out_ += '\n';
  }
  void text(std::string_view text, std::size_t level, bool key) {
    if (!key && is_block_text(text)) return block(text, std::max<std::size_t>(level, indent_));
    if (needs_quotes(text))
      out_ += jq::to_text(Value(std::string(text)));
    else
      out_ += text;
  }
  void block(std::string_view text, std::size_t level) {
    bool ends = text.ends_with('\n');
    bool several = text.ends_with("\n\n");
    out_ += several ? "|+\n" : ends ? "|\n" : "|-\n";
    while (!text.empty()) {
      std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      if (!line.empty()) pad(level);
      out_ += line;
      out_ += '\n';
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
  }

  std::string& out_;
  std::size_t indent_;
};

}  // namespace

Result<std::vector<Value>> read_yaml(std::string_view text, const std::string& name) {
  std::vector<config::Document> documents = TRY(config::Document::parse_all(text, name, kBounds));
  std::vector<Value> out;
  for (const config::Document& document : documents) out.push_back(convert(document.root));
  return out;
}

void write_yaml(std::string& out, const Value& value, int indent) {
  Writer(out, indent).top(value);
}

}  // namespace atl::shell::yq
