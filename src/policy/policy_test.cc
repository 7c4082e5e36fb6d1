#include "policy/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "policy/cases_test.h"
#include "policy/shipped.h"

namespace atl::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<PolicySet> compile(std::initializer_list<std::pair<std::string_view, std::string_view>> files) {
  std::vector<config::Document> documents;
  for (auto [name, text] : files) {
    auto document = config::Document::parse(text, std::string(name));
    if (!document) return fail(document.error());
    documents.push_back(std::move(*document));
  }
  return PolicySet::compile(documents);
}

std::string refusal(std::string_view text) {
  auto set = compile({{"p.yaml", text}});
  return set ? "accepted" : set.error().message();
}

SecurityManager manager(std::string_view text) {
  auto set = compile({{"p.yaml", text}});
  if (!set) throw std::runtime_error(set.error().message());
  return SecurityManager(set->find("p"));
}

TEST(Policy, RefusesWithFileLineAndHint) {
  EXPECT_THAT(refusal("python:\n  forbiden_imports: [os]\n"), StartsWith("p.yaml:2:3: "));
  EXPECT_THAT(refusal("python:\n  forbiden_imports: [os]\n"), HasSubstr("forbidden_imports"));
  EXPECT_THAT(refusal("modus: off\n"), HasSubstr("p.yaml:1:1"));
  EXPECT_THAT(refusal("mode: enforced\n"), HasSubstr("did you mean 'enforce'"));
  EXPECT_THAT(refusal("mode: [enforce]\n"), HasSubstr("mode must be one of"));
  EXPECT_THAT(refusal("rules:\n  parse-eror: deny\n"), HasSubstr("did you mean 'parse-error'"));
  EXPECT_THAT(refusal("rules:\n  parse-error: maybe\n"), HasSubstr("p.yaml:2:16"));
  EXPECT_THAT(refusal("rules: 5\n"), HasSubstr("p.yaml:1:8"));
  EXPECT_THAT(refusal("rules:\n  parse-error: {severity: huge}\n"), HasSubstr("severity must be one of"));
  EXPECT_THAT(refusal("rules:\n  parse-error: {color: red}\n"), HasSubstr("color"));
  EXPECT_THAT(refusal("python:\n  forbidden_imports: os\n"), HasSubstr("expected a list"));
  EXPECT_THAT(refusal("python:\n  forbidden_imports: [[os]]\n"), HasSubstr("expected a name or a map"));
  EXPECT_THAT(refusal("python:\n  forbidden_imports: ['os;']\n"), HasSubstr("is not the name of a module"));
  EXPECT_THAT(refusal("python:\n  forbidden_imports: [{severity: low}]\n"), HasSubstr("name"));
  EXPECT_THAT(refusal("python:\n  forbidden_functions: ['eval(']\n"), HasSubstr("no brackets"));
  EXPECT_THAT(refusal("python:\n  forbidden_attributes: ['a b']\n"),
              HasSubstr("not the name of an attribute"));
  EXPECT_THAT(refusal("python:\n  forbidden_calls: ['os.system()']\n"),
              HasSubstr("not the name of a function"));
  EXPECT_THAT(refusal("python:\n  allowed_imports: 3\n"), HasSubstr("p.yaml:2"));
  EXPECT_THAT(refusal("python: [a]\n"), HasSubstr("p.yaml:1:9"));
  EXPECT_THAT(refusal("javascript:\n  forbidden_imports: ['']\n"), HasSubstr("empty"));
  EXPECT_THAT(refusal("shell:\n  forbidden_commands: ['rm -rf']\n"), HasSubstr("one word"));
  EXPECT_THAT(refusal("shell:\n  forbidden_imports: [x]\n"), HasSubstr("p.yaml:2:3"));
  EXPECT_THAT(refusal("limits: {max_bytes: 0}\n"), HasSubstr("max_bytes must be"));
  EXPECT_THAT(refusal("limits: {max_bytes: 1T}\n"), HasSubstr("max_bytes must be"));
  EXPECT_THAT(refusal("limits: {max_nesting: 0}\n"), HasSubstr("max_nesting must be"));
  EXPECT_THAT(refusal("limits: {max_findings: 99999999}\n"), HasSubstr("max_findings must be"));
  EXPECT_THAT(refusal("limits: {max_size: 1}\n"), HasSubstr("max_size"));
  EXPECT_THAT(refusal("- a\n"), HasSubstr("p.yaml:1:1"));
}

