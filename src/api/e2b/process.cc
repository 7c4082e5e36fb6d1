#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>

#include "api/e2b/connect.h"
#include "api/e2b/envd.h"
#include "api/http/client_presence.h"
#include "base/bytes.h"
#include "base/json.h"

namespace atl::api::e2b {
namespace {

using sandbox::Ending;
using sandbox::Outcome;
using sandbox::Output;
using sandbox::ProcessEvent;
using ProcessPump = http::ClientPump<sandbox::ProcessStream, ProcessEvent>;

// Clients look for a process that they killed as soon as that is answered. One that cannot end yet, because
// it waits for a device, is not waited for longer.
constexpr std::chrono::seconds kGonePatience{1};

boost::asio::awaitable<void> expire_when_ended(std::shared_ptr<sandbox::Process> process,
                                               std::shared_ptr<boost::asio::steady_timer> patience) {
  (void)co_await process->wait();
  patience->expires_after(std::chrono::seconds::zero());
}

bool is_outcome(const ProcessEvent& event) {
  return std::holds_alternative<Outcome>(event);
}

// As Go's runtime spells them, because the original's clients see them so.
std::string signal_word(int number) {
  switch (number) {
    case SIGHUP: return "hangup";
    case SIGINT: return "interrupt";
    case SIGQUIT: return "quit";
    case SIGILL: return "illegal instruction";
    case SIGTRAP: return "trace/breakpoint trap";
    case SIGABRT: return "aborted";
    case SIGBUS: return "bus error";
    case SIGFPE: return "floating point exception";
    case SIGKILL: return "killed";
    case SIGUSR1: return "user defined signal 1";
    case SIGSEGV: return "segmentation fault";
    case SIGUSR2: return "user defined signal 2";
    case SIGPIPE: return "broken pipe";
    case SIGALRM: return "alarm clock";
    case SIGTERM: return "terminated";
    default: return fmt::format("signal {}", number);
  }
}

std::string end_event(const Outcome& outcome) {
  bool exited = outcome.ending == Ending::exited;
  int code = exited ? outcome.exit_code : -1;
  std::string status = exited ? fmt::format("exit status {}", code)
                              : "signal: " + signal_word(outcome.signal == 0 ? SIGKILL : outcome.signal);
  Object end;
  if (code != 0) end["exitCode"] = code;
  if (exited) end["exited"] = true;
  end["status"] = status;
  // The status again; for one that ran into a limit, which limit it was.
  const bool known = exited || outcome.ending == Ending::signaled || outcome.ending == Ending::killed;
  if (code != 0) end["error"] = known || outcome.reason.empty() ? status : status + ": " + outcome.reason;
  return to_text(Object{{"event", Object{{"end", std::move(end)}}}});
}

std::string start_event(std::uint32_t pid) {
  return fmt::format(R"({{"event":{{"start":{{"pid":{}}}}}}})", pid);
}

// Written by hand: this is the hot path of every stream.
std::string data_event(const Output& output) {
  std::string_view name = output.stream == sandbox::Stream::out   ? "stdout"
                          : output.stream == sandbox::Stream::err ? "stderr"
                                                                  : "pty";
  return fmt::format(R"({{"event":{{"data":{{"{}":"{}"}}}}}})", name, to_base64(output.bytes));
}

Result<std::optional<sandbox::PtySize>> pty_size(const Object& message) {
  const Object* pty = TRY(object(message, "pty"));
  if (pty == nullptr) return std::optional<sandbox::PtySize>();
  sandbox::PtySize size;
  const Object* given = TRY(object(*pty, "size"));
  if (given != nullptr) {
    auto bounded = [](std::int64_t value) {
      return static_cast<std::uint16_t>(std::clamp<std::int64_t>(value, 1, 10'000));
    };
    size.columns = bounded(TRY(integer(*given, "cols")).value_or(80));
    size.rows = bounded(TRY(integer(*given, "rows")).value_or(24));
  }
  return std::optional<sandbox::PtySize>(size);
}

Result<session::CommandRequest> command_of(const Object& message, const std::string& user) {
  const Object* config = TRY(object(message, "process"));
  if (config == nullptr) return fail(Code::invalid_argument, "process is required");
  session::CommandRequest request;
  std::string command = TRY(text_or(*config, "cmd", ""));
  if (command.empty()) return fail(Code::invalid_argument, "process.cmd is required");
  request.argv.push_back(std::move(command));
  for (std::string& argument : TRY(text_list(*config, "args"))) request.argv.push_back(std::move(argument));
  request.env = TRY(text_map(*config, "envs"));
  std::string cwd = TRY(text_or(*config, "cwd", ""));
  if (!cwd.empty()) request.cwd = TRY(resolve_path(cwd, user));
  request.user = user;
  request.tag = TRY(text_or(message, "tag", ""));
  request.pty = TRY(pty_size(message));
  request.stdin_mode =
      TRY(boolean_or(message, "stdin", true)) ? sandbox::Stdin::pipe : sandbox::Stdin::closed;
  request.background = true;
  return request;
}

Result<session::ProcessSelector> selector_of(const Object& message) {
  const Object* selector = TRY(object(message, "process"));
  if (selector == nullptr) return fail(Code::invalid_argument, "process is required");
  session::ProcessSelector wanted;
  auto pid = TRY(integer(*selector, "pid"));
  wanted.tag = TRY(text_or(*selector, "tag", ""));
  if (!pid && wanted.tag.empty()) return fail(Code::invalid_argument, "process needs pid or tag");
  if (pid && (*pid <= 0 || *pid > 0x7fffffff))
    return fail(Code::not_found, fmt::format("process with pid {} not found", *pid));
  wanted.pid = static_cast<std::uint32_t>(pid.value_or(0));
  return wanted;
}

std::optional<std::chrono::milliseconds> connect_timeout(const net::Request& request) {
  std::string text(request.headers.get("Connect-Timeout-Ms"));
  if (text.empty() || text.size() > 12 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::chrono::milliseconds(std::stoll(text));
}

}  // namespace

Task<Object> Envd::process_list(Target target, Object, net::Request&) {
  CO_TRY(auto processes, co_await context_.service.processes(target.owner, target.id()));
  Array list;
  for (const auto& process : processes) {
    const sandbox::ProcessInfo& info = process->info();
    Object config;
    if (!info.argv.empty()) config["cmd"] = info.argv[0];
    Array arguments;
    for (std::size_t i = 1; i < info.argv.size(); ++i) arguments.emplace_back(info.argv[i]);
    if (!arguments.empty()) config["args"] = std::move(arguments);
    Object variables;
    for (const auto& [name, value] : info.env) variables[name] = value;
    if (!variables.empty()) config["envs"] = std::move(variables);
    if (!info.cwd.empty()) config["cwd"] = info.cwd;
    Object entry{{"pid", info.pid}, {"config", std::move(config)}};
    if (!info.tag.empty()) entry["tag"] = info.tag;
    list.push_back(std::move(entry));
  }
  co_return Object{{"processes", std::move(list)}};
}

Task<void> Envd::process_start(Target target, Object message, net::Exchange& exchange) {
  CO_TRY(std::string user, co_await user_of(context_, target, exchange.request()));
  CO_TRY(session::CommandRequest request, command_of(message, user));
  request.timeout = connect_timeout(exchange.request());
  request.env.emplace("E2B_SANDBOX_ID", target.id());
  bool chosen = !request.cwd.empty();
  if (!chosen) request.cwd = target.attribute(attribute::kDirectory);
  // Where processes start anyway is the home of `user`; others start in theirs, if they have one.
  const bool elsewhere = request.cwd.empty() && !user.empty() && user != "user";
  if (elsewhere) {
    CO_TRY(request.cwd, resolve_path("", user));
  }
  if (chosen || elsewhere) {
    CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
    auto directory = co_await files->stat(request.cwd, user);
    if (!directory && chosen)
      co_return fail(Code::invalid_argument, fmt::format("cwd '{}' does not exist", request.cwd));
    if (!directory) request.cwd.clear();
  }
  CO_TRY(session::Command command, session::started_or_error(co_await context_.service.start(
                                       target.owner, target.id(), std::move(request))));
  co_return co_await follow(std::move(target), exchange, std::move(command.process),
                            std::move(command.stream));
}

Task<void> Envd::process_connect(Target target, Object message, net::Exchange& exchange) {
  auto process = co_await select(target, message);
  if (!process && process.error().code() == Code::not_found) {
    CO_TRY(const session::ProcessSelector selector, selector_of(message));
    auto ending = endings_.find(target.id(), selector);
    if (ending) co_return co_await tell_ending(exchange, std::move(*ending));
  }
  if (!process) co_return fail(std::move(process).error());
  auto stream = (*process)->attach(sandbox::Replay::none);
  co_return co_await follow(std::move(target), exchange, std::move(*process), std::move(stream));
}

Task<void> Envd::tell_ending(net::Exchange& exchange, Endings::Ending ending) {
  net::Headers headers{{"Content-Type", "application/connect+json"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  std::string whole =
      connect::envelope(start_event(ending.pid)) + connect::envelope(ending.event) + connect::end_of_stream();
  CO_CHECK(co_await exchange.write(std::move(whole)));
  co_return co_await exchange.finish();
}

boost::asio::awaitable<void> Envd::note_ending(std::string sandbox_id,
                                               std::shared_ptr<sandbox::Process> process) {
  auto outcome = co_await process->wait();
  if (outcome && outcome->ending != Ending::lost)
    endings_.keep(sandbox_id, process->info().pid, process->info().tag, end_event(*outcome));
}

Task<void> Envd::follow(Target target, net::Exchange& exchange, std::shared_ptr<sandbox::Process> process,
                        std::unique_ptr<sandbox::ProcessStream> stream) {
  const std::uint32_t pid = process->info().pid;
  net::Headers headers{{"Content-Type", "application/connect+json"}};
  ProcessPump pump(context_.executor, exchange, std::move(stream), is_outcome);
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  CO_CHECK(co_await exchange.write(connect::envelope(start_event(pid))));
  auto interval = keepalive_interval(exchange.request());
  while (true) {
    auto taken = co_await pump.next(interval);
    if (!taken && taken.error().code() == Code::canceled)
      boost::asio::co_spawn(context_.executor, note_ending(target.id(), process), boost::asio::detached);
    if (!taken) co_return fail(std::move(taken).error());
    auto& event = *taken;
    if (!event) {
      if (!is_answering(context_, target.id())) {
        exchange.abort();
        co_return Result<void>();
      }
      CO_CHECK(co_await exchange.write(connect::envelope(R"({"event":{"keepalive":{}}})")));
      continue;
    }
    if (const auto* output = std::get_if<Output>(&*event)) {
      CO_CHECK(co_await exchange.write(connect::envelope(data_event(*output))));
      continue;
    }
    const Outcome& outcome = std::get<Outcome>(*event);
    if (outcome.ending == Ending::lost || !is_answering(context_, target.id())) {
      exchange.abort();
      co_return Result<void>();
    }
    std::string end = end_event(outcome);
    // A process whose time was over did not exit: clients that still wait get an error instead.
    const Error late(Code::deadline_exceeded, "the process was ended: its time is over");
    std::string last = outcome.ending == Ending::timed_out
                           ? connect::end_of_stream(late)
                           : connect::envelope(end) + connect::end_of_stream();
    endings_.keep(target.id(), pid, process->info().tag, std::move(end));
    CO_CHECK(co_await exchange.write(std::move(last)));
    co_return co_await exchange.finish();
  }
}

Task<std::shared_ptr<sandbox::Process>> Envd::select(Target target, const Object& message) {
  CO_TRY(session::ProcessSelector wanted, selector_of(message));
  co_return co_await context_.service.process(target.owner, target.id(), std::move(wanted));
}

Task<Object> Envd::process_update(Target target, Object message, net::Request&) {
  CO_TRY(auto process, co_await select(target, message));
  CO_TRY(auto size, pty_size(message));
  if (!size) co_return Object();
  if (!process->info().pty) co_return fail(Code::internal, "tty not assigned to process");
  CO_CHECK(co_await process->resize(*size));
  co_return Object();
}

Task<Object> Envd::process_send_signal(Target target, Object message, net::Request&) {
  CO_TRY(auto process, co_await select(target, message));
  const auto* given = member(message, "signal");
  int number = 0;
  if (given != nullptr && given->is_string()) {
    if (given->as_string() == "SIGNAL_SIGKILL") number = SIGKILL;
    if (given->as_string() == "SIGNAL_SIGTERM") number = SIGTERM;
  } else if (given != nullptr && given->is_int64()) {
    number = static_cast<int>(given->as_int64());
  }
  if (number != SIGKILL && number != SIGTERM)
    co_return fail(Code::invalid_argument, "signal must be SIGKILL or SIGTERM");
  CO_CHECK(co_await process->signal(number));
  if (number == SIGKILL) {
    const auto patience = std::make_shared<boost::asio::steady_timer>(context_.executor, kGonePatience);
    boost::asio::co_spawn(context_.executor, expire_when_ended(process, patience), boost::asio::detached);
    boost::system::error_code ended;
    co_await patience->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ended));
  }
  co_return Object();
}

}  // namespace atl::api::e2b
