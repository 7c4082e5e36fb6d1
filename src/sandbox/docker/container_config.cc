#include "sandbox/docker/container_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <cmath>
#include <sstream>

#include "guest/handover.h"
#include "guest/protocol.h"
#include "sandbox/docker/json_access.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;

// Threads are counted as tasks; sandbox/limits.h says how many a process may have.
constexpr std::uint64_t kTasksOfProcess = 16;
// Of one user of the machine in all containers together: far above what one of them may have.
constexpr std::uint64_t kTasksOfUser = 16384;
constexpr std::uint64_t kSharedMemoryMax = 64U << 20;
constexpr double kNanoCores = 1e9;

std::uint64_t task_limit(const Limits& limits) {
  return limits.processes_max * kTasksOfProcess + kTasksOfProcess;
}

bj::object host_config(const ContainerPlan& plan) {
  const Limits& limits = plan.limits;
  bj::object host;
  host["NetworkMode"] = "none";
  host["Privileged"] = false;
  host["CapDrop"] = bj::array{"ALL"};
  bj::array security{"no-new-privileges"};
  if (!plan.seccomp_profile.empty()) security.emplace_back("seccomp=" + plan.seccomp_profile);
  host["SecurityOpt"] = std::move(security);
  host["Memory"] = limits.memory_bytes;
  // The same number for memory and swap together: no swap.
  host["MemorySwap"] = limits.memory_bytes;
  host["NanoCpus"] = static_cast<std::int64_t>(std::llround(limits.cpu_cores * kNanoCores));
  host["PidsLimit"] = task_limit(limits);
  bj::array ulimits;
  const auto limit = [&](const char* name, std::uint64_t value) {
    ulimits.push_back(bj::object{{"Name", name}, {"Soft", value}, {"Hard", value}});
  };
  limit("nofile", limits.open_files_max);
  limit("core", 0);
  if (plan.with_user_task_limit) limit("nproc", kTasksOfUser);
  host["Ulimits"] = std::move(ulimits);
  host["ShmSize"] = std::min(kSharedMemoryMax, limits.memory_bytes / 4);
  bj::object guest{{"Target", kGuestPath}, {"ReadOnly", true}};
  if (!plan.guest_volume.empty()) {
    guest["Type"] = "volume", guest["Source"] = plan.guest_volume, guest["Target"] = kGuestDirectory;
  } else {
    guest["Type"] = "bind", guest["Source"] = plan.guest_file;
  }
  bj::array mounts{std::move(guest)};
  if (!plan.host_file.empty())
    mounts.push_back(
        bj::object{{"Type", "bind"}, {"Source", plan.host_file}, {"Target", kHostPath}, {"ReadOnly", true}});
  host["Mounts"] = std::move(mounts);
  host["LogConfig"] = bj::object{{"Type", "none"}};
  host["RestartPolicy"] = bj::object{{"Name", "no"}};
  host["IpcMode"] = "private";
  host["Init"] = false;
  // The proxy's resolver listens on port 53 of the container's own loopback.
  host["Sysctls"] = bj::object{{"net.ipv4.ip_unprivileged_port_start", "0"}};
  host["Dns"] = bj::array{"127.0.0.1"};
  if (plan.with_disk_limit) host["StorageOpt"] = bj::object{{"size", std::to_string(limits.disk_bytes)}};
  return host;
}

// Facts about one container, from both who can tell.
struct Seen {
  const ContainerPlan& plan;
  const bj::value& inspected;
  const std::optional<KernelFacts>& kernel;
  Isolation isolation;

  void stands(std::string name, std::string value) {
    isolation.walls.push_back({std::move(name), std::move(value)});
  }
  void lacks(std::string name, std::string remedy) {
    isolation.missing.push_back({std::move(name), std::move(remedy)});
  }
};

Error broken(std::string_view wall) {
  return Error(Code::provider_failed,
               fmt::format("the engine made a container without the wall '{}'; it was removed", wall));
}

