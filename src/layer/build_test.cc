#include "layer/build.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "layer/debian.h"
#include "layer/layer_harness.h"
#include "layer/tar_bytes.h"

namespace atl::layer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Writes the step's text into a file instead of running it.
class Scribe final : public StepRunner {
 public:
  Result<void> run(const Step& step, const std::vector<std::string>& layers, Draft& draft) override {
    ++runs;
    below = layers;
    if (during) during();
    if (step.run == "fail") return fail(Code::invalid_argument, "the script ended with 1");
    return os::write_file_at(draft.tree(), "step", step.run);
  }
  int runs = 0;
  std::vector<std::string> below;
  std::function<void()> during;
};

class BuildTest : public LayerTest {
 protected:
  BuildTest() {
    Claim claim = *store_->claim();
    bottom_ = layer_of({{"etc/passwd", "root"}}, claim).digest;
    EXPECT_TRUE(store_->save({.name = "bottom", .layers = {bottom_}, .env = {{"A", "1"}}}));
    recipe_ = {.name = "made", .from = "bottom", .steps = {{"one"}, {"two"}}, .env = {{"B", "2"}}};
    options_.progress = [this](const std::string& line) { said_ += line + "\n"; };
    std::filesystem::create_directories(directory_ + "/apt/sources.list.d");
    options_.apt_directory = directory_ + "/apt";
  }
  Result<BuildResult> make() { return build(*store_, recipe_, scribe_, interrupt_, options_); }
  // A program that stands for mmdebstrap.
  void program(const std::string& script) {
    options_.debian_program = write("mmdebstrap", "#!/bin/sh\n" + script);
    ::chmod(options_.debian_program.c_str(), 0755);
    write("apt/sources.list.d/debian.sources",
          "Types: deb\nURIs: file:/none\nSuites: stable stable-updates\n");
    recipe_ = {.name = "made", .suite = "stable", .packages = {"bash", "git"}};
  }

  std::string bottom_, said_;
  Recipe recipe_;
  Scribe scribe_;
  Interrupt interrupt_;
  BuildOptions options_;
};

TEST_F(BuildTest, AFailingStepLeavesNothing) {
  recipe_.steps = {{"one"}, {"fail"}};
  auto made = make();
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message(), HasSubstr("step 2: the script ended with 1"));
  EXPECT_FALSE(store_->stack("made"));
  EXPECT_EQ(incoming(), 0U);
  // The step that worked is taken up again.
  recipe_.steps[1].run = "two";
  EXPECT_EQ(make()->reused, 1U);
}

TEST_F(BuildTest, WhatItStandsOnMustBeThere) {
  recipe_.from = "none";
  EXPECT_EQ(make().error().code(), Code::not_found);
  EXPECT_EQ(scribe_.runs, 0);
}

TEST_F(BuildTest, AnInterruptedBuildLeavesNothing) {
  scribe_.during = [this] { interrupt_.raise(); };
  auto made = make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::canceled);
  EXPECT_EQ(scribe_.runs, 1);
  EXPECT_EQ(incoming(), 0U);
  EXPECT_FALSE(store_->stack("made"));
}

TEST_F(BuildTest, AnInterruptActsAtOnceWhenItCameBefore) {
  int acted = 0;
  interrupt_.on_raise([&] { ++acted; });
  interrupt_.raise();
  interrupt_.on_raise([&] { ++acted; });
  EXPECT_EQ(acted, 2);
  EXPECT_TRUE(interrupt_.raised());
}

TEST_F(BuildTest, EveryStepIsALayer) {
  const BuildResult made = *make();
  ASSERT_THAT(made.stack.layers, SizeIs(3));
  EXPECT_EQ(made.stack.layers[0], bottom_);
  EXPECT_EQ(made.made, 2U);
  EXPECT_THAT(scribe_.below, ElementsAre(store_->path(bottom_), store_->path(made.stack.layers[1])));
  EXPECT_EQ(read(made.stack.layers[2], "step"), "two");
  const Stack saved = *store_->stack("made");
  EXPECT_EQ(saved.source, "build");
  EXPECT_EQ(saved.env, (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}));
  EXPECT_THAT(said_, HasSubstr("step 2 of 2: two"));
}

