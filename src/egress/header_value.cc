#include "egress/header_value.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl::egress {
namespace {

constexpr std::string_view kOpen = "${", kSecret = "secrets.";

bool is_value_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

// As the vault names them.
bool is_secret_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name.find('{') == std::string_view::npos;
}

}  // namespace

Result<HeaderValue> HeaderValue::parse(std::string_view text) {
  if (!is_value_text(text)) return fail(Code::invalid_argument, "a control character in a header value");
  HeaderValue value;
  while (!text.empty()) {
    const auto at = text.find(kOpen);
    if (at != 0) value.parts_.push_back({std::string(text.substr(0, at)), false});
    if (at == std::string_view::npos) break;
    const auto end = text.find('}', at);
    const auto inner =
        text.substr(at + kOpen.size(), end == std::string_view::npos ? 0 : end - at - kOpen.size());
    if (!inner.starts_with(kSecret) || !is_secret_name(inner.substr(kSecret.size()))) {
      return fail(
          Code::invalid_argument,
          "a reference in a header value is written ${secrets.NAME}, and nothing else begins with ${");
    }
    value.parts_.push_back({std::string(inner.substr(kSecret.size())), true});
    text.remove_prefix(end + 1);
  }
  return value;
}

bool HeaderValue::has_secret() const {
  return std::ranges::any_of(parts_, &Part::secret);
}

Task<std::string> HeaderValue::fill(Secrets* secrets, std::vector<std::string>& revealed) const {
  std::string filled;
  for (const Part& part : parts_) {
    if (!part.secret) {
      filled += part.text;
      continue;
    }
    if (secrets == nullptr) co_return fail(Code::not_found, fmt::format("no secret '{}'", part.text));
    CO_TRY(const std::string value, co_await secrets->reveal(part.text));
    if (!is_value_text(value))
      co_return fail(Code::invalid_argument, fmt::format("secret '{}' cannot stand in a header", part.text));
    filled += value;
    revealed.push_back(value);
  }
  co_return filled;
}

}  // namespace atl::egress
