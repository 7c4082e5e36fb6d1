#include "registry/files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "registry/kinds.h"

namespace atl::registry {
namespace {

void mark_files(const std::string& directory, const std::string& prefix, FileMarks& files) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    const auto extension = entry.path().extension();
    if (extension != ".yaml" && extension != ".yml") continue;
    struct stat info {};
    if (::stat(entry.path().c_str(), &info) < 0 || !S_ISREG(info.st_mode)) continue;
    files[prefix + entry.path().filename().string()] = {
        static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec,
        static_cast<std::uint64_t>(info.st_size)};
  }
}

}  // namespace

FileMarks environment_files(const std::string& directory) {
  FileMarks files;
  mark_files(directory + "/environments", "", files);
  return files;
}

FileMarks all_files(const std::string& directory) {
  FileMarks files;
  for (const Kind& kind : kinds()) {
    const std::string folder(kind.folder);
    mark_files(directory + "/" + folder, folder + "/", files);
  }
  return files;
}

}  // namespace atl::registry
