// What happens, for those who follow from outside: events, the health of the service, the level of its log.
#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/render.h"
#include "os/offload.h"
#include "session/subject.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

constexpr std::chrono::seconds kSignOfLife{15};
// Of a page: as much as one follower that reads slowly can hold. Each is looked for from the beginning of its
// file.
constexpr std::size_t kPage = 500;
// What is written at once.
constexpr std::size_t kWriteBytes = 64U << 10;
// What comes alone is sent at once. Behind it a follower waits so long for more, so that a busy tenant with
// many followers does not keep the loop busy.
constexpr std::chrono::milliseconds kGather{50};

// Which events a follower wants and may see.
struct Interest {
  std::string tenant;
  std::shared_ptr<const auth::Scopes> scopes;
  std::string session_id;  // empty: all
  std::string type;        // empty: all; "session" takes "session.created" as well

  bool takes(const telemetry::Event& event) const {
    if (event.tenant != tenant) return false;
    if (scopes && !scopes->sessions.empty() && !scopes->sessions.contains(event.session_id)) return false;
    if (scopes && !scopes->environment.empty() && scopes->environment != event.environment) return false;
    if (!session_id.empty() && event.session_id != session_id) return false;
    return type.empty() || event.type == type || event.type.starts_with(type + ".");
  }
};

Result<std::uint64_t> read_position(const Request& request, std::uint64_t last) {
  std::string text(request.headers.get("Last-Event-ID"));
  const char* field = "Last-Event-ID";
  if (auto asked = request.query("after")) {
    text = *asked;
    field = "after";
  }
  if (text.empty()) return last;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return std::min(number, last);
  return fail(Error(Code::invalid_argument, fmt::format("'{}' is the id of an event, a whole number", field))
                  .with_field(field));
}

std::string rendered(const telemetry::Event& event) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.id, event.type, event.line);
}

// What stood behind a position: nothing, a page, or one behind which there is more.
enum class Stood : std::uint8_t { nothing, page, more };

// Sends what is there behind `position`, and moves it.
Task<Stood> send_page(Context context, net::Exchange& exchange, const Interest& interest,
                      std::uint64_t& position) {
  telemetry::EventLog& log = *context->events;
  telemetry::EventLog::Page page;
  if (log.is_recent(position)) {
    page = log.read_after(position, kPage);
  } else {
    auto read = [&log, position]() -> Result<telemetry::EventLog::Page> {
      return log.read_after(position, kPage);
    };
    CO_TRY(page,
           co_await os::offload<telemetry::EventLog::Page>(context->followers->reading(), std::move(read)));
  }
  if (page.events.empty() && page.missed == 0) co_return Stood::nothing;
  std::string text;
  // The lost events may have been of other tenants, which can no longer be found out; the gap is reported all
  // the same.
  if (page.missed > 0)
    text += sse("gap", fmt::format(R"({{"after":{},"missed":{}}})", position, page.missed));
  for (const telemetry::EventPtr& event : page.events) {
    if (interest.takes(*event)) text += rendered(*event);
    if (text.size() >= kWriteBytes) CO_CHECK(co_await exchange.write(std::exchange(text, {})));
  }
  position = page.end;
  if (!text.empty()) CO_CHECK(co_await exchange.write(std::move(text)));
  co_return page.events.size() == kPage || page.missed > 0 ? Stood::more : Stood::page;
}