// Whoever trusts a recipe trusts what was made by it and nothing else.
TEST_F(BuildTest, AStackNamesTheRecipeThatMadeAllOfIt) {
  EXPECT_EQ(make()->stack.recipe, "") << "its bottom was not built";
  Stack bottom = *store_->stack("bottom");
  bottom.recipe = std::string(64, 'a');
  ASSERT_TRUE(store_->save(bottom));
  const std::string name = make()->stack.recipe;
  EXPECT_EQ(name, name_of(recipe_, bottom.recipe));
  EXPECT_TRUE(is_digest(name));
  EXPECT_EQ(store_->stack("made")->recipe, name);
  EXPECT_NE(name_of(recipe_, std::string(64, 'b')), name);
  const auto differs = [&](auto change) {
    Recipe other = recipe_;
    change(other);
    return name_of(other, bottom.recipe) != name;
  };
  EXPECT_TRUE(differs([](Recipe& other) { other.steps[0].run += " "; }));
  EXPECT_TRUE(differs([](Recipe& other) { other.steps[0].network = true; }));
  EXPECT_TRUE(differs([](Recipe& other) { other.steps.pop_back(); }));
  EXPECT_TRUE(differs([](Recipe& other) { other.packages = {"a"}; }));
  EXPECT_TRUE(differs([](Recipe& other) { other.suite = "sid"; }));
  EXPECT_FALSE(differs([](Recipe& other) { other.name = "another", other.env = {{"X", "1"}}; }));
}

TEST_F(BuildTest, TakesTheLayersOfEarlierBuilds) {
  const BuildResult first = *make();
  const BuildResult second = *make();
  EXPECT_EQ(second.reused, 2U);
  EXPECT_EQ(scribe_.runs, 2);
  EXPECT_EQ(first.stack.layers, second.stack.layers);
  options_.fresh = true;
  EXPECT_EQ(make()->stack.layers, first.stack.layers) << "the same digests, though made anew";
  EXPECT_EQ(scribe_.runs, 4);
  options_.fresh = false;
  recipe_.steps[1].run = "other";
  EXPECT_EQ(make()->reused, 1U);
  // What may be reached is part of what went into a layer.
  recipe_.steps[1] = {.run = "other", .network = true, .allow = {"a.com"}};
  EXPECT_EQ(make()->reused, 1U);
  EXPECT_EQ(make()->reused, 2U);
  recipe_.steps[1].allow = {"b.com"};
  EXPECT_EQ(make()->reused, 1U);
  recipe_.steps[1].deny = {"a.b.com"};
  EXPECT_EQ(make()->reused, 1U);
  recipe_.steps[0].run = "other";
  EXPECT_EQ(make()->reused, 0U) << "a step stands on those before it";
  recipe_.steps[0].network = true;
  EXPECT_EQ(make()->reused, 1U) << "made anew with the same content, so the next step stands on the same";
}

TEST_F(BuildTest, ACollectedLayerIsMadeAgain) {
  const BuildResult first = *make();
  ASSERT_TRUE(store_->remove("made"));
  ASSERT_TRUE(store_->collect());
  EXPECT_EQ(make()->made, 2U);
}

