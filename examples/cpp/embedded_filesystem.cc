// A filesystem in this process, with a storage of one's own behind it: every change is counted before it is
// kept.
#include <atoll/core.h>

#include <atomic>
#include <iostream>

namespace {

// Keeps entries in memory and counts the batches that come.
class CountingStorage final : public atl::FileStorage {
 public:
  atl::Result<std::optional<atl::FileEntry>> get(const atl::Path& path) const override {
    return memory_.get(path);
  }
  atl::Result<void> apply(const atl::vfs::Batch& batch) override {
    ++batches_;
    return memory_.apply(batch);
  }
  atl::Result<std::vector<atl::Path>> paths_by_prefix(std::string_view prefix) const override {
    return memory_.paths_by_prefix(prefix);
  }
  atl::Result<std::vector<atl::Path>> children(const atl::Path& directory) const override {
    return memory_.children(directory);
  }
  atl::Result<std::vector<atl::FileEntry>> get_all() const override { return memory_.get_all(); }
  atl::Result<std::uint64_t> count() const override { return memory_.count(); }
  atl::Result<void> clear() override { return memory_.clear(); }
  int batches() const { return batches_; }

 private:
  atl::MemoryStorage memory_;
  std::atomic<int> batches_ = 0;
};

atl::Result<void> run() {
  auto storage = std::make_shared<CountingStorage>();
  const atl::Path file = TRY(atl::Path::posix("/notes/today.txt"));
  {
    auto files = TRY(atl::VirtualFileSystem::open(storage));
    TRY(files->make_directory(file.parent()));
    TRY(files->write(file, "It rained."));
    atl::Snapshot before = files->snapshot();
    TRY(files->append(file, " Then it stopped."));
    TRY(files->restore(before));
  }
  auto again = TRY(atl::VirtualFileSystem::open(storage));
  std::cout << TRY(again->read(file)).str() << '\n' << storage->batches() << " batches\n";
  auto missing = again->read(TRY(atl::Path::posix("/notes/none")));
  std::cout << missing.error().message() << '\n';
  return {};
}

}  // namespace

int main() {
  auto done = run();
  if (done) return 0;
  std::cerr << done.error().message() << '\n';
  return 1;
}
