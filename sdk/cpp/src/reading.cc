#include "reading.h"

#include <fmt/format.h>

#include "atoll/errors.h"

namespace atl::client::detail {
namespace {

// The members of one object of an answer, each by its kind.
class Members {
  template <class Take>
  decltype(auto) read(const char* name, Take take) const {
    try {
      return take();
    } catch (const JsonError& error) {
      throw ProtocolError(fmt::format("'{}' of the {} of the answer: {}", name, what_, error.message()));
    }
  }

 public:
  Members(const Json& json, const char* what) : json_(json), what_(what) {
    if (!json.is_object()) throw ProtocolError(fmt::format("the {} of the answer is no object", what));
  }
  std::string text(const char* name) const {
    const Json& value = at(name);
    if (value.is_null()) return {};
    return read(name, [&] { return value.as_string(); });
  }
  std::string text_if(const char* name) const { return json_.find(name) ? text(name) : std::string(); }
  std::int64_t integer(const char* name) const {
    return read(name, [&] { return at(name).as_integer(); });
  }
  std::int64_t integer_if(const char* name) const { return json_.find(name) ? integer(name) : 0; }
  double number(const char* name) const {
    return read(name, [&] { return at(name).as_double(); });
  }
  bool flag(const char* name) const {
    return read(name, [&] { return at(name).as_bool(); });
  }
  std::vector<std::string> texts(const char* name) const {
    return read(name, [&] {
      std::vector<std::string> all;
      for (const Json& one : at(name).items()) all.push_back(one.as_string());
      return all;
    });
  }
  Variables variables(const char* name) const {
    return read(name, [&] {
      Variables all;
      for (const auto& [key, value] : at(name).members()) all.emplace(key, value.as_string());
      return all;
    });
  }
  template <class T>
  std::vector<T> list(const char* name, T (*reader)(const Json&)) const {
    std::vector<T> all;
    for (const Json& one : read(name, [&]() -> const Json::Array& { return at(name).items(); }))
      all.push_back(reader(one));
    return all;
  }
  const Json& at(const char* name) const {
    const Json* found = json_.find(name);
    if (!found) throw ProtocolError(fmt::format("the {} of the answer has no '{}'", what_, name));
    return *found;
  }

