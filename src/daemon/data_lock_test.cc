#include "daemon/data_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "os/directory_test.h"

namespace atl::daemon {
namespace {

TEST(DataLock, SecondHolderIsRefusedWithTheFirstOnesNumber) {
  const os::TestDirectory directory;
  auto first = DataLock::take(directory.path());
  ASSERT_TRUE(first) << first.error().message();
  const auto second = DataLock::take(directory.path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::conflict);
  EXPECT_EQ(second.error().field(), "data");
  EXPECT_NE(second.error().message().find("process " + std::to_string(::getpid())), std::string::npos)
      << second.error().message();
}

TEST(DataLock, EndsWithItsHolderHoweverThatEnds) {
  const os::TestDirectory directory;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto held = DataLock::take(directory.path());
    ::_exit(held ? 0 : 1);  // without running its destructor
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(DataLock::take(directory.path()));
}

TEST(DataLock, MissingDirectoryIsTold) {
  const auto lock = DataLock::take("/nonexistent/atoll");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code(), Code::not_found);
}

}  // namespace
}  // namespace atl::daemon
