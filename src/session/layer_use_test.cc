#include "session/layer_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/file.h"
#include "session/service_harness_test.h"

namespace atl::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// One environment that is built from a recipe of the program's own.
class LayerUseTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    const registry::SourceFile policy{"policies/standard.yaml", "name: standard\n"};
    auto loaded = registry::Registry::from_files(
        {policy,
         {"environments/made.yaml", "name: made\npreimport: [json]\nbuild: {packages: [bash]}\n"},
         {"environments/alias.yaml", "name: alias\npreimport: [json]\nstack: other\nfallback: host\n"}},
        {});
    ASSERT_TRUE(loaded) << loaded.error().message();
    service_.reset();
    *registry_ = std::move(*loaded);
    auto layers = layer::Store::open(folder_ + "/layers", layer::Durability::unsynced);
    ASSERT_TRUE(layers);
    layers_ = std::move(*layers);
    registry_->attach(*layers_);
  }
  std::string layer_with(const std::string& content) {
    auto claim = layers_->claim();
    auto draft = layers_->draft();
    EXPECT_TRUE(claim && draft && os::write_file(draft->tree_path() + "/file", content));
    auto layer = layers_->put(std::move(*draft), *claim);
    EXPECT_TRUE(layer);
    // It stays when the claim goes.
    EXPECT_TRUE(layers_->save({.name = "keep-" + content, .layers = {layer->digest}}));
    return layer->digest;
  }
  const registry::Environment& made() { return *registry_->environment("made"); }

  std::unique_ptr<layer::Store> layers_;
};

// Whose layers may have a zygote: those that a shipped recipe made, also when a snapshot keeps them longer
// than their environment does; never those that somebody put under the same name.
TEST_F(LayerUseTest, TrustFollowsTheLayersAndNotTheName) {
  LayerUse use(layers_.get());
  const std::string recipe = name_of(*made().recipe, "");
  ASSERT_TRUE(registry_->ships(recipe));
  const std::string ours = layer_with("ours"), theirs = layer_with("theirs");
  ASSERT_TRUE(layers_->save({.name = "made", .layers = {ours}, .recipe = recipe}));
  auto first = use.take("first", made(), "");
  ASSERT_TRUE(first);
  EXPECT_THAT(first->paths, ElementsAre(layers_->path(ours)));
  EXPECT_TRUE(registry_->ships(first->recipe));
  ASSERT_TRUE(use.keep("snap", "first"));
  // As an import does.
  ASSERT_TRUE(layers_->save({.name = "made", .layers = {theirs}}));
  auto second = use.take("second", made(), "");
  ASSERT_TRUE(second);
  EXPECT_THAT(second->paths, ElementsAre(layers_->path(theirs)));
  EXPECT_FALSE(registry_->ships(second->recipe));
  auto third = use.take("third", made(), "snap");
  ASSERT_TRUE(third);
  EXPECT_THAT(third->paths, ElementsAre(layers_->path(ours)));
  EXPECT_TRUE(registry_->ships(third->recipe));
  // A snapshot from before there were layers stands on the host's view, which is nobody's recipe.
  auto fourth = use.take("fourth", made(), "unknown");
  ASSERT_TRUE(fourth);
  EXPECT_THAT(fourth->paths, IsEmpty());
  EXPECT_EQ(fourth->recipe, "");
}

TEST_F(LayerUseTest, SandboxesAreToldWhomToTrust) {
  LocalService::Dependencies dependencies{loop_.get_executor(), store_.get(), blobs_.get(),
                                          registry_.get(),      {&provider_}, &Clock::machine()};
  dependencies.layers = layers_.get();
  ServiceOptions options;
  options.snapshot_directory = folder_ + "/snapshots";
  service_ = std::make_unique<LocalService>(std::move(dependencies), std::move(options));
  const std::string ours = layer_with("ours");
  ASSERT_TRUE(layers_->save({.name = "made", .layers = {ours}, .recipe = name_of(*made().recipe, "")}));
  create({.environment = "made"});
  EXPECT_TRUE(provider_.last->spec().trusted_layers);
  EXPECT_THAT(provider_.last->spec().preimport, SizeIs(1));
  CreateRequest directory{.environment = "made"};
  directory.local.layers = std::vector<std::string>{"/some/tree"};
  create(std::move(directory));
  EXPECT_FALSE(provider_.last->spec().trusted_layers);
  ASSERT_TRUE(layers_->save({.name = "made", .layers = {ours}, .source = "import x"}));
  create({.environment = "made"});
  EXPECT_FALSE(provider_.last->spec().trusted_layers);
  // Where the host's view stands in there is nothing to trust, and nothing to import before.
  create({.environment = "alias"});
  EXPECT_THAT(provider_.last->spec().layers, IsEmpty());
  EXPECT_FALSE(provider_.last->spec().trusted_layers);
  EXPECT_THAT(provider_.last->spec().preimport, IsEmpty());
}

}  // namespace
}  // namespace atl::session
