// Random sequences of operations on a filesystem and on a model of it that is as simple as can be: a graph of
// inodes. After each step both must have answered alike; from time to time everything is compared.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "vfs/backends_test.h"
#include "vfs/memory_storage.h"
#include "vfs/snapshot_format.h"
#include "vfs/virtual_file_system.h"

namespace atl::vfs {
namespace {

struct Inode {
  Type type = Type::file;
  std::string bytes;
  std::map<std::string, std::shared_ptr<Inode>> names;
  int links = 1;
};
using Ptr = std::shared_ptr<Inode>;

// nullopt: done; else the code of the refusal.
using Answer = std::optional<Code>;

class Model {
 public:
  Ptr root = std::make_shared<Inode>(Inode{Type::directory, "", {}, 1});

  struct Place {
    Ptr parent;
    std::string name;
    Ptr node;                 // null if missing
    std::vector<Inode*> way;  // the directories gone through
  };

  // The parent that `path` leads to, links followed.
  std::expected<Place, Code> find(const std::string& path, bool follow) {
    int links = 0;
    std::vector<Ptr> stack{root};
    std::vector<std::string> todo = split(path);
    std::reverse(todo.begin(), todo.end());
    if (todo.empty()) return Place{nullptr, "", root, {}};
    while (!todo.empty()) {
      std::string name = todo.back();
      todo.pop_back();
      bool last = todo.empty();
      if (name == "..") {
        if (stack.size() > 1) stack.pop_back();
        if (last) return Place{nullptr, "", stack.back(), way(stack)};
        continue;
      }
      auto found = stack.back()->names.find(name);
      Ptr node = found == stack.back()->names.end() ? nullptr : found->second;
      if (node && node->type == Type::symlink && (!last || follow)) {
        if (++links > kLinksFollowedMax) return std::unexpected(Code::loop);
        auto target = split(node->bytes);
        if (node->bytes.starts_with('/')) stack.resize(1);
        todo.insert(todo.end(), target.rbegin(), target.rend());
        if (todo.empty()) return Place{nullptr, "", stack.back(), way(stack)};
        continue;
      }
      if (last) return Place{stack.back(), name, node, way(stack)};
      if (!node) return std::unexpected(Code::not_found);
      if (node->type != Type::directory) return std::unexpected(Code::not_a_directory);
      stack.push_back(node);
    }
    return std::unexpected(Code::internal);
  }

  Answer write(const std::string& path, const std::string& bytes, bool append) {
    auto at = find(path, true);
    if (!at) return at.error();
    if (at->node && at->node->type == Type::directory) return Code::is_a_directory;
    if (at->node && at->node->type == Type::fifo) return Code::invalid_argument;
    if (!at->node) at->node = at->parent->names[at->name] = std::make_shared<Inode>();
    at->node->bytes = (append ? at->node->bytes : "") + bytes;
    return {};
  }
  Answer make(const std::string& path, Type type, const std::string& bytes) {
    auto at = find(path, false);
    if (!at) return at.error();
    if (at->node) return Code::already_exists;
    at->parent->names[at->name] = std::make_shared<Inode>(Inode{type, bytes, {}, 1});
    return {};
  }
  Answer link(const std::string& from, const std::string& to) {
    auto source = find(from, false);
    if (!source) return source.error();
    if (!source->node) return Code::not_found;
    if (source->node->type == Type::directory) return Code::permission_denied;
    auto at = find(to, false);
    if (!at) return at.error();
    if (at->node) return Code::already_exists;
    at->parent->names[at->name] = source->node;
    ++source->node->links;
    return {};
  }
  Answer remove(const std::string& path, bool directory, bool all) {
    auto at = find(path, false);
    if (!at) return at.error();
    if (!at->node) return Code::not_found;
    if (!all && !directory && at->node->type == Type::directory) return Code::is_a_directory;
    if (!all && directory && at->node->type != Type::directory) return Code::not_a_directory;
    if (!all && directory && !at->node->names.empty()) return Code::not_empty;
    forget(at->node);
    at->parent->names.erase(at->name);
    return {};
  }
  Answer rename(const std::string& from, const std::string& to) {
    auto a = find(from, false);
    if (!a) return a.error();
    if (!a->node) return Code::not_found;
    auto b = find(to, false);
    if (!b) return b.error();
    if (a->node == b->node) return {};
    bool directory = a->node->type == Type::directory;
    for (Inode* above : b->way)
      if (directory && above == a->node.get()) return Code::loop;
    if (b->node) {
      bool onto = b->node->type == Type::directory;
      if (directory && !onto) return Code::not_a_directory;
      if (!directory && onto) return Code::is_a_directory;
      if (onto && !b->node->names.empty()) return Code::not_empty;
      forget(b->node);
    }
    Ptr node = a->node;
    a->parent->names.erase(a->name);
    b->parent->names[b->name] = node;
    return {};
  }

