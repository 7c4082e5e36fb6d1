#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace atl::audit {

// Who did it. For what the service does by itself `key_id` is kSystem, for a caller that showed no good
// credential it is kAnonymous; both have no tenant unless the thing that was touched has one.
struct Actor {
  std::string key_id, role, tenant;
  std::string address;          // of the other side; empty for the service itself
  std::string request_id;       // as in the answer's X-Request-Id
  std::string looks_from = {};  // whose key it is, if that is another tenant than the one it looks into
};
inline constexpr std::string_view kSystem = "system";
inline constexpr std::string_view kAnonymous = "anonymous";

enum class Outcome : std::uint8_t { ok, denied, error };
std::string_view to_string(Outcome outcome);

// What happened, before it has a place in the log.
struct Entry {
  Actor actor;
  std::string action;  // noun.verb: "file.write"
  std::string object;  // what was touched: a session's id, "<session>:<path>", a key's id
  Outcome outcome = Outcome::ok;
  std::string reason;   // why it was denied or failed; empty for ok
  std::string details;  // a JSON object as text, or empty
};

// An entry as it stands in the log (docs/formats/audit.md). `digest` is SHA-256, in hexadecimal digits, of
// the line up to its last member, which is the digest itself; `prev` is the digest of the entry before.
struct StoredEntry {
  std::uint64_t seq = 0;
  std::string time;  // RFC 3339
  Entry entry;
  std::string prev, digest;
  // Of a line that stands for several entries whose text was compacted away: the last of them. Otherwise seq.
  std::uint64_t last_seq = 0;
  bool compacted = false;
};

// What the first entry of an installation has for `prev`.
inline constexpr std::string_view kNoDigest =
    "0000000000000000000000000000000000000000000000000000000000000000";
inline constexpr std::size_t kDigestDigits = 64;
// No line of a log is longer than this, its newline included: text that would not fit is cut.
inline constexpr std::size_t kLineBytesMax = 6144;

// A line with its newline.
struct Line {
  std::string text, digest;
};
Line render(std::uint64_t seq, WallTime time, const Entry& entry, std::string_view prev);
// The line that stands for the entries first..last in a compacted segment.
std::string render_run(std::uint64_t first, std::uint64_t last, std::string_view prev,
                       std::string_view digest);

// Reads a line without its newline. Code::data_loss if it is none of ours, or if its digest is not that of
// its text.
Result<StoredEntry> parse_line(std::string_view line);

// The number of the line, without looking at the rest. Code::data_loss if it has none.
Result<std::uint64_t> seq_of(std::string_view line);

// The text, cut so that it has at most `bytes_max` bytes as JSON; what was cut is told by a digest at its
// end, so that two long texts with the same beginning can be told apart.
std::string clipped(std::string_view text, std::size_t bytes_max);

// {"actor","role",...,"object"} of an entry whose outcome is not known yet, at most `bytes_max` bytes.
std::string render_intent(const Entry& entry, std::size_t bytes_max);
Result<Entry> parse_intent(std::string_view text);

}  // namespace atl::audit
