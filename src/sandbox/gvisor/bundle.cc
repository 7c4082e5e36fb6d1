#include "sandbox/gvisor/bundle.h"

#include <algorithm>
#include <boost/json.hpp>

#include "guest/protocol.h"
#include "sandbox/limit_table.h"

namespace atl::sandbox::gvisor {
namespace {

namespace bj = boost::json;

// What root inside keeps, as in native sandboxes: power over files, ids and processes of the sandbox.
constexpr const char* kCapabilities[] = {
    "CAP_CHOWN",      "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER",  "CAP_FSETID",
    "CAP_KILL",       "CAP_SETGID",       "CAP_SETUID",          "CAP_SETPCAP", "CAP_NET_BIND_SERVICE",
    "CAP_SYS_CHROOT", "CAP_SETFCAP"};

// gVisor's kernel and its file server together.
constexpr std::uint64_t kOwnTasks = 512;
constexpr std::int64_t kCpuPeriod = 100'000;
// Of /dev, which has devices and no contents.
constexpr std::uint64_t kDevBytes = 1U << 20;

bj::object process(const Spec& spec) {
  bj::array capabilities;
  for (const char* name : kCapabilities) capabilities.emplace_back(name);
  bj::object sets;
  for (const char* set : {"bounding", "effective", "permitted"}) sets[set] = capabilities;
  const auto limit = [](const char* type, std::uint64_t value) {
    return bj::object{{"type", type}, {"hard", value}, {"soft", value}};
  };
  return bj::object{
      {"user", bj::object{{"uid", 0}, {"gid", 0}}},
      {"args", bj::array{kGuestProgram, guest::kOnStandardStreams}},
      {"env", bj::array{}},
      {"cwd", "/"},
      {"capabilities", sets},
      {"noNewPrivileges", !spec.sudo},
      {"rlimits", bj::array{limit("RLIMIT_NOFILE", spec.limits.open_files_max), limit("RLIMIT_CORE", 0)}}};
}

bj::array mounts(const Limits& limits, const BundleOptions& options) {
  const auto size = [](std::uint64_t bytes) { return bj::value("size=" + std::to_string(bytes)); };
  const auto plain = [](const char* where, const char* type, bj::array with) {
    return bj::object{{"destination", where}, {"type", type}, {"source", type}, {"options", std::move(with)}};
  };
  bj::array all;
  all.push_back(plain("/proc", "proc", {"nosuid", "nodev", "noexec"}));
  all.push_back(plain("/dev", "tmpfs", {"nosuid", "noexec", size(kDevBytes)}));
  all.push_back(plain("/dev/pts", "devpts", {"nosuid", "noexec"}));
  all.push_back(plain("/dev/shm", "tmpfs", {"nosuid", "nodev", size(shared_memory_max(limits))}));
  const auto bind = [](const std::string& from, const std::string& to, bool writable) {
    return bj::object{{"destination", to},
                      {"type", "bind"},
                      {"source", from},
                      {"options", bj::array{"rbind", writable ? "rw" : "ro"}}};
  };
  // Otherwise gVisor would put a filesystem in memory there that no limit of the disk binds.
  all.push_back(bind(options.root + "/tmp", "/tmp", true));
  for (const BundleMount& mount : options.mounts)
    all.push_back(bind(mount.source, mount.inside, mount.writable));
  return all;
}

bj::object resources(const Limits& limits) {
  const auto quota = static_cast<std::int64_t>(limits.cpu_cores * static_cast<double>(kCpuPeriod));
  return bj::object{{"memory", bj::object{{"limit", limits.memory_bytes}, {"swap", limits.memory_bytes}}},
                    {"cpu", bj::object{{"quota", quota}, {"period", kCpuPeriod}}},
                    {"pids", bj::object{{"limit", tasks_max(limits)}}}};
}

}  // namespace

std::uint64_t tasks_max(const Limits& limits) {
  return std::uint64_t{limits.processes_max} * 16 + kOwnTasks;
}

std::uint64_t shared_memory_max(const Limits& limits) {
  return std::min(limits.disk_bytes, limits.memory_bytes);
}

bool is_same_kind(const Spec& a, const Spec& b) {
  return a.layers == b.layers && a.hostname == b.hostname && a.sudo == b.sudo &&
         bind_sandbox_alike(a.limits, b.limits) && a.host_mounts.empty() && b.host_mounts.empty();
}

std::string bundle_config(const Spec& spec, const BundleOptions& options) {
  bj::array namespaces;
  for (const char* kind : {"pid", "network", "ipc", "uts", "mount"})
    namespaces.push_back(bj::object{{"type", kind}});
  bj::object linux_part{{"namespaces", std::move(namespaces)}};
  if (!options.group.empty()) {
    linux_part["cgroupsPath"] = options.group;
    linux_part["resources"] = resources(spec.limits);
  }
  const bj::object config{
      {"ociVersion", "1.0.2"},
      {"process", process(spec)},
      {"root", bj::object{{"path", options.root}, {"readonly", false}}},
      {"hostname", spec.hostname},
      {"mounts", mounts(spec.limits, options)},
      {"annotations", bj::object{{"atoll.session", spec.session_id}, {"atoll.sandbox", spec.id}}},
      {"linux", std::move(linux_part)}};
  return bj::serialize(config);
}

}  // namespace atl::sandbox::gvisor
