#pragma once

#include <atomic>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "atoll/async.h"
#include "atoll/errors.h"
#include "atoll/json.h"
#include "atoll/models.h"
#include "atoll/options.h"
#include "atoll/streams.h"

/// @file
/// The client: creates and finds sessions, and speaks to them.
///
///     atl::client::SandboxClient client;                 // ATOLL_URL, ATOLL_API_KEY
///     atl::client::Session session = client.create();
///     session.execute("x = 6 * 7");
///     std::cout << session.execute("print(x)").stdout_text;   // 42: it remembers
///                                                        // the session ends here, unless kept
///
/// Every call has two forms: `x()` waits in the calling thread, `x_async()` gives an Async to be awaited in a
/// coroutine. Every object may be used by several threads at once, except FileReader, FileWriter, Watch,
/// Process and Terminal, whose reading belongs to one thread at a time. Failures are exceptions (errors.h).
namespace atl::client {

namespace detail {
class Engine;
class Exchange;
class EventSource;
struct SessionState;
struct ProcessState;
struct TerminalState;
}  // namespace detail

class Session;

/// Command words: one text is a line for the shell, several are a program and its arguments.
class CommandLine {
 public:
  CommandLine(std::string line) : value_(std::move(line)) {}
  CommandLine(const char* line) : value_(std::string(line)) {}
  CommandLine(std::vector<std::string> words) : value_(std::move(words)) {}
  Json json() const;

 private:
  std::variant<std::string, std::vector<std::string>> value_;
};

/// The content of a file, piece by piece. Destroying it before the end closes its connection.
class FileReader {
 public:
  explicit FileReader(std::shared_ptr<detail::Exchange> exchange) : exchange_(std::move(exchange)) {}
  /// The next piece, at most 64 KiB; empty at the end. ConnectionLostError if the file was cut short.
  std::string read(CallOptions call = {}) { return read_async(std::move(call)).get(); }
  Async<std::string> read_async(CallOptions call = {});

 private:
  std::shared_ptr<detail::Exchange> exchange_;
};

/// A file that is being written. Destroying it without finish() gives it up; what the service has by then may
/// be there.
class FileWriter {
 public:
  explicit FileWriter(std::shared_ptr<detail::Exchange> exchange) : exchange_(std::move(exchange)) {}
  /// Returns when the connection has taken the bytes.
  void write(std::string bytes, CallOptions call = {}) {
    write_async(std::move(bytes), std::move(call)).get();
  }
  Async<void> write_async(std::string bytes, CallOptions call = {});
  /// Ends the file. Only now it is known that it was written.
  FileInfo finish(CallOptions call = {}) { return finish_async(std::move(call)).get(); }
  Async<FileInfo> finish_async(CallOptions call = {});

 private:
  std::shared_ptr<detail::Exchange> exchange_;
};

/// Changes below a directory, from the moment it was made.
class Watch {
 public:
  explicit Watch(std::shared_ptr<detail::EventSource> source) : source_(std::move(source)) {}
  /// The next change; waits for it without an end unless `call` says otherwise. After RequestTimeoutError and
  /// CallCanceledError the watch is over.
  FileEvent next(CallOptions call = {}) { return next_async(std::move(call)).get(); }
  Async<FileEvent> next_async(CallOptions call = {});

 private:
  std::shared_ptr<detail::EventSource> source_;
};

/// Files of a session. Paths are absolute, as the sandbox sees them. `user` is a user of the sandbox.
class Files {
 public:
  explicit Files(std::shared_ptr<detail::SessionState> session) : session_(std::move(session)) {}

  /// The whole content. A directory is IsADirectoryError.
  std::string read(std::string path, CallOptions call = {}) {
    return read_async(std::move(path), std::move(call)).get();
  }
  Async<std::string> read_async(std::string path, CallOptions call = {});
  /// The bytes from `start` up to but not including `end`; fewer if the file is shorter.
  std::string read_range(std::string path, std::uint64_t start, std::uint64_t end, CallOptions call = {}) {
    return read_range_async(std::move(path), start, end, std::move(call)).get();
  }
  Async<std::string> read_range_async(std::string path, std::uint64_t start, std::uint64_t end,
                                      CallOptions call = {});
  /// The content piece by piece, for files that do not fit into memory. `call.stop` ends it as a whole.
  FileReader open_read(std::string path, CallOptions call = {}) {
    return open_read_async(std::move(path), std::move(call)).get();
  }
  Async<FileReader> open_read_async(std::string path, CallOptions call = {});
  /// Copies a file into a stream of this program; how many bytes there were.
  std::uint64_t read_to(std::string path, std::ostream& out, CallOptions call = {});

