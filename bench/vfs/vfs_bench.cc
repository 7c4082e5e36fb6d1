// Measures the virtual filesystem, and the operating system's tmpfs through system calls doing the same.
// Prints one line per figure: subject<TAB>operation<TAB>value<TAB>unit.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "vfs/snapshot_format.h"
#include "vfs/virtual_file_system.h"

namespace {

using namespace atl;
using namespace atl::vfs;

constexpr int kFiles = 100'000;
constexpr int kDirectories = 1000;

// Processor time of this process, user and system: what others do on the machine does not count.
double now() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

double seconds(auto&& run) {
  double start = now();
  run();
  return now() - start;
}

void say(std::string_view subject, std::string_view operation, double value, std::string_view unit) {
  fmt::print("{}\t{}\t{:.4g}\t{}\n", subject, operation, value, unit);
  std::fflush(stdout);
}

Path p(const std::string& text) {
  return Path::posix(text).value();
}
std::string file_name(int i) {
  return fmt::format("/d{:03}/file{:05}.txt", i % kDirectories, i);
}

std::size_t heap() {
  auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::string bytes_1k() {
  std::string bytes;
  while (bytes.size() < 1024) bytes += "some text of a file that an agent writes, ";
  return bytes.substr(0, 1024);
}

void virtual_operations() {
  const std::string content = bytes_1k();
  std::vector<Path> paths;
  for (int i = 0; i < kFiles; ++i) paths.push_back(p(file_name(i)));
  std::size_t before = heap();
  VirtualFileSystem fs;
  for (int i = 0; i < kDirectories; ++i) (void)fs.make_directory(p(fmt::format("/d{:03}", i)));
  double write = seconds([&] {
    for (auto& path : paths) (void)fs.write(path, std::string_view(content));
  });
  say("atoll", "create and write 1 KB", kFiles / write, "files/s");
  say("atoll", "overhead per file", double(heap() - before - kFiles * 1024.0) / kFiles, "bytes");
  std::uint64_t sum = 0;
  double read = seconds([&] {
    std::string buffer(1024, '\0');
    for (auto& path : paths) sum += fs.read(path)->read(0, buffer);
  });
  say("atoll", "read 1 KB", kFiles / read, "files/s");
  double stat = seconds([&] {
    for (auto& path : paths) sum += fs.stat(path)->size;
  });
  say("atoll", "stat", kFiles / stat, "calls/s");
  double list = seconds([&] {
    for (int i = 0; i < kDirectories; ++i) sum += fs.list(p(fmt::format("/d{:03}", i)))->size();
  });
  say("atoll", "list a directory of 100", list / kDirectories * 1e6, "us");
  double walk = seconds([&] {
    std::vector<Path> pending{Path()};
    while (!pending.empty()) {
      Path at = std::move(pending.back());
      pending.pop_back();
      auto listing = fs.list(at).value();
      for (auto entry : listing) {
        auto child = at.child(entry.name).value();
        if (entry.type == Type::directory) pending.push_back(child);
        sum += fs.find(child, Follow::no)->size;
      }
    }
  });
  say("atoll", "walk and stat the tree", (kFiles + kDirectories) / walk, "nodes/s");
  double rename = seconds([&] {
    for (int i = 0; i < kDirectories; ++i)
      (void)fs.rename(p(fmt::format("/d{:03}", i)), p(fmt::format("/r{:03}", i)));
  });
  say("atoll", "rename a directory", kDirectories / rename, "calls/s");
  double exported = 0, imported = 0;
  std::string packed;
  exported = seconds([&] { packed = export_snapshot(fs.snapshot()); });
  imported = seconds([&] { sum += import_snapshot(packed)->stats().files; });
  say("atoll", "export 100 MB in 100,000 files", exported, "s");
  say("atoll", "import it", imported, "s");
  double remove = seconds([&] { (void)fs.remove_all(Path()); });
  say("atoll", "delete the tree", kFiles / remove, "files/s");
  if (sum == 0) std::abort();
}

void incompressible_export() {
  std::mt19937_64 random(1);
  VirtualFileSystem fs;
  std::string bytes(1 << 20, '\0');
  for (int i = 0; i < 100; ++i) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      auto word = random();
      std::memcpy(bytes.data() + at, &word, 8);
    }
    (void)fs.write(p(fmt::format("/f{}", i)), std::string_view(bytes));
  }
  std::string packed;
  say("atoll", "export 100 MB of random bytes", seconds([&] { packed = export_snapshot(fs.snapshot()); }),
      "s");
  say("atoll", "import 100 MB of random bytes", seconds([&] { (void)import_snapshot(packed); }), "s");
}

