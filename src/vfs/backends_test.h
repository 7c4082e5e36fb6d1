#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vfs/file_storage.h"
#include "vfs/file_system.h"
#include "vfs/redis_storage.h"

// The lists that the contract suites run over: here a new backend gets its one line.
namespace atl::vfs {

// A filesystem under test with what it stands on.
class Place {
 public:
  virtual ~Place() = default;
  virtual FileSystem& fs() = 0;
  // Opens the same contents anew; false if nothing of them would be left.
  virtual bool reopen() { return false; }
  virtual bool may_change_owner() const { return true; }
};

struct FileSystemBackend {
  std::string name;
  std::function<std::unique_ptr<Place>()> make;
};
std::vector<FileSystemBackend> file_system_backends();

struct StorageBackend {
  std::string name;
  // A storage, empty, with all it needs; ends when the pointer does.
  std::function<std::shared_ptr<FileStorage>()> make;
  // Inode numbers and creation times come back as they were set.
  bool keeps_identity = true;
};
std::vector<StorageBackend> storage_backends();

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "atoll-vfs-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A real redis-server on a Unix socket, ended with the object.
class RedisServer {
 public:
  RedisServer();
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  RedisAddress address(std::string keys) const;
  // Waits until the server answers; null if it does not.
  std::shared_ptr<RedisStorage> storage(std::string keys, RedisWriters writers = RedisWriters::one) const;
  void end() { ::kill(pid_, SIGKILL); }

 private:
  TemporaryDirectory directory_;
  pid_t pid_;
};

}  // namespace atl::vfs