  /// Writes a whole file and its parent directories.
  FileInfo write(std::string path, std::string content, WriteOptions options = {}, CallOptions call = {}) {
    return write_async(std::move(path), std::move(content), std::move(options), std::move(call)).get();
  }
  Async<FileInfo> write_async(std::string path, std::string content, WriteOptions options = {},
                              CallOptions call = {});
  FileWriter open_write(std::string path, WriteOptions options = {}, CallOptions call = {}) {
    return open_write_async(std::move(path), std::move(options), std::move(call)).get();
  }
  Async<FileWriter> open_write_async(std::string path, WriteOptions options = {}, CallOptions call = {});
  /// Writes a file from a stream of this program.
  FileInfo write_from(std::string path, std::istream& in, WriteOptions options = {}, CallOptions call = {});

  /// The entries of a directory, down to `depth` levels. A file is NotADirectoryError.
  std::vector<FileInfo> list(std::string path, int depth = 1, CallOptions call = {}) {
    return list_async(std::move(path), depth, std::move(call)).get();
  }
  Async<std::vector<FileInfo>> list_async(std::string path, int depth = 1, CallOptions call = {});
  /// What its directory says of it; a link is told as a link. The root is InvalidArgumentError.
  FileInfo stat(std::string path, CallOptions call = {}) {
    return stat_async(std::move(path), std::move(call)).get();
  }
  Async<FileInfo> stat_async(std::string path, CallOptions call = {});
  bool exists(std::string path, CallOptions call = {}) {
    return exists_async(std::move(path), std::move(call)).get();
  }
  Async<bool> exists_async(std::string path, CallOptions call = {});

  enum class Tree : bool { no, yes };
  /// A file or an empty directory; with Tree::yes a directory with what is in it.
  void remove(std::string path, Tree tree = Tree::no, CallOptions call = {}) {
    remove_async(std::move(path), tree, std::move(call)).get();
  }
  Async<void> remove_async(std::string path, Tree tree = Tree::no, CallOptions call = {});
  /// Makes it and its parents.
  FileInfo make_directory(std::string path, CallOptions call = {}) {
    return make_directory_async(std::move(path), std::move(call)).get();
  }
  Async<FileInfo> make_directory_async(std::string path, CallOptions call = {});
  enum class Overwrite : bool { no, yes };
  FileInfo move(std::string from, std::string to, Overwrite overwrite = Overwrite::no,
                CallOptions call = {}) {
    return move_async(std::move(from), std::move(to), overwrite, std::move(call)).get();
  }
  Async<FileInfo> move_async(std::string from, std::string to, Overwrite overwrite = Overwrite::no,
                             CallOptions call = {});
  FileInfo copy(std::string from, std::string to, Overwrite overwrite = Overwrite::no,
                CallOptions call = {}) {
    return copy_async(std::move(from), std::move(to), overwrite, std::move(call)).get();
  }
  Async<FileInfo> copy_async(std::string from, std::string to, Overwrite overwrite = Overwrite::no,
                             CallOptions call = {});

  /// When it returns, the watch is set. With Tree::yes directories below are watched too.
  Watch watch(std::string path, Tree tree = Tree::no, CallOptions call = {}) {
    return watch_async(std::move(path), tree, std::move(call)).get();
  }
  Async<Watch> watch_async(std::string path, Tree tree = Tree::no, CallOptions call = {});

  /// A tree as tar, names relative to `path`, piece by piece.
  FileReader open_archive(std::string path, CallOptions call = {}) {
    return open_archive_async(std::move(path), std::move(call)).get();
  }
  Async<FileReader> open_archive_async(std::string path, CallOptions call = {});
  /// Unpacks a tar (plain, gzip, zstd) into a directory.
  Unpacked unpack(std::string path, std::string archive, CallOptions call = {}) {
    return unpack_async(std::move(path), std::move(archive), std::move(call)).get();
  }
  Async<Unpacked> unpack_async(std::string path, std::string archive, CallOptions call = {});

 private:
  std::shared_ptr<detail::SessionState> session_;
};

/// A process in the background. It goes on when this object is destroyed.
class Process {
 public:
  explicit Process(std::shared_ptr<detail::ProcessState> state) : state_(std::move(state)) {}

