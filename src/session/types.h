#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/trace.h"
#include "egress/rules.h"
#include "os/task.h"
#include "registry/limits.h"
#include "sandbox/interpreter.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/process.h"
#include "sandbox/spec.h"
#include "session/state.h"

// What goes into the session service and what comes out of it, as values. Everything here is owned by whoever
// holds it, may be copied, and refers to nothing that lives elsewhere; any thread may read it. Nothing here
// checks itself: the service checks a request when it is made and answers with an Error that names the field.
// Texts of requests come from clients and are not trusted; texts of answers are for clients and hold no
// secrets, but for the two members of Session that say so.
namespace atl::session {

using TextMap = std::map<std::string, std::string>;

// Code::too_large with the field if a map of a request has too many entries or bytes to be kept.
Result<void> check_map(const TextMap& map, std::string_view field);
// The same for variables, and Code::invalid_argument for a name that is empty or has '=', and for NUL bytes.
Result<void> check_env(const TextMap& env);

// What happens to a session at the end of its time to live, and when it is idle for too long.
enum class OnExpiry : std::uint8_t { destroy, pause };
// enforce: code that the policy denies does not run. audit: verdicts are only recorded.
enum class PolicyMode : std::uint8_t { enforce, audit };

// Whether a client without a key must show the session's secret to reach its data plane: files,
// processes, interpreters, environment variables.
enum class DataPlane : std::uint8_t { secured, open };
// Whether a client must show the session's traffic token to reach ports of its sandbox.
enum class Ports : std::uint8_t { open, closed };

// What only a program on this machine may ask for (`atoll run`, embedding programs). Dialects that are spoken
// over a network leave it empty, because it names directories and users of the host. Unset members: as the
// environment says.
struct LocalRequest {
  std::vector<sandbox::HostMount> host_mounts;
  std::optional<std::vector<std::string>> layers;
  std::optional<std::string> hostname, user, working_directory;
  std::optional<bool> sudo;
};

// A new session. A member that is left as it is leaves the choice to the agent, then to the environment, then
// to the service's options.
struct CreateRequest {
  std::string provider;               // empty: the service's default; "auto": chosen by the registry's rules
  std::vector<std::string> fallback;  // providers that will do, in this order, where `provider` does not work
  std::string environment;            // empty: the service's default
  // The reference of an image to start from. Without a provider it means docker; without an environment,
  // policy, limits and language are the defaults.
  std::string image;
  std::string agent;   // empty: none
  std::string policy;  // empty: the environment's
  PolicyMode policy_mode = PolicyMode::enforce;
  registry::LimitsPatch limits;                  // over the environment's
  std::optional<sandbox::Network> network;       // unset: the environment's
  egress::RuleTexts egress;                      // what may be reached in mode egress; nothing if empty
  bool network_if_possible = false;              // a provider without the trait gives none
  std::optional<std::chrono::milliseconds> ttl;  // unset: the service's default
  bool extend_on_use = false;                    // every call moves the end to now + ttl
  OnExpiry on_expiry = OnExpiry::destroy;
  bool auto_resume = false;  // a call that needs the sandbox wakes a paused one
  TextMap env;
  TextMap metadata;                 // of the client; sessions can be listed by it
  TextMap attributes;               // of the dialect that made the session; other dialects do not show them
  std::vector<std::string> skills;  // names, NAME@DIGEST, or "*"; over the agent's
  // Names of Isolation::walls without which there is to be no sandbox, now or when it is started again.
  std::vector<std::string> required_walls;
  std::string storage;   // where the files of the working directory are kept; empty: the agent's
  std::string snapshot;  // id of a snapshot to start from; empty: fresh
  // The tenant that owns that snapshot. A dialect sets it if it knows that the owner shares the snapshot; it
  // never comes from a client's request.
  std::string snapshot_tenant;  // empty: the caller's own
  TextMap volumes;              // path inside to a volume's name or id: mounted there, for writing
  DataPlane data_plane = DataPlane::secured;
  Ports ports = Ports::open;  // closed by the service's option too
  LocalRequest local;
};

// A skill that a session was given.
struct SkillUse {
  std::string name;
  std::string digest;   // of its contents when the session was made
  bool pinned = false;  // it stays so; otherwise it follows its source where the sandbox is shown the source

