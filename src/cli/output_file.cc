#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/ids.h"
#include "config/checked.h"

namespace atl::cli {
namespace {

// Where a link leads, also to a file that is not there yet. A loop is an error.
Result<std::string> target_of(const config::Checked& given, std::string path) {
  constexpr int links_max = 40;
  for (int i = 0; i < links_max; ++i) {
    std::error_code failed;
    if (!std::filesystem::is_symlink(path, failed)) return path;
    const std::filesystem::path to = std::filesystem::read_symlink(path, failed);
    if (failed) return fail(errno_error(failed.value(), config::shown(path)));
    path = to.is_absolute() ? to.string() : (std::filesystem::path(path).parent_path() / to).string();
  }
  return fail(given.wrong("is a link that leads to itself", "name a file"));
}

}  // namespace

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      target_(std::move(other.target_)),
      part_(std::exchange(other.part_, std::string())) {}

OutputFile::~OutputFile() {
  if (!part_.empty()) ::unlink(part_.c_str());
}

Result<OutputFile> OutputFile::open(std::string_view field, const std::string& path) {
  const config::Checked given(field, path);
  const std::string target = TRY(target_of(given, path));
  struct stat stat {};
  const bool is_there = ::stat(target.c_str(), &stat) == 0;
  if (!is_there && errno != ENOENT)
    return fail(errno_error(errno, fmt::format("{}: {}", field, config::shown(path))));
  if (target.ends_with('/') || (is_there && S_ISDIR(stat.st_mode)))
    return fail(given.wrong("is a directory", "name a file in it"));
  if (is_there && !S_ISREG(stat.st_mode)) {
    os::Fd there(::open(target.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!there.is_open()) return fail(errno_error(errno, fmt::format("{}: {}", field, config::shown(path))));
    return OutputFile(std::move(there), target, "");
  }
  // A name that nobody can foresee, made anew: a file or link that waits there is not written through.
  std::string part = fmt::format("{}.{}.part", target, random_word(8));
  os::Fd made(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!made.is_open()) return fail(errno_error(errno, fmt::format("{}: {}", field, config::shown(path))));
  if (is_there) (void)::fchmod(made.get(), stat.st_mode & 0777U);
  return OutputFile(std::move(made), target, std::move(part));
}

Result<void> OutputFile::finish() {
  if (part_.empty()) return {};
  // Whoever put a device or a directory there meanwhile keeps it.
  struct stat stat {};
  if (::lstat(target_.c_str(), &stat) == 0 && !S_ISREG(stat.st_mode))
    return fail(Code::conflict, fmt::format("{} is no file any more", config::shown(target_)));
  if (::fsync(fd_.get()) < 0 || ::rename(part_.c_str(), target_.c_str()) < 0)
    return fail(errno_error(errno, "write the archive"));
  part_.clear();
  return {};
}

}  // namespace atl::cli
