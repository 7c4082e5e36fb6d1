#include "api/e2b/control.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>

#include "api/e2b/build_job.h"
#include "api/e2b/create.h"
#include "api/e2b/egress.h"
#include "api/e2b/gateway.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "session/subject.h"

namespace atl::api::e2b {
namespace {

using session::Session;
using session::State;

constexpr std::chrono::minutes kReadyMax{2};
constexpr std::chrono::seconds kPausingMax{30};
constexpr std::chrono::milliseconds kPausingPoll{10};
constexpr std::chrono::milliseconds kAtOnce{1};
constexpr session::PauseRequest kFilesOnly{.on_disk = true, .files_only = true};

std::string attribute_of(const Session& session, const char* name) {
  auto found = session.attributes.find(name);
  return found == session.attributes.end() ? std::string() : found->second;
}

// Zero is a time too: the original's description of its API has `minimum: 0` for a sandbox that exists. It
// ends at the next tick of the service's clock.
Result<std::optional<std::chrono::milliseconds>> seconds_of(const Object& message, std::string_view name) {
  auto value = TRY(integer(message, name));
  if (!value) return std::optional<std::chrono::milliseconds>();
  if (*value < 0)
    return fail(Error(Code::invalid_argument, fmt::format("{} must not be negative", name))
                    .with_field(std::string(name)));
  if (*value > 30LL * 24 * 3600)
    return fail(Code::invalid_argument, "Timeout cannot be greater than 720 hours");
  return std::optional(std::max<std::chrono::milliseconds>(std::chrono::seconds(*value), kAtOnce));
}

// For those who want it running: one that is being killed is a conflict, and one that is being paused is
// waited for, because nobody can tell before what there is to wake.
Task<Session> settled_session(const Context& context, const net::Request& request, auth::Principal who) {
  std::string given = request.param("id");
  CO_TRY(std::string id, sandbox_id_of(given));
  const SteadyTime end = context.clock.steady() + kPausingMax;
  for (;;) {
    auto found = co_await context.service.get(who, id);
    if (found && found->state == State::stopping)
      co_return fail(Code::conflict, fmt::format("sandbox \"{}\" is being killed", id));
    if (!found || !found->pausing) break;
    if (context.clock.steady() >= end)
      co_return fail(Code::conflict, fmt::format("sandbox \"{}\" is being paused", id));
    boost::asio::steady_timer timer(context.executor, kPausingPoll);
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
  co_return co_await live_session(context, request, std::move(who));
}

Result<session::ListRequest> list_request(const net::Request& request) {
  session::ListRequest wanted;
  wanted.limit = static_cast<std::uint32_t>(TRY(page_limit(request)));
  // The first generation knows running ones alone.
  const bool second = request.path.starts_with("/v2/");
  std::string states = request.query("state").value_or(second ? "running,paused" : "running");
  for (std::string_view left = states; !left.empty();) {
    std::string_view word = left.substr(0, left.find(','));
    left = word.size() == left.size() ? std::string_view() : left.substr(word.size() + 1);
    if (word != "running" && word != "paused")
      return fail(Code::invalid_argument, fmt::format("Invalid state '{}'", word));
    wanted.states.push_back(word == "running" ? State::running : State::paused);
  }
  if (auto metadata = request.query("metadata")) wanted.metadata = TRY(parse_metadata_filter(*metadata));
  if (auto after = request.query("startedAfter")) wanted.created_after = TRY(from_rfc3339(*after));
  if (auto order = request.query("order")) {
    if (*order != "asc" && *order != "desc") return fail(Code::invalid_argument, "order must be asc or desc");
    if (*order == "asc") wanted.order = session::Order::oldest_first;
  }
  wanted.cursor = request.query("nextToken").value_or("");
  return wanted;
}

bool contains_all(const session::TextMap& had, const session::TextMap& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& pair) {
    const auto found = had.find(pair.first);
    return found != had.end() && found->second == pair.second;
  });
}

// How many running ones the filters match, whatever page of them is asked for.
std::size_t count_running(const session::Service& service, const auth::Principal& who,
                          const session::ListRequest& wanted) {
  return static_cast<std::size_t>(std::ranges::count_if(service.peek_all(), [&](const Session& session) {
    return session.tenant == who.tenant && session.state == State::running &&
           contains_all(session.metadata, wanted.metadata) &&
           contains_all(session.attributes, wanted.attributes) &&
           (!wanted.created_after || session.created_at >= *wanted.created_after);
  }));
}

}  // namespace

