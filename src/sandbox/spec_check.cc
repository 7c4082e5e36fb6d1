#include "sandbox/spec_check.h"

#include <algorithm>
#include <cctype>

namespace atl::sandbox {

bool is_image_reference(std::string_view text) {
  constexpr std::size_t kBytesMax = 512;
  if (text.empty() || text.size() > kBytesMax) return false;
  if (std::isalnum(static_cast<unsigned char>(text.front())) == 0 ||
      std::isalnum(static_cast<unsigned char>(text.back())) == 0)
    return false;
  if (text.find("..") != std::string_view::npos || text.find("//") != std::string_view::npos) return false;
  return std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-/:@").contains(static_cast<char>(c));
  });
}

Result<void> check(const Spec& spec) {
  const Limits& limits = spec.limits;
  if (spec.id.empty() || spec.id.size() > 128)
    return fail(Error(Code::invalid_argument, "a sandbox needs an id").with_field("id"));
  if (limits.memory_bytes < (8ULL << 20))
    return fail(Error(Code::invalid_argument, "at least 8 MiB of memory are needed")
                    .with_field("limits.memory_bytes"));
  if (!(limits.cpu_cores >= 0.05))
    return fail(
        Error(Code::invalid_argument, "at least 0.05 cores are needed").with_field("limits.cpu_cores"));
  if (limits.disk_bytes < (1ULL << 20))
    return fail(
        Error(Code::invalid_argument, "at least 1 MiB of disk is needed").with_field("limits.disk_bytes"));
  if (limits.processes_max == 0)
    return fail(
        Error(Code::invalid_argument, "at least one process is needed").with_field("limits.processes_max"));
  if (spec.hostname.empty() || spec.hostname.size() > 63)
    return fail(Error(Code::invalid_argument, "a host name has 1 to 63 characters").with_field("hostname"));
  for (const HostMount& mount : spec.host_mounts)
    if (!mount.guest_path.starts_with('/') || mount.guest_path.find("..") != std::string::npos ||
        mount.guest_path == "/")
      return fail(
          Error(Code::invalid_argument, "a mount needs an absolute path inside").with_field("host_mounts"));
  return {};
}

}  // namespace atl::sandbox
