#pragma once

#include <memory>
#include <string>

#include "api/mcp/background_commands.h"
#include "api/mcp/connection.h"
#include "api/mcp/log_level.h"
#include "api/mcp/mcp.h"
#include "api/mcp/message.h"
#include "api/mcp/outbox.h"
#include "api/mcp/revision.h"
#include "api/mcp/turns.h"
#include "base/ids.h"

// What the methods of this room share. Internal to the room.
namespace atl::api::mcp {

// What all connections and calls share. Calls hold it, because one may run on after the Server is gone.
struct Shared {
  Dependencies parts;
  BackgroundCommands commands;
  std::shared_ptr<Turns> turns;  // of calls that start a process, by sandbox
  std::string state_key;         // signs what clients carry for us from one request to the next
  std::uint64_t fixture_changes = 0;

  explicit Shared(Dependencies dependencies)
      : parts(std::move(dependencies)),
        commands(parts.executor),
        turns(std::make_shared<Turns>(parts.executor)),
        state_key(random_hex(32)) {}
};

// One request on its way through a method. Shared by the method's coroutine and by the delivery of its
// answer, either of which may end first. Belongs to the loop thread.
class Call {
 public:
  std::shared_ptr<Shared> shared;
  auth::Principal who;
  Revision revision = Revision::november_2025;
  bj::value id;
  std::string method;
  bj::object params;
  std::shared_ptr<Connection> connection;  // null in 2026-07-28
  std::shared_ptr<Outbox> outbox;

  const Dependencies& parts() const { return shared->parts; }
  session::Service& service() const { return *shared->parts.service; }
  const bj::object& meta() const;

  // Sends the client a notification of progress, if it asked for them. `done` must grow from call to call.
  void progress(double done, std::optional<double> total, std::string message);
  bool wants_progress() const;
  // Sends the client a log message, if it asked for messages of this level.
  void log(LogLevel level, std::string message, bj::object data = {});
  // Whether the client said that it has the capability ("elicitation").
  bool client_has(std::string_view capability) const;
  std::string client() const;

  // State that a client carries from one request to the next, signed so that it cannot be changed.
  // unsealed() gives it back, or Code::invalid_argument if this service did not write it.
  std::string sealed(const bj::value& state) const;
  Result<bj::value> unsealed(std::string_view text) const;
};

using CallPtr = std::shared_ptr<Call>;

// What a tool gives back.
struct ToolReply {
  bj::array content;
  std::optional<bj::object> structured;
  bool is_error = false;
  std::optional<Code> code;  // of the Error that it tells of: for programs, as `_meta` "atoll/error"

  void add_text(std::string_view text);
  bj::object to_json() const;
  // A result that a model reads and acts on.
  static ToolReply error(std::string_view message);
  // The same for an Error, with what can be done about it.
  static ToolReply error(const Error& error);
};

// The part of a text that a model is shown: its beginning and its end.
struct Shown {
  std::string text;
  bool truncated = false;
};
inline constexpr std::size_t kShownBytes = 32U << 10;

// Why a policy refused, and what would not be refused.
std::string denial_text(const std::string& policy, const session::ExecutionRecord& record);

}  // namespace atl::api::mcp
