#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "auth/principal.h"
#include "os/task.h"
#include "policy/verdict.h"
#include "registry/ceilings.h"
#include "registry/registry.h"
#include "sandbox/files.h"
#include "sandbox/provider.h"
#include "sandbox/sandbox.h"
#include "session/execution.h"
#include "session/types.h"
#include "store/blobs.h"

namespace atl::session {

using auth::Principal;

struct ArtifactContent {
  Artifact facts;
  std::unique_ptr<store::Blobs::Reading> bytes;
};

struct ValidateRequest {
  std::string code;
  policy::Language language = policy::Language::python;
  std::string policy;  // empty: the default environment's
};

struct Forked {
  std::vector<Result<Session>> sessions;  // in the order of the request's copies
  sandbox::Carried carried;               // of the source
  std::chrono::microseconds total{};      // until the last of them answered
};

// What a provider can do, and what this machine gives it.
struct ProviderFacts {
  std::string name;
  sandbox::Traits traits;
  sandbox::Isolation isolation;
  std::vector<sandbox::PoolLevel> pools;
  std::map<std::string, std::uint64_t> counters = {};  // what happened, by name; for metrics
  std::string unavailable_because = {};  // why it makes no sandboxes now, with the way out; empty: it does
};

// The session service. Every dialect, tool and command goes through it, and nothing else reaches a sandbox,
// so that ownership, policy, limits and history cannot be skipped. Belongs to the loop thread; calls may
// overlap freely, also on one session.
//
// `id` is a session_id or a sandbox_id. A session of another tenant is Code::not_found, exactly as one that
// does not exist. A call that needs the sandbox of a session that is not running is Code::conflict naming the
// state (a paused one with auto_resume is resumed first); a call outside the provider's traits is
// Code::unsupported naming the trait. Handles given out (files, processes, streams) may outlive the session
// and then fail.
class Service {
 public:
  virtual ~Service() = default;

  // Lifecycle.
  virtual Task<Session> create(Principal who, CreateRequest request) = 0;
  virtual Task<Session> get(Principal who, std::string id) = 0;
  virtual Task<Page<Session>> list(Principal who, ListRequest request) = 0;
  virtual Task<Session> update(Principal who, std::string id, UpdateRequest request) = 0;
  // Code::conflict if it is paused already.
  virtual Task<Session> pause(Principal who, std::string id, PauseRequest request) = 0;
  // A running one stays as it is. `ttl` unset: the session's own.
  virtual Task<Session> resume(Principal who, std::string id,
                               std::optional<std::chrono::milliseconds> ttl) = 0;
  // Idempotent: a session that ended long ago is returned as it is. Running executions end as killed.
  virtual Task<Session> destroy(Principal who, std::string id) = 0;
  // Filesystem only. The session keeps running.
  virtual Task<Snapshot> snapshot(Principal who, std::string id, std::string name, TextMap attributes) = 0;
  // Puts the session's files back to the snapshot; its processes and interpreters end.
  virtual Task<Session> restore(Principal who, std::string id, std::string snapshot_id) = 0;
  // New sessions with the same settings, copies of the files and, where the provider can, of Python
  // interpreters that are between two executions. All are of the same moment.
  virtual Task<Forked> fork(Principal who, std::string id, ForkRequest request) = 0;
  virtual Task<Page<Snapshot>> list_snapshots(Principal who, std::string id, std::uint32_t limit,
                                              std::string cursor) = 0;
  virtual Task<Snapshot> get_snapshot(Principal who, std::string snapshot_id) = 0;
  virtual Task<void> remove_snapshot(Principal who, std::string snapshot_id) = 0;

  // For the admission, which lets a session's own secret stand for a key: the live sessions' facts without
  // asking who asks. Whoever calls checks the secret before anything else, then acts as owner().
  virtual Result<Session> peek(const std::string& id) const = 0;
  virtual std::vector<Session> peek_all() const = 0;
  // The first live session that the predicate takes; nothing is copied before. Code::not_found if there is
  // none.
  virtual Result<Session> peek_if(const std::function<bool(const Session&)>& wanted) const = 0;
  static Principal owner(const Session& session) { return {session.key_id, session.tenant}; }

