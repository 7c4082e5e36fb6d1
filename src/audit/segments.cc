#include "audit/segments.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "audit/head.h"
#include "audit/lines.h"
#include "os/file.h"

namespace atl::audit {

Result<Tail> read_tail(const std::string& path) {
  const os::Fd fd = TRY(os::open(path.c_str(), O_RDONLY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(errno_error(errno, "audit: read a segment"));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const std::uint64_t want = std::min<std::uint64_t>(size, 2 * kLineBytesMax);
  std::string bytes(want, '\0');
  const ssize_t got = ::pread(fd.get(), bytes.data(), want, static_cast<off_t>(size - want));
  if (got != static_cast<ssize_t>(want))
    return fail(errno_error(got < 0 ? errno : EIO, "audit: read a segment"));
  Tail tail;
  const auto end = bytes.rfind('\n');
  if (end == std::string::npos) {
    // No newline within the length of two lines is no line that was cut off: it is left as it is.
    tail.whole_bytes = size > want ? size : 0;
    return tail;
  }
  tail.whole_bytes = size - want + end + 1;
  const auto before = end == 0 ? std::string::npos : bytes.rfind('\n', end - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  if (auto last = parse_line(std::string_view(bytes).substr(begin, end - begin)))
    tail.last = std::move(*last);
  return tail;
}

bool is_look(std::string_view action) {
  const auto dot = action.rfind('.');
  const std::string_view verb = dot == std::string_view::npos ? action : action.substr(dot + 1);
  return verb == "read" || verb == "list" || verb == "watch" || verb == "stat";
}

Result<void> remove_retired(const Paths& paths, const Verifier& key) {
  const auto retired = read_retired(paths.retired, key);
  if (!retired) return {};
  const std::vector<Segment> segments = list_segments(paths.segments);
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (segments[i + 1].first_seq > retired->last_seq + 1) break;
    if (::unlink(segments[i].path.c_str()) != 0 && errno != ENOENT)
      return fail(errno_error(errno, "audit: remove a retired segment"));
  }
  return {};
}

Result<Compaction> compact_segment(const std::string& path) {
  Lines lines = TRY(Lines::open(path));
  Compaction result;
  struct Run {
    std::uint64_t first, last;
    std::string prev, digest;
  };
  std::optional<Run> run;
  const auto end_run = [&] {
    if (run) result.bytes += render_run(run->first, run->last, run->prev, run->digest);
    run.reset();
  };
  while (const auto line = TRY(lines.next())) {
    const StoredEntry stored = TRY(parse_line(*line));
    if (result.first_seq == 0) result.first_seq = stored.seq;
    result.last_seq = stored.last_seq;
    const bool goes =
        stored.compacted || (stored.entry.outcome == Outcome::ok && is_look(stored.entry.action));
    if (!goes) {
      end_run();
      result.bytes.append(*line).push_back('\n');
      continue;
    }
    if (!stored.compacted) ++result.dropped;
    if (!run) run = Run{stored.seq, stored.last_seq, stored.prev, stored.digest};
    run->last = stored.last_seq;
    run->digest = stored.digest;
  }
  end_run();
  return result;
}

}  // namespace atl::audit
