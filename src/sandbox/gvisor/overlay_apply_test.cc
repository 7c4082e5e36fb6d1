#include "sandbox/gvisor/overlay_apply.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "os/file.h"
#include "os/mount.h"
#include "sandbox/gvisor/runsc.h"

namespace atl::sandbox::gvisor {
namespace {

// Two overlays over one lower directory: what happens in the first is brought into the second.
class OverlayApply : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "mounts need root";
    std::string name = "/tmp/atoll-apply-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    // An overlay cannot have its writable layer on another overlay, which /tmp may be.
    auto tmpfs = os::FilesystemContext::open("tmpfs");
    ASSERT_TRUE(tmpfs);
    ASSERT_TRUE(tmpfs->set("size", "8388608"));
    const auto mount = tmpfs->mount(0);
    ASSERT_TRUE(mount) << mount.error().message();
    ASSERT_TRUE(os::attach(mount->get(), AT_FDCWD, root_.c_str()));
    for (const char* each : {"/lower", "/lower/etc", "/lower/old", "/lower/old/deep", "/first", "/first.work",
                             "/second", "/second.work", "/one", "/two"})
      ASSERT_TRUE(os::make_directory(root_ + each));
    put("lower/etc/hosts", "hosts"), put("lower/etc/passwd", "passwd"), put("lower/gone", "x");
    put("lower/old/deep/file", "x");
    ASSERT_TRUE(overlay("first", "one"));
    ASSERT_TRUE(overlay("second", "two"));
  }
  void TearDown() override {
    if (root_.empty()) return;
    for (const char* each : {"/one", "/two", ""}) (void)os::detach((root_ + each).c_str());
    std::filesystem::remove_all(root_);
  }

  bool overlay(const std::string& upper, const std::string& at) {
    auto context = os::FilesystemContext::open("overlay");
    if (!context || !context->set("lowerdir", root_ + "/lower") ||
        !context->set("upperdir", root_ + "/" + upper) ||
        !context->set("workdir", root_ + "/" + upper + ".work"))
      return false;
    const auto mount = context->mount(0);
    return mount && os::attach(mount->get(), AT_FDCWD, (root_ + "/" + at).c_str());
  }
  void put(const std::string& name, const std::string& text) { std::ofstream(root_ + "/" + name) << text; }
  std::string told(const std::string& script) {
    return ask_command({.program = "/bin/sh", .arguments = {"-c", "cd " + root_ + " && " + script}})
        .value_or("the script failed");
  }
  // As a snapshot is taken, and then brought into the second.
  Result<void> apply() {
    EXPECT_EQ(told("rm -rf saved; cp -a first saved; echo ok"), "ok\n");
    const auto saved = os::open((root_ + "/saved").c_str(), O_RDONLY | O_DIRECTORY);
    const auto merged = os::open((root_ + "/two").c_str(), O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(saved && merged);
    return apply_layer(saved->get(), merged->get(), layer::OverlayAttributes::trusted);
  }
  // Everything in it but the times of directories that were looked into.
  std::string tree(const std::string& at) {
    return told(
        "cd " + at +
        " && find . -printf '%p %y %m %U:%G %l %T@ ' \\( -type d -printf '\\n' -o -printf '%s\\n' \\) | "
        "sort; find . -type f -exec sha1sum {} + | sort");
  }

  std::string root_;
};

TEST_F(OverlayApply, TheSecondLooksAsTheFirst) {
  const std::string done = told(
      "cd one && echo new > new && mkdir -p home/user/d && echo a > home/user/d/a && chown -R 1000:1000 "
      "home/user && ln -s ../etc/hosts home/link && echo changed > etc/hosts && rm gone && chmod 4755 "
      "etc/passwd && touch -d 2001-02-03 home/user/d && mkdir -m 1777 tmp && rm etc/passwd && "
      "mkdir etc/passwd && echo in > etc/passwd/in && echo ok");
  ASSERT_EQ(done, "ok\n");
  const auto applied = apply();
  ASSERT_TRUE(applied) << applied.error().message();
  EXPECT_EQ(tree("two"), tree("one"));
  EXPECT_EQ(told("test -e two/gone || echo gone; cat two/old/deep/file"), "gone\nx");
}

TEST_F(OverlayApply, AttributesComeAlong) {
  ASSERT_EQ(told("echo x > one/x && setfattr -n user.mine -v yes one/x 2>/dev/null; echo ok"), "ok\n");
  const auto applied = apply();
  ASSERT_TRUE(applied) << applied.error().message();
  EXPECT_EQ(told("getfattr --only-values -n user.mine one/x 2>/dev/null; echo"),
            told("getfattr --only-values -n user.mine two/x 2>/dev/null; echo"));
}

TEST_F(OverlayApply, WhatIsMountedThereIsLeftAlone) {
  ASSERT_EQ(
      told("mkdir -p one/usr/local && chmod 700 one/usr && mkdir two/usr && mount -t tmpfs none two/usr && "
           "chmod 755 two/usr && echo ok"),
      "ok\n");
  const auto applied = apply();
  EXPECT_TRUE(applied) << applied.error().message();
  EXPECT_EQ(told("stat -c %a two/usr; ls two/usr; umount two/usr; echo ok"), "755\nok\n");
}

TEST_F(OverlayApply, WhatIsBetterCopiedBeforeIsRefused) {
  for (const char* script :
       {"echo x > a && ln a b", "mkfifo f", "rm -r old", "rm -r old && mkdir old && echo x > old/x",
        "truncate -s 1G big", "for i in $(seq 2100); do : > f$i; done",
        "for i in $(seq 40); do mkdir d && cd d; done"}) {
    TearDown();
    SetUp();
    ASSERT_EQ(told("cd one && " + std::string(script) + " && echo ok"), "ok\n") << script;
    const auto refused = apply();
    ASSERT_FALSE(refused) << script;
    EXPECT_EQ(refused.error().code(), Code::unsupported) << script << ": " << refused.error().message();
  }
}

TEST_F(OverlayApply, AFullDiskIsTold) {
  ASSERT_EQ(told("head -c 3500000 /dev/urandom > one/big && echo ok"), "ok\n");
  // The copy, and what is left for the second is less.
  const auto full = apply();
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::no_space) << full.error().message();
}

}  // namespace
}  // namespace atl::sandbox::gvisor
