#include "sandbox/native/live_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include "os/file.h"

namespace atl::sandbox::native {
namespace {

// The kernel allows 65530 areas, and tells up to 1.2 KB about each.
constexpr std::size_t kMapsMax = 96U << 20;

// Field 22; the name in field 2 may hold anything, so counting begins behind its end.
Result<std::uint64_t> start_field(const std::string& stat) {
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return fail(Code::not_found, "the interpreter has ended");
  return std::strtoull(stat.c_str() + at, nullptr, 10);
}

// A number and the character behind it.
bool take_number(std::string_view& line, std::uint64_t& value, int base, char behind) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, base);
  if (error != std::errc() || end == line.data() + line.size() || *end != behind) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return true;
}

// "start-end rwxp offset device inode  name"
std::optional<Area> parse_area(std::string_view line) {
  Area area;
  std::uint64_t inode = 0;
  if (!take_number(line, area.start, 16, '-') || !take_number(line, area.end, 16, ' ') || line.size() < 5)
    return {};
  const std::string_view permissions = line.substr(0, 4);
  line.remove_prefix(5);
  if (!take_number(line, area.offset, 16, ' ')) return {};
  const std::string_view device = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), device.size() + 1));
  // Without a name the number is the last thing, or a space is.
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), inode);
  if (error != std::errc()) return {};
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
  area.protection = (permissions[0] == 'r' ? unsigned{PROT_READ} : 0U) |
                    (permissions[1] == 'w' ? unsigned{PROT_WRITE} : 0U) |
                    (permissions[2] == 'x' ? unsigned{PROT_EXEC} : 0U);
  area.shared = permissions[3] == 's';
  if (inode != 0) area.file = fmt::format("{} {}", device, inode);
  area.name = line;
  return area;
}

// "Anonymous:            12 kB"
std::uint64_t kilobytes_of(std::string_view line) {
  line.remove_prefix(std::min(line.size(), line.find_first_of("0123456789")));
  std::uint64_t value = 0;
  std::from_chars(line.data(), line.data() + line.size(), value);
  return value;
}

// "VmFlags: rd wr mr mw me ac wf dd"
constexpr std::string_view kFlagsLine = "VmFlags:";
std::uint8_t at_fork_of(std::string_view line) {
  std::uint8_t flags = 0;
  for (line.remove_prefix(kFlagsLine.size()); line.size() >= 3; line.remove_prefix(3)) {
    const std::string_view word = line.substr(1, 2);
    flags |= word == "wf" ? kWipedByFork : word == "dc" ? kAbsentAfterFork : word == "dp" ? kDroppable : 0;
  }
  return flags;
}

}  // namespace

Result<std::uint64_t> LiveProcess::started_at(int proc, pid_t pid) {
  return start_field(TRY(os::read_file_at(proc, fmt::format("{}/stat", pid).c_str())));
}

Result<LiveProcess> LiveProcess::open(int proc, pid_t pid, std::uint64_t start_time) {
  LiveProcess process;
  process.pid_ = pid, process.start_time_ = start_time;
  process.directory_ = TRY(os::open_at(proc, fmt::format("{}", pid).c_str(), O_RDONLY | O_DIRECTORY));
  const std::string stat = TRY(process.text("stat"));
  if (TRY(start_field(stat)) != start_time) return fail(Code::not_found, "the interpreter has ended");
  return process;
}

bool LiveProcess::is_alive() const {
  return text("stat").has_value();
}

Result<std::string> LiveProcess::text(const char* name, std::size_t bytes_max) const {
  return os::read_file_at(directory_.get(), name, bytes_max);
}

Result<os::Fd> LiveProcess::open_file(const char* name, int flags) const {
  return os::open_at(directory_.get(), name, flags);
}

std::vector<std::string> LiveProcess::list(const char* name) const {
  return os::list_directory_at(directory_.get(), name);
}

std::string LiveProcess::link(const std::string& name) const {
  char target[4096];
  const ssize_t size = ::readlinkat(directory_.get(), name.c_str(), target, sizeof target);
  return size < 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
}

std::string LiveProcess::state_of(const Area& area) const {
  const std::string name = fmt::format("map_files/{:x}-{:x}", area.start, area.end);
  struct stat info {};
  if (::fstatat(directory_.get(), name.c_str(), &info, 0) < 0) return {};
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

Result<std::vector<Area>> LiveProcess::areas(Extent extent) const {
  return areas_of("maps", extent);
}

Result<std::vector<Area>> LiveProcess::areas_at_fork(Extent extent) const {
  return areas_of("smaps", extent);
}

Result<std::vector<Area>> LiveProcess::areas_of(const char* file, Extent extent) const {
  std::vector<Area> areas = parse_areas(TRY(text(file, kMapsMax)));
  if (extent == Extent::difference) return areas;
  // A library is mapped in five pieces.
  std::map<std::string, std::string> states;
  for (Area& area : areas) {
    if (area.file.empty()) continue;
    const auto [known, fresh] = states.try_emplace(area.file);
    if (fresh) known->second = state_of(area);
    area.state = known->second;
    area.file = fmt::format("{} {}", area.name, area.state);
  }
  return areas;
}

Result<ZygoteAreas::Areas> ZygoteAreas::of(const LiveProcess& zygote, Extent extent) {
  constexpr std::size_t kept_max = 8;
  const auto read = [&]() -> Result<Areas> {
    return std::make_shared<const std::vector<Area>>(TRY(zygote.areas_at_fork(extent)));
  };
  // A whole image also holds the states of mapped files, which may change: read them each time.
  if (extent == Extent::whole) return read();
  const std::string text = TRY(zygote.text("statm"));
  const std::string size = text.substr(0, text.find(' '));
  const auto known = std::ranges::find_if(known_, [&](const Known& one) {
    return one.pid == zygote.pid() && one.start_time == zygote.start_time() && one.size == size;
  });
  if (known != known_.end()) return known->areas;
  if (known_.size() == kept_max) known_.erase(known_.begin());
  known_.push_back({zygote.pid(), zygote.start_time(), size, TRY(read())});
  return known_.back().areas;
}

std::vector<Area> parse_areas(const std::string& text) {
  std::vector<Area> areas;
  std::optional<std::uint64_t> own;  // of the area that is being described, in KiB
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, line_end - at);
    if (line.starts_with("Anonymous:") || line.starts_with("Swap:")) {
      own = own.value_or(0) + kilobytes_of(line);
    } else if (line.starts_with(kFlagsLine) && !areas.empty()) {
      areas.back().at_fork = at_fork_of(line);
      areas.back().has_own_pages = areas.back().file.empty() || own.value_or(1) > 0;
    } else if (auto area = parse_area(line)) {
      areas.push_back(std::move(*area));
      own.reset();
    }
    at = line_end + 1;
  }
  return areas;
}

}  // namespace atl::sandbox::native