TEST(Policy, RefusesBadPatterns) {
  auto pattern = [](std::string_view text) {
    return refusal("python:\n  forbidden_patterns:\n    - " + std::string(text) + "\n");
  };
  EXPECT_THAT(pattern("''"), HasSubstr("p.yaml:3:7: a pattern must not be empty"));
  EXPECT_THAT(pattern("'   '"), HasSubstr("must not be empty"));
  EXPECT_THAT(pattern("'eval.*'"), HasSubstr("looks like a regular expression"));
  EXPECT_THAT(pattern("'\\beval'"), HasSubstr("looks like a regular expression"));
  EXPECT_THAT(pattern("'^eval'"), HasSubstr("looks like a regular expression"));
  EXPECT_THAT(pattern("\"f('x\""), HasSubstr("is not closed"));
  EXPECT_THAT(pattern("\"a\\nb\""), HasSubstr("one line"));
  EXPECT_THAT(pattern(std::string(300, 'a')), HasSubstr("longer than 200"));
  EXPECT_THAT(refusal("shell:\n  forbidden_patterns: [\"echo 'x\"]\n"), HasSubstr("is not closed"));
}

TEST(Policy, ExtendsAnother) {
  auto set = compile({{"child.yaml", "extends: parent\npython: {forbidden_imports: [json]}\nmode: audit\n"},
                      {"parent.yaml", "python: {forbidden_imports: [os]}\nlimits: {max_bytes: 1000}\n"}});
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_THAT(set->names(), ElementsAre("child", "parent"));
  SecurityManager child(set->find("child"));
  Verdict verdict = child.validate("import os, json", Language::python);
  EXPECT_EQ(verdict.findings.size(), 2U);
  EXPECT_TRUE(verdict.allowed) << "audit finds and allows";
  EXPECT_EQ(child.policy()->limits().max_bytes, 1000U);
  EXPECT_EQ(SecurityManager(set->find("parent")).validate("import json", Language::python).findings.size(),
            0U);
  EXPECT_EQ(set->find("nothing"), nullptr);
}

TEST(Policy, RefusesBadFamilies) {
  EXPECT_THAT(compile({{"a.yaml", "extends: b\n"}}).error().message(),
              HasSubstr("a.yaml:1:10: there is no policy 'b'"));
  EXPECT_THAT(compile({{"a.yaml", "extends: b\n"}, {"b.yaml", "extends: a\n"}}).error().message(),
              HasSubstr("in a circle"));
  EXPECT_THAT(compile({{"a.yaml", "mode: audit\n"}, {"b.yaml", "name: a\n"}}).error().message(),
              HasSubstr("exists already"));
}

TEST(Policy, TheOldOneStaysInForceWhenTheNewOneIsBad) {
  SecurityManager security(shipped_policy("strict"));
  auto bad = compile({{"new.yaml", "python: {forbidden_import: [os]}\n"}});
  ASSERT_FALSE(bad);
  EXPECT_FALSE(security.validate("import os", Language::python).allowed);
  auto good = compile({{"new.yaml", "python: {forbidden_imports: [json]}\n"}});
  ASSERT_TRUE(good);
  security.replace(good->find("new"));
  EXPECT_TRUE(security.validate("import os", Language::python).allowed);
  EXPECT_FALSE(security.validate("import json", Language::python).allowed);
}

TEST(Policy, EntriesCarryTheirOwnWords) {
  SecurityManager security = manager(
      "python:\n  forbidden_imports:\n    - {name: os, severity: low, message: no os here, recommendation: "
      "use pathlib}\n"
      "    - {name: json, effect: audit}\n    - {name: csv, effect: \"off\"}\n");
  Verdict verdict = security.validate("import os, json, csv", Language::python);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].message, "no os here");
  EXPECT_EQ(verdict.findings[0].recommendation, "use pathlib");
  EXPECT_EQ(verdict.findings[0].severity, RiskLevel::low);
  ASSERT_EQ(verdict.notes.size(), 1U);
  EXPECT_EQ(verdict.notes[0].line, 1U);
  EXPECT_EQ(verdict.risk.level, RiskLevel::low);
}

TEST(Policy, AllowLists) {
  SecurityManager security = manager(
      "python: {allowed_imports: [math, os.path]}\njavascript: {allowed_imports: [path]}\nshell: "
      "{allowed_commands: [ls, echo]}\n");
  EXPECT_TRUE(security.validate("import math\nfrom . import x", Language::python).allowed);
  EXPECT_TRUE(security.validate("import os.path", Language::python).allowed);
  EXPECT_TRUE(has_rule(security.validate("import os", Language::python), "import-not-allowed"));
  EXPECT_TRUE(security.validate("require('node:path'); require('./x')", Language::javascript).allowed);
  EXPECT_TRUE(has_rule(security.validate("require('fs')", Language::javascript), "import-not-allowed"));
  EXPECT_TRUE(security.validate("ls; f() { echo; }; f", Language::shell).allowed);
  EXPECT_TRUE(has_rule(security.validate("cat x", Language::shell), "command-not-allowed"));
}