Task<void> follow(Context context, net::Exchange& exchange, Interest interest, std::uint64_t position) {
  boost::asio::steady_timer wake(context->executor);
  bool has_all = false;  // and waits to be told of more
  const auto hear = [&](const telemetry::Event& event) {
    if (!has_all) return;
    // What it may not or would not see does not even wake it: events of others are no work for it.
    if (event.id == position + 1 && !interest.takes(event))
      position = event.id;
    else
      wake.cancel();
  };
  struct Listening {
    telemetry::EventLog& log;
    net::Exchange& exchange;
    int number;
    ~Listening() {
      log.unlisten(number);
      exchange.on_disconnect({});
    }
  };
  const Listening listening{*context->events, exchange, context->events->listen(hear)};
  exchange.on_disconnect([&wake] { wake.cancel(); });
  while (!exchange.disconnected()) {
    CO_TRY(const Stood stood, co_await send_page(context, exchange, interest, position));
    if (stood == Stood::more) continue;
    // Something may have come while another thread was reading.
    if (stood == Stood::nothing && context->events->last_id() > position) continue;
    has_all = stood == Stood::nothing;
    wake.expires_after(has_all ? kSignOfLife : kGather);
    const auto [cut] = co_await wake.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (!cut && has_all) CO_CHECK(co_await exchange.write(": still here\n\n"));
    has_all = false;
  }
  co_return fail(Code::canceled, "the client went away");
}

Task<void> events(Context context, Principal who, net::Exchange& exchange) {
  Request& request = exchange.request();
  for (const auto& [name, value] : request.query_fields())
    if (name != "after" && name != "session_id" && name != "type")
      co_return fail(
          Error(Code::invalid_argument,
                fmt::format("unknown query parameter '{}'; there are after, session_id and type", name))
              .with_field(name));
  CO_TRY(const std::uint64_t position, read_position(request, context->events->last_id()));
  Interest interest{who.tenant, who.scopes, request.query("session_id").value_or(""),
                    request.query("type").value_or("")};
  CO_TRY(const auto hold, context->followers->enter(who.tenant));
  CO_TRY(const auto body, co_await exchange.read_whole());
  net::Headers headers{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  // Whoever reads the head knows from here on that nothing is missed.
  CO_CHECK(co_await exchange.write(fmt::format(": following from {}\n\n", position)));
  co_return co_await follow(context, exchange, std::move(interest), position);
}

// Reasons may name what is the operator's alone: addresses, directories.
Task<Response> health(Context context, Principal who, Request&) {
  const auto components = context->health->look();
  bj::array rows;
  for (const auto& one : components) {
    bj::object row{{"name", one.name},
                   {"state", telemetry::to_string(one.state.condition)},
                   {"since", to_rfc3339(one.since)}};
    row["reason"] = nullptr;
    if (!one.state.reason.empty())
      row["reason"] = who.may(Permission::metrics_read) ? one.state.reason : "the operator's to know";
    row["remedy"] = one.remedy.empty() ? bj::value(nullptr) : bj::value(one.remedy);
    rows.push_back(std::move(row));
  }
  const auto worst = telemetry::Health::worst(components);
  Response response = json_response(
      200, bj::object{{"status", telemetry::to_string(worst)}, {"components", std::move(rows)}});
  response.headers.set("Cache-Control", "no-store");
  co_return response;
}

Task<Response> get_log(Context, Principal, Request&) {
  co_return json_response(200, bj::object{{"level", log::level()}});
}

Task<Response> put_log(Context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"level"}));
  CO_TRY(const std::string level, body.required_text("level"));
  if (!log::set_level(level))
    co_return fail(body.wrong(
        "level", fmt::format("'{}' is no level; there are debug, info, warn, error and off", level)));
  log::info(session::subject_of(who), "the level of the log was set",
            {{"level", level}, {"key", who.key_id}});
  co_return json_response(200, bj::object{{"level", log::level()}});
}

}  // namespace

void mount_events(net::Router& router, const Context& context) {
  if (context->events == nullptr) return;
  stream(router, context, Method::get, "/api/events", with_key(Permission::sessions_read), events);
  route(router, context, Method::get, "/api/health", with_any_key(), health);
  route(router, context, Method::get, "/api/log", with_key(Permission::metrics_read), get_log);
  route(router, context, Method::put, "/api/log", with_key(Permission::cluster), put_log);
}

}  // namespace atl::api::rest
