// Commands and processes. The terminal is in terminal.cc.
#include <fmt/format.h>

#include <charconv>
#include <csignal>

#include "api/http/client_presence.h"
#include "api/http/content.h"
#include "api/http/text_flow.h"
#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/execution.h"
#include "api/rest/render.h"
#include "base/bytes.h"
#include "base/json.h"
#include "sandbox/outcome.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

struct CommandBody {
  session::CommandRequest request;
  std::string standard_input;
};

Result<CommandBody> read_command(const std::string& text) {
  const Body body = TRY(Body::parse(
      text, {"command", "argv", "cwd", "env", "stdin", "timeout_seconds", "background", "user", "tag"}));
  CommandBody command;
  const boost::json::value* line = body.find("command");
  if (line != nullptr && line->is_array()) {
    command.request.argv = TRY(body.texts("command")).value_or(std::vector<std::string>{});
  } else {
    command.request.shell = TRY(body.text("command")).value_or("");
  }
  if (body.has("argv")) command.request.argv = TRY(body.texts("argv")).value_or(std::vector<std::string>{});
  if (command.request.argv.empty() == command.request.shell.empty()) {
    return fail(body.wrong("command", "give either 'command' (a line for the shell) or 'argv' (a list)"));
  }
  command.request.cwd = TRY(body.text("cwd")).value_or("");
  command.request.user = TRY(body.text("user")).value_or("");
  command.request.tag = TRY(body.text("tag")).value_or("");
  command.request.env = TRY(body.text_map("env")).value_or(session::TextMap{});
  command.request.timeout = TRY(read_timeout(body));
  command.request.background = TRY(body.boolean("background")).value_or(false);
  const boost::json::value* input = body.find("stdin");
  if (input != nullptr && input->is_bool()) {
    command.request.stdin_mode = input->get_bool() ? sandbox::Stdin::pipe : sandbox::Stdin::closed;
  } else {
    command.standard_input = TRY(body.text("stdin")).value_or("");
  }
  return command;
}

std::string output_json(std::string_view text) {
  std::string out = R"({"text":)";
  json::append_quoted(out, text);
  return out + "}";
}

bj::object outcome_json(const sandbox::Outcome& outcome) {
  return {{"ending", std::string(sandbox::to_string(outcome.ending))},
          {"exit_code", sandbox::exit_status(outcome)},
          {"reason", outcome.reason},
          {"usage", to_json(outcome.usage)}};
}

// How output is written in events. Text that is cut within a character is held back until the rest has come;
// bytes that are no text at all come through unharmed only as base64.
enum class Encoding : std::uint8_t { text, base64 };

Result<Encoding> encoding_parameter(const Request& request) {
  const std::string word = request.query("encoding").value_or("text");
  if (word == "text") return Encoding::text;
  if (word == "base64") return Encoding::base64;
  return fail(Error(Code::invalid_argument, "'encoding' is 'text' or 'base64'").with_field("encoding"));
}

std::string encoded_json(std::string_view bytes) {
  return fmt::format(R"({{"base64":"{}"}})", to_base64(bytes));
}

