#pragma once

#include <memory>
#include <string>

#include "api/admission/admission.h"
#include "api/rest/rest.h"

// What the route files of this room share. Internal to the room.
namespace atl::api::rest {

using auth::Principal;
using net::Method;
using net::Request;
using net::Response;

using Context = std::shared_ptr<const Dependencies>;

using Answer = Task<Response> (*)(Context, Principal, Request&);
using Streamed = Task<void> (*)(Context, Principal, net::Exchange&);

// Add a route. The handler gets the caller that the rule let in; a call that the rule refuses never reaches
// it. Handlers run on the loop thread and hold the context, because one may outlive the router by a moment.
void route(net::Router& router, const Context& context, Method method, std::string_view pattern, Rule rule,
           Answer answer, net::RouteOptions options = {});
void stream(net::Router& router, const Context& context, Method method, std::string_view pattern, Rule rule,
            Streamed answer, net::RouteOptions options = {});

void mount_sessions(net::Router& router, const Context& context);
void mount_execution(net::Router& router, const Context& context);
void mount_commands(net::Router& router, const Context& context);
void mount_terminal(net::Router& router, const Context& context);
void mount_files(net::Router& router, const Context& context);
void mount_archive(net::Router& router, const Context& context);
void mount_history(net::Router& router, const Context& context);
void mount_audit(net::Router& router, const Context& context);
void mount_index(net::Router& router, const Context& context);
void mount_events(net::Router& router, const Context& context);
void mount_catalog(net::Router& router, const Context& context);
void mount_tools(net::Router& router, const Context& context);
void mount_tool_calls(net::Router& router, const Context& context);
void mount_registry(net::Router& router, const Context& context);
void mount_skills(net::Router& router, const Context& context);
std::shared_ptr<SkillWork> make_skill_work();
void mount_network(net::Router& router, const Context& context);
void mount_original(net::Router& router, const Context& context);

// A query parameter as a whole number in a range, or `otherwise` if it is absent. Code::invalid_argument that
// names the parameter if it is something else; so do the others below.
Result<std::uint64_t> number_parameter(const Request& request, std::string_view name, std::uint64_t otherwise,
                                       std::uint64_t min, std::uint64_t max);
Result<bool> flag_parameter(const Request& request, std::string_view name);
// Code::invalid_argument if absent, or not absolute, or with a NUL byte.
Result<std::string> path_parameter(const Request& request, std::string_view name = "path");
Result<std::string> checked_path(std::string path, std::string field);
Result<std::optional<WallTime>> time_parameter(const Request& request, std::string_view name);

// One server-sent event: `event: name`, `data: json`.
std::string sse(std::string_view name, std::string_view json);

}  // namespace atl::api::rest
