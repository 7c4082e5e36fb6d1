#include "os/privileges.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "os/directory_test.h"
#include "os/file.h"

namespace atl::os {
namespace {

constexpr Account kNobody{"65534", 65534, 65534};

// What `body` answers in a process of its own: what is given up there stays given up.
int in_forked(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

uid_t owner_of(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_uid : static_cast<uid_t>(-1);
}

bool has_capability(int capability) {
  const std::string status = read_file("/proc/self/status").value_or("");
  const auto at = status.find("CapEff:\t");
  const auto held = at == std::string::npos ? 0 : std::stoull(status.substr(at + 8, 16), nullptr, 16);
  return ((held >> capability) & 1) != 0;
}

TEST(FindAccount, NobodyAndRootAreNoUsersToBecome) {
  const auto missing = find_account("no-such-user-here");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_EQ(missing.error().field(), "run_as");
  EXPECT_NE(missing.error().message().find("useradd"), std::string::npos);
  EXPECT_FALSE(find_account(""));
  for (const char* root : {"root", "0"}) {
    const auto refused = find_account(root);
    ASSERT_FALSE(refused) << root;
    EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  }
}

TEST(FindAccount, ByNameByNumberAndByANumberThatHasNoName) {
  const auto named = find_account("nobody");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->name, "nobody");
  EXPECT_EQ(find_account(std::to_string(named->uid))->name, "nobody");
  const auto bare = find_account("54321");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->uid, 54321U);
  EXPECT_EQ(bare->gid, 54321U);
}

TEST(GiveDirectory, WhatIsNoDirectoryIsRefused) {
  const TestDirectory directory;
  std::ofstream(directory.path() + "/file") << "x";
  ASSERT_EQ(::symlink(directory.path().c_str(), (directory.path() + "/link").c_str()), 0);
  EXPECT_FALSE(give_directory(directory.path() + "/missing", kNobody, {}));
  EXPECT_FALSE(give_directory(directory.path() + "/file", kNobody, {}));
  EXPECT_FALSE(give_directory(directory.path() + "/link", kNobody, {}));
}

// Links are given themselves and never followed; what is of somebody else already stays theirs.
TEST(GiveDirectory, GivesWhatIsRootsAndFollowsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const TestDirectory directory, outside;
  const std::string top = directory.path();
  ASSERT_TRUE(make_directories(top + "/a/b", 0755));
  ASSERT_TRUE(make_directories(top + "/apart/inner", 0755));
  std::ofstream(top + "/a/b/file") << "x";
  std::ofstream(outside.path() + "/kept") << "x";
  ASSERT_EQ(::symlink((outside.path() + "/kept").c_str(), (top + "/a/link").c_str()), 0);
  ASSERT_EQ(::chown((top + "/a/b").c_str(), 1234, 1234), 0);
  ASSERT_TRUE(give_directory(top, kNobody, {"apart"}));
  EXPECT_EQ(owner_of(top), 65534U);
  EXPECT_EQ(owner_of(top + "/a"), 65534U);
  EXPECT_EQ(owner_of(top + "/a/b"), 1234U);
  EXPECT_EQ(owner_of(top + "/a/b/file"), 65534U);
  EXPECT_EQ(owner_of(top + "/a/link"), 65534U);
  EXPECT_EQ(owner_of(outside.path() + "/kept"), 0U);
  EXPECT_EQ(owner_of(top + "/apart"), 65534U);
  EXPECT_EQ(owner_of(top + "/apart/inner"), 0U) << "what is kept apart is given without what it holds";
}

TEST(Become, IsTheUserForGoodWithLowPortsAndNothingElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(in_forked([] {
              if (!become(kNobody)) return 1;
              if (::getuid() != 65534 || ::geteuid() != 65534 || ::getgid() != 65534) return 2;
              if (::setresuid(0, 0, 0) == 0) return 3;
              if (!has_capability(CAP_NET_BIND_SERVICE)) return 4;
              if (has_capability(CAP_SYS_ADMIN) || has_capability(CAP_DAC_OVERRIDE)) return 5;
              if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 6;
              return ::prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) == 0 ? 0 : 7;
            }),
            0);
  // Who is nobody already becomes nobody else.
  EXPECT_EQ(in_forked([] {
              if (::setresuid(65534, 65534, 65534) != 0) return 1;
              return become({"1234", 1234, 1234}) ? 2 : 0;
            }),
            0);
}

TEST(KeepFileCapabilities, FilesYesTheMachineNo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(in_forked([] {
              if (!keep_file_capabilities()) return 1;
              if (has_capability(CAP_SYS_ADMIN) || has_capability(CAP_SYS_PTRACE)) return 2;
              if (!has_capability(CAP_DAC_OVERRIDE) || !has_capability(CAP_CHOWN)) return 3;
              return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 4;
            }),
            0);
  // Who has nothing keeps nothing, and that is no error.
  EXPECT_EQ(in_forked([] {
              if (::setresuid(65534, 65534, 65534) != 0) return 1;
              if (!keep_file_capabilities()) return 2;
              return has_capability(CAP_CHOWN) ? 3 : 0;
            }),
            0);
}

}  // namespace
}  // namespace atl::os
