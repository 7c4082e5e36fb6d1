#include "registry/ceilings.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "os/file.h"

namespace atl::registry {
namespace {

constexpr double kMegabyte = 1 << 20;

std::optional<double> number_in(const char* path) {
  const auto text = os::read_file(path);
  if (!text) return std::nullopt;
  const double number = std::strtod(text->c_str(), nullptr);
  if (!(number > 0)) return std::nullopt;
  return number;
}

}  // namespace

std::vector<std::string_view> limit_names() {
  std::vector<std::string_view> names;
  for (const sandbox::LimitRow& row : sandbox::kLimits) names.push_back(row.name);
  return names;
}

Ceilings machine_ceilings(const std::string& directory) {
  Ceilings ceilings;
  const auto has = [&](std::string_view name, double most) {
    if (most >= 1) ceilings[std::string(name)] = {std::floor(most), "this machine has no more"};
  };
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0)
    has("memory_mb", static_cast<double>(pages) * static_cast<double>(page) / kMegabyte);
  if (const long cores = ::sysconf(_SC_NPROCESSORS_ONLN); cores > 0)
    has("cpu_cores", static_cast<double>(cores));
  if (const auto most = number_in("/proc/sys/kernel/pid_max")) has("max_processes", *most);
  if (const auto most = number_in("/proc/sys/fs/nr_open")) has("max_open_files", *most);
  struct statvfs space {};
  if (::statvfs(directory.c_str(), &space) == 0) {
    has("disk_mb", static_cast<double>(space.f_blocks) * static_cast<double>(space.f_frsize) / kMegabyte);
    // Some filesystems make inodes as they are needed and say zero.
    has("max_inodes", static_cast<double>(space.f_files));
  }
  return ceilings;
}

Result<void> check(const LimitsPatch& asked, const Ceilings& ceilings) {
  for (const sandbox::LimitRow& row : sandbox::kLimits) {
    const auto value = sandbox::amount(asked, row);
    const auto ceiling = ceilings.find(row.name);
    if (!value || ceiling == ceilings.end() || *value <= ceiling->second.most) continue;
    return fail(
        Error(Code::invalid_argument, fmt::format("{} is at most {}, not {}: {}", row.name,
                                                  ceiling->second.most, *value, ceiling->second.reason))
            .with_field(fmt::format("limits.{}", row.name)));
  }
  return {};
}

void clamp(sandbox::Limits& limits, const Ceilings& ceilings) {
  for (const sandbox::LimitRow& row : sandbox::kLimits) {
    const auto ceiling = ceilings.find(row.name);
    if (ceiling != ceilings.end()) sandbox::lower(limits, row, ceiling->second.most);
  }
}

}  // namespace atl::registry
