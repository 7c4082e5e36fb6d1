#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <vector>

#include "tools/schema.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;

// Numbers that are equal get the same text, whether they were written 1, 1.0 or 1e0.
void append_number(std::string& out, const bj::value& value) {
  if (value.is_int64()) {
    out += fmt::format("{}", value.get_int64());
    return;
  }
  if (value.is_uint64()) {
    out += fmt::format("{}", value.get_uint64());
    return;
  }
  const double number = value.get_double();
  constexpr double kWholeMax = 9.2e18;
  if (std::nearbyint(number) == number && std::fabs(number) < kWholeMax) {
    out += fmt::format("{}", static_cast<std::int64_t>(number));
  } else {
    out += fmt::format("{}", number);
  }
}

void append(std::string& out, const bj::value& value);

void append_object(std::string& out, const bj::object& object) {
  std::vector<const bj::key_value_pair*> members;
  members.reserve(object.size());
  for (const auto& member : object) members.push_back(&member);
  std::ranges::sort(members, {}, [](const auto* member) { return std::string_view(member->key()); });
  out += '{';
  for (const auto* member : members) {
    if (out.back() != '{') out += ',';
    out += bj::serialize(bj::string_view(member->key()));
    out += ':';
    append(out, member->value());
  }
  out += '}';
}

void append(std::string& out, const bj::value& value) {
  if (value.is_object()) return append_object(out, value.get_object());
  if (value.is_number()) return append_number(out, value);
  if (!value.is_array()) {
    out += bj::serialize(value);
    return;
  }
  out += '[';
  bool first = true;
  for (const bj::value& item : value.get_array()) {
    if (!first) out += ',';
    first = false;
    append(out, item);
  }
  out += ']';
}

bool same_number(const bj::value& a, const bj::value& b) {
  if (a.is_double() || b.is_double()) return a.to_number<double>() == b.to_number<double>();
  return a == b;
}

}  // namespace

std::string canonical_json(const bj::value& value) {
  std::string out;
  append(out, value);
  return out;
}

bool same_json(const bj::value& a, const bj::value& b) {
  if (a.is_number() && b.is_number()) return same_number(a, b);
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    const auto& left = a.get_array();
    const auto& right = b.get_array();
    return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin(), same_json);
  }
  if (a.is_object()) {
    const auto& left = a.get_object();
    const auto& right = b.get_object();
    return left.size() == right.size() && std::ranges::all_of(left, [&](const auto& member) {
             const bj::value* other = right.if_contains(member.key());
             return other != nullptr && same_json(member.value(), *other);
           });
  }
  return a == b;
}

}  // namespace atl::tools
