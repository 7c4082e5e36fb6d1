#include "api/e2b/layer_cache.h"

#include <algorithm>

namespace atl::api::e2b {
namespace {

constexpr const char* kLayerKind = "e2b_layer";
constexpr std::size_t kLayersMax = 64;  // of one tenant

std::string snapshot_of(const store::DocumentRow& row) {
  auto body = parse_object(row.body);
  auto id = body ? text_or(*body, "snapshot", "") : Result<std::string>(std::string());
  return id ? *id : std::string();
}

}  // namespace

Task<std::optional<std::string>> LayerCache::find(auth::Principal who, std::string name) {
  std::string kind = kLayerKind;
  auto row = co_await context_.store.get_document(kind, who.tenant, name);
  if (!row && row.error().code() == Code::not_found) co_return std::optional<std::string>();
  if (!row) co_return fail(std::move(row).error());
  std::string id = snapshot_of(*row);
  // Somebody may have removed it by its id.
  if (auto there = co_await context_.service.get_snapshot(who, id); !there) {
    CO_CHECK(co_await context_.store.remove_document(kind, who.tenant, name));
    co_return std::optional<std::string>();
  }
  row->updated_at = context_.clock.now();
  CO_CHECK(co_await context_.store.put_document(std::move(*row)));
  co_return std::optional<std::string>(std::move(id));
}

Task<void> LayerCache::put(auth::Principal who, std::string name, std::string snapshot_id) {
  store::DocumentRow row;
  row.kind = kLayerKind;
  row.tenant = who.tenant;
  row.id = std::move(name);
  row.body = to_text(Object{{"snapshot", snapshot_id}});
  row.created_at = row.updated_at = context_.clock.now();
  co_return co_await context_.store.put_document(std::move(row));
}

Task<bool> LayerCache::holds(auth::Principal who, std::string snapshot_id) {
  std::string kind = kLayerKind;
  CO_TRY(const auto rows, co_await context_.store.list_documents(kind, who.tenant));
  co_return std::any_of(rows.begin(), rows.end(),
                        [&](const store::DocumentRow& row) { return snapshot_of(row) == snapshot_id; });
}

Task<void> LayerCache::trim(auth::Principal who, const std::vector<std::string>& used_snapshots) {
  std::string kind = kLayerKind;
  CO_TRY(auto rows, co_await context_.store.list_documents(kind, who.tenant));
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.updated_at > b.updated_at; });
  for (std::size_t i = kLayersMax; i < rows.size(); ++i) {
    std::string id = snapshot_of(rows[i]);
    const bool used = std::find(used_snapshots.begin(), used_snapshots.end(), id) != used_snapshots.end();
    if (!used) {
      auto removed = co_await context_.service.remove_snapshot(who, id);
      if (!removed && removed.error().code() == Code::conflict)
        continue;  // a sandbox stands on it: next time
    }
    CO_CHECK(co_await context_.store.remove_document(kind, who.tenant, rows[i].id));
  }
  co_return Result<void>{};
}

}  // namespace atl::api::e2b
