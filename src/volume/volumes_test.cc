#include "volume/volumes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <optional>

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
  std::unique_ptr<Volumes> open() {
    VolumeOptions options{.bytes_max = 1 << 20, .count_max = 3};
    return std::move(*Volumes::open(*store_, directory_ + "/volumes", options));
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

TEST_F(VolumesTest, HalfWrittenFilesOfAnEarlierLifeAreGone) {
  auto made = wait(volumes_->create("acme", "data"));
  const std::string left = directory_ + "/volumes/" + made->id + "/incoming/half";
  std::fclose(std::fopen(left.c_str(), "w"));
  volumes_ = open();
  EXPECT_FALSE(std::filesystem::exists(left));
}

}  // namespace
}  // namespace atl::volume