// Events: start, stdout, stderr, exit.
Task<void> stream_process(std::uint32_t pid, std::unique_ptr<sandbox::ProcessStream> from,
                          net::Exchange& exchange, Encoding encoding) {
  net::Headers headers{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  std::string first = sse("start", fmt::format(R"({{"pid":{}}})", pid));
  CO_CHECK(co_await exchange.write(std::move(first)));
  http::TextFlow out, err;
  while (true) {
    CO_TRY(sandbox::ProcessEvent event, co_await from->next());
    std::string text;
    if (const auto* output = std::get_if<sandbox::Output>(&event)) {
      const bool is_err = output->stream == sandbox::Stream::err;
      if (encoding == Encoding::base64) {
        text = sse(is_err ? "stderr" : "stdout", encoded_json(output->bytes));
        CO_CHECK(co_await exchange.write(std::move(text)));
        continue;
      }
      const std::string whole = (is_err ? err : out).add(output->bytes);
      if (whole.empty()) continue;
      text = sse(is_err ? "stderr" : "stdout", output_json(whole));
      CO_CHECK(co_await exchange.write(std::move(text)));
      continue;
    }
    if (const std::string rest = out.finish(); !rest.empty()) text += sse("stdout", output_json(rest));
    if (const std::string rest = err.finish(); !rest.empty()) text += sse("stderr", output_json(rest));
    text += sse("exit", json_text(outcome_json(std::get<sandbox::Outcome>(event))));
    CO_CHECK(co_await exchange.write(std::move(text)));
    co_return co_await exchange.finish();
  }
}

// A client that goes away ends the command that it waited for.
Task<void> collect_command(Context context, Principal who, std::string id, CommandBody command,
                           net::Exchange& exchange) {
  CO_TRY(const auto record,
         co_await context->service->run_command(std::move(who), std::move(id), std::move(command.request),
                                                std::move(command.standard_input)));
  co_return co_await exchange.send(json_response(200, execution_json(record)));
}

Task<void> run_command(Context context, Principal who, net::Exchange& exchange) {
  CO_TRY(CommandBody command, co_await http::read_body<CommandBody>(exchange, read_command));
  const std::string id = exchange.request().param("id");
  const bool live = exchange.request().headers.lists("Accept", "text/event-stream");
  CO_TRY(const Encoding encoding, encoding_parameter(exchange.request()));
  const bool background = command.request.background;
  if (!background && !live) {
    co_return co_await http::until_disconnect(
        context->executor, exchange,
        collect_command(context, std::move(who), id, std::move(command), exchange));
  }
  if (!command.standard_input.empty()) command.request.stdin_mode = sandbox::Stdin::pipe;
  CO_TRY(session::CommandStart start,
         co_await context->service->start(std::move(who), id, std::move(command.request)));
  if (const auto* denied = std::get_if<session::Denied>(&start))
    co_return co_await exchange.send(json_response(200, execution_json(denied->record)));
  if (const auto* ended = std::get_if<session::Ended>(&start))
    co_return co_await exchange.send(json_response(200, execution_json(ended->record)));
  session::Command started = std::get<session::Command>(std::move(start));
  if (!command.standard_input.empty()) {
    CO_CHECK(co_await started.process->write_stdin(std::move(command.standard_input)));
    CO_CHECK(co_await started.process->close_stdin());
  }
  if (live) {
    auto done = co_await http::until_disconnect(
        context->executor, exchange,
        stream_process(started.process->info().pid, std::move(started.stream), exchange, encoding));
    if (!done && !background) CO_CHECK(co_await started.abandon());
    co_return done;
  }
  bj::object answer = to_json(started.process->info());
  answer["record_id"] = started.record.record_id;
  answer["status"] = "running";
  co_return co_await exchange.send(json_response(201, std::move(answer)));
}

Task<Response> processes(Context context, Principal who, Request& request) {
  CO_TRY(const auto all, co_await context->service->processes(std::move(who), request.param("id")));
  bj::array list;
  for (const auto& process : all) list.push_back(to_json(process->info()));
  bj::object body{{"processes", std::move(list)}};
  co_return json_response(200, std::move(body));
}

Task<std::shared_ptr<sandbox::Process>> find_process(Context context, Principal who, const Request& request) {
  const std::string& word = request.param("pid");
  session::ProcessSelector selector;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), selector.pid);
  if (failed != std::errc() || end != word.data() + word.size()) {
    selector.pid = 0;
    selector.tag = word;
  }
  co_return co_await context->service->process(std::move(who), request.param("id"), std::move(selector));
}

Task<void> attach(Context context, Principal who, net::Exchange& exchange) {
  const Request& request = exchange.request();
  CO_TRY(const bool replay, flag_parameter(request, "replay"));
  CO_TRY(const Encoding encoding, encoding_parameter(request));
  CO_TRY(const auto process, co_await find_process(context, std::move(who), request));
  auto from = process->attach(replay ? sandbox::Replay::recent : sandbox::Replay::none);
  co_return co_await http::until_disconnect(
      context->executor, exchange, stream_process(process->info().pid, std::move(from), exchange, encoding));
}

