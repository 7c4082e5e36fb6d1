#include "audit/mark.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "os/file.h"

namespace atl::audit {
namespace {

constexpr char kMagic[8] = {'A', 'T', 'L', 'M', 'A', 'R', 'K', '1'};
constexpr std::size_t kPage = 4096;
constexpr std::size_t kFileBytes = kPage + Mark::kSlots * Mark::kSlotBytes;

// The length at the front of a place for an intent.
std::atomic_ref<std::uint64_t> length_at(char* place) {
  // JUSTIFICATION: the mapping begins at a page, and places have a size that is a multiple of 8.
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(place));
}

// Two of them take turns, so that one is whole at every moment.
struct StoredEnd {
  char magic[8];
  std::uint64_t generation;
  std::uint64_t seq;
  char digest[64];
  char boot[40];
  std::uint64_t check;  // XXH3 of all before
};
constexpr std::size_t kSecondEnd = 2048;

std::uint64_t check_of(const StoredEnd& end) {
  return XXH3_64bits(&end, offsetof(StoredEnd, check));
}

std::string text_of(const char* bytes, std::size_t size) {
  return {bytes, ::strnlen(bytes, size)};
}

std::optional<StoredEnd> valid(const char* bytes) {
  StoredEnd end;
  std::memcpy(&end, bytes, sizeof end);
  if (std::memcmp(end.magic, kMagic, sizeof kMagic) != 0 || end.check != check_of(end)) return std::nullopt;
  return end;
}

std::optional<StoredEnd> newest(const char* page) {
  const auto first = valid(page), second = valid(page + kSecondEnd);
  if (!first || (second && second->generation > first->generation)) return second;
  return first;
}

}  // namespace

Result<Mark> Mark::open(const std::string& path) {
  const os::Fd fd = TRY(os::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  // All of its blocks now: a page of a sparse file that the disk has no room for would end the process when
  // it is written to.
  if (const int failed = ::posix_fallocate(fd.get(), 0, kFileBytes); failed != 0)
    return fail(errno_error(failed, "audit: make room for the mark"));
  void* map = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return fail(errno_error(errno, "audit: map the mark"));
  Mark mark(static_cast<char*>(map));
  if (const auto end = newest(mark.map_)) mark.generation_ = end->generation;
  for (std::uint32_t number = kSlots; number > 0; --number) mark.free_.push_back(number - 1);
  return mark;
}

Mark::Mark(Mark&& other) noexcept
    : map_(std::exchange(other.map_, nullptr)),
      generation_(other.generation_),
      free_(std::move(other.free_)) {}

Mark::~Mark() {
  if (map_ != nullptr) ::munmap(map_, kFileBytes);
}

char* Mark::slot(std::uint32_t number) const {
  return map_ + kPage + number * kSlotBytes;
}

void Mark::set_end(const End& end) {
  StoredEnd stored{};
  std::memcpy(stored.magic, kMagic, sizeof kMagic);
  stored.generation = ++generation_;
  stored.seq = end.seq;
  std::memcpy(stored.digest, end.digest.data(), std::min(end.digest.size(), sizeof stored.digest));
  std::memcpy(stored.boot, end.boot.data(), std::min(end.boot.size(), sizeof stored.boot));
  stored.check = check_of(stored);
  std::memcpy(map_ + (generation_ % 2 == 0 ? 0 : kSecondEnd), &stored, sizeof stored);
}

Result<std::uint32_t> Mark::put(std::string_view intent) {
  if (free_.empty()) return fail(Code::resource_exhausted, "too many changes are under way; try again");
  if (intent.size() > kIntentBytesMax) return fail(Code::internal, "audit: an intent is too long");
  const std::uint32_t number = free_.back();
  free_.pop_back();
  char* at = slot(number);
  std::memcpy(at + 8, intent.data(), intent.size());
  // The length comes last: a slot that has one is whole.
  length_at(at).store(intent.size(), std::memory_order_release);
  return number;
}

void Mark::clear(std::uint32_t number) {
  length_at(slot(number)).store(0, std::memory_order_release);
  free_.push_back(number);
}

std::vector<std::string> Mark::left() const {
  std::vector<std::string> intents;
  for (std::uint32_t number = 0; number < kSlots; ++number) {
    std::uint64_t size = 0;
    std::memcpy(&size, slot(number), sizeof size);
    if (size > 0 && size <= kIntentBytesMax) intents.emplace_back(slot(number) + 8, size);
  }
  return intents;
}

void Mark::clear_all() {
  for (std::uint32_t number = 0; number < kSlots; ++number) {
    std::uint64_t size = 0;
    std::memcpy(&size, slot(number), sizeof size);
    if (size != 0) std::memset(slot(number), 0, sizeof size);
  }
}

Result<End> Mark::read_end(const std::string& path) {
  const os::Fd fd = TRY(os::open(path.c_str(), O_RDONLY));
  // A writer may be in the middle of one of the two; the other is whole then. Read again all the same: both
  // may have been written while this process was not running.
  constexpr int kTries = 8;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    char page[kPage] = {};
    if (::pread(fd.get(), page, sizeof page, 0) < static_cast<ssize_t>(kSecondEnd + sizeof(StoredEnd))) break;
    if (const auto end = newest(page)) {
      if (end->seq == 0) return End{};
      return End{end->seq, text_of(end->digest, sizeof end->digest), text_of(end->boot, sizeof end->boot)};
    }
    // A file whose process was killed before its first entry.
    if (std::all_of(page, page + sizeof page, [](char c) { return c == 0; })) return End{};
  }
  return fail(Code::data_loss, "the mark of the audit log is damaged");
}

std::string boot_id() {
  auto text = os::read_file("/proc/sys/kernel/random/boot_id");
  if (!text) return {};
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return std::move(*text);
}

}  // namespace atl::audit
