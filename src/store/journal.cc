#include "store/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "os/file.h"

namespace atl::store {
namespace {

// Before every payload, in the byte order of x86 and ARM. It vouches for itself: what it says of the
// payload's size can be trusted when the payload cannot.
struct Head {
  std::uint64_t check;   // XXH3 of the three that follow
  std::uint64_t number;  // counts up by one
  std::uint64_t size;    // of the payload
  std::uint64_t hash;    // XXH3 of the payload, seeded with the number
};
static_assert(sizeof(Head) == 32);

constexpr std::uint64_t kPayloadBytesMax = 1ULL << 30;

std::uint64_t hash_of(std::uint64_t number, std::string_view payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), number);
}

std::uint64_t check_of(const Head& head) {
  return XXH3_64bits(&head.number, sizeof head - sizeof head.check);
}

Head head_of(std::uint64_t number, std::string_view payload) {
  Head head{0, number, payload.size(), hash_of(number, payload)};
  head.check = check_of(head);
  return head;
}

// A disk that turned read-only is nothing a caller did: it may pass.
Error journal_error(int error_number, std::string_view what) {
  if (error_number == EROFS) return {Code::unavailable, fmt::format("{}: the disk is read-only", what)};
  return errno_error(error_number, what);
}

// All of both pieces at `offset`, or the reason why not.
Result<void> write_at(int fd, std::uint64_t offset, std::string_view head, std::string_view payload) {
  while (!head.empty() || !payload.empty()) {
    // JUSTIFICATION: iovec has no const form, and pwritev writes nothing here.
    iovec pieces[] = {{const_cast<char*>(head.data()), head.size()},
                      {const_cast<char*>(payload.data()), payload.size()}};
    const ssize_t written = ::pwritev(fd, pieces, 2, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(journal_error(errno, "store: write to the journal"));
    if (written == 0) return fail(Code::no_space, "store: the journal takes no more");
    offset += static_cast<std::uint64_t>(written);
    const std::size_t of_head = std::min(head.size(), static_cast<std::size_t>(written));
    head.remove_prefix(of_head);
    payload.remove_prefix(static_cast<std::size_t>(written) - of_head);
  }
  return {};
}

Result<std::string> read_all(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail(errno_error(errno, "store: read the journal"));
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t part = ::pread(fd, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return fail(errno_error(errno, "store: read the journal"));
    if (part == 0) break;
    got += static_cast<std::size_t>(part);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace

Journal::Journal(std::string path, os::Fd fd, std::uint64_t size)
    : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

Result<Journal> Journal::open(std::string path) {
  os::Fd fd = TRY(os::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  // Two processes that append would write over each other.
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return fail(Code::conflict, "store: another process has the journal");
    return fail(errno_error(errno, "store: lock the journal"));
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(errno_error(errno, "store: open the journal"));
  return Journal(std::move(path), std::move(fd), static_cast<std::uint64_t>(info.st_size));
}

// Bytes are appended in order, so an append that was cut off is short: less than a head, or less than its
// head says. Whatever is there in full length and wrong was acknowledged once and is damaged.
Result<void> Journal::replay(
    std::uint64_t applied,
    const std::function<Result<void>(std::uint64_t number, std::string_view payload)>& each) {
  const std::string bytes = TRY(read_all(fd_.get()));
  std::optional<std::size_t> damaged;
  std::size_t at = 0;
  std::optional<std::uint64_t> before;
  last_ = applied;
  while (bytes.size() - at >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, bytes.data() + at, sizeof head);
    if (head.check != check_of(head) || (before && head.number != *before + 1)) {
      if (!damaged) damaged = at;
      break;  // nothing says where the next entry begins
    }
    // Cut off while it was appended, so never acknowledged.
    if (head.size > bytes.size() - at - sizeof head) break;
    const std::string_view payload = std::string_view(bytes).substr(at + sizeof head, head.size);
    if (head.hash != hash_of(head.number, payload)) {
      if (!damaged) damaged = at;
    } else if (head.number > applied) {
      TRY(each(head.number, payload));
    }
    // Also of a damaged payload: its head was sound, so the next entry is where it says.
    before = head.number;
    last_ = std::max(last_, head.number);
    at += sizeof head + head.size;
  }
  torn_ = at != bytes.size();
  size_ = at;
  if (damaged)
    return fail(Code::data_loss, fmt::format("store: the journal is damaged at byte {}", *damaged));
  return {};
}

Result<std::uint64_t> Journal::append(std::string_view payload) {
  if (payload.size() > kPayloadBytesMax) return fail(Code::too_large, "store: too big for the journal");
  if (torn_) {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0)
      return fail(journal_error(errno, "store: mend the journal"));
    torn_ = false;
  }
  const Head head = head_of(last_ + 1, payload);
  const std::string_view front(reinterpret_cast<const char*>(&head), sizeof head);
  if (auto written = write_at(fd_.get(), size_, front, payload); !written) {
    // What was written of it must not stand before the next entry. If it cannot be cut off now, the next
    // append tries again.
    torn_ = ::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0;
    return fail(std::move(written).error());
  }
  size_ += sizeof head + payload.size();
  return ++last_;
}

Result<void> Journal::clear() {
  if (size_ == 0 && !torn_) return {};
  if (::ftruncate(fd_.get(), 0) != 0) return fail(errno_error(errno, "store: clear the journal"));
  size_ = 0;
  torn_ = false;
  return {};
}

Result<void> Journal::set_aside() {
  const std::string bytes = TRY(read_all(fd_.get()));
  // Copied and not renamed: the lock is on this file.
  TRY(os::write_file(path_ + ".damaged", bytes, 0600));
  return clear();
}

}  // namespace atl::store
