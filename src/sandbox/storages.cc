#include "sandbox/storages.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl::sandbox::emulated {
namespace {

// A name of a tenant or a session as one safe name of a file.
std::string safe_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (is_plain)
      name += c;
    else
      name += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return name.empty() ? "%" : name;
}

Error no_such(const std::string& name) {
  return Error(Code::invalid_argument, fmt::format("no storage is called '{}'", name)).with_field("storage");
}

template <class T>
Result<T> one_of(const config::Node& node, std::string_view key,
                 const std::vector<std::pair<std::string_view, T>>& words) {
  const config::Node* value = node.find(key);
  if (value == nullptr || value->is_null()) return words.front().second;
  std::vector<std::string_view> known;
  for (const auto& [word, meaning] : words) {
    if (value->text() == word) return meaning;
    known.push_back(word);
  }
  return fail(value->error(fmt::format("'{}' is {}{}", key, fmt::join(known, " or "),
                                       config::did_you_mean(value->text(), known))));
}

}  // namespace

Result<std::vector<StorageDeclaration>> parse_storages(const config::Node& node,
                                                       const vfs::StorageKinds& kinds,
                                                       const std::string& directory) {
  std::vector<StorageDeclaration> declared;
  if (node.is_null()) return declared;
  TRY(node.expect(config::Kind::map));
  for (const config::Member& member : node.members()) {
    const config::Node& value = member.value;
    TRY(value.expect(config::Kind::map));
    StorageDeclaration storage;
    storage.name = member.key;
    if (safe_name(storage.name) != storage.name || storage.name.size() > 64)
      return fail(value.error("a storage's name has letters, digits, '-' and '_', at most 64"));
    storage.kind = TRY(value.require<std::string>("kind"));
    const vfs::StorageKind* kind = kinds.find(storage.kind);
    if (kind == nullptr)
      return fail(value.find("kind")->error(fmt::format("no kind of storage is called '{}'; there are {}",
                                                        storage.kind, fmt::join(kinds.names(), ", "))));
    std::vector<std::string_view> known = {"kind", "share", "access", "tenants"};
    known.insert(known.end(), kind->options.begin(), kind->options.end());
    TRY(value.check_keys(known));
    storage.share = TRY(one_of<Share>(
        value, "share", {{"session", Share::session}, {"tenant", Share::tenant}, {"all", Share::all}}));
    storage.access = TRY(one_of<StorageAccess>(
        value, "access",
        {{"read_write", StorageAccess::read_write}, {"read_only", StorageAccess::read_only}}));
    storage.tenants = TRY(value.get_or<std::vector<std::string>>("tenants", {}));
    for (const std::string& option : kind->options)
      if (auto text = TRY(value.get<std::string>(option))) storage.options[option] = std::move(*text);
    if (std::ranges::find(kind->options, "path") != kind->options.end()) {
      std::string& path = storage.options["path"];
      if (path.empty()) path = fmt::format("{}/{}", directory, storage.name);
      if (!path.starts_with('/')) return fail(value.error("'path' is an absolute path of a directory"));
    }
    declared.push_back(std::move(storage));
  }
  return declared;
}

Storages::Storages(vfs::StorageKinds kinds, std::vector<StorageDeclaration> declared)
    : kinds_(std::move(kinds)) {
  for (StorageDeclaration& storage : declared) {
    std::string name = storage.name;
    declared_.insert_or_assign(std::move(name), std::move(storage));
  }
}

Result<void> Storages::check(const StorageUse& use) const {
  const auto found = declared_.find(use.name);
  if (found == declared_.end()) return fail(no_such(use.name));
  const auto& tenants = found->second.tenants;
  // One that a tenant may not use is to it as one that is not there.
  if (!tenants.empty() && std::ranges::find(tenants, use.tenant) == tenants.end())
    return fail(no_such(use.name));
  return {};
}

std::string Storages::space_of(const StorageDeclaration& storage, const StorageUse& use) const {
  switch (storage.share) {
    case Share::session: return safe_name(use.tenant) + "/" + safe_name(use.session);
    case Share::tenant: return safe_name(use.tenant) + "/%shared";
    case Share::all: return "%shared";
  }
  std::unreachable();
}

std::shared_ptr<boost::asio::thread_pool> Storages::pool() {
  constexpr std::size_t kThreads = 8;
  const std::lock_guard hold(lock_);
  if (pool_ == nullptr) pool_ = std::make_shared<boost::asio::thread_pool>(kThreads);
  return pool_;
}

std::shared_ptr<vfs::VirtualFileSystem> Storages::known(const std::string& key) {
  const std::lock_guard hold(lock_);
  std::erase_if(open_, [](const auto& one) { return one.second.expired(); });
  const auto found = open_.find(key);
  return found == open_.end() ? nullptr : found->second.lock();
}

Result<StoredFiles> Storages::open(const StorageUse& use, const vfs::Quota& quota) {
  TRY(check(use));
  const StorageDeclaration& storage = declared_.find(use.name)->second;
  const std::string space = space_of(storage, use);
  const std::string key = storage.name + "/" + space;
  std::shared_ptr<vfs::VirtualFileSystem> fs = known(key);
  if (fs == nullptr) {
    auto behind = TRY_CONTEXT(fmt::format("open the storage '{}'", storage.name),
                              kinds_.find(storage.kind)->open(storage.options, space));
    vfs::VirtualOptions options;
    options.quota = quota;
    fs = TRY_CONTEXT(fmt::format("read the storage '{}'", storage.name),
                     vfs::VirtualFileSystem::open(std::move(behind), options));
    const std::lock_guard hold(lock_);
    // Somebody may have opened the same space meanwhile: everybody has that one.
    if (auto first = open_[key].lock())
      fs = std::move(first);
    else
      open_[key] = fs;
  }
  return StoredFiles{std::move(fs), storage.access, storage.share == Share::session};
}

Result<void> Storages::discard(const StorageUse& use) {
  const auto found = declared_.find(use.name);
  if (found == declared_.end() || found->second.share != Share::session) return {};
  return drop(found->second, space_of(found->second, use));
}

Result<void> Storages::discard_tenant(const std::string& tenant) {
  for (const auto& [name, storage] : declared_) {
    const bool is_theirs = storage.share == Share::tenant && storage.access == StorageAccess::read_write;
    const StorageUse use{name, tenant, {}};
    if (is_theirs && check(use)) TRY(drop(storage, space_of(storage, use)));
  }
  return {};
}

Result<void> Storages::drop(const StorageDeclaration& storage, const std::string& space) {
  const vfs::StorageKind& kind = *kinds_.find(storage.kind);
  {
    const std::lock_guard hold(lock_);
    open_.erase(storage.name + "/" + space);
  }
  if (kind.discard) return kind.discard(storage.options, space);
  auto opened = TRY(kind.open(storage.options, space));
  return opened->clear();
}

}  // namespace atl::sandbox::emulated
