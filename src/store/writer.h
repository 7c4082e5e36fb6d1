#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "os/task.h"
#include "store/offload.h"
#include "store/sqlite.h"

namespace atl::store {

// The one thread that writes. What waits is written together in one transaction (group commit): an operation
// is acknowledged only after the transaction that holds it was committed. One that fails is undone alone and
// does not disturb its neighbours; a commit that fails fails all of them.
class Writer {
 public:
  using Operation = std::function<Result<void>(Connection&)>;
  using Done = std::function<void(Result<void>)>;

  explicit Writer(Connection connection);
  // Writes what still waits, then ends.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // From any thread. `done` is called on the writer's thread.
  void submit(Operation operation, Done done);

  // `operation` runs on the writer's thread inside a transaction; its value comes back once committed.
  template <class T, class Work>
  Task<T> write(Work work) {
    auto start = [this, work = std::move(work)](auto done) mutable {
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
    co_return co_await completed_elsewhere<T>(std::move(start));
  }

 private:
  struct Job {
    Operation operation;
    Done done;
  };

  void loop();
  void write_batch(std::vector<Job> batch);

  Connection connection_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace atl::store
