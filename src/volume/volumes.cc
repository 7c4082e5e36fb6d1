#include "volume/volumes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/bytes.h"
#include "base/ids.h"
#include "os/file.h"

namespace atl::volume {
namespace {

constexpr const char* kKind = "volume";
constexpr std::size_t kNameMax = 128;

Result<void> check_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= kNameMax &&
                    name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                        std::string::npos;
  if (good) return {};
  return fail(Error(Code::invalid_argument,
                    fmt::format("Invalid volume name '{}': 1 to {} characters of a-z, A-Z, 0-9, '_' and '-'",
                                name.substr(0, kNameMax), kNameMax))
                  .with_field("name"));
}

std::unexpected<Error> no_volume(std::string_view id) {
  return fail(Code::not_found, fmt::format("Volume '{}' not found", id));
}

Volume from_row(const store::DocumentRow& row) {
  return Volume{row.id, row.tenant, row.name, row.created_at};
}

// Made once and kept: a token must open its volume after a restart too.
Result<std::string> key_in(const std::string& path) {
  if (os::exists(path)) {
    std::string key = TRY(os::read_file(path, 64));
    if (key.size() != 32) return fail(Code::data_loss, "the key of volume tokens is damaged");
    return key;
  }
  std::string key = TRY(from_hex(random_hex(32)));
  TRY(os::write_file_durably(path, key, 0600));
  return key;
}

// What an earlier life of this service was writing when it ended.
Result<void> drop_half_written(const std::string& directory) {
  std::error_code failed;
  for (const auto& item : std::filesystem::directory_iterator(directory, failed)) {
    if (!item.is_directory(failed)) continue;
    const os::Fd volume = TRY(os::open(item.path().c_str(), O_RDONLY | O_DIRECTORY));
    TRY(os::remove_tree(volume.get(), "incoming"));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Volumes>> Volumes::open(store::Store& store, std::string directory,
                                               VolumeOptions options, Clock& clock) {
  TRY(os::make_directories(directory, 0700));
  TRY(drop_half_written(directory));
  std::unique_ptr<Volumes> volumes(new Volumes(store, std::move(directory), options, clock));
  volumes->key_ = TRY(key_in(volumes->directory_ + "/token.key"));
  return volumes;
}

Task<Volume> Volumes::create(std::string tenant, std::string name) {
  CO_CHECK(check_name(name));
  CO_TRY(const auto others, co_await list(tenant));
  for (const Volume& other : others) {
    if (other.name == name)
      co_return fail(Code::already_exists, fmt::format("Volume with name '{}' already exists", name));
  }
  if (others.size() >= options_.count_max)
    co_return fail(Code::resource_exhausted, fmt::format("at most {} volumes are allowed", options_.count_max));
  Volume volume{"vol_" + random_word(20), std::move(tenant), std::move(name), clock_.now()};
  auto nothing = [](Tree&) -> Result<void> { return {}; };
  CO_CHECK(co_await with_tree<void>(volume, std::move(nothing)));
  store::DocumentRow row;
  row.kind = kKind;
  row.tenant = volume.tenant;
  row.id = volume.id;
  row.name = volume.name;
  row.body = "{}";
  row.created_at = row.updated_at = volume.created_at;
  CO_CHECK(co_await store_.put_document(std::move(row)));
  co_return volume;
}

Task<Volume> Volumes::get(std::string tenant, std::string id_or_name) {
  std::string kind = kKind;
  auto row = co_await store_.get_document(kind, std::move(tenant), id_or_name);
  if (!row && row.error().code() == Code::not_found) co_return no_volume(id_or_name);
  if (!row) co_return fail(std::move(row).error());
  co_return from_row(*row);
}

Task<std::vector<Volume>> Volumes::list(std::string tenant) {
  std::string kind = kKind;
  CO_TRY(const auto rows, co_await store_.list_documents(kind, std::move(tenant)));
  std::vector<Volume> volumes;
  for (const store::DocumentRow& row : rows) volumes.push_back(from_row(row));
  co_return volumes;
}

// The row goes first: a volume that is half removed must not be found again.
Task<void> Volumes::remove(std::string tenant, std::string id_or_name) {
  CO_TRY(const Volume volume, co_await get(std::move(tenant), std::move(id_or_name)));
  std::string kind = kKind;
  CO_TRY(const bool removed, co_await store_.remove_document(kind, volume.tenant, volume.id));
  if (!removed) co_return no_volume(volume.id);
  auto erase = [directory = directory_, id = volume.id]() -> Result<void> {
    const os::Fd top = TRY(os::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
    return os::remove_tree(top.get(), id);
  };
  co_return co_await off_loop<void>(std::move(erase));
}

// The tenant is part of it, so that a token alone finds its volume.
std::string Volumes::token_of(std::string_view tenant, std::string_view id) const {
  return fmt::format("{}_{}", to_hex(tenant), to_hex(hmac_sha256(key_, fmt::format("{}\n{}", tenant, id))));
}

std::string Volumes::token(const Volume& volume) const {
  return token_of(volume.tenant, volume.id);
}

Task<Volume> Volumes::opened_by(std::string token, std::string id) {
  auto tenant = from_hex(std::string_view(token).substr(0, token.find('_')));
  if (!tenant || !equal_in_constant_time(token_of(*tenant, id), token))
    co_return fail(Code::unauthenticated, "Invalid volume token");
  co_return co_await get(std::move(*tenant), std::move(id));
}

bool Volumes::keeps_ids() {
  return ::geteuid() == 0;
}

Task<std::string> Volumes::mountable(const Volume& volume) {
  auto measure = [](Tree& tree) { return tree.bytes_used(); };
  CO_TRY(const std::uint64_t used, co_await with_tree<std::uint64_t>(volume, std::move(measure)));
  if (used > options_.bytes_max) {
    co_return fail(Code::no_space, fmt::format("volume '{}' holds {} bytes and may hold {}: remove files first",
                                               volume.name, used, options_.bytes_max));
  }
  co_return path_of(volume) + "/files";
}

}  // namespace atl::volume