void snapshots(int files) {
  VirtualFileSystem fs;
  for (int i = 0; i < files; ++i) (void)fs.write(p(fmt::format("/flat/file{:06}", i)), "x");
  auto name = [&](std::string_view what) {
    return fmt::format("{} at {} files in one directory", what, files);
  };
  constexpr int kRounds = 100'000;
  Snapshot kept;
  say("atoll", name("snapshot"),
      seconds([&] {
        for (int i = 0; i < kRounds; ++i) kept = fs.snapshot();
      }) / kRounds *
          1e9,
      "ns");
  say("atoll", name("restore"),
      seconds([&] {
        for (int i = 0; i < kRounds; ++i) (void)fs.restore(kept);
      }) / kRounds *
          1e9,
      "ns");
  say("atoll", name("fork"),
      seconds([&] {
        for (int i = 0; i < kRounds; ++i) fs.fork();
      }) / kRounds *
          1e9,
      "ns");
  std::mt19937 random(3);
  constexpr int kWrites = 2000;
  std::vector<Path> paths;
  for (int i = 0; i < kWrites; ++i)
    paths.push_back(p(fmt::format("/flat/file{:06}", random() % unsigned(files))));
  // The clock costs as much as the write, so snapshots (tens of nanoseconds) are timed along.
  double total = seconds([&] {
    for (auto& path : paths) {
      kept = fs.snapshot();
      (void)fs.write(path, "changed");
    }
  });
  say("atoll", name("write after a snapshot"), total / kWrites * 1e6, "us");
  double plain = seconds([&] {
    for (auto& path : paths) (void)fs.write(path, "again");
  });
  say("atoll", name("write without one"), plain / kWrites * 1e6, "us");
  kept = fs.snapshot();
  for (int i = 0; i < 100 && i < files; ++i) (void)fs.write(paths[std::size_t(i)], "for the diff");
  auto after = fs.snapshot();
  std::size_t found = 0;
  say("atoll", name("diff of 100 changes"), seconds([&] { found = diff(kept, after).size(); }) * 1e6, "us");
  if (found == 0) std::abort();
}

void many_filesystems() {
  constexpr int kMany = 1'000'000;
  VirtualFileSystem base;
  for (int i = 0; i < 20; ++i) (void)base.write(p(fmt::format("/usr/share/f{}", i)), "base");
  Path mine = p("/home/note");
  (void)base.make_directory(p("/home"));
  std::vector<std::unique_ptr<VirtualFileSystem>> all;
  all.reserve(kMany);
  std::size_t before = heap();
  double forked = seconds([&] {
    for (int i = 0; i < kMany; ++i) all.push_back(base.fork());
  });
  say("atoll", "1,000,000 forks alive: each", double(heap() - before) / kMany, "bytes");
  say("atoll", "1,000,000 forks alive: make one", forked / kMany * 1e9, "ns");
  double wrote = seconds([&] {
    for (auto& fs : all) (void)fs->write(mine, "a note of its own");
  });
  say("atoll", "1,000,000 forks, one file written in each: each", double(heap() - before) / kMany, "bytes");
  say("atoll", "1,000,000 forks, one file written in each: write", wrote / kMany * 1e6, "us");
  all.clear();
  before = heap();
  constexpr int kEmpty = 100'000;
  for (int i = 0; i < kEmpty; ++i) all.push_back(std::make_unique<VirtualFileSystem>());
  say("atoll", "an empty filesystem", double(heap() - before) / kEmpty, "bytes");
}

void tmpfs(const std::string& top) {
  const std::string content = bytes_1k();
  std::vector<std::string> paths;
  for (int i = 0; i < kFiles; ++i) paths.push_back(top + file_name(i));
  for (int i = 0; i < kDirectories; ++i) ::mkdir((top + fmt::format("/d{:03}", i)).c_str(), 0755);
  double write = seconds([&] {
    for (auto& path : paths) {
      int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      if (::write(fd, content.data(), content.size()) < 0) std::abort();
      ::close(fd);
    }
  });
  say("tmpfs", "create and write 1 KB", kFiles / write, "files/s");
  char buffer[1024];
  double read = seconds([&] {
    for (auto& path : paths) {
      int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (::read(fd, buffer, sizeof buffer) < 0) std::abort();
      ::close(fd);
    }
  });
  say("tmpfs", "read 1 KB", kFiles / read, "files/s");
  struct stat info;
  double stat = seconds([&] {
    for (auto& path : paths)
      if (::stat(path.c_str(), &info) != 0) std::abort();
  });
  say("tmpfs", "stat", kFiles / stat, "calls/s");
  auto list_one = [&](const std::string& path, bool look) {
    DIR* directory = ::opendir(path.c_str());
    while (dirent* entry = ::readdir(directory))
      if (look && entry->d_name[0] != '.')
        (void)::fstatat(::dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW);
    ::closedir(directory);
  };
  double list = seconds([&] {
    for (int i = 0; i < kDirectories; ++i) list_one(top + fmt::format("/d{:03}", i), false);
  });
  say("tmpfs", "list a directory of 100", list / kDirectories * 1e6, "us");
  double walk = seconds([&] {
    list_one(top, true);
    for (int i = 0; i < kDirectories; ++i) list_one(top + fmt::format("/d{:03}", i), true);
  });
  say("tmpfs", "walk and stat the tree", (kFiles + kDirectories) / walk, "nodes/s");
  double rename = seconds([&] {
    for (int i = 0; i < kDirectories; ++i)
      (void)::rename((top + fmt::format("/d{:03}", i)).c_str(), (top + fmt::format("/r{:03}", i)).c_str());
  });
  say("tmpfs", "rename a directory", kDirectories / rename, "calls/s");
  double remove = seconds([&] { std::filesystem::remove_all(top); });
  say("tmpfs", "delete the tree", kFiles / remove, "files/s");
}

}  // namespace

int main(int argc, char** argv) {
  virtual_operations();
  incompressible_export();
  for (int files : {1000, 10'000, 100'000}) snapshots(files);
  many_filesystems();
  if (argc > 1) tmpfs(argv[1]);
}