void Control::add(net::Router& router, net::Method method, std::string_view path, Rule rule,
                  Handler handler) {
  router.add(method, path, context_.admission.rule(rule), [this, handler](net::Request& request) {
    return (this->*handler)(request, grant_of(request).who);
  });
}

void Control::mount(net::Router& router) {
  using enum net::Method;
  for (std::string_view generation : {"", "/v2"}) {
    std::string top = fmt::format("{}/sandboxes", generation);
    add(router, post, top, with_key(Permission::sessions_write), &Control::create);
    add(router, get, top, with_key(Permission::sessions_read), &Control::list);
    add(router, post, top + "/{id}/connect", with_key(Permission::sessions_write), &Control::connect);
  }
  add(router, get, "/sandboxes/{id}", with_key(Permission::sessions_read), &Control::get);
  add(router, del, "/sandboxes/{id}", with_key(Permission::sessions_write).ending(), &Control::kill);
  add(router, post, "/sandboxes/{id}/resume", with_key(Permission::sessions_write), &Control::resume);
  add(router, post, "/sandboxes/{id}/timeout", with_key(Permission::sessions_write), &Control::set_timeout);
  add(router, post, "/sandboxes/{id}/refreshes", with_key(Permission::sessions_write), &Control::refresh);
  add(router, post, "/sandboxes/{id}/pause", with_key(Permission::sessions_write).ending(), &Control::pause);
  add(router, post, "/sandboxes/{id}/fork", with_key(Permission::sessions_write), &Control::fork);
  add(router, put, "/sandboxes/{id}/network", with_key(Permission::sessions_write), &Control::update_network);
}

Object Control::sandbox_object(const Session& session) const {
  Object body{{"sandboxID", session.sandbox_id},
              {"templateID", attribute_of(session, attribute::kTemplate)},
              {"clientID", kClientId},
              {"envdVersion", kEnvdVersion}};
  if (body["templateID"].as_string().empty()) body["templateID"] = session.environment;
  if (auto alias = attribute_of(session, attribute::kAlias); !alias.empty()) body["alias"] = alias;
  const bool secured = session.data_plane == session::DataPlane::secured;
  if (secured && !session.secret.empty()) body["envdAccessToken"] = session.secret;
  // Also where ports are open: with it, and with nothing else, clients call the interpreter's contexts.
  if ((secured || session.ports == session::Ports::closed) && !session.traffic_token.empty())
    body["trafficAccessToken"] = session.traffic_token;
  if (auto domain = context_.domain ? context_.domain() : std::string(); !domain.empty())
    body["domain"] = domain;
  return body;
}

Object Control::listed_object(const Session& session) const {
  Object body = sandbox_object(session);
  body.erase("envdAccessToken");
  body.erase("trafficAccessToken");
  body.erase("domain");
  body["startedAt"] = to_timestamp(session.created_at);
  body["endAt"] = to_timestamp(session.expires_at.value_or(context_.clock.now() + session.ttl));
  body["cpuCount"] = static_cast<std::int64_t>(std::ceil(session.limits.cpu_cores));
  body["memoryMB"] = session.limits.memory_bytes / kMegabyte;
  body["diskSizeMB"] = session.limits.disk_bytes / kMegabyte;
  body["state"] = session.state == State::paused || session.pausing ? "paused" : "running";
  Object metadata;
  for (const auto& [key, value] : session.metadata) metadata[key] = value;
  body["metadata"] = std::move(metadata);
  Array mounts;
  for (const auto& [path, name] : session.volumes) mounts.push_back(Object{{"name", name}, {"path", path}});
  if (!mounts.empty()) body["volumeMounts"] = std::move(mounts);
  return body;
}

