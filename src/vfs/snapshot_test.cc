#include "vfs/snapshot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/bytes.h"
#include "vfs/entries.h"
#include "vfs/snapshot_format.h"
#include "vfs/virtual_file_system.h"

namespace atl::vfs {
namespace {

Path p(std::string_view text) {
  return Path::posix(text).value();
}

std::vector<std::string> lines(const std::vector<Change>& changes) {
  std::vector<std::string> out;
  for (const Change& change : changes) {
    const char* sign = change.kind == ChangeKind::added     ? "+"
                       : change.kind == ChangeKind::removed ? "-"
                                                            : "*";
    out.push_back(sign + change.path.str());
  }
  return out;
}

using Lines = std::vector<std::string>;

// Directories change with what is put into them; most tests only care for the rest.
Lines files_only(const std::vector<Change>& changes) {
  std::vector<Change> kept;
  for (const Change& change : changes)
    if (change.kind != ChangeKind::changed || change.type != Type::directory) kept.push_back(change);
  return lines(kept);
}

TEST(Snapshot, StaysWhatItWas) {
  VirtualFileSystem fs;
  ASSERT_TRUE(fs.write(p("/d/f"), "one"));
  auto before = fs.snapshot();
  ASSERT_TRUE(fs.write(p("/d/f"), "two"));
  ASSERT_TRUE(fs.write(p("/d/g"), "new"));
  ASSERT_TRUE(fs.append(p("/d/f"), "!"));
  auto fork = std::make_unique<VirtualFileSystem>(before);
  EXPECT_EQ(fork->read_bytes(p("/d/f")).value(), "one");
  EXPECT_FALSE(fork->exists(p("/d/g")));
  EXPECT_EQ(before.stats(), (Stats{3, 1, 1}));
  ASSERT_TRUE(fork->write(p("/d/f"), "fork"));
  EXPECT_EQ(fs.read_bytes(p("/d/f")).value(), "two!");
  ASSERT_TRUE(fs.restore(before));
  EXPECT_EQ(fs.read_bytes(p("/d/f")).value(), "one");
  EXPECT_EQ(fs.stats().value(), (Stats{3, 1, 1}));
  ASSERT_TRUE(fs.restore(Snapshot()));
  EXPECT_EQ(fs.stats().value(), Stats{});
  EXPECT_TRUE(fs.write(p("/again"), "x"));
}

TEST(Snapshot, ForksAreIndependent) {
  VirtualFileSystem fs({.quota = {100, 10}, .uid = 7, .gid = 8});
  ASSERT_TRUE(fs.write(p("/f"), "base"));
  auto fork = fs.fork();
  EXPECT_EQ(fork->quota().bytes_max, 100U);
  ASSERT_TRUE(fork->write(p("/g"), "x"));
  EXPECT_EQ(fork->stat(p("/g")).value().uid, 7U);
  ASSERT_TRUE(fs.remove_file(p("/f")));
  EXPECT_EQ(fork->read_bytes(p("/f")).value(), "base");
  EXPECT_FALSE(fs.exists(p("/g")));
}

TEST(Snapshot, KeepsOpenFilesThroughARestore) {
  VirtualFileSystem fs;
  ASSERT_TRUE(fs.write(p("/f"), "old"));
  auto before = fs.snapshot();
  ASSERT_TRUE(fs.write(p("/f"), "new"));
  auto file = fs.open(p("/f"), {.write = true}).value();
  ASSERT_TRUE(fs.restore(before));
  EXPECT_EQ(file->content().value().str(), "new");
  ASSERT_TRUE(file->write("N"));
  EXPECT_EQ(fs.read_bytes(p("/f")).value(), "old");
}

TEST(Snapshot, CountsVersions) {
  VirtualFileSystem fs;
  auto first = fs.version();
  EXPECT_FALSE(fs.remove_file(p("/no")));
  EXPECT_EQ(fs.version(), first);
  ASSERT_TRUE(fs.write(p("/f"), "x"));
  EXPECT_NE(fs.version(), first);
}

TEST(Diff, NamesWhatChanged) {
  VirtualFileSystem fs;
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(fs.write(p(fmt::format("/d{}/f{}", i % 3, i)), "x"));
  auto before = fs.snapshot();
  EXPECT_TRUE(diff(before, fs.snapshot()).empty());
  ASSERT_TRUE(fs.write(p("/d0/f0"), "changed"));
  ASSERT_TRUE(fs.write(p("/d1/new"), "x"));
  ASSERT_TRUE(fs.remove_file(p("/d2/f2")));
  ASSERT_TRUE(fs.set_mode(p("/d0/f3"), 0600));
  ASSERT_TRUE(fs.write(p("/top/deep/f"), "x"));
  EXPECT_EQ(files_only(diff(before, fs.snapshot())),
            (Lines{"*/d0/f0", "*/d0/f3", "+/d1/new", "-/d2/f2", "+/top", "+/top/deep", "+/top/deep/f"}));
  EXPECT_EQ(files_only(diff(fs.snapshot(), before)),
            (Lines{"*/d0/f0", "*/d0/f3", "-/d1/new", "+/d2/f2", "-/top", "-/top/deep", "-/top/deep/f"}));
}

TEST(Diff, KnowsRenamesReplacementsAndLinks) {
  VirtualFileSystem fs;
  ASSERT_TRUE(fs.write(p("/d/a"), "x"));
  ASSERT_TRUE(fs.write(p("/e/l1"), "linked"));
  ASSERT_TRUE(fs.make_link(p("/e/l1"), p("/d/l2")));
  auto before = fs.snapshot();
  ASSERT_TRUE(fs.rename(p("/d"), p("/c")));
  EXPECT_EQ(files_only(diff(before, fs.snapshot())),
            (Lines{"+/c", "+/c/a", "+/c/l2", "-/d", "-/d/a", "-/d/l2"}));
  ASSERT_TRUE(fs.restore(before));
  ASSERT_TRUE(fs.write(p("/d/l2"), "by the other name"));
  EXPECT_EQ(files_only(diff(before, fs.snapshot())), (Lines{"*/d/l2", "*/e/l1"}));
  ASSERT_TRUE(fs.restore(before));
  ASSERT_TRUE(fs.remove_file(p("/d/a")));
  ASSERT_TRUE(fs.make_directory(p("/d/a")));
  ASSERT_TRUE(fs.write(p("/d/a/in"), "x"));
  auto changes = diff(before, fs.snapshot());
  EXPECT_EQ(lines(changes), (Lines{"*/d", "*/d/a", "+/d/a/in"}));
  EXPECT_EQ(changes[1].type, Type::directory);
  EXPECT_EQ(files_only(diff(Snapshot(), before)).size(), 5U);
  EXPECT_EQ(files_only(diff(before, Snapshot())).size(), 5U);
}

TEST(Quota, BindsBytesAndNodes) {
  VirtualFileSystem fs({.quota = {10, 4}});
  EXPECT_EQ(fs.write(p("/f"), "12345678901").error().code(), Code::no_space);
  EXPECT_FALSE(fs.exists(p("/f")));
  EXPECT_EQ(fs.write(p("/a/b/c/d/f"), "1").error().code(), Code::no_space);
  EXPECT_FALSE(fs.exists(p("/a")));
  ASSERT_TRUE(fs.write(p("/f"), "123456"));
  EXPECT_EQ(fs.append(p("/f"), "12345").error().code(), Code::no_space);
  EXPECT_EQ(fs.copy(p("/f"), p("/g")).error().code(), Code::no_space);
  EXPECT_EQ(fs.read_bytes(p("/f")).value(), "123456");
  auto file = fs.open(p("/f"), {.write = true}).value();
  EXPECT_EQ(file->write_at(6, "12345").error().code(), Code::no_space);
  EXPECT_EQ(file->truncate(11).error().code(), Code::no_space);
  ASSERT_TRUE(file->truncate(10));
  ASSERT_TRUE(fs.remove_file(p("/f")));
  // Bytes of a file without a name count as long as it is open.
  EXPECT_EQ(fs.write(p("/h"), "1").error().code(), Code::no_space);
  file.reset();
  ASSERT_TRUE(fs.write(p("/h"), "1"));
  ASSERT_TRUE(fs.make_directory(p("/d/e/f"), 0755, Parents::create));
  EXPECT_EQ(fs.make_symlink(p("/l"), "x").error().code(), Code::no_space);
  EXPECT_EQ(fs.make_directory(p("/x/y"), 0755, Parents::create).error().code(), Code::no_space);
  EXPECT_FALSE(fs.exists(p("/x")));
  EXPECT_EQ(fs.make_link(p("/h"), p("/i")).error().code(), Code::no_space);
  fs.set_quota({0, 0});
  EXPECT_EQ(fs.write(p("/h"), "22").error().code(), Code::no_space);
  EXPECT_TRUE(fs.write(p("/h"), ""));
  EXPECT_TRUE(fs.remove_all(p("/d")));
}

TEST(Tree, RefusesPathsThatGrowTooLong) {
  VirtualFileSystem fs;
  std::string deep;
  for (int i = 0; i < 16; ++i) deep += "/" + std::string(250, 'x');
  ASSERT_TRUE(fs.make_directory(p(deep), 0755, Parents::create));
  std::string other = "/" + std::string(250, 'y') + "/" + std::string(250, 'z');
  ASSERT_TRUE(fs.make_directory(p(other), 0755, Parents::create));
  auto top = p("/" + std::string(250, 'x'));
  EXPECT_EQ(fs.rename(top, p(other + "/t")).error().code(), Code::too_large);
  EXPECT_EQ(fs.copy(top, p(other + "/t"), {}).error().code(), Code::too_large);
  // The bound is not exact after a removal; the refusal must be.
  auto last = p(deep);
  ASSERT_TRUE(fs.remove_all(last));
  ASSERT_TRUE(fs.remove_all(last.parent()));
  EXPECT_TRUE(fs.rename(top, p(other + "/t")));
}

TEST(Tree, FreesDeepTreesWithoutDeepStacks) {
  VirtualFileSystem fs;
  Path at;
  for (int i = 0; i < 2000; ++i) at = at.child("d").value();
  ASSERT_TRUE(fs.make_directory(at, 0755, Parents::create));
  auto kept = fs.snapshot();
  ASSERT_TRUE(fs.copy(p("/d"), p("/e")));
  ASSERT_TRUE(fs.remove_all(p("/")));
  EXPECT_EQ(diff(kept, fs.snapshot()).size(), 2001U);
}

// ---- export ----

std::unique_ptr<VirtualFileSystem> sample() {
  auto fs = std::make_unique<VirtualFileSystem>();
  EXPECT_TRUE(fs->write(p("/d/f"), "text"));
  EXPECT_TRUE(fs->write(p("/d/\xff"), "name and bytes that are not text \xfe\xff"));
  EXPECT_TRUE(fs->write(p("/large"), std::string(300'000, 'L')));
  EXPECT_TRUE(fs->copy(p("/large"), p("/copy")));
  EXPECT_TRUE(fs->make_symlink(p("/l"), "d/f"));
  EXPECT_TRUE(fs->make_fifo(p("/p"), 0600));
  EXPECT_TRUE(fs->make_link(p("/d/f"), p("/hard")));
  EXPECT_TRUE(fs->make_directory(p("/empty")));
  EXPECT_TRUE(fs->set_mode(p("/empty"), 01777));
  return fs;
}

TEST(Export, ComesBackTheSame) {
  auto fs = sample();
  auto snapshot = fs->snapshot();
  for (bool json : {false, true}) {
    auto bytes = json ? export_json(snapshot) : export_snapshot(snapshot);
    auto back = json ? import_json(bytes) : import_snapshot(bytes);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(files_only(diff(snapshot, *back)), Lines{});
    EXPECT_EQ(back->stats(), snapshot.stats());
    VirtualFileSystem other(*back);
    EXPECT_EQ(other.stat(p("/hard")).value().links, 2U);
    ASSERT_TRUE(other.write(p("/hard"), "through the link"));
    EXPECT_EQ(other.read_bytes(p("/d/f")).value(), "through the link");
    ASSERT_TRUE(other.write(p("/new"), "x"));
    EXPECT_NE(other.stat(p("/new")).value().inode, other.stat(p("/l")).value().inode);
  }
  EXPECT_LT(export_snapshot(snapshot).size(), 2000U);
  EXPECT_TRUE(import_snapshot(export_snapshot(Snapshot())));
}

TEST(Import, RefusesWhatIsNotASnapshot) {
  auto code = [](std::string_view bytes) { return import_snapshot(bytes).error().code(); };
  EXPECT_EQ(code(""), Code::unsupported);
  EXPECT_EQ(code("ATOLL"), Code::unsupported);
  EXPECT_EQ(code("ATOLLVFS"), Code::data_loss);
  EXPECT_EQ(code(std::string(1000, 'x')), Code::unsupported);
  auto bytes = export_snapshot(sample()->snapshot());
  auto newer = bytes;
  newer[8] = 2;
  EXPECT_EQ(code(newer), Code::unsupported);
  auto flags = bytes;
  flags[12] = 1;
  EXPECT_EQ(code(flags), Code::unsupported);
  EXPECT_EQ(import_snapshot(bytes, {.bytes_max = 100}).error().code(), Code::too_large);
  EXPECT_EQ(import_snapshot(bytes, {.entries_max = 3}).error().code(), Code::too_large);
}

TEST(Import, RefusesEveryTruncationAndEveryFlippedBit) {
  auto bytes = export_snapshot(sample()->snapshot());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(import_snapshot(bytes.substr(0, size))) << size;
  ASSERT_FALSE(import_snapshot(bytes + "x"));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    ASSERT_FALSE(import_snapshot(damaged)) << at;
  }
}

TEST(Import, RefusesHostileJson) {
  auto code = [](std::string entries) {
    auto got = import_json("{\"format\":\"atoll-vfs\",\"version\":1,\"entries\":[" + entries + "]}");
    return got ? Code::internal : got.error().code();
  };
  EXPECT_EQ(code(""), Code::internal);
  EXPECT_EQ(code(R"({"path":"/a","type":"file"})"), Code::internal);
  EXPECT_EQ(code("1"), Code::data_loss);
  EXPECT_EQ(code(R"({"type":"file"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"socket"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/../a","type":"file"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/","type":"directory"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a/b","type":"file"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"file"},{"path":"/a","type":"file"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"file"},{"path":"/a/b","type":"file"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"symlink","content":"/"},{"path":"/a/b","type":"file"})"),
            Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"symlink"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"directory","content":"x"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"file","mode":99999})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"file","uid":-1})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"file","content":7})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"file","content_base64":"*"})"), Code::data_loss);
  EXPECT_EQ(code(R"({"path":"/a","type":"file","content_base64":7})"), Code::data_loss);
  EXPECT_EQ(import_json("[]").error().code(), Code::unsupported);
  EXPECT_EQ(import_json("{}").error().code(), Code::unsupported);
  EXPECT_EQ(import_json(R"({"format":"atoll-vfs","version":2,"entries":[]})").error().code(),
            Code::unsupported);
  EXPECT_EQ(import_json(R"({"format":"atoll-vfs","version":1})").error().code(), Code::data_loss);
}

// The same number on two different files must not make one of them.
TEST(Entries, DoNotJoinFilesThatDiffer) {
  std::vector<FileEntry> entries(2);
  entries[0].path = p("/a");
  entries[0].content = Content("one");
  entries[1].path = p("/b");
  entries[1].content = Content("two");
  entries[0].inode = entries[1].inode = 5;
  auto state = empty_state();
  ASSERT_TRUE(add_entries(state, entries));
  VirtualFileSystem fs{Snapshot(state)};
  EXPECT_EQ(fs.read_bytes(p("/a")).value(), "one");
  EXPECT_EQ(fs.read_bytes(p("/b")).value(), "two");
  EXPECT_NE(fs.stat(p("/a")).value().inode, fs.stat(p("/b")).value().inode);
}

}  // namespace
}  // namespace atl::vfs
