#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "auth/principal.h"
#include "base/clock.h"
#include "os/fair_pool.h"
#include "policy/security_manager.h"
#include "quota/controller.h"
#include "quota/inventory.h"
#include "registry/registry.h"
#include "session/artifacts.h"
#include "session/execution.h"
#include "session/live.h"
#include "session/observer.h"
#include "store/blobs.h"
#include "store/store.h"

namespace atl::session {

// Runs code and commands in live sessions, always the same way: ask the policy, write the record, run, write
// how it ended. What is denied never reaches a sandbox. An execution whose first record cannot be written
// does not run.
class ExecutionEngine {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    store::Store* store = nullptr;
    store::Blobs* blobs = nullptr;  // null: nothing is kept as a file
    const registry::Registry* registry = nullptr;
    Clock* clock = nullptr;
    Observer* observer = nullptr;  // may be null
    // For reading long code; null: on the loop.
    os::FairPool* workers = nullptr;
    quota::ResourceController* controller = nullptr;  // null: executions are not counted
    quota::Inventory* inventory = nullptr;            // null: artifacts have no quota
  };
  struct Options {
    std::size_t text_kept_bytes = 1U << 20;  // of each output stream, in answers and records
    std::size_t code_bytes_max = 4U << 20;
    ArtifactLimits artifacts;
  };
  ExecutionEngine(Dependencies dependencies, Options options)
      : dependencies_(dependencies), options_(options) {}

  Task<ExecutionStart> execute_code(LivePtr live, auth::Principal who, ExecuteRequest request);
  Task<CommandStart> start_command(LivePtr live, auth::Principal who, CommandRequest request);
  Task<ExecutionRecord> run_command(LivePtr live, auth::Principal who, CommandRequest request,
                                    std::string standard_input);

  // The two ends of a tool's record. No policy is asked: what the tool runs is asked about when it runs.
  Task<ExecutionRecord> admit_tool(LivePtr live, auth::Principal who, ToolCall call);
  Task<ExecutionRecord> finish_tool(ExecutionRecord record);

  // A command of an earlier service that still runs: its record ends when it does. Code::not_found if its
  // label is no open record of the session.
  Task<void> take_over(LivePtr live, std::shared_ptr<sandbox::Process> process);

  // The session's interpreter for the language, made on first use; all executions that name no context share
  // it. `trace`: of the request that wants it, here and below.
  Task<std::shared_ptr<sandbox::Interpreter>> prepare_environment(LivePtr live, sandbox::Language language,
                                                                  trace::Context trace);
  // One more interpreter, of the caller's own. Passing failures are tried again: no code of a user has run in
  // it.
  Task<std::shared_ptr<sandbox::Interpreter>> create_interpreter(LivePtr live, sandbox::Language language,
                                                                 std::string cwd, trace::Context trace);
  // Ends an interpreter. Code::not_found if the session has none of this id.
  Task<void> cleanup_environment(LivePtr live, std::string context);

  // What the session's policy says. Long code is read on the tenant's share of the workers.
  Task<policy::Verdict> evaluate(std::string tenant, std::string policy_name, std::string code,
                                 policy::Language language, std::uint64_t registry_version = 0) const;

 private:
  friend class RunningExecution;
  friend boost::asio::awaitable<void> watch_command(ExecutionEngine*, LivePtr,
                                                    std::shared_ptr<sandbox::Process>, ExecutionRecord,
                                                    std::shared_ptr<class KeptOutput>, SteadyTime);

  sandbox::Language language_of(const Live& live, const ExecuteRequest& request) const;
  std::chrono::milliseconds wall_time_of(const Live& live, sandbox::Language language) const;
  // Fills in who asked, where and when.
  void identify(const Live& live, const auth::Principal& who, ExecutionRecord& record) const;
  // Counts it against the quotas of whoever asked, and gives that back with what it used.
  Result<void> claim(const ExecutionRecord& record);
  void give_back(const ExecutionRecord& record);
  // Asks quotas and policy and writes the first record.
  Task<ExecutionRecord> admit(LivePtr live, auth::Principal who, ExecutionRecord record,
                              policy::Language language);
  Task<void> judge(LivePtr live, ExecutionRecord& record, policy::Language language);
  // Fills in how it ended and writes the last record.
  Task<void> finish(LivePtr live, ExecutionRecord& record, SteadyTime started);
  static void end_with_session(const Live& live, ExecutionRecord& record);
  // The record of something that was admitted and then could not be run.
  Task<void> finish_failed(LivePtr live, ExecutionRecord record, SteadyTime started, Error error);
  // A fresh interpreter for one piece of code.
  Task<std::shared_ptr<sandbox::Process>> start_stateless(LivePtr live, std::string record_id,
                                                          ExecuteRequest request, sandbox::Language language,
                                                          std::chrono::milliseconds wall_time);
  Task<void> finish_command(LivePtr live, ExecutionRecord& record, sandbox::Outcome outcome,
                            std::shared_ptr<class KeptOutput> kept, SteadyTime started);
  std::shared_ptr<class KeptOutput> keep_output(const ExecutionRecord& record) const;
  void store_contexts(const LivePtr& live);
  Task<std::shared_ptr<sandbox::Interpreter>> interpreter_for(LivePtr live, const ExecuteRequest& request,
                                                              sandbox::Language language,
                                                              trace::Context trace);

  Dependencies dependencies_;
  Options options_;
};

// How an outcome is called in the history.
Status status_of(const sandbox::Outcome& outcome, bool raised);

}  // namespace atl::session
