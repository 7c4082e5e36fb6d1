#include "session/running_execution.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>

#include "sandbox/endable.h"
#include "sandbox/quick_usage.h"
#include "session/run_to_end.h"
#include "session/subject.h"

namespace atl::session {
namespace {

void log_unwritten(const ExecutionRecord& record, const Error& error) {
  log::error(subject_of(record), "a record could not be finished",
             {{"record", record.record_id}, {"error", error.message()}});
}

// A process that ended with its sandbox has no usage of its own any more: the budget's last look stands for
// it.
void end_by_budget(const CpuBudget& budget, sandbox::Outcome& outcome) {
  if (outcome.ending != sandbox::Ending::exited)
    outcome.usage.cpu_time = std::max(outcome.usage.cpu_time, budget.noted());
  if (budget.reason().empty()) return;
  outcome.ending = sandbox::Ending::killed;
  outcome.reason = budget.reason();
}

// Linux tells what a process used with the children that it waited for. One that was killed waited for none:
// then its share of what the sandbox used is nearer to the truth, if it is more.
boost::asio::awaitable<void> leave_share(Live& live, std::shared_ptr<sandbox::Sandbox> in,
                                         std::optional<double> entered, sandbox::Usage& usage,
                                         Status status) {
  if (!entered) co_return;
  Result<std::chrono::microseconds> used = fail(Code::unavailable, "the sandbox is gone");
  if (in) used = co_await in->cpu_time();
  if (!used) co_return live.cpu().leave();
  const auto share = live.cpu().leave(*used, *entered);
  // An execution that ended by itself waited for its children, so that its own figure is complete.
  if (status != Status::success && status != Status::error) usage.cpu_time = std::max(usage.cpu_time, share);
  live.cpu().tell(share, usage.cpu_time);
  live.background().set_due();
}

}  // namespace

void add_trace(const trace::Context& trace, TextMap& env) {
  if (trace.is_valid()) env.try_emplace("TRACEPARENT", trace::to_traceparent(trace));
}

RunningExecution::RunningExecution(ExecutionEngine* engine, LivePtr live, ExecutionRecord record,
                                   SteadyTime started)
    : engine_(engine),
      live_(std::move(live)),
      record_(std::move(record)),
      started_(started),
      room_(engine->dependencies_.inventory, {record_.tenant, record_.key_id}),
      out_(engine->dependencies_.blobs, engine->options_.text_kept_bytes,
           engine->options_.artifacts.output_bytes_max, room_),
      err_(engine->dependencies_.blobs, engine->options_.text_kept_bytes,
           engine->options_.artifacts.output_bytes_max, room_) {}

Task<ExecutionRecord> run_to_end(ExecutionStart start, OutputWatcher watch) {
  if (auto* denied = std::get_if<Denied>(&start)) co_return std::move(denied->record);
  if (auto* ended = std::get_if<Ended>(&start)) co_return std::move(ended->record);
  const auto execution = std::get<std::unique_ptr<Execution>>(std::move(start));
  while (true) {
    CO_TRY(Event event, co_await execution->next());
    if (auto* finished = std::get_if<Finished>(&event)) co_return std::move(finished->record);
    auto* output = std::get_if<sandbox::Output>(&event);
    if (output != nullptr && watch) CO_CHECK(co_await watch(std::move(*output)));
  }
}

Error to_error(const Denied& denied) {
  return Error(Code::policy_denied,
               fmt::format("the policy {} denies it: {}", denied.policy, denied.summary()));
}

Error to_error(const Ended& ended) {
  return Error(Code::conflict, ended.record.reason);
}

RunningExecution::~RunningExecution() {
  if (budget_) budget_->end();
  if (over_) {
    if (cpu_entered_) live_->cpu().leave();
    return;
  }
  record_.status = Status::killed;
  record_.reason = kClientGone;
  record_.exit_code = 137;
  record_.out = out_.text();
  record_.err = err_.text();
  record_.out_truncated = out_.truncated();
  record_.err_truncated = err_.truncated();
  // A destructor cannot wait: what is left is done by a coroutine that owns all it needs.
  auto write = [](ExecutionEngine* engine, LivePtr live, ExecutionRecord record, SteadyTime started,
                  std::shared_ptr<sandbox::Process> process,
                  std::optional<double> entered) -> boost::asio::awaitable<void> {
    if (process) {
      if (auto killed = co_await process->signal(SIGKILL); !killed && log::is_on(log::Level::debug))
        log::debug(subject_of(record), "an abandoned process was gone already",
                   {{"record", record.record_id}});
    }
    co_await leave_share(*live, live->sandbox(), entered, record.usage, record.status);
    if (auto done = co_await engine->finish(live, record, started); !done)
      log_unwritten(record, done.error());
  };
  boost::asio::co_spawn(engine_->dependencies_.executor,
                        write(engine_, live_, record_, started_, process_, cpu_entered_),
                        boost::asio::detached);
}

Task<void> RunningExecution::begin(ExecuteRequest request, sandbox::Language language,
                                   std::chrono::milliseconds wall_time) {
  const std::shared_ptr<sandbox::Sandbox> in = live_->sandbox();
  if (!in) co_return fail(Code::conflict, "the session has ended");
  if (request.stateless) {
    span_ = trace::Span(record_.trace, "guest.process");
    add_trace(span_.context(), request.env);
    CO_TRY(process_, co_await engine_->start_stateless(live_, record_.record_id, std::move(request), language,
                                                       wall_time));
    // Attached before the next wait, so that no output passes unseen.
    process_stream_ = process_->attach(sandbox::Replay::recent);
    if (auto used = co_await in->cpu_time()) cpu_entered_ = live_->cpu().enter(*used);
  } else {
    span_ = trace::Span(record_.trace, "interpreter.start");
    CO_TRY(interpreter_, co_await engine_->interpreter_for(live_, request, language, record_.trace));
    span_ = trace::Span(record_.trace, "interpreter.execute");
    span_.set("atoll.language", sandbox::to_string(language));
    add_trace(span_.context(), request.env);
    record_.context = interpreter_->info().id;
    sandbox::ExecutionSpec spec;
    spec.code = std::move(request.code);
    spec.language = language;
    // The interpreter has the session's variables from its start; setting them again would undo what code did
    // to them.
    spec.env = std::move(request.env);
    spec.wall_time = wall_time;
    spec.output_bytes = live_->facts().limits.output_bytes;
    if (auto used = co_await in->cpu_time()) cpu_entered_ = live_->cpu().enter(*used);
    CO_TRY(interpreter_stream_, co_await interpreter_->execute(std::move(spec)));
    record_.interpreter_restarted = live_->interpreters().take_restart_note(record_.context);
  }
  busy_.emplace(*live_);
  watch_budget();
  co_return Result<void>{};
}

void RunningExecution::watch_budget() {
  if (!cpu_entered_) return;
  CpuBudget::Subject subject{record_.record_id, {record_.tenant, record_.key_id}, live_, *cpu_entered_};
  // This execution and no other of its interpreter. The stream outlives the budget, which ends with us.
  auto stop = [own = dynamic_cast<sandbox::Endable*>(interpreter_stream_.get()), interpreter = interpreter_,
               process = process_](std::string reason) -> Task<void> {
    if (process) co_return co_await process->signal(SIGKILL);
    if (own == nullptr) co_return co_await interpreter->interrupt();
    own->end(std::move(reason));
    co_return Result<void>();
  };
  budget_ = CpuBudget::watch(engine_->dependencies_.executor, engine_->dependencies_.controller,
                             std::move(subject), std::move(stop));
}

Task<Event> RunningExecution::keep(sandbox::Output output) {
  OutputKeeper& keeper = output.stream == sandbox::Stream::err ? err_ : out_;
  CO_CHECK(co_await keeper.add(output.bytes));
  co_return Event(std::move(output));
}

// Canceled: the caller goes away, and the destructor ends what runs.
Task<Event> RunningExecution::end_broken(Error error) {
  if (error.code() == Code::canceled) co_return fail(std::move(error));
  sandbox::Outcome lost{.ending = sandbox::Ending::lost, .reason = error.message()};
  co_return co_await end(std::move(lost));
}

Task<Event> RunningExecution::next() {
  if (over_) co_return fail(Code::conflict, "the execution is over");
  if (interpreter_stream_) co_return co_await from_interpreter();
  co_return co_await from_process();
}

Task<Event> RunningExecution::from_interpreter() {
  auto got = co_await interpreter_stream_->next();
  if (!got) co_return co_await end_broken(std::move(got).error());
  if (auto* output = std::get_if<sandbox::Output>(&*got)) co_return co_await keep(std::move(*output));
  if (auto* bundle = std::get_if<sandbox::ResultBundle>(&*got)) {
    record_.results.push_back(*bundle);
    co_return Event(std::move(*bundle));
  }
  if (auto* error = std::get_if<sandbox::ExecutionError>(&*got)) {
    raised_ = true;
    record_.error = error->name;
    record_.error_value = error->value;
    record_.traceback = error->traceback;
    co_return Event(std::move(*error));
  }
  auto& done = std::get<sandbox::ExecutionDone>(*got);
  record_.execution_count = done.execution_count;
  co_return co_await end(std::move(done.outcome));
}

Task<Event> RunningExecution::from_process() {
  auto got = co_await process_stream_->next();
  if (!got) co_return co_await end_broken(std::move(got).error());
  if (auto* output = std::get_if<sandbox::Output>(&*got)) co_return co_await keep(std::move(*output));
  co_return co_await end(std::move(std::get<sandbox::Outcome>(*got)));
}

Task<Event> RunningExecution::end(sandbox::Outcome outcome) {
  if (budget_) {
    budget_->end();
    end_by_budget(*budget_, outcome);
  }
  record_.status = status_of(outcome, raised_);
  record_.exit_code = sandbox::exit_status(outcome);
  record_.reason = std::move(outcome.reason);
  record_.usage = outcome.usage;
  record_.out = out_.text();
  record_.err = err_.text();
  record_.out_truncated = out_.truncated();
  record_.err_truncated = err_.truncated();
  if (record_.status != Status::success) span_.fail(to_string(record_.status));
  span_ = trace::Span(record_.trace, "guest.collect");
  if (outcome.ending != sandbox::Ending::lost) CO_CHECK(co_await look_and_measure());
  span_.end();
  CO_TRY(auto out_file, co_await out_.finish("stdout"));
  if (out_file) record_.artifacts.push_back(std::move(*out_file));
  CO_TRY(auto err_file, co_await err_.finish("stderr"));
  if (err_file) record_.artifacts.push_back(std::move(*err_file));
  // Before the record is written: if the caller goes away now, the destructor must not write a second end.
  over_ = true;
  CO_CHECK(co_await engine_->finish(live_, record_, started_));
  co_return Event(Finished{record_});
}

// The guest is asked first: what the kernel counted is read while the guest looks.
Task<void> RunningExecution::look_and_measure() {
  using namespace boost::asio::experimental::awaitable_operators;
  const WallTime now = engine_->dependencies_.clock->now();
  auto look = collect_artifacts(live_, engine_->dependencies_.blobs, engine_->options_.artifacts, now,
                                record_.record_id, room_);
  auto [found, measured] = co_await (std::move(look) && measure(live_->sandbox()));
  CO_CHECK(std::move(measured));
  CO_TRY(record_.artifacts, std::move(found));
  co_return Result<void>{};
}

Task<void> RunningExecution::measure(std::shared_ptr<sandbox::Sandbox> in) {
  if (!in) co_return Result<void>{};
  if (!interpreter_) {
    co_await leave_share(*live_, in, std::exchange(cpu_entered_, std::nullopt), record_.usage,
                         record_.status);
    co_return Result<void>{};
  }
  const auto quick = std::dynamic_pointer_cast<sandbox::QuickUsage>(in);
  Result<sandbox::Usage> now = fail(Code::unavailable, "not asked yet");
  if (const auto known = quick ? quick->usage_now() : std::nullopt)
    now = *known;
  else
    now = co_await in->usage();
  // A sandbox that is gone tells nothing any more; the outcome says that it is gone.
  if (!now) co_return Result<void>{};
  const auto output_bytes = record_.usage.output_bytes;
  const auto wall_time = record_.usage.wall_time;
  record_.usage = *now;
  record_.usage.cpu_time = std::chrono::microseconds(0);
  if (const auto entered = std::exchange(cpu_entered_, std::nullopt)) {
    record_.usage.cpu_time = live_->cpu().leave(now->cpu_time, *entered);
    live_->background().set_due();
  }
  record_.usage.wall_time = wall_time;
  record_.usage.output_bytes = output_bytes;
  co_return Result<void>{};
}

void KeptOutput::set_complete() {
  complete_ = true;
  if (draining_) draining_->cancel();
}

Task<void> KeptOutput::drained(boost::asio::any_io_executor executor) {
  // The process has ended, but whoever reads its stream may not have read it all. A reader that dawdles loses
  // the rest in the record, not in its stream.
  constexpr std::chrono::seconds kPatience(2);
  if (!complete_) {
    draining_.emplace(executor, kPatience);
    boost::system::error_code ignored;
    co_await draining_->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  co_return Result<void>{};
}

void KeptOutput::set_finished(Result<ExecutionRecord> record) {
  record_.emplace(std::move(record));
  if (waiting_) waiting_->cancel();
}

Task<ExecutionRecord> KeptOutput::finished(boost::asio::any_io_executor executor) {
  if (!record_) {
    waiting_.emplace(executor, boost::asio::steady_timer::time_point::max());
    boost::system::error_code ignored;
    co_await waiting_->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  // The timer never expires by itself: it was ended by set_finished(), or this coroutine is being canceled.
  if (!record_) co_return fail(Code::canceled, "canceled while a command ran");
  co_return *record_;
}

Task<sandbox::ProcessEvent> RecordedStream::next() {
  auto event = co_await inner_->next();
  if (!event) {
    kept_->set_complete();
    co_return fail(std::move(event).error());
  }
  if (const auto* output = std::get_if<sandbox::Output>(&*event)) {
    OutputKeeper& keeper = output->stream == sandbox::Stream::err ? kept_->err : kept_->out;
    CO_CHECK(co_await keeper.add(output->bytes));
  } else {
    kept_->set_complete();
  }
  co_return std::move(*event);
}

boost::asio::awaitable<void> watch_command(ExecutionEngine* engine, LivePtr live,
                                           std::shared_ptr<sandbox::Process> process, ExecutionRecord record,
                                           std::shared_ptr<KeptOutput> kept, SteadyTime started) {
  // A session with a command is not idle.
  std::optional<Live::Busy> busy(*live);
  trace::Span span(record.trace, "guest.process");
  const std::shared_ptr<sandbox::Sandbox> in = live->sandbox();
  std::optional<double> entered;
  if (in) {
    if (auto used = co_await in->cpu_time()) entered = live->cpu().enter(*used);
  }
  std::shared_ptr<CpuBudget> budget;
  if (entered)
    budget = CpuBudget::watch(engine->dependencies_.executor, engine->dependencies_.controller,
                              {record.record_id, {record.tenant, record.key_id}, live, *entered},
                              [process](std::string) -> Task<void> { return process->signal(SIGKILL); });
  auto outcome = co_await process->wait();
  busy.reset();
  span.end();
  if (!outcome)
    outcome = sandbox::Outcome{.ending = sandbox::Ending::lost, .reason = outcome.error().message()};
  if (budget) {
    budget->end();
    end_by_budget(*budget, *outcome);
  }
  co_await leave_share(*live, in, entered, outcome->usage, status_of(*outcome, false));
  Result<void> done = co_await engine->finish_command(live, record, *outcome, kept, started);
  if (!done) {
    log_unwritten(record, done.error());
    kept->set_finished(fail(done.error()));
  } else {
    kept->set_finished(std::move(record));
  }
}

Task<void> Command::abandon() {
  kept->set_abandoned();
  return process->signal(SIGKILL);
}

Abandonment::~Abandonment() {
  if (!process_) return;
  kept_->set_abandoned();
  auto kill = [](std::shared_ptr<sandbox::Process> process, About about) -> boost::asio::awaitable<void> {
    if (auto killed = co_await process->signal(SIGKILL); !killed && log::is_on(log::Level::debug))
      log::debug(about(), "an abandoned command was gone already", {{"error", killed.error().message()}});
  };
  boost::asio::co_spawn(executor_, kill(process_, about_), boost::asio::detached);
}

boost::asio::awaitable<void> feed(std::shared_ptr<sandbox::Process> process, std::string bytes, About about) {
  auto written = co_await process->write_stdin(std::move(bytes));
  auto closed = co_await process->close_stdin();
  if ((!written || !closed) && log::is_on(log::Level::debug))
    log::debug(about(), "a command did not take all of its standard input");
}

}  // namespace atl::session
