#include "registry/tenant_entries.h"

#include <fmt/format.h>

#include "base/log.h"
#include "registry/kinds.h"

namespace atl::registry {
namespace {

std::string stored_kind(std::string_view kind) {
  return fmt::format("registry.{}", kind);
}

// What the tenant has declared already, but for what `entry` replaces.
std::size_t bytes_besides(const Registry& registry, const std::string& tenant, const Entry& entry) {
  std::size_t bytes = 0;
  for (const Kind& kind : kinds())
    for (const Entry* one : registry.entries(kind.folder, tenant))
      if (one->origin == Origin::tenant && !(one->kind == entry.kind && one->name == entry.name))
        bytes += one->json.size();
  return bytes;
}

}  // namespace

Task<void> TenantEntries::load() {
  for (const Kind& kind : kinds()) {
    if (kind.owners != Owners::tenants_too) continue;
    // Everything there is: nothing was changed later than now.
    const WallTime soon = Clock::machine().now() + std::chrono::hours(24);
    std::string stored = stored_kind(kind.folder);
    CO_TRY(const auto rows, co_await store_.documents_before(std::move(stored), soon));
    for (const store::DocumentRow& row : rows) {
      auto entry = registry_.check_tenant_entry(row.tenant, kind.folder, row.body);
      if (entry)
        registry_.put_tenant_entry(row.tenant, std::move(*entry));
      else
        log::warn("what a tenant declared cannot be used any more",
                  {{"tenant", row.tenant}, {"name", row.id}, {"error", entry.error().message()}});
    }
  }
  co_return Result<void>{};
}

Task<Entry> TenantEntries::read(std::string tenant, std::string kind, std::string text) {
  if (workers_ == nullptr) co_return Registry::read_tenant_entry(kind, text);
  auto work = [kind = std::move(kind), text = std::move(text)] {
    return Registry::read_tenant_entry(kind, text);
  };
  co_return co_await workers_->run<Entry>(tenant, std::move(work));
}

Task<Entry> TenantEntries::put(std::string tenant, std::string kind, std::string name, std::string text) {
  if (text.size() > kBytesMax)
    co_return fail(Code::too_large, fmt::format("a declaration has at most {} bytes", kBytesMax));
  CO_TRY(Entry entry, co_await read(tenant, kind, text));
  CO_CHECK(registry_.check_tenant_entry(tenant, entry));
  if (entry.name != name)
    co_return fail(Error(Code::invalid_argument,
                         fmt::format("the document declares '{}' and the path names '{}'", entry.name, name))
                       .with_field("name"));
  const Entry* const had = registry_.entry(kind, name, tenant);
  const bool is_new = had == nullptr || had->origin != Origin::tenant;
  if (is_new && registry_.tenant_entry_count(tenant) >= kEntriesMax)
    co_return fail(Code::resource_exhausted, fmt::format("a tenant declares at most {} things", kEntriesMax));
  if (bytes_besides(registry_, tenant, entry) + entry.json.size() > kTotalBytesMax)
    co_return fail(Code::resource_exhausted,
                   fmt::format("what a tenant declares has at most {} bytes together", kTotalBytesMax));
  store::DocumentRow row;
  row.kind = stored_kind(kind);
  row.tenant = tenant;
  row.id = name;
  row.body = std::move(text);
  row.created_at = row.updated_at = Clock::machine().now();
  CO_CHECK(co_await store_.put_document(std::move(row)));
  registry_.put_tenant_entry(tenant, entry);
  co_return entry;
}

Task<void> TenantEntries::remove(std::string tenant, std::string kind, std::string name) {
  std::string stored = stored_kind(kind);
  CO_TRY(const bool was_there, co_await store_.remove_document(std::move(stored), tenant, name));
  if (!was_there)
    co_return fail(Code::not_found, fmt::format("there is no '{}' of your own among the {}", name, kind));
  registry_.remove_tenant_entry(tenant, kind, name);
  co_return Result<void>{};
}

void TenantEntries::forget(const std::string& tenant) {
  registry_.remove_tenant(tenant);
}

}  // namespace atl::registry
