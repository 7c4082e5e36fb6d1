#pragma once

#include <boost/json.hpp>
#include <memory>
#include <string_view>

#include "api/governance/governance.h"
#include "api/rest/body.h"
#include "api/rest/render.h"

// What the files of this part share. Internal to it.
namespace atl::api::governance {

using auth::Principal;
using net::Method;
using net::Request;
using net::Response;
using rest::Body;
using rest::json_response;

using Context = std::shared_ptr<const Dependencies>;
using Answer = Task<Response> (*)(Context, Principal, Request&);

// Adds a route whose handler gets the caller that the admission found. The rule says who may call it; a call
// that it refuses never reaches the handler.
void route(net::Router& router, const Context& context, Method method, std::string_view pattern, Rule rule,
           Answer answer);

void mount_keys(net::Router& router, const Context& context);
void mount_tenants(net::Router& router, const Context& context);
void mount_usage(net::Router& router, const Context& context);

// As RFC 3339 text; null if it is unset.
boost::json::value maybe_time(const std::optional<WallTime>& time);
// The tenant that the query names, or the caller's own if it names none. Code::permission_denied if it is
// another one and the caller lacks `needed`.
Result<std::string> tenant_of(const Principal& who, const Request& request, Permission needed);

}  // namespace atl::api::governance
