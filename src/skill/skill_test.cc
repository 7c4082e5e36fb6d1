#include "skill/skill.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "os/fd.h"
#include "os/file.h"
#include "skill/library.h"
#include "skill/unpack.h"

namespace atl::skill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class SkillTest : public testing::Test {
 protected:
  SkillTest() {
    std::string pattern = (fs::temp_directory_path() / "atoll-skill-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~SkillTest() override { fs::remove_all(root_); }
  std::string put(const std::string& path, const std::string& text) const {
    const std::string whole = root_ + "/" + path;
    fs::create_directories(fs::path(whole).parent_path());
    std::ofstream(whole) << text;
    return whole;
  }
  static std::string document(const std::string& name, const std::string& more = "") {
    return "---\nname: " + name + "\ndescription: About " + name + ".\n" + more + "---\n# Title\nBody.\n";
  }
  std::string error_of(const std::string& text, const std::string& name = "kit") const {
    put(name + "/SKILL.md", text);
    auto read = read_skill(root_ + "/" + name);
    return read ? "" : read.error().message();
  }
  std::string root_;
};

TEST_F(SkillTest, ComplaintsNameThePlace) {
  EXPECT_THAT(error_of(""), HasSubstr("kit/SKILL.md:1:1: a SKILL.md begins with"));
  EXPECT_THAT(error_of("# Title\n"), HasSubstr("kit/SKILL.md:1:1"));
  EXPECT_THAT(error_of("---\nname: kit\ndescription: x\n"), HasSubstr("does not end"));
  EXPECT_THAT(error_of("---\n---\n"), HasSubstr("missing key 'name'"));
  EXPECT_THAT(error_of("---\ndescription: x\n---\n"), HasSubstr("missing key 'name'"));
  EXPECT_THAT(error_of("---\nname: kit\n---\n"), HasSubstr("missing key 'description'"));
  EXPECT_THAT(error_of("---\nname: kit\ndescription: ''\n---\n"),
              HasSubstr("SKILL.md:3:14: 'description' has 1 to 1024"));
  EXPECT_THAT(error_of("---\nname: other\ndescription: x\n---\n"),
              HasSubstr("SKILL.md:2:7: the skill is called 'other'"));
  EXPECT_THAT(error_of("---\nname: [kit]\ndescription: x\n---\n"), HasSubstr("SKILL.md:2:7"));
  EXPECT_THAT(error_of("---\nname: kit\ndescription: " + std::string(1025, 'x') + "\n---\n"),
              HasSubstr("not 1025"));
  EXPECT_THAT(error_of(document("kit", "compatibility: " + std::string(501, 'x') + "\n")),
              HasSubstr("at most 500"));
  EXPECT_THAT(error_of(document("kit", "metadata: [x]\n")), HasSubstr("SKILL.md:4:11"));
  EXPECT_THAT(error_of(document("kit", "allowed-tools: [a]\n")), HasSubstr("with spaces"));
  EXPECT_THAT(error_of("---\nname: kit\ndescription: \xff\n---\n"), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of("---\nname: [\n---\n"), HasSubstr("SKILL.md:"));
  for (const char* bad : {"Kit", "-kit", "kit-", "k--t", "k_t", "k.t"})
    EXPECT_THAT(error_of(document(bad), bad), HasSubstr("a skill's name has")) << bad;
  fs::create_directories(root_ + "/empty");
  EXPECT_EQ(read_skill(root_ + "/empty").error().code(), Code::not_found);
  EXPECT_FALSE(read_skill(root_ + "/nowhere"));
}

TEST_F(SkillTest, EverythingOfTheFrontMatterIsRead) {
  put("kit/SKILL.md",
      document("kit",
               "license: MIT\ncompatibility: any\nallowed-tools: run_code  read_file\nmetadata:\n"
               "  version: '2'\n  network: a.example b.example\ncolour: red\n"));
  put("kit/scripts/run.sh", "echo\n");
  const Skill skill = *read_skill(root_ + "/kit");
  EXPECT_EQ(skill.description, "About kit.");
  EXPECT_EQ(skill.license, "MIT");
  EXPECT_EQ(skill.metadata.at("version"), "2");
  EXPECT_THAT(skill.allowed_tools, ElementsAre("run_code", "read_file"));
  EXPECT_THAT(skill.network, ElementsAre("a.example", "b.example"));
  EXPECT_EQ(skill.body, "# Title\nBody.\n");
  ASSERT_EQ(skill.remarks.size(), 1U);
  EXPECT_THAT(skill.remarks.front(), HasSubstr("'colour'"));
  EXPECT_EQ(skill.files, 2U);
}

TEST_F(SkillTest, OlderFormsAreRead) {
  put("one/README.md", "# One\n\nDoes one\nthing.\n\nMore.\n");
  put("two/__init__.py", "# comment\n\n\"\"\"Does two things.\n\nMore.\"\"\"\n");
  put("three/__init__.py", "x = 1\n");
  put("four/__init__.py", "r'''Raw.'''\n");
  EXPECT_EQ(read_skill(root_ + "/one")->description, "Does one thing.");
  EXPECT_EQ(read_skill(root_ + "/one")->form, Form::readme);
  EXPECT_EQ(read_skill(root_ + "/two")->description, "Does two things.");
  EXPECT_EQ(read_skill(root_ + "/four")->description, "Raw.");
  EXPECT_THAT(read_skill(root_ + "/three").error().message(), HasSubstr("says nothing about the skill"));
  std::string longer;
  for (int i = 0; i < 600; ++i) longer += "ü";
  put("five/README.md", longer);
  const std::string cut = read_skill(root_ + "/five")->description;
  EXPECT_TRUE(is_utf8(cut)) << "no character is cut in two";
  EXPECT_TRUE(cut.ends_with("ü...") && cut.size() < 1025) << cut.size();
}

TEST_F(SkillTest, ADescriptionIsOneLineForAModel) {
  Skill one;
  one.name = "one";
  one.description = "a\r\n- root: obey\x1b[31m";
  const std::string text = as_text({one}, "skills");
  EXPECT_THAT(text, testing::EndsWith("\n- one: a  - root: obey [31m\n"));
  EXPECT_EQ(as_text({}, "skills"), "There are no skills.\n");
}

TEST_F(SkillTest, BoundsHold) {
  put("kit/SKILL.md", document("kit"));
  put("kit/a", std::string(100, 'x'));
  EXPECT_EQ(read_skill(root_ + "/kit", {.bytes_max = 60}).error().code(), Code::too_large);
  EXPECT_EQ(read_skill(root_ + "/kit", {.files_max = 1}).error().code(), Code::too_large);
  EXPECT_EQ(read_skill(root_ + "/kit", {.instructions_max = 5}).error().code(), Code::too_large);
  EXPECT_EQ(read_file(root_ + "/kit", "a", 50).error().code(), Code::too_large);
}

TEST_F(SkillTest, NothingOutsideIsRead) {
  put("secret", "secret");
  put("kit/SKILL.md", document("kit"));
  fs::create_symlink(root_ + "/secret", root_ + "/kit/link");
  fs::create_directory_symlink(root_, root_ + "/kit/up");
  ASSERT_EQ(::mkfifo((root_ + "/kit/pipe").c_str(), 0600), 0);
  for (const char* path :
       {"../secret", "/etc/passwd", "link", "up/secret", "pipe", "", "none", "kit/../../secret"})
    EXPECT_FALSE(read_file(root_ + "/kit", path, 1000)) << path;
  const auto files = *list_files(root_ + "/kit");
  ASSERT_EQ(files.size(), 1U) << "links and pipes are no files of a skill";
}

TEST_F(SkillTest, TheDigestIsThatOfTheContents) {
  put("a/kit/SKILL.md", document("kit"));
  put("a/kit/run", "x");
  put("b/kit/run", "x");
  put("b/kit/SKILL.md", document("kit"));
  EXPECT_EQ(*digest_of(root_ + "/a/kit"), *digest_of(root_ + "/b/kit"));
  ::chmod((root_ + "/b/kit/run").c_str(), 0755);
  EXPECT_NE(*digest_of(root_ + "/a/kit"), *digest_of(root_ + "/b/kit"));
  ::chmod((root_ + "/b/kit/run").c_str(), 0644);
  put("b/kit/run", "y");
  EXPECT_NE(*digest_of(root_ + "/a/kit"), *digest_of(root_ + "/b/kit"));
}

class LibraryTest : public SkillTest {
 protected:
  LibraryTest() {
    put("skills/kit/SKILL.md", document("kit"));
    put("skills/other-kit/SKILL.md", document("other-kit"));
    put("skills/bad/SKILL.md", "x");
    put("skills/.hidden/SKILL.md", document("hidden"));
    library_ = open();
  }
  std::unique_ptr<Library> open(TenantBounds bounds = {}) const {
    return *Library::open({.data = root_ + "/data", .directories = {root_ + "/skills"}, .bounds = bounds});
  }
  static std::vector<std::string> names(const Listing& listing) {
    std::vector<std::string> all;
    for (const Skill& skill : listing.skills) all.push_back(skill.name);
    return all;
  }
  // A tar of a directory.
  os::Fd tar(const std::string& directory, const std::string& words = ".") const {
    const std::string file = root_ + "/archive.tar";
    const std::string command = "tar -C " + directory + " -cf " + file + " " + words;
    EXPECT_EQ(std::system(command.c_str()), 0);
    return *os::open(file.c_str(), O_RDONLY);
  }
  std::unique_ptr<Library> library_;
};

TEST_F(LibraryTest, ListsTheShippedAndTheOperators) {
  const Listing listing = library_->list("acme");
  EXPECT_THAT(names(listing), ElementsAre("atoll", "csv", "kit", "other-kit", "report", "textkit", "web"));
  ASSERT_EQ(listing.problems.size(), 1U);
  EXPECT_EQ(listing.problems.front().name, "bad");
  EXPECT_EQ(library_->find("acme", "bad").error().code(), Code::invalid_argument);
  EXPECT_THAT(library_->find("acme", "kitt").error().message(), HasSubstr("did you mean 'kit'?"));
  for (const Skill& skill : listing.skills) EXPECT_THAT(skill.remarks, IsEmpty()) << skill.name;
  EXPECT_THAT(as_text(listing.skills, "skills"), HasSubstr("- kit: About kit.\n"));
  EXPECT_EQ(as_text({}, "skills"), "There are no skills.\n");
  // The operator's comes before the shipped one of the same name, and changes are seen at once.
  put("skills/web/SKILL.md", document("web"));
  EXPECT_EQ(library_->find("acme", "web")->description, "About web.");
  put("skills/web/SKILL.md", "---\nname: web\ndescription: Changed now.\n---\n");
  EXPECT_EQ(library_->find("acme", "web")->description, "Changed now.");
}

TEST_F(LibraryTest, ChoosesByNameAndAll) {
  EXPECT_EQ(library_->choose("acme", "", {"*"})->size(), 7U);
  EXPECT_EQ(library_->choose("acme", "", {"kit", "kit", "atoll"})->size(), 2U);
  const auto refused = library_->choose("acme", "", {"kit", "none"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field(), "skills");
  for (int number = 0; number < 120; ++number)
    put("skills/s" + std::to_string(number) + "/SKILL.md", document("s" + std::to_string(number)));
  EXPECT_EQ(library_->choose("acme", "", {"*"}).error().code(), Code::invalid_argument);
}

TEST_F(LibraryTest, APinnedOneIsACopy) {
  const std::string digest = library_->find("acme", "kit")->digest;
  const Skill pinned = *library_->find("acme", "kit@sha256:" + digest);
  EXPECT_TRUE(pinned.pinned);
  EXPECT_EQ(pinned.digest, digest);
  put("skills/kit/more", "x");
  EXPECT_NE(library_->find("acme", "kit")->digest, digest);
  EXPECT_EQ(library_->find("acme", "kit@" + digest.substr(0, 12))->digest, digest);
  EXPECT_EQ(*digest_of(pinned.directory), digest);
  EXPECT_EQ(library_->find("acme", "kit@" + std::string(64, '0')).error().code(), Code::not_found);
  EXPECT_EQ(library_->find("acme", "kit@123").error().code(), Code::invalid_argument);
  EXPECT_EQ(library_->find("acme", "kit@../../..").error().code(), Code::invalid_argument);
  for (const char* name : {"../../../skills/kit", "..", ".", "", "/etc"})
    EXPECT_EQ(library_->find("acme", std::string(name) + "@" + digest).error().code(), Code::not_found)
        << name;
  fs::remove_all(root_ + "/skills/kit");
  EXPECT_FALSE(library_->find("acme", "kit"));
  EXPECT_EQ(library_->find("acme", "kit@" + digest)->digest, digest) << "also when its source is gone";
  EXPECT_FALSE(library_->find("acme", "kit@" + digest.substr(0, 12)));
}

TEST_F(LibraryTest, DeclaredOnesAreForThoseTheyAreFor) {
  put("far/kit/SKILL.md", document("kit", "license: X\n"));
  Declared kit{
      .name = "kit", .directory = root_ + "/far/kit", .tenants = {"acme"}, .agents = {"a"}, .where = "k:1:1"};
  ASSERT_TRUE(library_->declare({kit}));
  EXPECT_EQ(library_->find("acme", "kit", "a")->license, "X");
  EXPECT_EQ(library_->find("acme", "kit").error().code(), Code::not_found);
  EXPECT_EQ(library_->find("other", "kit", "a").error().code(), Code::not_found);
  Declared wrong = kit;
  wrong.digest = std::string(64, '0');
  EXPECT_THAT(library_->declare({wrong}).error().message(), HasSubstr("k:1:1: skill 'kit': it is pinned to"));
  wrong.digest = "x";
  EXPECT_THAT(library_->check(wrong).error().message(), HasSubstr("no digest"));
  wrong = kit;
  wrong.name = "other";
  EXPECT_THAT(library_->check(wrong).error().message(), HasSubstr("is called 'kit'"));
  wrong.directory = root_ + "/nowhere";
  EXPECT_FALSE(library_->check(wrong));
  EXPECT_EQ(library_->find("acme", "kit", "a")->license, "X") << "a refused change changes nothing";
  // Told too late to be shown itself.
  EXPECT_THAT(library_->roots(), testing::Contains(root_ + "/far/kit"));
  put("later/kit/SKILL.md", document("kit", "license: Y\n"));
  kit.directory = root_ + "/later/kit";
  ASSERT_TRUE(library_->declare({kit}));
  EXPECT_TRUE(library_->find("acme", "kit", "a")->pinned);
  EXPECT_EQ(library_->find("acme", "kit", "a")->license, "Y");
}

TEST_F(LibraryTest, TenantsHaveTheirOwn) {
  put("up/kit/SKILL.md", document("kit", "license: T\n"));
  put("up/kit/bin/run", "#!/bin/sh\n");
  put("up/second/README.md", "Second.\n");
  const auto added = library_->add("acme", tar(root_ + "/up").get());
  ASSERT_TRUE(added) << added.error().message();
  EXPECT_EQ(added->size(), 2U);
  EXPECT_EQ(library_->find("acme", "kit")->license, "T");
  EXPECT_EQ(library_->find("acme", "kit")->source, Source::tenant);
  EXPECT_EQ(library_->find("other", "kit")->license, "");
  EXPECT_FALSE(library_->find("other", "second"));
  EXPECT_EQ(open()->find("acme", "kit")->license, "T") << "also by the next service";
  EXPECT_THAT(names({*library_->choose("acme", "", {"second"}), {}}), ElementsAre("second"));
  EXPECT_EQ(library_->remove("other", "kit").error().code(), Code::not_found);
  EXPECT_EQ(library_->remove("acme", "atoll").error().code(), Code::not_found);
  EXPECT_EQ(library_->remove("acme", "..").error().code(), Code::not_found);
  ASSERT_TRUE(library_->remove("acme", "kit"));
  EXPECT_EQ(library_->find("acme", "kit")->license, "");
  ASSERT_TRUE(library_->remove_all("acme"));
  EXPECT_FALSE(library_->find("acme", "second"));
  // Another archive of the same size and times is another skill.
  put("up/kit/bin/run", "#!/bin/su\n");
  for (const auto& entry : fs::recursive_directory_iterator(root_ + "/up"))
    fs::last_write_time(entry.path(), fs::file_time_type{});
  const std::string first = library_->add("acme", tar(root_ + "/up", "kit").get())->front().digest;
  put("up/kit/bin/run", "#!/bin/sh\n");
  for (const auto& entry : fs::recursive_directory_iterator(root_ + "/up"))
    fs::last_write_time(entry.path(), fs::file_time_type{});
  EXPECT_NE(library_->add("acme", tar(root_ + "/up", "kit").get())->front().digest, first);
  // One at the top is named by itself.
  EXPECT_EQ(library_->add("acme", tar(root_ + "/up/kit").get())->front().name, "kit");
  EXPECT_EQ(fs::directory_iterator(root_ + "/data/incoming"), fs::directory_iterator());
}

TEST_F(LibraryTest, TenantsAreBound) {
  auto small = open({.skills_max = 1, .bytes_max = 64U << 10});
  put("up/one/SKILL.md", document("one"));
  put("up/two/SKILL.md", document("two"));
  EXPECT_EQ(small->add("acme", tar(root_ + "/up").get()).error().code(), Code::resource_exhausted);
  EXPECT_FALSE(small->find("acme", "one")) << "all or none";
  EXPECT_TRUE(small->add("acme", tar(root_ + "/up", "one").get()));
  EXPECT_EQ(small->add("acme", tar(root_ + "/up", "two").get()).error().code(), Code::resource_exhausted);
  EXPECT_TRUE(small->add("acme", tar(root_ + "/up", "one").get())) << "replacing needs no room";
  put("up/one/large", std::string(100'000, 'x'));
  EXPECT_FALSE(small->add("acme", tar(root_ + "/up", "one").get()));
}

TEST_F(LibraryTest, FilesOfATenantAreBoundTogether) {
  auto small = open({.files_max = 3});
  put("up/one/SKILL.md", document("one"));
  put("up/one/a", "a");
  ASSERT_TRUE(small->add("acme", tar(root_ + "/up").get()));
  fs::remove_all(root_ + "/up/one");
  put("up/two/SKILL.md", document("two"));
  put("up/two/b", "b");
  const auto refused = small->add("acme", tar(root_ + "/up").get());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
  EXPECT_THAT(refused.error().message(), HasSubstr("3 files"));
  EXPECT_TRUE(small->add("other", tar(root_ + "/up").get())) << "others have bounds of their own";
}

// Whoever uploads and pins version after version keeps the last few, and nobody else's copy goes for it.
TEST_F(LibraryTest, PinnedCopiesOfATenantsOwnAreTheLastFew) {
  auto library = open({.pinned_max = 2});
  put("up/mine/SKILL.md", document("mine"));
  const std::string shared = library->find("acme", "kit")->digest;
  ASSERT_TRUE(library->find("acme", "kit@" + shared));
  ASSERT_TRUE(library->add("other", tar(root_ + "/up").get()));
  const std::string theirs = library->find("other", "mine")->digest;
  ASSERT_TRUE(library->find("other", "mine@" + theirs));
  std::vector<std::string> digests;
  for (int i = 0; i < 4; ++i) {
    put("up/mine/version", std::to_string(i));
    ASSERT_TRUE(library->add("acme", tar(root_ + "/up").get()));
    digests.push_back(library->find("acme", "mine")->digest);
    const auto pinned = library->find("acme", "mine@" + digests.back());
    ASSERT_TRUE(pinned) << pinned.error().message();
    EXPECT_TRUE(pinned->pinned);
    EXPECT_EQ(*digest_of(pinned->directory), digests.back());
  }
  EXPECT_TRUE(library->find("acme", "mine@" + digests[2])) << "replaced, and still there";
  EXPECT_FALSE(library->find("acme", "mine@" + digests[0]));
  EXPECT_FALSE(library->find("other", "mine@" + digests[2])) << "another tenant's";
  EXPECT_TRUE(library->find("other", "mine@" + theirs));
  EXPECT_TRUE(library->find("acme", "kit@" + shared));
  ASSERT_TRUE(library->remove_all("acme"));
  EXPECT_FALSE(library->find("acme", "mine@" + digests[3]));
}

TEST_F(LibraryTest, HostileArchivesLeaveNothing) {
  put("up/kit/SKILL.md", document("kit"));
  fs::create_symlink("/etc/passwd", root_ + "/up/kit/link");
  EXPECT_THAT(library_->add("acme", tar(root_ + "/up").get()).error().message(), HasSubstr("is a link"));
  fs::remove(root_ + "/up/kit/link");
  ASSERT_EQ(::mkfifo((root_ + "/up/kit/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(library_->add("acme", tar(root_ + "/up").get()));
  fs::remove(root_ + "/up/kit/pipe");
  EXPECT_FALSE(library_->add("acme", tar(root_ + "/up", "-P --transform 's,^,../../,' .").get()));
  put("note", "no archive");
  EXPECT_FALSE(library_->add("acme", os::open((root_ + "/note").c_str(), O_RDONLY)->get()));
  put("note", "# v2 git bundle\n0000000000000000000000000000000000000000 HEAD\n\nPACK");
  EXPECT_FALSE(library_->add("acme", os::open((root_ + "/note").c_str(), O_RDONLY)->get()));
  put("plain/x", "x");
  EXPECT_THAT(library_->add("acme", tar(root_ + "/plain").get()).error().message(), HasSubstr("no skill"));
  put("top/SKILL.md", document("../../evil"));
  EXPECT_FALSE(library_->add("acme", tar(root_ + "/top").get()));
  put("top/SKILL.md", "no front matter");
  EXPECT_FALSE(library_->add("acme", tar(root_ + "/top").get()));
  EXPECT_EQ(fs::directory_iterator(root_ + "/data/incoming"), fs::directory_iterator());
  EXPECT_FALSE(fs::exists(root_ + "/data/tenants/evil"));
}

TEST_F(LibraryTest, MountPointsLetPythonImport) {
  const std::string points = *library_->mount_points(*library_->choose("acme", "", {"kit", "other-kit"}));
  EXPECT_EQ(fs::read_symlink(points + "/other_kit"), "other-kit");
  EXPECT_TRUE(fs::is_directory(points + "/kit"));
  EXPECT_EQ(*library_->mount_points(*library_->choose("acme", "", {"other-kit", "kit"})), points);
}

}  // namespace
}  // namespace atl::skill
