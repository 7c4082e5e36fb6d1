// What a server of S3's protocol may say, several writers, and the log that is put together.
#include "storage/s3_storage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/servers_test.h"
#include "vfs/batch_format.h"
#include "vfs/entry_makers_test.h"

namespace atl::storage {
namespace {

using testing::HasSubstr;
using vfs::file;

TEST(S3Client, RefusesAddressesThatAreNone) {
  for (const char* endpoint : {"", "s3.example.org", "ftp://a", "http://", "https://a/b", "http://u@a"})
    EXPECT_EQ(S3Client::make({.endpoint = endpoint, .bucket = "b"}).error().code(), Code::invalid_argument)
        << endpoint;
  EXPECT_EQ(S3Client::make({.endpoint = "http://a", .bucket = "a/b"}).error().code(), Code::invalid_argument);
}

TEST(S3Client, NobodyAnswers) {
  const auto client = S3Client::make({.endpoint = "http://127.0.0.1:1", .bucket = "b"}).value();
  EXPECT_EQ(client->get("x").error().code(), Code::unavailable);
  EXPECT_EQ(client->put_new("x", "").error().code(), Code::unavailable);
}

TEST(BatchFormat, DamageIsSeen) {
  vfs::Batch batch;
  batch.removals = {vfs::p("/gone")};
  batch.entries = {vfs::directory("/d"), file("/d/f", "bytes")};
  const std::string bytes = vfs::encode_batch(batch);
  const auto read = vfs::decode_batch(bytes).value();
  EXPECT_EQ(read.removals.front().str(), "/gone");
  EXPECT_EQ(read.entries.back().content.str(), "bytes");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_EQ(vfs::decode_batch(other).error().code(), Code::data_loss) << i;
    EXPECT_EQ(vfs::decode_batch(bytes.substr(0, i)).error().code(), Code::data_loss) << i;
  }
}

class S3StorageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!S3Server::is_there()) GTEST_SKIP() << "no S3 server from PyPI";
    // One for all tests; each has a place of its own.
    static S3Server shared;
    server_ = &shared;
    place_ = std::string("p/") + testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::unique_ptr<S3Storage> open() { return S3Storage::open(server_->client(), place_).value(); }
  S3Server* server_ = nullptr;
  std::string place_;
};

TEST_F(S3StorageTest, ObjectsAreListedInPages) {
  const auto client = server_->client();
  EXPECT_EQ(client->get("none").error().code(), Code::not_found);
  EXPECT_TRUE(client->remove("none"));
  for (int i = 0; i < 1005; ++i) ASSERT_TRUE(client->put(fmt::format("many/{:05}", i), "x"));
  const auto listed = client->list("many/").value();
  ASSERT_EQ(listed.size(), 1005U);
  EXPECT_EQ(listed.back().name, "many/01004");
  EXPECT_EQ(listed.back().size, 1U);
  auto stranger = server_->address();
  stranger.secret_key = "wrong";
  EXPECT_EQ(S3Client::make(stranger).value()->get("many/00000").error().code(), Code::unauthenticated);
  auto elsewhere = server_->address();
  elsewhere.bucket = "nobodys";
  EXPECT_EQ(S3Client::make(elsewhere).value()->put("x", "").error().code(), Code::not_found);
}

TEST_F(S3StorageTest, TheSecondOfTwoWritersIsToldAndSeesTheFirst) {
  const auto one = open(), other = open();
  ASSERT_TRUE(one->set(file("/a", "1")));
  EXPECT_EQ(other->set(file("/b", "2")).error().code(), Code::conflict);
  EXPECT_EQ(other->count().value(), 0U);
  EXPECT_EQ(other->get_all().value().size(), 1U);
  ASSERT_TRUE(other->set(file("/b", "2")));
  EXPECT_EQ(one->get_all().value().size(), 2U);
}

TEST_F(S3StorageTest, ALongLogIsPutTogether) {
  const auto late = open();
  ASSERT_TRUE(late->set(file("/late", "0")));
  const auto storage = open();
  for (int i = 0; i < 130; ++i)
    ASSERT_TRUE(storage->set(file("/f" + std::to_string(i % 7), std::to_string(i))));
  const auto objects = server_->client()->list(place_ + "/").value();
  EXPECT_LT(objects.size(), 40U);
  EXPECT_EQ(open()->get(vfs::p("/f3")).value()->content.str(), "129");
  // Its number is free again, and still its change is refused.
  EXPECT_EQ(late->set(file("/late", "1")).error().code(), Code::conflict);
  EXPECT_EQ(open()->get(vfs::p("/late")).value()->content.str(), "0");
  ASSERT_TRUE(S3Storage::discard(*server_->client(), place_));
  EXPECT_EQ(open()->count().value(), 0U);
}

TEST_F(S3StorageTest, WhatIsMissingOrDamagedIsDataLoss) {
  const auto storage = open();
  for (const char* path : {"/a", "/b", "/c"}) ASSERT_TRUE(storage->set(file(path, "x")));
  const auto client = server_->client();
  ASSERT_TRUE(client->put(place_ + "/log/0000000000000002", "nonsense"));
  EXPECT_EQ(storage->get_all().error().code(), Code::data_loss);
  ASSERT_TRUE(client->remove(place_ + "/log/0000000000000002"));
  EXPECT_EQ(storage->get_all().error().code(), Code::data_loss);
}

TEST_F(S3StorageTest, AServerThatIsGoneChangesNothing) {
  S3Server own;
  const auto storage = S3Storage::open(own.client(), place_).value();
  ASSERT_TRUE(storage->set(file("/a", "1")));
  own.end();
  EXPECT_EQ(storage->set(file("/b", "2")).error().code(), Code::unavailable);
  EXPECT_EQ(storage->count().value(), 1U);
}

TEST_F(S3StorageTest, AnOperatorsWordsOpenAndDiscardASpace) {
  const vfs::StorageKind kind = s3_kind();
  const S3Address at = server_->address();
  vfs::StorageOptions options{{"endpoint", at.endpoint},     {"bucket", at.bucket},
                              {"access_key", at.access_key}, {"prefix", "deep/er"},
                              {"secret_key", at.secret_key}, {"region", "eu-west-1"}};
  ASSERT_TRUE(kind.open(options, "acme/%shared").value()->set(file("/a", "1")));
  EXPECT_EQ(kind.open(options, "acme/%shared").value()->count().value(), 1U);
  EXPECT_EQ(kind.open(options, "acme/ses_1").value()->count().value(), 0U);
  ASSERT_TRUE(kind.discard(options, "acme/%shared"));
  EXPECT_EQ(kind.open(options, "acme/%shared").value()->count().value(), 0U);
  options["endpoint"] = "nowhere";
  EXPECT_THAT(kind.open(options, "a").error().message(), HasSubstr("'endpoint'"));
}

}  // namespace
}  // namespace atl::storage
