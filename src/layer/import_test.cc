#include "layer/import.h"

#include <gmock/gmock.h>
#include <sys/xattr.h>
#include <zlib.h>

#include <algorithm>

#include "base/bytes.h"
#include "layer/extract.h"
#include "layer/layer_harness.h"
#include "layer/tar_bytes.h"
#include "layer/walk.h"

namespace atl::layer {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

class ImportTest : public LayerTest {
 protected:
  Result<Imported> import(std::string_view bytes, const std::string& name = "thing") {
    options_.name = name;
    return import_file(*store_, write("archive", bytes), options_);
  }
  // Every refusal leaves the store as it was.
  void expect_refused(std::string_view bytes, const std::string& why, Code code = Code::invalid_argument) {
    auto imported = import(bytes);
    ASSERT_FALSE(imported) << why;
    EXPECT_THAT(imported.error().message(), HasSubstr(why));
    EXPECT_EQ(imported.error().code(), code) << imported.error().message();
    EXPECT_EQ(incoming(), 0U);
    EXPECT_TRUE(store_->stacks()->empty());
    ASSERT_TRUE(store_->collect());
    EXPECT_TRUE(store_->layers()->empty());
    EXPECT_FALSE(os::exists(directory_ + "/escaped"));
  }
  ImportOptions options_;
};

TEST_F(ImportTest, RefusesWhatIsNoArchive) {
  expect_refused("", "not a tar archive");
  expect_refused("hello, this is no archive at all", "not a tar archive");
  expect_refused(std::string(4096, '\xff'), "not a tar archive");
  expect_refused(TarBytes().finish(), "empty");
  auto missing = import_file(*store_, directory_ + "/none", {.name = "x"});
  EXPECT_EQ(missing.error().code(), Code::not_found);
  std::filesystem::create_directories(directory_ + "/dir");
  auto directory = import_file(*store_, directory_ + "/dir", {.name = "x"});
  EXPECT_THAT(directory.error().message(), HasSubstr("oci-layout"));
  EXPECT_EQ(import_file(*store_, "x", {.name = "a/b"}).error().field(), "name");
}

TEST_F(ImportTest, RefusesPathsThatLeave) {
  expect_refused(TarBytes().file("../escaped").finish(), "leaves its directory");
  expect_refused(TarBytes().file("a/../../escaped").finish(), "leaves its directory");
  expect_refused(TarBytes().file("a/b/../c").finish(), "leaves its directory");
  expect_refused(TarBytes().file(directory_ + "/escaped").finish(), "absolute name");
  expect_refused(TarBytes().pax("path", "../escaped").file("innocent").finish(), "leaves its directory");
  expect_refused(TarBytes().pax("path", std::string(5000, 'a')).file("x").finish(), "too long");
  expect_refused(TarBytes().pax("path", std::string(300, 'a')).file("x").finish(), "too long");
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "d/";
  expect_refused(TarBytes().pax("path", deep + "f").file("x").finish(), "nested too deeply");
}

TEST_F(ImportTest, RefusesToWriteThroughLinks) {
  const std::string outside = directory_;
  expect_refused(TarBytes().symlink("link", outside).file("link/escaped").finish(), "no directory");
  expect_refused(TarBytes().symlink("link", "..").file("link/escaped").finish(), "no directory");
  expect_refused(TarBytes().directory("d").symlink("link", "d").file("link/f").finish(), "no directory");
  expect_refused(TarBytes().symlink("f", outside + "/escaped").file("f").finish(), "comes twice");
  expect_refused(TarBytes().file("f").file("f/g").finish(), "no directory");
  expect_refused(TarBytes().symlink("d", outside).directory("d").finish(), "comes twice");
  expect_refused(TarBytes().symlink("d", "").finish(), "link to nowhere");
}

TEST_F(ImportTest, RefusesHardLinksThatReachOut) {
  write("secret", "secret");
  expect_refused(TarBytes().hard_link("f", "../secret").finish(), "leaves its directory");
  expect_refused(TarBytes().hard_link("f", directory_ + "/secret").finish(), "absolute name");
  expect_refused(TarBytes().symlink("l", directory_).hard_link("f", "l/secret").finish(),
                 "did not come before");
  expect_refused(TarBytes().symlink("l", directory_ + "/secret").hard_link("f", "l").finish(), "no file");
  expect_refused(TarBytes().hard_link("f", "later").file("later").finish(), "did not come before");
  expect_refused(TarBytes().directory("d").hard_link("f", "d").finish(), "no file");
  expect_refused(TarBytes().hard_link("f", ".").finish(), "directory");
}

TEST_F(ImportTest, RefusesTwoEntriesOfOneName) {
  expect_refused(TarBytes().file("f", "1").file("f", "2").finish(), "'f' comes twice");
  expect_refused(TarBytes().file("f", "1").file("./f", "2").finish(), "comes twice");
  expect_refused(TarBytes().file("f").directory("f").finish(), "comes twice");
  expect_refused(TarBytes().directory("f").file("f").finish(), "comes twice");
  expect_refused(TarBytes().file("f").symlink("f", "x").finish(), "comes twice");
  expect_refused(TarBytes().file("f").file("g").hard_link("g", "f").finish(), "comes twice");
}

TEST_F(ImportTest, RefusesSizesThatLie) {
  expect_refused(TarBytes().add({.name = "f", .content = "abc", .size_field = "00000010000"}).finish(),
                 "damaged");
  expect_refused(TarBytes().file("f", std::string(4096, 'a')).unfinished().substr(0, 2048), "damaged");
  expect_refused(TarBytes().pax("size", "99999999999999999").file("f").finish(), "larger than",
                 Code::too_large);
  expect_refused(TarBytes().pax("size", "-5").file("f").finish(), "");
  // GNU sparse: eight exabytes of nothing.
  expect_refused(TarBytes()
                     .pax("GNU.sparse.realsize", "9223372036854775807")
                     .pax("GNU.sparse.map", "0,0")
                     .file("f", "")
                     .finish(),
                 "");
}

TEST_F(ImportTest, RefusesBombs) {
  options_.limits = {.entries_max = 100, .bytes_max = 1 << 20, .ratio_max = 50, .ratio_from_bytes = 1 << 18};
  TarBytes many;
  for (int i = 0; i < 200; ++i) many.file(fmt::format("f{}", i), "");
  expect_refused(many.finish(), "more than 100 entries", Code::too_large);
  expect_refused(gzip(TarBytes().file("f", std::string(2 << 20, 'a')).finish()), "larger than",
                 Code::too_large);
  expect_refused(gzip(TarBytes().file("f", std::string(900 << 10, 'a')).finish()), "grows more than",
                 Code::too_large);
  expect_refused(gzip(gzip(TarBytes().file("f").finish())), "compressed more than once");
  std::string nested = TarBytes().file("f").finish();
  for (int i = 0; i < 10; ++i) nested = gzip(nested);
  expect_refused(nested, "");
  options_.limits = {};
  std::string cut = gzip(TarBytes().file("f", std::string(100000, 'a')).finish());
  cut.resize(cut.size() / 2);
  expect_refused(cut, "");
}

TEST_F(ImportTest, RefusesOwnersBeyondTheRange) {
  expect_refused(TarBytes().add({.name = "f", .uid = 65536}).finish(), "the ids 0 to 65535");
  expect_refused(TarBytes().pax("uid", "4294967296").file("f").finish(), "the ids 0 to 65535");
  expect_refused(TarBytes().add({.name = "f", .type = '5', .gid = 70000}).finish(), "belongs to 0:70000");
}

TEST_F(ImportTest, TellsHowFarItIs) {
  std::vector<std::uint64_t> heard;
  std::uint64_t all = 0;
  options_.moved = [&](std::uint64_t so_far, std::uint64_t of) -> Result<void> {
    heard.push_back(so_far), all = of;
    return {};
  };
  // One file alone is larger than what is read at once.
  const std::string bytes = TarBytes().file("a").file("b", std::string(3 << 20, 'b')).file("c").finish();
  ASSERT_TRUE(import(bytes));
  ASSERT_THAT(heard, SizeIs(Gt(10U)));
  EXPECT_TRUE(std::ranges::is_sorted(heard));
  EXPECT_EQ(all, bytes.size());
  EXPECT_LE(heard.back(), all);
}

TEST_F(ImportTest, OneThatIsGivenUpLeavesNothing) {
  int heard = 0;
  options_.moved = [&](std::uint64_t, std::uint64_t) -> Result<void> {
    if (++heard < 4) return {};
    return fail(Code::canceled, "interrupted");
  };
  auto given_up = import(TarBytes().file("a", std::string(3 << 20, 'a')).finish());
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code(), Code::canceled);
  EXPECT_EQ(heard, 4);
  EXPECT_THAT(*store_->layers(), IsEmpty());
  EXPECT_THAT(*store_->stacks(), IsEmpty());
}

