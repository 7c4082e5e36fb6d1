#include "audit/verify.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "audit/entry.h"
#include "audit/head.h"
#include "audit/lines.h"
#include "audit/mark.h"
#include "audit/paths.h"
#include "base/bytes.h"
#include "os/file.h"

namespace atl::audit {
namespace {

constexpr std::size_t kSegmentBytesMax = 4ULL << 30;

bool is_held(const std::string& lock) {
  const auto fd = os::open(lock.c_str(), O_RDONLY);
  return fd && ::flock(fd->get(), LOCK_SH | LOCK_NB) != 0;
}

// The walk along the chain. It stops at the first thing that is wrong.
class Walk {
 public:
  Walk(const Paths& paths, const Verifier& key) : paths_(paths), key_(key) {}

  Result<Verdict> run(const VerifyOptions& options);

 private:
  Result<void> begin();
  Result<bool> segment(const Segment& segment, bool is_last);
  bool line(std::string_view text, const Segment& segment);
  bool out_of_turn(const StoredEntry& stored);
  bool wrong(std::uint64_t seq, std::string problem);
  // The witnesses: heads and the mark.
  bool check_heads();
  bool check_head(const Head& head, std::string_view whose);
  bool check_mark();
  Result<bool> is_later(std::uint64_t seq);
  Result<bool> allows_runs(const Segment& segment);

  const Paths& paths_;
  const Verifier& key_;
  Verdict verdict_;
  std::vector<Segment> segments_;
  std::vector<Compacted> compacted_;
  std::optional<Retired> retired_;
  std::vector<Head> heads_;
  bool mark_there_ = false, running_ = false;
  End mark_;
  std::string after_closed_;  // the action of the entry that follows a closed head
  // Digests of the entries that witnesses name, as they stand in the chain.
  std::map<std::uint64_t, std::string> witnessed_;

