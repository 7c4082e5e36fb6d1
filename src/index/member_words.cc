#include "index/member_words.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/bytes.h"
#include "base/json.h"

namespace atl::index {
namespace {

namespace bj = boost::json;

constexpr std::size_t kMemberBytes = 256;

// Equal values have equal texts: 3 is 3.0, and members of an object have no order.
void append_canonical(std::string& text, const bj::value& value) {
  constexpr double kWholeMax = 9007199254740992;  // beyond it a double is no longer one whole number
  if (const auto* object = value.if_object()) {
    std::vector<const bj::key_value_pair*> members;
    for (const auto& member : *object) members.push_back(&member);
    std::ranges::sort(members, {}, [](const auto* member) { return std::string_view(member->key()); });
    text += '{';
    for (const auto* member : members) {
      if (member != members.front()) text += ',';
      text += json::quoted(member->key()) + ":";
      append_canonical(text, member->value());
    }
    text += '}';
  } else if (const auto* array = value.if_array()) {
    text += '[';
    for (std::size_t at = 0; at < array->size(); ++at) {
      if (at > 0) text += ',';
      append_canonical(text, (*array)[at]);
    }
    text += ']';
  } else if (const auto* number = value.if_double();
             number != nullptr && std::trunc(*number) == *number && std::abs(*number) <= kWholeMax) {
    text += std::to_string(static_cast<std::int64_t>(*number));
  } else {
    text += bj::serialize(value);
  }
}

// Long ones are compared by their digest, and so are those with a byte at which SQLite's functions of JSON
// end.
std::string word_of(std::string_view name, const bj::value& value) {
  std::string word = std::string(name) + "=";
  append_canonical(word, value);
  const bool is_plain = word.size() <= kMemberBytes && word.find('\0') == std::string::npos;
  return is_plain ? word : "sha256:" + sha256_hex(word);
}

}  // namespace

std::string member_word(const std::string& name, const std::string& json_value) {
  const auto parsed = json::parse(json_value);
  return word_of(name, parsed ? *parsed : bj::value(json_value));
}

std::vector<std::string> members_of(const std::string& payload) {
  std::vector<std::string> members;
  const auto parsed = json::parse(payload);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return members;
  for (const auto& member : *object) members.push_back(word_of(member.key(), member.value()));
  return members;
}

}  // namespace atl::index
