#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// How much a tenant or a key may have. The words are the API's, the store's and the settings'.
namespace atl::quota {

enum class Quota : std::uint8_t {
  sessions,              // running at once
  creates_per_minute,    // sessions that are begun in any 60 seconds
  executions,            // at once
  cpu_seconds_per_day,   // of executions, by UTC day
  egress_bytes_per_day,  // sent by sandboxes, by UTC day
  memory_mb,             // the limits of all sandboxes that exist, together
  disk_mb,               // the same of their disks
  stored_mb,             // everything that is kept on the disk and is no sandbox's own
  volumes,
  templates,
  requests_per_second,  // calls that are not about ending something
  requests_burst,       // of these, at once
};
inline constexpr std::array<std::string_view, 12> kQuotaWords = {"sessions",
                                                                 "creates_per_minute",
                                                                 "executions",
                                                                 "cpu_seconds_per_day",
                                                                 "egress_bytes_per_day",
                                                                 "memory_mb",
                                                                 "disk_mb",
                                                                 "stored_mb",
                                                                 "volumes",
                                                                 "templates",
                                                                 "requests_per_second",
                                                                 "requests_burst"};
inline constexpr std::size_t kQuotaCount = kQuotaWords.size();
constexpr std::string_view to_string(Quota quota) {
  return kQuotaWords[static_cast<std::size_t>(quota)];
}

// How much of each.
class Amounts {
 public:
  std::uint64_t& operator[](Quota quota) { return values_[static_cast<std::size_t>(quota)]; }
  std::uint64_t operator[](Quota quota) const { return values_[static_cast<std::size_t>(quota)]; }
  bool operator==(const Amounts&) const = default;
  bool empty() const { return *this == Amounts(); }

 private:
  std::array<std::uint64_t, kQuotaCount> values_{};
};

// Unset: no bound of its own.
class Quotas {
 public:
  std::optional<std::uint64_t>& operator[](Quota quota) { return values_[static_cast<std::size_t>(quota)]; }
  const std::optional<std::uint64_t>& operator[](Quota quota) const {
    return values_[static_cast<std::size_t>(quota)];
  }
  bool operator==(const Quotas&) const = default;
  // What is unset is taken from `defaults`.
  Quotas over(const Quotas& defaults) const;

  // {"sessions": 5, "memory_mb": null}: null and absent are unset. Code::invalid_argument naming the field
  // for an unknown word and for what is no whole number from 0 to 2^53.
  static Result<Quotas> parse(std::string_view json);
  // Code::invalid_argument naming the field for what makes no sense together with the defaults that it stands
  // over: a burst without a rate, or a rate that would lock out whoever could change it.
  Result<void> check(const Quotas& defaults) const;
  // With every word; null where it is unset.
  std::string to_json() const;

 private:
  std::array<std::optional<std::uint64_t>, kQuotaCount> values_{};
};

}  // namespace atl::quota
