#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"
#include "telemetry/health.h"

namespace atl::telemetry {

// Something that happened, for followers outside. Immutable, and shared by the log's memory, pages and
// deliveries, none of which knows who is last.
struct Event {
  std::uint64_t id = 0;  // grows by one, also over restarts
  std::string type;      // "session.created"
  std::string tenant, session_id, environment;
  std::string line;  // all of it as JSON, without a newline
};
using EventPtr = std::shared_ptr<const Event>;

// What append() is given; the log adds id and time. The views need to live for the call only.
struct EventDraft {
  std::string_view type;
  std::string_view tenant, session_id, environment;
  std::string_view trace_id;  // of the request behind it; empty: none
  std::string data = "{}";    // a JSON object
};

struct EventLogOptions {
  std::string directory;                   // made if it is missing
  std::uint64_t segment_bytes = 4U << 20;  // size at which a file is closed
  std::uint64_t keep_bytes = 64U << 20;    // of all files; the oldest go first
  std::size_t recent_max = 4096;           // events that are kept in memory as well
  Clock* clock = &Clock::machine();
};

// The events of this service, in order, in files of JSON lines: what followers and deliveries that were away
// catch up from. An event survives the end of the process once append() returned; it is not synced to the
// disk, because records and the audit log hold what must never be lost.
//
// append() belongs to the loop thread; everything else may be called by any thread. Owns its files; two logs
// must not share a directory.
class EventLog {
 public:
  // Continues the log in the directory, or begins one. Half a line at the end, which a crash may leave, is
  // cut off; lines that are no events are passed over.
  static Result<std::unique_ptr<EventLog>> open(EventLogOptions options);
  ~EventLog();

  // Never fails for the caller. An event that cannot be written stays in memory, and state() says so.
  void append(EventDraft draft);

  // At most `max` events behind `after`, oldest first and without a gap among them: what stands behind a gap
  // is on the next page. Without events and with missed = 0 there is nothing new.
  struct Page {
    std::vector<EventPtr> events;
    std::uint64_t missed = 0;  // how many between `after` and the first are gone for good
    std::uint64_t end = 0;     // where the next page begins
  };
  // May read files: not for the loop thread.
  Page read_after(std::uint64_t after, std::size_t max) const;
  // True if read_after() would not need a file.
  bool is_recent(std::uint64_t after) const;
  std::uint64_t last_id() const;
  // Of the oldest event that is still there; behind the last one if there is none.
  std::uint64_t first_id() const;

  // Calls the listener with every event, after its append, on the thread that appended and without a lock, so
  // that it may call the log. The number is for unlisten(). A listener whose unlisten() comes from another
  // listener, or from another thread than append()'s, may be called once more after it returned.
  using Listener = std::function<void(const Event&)>;
  int listen(Listener listener);
  void unlisten(int number);

  ComponentState state() const;

 private:
  explicit EventLog(EventLogOptions options) : options_(std::move(options)) {}
  struct Segment {
    std::uint64_t first = 0;
    std::uint64_t bytes = 0;
  };
  std::string path_of(std::uint64_t first) const;
  Result<void> find_segments();
  Result<void> repair_last();
  Result<void> write(const std::string& line);
  Result<void> begin_segment();
  void forget_oldest();

  EventLogOptions options_;
  mutable std::mutex mutex_;
  std::vector<Segment> segments_;  // oldest first; the last is written to
  os::Fd file_;                    // of the last one
  std::deque<EventPtr> recent_;
  std::uint64_t last_ = 0;
  std::string failure_;  // why the last event was not written; empty: it was
  using Listeners = std::map<int, Listener>;
  std::shared_ptr<const Listeners> listeners_ = std::make_shared<Listeners>();
  int listener_count_ = 0;
};

// An event from its line. Code::data_loss if it is none.
Result<Event> parse_event(std::string line);

}  // namespace atl::telemetry