Task<net::Response> Control::create(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  bool second = request.path.starts_with("/v2/");
  CO_TRY(std::string reference, text_or(message, "templateID", ""));
  if (reference.empty()) co_return fail(Code::invalid_argument, "templateID is required");
  CO_TRY(session::CreateRequest wanted, create_request(message, second, context_.seal_for(who)));
  auto resolved = co_await templates_.resolve(who, reference);
  if (!resolved && resolved.error().code() == Code::not_found && member(message, "mcp") != nullptr)
    co_return fail(Code::not_found,
                   fmt::format("{}: a sandbox with 'mcp' needs a template or an environment of that "
                               "name that holds the program mcp-gateway",
                               resolved.error().message()));
  if (!resolved) co_return fail(std::move(resolved).error());
  const Template made_from = std::move(*resolved);
  if (!made_from.is_ready)
    co_return fail(Code::invalid_argument, fmt::format("template '{}' is not built", reference));
  apply_template(made_from, wanted);
  CO_CHECK(check_servers(message, wanted.environment));
  CO_TRY(Session session, co_await context_.service.create(who, std::move(wanted)));
  Result<void> ready = co_await put_gateway(context_, who, session);
  if (ready) ready = co_await start_template(who, session, made_from.settings);
  if (!ready) {
    auto ended = co_await context_.service.destroy(who, session.session_id);
    co_return fail(std::move(ready).error());
  }
  co_return json_response(201, sandbox_object(session));
}

// A sandbox is ready when its answer is sent.
Task<void> Control::start_template(auth::Principal who, const Session& session,
                                   const TemplateSettings& settings) {
  if (settings.start_command.empty()) co_return Result<void>{};
  session::CommandRequest command = template_command(settings, settings.start_command);
  for (const auto& [name, value] : session.env) command.env[name] = value;
  command.background = true;
  CO_CHECK(session::started_or_error(
      co_await context_.service.start(who, session.session_id, std::move(command))));
  if (settings.ready_command.empty()) co_return Result<void>{};
  co_return co_await wait_until_ready(context_, who, session.session_id, settings, settings.ready_command,
                                      kReadyMax);
}

// One that paused itself with autoPauseMemory off wakes cold, one that was paused by request as that request
// said.
Task<Session> Control::wake(auth::Principal who, Session session, std::chrono::milliseconds ttl,
                            std::optional<bool> memory) {
  const bool by_itself = !session::was_requested(session);
  const bool cold = !memory.value_or(true) || !session.hibernation.empty() ||
                    (by_itself && session.attributes.contains(attribute::kColdAfterPause));
  if (cold && session.hibernation.empty()) {
    CO_TRY(session, co_await context_.service.resume(who, session.session_id, ttl));
    CO_TRY(session, co_await context_.service.pause(who, session.session_id, kFilesOnly));
  }
  CO_TRY(session, co_await context_.service.resume(who, session.session_id, ttl));
  if (!cold) co_return session;
  auto settings = TemplateSettings::from_json(attribute_of(session, attribute::kSettings));
  if (settings) CO_CHECK(co_await start_template(who, session, *settings));
  co_return session;
}

Task<net::Response> Control::connect(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(auto timeout, seconds_of(message, "timeout"));
  CO_TRY(auto memory, boolean(message, "memory"));
  if (!timeout && !request.path.starts_with("/v2/"))
    co_return fail(Code::invalid_argument, "timeout is required");
  CO_TRY(Session session, co_await settled_session(context_, request, who));
  if (session.state == State::paused) {
    CO_TRY(session,
           co_await wake(who, std::move(session), timeout.value_or(std::chrono::minutes(5)), memory));
    co_return json_response(201, sandbox_object(session));
  }
  session::UpdateRequest update;
  update.ttl = timeout.value_or(std::chrono::minutes(5));
  update.extend_only = true;
  CO_TRY(session, co_await context_.service.update(who, session.session_id, std::move(update)));
  co_return json_response(200, sandbox_object(session));
}

