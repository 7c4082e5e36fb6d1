#include "volume/volumes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <optional>
#include <semaphore>

#include "os/file.h"

namespace atl::volume {
namespace {

template <class T>
Result<T> wait(Task<T> task) {
  boost::asio::io_context loop;
  std::optional<Result<T>> result;
  boost::asio::co_spawn(loop, std::move(task), [&](std::exception_ptr thrown, Result<T> got) {
    if (thrown) std::rethrow_exception(thrown);
    result.emplace(std::move(got));
  });
  loop.run();
  return std::move(*result);
}

// A filesystem of a volume's own is a directory beside here; what the real one does is sandbox_test's.
class FakeDisks final : public Disks {
 public:
  explicit FakeDisks(std::string directory) : directory_(std::move(directory)) {}
  Task<os::Fd> open(std::string directory, Bounds bounds) override {
    ++opened;
    asked = bounds;
    if (refusal) co_return fail(*refusal, "no loop devices");
    const std::string path = directory_ + "/" + std::filesystem::path(directory).filename().string();
    std::filesystem::create_directories(path);
    co_return os::open(path.c_str(), O_RDONLY | O_DIRECTORY);
  }
  Task<void> close(std::string directory) override {
    closed.push_back(std::filesystem::path(directory).filename().string());
    co_return Result<void>();
  }
  std::optional<Code> refusal;
  int opened = 0;
  Bounds asked;
  std::vector<std::string> closed;

 private:
  std::string directory_;
};

class VolumesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-volumes-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    store_ = std::move(*store::Store::open_in_memory());
    volumes_ = open();
  }
  void TearDown() override {
    volumes_.reset();
    std::filesystem::remove_all(directory_);
  }
  std::unique_ptr<Volumes> open(Disks* disks = nullptr, std::uint64_t bytes_max = 1 << 20) {
    VolumeOptions options{.bytes_max = bytes_max, .inodes_max = 1000, .count_max = 3};
    return std::move(*Volumes::open(*store_, directory_ + "/volumes", options, disks));
  }

  std::string directory_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Volumes> volumes_;
};

TEST_F(VolumesTest, LiveAndEnd) {
  auto made = wait(volumes_->create("acme", "data"));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(wait(volumes_->get("acme", "data"))->id, made->id);
  EXPECT_EQ(wait(volumes_->get("acme", made->id))->name, "data");
  EXPECT_EQ(wait(volumes_->list("acme"))->size(), 1U);
  auto directory = wait(volumes_->mountable(*made));
  ASSERT_TRUE(directory);
  EXPECT_TRUE(std::filesystem::is_directory(*directory));
  ASSERT_TRUE(wait(volumes_->remove("acme", "data")));
  EXPECT_FALSE(std::filesystem::exists(*directory));
  EXPECT_EQ(wait(volumes_->get("acme", "data")).error().code(), Code::not_found);
  EXPECT_EQ(wait(volumes_->remove("acme", "data")).error().code(), Code::not_found);
}

TEST_F(VolumesTest, NamesAreCheckedAndUniqueInATenant) {
  for (const char* bad : {"", "a b", "a/b", "..", "ü", "a\n"}) {
    EXPECT_EQ(wait(volumes_->create("acme", bad)).error().code(), Code::invalid_argument) << bad;
  }
  ASSERT_TRUE(wait(volumes_->create("acme", "data")));
  auto again = wait(volumes_->create("acme", "data"));
  EXPECT_EQ(again.error().code(), Code::already_exists);
  EXPECT_EQ(again.error().message(), "Volume with name 'data' already exists");
  EXPECT_TRUE(wait(volumes_->create("other", "data")));
  EXPECT_TRUE(wait(volumes_->create("acme", "b")));
  EXPECT_TRUE(wait(volumes_->create("acme", "c")));
  EXPECT_EQ(wait(volumes_->create("acme", "d")).error().code(), Code::resource_exhausted);
}

TEST_F(VolumesTest, ATenantSeesOnlyItsOwn) {
  auto made = wait(volumes_->create("acme", "data"));
  EXPECT_EQ(wait(volumes_->get("other", made->id)).error().code(), Code::not_found);
  EXPECT_EQ(wait(volumes_->remove("other", made->id)).error().code(), Code::not_found);
  EXPECT_TRUE(wait(volumes_->list("other"))->empty());
}

