#include "api/e2b/interpreter.h"

#include <fmt/format.h>

#include <cctype>

#include "api/http/client_presence.h"
#include "api/http/content.h"
#include "api/http/text_flow.h"
#include "base/bytes.h"
#include "base/json.h"

namespace atl::api::e2b {
namespace {

using session::Event;
using session::Execution;
using ExecutionPump = http::ClientPump<Execution, Event>;

constexpr std::size_t kNumbersMax = 4096;
constexpr std::chrono::milliseconds kKeepaliveInterval{5000};

bool is_finished(const Event& event) {
  return std::holds_alternative<session::Finished>(event);
}

net::Response render_text(const Error& error, const net::Request&) {
  // 502 would tell clients that the whole sandbox is gone.
  int status = error.code() == Code::provider_failed ? 500 : row(error.code()).http_status;
  net::Response response = net::Response::text(status, error.message());
  if (error.code() == Code::resource_exhausted) response.headers.set("Retry-After", kRetryAfter);
  return response;
}

// Members of a result by MIME type; what is not here goes to `extra`.
constexpr std::pair<std::string_view, std::string_view> kMembers[] = {
    {"text/plain", "text"},        {"text/html", "html"},
    {"text/markdown", "markdown"}, {"image/svg+xml", "svg"},
    {"image/png", "png"},          {"image/jpeg", "jpeg"},
    {"application/pdf", "pdf"},    {"text/latex", "latex"},
    {"application/json", "json"},  {"application/javascript", "javascript"},
    {"e2b/data", "data"},          {"e2b/chart", "chart"}};

bool is_structured(std::string_view member) {
  return member == "json" || member == "data" || member == "chart";
}

boost::json::value structured(const std::string& text) {
  auto parsed = json::parse(text);
  return parsed ? std::move(*parsed) : boost::json::value(text);
}

std::string unquoted(std::string_view text) {
  bool quoted =
      text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

std::string output_line(const sandbox::Output& output, WallTime now) {
  std::string line =
      output.stream == sandbox::Stream::err ? R"({"type":"stderr","text":)" : R"({"type":"stdout","text":)";
  json::append_quoted(line, output.bytes);
  line += fmt::format(R"(,"timestamp":"{}"}})", to_rfc3339(now));
  return line + "\n";
}

std::string error_line(std::string_view name, std::string_view value, std::string_view traceback) {
  Object line{{"type", "error"}, {"name", name}, {"value", value}, {"traceback", traceback}};
  return to_text(line) + "\n";
}

// The lines that say how an execution ended that no exception ended.
std::string ending_lines(const session::ExecutionRecord& record) {
  using session::Status;
  std::string reason = record.reason.empty() ? std::string(session::to_string(record.status)) : record.reason;
  switch (record.status) {
    case Status::denied: return error_line("PolicyDenied", record.error_value, record.error_value);
    case Status::timeout: return error_line("TimeoutError", reason, reason);
    case Status::killed:
    case Status::interrupted: return error_line("ExecutionAborted", reason, reason);
    case Status::oom: return error_line("UnexpectedEndOfExecution", reason, reason);
    default: return "";
  }
}

std::string number_line(std::uint64_t count) {
  return fmt::format("{{\"type\":\"number_of_executions\",\"execution_count\":{}}}\n", count);
}

// How output is cut into messages.
enum class Cut : std::uint8_t {
  as_it_comes,
  // The original's Java writes the end of a line by itself, and clients look at the first message of a
  // println for what was printed.
  at_line_ends,
  // R writes a line in several pieces, and how many of them arrive together is chance. The original sends
  // what a statement printed as one message, so an unfinished line is held back for kUnfinishedLineHold.
  at_whole_lines,
};
constexpr std::chrono::milliseconds kUnfinishedLineHold{250};
constexpr std::size_t kUnfinishedLineMax = 64U << 10;

Cut cut_of(sandbox::Language language) {
  switch (language) {
    case sandbox::Language::java: return Cut::at_line_ends;
    case sandbox::Language::r: return Cut::at_whole_lines;
    default: return Cut::as_it_comes;
  }
}

std::string output_lines(const sandbox::Output& output, Cut cut, WallTime now) {
  if (cut != Cut::at_line_ends) return output_line(output, now);
  std::string lines;
  std::string_view rest = output.bytes;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::size_t size = end == 0 ? 1 : std::min(end, rest.size());
    lines += output_line({output.stream, std::string(rest.substr(0, size))}, now);
    rest.remove_prefix(size);
  }
  return lines;
}

// What one execution tells, as lines. Its number is the first of them, and told again if its context says
// otherwise.
class Lines {
 public:
  Lines(Clock& clock, std::uint64_t number, Cut cut, std::string interpreter_restarted)
      : clock_(clock), number_(number), cut_(cut), restarted_(std::move(interpreter_restarted)) {}

