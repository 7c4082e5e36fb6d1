#include "os/mount.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/mount.h>
#include <sched.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "os/directory_test.h"
#include "os/file.h"

namespace atl::os {
namespace {

enum class Verdict { right, wrong, may_not };

// In a thread with a mount namespace, root and working directory of its own, so that nothing stays.
Verdict in_own_mounts(const std::function<bool(const TestDirectory&)>& body) {
  const TestDirectory directory;
  Verdict verdict = Verdict::wrong;
  std::thread([&] {
    if (::unshare(CLONE_NEWNS | CLONE_FS) < 0) {
      verdict = Verdict::may_not;
    } else if (make_all_private() && body(directory)) {
      verdict = Verdict::right;
    }
  }).join();
  return verdict;
}

#define EXPECT_IN_OWN_MOUNTS(body)                                          \
  do {                                                                      \
    const Verdict verdict = in_own_mounts(body);                            \
    if (verdict == Verdict::may_not) GTEST_SKIP() << "needs CAP_SYS_ADMIN"; \
    EXPECT_EQ(verdict, Verdict::right);                                     \
  } while (false)

Result<Fd> tmpfs(const std::string& size) {
  auto context = TRY(FilesystemContext::open("tmpfs"));
  TRY(context.set("size", size));
  return context.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

TEST(Mount, ATmpfsIsAttachedAndDetached) {
  EXPECT_IN_OWN_MOUNTS([](const TestDirectory& directory) {
    const auto mount = tmpfs("1m");
    if (!mount || !attach(mount->get(), AT_FDCWD, directory.path().c_str())) return false;
    if (!write_file(directory.at("file"), "text")) return false;
    if (write_file(directory.at("large"), std::string(2 << 20, 'x'))) return false;  // the size holds
    if (!detach(directory.path().c_str())) return false;
    return !exists(directory.at("file"));
  });
}

TEST(Mount, BadOptionsSayWhatTheInterpreterSaid) {
  EXPECT_IN_OWN_MOUNTS([](const TestDirectory&) {
    auto context = FilesystemContext::open("tmpfs");
    if (!context) return false;
    const auto bad = context->set("size", "nonsense");
    const auto unknown = context->set_flag("nonsense");
    return !bad && bad.error().detail().find("nonsense") != std::string::npos && !unknown;
  });
}

TEST(Mount, AnUnknownFilesystemIsRefused) {
  EXPECT_IN_OWN_MOUNTS([](const TestDirectory&) { return !FilesystemContext::open("nonsense"); });
}

TEST(Mount, AnOverlayWithoutLayersIsRefused) {
  EXPECT_IN_OWN_MOUNTS([](const TestDirectory&) {
    auto context = FilesystemContext::open("overlay");
    return context && !context->mount(0);
  });
}

TEST(Mount, BindsAndReadOnlyCopies) {
  EXPECT_IN_OWN_MOUNTS([](const TestDirectory& directory) {
    if (!make_directory(directory.at("from")) || !make_directory(directory.at("to"))) return false;
    if (!write_file(directory.at("from/file"), "text")) return false;
    if (!bind(directory.at("from").c_str(), directory.at("to").c_str())) return false;
    if (!exists(directory.at("to/file")) || !detach(directory.at("to").c_str())) return false;
    auto copy = clone_mount(AT_FDCWD, directory.at("from").c_str(), Subtree::yes);
    if (!copy || !change_mount(copy->get(), "", Subtree::yes, {.set = MOUNT_ATTR_RDONLY})) return false;
    if (!attach(copy->get(), AT_FDCWD, directory.at("to").c_str())) return false;
    const auto refused = write_file(directory.at("to/file"), "changed");
    return !refused && refused.error().code() == Code::read_only;
  });
}

TEST(Mount, MissingPathsAreRefused) {
  EXPECT_IN_OWN_MOUNTS([](const TestDirectory& directory) {
    const std::string none = directory.at("none");
    return !bind(none.c_str(), directory.path().c_str()) && !detach(none.c_str()) &&
           !clone_mount(AT_FDCWD, none.c_str(), Subtree::no) && !open_mount(AT_FDCWD, none.c_str()) &&
           !attach(-1, AT_FDCWD, directory.path().c_str()) &&
           !change_mount(-1, "", Subtree::no, {.set = MOUNT_ATTR_RDONLY});
  });
}

TEST(Mount, MovingTheRootLeavesNothingOfTheOldOne) {
  EXPECT_IN_OWN_MOUNTS([](const TestDirectory& directory) {
    const auto mount = tmpfs("1m");
    if (!mount || !attach(mount->get(), AT_FDCWD, directory.path().c_str())) return false;
    if (!write_file(directory.at("only"), "")) return false;
    if (::chdir("/") < 0 || move_to_root()) return false;  // "/" cannot be moved onto itself
    if (::chdir(directory.path().c_str()) < 0 || !move_to_root()) return false;
    return exists("/only") && !exists("/etc") && !exists("/../etc");
  });
}

TEST(Mount, OpenMountIsAHandleOnly) {
  const auto handle = open_mount(AT_FDCWD, "/");
  ASSERT_TRUE(handle);
  EXPECT_TRUE(::fcntl(handle->get(), F_GETFL) & O_PATH);
}

}  // namespace
}  // namespace atl::os
