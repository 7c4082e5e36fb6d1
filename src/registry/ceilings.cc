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

// One limit: how to read what is asked for and what is set, and how to cut it, in the client's units.
struct LimitRow {
  std::string_view name;
  std::optional<double> (*asked)(const LimitsPatch&);
  double (*set)(const sandbox::Limits&);
  void (*cut)(sandbox::Limits&, double most);
};

template <class T>
std::optional<double> in_units(const std::optional<T>& value, double unit) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value) / unit;
}

std::optional<double> in_seconds(const std::optional<std::chrono::milliseconds>& value) {
  if (!value) return std::nullopt;
  return std::chrono::duration<double>(*value).count();
}

std::chrono::milliseconds from_seconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

constexpr std::array kRows = {
    LimitRow{"memory_mb", [](const LimitsPatch& p) { return in_units(p.memory_bytes, kMegabyte); },
             [](const sandbox::Limits& l) { return static_cast<double>(l.memory_bytes) / kMegabyte; },
             [](sandbox::Limits& l, double most) {
               l.memory_bytes = static_cast<std::uint64_t>(most * kMegabyte);
             }},
    LimitRow{"cpu_cores", [](const LimitsPatch& p) { return p.cpu_cores; },
             [](const sandbox::Limits& l) { return l.cpu_cores; },
             [](sandbox::Limits& l, double most) { l.cpu_cores = most; }},
    LimitRow{"execution_time_seconds", [](const LimitsPatch& p) { return in_seconds(p.wall_time); },
             [](const sandbox::Limits& l) { return std::chrono::duration<double>(l.wall_time).count(); },
             [](sandbox::Limits& l, double most) { l.wall_time = from_seconds(most); }},
    LimitRow{"cpu_time_seconds", [](const LimitsPatch& p) { return in_seconds(p.cpu_time); },
             [](const sandbox::Limits& l) { return in_seconds(l.cpu_time).value_or(0); },
             [](sandbox::Limits& l, double most) { l.cpu_time = from_seconds(most); }},
    LimitRow{"max_processes", [](const LimitsPatch& p) { return in_units(p.processes_max, 1); },
             [](const sandbox::Limits& l) { return static_cast<double>(l.processes_max); },
             [](sandbox::Limits& l, double most) { l.processes_max = static_cast<std::uint32_t>(most); }},
    LimitRow{
        "disk_mb", [](const LimitsPatch& p) { return in_units(p.disk_bytes, kMegabyte); },
        [](const sandbox::Limits& l) { return static_cast<double>(l.disk_bytes) / kMegabyte; },
        [](sandbox::Limits& l, double most) { l.disk_bytes = static_cast<std::uint64_t>(most * kMegabyte); }},
    LimitRow{"max_inodes", [](const LimitsPatch& p) { return in_units(p.inodes_max, 1); },
             [](const sandbox::Limits& l) { return static_cast<double>(l.inodes_max); },
             [](sandbox::Limits& l, double most) { l.inodes_max = static_cast<std::uint64_t>(most); }},
    LimitRow{"max_open_files", [](const LimitsPatch& p) { return in_units(p.open_files_max, 1); },
             [](const sandbox::Limits& l) { return static_cast<double>(l.open_files_max); },
             [](sandbox::Limits& l, double most) { l.open_files_max = static_cast<std::uint32_t>(most); }},
    LimitRow{"output_mb", [](const LimitsPatch& p) { return in_units(p.output_bytes, kMegabyte); },
             [](const sandbox::Limits& l) { return static_cast<double>(l.output_bytes) / kMegabyte; },
             [](sandbox::Limits& l, double most) {
               l.output_bytes = static_cast<std::uint64_t>(most * kMegabyte);
             }},
    // Zero is as fast as it goes: more than any number.
    LimitRow{"io_mb_per_second",
             [](const LimitsPatch& p) { return in_units(p.io_bytes_per_second, kMegabyte); },
             [](const sandbox::Limits& l) {
               return l.io_bytes_per_second == 0 ? HUGE_VAL
                                                 : static_cast<double>(l.io_bytes_per_second) / kMegabyte;
             },
             [](sandbox::Limits& l, double most) {
               l.io_bytes_per_second = static_cast<std::uint64_t>(most * kMegabyte);
             }},
};

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
  for (const LimitRow& row : kRows) names.push_back(row.name);
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
  for (const LimitRow& row : kRows) {
    const auto value = row.asked(asked);
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
  for (const LimitRow& row : kRows) {
    const auto ceiling = ceilings.find(row.name);
    if (ceiling != ceilings.end() && row.set(limits) > ceiling->second.most)
      row.cut(limits, ceiling->second.most);
  }
}

}  // namespace atl::registry
