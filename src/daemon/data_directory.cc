#include "daemon/data_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "config/checked.h"
#include "config/configuration.h"

namespace atl::daemon {
namespace {

// A directory where everybody may put files and somebody has, such as /tmp: closing it would hurt the whole
// machine. An empty one, as a fresh mount is, becomes ours.
Result<void> check_own_directory(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & (S_ISVTX | S_IWOTH)) == 0) return {};
  std::error_code unread;
  if (std::filesystem::is_empty(path, unread) && !unread) return {};
  return fail(Error(Code::invalid_argument,
                    fmt::format("data: everybody may write to '{}', which is not empty; name a "
                                "directory that is Atoll's alone, such as {}/atoll",
                                path, path))
                  .with_field("data"));
}

}  // namespace

Result<std::string> data_directory(const config::Configuration& configuration) {
  std::string path = configuration.text("data");
  if (path.empty()) path = config::default_data_directory();
  std::error_code error;
  std::string absolute = std::filesystem::absolute(path, error).string();
  TRY(check_own_directory(absolute));
  if (!error) std::filesystem::create_directories(absolute, error);
  if (error) return fail(errno_error(error.value(), "create the data directory " + path));
  if (::chmod(absolute.c_str(), 0700) != 0)
    return fail(errno_error(errno, "protect the data directory " + path));
  return absolute;
}

Result<std::string> existing_data_directory(const config::Configuration& configuration) {
  std::string path = configuration.text("data");
  if (path.empty()) path = config::default_data_directory();
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return fail(
        Error(Code::not_found, fmt::format("data: there is no directory '{}'; no service has kept anything "
                                           "there yet, or `--data` must name another",
                                           config::shown(path)))
            .with_field("data"));
  return std::filesystem::absolute(path, error).string();
}

}  // namespace atl::daemon
