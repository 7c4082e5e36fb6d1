#include "skill/unpack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "config/document.h"
#include "layer/extract.h"
#include "layer/walk.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/spawn.h"
#include "skill/skill.h"

namespace atl::skill {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBundleMagic = "# v2 git bundle", kBundleMagic3 = "# v3 git bundle";

layer::ArchiveLimits limits_for(std::uint64_t bytes_max) {
  layer::ArchiveLimits limits;
  limits.entries_max = 20'000;
  limits.bytes_max = bytes_max;
  limits.ratio_from_bytes = 16ULL << 20;
  return limits;
}

Result<void> extract_into(int archive, const std::string& tree, std::uint64_t bytes_max) {
  const os::Fd root = TRY(os::open(tree.c_str(), O_RDONLY | O_DIRECTORY));
  const layer::Extracted done = TRY(layer::extract(archive, root.get(), layer::Owners::mine,
                                                   layer::Whiteouts::none, limits_for(bytes_max)));
  if (done.entries == 0) return fail(Code::invalid_argument, "the archive is empty");
  if (done.devices_dropped > 0)
    return fail(Code::invalid_argument, "the archive has devices, pipes or sockets; a skill has files");
  return layer::walk(root.get(), layer::OverlayAttributes::user,
                     [](const layer::Entry& entry, int) -> Result<void> {
                       if (entry.kind == layer::Kind::file || entry.kind == layer::Kind::directory) return {};
                       return fail(Code::invalid_argument,
                                   fmt::format("the archive's entry '{}' is a link; a skill has files and "
                                               "directories",
                                               entry.path));
                     });
}

// With bounds on what it writes, computes and holds, without anybody's configuration, and without any
// protocol but reading files of this machine.
Result<void> run_git(const std::vector<std::string>& words, std::uint64_t bytes_max) {
  os::SpawnOptions options;
  options.program = "/usr/bin/prlimit";
  options.arguments = {fmt::format("--fsize={}", 2 * bytes_max),
                       "--cpu=20",
                       "--as=1073741824",
                       "--",
                       "git",
                       "-c",
                       "core.hooksPath=/dev/null",
                       "-c",
                       "transfer.fsckObjects=true",
                       "-c",
                       "core.bigFileThreshold=16m",  // larger ones are not held in memory
                       "-c",
                       "pack.threads=1",
                       "-c",
                       "protocol.allow=never",
                       "-c",
                       "protocol.file.allow=always"};
  options.arguments.insert(options.arguments.end(), words.begin(), words.end());
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
                         "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0"};
  const os::Child child = TRY(os::spawn(options));
  const os::Exit ended = TRY(os::pidfd_wait(child.pidfd.get()));
  if (ended.code == 0 && ended.signal == 0) return {};
  return fail(Code::invalid_argument,
              "git does not read it, or it has no HEAD, or it is larger than a skill may be");
}

// git reads the bundle and writes a tar, which then goes the same way as every other one.
Result<void> extract_bundle(int bundle, const std::string& place, std::uint64_t bytes_max) {
  const std::string repository = place + "/repository", tar = place + "/tree.tar", copy = place + "/bundle";
  {
    const os::Fd out = TRY(os::open(copy.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600));
    std::string block(256U << 10, '\0');
    std::uint64_t bytes = 0;
    while (true) {
      const ssize_t got = ::read(bundle, block.data(), block.size());
      if (got < 0) return fail(errno_error(errno, "read the bundle"));
      if (got == 0) break;
      bytes += static_cast<std::uint64_t>(got);
      if (bytes > bytes_max)
        return fail(Code::too_large, fmt::format("the bundle has more than {} bytes", bytes_max));
      TRY(os::write_all(out.get(), std::string_view(block).substr(0, static_cast<std::size_t>(got))));
    }
  }
  TRY_CONTEXT("read the bundle",
              run_git({"clone", "--quiet", "--bare", "--no-local", copy, repository}, bytes_max));
  TRY_CONTEXT("read the bundle",
              run_git({"-C", repository, "archive", "--format=tar", "--output=" + tar, "HEAD"}, bytes_max));
  const os::Fd archive = TRY(os::open(tar.c_str(), O_RDONLY));
  return extract_into(archive.get(), place + "/tree", bytes_max);
}

