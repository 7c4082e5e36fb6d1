// What a plugin may do wrong, and what then happens to those who use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "storage/plugin_server.h"
#include "storage/servers_test.h"
#include "vfs/entry_makers_test.h"

namespace atl::storage {
namespace {

using testing::HasSubstr;
using vfs::file;

TEST(PluginStorage, NobodyListens) {
  const auto opened = PluginStorage::open({.socket = "/nonexistent/s"}, "a");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::unavailable);
}

TEST(PluginStorage, APluginThatCannotBeLoaded) {
  vfs::TemporaryDirectory place;
  PluginServerOptions options{.library = "/nonexistent.so", .storage = "", .socket = place.path() + "/s"};
  EXPECT_THAT(serve_plugin(options).error().message(), HasSubstr("cannot be loaded"));
  options.library = ATOLL_TEST_PLUGIN;
  options.storage = "none";
  EXPECT_THAT(serve_plugin(options).error().message(), HasSubstr("has no storage 'none'"));
  options.storage = "memory";
  options.socket = "/nonexistent/s";
  EXPECT_FALSE(serve_plugin(options));
}

TEST(PluginStorage, WhatItRefusesIsToldInItsWords) {
  PluginProcess process("refuser");
  const auto refused = PluginStorage::open(process.options(), "refused");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("not this one"));
  const auto storage = PluginStorage::open(process.options(), "a").value();
  const auto set = storage->set(file("/f", "x"));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::provider_failed);
  EXPECT_THAT(set.error().message(), HasSubstr("the moon is full"));
  EXPECT_EQ(storage->count().value(), 0U);
}

TEST(PluginStorage, ACrashFailsTheCallAndTheNextProcessGoesOn) {
  PluginProcess process("crasher");
  const auto storage = PluginStorage::open(process.options(), "a").value();
  EXPECT_EQ(storage->set(file("/f", "x")).error().code(), Code::unavailable);
  EXPECT_TRUE(WIFSIGNALED(process.wait()));
  EXPECT_EQ(storage->get_all().error().code(), Code::unavailable);
  process.start();
  EXPECT_EQ(storage->get_all().value().size(), 0U);
}

TEST(PluginStorage, AHangEndsTheProcess) {
  PluginProcess process("hanger");
  const auto storage = PluginStorage::open(process.options(), "a").value();
  EXPECT_EQ(storage->set(file("/f", "x")).error().code(), Code::unavailable);
  const int status = process.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 71) << status;
}

TEST(PluginStorage, ALieIsDataLoss) {
  PluginProcess process("liar");
  const auto opened = PluginStorage::open(process.options(), "a");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::data_loss);
}

TEST(PluginStorage, SpacesAreApartAndCanBeRemoved) {
  PluginProcess process("memory");
  const auto first = PluginStorage::open(process.options(), "a/1").value();
  ASSERT_TRUE(first->set(file("/f", std::string(3 << 20, 'x'))));
  EXPECT_EQ(PluginStorage::open(process.options(), "a/2").value()->count().value(), 0U);
  EXPECT_EQ(PluginStorage::open(process.options(), "a/1").value()->get(vfs::p("/f")).value()->content.size(),
            3U << 20);
  ASSERT_TRUE(PluginStorage::discard(process.options(), "a/1"));
  EXPECT_EQ(PluginStorage::open(process.options(), "a/1").value()->count().value(), 0U);
}

TEST(PluginProtocol, FramesThatCannotBe) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const os::Fd mine(ends[0]), theirs(ends[1]);
  const auto soon = std::chrono::milliseconds(200);
  EXPECT_EQ(receive_frame(mine.get(), soon).error().code(), Code::unavailable);  // too slow
  ASSERT_EQ(::send(theirs.get(), "\xff\xff\xff\xff\x01", 5, 0), 5);
  EXPECT_EQ(receive_frame(mine.get(), soon).error().code(), Code::unavailable);  // too long
  ASSERT_EQ(::send(theirs.get(),
                   "\x05\x00\x00\x00\x01"
                   "ab",
                   7, 0),
            7);
  ::shutdown(theirs.get(), SHUT_WR);
  EXPECT_EQ(receive_frame(mine.get(), soon).error().code(), Code::unavailable);  // cut off
  const auto end = receive_frame(mine.get(), soon);
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

}  // namespace
}  // namespace atl::storage
