#include "layer/store.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <set>

#include "layer/documents.h"
#include "layer/layer_harness.h"
#include "layer/merge.h"

namespace atl::layer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using StoreTest = LayerTest;

TEST_F(StoreTest, RefusesNamesThatAreNone) {
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "../x", "a b", "ä", "x\n"})
    EXPECT_FALSE(is_name(name)) << name;
  for (const char* name : {"python", "Python3", "a-b_c.d", "1"}) EXPECT_TRUE(is_name(name)) << name;
  EXPECT_FALSE(is_name(std::string(65, 'a')));
  Claim claim = *store_->claim();
  const Layer layer = layer_of({{"a", "1"}}, claim);
  auto saved = store_->save({.name = "../x", .layers = {layer.digest}});
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().field(), "name");
}

TEST_F(StoreTest, SaysWhatIsNotThere) {
  const std::string none(64, '0');
  EXPECT_EQ(store_->find(none).error().code(), Code::not_found);
  EXPECT_EQ(store_->find("../../etc").error().code(), Code::invalid_argument);
  EXPECT_EQ(store_->verify(none).error().code(), Code::not_found);
  EXPECT_EQ(store_->stack("none").error().code(), Code::not_found);
  EXPECT_EQ(store_->stack("../lock").error().code(), Code::not_found);
  EXPECT_EQ(store_->remove("none").error().code(), Code::not_found);
  EXPECT_EQ(store_->save({.name = "a", .layers = {none}}).error().code(), Code::not_found);
  EXPECT_EQ(store_->save({.name = "a"}).error().code(), Code::invalid_argument);
  EXPECT_EQ(store_->save({.name = "a", .layers = std::vector<std::string>(23, none)}).error().code(),
            Code::too_large);
  EXPECT_EQ(store_->reference("none").error().code(), Code::not_found);
  EXPECT_EQ(store_->reference("../lock").error().code(), Code::not_found);
  EXPECT_EQ(store_->refer({.holder = "h", .layers = {none}}).error().code(), Code::not_found);
  EXPECT_EQ(store_->refer({.holder = "a/b"}).error().code(), Code::invalid_argument);
  EXPECT_EQ(store_->cached(none), std::nullopt);
  EXPECT_EQ(store_->cached("x"), std::nullopt);
  EXPECT_FALSE(store_->cache("x", none));
}

TEST_F(StoreTest, NoticesDamage) {
  Claim claim = *store_->claim();
  const Layer layer = layer_of({{"etc/passwd", "root"}}, claim);
  ASSERT_TRUE(store_->verify(layer.digest));
  ASSERT_TRUE(os::write_file(store_->path(layer.digest) + "/etc/passwd", "evil"));
  auto verified = store_->verify(layer.digest);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code(), Code::data_loss);
  ASSERT_TRUE(os::remove_tree(AT_FDCWD, store_->path(layer.digest)));
  EXPECT_EQ(store_->verify(layer.digest).error().code(), Code::data_loss);
  const std::string other(64, 'a');
  std::filesystem::create_directories(directory_ + "/layers/trees/" + other);
  ASSERT_TRUE(os::write_file(directory_ + "/layers/trees/" + other + "/layer.json", to_text(layer)));
  EXPECT_EQ(store_->find(other).error().code(), Code::data_loss);
  ASSERT_TRUE(os::write_file(directory_ + "/layers/trees/" + other + "/layer.json", "{}"));
  EXPECT_EQ(store_->find(other).error().code(), Code::data_loss);
}

TEST_F(StoreTest, NoticesDamagedDescriptions) {
  for (const char* text : {"", "[]", "{", R"({"name":1})", R"({"name":"a","layers":["../x"]})"}) {
    EXPECT_EQ(read_stack(text).error().code(), Code::data_loss) << text;
    EXPECT_EQ(read_layer(text).error().code(), Code::data_loss) << text;
    EXPECT_EQ(read_reference(text).error().code(), Code::data_loss) << text;
  }
  ASSERT_TRUE(os::write_file(directory_ + "/layers/stacks/broken", "{"));
  auto listed = store_->stacks();
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().message(), HasSubstr("broken"));
  // Nothing is collected while it is unknown what is needed.
  EXPECT_FALSE(store_->collect());
}

