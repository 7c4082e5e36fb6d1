#pragma once

#include <optional>
#include <string>

#include "api/mcp/call.h"

// What the protocol's conformance suite asks of every server it tests: tools, resources and prompts of fixed
// names with fixed answers. None of it touches a sandbox or anybody's data, and all of it is there only with
// the setting mcp.fixtures, which a service that others can reach refuses.
namespace atl::api::mcp {

void append_fixture_tools(const Call& call, bj::array& tools);
void append_fixture_resources(const Call& call, bj::array& resources);
void append_fixture_templates(const Call& call, bj::array& templates);
void append_fixture_prompts(const Call& call, bj::array& prompts);

// The schema of a fixture's input; null if it is none.
bj::value fixture_schema(const Call& call, std::string_view name);
// Nothing if it is none of the fixtures.
boost::asio::awaitable<std::optional<Reply>> call_fixture_tool(CallPtr call, std::string name,
                                                               bj::object arguments);
std::optional<bj::object> read_fixture_resource(const Call& call, const std::string& uri);
std::optional<Reply> fixture_prompt(const Call& call, const std::string& name);

}  // namespace atl::api::mcp
