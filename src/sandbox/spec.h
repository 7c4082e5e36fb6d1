#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/trace.h"
#include "sandbox/limits.h"

namespace atl::sandbox {

using Variables = std::map<std::string, std::string>;

// Whose the files of a mounted directory are. owner: what the directory's owner on the host owns is `user`'s
// inside. inside: ids on disk are ids inside, so that root and every user there can own files.
enum class MountIds : std::uint8_t { owner, inside };

// A directory of the host made visible inside. Exists only by naming it: grep finds every one.
struct HostMount {
  std::string host_path;
  std::string guest_path;
  bool writable = false;
  MountIds ids = MountIds::owner;
};

enum class Network { none, egress };

// Where the files of the working directory are kept, instead of in the sandbox alone.
struct StorageUse {
  std::string name;     // a storage that the operator declared
  std::string tenant;   // whose session it is
  std::string session;  // its id
};

// What a sandbox is asked to be. Everything is optional but the root; defaults are safe.
struct Spec {
  std::string id;  // chosen by the caller, unique on this machine
  // Whose it is, for providers whose sandboxes stand in somebody else's lists: they label them with it, and
  // ask the tenant's own key where there is one. Empty for sandboxes that wait in a pool.
  std::string session_id, tenant;
  // The environment's name. A provider with the trait 'templates' makes the sandbox from what it calls so.
  std::string environment;
  // The reference of an image ("python:3.13-slim", "name@sha256:..."), for providers with the trait 'images';
  // others never see one. With it an empty `user` or `working_directory` means the image's own.
  std::string image;
  // How long the session has left. A provider whose sandboxes run elsewhere has them end by themselves some
  // time later, if nobody ends them or prolongs them (Sandbox::set_time_left). Unset: unknown.
  std::optional<std::chrono::milliseconds> time_left;
  // Read-only directory trees of the host, lowest first. Empty: the provider's view of the host ("host").
  std::vector<std::string> layers;
  // A zygote, which has power over this machine, may run what is in `layers`: they were made by recipes that
  // came with this program (docs/decisions/python-zygote.md). Never for what a user made or an archive
  // brought.
  bool trusted_layers = false;
  // A stored snapshot (its directory) to start from, instead of an empty writable layer.
  std::optional<std::string> snapshot;
  // Interpreters that Sandbox::checkpoint() took with that snapshot go on (Sandbox::revival() says which).
  bool with_interpreters = false;
  // Modules that Python interpreters have imported before anybody asks, where interpreters are forked from
  // zygotes.
  std::vector<std::string> preimport;
  std::string hostname = "sandbox";
  std::string user = "user";  // default user of processes
  std::string working_directory = "/home/user";
  bool sudo = false;  // set-uid programs work inside, and `user` may become root there
  Network network = Network::none;
  Limits limits;
  Variables env;  // for every process inside
  std::vector<HostMount> host_mounts;
  std::optional<StorageUse> storage;
  // Walls that must stand; create fails with Code::unsupported if the machine cannot give one. Names as in
  // Wall.
  std::vector<std::string> required_walls;
  trace::Context trace = {};  // of the request that wants it; never part of what is made
};

}  // namespace atl::sandbox