  void dump(const Inode& node, const std::string& path, std::map<std::string, std::string>& out) const {
    for (auto& [name, child] : node.names) {
      std::string here = path + "/" + name;
      out[here] = fmt::format("{}:{}:{}", static_cast<int>(child->type),
                              child->type == Type::directory ? 0 : child->links, child->bytes);
      if (child->type == Type::directory) dump(*child, here, out);
    }
  }

 private:
  static std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> out;
    for (auto name = next_component(text); !name.empty(); name = next_component(text))
      if (name != ".") out.emplace_back(name);
    return out;
  }
  static std::vector<Inode*> way(const std::vector<Ptr>& stack) {
    std::vector<Inode*> out;
    for (auto& node : stack) out.push_back(node.get());
    return out;
  }
  static void forget(const Ptr& node) {
    if (node->type != Type::directory) --node->links;
    for (auto& [name, child] : node->names) forget(child);
  }
};

std::map<std::string, std::string> dump(FileSystem& fs) {
  std::map<std::string, std::string> out;
  std::vector<Path> pending{Path()};
  while (!pending.empty()) {
    Path directory = pending.back();
    pending.pop_back();
    auto entries = fs.list_entries(directory).value();
    for (auto& entry : entries) {
      out[entry.path.str()] = fmt::format("{}:{}:{}", static_cast<int>(entry.type),
                                          entry.is_directory() ? 0 : entry.links, entry.content.str());
      if (entry.is_directory()) pending.push_back(entry.path);
    }
  }
  return out;
}

Answer answer(const Result<void>& result) {
  return result ? Answer() : Answer(result.error().code());
}

class Walk {
 public:
  Walk(unsigned seed, FileSystem& fs) : random_(seed), fs_(fs) {}

  void step() {
    std::string a = path(), b = path();
    Path pa = Path::posix(a).value(), pb = Path::posix(b).value();
    std::string bytes = std::string(random_() % 20, static_cast<char>('a' + random_() % 26));
    Answer real, model;
    int kind = static_cast<int>(random_() % 12);
    switch (kind) {
      case 0:
      case 1:
        real = answer(fs_.write(pa, bytes, {.parents = Parents::must_exist})),
        model = model_.write(a, bytes, false);
        break;
      case 2:
        real = answer(fs_.write(pa, bytes, {.parents = Parents::must_exist, .append = true}));
        model = model_.write(a, bytes, true);
        break;
      case 3:
      case 4: real = answer(fs_.make_directory(pa)), model = model_.make(a, Type::directory, ""); break;
      case 5: {
        static const char* const targets[] = {"a", "../b", "/a/b", "c/a", "/", "..", "b/../a", "/c"};
        const char* target = targets[random_() % std::size(targets)];
        real = answer(fs_.make_symlink(pa, target)), model = model_.make(a, Type::symlink, target);
        break;
      }
      case 6: real = answer(fs_.make_link(pa, pb)), model = model_.link(a, b); break;
      case 7: real = answer(fs_.remove_file(pa)), model = model_.remove(a, false, false); break;
      case 8: real = answer(fs_.remove_directory(pa)), model = model_.remove(a, true, false); break;
      case 9: real = answer(fs_.rename(pa, pb)), model = model_.rename(a, b); break;
      case 10: real = answer(fs_.make_fifo(pa)), model = model_.make(a, Type::fifo, ""); break;
      default:
        if (random_() % 4 != 0) return;
        real = answer(fs_.remove_all(pa)), model = model_.remove(a, false, true);
    }
    ASSERT_EQ(real.has_value(), model.has_value()) << kind << " " << a << " " << b;
    if (real) {
      ASSERT_EQ(to_string(*real), to_string(*model)) << kind << " " << a << " " << b;
    }
  }

  void compare() {
    std::map<std::string, std::string> expected;
    model_.dump(*model_.root, "", expected);
    ASSERT_EQ(dump(fs_), expected);
    Stats stats;
    std::map<Inode*, bool> seen;
    count(*model_.root, stats, seen);
    ASSERT_EQ(fs_.stats().value().bytes, stats.bytes);
    ASSERT_EQ(fs_.stats().value().files, stats.files);
    ASSERT_EQ(fs_.stats().value().directories, stats.directories);
  }

