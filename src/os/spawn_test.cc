#include "os/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "os/directory_test.h"
#include "os/file.h"
#include "os/pipe.h"
#include "os/timer.h"

namespace atl::os {
namespace {

std::string read_to_end(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return text;  // a terminal whose other side is gone says EIO
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

// Output and exit of a shell script.
std::pair<std::string, Exit> run(std::string script, SpawnOptions options = {}) {
  auto out = pipe();
  EXPECT_TRUE(out);
  options.program = "/bin/sh";
  options.arguments = {"-c", std::move(script)};
  options.output = out->write.get();
  const auto child = spawn(options);
  EXPECT_TRUE(child);
  out->write.reset();
  std::string text = read_to_end(out->read.get());
  const auto exit = pidfd_wait(child->pidfd.get());
  EXPECT_TRUE(exit);
  return {std::move(text), *exit};
}

TEST(Spawn, AMissingProgramIsAnError) {
  const auto child = spawn({.program = "/nonexistent/program"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code(), Code::not_found);
}

TEST(Spawn, AMissingDirectoryIsAnError) {
  EXPECT_FALSE(spawn({.program = "/bin/true", .directory = "/nonexistent"}));
}

TEST(Spawn, TellsHowTheProgramEnded) {
  EXPECT_EQ(run("exit 7").second.code, 7);
  EXPECT_EQ(run("kill -KILL $$").second.signal, SIGKILL);
}

TEST(Spawn, GivesExactlyTheEnvironmentAsked) {
  ASSERT_EQ(::setenv("ATOLL_OS_TEST", "inherited", 1), 0);
  EXPECT_EQ(run("echo \"${ATOLL_OS_TEST-none} $A\"", {.environment = {"A=1 2"}}).first, "none 1 2\n");
}

TEST(Spawn, EntersTheDirectory) {
  const TestDirectory directory;
  EXPECT_EQ(run("pwd -P", {.directory = directory.path()}).first,
            std::filesystem::canonical(directory.path()).string() + "\n");
}

TEST(Spawn, InheritsNoOtherDescriptor) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // deliberately without O_CLOEXEC
  ASSERT_GE(leaked, 3);
  EXPECT_EQ(run("[ -e /proc/self/fd/" + std::to_string(leaked) + " ] && echo leaked || echo closed").first,
            "closed\n");
  ::close(leaked);
}

TEST(Spawn, InputIsEmptyUnlessGiven) {
  EXPECT_EQ(run("cat").first, "");
  auto in = pipe();
  ASSERT_TRUE(in);
  ASSERT_EQ(::write(in->write.get(), "text", 4), 4);
  in->write.reset();
  EXPECT_EQ(run("cat", {.input = in->read.get()}).first, "text");
}

TEST(Spawn, SignalsHaveTheirDefaults) {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  sigset_t blocked, old;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &old);
  EXPECT_EQ(run("kill -HUP $$; echo survived").second.signal, SIGHUP);
  EXPECT_EQ(run("kill -TERM $$; echo survived").second.signal, SIGTERM);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  ::signal(SIGHUP, before);
}

TEST(Spawn, LeadsAGroupOfItsOwn) {
  const auto child = spawn({.program = "/bin/sh", .arguments = {"-c", "sleep 100 & wait"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(::getpgid(child->pid), child->pid);
  EXPECT_EQ(::kill(-child->pid, SIGKILL), 0);
  EXPECT_EQ(pidfd_wait(child->pidfd.get())->signal, SIGKILL);
}

TEST(Spawn, StandardDescriptorsMayBeExchanged) {
  const auto out = pipe();
  ASSERT_TRUE(out);
  const Fd saved(::fcntl(1, F_DUPFD_CLOEXEC, 3));
  ASSERT_EQ(::dup2(out->write.get(), 1), 1);
  const auto child =
      spawn({.program = "/bin/sh", .arguments = {"-c", "echo swapped >&2"}, .output = 2, .error = 1});
  ::dup2(saved.get(), 1);
  ASSERT_TRUE(child);
  EXPECT_EQ(pidfd_wait(child->pidfd.get())->code, 0);
  char text[32] = {};
  EXPECT_EQ(::read(out->read.get(), text, sizeof text), 8);
  EXPECT_STREQ(text, "swapped\n");
}

TEST(Terminal, IsTheControllingTerminalOfTheChild) {
  const auto terminal = open_terminal({.columns = 100, .rows = 30});
  ASSERT_TRUE(terminal);
  const auto child = spawn({.program = "/bin/sh",
                            .arguments = {"-c", "stty size; echo controlled > /dev/tty"},
                            .environment = {"PATH=/usr/bin:/bin"},
                            .terminal = terminal->path});
  ASSERT_TRUE(child);
  const std::string text = read_to_end(terminal->master.get());
  EXPECT_EQ(pidfd_wait(child->pidfd.get())->code, 0);
  EXPECT_NE(text.find("30 100"), std::string::npos) << text;
  EXPECT_NE(text.find("controlled"), std::string::npos) << text;
}

TEST(Terminal, ResizeNeedsATerminal) {
  const auto channel = pipe();
  ASSERT_TRUE(channel);
  EXPECT_FALSE(resize_terminal(channel->read.get(), {}));
}

class Waiting : public testing::Test {
 protected:
  template <class T>
  T finish(Task<T> task) {
    auto future = boost::asio::co_spawn(loop_, std::move(task), boost::asio::use_future);
    loop_.run();
    auto result = future.get();
    EXPECT_TRUE(result);
    return *result;
  }
  boost::asio::io_context loop_;
};

TEST_F(Waiting, OnTheLoopReapsTheChild) {
  const auto child = spawn({.program = "/bin/sh", .arguments = {"-c", "exit 3"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(finish(wait(loop_.get_executor(), *child)).code, 3);
  EXPECT_FALSE(pidfd_wait(child->pidfd.get()));  // nothing left to reap
}

TEST_F(Waiting, ACanceledWaitLeavesTheChildAlone) {
  const auto child = spawn({.program = "/bin/sleep", .arguments = {"100"}});
  ASSERT_TRUE(child);
  boost::asio::cancellation_signal stop;
  std::optional<Result<Exit>> result;
  boost::asio::co_spawn(
      loop_, wait(loop_.get_executor(), *child),
      boost::asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr error, Result<Exit> exit) {
        if (!error) result = std::move(exit);
      }));
  loop_.poll();
  stop.emit(boost::asio::cancellation_type::terminal);
  loop_.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error().code(), Code::canceled);
  EXPECT_EQ(::kill(child->pid, 0), 0);
  EXPECT_TRUE(pidfd_kill(child->pidfd.get(), SIGKILL));
  EXPECT_EQ(pidfd_wait(child->pidfd.get())->signal, SIGKILL);
}

TEST_F(Waiting, TimePasses) {
  const auto start = std::chrono::steady_clock::now();
  auto future = boost::asio::co_spawn(loop_, sleep_for(loop_.get_executor(), std::chrono::milliseconds(5)),
                                      boost::asio::use_future);
  loop_.run();
  EXPECT_TRUE(future.get());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace atl::os
