#include "sandbox/storages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sandbox/virtual_tree.h"
#include "vfs/memory_storage.h"

namespace atl::sandbox::emulated {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

vfs::Path path(std::string_view text) {
  return vfs::Path::posix(text).value();
}

class StoragesTest : public testing::Test {
 protected:
  StoragesTest() {
    std::string pattern = (fs::temp_directory_path() / "atoll-storages-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~StoragesTest() override { fs::remove_all(root_); }
  Result<std::vector<StorageDeclaration>> parse(const std::string& yaml) const {
    auto document = config::Document::parse(yaml, "config");
    return parse_storages(document->root, vfs::StorageKinds(), root_ + "/storages");
  }
  std::string error_of(const std::string& yaml) const {
    auto parsed = parse(yaml);
    return parsed ? "" : parsed.error().message();
  }
  Storages storages(const std::string& yaml) const { return {vfs::StorageKinds(), *parse(yaml)}; }
  static Spec spec(std::string storage, std::string session = "ses_1", std::string tenant = "acme") {
    Spec made;
    made.storage = StorageUse{std::move(storage), std::move(tenant), std::move(session)};
    return made;
  }
  std::string root_;
};

TEST_F(StoragesTest, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("[x]"), HasSubstr("config:1:1"));
  EXPECT_THAT(error_of("x: 1"), HasSubstr("config:1:4"));
  EXPECT_THAT(error_of("x: {}"), HasSubstr("missing key 'kind'"));
  EXPECT_THAT(error_of("x: {kind: s3}"),
              HasSubstr("no kind of storage is called 's3'; there are directory, redis, sqlite"));
  EXPECT_THAT(error_of("x: {kind: sqlite, host: a}"), HasSubstr("'host'"));
  EXPECT_THAT(error_of("x: {kind: sqlite, share: none}"), HasSubstr("'share' is session or tenant or all"));
  EXPECT_THAT(error_of("x: {kind: sqlite, access: write}"), HasSubstr("'access' is"));
  EXPECT_THAT(error_of("x: {kind: directory, path: here}"), HasSubstr("absolute"));
  EXPECT_THAT(error_of("a/b: {kind: sqlite}"), HasSubstr("a storage's name has"));
  EXPECT_EQ(error_of(""), "");
  auto some = storages(
      "x: {kind: sqlite, tenants: [acme]}\nred: {kind: redis, port: '0'}\ngone: {kind: redis, port: 1}\n");
  EXPECT_EQ(some.check({"y", "acme", "s"}).error().field(), "storage");
  EXPECT_EQ(some.check({"x", "other", "s"}).error().message(), "no storage is called 'x'");
  EXPECT_TRUE(some.check({"x", "acme", "s"}));
  EXPECT_EQ(some.open({"red", "acme", "s"}, {}).error().code(), Code::invalid_argument);
  EXPECT_EQ(some.open({"gone", "acme", "s"}, {}).error().code(), Code::unavailable);
}

TEST_F(StoragesTest, SpacesAreApartOrShared) {
  for (const char* kind : {"sqlite", "directory"}) {
    auto some = storages(std::string("own: {kind: ") + kind + "}\nteam: {kind: " + kind +
                         ", share: tenant}\nall: {kind: " + kind + ", share: all}\n");
    const auto write = [&](const StorageUse& use) {
      EXPECT_TRUE(some.open(use, {})->fs->write(path("/f"), "x"));
    };
    const auto has = [&](const StorageUse& use) { return some.open(use, {})->fs->exists(path("/f")); };
    write({"own", "acme", "a"});
    EXPECT_TRUE(has({"own", "acme", "a"}));
    EXPECT_FALSE(has({"own", "acme", "b"}));
    EXPECT_FALSE(has({"own", "other", "a"}));
    EXPECT_FALSE(has({"own", "../own/acme", "a"}));
    write({"team", "acme", "a"});
    EXPECT_TRUE(has({"team", "acme", "b"}));
    EXPECT_FALSE(has({"team", "other", "b"}));
    write({"all", "acme", "a"});
    EXPECT_TRUE(has({"all", "other", "b"}));
    EXPECT_TRUE(some.discard({"own", "acme", "a"}));
    EXPECT_TRUE(some.discard({"own", "acme", "never"}));
    EXPECT_TRUE(some.discard({"team", "acme", "a"}));
    EXPECT_TRUE(some.discard({"none", "acme", "a"}));
    EXPECT_FALSE(has({"own", "acme", "a"}));
    EXPECT_TRUE(has({"team", "acme", "a"})) << "what others share stays";
    fs::remove_all(root_ + "/storages");
  }
}

TEST_F(StoragesTest, AKindIsOneLine) {
  vfs::StorageKinds kinds;
  auto kept = std::make_shared<std::map<std::string, std::shared_ptr<vfs::FileStorage>>>();
  kinds.add("kept", {.options = {"colour"},
                     .open = [kept](const vfs::StorageOptions&,
                                    const std::string& space) -> Result<std::shared_ptr<vfs::FileStorage>> {
                       auto& storage = (*kept)[space];
                       if (!storage) storage = std::make_shared<vfs::MemoryStorage>();
                       return storage;
                     }});
  auto document = config::Document::parse("mine: {kind: kept, colour: red}", "config");
  Storages some(kinds, *parse_storages(document->root, kinds, root_));
  EXPECT_TRUE(some.open({"mine", "acme", "a"}, {})->fs->write(path("/f"), "x"));
  EXPECT_TRUE(some.open({"mine", "acme", "a"}, {})->fs->exists(path("/f")));
  EXPECT_TRUE(some.discard({"mine", "acme", "a"}));
  EXPECT_FALSE(some.open({"mine", "acme", "a"}, {})->fs->exists(path("/f")));
}

TEST_F(StoragesTest, TheWorkingDirectoryIsOnTheStorage) {
  auto some = storages("own: {kind: sqlite}\nwiki: {kind: directory, share: all, access: read_only}\n");
  vfs::VirtualFileSystem base;
  ASSERT_TRUE(base.make_directory(path("/home/user"), 0755, vfs::Parents::create));
  ASSERT_TRUE(base.write(path("/home/user/shipped"), "x"));
  {
    VirtualTree tree = *make_tree(spec("own"), base.snapshot(), Beginning::fresh, some);
    EXPECT_FALSE(tree.view->exists(path("/home/user/shipped"))) << "what the storage holds, and nothing else";
    ASSERT_TRUE(tree.view->write(path("/home/user/note"), "kept"));
    ASSERT_TRUE(tree.view->write(path("/outside"), "lost"));
    EXPECT_EQ(tree.parts_below(path("/home/user")).size(), 1U);
    EXPECT_EQ(tree.parts_below(path("/"))[1].prefix, "home/user/");
    EXPECT_EQ(tree.parts_below(path("/tmp")).size(), 1U);
    vfs::VirtualFileSystem whole(*tree.snapshot());
    EXPECT_TRUE(whole.exists(path("/home/user/note")) && whole.exists(path("/outside")));
  }
  VirtualTree again = *make_tree(spec("own"), base.snapshot(), Beginning::fresh, some);
  EXPECT_TRUE(again.view->exists(path("/home/user/note")));
  EXPECT_FALSE(again.view->exists(path("/outside")));
  again = *make_tree(spec("own"), base.snapshot(), Beginning::from_snapshot, some);
  EXPECT_FALSE(again.view->exists(path("/home/user/note"))) << "the snapshot's files replace them";
  EXPECT_TRUE(again.view->exists(path("/home/user/shipped")));
  fs::create_directories(root_ + "/storages/wiki/%shared");
  std::ofstream(root_ + "/storages/wiki/%shared/page") << "read";
  VirtualTree wiki = *make_tree(spec("wiki"), base.snapshot(), Beginning::from_snapshot, some);
  EXPECT_TRUE(wiki.view->exists(path("/home/user/page")));
  EXPECT_EQ(wiki.view->write(path("/home/user/page"), "x").error().code(), Code::read_only);
  Spec quota = spec("own", "ses_2");
  quota.limits.disk_bytes = 100;
  VirtualTree small = *make_tree(quota, base.snapshot(), Beginning::fresh, some);
  EXPECT_EQ(small.view->write(path("/home/user/big"), std::string(200, 'x')).error().code(), Code::no_space);
}

TEST_F(StoragesTest, DirectoriesOfTheHostAreShownReadOnly) {
  fs::create_directories(root_ + "/shown/inner");
  std::ofstream(root_ + "/shown/page") << "one";
  fs::create_symlink("/etc/passwd", root_ + "/shown/out");
  Storages none;
  Spec made;
  made.host_mounts = {{root_ + "/shown", "/home/user/skills", false},
                      {root_ + "/shown", "/home/user/skills/inner", false}};
  vfs::VirtualFileSystem base;
  ASSERT_TRUE(base.make_directory(path("/home/user"), 0755, vfs::Parents::create));
  ASSERT_TRUE(base.write(path("/home/user/skills"), "a file in the way"));
  VirtualTree tree = *make_tree(made, base.snapshot(), Beginning::fresh, none);
  EXPECT_TRUE(tree.view->exists(path("/home/user/skills/inner/page")));
  EXPECT_FALSE(tree.view->read(path("/home/user/skills/out")));
  EXPECT_EQ(tree.view->write(path("/home/user/skills/page"), "x").error().code(), Code::read_only);
  EXPECT_FALSE(tree.view->remove_all(path("/home/user/skills/inner")));
  std::ofstream(root_ + "/shown/late") << "two";
  EXPECT_TRUE(tree.view->exists(path("/home/user/skills/late")));
  made.host_mounts = {{root_ + "/nowhere", "/x", false}};
  EXPECT_FALSE(make_tree(made, base.snapshot(), Beginning::fresh, none));
}

// Links that a snapshot brought along: to nowhere, to themselves, to another directory, and above the place.
TEST_F(StoragesTest, LinksThatWereLeftInThePlaceOfWhatIsShownAreReplaced) {
  fs::create_directories(root_ + "/shown");
  std::ofstream(root_ + "/shown/page") << "one";
  Storages none;
  Spec made;
  for (const char* place : {"/home/user/skills", "/home/user/.agents/skills"})
    made.host_mounts.push_back({root_ + "/shown", place, false});
  const std::pair<const char*, const char*> cases[] = {{"/home/user/skills", "/nowhere"},
                                                       {"/home/user/skills", "skills"},
                                                       {"/home/user/skills", "/home/user/mine"},
                                                       {"/home/user/.agents", "/nowhere/at/all"},
                                                       {"/home/user/.agents", "mine"}};
  for (const auto& [link, target] : cases) {
    SCOPED_TRACE(std::string(link) + " -> " + target);
    vfs::VirtualFileSystem base;
    ASSERT_TRUE(base.make_directory(path("/home/user/mine"), 0755, vfs::Parents::create));
    ASSERT_TRUE(base.make_symlink(path(link), target));
    const auto tree = make_tree(made, base.snapshot(), Beginning::from_snapshot, none);
    ASSERT_TRUE(tree) << tree.error().message();
    EXPECT_TRUE(tree->view->exists(path("/home/user/skills/page")));
    EXPECT_TRUE(tree->view->exists(path("/home/user/.agents/skills/page")));
    EXPECT_TRUE(tree->view->stat(path(link), vfs::Follow::no)->is_directory());
    EXPECT_TRUE(tree->view->list(path("/home/user/mine"))->empty()) << "where a link leads is left alone";
  }
}

}  // namespace
}  // namespace atl::sandbox::emulated