Task<net::Response> Control::resume(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(auto timeout, seconds_of(message, "timeout"));
  CO_TRY(auto auto_pause, boolean(message, "autoPause"));
  CO_TRY(auto memory, boolean(message, "memory"));
  CO_TRY(Session session, co_await settled_session(context_, request, who));
  if (session.state != State::paused) {
    co_return fail(Code::conflict, fmt::format("sandbox \"{}\" is already running", session.sandbox_id));
  }
  CO_TRY(session, co_await wake(who, std::move(session), timeout.value_or(std::chrono::seconds(15)), memory));
  if (auto_pause) {
    session::UpdateRequest update;
    update.on_expiry = *auto_pause ? session::OnExpiry::pause : session::OnExpiry::destroy;
    CO_TRY(session, co_await context_.service.update(who, session.session_id, std::move(update)));
  }
  co_return json_response(201, sandbox_object(session));
}

Task<net::Response> Control::list(net::Request& request, auth::Principal who) {
  CO_TRY(session::ListRequest wanted, list_request(request));
  if (auto reference = request.query("template")) {
    CO_TRY(TemplateRef ref, parse_template_ref(*reference));
    if (!ref.tag.empty()) co_return fail(Code::invalid_argument, "a template filter cannot have a tag");
    // An unknown one has no sandboxes: none has an empty template.
    auto found = co_await templates_.resolve(who, *reference);
    wanted.attributes[attribute::kTemplate] = found ? found->id : std::string();
  }
  bool paged = !wanted.cursor.empty();
  auto page = co_await context_.service.list(who, wanted);
  if (!page && paged && page.error().code() == Code::invalid_argument) {
    co_return fail(Code::invalid_argument, "Invalid next token");
  }
  if (!page) co_return fail(std::move(page).error());
  Array sandboxes;
  for (const Session& session : page->items) sandboxes.push_back(listed_object(session));
  net::Response response = json_response(200, sandboxes);
  if (!page->next_cursor.empty()) response.headers.add("X-Next-Token", page->next_cursor);
  // Who may see only some of them is not told how many there are.
  if (who.scopes == nullptr && std::ranges::find(wanted.states, State::running) != wanted.states.end())
    response.headers.add("X-Total-Running", std::to_string(count_running(context_.service, who, wanted)));
  co_return response;
}

Task<net::Response> Control::get(net::Request& request, auth::Principal who) {
  CO_TRY(Session session, co_await live_session(context_, request, who));
  Object body = listed_object(session);
  for (auto& [key, value] : sandbox_object(session)) body[key] = value;
  body.erase("trafficAccessToken");
  body["lifecycle"] = Object{{"autoResume", session.auto_resume},
                             {"onTimeout", session.on_expiry == session::OnExpiry::pause ? "pause" : "kill"}};
  if (auto internet = attribute_of(session, attribute::kInternet); !internet.empty()) {
    body["allowInternetAccess"] = internet == "true";
  }
  if (auto network = attribute_of(session, attribute::kNetwork); !network.empty()) {
    auto parsed = parse_object(network);
    if (parsed) body["network"] = std::move(*parsed);
  }
  co_return json_response(200, body);
}

Task<net::Response> Control::kill(net::Request& request, auth::Principal who) {
  CO_TRY(Session session, co_await live_session(context_, request, who));
  CO_CHECK(co_await context_.service.destroy(who, session.session_id));
  co_return net::Response::empty(204);
}

// One whose time to live runs. Whoever wakes a paused one says how long it lives from then on.
Task<Session> Control::running_session(const net::Request& request, auth::Principal who) {
  CO_TRY(Session session, co_await live_session(context_, request, who));
  if (session.state == State::paused)
    co_return fail(
        Code::not_found,
        fmt::format("sandbox \"{}\" is paused: connect or resume sets its time-out", session.sandbox_id));
  co_return session;
}

