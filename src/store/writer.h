#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/latency.h"
#include "os/offload.h"
#include "os/task.h"
#include "store/journal.h"
#include "store/sqlite.h"

namespace atl::store {

// The one thread that writes to the database, in the order in which things were handed over. What waits is
// written together in one transaction (group commit). A change is acknowledged in one of two ways:
//
// - write(): after the transaction that holds it was committed. One that fails is undone alone and does not
//   disturb its neighbours.
// - append(): at once, because it lies in the journal. It follows into the database within moments; while the
//   database refuses (full, read-only), it waits in memory and in the journal and is tried again.
class Writer {
 public:
  using Operation = std::move_only_function<Result<void>(Connection&)>;
  using Done = std::move_only_function<void(Result<void>)>;

  // Without a journal append() is not to be called.
  Writer(Connection connection, std::optional<Journal> journal);
  // Writes what still waits, then ends. What the database does not take stays in the journal.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  bool has_journal() const { return journal_.has_value(); }
  // From any thread. A failure leaves nothing behind: the journal did not take it, or too much waits already.
  Result<void> append(std::string payload);
  // From any thread. `done` is called on the writer's thread.
  void submit(Operation operation, Done done);
  // How long transactions took.
  const Latency& commits() const { return commits_; }
  // True if something acknowledged is not in the database yet.
  bool is_behind() const;
  // Why the database took nothing the last time; nothing: it did.
  std::optional<Error> refusal() const;

  // `work` (Result<T>(Connection&)) runs on the writer's thread inside a transaction; its value comes back
  // once committed.
  template <class T, class Work>
  Task<T> write(Work work) {
    return write_one<T>(std::move_only_function<Result<T>(Connection&)>(std::move(work)));
  }

 private:
  struct Job {
    Operation operation;
    Done done;                 // empty: acknowledged already
    std::uint64_t number = 0;  // in the journal
    std::size_t bytes = 0;     // of the journal's payload
    Result<void> result = {};
    bool kept = false;  // journaled, and the database refuses it for now
  };
  using Batch = std::vector<Job>;

  // Compiled once for a type of result, not once for a call.
  template <class T>
  Task<T> write_one(std::move_only_function<Result<T>(Connection&)> work) {
    std::move_only_function<void(os::Completion<T>)> start =
        [this, work = std::move(work)](os::Completion<T> done) mutable {
          auto value = std::make_shared<std::optional<Result<T>>>();
          submit(
              [work = std::move(work), value](Connection& connection) mutable -> Result<void> {
                value->emplace(work(connection));
                if (!**value) return fail((*value)->error());
                return {};
              },
              [value, done = std::move(done)](Result<void> committed) mutable {
                if (!committed) {
                  done(fail(std::move(committed).error()));
                } else {
                  done(std::move(**value));
                }
              });
        };
    return os::completed_elsewhere<T>(std::move(start));
  }
  void loop();
  // Waits until there is something to do; gives what waits. `lock` is held before and after.
  Batch next_batch(std::unique_lock<std::mutex>& lock);
  void write_batch(Batch& batch);
  enum class Attempt { committed, refused, broken };
  // All of them in one transaction. refused: it could not begin; broken: it was taken back.
  Attempt transact(std::span<Job> jobs);
  void run_one(Job& job);
  static void refuse(Job& job, const Error& why);
  Result<std::int64_t> note_position(std::span<const Job> jobs);
  // Puts back what is kept, in order, and empties the journal when nothing of it is needed any more.
  void settle(Batch& batch);

  Connection connection_;
  std::optional<Journal> journal_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> waiting_;
  std::size_t urgent_ = 0;         // waiting jobs that somebody waits for
  std::size_t journaled_ = 0;      // jobs of the journal that are not committed, in work ones included
  std::size_t waiting_bytes_ = 0;  // of their payloads
  std::chrono::steady_clock::time_point not_before_{};  // of the next try for what is kept
  std::chrono::milliseconds pause_{0};
  std::optional<Error> refusal_;  // why the database took nothing the last time
  bool stopping_ = false;
  Latency commits_;
  std::thread thread_;
};

}  // namespace atl::store
