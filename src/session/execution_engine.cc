#include "session/execution_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <csignal>

#include "base/bytes.h"
#include "base/ids.h"
#include "os/offload.h"
#include "session/codec.h"
#include "session/environment_choice.h"
#include "session/execution_time.h"
#include "session/retry.h"
#include "session/running_execution.h"
#include "session/subject.h"

namespace atl::session {
namespace {

// Longer code goes into a file: one argument of a program holds 128 KiB.
constexpr std::size_t kArgumentBytesMax = 100U << 10;
// What a grammar needs for it can grow with the square of its length: four kilobytes that fit no rule take
// tenths of a second.
constexpr std::size_t kReadOnLoopBytes = 512;

policy::Language policy_language(sandbox::Language language) {
  switch (language) {
    case sandbox::Language::python: return policy::Language::python;
    case sandbox::Language::javascript: return policy::Language::javascript;
    // TypeScript is read as JavaScript; what that grammar cannot read shows as parse errors in the verdict.
    case sandbox::Language::typescript:
    case sandbox::Language::deno: return policy::Language::javascript;
    case sandbox::Language::shell: return policy::Language::shell;
    case sandbox::Language::r: return policy::Language::r;
    case sandbox::Language::java: return policy::Language::java;
  }
  std::unreachable();
}

// The program that runs code given as its last argument. Java has none: its code runs in a context only.
std::vector<std::string> interpreter_of(sandbox::Language language) {
  switch (language) {
    case sandbox::Language::python: return {"python3", "-c"};
    case sandbox::Language::javascript:
    case sandbox::Language::typescript: return {"node", "-e"};
    case sandbox::Language::shell: return {"bash", "-c"};
    case sandbox::Language::r: return {"Rscript", "-e"};
    case sandbox::Language::deno: return {"deno", "eval"};
    case sandbox::Language::java: break;
  }
  return {};
}

std::string quoted_for_shell(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A command as the shell would read it, for the policy and for the history.
std::string shown(const CommandRequest& request) {
  if (!request.shell.empty()) return request.shell;
  std::string line;
  for (const std::string& word : request.argv) {
    if (!line.empty()) line += ' ';
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-./=:,@%+") == std::string::npos;
    // Quoted, so that the policy reads one word as one word: a space in an argument must not look like two.
    line += plain ? word : quoted_for_shell(word);
  }
  return line;
}

Task<std::vector<std::string>> stateless_argv(std::shared_ptr<sandbox::Sandbox> in,
                                              sandbox::Language language, std::string code,
                                              std::string record_id) {
  std::vector<std::string> argv = interpreter_of(language);
  if (argv.empty())
    co_return fail(
        Error(Code::unsupported, fmt::format("{} runs in a context only", sandbox::to_string(language)))
            .with_field("stateless"));
  if (code.size() <= kArgumentBytesMax) {
    argv.push_back(std::move(code));
    co_return argv;
  }
  const std::string path = "/tmp/" + record_id;
  sandbox::WriteOptions options;
  options.mode = 0600;
  CO_TRY(auto writer, co_await in->files().open_write(path, options));
  CO_CHECK(co_await writer->write(std::move(code)));
  CO_TRY(auto info, co_await writer->finish());
  // The option that takes code (-c, -e) gives way to the path of a script.
  argv.back() = path;
  co_return argv;
}

}  // namespace

Status status_of(const sandbox::Outcome& outcome, bool raised) {
  using sandbox::Ending;
  switch (outcome.ending) {
    case Ending::exited: return outcome.exit_code == 0 && !raised ? Status::success : Status::error;
    case Ending::signaled: return Status::error;
    case Ending::timed_out: return Status::timeout;
    case Ending::out_of_memory: return Status::oom;
    case Ending::too_many_processes:
    case Ending::output_limit:
    case Ending::killed:
    case Ending::lost: return Status::killed;
  }
  return Status::killed;
}

// Short code is read in microseconds; long code would hold everybody up.
Task<policy::Verdict> ExecutionEngine::evaluate(std::string tenant, std::string policy_name, std::string code,
                                                policy::Language language,
                                                std::uint64_t registry_version) const {
  const auto found = dependencies_.registry->policies_of(registry_version).find(policy_name);
  if (!found) {
    co_return fail(Error(Code::invalid_argument, fmt::format("no policy is called '{}'", policy_name))
                       .with_field("policy"));
  }
  if (dependencies_.workers == nullptr || code.size() <= kReadOnLoopBytes) {
    co_return policy::SecurityManager(found).validate(code, language);
  }
  auto read = [found, code = std::move(code), language]() -> Result<policy::Verdict> {
    return policy::SecurityManager(found).validate(code, language);
  };
  co_return co_await dependencies_.workers->run<policy::Verdict>(tenant, std::move(read));
}

sandbox::Language ExecutionEngine::language_of(const Live& live, const ExecuteRequest& request) const {
  if (request.language) return *request.language;
  if (!request.context.empty() && live.sandbox()) {
    for (const auto& interpreter : live.sandbox()->interpreters()) {
      if (interpreter->info().id == request.context) return interpreter->info().language;
    }
  }
  // An emulated machine has a shell and no interpreters.
  if (!live.traits().real_processes) return sandbox::Language::shell;
  const registry::Environment* environment =
      environment_of(*dependencies_.registry, live.facts(), live.traits());
  if (environment != nullptr && environment->default_language) return *environment->default_language;
  return sandbox::Language::python;
}

std::chrono::milliseconds ExecutionEngine::wall_time_of(const Live& live, sandbox::Language language) const {
  return execution_time(live.facts(), *dependencies_.registry, language);
}

void ExecutionEngine::identify(const Live& live, const auth::Principal& who, ExecutionRecord& record) const {
  record.record_id = new_record_id();
  record.session_id = live.facts().session_id;
  record.sandbox_id = live.facts().sandbox_id;
  record.tenant = live.facts().tenant;
  record.key_id = who.key_id;
  record.trace = who.trace;
  record.admitted_at = dependencies_.clock->now();
  record.status = Status::admitted;
}

Task<ExecutionRecord> ExecutionEngine::admit_tool(LivePtr live, auth::Principal who, ToolCall call) {
  CO_CHECK(check_tool(live->facts(), call.name));
  ExecutionRecord record;
  record.kind = "tool";
  record.type = std::move(call.name);
  record.code = std::move(call.input);
  // The cut may go through a character: the check for UTF-8 comes after it.
  if (record.code.size() > options_.text_kept_bytes) record.code.resize(options_.text_kept_bytes);
  if (!is_utf8(record.code)) record.code = to_valid_utf8(record.code);
  identify(*live, who, record);
  CO_CHECK(co_await dependencies_.store->admit(to_row(record)));
  co_return record;
}

Task<ExecutionRecord> ExecutionEngine::finish_tool(ExecutionRecord record) {
  record.finished_at = dependencies_.clock->now();
  if (record.out.size() > options_.text_kept_bytes) {
    record.out.resize(options_.text_kept_bytes);
    record.out = to_valid_utf8(record.out);
    record.out_truncated = true;
  }
  // Both are wall-clock times, and the clock may have been set back in between.
  const auto took = std::max(*record.finished_at - record.admitted_at, Duration(0));
  record.usage.wall_time = std::chrono::duration_cast<std::chrono::microseconds>(took);
  CO_CHECK(co_await dependencies_.store->finish(to_row(record), {}));
  co_return record;
}

Result<void> ExecutionEngine::claim(const ExecutionRecord& record) {
  if (dependencies_.controller == nullptr) return {};
  quota::Claim claim{record.record_id, {record.tenant, record.key_id}, {}};
  claim.amounts[quota::Quota::executions] = 1;
  // Nothing is claimed of the day's budget, but one that is used up lets nothing begin.
  TRY(dependencies_.controller->check(claim.holder, quota::Quota::cpu_seconds_per_day, 0, 0));
  return dependencies_.controller->admit(claim);
}

void ExecutionEngine::give_back(const ExecutionRecord& record) {
  if (dependencies_.controller == nullptr) return;
  dependencies_.controller->release(record.record_id);
  dependencies_.controller->charge({record.tenant, record.key_id}, record.session_id,
                                   quota::Quota::cpu_seconds_per_day,
                                   static_cast<std::uint64_t>(record.usage.cpu_time.count()));
}

Task<ExecutionRecord> ExecutionEngine::admit(LivePtr live, auth::Principal who, ExecutionRecord record,
                                             policy::Language language) {
  if (record.code.size() > options_.code_bytes_max) {
    co_return fail(Code::too_large, fmt::format("code is over {} bytes", options_.code_bytes_max));
  }
  identify(*live, who, record);
  CO_CHECK(claim(record));
  Result<void> admitted = co_await judge(live, record, language);
  // It does not run, so it holds no place among the executions.
  if (!admitted || record.status == Status::denied) give_back(record);
  if (!admitted) co_return fail(std::move(admitted).error());
  co_return record;
}

Task<void> ExecutionEngine::judge(LivePtr live, ExecutionRecord& record, policy::Language language) {
  trace::Span span(record.trace, "policy");
  span.set("atoll.policy", live->facts().policy);
  CO_TRY(const policy::Verdict verdict,
         co_await evaluate(live->facts().tenant, live->facts().policy, record.code, language,
                           live->facts().registry_version));
  span.set("atoll.allowed", verdict.allowed ? 1 : 0);
  record.verdict = policy::to_json(verdict);
  if (!verdict.allowed && live->facts().policy_mode == PolicyMode::enforce) {
    record.status = Status::denied;
    // A denial takes no time of the sandbox.
    record.finished_at = record.admitted_at;
    record.error = "PolicyDenied";
    record.error_value = policy::summary(verdict);
    record.exit_code = -1;
  }
  span = trace::Span(record.trace, "record.admit");
  span.set("atoll.record_id", record.record_id);
  // History is text: what is not, is marked where it stands.
  if (!is_utf8(record.code)) record.code = to_valid_utf8(record.code);
  CO_CHECK(co_await dependencies_.store->admit(to_row(record)));
  if (record.status == Status::denied) {
    CO_CHECK(co_await dependencies_.store->finish(to_row(record), {}));
    if (dependencies_.observer != nullptr)
      dependencies_.observer->finished(live->facts(), record, std::chrono::nanoseconds(0));
  } else if (dependencies_.observer != nullptr) {
    dependencies_.observer->started(live->facts(), record);
  }
  co_return Result<void>{};
}

Task<void> ExecutionEngine::finish(LivePtr live, ExecutionRecord& record, SteadyTime started) {
  record.finished_at = dependencies_.clock->now();
  give_back(record);
  std::vector<store::ArtifactRow> rows;
  for (Artifact& artifact : record.artifacts) {
    artifact.created_at = *record.finished_at;
    artifact.record_id = record.record_id;
    rows.push_back({artifact.digest, record.session_id, record.tenant, record.record_id, artifact.path,
                    artifact.media_type, static_cast<std::int64_t>(artifact.size_bytes),
                    artifact.created_at});
  }
  const auto took = dependencies_.clock->steady() - started;
  // Providers that do not measure say nothing; then it is the time that the caller waited.
  if (record.usage.wall_time.count() == 0) {
    record.usage.wall_time = std::chrono::duration_cast<std::chrono::microseconds>(took);
  }
  store::RecordRow row = to_row(record);
  trace::Span span(record.trace, "record.finish");
  span.set("atoll.record_id", record.record_id);
  span.set("atoll.status", to_string(record.status));
  CO_CHECK(co_await dependencies_.store->finish(std::move(row), std::move(rows)));
  span.end();
  if (dependencies_.observer != nullptr) dependencies_.observer->finished(live->facts(), record, took);
  co_return Result<void>{};
}

void ExecutionEngine::end_with_session(const Live& live, ExecutionRecord& record) {
  record.status = Status::killed;
  record.exit_code = 128 + SIGKILL;
  record.reason = "its session ended";
  if (!live.facts().reason.empty()) record.reason += ": " + live.facts().reason;
}

Task<void> ExecutionEngine::finish_failed(LivePtr live, ExecutionRecord record, SteadyTime started,
                                          Error error) {
  record.exit_code = -1;
  if (error.code() == Code::canceled) {  // whoever waited left before it began
    record.status = Status::killed;
    record.reason = kClientGone;
    co_return co_await finish(live, record, started);
  }
  record.status = Status::error;
  record.error = "ProviderError";
  record.error_value = error.message();
  record.reason = std::string(to_string(error.code()));
  co_return co_await finish(live, record, started);
}

Task<std::shared_ptr<sandbox::Interpreter>> ExecutionEngine::prepare_environment(LivePtr live,
                                                                                 sandbox::Language language,
                                                                                 trace::Context trace) {
  language = sandbox::interpreter_language(language);  // both share their variables
  if (auto found = live->interpreters().find(language)) co_return found;
  // One at a time creates: two first executions of one language share the interpreter.
  CO_TRY(auto hold, co_await live->interpreters().take_turn());
  if (auto found = live->interpreters().find(language)) co_return found;
  CO_TRY(auto interpreter, co_await create_interpreter(live, language, std::string(), trace));
  live->add_interpreter(language, interpreter);
  store_contexts(live);
  co_return interpreter;
}

// Should this service be killed, the next one knows that there was an interpreter. Not before the caller's
// next wait, which is for the interpreter's work.
void ExecutionEngine::store_contexts(const LivePtr& live) {
  boost::asio::post(
      dependencies_.executor, [executor = dependencies_.executor, store = dependencies_.store, live] {
        auto put = [](store::Store* to, LivePtr of) -> boost::asio::awaitable<void> {
          if (auto stored = co_await to->put_session(to_row(of->facts(), of->incarnation())); !stored)
            of->mark_changed();
        };
        boost::asio::co_spawn(executor, put(store, live), boost::asio::detached);
      });
}

Task<std::shared_ptr<sandbox::Interpreter>> ExecutionEngine::create_interpreter(LivePtr live,
                                                                                sandbox::Language language,
                                                                                std::string cwd,
                                                                                trace::Context trace) {
  if (!live->traits().interpreters) {
    co_return fail(Code::unsupported,
                   fmt::format("provider {} lacks the trait 'kernels': no stateful {} there",
                               live->facts().provider, sandbox::to_string(language)));
  }
  const std::shared_ptr<sandbox::Sandbox> in = live->sandbox();
  if (!in) co_return fail(Code::conflict, "the session has ended");
  auto call = [in, language, cwd = std::move(cwd)] { return in->create_interpreter(language, cwd); };
  auto go_on = [live, in] { return live->sandbox() == in && !live->is_ending(); };
  About about(live, trace);
  co_return co_await with_retries<std::shared_ptr<sandbox::Interpreter>>(
      dependencies_.executor, "start an interpreter", std::move(about), std::move(call), std::move(go_on));
}

Task<void> ExecutionEngine::cleanup_environment(LivePtr live, std::string context) {
  if (!live->sandbox()) co_return fail(Code::conflict, "the session has ended");
  const auto interpreters = live->sandbox()->interpreters();
  if (std::ranges::none_of(interpreters,
                           [&](const auto& interpreter) { return interpreter->info().id == context; })) {
    co_return fail(Code::not_found, fmt::format("Context {} not found", context));
  }
  live->remove_interpreter(context);
  co_return co_await live->sandbox()->remove_interpreter(std::move(context));
}

Task<std::shared_ptr<sandbox::Interpreter>> ExecutionEngine::interpreter_for(LivePtr live,
                                                                             const ExecuteRequest& request,
                                                                             sandbox::Language language,
                                                                             trace::Context trace) {
  if (request.context.empty()) co_return co_await prepare_environment(live, language, trace);
  for (const auto& interpreter : live->sandbox()->interpreters()) {
    if (interpreter->info().id == request.context) co_return interpreter;
  }
  co_return fail(Code::not_found, fmt::format("Context {} not found", request.context));
}

Task<ExecutionStart> ExecutionEngine::execute_code(LivePtr live, auth::Principal who,
                                                   ExecuteRequest request) {
  CO_CHECK(check_env(request.env));
  const sandbox::Language language = language_of(*live, request);
  if (!request.context.empty()) {
    CO_TRY(auto known, co_await interpreter_for(live, request, language, who.trace));
    if (request.language && sandbox::interpreter_language(known->info().language) !=
                                sandbox::interpreter_language(*request.language)) {
      co_return fail(Error(Code::invalid_argument, fmt::format("context {} is a {} context", request.context,
                                                               sandbox::to_string(known->info().language)))
                         .with_field("language"));
    }
  }
  const SteadyTime started = dependencies_.clock->steady();
  ExecutionRecord draft;
  draft.kind = "execution";
  draft.type = sandbox::to_string(language);
  draft.context = request.context;
  draft.code = request.code;
  CO_TRY(ExecutionRecord record, co_await admit(live, who, std::move(draft), policy_language(language)));
  if (record.status == Status::denied) co_return Denied{std::move(record), live->facts().policy};

  // From here on its destructor finishes the record, should the caller go away.
  auto running = std::make_unique<RunningExecution>(this, live, std::move(record), started);
  const std::chrono::milliseconds wall_time = request.timeout.value_or(wall_time_of(*live, language));
  Result<void> begun = co_await running->begin(std::move(request), language, wall_time);
  if (!begun && live->is_ending()) {
    Ended ended{running->release()};
    end_with_session(*live, ended.record);
    CO_CHECK(co_await finish(live, ended.record, started));
    co_return std::move(ended);
  }
  if (!begun) {
    const Error error = begun.error();
    CO_CHECK(co_await finish_failed(live, running->release(), started, error));
    co_return fail(error);
  }
  co_return ExecutionStart(std::unique_ptr<Execution>(std::move(running)));
}

Task<std::shared_ptr<sandbox::Process>> ExecutionEngine::start_stateless(
    LivePtr live, std::string record_id, ExecuteRequest request, sandbox::Language language,
    std::chrono::milliseconds wall_time) {
  const std::shared_ptr<sandbox::Sandbox> in = live->sandbox();
  sandbox::ProcessSpec spec;
  CO_TRY(spec.argv, co_await stateless_argv(in, language, std::move(request.code), std::move(record_id)));
  spec.env = live->facts().env;
  for (auto& [name, value] : request.env) spec.env.insert_or_assign(name, std::move(value));
  spec.wall_time = wall_time;
  spec.cpu_time = live->facts().limits.cpu_time;
  spec.output_bytes = live->facts().limits.output_bytes;
  co_return co_await in->start(std::move(spec));
}

// A stream that nobody reads any more keeps nothing further: what passed so far is what the record holds.
Task<void> ExecutionEngine::finish_command(LivePtr live, ExecutionRecord& record, sandbox::Outcome outcome,
                                           std::shared_ptr<KeptOutput> kept, SteadyTime started) {
  record.status = status_of(outcome, false);
  record.exit_code = sandbox::exit_status(outcome);
  record.reason = outcome.reason;
  record.usage = outcome.usage;
  if (kept->is_abandoned()) {
    record.status = Status::killed;
    record.reason = kClientGone;
  }
  CO_CHECK(co_await kept->drained(dependencies_.executor));
  record.out = kept->out.text();
  record.err = kept->err.text();
  record.out_truncated |= kept->out.truncated();
  record.err_truncated |= kept->err.truncated();
  if (outcome.ending != sandbox::Ending::lost) {
    CO_TRY(record.artifacts,
           co_await collect_artifacts(live, dependencies_.blobs, options_.artifacts,
                                      dependencies_.clock->now(), record.record_id, kept->room));
  }
  CO_TRY(auto out_file, co_await kept->out.finish("stdout"));
  if (out_file) record.artifacts.push_back(std::move(*out_file));
  CO_TRY(auto err_file, co_await kept->err.finish("stderr"));
  if (err_file) record.artifacts.push_back(std::move(*err_file));
  co_return co_await finish(live, record, started);
}

std::shared_ptr<KeptOutput> ExecutionEngine::keep_output(const ExecutionRecord& record) const {
  ArtifactRoom room(dependencies_.inventory, {record.tenant, record.key_id});
  return std::make_shared<KeptOutput>(dependencies_.blobs, options_, std::move(room));
}

Task<CommandStart> ExecutionEngine::start_command(LivePtr live, auth::Principal who, CommandRequest request) {
  const SteadyTime started = dependencies_.clock->steady();
  if (request.argv.empty() == request.shell.empty()) {
    co_return fail(Code::invalid_argument, "a command is either 'argv' or a line for the shell");
  }
  CO_CHECK(check_env(request.env));
  if (request.pty && !live->traits().pty) {
    co_return fail(live->lacks("pty"));
  }
  ExecutionRecord draft;
  draft.kind = "command";
  draft.type = "shell";
  draft.code = shown(request);
  CO_TRY(ExecutionRecord record, co_await admit(live, who, std::move(draft), policy::Language::shell));
  if (record.status == Status::denied) co_return Denied{std::move(record), live->facts().policy};

  sandbox::ProcessSpec spec;
  spec.argv = std::move(request.argv);
  if (!request.shell.empty()) spec.argv = {"bash", "-c", std::move(request.shell)};
  spec.env = live->facts().env;
  for (auto& [name, value] : request.env) spec.env.insert_or_assign(name, std::move(value));
  add_trace(record.trace, spec.env);
  spec.cwd = std::move(request.cwd);
  spec.user = std::move(request.user);
  spec.tag = std::move(request.tag);
  spec.pty = request.pty;
  spec.stdin_mode = request.stdin_mode;
  spec.ends_with = request.ends_with;
  spec.label = record.record_id;
  spec.wall_time = request.timeout;
  // A command in the background has no time limit of its own: it ends with its session.
  if (!request.background) {
    if (!spec.wall_time) spec.wall_time = wall_time_of(*live, sandbox::Language::shell);
    spec.cpu_time = live->facts().limits.cpu_time;
    spec.output_bytes = live->facts().limits.output_bytes;
  }
  // Held: the session may let go of its sandbox while this waits.
  const std::shared_ptr<sandbox::Sandbox> in = live->sandbox();
  Result<std::shared_ptr<sandbox::Process>> process = fail(Code::conflict, "the session has ended");
  if (in) process = co_await in->start(std::move(spec));
  if (!process && live->is_ending()) {
    Ended ended{std::move(record)};
    end_with_session(*live, ended.record);
    CO_CHECK(co_await finish(live, ended.record, started));
    co_return std::move(ended);
  }
  if (!process) {
    const Error error = process.error();
    CO_CHECK(co_await finish_failed(live, record, started, error));
    co_return fail(error);
  }
  Command command;
  command.record = record;
  command.process = *process;
  command.kept = keep_output(record);
  command.stream =
      std::make_unique<RecordedStream>((*process)->attach(sandbox::Replay::recent), command.kept);
  // The record is finished by a coroutine of its own, whether or not anybody reads the stream.
  boost::asio::co_spawn(dependencies_.executor,
                        watch_command(this, live, *process, std::move(record), command.kept, started),
                        boost::asio::detached);
  co_return CommandStart(std::move(command));
}

Task<void> ExecutionEngine::take_over(LivePtr live, std::shared_ptr<sandbox::Process> process) {
  CO_TRY(store::RecordRow row,
         co_await dependencies_.store->get_record(live->facts().tenant, process->info().label));
  if (row.session_id != live->facts().session_id || row.finished_at)
    co_return fail(Code::not_found, "no open record of this session");
  ExecutionRecord record = from_row(row);
  if (dependencies_.controller != nullptr) {
    quota::Claim held{record.record_id, {record.tenant, record.key_id}, {}};
    held.amounts[quota::Quota::executions] = 1;
    // It runs already, so it is counted whether it fits or not.
    dependencies_.controller->hold(held);
  }
  // The output that an earlier service read is lost, and nobody reads what comes now.
  record.out_truncated = record.err_truncated = true;
  auto kept = keep_output(record);
  kept->set_complete();
  // The wall clock may have been set back since it was started.
  const auto ran = std::max(dependencies_.clock->now() - process->info().started_at, Duration(0));
  boost::asio::co_spawn(dependencies_.executor,
                        watch_command(this, live, process, std::move(record), std::move(kept),
                                      dependencies_.clock->steady() - ran),
                        boost::asio::detached);
  co_return Result<void>{};
}

Task<ExecutionRecord> ExecutionEngine::run_command(LivePtr live, auth::Principal who, CommandRequest request,
                                                   std::string standard_input) {
  if (!standard_input.empty()) request.stdin_mode = sandbox::Stdin::pipe;
  const OutputWatcher watch = std::move(request.watch);
  CO_TRY(CommandStart start, co_await start_command(live, who, std::move(request)));
  if (auto* denied = std::get_if<Denied>(&start)) co_return std::move(denied->record);
  if (auto* ended = std::get_if<Ended>(&start)) co_return std::move(ended->record);
  Command command = std::get<Command>(std::move(start));
  if (!standard_input.empty()) {
    boost::asio::co_spawn(dependencies_.executor,
                          feed(command.process, std::move(standard_input), About(live, who.trace)),
                          boost::asio::detached);
  }
  // From here on a caller that leaves destroys this coroutine: the process must not go on unwatched.
  Abandonment unless_finished(dependencies_.executor, command.process, command.kept, About(live, who.trace));
  while (true) {
    CO_TRY(sandbox::ProcessEvent event, co_await command.stream->next());
    if (std::holds_alternative<sandbox::Outcome>(event)) break;
    auto* output = std::get_if<sandbox::Output>(&event);
    if (output != nullptr && watch) CO_CHECK(co_await watch(std::move(*output)));
  }
  unless_finished.disarm();
  co_return co_await command.kept->finished(dependencies_.executor);
}

}  // namespace atl::session
