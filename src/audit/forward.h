#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audit/log.h"
#include "base/result.h"

namespace atl::audit {

// A place outside of the data directory that gets every entry. Called by one thread.
class Target {
 public:
  virtual ~Target() = default;
  // A word of letters and digits: its position is kept under it.
  virtual const std::string& name() const = 0;
  // Sends all of these JSON lines, each with its newline. After an error all of them are sent again later,
  // also those that had arrived. May block for a while; stop() ends it early.
  virtual Result<void> send(const std::vector<std::string>& lines) = 0;
  // Makes a send() that is under way return soon; called from another thread.
  virtual void stop() {}
};

// Appends to a file, for a log shipper to take from there.
Result<std::unique_ptr<Target>> file_target(const std::string& path);
// "unix:PATH" (datagrams, such as /dev/log), "udp://HOST:PORT" or "tcp://HOST:PORT": RFC 5424, over TCP with
// octet counting. Code::invalid_argument for anything else.
Result<std::unique_ptr<Target>> syslog_target(const std::string& address);
// POST of application/x-ndjson to an http or https URL. With a secret, X-Atoll-Signature is
// "t=<seconds>,v1=<hex>" where hex is HMAC-SHA-256 of "<seconds>.<body>". Any 2xx answer takes it.
Result<std::unique_ptr<Target>> webhook_target(const std::string& url, const std::string& secret);

struct ForwardOptions {
  std::string data;                        // the data directory
  std::uint64_t spool_bytes = 256U << 20;  // how far a target may fall behind
  std::chrono::milliseconds first_pause{500}, longest_pause{60'000};
  std::size_t batch = 500;  // lines
};

// Sends all entries of a log to its targets, in order and at least once, and the signed heads between them as
// {"head": {...}}. The log itself is the spool: what was not sent is read from its segments again, also after
// a restart. A target that falls behind by more than `spool_bytes` misses the oldest of what it lacks; an
// entry `audit.skip` says so.
//
// Each target has a thread of its own, so that one that hangs does not delay the others.
class Forwarder {
 public:
  Forwarder(ForwardOptions options, std::vector<std::unique_ptr<Target>> targets);
  // Ends the threads; what was not sent is sent after the next start.
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  // Begins. Entries are looked for when the log says that there are some.
  void start(std::shared_ptr<Log> log);
  // The number of the last entry that every target has: up to there the log may be removed. The largest
  // number if there are no targets.
  std::uint64_t sent() const;
  // The names of the targets that did not take what they were sent last.
  std::vector<std::string> failing() const;

 private:
  struct Shared;
  struct Lane;
  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace atl::audit
