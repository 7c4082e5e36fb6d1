#pragma once

#include <string>

#include "api/mcp/call.h"

// The methods of the protocol. Internal to the room. Everything belongs to the loop thread; a coroutine holds
// the call that it is given.
namespace atl::api::mcp {

// Who we are and what we can do, in the words of the call's revision.
bj::object server_info();
bj::object capabilities(const Shared& shared);
std::string_view instructions();

// Answers a request. What the client did wrong is a Fault; an Error is a failure of ours, or Code::canceled.
// Faults in revision 2026-07-28 carry the HTTP status that the revision prescribes.
Task<Reply> answer(CallPtr call);

// Resources: skills, and files of sandboxes.
Task<Reply> list_resources(CallPtr call);
Task<Reply> list_resource_templates(CallPtr call);
Task<Reply> read_resource(CallPtr call);
// Texts that change when something changes: resources_mark() with the list of skills that the caller sees,
// resource_mark() with the contents of one resource (empty if it does not exist). watch() compares them.
Task<std::string> resources_mark(CallPtr call);
Task<std::string> resource_mark(CallPtr call, std::string uri);

// Prompts of the registry.
Task<Reply> list_prompts(CallPtr call);
Task<Reply> get_prompt(CallPtr call);
Task<Reply> complete(CallPtr call);

}  // namespace atl::api::mcp