std::vector<std::string> subdirectories(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory, failed))
    if (entry.is_directory(failed) && !entry.path().filename().string().starts_with('.'))
      found.push_back(entry.path().string());
  std::ranges::sort(found);
  return found;
}

bool says_what_it_is(const std::string& directory) {
  return os::exists(directory + "/SKILL.md") || os::exists(directory + "/README.md") ||
         os::exists(directory + "/__init__.py");
}

// A tree with SKILL.md at its top has no directory to be named after: the file names it.
Result<std::string> name_at_top(const std::string& tree) {
  const std::string text = TRY(read_file(tree, "SKILL.md", Bounds{}.instructions_max));
  const auto begin = text.find('\n'), end = text.find("\n---", begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos)
    return fail(Code::invalid_argument,
                "SKILL.md:1:1: a SKILL.md begins with '---', name, description, '---'");
  const auto front = TRY(config::Document::parse(text.substr(begin, end - begin), "SKILL.md"));
  std::string name = TRY(front.root.require<std::string>("name"));
  if (!is_name(name))
    return fail(front.root.find("name")->error(
        "a skill's name has 1 to 64 of a-z, 0-9 and '-', with no '-' at an end or twice in a row"));
  return name;
}

}  // namespace

Result<void> unpack(int archive, const std::string& place, std::uint64_t bytes_max) {
  char head[16] = {};
  const ssize_t got = ::pread(archive, head, sizeof head - 1, 0);
  const std::string_view begins(head, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (begins == kBundleMagic || begins == kBundleMagic3) return extract_bundle(archive, place, bytes_max);
  return extract_into(archive, place + "/tree", bytes_max);
}

Result<std::vector<std::string>> find_skills(const std::string& tree) {
  if (os::exists(tree + "/SKILL.md")) {
    const std::string name = TRY(name_at_top(tree));
    const std::string named = fmt::format("{}/../{}", tree, name);
    if (::rename(tree.c_str(), named.c_str()) < 0) return fail(errno_error(errno, "keep a skill"));
    return std::vector{fs::path(named).lexically_normal().string()};
  }
  std::vector<std::string> candidates = subdirectories(tree);
  // One directory around several skills, as archives of repositories have it.
  if (candidates.size() == 1 && !says_what_it_is(candidates.front()))
    candidates = subdirectories(candidates.front());
  if (candidates.size() == 1 && candidates.front().ends_with("/skills") &&
      !says_what_it_is(candidates.front()))
    candidates = subdirectories(candidates.front());
  std::erase_if(candidates, [](const std::string& directory) { return !says_what_it_is(directory); });
  if (candidates.empty())
    return fail(Code::invalid_argument, "the archive has no skill: no directory in it has a SKILL.md");
  return candidates;
}

Result<void> copy_tree(const std::string& from, const std::string& to) {
  TRY(os::make_directories(to, 0755));
  for (const FileFacts& file : TRY(list_files(from))) {
    const std::string target = to + "/" + file.path;
    TRY(os::make_directories(target.substr(0, target.rfind('/')), 0755));
    const std::string bytes = TRY(read_file(from, file.path, Bounds{}.bytes_max));
    TRY(os::write_file(target, bytes, file.executable ? 0555 : 0444));
  }
  return {};
}

Result<void> make_read_only(const std::string& directory) {
  std::error_code failed;
  for (const auto& entry : fs::recursive_directory_iterator(directory, failed)) {
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) < 0 || S_ISLNK(info.st_mode)) continue;
    const bool is_program = S_ISDIR(info.st_mode) || (info.st_mode & S_IXUSR) != 0;
    // Directories stay writable for their owner, who renames and removes them.
    const mode_t mode = S_ISDIR(info.st_mode) ? 0755 : is_program ? 0555 : 0444;
    if (::chmod(entry.path().c_str(), mode) < 0) return fail(errno_error(errno, "keep a skill"));
  }
  if (failed) return fail(errno_error(failed.value(), "keep a skill"));
  if (::chmod(directory.c_str(), 0755) < 0) return fail(errno_error(errno, "keep a skill"));
  return {};
}

}  // namespace atl::skill