 private:
  const Json& json_;
  const char* what_;
};

Finding read_finding(const Json& json) {
  Members in(json, "finding");
  return {in.text("rule"),         in.text("severity"),   in.text("message"),          in.integer_if("line"),
          in.integer_if("column"), in.text_if("excerpt"), in.text_if("recommendation")};
}

std::optional<GuestError> read_guest_error(const Json& json) {
  if (json.is_null()) return std::nullopt;
  Members in(json, "error");
  return GuestError{in.text("name"), in.text("value"), in.text("traceback")};
}

std::string read_import(const Json& json) {
  return Members(json, "import").text("name");
}

}  // namespace

Usage read_usage(const Json& json) {
  Members in(json, "usage");
  return {in.number("cpu_seconds"),   in.number("wall_seconds"),
          in.integer("memory_bytes"), in.integer("memory_peak_bytes"),
          in.integer("disk_bytes"),   in.integer("processes"),
          in.integer("output_bytes"), json};
}

Sample read_sample(const Json& json) {
  Members in(json, "sample");
  return {in.text("at"), in.number("cpu_percent"), read_usage(in.at("usage"))};
}

Verdict read_verdict(const Json& json) {
  Members in(json, "verdict");
  Members risk(in.at("risk"), "risk");
  return {in.flag("allowed"),
          in.text("language"),
          in.text("policy"),
          risk.text("level"),
          risk.integer("score"),
          in.list("findings", read_finding),
          in.list("notes", read_finding),
          in.list("imports", read_import),
          json};
}

Result read_result(const Json& json) {
  Members in(json, "result");
  return {in.variables("data"), in.flag("is_main")};
}

Artifact read_artifact(const Json& json) {
  Members in(json, "artifact");
  return {in.text("path"),       in.text("digest"),     in.integer("size_bytes"),
          in.text("media_type"), in.text("created_at"), in.text("record_id"),
          in.text("url")};
}

Execution read_execution(const Json& json) {
  Members in(json, "execution");
  Execution done;
  done.status = in.text("status");
  done.stdout_text = in.text("stdout");
  done.stderr_text = in.text("stderr");
  done.exit_code = static_cast<int>(in.integer("exit_code"));
  if (json.find("results")) done.results = in.list("results", read_result);
  done.error = read_guest_error(in.at("error"));
  done.reason = in.text("reason");
  done.language = in.text("language");
  done.context = in.text("context");
  done.duration_ms = in.number("duration_ms");
  done.record_id = in.text("record_id");
  done.session_id = in.text("session_id");
  done.usage = read_usage(in.at("usage"));
  if (!in.at("verdict").is_null()) done.verdict = read_verdict(in.at("verdict"));
  done.artifacts = in.list("artifacts", read_artifact);
  done.stdout_truncated = in.flag("stdout_truncated");
  done.stderr_truncated = in.flag("stderr_truncated");
  done.execution_count = in.integer("execution_count");
  done.interpreter_restarted = in.text("interpreter_restarted");
  done.raw = json;
  return done;
}

Execution read_exit(const Json& json, const std::string& session_id, std::string out, std::string err) {
  Members in(json, "exit");
  Execution done;
  done.exit_code = static_cast<int>(in.integer("exit_code"));
  // The service's words for how a process ended, as the status that history gives them.
  std::string ending = in.text("ending");
  if (ending == "exited") {
    done.status = done.exit_code == 0 ? "success" : "error";
  } else if (ending == "timed_out") {
    done.status = "timeout";
  } else if (ending == "out_of_memory") {
    done.status = "oom";
  } else {
    done.status = ending == "signaled" ? "error" : "killed";
  }
  done.reason = in.text("reason");
  done.usage = read_usage(in.at("usage"));
  done.duration_ms = done.usage.wall_seconds * 1000;
  done.language = "shell";
  done.session_id = session_id;
  done.stdout_text = std::move(out);
  done.stderr_text = std::move(err);
  done.raw = json;
  return done;
}

Record read_record(const Json& json) {
  Members in(json, "record");
  return {in.text("record_id"),
          in.text("session_id"),
          in.text("timestamp"),
          in.text("finished_at"),
          in.text("kind"),
          in.text("type"),
          in.text("code"),
          in.text("status"),
          in.text("stdout"),
          in.text("stderr"),
          read_guest_error(in.at("error")),
          static_cast<int>(in.integer("exit_code")),
          json};
}

SessionInfo read_session(const Json& json) {
  Members in(json, "session");
  SessionInfo info;
  info.session_id = in.text("session_id");
  info.sandbox_id = in.text("sandbox_id");
  info.provider = in.text("provider");
  info.environment = in.text("environment");
  info.agent = in.text("agent");
  info.policy = in.text("policy");
  info.url = in.text("url");
  info.state = in.text("state");
  info.reason = in.text("reason");
  info.created_at = in.text("created_at");
  info.expires_at = in.text("expires_at");
  info.ended_at = in.text("ended_at");
  info.ttl_seconds = in.number("ttl_seconds");
  info.metadata = in.variables("metadata");
  info.parent = in.text("parent");
  info.snapshot = in.text("snapshot");
  info.on_disk = in.flag("on_disk");
  info.left_behind = in.texts("left_behind");
  info.access_token = in.text("access_token");
  info.traffic_token = in.text("traffic_token");
  info.raw = json;
  return info;
}

Snapshot read_snapshot(const Json& json) {
  Members in(json, "snapshot");
  return {in.text("snapshot_id"), in.text("name"),       in.text("session_id"),    in.text("provider"),
          in.text("environment"), in.text("created_at"), in.integer("size_bytes"), json};
}

Context read_context(const Json& json) {
  Members in(json, "context");
  return {in.text("id"), in.text("language"), in.text("cwd")};
}

ProcessInfo read_process(const Json& json) {
  Members in(json, "process");
  return {static_cast<int>(in.integer("pid")),
          in.text("tag"),
          in.texts("argv"),
          in.text("cwd"),
          in.text("user"),
          in.flag("pty"),
          in.text("started_at")};
}

FileInfo read_file(const Json& json) {
  Members in(json, "file");
  return {in.text("name"),  in.text("path"),  in.text("type"),        in.integer("size"),   in.text("mode"),
          in.text("owner"), in.text("group"), in.text("modified_at"), in.text_if("target"), json};
}

Unpacked read_unpacked(const Json& json) {
  Members in(json, "archive");
  return {in.text("path"), in.integer("files"), in.integer("directories"), in.integer("skipped")};
}

TerminalExit read_terminal_exit(const Json& json) {
  Members in(json, "exit");
  return {in.text("ending"), static_cast<int>(in.integer("exit_code")), in.text("reason")};
}

ToolResult read_tool_result(const Json& json) {
  Members in(json, "result");
  return {in.text("status"),
          in.at("output"),
          in.text("record_id"),
          in.at("error"),
          in.flag("cached"),
          in.number("duration_ms"),
          json};
}

std::string read_text(const Json& json) {
  return Members(json, "event").text("text");
}

ToolProgress read_tool_progress(const Json& json) {
  Members in(json, "progress");
  ToolProgress told{in.number("progress"), std::nullopt, in.text_if("message")};
  if (!json["total"].is_null()) told.total = in.number("total");
  return told;
}

std::optional<ToolCall> read_tool_call(const Json& json) {
  const Json& call = Members(json, "answer").at("call");
  if (call.is_null()) return std::nullopt;
  Members in(call, "call");
  return ToolCall{in.text("call_id"), in.text("tool"), in.text("session_id"), in.at("input"),
                  in.text("deadline_at")};
}

std::string read_version(const Json& json) {
  return Members(json, "answer").text("version");
}

Skill read_skill(const Json& json) {
  Members in(json, "skill");
  return {in.text("name"),   in.text("description"), in.text("digest"),
          in.text("source"), in.text_if("path"),     json};
}

int read_port(const Json& json) {
  if (!json.is_integer()) throw ProtocolError("a port of the answer is no number");
  return static_cast<int>(json.as_integer());
}

Json read_json(const Json& json) {
  return json;
}

const Json::Array& list_in(const Json& answer, const char* name) {
  const Json& list = answer[name];
  if (!list.is_array()) throw ProtocolError(fmt::format("the answer has no list '{}'", name));
  return list.items();
}

}  // namespace atl::client::detail

namespace atl::client {

std::string Result::text() const {
  auto found = data.find("text/plain");
  return found == data.end() ? std::string() : found->second;
}

std::string Execution::text() const {
  for (const Result& result : results) {
    if (result.is_main) return result.text();
  }
  return {};
}

const Execution& Execution::check() const {
  if (ok()) return *this;
  std::string why = error             ? fmt::format("{}: {}", error->name, error->value)
                    : !reason.empty() ? reason
                                      : fmt::format("exit code {}", exit_code);
  throw ExecutionFailedError(fmt::format("{}: {}", status, why), *this);
}

}  // namespace atl::client
