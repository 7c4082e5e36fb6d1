#include "api/e2b/envd.h"

#include <charconv>

#include "api/e2b/connect.h"

namespace atl::api::e2b {
namespace {

constexpr std::uint64_t kMessageMax = 8U << 20;

net::Response health(const Context& context, const net::Request& request) {
  auto found = find_target(context, request);
  if (auto* refused = std::get_if<net::Response>(&found)) {
    // Whoever asks whether it runs is told no, and of no conflict.
    auto place = place_of(request);
    if (refused->status == 409 && place && *place) return sandbox_gone(request, (*place)->sandbox_id);
    return std::move(*refused);
  }
  net::Response response = net::Response::empty(204);
  response.headers.add("Cache-Control", "no-store");
  return response;
}

// 502 means to clients that the whole sandbox is gone; a failed call into a living one is 500.
net::Response render_plane_error(const Error& error, const net::Request& request) {
  if (error.code() == Code::provider_failed) return control_error(500, error.message());
  return render_control_error(error, request);
}

bool is_type(const net::Request& request, std::string_view type) {
  std::string_view given = request.headers.get("Content-Type");
  return given.starts_with(type) &&
         (given.size() == type.size() || given[type.size()] == ';' || given[type.size()] == ' ');
}

Task<std::string> read_all(net::Exchange& exchange) {
  std::string all;
  while (true) {
    CO_TRY(std::string piece, co_await exchange.read());
    if (piece.empty()) co_return all;
    all += piece;
  }
}

Task<net::Response> metrics(const Context& context, net::Request& request) {
  auto found = find_target(context, request);
  if (auto* refused = std::get_if<net::Response>(&found)) co_return std::move(*refused);
  Target& target = std::get<Target>(found);
  if (auto checked = check_token(target, request); !checked) co_return fail(std::move(checked).error());
  CO_TRY(auto samples,
         co_await context.service.metrics(target.owner, target.id(), std::nullopt, std::nullopt));
  CO_TRY(auto usage, co_await context.service.usage(target.owner, target.id()));
  const auto& limits = target.session.limits;
  constexpr std::uint64_t kMegabyte = 1U << 20;
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

void Envd::unary(net::Router& router, std::string_view path, Unary method, std::string_view conflict) {
  auto handle = [this, method, conflict](net::Request& request) -> Task<net::Response> {
    auto found = find_target(context_, request);
    if (auto* refused = std::get_if<net::Response>(&found)) co_return std::move(*refused);
    Target& target = std::get<Target>(found);
    if (auto checked = check_token(target, request); !checked)
      co_return control_error(401, checked.error().message());
    if (!is_type(request, "application/json")) co_return net::Response::empty(415);
    auto message = parse_object(request.body);
    if (!message) co_return connect::error_response(message.error());
    auto answer = co_await (this->*method)(std::move(target), std::move(*message), request);
    if (!answer && answer.error().code() == Code::conflict && !conflict.empty())
      co_return connect::error_response(answer.error(), conflict);
    if (!answer) co_return connect::error_response(answer.error());
    co_return json_response(200, *answer);
  };
  router.add(net::Method::post, path, handle, {.body_bytes_max = kMessageMax});
}

std::variant<Target, net::Response> Envd::find_stream_target(const net::Request& request) const {
  auto found = find_target(context_, request);
  const auto* target = std::get_if<Target>(&found);
  if (target == nullptr) return found;
  if (auto checked = check_token(*target, request); !checked) return control_error(401, checked.error().message());
  if (!is_type(request, "application/connect+json")) return net::Response::empty(415);
  return found;
}

void Envd::streamed(net::Router& router, std::string_view path, Streamed method) {
  auto handle = [this, method](net::Exchange& exchange) -> Task<void> {
    net::Request& request = exchange.request();
    auto found = find_stream_target(request);
    if (auto* refused = std::get_if<net::Response>(&found))
      co_return co_await exchange.send(std::move(*refused));
    Target& target = std::get<Target>(found);
    CO_TRY(std::string body, co_await read_all(exchange));
    Result<void> done;
    std::string sandbox_id = target.id();
    auto opened = connect::open_envelope(body);
    auto message = opened ? parse_object(*opened) : Result<Object>(std::unexpected(opened.error()));
    if (!message) {
      done = fail(message.error());
    } else {
      done = co_await (this->*method)(std::move(target), std::move(*message), exchange);
    }
    if (done || exchange.finished() || exchange.disconnected()) co_return done;
    // A stream that breaks because its sandbox ended is cut, not ended: that is how clients tell.
    auto session = context_.service.peek(sandbox_id);
    if (exchange.started() && (!session || !is_reachable(*session))) {
      exchange.abort();
      co_return Result<void>();
    }
    if (!exchange.started()) {
      net::Headers headers{{"Content-Type", "application/connect+json"}};
      CO_CHECK(co_await exchange.start(200, std::move(headers)));
    }
    CO_CHECK(co_await exchange.write(connect::end_of_stream(done.error())));
    co_return co_await exchange.finish();
  };
  router.add_stream(net::Method::post, path, handle, {.body_bytes_max = kMessageMax});
}

void Envd::mount(net::Router& router) {
  router.set_error_renderer(render_plane_error);
  unary(router, "/process.Process/List", &Envd::process_list);
  streamed(router, "/process.Process/Start", &Envd::process_start);
  streamed(router, "/process.Process/Connect", &Envd::process_connect);
  unary(router, "/process.Process/Update", &Envd::process_update);
  unary(router, "/process.Process/SendSignal", &Envd::process_send_signal);
  mount_input(router);
  unary(router, "/filesystem.Filesystem/Stat", &Envd::file_stat);
  unary(router, "/filesystem.Filesystem/MakeDir", &Envd::file_make_dir);
  unary(router, "/filesystem.Filesystem/Move", &Envd::file_move);
  unary(router, "/filesystem.Filesystem/ListDir", &Envd::file_list);
  unary(router, "/filesystem.Filesystem/Remove", &Envd::file_remove);
  streamed(router, "/filesystem.Filesystem/WatchDir", &Envd::file_watch);
  unary(router, "/filesystem.Filesystem/CreateWatcher", &Envd::create_watcher);
  unary(router, "/filesystem.Filesystem/GetWatcherEvents", &Envd::watcher_events);
  unary(router, "/filesystem.Filesystem/RemoveWatcher", &Envd::remove_watcher);
  mount_transfer(router);
  router.add(net::Method::get, "/health",
             [this](net::Request& request) -> Task<net::Response> { co_return health(context_, request); });
  router.add(net::Method::get, "/metrics",
             [this](net::Request& request) { return metrics(context_, request); });
  router.add(net::Method::get, "/envs", [this](net::Request& request) -> Task<net::Response> {
    auto found = find_target(context_, request);
    if (auto* refused = std::get_if<net::Response>(&found)) co_return std::move(*refused);
    Target& target = std::get<Target>(found);
    if (auto checked = check_token(target, request); !checked) co_return fail(std::move(checked).error());
    Object body;
    for (const auto& [name, value] : target.session.env) body[name] = value;
    co_return json_response(200, body);
  });
}

}  // namespace atl::api::e2b