// What is never done without.
Result<void> read_hard_walls(Seen& seen) {
  if (const bj::value* privileged = find_at(seen.inspected, {"HostConfig", "Privileged"});
      privileged == nullptr || !privileged->is_bool() || privileged->as_bool())
    return fail(broken("unprivileged"));
  if (text_at(seen.inspected, {"HostConfig", "NetworkMode"}) != "none") return fail(broken("network"));
  if (!texts_at(seen.inspected, {"HostConfig", "CapAdd"}).empty()) return fail(broken("capabilities"));
  const std::string said = " (the engine says)";
  if (!seen.kernel) {
    const auto options = texts_at(seen.inspected, {"HostConfig", "SecurityOpt"});
    const auto dropped = texts_at(seen.inspected, {"HostConfig", "CapDrop"});
    if (dropped.empty()) return fail(broken("capabilities"));
    if (std::ranges::none_of(options, [](const auto& one) { return one.starts_with("no-new-privileges"); }))
      return fail(broken("no_new_privileges"));
    seen.stands("capabilities", "none" + said);
    seen.stands("no_new_privileges", "yes" + said);
    seen.stands("seccomp",
                (seen.plan.seccomp_profile.empty() ? "the engine's profile" : "our profile") + said);
    return {};
  }
  const std::string& status = seen.kernel->status;
  if (status_field(status, "CapBnd").find_first_not_of('0') != std::string::npos ||
      status_field(status, "CapEff").find_first_not_of('0') != std::string::npos)
    return fail(broken("capabilities"));
  if (status_field(status, "NoNewPrivs") != "1") return fail(broken("no_new_privileges"));
  if (status_field(status, "Seccomp") != "2") return fail(broken("seccomp"));
  seen.stands("capabilities", "none");
  seen.stands("no_new_privileges", "yes");
  seen.stands("seccomp", seen.plan.seccomp_profile.empty() ? "the engine's profile" : "our allow-list");
  return {};
}

void read_limits(Seen& seen) {
  const Limits& limits = seen.plan.limits;
  const std::string none =
      "the engine did not set it: give the engine's containers control groups (root, or "
      "a delegated version 2 hierarchy)";
  const auto one = [&](const char* name, bool by_engine, const std::optional<bool>& by_kernel,
                       const std::string& value) {
    if (by_kernel.value_or(by_engine && seen.plan.engine_sets_limits))
      seen.stands(name, by_kernel ? value : value + " (the engine says)");
    else
      seen.lacks(name, none);
  };
  const auto matches = [&](const auto& read, double wanted) -> std::optional<bool> {
    if (!seen.kernel) return std::nullopt;
    return read && std::abs(static_cast<double>(*read) - wanted) <= wanted / 100;
  };
  const auto* groups = seen.kernel ? &seen.kernel->groups : nullptr;
  const std::int64_t memory = number_at(seen.inspected, {"HostConfig", "Memory"});
  const auto memory_bytes = static_cast<double>(limits.memory_bytes);
  one("memory_limit", memory == static_cast<std::int64_t>(limits.memory_bytes),
      matches(groups != nullptr ? groups->memory_limit() : std::nullopt, memory_bytes),
      fmt::format("{} bytes", limits.memory_bytes));
  const auto swap = groups != nullptr ? groups->memory_and_swap_limit() : std::nullopt;
  if (seen.kernel && !swap)
    seen.lacks("swap_limit", "the kernel counts no swap for groups (swapaccount=1)");
  else
    one("swap_limit", number_at(seen.inspected, {"HostConfig", "MemorySwap"}) == memory,
        matches(swap, memory_bytes), "no swap");
  const double cores =
      static_cast<double>(number_at(seen.inspected, {"HostConfig", "NanoCpus"})) / kNanoCores;
  one("cpu_limit", cores > 0,
      matches(groups != nullptr ? groups->cpu_limit() : std::nullopt, limits.cpu_cores),
      fmt::format("{} cores", limits.cpu_cores));
  const std::uint64_t tasks = task_limit(limits);
  one("task_limit",
      number_at(seen.inspected, {"HostConfig", "PidsLimit"}) == static_cast<std::int64_t>(tasks),
      matches(groups != nullptr ? groups->task_limit() : std::nullopt, static_cast<double>(tasks)),
      fmt::format("{} tasks", tasks));
  if (seen.plan.with_disk_limit)
    seen.stands("disk_limit", fmt::format("{} bytes (the engine's storage driver)", limits.disk_bytes));
  else
    seen.lacks("disk_limit",
               "the engine's storage driver has no quotas: use overlay2 on xfs with pquota, "
               "btrfs or zfs");
  if (limits.io_bytes_per_second > 0)
    seen.lacks("io_limit", "not mapped to this engine: use the provider native");
}

