#include "cli/host_tree.h"

#include "config/checked.h"
#include "vfs/host_file_system.h"

namespace atl::cli {

namespace {

Result<void> copy_in(const vfs::FileSystem& from, const vfs::Path& source, vfs::FileSystem& to,
                     const vfs::Path& target) {
  vfs::Stat stat = TRY(from.stat(source, vfs::Follow::no));
  switch (stat.type) {
    case vfs::Type::directory: {
      if (!to.is_directory(target)) TRY(to.make_directory(target, stat.mode & 07777U, vfs::Parents::create));
      std::vector<std::string> names = TRY(from.list_names(source));
      for (const std::string& name : names) {
        vfs::Path below = TRY(source.child(name));
        vfs::Path place = TRY(target.child(name));
        TRY(copy_in(from, below, to, place));
      }
      return {};
    }
    case vfs::Type::symlink:
      if (to.find(target, vfs::Follow::no)) TRY(to.remove_all(target));
      return to.make_symlink(target, TRY(from.read_link(source)));
    case vfs::Type::file: {
      vfs::Content content = TRY(from.read(source));
      TRY(to.write(target, std::move(content)));
      TRY(to.set_mode(target, stat.mode & 07777U));
      vfs::Times times;
      times.modified = stat.modified;
      return to.set_times(target, times);
    }
    default: return {};
  }
}

// The same entry on both sides, or nothing on the host.
Result<void> make_room(vfs::FileSystem& host, const vfs::Path& at, vfs::Type wanted) {
  auto there = host.find(at, vfs::Follow::no);
  if (!there || (there->type == wanted && wanted != vfs::Type::symlink)) return {};
  return host.remove_all(at);
}

Result<void> put(const vfs::VirtualFileSystem& fs, const vfs::Path& path, vfs::FileSystem& host,
                 const vfs::Path& at, vfs::Type type) {
  TRY(make_room(host, at, type));
  switch (type) {
    case vfs::Type::directory:
      if (!host.find(at, vfs::Follow::no)) TRY(host.make_directory(at));
      break;
    case vfs::Type::file: {
      vfs::Content content = TRY(fs.read(path));
      TRY(host.write(at, std::move(content)));
      break;
    }
    case vfs::Type::symlink: return host.make_symlink(at, TRY(fs.read_link(path)));
    default: return {};
  }
  return host.set_mode(at, TRY(fs.stat(path)).mode & 0777U, vfs::Follow::no);
}

}  // namespace

Result<HostTree> HostTree::parse(const std::string& text) {
  HostTree out;
  std::size_t colon = text.rfind(':');
  bool has_path = colon != std::string::npos && colon > 0;
  out.host = has_path ? text.substr(0, colon) : text;
  if (has_path) out.path = text.substr(colon + 1);
  if (!out.path.starts_with('/'))
    return fail(config::Checked("--dir", text).wrong("has no absolute PATH", "write HOST or HOST:/PATH"));
  return out;
}

Result<void> import_tree(vfs::FileSystem& fs, const HostTree& tree) {
  auto host = vfs::HostFileSystem::open(tree.host);
  if (!host)
    return fail(config::Checked("--dir", tree.host).wrong("is no directory that can be read", "name one"));
  vfs::Path target = TRY(vfs::Path::posix(tree.path));
  return copy_in(**host, vfs::Path(), fs, target);
}

Result<void> write_back(const vfs::VirtualFileSystem& fs, const vfs::Snapshot& before, const HostTree& tree) {
  auto host = TRY(vfs::HostFileSystem::open(tree.host));
  vfs::Path top = TRY(vfs::Path::posix(tree.path));
  for (const vfs::Change& change : vfs::diff(before, fs.snapshot())) {
    if (!change.path.is_child_of(top)) continue;
    vfs::Path at = change.path.relative_to(top);
    if (change.kind == vfs::ChangeKind::removed) {
      if (host->find(at, vfs::Follow::no)) TRY(host->remove_all(at));
    } else {
      TRY(put(fs, change.path, *host, at, change.type));
    }
  }
  return {};
}

}  // namespace atl::cli
