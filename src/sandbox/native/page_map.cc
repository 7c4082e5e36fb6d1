#include "sandbox/native/page_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <span>

#include "guest/zygote/restore_steps.h"

namespace atl::sandbox::native {
namespace {

constexpr std::uint64_t kPresent = 1ULL << 63, kSwapped = 1ULL << 62, kOfFile = 1ULL << 61,
                        kExclusive = 1ULL << 56;
constexpr std::uint64_t kFrame = (1ULL << 55) - 1;
constexpr std::uint64_t kStride = 64ULL << 20;

// /proc/<pid>/pagemap. A process has a hundred small areas close to each other: what lies behind one is read
// along.
class PageMap {
 public:
  explicit PageMap(os::Fd fd) : fd_(std::move(fd)) {}
  // An entry for each page, good until the next call; 0 where there is no memory.
  std::span<const std::uint64_t> entries(std::uint64_t start, std::uint64_t end) {
    if (start < start_ || end > start_ + entries_.size() * kPage) fill(start, std::max(end, start + kAhead));
    return std::span(entries_).subspan((start - start_) / kPage, (end - start) / kPage);
  }

 private:
  static constexpr std::uint64_t kAhead = 1ULL << 20;

  void fill(std::uint64_t start, std::uint64_t end) {
    start_ = start;
    entries_.assign((end - start) / kPage, 0);
    const ssize_t got =
        ::pread(fd_.get(), entries_.data(), entries_.size() * 8, static_cast<off_t>(start / kPage * 8));
    if (got < 0) std::ranges::fill(entries_, 0);
  }

  os::Fd fd_;
  std::uint64_t start_ = 0;
  std::vector<std::uint64_t> entries_;
};

bool is_anonymous(std::uint64_t entry) {
  return (entry & (kPresent | kSwapped)) != 0 && (entry & kOfFile) == 0;
}

bool is_same_frame(std::uint64_t a, std::uint64_t b) {
  return (a & b & kPresent) != 0 && (a & kFrame) != 0 && (a & kFrame) == (b & kFrame);
}

// Calls `look` for each stretch of each area that is worth looking at.
Result<void> walk(const std::vector<Area>& areas,
                  const std::function<void(const Area&, std::uint64_t start, std::uint64_t end)>& look) {
  std::uint64_t space = 0;
  for (const Area& area : areas) {
    if (is_untouchable(area)) continue;
    if ((space += area.end - area.start) > kSpaceMax)
      return fail(Code::too_large, "the interpreter has mapped more than 64 GiB of address space");
    for (std::uint64_t at = area.start; at < area.end; at += kStride)
      look(area, at, std::min(area.end, at + kStride));
  }
  return {};
}

}  // namespace

bool is_untouchable(const Area& area) {
  return area.name == "[vdso]" || area.name == "[vvar]" || area.name == "[vsyscall]" ||
         area.name == "[vvar_vclock]" ||
         (area.start < guest::kReservedAt + guest::kReservedSize && area.end > guest::kReservedAt);
}

bool is_same_backing(const Area& a, const Area& b, std::uint64_t at) {
  if (a.file != b.file || a.shared != b.shared) return false;
  return a.file.empty() || a.offset + (at - a.start) == b.offset + (at - b.start);
}

const Area* area_at(const std::vector<Area>& areas, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(areas, address, {}, &Area::start);
  if (after == areas.begin()) return nullptr;
  const Area& area = *std::prev(after);
  return address < area.end ? &area : nullptr;
}

bool append_page(std::vector<Run>& runs, std::uint64_t address) {
  const bool begins = runs.empty() || runs.back().address + runs.back().size != address;
  if (begins)
    runs.push_back({address, kPage, 0});
  else
    runs.back().size += kPage;
  return begins;
}

// Programs and constants are half of an interpreter's memory. They have not been written to and cannot be.
// What can be written to may have got a page of its own since the list was read.
static bool is_file_alone(const Area& area, const std::vector<Area>& before) {
  const auto holds_nothing = [](const Area& one) {
    return !one.has_own_pages && (one.protection & PROT_WRITE) == 0;
  };
  const Area* const original = area_at(before, area.start);
  return holds_nothing(area) && original != nullptr && area.end <= original->end &&
         holds_nothing(*original) && is_same_backing(area, *original, area.start);
}

Result<OwnPages> own_pages(const std::vector<Area>& areas, const LiveProcess& process,
                           const LiveProcess& zygote, const std::vector<Area>& before) {
  PageMap mine(TRY(process.open_file("pagemap", O_RDONLY)));
  PageMap theirs(TRY(zygote.open_file("pagemap", O_RDONLY)));
  OwnPages pages;
  TRY(walk(areas, [&](const Area& area, std::uint64_t start, std::uint64_t end) {
    if (area.shared || area.at_fork != 0 || is_file_alone(area, before)) return;
    const auto here = mine.entries(start, end), there = theirs.entries(start, end);
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (is_anonymous(here[i])) {
        if (!is_same_frame(here[i], there[i])) append_page(pages.own, start + i * kPage);
      } else if (is_anonymous(there[i])) {
        append_page(pages.dropped, start + i * kPage);
      }
    }
  }));
  return pages;
}

static Result<std::vector<Run>> pages_of(const std::vector<Area>& areas, const LiveProcess& process,
                                         bool (*is_wanted)(std::uint64_t entry)) {
  PageMap mine(TRY(process.open_file("pagemap", O_RDONLY)));
  std::vector<Run> runs;
  TRY(walk(areas, [&](const Area& area, std::uint64_t start, std::uint64_t end) {
    if (area.shared || area.at_fork != 0) return;
    const auto here = mine.entries(start, end);
    for (std::size_t i = 0; i < here.size(); ++i)
      if (is_wanted(here[i])) append_page(runs, start + i * kPage);
  }));
  return runs;
}

Result<std::vector<Run>> exclusive_pages(const std::vector<Area>& areas, const LiveProcess& process) {
  // One in swap is not known to be shared: then it counts as its own.
  return pages_of(areas, process, [](std::uint64_t entry) {
    return is_anonymous(entry) && (entry & (kExclusive | kSwapped)) != 0;
  });
}

Result<std::vector<Run>> anonymous_pages(const std::vector<Area>& areas, const LiveProcess& process) {
  return pages_of(areas, process, is_anonymous);
}

}  // namespace atl::sandbox::native
