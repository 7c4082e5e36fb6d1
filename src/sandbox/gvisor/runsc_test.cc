#include "sandbox/gvisor/runsc.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "os/file.h"
#include "sandbox/gvisor/roots.h"

namespace atl::sandbox::gvisor {
namespace {

class RunscParts : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/atoll-runsc-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string script(const std::string& name, const std::string& text) {
    EXPECT_TRUE(os::write_file(root_ + "/" + name, "#!/bin/sh\n" + text, 0755));
    return root_ + "/" + name;
  }
  std::string root_;
};

TEST_F(RunscParts, ACommandThatFailsOrDoesNotEndIsAnError) {
  const auto failed = ask_command({.program = "/bin/sh", .arguments = {"-c", "echo why >&2; exit 3"}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::provider_failed);
  EXPECT_NE(failed.error().message().find("ended with 3"), std::string::npos);
  EXPECT_EQ(failed.error().detail(), "why\n");
  const auto killed = run_command({.program = "/bin/sh", .arguments = {"-c", "kill -9 $$"}});
  ASSERT_FALSE(killed);
  EXPECT_NE(killed.error().message().find("signal 9"), std::string::npos);
  const auto late = run_command({.program = "/bin/sh",
                                 .arguments = {"-c", "sleep 100 & wait"},
                                 .patience = std::chrono::milliseconds(50)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::deadline_exceeded);
  EXPECT_FALSE(run_command({.program = "/no/such/program"}));
}

TEST_F(RunscParts, WhatARunscSaysIsWhatItCan) {
  const std::string old =
      script("old", "case $1 in --version) echo 'runsc version 1' ;; flags) echo ptrace >&2 ;; esac\n");
  const auto found = find_runsc(old);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->version, "1");
  EXPECT_EQ(found->platform, "ptrace");
  EXPECT_FALSE(found->leaves_running);
  const std::string current =
      script("new", "case $1 in --version) echo 'runsc version 2' ;; flags) echo systrap ;; esac\n");
  ASSERT_TRUE(find_runsc(current));
  EXPECT_TRUE(find_runsc(current)->leaves_running);
  const auto broken = find_runsc(script("broken", "exit 1\n"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code(), Code::unsupported);
  EXPECT_FALSE(find_runsc("no-program-in-path-is-called-so"));
}

TEST_F(RunscParts, RootsLeadNowhereElse) {
  std::filesystem::create_directories(root_ + "/allowed/inner");
  std::filesystem::create_directories(root_ + "/allowedtoo");
  std::filesystem::create_directory_symlink("/etc", root_ + "/allowed/link");
  const Roots roots = Roots::open({root_ + "/allowed/", root_ + "/missing"});
  EXPECT_TRUE(roots.directory(root_ + "/allowed"));
  EXPECT_TRUE(roots.directory(root_ + "/allowed/inner"));
  for (const std::string& path :
       {root_ + "/allowedtoo", root_ + "/missing", std::string("/etc"), std::string()})
    EXPECT_EQ(roots.directory(path).error().code(), Code::permission_denied) << path;
  for (const char* path : {"/allowed/link", "/allowed/../allowedtoo", "/allowed/none"})
    EXPECT_FALSE(roots.directory(root_ + path)) << path;
  EXPECT_TRUE(roots.place(root_ + "/allowed/new"));
  for (const char* path : {"/allowed/", "/allowed/.", "/allowed/.."})
    EXPECT_FALSE(roots.place(root_ + path)) << path;
  EXPECT_FALSE(roots.place("new"));
}

}  // namespace
}  // namespace atl::sandbox::gvisor
