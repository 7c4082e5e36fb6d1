#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "auth/principal.h"
#include "os/fair_pool.h"
#include "os/task.h"
#include "session/service.h"
#include "tools/progress.h"
#include "tools/result_cache.h"
#include "tools/served_calls.h"
#include "tools/statistics.h"
#include "tools/tool_registry.h"
#include "tools/tool_validator.h"

namespace atl::tools {

struct ToolRequest {
  std::string session_id;
  std::string name;
  boost::json::value input;
  std::optional<std::chrono::milliseconds> timeout;  // unset, or longer than the tool's own: the tool's own
  ToolWatcher watch = {};                            // told how far it is; may be empty
};

struct ToolResult {
  session::Status status = session::Status::success;
  boost::json::value output;       // null unless the status is success
  std::string error, error_value;  // why it is not
  std::string standard_error;      // what it wrote there, cut
  session::ExecutionRecord record;
  bool cached = false;  // an earlier call with the same input answered
};

// Makes calls of tools, always the same way: find the tool, check the input, take a place among the calls
// that run at once, write the record, run inside a sandbox through the session service, check the output,
// close the record. Policy and limits bind what a tool runs as they bind everything else in a session.
//
// Belongs to the loop thread; calls overlap freely. A call whose caller goes away kills what it runs, and its
// record says so.
class ToolExecutor {
 public:
  struct Options {
    std::chrono::milliseconds timeout{60'000};  // of a tool that names none
    std::size_t session_calls_max = 8;          // at once
    std::size_t tenant_calls_max = 64;
    CallBounds bounds;
    std::size_t cache_bytes = 16U << 20;
    std::size_t cache_entries = 1'000;
    std::vector<std::string> plugin_directories;  // the operator's
    // Computes what would keep the loop: checks of many steps, searches. Null: the loop does.
    os::FairPool* workers = nullptr;
    std::string plugin_host;  // directory with the program `atoll`, which loads a plugin inside its sandbox
    // Told of every call that has a record, once that is closed, on the loop. May be empty.
    std::function<void(const session::ExecutionRecord&)> on_finished = {};
  };
  // All of them outlive the executor.
  ToolExecutor(boost::asio::any_io_executor executor, session::Service* service, const ToolRegistry* registry,
               Clock* clock, Options options);

  // Code::not_found if the caller sees no such tool or session; Code::permission_denied if the session's
  // agent does not have the tool; Code::invalid_argument whose field is a JSON pointer into the input if the
  // schema refuses it; Code::resource_exhausted if too many calls run. What the tool does wrong is a result
  // with its status. The request's watcher hears of the call only once it is admitted.
  Task<ToolResult> call(auth::Principal who, ToolRequest request);
  // Whether there is such a tool and its schema takes the input, before anything is done. A mismatch is
  // counted as a call that failed. Both arguments outlive the Task.
  Task<std::optional<Mismatch>> check(const auth::Principal& who, const ToolRequest& request);

  // Where processes that serve tools take calls.
  ServedCalls& served() { return served_; }

  // Of the tenant's calls, by tool; empty if there were none.
  const ToolStatistics* statistics(const std::string& tenant, std::string_view name) const;
  // Of all tenants' calls, by tool; those of tools that only one tenant has are added up as "tenant".
  std::map<std::string, ToolStatistics> totals() const;

 private:
  struct Calls;
  class Turn;

  Result<ToolPtr> find(const auth::Principal& who, const ToolRequest& request) const;
  Task<ToolResult> run_recorded(auth::Principal who, ToolPtr tool, ToolRequest request);
  Task<ToolResult> run_with_retries(auth::Principal who, ToolPtr tool, ToolRequest request);
  Task<ToolResult> run_once(auth::Principal who, ToolPtr tool, ToolRequest request);
  Task<ToolResult> run_fresh(auth::Principal who, ToolPtr tool, ToolRequest request);
  Task<ToolResult> run_in(auth::Principal who, ToolPtr tool, ToolRequest request);
  Task<ToolResult> run_command(auth::Principal who, ToolPtr tool, ToolRequest request,
                               std::vector<std::string> argv, std::string standard_input);
  Task<ToolResult> run_code(auth::Principal who, ToolPtr tool, ToolRequest request);
  Task<ToolResult> run_operation(auth::Principal who, ToolPtr tool, ToolRequest request);
  Task<ToolResult> run_served(auth::Principal who, ToolPtr tool, ToolRequest request);
  Task<void> check_policy(auth::Principal who, ToolPtr tool, std::string code, policy::Language language);
  Task<ToolResult> result_of(std::string tenant, ToolPtr tool, session::ExecutionRecord record);
  // Holds the output against the schema of the tool, and makes it the result's or an error of it.
  Task<ToolResult> with_output(std::string tenant, ToolPtr tool, boost::json::value output,
                               ToolResult result);
  Result<session::CreateRequest> fresh_request(const Tool& tool, std::chrono::milliseconds timeout) const;
  std::chrono::milliseconds timeout_of(const Tool& tool, const ToolRequest& request) const;
  ToolStatistics& counted(const std::string& tenant, const std::string& name);

  boost::asio::any_io_executor executor_;
  session::Service* service_;
  const ToolRegistry* registry_;
  Clock* clock_;
  Options options_;
  ToolValidator validator_;
  ResultCache cache_;
  ServedCalls served_;
  std::shared_ptr<Calls> calls_;  // shared with the calls under way, whose coroutines may be destroyed later
  std::map<std::pair<std::string, std::string>, ToolStatistics, std::less<>> statistics_;
  std::size_t forget_at_ = 1024;  // counts
};

}  // namespace atl::tools
