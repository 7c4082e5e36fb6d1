#include "session/session_skills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace atl::session {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SessionSkillsTest : public testing::Test {
 protected:
  SessionSkillsTest() {
    std::string pattern = (fs::temp_directory_path() / "atoll-session-skills-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(root_ + "/skills/my-kit");
    std::ofstream(root_ + "/skills/my-kit/SKILL.md") << "---\nname: my-kit\ndescription: x\n---\n";
    library_ =
        *skill::Library::open({.data = root_ + "/data", .directories = {root_ + "/skills"}, .bounds = {}});
  }
  ~SessionSkillsTest() override { fs::remove_all(root_); }
  std::string root_;
  std::unique_ptr<skill::Library> library_;
};

TEST_F(SessionSkillsTest, WithoutALibraryOnlyNothingCanBeAskedFor) {
  const SessionSkills none(nullptr);
  EXPECT_FALSE(none.are_there());
  EXPECT_TRUE(none.choose("acme", "", {})->empty());
  EXPECT_EQ(none.choose("acme", "", {"my-kit"}).error().field(), "skills");
  EXPECT_TRUE(none.mounts(Session{}, "/home/user")->empty());
}

TEST_F(SessionSkillsTest, EachIsMountedAtBothPlaces) {
  const SessionSkills skills(library_.get());
  Session facts;
  facts.tenant = "acme";
  facts.skills = *skills.choose("acme", "", {"my-kit"});
  ASSERT_EQ(facts.skills.size(), 1U);
  EXPECT_FALSE(facts.skills.front().pinned);
  const auto mounts = *skills.mounts(facts, "/home/user");
  ASSERT_EQ(mounts.size(), 4U);
  EXPECT_EQ(mounts[0].guest_path, "/home/user/skills") << "the place comes before what is in it";
  EXPECT_EQ(mounts[1].guest_path, "/home/user/skills/my-kit");
  EXPECT_EQ(mounts[1].host_path, root_ + "/skills/my-kit");
  EXPECT_EQ(mounts[3].guest_path, "/home/user/.agents/skills/my-kit");
  for (const auto& mount : mounts) EXPECT_FALSE(mount.writable);
  // A skill that is gone is left out; what was pinned stays.
  facts.skills = *skills.choose("acme", "", {"my-kit@" + facts.skills.front().digest});
  fs::remove_all(root_ + "/skills/my-kit/SKILL.md");
  EXPECT_EQ(skills.mounts(facts, "/home/user")->size(), 4U);
  facts.skills.front().name = "none";
  EXPECT_TRUE(skills.mounts(facts, "/home/user")->empty());
}

TEST_F(SessionSkillsTest, VariablesLeadToThem) {
  TextMap env{{"NODE_PATH", "/usr/share/nodejs"}, {"SKILLS_DIR", "/mine"}};
  SessionSkills::add_variables("/home/user", env);
  EXPECT_EQ(env["NODE_PATH"], "/usr/share/nodejs:/home/user");
  EXPECT_EQ(env["SKILLS_DIR"], "/mine") << "what a request says comes first";
  SessionSkills::add_variables("/home/user", env);
  EXPECT_EQ(env["NODE_PATH"], "/usr/share/nodejs:/home/user");
}

}  // namespace
}  // namespace atl::session