TEST_F(VolumesTest, ATokenOpensOneVolumeAndOutlivesARestart) {
  auto one = wait(volumes_->create("acme", "one"));
  auto two = wait(volumes_->create("acme", "two"));
  const std::string token = volumes_->token(*one);
  EXPECT_EQ(wait(volumes_->opened_by(token, one->id))->name, "one");
  EXPECT_EQ(wait(volumes_->opened_by(token, two->id)).error().code(), Code::unauthenticated);
  for (const char* bad : {"", "_", "zz_00", "61636d65_00"}) {
    EXPECT_EQ(wait(volumes_->opened_by(bad, one->id)).error().code(), Code::unauthenticated) << bad;
  }
  volumes_ = open();
  EXPECT_EQ(volumes_->token(*one), token);
  EXPECT_EQ(wait(volumes_->opened_by(token, one->id))->name, "one");
  struct stat info {};
  ASSERT_EQ(::stat((directory_ + "/volumes/token.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  ASSERT_TRUE(wait(volumes_->remove("acme", "one")));
  EXPECT_EQ(wait(volumes_->opened_by(token, one->id)).error().code(), Code::not_found);
}

TEST_F(VolumesTest, WhatIsOverItsLimitIsNotMounted) {
  auto made = wait(volumes_->create("acme", "data"));
  auto directory = wait(volumes_->mountable(*made));
  FILE* file = std::fopen((*directory + "/big").c_str(), "w");
  ASSERT_NE(file, nullptr);
  const std::string bytes(2 << 20, 'x');
  ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  EXPECT_EQ(wait(volumes_->mountable(*made)).error().code(), Code::no_space);
}

TEST_F(VolumesTest, AVolumeHasAFilesystemOfItsOwnWhereItCan) {
  const auto before = wait(volumes_->create("acme", "before"));
  ASSERT_EQ(before->enforced, Enforcement::measured);
  FakeDisks disks(directory_ + "/disks");
  volumes_ = open(&disks);
  const auto made = wait(volumes_->create("acme", "data"));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->enforced, Enforcement::filesystem);
  EXPECT_EQ(disks.asked.bytes_max, 1U << 20);
  EXPECT_EQ(disks.asked.inodes_max, 256U) << "one for every 4 KiB, where that is less than the bound";
  auto put = [](Tree& tree) -> Result<Entry> {
    Incoming incoming = TRY(tree.write("/f", {}, Existing::refuse));
    return incoming.finish();
  };
  // The machine's own filesystem stands in, which is fuller than the volume may be: what it counts is what
  // counts.
  EXPECT_EQ(wait(volumes_->with_tree<Entry>(*made, put)).error().code(), Code::no_space);
  EXPECT_TRUE(wait(volumes_->with_tree<Entry>(*before, put))) << "one that has none goes on as it was";
  EXPECT_EQ(*wait(volumes_->mountable(*made)), directory_ + "/volumes/" + made->id + "/files");
  // Its size stays what it was made with, whatever the service says later.
  volumes_ = open(&disks, 2 << 20);
  EXPECT_EQ(wait(volumes_->get("acme", "data"))->bounds.bytes_max, 1U << 20);
  EXPECT_EQ(wait(volumes_->get("acme", "before"))->bounds.bytes_max, 2U << 20);
  ASSERT_TRUE(wait(volumes_->remove("acme", "data")));
  EXPECT_EQ(disks.closed, std::vector{made->id});
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/volumes/" + made->id));
}

TEST_F(VolumesTest, WhereItCannotItIsMeasuredAndSaysSo) {
  FakeDisks disks(directory_ + "/disks");
  volumes_ = open(&disks);
  const auto image = wait(volumes_->create("acme", "image"));
  disks.refusal = Code::unsupported;
  const auto made = wait(volumes_->create("acme", "data"));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->enforced, Enforcement::measured);
  EXPECT_TRUE(wait(volumes_->mountable(*made)));
  disks.refusal = Code::data_loss;
  EXPECT_EQ(wait(volumes_->create("acme", "broken")).error().code(), Code::data_loss);
  EXPECT_EQ(wait(volumes_->get("acme", "broken")).error().code(), Code::not_found);
  // One that has a filesystem is never taken for a plain directory.
  volumes_ = open();
  const auto refused = wait(volumes_->mountable(*image));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unsupported);
}

