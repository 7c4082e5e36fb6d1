#include "cli/copied_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "config/checked.h"
#include "os/fd.h"

namespace atl::cli {
namespace {

namespace fs = std::filesystem;

Task<void> copy_file(sandbox::Files& files, std::string host, std::string path, std::string user) {
  const os::Fd from(::open(host.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (from.get() < 0 || ::fstat(from.get(), &facts) < 0)
    co_return fail(errno_error(errno, fmt::format("--copy: '{}'", config::shown(host))));
  sandbox::WriteOptions options;
  options.mode = facts.st_mode & 0777U;
  options.user = user;
  CO_TRY(const auto writer, co_await files.open_write(path, std::move(options)));
  while (true) {
    std::string piece(1U << 16U, '\0');
    const ssize_t got = ::read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) co_return fail(errno_error(errno, fmt::format("--copy: '{}'", config::shown(host))));
    if (got == 0) break;
    piece.resize(static_cast<std::size_t>(got));
    CO_CHECK(co_await writer->write(std::move(piece)));
  }
  CO_TRY(const sandbox::FileInfo done, co_await writer->finish());
  // The mode of a new file passes through the sandbox's umask.
  if (done.mode != (facts.st_mode & 0777U)) CO_CHECK(co_await files.chmod(path, facts.st_mode & 0777U, user));
  co_return Result<void>();
}

// Directories before what is in them.
Result<std::vector<CopiedFile>> tree_of(const CopiedFile& top) {
  std::vector<CopiedFile> all{top};
  std::error_code failed;
  fs::recursive_directory_iterator at(top.host, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed))
    all.push_back({at->path().string(), top.path + "/" + fs::relative(at->path(), top.host).string()});
  if (failed)
    return fail(Code::invalid_argument,
                fmt::format("--copy: '{}': {}", config::shown(top.host), failed.message()));
  return all;
}

}  // namespace

Result<CopiedFile> CopiedFile::parse(const std::string& text, const std::string& working_directory) {
  const config::Checked given("--copy", text);
  CopiedFile copy{.host = text, .path = ""};
  std::error_code none;
  // A name may have a colon of its own.
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos && !fs::exists(text, none)) {
    copy.host = text.substr(0, colon);
    copy.path = text.substr(colon + 1);
  }
  if (copy.host.empty() || !fs::exists(copy.host, none))
    return fail(
        given.wrong("names nothing that is there", "write LOCAL or LOCAL:PATH with a LOCAL that exists"));
  const fs::path name = fs::canonical(copy.host, none).filename();
  if (copy.path.empty() || copy.path.ends_with('/')) copy.path += name.string();
  if (!copy.path.starts_with('/'))
    copy.path = working_directory + (working_directory.ends_with('/') ? "" : "/") + copy.path;
  copy.path = TRY(config::Checked("--copy", copy.path).absolute_path());
  return copy;
}

Task<void> copy_into(std::shared_ptr<sandbox::Files> files, std::vector<CopiedFile> copies,
                     std::string user) {
  std::error_code none;
  for (const CopiedFile& copy : copies) {
    if (!fs::is_directory(copy.host, none)) {
      CO_CHECK(co_await copy_file(*files, copy.host, copy.path, user));
      continue;
    }
    CO_TRY(const std::vector<CopiedFile> tree, tree_of(copy));
    for (const CopiedFile& one : tree) {
      if (fs::is_directory(one.host, none)) {
        auto made = co_await files->make_directory(one.path, user);
        if (!made && made.error().code() != Code::already_exists) co_return fail(std::move(made).error());
      } else if (fs::is_regular_file(one.host, none)) {
        CO_CHECK(co_await copy_file(*files, one.host, one.path, user));
      } else {
        fmt::print(stderr, "atoll: --copy: '{}' is left out: it is neither a file nor a directory\n",
                   config::shown(one.host));
      }
    }
  }
  co_return Result<void>();
}

}  // namespace atl::cli
