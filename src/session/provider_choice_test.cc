// Which provider and which environment a session gets, and what is refused before anything starts.
#include <fstream>

#include "registry/kinds.h"
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

// Policies that demand a provider and environments that prefer one; native is all there is.
struct DemandedProvider : ServiceTest {
  void SetUp() override {
    ServiceTest::SetUp();
    const auto put = [&](const std::string& name, const std::string& text) {
      std::filesystem::create_directories(std::filesystem::path(folder_ + "/registry/" + name).parent_path());
      std::ofstream(folder_ + "/registry/" + name) << text;
    };
    put("policies/hostile.yaml", "name: hostile\nextends: strict\nprovider: gvisor\n");
    put("policies/child.yaml", "name: child\nextends: hostile\n");
    put("policies/here.yaml", "name: here\nprovider: native\n");
    put("environments/rather.yaml", "name: rather\nprovider: gvisor\n");
    put("environments/mine.yaml", "name: mine\nprovider: native\n");
    put("environments/walled.yaml", "name: walled\npolicy: hostile\nprovider: native\n");
    put("agents/bad.yaml", "name: bad\npolicy: hostile\nprovider: native\n");
    auto loaded = registry::Registry::load(folder_ + "/registry");
    ASSERT_TRUE(loaded) << loaded.error().message();
    service_.reset();
    *registry_ = std::move(*loaded);
    open();
  }
  Error refusal(const CreateRequest& request) {
    auto made = wait(service_->create(ann_, request));
    EXPECT_FALSE(made) << made->provider << ": " << made->provider_reason;
    return made ? Error(Code::internal, "it was made") : made.error();
  }
};

TEST_F(DemandedProvider, APolicyIsNotServedByOthers) {
  for (const char* policy : {"hostile", "child"}) {
    CreateRequest request;
    request.policy = policy;
    const Error absent = refusal(request);
    EXPECT_EQ(absent.code(), Code::unsupported);
    EXPECT_NE(absent.message().find(std::string("policy ") + policy + " demands the provider gvisor"),
              std::string::npos)
        << absent.message();
    request.fallback = {"native"};
    EXPECT_EQ(refusal(request).code(), Code::unsupported) << "a fallback leads to no weaker walls";
    request.provider = "auto";
    EXPECT_EQ(refusal(request).code(), Code::unsupported);
    request.provider = "native";
    const Error other = refusal(request);
    EXPECT_EQ(other.code(), Code::permission_denied);
    EXPECT_EQ(other.field(), "provider");
    EXPECT_NE(other.message().find("not native"), std::string::npos) << other.message();
    request.provider = "gvisor";
    EXPECT_EQ(refusal(request).code(), Code::unsupported);
  }
  CreateRequest request;
  request.agent = "bad";
  EXPECT_EQ(refusal(request).code(), Code::permission_denied) << "an agent is bound as a request is";
  request = {};
  request.environment = "walled";
  EXPECT_EQ(refusal(request).code(), Code::unsupported) << "what an environment prefers is no demand";
}

TEST_F(DemandedProvider, TheSchemasKnowEveryProvider) {
  for (const char* kind : {"policies", "environments"}) {
    const auto& fields = registry::find_kind(kind)->fields;
    const auto field = std::ranges::find(fields, "provider", &registry::Field::name);
    ASSERT_NE(field, fields.end());
    EXPECT_TRUE(std::ranges::equal(field->words, kProviderNames)) << kind;
  }
}

TEST_F(DemandedProvider, TheReasonIsTold) {
  CreateRequest request;
  request.policy = "here";
  auto made = wait(service_->create(ann_, request));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->provider_reason, "policy here demands it");
  request.environment = "rather";
  made = wait(service_->create(ann_, request));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->provider_reason, "policy here demands it") << "a demand is more than a preference";
}

TEST_F(DemandedProvider, AnEnvironmentsWishIsHeardWhereNobodyNamesOne) {
  CreateRequest request;
  request.environment = "mine";
  for (const char* asked : {"", "auto"}) {
    request.provider = asked;
    const auto made = wait(service_->create(ann_, request));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->provider_reason, "the environment mine prefers it");
  }
  request.provider = "native";
  EXPECT_EQ(wait(service_->create(ann_, request))->provider_reason, "");
  // One that does not work here is passed over, and that is told.
  request.environment = "rather";
  for (const char* asked : {"", "auto"}) {
    request.provider = asked;
    const auto made = wait(service_->create(ann_, request));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->provider, "native");
    EXPECT_NE(made->provider_reason.find("the environment rather prefers gvisor: provider gvisor does not"),
              std::string::npos)
        << made->provider_reason;
  }
}

}  // namespace
}  // namespace atl::session
