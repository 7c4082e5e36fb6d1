#pragma once

#include <boost/json.hpp>

#include "api/rest/rest.h"

// JSON of the session room's types, as sdk/openapi.yaml describes it. Text that comes from a guest is made
// valid UTF-8 first.
namespace atl::api::rest {

boost::json::object to_json(const session::Session& session, const Dependencies& dependencies);
boost::json::object to_json(const sandbox::Limits& limits);
boost::json::object to_json(const sandbox::Isolation& isolation);
boost::json::object to_json(const sandbox::Traits& traits);
boost::json::object to_json(const sandbox::Usage& usage);
boost::json::object to_json(const session::Forked& forked);
boost::json::object to_json(const session::Snapshot& snapshot);
boost::json::object to_json(const session::Artifact& artifact);
boost::json::object to_json(const sandbox::InterpreterInfo& info);
boost::json::object to_json(const sandbox::ProcessInfo& info);
boost::json::object to_json(const sandbox::FileInfo& info);
boost::json::object to_json(const session::Sample& sample);
boost::json::object to_json(const std::map<std::string, std::string>& map);
boost::json::object to_json(const sandbox::ResultBundle& bundle);
// The tools that an agent or a session is bound to; "*" where it is bound to none.
boost::json::array tool_names(const std::optional<std::vector<std::string>>& tools);

// The answer of execute and commands.
boost::json::object execution_json(const session::ExecutionRecord& record);
// The line of history: the same and what was asked.
boost::json::object record_json(const session::ExecutionRecord& record);

// Numbers as plain decimals.
std::string json_text(const boost::json::value& value);
net::Response json_response(int status, const boost::json::value& value);

}  // namespace atl::api::rest
