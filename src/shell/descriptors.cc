#include "shell/descriptors.h"

#include <charconv>

#include "shell/machine.h"
#include "shell/programs.h"
#include "vfs/file_system.h"

namespace atl::shell {

namespace {

class ClosedFile final : public OpenFile {};

OpenFile& closed() {
  static thread_local ClosedFile file;
  return file;
}

// "/dev/fd/7", "/dev/stdin": the descriptor; -1 if it is something else.
int device_descriptor(std::string_view path) {
  if (path == "/dev/stdin") return 0;
  if (path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  for (std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    std::string_view rest = path.substr(prefix.size());
    int fd = -1;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), fd);
    if (error == std::errc() && end == rest.data() + rest.size()) return fd;
  }
  return -1;
}

}  // namespace

OpenFilePtr Descriptors::file(int fd) const {
  const auto& files = *state_.files;
  if (fd < 0 || static_cast<std::size_t>(fd) >= files.size()) return nullptr;
  return files[static_cast<std::size_t>(fd)];
}

void Descriptors::set_file(int fd, OpenFilePtr file) {
  auto& files = state_.files.edit();
  if (static_cast<std::size_t>(fd) >= files.size()) {
    if (!file) return;
    if (fd >= static_cast<int>(machine_.limits.descriptors)) machine_.stop_limit(Limit::descriptors);
    files.resize(static_cast<std::size_t>(fd) + 1);
  }
  files[static_cast<std::size_t>(fd)].swap(file);
}

int Descriptors::free_descriptor(int from) const {
  while (file(from)) ++from;
  return from;
}

Output& Descriptors::out() {
  const auto& files = *state_.files;
  return files.size() > 1 && files[1] ? *files[1] : closed();
}
Output& Descriptors::err() {
  const auto& files = *state_.files;
  return files.size() > 2 && files[2] ? *files[2] : closed();
}
Input& Descriptors::in() {
  const auto& files = *state_.files;
  return !files.empty() && files[0] ? *files[0] : closed();
}

Result<vfs::Path> Descriptors::path_of(std::string_view text) const {
  if (text.empty()) return atl::fail(Code::not_found, "No such file or directory");
  if (text.find("..") == std::string_view::npos) return state_.cwd.join(text);
  return vfs::resolve(machine_.fs, state_.cwd, text);
}

bool Descriptors::permitted(const vfs::Stat& stat, unsigned bits) const {
  unsigned mode = stat.uid == 1000 ? stat.mode >> 6 : stat.mode;
  return (mode & bits) == bits;
}

Result<OpenFilePtr> Descriptors::open(const std::string& path, const OpenHow& how) {
  std::string full = path.starts_with('/') ? path : state_.cwd.str() + "/" + path;
  if (full.starts_with("/dev/") || full.starts_with("/proc/self/fd/")) {
    if (full == "/dev/null") return open_null();
    if (full == "/dev/zero") return open_zero(machine_);
    if (full == "/dev/full") return open_full();
    if (full == "/dev/urandom" || full == "/dev/random") return open_random(machine_);
    if (full == "/dev/tty") return atl::fail(Code::unsupported, "No such device or address");
    int fd = device_descriptor(full);
    if (fd >= 0) {
      OpenFilePtr existing = file(fd);
      if (!existing) return atl::fail(Code::not_found, "No such file or directory");
      return existing;
    }
  }
  vfs::Path where = TRY(path_of(path));
  auto stat = machine_.fs.find(where);
  if (path.size() > 1 && path.back() == '/' && how.create)
    return atl::fail(!stat || stat->is_directory() ? Code::is_a_directory : Code::not_a_directory, "");
  if (stat && stat->type == vfs::Type::fifo) {
    auto real = machine_.fs.real_path(where);  // a link to a device
    if (real && is_device(real->str()) && real->str() != full) return open(real->str(), how);
    return open_fifo(machine_, stat->inode, how.read, how.write);
  }
  if (stat && stat->is_directory()) {
    if (how.write) return atl::fail(Code::is_a_directory, "Is a directory");
    return open_directory();
  }
  if (stat && !permitted(*stat, (how.read ? 4U : 0U) | (how.write ? 2U : 0U)))
    return atl::fail(Code::permission_denied, "Permission denied");
  vfs::OpenOptions options;
  options.read = how.read;
  options.write = how.write;
  options.append = how.append;
  options.create = how.create;
  options.truncate = how.truncate;
  options.mode = 0666 & ~state_.umask;
  auto file = TRY(machine_.fs.open(where, options));
  auto out = open_vfs(machine_, std::move(file), how.read, how.write);
  out->path = where.str();
  return out;
}

void Descriptors::restore(std::vector<std::pair<int, OpenFilePtr>>& saved) {
  for (std::size_t i = saved.size(); i-- > 0;) set_file(saved[i].first, std::move(saved[i].second));
  saved.clear();
}

}  // namespace atl::shell
