#include "api/e2b/envd.h"

#include <charconv>

#include "api/e2b/connect.h"

namespace atl::api::e2b {
namespace {

constexpr std::uint64_t kMessageMax = 8U << 20;

// A health check of a sandbox that is being made or paused says that it does not run, instead of 409.
std::optional<net::Response> refuse_health(const Refusal& refusal, const net::Request& request) {
  if (refusal.kind == Refusal::Kind::changing) return sandbox_gone(request, refusal.sandbox_id);
  return refuse_in_place(refusal, request);
}

net::Response health() {
  net::Response response = net::Response::empty(204);
  response.headers.add("Cache-Control", "no-store");
  return response;
}

// If a call failed because its sandbox was paused or killed meanwhile, it gets the answer of a call that
// comes after that.
std::optional<net::Response> gone_meanwhile(const Context& context, const Error& error,
                                            const net::Request& request) {
  const bool can_be = error.code() == Code::conflict || error.code() == Code::unavailable;
  if (!can_be || !request.grant) return std::nullopt;
  const std::string id = target_of(request).id();
  if (is_answering(context, id)) return std::nullopt;
  return sandbox_gone(request, id);
}

// 502 means to clients that the whole sandbox is gone; a failed call into a living one is 500.
net::Response render_plane_error(const Context& context, const Error& error, const net::Request& request) {
  if (auto gone = gone_meanwhile(context, error, request)) return std::move(*gone);
  if (error.code() == Code::provider_failed) return control_error(500, error.message());
  return render_control_error(error, request);
}

bool is_type(const net::Request& request, std::string_view type) {
  std::string_view given = request.headers.get("Content-Type");
  return given.starts_with(type) &&
         (given.size() == type.size() || given[type.size()] == ';' || given[type.size()] == ' ');
}

net::Response answer_of(const Object& message) {
  return json_response(200, message);
}
net::Response answer_of(std::string text) {
  return net::Response::json(200, std::move(text));
}

Task<net::Response> metrics(const Context& context, net::Request& request) {
  const Target target = target_of(request);
  CO_TRY(auto samples,
         co_await context.service.metrics(target.owner, target.id(), std::nullopt, std::nullopt));
  CO_TRY(auto usage, co_await context.service.usage(target.owner, target.id()));
  const auto& limits = target.session().limits;
  Object body{{"ts", unix_millis(context.clock.now()) / 1000},
              {"cpu_count", std::max(1.0, limits.cpu_cores)},
              {"cpu_used_pct", samples.empty() ? 0.0 : samples.back().cpu_percent},
              {"mem_total", limits.memory_bytes},
              {"mem_used", usage.memory_bytes},
              {"mem_cache", usage.memory_cache_bytes},
              {"mem_total_mib", limits.memory_bytes / kMegabyte},
              {"mem_used_mib", usage.memory_bytes / kMegabyte},
              {"disk_used", usage.disk_bytes},
              {"disk_total", limits.disk_bytes}};
  co_return json_response(200, body);
}

}  // namespace

std::chrono::milliseconds keepalive_interval(const net::Request& request) {
  std::string_view text = request.headers.get("Keepalive-Ping-Interval");
  int seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(seconds > 0 && seconds <= 3600 ? seconds : 90);
}

net::AccessRule Envd::rule(Rule needed) const {
  return context_.admission.rule(needed, refuse_in_place);
}

template <class Method>
void Envd::add_unary(net::Router& router, std::string_view path, Rule needed, Method method,
                     std::string_view conflict) {
  auto handle = [this, method, conflict](net::Request& request) -> Task<net::Response> {
    Target target = target_of(request);
    if (!is_type(request, "application/json")) co_return net::Response::empty(415);
    auto message = parse_object(request.body);
    if (!message) co_return connect::error_response(message.error());
    auto answer = co_await (this->*method)(std::move(target), std::move(*message), request);
    auto gone = answer ? std::nullopt : gone_meanwhile(context_, answer.error(), request);
    if (gone) co_return std::move(*gone);
    if (!answer && answer.error().code() == Code::conflict && !conflict.empty())
      co_return connect::error_response(answer.error(), conflict);
    if (!answer) co_return connect::error_response(answer.error());
    co_return answer_of(std::move(*answer));
  };
  router.add(net::Method::post, path, rule(needed), handle, {.body_bytes_max = kMessageMax});
}

void Envd::unary(net::Router& router, std::string_view path, Rule needed, Unary method,
                 std::string_view conflict) {
  add_unary(router, path, needed, method, conflict);
}

void Envd::unary(net::Router& router, std::string_view path, Rule needed, UnaryText method) {
  add_unary(router, path, needed, method, {});
}

bool Envd::is_stream(const net::Request& request) {
  return is_type(request, "application/connect+json");
}

void Envd::streamed(net::Router& router, std::string_view path, Rule needed, Streamed method) {
  auto handle = [this, method](net::Exchange& exchange) -> Task<void> {
    if (!is_stream(exchange.request())) co_return co_await exchange.send(net::Response::empty(415));
    Target target = target_of(exchange.request());
    Result<Object> message = Object();
    {
      // Dropped before the call, which may last for hours.
      CO_TRY(const net::WholeBody body, co_await exchange.read_whole());
      auto opened = connect::open_envelope(body.text);
      message = opened ? parse_object(*opened) : Result<Object>(std::unexpected(opened.error()));
    }
    Result<void> done;
    std::string sandbox_id = target.id();
    if (!message) {
      done = fail(message.error());
    } else {
      done = co_await (this->*method)(std::move(target), std::move(*message), exchange);
    }
    if (done || exchange.finished() || exchange.disconnected()) co_return done;
    // A stream that breaks because its sandbox ended is cut, not ended: that is how clients tell.
    if (exchange.started() && !is_answering(context_, sandbox_id)) {
      exchange.abort();
      co_return Result<void>();
    }
    if (auto gone = gone_meanwhile(context_, done.error(), exchange.request()); gone && !exchange.started())
      co_return co_await exchange.send(std::move(*gone));
    if (!exchange.started()) {
      net::Headers headers{{"Content-Type", "application/connect+json"}};
      CO_CHECK(co_await exchange.start(200, std::move(headers)));
    }
    CO_CHECK(co_await exchange.write(connect::end_of_stream(done.error())));
    co_return co_await exchange.finish();
  };
  router.add_stream(net::Method::post, path, rule(needed), handle, {.body_bytes_max = kMessageMax});
}

void Envd::mount(net::Router& router) {
  router.set_error_renderer([this](const Error& error, const net::Request& request) {
    return render_plane_error(context_, error, request);
  });
  unary(router, "/process.Process/List", with_secret(Permission::execute), &Envd::process_list);
  streamed(router, "/process.Process/Start", with_secret(Permission::execute), &Envd::process_start);
  streamed(router, "/process.Process/Connect", with_secret(Permission::execute), &Envd::process_connect);
  unary(router, "/process.Process/Update", with_secret(Permission::execute), &Envd::process_update);
  unary(router, "/process.Process/SendSignal", with_secret(Permission::execute).ending(),
        &Envd::process_send_signal);
  mount_input(router);
  unary(router, "/filesystem.Filesystem/Stat", with_secret(Permission::files_read), &Envd::file_stat);
  unary(router, "/filesystem.Filesystem/MakeDir", with_secret(Permission::files_write), &Envd::file_make_dir);
  unary(router, "/filesystem.Filesystem/Move", with_secret(Permission::files_write), &Envd::file_move);
  unary(router, "/filesystem.Filesystem/ListDir", with_secret(Permission::files_read), &Envd::file_list);
  unary(router, "/filesystem.Filesystem/Remove", with_secret(Permission::files_write).ending(),
        &Envd::file_remove);
  streamed(router, "/filesystem.Filesystem/WatchDir", with_secret(Permission::files_read), &Envd::file_watch);
  unary(router, "/filesystem.Filesystem/CreateWatcher", with_secret(Permission::files_read),
        &Envd::create_watcher);
  unary(router, "/filesystem.Filesystem/GetWatcherEvents", with_secret(Permission::files_read),
        &Envd::watcher_events);
  unary(router, "/filesystem.Filesystem/RemoveWatcher", with_secret(Permission::files_read).ending(),
        &Envd::remove_watcher);
  mount_transfer(router);
  router.add(net::Method::get, "/health",
             context_.admission.rule({Credential::sandbox, Permission::none}, refuse_health),
             [](net::Request&) -> Task<net::Response> { co_return health(); });
  router.add(net::Method::get, "/metrics", rule(with_secret(Permission::sessions_read)),
             [this](net::Request& request) { return metrics(context_, request); });
  router.add(net::Method::get, "/envs", rule(with_secret(Permission::sessions_read)),
             [](net::Request& request) -> Task<net::Response> {
               Object body;
               for (const auto& [name, value] : target_of(request).session().env) body[name] = value;
               co_return json_response(200, body);
             });
}

}  // namespace atl::api::e2b
