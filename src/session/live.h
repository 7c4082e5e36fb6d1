#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "egress/proxy.h"
#include "os/turn.h"
#include "sandbox/provider.h"
#include "sandbox/sandbox.h"
#include "session/cpu_share.h"
#include "session/network_log.h"
#include "session/types.h"

namespace atl::session {

// A session that has a sandbox, or is about to. The sandbox is shared because handles that clients hold
// (files, streams) must not dangle when it is replaced or ended under them.
struct Live {
  explicit Live(boost::asio::any_io_executor executor) : lifecycle(executor), kernels(executor) {}

  Session facts;
  std::string incarnation;
  LocalRequest local;
  sandbox::Provider* provider = nullptr;
  std::shared_ptr<sandbox::Sandbox> sandbox;

  os::Turn lifecycle;  // pause, resume, restore, destroy
  os::Turn kernels;    // the making of default kernels
  std::map<sandbox::Language, std::shared_ptr<sandbox::Kernel>> default_kernels;
  // Default kernels that are gone with their variables, each with why: the next one in its language says so. And which
  // present ones have still to say it, by id.
  std::map<sandbox::Language, std::string> lost_kernels;
  std::map<std::string, std::string> restarted_kernels;

  // What was seen in the output directory: size and time of change by path.
  std::map<std::string, std::pair<std::uint64_t, WallTime>> outputs_seen;
  // When the output directory last changed, if it was empty since: one look at it tells that it still is.
  std::optional<WallTime> output_empty_since;
  CpuShare cpu;

  // The way out, once it was opened, and what was decided there.
  std::shared_ptr<egress::Proxy> proxy;
  bool trusts_authority = false;
  bool network_due = false;  // taken back while it stood still: its way out is opened when it goes on
  std::shared_ptr<NetworkLog> network_log = std::make_shared<NetworkLog>();

  std::deque<Sample> samples;
  SteadyTime next_sample{};
  bool waking = false;     // paused, but on its way to running: it counts as that
  std::uint32_t busy = 0;  // executions and foreground commands under way
  bool unsaved = false;    // facts changed since the store saw them
  SteadyTime saved_at{};
  // What decides about its end: facts.expires_at and last_used_at say the same to people, by a clock that may jump.
  std::optional<SteadyTime> ends_at;
  SteadyTime last_used{};
  std::optional<SteadyTime> to_disk_at;  // when what is paused in memory shall go to the disk
};

// True as long as this lives.
class During {
 public:
  explicit During(bool& flag) : flag_(flag) { flag_ = true; }
  ~During() { flag_ = false; }
  During(const During&) = delete;
  During& operator=(const During&) = delete;

 private:
  bool& flag_;
};

}  // namespace atl::session
