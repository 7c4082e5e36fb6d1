#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "atoll/json.h"

/// @file
/// What the service answers. `raw` holds every member of an answer, those of newer services too; times are
/// RFC 3339 texts in UTC.
namespace atl::client {

using Variables = std::map<std::string, std::string>;

/// What was consumed. Zero where the provider does not count it.
struct Usage {
  double cpu_seconds = 0;
  double wall_seconds = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_peak_bytes = 0;
  std::int64_t disk_bytes = 0;
  std::int64_t processes = 0;
  std::int64_t output_bytes = 0;
  Json raw;
};

/// One measurement over time.
struct Sample {
  std::string at;
  double cpu_percent = 0;
  Usage usage;
};

/// One reason of a verdict.
struct Finding {
  std::string rule;
  std::string severity;
  std::string message;
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string excerpt;
  std::string recommendation;
};

/// What a policy says of one piece of code.
struct Verdict {
  bool allowed = false;
  std::string language;
  std::string policy;
  std::string risk;  ///< "none" up to "critical"
  std::int64_t risk_score = 0;
  std::vector<Finding> findings;
  std::vector<Finding> notes;
  std::vector<std::string> imports;
  Json raw;
};

/// The exception that guest code raised.
struct GuestError {
  std::string name;
  std::string value;
  std::string traceback;
};

/// A value that code showed: its forms by media type.
struct Result {
  std::map<std::string, std::string> data;
  bool is_main = false;  ///< the value of the last expression
  /// The form text/plain; empty if there is none.
  std::string text() const;
};

/// A file that a session made in its output directory, or a long output.
struct Artifact {
  std::string path;
  std::string digest;
  std::int64_t size_bytes = 0;
  std::string media_type;
  std::string created_at;
  std::string record_id;
  std::string url;
};

/// How code or a command ended.
struct Execution {
  std::string status;  ///< success, error, denied, timeout, killed, oom or interrupted
  std::string stdout_text;
  std::string stderr_text;
  int exit_code = 0;
  std::vector<Result> results;
  std::optional<GuestError> error;  ///< the exception that code raised; none for commands
  std::string reason;               ///< why, where the status does not say all
  std::string language;
  std::string context;  ///< the interpreter it ran in; empty: none that stays
  double duration_ms = 0;
  std::string
      record_id;  ///< empty for a command whose output was streamed: the service does not tell it there
  std::string session_id;
  Usage usage;
  std::optional<Verdict> verdict;
  std::vector<Artifact> artifacts;
  bool stdout_truncated = false;
  bool stderr_truncated = false;
  std::int64_t execution_count = 0;
  /// Why the interpreter was a new one without the variables of the one before; told once.
  std::string interpreter_restarted;
  Json raw;  ///< the whole answer; of a streamed command its last event

  bool ok() const { return status == "success"; }
  /// The value of the last expression as text; empty if there is none.
  std::string text() const;
  /// Itself if it succeeded, else throws ExecutionFailedError.
  const Execution& check() const;
};

/// One line of history.
struct Record {
  std::string record_id;
  std::string session_id;
  std::string timestamp;
  std::string finished_at;  ///< empty while it runs
  std::string kind;
  std::string type;
  std::string code;
  std::string status;
  std::string stdout_text;
  std::string stderr_text;
  std::optional<GuestError> error;
  int exit_code = 0;
  Json raw;
};

/// The service's record of a session, as of when it was asked.
struct SessionInfo {
  std::string session_id;
  std::string sandbox_id;
  std::string provider;
  std::string environment;
  std::string agent;
  std::string policy;
  std::string url;    ///< of its ports; "{port}" stands for the number
  std::string state;  ///< creating, running, paused, stopping, stopped, failed or lost
  std::string reason;
  std::string created_at;
  std::string expires_at;
  std::string ended_at;
  double ttl_seconds = 0;
  Variables metadata;
  std::string parent;
  std::string snapshot;
  bool on_disk = false;
  std::vector<std::string> left_behind;  ///< what the last fork, pause or resume could not carry
  std::string access_token;              ///< secrets of the session; empty in lists
  std::string traffic_token;
  Json raw;  ///< with limits, isolation and the rest
};

/// The stored files of a session.
struct Snapshot {
  std::string snapshot_id;
  std::string name;
  std::string session_id;
  std::string provider;
  std::string environment;
  std::string created_at;
  std::int64_t size_bytes = 0;
  Json raw;
};

/// A stateful interpreter inside a session.
struct Context {
  std::string id;
  std::string language;
  std::string cwd;
};

/// A process that runs inside a session.
struct ProcessInfo {
  int pid = 0;
  std::string tag;
  std::vector<std::string> argv;
  std::string cwd;
  std::string user;
  bool pty = false;
  std::string started_at;
};

/// An entry of a directory.
struct FileInfo {
  std::string name;
  std::string path;
  std::string type;  ///< file, directory, symlink, other or unknown
  std::int64_t size = 0;
  std::string mode;  ///< octal
  std::string owner;
  std::string group;
  std::string modified_at;
  std::string target;  ///< a link's
  Json raw;
};

/// How an archive was unpacked; links, devices and names that climb are skipped and counted.
struct Unpacked {
  std::string path;
  std::int64_t files = 0;
  std::int64_t directories = 0;
  std::int64_t skipped = 0;
};

/// A change below a watched directory.
struct FileEvent {
  std::string type;  ///< create, write, remove, rename or chmod
  std::string name;
};

/// How the shell of a terminal ended.
struct TerminalExit {
  std::string ending;
  int exit_code = 0;
  std::string reason;
};

/// What a tool answered. `output` is null unless `status` is success.
struct ToolResult {
  std::string status;  ///< success, error, denied, timeout, killed or oom
  Json output;
  std::string record_id;
  Json error;  ///< null, or name, value and stderr
  bool cached = false;
  double duration_ms = 0;
  Json raw;
  bool ok() const { return status == "success"; }
};

/// How far a running tool is: `progress` of `total`, if it knows how much there is.
struct ToolProgress {
  double progress = 0;
  std::optional<double> total;
  std::string message;
};

/// A call of a tool that this program has taken and will answer (SandboxClient::next_tool_call).
struct ToolCall {
  std::string call_id;
  std::string tool;
  std::string session_id;
  Json input;  ///< it fits the tool's schema
  std::string deadline_at;
};

/// A skill that sessions may use.
struct Skill {
  std::string name;
  std::string description;
  std::string digest;
  std::string source;  ///< shipped, directory or tenant
  std::string path;    ///< in the working directory of the session that was asked; else empty
  Json raw;
};

/// A part of a longer list.
template <class T>
struct Page {
  std::vector<T> entries;
  std::string next_cursor;  ///< empty: this was the last page
};

}  // namespace atl::client
