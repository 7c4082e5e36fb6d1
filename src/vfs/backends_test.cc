#include "vfs/backends_test.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <thread>

#include "vfs/host_file_system.h"
#include "vfs/host_storage.h"
#include "vfs/memory_storage.h"
#include "vfs/mount_file_system.h"
#include "vfs/redis_storage.h"
#include "vfs/sqlite_storage.h"
#include "vfs/virtual_file_system.h"
#include "vfs/wrapper_storage.h"

namespace atl::vfs {

RedisServer::RedisServer() {
  std::string socket = directory_.path() + "/socket";
  pid_ = ::fork();
  if (pid_ == 0) {
    int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::dup2(null, 2);
    ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket.c_str(), "--save", "",
             "--appendonly", "no", "--dir", directory_.path().c_str(), nullptr);
    ::_exit(127);
  }
}

RedisServer::~RedisServer() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

RedisAddress RedisServer::address(std::string keys) const {
  RedisAddress address;
  address.unix_socket = directory_.path() + "/socket";
  address.keys = std::move(keys);
  return address;
}

std::shared_ptr<RedisStorage> RedisServer::storage(std::string keys, RedisWriters writers) const {
  RedisAddress where = address(std::move(keys));
  where.writers = writers;
  for (int attempt = 0; attempt < 500; ++attempt) {
    if (auto storage = RedisStorage::connect(where)) return *storage;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return nullptr;
}

namespace {

// One server for the whole test program, started when first asked for.
RedisServer& redis_server() {
  static RedisServer server;
  return server;
}

class MemoryPlace final : public Place {
 public:
  FileSystem& fs() override { return fs_; }

 private:
  VirtualFileSystem fs_;
};

class HostPlace final : public Place {
 public:
  HostPlace() { reopen(); }
  FileSystem& fs() override { return *fs_; }
  bool reopen() override {
    fs_ = HostFileSystem::open(directory_.path()).value();
    return true;
  }
  bool may_change_owner() const override { return ::geteuid() == 0; }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<HostFileSystem> fs_;
};

class MountPlace final : public Place {
 public:
  MountPlace() : fs_(std::make_shared<VirtualFileSystem>()) {}
  FileSystem& fs() override { return fs_; }

 private:
  MountFileSystem fs_;
};

class StoragePlace final : public Place {
 public:
  explicit StoragePlace(const StorageBackend& backend) : storage_(backend.make()) { reopen(); }
  FileSystem& fs() override { return *fs_; }
  bool reopen() override {
    fs_.reset();
    fs_ = VirtualFileSystem::open(storage_).value();
    return true;
  }

 private:
  std::shared_ptr<FileStorage> storage_;
  std::unique_ptr<VirtualFileSystem> fs_;
};

// Keeps a directory as long as the storage in it.
template <class Open>
std::shared_ptr<FileStorage> in_directory(Open open) {
  auto directory = std::make_shared<TemporaryDirectory>();
  std::shared_ptr<FileStorage> storage = open(directory->path());
  return {storage.get(), [directory, storage](FileStorage*) mutable { storage.reset(); }};
}

std::shared_ptr<FileStorage> host() {
  return in_directory([](const std::string& path) { return HostStorage::open(path).value(); });
}

FileEntry stray(std::string_view path, Type type) {
  FileEntry entry;
  entry.path = Path::posix(path).value();
  entry.type = type;
  return entry;
}

// A base with something in it that was removed through the overlay, so that whiteouts take part in every
// test.
std::shared_ptr<FileStorage> overlay() {
  auto base = std::make_shared<MemoryStorage>();
  EXPECT_TRUE(base->set(stray("/d", Type::directory)));
  EXPECT_TRUE(base->set(stray("/d/f", Type::file)));
  EXPECT_TRUE(base->set(stray("/l", Type::file)));
  auto storage = std::make_shared<OverlayStorage>(std::make_shared<ReadOnlyStorage>(base),
                                                  std::make_shared<MemoryStorage>());
  EXPECT_TRUE(storage->clear());
  return storage;
}

std::shared_ptr<FileStorage> prefix_in(std::string_view directory) {
  auto base = std::make_shared<MemoryStorage>();
  std::map<Path, std::shared_ptr<FileStorage>> mounts{
      {Path::posix("/mnt").value(), std::make_shared<MemoryStorage>()}};
  auto both = MountStorage::open(base, std::move(mounts)).value();
  return PrefixStorage::open(both, Path::posix(directory).value()).value();
}

}  // namespace

std::vector<StorageBackend> storage_backends() {
  return {
      {"Memory", [] { return std::make_shared<MemoryStorage>(); }},
      {"Sqlite",
       [] {
         return in_directory(
             [](const std::string& path) { return SqliteStorage::open(path + "/db").value(); });
       }},
      {"Redis",
       [] {
         static int number = 0;
         return redis_server().storage(fmt::format("test{}", number++));
       }},
      {"RedisOfSeveral",
       [] {
         static int number = 0;
         return redis_server().storage(fmt::format("several{}", number++), RedisWriters::several);
       }},
      {"Host", host, false},
      {"Overlay", overlay},
      {"Quota",
       [] {
         return QuotaStorage::open(std::make_shared<MemoryStorage>(), Quota{1 << 30, 100'000}).value();
       }},
      {"PrefixInBase", [] { return prefix_in("/a/b"); }},
      {"PrefixInMount", [] { return prefix_in("/mnt/b"); }},
  };
}

std::vector<FileSystemBackend> file_system_backends() {
  std::vector<FileSystemBackend> all = {
      {"Virtual", [] { return std::make_unique<MemoryPlace>(); }},
      {"Host", [] { return std::make_unique<HostPlace>(); }},
      {"Mount", [] { return std::make_unique<MountPlace>(); }},
  };
  for (const StorageBackend& backend : storage_backends())
    all.push_back(
        {"VirtualOn" + backend.name, [backend] { return std::make_unique<StoragePlace>(backend); }});
  return all;
}

}  // namespace atl::vfs
