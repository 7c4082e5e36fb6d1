#include "vfs/path.h"

#include <gtest/gtest.h>

namespace atl::vfs {
namespace {

std::string parsed(std::string_view text) {
  return Path::parse(text).value().str();
}

TEST(Path, RefusesWhatCannotBeAPath) {
  EXPECT_EQ(Path::parse(std::string_view("/a\0b", 4)).error().code(), Code::invalid_argument);
  EXPECT_EQ(Path::parse("/" + std::string(256, 'x')).error().code(), Code::too_large);
  EXPECT_TRUE(Path::parse("/" + std::string(255, 'x')));
  std::string longest;
  while (longest.size() + 256 <= kPathBytesMax) longest += "/" + std::string(255, 'y');
  EXPECT_EQ(longest.size(), kPathBytesMax);
  EXPECT_TRUE(Path::parse(longest));
  EXPECT_EQ(Path::parse(longest + "/z").error().code(), Code::too_large);
  EXPECT_EQ(Path::parse(longest).value().child("z").error().code(), Code::too_large);
  EXPECT_EQ(Path::parse(std::string(100'000, '/')).error().code(), Code::too_large);
}

TEST(Path, RefusesWhatCannotBeAName) {
  for (std::string_view name : {"", ".", "..", "a/b"})
    EXPECT_EQ(Path().child(name).error().code(), Code::invalid_argument) << name;
  EXPECT_EQ(check_name(std::string_view("a\0", 2)).error().code(), Code::invalid_argument);
  EXPECT_EQ(check_name(std::string(256, 'n')).error().code(), Code::too_large);
  EXPECT_TRUE(check_name("..."));
}

TEST(Path, Normalises) {
  EXPECT_EQ(parsed(""), "/");
  EXPECT_EQ(parsed("/"), "/");
  EXPECT_EQ(parsed("a"), "/a");
  EXPECT_EQ(parsed("/a/"), "/a");
  EXPECT_EQ(parsed("//a///b//"), "/a/b");
  EXPECT_EQ(parsed("/a/./b/."), "/a/b");
  EXPECT_EQ(parsed("/a/../b"), "/b");
  EXPECT_EQ(parsed("/../../a"), "/a");
  EXPECT_EQ(parsed("a/b/../.."), "/");
  EXPECT_EQ(parsed("\\a\\b"), "/a/b");
  EXPECT_EQ(parsed("a\\..\\b"), "/b");
  EXPECT_EQ(Path::posix("/a\\b").value().str(), "/a\\b");
  EXPECT_EQ(parsed("/\xff\xfe"), "/\xff\xfe");
}

TEST(Path, TellsItsParts) {
  auto path = Path::parse("/dir/archive.tar.gz").value();
  EXPECT_EQ(path.name(), "archive.tar.gz");
  EXPECT_EQ(path.extension(), ".gz");
  EXPECT_EQ(path.stem(), "archive.tar");
  EXPECT_EQ(path.parent().str(), "/dir");
  EXPECT_EQ(path.parent().parent().str(), "/");
  EXPECT_EQ(path.depth(), 2U);
  EXPECT_EQ(Path().parent().str(), "/");
  EXPECT_EQ(Path().name(), "");
  EXPECT_EQ(Path().depth(), 0U);
  EXPECT_TRUE(Path().is_root());
  EXPECT_EQ(Path::parse("/.bashrc").value().extension(), "");
  EXPECT_EQ(Path::parse("/.bashrc").value().stem(), ".bashrc");
  EXPECT_EQ(Path::parse("/a.").value().extension(), ".");
}

TEST(Path, KnowsItsFamily) {
  auto a = Path::parse("/a").value(), ab = Path::parse("/a/b").value(), axe = Path::parse("/ab").value();
  EXPECT_TRUE(ab.is_child_of(a));
  EXPECT_TRUE(ab.is_child_of(Path()));
  EXPECT_FALSE(a.is_child_of(a));
  EXPECT_FALSE(Path().is_child_of(Path()));
  EXPECT_TRUE(a.is_same_or_child_of(a));
  EXPECT_FALSE(axe.is_child_of(a));
  EXPECT_EQ(ab.relative_to(a).str(), "/b");
  EXPECT_EQ(a.relative_to(a).str(), "/");
  EXPECT_EQ(a.relative_to(Path()).str(), "/a");
  EXPECT_EQ(ab.below(axe).value().str(), "/ab/a/b");
  EXPECT_EQ(Path().below(a).value().str(), "/a");
  EXPECT_EQ(a.below(Path()).value().str(), "/a");
}

TEST(Path, Joins) {
  auto base = Path::parse("/home/user").value();
  EXPECT_EQ(base.join("x/y").value().str(), "/home/user/x/y");
  EXPECT_EQ(base.join("/x").value().str(), "/x");
  EXPECT_EQ(base.join("../../..").value().str(), "/");
  EXPECT_EQ(base.join("").value().str(), "/home/user");
  EXPECT_LT(Path(), base);
  EXPECT_EQ(std::hash<Path>{}(base), std::hash<Path>{}(Path::parse("home/user/").value()));
}

}  // namespace
}  // namespace atl::vfs
