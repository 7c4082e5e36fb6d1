#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "api/admission/admission.h"
#include "net/router.h"
#include "net/server.h"
#include "os/fair_pool.h"
#include "quota/inventory.h"
#include "registry/tenant_entries.h"
#include "session/service.h"
#include "skill/library.h"
#include "telemetry/event_log.h"
#include "telemetry/followers.h"
#include "telemetry/health.h"
#include "telemetry/metrics.h"
#include "tools/tool_executor.h"
#include "tools/tool_registry.h"

namespace atl::index {
class Index;
}

namespace atl::api::rest {

struct SkillWork;
class KeptTerminals;

// What the REST dialect needs; all of it outlives the router.
struct Dependencies {
  boost::asio::any_io_executor executor;
  session::Service* service = nullptr;
  const Admission* admission = nullptr;
  telemetry::Metrics* metrics = nullptr;
  telemetry::EventLog* events =
      nullptr;  // null: nobody can follow, and there are no /api/health and /api/log
  telemetry::Followers* followers = nullptr;
  telemetry::Health* health = nullptr;
  index::Index* index = nullptr;  // null: nothing can be searched
  // Called on the loop; what it gives brings what is declared for the tenant into the index, on a worker
  // thread.
  std::function<std::function<Result<void>()>(const std::string& tenant)> refresh_index;
  std::function<void()>
      catch_up_index;  // on a worker thread: what sessions reported so far can be found then
  const tools::ToolRegistry* tools = nullptr;
  tools::ToolExecutor* tool_executor = nullptr;
  registry::Registry* registry = nullptr;
  registry::TenantEntries* tenant_entries = nullptr;
  skill::Library* skills = nullptr;
  quota::Inventory* inventory = nullptr;  // null: what is stored has no quota
  os::FairPool* workers = nullptr;        // for what blocks on the disk; null: no audit log
  std::shared_ptr<SkillWork> skill_work;  // made by mount()
  std::function<Result<void>()> reload;   // of the registry and what depends on it, all or nothing
  std::string data;                       // the data directory, where the audit log is
  // Where the ports of a sandbox are reached; {sandbox_id} is filled in, {port} is the client's to fill.
  std::string sandbox_url = "http://{port}-{sandbox_id}.localhost:8000";
  std::string spool_directory = "/tmp";  // uploads of archives pass through a nameless file here
  std::uint64_t file_bytes_max = 64ULL << 30;
  std::uint64_t archive_bytes_max = 4ULL << 30;
  // Terminals that outlive their clients' connections.
  std::shared_ptr<KeptTerminals> kept_terminals = {};  // made by mount() if unset
};

// Adds /api/*, /schemas/*, /metrics and /openapi.json to `router`, and errors in the form
// {"error":{"code","message","details":{"category","retryable","field"?},"request_id"}}.
void mount(net::Router& router, Dependencies dependencies);

net::Response render_error(const Error& error, const net::Request& request);

}  // namespace atl::api::rest
