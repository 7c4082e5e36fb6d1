#include "atoll/core.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace atl {
namespace {

struct PoliciesTest : testing::Test {
  PoliciesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll-core-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~PoliciesTest() override { std::filesystem::remove_all(directory); }
  std::string file(const std::string& name, const std::string& text) {
    std::string path = directory + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::string directory;
};

TEST_F(PoliciesTest, WhatIsNotThereIsNamed) {
  auto none = shipped_policy("nothing");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::not_found);
  EXPECT_NE(none.error().message().find("strict"), std::string::npos);
  EXPECT_FALSE(load_policy(directory + "/missing.yaml"));
}

TEST_F(PoliciesTest, AMistakeHasItsPlace) {
  auto wrong = load_policy(file("mine.yaml", "extends: strict\nnonsense: 1\n"));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("mine.yaml:2"), std::string::npos) << wrong.error().message();
}

TEST_F(PoliciesTest, EveryShippedOneCompiles) {
  EXPECT_FALSE(shipped_policies().empty());
  for (const std::string& name : shipped_policies()) EXPECT_TRUE(shipped_policy(name)) << name;
}

TEST_F(PoliciesTest, AFileExtendsAShippedOne) {
  auto mine = load_policy(file("mine.yaml", "extends: strict\n"));
  ASSERT_TRUE(mine) << mine.error().message();
  EXPECT_EQ((*mine)->name(), "mine");
  EXPECT_FALSE(SecurityManager(*mine).validate_python("import os; os.system('rm -rf /')").allowed);
}

TEST_F(PoliciesTest, ShellAndFilesTogether) {
  VirtualFileSystem files(base_snapshot());
  SandboxShell shell(files);
  EXPECT_EQ(shell.execute("echo hello > f; cat f").out, "hello\n");
  auto copy = files.fork();
  auto forked = shell.fork(*copy);
  EXPECT_EQ(forked->execute("cat f; rm f").out, "hello\n");
  EXPECT_EQ(shell.execute("cat f").status, 0);
}

}  // namespace
}  // namespace atl