  int pid() const;
  /// Waits until it ends; all of its output that this object has read. Callbacks get output as it comes.
  Execution wait(TextCallback on_stdout = {}, TextCallback on_stderr = {}, CallOptions call = {});
  Async<Execution> wait_async(TextCallback on_stdout = {}, TextCallback on_stderr = {},
                              CallOptions call = {});
  void kill(CallOptions call = {}) { kill_async(std::move(call)).get(); }
  Async<void> kill_async(CallOptions call = {});
  void signal(std::string name = "TERM", CallOptions call = {}) {
    signal_async(std::move(name), std::move(call)).get();
  }
  Async<void> signal_async(std::string name = "TERM", CallOptions call = {});
  /// To its standard input; start it with keep_stdin.
  void write_stdin(std::string bytes, CallOptions call = {}) {
    write_stdin_async(std::move(bytes), std::move(call)).get();
  }
  Async<void> write_stdin_async(std::string bytes, CallOptions call = {});
  void close_stdin(CallOptions call = {}) { close_stdin_async(std::move(call)).get(); }
  Async<void> close_stdin_async(CallOptions call = {});

 private:
  std::shared_ptr<detail::ProcessState> state_;
};

/// Commands and processes of a session.
class Commands {
 public:
  explicit Commands(std::shared_ptr<detail::SessionState> session) : session_(std::move(session)) {}

  /// Runs it and waits. A non-zero exit is no exception (Execution::check() makes it one). With callbacks
  /// output comes as it is produced. Giving up (a stop token, an exception in a callback, the call's
  /// time-out) ends the command.
  Execution run(CommandLine command, CommandOptions options = {}, CallOptions call = {});
  Async<Execution> run_async(CommandLine command, CommandOptions options = {}, CallOptions call = {});
  /// Starts it in the background. A command that a policy denies is PolicyDeniedError.
  Process start(CommandLine command, CommandOptions options = {}, CallOptions call = {}) {
    return start_async(std::move(command), std::move(options), std::move(call)).get();
  }
  Async<Process> start_async(CommandLine command, CommandOptions options = {}, CallOptions call = {});
  std::vector<ProcessInfo> list(CallOptions call = {}) { return list_async(std::move(call)).get(); }
  Async<std::vector<ProcessInfo>> list_async(CallOptions call = {});
  /// The running process with this id; NotFoundError if there is none.
  Process connect(int pid, CallOptions call = {}) { return connect_async(pid, std::move(call)).get(); }
  Async<Process> connect_async(int pid, CallOptions call = {});

 private:
  std::shared_ptr<detail::SessionState> session_;
};

/// The stateful interpreters of a session.
class Contexts {
 public:
  explicit Contexts(std::shared_ptr<detail::SessionState> session) : session_(std::move(session)) {}

  Context create(std::string language, std::string cwd = {}, CallOptions call = {}) {
    return create_async(std::move(language), std::move(cwd), std::move(call)).get();
  }
  Async<Context> create_async(std::string language, std::string cwd = {}, CallOptions call = {});
  std::vector<Context> list(CallOptions call = {}) { return list_async(std::move(call)).get(); }
  Async<std::vector<Context>> list_async(CallOptions call = {});
  void remove(std::string id, CallOptions call = {}) { remove_async(std::move(id), std::move(call)).get(); }
  Async<void> remove_async(std::string id, CallOptions call = {});
  /// Starts it afresh under the same id.
  void restart(std::string id, CallOptions call = {}) { restart_async(std::move(id), std::move(call)).get(); }
  Async<void> restart_async(std::string id, CallOptions call = {});
  /// As Ctrl-C: what it runs ends with status interrupted or error.
  void interrupt(std::string id, CallOptions call = {}) {
    interrupt_async(std::move(id), std::move(call)).get();
  }
  Async<void> interrupt_async(std::string id, CallOptions call = {});

 private:
  std::shared_ptr<detail::SessionState> session_;
};

/// A shell on a terminal. One reader at a time; others may write meanwhile. Destroying it hangs the shell up,
/// unless it is kept (TerminalOptions::keep): then Session::terminal() comes back to it with pid() and
/// position().
class Terminal {
 public:
  explicit Terminal(std::shared_ptr<detail::TerminalState> state) : state_(std::move(state)) {}

