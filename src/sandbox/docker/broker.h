#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/docker/engine_address.h"
#include "sandbox/docker/recipe.h"

// The small process that holds the engine's socket, which is as good as root. Its daemon can ask it for the
// verbs below and for nothing else: no call of the engine is passed on as it is. It knows the containers that
// it made, by names of the daemon's, and touches no other.
//
// Daemon and broker exchange JSON objects, one a packet, on a SOCK_SEQPACKET socket. A request has "token",
// "verb" and "name" (of a sandbox); its answer has the same token and name, and "error" {"code", "message",
// "field"} if it failed. Verbs, with what they take and give:
//   hello                                 -> "version", "names" (of sandboxes that can be taken back)
//   probe                                 -> "kind", "engine_version", "api", "walls", "missing"
//   create {image | snapshot, session, hostname, limits, note}
//                                         -> a stream's descriptor; "walls", "missing", "groups", "user",
//                                            "working_directory", "env"
//   adopt                                 -> the same, and "note", "frozen"
//   assign {to, note}                     a waiting sandbox gets its name
//   freeze, thaw, destroy
//   snapshot {target}, discard {target}, snapshot_bytes {target} -> "bytes"
//   measure                               -> "disk_bytes", and "cpu_us", "memory_bytes", ... where only the
//                                            engine can tell
//   shut_down                             removes every container of this installation
// Without being asked it says {"verb": "ended", "name", "why"}.
namespace atl::sandbox::docker {

inline constexpr std::int64_t kBrokerVersion = 1;

// Names of sandboxes that wait in a pool begin so: without a daemon nobody will ask for them.
inline constexpr std::string_view kPoolPrefix = "pool-";

struct BrokerOptions {
  EngineAddress engine;
  // Where a restarted daemon finds the broker again ("<run_directory>/docker.sock"), and where the guest's
  // program lies for engines of this machine.
  std::string run_directory;
  // Snapshots are described in directories directly below this one.
  std::string snapshot_directory;
  std::string installation;  // a word that is this installation's for ever
  std::string_view guest_program;
  std::string seccomp_profile;
  // Patterns (fnmatch) of images that may be named; empty: whatever the engine has.
  std::vector<std::string> images;
  bool may_pull = false;
  Recipes recipes;
  // What a build's steps may reach, in the engine's words ("default", "none", "host").
  std::string build_network = "default";
  // How long containers live on without a daemon.
  std::chrono::seconds orphan_time{60};
  // How long the engine may take for one answer.
  std::chrono::milliseconds patience{60'000};
};

// Starts the broker and gives the socket to it. Call it before the first thread. It closes every other
// descriptor that it inherited and gives up all capabilities but the one to reach its own files.
Result<os::Fd> start_broker(const BrokerOptions& options);
// A broker of an earlier daemon, if one still lives; Code::not_found if not.
Result<os::Fd> find_broker(const std::string& run_directory);

// Whether the operator lets anybody name this image.
Result<void> check_image(const std::string& image, const std::vector<std::string>& patterns);

}  // namespace atl::sandbox::docker
