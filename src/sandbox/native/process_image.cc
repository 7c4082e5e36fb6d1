// Looking at a parked interpreter: what it consists of, and what of it cannot be carried.
#include "sandbox/native/process_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "sandbox/native/page_map.h"

namespace atl::sandbox::native {
namespace {

constexpr std::size_t kFilesMax = 4096;
constexpr std::size_t kNamesMax = 100;

// The value behind "\nname:" in a file of /proc.
std::string line_of(const std::string& text, std::string_view name) {
  const std::size_t at = ("\n" + text).find(fmt::format("\n{}:", name));
  if (at == std::string::npos) return {};
  const std::size_t begin = text.find_first_not_of("\t ", at + name.size() + 1);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::uint64_t number_of(const std::string& text, std::string_view name, int base) {
  const std::string line = line_of(text, name);
  std::uint64_t value = 0;
  std::from_chars(line.data(), line.data() + line.size(), value, base);
  return value;
}

bool is_path(const std::string& target) {
  return target.starts_with("/") && !target.ends_with(" (deleted)") && !target.starts_with("/memfd:") &&
         target.find('\0') == std::string::npos;
}

// Regular files and directories, and devices that have no state.
bool can_be_reopened(const std::string& target, int directory, const std::string& number) {
  constexpr std::string_view stateless[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                            "/dev/urandom"};
  if (std::ranges::find(stateless, target) != std::end(stateless)) return true;
  struct stat info {};
  if (!is_path(target) || ::fstatat(directory, number.c_str(), &info, 0) < 0) return false;
  return S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
}

bool is_same_description(pid_t pid, int a, int b) {
  return ::syscall(SYS_kcmp, pid, pid, KCMP_FILE, a, b) == 0;
}

struct Found {
  int number = -1;
  std::string target, info;
  bool reopens = false;
};

Result<std::vector<Found>> open_files(const LiveProcess& process) {
  const std::vector<std::string> names = process.list("fd");
  if (names.size() > kFilesMax) return fail(Code::too_large, "the interpreter has more than 4096 files open");
  const os::Fd directory = TRY(process.open_file("fd", O_RDONLY | O_DIRECTORY));
  std::vector<Found> all;
  for (const std::string& name : names) {
    Found found;
    std::from_chars(name.data(), name.data() + name.size(), found.number);
    found.target = process.link("fd/" + name);
    found.info = process.text(("fdinfo/" + name).c_str()).value_or("");
    found.reopens = can_be_reopened(found.target, directory.get(), name);
    if (found.number >= 0 && !found.info.empty()) all.push_back(std::move(found));
  }
  std::ranges::sort(all, {}, &Found::number);
  return all;
}

void name_left(ImageReading& reading, std::string what) {
  if (reading.left_behind.size() < kNamesMax) reading.left_behind.push_back(std::move(what));
}

// Streams to the host are the copy's own, at the same numbers; so are other descriptors of the same ones.
Result<void> read_files(const LiveProcess& process, int control, ImageReading& reading) {
  const std::vector<Found> all = TRY(open_files(process));
  const auto is_stream = [&](int number) { return number <= 2 || number == control; };
  for (auto one = all.begin(); one != all.end(); ++one) {
    if (one->info.find("\nlock:") != std::string::npos)
      name_left(reading, fmt::format("a lock on descriptor {} ({})", one->number, one->target));
    if (is_stream(one->number)) continue;
    const auto same = std::ranges::find_if(all, [&](const Found& other) {
      return &other != &*one && other.target == one->target &&
             (other.number < one->number || is_stream(other.number)) &&
             is_same_description(process.pid(), other.number, one->number);
    });
    OpenFile file{.number = one->number};
    file.flags = static_cast<std::uint32_t>(number_of(one->info, "flags", 8));
    if (same != all.end() && (same->reopens || is_stream(same->number))) {
      file.same_as = same->number;
    } else if (one->reopens) {
      file.position = number_of(one->info, "pos", 10);
      file.path = one->target;
    } else {
      name_left(reading, fmt::format("descriptor {} ({})", one->number, one->target));
      continue;
    }
    reading.image.files.push_back(std::move(file));
  }
  return {};
}

Result<void> read_areas(const LiveProcess& process, ImageReading& reading) {
  ProcessImage& image = reading.image;
  image.areas = TRY(process.areas_at_fork(image.extent));
  const std::vector<Area>& before = *reading.before;
  for (Area& area : image.areas) {
    if (is_untouchable(area)) continue;
    const Area* const inherited = area_at(before, area.start);
    const bool known = inherited != nullptr && is_same_backing(area, *inherited, area.start);
    if (area.shared && !known)
      return fail(Code::conflict,
                  fmt::format("it shares memory ({})", area.name.empty() ? "anonymous" : area.name));
    if (area.file.empty()) continue;
    if (!known && (!is_path(area.name) || area.name.contains('\\')))
      return fail(Code::conflict, fmt::format("it has mapped {}", area.name));
    // What every child of the zygote has mapped since it was forked cannot be another file.
    if (known || !area.state.empty()) continue;
    area.state = process.state_of(area);
    if (area.state.empty()) return fail(Code::conflict, fmt::format("it has mapped {}", area.name));
  }
  return {};
}

}  // namespace

// Ids differ by the sandbox's range; whether all four of a line are one does not.
std::string credentials_of(const std::string& status) {
  std::string all;
  for (const std::string_view name : {"NoNewPrivs", "Seccomp_filters", "CapEff", "CapBnd", "Uid", "Gid"}) {
    std::string value = line_of(status, name);
    if (name == "Uid" || name == "Gid") {
      const std::string first = value.substr(0, value.find('\t'));
      value = value == fmt::format("{0}\t{0}\t{0}\t{0}", first) ? "one" : "several";
    }
    all += fmt::format("{}={} ", name, value);
  }
  return all;
}

Result<ImageReading> read_process_image(const ImageSource& source, ZygoteAreas& zygotes) {
  const LiveProcess& process = source.process;
  if (const std::size_t threads = process.list("task").size(); threads != 1)
    return fail(Code::conflict, fmt::format("it has {} threads", threads));
  ImageReading reading;
  ProcessImage& image = reading.image;
  image.extent = source.extent;
  const std::string status = TRY(process.text("status"));
  image.credentials = credentials_of(status);
  image.mask = static_cast<std::uint32_t>(number_of(status, "Umask", 8));
  image.directory = process.link("cwd");
  if (!is_path(image.directory)) return fail(Code::conflict, "its working directory is gone");
  if (!process.text("timers").value_or("").empty()) name_left(reading, "timers");
  reading.before = TRY(zygotes.of(source.zygote, source.extent));
  TRY(read_areas(process, reading));
  TRY(read_files(process, source.control, reading));
  if (source.extent == Extent::whole) {
    image.runs = TRY(anonymous_pages(image.areas, process));
  } else {
    OwnPages pages = TRY(own_pages(image.areas, process, source.zygote, *reading.before));
    image.runs = std::move(pages.own), image.dropped = std::move(pages.dropped);
  }
  std::uint64_t total = 0;
  for (const Run& run : image.runs)
    if ((total += run.size) > source.bytes_max)
      return fail(Code::too_large, fmt::format("it holds more than {} bytes", source.bytes_max));
  return reading;
}

}  // namespace atl::sandbox::native