  /// The next piece of output; empty when the shell has ended. A time-out or cancellation of `call` ends the
  /// terminal.
  std::string read(CallOptions call = {}) { return read_async(std::move(call)).get(); }
  Async<std::string> read_async(CallOptions call = {});
  /// Keys, as a person would type them: end a line with "\n".
  void send(std::string keys, CallOptions call = {}) { send_async(std::move(keys), std::move(call)).get(); }
  Async<void> send_async(std::string keys, CallOptions call = {});
  void resize(int columns, int rows, CallOptions call = {}) {
    resize_async(columns, rows, std::move(call)).get();
  }
  Async<void> resize_async(int columns, int rows, CallOptions call = {});
  /// How the shell ended; nothing before read() told so.
  std::optional<TerminalExit> exit() const;
  /// Of one that is kept, once read() has begun: its process, the number of the next byte of its output, and
  /// how many bytes the service no longer had when this object came back.
  std::int64_t pid() const;
  std::uint64_t position() const;
  std::uint64_t lost() const;

 private:
  std::shared_ptr<detail::TerminalState> state_;
};

/// What a fork gave: the sessions that came about, and why others did not.
struct Forks {
  std::vector<Session> sessions;
  std::vector<std::string> errors;
  Json raw;
};

/// A session: it owns a sandbox. It is ended when the object goes out of scope, also by an exception, unless
/// keep() was called; a destructor that cannot end it tells ClientOptions::on_left_behind.
class Session {
 public:
  explicit Session(std::shared_ptr<detail::SessionState> state);
  ~Session();
  Session(Session&& other) noexcept;
  Session& operator=(Session&& other) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& id() const;
  /// As of the last call that told it; refresh() asks again.
  SessionInfo info() const;
  std::string state() const { return info().state; }
  /// Leaving the scope does not end it: it goes on until its time to live is over.
  Session& keep();
  /// The address of a server inside that listens on this port.
  std::string port_url(int port) const;

  Commands commands() const { return Commands(state_); }
  Files files() const { return Files(state_); }
  Contexts contexts() const { return Contexts(state_); }

  /// Runs code in an interpreter that remembers. What the code did (an exception, a time-out, a policy's no)
  /// is the answer's status and no exception of this call. With callbacks output comes as it is produced.
  /// Giving up (a stop token, an exception in a callback, the call's time-out) ends the execution.
  Execution execute(std::string code, ExecuteOptions options = {}, CallOptions call = {});
  Async<Execution> execute_async(std::string code, ExecuteOptions options = {}, CallOptions call = {});

  SessionInfo refresh(CallOptions call = {}) { return refresh_async(std::move(call)).get(); }
  Async<SessionInfo> refresh_async(CallOptions call = {});
  SessionInfo update(UpdateOptions options, CallOptions call = {}) {
    return update_async(std::move(options), std::move(call)).get();
  }
  Async<SessionInfo> update_async(UpdateOptions options, CallOptions call = {});
  /// Ends it; harmless for one that has ended. Its record and history stay readable. With a sandbox's id the
  /// service refuses if the session has another.
  SessionInfo end(std::string sandbox_id = {}, CallOptions call = {}) {
    return end_async(std::move(sandbox_id), std::move(call)).get();
  }
  Async<SessionInfo> end_async(std::string sandbox_id = {}, CallOptions call = {});
  /// Freezes its processes in memory, or writes it to the disk and frees its memory.
  SessionInfo pause(PauseOptions options = {}, CallOptions call = {}) {
    return pause_async(std::move(options), std::move(call)).get();
  }
  Async<SessionInfo> pause_async(PauseOptions options = {}, CallOptions call = {});
  SessionInfo resume(std::optional<double> ttl_seconds = {}, CallOptions call = {}) {
    return resume_async(ttl_seconds, std::move(call)).get();
  }
  Async<SessionInfo> resume_async(std::optional<double> ttl_seconds = {}, CallOptions call = {});

  /// Stores its files; CreateOptions::snapshot and restore() bring them back.
  Snapshot snapshot(std::string name = {}, CallOptions call = {}) {
    return snapshot_async(std::move(name), std::move(call)).get();
  }
  Async<Snapshot> snapshot_async(std::string name = {}, CallOptions call = {});
  std::vector<Snapshot> snapshots(CallOptions call = {}) { return snapshots_async(std::move(call)).get(); }
  Async<std::vector<Snapshot>> snapshots_async(CallOptions call = {});
  SessionInfo restore(std::string snapshot_id, CallOptions call = {}) {
    return restore_async(std::move(snapshot_id), std::move(call)).get();
  }
  Async<SessionInfo> restore_async(std::string snapshot_id, CallOptions call = {});

