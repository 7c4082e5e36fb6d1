// Commands that run while their caller does something else.
#include <fmt/format.h>

#include <cmath>
#include <csignal>

#include "api/mcp/toolbox.h"
#include "base/bytes.h"
#include "base/utf8.h"

namespace atl::api::mcp {
namespace {

constexpr std::size_t kPolledBytes = 32U << 10;
constexpr std::chrono::seconds kGrace{5};

// What it wrote from `offset` on, cut between two characters.
bj::object polled(const BackgroundCommand& command, std::uint64_t offset) {
  const std::uint64_t from = std::max(std::min(offset, command.total()), command.first());
  std::string_view bytes = command.from(from, kPolledBytes);
  const bool is_all = from + bytes.size() == command.total() && command.outcome;
  if (!is_all) bytes.remove_suffix(utf8::incomplete_tail(bytes));
  bj::object facts{{"sandbox_id", command.sandbox_id},
                   {"command_id", command.id},
                   {"status", command.outcome ? "ended" : "running"},
                   {"output", to_valid_utf8(bytes)},
                   {"offset", from},
                   {"next_offset", from + bytes.size()},
                   {"total", command.total()},
                   {"truncated", from > offset || from + bytes.size() < command.total()}};
  if (command.outcome) {
    facts["exit_code"] = exit_status(*command.outcome);
    if (!command.outcome->reason.empty()) facts["reason"] = command.outcome->reason;
  }
  return facts;
}

ToolReply reply_of(bj::object facts) {
  ToolReply reply;
  const std::string output(facts["output"].get_string());
  if (!output.empty()) reply.add_text(output);
  std::string state = facts["status"] == "ended" ? fmt::format("The command ended with exit status {}.",
                                                               facts["exit_code"].to_number<std::int64_t>())
                                                 : std::string("The command is running.");
  if (const bj::value* reason = facts.if_contains("reason"))
    state += fmt::format(" Reason: {}.", std::string_view(reason->get_string()));
  if (flag_in(facts, "truncated"))
    state += fmt::format(" There is more: {} bytes in all; go on at offset {}.",
                         facts["total"].to_number<std::uint64_t>(),
                         facts["next_offset"].to_number<std::uint64_t>());
  reply.add_text(state);
  reply.structured = std::move(facts);
  return reply;
}

// A handle and a sandbox that do not belong together are a mistake that should not go unseen.
Result<BackgroundCommandPtr> named_in(const Call& call, const bj::object& arguments) {
  BackgroundCommandPtr command = TRY(call.shared->commands.find(call.who, text_in(arguments, "command_id")));
  const std::string sandbox = text_in(arguments, "sandbox_id");
  if (!sandbox.empty() && sandbox != command->sandbox_id && sandbox != command->session_id)
    return fail(Error(Code::invalid_argument,
                      fmt::format("the command runs in {}, not in {}", command->sandbox_id, sandbox))
                    .with_field("sandbox_id"));
  return command;
}

int signal_in(const bj::object& arguments) {
  const std::string word = text_in(arguments, "signal", "TERM");
  return word == "KILL" ? SIGKILL : word == "INT" ? SIGINT : word == "HUP" ? SIGHUP : SIGTERM;
}

}  // namespace

Task<ToolReply> command_start(CallPtr call, bj::object arguments) {
  CO_CHECK(call->shared->commands.check_room(call->who.tenant));
  CO_TRY(const std::string sandbox, co_await sandbox_of(call, arguments, IfNone::make));
  session::CommandRequest request;
  request.shell = text_in(arguments, "command");
  request.cwd = text_in(arguments, "cwd");
  request.background = true;
  request.stdin_mode = sandbox::Stdin::pipe;
  if (const bj::object* env = object_in(arguments, "env"))
    for (const auto& [name, value] : *env)
      if (value.is_string()) request.env.emplace(name, value.get_string());
  if (arguments.contains("timeout_seconds"))
    request.timeout = std::chrono::milliseconds(
        std::max<std::int64_t>(1, std::llround(number_in(arguments, "timeout_seconds", 0) * 1000)));
  CO_TRY(session::CommandStart start, co_await call->service().start(call->who, sandbox, std::move(request)));
  if (const auto* denied = std::get_if<session::Denied>(&start))
    co_return ToolReply::error(denial_text(denied->policy, denied->record));
  if (const auto* ended = std::get_if<session::Ended>(&start))
    co_return ToolReply::error(session::to_error(*ended));
  // It has started: the session is there, and its facts are those of the caller's own sandbox.
  CO_TRY(const session::Session session, call->service().peek(sandbox));
  const BackgroundCommandPtr kept = call->shared->commands.keep(
      session, std::get<session::Command>(std::move(start)), text_in(arguments, "command"));
  ToolReply reply;
  reply.structured = bj::object{{"sandbox_id", session.sandbox_id},
                                {"command_id", kept->id},
                                {"pid", kept->process->info().pid},
                                {"status", "running"}};
  reply.add_text(fmt::format("Started as {} (process {}) in {}. Read on with command_poll.", kept->id,
                             kept->process->info().pid, session.sandbox_id));
  co_return reply;
}

Task<ToolReply> command_poll(CallPtr call, bj::object arguments) {
  CO_TRY(const BackgroundCommandPtr command, named_in(*call, arguments));
  const auto offset = static_cast<std::uint64_t>(number_in(arguments, "offset", 0));
  const auto patience =
      std::chrono::milliseconds(std::llround(number_in(arguments, "wait_seconds", 0) * 1000));
  if (patience.count() > 0) co_await command->wait(offset, patience);
  co_return reply_of(polled(*command, offset));
}

Task<ToolReply> command_input(CallPtr call, bj::object arguments) {
  CO_TRY(const BackgroundCommandPtr command, named_in(*call, arguments));
  std::string text = text_in(arguments, "text");
  const std::size_t size = text.size();
  const bool closes = flag_in(arguments, "close");
  if (command->outcome) co_return ToolReply::error("The command has ended: nobody reads this.");
  if (size > 0) CO_CHECK(co_await command->process->write_stdin(std::move(text)));
  if (closes) CO_CHECK(co_await command->process->close_stdin());
  ToolReply reply;
  reply.structured = bj::object{{"command_id", command->id}, {"bytes_written", size}, {"closed", closes}};
  reply.add_text(fmt::format("{} bytes were written.", size));
  co_return reply;
}

Task<ToolReply> command_stop(CallPtr call, bj::object arguments) {
  CO_TRY(const BackgroundCommandPtr command, named_in(*call, arguments));
  const std::uint64_t before = command->total();
  if (!command->outcome) {
    // One that ended meanwhile cannot be signaled: that is what was wanted.
    (void)co_await command->process->signal(signal_in(arguments));
    co_await command->wait(std::numeric_limits<std::uint64_t>::max(), kGrace);
  }
  if (!command->outcome) {
    (void)co_await command->process->signal(SIGKILL);
    co_await command->wait(std::numeric_limits<std::uint64_t>::max(), kGrace);
  }
  constexpr std::uint64_t kEndShown = 4'096;
  const std::uint64_t from = command->total() > kEndShown ? command->total() - kEndShown : 0;
  co_return reply_of(polled(*command, std::min(before, from)));
}

}  // namespace atl::api::mcp
