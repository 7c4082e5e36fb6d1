#include "sandbox/e2b/remote_interpreter.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <csignal>
#include <deque>

#include "base/json.h"
#include "os/event.h"
#include "os/timer.h"

namespace atl::sandbox::e2b {
namespace {

constexpr std::size_t kHeldMax = 256U << 10;
constexpr std::size_t kLineMax = 64U << 20;
constexpr std::chrono::seconds kAnswerTime(5);

// Members of a result by MIME type, as the protocol names them; others are in `extra`.
struct ResultMember {
  std::string_view name, mime;
};
constexpr ResultMember kMembers[] = {{"text", "text/plain"},        {"html", "text/html"},
                                     {"markdown", "text/markdown"}, {"svg", "image/svg+xml"},
                                     {"png", "image/png"},          {"jpeg", "image/jpeg"},
                                     {"pdf", "application/pdf"},    {"latex", "text/latex"},
                                     {"json", "application/json"},  {"javascript", "application/javascript"},
                                     {"data", "e2b/data"},          {"chart", "e2b/chart"}};

void add_member(ResultBundle& bundle, std::string_view mime, const boost::json::value& value) {
  if (value.is_null()) return;
  bundle.data.emplace(mime,
                      value.is_string() ? std::string(value.get_string()) : boost::json::serialize(value));
}

ResultBundle bundle_of(const Object& line) {
  ResultBundle bundle;
  bundle.is_main = flag_in(line, "is_main_result");
  for (const ResultMember& member : kMembers)
    if (const boost::json::value* value = line.if_contains(member.name))
      add_member(bundle, member.mime, *value);
  if (const Object* extra = object_in(line, "extra"))
    for (const auto& member : *extra) add_member(bundle, member.key(), member.value());
  return bundle;
}

std::string_view word_of(Language language) {
  return language == Language::shell ? "bash" : to_string(language);
}

Error plain_error(int status, std::string_view body) {
  return status == 502 ? Error(Code::unavailable, "the remote sandbox does not run")
                       : control_error(status, body);
}

}  // namespace

// One execution under way: what it said and nobody has taken yet.
struct RemoteInterpreter::Execution {
  Execution(const boost::asio::any_io_executor& on, os::Turn::Hold turn)
      : executor(on), changed(on), hold(std::move(turn)) {}

  void push(ExecutionEvent event, std::size_t size) {
    waiting.push_back(std::move(event));
    bytes += size;
    changed.notify();
  }
  // How it ends if the connection is cut by us: the first reason stands.
  void cut(Ending how, std::string why) {
    if (over || ending) return;
    ending = how;
    reason = std::move(why);
    if (call) call->cut();
    changed.notify();
  }

  boost::asio::any_io_executor executor;
  std::shared_ptr<CuttableCall> call;  // null until the other side has answered
  os::Event changed;
  os::Turn::Hold hold;
  std::deque<ExecutionEvent> waiting;
  std::size_t bytes = 0;
  std::uint64_t output = 0, output_max = UINT64_MAX;
  std::uint64_t count = 0;
  bool raised = false, over = false;
  std::optional<Ending> ending;
  std::string reason;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

class RemoteInterpreter::Stream final : public ExecutionStream {
 public:
  explicit Stream(std::shared_ptr<Execution> execution) : execution_(std::move(execution)) {}
  ~Stream() override { execution_->cut(Ending::killed, "nobody waits for it any more"); }
  Task<ExecutionEvent> next() override {
    while (execution_->waiting.empty()) CO_CHECK(co_await execution_->changed.wait());
    ExecutionEvent event = std::move(execution_->waiting.front());
    execution_->waiting.pop_front();
    if (const auto* output = std::get_if<Output>(&event)) {
      execution_->bytes -= std::min(execution_->bytes, output->bytes.size());
      execution_->changed.notify();
    }
    co_return event;
  }

