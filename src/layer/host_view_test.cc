#include "layer/host_view.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "layer/layer_harness.h"
#include "os/file.h"

namespace atl::layer {
namespace {

using testing::HasSubstr;
using testing::Not;

class HostViewTest : public LayerTest {
 protected:
  HostViewTest() { std::filesystem::create_directories(root_); }

  std::string text(const std::string& path) const { return os::read_file(root_ + "/" + path).value_or(""); }
  bool has(const std::string& path) const {
    return std::filesystem::symlink_status(root_ + "/" + path).type() !=
           std::filesystem::file_type::not_found;
  }
  struct stat info(const std::string& path) const {
    struct stat found {};
    EXPECT_EQ(::lstat((root_ + "/" + path).c_str(), &found), 0) << path;
    return found;
  }
  // Cannot hold an overlay mark where nobody may set one.
  static OverlayAttributes attributes() {
    return ::geteuid() == 0 ? OverlayAttributes::trusted : OverlayAttributes::user;
  }

  const std::string root_ = directory_ + "/root";
};

TEST_F(HostViewTest, SaysWhereItCannotBeBuilt) {
  std::filesystem::remove(root_);
  EXPECT_FALSE(build_skeleton(root_));
  EXPECT_FALSE(build_usr_cover(root_, {}, attributes()));
  write("root", "a file");
  EXPECT_FALSE(build_skeleton(root_));
}

TEST_F(HostViewTest, HoldsNothingOfTheHostsOwn) {
  ASSERT_TRUE(build_skeleton(root_));
  for (const char* path :
       {"etc/ssh", "etc/gitconfig", "etc/pip.conf", "etc/npmrc", "etc/docker", "etc/apt", "etc/machine-id",
        "etc/krb5.keytab", "etc/ssl/private", "etc/sudoers.d", "etc/cron.d"})
    EXPECT_FALSE(has(path)) << path;
  for (const char* path : {"etc/environment", "etc/fstab", "etc/resolv.conf"})
    EXPECT_EQ(text(path), "") << path;
  for (const char* path : {"root", "home/user", "opt", "srv", "var/lib", "var/log", "tmp"})
    for (const auto& entry : std::filesystem::directory_iterator(root_ + "/" + path))
      EXPECT_THAT(entry.path().filename().string(), testing::AnyOf(".bashrc", ".profile", ".bash_logout"));
  EXPECT_EQ(text("etc/hostname"), "sandbox\n");
  // What stands in root's home is the distribution's.
  if (std::filesystem::exists("/usr/share/base-files/dot.bashrc")) {
    EXPECT_EQ(text("root/.bashrc"), os::read_file("/usr/share/base-files/dot.bashrc").value());
  }
}

TEST_F(HostViewTest, HasAccountsOfItsOwn) {
  ASSERT_TRUE(build_skeleton(root_));
  EXPECT_THAT(text("etc/passwd"), HasSubstr("user:x:1000:1000:user:/home/user:/bin/bash\n"));
  EXPECT_THAT(text("etc/passwd"), HasSubstr("root:x:0:0:"));
  EXPECT_THAT(text("etc/shadow"), Not(HasSubstr("$"))) << "nobody has a password";
  EXPECT_EQ(info("etc/shadow").st_mode & 0777, 0640U);
  EXPECT_EQ(info("etc/sudoers").st_mode & 0777, 0440U);
  EXPECT_EQ(info("tmp").st_mode & 07777, 01777U);
  EXPECT_EQ(info("root").st_mode & 0777, 0700U);
  if (::geteuid() == 0) {
    EXPECT_EQ(info("home/user").st_uid, 1000U);
    EXPECT_EQ(info("etc/shadow").st_gid, 42U);
  }
  EXPECT_THAT(text("etc/hosts"), HasSubstr("127.0.0.1\tlocalhost\n"));
  EXPECT_THAT(text("etc/nsswitch.conf"), HasSubstr("hosts: files dns\n"));
  EXPECT_TRUE(S_ISLNK(info("etc/localtime").st_mode));
  EXPECT_EQ(std::filesystem::read_symlink(root_ + "/var/run"), "/run");
}

TEST_F(HostViewTest, PartsOfTheHostHaveTheirPlaces) {
  ASSERT_TRUE(build_skeleton(root_));
  const auto parts = host_parts();
  ASSERT_FALSE(parts.empty());
  EXPECT_EQ(parts[0].host_path, "/usr");
  for (const HostPart& part : parts) {
    EXPECT_TRUE(std::filesystem::is_directory(part.host_path));
    EXPECT_TRUE(S_ISDIR(info(part.inside).st_mode)) << part.inside;
  }
  // What is a link on the host is the same link inside.
  if (std::filesystem::is_symlink("/bin")) {
    EXPECT_EQ(std::filesystem::read_symlink(root_ + "/bin"), std::filesystem::read_symlink("/bin"));
  }
}

TEST_F(HostViewTest, CoversPartsOfUsr) {
  ASSERT_TRUE(build_usr_cover(root_, {.usr_local = UsrLocal::hide}, attributes()));
  for (const char* name : {"src", "etc", "local"}) EXPECT_TRUE(has(name)) << name;
  if (S_ISDIR(info("local").st_mode)) {
    EXPECT_TRUE(has("local/bin"));
    EXPECT_TRUE(std::filesystem::is_empty(root_ + "/local/bin"));
  }
  std::filesystem::remove_all(root_);
  std::filesystem::create_directories(root_);
  ASSERT_TRUE(build_usr_cover(root_, {.usr_local = UsrLocal::show}, attributes()));
  EXPECT_TRUE(has("src"));
  EXPECT_FALSE(has("local"));
  std::filesystem::remove_all(root_);
  std::filesystem::create_directories(root_);
  ASSERT_TRUE(build_usr_cover(root_, {}, attributes()));
  const bool only_there = (!os::exists("/usr/bin/python3") && os::exists("/usr/local/bin/python3")) ||
                          (!os::exists("/usr/bin/node") && os::exists("/usr/local/bin/node"));
  EXPECT_EQ(has("local"), !only_there);
}

}  // namespace
}  // namespace atl::layer
