#include "audit/paths.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "os/file.h"

namespace atl::audit {
namespace {

constexpr std::size_t kDigits = 20;
constexpr std::string_view kSuffix = ".jsonl";

}  // namespace

std::string segment_name(std::uint64_t first_seq) {
  return fmt::format("{:020}{}", first_seq, kSuffix);
}

std::vector<Segment> list_segments(const std::string& directory) {
  std::vector<Segment> segments;
  for (const std::string& name : os::list_directory_at(AT_FDCWD, directory.c_str())) {
    if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) continue;
    std::uint64_t seq = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + kDigits, seq);
    if (error != std::errc() || end != name.data() + kDigits || seq == 0) continue;
    Segment segment{seq, directory + "/" + name};
    struct stat info {};
    if (::stat(segment.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    segment.bytes = static_cast<std::uint64_t>(info.st_size);
    segments.push_back(std::move(segment));
  }
  std::ranges::sort(segments, {}, &Segment::first_seq);
  return segments;
}

}  // namespace atl::audit
