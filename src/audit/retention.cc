// What the log's thread removes: whole segments by age and size, and the text of old looks.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "audit/head.h"
#include "audit/log.h"
#include "audit/segments.h"
#include "base/bytes.h"
#include "base/log.h"
#include "os/file.h"

namespace atl::audit {
namespace {

// How long ago the last entry of a segment was written.
std::optional<Duration> age_of(const Tail& tail, WallTime now) {
  if (!tail.last || tail.last->time.empty()) return std::nullopt;
  const auto written = from_rfc3339(tail.last->time);
  if (!written) return std::nullopt;
  return now - *written;
}

}  // namespace

Result<void> Log::tidy() {
  TRY(retire());
  return compact();
}

// The statement first, then the entry, then the file: a crash in between leaves a file too many, which the
// next start removes, and never a gap that nobody signed for.
Result<void> Log::retire() {
  const std::vector<Segment> segments = list_segments(paths_.segments);
  std::uint64_t total = 0;
  for (const Segment& segment : segments) total += segment.bytes;
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    const Segment& segment = segments[i];
    const Tail tail = TRY(read_tail(segment.path));
    const auto age = age_of(tail, options_.clock->now());
    const bool too_old = options_.keep.count() > 0 && age && *age > options_.keep;
    const bool too_much = options_.keep_bytes > 0 && total > options_.keep_bytes;
    if ((!too_old && !too_much) || !tail.last) break;
    if (options_.forwarded && options_.forwarded() < tail.last->last_seq) break;
    Retired retired{tail.last->last_seq, tail.last->digest, 1, to_rfc3339(options_.clock->now())};
    if (const auto before = read_retired(paths_.retired, signer_)) retired.segments += before->segments;
    TRY(write_statement(paths_.retired, retired.render(signer_), retired.segments, Synced::yes));
    Entry entry;
    entry.actor.key_id = kSystem;
    entry.action = "audit.retire";
    entry.object = segment_name(segment.first_seq);
    entry.details = fmt::format(
        R"({{"first_seq":{},"last_seq":{},"last_digest":"{}","bytes":{},"because":"{}"}})", segment.first_seq,
        tail.last->last_seq, tail.last->digest, segment.bytes, too_old ? "age" : "size");
    TRY(append(entry));
    if (::unlink(segment.path.c_str()) != 0 && errno != ENOENT)
      return fail(errno_error(errno, "audit: remove a segment"));
    total -= segment.bytes;
  }
  return {};
}

Result<void> Log::compact() {
  if (options_.compact_after.count() == 0) return {};
  const std::vector<Segment> segments = list_segments(paths_.segments);
  std::vector<Compacted> done = read_compacted(paths_.compacted, signer_);
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (std::ranges::find(done, segment.first_seq, &Compacted::first_seq) != done.end()) continue;
    const Tail tail = TRY(read_tail(segment.path));
    const auto age = age_of(tail, options_.clock->now());
    if (!age || *age <= options_.compact_after) break;
    if (options_.forwarded && options_.forwarded() < tail.last->last_seq) break;
    const auto made = compact_segment(segment.path);
    if (!made) {
      log::warn("a segment of the audit log cannot be compacted",
                {{"segment", segment_name(segment.first_seq)}, {"error", made.error().message()}});
      continue;
    }
    done.push_back({made->first_seq, made->last_seq, made->dropped, sha256_hex(made->bytes),
                    to_rfc3339(options_.clock->now())});
    // Statements about segments that are gone say nothing to anybody.
    std::erase_if(done, [&](const Compacted& one) { return one.last_seq < segments.front().first_seq; });
    std::string statements;
    for (const Compacted& one : done) statements += one.render(signer_) + "\n";
    const std::string beside = paths_.state + "/compacting";
    TRY(os::write_file_durably(beside, made->bytes, 0600));
    TRY(os::write_file_durably(paths_.compacted, statements, 0600));
    if (::rename(beside.c_str(), segment.path.c_str()) != 0)
      return fail(errno_error(errno, "audit: replace a segment"));
    Entry entry;
    entry.actor.key_id = kSystem;
    entry.action = "audit.compact";
    entry.object = segment_name(segment.first_seq);
    entry.details = fmt::format(R"({{"last_seq":{},"dropped":{}}})", made->last_seq, made->dropped);
    TRY(append(entry));
  }
  return {};
}

}  // namespace atl::audit
