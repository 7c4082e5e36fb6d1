// tools/list and tools/call.
#include <fmt/format.h>

#include <boost/asio/this_coro.hpp>

#include "api/mcp/fixtures.h"
#include "api/mcp/toolbox.h"
#include "auth/denial.h"

namespace atl::api::mcp {
namespace {

std::string lacking(const OwnTool& tool, const auth::Principal& who) {
  const auth::PermissionSet missing = tool.needed - who.permissions;
  if (missing.empty())
    return fmt::format("This key is bound to sandboxes that exist: '{}' would make others.", tool.name);
  return fmt::format("This key may not call '{}': it lacks the permission {}. Another key is needed.",
                     tool.name, to_string(missing.first()));
}

Task<ToolReply> run_own(CallPtr call, const OwnTool& tool, bj::object arguments) {
  if (!tool.is_open_to(call->who)) co_return ToolReply::error(lacking(tool, call->who));
  CO_TRY(const auto wrong, tool.input.check(arguments));
  if (wrong) co_return ToolReply::error(mismatch_text(*wrong));
  co_return co_await tool.handler(call, std::move(arguments));
}

}  // namespace

std::string mismatch_text(const tools::Mismatch& wrong) {
  std::string name = wrong.pointer;
  if (name.starts_with('/')) name.erase(0, 1);
  return name.empty()
             ? fmt::format("The arguments do not fit the tool's schema: they {}.", wrong.message)
             : fmt::format("The arguments do not fit the tool's schema: '{}' {}.", name, wrong.message);
}

Task<bj::array> listed_tools(CallPtr call) {
  bj::array list;
  for (const OwnTool& tool : own_tools())
    if (tool.is_open_to(call->who)) list.push_back(tool.to_json());
  CO_TRY(bj::array declared, co_await listed_registry_tools(call));
  for (bj::value& tool : declared) list.push_back(std::move(tool));
  append_fixture_tools(*call, list);
  co_return list;
}

Task<Reply> call_tool(CallPtr call) {
  const bj::value* name = call->params.if_contains("name");
  if (name == nullptr || !name->is_string())
    co_return Reply(Fault{kInvalidParams, "'name' is the name of a tool", nullptr, 200});
  const std::string word(name->get_string());
  bj::object arguments;
  // Taken out: a call may last for hours, and its arguments may be large.
  if (bj::value* given = call->params.if_contains("arguments"); given != nullptr && !given->is_null()) {
    if (!given->is_object()) {
      const ToolReply refused =
          ToolReply::error("The arguments do not fit the tool's schema: they must be an object.");
      co_return Reply(refused.to_json());
    }
    arguments = std::move(given->get_object());
  }
  if (call->parts().fixtures == Fixtures::on)
    if (auto reply = co_await call_fixture_tool(call, word, arguments)) co_return std::move(*reply);
  if (const OwnTool* tool = find_own_tool(word)) {
    auto reply = co_await run_own(call, *tool, std::move(arguments));
    if (!reply && reply.error().code() == Code::canceled) co_return fail(reply.error());
    co_return Reply(reply ? reply->to_json() : ToolReply::error(reply.error()).to_json());
  }
  auto reply = co_await call_registry_tool(call, word, std::move(arguments));
  if (!reply && reply.error().code() == Code::canceled) co_return fail(reply.error());
  if (!reply) co_return Reply(ToolReply::error(reply.error()).to_json());
  if (!*reply)
    co_return Reply(Fault{kInvalidParams,
                          fmt::format("no tool is called '{}': tools/list names them", word.substr(0, 64)),
                          nullptr, 200});
  co_return Reply((*reply)->to_json());
}

}  // namespace atl::api::mcp
