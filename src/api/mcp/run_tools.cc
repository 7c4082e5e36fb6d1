// run_code and run_command: they wait for the end, and tell how it goes on meanwhile.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cmath>

#include "api/http/pump.h"
#include "api/mcp/shown_output.h"
#include "api/mcp/toolbox.h"
#include "base/bytes.h"

namespace atl::api::mcp {
namespace {

constexpr std::chrono::milliseconds kBetweenProgress{1'000};
constexpr std::size_t kValueBytes = 16U << 10;  // of one representation of a value, in the structured part
constexpr std::size_t kImageBytes = 4U << 20;   // of one picture in base64
constexpr std::size_t kImagesMax = 16;

std::optional<std::chrono::milliseconds> timeout_in(const bj::object& arguments) {
  if (!arguments.contains("timeout_seconds")) return std::nullopt;
  return std::chrono::milliseconds(
      std::max<std::int64_t>(1, std::llround(number_in(arguments, "timeout_seconds", 0) * 1000)));
}

// Tells a client that asked for it, once a second, that the call goes on, and the last line it printed.
class Heartbeat {
 public:
  explicit Heartbeat(CallPtr call) : call_(std::move(call)) {}
  std::chrono::milliseconds interval() const { return kBetweenProgress; }
  void beat(const std::string& line) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::duration<double>>(std::chrono::steady_clock::now() - began_)
            .count();
    const std::string running = fmt::format("running for {:.0f} s", seconds);
    call_->progress(std::max(seconds, told_ + 0.001), std::nullopt,
                    line.empty() ? running : fmt::format("{}: {}", running, line));
    told_ = std::max(seconds, told_ + 0.001);
    last_ = std::chrono::steady_clock::now();
  }
  // Also while output keeps coming.
  void beat_if_due(const std::string& line) {
    if (std::chrono::steady_clock::now() - last_ >= kBetweenProgress) beat(line);
  }

 private:
  CallPtr call_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_ = began_;
  double told_ = 0;
};

struct Ran {
  ShownOutput out, err;
  std::vector<sandbox::ResultBundle> results;
  session::ExecutionRecord record;
};

bool is_finished(const session::Event& event) {
  return std::holds_alternative<session::Finished>(event);
}

// `ran` is the caller's, who waits for this.
Task<void> follow(CallPtr call, std::unique_ptr<session::Execution> execution, Ran& ran) {
  http::Pump<session::Execution, session::Event> pump(call->parts().executor, std::move(execution),
                                                      is_finished);
  Heartbeat heartbeat(call);
  while (true) {
    auto event = co_await pump.take(heartbeat.interval());
    if (!event) {
      heartbeat.beat(ran.out.last_line());
      continue;
    }
    if (!*event) co_return fail(std::move(*event).error());
    if (const auto* output = std::get_if<sandbox::Output>(&**event)) {
      (output->stream == sandbox::Stream::err ? ran.err : ran.out).add(output->bytes);
      heartbeat.beat_if_due(ran.out.last_line());
    } else if (auto* result = std::get_if<sandbox::ResultBundle>(&**event)) {
      ran.results.push_back(std::move(*result));
    } else if (auto* finished = std::get_if<session::Finished>(&**event)) {
      ran.record = std::move(finished->record);
      co_return Result<void>();
    }
  }
}

bool is_picture(std::string_view type) {
  return type == "image/png" || type == "image/jpeg" || type == "image/gif" || type == "image/webp";
}

// Pictures go where clients show them; the structured part says which they are. Everything else is text.
void add_results(const std::vector<sandbox::ResultBundle>& results, ToolReply& reply, bj::array& structured,
                 bool& truncated) {
  std::size_t pictures = 0;
  for (const sandbox::ResultBundle& bundle : results) {
    bj::object shown;
    for (const auto& [type, text] : bundle.data) {
      if (is_picture(type)) {
        if (text.size() > kImageBytes || pictures >= kImagesMax) {
          truncated = true;
          continue;
        }
        ++pictures;
        shown["image"] = reply.content.size();
        reply.content.push_back(bj::object{{"type", "image"}, {"data", text}, {"mimeType", type}});
        continue;
      }
      std::string value = to_valid_utf8(std::string_view(text).substr(0, kValueBytes));
      if (value.size() < text.size()) truncated = true;
      shown[type] = std::move(value);
    }
    if (const bj::value* plain = shown.if_contains("text/plain"); plain != nullptr && bundle.is_main)
      reply.add_text(plain->get_string());
    structured.push_back(std::move(shown));
  }
}

std::string ending_text(const session::ExecutionRecord& record) {
  using session::Status;
  const std::string why = record.reason.empty() ? std::string(to_string(record.status)) : record.reason;
  switch (record.status) {
    case Status::timeout: return fmt::format("It took too long and was ended: {}.", why);
    case Status::oom: return fmt::format("It needed too much memory and was ended: {}.", why);
    case Status::killed:
    case Status::interrupted: return fmt::format("It was ended before it was done: {}.", why);
    default: return {};
  }
}

ToolReply code_reply(const std::string& sandbox, Ran& ran) {
  ran.out.finish();
  ran.err.finish();
  const session::ExecutionRecord& record = ran.record;
  ToolReply reply;
  if (const std::string out = ran.out.text(); !out.empty()) reply.add_text(out);
  if (const std::string err = ran.err.text(); !err.empty()) reply.add_text("stderr:\n" + err);
  bool truncated = ran.out.truncated() || ran.err.truncated();
  bj::array results;
  add_results(ran.results, reply, results, truncated);
  bj::object facts{{"sandbox_id", sandbox},
                   {"status", to_string(record.status)},
                   {"stdout", ran.out.text()},
                   {"stderr", ran.err.text()},
                   {"total", ran.out.total() + ran.err.total()},
                   {"truncated", truncated},
                   {"results", std::move(results)}};
  if (!record.error.empty()) {
    reply.add_text(record.traceback.empty() ? record.error + ": " + record.error_value : record.traceback);
    facts["error"] = bj::object{{"name", to_valid_utf8(record.error)},
                                {"value", to_valid_utf8(record.error_value)},
                                {"traceback", to_valid_utf8(record.traceback)}};
  }
  if (!record.interpreter_restarted.empty()) {
    facts["note"] =
        "the interpreter is a new one, without earlier variables: " + record.interpreter_restarted;
    reply.add_text(facts["note"].get_string());
  }
  if (const std::string ending = ending_text(record); !ending.empty()) {
    reply.add_text(ending);
    reply.is_error = true;
  }
  if (reply.content.empty()) reply.add_text("It ended without output.");
  reply.structured = std::move(facts);
  return reply;
}

// A command that nobody waits for any more ends, whatever made its caller leave.
struct Abandoned {
  boost::asio::any_io_executor executor;
  session::Command command;
  bool done = false;
  ~Abandoned() {
    if (done) return;
    auto end = [](session::Command left) -> boost::asio::awaitable<void> { co_await left.abandon(); };
    boost::asio::co_spawn(executor, end(std::move(command)), boost::asio::detached);
  }
};

boost::asio::awaitable<void> feed(std::shared_ptr<sandbox::Process> process, std::string text) {
  if (auto written = co_await process->write_stdin(std::move(text)); !written) co_return;
  co_await process->close_stdin();
}

// A command is a shell and what it starts: half of the processes that the sandbox may have are shells at
// most.
std::size_t commands_at_once(const Call& call, const std::string& id) {
  constexpr std::size_t kLeast = 2, kMost = 16;
  const auto session = call.service().peek(id);
  const std::size_t processes = session ? session->limits.processes_max : 0;
  return std::clamp(processes / 2, kLeast, kMost);
}

bool is_outcome(const sandbox::ProcessEvent& event) {
  return std::holds_alternative<sandbox::Outcome>(event);
}

Task<sandbox::Outcome> follow_command(CallPtr call, session::Command command, Ran& ran) {
  http::Pump<sandbox::ProcessStream, sandbox::ProcessEvent> pump(call->parts().executor,
                                                                 std::move(command.stream), is_outcome);
  Abandoned abandoned{call->parts().executor, std::move(command)};
  Heartbeat heartbeat(call);
  while (true) {
    auto event = co_await pump.take(heartbeat.interval());
    if (!event) {
      heartbeat.beat(ran.out.last_line());
      continue;
    }
    if (!*event) co_return fail(std::move(*event).error());
    if (const auto* output = std::get_if<sandbox::Output>(&**event)) {
      (output->stream == sandbox::Stream::err ? ran.err : ran.out).add(output->bytes);
      heartbeat.beat_if_due(ran.out.last_line());
      continue;
    }
    abandoned.done = true;
    co_return std::get<sandbox::Outcome>(std::move(**event));
  }
}

ToolReply command_reply(const std::string& sandbox, const sandbox::Outcome& outcome, Ran& ran) {
  ran.out.finish();
  ran.err.finish();
  const int status = exit_status(outcome);
  ToolReply reply;
  if (const std::string out = ran.out.text(); !out.empty()) reply.add_text(out);
  if (const std::string err = ran.err.text(); !err.empty()) reply.add_text("stderr:\n" + err);
  const bool was_cut_short =
      outcome.ending != sandbox::Ending::exited && outcome.ending != sandbox::Ending::signaled;
  if (status != 0 || reply.content.empty())
    reply.add_text(outcome.reason.empty() ? fmt::format("exit status {}", status)
                                          : fmt::format("exit status {}: {}", status, outcome.reason));
  reply.is_error = was_cut_short;
  reply.structured = bj::object{{"sandbox_id", sandbox},
                                {"status", to_string(outcome.ending)},
                                {"exit_code", status},
                                {"stdout", ran.out.text()},
                                {"stderr", ran.err.text()},
                                {"total", ran.out.total() + ran.err.total()},
                                {"truncated", ran.out.truncated() || ran.err.truncated()}};
  return reply;
}

}  // namespace

Task<ToolReply> run_code(CallPtr call, bj::object arguments) {
  CO_TRY(const std::string sandbox, co_await sandbox_of(call, arguments, IfNone::make));
  session::ExecuteRequest request;
  request.code = text_in(arguments, "code");
  request.timeout = timeout_in(arguments);
  if (const std::string word = text_in(arguments, "language"); !word.empty())
    request.language = sandbox::parse_language(word);
  arguments.clear();
  CO_TRY(session::ExecutionStart start,
         co_await call->service().execute(call->who, sandbox, std::move(request)));
  if (const auto* denied = std::get_if<session::Denied>(&start))
    co_return ToolReply::error(denial_text(denied->policy, denied->record));
  if (const auto* ended = std::get_if<session::Ended>(&start))
    co_return ToolReply::error(session::to_error(*ended));
  Ran ran;
  CO_CHECK(co_await follow(call, std::get<std::unique_ptr<session::Execution>>(std::move(start)), ran));
  co_return code_reply(sandbox, ran);
}

Task<ToolReply> run_command(CallPtr call, bj::object arguments) {
  CO_TRY(const std::string sandbox, co_await sandbox_of(call, arguments, IfNone::make));
  session::CommandRequest request;
  request.shell = text_in(arguments, "command");
  request.cwd = text_in(arguments, "cwd");
  request.timeout = timeout_in(arguments);
  std::string input = text_in(arguments, "stdin");
  const std::size_t most = commands_at_once(*call, sandbox);
  const auto turn = co_await call->shared->turns->take(sandbox, most);
  if (!input.empty()) request.stdin_mode = sandbox::Stdin::pipe;
  arguments.clear();
  CO_TRY(session::CommandStart start, co_await call->service().start(call->who, sandbox, std::move(request)));
  if (const auto* denied = std::get_if<session::Denied>(&start))
    co_return ToolReply::error(denial_text(denied->policy, denied->record));
  if (const auto* ended = std::get_if<session::Ended>(&start))
    co_return ToolReply::error(session::to_error(*ended));
  session::Command command = std::get<session::Command>(std::move(start));
  if (!input.empty())
    boost::asio::co_spawn(call->parts().executor, feed(command.process, std::move(input)),
                          boost::asio::detached);
  Ran ran;
  CO_TRY(const sandbox::Outcome outcome, co_await follow_command(call, std::move(command), ran));
  co_return command_reply(sandbox, outcome, ran);
}

}  // namespace atl::api::mcp
