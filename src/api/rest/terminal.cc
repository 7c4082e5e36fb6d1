// The terminal over WebSocket.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <csignal>

#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/kept_terminal.h"
#include "api/rest/render.h"
#include "base/json.h"
#include "os/timer.h"
#include "sandbox/outcome.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

constexpr int kHangUps = 10;
constexpr std::chrono::milliseconds kBetweenHangUps{500};

// What a client sends: binary messages are keys; text messages are JSON {"type":"input","data"} or
// {"type":"resize","columns","rows"}.
Task<void> obey(std::shared_ptr<sandbox::Process> process, net::Message message) {
  if (message.binary) co_return co_await process->write_stdin(std::move(message.bytes));
  CO_TRY(const Body body, Body::parse(message.bytes, {"type", "data", "columns", "rows"}));
  CO_TRY(const auto type, body.required_text("type"));
  if (type == "input") {
    CO_TRY(auto data, body.required_text("data"));
    co_return co_await process->write_stdin(std::move(data));
  }
  if (type != "resize") co_return fail(body.wrong("type", "'type' is 'input' or 'resize'"));
  CO_TRY(const auto columns, body.whole_number("columns", 1, 1000));
  CO_TRY(const auto rows, body.whole_number("rows", 1, 1000));
  sandbox::PtySize size{static_cast<std::uint16_t>(columns.value_or(80)),
                        static_cast<std::uint16_t>(rows.value_or(24))};
  co_return co_await process->resize(size);
}

// Hangs up a terminal whose client closed it. SIGHUP is sent several times, because bash misses one that
// arrives just before it waits for a key; on a real terminal the end of input would wake it. A program that
// ignores SIGHUP goes on.
boost::asio::awaitable<void> hang_up(boost::asio::any_io_executor executor,
                                     std::shared_ptr<sandbox::Process> process) {
  for (int times = 0; times < kHangUps; ++times) {
    if (auto hung_up = co_await process->signal(SIGHUP); !hung_up) co_return;  // it has ended
    if (auto slept = co_await os::sleep_for(executor, kBetweenHangUps); !slept) co_return;
  }
}

// What becomes of the program when its client is gone.
enum class AfterClient : std::uint8_t { hang_up, go_on };

boost::asio::awaitable<void> obey_all(boost::asio::any_io_executor executor,
                                      std::shared_ptr<net::WebSocket> socket,
                                      std::shared_ptr<sandbox::Process> process, AfterClient after) {
  while (true) {
    auto message = co_await socket->receive();
    if (!message) break;
    auto done = co_await obey(process, std::move(*message));
    if (!done && row(done.error().code()).category == Category::user) {
      net::Message complaint{false,
                             R"({"type":"error","message":)" + json::quoted(done.error().message()) + "}"};
      if (auto sent = co_await socket->send(std::move(complaint)); !sent) break;
    }
  }
  if (after == AfterClient::hang_up) co_await hang_up(executor, process);
}

Task<void> say_exit(net::WebSocket& socket, const sandbox::Outcome& outcome) {
  const bj::object last{{"ending", std::string(sandbox::to_string(outcome.ending))},
                        {"exit_code", sandbox::exit_status(outcome)},
                        {"reason", outcome.reason},
                        {"usage", to_json(outcome.usage)},
                        {"type", "exit"}};
  net::Message message{false, json_text(last)};
  CO_CHECK(co_await socket.send(std::move(message)));
  co_return co_await socket.close(1000, "exit");
}

// A terminal that ends with its connection.
Task<void> serve_once(Context context, net::Exchange& exchange, session::Command command) {
  net::WebSocketOptions options;
  auto accepted = co_await exchange.accept_websocket(std::move(options));
  if (!accepted) {
    CO_CHECK(co_await command.process->signal(SIGKILL));
    co_return fail(std::move(accepted).error());
  }
  const std::shared_ptr<net::WebSocket> socket = std::move(*accepted);
  boost::asio::co_spawn(context->executor,
                        obey_all(context->executor, socket, command.process, AfterClient::hang_up),
                        boost::asio::detached);
  while (true) {
    CO_TRY(sandbox::ProcessEvent event, co_await command.stream->next());
    if (auto* output = std::get_if<sandbox::Output>(&event)) {
      net::Message message{true, std::move(output->bytes)};
      CO_CHECK(co_await socket->send(std::move(message)));
      continue;
    }
    co_return co_await say_exit(*socket, std::get<sandbox::Outcome>(event));
  }
}