TEST_F(ImportTest, DropsDevicesAndCountsThem) {
  auto imported = import(TarBytes()
                             .file("f")
                             .add({.name = "null", .type = '3'})
                             .add({.name = "sda", .type = '4'})
                             .add({.name = "pipe", .type = '6'})
                             .finish());
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_EQ(imported->devices_dropped, 3U);
  // A character device 0:0 would hide what lies below.
  EXPECT_EQ(status(imported->stack.layers[0], "null").st_mode, 0U);
}

TEST_F(ImportTest, DropsAttributesThatOverlayfsWouldBelieve) {
  auto imported = import(TarBytes()
                             .pax("SCHILY.xattr.user.overlay.opaque", "y")
                             .directory("a")
                             .pax("SCHILY.xattr.trusted.overlay.opaque", "y")
                             .directory("b")
                             .pax("SCHILY.xattr.trusted.overlay.redirect", "/etc")
                             .directory("c")
                             .pax("SCHILY.xattr.user.note", "kept")
                             .file("d")
                             .finish());
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_EQ(imported->attributes_dropped, 3U);
  const std::string tree = store_->path(imported->stack.layers[0]);
  char value[16] = {};
  for (const char* name : {"/a", "/b", "/c"})
    for (const char* attribute :
         {"user.overlay.opaque", "trusted.overlay.opaque", "trusted.overlay.redirect"})
      EXPECT_LT(::getxattr((tree + name).c_str(), attribute, value, sizeof value), 0);
  EXPECT_EQ(::getxattr((tree + "/d").c_str(), "user.note", value, sizeof value), 4);
}

