#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "egress/rules.h"
#include "registry/limits.h"
#include "sandbox/isolation.h"
#include "sandbox/kernel.h"
#include "sandbox/limits.h"
#include "sandbox/process.h"
#include "sandbox/spec.h"
#include "session/state.h"

namespace atl::session {

using TextMap = std::map<std::string, std::string>;

enum class OnExpiry : std::uint8_t { destroy, pause };
// audit: verdicts are recorded and never stop anything.
enum class PolicyMode : std::uint8_t { enforce, audit };

// Whether the data plane (files, processes, interpreters, environment) asks for the session's secret.
enum class DataPlane : std::uint8_t { secured, open };
// Whether ports of the sandbox ask for the session's traffic token.
enum class Ports : std::uint8_t { open, closed };

// What only a program on this machine may ask for (`atoll run`, embedding programs): no dialect that is
// spoken over a network fills it in. Unset: the environment's.
struct LocalRequest {
  std::vector<sandbox::HostMount> host_mounts;
  std::vector<std::string> required_walls;
  std::optional<std::vector<std::string>> layers;
  std::optional<std::string> hostname, user, working_directory;
  std::optional<bool> sudo;
};

struct CreateRequest {
  std::string provider;     // empty: the service's default
  std::string environment;  // empty: the service's default
  std::string agent;        // empty: none
  std::string policy;       // empty: the environment's
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
  TextMap metadata;    // the client's own words; listed and filtered by
  TextMap attributes;  // a dialect's own words; never shown by another dialect
  std::vector<std::string> skills;
  std::string snapshot;  // id of a snapshot to start from; empty: fresh
  // Whose snapshot that is: set by a dialect that knows that its owner shares it, never from a client's words.
  std::string snapshot_tenant;  // empty: the caller's own
  TextMap volumes;              // path inside to a volume's name or id: mounted there, for writing
  DataPlane data_plane = DataPlane::secured;
  Ports ports = Ports::open;  // closed by the service's option too
  LocalRequest local;
};

// What is known of one session, as a value.
struct Session {
  std::string session_id;
  std::string sandbox_id;  // stable for the session's life, whatever stands behind it
  std::string tenant;
  std::string key_id;  // the key that created it
  std::string provider, environment, agent, policy;
  PolicyMode policy_mode = PolicyMode::enforce;
  State state = State::creating;
  bool pausing = false;  // on its way to paused: what would begin now is refused, or waits and wakes it
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
  bool wall_time_set = false;  // somebody chose the wall time: it binds every language alike
  sandbox::Network network = sandbox::Network::none;
  egress::RuleTexts egress;  // in force in mode egress
  sandbox::Isolation isolation;
  TextMap env;
  TextMap metadata;
  TextMap attributes;
  // What opens this session without a key, each the session's own from its first moment to its end; a fork
  // has others. Empty in one whose creation is not finished: then nothing opens it.
  std::string secret;         // its data plane
  std::string traffic_token;  // its ports where they are closed, and the list of its interpreters
  DataPlane data_plane = DataPlane::secured;
  Ports ports = Ports::open;
  std::string parent;                    // session_id it was forked from, or empty
  std::string snapshot;                  // snapshot it was started from, or empty
  TextMap volumes;                       // path inside to the volume's name
  std::string hibernation;               // where its state lies while it is paused on disk, or empty
  std::uint64_t hibernation_bytes = 0;   // then: what it takes there
  std::optional<WallTime> hibernated_at;  // then: since when
  TextMap default_contexts;              // its default kernels' ids by language, whether or not they are alive
  std::vector<std::string> left_behind;  // what the last fork, pause or resume could not carry, by name
};

// In the attributes of a snapshot: it is a part of something else (a template's build), which removes it in
// its own time.
inline constexpr const char* kPartAttribute = "e2b.build";

// The reason of a pause or an end that somebody asked for, as against one that came by itself.
inline constexpr const char* kByRequest = "by request";

struct PauseRequest {
  bool on_disk = false;  // files and Python kernels are written down and the sandbox ends
  bool force = false;    // ... even if something cannot be carried; otherwise that is Code::conflict
  bool files_only = false;  // with on_disk: no kernel either, everything starts afresh
};

// Every member that is set is changed.
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
  bool files_only = false;               // kernels start afresh
  bool strict = false;                   // what cannot be carried is Code::conflict
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

// How an execution ended, in the words of the history.
enum class Status : std::uint8_t { admitted, success, error, denied, timeout, killed, oom, interrupted };
std::string_view to_string(Status status);
std::optional<Status> parse_status(std::string_view word);

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
  std::string kind;     // "execution" or "command"
  std::string type;     // python, javascript, typescript, shell
  std::string context;  // kernel id; empty for a fresh process
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
  std::vector<sandbox::ResultBundle> results;  // live only: not kept in the history
  std::uint64_t execution_count = 0;
  // Why the interpreter that ran it was a new one, without the variables of the one before. Told once; empty: it was not.
  std::string interpreter_restarted;
};

struct HistoryRequest {
  std::string id;  // session or sandbox; empty: all of the tenant
  std::vector<Status> statuses;
  std::optional<WallTime> from, to;
  std::string text;  // in code or output
  Order order = Order::newest_first;
  std::uint32_t limit = 100;
  std::string cursor;
};

struct ExecuteRequest {
  std::string code;
  std::optional<sandbox::Language> language;  // unset: the context's, else python (shell on virtual)
  std::string context;                        // kernel id; empty: the session's default one for the language
  std::optional<std::chrono::milliseconds> timeout;  // unset: the session's limit for the language
  bool stateless = false;                            // a fresh process instead of a kernel
  TextMap env;
};

struct CommandRequest {
  std::vector<std::string> argv;  // either this ...
  std::string shell;              // ... or a line for the shell; one of them is empty
  std::string cwd, user, tag;
  TextMap env;
  sandbox::Stdin stdin_mode = sandbox::Stdin::closed;
  std::optional<sandbox::PtySize> pty;
  std::optional<std::chrono::milliseconds> timeout;
  // Foreground commands have the session's wall time and output limit where `timeout` is unset; background
  // ones only what is asked for.
  bool background = false;
  sandbox::EndsWith ends_with = sandbox::EndsWith::output;
};

struct ProcessSelector {
  std::uint32_t pid = 0;  // 0: by tag
  std::string tag;
};

struct ContextRequest {
  sandbox::Language language = sandbox::Language::python;
  std::string cwd;  // empty: the working directory
};

// Replaces all of a session's network settings.
struct NetworkRequest {
  sandbox::Network mode = sandbox::Network::none;
  egress::RuleTexts rules;
};

// Attempts to get out that were decided alike.
struct NetworkDecision {
  std::string host;        // canonical; empty if what was asked for has no canonical form
  std::uint16_t port = 0;  // 53: a name was looked up
  bool allowed = false;
  std::string reason;
  std::uint64_t count = 0;
  WallTime first_at, last_at;
};

struct NetworkFacts {
  sandbox::Network mode = sandbox::Network::none;
  egress::RuleTexts rules;
  std::size_t open_connections = 0;
  std::vector<NetworkDecision> decisions;  // the latest first
  std::uint64_t forgotten = 0;             // kinds of decisions that made room for later ones
};

// One point of a session's metrics series.
struct Sample {
  WallTime at;
  double cpu_percent = 0;  // of one core
  sandbox::Usage usage;
};

}  // namespace atl::session
