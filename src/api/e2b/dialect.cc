#include "api/e2b/dialect.h"

#include "api/e2b/builds.h"
#include "api/e2b/control.h"
#include "api/e2b/credentials.h"
#include "api/e2b/envd.h"
#include "api/e2b/interpreter.h"
#include "api/e2b/observation.h"
#include "api/e2b/proxy.h"
#include "api/e2b/retention.h"
#include "api/e2b/secrets.h"
#include "api/e2b/templates.h"
#include "api/e2b/volume_guard.h"
#include "api/e2b/volumes.h"

namespace atl::api::e2b {
namespace {

// Which site a request is for, before anything else is looked at.
enum class Plane { none, envd, interpreter, port };

Plane plane_of(const net::Request& request) {
  auto place = place_of(request);
  if (!place) return Plane::port;  // answers 400
  if (!*place) return is_unplaced_file_request(request) ? Plane::envd : Plane::none;
  if ((*place)->port == kEnvdPort) return Plane::envd;
  if ((*place)->port == kInterpreterPort) return Plane::interpreter;
  return Plane::port;
}

bool is_below(std::string_view path, std::string_view top) {
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

bool is_control_path(std::string_view path) {
  for (std::string_view top : {"/sandboxes", "/v2", "/v3", "/templates", "/snapshots", "/teams", "/volumes",
                               "/secrets", "/upload", "/api-keys", "/access-tokens", "/nodes", "/admin"}) {
    if (is_below(path, top)) return true;
  }
  return false;
}

}  // namespace

struct Dialect::Planes {
  explicit Planes(Context given)
      : context(std::move(given)),
        cache(context),
        templates(context, cache),
        uploads(context),
        builds(context, templates, cache, uploads),
        retention(context, templates, uploads),
        control(context, templates),
        observation(context),
        credentials(context),
        volumes(context),
        guard(context),
        secrets(context),
        envd(context),
        interpreter(context),
        proxy(context) {}

  Context context;
  LayerCache cache;
  Templates templates;
  Uploads uploads;
  Builds builds;
  Retention retention;
  Control control;
  Observation observation;
  Credentials credentials;
  Volumes volumes;
  VolumeGuard guard;
  Secrets secrets;
  Envd envd;
  Interpreter interpreter;
  Proxy proxy;
};

Dialect::Dialect(Context context) : planes_(std::make_unique<Planes>(std::move(context))) {
  quota::Inventory* const inventory = planes_->context.inventory;
  if (inventory == nullptr) return;
  Planes* const planes = planes_.get();
  inventory->add(quota::Quota::stored_mb, [planes](std::string tenant) -> Task<std::uint64_t> {
    co_return planes->uploads.bytes_of(tenant);
  });
  inventory->add(quota::Quota::templates, [planes](std::string tenant) -> Task<std::uint64_t> {
    return planes->templates.count(std::move(tenant));
  });
}
Dialect::~Dialect() = default;

Task<void> Dialect::forget_tenant(std::string tenant) {
  planes_->uploads.remove_all(tenant);
  co_return co_await planes_->templates.forget_public(tenant);
}

void Dialect::mount(net::Server& server) {
  auto on = [](Plane plane) {
    return [plane](const net::Request& request) { return plane_of(request) == plane; };
  };
  planes_->envd.mount(server.add_site(on(Plane::envd)));
  planes_->interpreter.mount(server.add_site(on(Plane::interpreter)));
  planes_->proxy.mount(server.add_site(on(Plane::port), net::Server::Answers::passed_on));
  net::Router& control =
      server.add_site([](const net::Request& request) { return is_control_path(request.path); });
  control.set_error_renderer(render_control_error);
  planes_->control.mount(control);
  planes_->observation.mount(control);
  planes_->credentials.mount(control);
  planes_->templates.mount(control);
  planes_->builds.mount(control);
  planes_->volumes.mount(control);
  planes_->secrets.mount(control);
  planes_->volumes.mount_content(
      server.add_site([](const net::Request& request) { return is_below(request.path, "/volumecontent"); }));
}

}  // namespace atl::api::e2b
