#include "auth/denial.h"

#include <fmt/format.h>

namespace atl::auth {
namespace {

// Field names of requests never begin so.
constexpr std::string_view kMark = "!facts ";

}  // namespace

Error missing_permission(Permission permission) {
  return Error(Code::permission_denied,
               fmt::format("this needs the permission {}, which the credential does not have",
                           to_string(permission)))
      .with_field(fmt::format("{}permission={}", kMark, to_string(permission)));
}

Error over_quota(const QuotaFacts& facts) {
  std::string message = fmt::format("the {}'s quota {} is {}, {} in use and {} more asked for", facts.holder,
                                    facts.quota, facts.limit, facts.used, facts.asked);
  std::string field = fmt::format("{}quota={} holder={} limit={} used={} asked={}", kMark, facts.quota,
                                  facts.holder, facts.limit, facts.used, facts.asked);
  if (facts.retry_after) {
    message += fmt::format("; try again in {} s", facts.retry_after->count());
    field += fmt::format(" retry_after_seconds={}", facts.retry_after->count());
  } else {
    message += "; end or remove something first";
  }
  return Error(Code::resource_exhausted, std::move(message)).with_field(std::move(field));
}

std::vector<Fact> facts_of(const Error& error) {
  std::vector<Fact> facts;
  std::string_view text = error.field();
  if (!text.starts_with(kMark)) return facts;
  text.remove_prefix(kMark.size());
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = one.substr(equals + 1);
    const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
    facts.push_back({std::string(one.substr(0, equals)), std::string(value), digits});
  }
  return facts;
}

std::optional<std::uint64_t> retry_after_of(const Error& error) {
  for (const Fact& fact : facts_of(error))
    if (fact.name == "retry_after_seconds" && fact.is_number) return std::stoull(fact.value);
  return std::nullopt;
}

}  // namespace atl::auth