  /// A new session with a copy of its files and of its idle Python interpreters; info().left_behind names
  /// what was not carried.
  Session fork(ForkOptions options = {}, CallOptions call = {}) {
    return fork_async(std::move(options), std::move(call)).get();
  }
  Async<Session> fork_async(ForkOptions options = {}, CallOptions call = {});
  /// options.count of them at once.
  Forks fork_many(ForkOptions options, CallOptions call = {}) {
    return fork_many_async(std::move(options), std::move(call)).get();
  }
  Async<Forks> fork_many_async(ForkOptions options, CallOptions call = {});

  std::vector<Record> history(HistoryOptions options = {}, CallOptions call = {}) {
    return history_async(std::move(options), std::move(call)).get();
  }
  Async<std::vector<Record>> history_async(HistoryOptions options = {}, CallOptions call = {});
  std::vector<Artifact> artifacts(CallOptions call = {}) { return artifacts_async(std::move(call)).get(); }
  Async<std::vector<Artifact>> artifacts_async(CallOptions call = {});
  /// What it uses now.
  Usage usage(CallOptions call = {}) { return usage_async(std::move(call)).get(); }
  Async<Usage> usage_async(CallOptions call = {});
  /// What it used over time.
  std::vector<Sample> metrics(CallOptions call = {}) { return metrics_async(std::move(call)).get(); }
  Async<std::vector<Sample>> metrics_async(CallOptions call = {});
  /// Ports on which something inside listens.
  std::vector<int> ports(CallOptions call = {}) { return ports_async(std::move(call)).get(); }
  Async<std::vector<int>> ports_async(CallOptions call = {});
  /// What programs inside may reach, and what they tried.
  Json network(CallOptions call = {}) { return network_async(std::move(call)).get(); }
  Async<Json> network_async(CallOptions call = {});
  /// Replaces the rules; connections that are no longer allowed are cut.
  Json set_network(Json rules, CallOptions call = {}) {
    return set_network_async(std::move(rules), std::move(call)).get();
  }
  Async<Json> set_network_async(Json rules, CallOptions call = {});

  /// Calls a tool inside the sandbox. Input that its schema refuses is InvalidArgumentError, a tool that the
  /// session's agent does not have PermissionDeniedError; what the tool itself does wrong is in the result.
  /// With callbacks it tells progress and output while it runs; giving up ends it.
  ToolResult tool(std::string name, Json input = Json::object(), ToolOptions options = {},
                  CallOptions call = {});
  Async<ToolResult> tool_async(std::string name, Json input = Json::object(), ToolOptions options = {},
                               CallOptions call = {});
  /// The tools that this session may call; `format` is openai, anthropic or mcp for a model's API.
  std::vector<Json> tools(std::string format = {}, CallOptions call = {}) {
    return tools_async(std::move(format), std::move(call)).get();
  }
  Async<std::vector<Json>> tools_async(std::string format = {}, CallOptions call = {});
  /// Skills that this session was given; in its working directory they are Skill::path.
  std::vector<Skill> skills(CallOptions call = {}) { return skills_async(std::move(call)).get(); }
  Async<std::vector<Skill>> skills_async(CallOptions call = {});
  /// The same as a text for a model: what each is for, and how its instructions are read.
  std::string skills_text(CallOptions call = {}) { return skills_text_async(std::move(call)).get(); }
  Async<std::string> skills_text_async(CallOptions call = {});

  Terminal terminal(TerminalOptions options = {}, CallOptions call = {}) {
    return terminal_async(std::move(options), std::move(call)).get();
  }
  Async<Terminal> terminal_async(TerminalOptions options = {}, CallOptions call = {});

 private:
  std::shared_ptr<detail::SessionState> state_;
  std::atomic<bool> kept_ = false;
};

/// Speaks to one service. A handle: copies share their connections and one thread, which end with the last of
/// them and of the sessions they gave.
class SandboxClient {
 public:
  /// ConfigurationError if the address or the key cannot be one. Nothing is sent yet.
  explicit SandboxClient(ClientOptions options = {});
  SandboxClient(std::string url, std::string api_key);