 private:
  std::string path() {
    static const char* const names[] = {"a", "b", "c"};
    std::string out;
    for (unsigned depth = 1 + random_() % 3; depth > 0; --depth) out.append("/").append(names[random_() % 3]);
    return out;
  }
  static void count(const Inode& node, Stats& stats, std::map<Inode*, bool>& seen) {
    for (auto& [name, child] : node.names) {
      if (child->type == Type::directory) {
        ++stats.directories;
        count(*child, stats, seen);
      } else {
        ++stats.files;
        if (!std::exchange(seen[child.get()], true)) stats.bytes += child->bytes.size();
      }
    }
  }

  std::mt19937 random_;
  FileSystem& fs_;
  Model model_;
};

TEST(Model, AgreesWithTheTree) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    VirtualFileSystem fs;
    Walk walk(seed, fs);
    std::vector<Snapshot> kept;  // so that nodes are shared and copied, not only changed in place
    for (int i = 0; i < 2000; ++i) {
      ASSERT_NO_FATAL_FAILURE(walk.step()) << "seed " << seed << " step " << i;
      if (i % 7 == 0) kept.push_back(fs.snapshot());
      if (kept.size() > 5) kept.erase(kept.begin());
      if (i % 100 == 0) {
        ASSERT_NO_FATAL_FAILURE(walk.compare()) << "seed " << seed << " step " << i;
      }
    }
    walk.compare();
    // What is exported and imported is the same, and a diff to it is empty.
    auto back = import_snapshot(export_snapshot(fs.snapshot()));
    ASSERT_TRUE(back) << back.error().message();
    auto changes = diff(fs.snapshot(), *back);
    for (const Change& change : changes) EXPECT_TRUE(change.path.is_root()) << change.path.str();
  }
}

TEST(Model, AgreesWithAStorageBehind) {
  for (unsigned seed = 100; seed < 104; ++seed) {
    auto storage = std::make_shared<MemoryStorage>();
    auto fs = VirtualFileSystem::open(storage).value();
    Walk walk(seed, *fs);
    for (int i = 0; i < 600; ++i) ASSERT_NO_FATAL_FAILURE(walk.step()) << "seed " << seed << " step " << i;
    walk.compare();
    auto before = dump(*fs);
    fs = VirtualFileSystem::open(storage).value();
    EXPECT_EQ(dump(*fs), before);
  }
}

// A directory through thousands of insertions and removals, with snapshots in between.
TEST(Model, DirectoriesAgreeWithASet) {
  std::mt19937 random(5);
  VirtualFileSystem fs;
  std::map<std::string, std::string> model;
  std::vector<std::pair<Snapshot, std::map<std::string, std::string>>> kept;
  auto check = [](const FileSystem& which, const std::map<std::string, std::string>& expected) {
    auto listing = which.list(Path()).value();
    ASSERT_EQ(listing.size(), expected.size());
    std::size_t i = 0;
    for (auto& [name, bytes] : expected) ASSERT_EQ(listing[i++].name, name);
  };
  for (int i = 0; i < 20'000; ++i) {
    bool shrink = (i / 3000) % 2 == 1;
    // Names with long equal beginnings, where the first eight bytes decide nothing.
    std::string name = random() % 2 == 0 ? fmt::format("same-beginning-{}", random() % 3000)
                                         : fmt::format("{}", random() % 3000);
    Path path = Path::posix(name).value();
    if (random() % 10 < (shrink ? 2U : 8U)) {
      ASSERT_TRUE(fs.write(path, name));
      model[name] = name;
    } else {
      ASSERT_EQ(fs.remove_file(path).has_value(), model.erase(name) == 1);
    }
    if (i % 1000 == 0) kept.emplace_back(fs.snapshot(), model);
  }
  check(fs, model);
  for (auto& [snapshot, then] : kept) {
    VirtualFileSystem old(snapshot);
    check(old, then);
    auto changes = diff(snapshot, fs.snapshot());
    std::erase_if(changes, [](const Change& change) { return change.path.is_root(); });
    for (const Change& change : changes) {
      std::string name(change.path.name());
      ASSERT_EQ(then.contains(name), change.kind != ChangeKind::added);
      ASSERT_EQ(model.contains(name), change.kind != ChangeKind::removed);
    }
  }
}

// ---- faults ----

// Fails the n-th call.
class FaultyStorage final : public FileStorage {
 public:
  explicit FaultyStorage(std::shared_ptr<MemoryStorage> inner) : inner_(std::move(inner)) {}
  void fail_at(int call) { left_ = call; }
  bool fired() const { return left_ == 0; }

  Result<std::optional<FileEntry>> get(const Path& path) const override {
    TRY(tick());
    return inner_->get(path);
  }
  Result<void> apply(const Batch& batch) override {
    TRY(tick());
    return inner_->apply(batch);
  }
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override {
    TRY(tick());
    return inner_->paths_by_prefix(prefix);
  }
  Result<std::vector<Path>> children(const Path& directory) const override {
    TRY(tick());
    return inner_->children(directory);
  }
  Result<std::vector<FileEntry>> get_all() const override {
    TRY(tick());
    return inner_->get_all();
  }
  Result<std::uint64_t> count() const override {
    TRY(tick());
    return inner_->count();
  }
  Result<void> clear() override {
    TRY(tick());
    return inner_->clear();
  }

