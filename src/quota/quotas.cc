#include "quota/quotas.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/json.h"

namespace atl::quota {

Quotas Quotas::over(const Quotas& defaults) const {
  Quotas merged = *this;
  for (std::size_t at = 0; at < kQuotaCount; ++at)
    if (!merged.values_[at]) merged.values_[at] = defaults.values_[at];
  return merged;
}

Result<Quotas> Quotas::parse(std::string_view text) {
  constexpr double kMost = 9007199254740992.0;
  const boost::json::value parsed = TRY(json::parse(text));
  if (!parsed.is_object()) return fail(Code::invalid_argument, "quotas are a JSON object");
  Quotas quotas;
  for (const auto& [key, value] : parsed.as_object()) {
    const std::string name(key);
    const auto known = std::ranges::find(kQuotaWords, std::string_view(name));
    if (known == kQuotaWords.end())
      return fail(Error(Code::invalid_argument,
                        fmt::format("'{}' is no quota; there are {}", name, fmt::join(kQuotaWords, ", ")))
                      .with_field(name));
    if (value.is_null()) continue;
    boost::system::error_code wrong;
    const double number = value.is_number() ? value.to_number<double>(wrong) : -1;
    if (wrong || !(number >= 0 && number <= kMost) || number != std::floor(number))
      return fail(Error(Code::invalid_argument,
                        fmt::format("'{}' is a whole number from 0 on, or null for no bound", name))
                      .with_field(name));
    quotas.values_[static_cast<std::size_t>(known - kQuotaWords.begin())] =
        static_cast<std::uint64_t>(number);
  }
  return quotas;
}

Result<void> Quotas::check(const Quotas& defaults) const {
  for (const Quota quota : {Quota::requests_per_second, Quota::requests_burst})
    if ((*this)[quota] == 0U)
      return fail(Error(Code::invalid_argument,
                        fmt::format("'{}' is at least 1: suspend a tenant or revoke a key to close it",
                                    to_string(quota)))
                      .with_field(std::string(to_string(quota))));
  const Quotas all = over(defaults);
  if (all[Quota::requests_burst] && !all[Quota::requests_per_second])
    return fail(
        Error(Code::invalid_argument, "'requests_burst' alone limits nothing: set 'requests_per_second' too")
            .with_field("requests_burst"));
  return {};
}

std::string Quotas::to_json() const {
  boost::json::object object;
  for (std::size_t at = 0; at < kQuotaCount; ++at) {
    auto& place = object[kQuotaWords[at]];
    if (values_[at]) place = *values_[at];
  }
  return boost::json::serialize(object);
}

}  // namespace atl::quota