TEST_F(ImportTest, KeepsEverythingElse) {
  TarBytes tar;
  tar.directory("./").add({.name = "d/", .type = '5', .mode = 01777, .uid = 7, .gid = 8});
  tar.add({.name = "d/f", .content = "content", .mode = 0640, .uid = 1000, .gid = 1000, .time = 12345});
  tar.add({.name = "suid", .content = "#!", .mode = 04755});
  tar.symlink("absolute", "/etc/passwd").symlink("up", "../../..").hard_link("d/g", "d/f");
  tar.pax("path", "n\xc3\xa4me \xe2\x82\xac").file("x", "utf8").file("implicit/parent/f");
  tar.pax("mtime", "-5").file("past").pax("mtime", "99999999999999").file("future");
  tar.directory("d");
  auto imported = import(tar.finish());
  ASSERT_TRUE(imported) << imported.error().message();
  ASSERT_THAT(imported->stack.layers, SizeIs(1));
  const std::string digest = imported->stack.layers[0];
  EXPECT_EQ(read(digest, "d/f"), "content");
  const struct stat file = status(digest, "d/f");
  EXPECT_EQ(file.st_mode & 07777, 0640U);
  EXPECT_EQ(file.st_mtime, 12345);
  EXPECT_EQ(file.st_nlink, 2U);
  EXPECT_EQ(status(digest, "d/g").st_ino, file.st_ino);
  EXPECT_EQ(status(digest, "suid").st_mode & 07777, 04755U);
  EXPECT_EQ(file.st_uid, ::geteuid() == 0 ? 1000U : ::geteuid());
  EXPECT_EQ(read(digest, "n\xc3\xa4me \xe2\x82\xac"), "utf8");
  EXPECT_TRUE(S_ISLNK(status(digest, "absolute").st_mode));
  EXPECT_EQ(status(digest, "implicit").st_mode & 0777, 0755U);
  EXPECT_EQ(status(digest, "past").st_mtime, 0);
  EXPECT_GT(status(digest, "future").st_mtime, 1'700'000'000);
  EXPECT_TRUE(store_->verify(digest));
  EXPECT_EQ(imported->stack.source, "import archive");
  EXPECT_EQ(imported->stack.recipe, "") << "nothing that came from outside is ours";
}

TEST_F(ImportTest, TheSameArchiveIsTheSameLayer) {
  const std::string tar = TarBytes().directory("./").file("f", "content").finish();
  const Imported plain = *import(tar, "a");
  const Imported zipped = *import(gzip(tar), "b");
  EXPECT_EQ(plain.stack.layers, zipped.stack.layers);
  EXPECT_THAT(*store_->layers(), SizeIs(1));
}

TEST_F(ImportTest, APlainTarHasNoWhiteouts) {
  const Imported imported = *import(TarBytes().file(".wh.name", "x").finish());
  EXPECT_EQ(read(imported.stack.layers[0], ".wh.name"), "x");
}

// What the image says that is not so.
struct Lies {
  std::string manifest_digest, layer_digest, diff_id, index;
  bool docker = false;
};

class ImageTest : public ImportTest {
 protected:
  std::string blob(const std::string& bytes) {
    const std::string hex = sha256_hex(bytes);
    write("image/blobs/sha256/" + hex, bytes);
    return hex;
  }
  // An OCI layout in <directory>/image with these layers.
  std::string make_image(const std::vector<std::string>& layers, const Lies& lies = {}) {
    std::string descriptors, diff_ids, paths;
    for (const std::string& tar : layers) {
      const std::string hex = blob(gzip(tar));
      const std::string comma = descriptors.empty() ? "" : ",";
      descriptors += fmt::format(
          R"({}{{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:{}","size":1}})",
          comma, lies.layer_digest.empty() ? hex : lies.layer_digest);
      diff_ids +=
          fmt::format(R"({}"sha256:{}")", comma, lies.diff_id.empty() ? sha256_hex(tar) : lies.diff_id);
      paths += fmt::format(R"({}"blobs/sha256/{}")", comma, hex);
    }
    const std::string config = blob(fmt::format(
        R"({{"architecture":"amd64","os":"linux","config":{{"User":"app","WorkingDir":"/srv","Env":["A=1","B=x=y"]}},"rootfs":{{"type":"layers","diff_ids":[{}]}}}})",
        diff_ids));
    const std::string manifest =
        blob(fmt::format(R"({{"schemaVersion":2,"config":{{"digest":"sha256:{}","size":1}},"layers":[{}]}})",
                         config, descriptors));
    const std::string digest = lies.manifest_digest.empty() ? manifest : lies.manifest_digest;
    if (lies.docker) {
      write("image/manifest.json",
            fmt::format(R"([{{"Config":"blobs/sha256/{}","RepoTags":["app:1"],"Layers":[{}]}}])", config,
                        paths));
    } else {
      write("image/oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
      write(
          "image/index.json",
          lies.index.empty()
              ? fmt::format(
                    R"({{"manifests":[{{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:{}","annotations":{{"org.opencontainers.image.ref.name":"v1"}}}}]}})",
                    digest)
              : lies.index);
    }
    return directory_ + "/image";
  }
  Result<Imported> take(const std::vector<std::string>& layers, const Lies& lies = {}) {
    (void)os::remove_tree(AT_FDCWD, directory_ + "/image");
    options_.name = "image";
    return import_file(*store_, make_image(layers, lies), options_);
  }
  void expect_bad(const Lies& lies, const std::string& why) {
    auto taken = take({TarBytes().file("f").finish()}, lies);
    ASSERT_FALSE(taken) << why;
    EXPECT_THAT(taken.error().message(), HasSubstr(why));
    EXPECT_EQ(incoming(), 0U);
    EXPECT_TRUE(store_->stacks()->empty());
  }
};