// Half a million files are removed in many seconds, and whoever removes them is not the only one here.
TEST_F(VolumesTest, WhatTakesATenantLongHoldsUpNoOther) {
  const auto busy = wait(volumes_->create("busy", "data"));
  ASSERT_TRUE(busy);
  std::counting_semaphore<> end(0);
  boost::asio::io_context loop;
  for (int i = 0; i < 6; ++i) {
    auto work = [&end](Tree&) -> Result<void> {
      if (!end.try_acquire_for(std::chrono::seconds(20)))
        return fail(Code::internal, "nobody was served meanwhile");
      return {};
    };
    boost::asio::co_spawn(loop, volumes_->with_tree<void>(*busy, std::move(work)),
                          [](std::exception_ptr, const Result<void>& done) { EXPECT_TRUE(done); });
  }
  const auto serve_other = [&]() -> boost::asio::awaitable<void> {
    auto making = volumes_->create("other", "data");
    const auto made = co_await std::move(making);
    EXPECT_TRUE(made);
    EXPECT_TRUE(co_await volumes_->mountable(*made));
    auto removing = volumes_->remove("other", "data");
    EXPECT_TRUE(co_await std::move(removing));
    end.release(6);
  };
  boost::asio::co_spawn(loop, serve_other(), boost::asio::detached);
  loop.run();
}

TEST_F(VolumesTest, UploadsIntoOneVolumeAreMeasuredTogether) {
  const auto one = wait(volumes_->create("acme", "one")), other = wait(volumes_->create("acme", "other"));
  ASSERT_TRUE(one && other);
  ASSERT_EQ(one->bounds.bytes_max, 1U << 20);  // a look at every megabyte, and no more often
  auto first = volumes_->arriving_in(*one), second = volumes_->arriving_in(*one);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, volumes_->arriving_in(*other));
  EXPECT_FALSE(Volumes::is_due(*one, *first, 700 << 10));
  EXPECT_TRUE(Volumes::is_due(*one, *second, 700 << 10));  // neither has sent as much
  EXPECT_FALSE(Volumes::is_due(*one, *first, 700 << 10));
  // Once it was too full, every piece is looked at, whosever it is.
  first->over = true;
  EXPECT_TRUE(Volumes::is_due(*one, *second, 1));
  // Who begins when nobody else is on the way has measured it.
  first.reset(), second.reset();
  EXPECT_EQ(volumes_->arriving_in(*one)->unmeasured, 0U);
  Volume large = *one;
  large.bounds.bytes_max = 0;
  auto count = volumes_->arriving_in(large);
  EXPECT_FALSE(Volumes::is_due(large, *count, (64U << 20) - 1));
  EXPECT_TRUE(Volumes::is_due(large, *count, 1));
  large.enforced = Enforcement::filesystem;
  EXPECT_FALSE(Volumes::is_due(large, *count, 1ULL << 40));
}

