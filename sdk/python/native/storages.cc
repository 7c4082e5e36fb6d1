#include <nanobind/trampoline.h>

#include "binding.h"

namespace atl::python {
namespace {

const char* word_of(vfs::Type type) {
  switch (type) {
    case vfs::Type::file: return "file";
    case vfs::Type::directory: return "directory";
    case vfs::Type::symlink: return "symlink";
    case vfs::Type::fifo: return "fifo";
  }
  return "file";
}

// A storage that is written in Python. Called by threads that do not hold the interpreter's lock; an
// exception of the storage is Code::unavailable, and the filesystem's call fails as a whole.
class PythonStorage final : public FileStorage {
 public:
  explicit PythonStorage(nb::object made) : self_(std::move(made)) {}
  ~PythonStorage() override {
    nb::gil_scoped_acquire lock;
    self_.reset();
  }

  Result<std::optional<FileEntry>> get(const Path& path) const override {
    return call<std::optional<FileEntry>>([&] {
      nb::object found = self_.attr("get")(path.str());
      return found.is_none() ? std::nullopt : std::optional(nb::cast<FileEntry>(found));
    });
  }
  Result<void> apply(const vfs::Batch& batch) override {
    return call<void>([&] {
      std::vector<std::string> removals;
      for (const Path& path : batch.removals) removals.push_back(path.str());
      self_.attr("apply")(removals, batch.entries);
    });
  }
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override {
    return paths([&] { return self_.attr("paths_by_prefix")(std::string(prefix)); });
  }
  Result<std::vector<Path>> children(const Path& directory) const override {
    return paths([&] { return self_.attr("children")(directory.str()); });
  }
  Result<std::vector<FileEntry>> get_all() const override {
    return call<std::vector<FileEntry>>(
        [&] { return nb::cast<std::vector<FileEntry>>(self_.attr("get_all")()); });
  }
  Result<std::uint64_t> count() const override {
    return call<std::uint64_t>([&] { return nb::cast<std::uint64_t>(self_.attr("count")()); });
  }
  Result<void> clear() override {
    return call<void>([&] { self_.attr("clear")(); });
  }

 private:
  template <class T, class Work>
  Result<T> call(Work work) const {
    nb::gil_scoped_acquire lock;
    try {
      if constexpr (std::is_void_v<T>) {
        work();
        return {};
      } else {
        return Result<T>(work());
      }
    } catch (const std::exception& problem) {
      return fail(Code::unavailable, std::string("the storage: ") + problem.what());
    }
  }
  template <class Work>
  Result<std::vector<Path>> paths(Work work) const {
    auto texts =
        TRY(call<std::vector<std::string>>([&] { return nb::cast<std::vector<std::string>>(work()); }));
    std::vector<Path> all;
    for (const std::string& text : texts) all.push_back(TRY(Path::posix(text)));
    return all;
  }

  nb::object self_;
};

FileEntry make_entry(const std::string& path, const std::string& type, const nb::bytes& content,
                     std::uint32_t mode) {
  FileEntry entry;
  entry.path = path_of(path);
  for (auto one : {vfs::Type::file, vfs::Type::directory, vfs::Type::symlink, vfs::Type::fifo})
    if (type == word_of(one)) entry.type = one;
  entry.content = Content(std::string_view(content.c_str(), content.size()));
  entry.mode = mode;
  return entry;
}

std::vector<std::string> texts_of(const std::vector<Path>& paths) {
  std::vector<std::string> all;
  for (const Path& path : paths) all.push_back(path.str());
  return all;
}

}  // namespace

void bind_storages(nb::module_& module) {
  nb::class_<FileEntry>(module, "FileEntry", "One entry with everything known about it.")
      .def(
          "__init__",
          [](FileEntry* self, const std::string& path, const std::string& type, const nb::bytes& content,
             std::uint32_t mode) { new (self) FileEntry(make_entry(path, type, content, mode)); },
          nb::arg("path"), nb::arg("type") = "file", nb::arg("content") = nb::bytes("", 0),
          nb::arg("mode") = 0644)
      .def_prop_ro("path", [](const FileEntry& self) { return text_of(self.path.str()); })
      .def_prop_ro("type", [](const FileEntry& self) { return word_of(self.type); })
      .def_prop_ro("content", [](const FileEntry& self) { return bytes_of(self.content.str()); })
      .def_ro("mode", &FileEntry::mode)
      .def_ro("inode", &FileEntry::inode)
      .def_prop_ro("size", &FileEntry::size)
      .def_prop_ro("modified_us", [](const FileEntry& self) { return unix_micros(self.modified_at); });

  nb::class_<FileStorage>(module, "NativeStorage", "A storage of the library itself.")
      .def("get", [](FileStorage& self, const std::string& path) { return value(self.get(path_of(path))); })
      .def("apply",
           [](FileStorage& self, const std::vector<std::string>& removals, std::vector<FileEntry> entries) {
             vfs::Batch batch;
             for (const std::string& path : removals) batch.removals.push_back(path_of(path));
             batch.entries = std::move(entries);
             unlocked([&] { return self.apply(batch); });
           })
      .def("paths_by_prefix",
           [](FileStorage& self, const std::string& prefix) {
             return texts_of(value(self.paths_by_prefix(prefix)));
           })
      .def("children", [](FileStorage& self,
                          const std::string& path) { return texts_of(value(self.children(path_of(path)))); })
      .def("get_all", [](FileStorage& self) { return unlocked([&] { return self.get_all(); }); })
      .def("count", [](FileStorage& self) { return value(self.count()); })
      .def("clear", [](FileStorage& self) { unlocked([&] { return self.clear(); }); });

  module.def("memory_storage",
             []() -> std::shared_ptr<FileStorage> { return std::make_shared<MemoryStorage>(); });
  module.def("sqlite_storage", [](const std::string& file) -> std::shared_ptr<FileStorage> {
    return unlocked([&] { return SqliteStorage::open(file); });
  });
  module.def("host_storage", [](const std::string& directory) -> std::shared_ptr<FileStorage> {
    return unlocked([&] { return HostStorage::open(directory); });
  });
  module.def("python_storage", [](nb::object made) -> std::shared_ptr<FileStorage> {
    return std::make_shared<PythonStorage>(made);
  });
}

}  // namespace atl::python
