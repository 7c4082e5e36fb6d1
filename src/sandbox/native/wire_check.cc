#include "sandbox/native/wire_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sandbox/native/walls.h"
#include "sandbox/spec_check.h"

namespace atl::sandbox::native {
namespace {

constexpr std::size_t kPathMax = 4095;
constexpr std::size_t kNameMax = 160;
constexpr std::uint64_t kBytesMax = 1ULL << 50;
constexpr std::uint32_t kPidMax = 1U << 22;

Result<void> wrong(const char* field, std::string_view problem) {
  return fail(Error(Code::invalid_argument, fmt::format("a request to the spawner: {} {}", field, problem))
                  .with_field(field));
}

// One component, of characters that are seen.
bool is_name(std::string_view text, std::size_t size_max = kNameMax) {
  return !text.empty() && text.size() <= size_max &&
         std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f && c != '/'; });
}

bool is_text(std::string_view text, std::size_t size_max) {
  return text.size() <= size_max && text.find('\0') == std::string_view::npos;
}

bool is_path(std::string_view text) {
  return !text.empty() && is_text(text, kPathMax);
}

bool is_module(std::string_view text) {
  return !text.empty() && text.size() <= 128 && text.front() != '.' &&
         std::ranges::all_of(text, [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
                  c == '.';
         });
}

Result<void> check_limits(const Limits& limits) {
  if (!std::isfinite(limits.cpu_cores) || limits.cpu_cores > 65536)
    return wrong("limits.cpu_cores", "is no number of cores");
  if (limits.memory_bytes > kBytesMax) return wrong("limits.memory_bytes", "is more than any machine has");
  if (limits.disk_bytes > kBytesMax) return wrong("limits.disk_bytes", "is more than any machine has");
  if (limits.inodes_max == 0 || limits.inodes_max > UINT32_MAX)
    return wrong("limits.inodes_max", "is out of range");
  if (limits.processes_max > kPidMax)
    return wrong("limits.processes_max", "is more than the kernel has numbers for");
  if (limits.open_files_max < 16 || limits.open_files_max > (1U << 20))
    return wrong("limits.open_files_max", "is out of range");
  return {};
}

Result<void> check_spec(const Request& request) {
  const Spec& spec = request.spec;
  if (spec.id != request.name) return wrong("spec.id", "is not the name");
  TRY(sandbox::check(spec));
  TRY(check_limits(spec.limits));
  if (spec.layers.size() >= static_cast<std::size_t>(tiny::kLowerMax)) return wrong("layers", "are too many");
  if (!std::ranges::all_of(spec.layers, is_path)) return wrong("layers", "hold something that is no path");
  if (spec.snapshot && !is_path(*spec.snapshot)) return wrong("snapshot", "is no path");
  if (spec.preimport.size() > 64 || !std::ranges::all_of(spec.preimport, is_module))
    return wrong("preimport", "holds something that is no module's name");
  if (!is_name(spec.hostname, 63)) return wrong("hostname", "is no host name");
  if (!is_text(spec.user, 256)) return wrong("user", "is no user's name");
  if (!is_text(spec.working_directory, kPathMax)) return wrong("working_directory", "is no path");
  if (spec.host_mounts.size() > 64) return wrong("host_mounts", "are too many");
  for (const HostMount& mount : spec.host_mounts)
    if (!is_path(mount.host_path) || !is_path(mount.guest_path))
      return wrong("host_mounts", "hold something that is no path");
  if (!std::ranges::all_of(spec.required_walls, [](const std::string& name) { return is_name(name); }))
    return wrong("required_walls", "hold something that is no wall's name");
  return {};
}

Result<void> check_capture(const Capture& capture) {
  if (capture.kernels.size() > 256) return wrong("capture.kernels", "are too many");
  for (const Capture::Kernel& kernel : capture.kernels) {
    const bool is_good = is_name(kernel.id) && is_text(kernel.user, 256) &&
                         is_text(kernel.directory, kPathMax) && kernel.pid > 0 && kernel.pid <= kPidMax &&
                         kernel.born > 0 && kernel.born <= kPidMax;
    if (!is_good) return wrong("capture.kernels", "hold something that is no kernel");
  }
  if (!std::ranges::all_of(capture.left_behind,
                           [](const std::string& text) { return is_text(text, kPathMax); }))
    return wrong("capture.left_behind", "holds something too long");
  return {};
}

Result<void> check_kernel(const ParkedKernel& kernel) {
  const bool is_good = is_name(kernel.id) && is_text(kernel.user, 256) &&
                       is_text(kernel.directory, kPathMax) && is_text(kernel.zygote, 64) && kernel.pid > 0 &&
                       static_cast<std::uint32_t>(kernel.pid) <= kPidMax && kernel.control >= 0;
  return is_good ? Result<void>() : wrong("kernel", "is no parked kernel");
}

}  // namespace

Result<void> check(const Request& request) {
  switch (request.verb) {
    case Verb::hello:
    case Verb::list:
    case Verb::line:
    case Verb::shut_down:
      return {};
    case Verb::open_volume:
      if (request.spec.limits.disk_bytes == 0 || request.spec.limits.disk_bytes > kBytesMax)
        return wrong("limits.disk_bytes", "is no size of a volume");
      if (request.spec.limits.inodes_max == 0 || request.spec.limits.inodes_max > UINT32_MAX)
        return wrong("limits.inodes_max", "is out of range");
      [[fallthrough]];
    case Verb::close_volume:
    case Verb::measure:
    case Verb::discard:
      return is_path(request.text) ? Result<void>() : wrong("text", "is no path");
    case Verb::create:
    case Verb::destroy:
    case Verb::freeze:
    case Verb::thaw:
    case Verb::rename:
    case Verb::snapshot:
    case Verb::adopt:
    case Verb::bear:
    case Verb::capture:
    case Verb::revive:
      break;
    // What the spawner says, and numbers that mean nothing.
    case Verb::ended:
    default:
      return wrong("verb", "is none that can be asked for");
  }
  if (!is_name(request.name)) return wrong("name", "is no sandbox's name");
  if (request.verb == Verb::create) TRY(check_spec(request));
  if (request.verb == Verb::rename && !is_name(request.text)) return wrong("text", "is no sandbox's name");
  const bool wants_path = request.verb == Verb::snapshot || request.verb == Verb::capture;
  if (wants_path && !is_path(request.text)) return wrong("text", "is no path");
  if (request.verb == Verb::bear || request.verb == Verb::revive) {
    if (!is_text(request.user, 256)) return wrong("user", "is no user's name");
    if (!is_text(request.directory, kPathMax)) return wrong("directory", "is no path");
    if (!request.text.empty() && request.text != "wait")
      return wrong("text", "is no way to ask for an interpreter");
  }
  if (request.verb == Verb::capture) TRY(check_capture(request.capture));
  if (request.verb == Verb::revive) TRY(check_kernel(request.kernel));
  return {};
}

}  // namespace atl::sandbox::native
