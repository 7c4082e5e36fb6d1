#include "audit/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "audit/head.h"
#include "audit/segments.h"
#include "base/log.h"
#include "os/file.h"
#include "os/offload.h"

namespace atl::audit {
namespace {

// Space is asked for in pieces of this size, so that an entry seldom costs a second system call.
constexpr std::uint64_t kPieceBytes = 256U << 10;
constexpr std::chrono::milliseconds kTick{1000};
constexpr std::chrono::seconds kTidyEvery{60};

Result<os::Fd> take_lock(const std::string& path) {
  os::Fd fd = TRY(os::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  // `atoll audit verify` holds a shared lock for a moment to see whether a service runs.
  constexpr int kTries = 20;
  for (int attempt = 0; ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (errno != EWOULDBLOCK) return fail(errno_error(errno, "audit: lock the log"));
    if (attempt == kTries) return fail(Code::conflict, "another process writes the audit log");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fd;
}

Entry by_system(std::string action, std::string object) {
  Entry entry;
  entry.actor.key_id = kSystem;
  entry.action = std::move(action);
  entry.object = std::move(object);
  return entry;
}

Error no_room() {
  return {Code::no_space,
          "the disk has no room for the audit log; only ending and deleting are possible until there is"};
}

}  // namespace

Log::Log(Options options, Signer signer, Mark mark, os::Fd lock)
    : options_(std::move(options)),
      paths_(options_.data),
      signer_(std::move(signer)),
      lock_(std::move(lock)),
      boot_(boot_id()),
      mark_(std::move(mark)),
      fold_(options_.fold) {}

Result<std::shared_ptr<Log>> Log::open(Options options) {
  const Paths paths(options.data);
  TRY(os::make_directories(paths.segments, 0700));
  TRY(os::make_directories(paths.state, 0700));
  os::Fd lock = TRY(take_lock(paths.lock));
  Signer signer = TRY(Signer::open(paths.key));
  TRY(os::write_file(paths.public_key, signer.public_pem(), 0644));
  const auto mark_end = Mark::read_end(paths.mark);
  Mark mark = TRY(Mark::open(paths.mark));
  std::shared_ptr<Log> log(new Log(std::move(options), std::move(signer), std::move(mark), std::move(lock)));
  const std::lock_guard hold(log->mutex_);
  TRY_CONTEXT("audit", log->recover());
  log->thread_ = std::thread([raw = log.get()] { raw->keep_house(); });
  pthread_setname_np(log->thread_.native_handle(), "atoll-audit");
  return log;
}

Log::~Log() {
  close();
}

// Recovery.

Result<void> Log::recover() {
  const auto mark_end = Mark::read_end(paths_.mark);
  TRY(remove_retired(paths_, signer_));
  const std::vector<Segment> segments = list_segments(paths_.segments);
  TRY(open_last(segments));
  const std::string found = find_end(segments, mark_end ? *mark_end : End{});
  if (!file_) TRY(begin_segment());
  if (const auto head = read_head(paths_.head, signer_)) head_turn_ = head->seq;
  make_room(options_.reserve_bytes + kPieceBytes);
  Entry start = by_system("audit.start", signer_.fingerprint());
  if (!found.empty()) {
    start.outcome = Outcome::error;
    start.reason = found;
    log::error("the audit log is not as it was left", {{"reason", found}});
  }
  TRY(append_locked(start));
  TRY(finish_left());
  return sign_locked(false);
}

Result<void> Log::open_last(const std::vector<Segment>& segments) {
  if (segments.empty()) return {};
  const Segment& last = segments.back();
  os::Fd fd = TRY(os::open(last.path.c_str(), O_RDWR));
  const Tail tail = TRY(read_tail(last.path));
  if (tail.whole_bytes != last.bytes && ::ftruncate(fd.get(), static_cast<off_t>(tail.whole_bytes)) != 0)
    return fail(errno_error(errno, "remove a line that was cut off"));
  file_ = std::make_shared<const os::Fd>(std::move(fd));
  size_ = allocated_ = tail.whole_bytes;
  return {};
}

// Three witnesses say where the log ended: its last line, the mark (this machine's page cache) and the signed
// head (the disk). They agree after every orderly end and after a kill. A power failure may cost the last
// lines and the last marks, but never what was signed and synced; any other difference means that someone
// changed the files.
std::string Log::find_end(const std::vector<Segment>& segments, const End& mark_end) {
  End tail{0, std::string(kNoDigest), {}};
  std::string tail_prev;
  if (const auto retired = read_retired(paths_.retired, signer_)) {
    tail.seq = retired->last_seq;
    tail.digest = retired->last_digest;
  }
  bool readable = true;
  for (auto at = segments.rbegin(); at != segments.rend(); ++at) {
    const auto end = read_tail(at->path);
    if (end && end->whole_bytes == 0) continue;  // begun, and nothing was written to it
    readable = end && end->last;
    if (!readable) break;
    tail.seq = end->last->last_seq;
    tail.digest = end->last->digest;
    tail_prev = end->last->prev;
    break;
  }
  const auto head = read_head(paths_.head, signer_);
  const std::uint64_t signed_seq = head ? head->seq : 0;
  seq_ = tail.seq;
  digest_ = tail.digest;
  const bool same_boot = mark_end.boot == boot_ && mark_end.seq > 0;
  const bool fits = tail.seq == mark_end.seq && tail.digest == mark_end.digest;
  const bool one_more = tail.seq == mark_end.seq + 1 && tail_prev == mark_end.digest;
  if (readable && tail.seq >= signed_seq && (fits || one_more)) return {};
  if (readable && tail.seq == 0 && mark_end.seq == 0 && signed_seq == 0) return {};
  if (readable && !same_boot && mark_end.seq > 0 && tail.seq >= signed_seq)
    return fmt::format(
        "the machine stopped without an orderly end: the log goes on after entry {}, the last one known to "
        "have been written was {}",
        tail.seq, mark_end.seq);
  // From here on nothing hides the gap: the next entry follows what was there before.
  if (mark_end.seq >= signed_seq && mark_end.seq > 0) {
    seq_ = std::max(mark_end.seq, tail.seq);
    digest_ = mark_end.digest;
  } else if (head) {
    seq_ = std::max(head->seq, tail.seq);
    digest_ = head->digest;
  }
  return fmt::format("the log ended at entry {} when it was closed, and ends at entry {} now",
                     std::max(mark_end.seq, signed_seq), tail.seq);
}

// Changes that were begun and whose outcome nobody wrote.
Result<void> Log::finish_left() {
  for (const std::string& text : mark_.left()) {
    auto entry = parse_intent(text);
    if (!entry) continue;
    entry->outcome = Outcome::error;
    entry->reason = "interrupted: the service ended before the outcome was known; it may have happened";
    TRY(append_locked(*entry));
  }
  mark_.clear_all();
  return {};
}

// Writing.

Result<void> Log::begin_segment() {
  const std::string path = paths_.segments + "/" + segment_name(seq_ + 1);
  os::Fd fd = TRY(os::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  auto old = std::exchange(file_, std::make_shared<const os::Fd>(std::move(fd)));
  const std::uint64_t old_size = std::exchange(size_, 0), old_allocated = std::exchange(allocated_, 0);
  if (!old) return {};
  // The next one needs its room before the last one gives up its own.
  if (allocates_ && !make_room(options_.reserve_bytes + (pending_ + 1) * kLineBytesMax)) {
    ::unlink(path.c_str());
    file_ = std::move(old);
    size_ = old_size;
    allocated_ = old_allocated;
    return fail(no_room());
  }
  if (::ftruncate(old->get(), static_cast<off_t>(old_size)) != 0 || ::fdatasync(old->get()) != 0)
    log::warn("a segment of the audit log could not be closed",
              {{"error", errno_error(errno, "write the log to its disk").message()}});
  return {};
}

// Room for so many bytes beyond what is written, whatever else fills the disk.
bool Log::make_room(std::uint64_t bytes_free) {
  if (allocates_) {
    if (allocated_ - size_ >= bytes_free) return true;
    for (const std::uint64_t more : {bytes_free + kPieceBytes, bytes_free}) {
      if (::fallocate(file_->get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_),
                      static_cast<off_t>(more)) == 0) {
        allocated_ = size_ + more;
        return true;
      }
      if (errno == EOPNOTSUPP || errno == ENOSYS) {
        allocates_ = false;
        log::warn("this filesystem cannot reserve space for the audit log");
        break;
      }
    }
    if (allocates_) return false;
  }
  const auto space = os::filesystem_space(file_->get());
  return !space || space->bytes - std::min(space->bytes, space->bytes_used) >= bytes_free;
}

Result<void> Log::write_line(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written =
        ::pwrite(file_->get(), text.data() + done, text.size() - done, static_cast<off_t>(size_ + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int why = written < 0 ? errno : ENOSPC;
      // Half a line must not stay: it would become a part of the next one.
      if (done > 0 && ::ftruncate(file_->get(), static_cast<off_t>(size_)) == 0) allocated_ = size_;
      return fail(errno_error(why, "audit: write an entry"));
    }
    done += static_cast<std::size_t>(written);
  }
  size_ += text.size();
  return {};
}

Result<std::uint64_t> Log::append_locked(const Entry& entry) {
  if (closed_) return fail(Code::unavailable, "the audit log is closed");
  if (size_ >= options_.segment_bytes)
    if (auto begun = begin_segment(); !begun && begun.error().code() != Code::no_space)
      return fail(std::move(begun).error());
  const SteadyTime began = Clock::machine().steady();
  const Line line = render(seq_ + 1, options_.clock->now(), entry, digest_);
  TRY(write_line(line.text));
  writes_.add(Clock::machine().steady() - began);
  ++seq_;
  digest_ = line.digest;
  mark_.set_end({seq_, digest_, boot_});
  return seq_;
}

Result<std::uint64_t> Log::append(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  return append_locked(entry);
}

Result<Ticket> Log::begin(Kind kind, Entry what) {
  const std::lock_guard lock(mutex_);
  if (closed_) return fail(Code::unavailable, "the audit log is closed");
  std::uint64_t stays = 0;  // of the reserve
  if (kind == Kind::change) stays = options_.reserve_bytes;
  if (kind == Kind::reveal) stays = options_.reserve_bytes / 2;
  const bool room = make_room(stays + (pending_ + 1) * kLineBytesMax);
  if (kind == Kind::change) full_ = !room;
  if (!room && kind != Kind::ending) return fail(no_room());
  const std::uint32_t slot = TRY(mark_.put(render_intent(what, Mark::kIntentBytesMax)));
  ++pending_;
  return Ticket(shared_from_this(), slot, std::move(what));
}

Result<std::uint64_t> Log::finish(std::uint32_t slot, const Entry& entry) {
  const std::lock_guard lock(mutex_);
  --pending_;
  if (closed_)
    return fail(Code::unavailable, "the audit log is closed");  // the intent stays for the next start
  auto written = append_locked(entry);
  if (!written) ++lost_;
  mark_.clear(slot);
  return written;
}

void Log::fold(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !fold_.take(entry, options_.clock->steady())) return;
  if (!make_room(options_.reserve_bytes / 2 + (pending_ + 1) * kLineBytesMax) || !append_locked(entry))
    ++lost_;
}

void Log::write_folded(SteadyTime now) {
  for (const Entry& entry : fold_.due(now))
    if (!make_room(options_.reserve_bytes / 2) || !append_locked(entry)) ++lost_;
  if (lost_ == 0 || !make_room(options_.reserve_bytes + kLineBytesMax)) return;
  Entry entry = by_system("audit.lose", "");
  entry.outcome = Outcome::error;
  entry.reason = fmt::format("{} entries could not be written while there was no room", lost_);
  if (append_locked(entry)) lost_ = 0;
}

Task<void> Log::settle() {
  if (options_.durability == Durability::process) co_return Result<void>{};
  std::move_only_function<void(os::Completion<void>)> start = [this](os::Completion<void> done) {
    {
      const std::lock_guard lock(mutex_);
      if (!closed_ && synced_seq_ < seq_) {
        waiting_.emplace_back(std::move(done));
        wake_.notify_one();
        return;
      }
    }
    done(Result<void>{});
  };
  co_return co_await os::completed_elsewhere<void>(std::move(start));
}

Result<void> Log::sign_locked(bool closed) {
  const Head head{seq_, digest_, to_rfc3339(options_.clock->now()), closed};
  TRY(write_statement(paths_.head, head.render(signer_), ++head_turn_,
                      options_.durability == Durability::power ? Synced::yes : Synced::no));
  signed_seq_ = seq_;
  return {};
}

Result<void> Log::sign() {
  const std::lock_guard lock(mutex_);
  if (closed_) return fail(Code::unavailable, "the audit log is closed");
  return sign_locked(false);
}

Log::Facts Log::facts() const {
  const std::lock_guard lock(mutex_);
  return {seq_, lost_, full_};
}

void Log::set_listener(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

// One wait for the disk for everybody who waits.
void Log::sync_waiting(std::unique_lock<std::mutex>& lock) {
  auto waiting = std::exchange(waiting_, {});
  const std::uint64_t until = seq_;
  const auto file = file_;
  lock.unlock();
  Result<void> result;
  if (::fdatasync(file->get()) != 0) result = fail(errno_error(errno, "audit: sync"));
  for (auto& done : waiting) done(result);
  lock.lock();
  if (result) synced_seq_ = std::max(synced_seq_, until);
}

void Log::keep_house() {
  std::unique_lock lock(mutex_);
  const auto tick = std::min({kTick, options_.sign_every, options_.fold});
  SteadyTime signed_at = options_.clock->steady(), tidied_at = signed_at;
  std::uint64_t told = 0;
  while (!closed_) {
    wake_.wait_for(lock, std::max(tick, std::chrono::milliseconds(1)),
                   [this] { return closed_ || !waiting_.empty(); });
    if (!waiting_.empty()) sync_waiting(lock);
    if (closed_) break;
    const SteadyTime now = options_.clock->steady();
    write_folded(now);
    if (seq_ != signed_seq_ && now - signed_at >= options_.sign_every) {
      if (auto done = sign_locked(false); !done)
        log::error("the audit log's head could not be signed", {{"error", done.error().message()}});
      signed_at = now;
    }
    const bool tidying = now - tidied_at >= kTidyEvery;
    const auto listener = seq_ != told ? listener_ : nullptr;
    told = seq_;
    lock.unlock();
    if (listener) listener();
    if (tidying) {
      tidied_at = now;
      if (auto done = tidy(); !done)
        log::warn("old audit entries could not be removed", {{"error", done.error().message()}});
    }
    lock.lock();
  }
  if (!waiting_.empty()) sync_waiting(lock);
}

void Log::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (thread_.joinable()) {
      write_folded(SteadyTime::max());
      (void)append_locked(by_system("audit.stop", signer_.fingerprint()));
      if (auto done = sign_locked(true); !done)
        log::error("the audit log's head could not be signed", {{"error", done.error().message()}});
      if (options_.durability == Durability::power) (void)::fdatasync(file_->get());
    }
    closed_ = true;
    listener_ = nullptr;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  lock_.reset();
}

// Tickets.

Ticket& Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    if (log_) (void)finish(Outcome::error, "cut off");
    log_ = std::move(other.log_);
    slot_ = other.slot_;
    entry_ = std::move(other.entry_);
  }
  return *this;
}

Ticket::~Ticket() {
  if (log_) (void)finish(Outcome::error, "cut off: whoever asked left, or the service was stopping");
}

Result<void> Ticket::finish(Outcome outcome, std::string reason) {
  const auto log = std::exchange(log_, nullptr);
  if (!log) return fail(Code::internal, "audit: a ticket was finished twice");
  entry_.outcome = outcome;
  entry_.reason = std::move(reason);
  TRY(log->finish(slot_, entry_));
  return {};
}

void Ticket::cancel() {
  if (const auto log = std::exchange(log_, nullptr)) {
    const std::lock_guard lock(log->mutex_);
    --log->pending_;
    log->mark_.clear(slot_);
  }
}

}  // namespace atl::audit
