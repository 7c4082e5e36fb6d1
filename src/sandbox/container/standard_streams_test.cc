#include <poll.h>

#include "guest/protocol.h"
#include "os/message.h"
#include "sandbox/guest_harness.h"

// A guest on its standard streams, as engines attach to a container's first process.
namespace atl::sandbox {
namespace {

using namespace std::chrono_literals;

class StandardStreamsTest : public GuestTest {
 protected:
  // The guest reads `in` and writes `out`; both stay the caller's.
  void start_on(int in, int out) {
    auto program = guest::program_file();
    ASSERT_TRUE(program);
    guest_ = ::fork();
    if (guest_ == 0) {
      const int file = ::fcntl(program->get(), F_DUPFD_CLOEXEC, 20);
      const int from = ::fcntl(in, F_DUPFD_CLOEXEC, 20), to = ::fcntl(out, F_DUPFD_CLOEXEC, 20);
      ::dup2(from, 0), ::dup2(to, 1);
      const char* argv[] = {"guest", guest::kOnStandardStreams, nullptr};
      const char* env[] = {nullptr};
      ::syscall(SYS_execveat, file, "", argv, env, AT_EMPTY_PATH);
      ::_exit(99);
    }
  }
  static std::string frame(guest::Type type) {
    const guest::Header header{0, 0, static_cast<std::uint16_t>(type), 0};
    return {reinterpret_cast<const char*>(&header), sizeof header};
  }
  // A hello from the descriptor: how many channels live.
  static std::optional<std::uint32_t> hello(int fd) {
    char bytes[sizeof(guest::Header) + 12];
    for (std::size_t have = 0; have < sizeof bytes;) {
      pollfd one{fd, POLLIN, 0};
      if (::poll(&one, 1, 5000) != 1) return std::nullopt;
      const ssize_t got = ::read(fd, bytes + have, sizeof bytes - have);
      if (got <= 0) return std::nullopt;
      have += static_cast<std::size_t>(got);
    }
    guest::Reader in(bytes + sizeof(guest::Header), 12);
    if (in.u32() != guest::kMagic) return std::nullopt;
    EXPECT_EQ(in.u32(), guest::kVersion);
    return in.u32();
  }
};

TEST_F(StandardStreamsTest, TwoPipesAreAStream) {
  int in[2], out[2];
  ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  start_on(in[0], out[1]);
  ::close(in[0]), ::close(out[1]);
  EXPECT_EQ(hello(out[0]), 0U);
  const std::string again = frame(guest::Type::again);
  ASSERT_EQ(::write(in[1], again.data(), again.size()), static_cast<ssize_t>(again.size()));
  EXPECT_EQ(hello(out[0]), 0U);
  // The end of its input is its end.
  ::close(in[1]);
  int status = -1;
  ASSERT_EQ(::waitpid(guest_, &status, 0), guest_);
  guest_ = 0;
  EXPECT_EQ(status, 0);
  ::close(out[0]);
}

TEST_F(StandardStreamsTest, AReaderThatLeftEndsIt) {
  int in[2], out[2];
  ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  start_on(in[0], out[1]);
  ::close(in[0]), ::close(out[1]);
  EXPECT_EQ(hello(out[0]), 0U);
  ::close(out[0]);
  int status = -1;
  ASSERT_EQ(::waitpid(guest_, &status, 0), guest_);
  guest_ = 0;
  ::close(in[1]);
}

TEST_F(StandardStreamsTest, ProcessesOutliveWhoeverSpoke) {
  os::SocketPair pair = *os::socket_pair(os::SocketKind::stream);
  start_on(pair.second.get(), pair.second.get());
  pair.second.reset();
  const os::Fd kept(::fcntl(pair.first.get(), F_DUPFD_CLOEXEC, 0));
  GuestOptions options = root_options();
  auto first = run(GuestConnection::open(std::move(pair.first), options));
  ASSERT_TRUE(first) << first.error().message();
  ProcessSpec sleeper;
  sleeper.argv = {"sleep", "100"};
  sleeper.tag = "sleeper";
  ASSERT_TRUE(run((*first)->start(sleeper)));
  // The connection ends here, and the stream does not: another descriptor of it is open.
  first->reset();
  const std::string again = frame(guest::Type::again);
  ASSERT_EQ(::send(kept.get(), again.data(), again.size(), MSG_NOSIGNAL), static_cast<ssize_t>(again.size()));
  os::Fd anew(::fcntl(kept.get(), F_DUPFD_CLOEXEC, 0));
  const auto second = run(GuestConnection::open(std::move(anew), options));
  ASSERT_TRUE(second) << second.error().message();
  ASSERT_EQ((*second)->processes().size(), 1U);
  EXPECT_EQ((*second)->processes()[0]->info().tag, "sleeper");
  ProcessSpec other;
  other.argv = {"true"};
  const auto started = run((*second)->start(other));
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_TRUE(run((*started)->wait())->succeeded());
}

}  // namespace
}  // namespace atl::sandbox
