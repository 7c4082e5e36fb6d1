#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "atoll/json.h"
#include "atoll/models.h"

/// @file
/// How a client is made, and what its calls can be told. A member that is unset leaves the choice to the
/// service.
namespace atl::client {

using Milliseconds = std::chrono::milliseconds;
using Query = std::vector<std::pair<std::string, std::string>>;

/// How to reach a service.
struct ClientOptions {
  std::string
      url;  ///< http://HOST:PORT, https://HOST or unix:/PATH; empty: ATOLL_URL, else http://127.0.0.1:8000
  std::string api_key;  ///< empty: ATOLL_API_KEY
  /// Bounds each call, its repetitions included; calls that wait for guest code have a time of their own.
  Milliseconds timeout{60'000};
  Milliseconds connect_timeout{10'000};
  /// How often a call is repeated that failed in passing: an idempotent one after a cut connection or a 429,
  /// 502, 503 or 504, any other only if it was never sent.
  int retries = 2;
  std::string ca_file;                          ///< PEM of authorities to trust instead of the system's
  std::uint64_t answer_bytes_max = 256U << 20;  ///< of an answer that is held in memory; files are streamed
  /// Where coroutines go on: gets a function to call. Unset: on the client's own thread.
  std::function<void(std::function<void()>)> resume;
  /// Told when a Session went out of scope and could not be ended: it goes on until its time to live is over.
  std::function<void(const std::string& session_id, const std::string& why)> on_left_behind;
};

/// For any one call.
struct CallOptions {
  std::optional<Milliseconds> timeout;  ///< instead of the usual one; zero: none
  std::stop_token stop;                 ///< when triggered, the call ends with CallCanceledError
};

/// One call as the service's description (sdk/openapi.yaml) has it.
struct Request {
  std::string method = "GET";
  std::string path;  ///< "/api/sessions", already escaped where it holds names (escape())
  Query query;       ///< escaped by the library
  std::string body;
  std::string content_type = "application/json";  ///< of a body that is not empty
  Variables headers;
  std::optional<bool> idempotent;  ///< unset: GET, HEAD, PUT and DELETE are
};

/// One answer as it came.
struct Answer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  /// The first header of that name, any case; empty if there is none.
  std::string header(std::string_view name) const;
  /// The body as JSON; ProtocolError if it is none.
  Json json() const;
};

/// A name as one part of a path, whatever is in it.
std::string escape(std::string_view name);

struct CreateOptions {
  std::optional<std::string> provider;     ///< one that capabilities() names, or auto
  std::vector<std::string> fallback;       ///< providers that will do, in this order
  std::optional<std::string> environment;  ///< one that environments() names
  std::optional<std::string> image;
  std::optional<std::string> agent;
  std::optional<std::string> policy;
  std::optional<std::string> storage;
  std::optional<std::string> snapshot;  ///< id of a snapshot to start from
  std::optional<double> ttl_seconds;
  std::optional<bool> extend_on_use;
  std::optional<std::string> on_expiry;  ///< destroy or pause
  std::optional<bool> auto_resume;
  std::optional<bool> public_ports;
  std::vector<std::string> required_walls;  ///< names of isolation.walls; refused where one cannot be had
  std::vector<std::string> skills;
  Variables metadata;
  Variables env;
  Json limits;   ///< object: memory_mb, cpu_cores, execution_time_seconds, ...; null: the environment's
  Json network;  ///< "none", "egress" or an object of rules; null: the environment's
};

struct UpdateOptions {
  std::optional<Variables> metadata;
  std::optional<double> ttl_seconds;
  std::optional<bool> extend_on_use;
  std::optional<std::string> on_expiry;
  std::optional<bool> auto_resume;
  std::optional<Variables> env;
};

struct ListOptions {
  std::vector<std::string> states;  ///< any of them
  std::optional<std::string> provider;
  std::optional<std::string> environment;
  std::optional<std::string> created_after;
  Variables metadata;
  std::string order = "asc";
  std::optional<std::size_t> limit;  ///< at most so many in all; unset: all
};

struct HistoryOptions {
  std::optional<std::string> session_id;  ///< for the client's history() only
  std::vector<std::string> statuses;
  std::optional<std::string> text;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::string order = "asc";
  std::optional<std::size_t> limit;
};

using TextCallback = std::function<void(std::string_view)>;

/// Callbacks run on the caller's thread in a blocking call, and where coroutines go on in the other form. An
/// exception in one gives the call up and ends what it runs.
struct ExecuteOptions {
  std::optional<std::string> language;
  std::optional<std::string> context;  ///< id of an interpreter; unset: the language's own
  std::optional<double> timeout_seconds;
  bool stateless = false;  ///< in an interpreter of its own
  Variables env;
  TextCallback on_stdout;
  TextCallback on_stderr;
  std::function<void(const Result&)> on_result;
};

struct CommandOptions {
  std::optional<std::string> cwd;
  Variables env;
  std::optional<std::string> input;  ///< standard input, as text; not for start()
  bool keep_stdin = false;           ///< start() only: standard input stays open for write_stdin()
  /// start() only: its output is kept for wait(), and a process that writes much waits until somebody reads.
  /// false for servers, whose wait() begins with what the service still has of their output.
  bool follow = true;
  std::optional<double> timeout_seconds;
  std::optional<std::string> user;
  std::optional<std::string> tag;
  TextCallback on_stdout;
  TextCallback on_stderr;
};

/// With callbacks a tool tells what happens while it runs, by the rules of ExecuteOptions.
struct ToolOptions {
  std::optional<double> timeout_seconds;
  std::function<void(const ToolProgress&)> on_progress;
  TextCallback on_stdout;
  TextCallback on_stderr;
};

struct ForkOptions {
  int count = 1;
  std::optional<std::string>
      kernels;  ///< carry (what can be), require (all or an error) or fresh (files only)
  Variables metadata;
  Variables env;
  std::optional<double> ttl_seconds;
};

struct PauseOptions {
  std::optional<std::string> to;  ///< memory or disk
  std::optional<bool> force;
};

struct WriteOptions {
  std::optional<std::uint32_t> mode;  ///< permissions, 0644
  bool append = false;
  std::optional<std::string> user;
};

struct TerminalOptions {
  int columns = 80;
  int rows = 24;
  std::optional<std::string> cwd;
  bool keep = false;                    ///< it goes on without a client; the last 256 KiB of output are kept
  std::optional<std::int64_t> process;  ///< come back to the kept one with this process id
  std::uint64_t from = 0;               ///< then: number of the first byte of output that is wanted
};

}  // namespace atl::client
