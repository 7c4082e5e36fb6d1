// Tools that the registry declares: the toolkit runs them in the sandbox that the call is for.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "api/mcp/toolbox.h"
#include "base/bytes.h"
#include "os/timer.h"
#include "tools/reserved_names.h"

namespace atl::api::mcp {
namespace {

constexpr std::size_t kOutputShown = 32U << 10;

// A tool whose own input has a member of that name keeps it: it runs in the caller's own sandbox alone.
bool has_own_sandbox_id(const bj::object& schema) {
  const bj::object* properties = object_in(schema, "properties");
  return properties != nullptr && properties->contains("sandbox_id");
}

bj::object listed(const tools::Tool& tool) {
  bj::object form = tools::exported(tool, tools::Format::mcp);
  bj::object& schema = form["inputSchema"].as_object();
  schema["type"] = "object";
  if (has_own_sandbox_id(schema)) return form;
  if (!schema.contains("properties")) schema["properties"] = bj::object();
  if (bj::object* properties = schema["properties"].if_object())
    (*properties)["sandbox_id"] =
        bj::object{{"type", "string"}, {"description", "The sandbox to act in; left out: your own."}};
  return form;
}

ToolReply reply_of(const tools::Tool& tool, const tools::ToolResult& result) {
  if (result.status == session::Status::denied)
    return ToolReply::error(
        fmt::format("A policy denied this; nothing was run. {}\nThe same will be denied again: call '{}' "
                    "with other input.",
                    result.error_value, tool.name));
  if (result.status != session::Status::success) {
    std::string text = fmt::format("{}: {}", result.error, to_valid_utf8(result.error_value));
    if (!result.standard_error.empty()) text += "\nstderr:\n" + result.standard_error;
    return ToolReply::error(text);
  }
  ToolReply reply;
  const bj::string* text = result.output.if_string();
  std::string shown = text != nullptr ? std::string(*text) : bj::serialize(result.output);
  if (shown.size() > kOutputShown) {
    const std::size_t total = shown.size();
    shown = to_valid_utf8(std::string_view(shown).substr(0, kOutputShown));
    shown += fmt::format("\n... of {} bytes", total);
  }
  reply.add_text(shown);
  if (const bj::object* object = result.output.if_object()) reply.structured = *object;
  return reply;
}

// Once a second until the call has ended.
boost::asio::awaitable<void> tick(CallPtr call, std::shared_ptr<const bool> done) {
  for (int seconds = 1; !*done; ++seconds) {
    if (auto slept = co_await os::sleep_for(call->parts().executor, std::chrono::seconds(1)); !slept)
      co_return;
    if (!*done) call->progress(seconds, std::nullopt, fmt::format("running for {} s", seconds));
  }
}

struct Ticking {
  explicit Ticking(const CallPtr& call) {
    if (call->wants_progress())
      boost::asio::co_spawn(call->parts().executor, tick(call, done), boost::asio::detached);
  }
  ~Ticking() { *done = true; }
  Ticking(const Ticking&) = delete;
  Ticking& operator=(const Ticking&) = delete;
  std::shared_ptr<bool> done = std::make_shared<bool>(false);
};

// What a tool tells of itself says more than the time that passed; numbers must grow, so only one of them is
// told.
Task<void> tell(CallPtr call, std::shared_ptr<bool> done, tools::ToolEvent event) {
  if (event.kind != tools::ToolEvent::Kind::progress || !event.progress) co_return Result<void>();
  *done = true;
  call->progress(*event.progress, event.total, std::move(event.text));
  co_return Result<void>();
}

}  // namespace

// Schemas of a tenant's may be megabytes: not on the loop.
Task<bj::array> listed_registry_tools(CallPtr call) {
  if (!call->who.may(auth::Permission::tools_run)) co_return bj::array();
  auto list = [tools = call->parts().tools->list(call->who.tenant)]() -> Result<bj::array> {
    bj::array all;
    for (const tools::ToolPtr& tool : tools)
      if (!tools::is_reserved_name(tool->name)) all.push_back(listed(*tool));
    return all;
  };
  co_return co_await call->parts().workers->run<bj::array>(call->who.tenant, std::move(list));
}

Task<std::optional<ToolReply>> call_registry_tool(CallPtr call, std::string name, bj::object arguments) {
  const tools::ToolPtr tool = call->parts().tools->find(call->who.tenant, name);
  if (tool == nullptr || tools::is_reserved_name(name)) co_return std::optional<ToolReply>();
  if (!call->who.may(auth::Permission::tools_run))
    co_return ToolReply::error(fmt::format(
        "This key may not call '{}': it lacks the permission tools:run. Another key is needed.", name));
  bj::object where;
  const bj::object* schema = tool->input.document().if_object();
  if (schema == nullptr || !has_own_sandbox_id(*schema)) {
    if (const bj::value* id = arguments.if_contains("sandbox_id")) {
      if (!id->is_string())
        co_return ToolReply::error(
            "The arguments do not fit the tool's schema: 'sandbox_id' must be a string.");
      where["sandbox_id"] = *id;
    }
    arguments.erase("sandbox_id");
  }
  tools::ToolRequest request;
  request.name = std::move(name);
  request.input = std::move(arguments);
  // Before a sandbox is made for it.
  CO_TRY(const auto wrong, co_await call->parts().tool_executor->check(call->who, request));
  if (wrong) co_return ToolReply::error(mismatch_text(*wrong));
  CO_TRY(const std::string sandbox, co_await sandbox_of(call, where, IfNone::make));
  CO_TRY(const session::Session session, call->service().peek(sandbox));
  request.session_id = session.tenant == call->who.tenant ? session.session_id : sandbox;
  const Ticking ticking(call);
  if (call->wants_progress())
    request.watch = [call, done = ticking.done](tools::ToolEvent event) {
      return tell(call, done, std::move(event));
    };
  CO_TRY(const tools::ToolResult result,
         co_await call->parts().tool_executor->call(call->who, std::move(request)));
  co_return reply_of(*tool, result);
}

}  // namespace atl::api::mcp