  bool operator==(const SkillUse&) const = default;
};
// How the sandbox has its skills: the directories themselves, read-only, or copies.
enum class SkillView : std::uint8_t { none, link, copy };
constexpr std::string_view to_string(SkillView view) {
  return view == SkillView::link ? "link" : view == SkillView::copy ? "copy" : "none";
}

// What is known of one session at the moment of the call. A copy: it does not follow what happens to the
// session later.
struct Session {
  std::string session_id;
  std::string sandbox_id;  // the same for the session's whole life, however often its sandbox is replaced
  std::string tenant;
  std::string key_id;  // the key that created it
  std::string provider, environment, agent, policy;
  std::string image;            // reference of the image it was made from; empty: it was made from none
  std::string provider_reason;  // why this provider, where a rule or a fallback chose it; else empty
  PolicyMode policy_mode = PolicyMode::enforce;
  State state = State::creating;
  // A pause is under way. Calls that need the sandbox are refused meanwhile, or, with auto_resume, wait and
  // resume it.
  bool pausing = false;
  std::string reason;  // why it is in this state; empty for running
  WallTime created_at;
  WallTime last_used_at;
  std::optional<WallTime> expires_at;  // unset while paused: paused time does not count
  std::optional<WallTime> ended_at;
  std::chrono::milliseconds ttl{0};
  bool extend_on_use = false;
  OnExpiry on_expiry = OnExpiry::destroy;
  bool auto_resume = false;
  sandbox::Limits limits;
  // The request, the agent or the environment chose the wall time, which then binds every language. Otherwise
  // each language has its own from the registry.
  bool wall_time_set = false;
  sandbox::Network network = sandbox::Network::none;
  egress::RuleTexts egress;  // in force in mode egress
  sandbox::Isolation isolation;
  std::vector<std::string> required_walls;  // it has these, or it is not there
  TextMap env;
  TextMap metadata;
  TextMap attributes;
  // Secrets that stand for a key, for this session only. They stay the same for its whole life; a fork has
  // its own. Empty while the session is created: then nothing but a key opens it. Dialects show them only to
  // the session's owner.
  std::string secret;         // for its data plane
  std::string traffic_token;  // for its ports where they are closed, and the list of its interpreters
  DataPlane data_plane = DataPlane::secured;
  Ports ports = Ports::open;
  std::string parent;    // session_id it was forked from, or empty
  std::string snapshot;  // snapshot it was started from, or empty
  TextMap volumes;       // path inside to the volume's name
  // What its agent names, and what was asked for over that. Tools bind where they are set: the session calls
  // these and no others (check_tool()).
  std::optional<std::vector<std::string>> tools;
  std::vector<SkillUse> skills;
  SkillView skill_view = SkillView::none;
  std::string prompt, storage;
  // The version of the registry it was made by: its policies stay those, as long as that version is kept.
  // Zero after a start of the service: the newest.
  std::uint64_t registry_version = 0;
  std::string hibernation;                // name of its saved state while it is paused on the disk, or empty
  std::uint64_t hibernation_bytes = 0;    // of that state
  std::optional<WallTime> hibernated_at;  // since when it is there
  TextMap default_contexts;  // ids of its default interpreters by language, also of those that are gone
  std::vector<std::string> left_behind;  // what the last fork, pause or resume could not carry, by name
};

// Code::permission_denied with the tools that the session has, if its agent keeps it from calling this one.
Result<void> check_tool(const Session& session, std::string_view name);

// The attribute of snapshots that belong to something else, such as the build of a template. Housekeeping
// does not remove them; their owner does.
inline constexpr const char* kPartAttribute = "e2b.build";

// The reason of a pause or an end that somebody asked for begins with this; others came by themselves.
inline constexpr const char* kByRequest = "by request";
// True if the session is in its state because somebody asked for it.
inline bool was_requested(const Session& session) {
  return session.reason.starts_with(kByRequest);
}

struct PauseRequest {
  // False: the processes are frozen and stay in memory. True: files and Python interpreters are written to
  // the disk and the sandbox ends.
  bool on_disk = false;
  // With on_disk, if something cannot be written (another process, an interpreter of another language): true
  // gives it up, false makes the call fail with Code::conflict.
  bool force = false;
  bool files_only = false;  // with on_disk: only files, all interpreters start afresh
};

// Changes to a session: members that are set replace what it has.
struct UpdateRequest {
  std::optional<TextMap> metadata;               // replaces
  std::optional<TextMap> attributes;             // replaces
  std::optional<TextMap> env;                    // replaces; for processes started afterwards
  std::optional<std::chrono::milliseconds> ttl;  // the end becomes now + ttl
  bool extend_only = false;                      // ... but never earlier than it is
  std::optional<bool> extend_on_use;
  std::optional<OnExpiry> on_expiry;
  std::optional<bool> auto_resume;
};

struct ForkRequest {
  std::vector<UpdateRequest> copies{1};  // one new session for each
  bool files_only = false;               // interpreters start afresh
  bool strict = false;                   // if something cannot be carried, fail with Code::conflict
};

enum class Order : std::uint8_t { newest_first, oldest_first };

struct ListRequest {
  std::vector<State> states;              // empty: all
  TextMap metadata;                       // all must match
  TextMap attributes;                     // all must match
  std::string provider, environment;      // empty: all
  std::optional<WallTime> created_after;  // inclusive
  Order order = Order::newest_first;
  std::uint32_t limit = 100;  // 1..1000
  std::string cursor;         // of the page before; empty: from the start
};

template <class T>
struct Page {
  std::vector<T> items;
  std::string next_cursor;  // empty: the last page
};

struct Snapshot {
  std::string snapshot_id;  // "snp_..."
  std::string tenant;
  std::string name;        // may be empty
  std::string session_id;  // it was taken of
  std::string sandbox_id;
  std::string provider, environment;
  WallTime created_at;
  std::uint64_t size_bytes = 0;
  TextMap attributes;
  std::string cursor = {};  // leads to what follows it in a list; empty outside of lists
};

// How an execution stands or ended. The words of to_string() are the API's and the store's.
enum class Status : std::uint8_t { admitted, success, error, denied, timeout, killed, oom, interrupted };
std::string_view to_string(Status status);
std::optional<Status> parse_status(std::string_view word);

// A file that an execution left in the output directory, or output that was too long for its record.
struct Artifact {
  std::string digest;  // sha256, 64 hex digits: its name in the artifact store
  std::string path;    // inside the sandbox, or "stdout"/"stderr" for kept output
  std::string media_type;
  std::uint64_t size_bytes = 0;
  WallTime created_at;
  std::string record_id;
};

// One line of history: what was asked, by whom, what the policy said, how it ended and what it used.
struct ExecutionRecord {
  std::string record_id;
  std::string session_id, sandbox_id, tenant, key_id;
  std::string kind;     // "execution", "command" or "tool"
  std::string type;     // python, javascript, typescript, shell; the name of a tool
  std::string context;  // id of the interpreter; empty for a fresh process
  std::string code;
  Status status = Status::admitted;
  WallTime admitted_at;
  std::optional<WallTime> finished_at;
  std::string out, err;  // cut at the record's limit
  bool out_truncated = false, err_truncated = false;
  std::string error, error_value, traceback;
  int exit_code = 0;
  std::string reason;  // which limit, who killed it
  sandbox::Usage usage;
  std::string verdict;  // JSON text; empty when no policy was asked
  std::vector<Artifact> artifacts;
  std::vector<sandbox::ResultBundle> results;  // only while it runs: the history does not keep them
  std::uint64_t execution_count = 0;
  // Of a tool's call: JSON with the digests of its input and output and the records of what it ran.
  std::string tool;
  // Set if the interpreter was a new one, without the variables of the one before: the reason. Only the first
  // execution in a new interpreter has it.
  std::string interpreter_restarted;
  trace::Context trace = {};  // of the request that asked for it; only while it runs
};

// Which records of the history to list.
struct HistoryRequest {
  std::string id;  // session or sandbox; empty: all of the tenant
  std::vector<Status> statuses;
  std::optional<WallTime> from, to;
  std::string text;  // in code or output
  Order order = Order::newest_first;
  std::uint32_t limit = 100;
  std::string cursor;
};

// Told of each piece of output as it comes, in order. What it waits for holds the program back; an Error of
// it ends the call as if the caller had left.
using OutputWatcher = std::function<Task<void>(sandbox::Output)>;

// One piece of code to run.
struct ExecuteRequest {
  std::string code;
  std::optional<sandbox::Language> language;  // unset: the context's, else python (shell on virtual)
  std::string context;  // id of an interpreter; empty: the session's default one for the language
  std::optional<std::chrono::milliseconds> timeout;  // unset: the session's limit for the language
  bool stateless = false;                            // in a fresh process instead of an interpreter
  TextMap env;
  OutputWatcher watch = {};  // of run(), which collects; may be empty
};

// One command to run. Exactly one of `argv` and `shell` is not empty.
struct CommandRequest {
  std::vector<std::string> argv;  // a program and its arguments
  std::string shell;              // a line for the shell
  std::string cwd, user, tag;
  TextMap env;
  sandbox::Stdin stdin_mode = sandbox::Stdin::closed;
  std::optional<sandbox::PtySize> pty;
  std::optional<std::chrono::milliseconds> timeout;
  // A foreground command is bound by the session's wall time, if `timeout` is unset, and by its limits of CPU
  // time and output. A background command is bound only by `timeout`.
  bool background = false;
  sandbox::EndsWith ends_with = sandbox::EndsWith::output;
  OutputWatcher watch = {};  // of run_command(), which collects; may be empty
};

// A call of a tool, before it is made.
struct ToolCall {
  std::string name;
  std::string input;  // JSON; the history keeps as much as of code
};

// One process of a session: by its number, or if that is 0 by its tag.
struct ProcessSelector {
  std::uint32_t pid = 0;
  std::string tag;
};

// A new interpreter of the caller's own.
struct ContextRequest {
  sandbox::Language language = sandbox::Language::python;
  std::string cwd;  // empty: the working directory
};

// Replaces all of a session's network settings.
struct NetworkRequest {
  sandbox::Network mode = sandbox::Network::none;
  egress::RuleTexts rules;
};

// Attempts to reach one destination that were all decided in the same way.
struct NetworkDecision {
  std::string host;        // in canonical form; empty if the request had none
  std::uint16_t port = 0;  // 53: only the name was looked up
  bool allowed = false;
  std::string reason;
  std::uint64_t count = 0;
  WallTime first_at, last_at;
};

// The network settings of a session, and what its programs tried to reach.
struct NetworkFacts {
  sandbox::Network mode = sandbox::Network::none;
  egress::RuleTexts rules;
  std::size_t open_connections = 0;
  std::vector<NetworkDecision> decisions;  // the latest first
  std::uint64_t forgotten = 0;             // decisions that later ones pushed out of the list
};

// One point of a session's metrics series.
struct Sample {
  WallTime at;
  double cpu_percent = 0;  // of one core
  sandbox::Usage usage;
};

}  // namespace atl::session
