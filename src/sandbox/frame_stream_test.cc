#include "sandbox/frame_stream.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <random>

#include "sandbox/guest_harness.h"

namespace atl::sandbox {
namespace {

using guest::Header;
using guest::Type;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::string frame(std::uint32_t channel, Type type, std::string_view payload, std::uint16_t flags = 0) {
  const Header header{static_cast<std::uint32_t>(payload.size()), channel, static_cast<std::uint16_t>(type),
                      flags};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + std::string(payload);
}

std::string hello(std::uint32_t version = guest::kVersion, std::uint32_t live = 0) {
  std::string body;
  FramePayload out(body);
  out.u32(guest::kMagic), out.u32(version), out.u32(live);
  return frame(0, Type::hello, body);
}

std::string started() {
  std::string body;
  FramePayload out(body);
  out.u32(7), out.i64(0), out.text("root", 4), out.text("/", 1);
  return body;
}

// The test is the guest, and no honest one.
class HostileGuestTest : public GuestTest {
 protected:
  HostileGuestTest() {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    host_ = os::Fd(pair[0]), mine_ = os::Fd(pair[1]);
  }
  void say(std::string_view bytes) {
    EXPECT_EQ(::send(mine_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  Result<std::shared_ptr<GuestConnection>> open() {
    GuestOptions options = root_options();
    options.patience = 100ms;
    return run(GuestConnection::open(std::move(host_), std::move(options)));
  }
  // Opens a link and a process on channel 1, says `words`, and tells how the process ended.
  Outcome after(const std::string& words) {
    say(hello());
    auto connection = open();
    EXPECT_TRUE(connection);
    const auto go = [](std::shared_ptr<GuestConnection> to, HostileGuestTest* self,
                       std::string bytes) -> Task<Outcome> {
      const ProcessSpec spec = command({"x"});
      const auto executor = co_await boost::asio::this_coro::executor;
      boost::asio::post(executor,
                        [self, bytes] { self->say(frame(1, Type::reply, started())), self->say(bytes); });
      CO_TRY(const auto process, co_await to->start(spec));
      co_return co_await process->wait();
    };
    const auto outcome = run(go(*connection, this, words));
    EXPECT_TRUE(outcome) << outcome.error().message();
    return outcome ? *outcome : Outcome{};
  }

  os::Fd host_, mine_;
};

TEST_F(HostileGuestTest, SilenceAtTheDoor) {
  const auto connection = open();
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code(), Code::provider_failed);
  EXPECT_EQ(connection.error().message(), "the guest did not answer in time");
}

TEST_F(HostileGuestTest, NonsenseAtTheDoor) {
  say("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(open().error().message(), "the guest broke the protocol");
}

TEST_F(HostileGuestTest, AnotherVersion) {
  say(hello(guest::kVersion + 1));
  EXPECT_EQ(open().error().code(), Code::provider_failed);
}

TEST_F(HostileGuestTest, ALieAboutWhatLives) {
  say(hello(guest::kVersion, 1'000'000));
  EXPECT_EQ(open().error().code(), Code::provider_failed);
}

TEST_F(HostileGuestTest, GoneInTheMiddleOfAFrame) {
  say(hello().substr(0, 5));
  mine_.reset();
  EXPECT_THAT(open().error().message(), HasSubstr("closed the stream"));
}

// A guest that was frozen before it answered: whoever waits is told, and nothing more is asked of it.
TEST_F(HostileGuestTest, FrozenBeforeItAnswered) {
  say(hello());
  const auto connection = open();
  ASSERT_TRUE(connection);
  const auto freeze = [&] {
    (*connection)->set_paused(true);
    (*connection)->fail_waiting();
  };
  boost::asio::post(loop_, freeze);
  EXPECT_EQ(run((*connection)->files().stat("/", "")).error().code(), Code::conflict);
  EXPECT_EQ(run((*connection)->files().stat("/", "")).error().code(), Code::conflict);
  EXPECT_EQ(run((*connection)->connect(80)).error().code(), Code::conflict);
  EXPECT_EQ(run((*connection)->start(command({"x"}))).error().code(), Code::conflict);

  for (const auto& wait : std::vector<std::function<Code()>>{
           [&] { return run((*connection)->start(command({"x"}))).error().code(); },
           [&] { return run((*connection)->connect(80)).error().code(); },
           [&] { return run((*connection)->files().open_read("/x", 0, std::nullopt, "")).error().code(); },
           [&] { return run((*connection)->files().open_write("/x", {})).error().code(); },
           [&] { return run((*connection)->files().list("/", 1, 10, "")).error().code(); },
           [&] { return run((*connection)->files().watch("/", Recursive::no, "")).error().code(); }}) {
    (*connection)->set_paused(false);
    boost::asio::post(loop_, freeze);
    EXPECT_EQ(wait(), Code::conflict);
  }
  EXPECT_TRUE((*connection)->is_open());
}

TEST_F(HostileGuestTest, BreaksRulesOnAChannel) {
  const std::string full(guest::kDataMax, 'x');
  std::string flood;
  for (int i = 0; i < 9; ++i) flood += frame(1, Type::data, full, guest::stream_flags(guest::kStreamOut));
  std::string huge = frame(1, Type::data, "");
  huge[3] = '\x7f';
  const std::uint32_t credit = 1;
  const std::string more(reinterpret_cast<const char*>(&credit), sizeof credit);
  const std::string cases[] = {
      frame(1, Type::reply, started()),                                       // twice
      frame(99, Type::data, "x"),                                             // a channel that never was
      frame(1, Type::data, "x", guest::stream_flags(guest::kStreamPty)),      // no terminal here
      frame(1, Type::data, "x", guest::stream_flags(guest::kStreamControl)),  // no interpreter here
      frame(1, Type::data, std::string(guest::kDataMax + 1, 'x'), guest::stream_flags(guest::kStreamOut)),
      flood,                         // beyond its credit
      frame(1, Type::credit, more),  // more than was ever granted
      frame(1, Type::credit, "x"),
      frame(1, Type::exited, "x"),
      frame(1, static_cast<Type>(9999), ""),
      frame(0, Type::hello, ""),
      huge,
  };
  for (const std::string& words : cases) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    int size = 1 << 20;
    ::setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    host_ = os::Fd(pair[0]), mine_ = os::Fd(pair[1]);
    const Outcome outcome = after(words);
    EXPECT_EQ(outcome.ending, Ending::lost) << "case " << (&words - cases);
    EXPECT_EQ(outcome.reason, "the guest broke the protocol") << "case " << (&words - cases);
  }
}

TEST_F(HostileGuestTest, LateWordsAreIgnored) {
  std::string exit_status;
  FramePayload out(exit_status);
  out.u32(0), out.u64(0), out.u64(0);
  const Outcome outcome = after(frame(1, Type::exited, exit_status) + frame(1, Type::data, "late"));
  EXPECT_TRUE(outcome.succeeded());
}

using GuestTest = GuestTest;

// The other side: whatever comes over the stream, the guest goes on or ends, but is never led astray.
TEST_F(GuestTest, SurvivesFramesOfChance) {
  std::minstd_rand random(4711);
  for (int round = 0; round < 20; ++round) {
    os::Fd stream = start_guest();
    std::string bytes;
    for (int i = 0; i < 200; ++i) {
      static constexpr Type kTypes[] = {Type::start,  Type::stat,    Type::list,           Type::read,
                                        Type::watch,  Type::connect, Type::ports,          Type::ping,
                                        Type::signal, Type::resize,  Type::close,          Type::data,
                                        Type::credit, Type::end,     static_cast<Type>(77)};
      std::string payload(random() % 80, 0);
      for (char& byte : payload) byte = static_cast<char>(random() % 5 == 0 ? random() % 256 : 0);
      const auto flags = static_cast<std::uint16_t>(random() % 20 == 0 ? guest::kMore : random() % 5 << 8);
      bytes += frame(random() % 12, kTypes[random() % std::size(kTypes)], payload, flags);
    }
    ::send(stream.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(stream.get(), SHUT_WR);
    char sink[65536];
    while (::recv(stream.get(), sink, sizeof sink, 0) > 0) {
    }
    stream.reset();
    int status = 0;
    ::waitpid(guest_, &status, 0);
    guest_ = -1;
    ASSERT_TRUE(WIFEXITED(status)) << "round " << round << ": signal " << WTERMSIG(status);
  }
}

TEST_F(GuestTest, EndsOnAFrameThatIsTooLarge) {
  os::Fd stream = start_guest();
  const Header header{guest::kFrameMax + 1, 1, static_cast<std::uint16_t>(Type::ping), 0};
  ::send(stream.get(), &header, sizeof header, MSG_NOSIGNAL);
  int status = 0;
  ::waitpid(guest_, &status, 0);
  guest_ = -1;
  EXPECT_TRUE(WIFEXITED(status));
}

TEST_F(GuestTest, GoesOnWithANewStream) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
  const os::Fd keeper(pair[0]);
  os::Fd theirs(pair[1]);
  auto first = run(GuestConnection::open(start_guest(theirs.get()), root_options()));
  theirs.reset();
  ASSERT_TRUE(first);
  ProcessSpec spec = shell("echo before; sleep 0.4; echo after; exit 5");
  spec.tag = "kept";
  const auto process = run((*first)->start(spec));
  ASSERT_TRUE(process);
  const std::uint32_t pid = (*process)->info().pid;
  (*first)->close(Error(Code::unavailable, "the daemon went away"));
  EXPECT_EQ(run((*process)->wait())->ending, Ending::lost);

  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  char byte = 's';
  iovec piece{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece, message.msg_iovlen = 1, message.msg_control = control,
  message.msg_controllen = sizeof control;
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET, part->cmsg_type = SCM_RIGHTS, part->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(part), &pair[1], sizeof(int));
  ASSERT_EQ(::sendmsg(keeper.get(), &message, 0), 1);
  ::close(pair[1]);
  auto second = run(GuestConnection::open(os::Fd(pair[0]), root_options()));
  ASSERT_TRUE(second) << second.error().message();
  ASSERT_EQ((*second)->processes().size(), 1U);
  const auto revived = (*second)->processes().front();
  EXPECT_EQ(revived->info().pid, pid);
  EXPECT_EQ(revived->info().tag, "kept");
  EXPECT_EQ(revived->info().argv.front(), "/bin/sh");
  const auto finished = run(collect(revived));
  EXPECT_THAT(finished->out, testing::EndsWith("after\n"));
  EXPECT_EQ(finished->outcome.exit_code, 5);
  const auto next = run((*second)->start(shell("true")));
  EXPECT_TRUE(next) << next.error().message();
}

}  // namespace
}  // namespace atl::sandbox
