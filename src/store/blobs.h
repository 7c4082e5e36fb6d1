#pragma once

#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "os/fd.h"
#include "os/task.h"

namespace atl::store {

// Files named by what is in them: SHA-256, 64 hex digits. The same bytes are stored once. Disk work happens
// on a thread of its own; calls are made from the loop.
class Blobs {
 public:
  // `directory` is made if missing. Unfinished files of an earlier run are removed.
  static Result<std::unique_ptr<Blobs>> open(std::string directory);
  ~Blobs();

  // One file on its way in. Nothing is visible before finish(); dropping it leaves nothing behind.
  class Writing {
   public:
    ~Writing();
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;
    // One call at a time. After a failure finish() must not be called.
    Task<void> write(std::string bytes);
    // The digest. The file is complete and has its name; it survives the end of this process, and a power
    // failure only once the kernel wrote it.
    Task<std::string> finish();
    std::uint64_t size() const { return size_; }

   private:
    friend class Blobs;
    struct State;
    explicit Writing(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;  // shared with the work under way, which may outlive this
    std::uint64_t size_ = 0;
  };

  // One file on its way out. Must not outlive its Blobs. A file that is removed meanwhile is read to its end.
  class Reading {
   public:
    // At most 64 KiB; empty at the end.
    Task<std::string> next();
    std::uint64_t size() const { return size_; }

   private:
    friend class Blobs;
    Blobs* blobs_ = nullptr;
    std::shared_ptr<os::Fd> fd_;  // shared with the read under way, which may outlive this
    std::uint64_t size_ = 0;
  };

  Task<std::unique_ptr<Writing>> create();
  // Code::not_found, also for text that is no digest.
  Task<std::unique_ptr<Reading>> open_read(std::string digest);
  // Removes every file that `keep` does not name, unless it is younger than `spared`: the row that names a
  // new file may not be written yet. Gives how many went.
  Task<std::int64_t> collect_garbage(std::vector<std::string> keep, std::chrono::seconds spared = {});
  // Bytes that came in since forget_bytes().
  std::uint64_t bytes_since() const { return *bytes_since_; }
  void forget_bytes() { *bytes_since_ = 0; }

 private:
  explicit Blobs(std::string directory);
  std::string path_of(const std::string& digest) const;

  std::string directory_;
  std::uint64_t next_ = 0;
  std::shared_ptr<std::uint64_t> bytes_since_ = std::make_shared<std::uint64_t>(0);
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace atl::store
