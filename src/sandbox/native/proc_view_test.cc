#include "sandbox/native/proc_view.h"

#include <gtest/gtest.h>

#include "os/directory_test.h"
#include "os/file.h"

namespace atl::sandbox::native {
namespace {

constexpr const char* kHost =
    "processor\t: 0\nmodel name\t: a processor\nphysical id\t: 0\nsiblings\t: 4\ncore id\t\t: 0\ncpu "
    "cores\t: 4\nflags\t\t: fpu "
    "avx2\n\n"
    "processor\t: 1\nmodel name\t: a processor\nphysical id\t: 1\nsiblings\t: 4\ncore id\t\t: 9\ncpu "
    "cores\t: 4\nflags\t\t: fpu "
    "avx2\n\n"
    "processor\t: 2\nmodel name\t: a processor\nphysical id\t: 1\nsiblings\t: 4\ncore id\t\t: 9\ncpu "
    "cores\t: 4\nflags\t\t: fpu "
    "avx2\n\n";

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(ProcView, CoresAreWholeAndNoMoreThanThereAre) {
  EXPECT_EQ(cores_shown(0.1, kHost), 1U);
  EXPECT_EQ(cores_shown(1.0, kHost), 1U);
  EXPECT_EQ(cores_shown(1.5, kHost), 2U);
  EXPECT_EQ(cores_shown(64, kHost), 3U);
  EXPECT_EQ(cores_shown(64, ""), 1U) << "a machine that does not say";
}

TEST(ProcView, ProcessorsOfTheSandboxOnly) {
  const std::string text = cpuinfo_view(kHost, 2);
  EXPECT_EQ(count(text, "processor\t:"), 2U);
  EXPECT_EQ(count(text, "siblings\t: 2\n"), 2U);
  EXPECT_EQ(count(text, "physical id\t: 0\n"), 2U);
  EXPECT_EQ(count(text, "core id\t: 1\n"), 1U);
  EXPECT_EQ(count(text, "avx2"), 2U);
  EXPECT_EQ(cpuinfo_view("", 1), "");
}

TEST(ProcView, MemoryIsTheLimit) {
  const std::string text = meminfo_view(512 << 20);
  EXPECT_NE(text.find("MemTotal:         524288 kB\n"), std::string::npos) << text;
  EXPECT_NE(text.find("SwapTotal:             0 kB\n"), std::string::npos) << text;
}

TEST(ProcView, NothingOfTheMachinesWorkIsInStat) {
  const std::string text =
      stat_view("cpu  1 2 3 4\ncpu0 1 2 3 4\nctxt 99\nbtime 1700000000\nprocesses 77\n", 2);
  EXPECT_EQ(
      text,
      "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime "
      "1700000000\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n");
}

TEST(ProcView, FilesAreMadeOnceForEachPairOfLimitsAndNotKeptForEver) {
  const os::TestDirectory room;
  const auto proc = os::open("/proc", O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(proc);
  ProcViews views(proc->get(), room.path());
  Limits limits;
  const auto first = views.at(limits);
  ASSERT_TRUE(first);
  for (const char* name : kViewFiles) EXPECT_TRUE(os::exists(*first + "/" + name)) << name;
  EXPECT_EQ(*views.at(limits), *first);
  limits.memory_bytes /= 2;
  EXPECT_NE(*views.at(limits), *first);
  for (int i = 0; i < 300; ++i) {
    limits.memory_bytes += 4096;
    ASSERT_TRUE(views.at(limits));
  }
  EXPECT_FALSE(os::exists(*first));
}

}  // namespace
}  // namespace atl::sandbox::native