  std::string of(Event event) {
    if (auto* output = std::get_if<sandbox::Output>(&event)) return begin() + of_output(std::move(*output));
    const std::string before = release();
    if (auto* bundle = std::get_if<sandbox::ResultBundle>(&event))
      return begin() + before + result_line(*bundle);
    const auto& error = std::get<sandbox::ExecutionError>(event);
    raised_ = true;
    return begin() + before + error_line(error.name, error.value, error.traceback);
  }
  // Whether an unfinished line waits for its rest; release() gives it as it is.
  bool holds() const { return !held_.bytes.empty(); }
  std::string release() {
    if (!holds()) return "";
    return output_line({held_.stream, std::exchange(held_.bytes, std::string())}, clock_.now());
  }
  std::string keepalive() { return begin() + "{\"type\":\"keepalive\"}\n"; }
  std::string last(const session::ExecutionRecord& record) {
    const std::uint64_t true_number = record.execution_count == 0 ? number_ : record.execution_count;
    if (!begun_) number_ = true_number;
    std::string lines = begin() + release();
    for (auto [flow, kind] :
         {std::pair(&out_, sandbox::Stream::out), std::pair(&err_, sandbox::Stream::err)}) {
      std::string rest = flow->finish();
      if (!rest.empty()) lines += output_line(sandbox::Output{kind, rest}, clock_.now());
    }
    const bool lost = record.status == session::Status::error && !raised_;
    if (lost) lines += error_line("UnexpectedEndOfExecution", record.reason, record.reason);
    if (true_number != number_) lines += number_line(true_number);
    return lines + ending_lines(record) + "{\"type\":\"end_of_execution\"}\n";
  }

 private:
  std::string of_output(sandbox::Output output) {
    http::TextFlow& flow = output.stream == sandbox::Stream::err ? err_ : out_;
    output.bytes = flow.add(output.bytes);
    if (output.bytes.empty()) return "";
    if (cut_ != Cut::at_whole_lines) return output_lines(output, cut_, clock_.now());
    std::string lines = output.stream == held_.stream ? "" : release();
    held_.stream = output.stream;
    held_.bytes += output.bytes;
    const std::size_t whole =
        held_.bytes.size() > kUnfinishedLineMax ? held_.bytes.size() : held_.bytes.rfind('\n') + 1;
    if (whole == 0) return lines;
    lines += output_line({held_.stream, held_.bytes.substr(0, whole)}, clock_.now());
    held_.bytes.erase(0, whole);
    return lines;
  }
  std::string begin() {
    if (std::exchange(begun_, true)) return "";
    return restarted_.empty() ? number_line(number_) : number_line(number_) + restart_lines();
  }
  // The original has no event for it: its SDKs pass over one of an unknown type, and show what is on standard
  // error.
  std::string restart_lines() const {
    const Object event{{"type", "interpreter_restarted"}, {"reason", restarted_}};
    const sandbox::Output shown{sandbox::Stream::err, "[the interpreter is a new one: " + restarted_ + "]\n"};
    return to_text(event) + "\n" + output_line(shown, clock_.now());
  }

