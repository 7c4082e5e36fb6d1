#include "os/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <thread>

#include "os/file.h"

namespace atl::os {
namespace {

// Runs `body` in a child and gives its exit; the child does nothing else.
Exit in_child(auto body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  auto pidfd = pidfd_open(child);
  EXPECT_TRUE(pidfd);
  auto exit = pidfd_wait(pidfd->get());
  EXPECT_TRUE(exit);
  return *exit;
}

TEST(Process, ExitsAndSignalsAreToldApart) {
  EXPECT_EQ(in_child([] { return 9; }).code, 9);
  EXPECT_EQ(in_child([] { return ::raise(SIGTERM); }).signal, SIGTERM);
}

TEST(Process, KillingWhatHasEndedIsSuccess) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  const auto pidfd = pidfd_open(child);
  ASSERT_TRUE(pidfd);
  ASSERT_TRUE(pidfd_wait(pidfd->get()));
  EXPECT_TRUE(pidfd_kill(pidfd->get(), SIGKILL));
  EXPECT_FALSE(pidfd_wait(pidfd->get()));
}

TEST(Process, BadNumbersAreRefused) {
  EXPECT_FALSE(pidfd_open(-1));
  EXPECT_FALSE(pidfd_kill(-1, SIGTERM));
  EXPECT_FALSE(close_range(5, 4, UnshareTable::no));
  EXPECT_FALSE(enter_namespace(-1, CLONE_NEWUTS));
  EXPECT_EQ(own_namespace("nonsense").error().code(), Code::not_found);
}

TEST(Process, ClosesARangeOfItsOwnTable) {
  const Exit exit = in_child([] {
    const int fd = ::open("/dev/null", O_RDONLY);
    if (!close_range(3, ~0U, UnshareTable::yes)) return 1;
    return ::fcntl(fd, F_GETFD) < 0 ? 0 : 2;
  });
  EXPECT_EQ(exit.code, 0);
}

TEST(Process, NamesItsOwnNamespaces) {
  const auto first = own_namespace("user"), second = own_namespace("user");
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  struct stat a {
  }, b{};
  ASSERT_EQ(::fstat(first->get(), &a), 0);
  ASSERT_EQ(::fstat(second->get(), &b), 0);
  EXPECT_EQ(a.st_ino, b.st_ino);
}

TEST(Process, EntersANamespaceAndComesBack) {
  const auto home = own_namespace("uts");
  ASSERT_TRUE(home);
  const auto entered = enter_namespace(home->get(), CLONE_NEWUTS);
  if (!entered && entered.error().code() == Code::permission_denied) GTEST_SKIP() << "needs CAP_SYS_ADMIN";
  EXPECT_TRUE(entered);
  EXPECT_FALSE(enter_namespace(home->get(), CLONE_NEWNET));  // of another kind
}

}  // namespace
}  // namespace atl::os