TEST_F(StoreTest, KeepsALayerOnceUnderItsDigest) {
  Claim claim = *store_->claim();
  const auto same = [&] {
    auto draft = *store_->draft();
    EXPECT_TRUE(os::write_file(draft.tree_path() + "/file", "content"));
    const timespec times[2] = {{1, 0}, {1, 0}};
    ::utimensat(draft.tree(), "file", times, 0);
    ::futimens(draft.tree(), times);
    return *store_->put(std::move(draft), claim);
  };
  const Layer first = same();
  const Layer second = same();
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(first.bytes, 7U);
  EXPECT_EQ(first.entries, 2U);
  EXPECT_THAT(*store_->layers(), SizeIs(1));
  EXPECT_EQ(incoming(), 0U);
  EXPECT_EQ(read(first.digest, "file"), "content");
}

TEST_F(StoreTest, TheDigestSeesEverythingASandboxSees) {
  Claim claim = *store_->claim();
  std::set<std::string> digests;
  const auto variant = [&](const std::function<void(int)>& change) {
    auto draft = *store_->draft();
    EXPECT_TRUE(os::write_file_at(draft.tree(), "f", "1"));
    const timespec times[2] = {{1, 0}, {1, 0}};
    ::utimensat(draft.tree(), "f", times, 0);
    change(draft.tree());
    ::futimens(draft.tree(), times);
    digests.insert(store_->put(std::move(draft), claim)->digest);
  };
  variant([](int) {});
  variant([](int tree) { ::fchmodat(tree, "f", 0600, 0); });
  variant([](int tree) { ::fchmodat(tree, "f", 04644, 0); });
  variant([](int tree) { ASSERT_EQ(::linkat(tree, "f", tree, "g", 0), 0); });
  variant([](int tree) { ASSERT_EQ(::symlinkat("f", tree, "g"), 0); });
  variant([](int tree) { ASSERT_TRUE(make_whiteout(tree, "g")); });
  variant([](int tree) { ASSERT_EQ(::mkdirat(tree, "g", 0755), 0); });
  variant([](int tree) { ASSERT_TRUE(os::write_file_at(tree, "g h\n\\", "")); });
  variant([](int tree) {
    const timespec other[2] = {{2, 0}, {2, 0}};
    ::utimensat(tree, "f", other, 0);
  });
  if (::geteuid() == 0) variant([](int tree) { ASSERT_EQ(::fchownat(tree, "f", 1, 2, 0), 0); });
  EXPECT_THAT(digests, SizeIs(::geteuid() == 0 ? 10 : 9));
}

TEST_F(StoreTest, AnUnusedDraftLeavesNothing) {
  {
    auto draft = *store_->draft();
    ASSERT_TRUE(os::write_file_at(draft.tree(), "f", "1"));
    EXPECT_EQ(incoming(), 1U);
  }
  EXPECT_EQ(incoming(), 0U);
}

