#include "sandbox/gvisor/overlay_apply.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "os/file.h"

namespace atl::sandbox::gvisor {
namespace {

constexpr int kEntriesMax = 2000;
constexpr int kDepthMax = 32;
// What the overlay notes for itself and makes again where it is needed.
constexpr std::string_view kOverlayNotes[] = {"origin", "impure", "uuid", "opaque"};

Error other_way(const char* what) {
  return Error(Code::unsupported, std::string("the layer is copied before it is mounted: ") + what);
}

Result<std::vector<std::string>> attribute_names(int fd) {
  std::array<char, 4096> buffer;
  const ssize_t size = ::flistxattr(fd, buffer.data(), buffer.size());
  if (size < 0 && errno != ENOTSUP) return fail(other_way("long attributes"));
  std::vector<std::string> names;
  for (ssize_t at = 0; at < size; at += static_cast<ssize_t>(names.back().size()) + 1)
    names.emplace_back(&buffer.at(static_cast<std::size_t>(at)));
  return names;
}

Result<void> copy_attributes(int from, int to, std::string_view own) {
  for (const std::string& name : TRY(attribute_names(from))) {
    if (name.starts_with(own)) {
      const std::string_view note = std::string_view(name).substr(own.size());
      if (std::ranges::find(kOverlayNotes, note) != std::end(kOverlayNotes)) continue;
      return fail(other_way("files that the overlay keeps in parts"));
    }
    std::array<char, 4096> value;
    const ssize_t size = ::fgetxattr(from, name.c_str(), value.data(), value.size());
    if (size < 0 || ::fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(size), 0) < 0)
      return fail(other_way("attributes of files"));
  }
  return {};
}

// What is in the place of something that comes, unless it is a directory with contents.
Result<void> clear_place(int merged, const char* name) {
  if (::unlinkat(merged, name, 0) == 0 || errno == ENOENT) return {};
  if (errno == EISDIR && ::unlinkat(merged, name, AT_REMOVEDIR) == 0) return {};
  return fail(other_way("a directory that is no longer there"));
}

class Copy {
 public:
  Copy(dev_t device, layer::OverlayAttributes attributes)
      : device_(device),
        attributes_(attributes),
        own_(attributes == layer::OverlayAttributes::user ? "user.overlay." : "trusted.overlay.") {}
  Result<void> directory(int saved, int merged, int depth);

 private:
  Result<void> entry(int saved, int merged, const std::string& name, int depth);
  Result<void> below(int saved, int merged, const std::string& name, int depth);
  Result<void> file(int saved, int merged, const char* name) const;
  static Result<void> link(int saved, int merged, const char* name, const struct stat& facts);
  Result<void> facts(int from, int to, const struct stat& facts) const;

  dev_t device_;  // of the overlay
  layer::OverlayAttributes attributes_;
  std::string_view own_;  // what names of the overlay's own attributes begin with
  int entries_ = 0;
};

// Owner first: a change of it takes privileged bits of the mode away. Times last.
Result<void> Copy::facts(int from, int to, const struct stat& facts) const {
  const timespec times[] = {facts.st_atim, facts.st_mtim};
  if (::fchown(to, facts.st_uid, facts.st_gid) < 0 || ::fchmod(to, facts.st_mode & 07777) < 0)
    return fail(errno_error(errno, "give a copied file its owner and mode"));
  TRY(copy_attributes(from, to, own_));
  if (::futimens(to, times) < 0) return fail(errno_error(errno, "give a copied file its times"));
  return {};
}

Result<void> Copy::file(int saved, int merged, const char* name) const {
  const os::Fd from = TRY(os::open_at(saved, name, O_RDONLY | O_NOFOLLOW));
  struct stat found {};
  if (::fstat(from.get(), &found) < 0) return fail(errno_error(errno, "look at a saved file"));
  if (found.st_nlink > 1) return fail(other_way("hard links"));
  if (found.st_blocks * 512 < found.st_size) return fail(other_way("files with holes"));
  TRY(clear_place(merged, name));
  const os::Fd to = TRY(os::open_at(merged, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  for (off_t left = found.st_size; left > 0;) {
    const ssize_t sent = ::sendfile(to.get(), from.get(), nullptr, static_cast<std::size_t>(left));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(errno_error(errno, "copy a saved file"));
    if (sent == 0) return fail(Code::data_loss, "a saved file is shorter than it was");
    left -= sent;
  }
  return facts(from.get(), to.get(), found);
}

Result<void> Copy::link(int saved, int merged, const char* name, const struct stat& facts) {
  std::array<char, 4097> target{};
  const ssize_t size = ::readlinkat(saved, name, target.data(), target.size() - 1);
  if (size < 0) return fail(errno_error(errno, "read a saved link"));
  TRY(clear_place(merged, name));
  const timespec times[] = {facts.st_atim, facts.st_mtim};
  if (::symlinkat(target.data(), merged, name) < 0 ||
      ::fchownat(merged, name, facts.st_uid, facts.st_gid, AT_SYMLINK_NOFOLLOW) < 0 ||
      ::utimensat(merged, name, times, AT_SYMLINK_NOFOLLOW) < 0)
    return fail(errno_error(errno, "copy a saved link"));
  return {};
}

Result<void> Copy::below(int saved, int merged, const std::string& name, int depth) {
  if (depth >= kDepthMax) return fail(other_way("a deep tree"));
  const os::Fd from = TRY(os::open_at(saved, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  // One that replaced what is below it begins empty.
  const bool replaces = layer::is_opaque(from.get(), attributes_);
  struct stat there {};
  const bool exists = ::fstatat(merged, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISDIR(there.st_mode) && there.st_dev != device_) return {};
  if (replaces || !exists || !S_ISDIR(there.st_mode)) {
    TRY(clear_place(merged, name.c_str()));
    if (::mkdirat(merged, name.c_str(), 0700) < 0) return fail(errno_error(errno, "copy a saved directory"));
  }
  const os::Fd to = TRY(os::open_at(merged, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return directory(from.get(), to.get(), depth + 1);
}

Result<void> Copy::entry(int saved, int merged, const std::string& name, int depth) {
  if (++entries_ > kEntriesMax) return fail(other_way("many files"));
  struct stat facts {};
  if (::fstatat(saved, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) < 0)
    return fail(errno_error(errno, "look at a saved file"));
  if (S_ISDIR(facts.st_mode)) return below(saved, merged, name, depth);
  if (S_ISREG(facts.st_mode)) return file(saved, merged, name.c_str());
  if (S_ISLNK(facts.st_mode)) return link(saved, merged, name.c_str(), facts);
  if (layer::is_whiteout(facts)) return clear_place(merged, name.c_str());
  return fail(other_way("special files"));
}

Result<void> Copy::directory(int saved, int merged, int depth) {
  struct stat found {};
  if (::fstat(saved, &found) < 0) return fail(errno_error(errno, "look at a saved directory"));
  for (const std::string& name : os::list_directory_at(saved, ".")) TRY(entry(saved, merged, name, depth));
  return facts(saved, merged, found);
}

}  // namespace

Result<void> apply_layer(int saved, int merged, layer::OverlayAttributes attributes) {
  struct stat facts {};
  if (::fstat(merged, &facts) < 0) return fail(errno_error(errno, "look at the mounted root"));
  const os::Fd from = TRY(os::open_at(saved, ".", O_RDONLY | O_DIRECTORY));
  return Copy(facts.st_dev, attributes).directory(from.get(), merged, 0);
}

}  // namespace atl::sandbox::gvisor
