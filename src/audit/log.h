#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "audit/entry.h"
#include "audit/fold.h"
#include "audit/mark.h"
#include "audit/paths.h"
#include "audit/signer.h"
#include "base/latency.h"
#include "os/fd.h"
#include "os/task.h"

namespace atl::audit {

// What an acknowledged entry survives; the same as for records (store.durability).
enum class Durability : std::uint8_t { process, power };

struct Options {
  std::string data;  // the data directory; audit/ and audit-state/ are made in it
  Durability durability = Durability::process;
  std::uint64_t segment_bytes = 64U << 20;  // a segment of this size is closed and the next one begun
  std::uint64_t reserve_bytes = 1U << 20;   // kept free on the disk for what ends and deletes
  std::chrono::milliseconds sign_every{10'000};
  std::chrono::milliseconds keep{0};           // older segments are removed; zero: never
  std::uint64_t keep_bytes = 0;                // the oldest go when all take more; zero: never
  std::chrono::milliseconds compact_after{0};  // older segments lose the text of reads; zero: never
  std::chrono::milliseconds fold{60'000};      // repeated looks and refusals within this are one entry
  Clock* clock = &Clock::machine();
  // How far every forwarding target has come; what is not forwarded is not removed. Unset: nobody forwards.
  std::function<std::uint64_t()> forwarded;
};

// What kind of thing is about to happen decides what a full disk means for it.
enum class Kind : std::uint8_t {
  change,  // refused when there is no room beyond the reserve
  ending,  // ends or deletes something: may use all of the reserve, and is never refused
  reveal,  // may use half of the reserve
};

class Ticket;

// The audit log of an installation: entries in order, each with the digest of the one before, in files that
// only grow (docs/formats/audit.md).
//
// Any thread may call. An entry is in the page cache when append() or Ticket::finish() returns; settle()
// waits for the disk where the durability asks for that, together with everybody else who waits. A thread of
// its own signs heads, removes and compacts old segments and writes what was folded.
//
// Made by open() only, and kept by shared_ptr: tickets may outlive the service.
class Log : public std::enable_shared_from_this<Log> {
 public:
  // Takes the log for this process: Code::conflict if another one has it. Finishes what a killed process
  // left: a line that was cut off is removed, and every change whose outcome was not written gets an entry
  // that says so. A log whose end does not fit its mark is continued after a gap, which every verify()
  // reports.
  static Result<std::shared_ptr<Log>> open(Options options);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Before something happens: makes sure that its entry will have room and remembers it, so that a crash
  // before the entry is seen after the next start. Code::no_space or Code::resource_exhausted: it must not
  // happen.
  Result<Ticket> begin(Kind kind, Entry what);
  // What happened already. The number of the entry.
  Result<std::uint64_t> append(const Entry& entry);
  // The first of its kind is written at once, repetitions within a while are counted and written as one
  // entry. For what callers can repeat without end: refused logins, looks at the same thing. Never fails:
  // what finds no room is counted as lost.
  void fold(const Entry& entry);
  // Waits until all that was appended is as durable as the options say.
  Task<void> settle();

  // Signs the head and ends the thread; later calls fail. Called by the destructor too.
  void close();

  struct Facts {
    std::uint64_t seq = 0;   // of the last entry
    std::uint64_t lost = 0;  // entries of what ended or was looked at while nothing could be written
    bool full = false;       // changes are being refused
  };
  Facts facts() const;
  // How long it took to write entries.
  const Latency& writes() const { return writes_; }
  const Signer& signer() const { return signer_; }
  const Paths& paths() const { return paths_; }
  // Called on the log's thread after entries were added; at most about ten times a second.
  void set_listener(std::function<void()> listener);
  // Retention and compaction now, as the thread does it every minute.
  Result<void> tidy();
  // Signs the head now.
  Result<void> sign();

 private:
  friend class Ticket;
  Log(Options options, Signer signer, Mark mark, os::Fd lock);
  Result<void> recover();
  // Opens the last segment for writing, without a line that was cut off at its end.
  Result<void> open_last(const std::vector<Segment>& segments);
  // Where the log goes on, and what is to be said about it.
  std::string find_end(const std::vector<Segment>& segments, const End& mark_end);
  Result<void> finish_left();
  // The rest belong to a holder of mutex_.
  Result<void> begin_segment();
  bool make_room(std::uint64_t bytes_free);
  Result<std::uint64_t> append_locked(const Entry& entry);
  Result<void> write_line(const std::string& text);
  void write_folded(SteadyTime now);
  Result<void> sign_locked(bool closed);
  void keep_house();
  void sync_waiting(std::unique_lock<std::mutex>& lock);
  Result<void> retire();
  Result<void> compact();
  Result<std::uint64_t> finish(std::uint32_t slot, const Entry& entry);

  Options options_;
  Paths paths_;
  Signer signer_;
  os::Fd lock_;
  std::string boot_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Mark mark_;
  Fold fold_;
  std::shared_ptr<const os::Fd> file_;  // also of a sync that is under way
  std::uint64_t size_ = 0;              // of what is whole in the file
  std::uint64_t allocated_ = 0;         // bytes of the file that the disk has room for, whatever happens
  bool allocates_ = true;               // false: this filesystem cannot promise space
  std::size_t pending_ = 0;             // tickets that will need room
  std::uint64_t seq_ = 0;
  std::string digest_{kNoDigest};
  std::uint64_t signed_seq_ = 0, head_turn_ = 0;
  std::uint64_t lost_ = 0;
  bool full_ = false;
  bool closed_ = false;
  Latency writes_;
  std::function<void()> listener_;

  // Group commit.
  std::uint64_t synced_seq_ = 0;
  std::vector<std::move_only_function<void(Result<void>)>> waiting_;
  std::thread thread_;
};

// Something that is under way. finish() writes its entry; if it is dropped without (an exception, a call that
// was cut off), an entry says that.
class [[nodiscard]] Ticket {
 public:
  Ticket() = default;
  Ticket(Ticket&&) noexcept = default;
  Ticket& operator=(Ticket&& other) noexcept;
  ~Ticket();

  // The object may be known only now: a new session's id.
  Entry& entry() { return entry_; }
  Result<void> finish(Outcome outcome, std::string reason = {});
  // Nothing was attempted, no entry is needed.
  void cancel();

 private:
  friend class Log;
  Ticket(std::shared_ptr<Log> log, std::uint32_t slot, Entry entry)
      : log_(std::move(log)), slot_(slot), entry_(std::move(entry)) {}

  std::shared_ptr<Log> log_;
  std::uint32_t slot_ = 0;
  Entry entry_;
};

}  // namespace atl::audit
