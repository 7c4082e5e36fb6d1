#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "vfs/file_storage.h"

struct redisContext;
struct redisReply;

namespace atl::vfs {

// one: nobody else writes, and batches are applied as they come. several: a batch is applied only if nobody
// else wrote since this storage was read (get_all) or written the last time; otherwise it is refused with
// Code::conflict, nothing of it is applied, and get_all() shows what the others wrote.
enum class RedisWriters : std::uint8_t { one, several };

struct RedisAddress {
  std::string unix_socket;  // if not empty, instead of host and port
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string password;            // empty: none
  std::string keys = "atoll:vfs";  // what every key begins with; two storages on one server need two of these
  std::chrono::milliseconds timeout{5000};
  RedisWriters writers = RedisWriters::one;
};

// Entries in a Redis server: a hash of entries, and two sorted sets that answer for prefixes and children. A
// batch is one MULTI/EXEC, so others never see half of it. How durable an acknowledged batch is, is the
// server's configuration ("appendonly", "appendfsync"). A broken connection is made anew by the next call;
// the call that met it fails with Code::unavailable, and then a batch may or may not have been applied.
class RedisStorage final : public FileStorage {
 public:
  // Code::unavailable if no server answers within the time-out.
  static Result<std::shared_ptr<RedisStorage>> connect(const RedisAddress& address);
  ~RedisStorage() override;
  RedisStorage(const RedisStorage&) = delete;
  RedisStorage& operator=(const RedisStorage&) = delete;

  Result<std::optional<FileEntry>> get(const Path& path) const override;
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override;
  Result<std::vector<Path>> children(const Path& directory) const override;
  Result<std::vector<FileEntry>> get_all() const override;
  Result<std::uint64_t> count() const override;
  Result<void> clear() override;
  Result<bool> exists(const Path& path) const override;

 private:
  struct FreeReply {
    void operator()(redisReply* reply) const;
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;
  using Words = std::vector<std::string_view>;

  explicit RedisStorage(RedisAddress address);
  Result<void> ensure_connected() const;
  void send(const Words& words) const;
  Result<Reply> receive() const;
  Result<Reply> ask(const Words& words) const;
  void disconnect() const;
  // With several writers: watches the version and compares it with the one that is known.
  Result<void> begin_optimistic();
  Error lost() const;

  RedisAddress address_;
  std::string entries_, paths_, children_, version_;  // names of keys
  mutable std::string known_version_;                 // of what was read or written last; empty: nothing yet
  mutable std::mutex lock_;
  mutable redisContext* context_ = nullptr;
};

}  // namespace atl::vfs
