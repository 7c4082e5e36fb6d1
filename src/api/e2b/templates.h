#pragma once

#include <optional>

#include "api/e2b/built_template.h"
#include "api/e2b/context.h"
#include "api/e2b/layer_cache.h"
#include "net/router.h"

namespace atl::api::e2b {

// What a sandbox is made from: a shipped environment under its own name, a snapshot, or a template that was
// built.
struct Template {
  std::string id;        // 20 characters, or the environment's name
  std::string name;      // without namespace; may be empty for an unnamed snapshot
  std::string snapshot;  // to start from; empty: the environment fresh
  std::string tenant;    // whose it is; empty: shipped, everybody's
  TemplateSettings settings;
  bool is_public = false;
  bool is_ready = true;
  std::string build_id;
  std::size_t build_count = 1;
  WallTime created_at{};
};

// Templates and snapshots of the control plane.
class Templates {
 public:
  Templates(Context& context, LayerCache& cache) : context_(context), cache_(cache) {}
  void mount(net::Router& router);

  // By "[namespace/]name[:tag]", template id or snapshot id; one's own, a shipped one, or a public one of
  // another tenant by "namespace/name" or id. Code::not_found "template 'x' not found" (another's private one
  // too) or "tag 'y' does not exist for template 'x'".
  Task<Template> resolve(auth::Principal who, std::string reference);

  // Built templates of one's own, by id or name. Code::not_found if there is none.
  Task<BuiltTemplate> built(auth::Principal who, std::string id_or_name);
  // The same for whoever wants to change it: Code::permission_denied if it is a public one of another tenant.
  Task<BuiltTemplate> changeable(auth::Principal who, TemplateRef ref);
  // Whether something new may be called so. Code::permission_denied otherwise.
  Task<void> check_name(auth::Principal who, const TemplateRef& ref);
  // A new one is not saved yet; `place` is its place within the tenant's quota until it is.
  Task<BuiltTemplate> find_or_create(auth::Principal who, std::string name, quota::Reservation& place);
  Task<void> save(auth::Principal who, const BuiltTemplate& made);
  // Forgets builds over the number kept, with their snapshots: the oldest that no tag names. Not stored.
  Task<void> trim_builds(auth::Principal who, BuiltTemplate& made);
  // How many the tenant has.
  Task<std::uint64_t> count(std::string tenant);
  // Nobody finds the tenant's templates by their ids any more.
  Task<void> forget_public(std::string tenant);
  // Templates of all tenants that were not built since and that no sandbox uses.
  Task<void> remove_old(WallTime before);
  // Snapshots that builds of templates stand on.
  Task<std::vector<std::string>> built_snapshots(auth::Principal who);

  // Room of a sandbox with these settings: their own, or what the environment and the ceilings give.
  std::int64_t disk_mb(const TemplateSettings& settings) const;

 private:
  using Handler = Task<net::Response> (Templates::*)(net::Request& request, auth::Principal who);
  void add(net::Router& router, net::Method method, std::string_view path, Rule rule, Handler handler);

  Task<net::Response> create_snapshot(net::Request& request, auth::Principal who);
  Task<net::Response> list_snapshots(net::Request& request, auth::Principal who);
  Task<net::Response> list(net::Request& request, auth::Principal who);
  Task<net::Response> get(net::Request& request, auth::Principal who);
  Task<net::Response> alias(net::Request& request, auth::Principal who);
  Task<net::Response> list_tags(net::Request& request, auth::Principal who);
  Task<net::Response> remove(net::Request& request, auth::Principal who);
  Task<net::Response> change(net::Request& request, auth::Principal who);

  bool is_shipped(const std::string& name) const;
  bool is_used(const std::string& template_id) const;
  Task<void> erase(auth::Principal who, BuiltTemplate document);
  // Unless another build or a cached layer needs it.
  Task<void> drop_snapshot(auth::Principal who, std::string snapshot, std::vector<std::string> used);
  // A public template of another tenant, by namespace and name, or by id. Nothing if there is none.
  struct Shared {
    std::string tenant;
    BuiltTemplate document;
  };
  Task<std::optional<Shared>> find_public(TemplateRef ref);
  Task<void> set_public(auth::Principal who, BuiltTemplate made, bool is_public);
  sandbox::Limits limits_of(const TemplateSettings& settings) const;
  Object template_info(const Template& made) const;
  Template from_document(const std::string& tenant, const BuiltTemplate& document,
                         const std::string& build_id) const;
  Task<std::vector<session::Snapshot>> find_snapshots(auth::Principal who, TemplateRef ref);

  Context& context_;
  LayerCache& cache_;
};

}  // namespace atl::api::e2b