TEST_F(StoreTest, SweepsWhatKilledWorkLeft) {
  const auto living = *store_->draft();
  const pid_t child = ::fork();
  if (child == 0) {
    auto opened = Store::open(directory_ + "/layers", Durability::unsynced);
    auto claim = (*opened)->claim();
    auto draft = (*opened)->draft();
    (void)os::write_file_at(draft->tree(), "f", "1");
    ::_exit(0);  // no destructor runs, as after a kill
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(incoming(), 2U);
  EXPECT_THAT(*store_->references(), IsEmpty());
  ASSERT_TRUE(os::write_file(directory_ + "/layers/stacks/.half", "{"));
  ASSERT_TRUE(os::write_file(directory_ + "/layers/references/.half", "{"));
  const auto again = open_store();
  EXPECT_EQ(incoming(), 1U) << "the living draft stays, the dead one goes";
  EXPECT_FALSE(os::exists(directory_ + "/layers/stacks/.half"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/layers/references"));
}

TEST_F(StoreTest, StacksComeBackAsTheyWereSaved) {
  Claim claim = *store_->claim();
  const Layer layer = layer_of({{"a", "1"}}, claim);
  const std::uint64_t before = store_->generation();
  const Stack stack{.name = "python",
                    .layers = {layer.digest},
                    .source = "import \"x\"",
                    .created_at = "2026-01-01T00:00:00Z",
                    .env = {{"PATH", "/bin:/ü"}},
                    .user = "root",
                    .working_directory = "/w"};
  ASSERT_TRUE(store_->save(stack));
  EXPECT_NE(store_->generation(), before);
  const Stack back = *open_store()->stack("python");
  EXPECT_EQ(back.layers, stack.layers);
  EXPECT_EQ(back.source, stack.source);
  EXPECT_EQ(back.env, stack.env);
  EXPECT_EQ(back.user, "root");
  EXPECT_EQ(back.working_directory, "/w");
  EXPECT_THAT(*store_->stacks(), SizeIs(1));
  ASSERT_TRUE(store_->remove("python"));
  EXPECT_THAT(*store_->stacks(), IsEmpty());
}

TEST_F(StoreTest, CollectsOnlyWhatNobodyNeeds) {
  std::string named, held, worked, loose;
  {
    Claim claim = *store_->claim();
    named = layer_of({{"a", "1"}}, claim).digest;
    held = layer_of({{"b", "2"}}, claim).digest;
    loose = layer_of({{"c", "3"}}, claim).digest;
    ASSERT_TRUE(store_->save({.name = "n", .layers = {named}}));
    ASSERT_TRUE(store_->refer({.holder = "snapshot-1", .stack = "n", .layers = {held}}));
    EXPECT_EQ(store_->disk_use()->unused_layers, 0U) << "the claim still holds";
  }
  Claim working = *store_->claim();
  worked = layer_of({{"d", "4"}}, working).digest;
  ASSERT_TRUE(store_->cache(std::string(64, '1'), named));
  ASSERT_TRUE(store_->cache(std::string(64, '2'), loose));
  const DiskUse removed = *store_->collect();
  EXPECT_EQ(removed.layers, 4U);
  EXPECT_EQ(removed.unused_layers, 1U);
  EXPECT_EQ(removed.unused_bytes, 1U);
  EXPECT_TRUE(store_->find(named));
  EXPECT_TRUE(store_->find(held));
  EXPECT_TRUE(store_->find(worked));
  EXPECT_FALSE(store_->find(loose));
  EXPECT_EQ(store_->cached(std::string(64, '1')), named);
  EXPECT_FALSE(os::exists(directory_ + "/layers/cache/" + std::string(64, '2')));
  EXPECT_EQ(incoming(), 0U);
}

TEST_F(StoreTest, RefusesToRemoveWhatIsUsed) {
  Claim claim = *store_->claim();
  const Layer layer = layer_of({{"a", "1"}}, claim);
  ASSERT_TRUE(store_->save({.name = "n", .layers = {layer.digest}}));
  ASSERT_TRUE(
      store_->refer({.holder = "sandbox-i1", .stack = "n", .layers = {layer.digest}, .process = ::getpid()}));
  auto removed = store_->remove("n");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code(), Code::conflict);
  EXPECT_THAT(removed.error().message(), HasSubstr("sandbox-i1"));
  ASSERT_TRUE(store_->release("sandbox-i1"));
  ASSERT_TRUE(store_->release("sandbox-i1")) << "twice is once";
  EXPECT_TRUE(store_->remove("n"));
}

TEST_F(StoreTest, AReferenceOfADeadProcessDoesNotCount) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ASSERT_TRUE(store_->refer({.holder = "a", .process = child}));
  EXPECT_THAT(*store_->references(), SizeIs(1)) << "not reaped: still a process";
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_THAT(*store_->references(), IsEmpty());
}

TEST_F(StoreTest, OnlyItsOwnerWalksIn) {
  struct stat info {};
  ASSERT_EQ(::stat((directory_ + "/layers").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(StoreTest, SyncedStoresWorkTheSame) {
  auto synced = *Store::open(directory_ + "/synced");
  Claim claim = *synced->claim();
  auto draft = *synced->draft();
  ASSERT_TRUE(os::write_file_at(draft.tree(), "f", "1"));
  const Layer layer = *synced->put(std::move(draft), claim);
  EXPECT_TRUE(synced->verify(layer.digest));
}

TEST_F(StoreTest, RefusesTreesThatAreTooDeep) {
  auto draft = *store_->draft();
  os::Fd at(::dup(draft.tree()));
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    at = *os::open_at(at.get(), "d", O_RDONLY | O_DIRECTORY);
  }
  Claim claim = *store_->claim();
  auto put = store_->put(std::move(draft), claim);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code(), Code::too_large);
  EXPECT_EQ(incoming(), 0U);
}

class MergeTest : public LayerTest {
 protected:
  MergeTest() : lower_(*store_->draft()), upper_(*store_->draft()) {
    put(lower_, "kept", "low");
    put(lower_, "replaced", "low");
    put(lower_, "gone", "low");
    put(lower_, "merged/low", "low");
    put(lower_, "opaque/low", "low");
    put(lower_, "tree/low", "low");
    put(lower_, "file", "low");
    put(upper_, "replaced", "up");
    EXPECT_TRUE(make_whiteout(upper_.tree(), "gone"));
    put(upper_, "merged/up", "up");
    put(upper_, "opaque/up", "up");
    const os::Fd opaque = *os::open_at(upper_.tree(), "opaque", O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(mark_opaque(opaque.get(), store_->attributes()));
    put(upper_, "tree", "a file now");
    put(upper_, "file/up", "a directory now");
  }
  static void put(const Draft& draft, const std::string& name, const std::string& text) {
    const std::string path = draft.tree_path() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(os::write_file(path, text));
  }
  std::string lower(const std::string& name) {
    auto text = os::read_file(lower_.tree_path() + "/" + name);
    return text ? *text : "none";
  }
  Draft lower_, upper_;
};

TEST_F(MergeTest, TheUpperLayerWins) {
  ASSERT_TRUE(merge(upper_.tree(), lower_.tree(), Below::nothing, store_->owners()));
  EXPECT_EQ(lower("kept"), "low");
  EXPECT_EQ(lower("replaced"), "up");
  EXPECT_FALSE(os::exists(lower_.tree_path() + "/gone"));
  EXPECT_EQ(lower("merged/low"), "low");
  EXPECT_EQ(lower("merged/up"), "up");
  EXPECT_EQ(lower("opaque/low"), "none");
  EXPECT_EQ(lower("opaque/up"), "up");
  EXPECT_EQ(lower("tree"), "a file now");
  EXPECT_EQ(lower("file/up"), "a directory now");
}

TEST_F(MergeTest, WhatHidesGoesOnHidingWhereSomethingIsBelow) {
  ASSERT_TRUE(merge(upper_.tree(), lower_.tree(), Below::something, store_->owners()));
  struct stat info {};
  ASSERT_EQ(::lstat((lower_.tree_path() + "/gone").c_str(), &info), 0);
  EXPECT_TRUE(is_whiteout(info));
  for (const char* name : {"opaque", "file"}) {
    const os::Fd directory = *os::open_at(lower_.tree(), name, O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(is_opaque(directory.get(), store_->attributes())) << name;
  }
}

TEST_F(MergeTest, ALinkedTreeIsTheSameTree) {
  const Draft copy = *store_->draft();
  const Inventory before = *take_inventory(upper_.tree(), store_->owners());
  ASSERT_TRUE(link_tree(upper_.tree(), copy.tree(), store_->owners()));
  EXPECT_EQ(take_inventory(copy.tree(), store_->owners())->digest, before.digest);
}

}  // namespace
}  // namespace atl::layer
