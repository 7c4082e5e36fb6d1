#include "tools/tool_executor.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/serialize.hpp>

#include "base/bytes.h"
#include "base/log.h"
#include "session/retry.h"
#include "session/subject.h"
#include "session/tool_sandbox.h"
#include "tools/open_call.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;

constexpr std::size_t kShellInputMax = 60'000;  // what a session's environment has room for

std::string digest_of(std::string_view text) {
  return "sha256:" + sha256_hex(text);
}

ToolResult failed(session::Status status, std::string error, std::string value) {
  ToolResult result;
  result.status = status;
  result.error = std::move(error);
  result.error_value = std::move(value);
  return result;
}

void refuse_output(ToolResult& result, const Mismatch& wrong) {
  result.status = session::Status::error;
  result.error = "InvalidOutput";
  result.error_value =
      fmt::format("the tool's output does not fit its schema: '{}' {}", wrong.pointer, wrong.message);
}

// Null if nobody watches.
std::shared_ptr<WatchedOutput> watched_output(const ToolRequest& request, ProgressReader::Shown shown) {
  return request.watch ? std::make_shared<WatchedOutput>(request.watch, shown) : nullptr;
}

// What a sandbox of a session answers is in the hands of whoever was in there before: it is kept for that
// session. What a fresh sandbox or a process of the tenant's answers is the same for all of its sessions.
std::string cache_key(const Tool& tool, const std::string& tenant, const std::string& session,
                      const std::string& input) {
  const bool is_shared = tool.place == Place::fresh || std::holds_alternative<ClientRun>(tool.run);
  return fmt::format("{}\n{}\n{}\n{}", tenant, is_shared ? "" : session, tool.digest, input);
}

// The steps of a check that the loop makes itself: some milliseconds. One that needs more begins anew beside
// it.
std::size_t steps_at_once(const ToolExecutor::Options& options) {
  constexpr std::size_t kAtOnce = 10'000;
  return options.workers == nullptr ? SchemaBounds{}.steps_max : kAtOnce;
}

}  // namespace

// How many calls are under way, by session and by tenant. Outlives the executor in the hands of those calls.
struct ToolExecutor::Calls {
  std::map<std::string, std::size_t> by_session, by_tenant;

  static std::size_t of(const std::map<std::string, std::size_t>& calls, const std::string& key) {
    const auto found = calls.find(key);
    return found == calls.end() ? 0 : found->second;
  }
  static void leave(std::map<std::string, std::size_t>& calls, const std::string& key) {
    const auto found = calls.find(key);
    if (found != calls.end() && --found->second == 0) calls.erase(found);
  }
};

