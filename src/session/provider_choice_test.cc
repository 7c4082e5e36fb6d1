// Which provider and which environment a session gets, and what is refused before anything starts.
#include "session/environment_choice.h"
#include "session/service_harness_test.h"

namespace atl::session {
namespace {

struct EnvironmentChoice : testing::Test {
  void SetUp() override {
    auto loaded = registry::Registry::from_files(
        {{"environments/host.yaml", "name: host\n"},
         {"environments/slim.yaml", "name: slim\nimage: python:3.13-slim\n"},
         {"environments/both.yaml", "name: both\nimage: debian\nlayers: [/nonexistent]\nuser: root\n"},
         {"limits/limits.yaml", "default_limits: {}\n"},
         {"policies/standard.yaml", "name: standard\n"}},
        {});
    ASSERT_TRUE(loaded) << loaded.error().message();
    registry = std::make_unique<registry::Registry>(std::move(*loaded));
  }
  Result<const registry::Environment*> choose(const std::string& wanted, const std::string& image) {
    return choose_environment(*registry, traits, wanted, image, "host", facts);
  }
  std::unique_ptr<registry::Registry> registry;
  sandbox::Traits traits;
  Session facts;
};

TEST_F(EnvironmentChoice, RefusesImagesWhereThereAreNone) {
  EXPECT_EQ(choose("", "python:3.13").error().field(), "image");
  EXPECT_EQ(choose("", "python:3.13").error().code(), Code::unsupported);
  EXPECT_EQ(choose("slim", "").error().field(), "environment");
  EXPECT_EQ(choose("python:latest", "").error().code(), Code::invalid_argument);
  EXPECT_TRUE(facts.environment.empty());
}

TEST_F(EnvironmentChoice, RefusesWhatIsNoReference) {
  traits.images = true;
  for (const char* bad : {"a b", "-x", "../up", "name:", "a//b", "x\ny"}) {
    EXPECT_EQ(choose("", bad).error().field(), "image") << bad;
    EXPECT_EQ(choose(bad, "").error().field(), "environment") << bad;
  }
  EXPECT_EQ(choose("mars", "python").error().field(), "environment");
}

TEST_F(EnvironmentChoice, AnImageMayStandForAnEnvironment) {
  traits.images = true;
  auto chosen = choose("python:latest", "");
  ASSERT_TRUE(chosen) << chosen.error().message();
  EXPECT_EQ(*chosen, &undeclared_image());
  EXPECT_EQ(facts.environment, "python:latest");
  EXPECT_EQ(facts.image, "python:latest");
  EXPECT_EQ(environment_of(*registry, facts, traits), &undeclared_image());
  chosen = choose("", "host");  // an image that is called like an environment
  ASSERT_TRUE(chosen);
  EXPECT_EQ(*chosen, &undeclared_image());
  EXPECT_EQ(environment_of(*registry, facts, traits), &undeclared_image());
  chosen = choose("slim", "");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(facts.image, "python:3.13-slim");
  EXPECT_EQ((*chosen)->user, "");
  EXPECT_EQ(environment_of(*registry, facts, traits), *chosen);
  chosen = choose("both", "debian:12");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(facts.image, "debian:12");
  EXPECT_EQ(facts.environment, "both");
  EXPECT_EQ((*chosen)->user, "root");
}

TEST_F(EnvironmentChoice, ATemplateNeedsNoDeclaration) {
  traits.templates = true;
  auto chosen = choose("their-template", "");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(facts.environment, "their-template");
  EXPECT_EQ(environment_of(*registry, facts, traits), &undeclared_template());
  ASSERT_TRUE(choose("", ""));
  EXPECT_EQ(facts.environment, "Python3");
  EXPECT_EQ(choose(std::string(300, 'x'), "").error().field(), "environment");
  EXPECT_EQ(choose("", "python").error().field(), "image");
}

struct ProviderChoice : ServiceTest {};

TEST_F(ProviderChoice, TellsUnknownFromAbsent) {
  CreateRequest request;
  request.provider = "mars";
  auto made = wait(service_->create(ann_, request));
  EXPECT_EQ(made.error().code(), Code::invalid_argument);
  EXPECT_EQ(made.error().field(), "provider");
  request.provider = "gvisor";
  made = wait(service_->create(ann_, request));
  EXPECT_EQ(made.error().code(), Code::unsupported);
  EXPECT_EQ(made.error().field(), "provider");
  request.provider.clear();
  request.image = "python";
  EXPECT_EQ(wait(service_->create(ann_, request)).error().code(), Code::unsupported);
}

TEST_F(ProviderChoice, FallsBackOnlyWhereAllowedAndSaysSo) {
  CreateRequest request;
  request.provider = "mars";
  request.fallback = {std::string(provider_.name())};
  EXPECT_EQ(wait(service_->create(ann_, request)).error().code(), Code::invalid_argument);
  request.provider = "docker";
  const auto made = wait(service_->create(ann_, request));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->provider, provider_.name());
  EXPECT_NE(made->provider_reason.find("fallback: provider docker"), std::string::npos)
      << made->provider_reason;
  const auto stored = wait(service_->get(ann_, made->session_id));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->provider_reason, made->provider_reason);
}

}  // namespace
}  // namespace atl::session