TEST_F(BuildTest, TidyTakesOutWhatNobodyNeeds) {
  auto draft = *store_->draft();
  for (const char* name :
       {"tmp/x", "var/log/apt/term.log", "var/cache/apt/pkgcache.bin", "etc/machine-id", "etc/kept"}) {
    const std::string path = draft.tree_path() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(os::write_file(path, "x"));
  }
  ASSERT_TRUE(make_whiteout(draft.tree(), "tmp/deleted"));
  ASSERT_EQ(::symlinkat("/etc", draft.tree(), "run"), 0) << "never followed";
  ASSERT_TRUE(tidy(draft.tree(), store_->attributes(), 1000));
  const std::string tree = draft.tree_path();
  for (const char* name :
       {"/tmp/x", "/var/log/apt/term.log", "/var/cache/apt/pkgcache.bin", "/etc/machine-id"})
    EXPECT_FALSE(os::exists(tree + name)) << name;
  EXPECT_TRUE(os::exists(tree + "/var/log/apt"));
  struct stat info {};
  ASSERT_EQ(::lstat((tree + "/tmp/deleted").c_str(), &info), 0);
  ASSERT_EQ(::stat((tree + "/etc/kept").c_str(), &info), 0);
  EXPECT_EQ(info.st_mtime, 1000);
  ASSERT_EQ(::stat((tree + "/etc").c_str(), &info), 0);
  EXPECT_EQ(info.st_mtime, 1000);
}

TEST_F(BuildTest, FindsTheMachinesSources) {
  EXPECT_EQ(sources_for(options_.apt_directory, "stable").error().code(), Code::not_found);
  const std::string list =
      write("apt/sources.list", "# deb x stable main\ndeb [signed-by=/k] http://x stable-security main\n");
  write("apt/sources.list.d/other.list", "deb http://x cloud-stable main\n");
  write("apt/sources.list.d/off.disabled", "deb http://x stable main\n");
  const std::string modern =
      write("apt/sources.list.d/d.sources", "Types: deb\nSuites: stable stable-updates\n");
  EXPECT_THAT(*sources_for(options_.apt_directory, "stable"), ElementsAre(list, modern));
  EXPECT_EQ(sources_for(options_.apt_directory, "other").error().code(), Code::not_found);
}

TEST_F(BuildTest, PackagesNeedTheirProgram) {
  program("exit 0");
  options_.debian_program = directory_ + "/none";
  auto made = make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::unsupported);
  EXPECT_THAT(made.error().message(), HasSubstr("scripts/setup environments"));
}

TEST_F(BuildTest, PackagesBecomeTheLowestLayer) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  write("root.tar", TarBytes()
                        .directory("./")
                        .file("bin/bash")
                        .file("etc/apt/sources.list.d/0000debian.sources")
                        .file("etc/apt/apt.conf.d/99mmdebstrap")
                        .file("etc/resolv.conf")
                        .file("etc/hostname")
                        .file("var/log/x")
                        .add({.name = "dev/null", .type = '3'})
                        .finish());
  program("echo \"$@\" >" + directory_ + "/arguments; echo 'I: working' >&2; cat " + directory_ +
          "/root.tar");
  const BuildResult made = *make();
  ASSERT_THAT(made.stack.layers, SizeIs(1));
  EXPECT_NE(status(made.stack.layers[0], "bin/bash").st_mode, 0U);
  EXPECT_EQ(status(made.stack.layers[0], "var/log/x").st_mode, 0U);
  EXPECT_EQ(status(made.stack.layers[0], "etc/apt/apt.conf.d/99mmdebstrap").st_mode, 0U)
      << "nothing of this machine";
  EXPECT_EQ(status(made.stack.layers[0], "etc/apt/sources.list.d/0000debian.sources").st_mode, 0U);
  EXPECT_EQ(read(made.stack.layers[0], "etc/resolv.conf"), "");
  EXPECT_EQ(read(made.stack.layers[0], "etc/hostname"), "sandbox\n");
  EXPECT_THAT(*os::read_file(directory_ + "/arguments"), HasSubstr("--include=bash,git"));
  EXPECT_THAT(*os::read_file(directory_ + "/arguments"), HasSubstr("debian.sources"));
  EXPECT_THAT(said_, HasSubstr("mmdebstrap: working"));
  EXPECT_EQ(make()->reused, 1U);
}

TEST_F(BuildTest, AFailingProgramFailsTheBuild) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  program("echo 'E: no such package' >&2; exit 1");
  EXPECT_THAT(make().error().message(), HasSubstr("mmdebstrap failed: no such package"));
  program("echo this is no archive; exit 0");
  EXPECT_THAT(make().error().message(), HasSubstr("not a tar archive"));
  EXPECT_EQ(incoming(), 0U);
}

