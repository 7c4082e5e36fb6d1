#include "sandbox/emulated/virtual.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "os/file.h"
#include "os/offload.h"
#include "sandbox/emulated/virtual_sandbox.h"
#include "sandbox/spec_check.h"
#include "shell/shell.h"
#include "vfs/snapshot_format.h"

namespace atl::sandbox::emulated {
namespace {

constexpr std::size_t kSnapshotBytesMax = std::size_t{1} << 30;

class VirtualProvider final : public Provider {
 public:
  VirtualProvider(boost::asio::any_io_executor executor, std::shared_ptr<Storages> storages)
      : executor_(std::move(executor)), storages_(std::move(storages)), base_(shell::base_snapshot()) {
    if (const auto stats = vfs::VirtualFileSystem(base_).stats()) own_nodes_ = stats->nodes();
  }

  std::string_view name() const override { return "virtual"; }
  const Traits& traits() const override { return virtual_traits(); }
  Isolation probed() const override {
    VirtualTree tree;
    tree.memory = std::make_shared<vfs::VirtualFileSystem>(base_);
    tree.view = tree.memory;
    return VirtualSandbox(executor_, Spec(), tree, own_nodes_).isolation();
  }

  Task<std::unique_ptr<Sandbox>> create(Spec spec) override {
    CO_CHECK(check(spec));
    CO_CHECK(check_traits(spec));
    std::erase_if(sandboxes_, [](const auto& entry) { return entry.second->has_ended(); });
    if (sandboxes_.contains(spec.id)) co_return fail(Code::already_exists, "a sandbox of that id lives");
    auto start = base_;
    if (spec.snapshot) {
      CO_TRY(auto bytes, os::read_file(*spec.snapshot + "/vfs.snapshot", kSnapshotBytesMax));
      CO_TRY(auto stored, vfs::import_snapshot(bytes));
      start = std::move(stored);
    }
    const auto beginning = spec.snapshot ? Beginning::from_snapshot : Beginning::fresh;
    CO_TRY(VirtualTree tree, co_await tree_of(spec, std::move(start), beginning));
    auto required = spec.required_walls;
    auto sandbox = std::make_unique<VirtualSandbox>(executor_, std::move(spec), std::move(tree), own_nodes_);
    const auto& walls = sandbox->isolation().walls;
    for (const std::string& wanted : required)
      if (std::ranges::none_of(walls, [&](const Wall& wall) { return wall.name == wanted; }))
        co_return fail(Code::unsupported, fmt::format("the virtual provider has no wall {}", wanted));
    sandboxes_.insert_or_assign(sandbox->id(), sandbox->life());
    std::unique_ptr<Sandbox> handle = std::move(sandbox);
    co_return handle;
  }

  Result<void> check_storage(const StorageUse& use) const override { return storages_->check(use); }
  Task<void> discard_storage(StorageUse use) override {
    auto discard = [storages = storages_, use = std::move(use)] { return storages->discard(use); };
    co_return co_await os::offload<void>(*storages_->pool(), std::move(discard));
  }

  Task<std::vector<std::string>> adoptable() override { co_return std::vector<std::string>(); }
  Task<std::unique_ptr<Sandbox>> adopt(std::string id) override {
    co_return fail(Code::not_found, fmt::format("no sandbox {}: a virtual one ends with its daemon", id));
  }
  std::vector<PoolLevel> pools() const override { return {}; }
  Task<void> shut_down() override {
    for (const auto& [id, life] : std::exchange(sandboxes_, {}))
      CO_CHECK(co_await Life::finish(life, "the provider shut down"));
    co_return Result<void>();
  }

 private:
  // A storage may be slow to open: the loop does not wait for it.
  Task<VirtualTree> tree_of(const Spec& spec, vfs::Snapshot start, Beginning beginning) {
    if (!spec.storage) co_return make_tree(spec, std::move(start), beginning, *storages_);
    auto make = [spec, start = std::move(start), beginning, storages = storages_] {
      return make_tree(spec, start, beginning, *storages);
    };
    co_return co_await os::offload<VirtualTree>(*storages_->pool(), std::move(make));
  }

  static Result<void> check_traits(const Spec& spec) {
    auto lacks = [](std::string_view what, std::string_view field) {
      return fail(Error(Code::unsupported, fmt::format("the virtual provider has no {}", what))
                      .with_field(std::string(field)));
    };
    if (spec.network != Network::none) return lacks("network", "network");
    for (const HostMount& mount : spec.host_mounts)
      if (mount.writable) return lacks("directories of the host for writing", "host_mounts");
    if (!spec.layers.empty()) return lacks("layers", "layers");
    if (spec.user != "user" && spec.user != "root")
      return fail(Error(Code::invalid_argument, fmt::format("no user {}", spec.user)).with_field("user"));
    return {};
  }

  boost::asio::any_io_executor executor_;
  std::shared_ptr<Storages> storages_;
  vfs::Snapshot base_;
  std::uint64_t own_nodes_ = 0;  // of base_
  std::map<std::string, std::shared_ptr<Life>> sandboxes_;
};

}  // namespace

std::unique_ptr<Provider> make(boost::asio::any_io_executor executor, std::shared_ptr<Storages> storages) {
  if (storages == nullptr) storages = std::make_shared<Storages>();
  return std::make_unique<VirtualProvider>(std::move(executor), std::move(storages));
}

}  // namespace atl::sandbox::emulated
