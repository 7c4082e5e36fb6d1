#include "store/writer.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <span>

#include "base/clock.h"
#include "base/log.h"
#include "store/entry.h"

namespace atl::store {
namespace {

// How long journaled changes gather before they are written together.
constexpr std::chrono::milliseconds kGather{30};
// Between attempts while the database takes nothing: the first and the longest wait.
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{2000};
// The journal is emptied when it has grown to this; whoever appends then waits for one transaction.
constexpr std::uint64_t kJournalBytesMax = 4U << 20;
// Of changes that the database does not take; more is refused.
constexpr std::size_t kWaitingBytesMax = 64U << 20;

}  // namespace

Writer::Writer(Connection connection, std::optional<Journal> journal)
    : connection_(std::move(connection)), journal_(std::move(journal)) {
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

Result<void> Writer::append(std::string payload) {
  const std::lock_guard lock(mutex_);
  // Before the journal: what is in the journal counts as acknowledged and may not be refused afterwards.
  if (waiting_bytes_ + payload.size() > kWaitingBytesMax) {
    return fail(refusal_ ? *refusal_ : Error(Code::unavailable, "store: too much waits to be written"));
  }
  // Under the lock, so that the order in the journal is the order in which changes are applied.
  const std::uint64_t number = TRY(journal_->append(payload));
  const std::size_t bytes = payload.size();
  auto operation = [payload = std::move(payload)](Connection& db) { return apply_entry(db, payload); };
  const bool was_idle = waiting_.empty();
  Job& job = waiting_.emplace_back();
  job.operation = std::move(operation);
  job.number = number;
  job.bytes = bytes;
  ++journaled_;
  waiting_bytes_ += bytes;
  // The thread gathers for a while by itself; waking it for each change would cost more than the change.
  if (was_idle) wake_.notify_one();
  return {};
}

void Writer::submit(Operation operation, Done done) {
  {
    const std::lock_guard lock(mutex_);
    Job& job = waiting_.emplace_back();
    job.operation = std::move(operation);
    job.done = std::move(done);
    ++urgent_;
  }
  wake_.notify_one();
}

bool Writer::is_behind() const {
  const std::lock_guard lock(mutex_);
  return journaled_ > 0;
}

void Writer::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    Batch batch = next_batch(lock);
    if (batch.empty()) break;
    // A journal that has grown is emptied after this batch: nothing may be appended meanwhile.
    const bool emptying = journal_ && journal_->bytes() > kJournalBytesMax;
    if (!emptying) lock.unlock();
    write_batch(batch);
    if (!emptying) lock.lock();
    settle(batch);
    lock.unlock();
    for (Job& job : batch) {
      if (job.done) job.done(std::move(job.result));
    }
    lock.lock();
    // The database takes nothing, and waiting for it would keep the process from ending. What was
    // acknowledged is in the journal and is applied at the next start.
    if (stopping_ && refusal_) break;
  }
  for (Job& job : waiting_) {
    if (job.done) job.done(fail(Code::unavailable, "store: it is closing"));
  }
  // Everything is in the database: the next start has nothing to replay.
  if (journal_ && journaled_ == 0) {
    if (auto cleared = journal_->clear(); !cleared)
      log::warn("store: the journal stays", {{"error", cleared.error().message()}});
  }
}

