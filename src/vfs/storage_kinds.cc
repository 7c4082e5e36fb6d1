#include "vfs/storage_kinds.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "os/file.h"
#include "vfs/host_storage.h"
#include "vfs/redis_storage.h"
#include "vfs/sqlite_storage.h"

namespace atl::vfs {
namespace {

std::string option(const StorageOptions& options, std::string_view name, std::string otherwise = {}) {
  const auto found = options.find(name);
  return found == options.end() ? std::move(otherwise) : found->second;
}

Result<std::shared_ptr<FileStorage>> open_sqlite(const StorageOptions& options, const std::string& space) {
  const std::string file = fmt::format("{}/{}.db", option(options, "path"), space);
  TRY(os::make_directories(file.substr(0, file.rfind('/')), 0700));
  return TRY(SqliteStorage::open(file));
}

Result<void> discard_sqlite(const StorageOptions& options, const std::string& space) {
  const std::string file = fmt::format("{}/{}.db", option(options, "path"), space);
  for (const char* ending : {"-wal", "-shm", ""})
    if (::unlink((file + ending).c_str()) < 0 && errno != ENOENT)
      return fail(errno_error(errno, "remove the files of a session"));
  return {};
}

Result<std::shared_ptr<FileStorage>> open_directory(const StorageOptions& options, const std::string& space) {
  const std::string directory = fmt::format("{}/{}", option(options, "path"), space);
  TRY(os::make_directories(directory, 0700));
  return TRY(HostStorage::open(directory));
}

Result<void> discard_directory(const StorageOptions& options, const std::string& space) {
  std::error_code failed;
  std::filesystem::remove_all(fmt::format("{}/{}", option(options, "path"), space), failed);
  if (failed) return fail(errno_error(failed.value(), "remove the files of a session"));
  return {};
}

Result<RedisAddress> redis_address(const StorageOptions& options, const std::string& space) {
  RedisAddress address;
  address.unix_socket = option(options, "socket");
  address.host = option(options, "host", address.host);
  address.password = option(options, "password");
  address.keys = fmt::format("{}:{}", option(options, "keys", "atoll"), space);
  address.writers = RedisWriters::several;
  const std::string port = option(options, "port", "6379");
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (failed != std::errc() || end != port.data() + port.size() || address.port < 1 || address.port > 65535)
    return fail(Code::invalid_argument, fmt::format("'port' is a number from 1 to 65535, not '{}'", port));
  return address;
}

Result<std::shared_ptr<FileStorage>> open_redis(const StorageOptions& options, const std::string& space) {
  const RedisAddress address = TRY(redis_address(options, space));
  return TRY(RedisStorage::connect(address));
}

}  // namespace

StorageKinds::StorageKinds() {
  add("sqlite", {.options = {"path"}, .open = open_sqlite, .discard = discard_sqlite});
  add("directory", {.options = {"path"}, .open = open_directory, .discard = discard_directory});
  add("redis",
      {.options = {"host", "port", "socket", "password", "keys"}, .open = open_redis, .discard = {}});
}

const StorageKind* StorageKinds::find(std::string_view name) const {
  const auto found = kinds_.find(name);
  return found == kinds_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> StorageKinds::names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, kind] : kinds_) names.push_back(name);
  return names;
}

}  // namespace atl::vfs