 private:
  std::shared_ptr<Execution> execution_;
};

Task<net::ClientResponse> RemoteInterpreter::ask(std::string method, std::string target, std::string body) {
  net::ClientRequest request{
      .method = std::move(method), .target = std::move(target), .body = std::move(body)};
  request.headers.add("Content-Type", "application/json");
  CO_TRY(net::ClientResponse answer, co_await plane_->send(kInterpreterPort, std::move(request)));
  if (answer.status != 200) co_return fail(plain_error(answer.status, answer.body));
  co_return answer;
}

Task<std::shared_ptr<RemoteInterpreter>> RemoteInterpreter::create(std::shared_ptr<Plane> plane,
                                                                   Language language, std::string cwd) {
  Object wanted{{"language", word_of(language)}};
  if (!cwd.empty()) wanted["cwd"] = cwd;
  net::ClientRequest request{.method = "POST", .target = "/contexts", .body = boost::json::serialize(wanted)};
  request.headers.add("Content-Type", "application/json");
  CO_TRY(const net::ClientResponse answer, co_await plane->send(kInterpreterPort, std::move(request)));
  if (answer.status != 200) co_return fail(plain_error(answer.status, answer.body));
  CO_TRY(const Object made, parse_answer(answer.body));
  auto interpreter = adopt(plane, made);
  if (!interpreter) co_return fail(Code::provider_failed, "the remote interpreter named no context");
  interpreter->info_.language = language;
  co_return interpreter;
}

std::shared_ptr<RemoteInterpreter> RemoteInterpreter::adopt(std::shared_ptr<Plane> plane,
                                                            const Object& entry) {
  const auto language = parse_language(text_in(entry, "language"));
  InterpreterInfo info{.id = text_in(entry, "id"),
                       .language = language.value_or(Language::python),
                       .cwd = text_in(entry, "cwd")};
  if (!language || info.id.empty()) return nullptr;
  return std::shared_ptr<RemoteInterpreter>(new RemoteInterpreter(std::move(plane), std::move(info)));
}

Task<std::vector<std::shared_ptr<RemoteInterpreter>>> RemoteInterpreter::list(std::shared_ptr<Plane> plane) {
  net::ClientRequest request{.method = "GET", .target = "/contexts"};
  CO_TRY(const net::ClientResponse answer, co_await plane->send(kInterpreterPort, std::move(request)));
  if (answer.status != 200) co_return fail(plain_error(answer.status, answer.body));
  std::vector<std::shared_ptr<RemoteInterpreter>> found;
  const auto parsed = json::parse(answer.body);
  if (!parsed || !parsed->is_array())
    co_return fail(Code::provider_failed, "the remote interpreter listed something that is no list");
  for (const auto& entry : parsed->get_array())
    if (entry.is_object())
      if (auto one = adopt(plane, entry.get_object())) found.push_back(std::move(one));
  co_return found;
}

Task<std::shared_ptr<CuttableCall>> RemoteInterpreter::post(const ExecutionSpec& spec) {
  Object message{{"code", spec.code}};
  // A context has one language, and TypeScript in one of JavaScript would be read as JavaScript: such code
  // runs in the sandbox's own context for it.
  const bool elsewhere = spec.language && *spec.language != info_.language;
  if (elsewhere)
    message["language"] = word_of(*spec.language);
  else
    message["context_id"] = info_.id;
  Object variables;
  for (const auto& [name, value] : spec.env) variables[name] = value;
  if (!variables.empty()) message["env_vars"] = std::move(variables);
  net::ClientRequest request{.method = "POST", .target = "/execute", .body = boost::json::serialize(message)};
  request.headers.add("Content-Type", "application/json");
  CO_TRY(auto call, co_await plane_->open(kInterpreterPort, std::move(request), net::RequestBody::whole));
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  auto head = co_await (*call)->head();
  if (!head) co_return fail(broken(state, "the remote interpreter: " + head.error().message()));
  if (head->status != 200) {
    auto body = co_await (*call)->read();
    co_return fail(plain_error(head->status, body.value_or("")));
  }
  co_return call;
}

Task<std::unique_ptr<ExecutionStream>> RemoteInterpreter::execute(ExecutionSpec spec) {
  const auto self = shared_from_this();
  if (!death_.empty())
    co_return fail(Error(Code::conflict, "the interpreter is dead: " + death_)
                       .with_field(std::string(kDeadInterpreter)));
  CO_TRY(os::Turn::Hold hold, co_await turn_.take());
  // Known before it is sent: an interrupt may come while the other side has not answered yet.
  auto execution = std::make_shared<Execution>(plane_->executor(), std::move(hold));
  if (spec.output_bytes) execution->output_max = *spec.output_bytes;
  running_ = execution;
  CO_TRY(execution->call, co_await post(spec));
  if (execution->ending) execution->call->cut();
  boost::asio::co_spawn(plane_->executor(), follow(self, execution), boost::asio::detached);
  if (spec.wall_time)
    boost::asio::co_spawn(plane_->executor(), end_in_time(execution, *spec.wall_time), boost::asio::detached);
  std::unique_ptr<ExecutionStream> stream = std::make_unique<Stream>(std::move(execution));
  co_return stream;
}

boost::asio::awaitable<void> RemoteInterpreter::end_in_time(std::shared_ptr<Execution> execution,
                                                            std::chrono::milliseconds time) {
  const auto deadline = execution->began + time;
  while (!execution->over) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) break;
    const auto step = std::min<std::chrono::nanoseconds>(left, std::chrono::seconds(5));
    if (!co_await os::sleep_for(execution->executor, step)) co_return;
  }
  execution->cut(Ending::timed_out, fmt::format("wall time of {}", seconds_of(time)));
}

namespace {

enum class Taken : std::uint8_t { going_on, at_end };

}  // namespace

