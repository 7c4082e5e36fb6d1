#include "os/descriptor_budget.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace atl::os {
namespace {

TEST(DescriptorBudget, RefusesALimitThatServesNobody) {
  for (std::uint64_t limit : {0, 3, 64, 255}) {
    auto parts = divide_descriptors(limit);
    ASSERT_FALSE(parts) << limit;
    EXPECT_EQ(parts.error().code(), Code::unsupported);
    EXPECT_NE(parts.error().message().find(std::to_string(limit)), std::string::npos);
  }
}

TEST(DescriptorBudget, PartsNeverExceedTheLimitAndNoneIsEmpty) {
  for (std::uint64_t limit = 256; limit < (1ULL << 40); limit = limit * 5 / 3) {
    auto parts = divide_descriptors(limit);
    ASSERT_TRUE(parts) << limit;
    EXPECT_LE(parts->reserve + parts->connections + parts->egress + parts->sandboxes, limit);
    for (std::uint64_t part : {parts->reserve, parts->connections, parts->egress, parts->sandboxes,
                               parts->egress_of_tenant, parts->egress_of_session})
      EXPECT_GT(part, 0U) << limit;
    EXPECT_LE(parts->egress_of_session, parts->egress_of_tenant);
    // One tenant leaves something for the others.
    EXPECT_LT(parts->egress_of_tenant, parts->egress);
    EXPECT_GE(parts->sandboxes, parts->connections);
  }
}

// In a process of its own, because a limit cannot be taken back.
TEST(DescriptorBudget, RaisesTheSoftLimitToTheHardOne) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    const rlimit low{64, files.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &low);
    const auto raised = raise_descriptor_limit();
    ::getrlimit(RLIMIT_NOFILE, &files);
    ::_exit(raised && *raised == files.rlim_max && files.rlim_cur == files.rlim_max ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace atl::os
