#include "sandbox/docker/handover.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <filesystem>

#include "os/message.h"
#include "sandbox/docker/spec_note.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::docker {
namespace {

using namespace std::chrono_literals;

class HandoverTest : public testing::Test, protected TestLoop {
 protected:
  void SetUp() override {
    std::string name = "/tmp/atoll-hand-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::shared_ptr<Handover> listen() {
    auto made = Handover::listen(context().get_executor(), directory_ + "/hosts", "one");
    EXPECT_TRUE(made) << made.error().message();
    return made ? *made : nullptr;
  }
  // As the guest does from inside.
  os::Fd come() const {
    os::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (directory_ + "/hosts/one").c_str());
    // JUSTIFICATION: the system call takes addresses of every kind by this type
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  std::string directory_;
};

TEST_F(HandoverTest, ANameThatIsTooLongIsRefused) {
  const auto refused = Handover::listen(context().get_executor(), directory_, std::string(200, 'n'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
}

TEST_F(HandoverTest, WhoeverElseComesIsSentAway) {
  const auto handover = listen();
  ASSERT_TRUE(handover);
  const os::Fd stranger = come();
  const auto late = run(handover->accept(::getpid() + 1, 50ms));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::deadline_exceeded);
  char byte = 0;
  EXPECT_EQ(::recv(stranger.get(), &byte, 1, 0), 0) << "its connection is over";
  EXPECT_EQ(handover->open().error().code(), Code::provider_failed) << "there is no guest";
}

TEST_F(HandoverTest, TheGuestIsHandedStreamsUntilItEnds) {
  const auto handover = listen();
  ASSERT_TRUE(handover);
  os::Fd guest = come();
  ASSERT_TRUE(run(handover->accept(::getpid(), 1s)));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/hosts/one")) << "nobody else can come";
  std::string why;
  handover->start([&](std::string reason) { why = std::move(reason); });
  for (int round = 0; round < 2; ++round) {
    const auto outside = handover->open();
    ASSERT_TRUE(outside);
    auto message = os::receive_message(guest.get());
    ASSERT_TRUE(message);
    ASSERT_EQ(message->fds.size(), 1U);
    EXPECT_EQ(::send(message->fds[0].get(), "hi", 2, 0), 2);
    char got[3]{};
    EXPECT_EQ(::recv(outside->get(), got, 2, 0), 2);
  }
  // A word that nobody asked for is no end.
  EXPECT_EQ(::send(guest.get(), "x", 1, 0), 1);
  context().restart();
  context().run_for(20ms);
  EXPECT_EQ(why, "");
  guest.reset();
  context().run_for(200ms);
  EXPECT_EQ(why, "its guest ended");
  EXPECT_EQ(handover->open().error().code(), Code::provider_failed);
}

TEST(SpecNoteTest, WhatIsMissingOrDamagedHasItsDefault) {
  namespace bj = boost::json;
  const Spec usual;
  for (const bj::value& damaged :
       {bj::value(), bj::value(bj::array{1}), bj::value(bj::object{{"limits", "x"}, {"env", 5}})}) {
    const Spec spec = spec_of(damaged);
    EXPECT_EQ(spec.hostname, usual.hostname);
    EXPECT_EQ(spec.limits, usual.limits);
    EXPECT_TRUE(spec.env.empty());
  }
  Spec spec;
  spec.id = "one", spec.image = "i", spec.session_id = "s", spec.network = Network::egress;
  spec.limits.memory_bytes = 64U << 20, spec.env = {{"A", "b"}};
  const Spec back = spec_of(to_json(spec));
  EXPECT_EQ(back.limits, spec.limits);
  EXPECT_EQ(back.env, spec.env);
  EXPECT_EQ(back.network, Network::egress);
  EXPECT_EQ(to_json(back), to_json(spec));
}

}  // namespace
}  // namespace atl::sandbox::docker