  const std::string& url() const;
  /// Ends every call under way with CallCanceledError. Sessions go on.
  void close();

  Session create(CreateOptions options = {}, CallOptions call = {}) {
    return create_async(std::move(options), std::move(call)).get();
  }
  Async<Session> create_async(CreateOptions options = {}, CallOptions call = {});
  /// An existing session, by its own or its sandbox's id. It ends with the object, unless kept.
  Session get(std::string id, CallOptions call = {}) {
    return get_async(std::move(id), std::move(call)).get();
  }
  Async<Session> get_async(std::string id, CallOptions call = {});
  /// As get(), but kept: a session that somebody else began. A paused one is resumed.
  Session connect(std::string id, CallOptions call = {}) {
    return connect_async(std::move(id), std::move(call)).get();
  }
  Async<Session> connect_async(std::string id, CallOptions call = {});
  /// Sessions of the key's tenant. Lists hold no secrets.
  std::vector<SessionInfo> list(ListOptions options = {}, CallOptions call = {}) {
    return list_async(std::move(options), std::move(call)).get();
  }
  Async<std::vector<SessionInfo>> list_async(ListOptions options = {}, CallOptions call = {});
  /// What was run in all sessions of the tenant.
  std::vector<Record> history(HistoryOptions options = {}, CallOptions call = {}) {
    return history_async(std::move(options), std::move(call)).get();
  }
  Async<std::vector<Record>> history_async(HistoryOptions options = {}, CallOptions call = {});
  std::vector<Snapshot> snapshots(CallOptions call = {}) { return snapshots_async(std::move(call)).get(); }
  Async<std::vector<Snapshot>> snapshots_async(CallOptions call = {});
  void remove_snapshot(std::string id, CallOptions call = {}) {
    remove_snapshot_async(std::move(id), std::move(call)).get();
  }
  Async<void> remove_snapshot_async(std::string id, CallOptions call = {});
  /// The bytes of an artifact.
  std::string artifact(std::string digest, CallOptions call = {}) {
    return artifact_async(std::move(digest), std::move(call)).get();
  }
  Async<std::string> artifact_async(std::string digest, CallOptions call = {});
  /// What a policy of the service says of code; nothing runs.
  Verdict validate(std::string code, std::string language = {}, std::string policy = {},
                   CallOptions call = {}) {
    return validate_async(std::move(code), std::move(language), std::move(policy), std::move(call)).get();
  }
  Async<Verdict> validate_async(std::string code, std::string language = {}, std::string policy = {},
                                CallOptions call = {});

  /// The tools that sessions can call; `format` is openai, anthropic or mcp for a model's API.
  std::vector<Json> tools(std::string format = {}, std::string search = {}, CallOptions call = {}) {
    return tools_async(std::move(format), std::move(search), std::move(call)).get();
  }
  Async<std::vector<Json>> tools_async(std::string format = {}, std::string search = {},
                                       CallOptions call = {});
  /// Declares a tool of the tenant's own, or replaces it. ToolBase::declaration() makes one.
  void put_tool(Json declaration, CallOptions call = {}) {
    put_tool_async(std::move(declaration), std::move(call)).get();
  }
  Async<void> put_tool_async(Json declaration, CallOptions call = {});
  void remove_tool(std::string name, CallOptions call = {}) {
    remove_tool_async(std::move(name), std::move(call)).get();
  }
  Async<void> remove_tool_async(std::string name, CallOptions call = {});

  /// Waits for a call of one of these tools, which are declared with `run: {client: true}`, and takes it:
  /// nobody else gets it. Nothing if none came within `wait`, at most a minute. ToolRegistry::serve() does
  /// this for a program.
  std::optional<ToolCall> next_tool_call(std::vector<std::string> tools, Milliseconds wait,
                                         CallOptions call = {}) {
    return next_tool_call_async(std::move(tools), wait, std::move(call)).get();
  }
  Async<std::optional<ToolCall>> next_tool_call_async(std::vector<std::string> tools, Milliseconds wait,
                                                      CallOptions call = {});
  /// Tells the caller how far a taken call is. NotFoundError: the caller has left, nobody waits any more.
  void tell_tool_progress(std::string call_id, ToolProgress progress, CallOptions call = {}) {
    tell_tool_progress_async(std::move(call_id), std::move(progress), std::move(call)).get();
  }
  Async<void> tell_tool_progress_async(std::string call_id, ToolProgress progress, CallOptions call = {});
  /// The end of a taken call: its output, or what went wrong. NotFoundError: the caller has left.
  void finish_tool_call(std::string call_id, Json output, CallOptions call = {}) {
    finish_tool_call_async(std::move(call_id), std::move(output), std::move(call)).get();
  }
  Async<void> finish_tool_call_async(std::string call_id, Json output, CallOptions call = {});
  void fail_tool_call(std::string call_id, std::string name, std::string value, CallOptions call = {}) {
    fail_tool_call_async(std::move(call_id), std::move(name), std::move(value), std::move(call)).get();
  }
  Async<void> fail_tool_call_async(std::string call_id, std::string name, std::string value,
                                   CallOptions call = {});