// Shows a kept terminal to one client, beginning with {"type":"start","pid","at"}: `at` numbers the next
// byte. `process` is its program as this client may use it.
Task<void> serve_kept(Context context, net::Exchange& exchange, std::shared_ptr<KeptTerminal> terminal,
                      std::shared_ptr<sandbox::Process> process, std::uint64_t from) {
  net::WebSocketOptions options;
  CO_TRY(const std::shared_ptr<net::WebSocket> socket,
         co_await exchange.accept_websocket(std::move(options)));
  const std::uint64_t at = std::min(from, terminal->end());
  net::Message start{
      false, fmt::format(R"({{"type":"start","pid":{},"at":{}}})", terminal->process()->info().pid, at)};
  CO_CHECK(co_await socket->send(std::move(start)));
  boost::asio::co_spawn(context->executor,
                        obey_all(context->executor, socket, std::move(process), AfterClient::go_on),
                        boost::asio::detached);
  CO_TRY(const sandbox::Outcome outcome, co_await terminal->show_to(*socket, at));
  co_return co_await say_exit(*socket, outcome);
}

session::CommandRequest shell_of(const Request& request, std::uint64_t columns, std::uint64_t rows) {
  session::CommandRequest wanted;
  wanted.argv = {"/bin/bash", "-i", "-l"};
  wanted.background = true;
  wanted.pty = sandbox::PtySize{static_cast<std::uint16_t>(columns), static_cast<std::uint16_t>(rows)};
  wanted.stdin_mode = sandbox::Stdin::pipe;
  wanted.cwd = request.query("cwd").value_or("");
  wanted.env = {{"TERM", "xterm-256color"}, {"LANG", "C.UTF-8"}, {"LC_ALL", "C.UTF-8"}};
  return wanted;
}

Error no_terminal(std::uint64_t pid) {
  return Error(Code::not_found, fmt::format("no terminal has the process id {}", pid)).with_field("process");
}

// Back to a terminal that goes on: the session lets its owner in, and its process tells the id that it is
// kept under. One that a service before this one kept goes on as well: it is kept anew, with what it writes
// from now on.
Task<void> attach_again(Context context, Principal who, net::Exchange& exchange, std::uint64_t pid) {
  const Request& request = exchange.request();
  CO_TRY(const std::uint64_t from, number_parameter(request, "from", 0, 0, 1ULL << 53U));
  CO_TRY(const session::Session session, co_await context->service->get(who, request.param("id")));
  session::ProcessSelector selector{.pid = static_cast<std::uint32_t>(pid)};
  auto found = co_await context->service->process(std::move(who), session.session_id, std::move(selector));
  if (!found && found.error().code() == Code::not_found) co_return fail(no_terminal(pid));
  CO_TRY(auto process, std::move(found));
  auto terminal = context->kept_terminals->find(session.session_id, static_cast<std::uint32_t>(pid));
  if (!terminal) {
    if (!process->info().pty) co_return fail(no_terminal(pid));
    CO_CHECK(context->kept_terminals->admit(session.tenant, session.session_id));
    terminal = context->kept_terminals->add(context->executor, session.tenant, session.session_id, process,
                                            process->attach(sandbox::Replay::recent));
  }
  // Whoever comes back sees what others typed and types into it: the log names them from here on.
  (void)process->attach(sandbox::Replay::none);
  co_return co_await serve_kept(context, exchange, std::move(terminal), std::move(process), from);
}

Task<void> terminal(Context context, Principal who, net::Exchange& exchange) {
  const Request& request = exchange.request();
  CO_TRY(const auto columns, number_parameter(request, "columns", 80, 1, 1000));
  CO_TRY(const auto rows, number_parameter(request, "rows", 24, 1, 1000));
  CO_TRY(const bool keep, flag_parameter(request, "keep"));
  CO_TRY(const auto pid, number_parameter(request, "process", 0, 0, UINT32_MAX));
  if (pid != 0) co_return co_await attach_again(context, std::move(who), exchange, pid);
  std::string session_id, tenant;
  if (keep) {
    CO_TRY(const session::Session session, co_await context->service->get(who, request.param("id")));
    session_id = session.session_id;
    tenant = session.tenant;
    CO_CHECK(context->kept_terminals->admit(tenant, session_id));
  }
  session::CommandRequest wanted = shell_of(request, columns, rows);
  CO_TRY(session::Command command, session::started_or_error(co_await context->service->start(
                                       std::move(who), request.param("id"), std::move(wanted))));
  if (!keep) co_return co_await serve_once(context, exchange, std::move(command));
  auto kept = context->kept_terminals->add(context->executor, tenant, session_id, command.process,
                                           std::move(command.stream));
  co_return co_await serve_kept(context, exchange, std::move(kept), command.process, 0);
}

}  // namespace

void mount_terminal(net::Router& router, const Context& context) {
  stream(router, context, Method::get, "/api/sessions/{id}/terminal", with_key(Permission::terminal),
         terminal);
}

}  // namespace atl::api::rest