// One line of what the remote interpreter tells.
static Taken take_line(auto& execution, const Object& line) {
  const std::string type = text_in(line, "type");
  if (type == "end_of_execution") return Taken::at_end;
  if (type == "number_of_executions") {
    execution.count = static_cast<std::uint64_t>(integer_in(line, "execution_count"));
  } else if (type == "stdout" || type == "stderr") {
    std::string text = text_in(line, "text");
    const std::uint64_t room = execution.output_max - std::min(execution.output_max, execution.output);
    const bool too_much = text.size() > room;
    if (too_much) text.resize(room);
    execution.output += text.size();
    const std::size_t size = text.size();
    if (size > 0)
      execution.push(Output{type == "stdout" ? sandbox::Stream::out : sandbox::Stream::err, std::move(text)},
                     size);
    if (too_much)
      execution.cut(Ending::output_limit, fmt::format("more than {} bytes of output", execution.output_max));
  } else if (type == "result") {
    execution.push(bundle_of(line), 0);
  } else if (type == "error") {
    execution.raised = true;
    execution.push(ExecutionError{text_in(line, "name"), text_in(line, "value"), text_in(line, "traceback")},
                   0);
  }
  return Taken::going_on;
}

boost::asio::awaitable<void> RemoteInterpreter::follow(std::shared_ptr<RemoteInterpreter> self,
                                                       std::shared_ptr<Execution> execution) {
  std::string pending, problem;
  bool ended = false;
  while (!ended && !execution->ending) {
    // Whoever does not read holds the stream back, and with it the program.
    while (execution->bytes > kHeldMax && !execution->ending)
      if (!co_await execution->changed.wait()) break;
    auto piece = co_await (*execution->call)->read();
    if (!piece || piece->empty()) {
      problem = "the connection to the remote interpreter broke";
      break;
    }
    pending += *piece;
    for (std::size_t end = pending.find('\n'); end != std::string::npos && !ended; end = pending.find('\n')) {
      const auto line = parse_answer(std::string_view(pending).substr(0, end));
      pending.erase(0, end + 1);
      if (line) ended = take_line(*execution, *line) == Taken::at_end;
    }
    if (pending.size() > kLineMax) {
      problem = "the remote interpreter sent a line without an end";
      break;
    }
  }
  execution->call->cut();
  ExecutionDone done;
  done.execution_count = execution->count;
  done.outcome.usage.output_bytes = execution->output;
  done.outcome.usage.wall_time = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - execution->began);
  if (execution->ending) {
    done.outcome.ending = *execution->ending;
    done.outcome.reason = execution->reason;
    done.outcome.signal = SIGINT;
    if (self->plane_->check_running()) {
      const auto alive = co_await self->answers();
      if (alive && !*alive && self->plane_->check_running())
        self->death_ = "it went on when it was to stop: " + execution->reason;
    }
  } else if (!ended) {
    done.outcome.ending = Ending::lost;
    done.outcome.reason = self->plane_->has_ended() ? "its sandbox ended" : problem;
    if (self->plane_->on_doubt) self->plane_->on_doubt();
  } else if (execution->raised) {
    done.outcome.exit_code = 1;
  }
  execution->over = true;
  execution->hold = os::Turn::Hold();
  execution->push(std::move(done), 0);
}

// Asked while the turn is held, so that nobody else's execution is in between.
Task<bool> RemoteInterpreter::answers() {
  if (!plane_->check_running()) co_return false;
  ExecutionSpec nothing;
  auto call = co_await post(nothing);
  if (!call) co_return false;
  bool over = false;
  auto watch = [](std::shared_ptr<CuttableCall> on, boost::asio::any_io_executor executor,
                  std::weak_ptr<int> wanted) -> boost::asio::awaitable<void> {
    (void)co_await os::sleep_for(std::move(executor), kAnswerTime);
    if (!wanted.expired()) on->cut();
  };
  const auto wanted = std::make_shared<int>(0);
  boost::asio::co_spawn(plane_->executor(), watch(*call, plane_->executor(), wanted), boost::asio::detached);
  std::string told;
  while (!over) {
    auto piece = co_await (**call)->read();
    if (!piece || piece->empty()) break;
    told += *piece;
    over = told.find("end_of_execution") != std::string::npos;
  }
  co_return over;
}

Task<void> RemoteInterpreter::interrupt() {
  if (const auto execution = running_.lock()) execution->cut(Ending::killed, "interrupted by request");
  co_return Result<void>();
}

Task<void> RemoteInterpreter::restart() {
  const auto self = shared_from_this();
  if (const auto execution = running_.lock()) execution->cut(Ending::killed, "its interpreter was restarted");
  std::string method = "POST", target = fmt::format("/contexts/{}/restart", net::percent_encode(info_.id)),
              body;
  CO_CHECK(co_await ask(std::move(method), std::move(target), std::move(body)));
  death_.clear();
  co_return Result<void>();
}

Task<void> RemoteInterpreter::remove() {
  const auto self = shared_from_this();
  if (const auto execution = running_.lock()) execution->cut(Ending::killed, "its interpreter was removed");
  std::string method = "DELETE", target = "/contexts/" + net::percent_encode(info_.id), body;
  CO_CHECK(co_await ask(std::move(method), std::move(target), std::move(body)));
  co_return Result<void>();
}

}  // namespace atl::sandbox::e2b