// Whether the ids inside are others outside: all of them are the machine's where one line says so.
bool maps_ids(const std::string& map) {
  std::istringstream in(map);
  std::uint64_t inside = 0, outside = 0, count = 0;
  in >> inside >> outside >> count;
  return in && (outside != 0 || count < UINT32_MAX);
}

}  // namespace

std::string status_field(const std::string& status, const std::string& name) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + ":")) {
      const std::size_t begin = line.find_first_not_of(" \t", name.size() + 1);
      return begin == std::string::npos ? "" : line.substr(begin);
    }
  return "";
}

Result<ImageFacts> image_facts(const bj::value& inspected) {
  ImageFacts facts;
  facts.id = text_at(inspected, {"Id"});
  if (facts.id.empty()) return fail(Code::provider_failed, "the engine described an image without its id");
  facts.user = text_at(inspected, {"Config", "User"});
  facts.working_directory = text_at(inspected, {"Config", "WorkingDir"});
  facts.env = texts_at(inspected, {"Config", "Env"});
  return facts;
}

bool blames_storage(const Error& error) {
  std::string words = error.message();
  std::ranges::transform(words, words.begin(), [](unsigned char c) { return std::tolower(c); });
  return words.find("storage") != std::string::npos || words.find("quota") != std::string::npos;
}

bj::value container_config(const ContainerPlan& plan) {
  bj::object config;
  config["Image"] = plan.image.id;
  config["Hostname"] = plan.hostname;
  if (!plan.image.user.empty()) config["User"] = plan.image.user;
  config["Entrypoint"] = plan.host_file.empty() ? bj::array{kGuestPath, guest::kOnStandardStreams}
                                                : bj::array{kGuestPath, guest::kByHandover, kHostPath};
  config["Cmd"] = bj::array{};
  config["Tty"] = false;
  config["OpenStdin"] = true;
  config["StdinOnce"] = false;
  config["AttachStdin"] = true;
  config["AttachStdout"] = true;
  config["AttachStderr"] = false;
  config["StopSignal"] = "SIGKILL";
  config["Healthcheck"] = bj::object{{"Test", bj::array{"NONE"}}};
  config["Labels"] = bj::object{{kSessionLabel, plan.session},
                                {kSandboxLabel, plan.sandbox},
                                {kInstallationLabel, plan.installation},
                                {kGenerationLabel, plan.generation}};
  config["HostConfig"] = host_config(plan);
  return config;
}

Result<Isolation> read_back(const ContainerPlan& plan, const bj::value& inspected,
                            const std::optional<KernelFacts>& kernel) {
  Seen seen{plan, inspected, kernel, {}};
  TRY(read_hard_walls(seen));
  for (const char* name : {"pid_namespace", "mount_namespace", "ipc_namespace", "network_namespace"})
    seen.stands(name, "own");
  read_limits(seen);
  seen.stands("open_files", fmt::format("{} descriptors a process", plan.limits.open_files_max));
  const std::string user = kernel ? status_field(kernel->status, "Uid") : "";
  if (kernel ? maps_ids(kernel->ids) : plan.is_rootless)
    seen.stands("user_namespace", kernel ? "own" : "own (the engine says)");
  else if (user.starts_with("0\t"))
    seen.lacks("user_namespace",
               "root inside is the machine's root without capabilities: set userns-remap, "
               "use a rootless engine, or an image with a user of its own");
  seen.lacks("landlock", "not used with this provider");
  if (plan.seccomp_profile.empty()) seen.lacks("own_seccomp_profile", "the engine's own profile is in force");
  return std::move(seen.isolation);
}

}  // namespace atl::sandbox::docker