TEST_F(ImageTest, RefusesForgedDigests) {
  const std::string other(64, 'a');
  expect_bad({.manifest_digest = other}, "it has no 'blobs/sha256/aaaa");
  expect_bad({.layer_digest = other}, "it has no");
  expect_bad({.diff_id = other}, "the content of a layer has not the digest");
  expect_bad({.manifest_digest = "../../../etc/passwd"}, "is no sha256 digest");
  expect_bad({.diff_id = "x"}, "is no sha256 digest");
  (void)os::remove_tree(AT_FDCWD, directory_ + "/image");
  const std::string image = make_image({TarBytes().file("f").finish()});
  for (const auto& entry : std::filesystem::directory_iterator(image + "/blobs/sha256")) {
    const std::string bytes = *os::read_file(entry.path());
    ASSERT_TRUE(os::write_file(entry.path(), bytes + " "));
    auto taken = import_file(*store_, image, {.name = "x"});
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().message(), HasSubstr("digest"));
    ASSERT_TRUE(os::write_file(entry.path(), bytes));
  }
  EXPECT_TRUE(import_file(*store_, image, {.name = "x"}));
}

TEST_F(ImageTest, RefusesDocumentsThatAreNone) {
  expect_bad({.index = "{"}, "index.json");
  expect_bad({.index = "{}"}, "'manifests' is missing");
  expect_bad({.index = R"({"manifests":[]})"}, "no image for linux");
  expect_bad({.index = R"({"manifests":[1]})"}, "no object");
  expect_bad({.index = R"({"manifests":[{"digest":1}]})"}, "no sha256 digest");
  expect_bad({.index = R"({"manifests":[{"platform":{"os":"plan9","architecture":"amd64"}}]})"},
             "no image for linux");
  const std::string list = blob("[1]");
  const std::string empty = blob("{}");
  for (const std::string& hex : {list, empty}) {
    (void)os::remove_tree(AT_FDCWD, directory_ + "/image");
    blob("[1]");
    blob("{}");
    write("image/oci-layout", "{}");
    write("image/index.json", fmt::format(R"({{"manifests":[{{"digest":"sha256:{}"}}]}})", hex));
    EXPECT_FALSE(import_file(*store_, directory_ + "/image", {.name = "x"}));
  }
}

