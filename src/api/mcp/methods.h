#pragma once

#include <string>

#include "api/mcp/call.h"

// What clients may ask for. Internal to the room.
namespace atl::api::mcp {

// Who we are and what we can do, in the words of the call's revision.
bj::object server_info();
bj::object capabilities(const Shared& shared);
std::string_view instructions();

// Answers a request. An Error is a failure of ours, or Code::canceled. Faults of 2026-07-28 have the status
// of HTTP that it wants.
Task<Reply> answer(CallPtr call);

// Resources: skills, and files of sandboxes.
Task<Reply> list_resources(CallPtr call);
Task<Reply> list_resource_templates(CallPtr call);
Task<Reply> read_resource(CallPtr call);
// Changes with the skills that the caller sees; of one resource: with its contents. Empty: it is not there.
Task<std::string> resources_mark(CallPtr call);
Task<std::string> resource_mark(CallPtr call, std::string uri);

// Prompts of the registry.
Task<Reply> list_prompts(CallPtr call);
Task<Reply> get_prompt(CallPtr call);
Task<Reply> complete(CallPtr call);

}  // namespace atl::api::mcp
