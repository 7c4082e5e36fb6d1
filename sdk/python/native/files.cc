#include "binding.h"

namespace atl::python {
namespace {

const char* type_word(vfs::Type type) {
  constexpr const char* words[] = {"file", "directory", "symlink", "fifo"};
  return words[static_cast<std::size_t>(type)];
}

nb::dict stat_of(const vfs::Stat& stat) {
  nb::dict made;
  made["type"] = type_word(stat.type);
  made["size"] = stat.size;
  made["mode"] = stat.mode;
  made["inode"] = stat.inode;
  made["links"] = stat.links;
  made["uid"] = stat.uid;
  made["gid"] = stat.gid;
  made["modified_us"] = unix_micros(stat.modified);
  return made;
}

VirtualOptions options_with(std::optional<std::uint64_t> bytes, std::optional<std::uint64_t> nodes) {
  VirtualOptions options;
  if (bytes) options.quota.bytes_max = *bytes;
  if (nodes) options.quota.nodes_max = *nodes;
  return options;
}

vfs::Overwrite overwrite_if(bool yes) {
  return yes ? vfs::Overwrite::yes : vfs::Overwrite::no;
}

using Files = nb::class_<VirtualFileSystem>;

void bind_contents(Files& files) {
  files.def("read", [](VirtualFileSystem& self, const std::string& path) {
    Path where = path_of(path);
    return bytes_of(unlocked([&] { return self.read_bytes(where); }));
  });
  files.def(
      "write",
      [](VirtualFileSystem& self, const std::string& path, const nb::bytes& content, bool parents,
         bool append, std::uint32_t mode) {
        Path where = path_of(path);
        std::string_view bytes(content.c_str(), content.size());
        vfs::WriteOptions options;
        options.parents = parents ? vfs::Parents::create : vfs::Parents::must_exist;
        options.append = append;
        options.mode = mode;
        unlocked([&] { return self.write(where, bytes, options); });
      },
      nb::arg("path"), nb::arg("content"), nb::arg("parents") = true, nb::arg("append") = false,
      nb::arg("mode") = 0644);
  files.def("list", [](VirtualFileSystem& self, const std::string& path) {
    vfs::Listing listing = value(self.list(path_of(path)));
    nb::list all;
    for (const auto& entry : listing) all.append(nb::make_tuple(text_of(entry.name), type_word(entry.type)));
    return all;
  });
  files.def(
      "stat",
      [](VirtualFileSystem& self, const std::string& path, bool follow) {
        return stat_of(value(self.stat(path_of(path), follow ? vfs::Follow::yes : vfs::Follow::no)));
      },
      nb::arg("path"), nb::arg("follow") = true);
  files.def("exists",
            [](VirtualFileSystem& self, const std::string& path) { return self.exists(path_of(path)); });
}

void bind_changes(Files& files) {
  files.def(
      "mkdir",
      [](VirtualFileSystem& self, const std::string& path, bool parents) {
        Path where = path_of(path);
        auto how = parents ? vfs::Parents::create : vfs::Parents::must_exist;
        unlocked([&] { return self.make_directory(where, 0755, how); });
      },
      nb::arg("path"), nb::arg("parents") = false);
  files.def(
      "remove",
      [](VirtualFileSystem& self, const std::string& path, bool recursive) {
        Path where = path_of(path);
        unlocked([&] { return recursive ? self.remove_all(where) : self.remove(where); });
      },
      nb::arg("path"), nb::arg("recursive") = false);
  files.def("rename", [](VirtualFileSystem& self, const std::string& from, const std::string& to) {
    Path source = path_of(from), target = path_of(to);
    unlocked([&] { return self.rename(source, target); });
  });
  files.def(
      "copy",
      [](VirtualFileSystem& self, const std::string& from, const std::string& to, bool overwrite) {
        Path source = path_of(from), target = path_of(to);
        vfs::CopyOptions options;
        options.overwrite = overwrite_if(overwrite);
        return text_of(unlocked([&] { return self.copy(source, target, options); }).str());
      },
      nb::arg("source"), nb::arg("target"), nb::arg("overwrite") = false);
  files.def("symlink", [](VirtualFileSystem& self, const std::string& path, const std::string& target) {
    Path where = path_of(path);
    unlocked([&] { return self.make_symlink(where, target); });
  });
  files.def("readlink", [](VirtualFileSystem& self, const std::string& path) {
    return text_of(value(self.read_link(path_of(path))));
  });
  files.def("chmod", [](VirtualFileSystem& self, const std::string& path, std::uint32_t mode) {
    Path where = path_of(path);
    unlocked([&] { return self.set_mode(where, mode); });
  });
}

}  // namespace

void bind_files(nb::module_& module) {
  nb::class_<Snapshot>(module, "Snapshot",
                       "The state of a filesystem at one moment. Costs nothing until it differs.");
  Files files(module, "VirtualFileSystem", "A filesystem in memory with POSIX semantics.");
  files.def(
      "__init__",
      [](VirtualFileSystem* self, std::optional<std::uint64_t> bytes, std::optional<std::uint64_t> nodes) {
        new (self) VirtualFileSystem(base_snapshot(), options_with(bytes, nodes));
      },
      nb::arg("quota_bytes") = nb::none(), nb::arg("quota_nodes") = nb::none());
  module.def(
      "open_files",
      [](std::shared_ptr<FileStorage> storage, std::optional<std::uint64_t> bytes,
         std::optional<std::uint64_t> nodes) {
        return unlocked([&] { return VirtualFileSystem::open(storage, options_with(bytes, nodes)); });
      },
      nb::arg("storage"), nb::arg("quota_bytes") = nb::none(), nb::arg("quota_nodes") = nb::none());
  bind_contents(files);
  bind_changes(files);
  files.def("snapshot", &VirtualFileSystem::snapshot);
  files.def("restore", [](VirtualFileSystem& self, const Snapshot& snapshot) {
    unlocked([&] { return self.restore(snapshot); });
  });
  files.def("fork", &VirtualFileSystem::fork);
  files.def("sync", [](VirtualFileSystem& self) { unlocked([&] { return self.sync(); }); });
  files.def("usage", [](VirtualFileSystem& self) {
    vfs::Stats stats = value(self.stats());
    nb::dict made;
    made["bytes"] = stats.bytes;
    made["files"] = stats.files;
    made["directories"] = stats.directories;
    return made;
  });
}

}  // namespace atl::python
