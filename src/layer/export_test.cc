#include "layer/export.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "layer/import.h"
#include "layer/layer_harness.h"
#include "layer/tar_bytes.h"

namespace atl::layer {
namespace {

using testing::SizeIs;

class ExportTest : public LayerTest {
 protected:
  ExportTest() {
    Claim claim = *store_->claim();
    const Layer low = layer_of({{"kept", "low"}, {"gone", "low"}, {"d/low", "low"}, {"e/low", "low"}}, claim);
    auto draft = *store_->draft();
    EXPECT_TRUE(make_whiteout(draft.tree(), "gone"));
    for (const char* name : {"d", "e"}) EXPECT_EQ(::mkdirat(draft.tree(), name, 0755), 0);
    const os::Fd opaque = *os::open_at(draft.tree(), "d", O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(mark_opaque(opaque.get(), store_->attributes()));
    EXPECT_TRUE(os::write_file_at(draft.tree(), "d/up", "up"));
    EXPECT_EQ(::linkat(draft.tree(), "d/up", draft.tree(), "e/link", 0), 0);
    EXPECT_EQ(::symlinkat("/d/up", draft.tree(), "n\xc3\xa4me"), 0);
    opaque_times(draft);
    const Layer up = *store_->put(std::move(draft), claim);
    stack_ = {.name = "s",
              .layers = {low.digest, up.digest},
              .env = {{"A", "1"}},
              .user = "app",
              .working_directory = "/w"};
    EXPECT_TRUE(store_->save(stack_));
  }
  static void opaque_times(const Draft& draft) {
    const timespec times[2] = {{5, 0}, {5, 0}};
    for (const char* name : {"d/up", "n\xc3\xa4me", "d", "e"})
      ::utimensat(draft.tree(), name, times, AT_SYMLINK_NOFOLLOW);
  }
  std::string write_out(ExportFormat format, const std::string& name) {
    const std::string path = directory_ + "/" + name;
    const os::Fd out = *os::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    auto done = export_stack(*store_, stack_, format, out.get());
    EXPECT_TRUE(done) << done.error().message();
    return path;
  }
  Stack stack_;
};

TEST_F(ExportTest, SaysWhatCannotBeWritten) {
  const os::Fd full = *os::open("/dev/full", O_WRONLY);
  for (const ExportFormat format : {ExportFormat::oci, ExportFormat::tar})
    EXPECT_FALSE(export_stack(*store_, stack_, format, full.get()));
  stack_.layers.push_back(std::string(64, '0'));
  const os::Fd null = *os::open("/dev/null", O_WRONLY);
  for (const ExportFormat format : {ExportFormat::oci, ExportFormat::tar})
    EXPECT_FALSE(export_stack(*store_, stack_, format, null.get()));
  EXPECT_EQ(incoming(), 0U);
}

TEST_F(ExportTest, TellsHowFarItIsAndCanBeGivenUp) {
  const os::Fd null = *os::open("/dev/null", O_WRONLY);
  for (const ExportFormat format : {ExportFormat::oci, ExportFormat::tar}) {
    std::vector<std::uint64_t> heard;
    std::uint64_t all = 0;
    const auto listen = [&](std::uint64_t so_far, std::uint64_t of) -> Result<void> {
      heard.push_back(so_far), all = of;
      return {};
    };
    ASSERT_TRUE(export_stack(*store_, stack_, format, null.get(), listen));
    EXPECT_TRUE(std::ranges::is_sorted(heard));
    EXPECT_GT(heard.back(), 0U);
    EXPECT_LE(heard.back(), all);
    const auto give_up = [](std::uint64_t, std::uint64_t) -> Result<void> {
      return fail(Code::canceled, "interrupted");
    };
    auto given_up = export_stack(*store_, stack_, format, null.get(), give_up);
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().code(), Code::canceled);
    EXPECT_EQ(incoming(), 0U);
  }
}

TEST_F(ExportTest, AnImageComesBackAsTheSameLayers) {
  const std::string file = write_out(ExportFormat::oci, "a.tar");
  EXPECT_EQ(*os::read_file(file, 1 << 24), *os::read_file(write_out(ExportFormat::oci, "b.tar"), 1 << 24));
  auto back = import_file(*store_, file, {.name = "back"});
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->stack.layers, stack_.layers);
  EXPECT_EQ(back->stack.env, stack_.env);
  EXPECT_EQ(back->stack.user, "app");
  EXPECT_EQ(back->stack.working_directory, "/w");
  EXPECT_EQ(incoming(), 0U);
}

TEST_F(ExportTest, PlainFilesAreTheLayersLaidTogether) {
  auto flat = import_file(*store_, write_out(ExportFormat::tar, "flat.tar"), {.name = "flat"});
  ASSERT_TRUE(flat) << flat.error().message();
  ASSERT_THAT(flat->stack.layers, SizeIs(1));
  const std::string digest = flat->stack.layers[0];
  EXPECT_EQ(read(digest, "kept"), "low");
  EXPECT_EQ(status(digest, "gone").st_mode, 0U);
  EXPECT_EQ(status(digest, "d/low").st_mode, 0U);
  EXPECT_EQ(read(digest, "d/up"), "up");
  EXPECT_EQ(read(digest, "e/low"), "low");
  EXPECT_EQ(status(digest, "d/up").st_ino, status(digest, "e/link").st_ino);
  for (const std::string& layer : stack_.layers)
    EXPECT_TRUE(store_->verify(layer)) << "the layers did not change";
}

}  // namespace
}  // namespace atl::layer
