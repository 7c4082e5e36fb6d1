#include "session/provider_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/document.h"

namespace atl::session {
namespace {

using ::testing::HasSubstr;

Result<ProviderRules> parsed(const char* text) {
  auto document = config::Document::parse(text, "rules.yaml");
  EXPECT_TRUE(document) << document.error().message();
  return ProviderRules::parse(*document);
}

std::string refusal(const char* text) {
  auto rules = parsed(text);
  return rules ? "accepted" : rules.error().message();
}

TEST(ProviderRules, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(refusal("rule: []\n"), HasSubstr("rules.yaml:1:1: unknown key 'rule'"));
  EXPECT_THAT(refusal("rules: []\n"), HasSubstr("at least one rule"));
  EXPECT_THAT(refusal("rules:\n- when: {}\n"), HasSubstr("rules.yaml:2"));
  EXPECT_THAT(refusal("rules: [{use: mars}]\n"), HasSubstr("no provider is called 'mars'"));
  EXPECT_THAT(refusal("rules: [{use: native, when: {moon: full}}]\n"), HasSubstr("unknown key 'moon'"));
  EXPECT_THAT(refusal("rules: [{use: native, when: {load_above: -1}}]\n"), HasSubstr("load_above"));
  EXPECT_THAT(refusal("rules: [{use: native, when: {tenant: []}}]\n"), HasSubstr("names nothing"));
}

TEST(ProviderRules, TheFirstThatFitsDecides) {
  const auto rules = parsed(
      "rules:\n"
      "- when: {tenant: 'ext-*', policy: [strict, hostile]}\n"
      "  use: gvisor\n"
      "- when: {load_above: 0.9, language: python}\n"
      "  use: [e2b, native]\n"
      "- use: native\n");
  ASSERT_TRUE(rules) << rules.error().message();
  const auto works = [](const std::string&) { return std::string(); };
  const auto no_e2b = [](const std::string& name) {
    return std::string(name == "e2b" || name == "gvisor" ? "no key" : "");
  };
  Situation situation{.language = "python", .policy = "strict", .tenant = "ext-1"};
  auto chosen = rules->choose(situation, works);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->provider, "gvisor");
  EXPECT_THAT(chosen->reason, HasSubstr("rules.yaml:2"));
  const auto refused = rules->choose(situation, no_e2b);
  ASSERT_FALSE(refused) << "a rule that keeps code from weaker walls must not be passed over";
  EXPECT_EQ(refused.error().code(), Code::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("gvisor does not work: no key"));
  situation.tenant = "own";
  EXPECT_EQ(rules->choose(situation, works)->provider, "native");
  situation.load = 1.5;
  EXPECT_EQ(rules->choose(situation, works)->provider, "e2b");
  chosen = rules->choose(situation, no_e2b);
  EXPECT_EQ(chosen->provider, "native");
  EXPECT_THAT(chosen->reason, HasSubstr("e2b does not work: no key"));
}

TEST(ProviderRules, NothingFitsIsAnError) {
  const auto rules = parsed("rules: [{use: native, when: {image: true}}]\n");
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->choose({}, [](const std::string&) { return std::string(); }).error().field(), "provider");
}

TEST(ProviderRules, ThoseThatComeWithTheProgram) {
  const ProviderRules rules;
  const auto only_virtual = [](const std::string& name) {
    return std::string(name == "virtual" ? "" : "not here");
  };
  EXPECT_EQ(rules.choose({}, only_virtual)->provider, "virtual");
  EXPECT_FALSE(rules.choose({.image = true}, only_virtual));
  EXPECT_FALSE(rules.choose({.policy = "strict"}, only_virtual));
  EXPECT_EQ(rules.choose({.policy = "strict"}, [](const std::string&) { return std::string(); })->provider,
            "gvisor");
}

}  // namespace
}  // namespace atl::session
