#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "base/trace.h"
#include "net/blocking_client.h"
#include "telemetry/health.h"

namespace atl::telemetry {

struct ExportOptions {
  net::Url endpoint;     // of a collector; spans go to /v1/traces below it, unless that is its path already
  double sample = 1;     // which part of the traces that begin here is kept, 0 to 1
  std::string instance;  // which service this is
  std::size_t queue_max = 20'000;  // spans that wait; what comes beyond them is dropped and counted
  std::size_t batch = 2048;        // of one request
  std::chrono::milliseconds every{1000};
  // After a failure; doubles. Retry-After is heeded up to the longest.
  std::chrono::milliseconds first_pause{500}, longest_pause{30'000};
};

// Sends spans to a collector as OTLP over HTTP, in protocol buffers, from a thread of its own. take() never
// blocks on the network; while the collector is away, spans beyond queue_max are dropped and counted, no
// trace begins here that would have no room, and nothing else suffers. Any thread may call its functions.
class SpanExporter final : public trace::Sink {
 public:
  // Becomes the process's sink (base/trace.h) and starts the thread. There may be one at a time.
  explicit SpanExporter(ExportOptions options);
  // Stops being the sink, sends what still waits once more for at most about a second, and ends the thread.
  ~SpanExporter() override;

  bool samples(const trace::TraceId& id) const override;
  void take(trace::EndedSpan span) override;

  struct Counts {
    std::uint64_t exported = 0, dropped = 0, failed_posts = 0;
    std::size_t waiting = 0;
  };
  Counts counts() const;
  ComponentState state() const;

 private:
  void run();
  // What the collector said to a batch. later: it stays where it was. refused: it would be refused again.
  enum class Answer : std::uint8_t { taken, later, refused };
  // `asked`: how long it wants to be left alone.
  Answer send(std::string_view spans, std::chrono::milliseconds& asked);

  struct Batch {
    std::string spans;  // encoded
    std::size_t count = 0;
  };

  ExportOptions options_;
  std::uint64_t sampled_below_ = 0;  // of the first eight bytes of a trace's id; all if samples_all_
  bool samples_all_ = false;
  net::BlockingClient client_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Batch> batches_;  // oldest first
  std::size_t waiting_ = 0;    // spans in them, and in the one that is being sent
  Counts counts_;
  std::atomic<bool> is_full_ = false;  // waiting_ has reached queue_max: nothing is encoded any more
  mutable std::atomic<std::uint64_t> untold_ = 0;  // dropped because of that; a trace not begun counts as one
  std::string failure_;                            // why the last post was not taken; empty: it was
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace atl::telemetry
