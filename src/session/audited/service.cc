#include "session/audited/service.h"

#include <fmt/format.h>

#include "base/json.h"
#include "session/audited/files.h"
#include "session/audited/process.h"
#include "session/run_to_end.h"

namespace atl::session::audited {
namespace {

using audit::Entry;
using audit::Kind;
using audit::Outcome;
using audit::Ticket;

constexpr std::size_t kIdsMax = 16'384;

std::string member(std::string_view name, std::string_view text) {
  constexpr std::size_t kTextBytesMax = 400;
  return fmt::format("{{{}:{}}}", json::quoted(name), json::quoted(audit::clipped(text, kTextBytesMax)));
}

std::string with_part(const std::string& session_id, std::string_view part) {
  return fmt::format("{}:{}", session_id, part);
}

// Writes what became of a start. What a program does later is in its record, whose id is in the entry.
template <class Started>
Result<void> finish_start(Ticket& ticket, const Result<Start<Started>>& start, const std::string& record_id) {
  if (!start) return Trail::finish(ticket, &start.error());
  if (const auto* denied = std::get_if<Denied>(&*start)) {
    ticket.entry().details =
        fmt::format(R"({{"record_id":{},"policy":{}}})", json::quoted(denied->record.record_id),
                    json::quoted(audit::clipped(denied->policy, 160)));
    return ticket.finish(Outcome::denied, fmt::format("policy {}: {}", denied->policy, denied->summary()));
  }
  if (const auto* ended = std::get_if<Ended>(&*start))
    return ticket.finish(Outcome::error, to_error(*ended).message());
  ticket.entry().details = member("record_id", record_id);
  return ticket.finish(Outcome::ok);
}

Result<void> finish_execute(Ticket& ticket, const Result<ExecutionStart>& start) {
  std::string record_id;
  if (start)
    if (const auto* execution = std::get_if<std::unique_ptr<Execution>>(&*start))
      record_id = (*execution)->record_id();
  return finish_start<std::unique_ptr<Execution>>(ticket, start, record_id);
}

Result<void> finish_record(Ticket& ticket, const Result<ExecutionRecord>& record, const Service& service) {
  if (!record) return Trail::finish(ticket, &record.error());
  ticket.entry().details = member("record_id", record->record_id);
  if (record->status != Status::denied) return ticket.finish(Outcome::ok);
  const auto session = service.peek(record->session_id);
  const std::string policy = session ? session->policy : std::string();
  ticket.entry().details = fmt::format(R"({{"record_id":{},"policy":{}}})", json::quoted(record->record_id),
                                       json::quoted(audit::clipped(policy, 160)));
  return ticket.finish(Outcome::denied, fmt::format("policy {}: {}", policy, record->error_value));
}

}  // namespace

AuditedService::AuditedService(boost::asio::any_io_executor executor, Service& inner,
                               std::shared_ptr<audit::Log> log)
    : executor_(std::move(executor)), inner_(inner), log_(std::move(log)) {}

void AuditedService::remember(const Session& session) {
  if (session_ids_.size() >= kIdsMax) session_ids_.clear();
  session_ids_.insert_or_assign(session.sandbox_id, session.session_id);
}

std::string AuditedService::session_id_of(const std::string& id) {
  if (id.starts_with("ses_")) return id;
  if (const auto found = session_ids_.find(id); found != session_ids_.end()) return found->second;
  const auto session = inner_.peek(id);
  if (!session) return id;
  remember(*session);
  return session->session_id;
}

void AuditedService::tell_adopted() {
  for (const Session& session : inner_.peek_all()) {
    if (!is_live(session.state) || !session.hibernation.empty()) continue;
    Entry entry;
    entry.actor = {std::string(audit::kSystem), {}, session.tenant, {}, {}};
    entry.action = "session.adopt";
    entry.object = session.session_id;
    (void)log_->append(entry);
  }
}

// Sessions.

Task<Session> AuditedService::create(Principal who, CreateRequest request) {
  Entry what = trail(who).entry("session.create", request.environment);
  CO_TRY(Ticket ticket, log_->begin(Kind::change, std::move(what)));
  Result<Session> made = co_await inner_.create(std::move(who), std::move(request));
  const Error* error = made ? nullptr : &made.error();
  if (made) {
    remember(*made);
    ticket.entry().object = made->session_id;
    ticket.entry().details =
        fmt::format(R"({{"sandbox_id":{},"environment":{},"provider":{}}})", json::quoted(made->sandbox_id),
                    json::quoted(made->environment), json::quoted(made->provider));
  }
  auto written = Trail::finish(ticket, error);
  if (written) written = co_await log_->settle();
  if (!written && made) co_return fail(std::move(written).error());
  co_return made;
}

Task<Session> AuditedService::get(Principal who, std::string id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("session.read", session_id_of(id));
  return mine.look<Session>(std::move(what), inner_.get(std::move(who), std::move(id)));
}

Task<Page<Session>> AuditedService::list(Principal who, ListRequest request) {
  const Trail mine = trail(who);
  return mine.look<Page<Session>>(mine.entry("session.list", ""),
                                  inner_.list(std::move(who), std::move(request)));
}

Task<Session> AuditedService::update(Principal who, std::string id, UpdateRequest request) {
  const Trail mine = trail(who);
  Entry what = mine.entry("session.update", session_id_of(id));
  return mine.change<Session>(Kind::change, std::move(what),
                              inner_.update(std::move(who), std::move(id), std::move(request)));
}

Task<Session> AuditedService::pause(Principal who, std::string id, PauseRequest request) {
  const Trail mine = trail(who);
  Entry what = mine.entry("session.pause", session_id_of(id));
  return mine.change<Session>(Kind::change, std::move(what),
                              inner_.pause(std::move(who), std::move(id), request));
}

Task<Session> AuditedService::resume(Principal who, std::string id,
                                     std::optional<std::chrono::milliseconds> ttl) {
  const Trail mine = trail(who);
  Entry what = mine.entry("session.resume", session_id_of(id));
  return mine.change<Session>(Kind::change, std::move(what),
                              inner_.resume(std::move(who), std::move(id), ttl));
}

Task<Session> AuditedService::destroy(Principal who, std::string id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("session.end", session_id_of(id));
  return mine.change<Session>(Kind::ending, std::move(what), inner_.destroy(std::move(who), std::move(id)));
}

Task<Snapshot> AuditedService::snapshot(Principal who, std::string id, std::string name, TextMap attributes) {
  Entry what = trail(who).entry("session.snapshot", session_id_of(id));
  CO_TRY(Ticket ticket, log_->begin(Kind::change, std::move(what)));
  Result<Snapshot> made =
      co_await inner_.snapshot(std::move(who), std::move(id), std::move(name), std::move(attributes));
  const Error* error = made ? nullptr : &made.error();
  if (made) ticket.entry().details = member("snapshot_id", made->snapshot_id);
  auto written = Trail::finish(ticket, error);
  if (written) written = co_await log_->settle();
  if (!written && made) co_return fail(std::move(written).error());
  co_return made;
}

Task<Session> AuditedService::restore(Principal who, std::string id, std::string snapshot_id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("session.restore", session_id_of(id));
  what.details = member("snapshot_id", snapshot_id);
  return mine.change<Session>(Kind::change, std::move(what),
                              inner_.restore(std::move(who), std::move(id), std::move(snapshot_id)));
}

Task<Forked> AuditedService::fork(Principal who, std::string id, ForkRequest request) {
  const Trail mine = trail(who);
  const std::string source = session_id_of(id);
  CO_TRY(Ticket ticket, log_->begin(Kind::change, mine.entry("session.fork", source)));
  Result<Forked> forked = co_await inner_.fork(std::move(who), std::move(id), std::move(request));
  const Error* error = forked ? nullptr : &forked.error();
  auto written = Trail::finish(ticket, error);
  // Each copy is a session of its own, and has its beginning like every other.
  if (forked) {
    for (const auto& copy : forked->sessions) {
      Entry entry = mine.entry("session.create", copy ? copy->session_id : source);
      entry.details = member("forked_from", source);
      if (!copy) entry.outcome = outcome_of(copy.error()), entry.reason = copy.error().message();
      if (copy) remember(*copy);
      if (auto told = log_->append(entry); !told && written) written = fail(std::move(told).error());
    }
  }
  if (written) written = co_await log_->settle();
  if (!written && forked) co_return fail(std::move(written).error());
  co_return forked;
}

Task<Page<Snapshot>> AuditedService::list_snapshots(Principal who, std::string id, std::uint32_t limit,
                                                    std::string cursor) {
  const Trail mine = trail(who);
  Entry what = mine.entry("snapshot.list", id.empty() ? "" : session_id_of(id));
  return mine.look<Page<Snapshot>>(
      std::move(what), inner_.list_snapshots(std::move(who), std::move(id), limit, std::move(cursor)));
}

Task<Snapshot> AuditedService::get_snapshot(Principal who, std::string snapshot_id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("snapshot.read", snapshot_id);
  return mine.look<Snapshot>(std::move(what), inner_.get_snapshot(std::move(who), std::move(snapshot_id)));
}

Task<void> AuditedService::remove_snapshot(Principal who, std::string snapshot_id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("snapshot.delete", snapshot_id);
  return mine.change<void>(Kind::ending, std::move(what),
                           inner_.remove_snapshot(std::move(who), std::move(snapshot_id)));
}

// Code.

Task<ExecutionStart> AuditedService::execute(Principal who, std::string id, ExecuteRequest request) {
  Entry what = trail(who).entry("session.execute", session_id_of(id));
  CO_TRY(Ticket ticket, log_->begin(Kind::change, std::move(what)));
  Result<ExecutionStart> start = co_await inner_.execute(std::move(who), std::move(id), std::move(request));
  auto written = finish_execute(ticket, start);
  if (written) written = co_await log_->settle();
  if (!written && start) co_return fail(std::move(written).error());
  co_return start;
}

Task<ExecutionRecord> AuditedService::run(Principal who, std::string id, ExecuteRequest request) {
  Entry what = trail(who).entry("session.execute", session_id_of(id));
  CO_TRY(Ticket ticket, log_->begin(Kind::change, std::move(what)));
  OutputWatcher watch = std::move(request.watch);
  Result<ExecutionStart> start = co_await inner_.execute(std::move(who), std::move(id), std::move(request));
  // Written while the program already runs, so that nothing waits for the entry. A program whose entry cannot
  // be written is ended.
  auto written = finish_execute(ticket, start);
  if (!start) co_return fail(std::move(start).error());
  if (!written) co_return fail(std::move(written).error());
  Result<ExecutionRecord> record = co_await run_to_end(std::move(*start), std::move(watch));
  written = co_await log_->settle();
  if (!written && record) co_return fail(std::move(written).error());
  co_return record;
}

Task<std::vector<sandbox::InterpreterInfo>> AuditedService::contexts(Principal who, std::string id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("context.list", session_id_of(id));
  return mine.look<std::vector<sandbox::InterpreterInfo>>(std::move(what),
                                                          inner_.contexts(std::move(who), std::move(id)));
}

Task<sandbox::InterpreterInfo> AuditedService::create_context(Principal who, std::string id,
                                                              ContextRequest request) {
  const Trail mine = trail(who);
  Entry what = mine.entry("context.create", session_id_of(id));
  return mine.change<sandbox::InterpreterInfo>(
      Kind::change, std::move(what),
      inner_.create_context(std::move(who), std::move(id), std::move(request)));
}

Task<sandbox::InterpreterInfo> AuditedService::prepare_environment(Principal who, std::string id,
                                                                   sandbox::Language language) {
  const Trail mine = trail(who);
  Entry what = mine.entry("context.prepare", session_id_of(id));
  return mine.change<sandbox::InterpreterInfo>(
      Kind::change, std::move(what), inner_.prepare_environment(std::move(who), std::move(id), language));
}

Task<void> AuditedService::restart_context(Principal who, std::string id, std::string context) {
  const Trail mine = trail(who);
  Entry what = mine.entry("context.restart", with_part(session_id_of(id), context));
  return mine.change<void>(Kind::change, std::move(what),
                           inner_.restart_context(std::move(who), std::move(id), std::move(context)));
}

Task<void> AuditedService::interrupt_context(Principal who, std::string id, std::string context) {
  const Trail mine = trail(who);
  Entry what = mine.entry("context.interrupt", with_part(session_id_of(id), context));
  return mine.change<void>(Kind::ending, std::move(what),
                           inner_.interrupt_context(std::move(who), std::move(id), std::move(context)));
}

Task<void> AuditedService::remove_context(Principal who, std::string id, std::string context) {
  const Trail mine = trail(who);
  Entry what = mine.entry("context.delete", with_part(session_id_of(id), context));
  return mine.change<void>(Kind::ending, std::move(what),
                           inner_.remove_context(std::move(who), std::move(id), std::move(context)));
}

// Commands and processes.

Task<CommandStart> AuditedService::start(Principal who, std::string id, CommandRequest request) {
  const Trail mine = trail(who);
  const std::string session_id = session_id_of(id);
  const bool terminal = request.pty.has_value();
  Entry what = mine.entry(terminal ? "terminal.open" : "command.start", session_id);
  CO_TRY(Ticket ticket, log_->begin(Kind::change, std::move(what)));
  Result<CommandStart> start = co_await inner_.start(std::move(who), std::move(id), std::move(request));
  std::string record_id;
  if (start) {
    if (auto* command = std::get_if<Command>(&*start)) {
      record_id = command->record.record_id;
      ticket.entry().object = with_part(session_id, std::to_string(command->process->info().pid));
      if (terminal) tell_close(executor_, command->process, mine, session_id);
      command->process = with_entries(command->process, mine, session_id);
    }
  }
  auto written = finish_start<Command>(ticket, start, record_id);
  if (written) written = co_await log_->settle();
  if (!written && start) co_return fail(std::move(written).error());
  co_return start;
}

Task<ExecutionRecord> AuditedService::run_command(Principal who, std::string id, CommandRequest request,
                                                  std::string standard_input) {
  Entry what = trail(who).entry("command.start", session_id_of(id));
  CO_TRY(Ticket ticket, log_->begin(Kind::change, std::move(what)));
  Result<ExecutionRecord> record = co_await inner_.run_command(std::move(who), std::move(id),
                                                               std::move(request), std::move(standard_input));
  auto written = finish_record(ticket, record, inner_);
  if (written) written = co_await log_->settle();
  if (!written && record) co_return fail(std::move(written).error());
  co_return record;
}

Task<ExecutionRecord> AuditedService::admit_tool(Principal who, std::string id, ToolCall call) {
  Entry what = trail(who).entry("tool.run", with_part(session_id_of(id), call.name));
  CO_TRY(Ticket ticket, log_->begin(Kind::change, std::move(what)));
  Result<ExecutionRecord> record = co_await inner_.admit_tool(std::move(who), std::move(id), std::move(call));
  auto written = finish_record(ticket, record, inner_);
  if (written) written = co_await log_->settle();
  if (!written && record) co_return fail(std::move(written).error());
  co_return record;
}

Task<std::vector<std::shared_ptr<sandbox::Process>>> AuditedService::processes(Principal who,
                                                                               std::string id) {
  const Trail mine = trail(who);
  const std::string session_id = session_id_of(id);
  Entry what = mine.entry("process.list", session_id);
  auto call = mine.look<std::vector<std::shared_ptr<sandbox::Process>>>(
      std::move(what), inner_.processes(std::move(who), std::move(id)));
  CO_TRY(auto all, co_await std::move(call));
  for (auto& process : all) process = with_entries(std::move(process), mine, session_id);
  co_return all;
}

Task<std::shared_ptr<sandbox::Process>> AuditedService::process(Principal who, std::string id,
                                                                ProcessSelector selector) {
  const Trail mine = trail(who);
  const std::string session_id = session_id_of(id);
  CO_TRY(auto found, co_await inner_.process(std::move(who), std::move(id), std::move(selector)));
  co_return with_entries(std::move(found), mine, session_id);
}

// Files, ports, network.

Task<std::shared_ptr<sandbox::Files>> AuditedService::files(Principal who, std::string id) {
  const Trail mine = trail(who);
  const std::string session_id = session_id_of(id);
  auto found = co_await inner_.files(std::move(who), std::move(id));
  if (!found) {
    // Nothing was touched, but somebody tried.
    Entry entry = mine.entry("file.read", session_id);
    entry.outcome = outcome_of(found.error());
    entry.reason = found.error().message();
    log_->fold(entry);
    co_return fail(std::move(found).error());
  }
  co_return with_entries(std::move(*found), mine, session_id);
}

Task<std::unique_ptr<sandbox::ByteStream>> AuditedService::connect(Principal who, std::string id,
                                                                   std::uint16_t port) {
  const Trail mine = trail(who);
  Entry what = mine.entry("port.open", with_part(session_id_of(id), std::to_string(port)));
  return mine.look<std::unique_ptr<sandbox::ByteStream>>(std::move(what),
                                                         inner_.connect(std::move(who), std::move(id), port));
}

Task<std::vector<std::uint16_t>> AuditedService::listening_ports(Principal who, std::string id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("port.list", session_id_of(id));
  return mine.look<std::vector<std::uint16_t>>(std::move(what),
                                               inner_.listening_ports(std::move(who), std::move(id)));
}

Task<NetworkFacts> AuditedService::network(Principal who, std::string id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("network.read", session_id_of(id));
  return mine.look<NetworkFacts>(std::move(what), inner_.network(std::move(who), std::move(id)));
}

Task<NetworkFacts> AuditedService::update_network(Principal who, std::string id, NetworkRequest request) {
  const Trail mine = trail(who);
  Entry what = mine.entry("network.update", session_id_of(id));
  return mine.change<NetworkFacts>(Kind::change, std::move(what),
                                   inner_.update_network(std::move(who), std::move(id), std::move(request)));
}

// Observation.

Task<sandbox::Usage> AuditedService::usage(Principal who, std::string id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("session.read", session_id_of(id));
  return mine.look<sandbox::Usage>(std::move(what), inner_.usage(std::move(who), std::move(id)));
}

Task<std::vector<Sample>> AuditedService::metrics(Principal who, std::string id, std::optional<WallTime> from,
                                                  std::optional<WallTime> to) {
  const Trail mine = trail(who);
  Entry what = mine.entry("session.read", session_id_of(id));
  return mine.look<std::vector<Sample>>(std::move(what),
                                        inner_.metrics(std::move(who), std::move(id), from, to));
}

Task<Page<ExecutionRecord>> AuditedService::history(Principal who, HistoryRequest request) {
  const Trail mine = trail(who);
  Entry what = mine.entry("history.read", request.id.empty() ? "" : session_id_of(request.id));
  return mine.change<Page<ExecutionRecord>>(Kind::reveal, std::move(what),
                                            inner_.history(std::move(who), std::move(request)));
}

Task<std::vector<Artifact>> AuditedService::artifacts(Principal who, std::string id) {
  const Trail mine = trail(who);
  Entry what = mine.entry("artifact.list", session_id_of(id));
  return mine.look<std::vector<Artifact>>(std::move(what), inner_.artifacts(std::move(who), std::move(id)));
}

Task<ArtifactContent> AuditedService::open_artifact(Principal who, std::string digest) {
  const Trail mine = trail(who);
  Entry what = mine.entry("artifact.read", digest);
  return mine.change<ArtifactContent>(Kind::reveal, std::move(what),
                                      inner_.open_artifact(std::move(who), std::move(digest)));
}

Task<policy::Verdict> AuditedService::validate(Principal who, ValidateRequest request) {
  Entry what = trail(who).entry("policy.check", request.policy);
  Result<policy::Verdict> verdict = co_await inner_.validate(std::move(who), std::move(request));
  if (!verdict) {
    what.outcome = Outcome::error;
    what.reason = verdict.error().message();
  } else if (!verdict->allowed) {
    what.outcome = Outcome::denied;
  }
  log_->fold(what);
  co_return verdict;
}

}  // namespace atl::session::audited
