#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/event_log.h"

namespace atl::telemetry {

// A receiver outside that gets every event. One thread calls it; only stop() may come from another.
class EventTarget {
 public:
  virtual ~EventTarget() = default;
  // A word of letters, which names the file that keeps the target's position.
  virtual std::string_view name() const = 0;
  // Sends the events in order and blocks until the other side has them all. After an error all of them are
  // sent again later, also those that had arrived.
  virtual Result<void> send(const std::vector<EventPtr>& events) = 0;
  // How many of them the other side will never take; they were let go. Any thread.
  virtual std::uint64_t refused() const { return 0; }
  // Makes a send() that is under way return soon, and every later one fail.
  virtual void stop() = 0;
};

// POST of each event as JSON to an http or https URL, those of a batch over one connection, with
// X-Atoll-Event (its type) and X-Atoll-Delivery (its id). With a secret, X-Atoll-Signature is
// "t=<seconds>,v1=<hex>" where hex is HMAC-SHA-256 of
// "<seconds>.<body>". Any 2xx answer means that the receiver has it; 400, 410, 413 and 422 mean that it will
// never accept this event, which is then skipped. Fails if `url` is no such URL; the receiver is not asked
// here.
Result<std::unique_ptr<EventTarget>> event_webhook(const std::string& url, const std::string& secret);
// Publishes each event on "atoll.events.<tenant>.<type>" of a NATS server,
// "nats://[user:password@]host:port". A batch counts as sent once the server has answered a PING behind it.
Result<std::unique_ptr<EventTarget>> event_nats(const std::string& url);

struct DeliveryOptions {
  std::string directory;  // where positions are kept
  std::chrono::milliseconds first_pause{500}, longest_pause{60'000};
  std::size_t batch = 100;
  // A target that has everything is told of what is new so much later, together with what comes meanwhile.
  std::chrono::milliseconds gather{20};
};

// Sends the events of a log to targets, in order and at least once. The log is the spool: a target that was
// away goes on where it stopped, also after a restart, and misses only what the log no longer has. A new
// target begins with the next event. Each has a thread of its own, so that one that hangs does not delay the
// others. A failed batch is sent again after a pause, which doubles from first_pause to longest_pause.
class Deliveries {
 public:
  // `log` must outlive this, and the thread that appends to it must be the one that destroys this.
  Deliveries(EventLog& log, DeliveryOptions options, std::vector<std::unique_ptr<EventTarget>> targets);
  ~Deliveries();
  Deliveries(const Deliveries&) = delete;
  Deliveries& operator=(const Deliveries&) = delete;

  struct Standing {
    std::string target;
    std::uint64_t waiting = 0, sent = 0;
    std::uint64_t missed = 0;  // gone before it took them, or refused by it for good
    ComponentState state;
  };
  // Any thread.
  std::vector<Standing> standings() const;

 private:
  struct Lane;
  EventLog& log_;
  int listener_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace atl::telemetry