  // Code. execute() returns once the execution runs, was denied, or cannot run because its session ended;
  // run() collects it.
  virtual Task<ExecutionStart> execute(Principal who, std::string id, ExecuteRequest request) = 0;
  virtual Task<ExecutionRecord> run(Principal who, std::string id, ExecuteRequest request) = 0;

  // Interpreters, oldest first. The session's default ones appear once they were used or prepared.
  virtual Task<std::vector<sandbox::InterpreterInfo>> contexts(Principal who, std::string id) = 0;
  virtual Task<sandbox::InterpreterInfo> create_context(Principal who, std::string id,
                                                        ContextRequest request) = 0;
  // The session's default interpreter of the language, started if need be.
  virtual Task<sandbox::InterpreterInfo> prepare_environment(Principal who, std::string id,
                                                             sandbox::Language language) = 0;
  virtual Task<void> restart_context(Principal who, std::string id, std::string context) = 0;
  virtual Task<void> interrupt_context(Principal who, std::string id, std::string context) = 0;
  virtual Task<void> remove_context(Principal who, std::string id, std::string context) = 0;

  // Commands and processes.
  virtual Task<CommandStart> start(Principal who, std::string id, CommandRequest request) = 0;
  // Waits for the end, standard input given at once; output collected into the record.
  virtual Task<ExecutionRecord> run_command(Principal who, std::string id, CommandRequest request,
                                            std::string standard_input) = 0;

  // A tool's call in the history of a session: its first record is written when this returns, and its record
  // is open until finish_tool(). What the tool runs has records of its own.
  virtual Task<ExecutionRecord> admit_tool(Principal who, std::string id, ToolCall call) = 0;
  // Fills in time and duration and closes the record; also of a session that has ended meanwhile.
  virtual Task<ExecutionRecord> finish_tool(Principal who, ExecutionRecord record) = 0;

  virtual Task<std::vector<std::shared_ptr<sandbox::Process>>> processes(Principal who, std::string id) = 0;
  // Code::not_found "process with pid N not found".
  virtual Task<std::shared_ptr<sandbox::Process>> process(Principal who, std::string id,
                                                          ProcessSelector selector) = 0;

  // The files of the session; keeps what it needs alive. Paths as in sandbox::Files.
  virtual Task<std::shared_ptr<sandbox::Files>> files(Principal who, std::string id) = 0;
  virtual Task<std::unique_ptr<sandbox::ByteStream>> connect(Principal who, std::string id,
                                                             std::uint16_t port) = 0;
  virtual Task<std::vector<std::uint16_t>> listening_ports(Principal who, std::string id) = 0;

  // What programs inside may reach, and what they tried. Readable as long as the session is.
  virtual Task<NetworkFacts> network(Principal who, std::string id) = 0;
  // In force at once: connections that are no longer allowed are cut. Needs a running session.
  virtual Task<NetworkFacts> update_network(Principal who, std::string id, NetworkRequest request) = 0;

  // Observation.
  virtual Task<sandbox::Usage> usage(Principal who, std::string id) = 0;
  // Samples every 5 s while running, the first at creation; an hour of them is kept, the last minute finer.
  virtual Task<std::vector<Sample>> metrics(Principal who, std::string id, std::optional<WallTime> from,
                                            std::optional<WallTime> to) = 0;
  virtual Task<Page<ExecutionRecord>> history(Principal who, HistoryRequest request) = 0;
  virtual Task<std::vector<Artifact>> artifacts(Principal who, std::string id) = 0;
  virtual Task<ArtifactContent> open_artifact(Principal who, std::string digest) = 0;
  // Policy only: nothing runs, nothing is recorded.
  virtual Task<policy::Verdict> validate(Principal who, ValidateRequest request) = 0;
  virtual std::vector<ProviderFacts> providers() const = 0;
  virtual const registry::Registry& registry() const = 0;
  // The most that a session may ask for.
  virtual const registry::Ceilings& ceilings() const = 0;
};

}  // namespace atl::session