Task<net::Response> Control::set_timeout(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(auto timeout, seconds_of(message, "timeout"));
  if (!timeout) co_return fail(Code::invalid_argument, "timeout is required");
  CO_TRY(Session session, co_await running_session(request, who));
  session::UpdateRequest update;
  update.ttl = *timeout;
  CO_CHECK(co_await context_.service.update(who, session.session_id, std::move(update)));
  co_return net::Response::empty(204);
}

Task<net::Response> Control::refresh(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(auto duration, integer(message, "duration"));
  CO_TRY(Session session, co_await running_session(request, who));
  session::UpdateRequest update;
  update.ttl = std::chrono::seconds(std::clamp<std::int64_t>(duration.value_or(15), 15, 3600));
  update.extend_only = true;
  CO_CHECK(co_await context_.service.update(who, session.session_id, std::move(update)));
  co_return net::Response::empty(204);
}

Task<net::Response> Control::pause(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(const bool memory, boolean_or(message, "memory", true));
  CO_TRY(Session session, co_await live_session(context_, request, who));
  if (session.state == State::paused) {
    co_return fail(Code::conflict, fmt::format("sandbox \"{}\" is already paused", session.sandbox_id));
  }
  CO_CHECK(co_await context_.service.pause(who, session.session_id,
                                           memory ? session::PauseRequest{} : kFilesOnly));
  co_return net::Response::empty(204);
}

Task<net::Response> Control::fork(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(auto timeout, seconds_of(message, "timeout"));
  if (timeout == kAtOnce) co_return fail(Code::invalid_argument, "Timeout must be greater than 0");
  CO_TRY(auto count, integer(message, "count"));
  if (count && (*count < 1 || *count > 100))
    co_return fail(Code::invalid_argument, "count must be between 1 and 100");
  CO_TRY(Session source, co_await live_session(context_, request, who));
  if (source.state == State::paused || source.pausing)
    co_return fail(Code::conflict, "a paused sandbox cannot be forked");
  session::ForkRequest wanted;
  wanted.copies.resize(static_cast<std::size_t>(count.value_or(1)));
  for (session::UpdateRequest& changes : wanted.copies) {
    changes.ttl = timeout.value_or(std::chrono::minutes(5));
  }
  CO_TRY(const session::Forked forked,
         co_await context_.service.fork(who, source.session_id, std::move(wanted)));
  // This dialect's answer has no field for what could not be carried, so it is logged.
  for (const std::string& name : forked.carried.left_behind)
    log::warn(session::subject_of(who, source.session_id), "a fork left something behind",
              {{"sandbox", source.sandbox_id}, {"what", name}});
  Array results;
  for (const auto& copy : forked.sessions) {
    if (copy) {
      results.push_back(Object{{"sandbox", sandbox_object(*copy)}});
    } else {
      results.push_back(Object{{"error", Object{{"code", row(copy.error().code()).http_status},
                                                {"message", copy.error().message()}}}});
    }
  }
  co_return json_response(201, results);
}

Task<net::Response> Control::update_network(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(Session session, co_await live_session(context_, request, who));
  if (session.state != State::running || session.pausing)
    co_return fail(Code::conflict, "the sandbox is not running");
  CO_TRY(auto internet, boolean(message, "allow_internet_access"));
  CO_TRY(auto wanted, read_egress(message, internet.value_or(true), context_.seal_for(who)));
  CO_CHECK(co_await context_.service.update_network(who, session.session_id, std::move(wanted)));
  // What get() shows: these settings, and those about traffic in as they were.
  session::UpdateRequest update;
  update.attributes = session.attributes;
  auto before = parse_object(attribute_of(session, attribute::kNetwork));
  const Object network = updated_network(before ? std::move(*before) : Object{}, message);
  (*update.attributes)[attribute::kNetwork] = to_text(network);
  update.attributes->erase(attribute::kInternet);
  if (internet) (*update.attributes)[attribute::kInternet] = *internet ? "true" : "false";
  CO_CHECK(co_await context_.service.update(who, session.session_id, std::move(update)));
  co_return net::Response::empty(204);
}

}  // namespace atl::api::e2b
