#include <fmt/format.h>

#include "base/bytes.h"
#include "session_state.h"

namespace atl::client {
namespace detail {

// One process, and the stream of its output while this program follows it.
struct ProcessState {
  std::shared_ptr<SessionState> session;
  int pid = 0;
  std::shared_ptr<EventSource> source;  // null: not followed yet
  std::string out, err;
  std::optional<Execution> ended;

  std::string path(std::string_view rest) const {
    return session->path(fmt::format("/processes/{}{}", pid, rest));
  }
};

namespace {

Json command_body(const CommandLine& command, const CommandOptions& options) {
  Json body = Json::object({{"command", command.json()}});
  set_if(body, "cwd", options.cwd);
  set_if(body, "env", options.env);
  set_if(body, "stdin", options.input);
  set_if(body, "timeout_seconds", options.timeout_seconds);
  set_if(body, "user", options.user);
  set_if(body, "tag", options.tag);
  return body;
}

// Output of a process on its way to callbacks, and into what is kept of it.
struct Output {
  const TextCallback& on_stdout;
  const TextCallback& on_stderr;
  std::string& out;
  std::string& err;

  void take(const Event& event) const {
    bool is_out = event.name == "stdout";
    if (!is_out && event.name != "stderr") return;
    const std::string& text = event.data["text"].as_string();
    (is_out ? out : err) += text;
    const TextCallback& callback = is_out ? on_stdout : on_stderr;
    if (callback) callback(text);
  }
};

[[noreturn]] void throw_no_exit(int pid) {
  if (pid == 0) throw ConnectionLostError("the output of the command ended without its exit");
  throw ConnectionLostError(fmt::format("the output of process {} ended without its exit", pid),
                            fmt::format("look for it with commands().list() or commands().connect({})", pid));
}

// The process of an answer to a start; an answer without one says that a policy denied it, or that it ended.
int started_pid(const Json& answer) {
  if (answer["pid"].is_integer()) return static_cast<int>(answer["pid"].as_integer());
  Execution ended = read_execution(answer);
  if (ended.status == "denied") {
    ErrorFacts facts{.code = "policy_denied", .category = "policy", .http_status = 200};
    throw PolicyDeniedError(ended.reason.empty() ? "a policy denied the command" : ended.reason,
                            "change the command, or ask the operator for another policy", facts);
  }
  throw ExecutionFailedError(
      "the command did not start: " + (ended.reason.empty() ? ended.status : ended.reason), ended);
}

Async<std::shared_ptr<EventSource>> attach(std::shared_ptr<ProcessState> state, CallOptions call) {
  Request request = get_request(state->path("/attach"), {{"replay", "true"}});
  LiveAnswer live = co_await open_events(state->session->engine, std::move(request), call, kForever);
  if (!live.source) throw ProtocolError("the output of a process is no stream of events");
  co_return live.source;
}

Async<void> process_call(const std::shared_ptr<ProcessState>& state, std::string_view rest, const Json& body,
                         CallOptions call) {
  return call_plain(state->session->engine, post_request(state->path(rest), body), std::move(call));
}

}  // namespace
}  // namespace detail

using namespace detail;

Json CommandLine::json() const {
  if (const auto* line = std::get_if<std::string>(&value_)) return *line;
  return std::get<std::vector<std::string>>(value_);
}

Execution Commands::run(CommandLine command, CommandOptions options, CallOptions call) {
  if (!options.on_stdout && !options.on_stderr)
    return run_async(std::move(command), std::move(options), std::move(call)).get();
  Milliseconds time = time_for(options.timeout_seconds, session_->wait);
  Request request = post_request(session_->path("/commands"), command_body(command, options));
  LiveAnswer live = open_events(session_->engine, std::move(request), call, time).get();
  if (!live.source) return read_execution(live.whole);
  if (!call.timeout) call.timeout = time;
  std::string out, err;
  Output output{options.on_stdout, options.on_stderr, out, err};
  while (auto event = EventSource::next(live.source, call).get()) {
    if (event->name == "exit") return read_exit(event->data, session_->id, std::move(out), std::move(err));
    output.take(*event);
  }
  throw_no_exit(0);
}

Async<Execution> Commands::run_async(CommandLine command, CommandOptions options, CallOptions call) {
  auto session = session_;
  Milliseconds time = time_for(options.timeout_seconds, session->wait);
  Request request = post_request(session->path("/commands"), command_body(command, options));
  if (!options.on_stdout && !options.on_stderr) {
    Json answer = co_await call_json(session->engine, std::move(request), call, time);
    co_return read_execution(answer);
  }
  LiveAnswer live = co_await open_events(session->engine, std::move(request), call, time);
  if (!live.source) co_return read_execution(live.whole);
  if (!call.timeout) call.timeout = time;
  std::string out, err;
  Output output{options.on_stdout, options.on_stderr, out, err};
  while (true) {
    std::optional<Event> event = co_await EventSource::next(live.source, call);
    if (!event) throw_no_exit(0);
    if (event->name == "exit") co_return read_exit(event->data, session->id, std::move(out), std::move(err));
    output.take(*event);
  }
}

Async<Process> Commands::start_async(CommandLine command, CommandOptions options, CallOptions call) {
  auto state = std::make_shared<ProcessState>();
  state->session = session_;
  Json body = command_body(command, options);
  if (options.keep_stdin) body.set("stdin", true);
  body.set("background", true);
  Request request = post_request(state->session->path("/commands"), body);
  if (!options.follow) {
    Json answer = co_await call_json(state->session->engine, std::move(request), call);
    state->pid = started_pid(answer);
    co_return Process(state);
  }
  Milliseconds usual = state->session->engine->options().timeout;
  LiveAnswer live = co_await open_events(state->session->engine, std::move(request), call, usual);
  if (!live.source) {
    started_pid(live.whole);  // throws why it did not start
    throw ProtocolError("the output of a process is no stream of events");
  }
  if (!call.timeout) call.timeout = usual;
  std::optional<Event> first = co_await EventSource::next(live.source, call);
  if (!first) throw ConnectionLostError("it ended before the command was started");
  state->pid = started_pid(first->data);
  state->source = live.source;
  co_return Process(state);
}

Async<std::vector<ProcessInfo>> Commands::list_async(CallOptions call) {
  auto session = session_;
  Json answer = co_await call_json(session->engine, get_request(session->path("/processes")), call);
  co_return read_list(answer, "processes", read_process);
}

Async<Process> Commands::connect_async(int pid, CallOptions call) {
  auto state = std::make_shared<ProcessState>();
  state->session = session_;
  state->pid = pid;
  Json answer =
      co_await call_json(state->session->engine, get_request(state->session->path("/processes")), call);
  for (const ProcessInfo& one : read_list(answer, "processes", read_process)) {
    if (one.pid == pid) co_return Process(state);
  }
  ErrorFacts facts{.code = "not_found", .category = "user", .http_status = 404};
  throw NotFoundError(fmt::format("no process {} runs in session {}", pid, state->session->id),
                      "commands().list() tells which run", facts);
}

int Process::pid() const {
  return state_->pid;
}

Execution Process::wait(TextCallback on_stdout, TextCallback on_stderr, CallOptions call) {
  ProcessState& state = *state_;
  if (state.ended) return *state.ended;
  if (!call.timeout) call.timeout = kForever;
  if (!state.source) state.source = attach(state_, call).get();
  Output output{on_stdout, on_stderr, state.out, state.err};
  while (auto event = EventSource::next(state.source, call).get()) {
    if (event->name == "exit") {
      state.ended = read_exit(event->data, state.session->id, state.out, state.err);
      return *state.ended;
    }
    output.take(*event);
  }
  throw_no_exit(state.pid);
}

Async<Execution> Process::wait_async(TextCallback on_stdout, TextCallback on_stderr, CallOptions call) {
  auto state = state_;
  if (state->ended) co_return *state->ended;
  if (!call.timeout) call.timeout = kForever;
  if (!state->source) state->source = co_await attach(state, call);
  Output output{on_stdout, on_stderr, state->out, state->err};
  while (true) {
    std::optional<Event> event = co_await EventSource::next(state->source, call);
    if (!event) throw_no_exit(state->pid);
    if (event->name == "exit") {
      state->ended = read_exit(event->data, state->session->id, state->out, state->err);
      co_return *state->ended;
    }
    output.take(*event);
  }
}

Async<void> Process::kill_async(CallOptions call) {
  Request request{.method = "DELETE", .path = state_->path("")};
  return call_plain(state_->session->engine, std::move(request), std::move(call));
}

Async<void> Process::signal_async(std::string name, CallOptions call) {
  return process_call(state_, "/signal", Json::object({{"signal", name}}), std::move(call));
}

Async<void> Process::write_stdin_async(std::string bytes, CallOptions call) {
  return process_call(state_, "/stdin", Json::object({{"base64", to_base64(bytes)}}), std::move(call));
}

Async<void> Process::close_stdin_async(CallOptions call) {
  return process_call(state_, "/stdin", Json::object({{"close", true}}), std::move(call));
}

}  // namespace atl::client
