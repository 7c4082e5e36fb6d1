#include "audit/lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "audit/entry.h"
#include "os/file.h"

namespace atl::audit {
namespace {

constexpr std::size_t kBlock = 256U << 10;

}  // namespace

Result<Lines> Lines::open(const std::string& path) {
  return Lines(TRY(os::open(path.c_str(), O_RDONLY)));
}

void Lines::seek(std::uint64_t offset) {
  buffer_.clear();
  at_ = 0;
  offset_ = offset;
}

Result<std::optional<std::string_view>> Lines::next() {
  while (true) {
    const auto end = buffer_.find('\n', at_);
    const bool too_long = end == std::string::npos && buffer_.size() - at_ >= 2 * kLineBytesMax;
    if (end != std::string::npos || too_long) {
      const std::string_view line =
          std::string_view(buffer_).substr(at_, too_long ? kLineBytesMax : end - at_);
      const std::size_t taken = line.size() + (too_long ? 0 : 1);
      at_ += taken;
      offset_ += taken;
      return line;
    }
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kBlock);
    const ssize_t got = ::pread(fd_.get(), buffer_.data() + had, kBlock, static_cast<off_t>(offset_ + had));
    buffer_.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error(errno, "audit: read a segment"));
    if (got == 0) return std::optional<std::string_view>();
  }
}

Result<void> Lines::seek_after(std::uint64_t seq) {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return fail(errno_error(errno, "audit: read a segment"));
  std::uint64_t low = 0, high = static_cast<std::uint64_t>(info.st_size);
  // `low` is always the beginning of a line whose predecessors are not above `seq`.
  while (high - low > kBlock) {
    const std::uint64_t middle = low + (high - low) / 2;
    seek(middle);
    TRY(next());  // the rest of a line
    const std::uint64_t begin = offset_;
    const auto line = TRY(next());
    if (!line || begin >= high) break;
    const auto number = seq_of(*line);
    if (!number || *number > seq) {
      high = middle;
    } else {
      low = begin;
    }
  }
  seek(low);
  while (true) {
    const std::uint64_t begin = offset_;
    const auto line = TRY(next());
    if (!line) return {};
    const auto number = seq_of(*line);
    if (number && *number <= seq) continue;
    seek(begin);
    return {};
  }
}

}  // namespace atl::audit
