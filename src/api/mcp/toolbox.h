#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mcp/call.h"
#include "tools/schema.h"

// The tools that every client has, and those of the registry. Internal to the room.
namespace atl::api::mcp {

// What a tool says of itself beyond its description. Hints for whoever decides whether a model may call it.
struct Hints {
  bool read_only = false, destructive = false, idempotent = false, open_world = false;
};

using ToolHandler = Task<ToolReply> (*)(CallPtr call, bj::object arguments);

// One of the tools that come with the dialect. Immutable; made once.
struct OwnTool {
  std::string name, title, description;
  auth::PermissionSet needed;    // all of them
  bool makes_sandboxes = false;  // of no use to a key that is bound to sessions
  Hints hints;
  tools::Schema input, output;
  ToolHandler handler = nullptr;

  bool is_open_to(const auth::Principal& who) const;
  bj::object to_json() const;
};

// By name; built from the tables of own_tools.cc.
const std::vector<OwnTool>& own_tools();
const OwnTool* find_own_tool(std::string_view name);

// Every tool that the caller may call, own ones first, in a fixed order.
Task<bj::array> listed_tools(CallPtr call);
// The answer of tools/call. Arguments that a schema refuses, sandboxes that are gone, policies that deny: all
// of it is a result that a model reads. Only a tool that is not there is a fault.
Task<Reply> call_tool(CallPtr call);

// The id of the sandbox that a call is for: the one that its arguments name; without a name the one that its
// key is bound to, then the one of its connection; without any, a new one or an error, as `if_none` says.
enum class IfNone : std::uint8_t { make, refuse };
Task<std::string> sandbox_of(CallPtr call, const bj::object& arguments, IfNone if_none);

// The handlers, by file.
Task<ToolReply> sandbox_create(CallPtr call, bj::object arguments);
Task<ToolReply> sandbox_list(CallPtr call, bj::object arguments);
Task<ToolReply> sandbox_end(CallPtr call, bj::object arguments);
Task<ToolReply> sandbox_fork(CallPtr call, bj::object arguments);
Task<ToolReply> sandbox_snapshot(CallPtr call, bj::object arguments);
Task<ToolReply> run_code(CallPtr call, bj::object arguments);
Task<ToolReply> run_command(CallPtr call, bj::object arguments);
Task<ToolReply> command_start(CallPtr call, bj::object arguments);
Task<ToolReply> command_poll(CallPtr call, bj::object arguments);
Task<ToolReply> command_input(CallPtr call, bj::object arguments);
Task<ToolReply> command_stop(CallPtr call, bj::object arguments);
Task<ToolReply> read_file(CallPtr call, bj::object arguments);
Task<ToolReply> write_file(CallPtr call, bj::object arguments);
Task<ToolReply> edit_file(CallPtr call, bj::object arguments);
Task<ToolReply> list_files(CallPtr call, bj::object arguments);
Task<ToolReply> search_files(CallPtr call, bj::object arguments);

// Tools of the registry (registry_tools.cc). The second gives nothing if there is none of this name.
Task<bj::array> listed_registry_tools(CallPtr call);
Task<std::optional<ToolReply>> call_registry_tool(CallPtr call, std::string name, bj::object arguments);

// A line that says what a mismatch is about, for a model.
std::string mismatch_text(const tools::Mismatch& wrong);

}  // namespace atl::api::mcp
