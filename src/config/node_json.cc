#include "config/node_json.h"

#include "base/json.h"

namespace atl::config {
namespace {

// RFC 8259, section 6. YAML has more spellings of numbers ("+1", ".5", "0x10"); those stay text.
bool is_json_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > from;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0')
    ++at;
  else if (!digits())
    return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size() && at > 0;
}

void append(std::string& out, const Node& node) {
  bool is_first = true;
  const auto separate = [&] {
    if (!std::exchange(is_first, false)) out += ',';
  };
  switch (node.kind()) {
    case Kind::null: out += "null"; return;
    case Kind::scalar:
      if (!node.is_quoted() &&
          (node.text() == "true" || node.text() == "false" || is_json_number(node.text())))
        out += node.text();
      else
        json::append_quoted(out, node.text());
      return;
    case Kind::sequence:
      out += '[';
      for (const Node& item : node.items()) {
        separate();
        append(out, item);
      }
      out += ']';
      return;
    case Kind::map:
      out += '{';
      for (const Member& member : node.members()) {
        separate();
        json::append_quoted(out, member.key);
        out += ':';
        append(out, member.value);
      }
      out += '}';
      return;
  }
}

}  // namespace

std::string to_json(const Node& node) {
  std::string out;
  append(out, node);
  return out;
}

}  // namespace atl::config