TEST_F(ImageTest, RefusesLoopsOfIndexes) {
  // A digest cannot hold itself, so a loop is a chain without an end in sight.
  std::string inner = blob(R"({"manifests":[]})");
  for (int i = 0; i < 6; ++i)
    inner = blob(fmt::format(
        R"({{"manifests":[{{"mediaType":"application/vnd.oci.image.index.v1+json","digest":"sha256:{}"}}]}})",
        inner));
  write("image/oci-layout", "{}");
  write("image/index.json", *os::read_file(directory_ + "/image/blobs/sha256/" + inner));
  auto taken = import_file(*store_, directory_ + "/image", {.name = "x"});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message(), HasSubstr("nested too deeply"));
}

TEST_F(ImageTest, AsksWhichOfSeveral) {
  const std::string image = make_image({TarBytes().file("f").finish()});
  std::string index = *os::read_file(image + "/index.json");
  const std::string one = index.substr(14, index.size() - 16);
  std::string two = one;
  two.replace(two.find("v1\""), 3, "v2\"");
  write("image/index.json", R"({"manifests":[)" + one + "," + two + "]}");
  auto taken = import_file(*store_, image, {.name = "x"});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message(), HasSubstr("--image"));
  EXPECT_TRUE(import_file(*store_, image, {.name = "x", .image = "v2"}));
  EXPECT_EQ(import_file(*store_, image, {.name = "x", .image = "v3"}).error().code(), Code::not_found);
}

