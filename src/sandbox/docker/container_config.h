#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/container/group_reader.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"

namespace atl::sandbox::docker {

// Where the guest's program is inside; a snapshot has an empty file there.
inline constexpr const char* kGuestDirectory = "/.atoll";
inline constexpr const char* kGuestPath = "/.atoll/guest";
inline constexpr const char* kHostPath = "/.atoll/host";

// What of an image matters to us.
struct ImageFacts {
  std::string id;
  std::string user;               // as the image has it; empty: root
  std::string working_directory;  // empty: none
  std::vector<std::string> env;   // "NAME=value"
};
// From the engine's description of an image.
Result<ImageFacts> image_facts(const boost::json::value& inspected);

// All that can be said about a container that is to be made. There is no way to ask for privileges, devices,
// files of the host or another network: no field would carry it.
struct ContainerPlan {
  ImageFacts image;
  std::string hostname;
  Limits limits;
  std::string session, sandbox, installation, generation;  // labels
  // The guest's program: a file of the host that is bound read-only, or a volume that holds it.
  std::string guest_file, guest_volume;
  // A socket of the host at which the guest finds us; empty: it speaks over the standard streams.
  std::string host_file;
  // As the engine takes it: JSON, or the path of a file; empty: the engine's own.
  std::string seccomp_profile;
  bool with_disk_limit = false;
  // Podman asks for the most processes a user can have unless told otherwise, which not every engine may
  // raise.
  bool with_user_task_limit = false;
  // What the engine is: its word on limits is worth nothing if it cannot set them.
  bool is_rootless = false, engine_sets_limits = true;
};
boost::json::value container_config(const ContainerPlan& plan);

// Whether an engine refused a container because its storage driver has no quotas.
bool blames_storage(const Error& error);

// Labels by which our containers are found.
inline constexpr const char* kSessionLabel = "atoll.session";
inline constexpr const char* kSandboxLabel = "atoll.sandbox";
inline constexpr const char* kInstallationLabel = "atoll.installation";
inline constexpr const char* kGenerationLabel = "atoll.generation";
// Of images that are snapshots, with their tag.
inline constexpr const char* kSnapshotLabel = "atoll.snapshot";

// The kernel's view of the container's first process, where the engine is on this machine.
struct KernelFacts {
  container::GroupReader groups;
  std::string status;  // /proc/PID/status
  std::string ids;     // /proc/PID/uid_map
};

// What of the plan is in force: as the engine says, and as the kernel says where that can be read. Values
// that only the engine's word stands for say so. Code::provider_failed if a wall that we always ask for (no
// capabilities, no new privileges, the filter, no network, not privileged) does not stand.
Result<Isolation> read_back(const ContainerPlan& plan, const boost::json::value& inspected,
                            const std::optional<KernelFacts>& kernel);

// Of /proc/PID/status; empty if it is not there.
std::string status_field(const std::string& status, const std::string& name);

}  // namespace atl::sandbox::docker