  Clock& clock_;
  std::uint64_t number_;
  Cut cut_;
  std::string restarted_;
  http::TextFlow out_, err_;
  sandbox::Output held_{sandbox::Stream::out, ""};
  bool begun_ = false, raised_ = false;
};

Object context_object(const sandbox::InterpreterInfo& info) {
  std::string_view language =
      info.language == sandbox::Language::shell ? "bash" : sandbox::to_string(info.language);
  return Object{{"id", info.id}, {"language", language}, {"cwd", info.cwd.empty() ? "/home/user" : info.cwd}};
}

// As the original reads it: whatever the case, and with spaces around it.
Result<sandbox::Language> language_of(const std::string& word) {
  std::string name = word.substr(std::min(word.find_first_not_of(" \t\n"), word.size()));
  name.erase(name.find_last_not_of(" \t\n") + 1);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.empty()) return sandbox::Language::python;
  if (auto language = sandbox::parse_language(name)) return *language;
  return fail(Code::invalid_argument, fmt::format("No interpreter for language '{}': there are python, "
                                                  "javascript, typescript, deno, bash, r and java",
                                                  word));
}

Error context_error(Error error, const std::string& id) {
  if (error.code() == Code::not_found) return Error(Code::not_found, fmt::format("Context {} not found", id));
  return error;
}

// Only its owner and its group may enter.
bool is_closed(const sandbox::FileInfo& directory) {
  return (directory.mode & 0001U) == 0;
}

}  // namespace

std::string result_line(const sandbox::ResultBundle& bundle) {
  Object line{{"type", "result"}, {"is_main_result", bundle.is_main}};
  Object extra;
  for (const auto& [mime, value] : bundle.data) {
    std::string_view name;
    for (auto [known, member_name] : kMembers) {
      if (known == mime) name = member_name;
    }
    if (name.empty()) {
      extra[mime] = value;
    } else if (is_structured(name)) {
      line[name] = structured(value);
    } else {
      line[name] = name == "text" ? unquoted(value) : value;
    }
  }
  if (!extra.empty()) line["extra"] = std::move(extra);
  return to_text(line) + "\n";
}

void Interpreter::mount(net::Router& router) {
  router.set_error_renderer(render_text);
  using Handler = Task<net::Response> (Interpreter::*)(net::Request&, Target);
  const auto rule = [&](Rule needed) { return context_.admission.rule(needed, refuse_in_place); };
  auto add = [&](net::Method method, std::string_view path, Rule needed, Handler handler) {
    router.add(method, path, rule(needed), [this, handler](net::Request& request) {
      return (this->*handler)(request, target_of(request));
    });
  };
  constexpr Rule kContexts{Credential::context, Permission::execute};
  router.add_stream(net::Method::post, "/execute", rule(with_secret(Permission::execute)),
                    [this](net::Exchange& exchange) { return execute(exchange); },
                    {.body_bytes_max = 32U << 20});
  add(net::Method::post, "/contexts", kContexts, &Interpreter::create_context);
  add(net::Method::get, "/contexts", kContexts, &Interpreter::list_contexts);
  add(net::Method::post, "/contexts/{id}/restart", kContexts, &Interpreter::restart_context);
  add(net::Method::del, "/contexts/{id}", kContexts.ending(), &Interpreter::remove_context);
  router.add(net::Method::get, "/health", rule({Credential::sandbox, Permission::none}),
             [](net::Request&) -> Task<net::Response> { co_return net::Response::json(200, "\"OK\""); });
}

Task<void> Interpreter::execute(net::Exchange& exchange) {
  Target target = target_of(exchange.request());
  CO_TRY(Object message, co_await http::read_body<Object>(exchange, parse_object));
  session::ExecuteRequest wanted;
  CO_TRY(wanted.code, text_or(message, "code", ""));
  CO_TRY(wanted.context, text_or(message, "context_id", ""));
  CO_TRY(auto language, text(message, "language"));
  CO_TRY(wanted.env, text_map(message, "env_vars"));
  // Processes have it in their environment. Interpreters are started before their sandbox is known, and those
  // of a fork are copies of its source's, so each execution sets it.
  wanted.env.emplace("E2B_SANDBOX_ID", target.id());
  if (!wanted.context.empty() && language) {
    co_return fail(Code::invalid_argument, "Only one of context_id or language can be provided");
  }
  if (wanted.context.empty()) {
    CO_TRY(wanted.language, language_of(language.value_or("python")));
  }
  // The client decides how long it waits, and going away interrupts.
  wanted.timeout = std::chrono::hours(24);
  co_return co_await stream(exchange, std::move(target), std::move(wanted));
}