Writer::Batch Writer::next_batch(std::unique_lock<std::mutex>& lock) {
  wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
  // A caller of submit() waits for its answer, so it ends the gathering, and the pause after a refusal too.
  const auto until = std::max(std::chrono::steady_clock::now() + kGather, not_before_);
  wake_.wait_until(lock, until, [this] { return stopping_ || urgent_ > 0; });
  Batch batch(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  urgent_ = 0;
  return batch;
}

// When the disk fails, SQLite may roll back the whole transaction at any statement. Then each change is tried
// alone, so that one does not fail because of another. Their order is kept: nothing passes a journaled change
// that has to wait.
void Writer::write_batch(Batch& batch) {
  // Attempt::refused: the database would refuse each of them as well.
  if (transact(batch) != Attempt::broken || batch.size() == 1) return;
  const Job* held = nullptr;
  for (Job& job : batch) {
    if (held != nullptr) {
      refuse(job, held->result.error());
      continue;
    }
    (void)transact(std::span(&job, 1));
    if (job.kept) held = &job;
  }
}

std::optional<Error> Writer::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

void Writer::refuse(Job& job, const Error& why) {
  job.result = fail(why);
  // Nobody waits for a journaled change, so it must stay until it is in the database; the others are told.
  job.kept = !job.done;
}

Writer::Attempt Writer::transact(std::span<Job> jobs) {
  const SteadyTime began = Clock::machine().steady();
  if (auto begun = connection_.run("BEGIN IMMEDIATE"); !begun) {
    for (Job& job : jobs) refuse(job, begun.error());
    return Attempt::refused;
  }
  Result<std::int64_t> state = 0;
  for (Job& job : jobs) {
    run_one(job);
    if (!connection_.in_transaction() || job.kept) {
      state = fail(job.result ? Error(Code::unavailable, "store: a transaction was taken back")
                              : job.result.error());
      break;
    }
  }
  if (state) state = note_position(jobs);
  if (state) state = connection_.run("COMMIT");
  if (state) {
    commits_.add(Clock::machine().steady() - began);
    return Attempt::committed;
  }
  if (connection_.in_transaction()) (void)connection_.run("ROLLBACK");
  for (Job& job : jobs) refuse(job, state.error());
  return Attempt::broken;
}

void Writer::run_one(Job& job) {
  job.kept = false;
  if (auto point = connection_.run("SAVEPOINT operation"); !point) {
    refuse(job, point.error());
    return;
  }
  job.result = job.operation(connection_);
  // One change that fails must not take the others of the batch with it.
  if (!job.result && connection_.in_transaction()) (void)connection_.run("ROLLBACK TO operation");
  if (connection_.in_transaction()) (void)connection_.run("RELEASE operation");
  // What can never succeed is dropped and logged: keeping it would hold up everything behind it for ever.
  if (!job.result && !job.done) job.kept = may_pass(job.result.error());
}

// What the database has, or never can have, is not replayed after a crash.
Result<std::int64_t> Writer::note_position(std::span<const Job> jobs) {
  std::uint64_t position = 0;
  for (const Job& job : jobs) position = std::max(position, job.number);
  if (position == 0) return 0;
  return connection_.run("UPDATE journal SET applied=?1", static_cast<std::int64_t>(position));
}

void Writer::settle(Batch& batch) {
  std::optional<Error> refused;
  std::deque<Job> kept;
  for (Job& job : batch) {
    if (job.done) continue;
    if (job.kept) {
      refused = job.result.error();
      kept.push_back(std::move(job));
      continue;
    }
    --journaled_;
    waiting_bytes_ -= job.bytes;
    if (!job.result) {
      log::error("store: a change could not be stored and is dropped",
                 {{"error", job.result.error().message()}});
    }
  }
  if (refused && !refusal_) {
    log::error("store: the database takes nothing; what was acknowledged waits in the journal",
               {{"error", refused->message()}, {"changes", std::to_string(kept.size())}});
  }
  if (!refused && refusal_) log::info("store: the database takes changes again");
  pause_ = refused ? std::clamp(pause_ * 2, kFirstPause, kLongestPause) : std::chrono::milliseconds(0);
  not_before_ = std::chrono::steady_clock::now() + pause_;
  refusal_ = std::move(refused);
  // Back to the front and in their old order, before whatever was appended meanwhile.
  std::ranges::move(kept.rbegin(), kept.rend(), std::front_inserter(waiting_));
  if (journal_ && journaled_ == 0 && journal_->bytes() > kJournalBytesMax) {
    if (auto cleared = journal_->clear(); !cleared)
      log::warn("store: the journal stays", {{"error", cleared.error().message()}});
  }
}

}  // namespace atl::store