// One of those calls.
class ToolExecutor::Turn {
 public:
  Turn(std::shared_ptr<Calls> calls, std::string session, std::string tenant)
      : calls_(std::move(calls)), session_(std::move(session)), tenant_(std::move(tenant)) {
    ++calls_->by_session[session_];
    ++calls_->by_tenant[tenant_];
  }
  ~Turn() {
    Calls::leave(calls_->by_session, session_);
    Calls::leave(calls_->by_tenant, tenant_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::shared_ptr<Calls> calls_;
  std::string session_, tenant_;
};

ToolExecutor::ToolExecutor(boost::asio::any_io_executor executor, session::Service* service,
                           const ToolRegistry* registry, Clock* clock, Options options)
    : executor_(std::move(executor)),
      service_(service),
      registry_(registry),
      clock_(clock),
      options_(std::move(options)),
      validator_(options_.bounds),
      cache_(options_.cache_bytes, options_.cache_entries),
      served_(executor_, clock, {}),
      calls_(std::make_shared<Calls>()) {}

Result<ToolPtr> ToolExecutor::find(const auth::Principal& who, const ToolRequest& request) const {
  ToolPtr tool = registry_->find(who.tenant, request.name);
  if (tool == nullptr)
    return fail(Error(Code::not_found, fmt::format("no tool is called '{}'", request.name.substr(0, 64)))
                    .with_field("name"));
  return tool;
}

Task<std::optional<Mismatch>> ToolExecutor::check(const auth::Principal& who, const ToolRequest& request) {
  CO_TRY(const ToolPtr tool, find(who, request));
  std::size_t steps = steps_at_once(options_);
  CO_TRY(auto wrong, validator_.check_input(*tool, request.input, steps));
  if (steps == 0 && options_.workers != nullptr) {
    auto whole = [tool, input = request.input, validator = validator_] {
      return validator.check_input(*tool, input);
    };
    CO_TRY(wrong, co_await options_.workers->run<std::optional<Mismatch>>(who.tenant, std::move(whole)));
  }
  if (wrong) ++counted(who.tenant, tool->name).failures["invalid_input"];
  co_return wrong;
}

// A tenant may declare, call and remove tools for ever: those that are gone are forgotten when there are
// twice as many counts as were left the last time.
ToolStatistics& ToolExecutor::counted(const std::string& tenant, const std::string& name) {
  if (statistics_.size() >= forget_at_) {
    std::erase_if(statistics_, [&](const auto& one) {
      return registry_->find(one.first.first, one.first.second) == nullptr;
    });
    forget_at_ = std::max<std::size_t>(1024, statistics_.size() * 2);
  }
  return statistics_[{tenant, name}];
}

std::map<std::string, ToolStatistics> ToolExecutor::totals() const {
  std::map<std::string, ToolStatistics> totals;
  for (const auto& [key, one] : statistics_) {
    const std::string& name = key.second;
    totals[registry_->find(std::string(), name) ? name : "tenant"].add(one);
  }
  return totals;
}

const ToolStatistics* ToolExecutor::statistics(const std::string& tenant, std::string_view name) const {
  const auto found = statistics_.find(std::pair(tenant, std::string(name)));
  return found == statistics_.end() ? nullptr : &found->second;
}

Task<ToolResult> ToolExecutor::call(auth::Principal who, ToolRequest request) {
  CO_TRY(const ToolPtr tool, find(who, request));
  CO_TRY(const auto wrong, co_await check(who, request));
  if (wrong)
    co_return fail(Error(Code::invalid_argument, fmt::format("the input of '{}': '{}' {}", tool->name,
                                                             wrong->pointer, wrong->message))
                       .with_field(wrong->pointer));
  if (Calls::of(calls_->by_session, request.session_id) >= options_.session_calls_max ||
      Calls::of(calls_->by_tenant, who.tenant) >= options_.tenant_calls_max)
    co_return fail(Code::resource_exhausted,
                   fmt::format("at most {} tools run at once in a session and {} in a tenant; wait for one",
                               options_.session_calls_max, options_.tenant_calls_max));
  const Turn place(calls_, request.session_id, who.tenant);
  trace::Span span(who.trace, "tool.call");
  span.set("atoll.tool", tool->name);
  who.trace = span.context();
  auto ran = co_await run_recorded(std::move(who), tool, std::move(request));
  if (ran)
    span.set("atoll.status", session::to_string(ran->status));
  else
    span.fail(ran.error().message());
  co_return ran;
}

Task<ToolResult> ToolExecutor::run_recorded(auth::Principal who, ToolPtr tool, ToolRequest request) {
  const std::string input = canonical_json(request.input);
  const std::string key = cache_key(*tool, who.tenant, request.session_id, digest_of(input));
  session::ToolCall facts{tool->name, input};
  CO_TRY(session::ExecutionRecord record,
         co_await service_->admit_tool(who, request.session_id, std::move(facts)));
  ToolEvent began{.kind = ToolEvent::Kind::started, .text = record.record_id, .progress = {}, .total = {}};
  OpenCall open(executor_, service_, who, std::move(record));
  if (request.watch) CO_CHECK(co_await request.watch(std::move(began)));
  ToolResult result;
  if (auto kept = tool->pure ? cache_.find(key) : std::nullopt) {
    result.output = std::move(*kept);
    result.cached = true;
    ++counted(who.tenant, tool->name).cached;
  } else {
    auto ran = co_await run_with_retries(who, tool, std::move(request));
    if (!ran) {
      const Error error = ran.error();
      // Whoever waited left: the record is closed as killed when `open` goes.
      if (error.code() == Code::canceled) co_return fail(error);
      co_await open.fail_with(error);
      counted(who.tenant, tool->name).count(session::Status::error, open.took(), {});
      co_return fail(error);
    }
    result = std::move(*ran);
  }
  const std::string output = bj::serialize(result.output);
  if (tool->pure && !result.cached && result.status == session::Status::success)
    cache_.put(key, result.output, output.size());
  open.note(digest_of(input), digest_of(output), result.record.record_id, result.record.usage);
  CO_TRY(result.record, co_await open.finish(result.status, result.error, result.error_value, output));
  counted(who.tenant, tool->name)
      .count(result.status, result.record.usage.wall_time, result.record.usage.cpu_time);
  if (options_.on_finished) options_.on_finished(result.record);
  co_return result;
}

Task<ToolResult> ToolExecutor::run_with_retries(auth::Principal who, ToolPtr tool, ToolRequest request) {
  if (!tool->idempotent) co_return co_await run_once(std::move(who), tool, std::move(request));
  auto call = [this, who, tool, request] { return run_once(who, tool, request); };
  auto always = [] { return true; };
  auto about = [who, id = request.session_id] { return session::subject_of(who, id); };
  co_return co_await session::with_retries<ToolResult>(executor_, "call a tool", std::move(about),
                                                       std::move(call), std::move(always));
}

Task<ToolResult> ToolExecutor::run_once(auth::Principal who, ToolPtr tool, ToolRequest request) {
  if (tool->place == Place::fresh) co_return co_await run_fresh(std::move(who), tool, std::move(request));
  co_return co_await run_in(std::move(who), tool, std::move(request));
}

std::chrono::milliseconds ToolExecutor::timeout_of(const Tool& tool, const ToolRequest& request) const {
  const auto own = tool.limits.wall_time.value_or(options_.timeout);
  return request.timeout ? std::min(*request.timeout, own) : own;
}

Result<session::CreateRequest> ToolExecutor::fresh_request(const Tool& tool,
                                                           std::chrono::milliseconds timeout) const {
  session::CreateRequest create;
  create.environment = tool.environment;
  create.policy = tool.policy;
  create.limits = tool.limits;
  // Should this service be killed, the sandbox ends by itself.
  create.ttl = timeout + std::chrono::seconds(60);
  create.metadata = {{"atoll.tool", tool.name}};
  create.attributes = {{session::kToolAttribute, tool.name}};
  if (!tool.network.empty()) {
    create.network = sandbox::Network::egress;
    create.egress.allow = tool.network;
    create.egress.inject = tool.secret_headers;
  }
  if (const auto* plugin = std::get_if<PluginRun>(&tool.run))
    create.local = TRY(plugin_mounts(*plugin, options_.plugin_directories, options_.plugin_host));
  return create;
}

Task<ToolResult> ToolExecutor::run_fresh(auth::Principal who, ToolPtr tool, ToolRequest request) {
  CO_TRY(session::CreateRequest create, fresh_request(*tool, timeout_of(*tool, request)));
  CO_TRY(const session::Session made, co_await service_->create(who, std::move(create)));
  const FreshSandbox end(executor_, service_, who, made.session_id);
  request.session_id = made.session_id;
  who.role = session::tool_role(made.session_id);
  co_return co_await run_in(std::move(who), tool, std::move(request));
}

Task<ToolResult> ToolExecutor::run_in(auth::Principal who, ToolPtr tool, ToolRequest request) {
  if (std::holds_alternative<BuiltinRun>(tool->run))
    co_return co_await run_operation(std::move(who), tool, std::move(request));
  if (std::holds_alternative<CodeRun>(tool->run))
    co_return co_await run_code(std::move(who), tool, std::move(request));
  if (std::holds_alternative<ClientRun>(tool->run))
    co_return co_await run_served(std::move(who), tool, std::move(request));
  const auto milliseconds = timeout_of(*tool, request);
  CO_TRY(Invocation invocation, invocation_of(*tool, request.input, milliseconds));
  co_return co_await run_command(std::move(who), tool, std::move(request), std::move(invocation.argv),
                                 std::move(invocation.standard_input));
}

Task<ToolResult> ToolExecutor::with_output(std::string tenant, ToolPtr tool, bj::value output,
                                           ToolResult result) {
  std::size_t steps = steps_at_once(options_);
  auto wrong = ToolValidator::check_output(*tool, output, steps);
  if (steps == 0 && options_.workers != nullptr) {
    auto whole = [tool, output]() -> Result<std::optional<Mismatch>> {
      std::size_t all = SchemaBounds{}.steps_max;
      return ToolValidator::check_output(*tool, output, all);
    };
    CO_TRY(wrong, co_await options_.workers->run<std::optional<Mismatch>>(tenant, std::move(whole)));
  }
  if (wrong)
    refuse_output(result, *wrong);
  else
    result.output = std::move(output);
  co_return result;
}

Task<ToolResult> ToolExecutor::result_of(std::string tenant, ToolPtr tool, session::ExecutionRecord record) {
  constexpr std::size_t kErrorKept = 8U << 10;
  ToolResult result;
  result.status = record.status;
  result.standard_error = to_valid_utf8(std::string_view(record.err).substr(0, kErrorKept));
  if (record.status != session::Status::success) {
    result.error = record.error.empty() ? "ToolFailed" : record.error;
    result.error_value = record.error_value;
    if (result.error_value.empty()) result.error_value = record.reason;
    if (result.error_value.empty()) result.error_value = fmt::format("exit status {}", record.exit_code);
    result.record = std::move(record);
    co_return result;
  }
  auto read = validator_.parse_output(*tool, record.out, record.out_truncated);
  result.record = std::move(record);
  if (!read.wrong)
    co_return co_await with_output(std::move(tenant), tool, std::move(read.value), std::move(result));
  refuse_output(result, *read.wrong);
  co_return result;
}

// The tool's own policy is asked besides the session's, which binds whatever runs there.
Task<void> ToolExecutor::check_policy(auth::Principal who, ToolPtr tool, std::string code,
                                      policy::Language language) {
  if (tool->policy.empty()) co_return Result<void>();
  session::ValidateRequest ask{std::move(code), language, tool->policy};
  CO_TRY(const policy::Verdict verdict, co_await service_->validate(std::move(who), std::move(ask)));
  if (!verdict.allowed)
    co_return fail(Code::policy_denied, fmt::format("policy '{}' of the tool '{}': {}", tool->policy,
                                                    tool->name, policy::summary(verdict)));
  co_return Result<void>();
}

Task<ToolResult> ToolExecutor::run_command(auth::Principal who, ToolPtr tool, ToolRequest request,
                                           std::vector<std::string> argv, std::string standard_input) {
  std::string shown = fmt::format("{}", fmt::join(argv, " "));
  if (auto allowed = co_await check_policy(who, tool, std::move(shown), policy::Language::shell); !allowed) {
    if (allowed.error().code() != Code::policy_denied) co_return fail(allowed.error());
    co_return failed(session::Status::denied, "PolicyDenied", allowed.error().message());
  }
  session::CommandRequest command;
  command.argv = std::move(argv);
  command.timeout = timeout_of(*tool, request);
  const auto watched = watched_output(request, ProgressReader::Shown::errors_only);
  if (watched) command.watch = watched->feed();
  const std::string tenant = who.tenant;
  CO_TRY(auto record, co_await service_->run_command(std::move(who), request.session_id, std::move(command),
                                                     std::move(standard_input)));
  if (watched) CO_CHECK(co_await watched->finish());
  co_return co_await result_of(tenant, tool, std::move(record));
}

Task<ToolResult> ToolExecutor::run_code(auth::Principal who, ToolPtr tool, ToolRequest request) {
  const auto& run = std::get<CodeRun>(tool->run);
  session::ExecuteRequest execute;
  execute.code = code_with_input(run, request.input);
  execute.language = run.language;
  execute.stateless = run.stateless;
  execute.timeout = timeout_of(*tool, request);
  if (run.language == sandbox::Language::shell) {
    std::string& input = execute.env["TOOL_INPUT"] = bj::serialize(request.input);
    if (input.size() > kShellInputMax)
      co_return fail(Error(Code::too_large,
                           fmt::format("the input of a tool in shell has at most {} bytes", kShellInputMax))
                         .with_field("input"));
  }
  const policy::Language language = policy_language(run.language);
  if (auto allowed = co_await check_policy(who, tool, execute.code, language); !allowed) {
    if (allowed.error().code() != Code::policy_denied) co_return fail(allowed.error());
    co_return failed(session::Status::denied, "PolicyDenied", allowed.error().message());
  }
  const auto watched = watched_output(request, ProgressReader::Shown::errors_only);
  if (watched) execute.watch = watched->feed();
  const std::string tenant = who.tenant;
  CO_TRY(auto record, co_await service_->run(std::move(who), request.session_id, std::move(execute)));
  if (watched) CO_CHECK(co_await watched->finish());
  co_return co_await result_of(tenant, tool, std::move(record));
}

Task<ToolResult> ToolExecutor::run_operation(auth::Principal who, ToolPtr tool, ToolRequest request) {
  BuiltinCode code;
  if (!tool->policy.empty()) code = code_of(std::get<BuiltinRun>(tool->run).name, request.input);
  if (auto allowed = co_await check_policy(who, tool, code.text, code.language); !allowed) {
    if (allowed.error().code() != Code::policy_denied) co_return fail(allowed.error());
    co_return failed(session::Status::denied, "PolicyDenied", allowed.error().message());
  }
  const std::string tenant = who.tenant;
  BuiltinCall call{service_, std::move(who),  request.session_id, timeout_of(*tool, request),
                   {},       options_.workers};
  const auto watched = watched_output(request, ProgressReader::Shown::everything);
  if (watched) call.watch = watched->feed();
  CO_TRY(BuiltinAnswer answer, co_await run_builtin(std::get<BuiltinRun>(tool->run).name, std::move(call),
                                                    std::move(request.input)));
  if (watched) CO_CHECK(co_await watched->finish());
  ToolResult result = failed(answer.status, std::move(answer.error), std::move(answer.error_value));
  if (!answer.records.empty()) result.record.record_id = answer.records.front();
  result.record.usage.cpu_time = answer.cpu_time;
  if (answer.status != session::Status::success) co_return result;
  co_return co_await with_output(tenant, tool, std::move(answer.output), std::move(result));
}

// It runs in no sandbox. That the session exists and that its agent has the tool was checked by admit_tool().
Task<ToolResult> ToolExecutor::run_served(auth::Principal who, ToolPtr tool, ToolRequest request) {
  const std::string tenant = who.tenant;
  ServedCalls::Question question{tenant, tool->name, std::move(request.session_id), request.input,
                                 timeout_of(*tool, request)};
  auto answer = co_await served_.ask(std::move(question), std::move(request.watch));
  if (!answer && answer.error().code() == Code::deadline_exceeded)
    co_return failed(session::Status::timeout, "Timeout", answer.error().message());
  if (!answer && answer.error().code() == Code::unavailable)
    co_return failed(session::Status::error, "NotServed", answer.error().message());
  if (!answer) co_return fail(answer.error());
  if (!answer->error.empty())
    co_return failed(session::Status::error, std::move(answer->error), std::move(answer->error_value));
  co_return co_await with_output(tenant, tool, std::move(answer->output), ToolResult());
}

}  // namespace atl::tools