Result<int> signal_number(const Body& body) {
  const boost::json::value* value = body.find("signal");
  if (value == nullptr) return SIGTERM;
  if (value->is_number()) {
    const auto number = TRY(body.whole_number("signal", 1, 64));
    return static_cast<int>(*number);
  }
  constexpr std::pair<std::string_view, int> kNames[] = {
      {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},  {"KILL", SIGKILL},
      {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM},  {"CONT", SIGCONT},
      {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"WINCH", SIGWINCH}};
  std::string word = TRY(body.text("signal")).value_or("");
  if (word.starts_with("SIG")) word.erase(0, 3);
  for (const auto& [name, number] : kNames) {
    if (name == word) return number;
  }
  return fail(body.wrong("signal", "'signal' is a name like TERM or a number from 1 to 64"));
}

Task<Response> send_signal(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"signal"}));
  CO_TRY(const int number, signal_number(body));
  CO_TRY(const auto process, co_await find_process(context, std::move(who), request));
  CO_CHECK(co_await process->signal(number));
  co_return Response::empty();
}

Task<Response> kill_process(Context context, Principal who, Request& request) {
  CO_TRY(const auto process, co_await find_process(context, std::move(who), request));
  CO_CHECK(co_await process->signal(SIGKILL));
  co_return Response::empty();
}

Task<Response> write_stdin(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"text", "base64", "close"}));
  CO_TRY(auto text, body.text("text"));
  CO_TRY(const auto encoded, body.text("base64"));
  CO_TRY(const auto close, body.boolean("close"));
  std::optional<std::string> decoded;
  if (encoded) {
    CO_TRY(decoded, body.decoded("base64", *encoded));
  }
  CO_TRY(const auto process, co_await find_process(context, std::move(who), request));
  if (text) CO_CHECK(co_await process->write_stdin(std::move(*text)));
  if (decoded) CO_CHECK(co_await process->write_stdin(std::move(*decoded)));
  if (close.value_or(false)) CO_CHECK(co_await process->close_stdin());
  co_return Response::empty();
}

Task<Response> resize(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"columns", "rows"}));
  CO_TRY(const auto columns, body.whole_number("columns", 1, 1000));
  CO_TRY(const auto rows, body.whole_number("rows", 1, 1000));
  CO_TRY(const auto process, co_await find_process(context, std::move(who), request));
  sandbox::PtySize size{static_cast<std::uint16_t>(columns.value_or(80)),
                        static_cast<std::uint16_t>(rows.value_or(24))};
  CO_CHECK(co_await process->resize(size));
  co_return Response::empty();
}

}  // namespace

void mount_commands(net::Router& router, const Context& context) {
  stream(router, context, Method::post, "/api/sessions/{id}/commands", with_key(Permission::execute),
         run_command, {.body_bytes_max = 16U << 20});
  route(router, context, Method::get, "/api/sessions/{id}/processes", with_key(Permission::sessions_read),
        processes);
  stream(router, context, Method::get, "/api/sessions/{id}/processes/{pid}/attach",
         with_key(Permission::execute), attach);
  route(router, context, Method::post, "/api/sessions/{id}/processes/{pid}/signal",
        with_key(Permission::execute).ending(), send_signal);
  route(router, context, Method::del, "/api/sessions/{id}/processes/{pid}",
        with_key(Permission::execute).ending(), kill_process);
  route(router, context, Method::post, "/api/sessions/{id}/processes/{pid}/stdin",
        with_key(Permission::execute), write_stdin, {.body_bytes_max = 16U << 20});
  route(router, context, Method::post, "/api/sessions/{id}/processes/{pid}/resize",
        with_key(Permission::execute), resize);
}

}  // namespace atl::api::rest
