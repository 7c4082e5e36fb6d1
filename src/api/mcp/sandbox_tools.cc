// Sandboxes as tools: making, listing, ending, forking, keeping; and which sandbox a call is for.
#include <fmt/format.h>

#include "api/mcp/toolbox.h"

namespace atl::api::mcp {
namespace {

bj::object facts_of(const session::Session& session) {
  bj::object facts{{"sandbox_id", session.sandbox_id},
                   {"session_id", session.session_id},
                   {"state", to_string(session.state)},
                   {"environment", session.environment},
                   {"provider", session.provider},
                   {"created_at", to_rfc3339(session.created_at)},
                   {"metadata", bj::value_from(session.metadata)}};
  if (session.expires_at) facts["expires_at"] = to_rfc3339(*session.expires_at);
  if (!session.reason.empty()) facts["reason"] = session.reason;
  return facts;
}

session::TextMap map_in(const bj::object& arguments, std::string_view name) {
  session::TextMap map;
  if (const bj::object* given = object_in(arguments, name))
    for (const auto& [key, value] : *given)
      if (value.is_string()) map.emplace(key, value.get_string());
  return map;
}

std::vector<std::string> texts_in(const bj::object& arguments, std::string_view name) {
  std::vector<std::string> texts;
  const bj::value* given = arguments.if_contains(name);
  if (given != nullptr && given->is_array())
    for (const bj::value& one : given->get_array())
      if (one.is_string()) texts.emplace_back(one.get_string());
  return texts;
}

void label(const Call& call, session::CreateRequest& request) {
  request.attributes["mcp.client"] = call.client();
  request.attributes["mcp.connection"] = call.connection != nullptr ? call.connection->id().substr(0, 8) : "";
}

// For a call that named none. It lives as long as it is used, and a while longer.
Task<session::Session> make_unnamed(CallPtr call) {
  session::CreateRequest request;
  request.extend_on_use = true;
  request.ttl = call->connection != nullptr ? call->parts().connection_ttl : call->parts().stateless_ttl;
  request.metadata["mcp"] = call->connection != nullptr ? "connection" : "stateless";
  label(*call, request);
  CO_TRY(session::Session made, co_await call->service().create(call->who, std::move(request)));
  bj::object facts{{"sandbox_id", made.sandbox_id}};
  call->log(LogLevel::info, "a sandbox was made for this call", std::move(facts));
  co_return made;
}

bool is_usable(const Call& call, const std::string& id) {
  const auto session = call.service().peek(id);
  return session && (session::is_live(session->state) || session->state == session::State::creating);
}

// Calls that come at once share one sandbox: the first makes it, the others wait.
Task<std::string> sandbox_of_connection(CallPtr call) {
  const std::shared_ptr<Connection> connection = call->connection;
  co_await connection->wait_for_sandbox();
  if (!connection->sandbox.empty() && is_usable(*call, connection->sandbox)) co_return connection->sandbox;
  connection->is_making_sandbox = true;
  struct Settle {
    std::shared_ptr<Connection> connection;
    ~Settle() {
      connection->is_making_sandbox = false;
      connection->sandbox_settled();
    }
  } settle{connection};
  CO_TRY(const session::Session made, co_await make_unnamed(call));
  connection->sandbox = made.sandbox_id;
  co_return made.sandbox_id;
}

// What is told of a sandbox is always its sandbox_id, also where a session_id was given.
std::string told_id(const Call& call, const std::string& id) {
  const auto session = call.service().peek(id);
  return session && session->tenant == call.who.tenant ? session->sandbox_id : id;
}

}  // namespace

Task<std::string> sandbox_of(CallPtr call, const bj::object& arguments, IfNone if_none) {
  if (const std::string named = text_in(arguments, "sandbox_id"); !named.empty())
    co_return told_id(*call, named);
  if (call->who.scopes != nullptr && !call->who.scopes->sessions.empty()) {
    const auto& bound = call->who.scopes->sessions;
    if (bound.size() == 1) co_return told_id(*call, *bound.begin());
    co_return fail(
        Error(Code::invalid_argument,
              fmt::format("'sandbox_id' is missing: this key is bound to {}", fmt::join(bound, ", ")))
            .with_field("sandbox_id"));
  }
  if (call->connection != nullptr) co_return co_await sandbox_of_connection(call);
  if (if_none == IfNone::refuse)
    co_return fail(Error(Code::invalid_argument,
                         "'sandbox_id' is missing: name the sandbox that sandbox_create or run_code gave")
                       .with_field("sandbox_id"));
  CO_TRY(const session::Session made, co_await make_unnamed(call));
  co_return made.sandbox_id;
}

Task<ToolReply> sandbox_create(CallPtr call, bj::object arguments) {
  session::CreateRequest request;
  request.environment = text_in(arguments, "environment");
  request.provider = text_in(arguments, "provider");
  request.agent = text_in(arguments, "agent");
  request.snapshot = text_in(arguments, "snapshot_id");
  request.env = map_in(arguments, "env");
  request.metadata = map_in(arguments, "metadata");
  request.skills = texts_in(arguments, "skills");
  request.extend_on_use = true;
  if (arguments.contains("ttl_seconds"))
    request.ttl = std::chrono::seconds(static_cast<std::int64_t>(number_in(arguments, "ttl_seconds", 0)));
  if (arguments.contains("allow_hosts")) {
    request.egress.allow = texts_in(arguments, "allow_hosts");
    request.network = request.egress.allow.empty() ? sandbox::Network::none : sandbox::Network::egress;
  }
  label(*call, request);
  CO_TRY(const session::Session made, co_await call->service().create(call->who, std::move(request)));
  ToolReply reply;
  reply.structured = facts_of(made);
  reply.add_text(fmt::format("Sandbox {} ({} on {}) is {}.", made.sandbox_id, made.environment, made.provider,
                             to_string(made.state)));
  co_return reply;
}

Task<ToolReply> sandbox_list(CallPtr call, bj::object arguments) {
  session::ListRequest request;
  const std::string state = text_in(arguments, "state");
  request.states = {session::State::creating, session::State::running, session::State::paused};
  if (state == "running") request.states = {session::State::running};
  if (state == "paused") request.states = {session::State::paused};
  request.metadata = map_in(arguments, "metadata");
  request.limit = 1'000;
  CO_TRY(const auto page, co_await call->service().list(call->who, std::move(request)));
  const auto most = static_cast<std::size_t>(number_in(arguments, "limit", 50));
  bj::array sandboxes;
  std::string text;
  for (const session::Session& one : page.items) {
    if (sandboxes.size() >= most) break;
    sandboxes.push_back(facts_of(one));
    text +=
        fmt::format("{}  {}  {}  {}\n", one.sandbox_id, to_string(one.state), one.environment, one.provider);
  }
  const bool truncated = page.items.size() > sandboxes.size() || !page.next_cursor.empty();
  ToolReply reply;
  reply.add_text(sandboxes.empty() ? "No sandbox is alive." : text);
  reply.structured =
      bj::object{{"sandboxes", std::move(sandboxes)}, {"total", page.items.size()}, {"truncated", truncated}};
  co_return reply;
}

Task<ToolReply> sandbox_end(CallPtr call, bj::object arguments) {
  const std::string id = text_in(arguments, "sandbox_id");
  CO_TRY(const session::Session ended, co_await call->service().destroy(call->who, id));
  if (call->connection != nullptr && call->connection->sandbox == ended.sandbox_id)
    call->connection->sandbox.clear();
  ToolReply reply;
  reply.structured = facts_of(ended);
  reply.add_text(fmt::format("Sandbox {} has ended.", ended.sandbox_id));
  co_return reply;
}

Task<ToolReply> sandbox_fork(CallPtr call, bj::object arguments) {
  CO_TRY(const std::string id, co_await sandbox_of(call, arguments, IfNone::refuse));
  session::ForkRequest request;
  request.copies.resize(static_cast<std::size_t>(number_in(arguments, "count", 1)));
  request.files_only = flag_in(arguments, "files_only");
  CO_TRY(const session::Forked forked, co_await call->service().fork(call->who, id, std::move(request)));
  bj::array copies;
  std::string text;
  std::size_t made = 0;
  for (const auto& one : forked.sessions) {
    if (one) {
      ++made;
      copies.push_back(facts_of(*one));
      text += fmt::format("Copy {}\n", one->sandbox_id);
    } else {
      copies.push_back(bj::object{{"error", one.error().message()}});
      text += fmt::format("A copy could not be made: {}\n", one.error().message());
    }
  }
  if (!forked.carried.left_behind.empty())
    text += fmt::format("Not carried over: {}\n", fmt::join(forked.carried.left_behind, ", "));
  ToolReply reply;
  reply.add_text(text);
  reply.is_error = made == 0;
  reply.structured = bj::object{{"sandbox_id", id},
                                {"copies", std::move(copies)},
                                {"left_behind", bj::value_from(forked.carried.left_behind)},
                                {"total", made},
                                {"truncated", false}};
  co_return reply;
}

Task<ToolReply> sandbox_snapshot(CallPtr call, bj::object arguments) {
  CO_TRY(const std::string id, co_await sandbox_of(call, arguments, IfNone::refuse));
  std::string name = text_in(arguments, "name");
  session::TextMap attributes;
  CO_TRY(const session::Snapshot kept,
         co_await call->service().snapshot(call->who, id, std::move(name), std::move(attributes)));
  ToolReply reply;
  reply.structured = bj::object{{"snapshot_id", kept.snapshot_id},
                                {"sandbox_id", kept.sandbox_id},
                                {"name", kept.name},
                                {"size_bytes", kept.size_bytes}};
  reply.add_text(fmt::format("Snapshot {} of {}; sandbox_create with this snapshot_id starts from it.",
                             kept.snapshot_id, kept.sandbox_id));
  co_return reply;
}

}  // namespace atl::api::mcp
