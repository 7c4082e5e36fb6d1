#include "sandbox/native/spawner_protocol_check.h"

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

Result<void> check_spec(const Spec& spec, const std::string& sandbox_name) {
  if (spec.id != sandbox_name) return wrong("spec.id", "is not the name");
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

Result<void> check_checkpoint(const ask::Checkpoint& checkpoint) {
  if (!is_path(checkpoint.directory)) return wrong("directory", "is no path");
  if (checkpoint.interpreters.size() > 256) return wrong("checkpoint.interpreters", "are too many");
  for (const ask::Checkpoint::Interpreter& interpreter : checkpoint.interpreters) {
    const bool is_good = is_name(interpreter.id) && is_text(interpreter.user, 256) &&
                         is_text(interpreter.directory, kPathMax) && interpreter.pid > 0 &&
                         interpreter.pid <= kPidMax && interpreter.forked_pid > 0 &&
                         interpreter.forked_pid <= kPidMax;
    if (!is_good) return wrong("checkpoint.interpreters", "hold something that is no interpreter");
  }
  if (!std::ranges::all_of(checkpoint.left_behind,
                           [](const std::string& text) { return is_text(text, kPathMax); }))
    return wrong("checkpoint.left_behind", "holds something too long");
  return {};
}

Result<void> check_interpreter(const CheckpointedInterpreter& interpreter) {
  const bool is_good = is_name(interpreter.id) && is_text(interpreter.user, 256) &&
                       is_text(interpreter.directory, kPathMax) && is_text(interpreter.zygote, 64) &&
                       interpreter.pid > 0 && static_cast<std::uint32_t>(interpreter.pid) <= kPidMax &&
                       interpreter.control >= 0;
  return is_good ? Result<void>() : wrong("interpreter", "is no parked interpreter");
}

Result<void> check_directory(const std::string& directory) {
  return is_path(directory) ? Result<void>() : wrong("directory", "is no path");
}

// One for each that can be wrong in something but the sandbox's name.
struct Checks {
  const std::string& name;

  Result<void> operator()(const ask::Create& create) const { return check_spec(create.spec, name); }
  Result<void> operator()(const ask::Rename& rename) const {
    return is_name(rename.to) ? Result<void>() : wrong("to", "is no sandbox's name");
  }
  Result<void> operator()(const ask::Snapshot& snapshot) const { return check_directory(snapshot.directory); }
  Result<void> operator()(const ask::Discard& discard) const { return check_directory(discard.directory); }
  Result<void> operator()(const ask::Measure& measure) const { return check_directory(measure.directory); }
  Result<void> operator()(const ask::OpenInterpreters& open) const { return check_directory(open.directory); }
  Result<void> operator()(const ask::DiscardInterpreters& discard) const {
    return check_directory(discard.directory);
  }
  Result<void> operator()(const ask::CloseVolume& close) const { return check_directory(close.directory); }
  Result<void> operator()(const ask::OpenVolume& open) const {
    if (open.bytes == 0 || open.bytes > kBytesMax) return wrong("bytes", "is no size of a volume");
    if (open.inodes == 0 || open.inodes > UINT32_MAX) return wrong("inodes", "is out of range");
    return check_directory(open.directory);
  }
  Result<void> operator()(const ask::ForkInterpreter& fork) const {
    if (!is_text(fork.user, 256)) return wrong("user", "is no user's name");
    return is_text(fork.directory, kPathMax) ? Result<void>() : wrong("directory", "is no path");
  }
  Result<void> operator()(const ask::Checkpoint& checkpoint) const { return check_checkpoint(checkpoint); }
  Result<void> operator()(const ask::Revive& revive) const { return check_interpreter(revive.interpreter); }
  Result<void> operator()(const auto&) const { return {}; }
};

}  // namespace

bool is_about_a_sandbox(Verb verb) {
  switch (verb) {
    case Verb::hello:
    case Verb::list:
    case Verb::second_connection:
    case Verb::shut_down:
    case Verb::open_volume:
    case Verb::close_volume:
    case Verb::measure:
    case Verb::open_interpreters:
    case Verb::discard_interpreters:
    case Verb::discard: return false;
    default: return true;
  }
}

Result<void> check(const Request& request) {
  if (is_about_a_sandbox(request.verb()) && !is_name(request.name))
    return wrong("name", "is no sandbox's name");
  return std::visit(Checks{request.name}, request.ask);
}

}  // namespace atl::sandbox::native
