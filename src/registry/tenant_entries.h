#pragma once

#include <string>

#include "os/fair_pool.h"
#include "os/task.h"
#include "registry/registry.h"
#include "store/store.h"

namespace atl::registry {

// What tenants declare, kept in the store and shown by the registry. Belongs to the loop thread; both must
// outlive it.
class TenantEntries {
 public:
  static constexpr std::size_t kEntriesMax = 500;
  static constexpr std::size_t kBytesMax = 256U << 10;
  static constexpr std::size_t kTotalBytesMax = 8U << 20;  // of all that one tenant declares

  // `workers` must outlive it; null: declarations are read on the loop.
  TenantEntries(store::Store& store, Registry& registry, os::FairPool* workers = nullptr)
      : store_(store), registry_(registry), workers_(workers) {}

  // Once, at the start. An entry that the registry refuses by now is left out and logged; it stays stored.
  Task<void> load();
  // Checked, stored, then shown. Code::invalid_argument with the field "name" if the document declares
  // another name; Code::too_large and Code::resource_exhausted beyond the bounds; the rest as
  // Registry::check_tenant_entry().
  Task<Entry> put(std::string tenant, std::string kind, std::string name, std::string text);
  // Code::not_found if the tenant has none of its own.
  Task<void> remove(std::string tenant, std::string kind, std::string name);
  // Everything that the tenant declared is no longer shown; its rows go with the tenant's others.
  void forget(const std::string& tenant);

 private:
  // Off the loop: a quarter of a megabyte of YAML takes a tenth of a second.
  Task<Entry> read(std::string tenant, std::string kind, std::string text);

  store::Store& store_;
  Registry& registry_;
  os::FairPool* workers_;
};

}  // namespace atl::registry
