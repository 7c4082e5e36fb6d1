#include "os/descriptor_budget.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace atl::os {
namespace {

constexpr std::uint64_t kLimitMin = 256;
constexpr std::uint64_t kReserveMin = 96, kReserveMax = 1024;
// More than this is of no use, and every connection costs memory.
constexpr std::uint64_t kConnectionsMax = 20'000, kEgressMax = 20'000, kEgressOfSessionMax = 256;

}  // namespace

Result<std::uint64_t> raise_descriptor_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
    return fail(errno_error(errno, "read the limit on open files"));
  if (files.rlim_cur < files.rlim_max) {
    const rlimit raised{files.rlim_max, files.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) files = raised;  // else what there was is what there is
  }
  return static_cast<std::uint64_t>(files.rlim_cur);
}

Result<DescriptorBudget> divide_descriptors(std::uint64_t limit) {
  if (limit < kLimitMin) {
    return fail(
        Code::unsupported,
        fmt::format("this process may have {} open files and needs at least {}: raise the limit (ulimit -n)",
                    limit, kLimitMin));
  }
  DescriptorBudget parts;
  parts.limit = limit;
  parts.reserve = std::clamp(limit / 8, kReserveMin, kReserveMax);
  const std::uint64_t rest = limit - parts.reserve;
  parts.connections = std::min(rest * 3 / 8, kConnectionsMax);
  parts.egress = std::min(rest / 8, kEgressMax);
  parts.egress_of_tenant = std::max<std::uint64_t>(1, parts.egress / 2);
  parts.egress_of_session = std::clamp<std::uint64_t>(parts.egress / 4, 1, kEgressOfSessionMax);
  parts.sandboxes = rest - parts.connections - parts.egress;
  return parts;
}

}  // namespace atl::os