 private:
  Result<void> tick() const {
    if (left_ > 0 && --left_ == 0) return fail(Code::unavailable, "injected");
    return {};
  }
  std::shared_ptr<MemoryStorage> inner_;
  mutable int left_ = -1;
};

TEST(Faults, LeaveNothingHalfDone) {
  using Operation = std::function<Result<void>(VirtualFileSystem&)>;
  auto p = [](std::string_view text) { return Path::posix(text).value(); };
  auto drop = [](auto result) -> Result<void> {
    if (!result) return fail(std::move(result).error());
    return {};
  };
  const std::vector<Operation> operations = {
      [&](auto& fs) { return fs.write(p("/new/deep/file"), "x"); },
      [&](auto& fs) { return fs.write(p("/d/f"), "changed"); },
      [&](auto& fs) { return fs.append(p("/d/f"), "more"); },
      [&](auto& fs) { return fs.make_directory(p("/x/y/z"), 0755, Parents::create); },
      [&](auto& fs) { return fs.remove_all(p("/d")); },
      [&](auto& fs) { return fs.remove_file(p("/d/f")); },
      [&](auto& fs) { return fs.rename(p("/d"), p("/moved")); },
      [&](auto& fs) { return fs.rename(p("/d/f"), p("/d/g")); },
      [&](auto& fs) { return drop(fs.copy(p("/d"), p("/copy"))); },
      [&](auto& fs) {
        return drop(fs.copy(p("/d"), p("/e"), {.overwrite = Overwrite::yes, .into_directory = false}));
      },
      [&](auto& fs) { return drop(fs.move(p("/d"), p("/e"))); },
      [&](auto& fs) { return fs.make_link(p("/d/f"), p("/link")); },
      [&](auto& fs) { return fs.set_mode(p("/d/f"), 0600); },
      [&](auto& fs) { return fs.restore(Snapshot()); },
      [&](auto& fs) { return drop(fs.open(p("/made"), {.write = true, .create = true})); },
  };
  for (std::size_t i = 0; i < operations.size(); ++i) {
    for (int call = 1;; ++call) {
      auto inner = std::make_shared<MemoryStorage>();
      auto storage = std::make_shared<FaultyStorage>(inner);
      auto fs = VirtualFileSystem::open(storage).value();
      ASSERT_TRUE(fs->write(p("/d/f"), "f"));
      ASSERT_TRUE(fs->write(p("/d/g"), "g"));
      ASSERT_TRUE(fs->write(p("/e/h"), "h"));
      auto before = dump(*fs);
      storage->fail_at(call);
      auto done = operations[i](*fs);
      if (!storage->fired()) {
        ASSERT_TRUE(done) << i;
        break;
      }
      ASSERT_EQ(done.error().code(), Code::unavailable) << i;
      EXPECT_EQ(dump(*fs), before) << i;
      auto again = VirtualFileSystem::open(inner).value();
      EXPECT_EQ(dump(*again), before) << i;
      // And it works when the fault is gone.
      EXPECT_TRUE(operations[i](*fs)) << i;
    }
  }
}

TEST(Faults, AreToldByCloseAndTriedAgain) {
  auto inner = std::make_shared<MemoryStorage>();
  auto storage = std::make_shared<FaultyStorage>(inner);
  auto fs = VirtualFileSystem::open(storage).value();
  Path path = Path::posix("/f").value();
  auto file = fs->open_write(path).value();
  ASSERT_TRUE(file->write("kept"));
  storage->fail_at(1);
  EXPECT_EQ(file->close().error().code(), Code::unavailable);
  EXPECT_EQ(fs->read_bytes(path).value(), "kept");
  EXPECT_EQ(inner->get(path).value()->content.str(), "");
  ASSERT_TRUE(fs->sync());
  EXPECT_EQ(inner->get(path).value()->content.str(), "kept");
  storage->fail_at(1);
  EXPECT_EQ(fs->reload().error().code(), Code::unavailable);
  EXPECT_EQ(VirtualFileSystem::open(storage).value()->read_bytes(path).value(), "kept");
  FileEntry behind;
  behind.path = Path::posix("/behind").value();
  ASSERT_TRUE(inner->set(behind));
  EXPECT_FALSE(fs->exists(behind.path));
  ASSERT_TRUE(fs->reload());
  EXPECT_TRUE(fs->exists(behind.path));
}

}  // namespace
}  // namespace atl::vfs