  std::uint64_t expected_ = 1;
  std::string prev_{kNoDigest};
  bool anchored_ = true;  // false while leftovers of retired segments are read, whose beginning is gone
  bool runs_allowed_ = false;
  std::uint64_t line_number_ = 0;
};

bool Walk::wrong(std::uint64_t seq, std::string problem) {
  verdict_.wrong_seq = seq;
  verdict_.problem = std::move(problem);
  return false;
}

Result<void> Walk::begin() {
  if (auto retired = read_retired(paths_.retired, key_)) {
    retired_ = std::move(*retired);
  } else if (os::exists(paths_.retired)) {
    wrong(1, fmt::format("entry 1 was removed, and that is not signed for: {}", retired.error().message()));
    return {};
  }
  compacted_ = read_compacted(paths_.compacted, key_);
  segments_ = list_segments(paths_.segments);
  if (!retired_) return {};
  const bool leftovers = !segments_.empty() && segments_.front().first_seq <= retired_->last_seq;
  anchored_ = !leftovers;
  expected_ = leftovers ? segments_.front().first_seq : retired_->last_seq + 1;
  prev_ = retired_->last_digest;
  witnessed_[retired_->last_seq] = leftovers ? "" : retired_->last_digest;
  return {};
}

// Lines that stand for several entries are good only in a segment that was signed for as it is.
Result<bool> Walk::allows_runs(const Segment& segment) {
  const auto found = std::ranges::find(compacted_, segment.first_seq, &Compacted::first_seq);
  if (found == compacted_.end()) return false;
  const std::string bytes = TRY(os::read_file(segment.path, kSegmentBytesMax));
  return sha256_hex(bytes) == found->sha256;
}

// Whether an entry with this number comes later: then the order was changed, otherwise it was removed.
Result<bool> Walk::is_later(std::uint64_t seq) {
  for (const Segment& segment : segments_) {
    Lines lines = TRY(Lines::open(segment.path));
    while (const auto text = TRY(lines.next())) {
      const auto number = seq_of(*text);
      if (number && *number == seq) return true;
    }
  }
  return false;
}

bool Walk::out_of_turn(const StoredEntry& stored) {
  if (stored.seq < expected_)
    return wrong(stored.seq,
                 fmt::format("entry {} was added: another one with its number stands before it", stored.seq));
  const auto later = is_later(expected_);
  if (later && *later)
    return wrong(expected_, fmt::format("entry {} is out of order: entry {} stands in its place", expected_,
                                        stored.seq));
  return wrong(expected_,
               fmt::format("entry {} was removed: entry {} stands in its place", expected_, stored.seq));
}

bool Walk::line(std::string_view text, const Segment& segment) {
  ++line_number_;
  const auto stored = parse_line(text);
  if (!stored)
    return wrong(expected_, fmt::format("entry {} was changed: {}", expected_, stored.error().message()));
  if (verdict_.first_seq == 0) verdict_.first_seq = stored->seq;
  if (line_number_ == 1 && stored->seq == expected_ && stored->seq != segment.first_seq)
    return wrong(stored->seq, fmt::format("entry {} stands in a segment with another name", stored->seq));
  if (stored->seq != expected_) return out_of_turn(*stored);
  if (stored->compacted && !runs_allowed_)
    return wrong(stored->seq,
                 fmt::format("entry {} was removed: nobody signed for the line in its place, or the "
                             "segment was changed afterwards",
                             stored->seq));
  if (!anchored_) {
    prev_ = stored->prev;
    anchored_ = true;
  }
  if (stored->prev != prev_) {
    if (expected_ == 1) return wrong(1, "entry 1 was changed: something was before it");
    return wrong(expected_ - 1, fmt::format("entry {} was changed: entry {} was written after another one",
                                            expected_ - 1, expected_));
  }
  prev_ = stored->digest;
  expected_ = stored->last_seq + 1;
  verdict_.last_seq = stored->last_seq;
  verdict_.entries += stored->last_seq - stored->seq + 1;
  if (const auto named = witnessed_.find(stored->last_seq); named != witnessed_.end())
    named->second = stored->digest;
  for (const Head& head : heads_)
    if (head.closed && stored->seq == head.seq + 1) after_closed_ = stored->entry.action;
  return true;
}

Result<bool> Walk::segment(const Segment& segment, bool is_last) {
  line_number_ = 0;
  runs_allowed_ = TRY(allows_runs(segment));
  Lines lines = TRY(Lines::open(segment.path));
  while (const auto text = TRY(lines.next())) {
    if (line(*text, segment)) continue;
    verdict_.place = fmt::format("{} line {}", segment_name(segment.first_seq), line_number_);
    return false;
  }
  // The last segment may end with a line that is being written, or that a crash cut off.
  if (lines.rest() > 0 && !is_last) {
    wrong(expected_, fmt::format("entry {} was changed: its line is not whole", expected_));
    verdict_.place = fmt::format("{} line {}", segment_name(segment.first_seq), line_number_ + 1);
    return false;
  }
  return true;
}

bool Walk::check_head(const Head& head, std::string_view whose) {
  if (head.seq > verdict_.last_seq)
    return wrong(verdict_.last_seq + 1,
                 fmt::format("entry {} was removed: {} says that there were {} entries",
                             verdict_.last_seq + 1, whose, head.seq));
  const std::string& there = witnessed_[head.seq];
  // Entries inside of a compacted run, or retired since, cannot be compared one by one.
  if (!there.empty() && there != head.digest)
    return wrong(head.seq, fmt::format("entry {} was changed: {} signed another one", head.seq, whose));
  verdict_.signed_seq = std::max(verdict_.signed_seq, head.seq);
  return true;
}

bool Walk::check_heads() {
  for (const Head& head : heads_) {
    if (!check_head(head, "the signed head")) return false;
    if (head.closed && verdict_.last_seq > head.seq && after_closed_ != "audit.start" && !running_)
      return wrong(head.seq + 1,
                   fmt::format("entry {} was added: the log was closed before it", head.seq + 1));
  }
  return true;
}

bool Walk::check_mark() {
  if (!mark_there_) return true;
  if (mark_.seq > verdict_.last_seq)
    return wrong(verdict_.last_seq + 1, fmt::format("entry {} was removed: the service wrote {} entries",
                                                    verdict_.last_seq + 1, mark_.seq));
  const std::string& there = witnessed_[mark_.seq];
  if (!there.empty() && there != mark_.digest)
    return wrong(mark_.seq, fmt::format("entry {} was changed: the service wrote another one", mark_.seq));
  // An entry is written before its mark, so a service that was killed may have written one more. After a
  // power failure the mark may be older than the entries.
  End now = mark_;
  if (running_)
    if (const auto again = Mark::read_end(paths_.mark)) now = *again;
  if (now.boot == boot_id() && verdict_.last_seq > now.seq + 1)
    return wrong(now.seq + 2,
                 fmt::format("entry {} was added: the service wrote {} entries", now.seq + 2, now.seq));
  return true;
}

Result<Verdict> Walk::run(const VerifyOptions& options) {
  verdict_.key = key_.fingerprint();
  running_ = is_held(paths_.lock);
  // Before the entries: what they say must be among what is read afterwards.
  if (os::exists(paths_.head)) {
    auto head = read_head(paths_.head, key_);
    if (!head) return fail(std::move(head).error());
    heads_.push_back(std::move(*head));
  }
  if (!options.head.empty()) {
    std::string text = TRY(os::read_file(options.head));
    text.resize(text.find_last_not_of(" \n") + 1);
    heads_.push_back(TRY_CONTEXT(options.head, Head::parse(text, key_)));
  }
  if (auto end = Mark::read_end(paths_.mark)) {
    mark_ = std::move(*end);
    mark_there_ = mark_.seq > 0;
  }
  for (const Head& head : heads_) witnessed_[head.seq];
  witnessed_[mark_.seq];
  TRY(begin());
  if (verdict_.wrong_seq != 0) return verdict_;
  verdict_.last_seq = expected_ - 1;
  for (std::size_t i = 0; i < segments_.size(); ++i)
    if (!TRY(segment(segments_[i], i + 1 == segments_.size()))) return verdict_;
  if (retired_ && !witnessed_[retired_->last_seq].empty() &&
      witnessed_[retired_->last_seq] != retired_->last_digest) {
    wrong(retired_->last_seq, fmt::format("entry {} was changed: its removal was signed for with another one",
                                          retired_->last_seq));
    return verdict_;
  }
  verdict_.good = check_heads() && check_mark();
  return verdict_;
}

}  // namespace

Result<Verdict> verify(const VerifyOptions& options) {
  const Paths paths(options.data);
  if (!os::exists(paths.segments) || !os::exists(paths.state))
    return fail(Code::not_found, fmt::format("{} holds no audit log", options.data));
  std::string key = options.public_key;
  if (key.empty()) key = os::exists(paths.public_key) ? paths.public_key : paths.key;
  const Verifier verifier = TRY(Verifier::load(key));
  return Walk(paths, verifier).run(options);
}

}  // namespace atl::audit
