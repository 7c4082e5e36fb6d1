#include "store/writer.h"

#include <pthread.h>

#include "base/log.h"

namespace atl::store {

Writer::Writer(Connection connection) : connection_(std::move(connection)) {
  thread_ = std::thread([this] { loop(); });
  pthread_setname_np(thread_.native_handle(), "atoll-writer");
}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Writer::submit(Operation operation, Done done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(operation), std::move(done)});
  }
  wake_.notify_one();
}

void Writer::loop() {
  while (true) {
    std::vector<Job> batch;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      batch.swap(waiting_);
    }
    write_batch(std::move(batch));
  }
}

void Writer::write_batch(std::vector<Job> batch) {
  std::vector<Result<void>> results;
  results.reserve(batch.size());
  Result<std::int64_t> state = connection_.run("BEGIN IMMEDIATE");
  if (state) {
    for (Job& job : batch) {
      (void)connection_.run("SAVEPOINT operation");
      results.push_back(job.operation(connection_));
      if (!results.back()) (void)connection_.run("ROLLBACK TO operation");
      (void)connection_.run("RELEASE operation");
    }
    state = connection_.run("COMMIT");
    if (!state) (void)connection_.run("ROLLBACK");
  }
  if (!state) {
    log::error("store: a transaction failed", {{"error", state.error().message()}});
    results.assign(batch.size(), fail(state.error()));
  }
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].done(std::move(results[i]));
}

}  // namespace atl::store