TEST_F(ImageTest, LayersHideWhatTheySay) {
  const std::string lowest =
      TarBytes().file("gone", "1").file("d/old", "1").file("e/old", "1").file(".wh.nothing", "").finish();
  const std::string upper = TarBytes()
                                .file(".wh.gone", "")
                                .file("d/.wh..wh..opq", "")
                                .file("d/new", "2")
                                .file(".wh.e", "")
                                .directory("e")
                                .directory("g")
                                .file(".wh.g", "")
                                .file(".wh.h", "")
                                .file("h", "entry wins")
                                .file(".wh..wh.plnk", "")
                                .finish();
  auto taken = take({lowest, upper});
  ASSERT_TRUE(taken) << taken.error().message();
  ASSERT_THAT(taken->stack.layers, SizeIs(2));
  EXPECT_EQ(status(taken->stack.layers[0], "nothing").st_mode, 0U) << "nothing lies below the lowest";
  const std::string top = taken->stack.layers[1];
  EXPECT_TRUE(is_whiteout(status(top, "gone")));
  EXPECT_EQ(read(top, "h"), "entry wins");
  for (const char* name : {"d", "e", "g"}) {
    const os::Fd directory = *os::open((store_->path(top) + "/" + name).c_str(), O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(is_opaque(directory.get(), store_->attributes())) << name;
  }
  EXPECT_EQ(taken->stack.user, "app");
  EXPECT_EQ(taken->stack.working_directory, "/srv");
  EXPECT_EQ(taken->stack.env.at("B"), "x=y");
}

TEST_F(ImageTest, RefusesWhiteoutsOfNothing) {
  for (const char* name : {".wh.", ".wh..", ".wh...", "d/.wh."}) {
    auto taken = take({TarBytes().file("f").finish(), TarBytes().file(name, "").finish()});
    ASSERT_FALSE(taken) << name;
    EXPECT_THAT(taken.error().message(), HasSubstr("hides no name"));
  }
  EXPECT_FALSE(take({TarBytes().file(".wh.a", "").file(".wh.a", "").finish()}));
}

TEST_F(ImageTest, TooManyLayersAreLaidTogether) {
  std::vector<std::string> layers;
  for (int i = 0; i < 30; ++i) {
    TarBytes tar;
    tar.file(fmt::format("f{}", i)).file(fmt::format("d/g{}", i));
    if (i > 0) tar.file(fmt::format(".wh.f{}", i - 1), "");
    layers.push_back(tar.finish());
  }
  auto taken = take(layers);
  ASSERT_TRUE(taken) << taken.error().message();
  EXPECT_THAT(taken->stack.layers, SizeIs(kImportLayersMax));
  const std::string lowest = taken->stack.layers[0];
  EXPECT_EQ(status(lowest, "f0").st_mode, 0U);
  EXPECT_NE(status(lowest, "f14").st_mode, 0U);
  EXPECT_NE(status(lowest, "d/g0").st_mode, 0U);
  layers.resize(1);
  EXPECT_FALSE(take(std::vector<std::string>(128, layers[0])));
}

TEST_F(ImageTest, ReadsWhatDockerSaves) {
  auto taken = take({TarBytes().file("f", "1").finish()}, {.docker = true});
  ASSERT_TRUE(taken) << taken.error().message();
  EXPECT_EQ(read(taken->stack.layers[0], "f"), "1");
  EXPECT_EQ(import_file(*store_, directory_ + "/image", {.name = "x", .image = "other"}).error().code(),
            Code::not_found);
  EXPECT_TRUE(import_file(*store_, directory_ + "/image", {.name = "x", .image = "app:1"}));
  for (const char* text :
       {"{}", "[]", "[1]", R"([{"Layers":[1]}])", R"([{"Layers":["/etc/passwd"],"Config":"x"}])",
        R"([{"Layers":["../archive"],"Config":"../archive"}])"}) {
    write("image/manifest.json", text);
    EXPECT_FALSE(import_file(*store_, directory_ + "/image", {.name = "x"})) << text;
  }
}

TEST_F(ImageTest, ReadsAnImageInATar) {
  const std::string image = make_image({TarBytes().file("f", "1").finish()});
  TarBytes tar;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(image))
    if (entry.is_regular_file())
      tar.file(entry.path().string().substr(image.size() + 1), *os::read_file(entry.path()));
  const Imported imported = *import(tar.finish(), "oci");
  EXPECT_EQ(read(imported.stack.layers[0], "f"), "1");
  EXPECT_EQ(incoming(), 0U);
}

TEST(CleanPath, MakesOneNameOfMany) {
  EXPECT_EQ(*clean_path("./a//b/./c/"), "a/b/c");
  EXPECT_EQ(*clean_path("."), "");
  EXPECT_EQ(*clean_path("./"), "");
  EXPECT_EQ(*clean_path("..a/b.."), "..a/b..");
  for (const char* name : {"", "/", "/a", "..", "a/..", "../a"}) EXPECT_FALSE(clean_path(name)) << name;
}

}  // namespace
}  // namespace atl::layer
