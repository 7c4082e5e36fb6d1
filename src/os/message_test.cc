#include "os/message.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "os/pipe.h"

namespace atl::os {
namespace {

SocketPair packets() {
  auto pair = socket_pair(SocketKind::packets);
  EXPECT_TRUE(pair);
  return std::move(*pair);
}

TEST(Message, KeepsItsBoundaries) {
  const SocketPair pair = packets();
  ASSERT_TRUE(send_message(pair.first.get(), "one"));
  ASSERT_TRUE(send_message(pair.first.get(), "two"));
  EXPECT_EQ(receive_message(pair.second.get())->bytes, "one");
  EXPECT_EQ(receive_message(pair.second.get())->bytes, "two");
}

TEST(Message, CarriesDescriptors) {
  const SocketPair pair = packets();
  const auto channel = pipe();
  ASSERT_TRUE(channel);
  const int fds[] = {channel->read.get(), channel->write.get()};
  ASSERT_TRUE(send_message(pair.first.get(), "pipe", fds));
  const auto message = receive_message(pair.second.get());
  ASSERT_TRUE(message);
  ASSERT_EQ(message->fds.size(), 2U);
  EXPECT_TRUE(::fcntl(message->fds[0].get(), F_GETFD) & FD_CLOEXEC);
  ASSERT_EQ(::write(message->fds[1].get(), "x", 1), 1);
  char byte = 0;
  ASSERT_EQ(::read(channel->read.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(Message, TooManyDescriptorsAreRefused) {
  const SocketPair pair = packets();
  const std::vector<int> fds(kMessageFdsMax + 1, pair.first.get());
  EXPECT_FALSE(send_message(pair.first.get(), "many", fds));
  EXPECT_EQ(receive_message(pair.second.get(), Wait::no).error().code(), Code::unavailable);
}

// At the limit of open files the kernel hands over what fits, which may be a part.
TEST(Message, DescriptorsThatDoNotFitAreLostAloneAndTheNextMessageHasItsOwn) {
  const SocketPair pair = packets();
  const auto channel = pipe();
  ASSERT_TRUE(channel);
  const int fds[] = {channel->read.get(), channel->write.get(), channel->read.get()};
  for (const char* text : {"none fits", "one fits", "all fit"})
    ASSERT_TRUE(send_message(pair.first.get(), text, fds));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  for (const rlim_t room : {0, 1}) {
    const rlimit tight{static_cast<rlim_t>(next) + room, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    const auto message = receive_message(pair.second.get());
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_TRUE(message) << message.error().message();
    EXPECT_TRUE(message->bytes.ends_with("fits"));
    EXPECT_TRUE(message->fds_lost);
    EXPECT_TRUE(message->fds.empty());
  }
  const auto message = receive_message(pair.second.get());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->bytes, "all fit");
  EXPECT_FALSE(message->fds_lost);
  EXPECT_EQ(message->fds.size(), 3U);
}

TEST(Message, OneOverTheSizeIsAnErrorAndTheNextIsNot) {
  const SocketPair pair = packets();
  const int room = 1 << 20;
  ASSERT_EQ(::setsockopt(pair.first.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
  const std::string large(kMessageBytesMax + 1, 'x');
  ASSERT_EQ(::send(pair.first.get(), large.data(), large.size(), 0), static_cast<ssize_t>(large.size()));
  ASSERT_TRUE(send_message(pair.first.get(), "next"));
  EXPECT_FALSE(receive_message(pair.second.get()));
  EXPECT_EQ(receive_message(pair.second.get())->bytes, "next");
}

TEST(Message, AGoneSideIsAnEmptyMessageAndRefusesWhatIsSent) {
  SocketPair pair = packets();
  pair.first.reset();
  const auto message = receive_message(pair.second.get());
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->bytes.empty());
  EXPECT_EQ(send_message(pair.second.get(), "lost").error().code(), Code::unavailable);
}

TEST(Message, AFullSocketWaitsOnlyWhenAsked) {
  const SocketPair pair = packets();
  const std::string text(4096, 'x');
  int sent = 0;
  while (send_message(pair.first.get(), text, {}, Wait::no)) ++sent;
  EXPECT_GT(sent, 0);
  ASSERT_EQ(::fcntl(pair.first.get(), F_SETFL, O_NONBLOCK), 0);
  std::thread sender([&] { EXPECT_TRUE(send_message(pair.first.get(), "last")); });
  for (int i = 0; i < sent; ++i) ASSERT_TRUE(receive_message(pair.second.get()));
  EXPECT_EQ(receive_message(pair.second.get())->bytes, "last");
  sender.join();
}

TEST(Message, WaitingReadsFromASocketThatDoesNotBlock) {
  const SocketPair pair = packets();
  ASSERT_EQ(::fcntl(pair.second.get(), F_SETFL, O_NONBLOCK), 0);
  std::thread sender([&] { EXPECT_TRUE(send_message(pair.first.get(), "late")); });
  EXPECT_EQ(receive_message(pair.second.get(), Wait::yes)->bytes, "late");
  sender.join();
}

TEST(Message, WaitsNoLongerThanTheSocketAllows) {
  const SocketPair pair = packets();
  const timeval limit{.tv_sec = 0, .tv_usec = 20'000};
  ASSERT_EQ(::setsockopt(pair.second.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
  EXPECT_EQ(receive_message(pair.second.get()).error().code(), Code::unavailable);
  ASSERT_EQ(::setsockopt(pair.first.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), 0);
  while (send_message(pair.first.get(), std::string(4096, 'x'), {}, Wait::no)) {
  }
  EXPECT_EQ(send_message(pair.first.get(), "more").error().code(), Code::conflict);
}

TEST(SocketPair, StreamsHaveNoBoundaries) {
  const auto pair = socket_pair(SocketKind::stream);
  ASSERT_TRUE(pair);
  ASSERT_EQ(::write(pair->first.get(), "ab", 2), 2);
  char byte = 0;
  EXPECT_EQ(::read(pair->second.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'a');
}

}  // namespace
}  // namespace atl::os
