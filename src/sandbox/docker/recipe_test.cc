#include "sandbox/docker/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/ids.h"

namespace atl::sandbox::docker {
namespace {

class RecipesTest : public testing::Test {
 protected:
  RecipesTest() { std::filesystem::create_directories(root_); }
  ~RecipesTest() override { std::filesystem::remove_all(root_); }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name) << text;
  }
  Code refused() const {
    const auto read = Recipes::read(root_);
    return read ? Code::internal : read.error().code();
  }
  const std::string root_ = "/tmp/atoll-recipes-" + random_word(8);
};

TEST_F(RecipesTest, FilesThatCannotBeUsedAreRefused) {
  put("Dockerfile.Big Name", "FROM scratch\n");
  EXPECT_EQ(refused(), Code::invalid_argument);
  std::filesystem::remove(root_ + "/Dockerfile.Big Name");
  put("Dockerfile.empty", "RUN true\n");
  EXPECT_EQ(refused(), Code::invalid_argument);
  put("Dockerfile.empty", "ARG base=x\nFROM $base\n");
  EXPECT_EQ(refused(), Code::invalid_argument);
  put("Dockerfile.empty", "FROM scratch AS one\n");
  ASSERT_TRUE(Recipes::read(root_));
  std::filesystem::create_symlink("/etc/passwd", root_ + "/passwd");
  EXPECT_EQ(refused(), Code::invalid_argument);
  std::filesystem::remove(root_ + "/passwd");
  put(std::string(120, 'x'), "");
  EXPECT_EQ(refused(), Code::invalid_argument);
  std::filesystem::remove(root_ + "/" + std::string(120, 'x'));
  put("large", std::string(33U << 20, 'x'));
  EXPECT_EQ(refused(), Code::too_large);
}

TEST_F(RecipesTest, ThoseOfTheProgramAreThere) {
  for (const std::string& directory : {std::string(), root_ + "/none"}) {
    const auto recipes = Recipes::read(directory);
    ASSERT_TRUE(recipes);
    EXPECT_EQ(recipes->names(), (std::vector<std::string>{"javascript", "python", "shell"}));
    EXPECT_EQ(*recipes->bases_of("python"), std::vector<std::string>{"python:3.13-slim"});
    EXPECT_NE(recipes->context().find("pandas=="), std::string::npos);
    EXPECT_EQ(recipes->context().size() % 512, 0U);
  }
}

TEST_F(RecipesTest, AnUnknownOneIsAnsweredWithThoseThatThereAre) {
  const auto recipes = Recipes::read("");
  const auto none = recipes->find("atoll/cobol");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::not_found);
  EXPECT_EQ(none.error().field(), "image");
  EXPECT_NE(none.error().message().find("javascript, python, shell"), std::string::npos);
  EXPECT_EQ(*recipes->find("atoll/python:latest"), "python");
  EXPECT_FALSE(Recipes::names_one("python:3.13"));
}

TEST_F(RecipesTest, TheOperatorsOwnGoOverThoseOfTheProgram) {
  put("Dockerfile.python", "from --platform=linux/amd64 own:1 AS build\nFROM build\nFROM other:2\n");
  put("Dockerfile.mine", "FROM scratch\n");
  const auto recipes = Recipes::read(root_);
  ASSERT_TRUE(recipes) << recipes.error().message();
  EXPECT_EQ(*recipes->bases_of("python"), (std::vector<std::string>{"own:1", "other:2"}));
  EXPECT_TRUE(recipes->bases_of("mine")->empty());
  const std::string before = recipes->tag_of("mine"), python = recipes->tag_of("python");
  EXPECT_TRUE(before.starts_with("atoll/mine:")) << before;
  put("Dockerfile.python", "FROM own:2\n");
  EXPECT_EQ(Recipes::read(root_)->tag_of("mine"), before) << "another recipe is another image";
  EXPECT_NE(Recipes::read(root_)->tag_of("python"), python);
  put("requirements.txt", "six\n");
  EXPECT_NE(Recipes::read(root_)->tag_of("mine"), before);
}

}  // namespace
}  // namespace atl::sandbox::docker