  /// Skills that the key may use.
  std::vector<Skill> skills(CallOptions call = {}) { return skills_async(std::move(call)).get(); }
  Async<std::vector<Skill>> skills_async(CallOptions call = {});
  /// The same as a text for a model: what each is for, and how its instructions are read.
  std::string skills_text(CallOptions call = {}) { return skills_text_async(std::move(call)).get(); }
  Async<std::string> skills_text_async(CallOptions call = {});
  /// Adds skills of the tenant's own from a tar archive or a git bundle.
  std::vector<Skill> add_skills(std::string archive, CallOptions call = {}) {
    return add_skills_async(std::move(archive), std::move(call)).get();
  }
  Async<std::vector<Skill>> add_skills_async(std::string archive, CallOptions call = {});
  void remove_skill(std::string name, CallOptions call = {}) {
    remove_skill_async(std::move(name), std::move(call)).get();
  }
  Async<void> remove_skill_async(std::string name, CallOptions call = {});
  /// The text of a prompt of the registry with these variables.
  std::string render_prompt(std::string name, Json variables = Json::object(), CallOptions call = {}) {
    return render_prompt_async(std::move(name), std::move(variables), std::move(call)).get();
  }
  Async<std::string> render_prompt_async(std::string name, Json variables = Json::object(),
                                         CallOptions call = {});

  /// Any call that answers with JSON: get_json("/api/capabilities").
  Json get_json(std::string path, Query query = {}, CallOptions call = {}) {
    return get_json_async(std::move(path), std::move(query), std::move(call)).get();
  }
  Async<Json> get_json_async(std::string path, Query query = {}, CallOptions call = {});
  /// What this machine gives, found out by trying.
  Json capabilities(CallOptions call = {}) { return capabilities_async(std::move(call)).get(); }
  Async<Json> capabilities_async(CallOptions call = {});
  /// Environments and agents of the registry, as the service describes them.
  std::vector<Json> environments(CallOptions call = {}) { return environments_async(std::move(call)).get(); }
  Async<std::vector<Json>> environments_async(CallOptions call = {});
  std::vector<Json> agents(CallOptions call = {}) { return agents_async(std::move(call)).get(); }
  Async<std::vector<Json>> agents_async(CallOptions call = {});
  std::string version(CallOptions call = {}) { return version_async(std::move(call)).get(); }
  Async<std::string> version_async(CallOptions call = {});
  /// Whether the service answers that it is up; false also where nobody answers.
  bool healthy(CallOptions call = {}) { return healthy_async(std::move(call)).get(); }
  Async<bool> healthy_async(CallOptions call = {});

  /// Any call of the service's description; a refusal is a ServiceError.
  Answer send(Request request, CallOptions call = {}) {
    return send_async(std::move(request), std::move(call)).get();
  }
  Async<Answer> send_async(Request request, CallOptions call = {});
  /// Any call whose request or answer is too large to hold, or is not over at once. Never repeated once it
  /// was sent.
  Transfer open(Request request, BodyForm form = BodyForm::whole, CallOptions call = {}) {
    return open_async(std::move(request), form, std::move(call)).get();
  }
  Async<Transfer> open_async(Request request, BodyForm form = BodyForm::whole, CallOptions call = {});
  /// Any call that the service answers with events.
  EventStream follow(Request request, CallOptions call = {}) {
    return follow_async(std::move(request), std::move(call)).get();
  }
  Async<EventStream> follow_async(Request request, CallOptions call = {});

 private:
  std::shared_ptr<detail::Engine> engine_;
};

}  // namespace atl::client

namespace atl {
using client::SandboxClient;
}  // namespace atl