// Of what dpkg says the package and the cause are told, not the command line that mmdebstrap ran.
TEST_F(BuildTest, AFailureNamesThePackageAndTheCause) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  program(
      "cat >&2 <<'END'\nI: installing remaining packages inside the chroot...\n"
      "0 upgraded, 30 newly installed, 0 to remove and 0 not upgraded.\n"
      "Setting up openjdk-17-jre-headless:amd64 (17.0.21+9-1) ...\n"
      "update-alternatives: error: error creating symbolic link '/usr/share/man/man1/java.1.gz.dpkg-tmp': No "
      "such file\n"
      "dpkg: error processing package openjdk-17-jre-headless:amd64 (--configure):\n"
      " installed openjdk-17-jre-headless:amd64 package post-installation script subprocess returned error "
      "exit status 2\n"
      "E: Sub-process env returned an error code (1)\n"
      "E: run_chroot failed: E: env --unset=TMPDIR apt-get --yes install failed: process exited with "
      "100\nEND\nexit 1");
  const std::string said = make().error().message();
  EXPECT_THAT(
      said,
      HasSubstr("mmdebstrap failed: package openjdk-17-jre-headless:amd64: update-alternatives: error: error "
                "creating symbolic link '/usr/share/man/man1/java.1.gz.dpkg-tmp': No such file"));
  EXPECT_THAT(said, testing::Not(HasSubstr("--unset")));
  program(
      "echo 'E: Unable to locate package nothing-like-this' >&2; echo 'E: apt-get failed: x' >&2; exit 1");
  EXPECT_THAT(make().error().message(),
              HasSubstr("mmdebstrap failed: Unable to locate package nothing-like-this"));
}

TEST(DebianWordsTest, CountsPackages) {
  std::string said;
  DebianWords words([&](const std::string& line) { said += line + "\n"; });
  words.hear("0 upgraded, 30 newly installed, 0 to remove and 0 not upgraded.");
  for (int i = 0; i < 30; ++i) words.hear(fmt::format("Unpacking package{} (1.0) ...", i));
  for (int i = 0; i < 30; ++i) words.hear(fmt::format("Setting up package{} (1.0) ...", i));
  EXPECT_EQ(said,
            "mmdebstrap: unpacked 25 of 30 packages\nmmdebstrap: unpacked 30 of 30 packages\n"
            "mmdebstrap: set up 25 of 30 packages\nmmdebstrap: set up 30 of 30 packages\n");
  EXPECT_EQ(words.reason(), "");
}

TEST(DebianWordsTest, TheShareOnlyGrows) {
  std::vector<double> shares;
  std::size_t last_done = 0, last_all = 0;
  DebianWords words({}, [&](double share, std::size_t done, std::size_t all) {
    shares.push_back(share);
    last_done = done, last_all = all;
  });
  words.hear("Unpacking early (1.0) ...");
  EXPECT_THAT(shares, testing::IsEmpty()) << "of how many nobody has said";
  for (const int count : {4, 10}) {
    words.hear(fmt::format("0 upgraded, {} newly installed, 0 to remove and 0 not upgraded.", count));
    for (int i = 0; i < count; ++i) words.hear(fmt::format("Unpacking package{} (1.0) ...", i));
    for (int i = 0; i < count; ++i) words.hear(fmt::format("Setting up package{} (1.0) ...", i));
  }
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_GT(shares.front(), 0);
  EXPECT_DOUBLE_EQ(shares.back(), 1);
  EXPECT_EQ(last_done, 10U);
  EXPECT_EQ(last_all, 10U);
}

TEST_F(BuildTest, AnInterruptEndsTheProgram) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  program("echo 'I: started' >&2; exec sleep 600");
  options_.progress = [this](const std::string& line) {
    if (line == "mmdebstrap: started") interrupt_.raise();
  };
  EXPECT_EQ(make().error().code(), Code::canceled);
  EXPECT_EQ(incoming(), 0U);
}

}  // namespace
}  // namespace atl::layer