TEST(Policy, AttributesAndCalls) {
  SecurityManager security = manager(
      "python:\n  forbidden_attributes: [secret, os.environ]\n  forbidden_calls: [os.system, shutil.rmtree]\n"
      "javascript:\n  forbidden_attributes: [innerHTML]\n  forbidden_calls: [document.write]\n  "
      "forbidden_functions: [alert]\n");
  for (std::string_view code : {"x.secret", "getattr(x, 'sec' + 'ret')", "x['secret']",
                                "import os\nos.environ", "from os import environ"}) {
    EXPECT_TRUE(has_rule(security.validate(code, Language::python), "forbidden-attribute")) << code;
  }
  for (std::string_view code : {"import os\nos.system('x')", "from os import system as s\ns('x')",
                                "import os as o\nf = o.system\nf('x')", "import shutil\nshutil.rmtree('x')",
                                "from shutil import *\nrmtree('x')"}) {
    EXPECT_TRUE(has_rule(security.validate(code, Language::python), "forbidden-call")) << code;
  }
  for (std::string_view code :
       {"secret = 1", "x.environ", "import os\nos.getcwd()", "import os\nos.system"}) {
    EXPECT_TRUE(security.validate(code, Language::python).findings.empty()) << code;
  }
  EXPECT_TRUE(has_rule(security.validate("el.innerHTML = x", Language::javascript), "forbidden-attribute"));
  EXPECT_TRUE(has_rule(security.validate("document['write'](x)", Language::javascript), "forbidden-call"));
  EXPECT_TRUE(has_rule(security.validate("window.alert(1)", Language::javascript), "forbidden-function"));
}

TEST(Policy, PatternsAreTokens) {
  SecurityManager security = manager(
      "python: {forbidden_patterns: ['while True:', 'open(\"/etc/passwd\")', 'lambda x']}\n"
      "javascript: {forbidden_patterns: ['x => y', \"f('a', 1)\"]}\n"
      "shell: {forbidden_patterns: ['git push --force', '>/etc/', '| tee']}\n");
  auto found = [&](std::string_view code, Language language) {
    return has_rule(security.validate(code, language), "forbidden-pattern");
  };
  EXPECT_TRUE(found("while  True :\n    pass", Language::python));
  EXPECT_TRUE(found("open ( '/etc/passwd' )", Language::python));
  EXPECT_TRUE(found("open('/etc/' 'passwd')", Language::python) == false) << "two tokens, not one";
  EXPECT_TRUE(found("f = lambda x: 1", Language::python));
  EXPECT_FALSE(found("'while True:'", Language::python));
  EXPECT_FALSE(found("# while True:\nx = 1", Language::python));
  EXPECT_FALSE(found("x.open('/etc/passwd')", Language::python));
  EXPECT_TRUE(found("f\"{open('/etc/passwd')}\"", Language::python));
  EXPECT_TRUE(found("x=>y", Language::javascript));
  EXPECT_TRUE(found("f(\"a\" , 1)", Language::javascript));
  EXPECT_FALSE(found("`x => y`", Language::javascript));
  EXPECT_TRUE(found("git  push   --force", Language::shell));
  EXPECT_TRUE(found("\"git\" push '--force'", Language::shell));
  EXPECT_TRUE(found("echo x >> /etc/passwd", Language::shell));
  EXPECT_TRUE(found("ls | tee", Language::shell));
  EXPECT_FALSE(found("echo git push --force", Language::shell));
  EXPECT_FALSE(found("git push", Language::shell));
}

TEST(Policy, ShippedOnesCompileAndAreTheFiles) {
  auto set = PolicySet::compile(shipped_documents());
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_THAT(set->names(), ElementsAre("off", "standard", "strict"));
  EXPECT_EQ(set->find("off")->mode(), Mode::off);
  EXPECT_FALSE(set->find("strict")->description().empty());
  EXPECT_EQ(to_string(Mode::audit), "audit");
  EXPECT_EQ(to_string(Effect::deny), "deny");
}

TEST(Policy, AListAloneIsAPolicy) {
  SecurityManager security = manager("python:\n  forbidden_imports:\n    - os\n");
  EXPECT_FALSE(security.validate("import os", Language::python).allowed);
  EXPECT_TRUE(security.validate("import json", Language::python).allowed);
}

TEST(Policy, MayLetRunWhatNobodyReads) {
  SecurityManager mine = manager("rules:\n  unread-language: audit\n");
  Verdict noted = mine.validate("x", Language::r);
  EXPECT_TRUE(noted.allowed);
  ASSERT_EQ(noted.notes.size(), 1U);
  EXPECT_FALSE(mine.validate("x\xff", Language::r).allowed) << "its text is looked at all the same";
}

TEST(Rules, EachIsExplained) {
  std::set<std::string_view> ids;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second);
    EXPECT_GT(rule.explanation.size(), 40U) << rule.id;
    EXPECT_FALSE(rule.title.empty() || rule.recommendation.empty()) << rule.id;
    EXPECT_EQ(find_rule(rule.id), &rule);
  }
  EXPECT_EQ(find_rule("no-such-rule"), nullptr);
}

}  // namespace
}  // namespace atl::policy
