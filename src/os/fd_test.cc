#include "os/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace atl::os {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(Fd, ClosesOnce) {
  const int raw = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    Fd first(raw);
    Fd second(std::move(first));
    EXPECT_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move): the moved-from state is the contract
    EXPECT_EQ(second.get(), raw);
  }
  EXPECT_FALSE(is_open(raw));
}

TEST(Fd, ReleaseGivesUpOwnership) {
  Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int raw = fd.release();
  fd.reset();
  EXPECT_TRUE(is_open(raw));
  ::close(raw);
}

}  // namespace
}  // namespace atl::os