// The number of one execution, told to its context's counter whatever becomes of it.
class Interpreter::Number {
 public:
  Number(Numbers& numbers, std::string sandbox_id, const session::ExecuteRequest& request)
      : numbers_(numbers),
        sandbox_id_(std::move(sandbox_id)),
        context_(request.context),
        language_(request.language ? sandbox::to_string(sandbox::interpreter_language(*request.language))
                                   : ""),
        value_(numbers.begin(sandbox_id_, context_, language_)) {}
  ~Number() { numbers_.end(sandbox_id_, context_, language_, context_id_, count_.value_or(value_)); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;

  std::uint64_t value() const { return value_; }
  void set_told(const session::ExecutionRecord& record) {
    context_id_ = record.context;
    count_ = record.execution_count;
  }
  void set_unbegun() { count_ = 0; }

 private:
  Numbers& numbers_;
  std::string sandbox_id_, context_, language_, context_id_;
  std::uint64_t value_;
  std::optional<std::uint64_t> count_;
};

// The original's interpreters are started again when they die; ours are when somebody needs them.
Task<session::ExecutionStart> Interpreter::execute_alive(const Target& target,
                                                         session::ExecuteRequest request) {
  auto execution = co_await context_.service.execute(target.owner, target.id(), request);
  if (execution || execution.error().code() != Code::conflict ||
      execution.error().field() != sandbox::kDeadInterpreter)
    co_return execution;
  std::string context_id = request.context;
  if (context_id.empty()) {
    CO_TRY(const auto info,
           co_await context_.service.prepare_environment(target.owner, target.id(), *request.language));
    context_id = info.id;
  }
  CO_CHECK(co_await context_.service.restart_context(target.owner, target.id(), context_id));
  numbers_.restart(target.id(), context_id);
  co_return co_await context_.service.execute(target.owner, target.id(), std::move(request));
}

Task<sandbox::Language> Interpreter::language_of_request(const Target& target,
                                                         const session::ExecuteRequest& request) {
  if (request.language) co_return *request.language;
  CO_TRY(const auto contexts, co_await context_.service.contexts(target.owner, target.id()));
  const auto asked = std::ranges::find(contexts, request.context, &sandbox::InterpreterInfo::id);
  co_return asked == contexts.end() ? sandbox::Language::python : asked->language;
}

Task<void> Interpreter::stream(net::Exchange& exchange, Target target, session::ExecuteRequest request) {
  if (numbers_.size() > kNumbersMax)
    numbers_.sweep([this](const std::string& id) { return !context_.service.peek(id); });
  std::string context_id = request.context;
  CO_TRY(const sandbox::Language language, co_await language_of_request(target, request));
  const Cut cut = cut_of(language);
  Number number(numbers_, target.id(), request);
  auto begun = co_await execute_alive(target, std::move(request));
  if (!begun) {
    number.set_unbegun();
    co_return fail(context_error(std::move(begun).error(), context_id));
  }
  net::Headers headers{{"Content-Type", "application/x-ndjson"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  if (const auto* denied = std::get_if<session::Denied>(&*begun)) {
    number.set_told(denied->record);
    CO_CHECK(co_await exchange.write(Lines(context_.clock, number.value(), cut, "").last(denied->record)));
    co_return co_await exchange.finish();
  }
  if (std::holds_alternative<session::Ended>(*begun)) {
    number.set_unbegun();
    exchange.abort();
    co_return Result<void>();
  }
  auto execution = std::get<std::unique_ptr<Execution>>(std::move(*begun));
  Lines lines(context_.clock, number.value(), cut, execution->interpreter_restarted());
  ExecutionPump pump(context_.executor, exchange, std::move(execution), is_finished);
  while (true) {
    CO_TRY(auto event, co_await pump.next(lines.holds() ? kUnfinishedLineHold : kKeepaliveInterval));
    if (!event) {
      // g++ 12 destroys a temporary of a conditional operator twice when it stands in an awaited call.
      std::string idle = lines.holds() ? lines.release() : lines.keepalive();
      CO_CHECK(co_await exchange.write(std::move(idle)));
      continue;
    }
    if (auto* finished = std::get_if<session::Finished>(&*event)) {
      number.set_told(finished->record);
      auto session = context_.service.peek(target.id());
      if (!session || !is_reachable(*session)) {
        exchange.abort();
        co_return Result<void>();
      }
      CO_CHECK(co_await exchange.write(lines.last(finished->record)));
      co_return co_await exchange.finish();
    }
    std::string told = lines.of(std::move(*event));
    if (!told.empty()) CO_CHECK(co_await exchange.write(std::move(told)));
  }
}

Task<net::Response> Interpreter::create_context(net::Request& request, Target target) {
  CO_TRY(Object message, parse_object(request.body));
  session::ContextRequest wanted;
  CO_TRY(std::string language, text_or(message, "language", "python"));
  CO_TRY(wanted.language, language_of(language));
  CO_TRY(std::string cwd, text_or(message, "cwd", "/home/user"));
  CO_TRY(wanted.cwd, resolve_path(cwd, ""));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  std::string user = "root";
  auto there = co_await files->stat(wanted.cwd, user);
  if (!there)
    co_return net::Response::text(500, fmt::format("Working directory {} does not exist", wanted.cwd));
  auto info = co_await context_.service.create_context(target.owner, target.id(), wanted);
  if (!info && is_closed(*there)) {
    CO_CHECK(co_await open_directory(target, wanted.cwd));
    info = co_await context_.service.create_context(target.owner, target.id(), std::move(wanted));
  }
  if (!info) co_return fail(std::move(info).error());
  co_return json_response(200, context_object(*info));
}

// An interpreter has its template's user, as commands have; the original's are root's, and clients send them
// to /root. A directory that this user cannot enter, but may become root for, is opened to the user's group
// when a client asks for an interpreter there. It is the user's own sudo that does it: where there is none,
// the directory stays closed.
Task<void> Interpreter::open_directory(const Target& target, const std::string& path) {
  session::CommandRequest wanted;
  wanted.argv = {"sudo", "-n", "/bin/sh", "-c", R"(chgrp -- "$SUDO_GID" "$1" && chmod g+rwx -- "$1")",
                 "sh",   path};
  wanted.cwd = "/";
  CO_TRY(const auto done,
         co_await context_.service.run_command(target.owner, target.id(), std::move(wanted), ""));
  if (done.exit_code != 0)
    co_return fail(Code::permission_denied,
                   fmt::format("cwd '{}': the sandbox's user may not enter it, and sudo did not open it: {}",
                               path, done.err));
  co_return Result<void>();
}

Task<net::Response> Interpreter::list_contexts(net::Request&, Target target) {
  // The original starts these two with the sandbox; ours are started when somebody looks, and stand first
  // nevertheless.
  std::vector<std::string> defaults;
  for (sandbox::Language language : {sandbox::Language::python, sandbox::Language::javascript}) {
    auto prepared = co_await context_.service.prepare_environment(target.owner, target.id(), language);
    if (prepared) defaults.push_back(prepared->id);  // an environment may lack one of them
  }
  CO_TRY(auto contexts, co_await context_.service.contexts(target.owner, target.id()));
  const auto is_default = [&](const sandbox::InterpreterInfo& info) {
    return std::ranges::find(defaults, info.id) != defaults.end();
  };
  Array list;
  for (const std::string& id : defaults)
    for (const auto& info : contexts)
      if (info.id == id) list.push_back(context_object(info));
  for (const auto& info : contexts)
    if (!is_default(info)) list.push_back(context_object(info));
  co_return json_response(200, list);
}

Task<net::Response> Interpreter::restart_context(net::Request& request, Target target) {
  std::string id = request.param("id");
  auto done = co_await context_.service.restart_context(target.owner, target.id(), id);
  if (!done) co_return fail(context_error(std::move(done).error(), id));
  numbers_.restart(target.id(), id);
  co_return net::Response::json(200, "null");
}

Task<net::Response> Interpreter::remove_context(net::Request& request, Target target) {
  std::string id = request.param("id");
  auto done = co_await context_.service.remove_context(target.owner, target.id(), id);
  if (!done) co_return fail(context_error(std::move(done).error(), id));
  co_return net::Response::json(200, "null");
}

}  // namespace atl::api::e2b
