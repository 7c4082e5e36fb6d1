#include "api/mcp/methods.h"

#include <fmt/format.h>

#include "api/mcp/fixtures.h"
#include "api/mcp/toolbox.h"

namespace atl::api::mcp {
namespace {

using Method = Task<Reply> (*)(CallPtr);

constexpr std::int64_t kCatalogMs = 60'000;  // tools and prompts change when somebody declares some
constexpr std::int64_t kContentMs = 0;       // files of sandboxes change at any moment

// A page is all there is: catalogs are small. A cursor can only be one that nobody gave.
std::optional<Fault> wrong_cursor(const Call& call) {
  if (!call.params.contains("cursor")) return std::nullopt;
  return Fault{kInvalidParams, "'cursor' is not one that this server gave", nullptr, 200};
}

Task<Reply> list_tools(CallPtr call) {
  if (auto wrong = wrong_cursor(*call)) co_return Reply(std::move(*wrong));
  CO_TRY(bj::array tools, co_await listed_tools(call));
  bj::object result{{"tools", std::move(tools)}};
  co_return Reply(std::move(result));
}

Task<Reply> ping(CallPtr) {
  co_return Reply(bj::object());
}

Task<Reply> discover(CallPtr call) {
  bj::array versions;
  versions.push_back(bj::value(to_string(Revision::july_2026)));
  bj::object result{{"supportedVersions", std::move(versions)},
                    {"capabilities", capabilities(*call->shared)},
                    {"instructions", instructions()}};
  co_return Reply(std::move(result));
}

Task<Reply> set_level(CallPtr call) {
  const auto level = parse_log_level(text_in(call->params, "level"));
  if (!level)
    co_return Reply(
        Fault{kInvalidParams, fmt::format("'level' is one of {}", fmt::join(kLogWords, ", ")), nullptr, 200});
  call->connection->log_level = *level;
  co_return Reply(bj::object());
}

Task<Reply> subscribe(CallPtr call) {
  const std::string uri = text_in(call->params, "uri");
  if (uri.empty() || uri.size() > kUriMax)
    co_return Reply(Fault{kInvalidParams, "'uri' is an address of at most 4096 characters", nullptr, 200});
  if (call->connection->subscriptions.size() >= Connection::kSubscriptionsMax)
    co_return Reply(Fault{kInvalidParams,
                          fmt::format("at most {} resources can be watched", Connection::kSubscriptionsMax),
                          nullptr, 200});
  call->connection->subscriptions.insert(uri);
  co_return Reply(bj::object());
}

Task<Reply> unsubscribe(CallPtr call) {
  call->connection->subscriptions.erase(text_in(call->params, "uri"));
  co_return Reply(bj::object());
}

enum class Era : std::uint8_t { all, connections, stateless };

struct MethodRow {
  std::string_view name;
  Method method;
  Era era = Era::all;
  std::int64_t ttl_ms = -1;  // how long its results may be kept by clients of 2026-07-28; -1: not at all
};

constexpr MethodRow kMethods[] = {
    {"tools/list", list_tools, Era::all, kCatalogMs},
    {"tools/call", call_tool},
    {"resources/list", list_resources, Era::all, kCatalogMs},
    {"resources/templates/list", list_resource_templates, Era::all, kCatalogMs},
    {"resources/read", read_resource, Era::all, kContentMs},
    {"prompts/list", list_prompts, Era::all, kCatalogMs},
    {"prompts/get", get_prompt},
    {"completion/complete", complete},
    {"ping", ping, Era::connections},
    {"logging/setLevel", set_level, Era::connections},
    {"resources/subscribe", subscribe, Era::connections},
    {"resources/unsubscribe", unsubscribe, Era::connections},
    {"server/discover", discover, Era::stateless, kCatalogMs},
};

const MethodRow* find_method(const Call& call) {
  const bool stateless = is_stateless(call.revision);
  for (const MethodRow& row : kMethods)
    if (row.name == call.method && row.era != (stateless ? Era::connections : Era::stateless)) return &row;
  return nullptr;
}

// What 2026-07-28 adds to every result. All of it depends on the key, so nobody else's cache may have it.
void complete_result(const MethodRow& row, bj::object& result) {
  const bool is_final = !result.contains("resultType");
  if (is_final) result["resultType"] = "complete";
  if (is_final && row.ttl_ms >= 0) {
    result["ttlMs"] = row.ttl_ms;
    result["cacheScope"] = "private";
  }
  if (!result.contains("_meta")) result["_meta"] = bj::object();
  result["_meta"].as_object()[kMetaServer] = server_info();
}

}  // namespace

bj::object server_info() {
  return {{"name", "atoll"}, {"title", "Atoll"}, {"version", ATOLL_VERSION}};
}

std::string_view instructions() {
  return "Atoll gives you sandboxes: Linux machines of your own that remember files, processes and variables "
         "between calls, can be forked, and cannot hurt the machine they run on. Begin with run_code or "
         "run_command; they make a sandbox if you name none and give back its sandbox_id. Pass that "
         "sandbox_id "
         "to every later call to go on in the same place. Use command_start and command_poll for what takes "
         "longer than a minute, sandbox_fork to try several ways from one point, sandbox_end when you are "
         "done. Results that were cut say so in `truncated`. A policy may deny code: the result says which "
         "rule and what to write instead. The resource skill://atoll/SKILL.md says more.";
}

bj::object capabilities(const Shared&) {
  return {{"tools", bj::object{{"listChanged", true}}},
          {"resources", bj::object{{"listChanged", true}, {"subscribe", true}}},
          {"prompts", bj::object{{"listChanged", true}}},
          {"completions", bj::object()},
          {"logging", bj::object()}};
}

Task<Reply> answer(CallPtr call) {
  const MethodRow* row = find_method(*call);
  if (row == nullptr)
    co_return Reply(Fault{kMethodNotFound, fmt::format("there is no method '{}'", call->method.substr(0, 64)),
                          nullptr, 404});
  auto reply = co_await row->method(call);
  if (!reply) {
    if (reply.error().code() == Code::canceled) co_return fail(reply.error());
    co_return Reply(fault_of(reply.error()));
  }
  if (auto* result = std::get_if<bj::object>(&*reply); result != nullptr && is_stateless(call->revision))
    complete_result(*row, *result);
  co_return std::move(*reply);
}

}  // namespace atl::api::mcp
