#include "config/checked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

namespace atl::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::string_literals;

TEST(Checked, NumbersAreFiniteAndInRange) {
  for (const auto* bad :
       {"", " ", "nan", "inf", "-inf", "0", "-3", "1e999", "1x", "0x10", "1 2", "1e9", "١"}) {
    EXPECT_FALSE(Checked("--time", bad).seconds(0.001, 1000)) << bad;
    EXPECT_FALSE(Checked("--cpus", bad).number(0.01, 1000)) << bad;
    EXPECT_FALSE(Checked("--processes", bad).whole_number(1, 1000)) << bad;
  }
  EXPECT_FALSE(Checked("--processes", "1.5").whole_number(1, 1000));
  EXPECT_FALSE(Checked("--processes", "99999999999999999999").whole_number(1, INT64_MAX));
  EXPECT_EQ(Checked("--time", "1.5").seconds(0.001, 1000).value(), std::chrono::milliseconds(1500));
  EXPECT_EQ(Checked("--time", "0.001").seconds(0.001, 1000).value(), std::chrono::milliseconds(1));
  EXPECT_EQ(Checked("--processes", "+7").whole_number(1, 1000).value(), 7);
}

TEST(Checked, SizesHaveBoundsAndUnits) {
  for (const auto* bad : {"", "lots", "-1", "nan", "inf", "0", "1X", "9e99", "99999999T", "1M M"})
    EXPECT_FALSE(Checked("--memory", bad).bytes(1, 1ULL << 50)) << bad;
  EXPECT_EQ(Checked("--memory", "256M").bytes(1, 1ULL << 50).value(), 256U << 20U);
}

TEST(Checked, ARefusalNamesFieldProblemAndFix) {
  const auto refused = Checked("--time", "inf").seconds(0.001, 60);
  EXPECT_THAT(refused.error().message(), AllOf(StartsWith("--time: 'inf'"), HasSubstr("from 0.001 to 60")));
  EXPECT_EQ(refused.error().field(), "--time");
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
}

TEST(Checked, NamesAndLabels) {
  for (const auto& bad :
       {""s, "   "s, "a\nb"s, "\x1b[31mred"s,
        "\xc2\x9b"
        "31m"s,
        "\xff"s, std::string(101, 'x'), "a\0b"s, "a\u202eb"s, "\u2066x"s, "\u200fx"s, "x\u2028y"s, "\u061c"s})
    EXPECT_FALSE(Checked("--name", bad).label(100)) << bad;
  EXPECT_EQ(shown("a\u202eb"), "a\\xe2\\x80\\xaeb");
  EXPECT_TRUE(Checked("--name", "“quoted” – 你好 ‰").label(100));
  EXPECT_TRUE(Checked("--name", "Anna's laptop, größer").label(100));
  for (const auto* bad : {"", ".", "..", "-x", "a/b", "a b", "ä", "a\n"})
    EXPECT_FALSE(Checked("--tenant", bad).name(64)) << bad;
  EXPECT_TRUE(Checked("--tenant", "team-7.b_c").name(64));
  for (const auto* bad : {"", "NAME", "=x", "1A=x", "A B=x", "A-B=x"})
    EXPECT_FALSE(Checked("--env", bad).assignment()) << bad;
  EXPECT_EQ(Checked("--env", "A=b=c\n").assignment().value(), std::pair("A"s, "b=c\n"s));
  EXPECT_FALSE(Checked("--network", "egres").choice(std::array<std::string_view, 2>{"none", "egress"}));
  EXPECT_THAT(Checked("--network", "egres")
                  .choice(std::array<std::string_view, 2>{"none", "egress"})
                  .error()
                  .message(),
              HasSubstr("did you mean 'egress'"));
}

TEST(Checked, PathsAndGroupsDoNotClimb) {
  for (const auto* bad : {"", "..", "../../x", "a/../b", "/a", "a//b", "a/", ".", "a/./b", "a b", "-a"})
    EXPECT_FALSE(Checked("--cgroup-parent", bad).control_group()) << bad;
  EXPECT_TRUE(Checked("--cgroup-parent", "machine.slice/atoll-7").control_group());
  for (const auto* bad : {"", "a", "/a/../b", "/..", "/.", "/a\n"})
    EXPECT_FALSE(Checked("--cwd", bad).absolute_path()) << bad;
  EXPECT_TRUE(Checked("--cwd", "/home/user").absolute_path());
  for (const auto* bad : {"", "-a", "a b", "a_b", ".a", "a-"})
    EXPECT_FALSE(Checked("--hostname", bad).host_name()) << bad;
  EXPECT_FALSE(Checked("--hostname", std::string(65, 'a')).host_name());
}

TEST(Shown, NothingReachesATerminalThatItWouldObey) {
  EXPECT_EQ(shown("a\x1b[31m\n\x7f"), "a\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(shown("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(shown("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(shown("größer"), "größer");
  EXPECT_EQ(shown("abcdef", 3), "abc...");
}

struct InputTest : ::testing::Test {
  std::filesystem::path work = std::filesystem::path("/tmp") / ("atoll-input-" + std::to_string(::getpid()));
  InputTest() { std::filesystem::create_directories(work); }
  ~InputTest() override { std::filesystem::remove_all(work); }
  std::string refusal(const std::string& name, InputKind kind = InputKind::file) {
    auto read = read_input(work / name, 100, kind);
    return read ? "accepted" : read.error().message();
  }
};

TEST_F(InputTest, OnlyFilesAreRead) {
  std::filesystem::create_directory(work / "directory");
  std::filesystem::create_symlink("loop", work / "loop");
  ASSERT_EQ(::mkfifo((work / "pipe").c_str(), 0600), 0);
  std::ofstream(work / "long") << std::string(101, 'x');
  std::ofstream(work / "good") << "text";
  std::filesystem::create_symlink("good", work / "link");
  EXPECT_THAT(refusal("directory"),
              AllOf(StartsWith((work / "directory").string()), HasSubstr("a directory, not a file")));
  EXPECT_THAT(refusal("loop"), HasSubstr("leads to itself"));
  EXPECT_THAT(refusal("pipe"), HasSubstr("a pipe, not a file"));
  EXPECT_THAT(refusal("nothing"), HasSubstr("no such file"));
  EXPECT_THAT(refusal("good/below"), HasSubstr("no such file"));
  EXPECT_THAT(refusal("long"), HasSubstr("longer than 100 bytes"));
  EXPECT_THAT(refusal("../../dev/null"), HasSubstr("a device"));
  EXPECT_EQ(read_input(work / "link", 100).value(), "text");
}

TEST_F(InputTest, APipeIsReadToItsEndWhereOneIsTaken) {
  const std::string path = work / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream out(path);
    out << "one ";
    out.flush();
    out << "two";
  });
  EXPECT_EQ(read_input(path, 100, InputKind::file_or_pipe).value(), "one two");
  writer.join();
}

}  // namespace
}  // namespace atl::config