TEST_F(VolumesTest, HalfWrittenFilesOfAnEarlierLifeAreGone) {
  auto made = wait(volumes_->create("acme", "data"));
  const std::string left = directory_ + "/volumes/" + made->id + "/incoming/half";
  std::fclose(std::fopen(left.c_str(), "w"));
  volumes_ = open();
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(VolumesTest, WhatGoesWrongWithAFilesystemLeavesNoVolume) {
  FakeDisks disks(directory_ + "/disks");
  std::filesystem::create_directory(directory_ + "/disks");
  disks.refusal = Code::internal;
  volumes_ = open(&disks);
  const auto refused = wait(volumes_->create("acme", "data"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::internal);
  EXPECT_TRUE(wait(volumes_->list("acme"))->empty());
  std::size_t left = 0;
  for (const auto& item : std::filesystem::directory_iterator(directory_ + "/volumes"))
    left += item.is_directory() ? 1 : 0;
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(disks.closed.size(), 1U);
}

// Started without what mounts filesystems: such a volume is not half there, and it is not measured instead.
TEST_F(VolumesTest, AFilesystemThatCannotBeMountedHereIsNamed) {
  FakeDisks disks(directory_ + "/disks");
  std::filesystem::create_directory(directory_ + "/disks");
  volumes_ = open(&disks);
  const auto made = wait(volumes_->create("acme", "data"));
  ASSERT_TRUE(made);
  ASSERT_EQ(made->enforced, Enforcement::filesystem);
  volumes_ = open();
  const auto again = wait(volumes_->get("acme", "data"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->enforced, Enforcement::filesystem);
  const auto refused = wait(volumes_->mountable(*again));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unsupported);
  EXPECT_NE(refused.error().message().find("data"), std::string::npos);
  const auto unread = wait(volumes_->with_tree<void>(*again, [](Tree&) -> Result<void> { return {}; }));
  EXPECT_EQ(unread.error().code(), Code::unsupported);
  EXPECT_TRUE(wait(volumes_->remove("acme", "data"))) << "it can still be removed";
}

TEST_F(VolumesTest, AMountThatFailsAfterARestartOfWhoMountsIsTold) {
  FakeDisks disks(directory_ + "/disks");
  std::filesystem::create_directory(directory_ + "/disks");
  volumes_ = open(&disks);
  const auto made = wait(volumes_->create("acme", "data"));
  ASSERT_TRUE(made);
  EXPECT_TRUE(wait(volumes_->mountable(*made)));
  disks.refusal = Code::unavailable;
  EXPECT_EQ(wait(volumes_->mountable(*made)).error().code(), Code::unavailable);
  disks.refusal.reset();
  EXPECT_TRUE(wait(volumes_->mountable(*made)));
}

TEST_F(VolumesTest, ADamagedKeyOfTokensIsNotReplacedSilently) {
  volumes_.reset();
  ASSERT_TRUE(os::write_file(directory_ + "/volumes/token.key", "short", 0600));
  const auto refused = Volumes::open(*store_, directory_ + "/volumes", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::data_loss);
}

TEST_F(VolumesTest, TokensThatNobodyMadeOpenNothing) {
  const auto made = wait(volumes_->create("acme", "data"));
  ASSERT_TRUE(made);
  const std::string token = volumes_->token(*made);
  for (const std::string& wrong : {std::string(), std::string("_"), std::string("zz_00"), token.substr(1),
                                   token + "0", token.substr(0, 8)})
    EXPECT_EQ(wait(volumes_->opened_by(wrong, made->id)).error().code(), Code::unauthenticated) << wrong;
  EXPECT_EQ(wait(volumes_->opened_by(token, made->id + "x")).error().code(), Code::unauthenticated);
  ASSERT_TRUE(wait(volumes_->remove("acme", "data")));
  EXPECT_EQ(wait(volumes_->opened_by(token, made->id)).error().code(), Code::not_found);
  EXPECT_EQ(wait(volumes_->remove("acme", "data")).error().code(), Code::not_found);
}

// Rows of an earlier or a damaged store: what they do not say is as the service has it.
TEST_F(VolumesTest, OddRowsAreVolumesOfTheServicesBounds) {
  store::DocumentRow row;
  row.kind = "volume";
  row.tenant = "acme";
  row.created_at = row.updated_at = from_unix_micros(1);
  for (const char* body : {"", "[]", "{", R"({"x":1})"}) {
    row.id = row.name = "vol_odd";
    row.body = body;
    ASSERT_TRUE(wait(store_->put_document(row)));
    const auto read = wait(volumes_->get("acme", "vol_odd"));
    ASSERT_TRUE(read) << body;
    EXPECT_EQ(read->enforced, Enforcement::measured) << body;
    EXPECT_EQ(read->bounds.bytes_max, 1U << 20) << body;
  }
  row.body = R"({"disk":"image","bytes":"many","inodes":-1})";
  ASSERT_TRUE(wait(store_->put_document(row)));
  EXPECT_EQ(wait(volumes_->get("acme", "vol_odd"))->bounds.bytes_max, 1U << 20) << "not: no bound at all";
}

TEST_F(VolumesTest, ADirectoryThatCannotBeOneIsRefused) {
  ASSERT_TRUE(os::write_file(directory_ + "/file", "x"));
  EXPECT_FALSE(Volumes::open(*store_, directory_ + "/file", {}));
}

}  // namespace
}  // namespace atl::volume
