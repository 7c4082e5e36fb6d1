// The guest's side of the protocol, fed with what no host of ours would send. The guest may end the stream,
// and with it itself; it must not crash, hang or stop answering where the rules were kept.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "guest/program.h"
#include "guest/protocol.h"
#include "os/fd.h"
#include "os/process.h"

namespace atl::sandbox {
namespace {

using Random = std::mt19937;

constexpr guest::Type kTypes[] = {
    guest::Type::hello,  guest::Type::live,   guest::Type::start,   guest::Type::stat,    guest::Type::list,
    guest::Type::read,   guest::Type::write,  guest::Type::watch,   guest::Type::connect, guest::Type::listen,
    guest::Type::ports,  guest::Type::ping,   guest::Type::signal,  guest::Type::resize,  guest::Type::close,
    guest::Type::spare,  guest::Type::data,   guest::Type::credit,  guest::Type::end,     guest::Type::reply,
    guest::Type::failed, guest::Type::exited, guest::Type::accepted};

// A guest of nobody's, so that a word which means something by chance can do no harm.
class GarbageTest : public testing::Test {
 protected:
  struct Guest {
    pid_t pid = -1;
    os::Fd stream, pidfd;
  };
  Guest start() {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    auto program = guest::program_file();
    EXPECT_TRUE(program.has_value());
    Guest made;
    made.pid = ::fork();
    if (made.pid == 0) {
      const int file = ::fcntl(program->get(), F_DUPFD_CLOEXEC, 20);
      const int stream = ::fcntl(pair[1], F_DUPFD_CLOEXEC, 20);
      ::dup2(stream, guest::kStreamFd);
      ::close(guest::kHandoverFd);
      if (::geteuid() == 0 && (::setresgid(65534, 65534, 65534) < 0 || ::setresuid(65534, 65534, 65534) < 0))
        ::_exit(98);
      const char* argv[] = {"guest", nullptr};
      const char* env[] = {nullptr};
      ::syscall(SYS_execveat, file, "", argv, env, AT_EMPTY_PATH);
      ::_exit(99);
    }
    ::close(pair[1]);
    made.stream = os::Fd(pair[0]);
    made.pidfd = std::move(*os::pidfd_open(made.pid));
    return made;
  }

  // Both directions at once: a guest that answers must not be blocked by our not reading.
  static void send(const Guest& guest, std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd poll{guest.stream.get(), POLLIN | POLLOUT, 0};
      if (::poll(&poll, 1, 20'000) <= 0) return;
      char sink[65536];
      if ((poll.revents & POLLIN) != 0 && ::recv(guest.stream.get(), sink, sizeof sink, MSG_DONTWAIT) == 0)
        return;
      if ((poll.revents & POLLOUT) == 0) continue;
      const ssize_t sent =
          ::send(guest.stream.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN) return;
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // The end of the stream is its end.
  static void expect_ends_well(Guest guest) {
    guest.stream.reset();
    pollfd poll{guest.pidfd.get(), POLLIN, 0};
    if (::poll(&poll, 1, 30'000) != 1) {
      ::kill(guest.pid, SIGKILL);
      ADD_FAILURE() << "the guest hangs";
    }
    int status = 0;
    ::waitpid(guest.pid, &status, 0);
    EXPECT_FALSE(WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) << "signal " << WTERMSIG(status);
    EXPECT_NE(WIFEXITED(status) ? WEXITSTATUS(status) : 0, 98);
    EXPECT_NE(WIFEXITED(status) ? WEXITSTATUS(status) : 0, 99);
  }

  static std::string noise(Random& random, std::size_t size) {
    std::string bytes(size, '\0');
    std::ranges::generate(bytes, [&] { return static_cast<char>(random()); });
    return bytes;
  }
  static std::string frame(guest::Type type, std::uint32_t channel, std::uint16_t flags,
                           std::string_view payload) {
    const guest::Header header{static_cast<std::uint32_t>(payload.size()), channel,
                               static_cast<std::uint16_t>(type), flags};
    return std::string(reinterpret_cast<const char*>(&header), sizeof header).append(payload);
  }
  static std::string text(std::string_view value) {
    const auto size = static_cast<std::uint32_t>(value.size());
    return std::string(reinterpret_cast<const char*>(&size), sizeof size).append(value);
  }
};

TEST_F(GarbageTest, BytesWithoutAnyMeaning) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Guest guest = start();
    send(guest, noise(random, 1 + random() % 100'000));
    expect_ends_well(std::move(guest));
  }
}

TEST_F(GarbageTest, FramesWithoutMeaning) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Guest guest = start();
    std::string all;
    for (int i = 0; i < 200; ++i) {
      const guest::Type type = kTypes[random() % std::size(kTypes)];
      const auto flags = static_cast<std::uint16_t>(random() % 3 == 0 ? random() : random() % 2);
      all += frame(type, static_cast<std::uint32_t>(random() % 8), flags, noise(random, random() % 200));
    }
    send(guest, all);
    expect_ends_well(std::move(guest));
  }
}

// Well-formed but for one changed byte, cut short, or longer than it says.
TEST_F(GarbageTest, AlmostGoodRequests) {
  const std::string path = text("nobody") + text("/proc/self/status");
  const std::string words[] = {
      frame(guest::Type::stat, 1, 0, path),
      frame(guest::Type::list, 1, 0, path + std::string(8, '\1')),
      frame(guest::Type::read, 1, 0,
            path + std::string(8, '\0') + std::string(8, '\2') + std::string(4, '\3')),
      frame(guest::Type::watch, 1, 0, path + '\1'),
      frame(guest::Type::ports, 1, 0, ""),
      frame(guest::Type::start, 1, 0,
            std::string(20, '\0') + text("nobody") + text("/") + text("") + std::string("\1\0\0\0", 4) +
                text("true") + std::string(4, '\0'))};
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::string word = words[random() % std::size(words)];
    switch (random() % 3) {
      case 0: word[random() % word.size()] = static_cast<char>(random()); break;
      case 1: word.resize(random() % word.size()); break;
      default: word += noise(random, 1 + random() % 64);
    }
    Guest guest = start();
    send(guest, word);
    expect_ends_well(std::move(guest));
  }
}

TEST_F(GarbageTest, MoreChannelsAndLongerRequestsThanAllowed) {
  Guest guest = start();
  std::string many;
  for (std::uint32_t channel = 1; channel < 2 * guest::kChannelsMax; ++channel)
    many += frame(guest::Type::watch, channel, 0, text("nobody") + text("/tmp") + '\0');
  send(guest, many);
  expect_ends_well(std::move(guest));
  guest = start();
  const std::string part(guest::kFrameMax, 'x');
  for (std::uint32_t sent = 0; sent < 2 * guest::kRequestMax; sent += guest::kFrameMax)
    send(guest, frame(guest::Type::start, 1, guest::kMore, part));
  expect_ends_well(std::move(guest));
  guest = start();
  const guest::Header huge{0xFFFF'FFFFU, 1, static_cast<std::uint16_t>(guest::Type::data), 0};
  send(guest, std::string(reinterpret_cast<const char*>(&huge), sizeof huge) + part);
  expect_ends_well(std::move(guest));
}

}  // namespace
}  // namespace atl::sandbox
