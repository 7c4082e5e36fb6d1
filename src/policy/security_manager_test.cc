#include "policy/security_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <random>
#include <thread>

#include "base/json.h"
#include "policy/cases_test.h"

namespace atl::policy {
namespace {

using ::testing::HasSubstr;
using namespace std::string_view_literals;

constexpr Language languages[] = {Language::python, Language::javascript, Language::shell};

TEST(SecurityManager, RefusesWhatIsNotText) {
  SecurityManager strict(shipped_policy("strict"));
  for (Language language : languages) {
    for (std::string_view code :
         {"x\0y"sv, "\xFF\xFEx\0"sv, "\xFE\xFF\0x"sv, "x = '\xC3\x28'"sv, "\x80"sv, "\xED\xA0\x80"sv}) {
      Verdict verdict = strict.validate(code, language);
      EXPECT_FALSE(verdict.allowed);
      ASSERT_EQ(verdict.findings.size(), 1U);
      EXPECT_EQ(verdict.findings[0].rule, "invalid-text");
    }
  }
  EXPECT_TRUE(has_rule(strict.validate("# -*- coding: utf-7 -*-\nx", Language::python), "invalid-text"));
  EXPECT_TRUE(
      has_rule(strict.validate("#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\nx", Language::python),
               "invalid-text"));
  EXPECT_TRUE(strict.validate("# -*- coding: UTF_8 -*-\nx", Language::python).allowed);
  EXPECT_TRUE(strict.validate("x = 1\n# coding: utf-7\n", Language::python).allowed);
  EXPECT_TRUE(strict.validate("x = 1\ny = 2\n# coding: utf-7\n", Language::python).allowed);
}

TEST(SecurityManager, RefusesWhatIsTooLarge) {
  SecurityManager strict(shipped_policy("strict"));
  std::string code(shipped_policy("strict")->limits().max_bytes + 1, '\n');
  Verdict verdict = strict.validate(code, Language::python);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_TRUE(has_rule(verdict, "too-large"));
  code.pop_back();
  EXPECT_TRUE(strict.validate(code, Language::python).allowed);
}

std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(SecurityManager, DeepNestingIsRefusedAndHarmless) {
  SecurityManager strict(shipped_policy("strict"));
  constexpr int deep = 20'000;
  auto denied = [&](const std::string& code, Language language) {
    return !strict.validate(code, language).allowed;
  };
  EXPECT_TRUE(denied("x = " + repeat("(", deep) + repeat(")", deep), Language::python));
  EXPECT_TRUE(denied("x = " + repeat("[", deep), Language::python));
  EXPECT_TRUE(denied("x = " + repeat("[", deep) + repeat("]", deep), Language::python));
  EXPECT_TRUE(denied("x = " + repeat("f(", deep) + repeat(")", deep), Language::python));
  EXPECT_TRUE(denied("x = " + repeat("lambda: ", deep) + "1", Language::python));
  EXPECT_TRUE(denied(repeat("(", deep), Language::javascript));
  EXPECT_TRUE(denied("x = " + repeat("[", deep) + repeat("]", deep), Language::javascript));
  EXPECT_TRUE(denied(repeat("{", deep) + repeat("}", deep), Language::javascript));
  EXPECT_TRUE(denied(repeat("(", 3000) + "ls" + repeat(")", 3000), Language::shell));
  EXPECT_TRUE(denied(repeat("$(", 3000) + "ls" + repeat(")", 3000), Language::shell));
  EXPECT_TRUE(denied("echo " + repeat("\"$(", 2000), Language::shell));
}

TEST(SecurityManager, TextThatIsNoCodeCannotOverrunTheParser) {
  SecurityManager strict(shipped_policy("strict"));
  for (std::string_view unit :
       {"$(", "x = (", "x='a'+", "(", "{", "if true; then ", "case x in a) ", "`", "f(", "a?",
        "while true; do ", "x => {y; ", "if (x) { ", "<<E ", "\"${", "a\n", "[[ ", "\\"}) {
    for (std::size_t count : {6'000U, 31'000U}) {
      std::string code;
      for (std::size_t i = 0; i < count; ++i) code += unit;
      for (Language language : languages) {
        Verdict verdict = strict.validate(code, language);
        const bool harmless = unit == "a\n" || unit == "\\" || unit == "`";
        EXPECT_TRUE(harmless || !verdict.allowed) << unit << " " << count;
      }
    }
  }
}

TEST(SecurityManager, LongChainsAreNotDeep) {
  SecurityManager strict(shipped_policy("strict"));
  EXPECT_TRUE(strict.validate("x = " + repeat("'a' + ", 3000) + "'b'", Language::python).allowed);
  EXPECT_TRUE(strict.validate("x" + repeat(".f()", 3000), Language::python).allowed);
  EXPECT_TRUE(strict.validate("x = " + repeat("a || ", 3000) + "b", Language::javascript).allowed);
  EXPECT_TRUE(strict.validate("x" + repeat(".f()", 3000), Language::javascript).allowed);
}

TEST(SecurityManager, NestedCodeIsBounded) {
  SecurityManager strict(shipped_policy("strict"));
  std::string code = "1";
  for (int i = 0; i < 12; ++i) {
    std::string quoted;
    for (char c : code) {
      if (c == '\\' || c == '\'') quoted += '\\';
      quoted += c;
    }
    code = "eval('" + quoted + "')";
    if (code.size() > 100'000) break;
  }
  EXPECT_FALSE(strict.validate(code, Language::python).allowed);
}

TEST(SecurityManager, ParseErrorsAreReportedAndTheRestIsRead) {
  SecurityManager strict(shipped_policy("strict"));
  Verdict verdict = strict.validate("def broken(:\n    pass\n\nimport os\n", Language::python);
  EXPECT_FALSE(verdict.parse_errors.empty());
  EXPECT_TRUE(has_rule(verdict, "parse-error"));
  EXPECT_TRUE(has_rule(verdict, "forbidden-import"));
  EXPECT_EQ(verdict.parse_errors[0].line, 1U);
}

TEST(SecurityManager, FindingsSayWhere) {
  SecurityManager strict(shipped_policy("strict"));
  Verdict verdict = strict.validate("x = 1\n\tcaf\xC3\xA9 = 2; import os\n", Language::python);
  const Finding* found = nullptr;
  for (const Finding& finding : verdict.findings) {
    if (finding.rule == "forbidden-import") found = &finding;
  }
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->line, 2U);
  EXPECT_EQ(found->column, 19U) << "characters, not bytes";
  EXPECT_EQ(found->excerpt, "caf\xC3\xA9 = 2; import os");
  EXPECT_FALSE(found->recommendation.empty());
  Verdict nested = strict.validate("ls\nsh -c 'echo a; rm x'", Language::shell);
  ASSERT_EQ(nested.findings.size(), 1U);
  EXPECT_EQ(nested.findings[0].line, 2U);
  std::string wide = "x = '" + std::string(500, 'a') + "'; import os; y = '" + std::string(500, 'b') + "'";
  verdict = strict.validate(wide, Language::python);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_LE(verdict.findings[0].excerpt.size(), 160U);
  EXPECT_THAT(verdict.findings[0].excerpt, HasSubstr("import os"));
}

TEST(SecurityManager, ListsImports) {
  SecurityManager standard(shipped_policy("standard"));
  auto names = [&](std::string_view code, Language language) {
    std::string out;
    for (const Import& import : standard.check_imports(code, language)) {
      out += import.name + (import.dynamic ? "?" : "") + (import.relative ? "." : "") + " ";
    }
    return out;
  };
  EXPECT_EQ(names("import os, json\nfrom a.b import c\nfrom . import d\n__import__(x)\nimport os",
                  Language::python),
            "os json a.b .. ? ");
  EXPECT_EQ(names("import a from 'a'; require('b'); export * from './c'; import(d)", Language::javascript),
            "a b ./c. ? ");
  EXPECT_EQ(names("ls | grep x; env -i /bin/cat y; $z", Language::shell), "ls grep env cat ");
}

TEST(SecurityManager, RiskAddsUp) {
  SecurityManager strict(shipped_policy("strict"));
  EXPECT_EQ(strict.analyse_risk("x = 1", Language::python).level, RiskLevel::none);
  EXPECT_EQ(strict.analyse_risk("x = (", Language::python).level, RiskLevel::medium);
  EXPECT_EQ(strict.analyse_risk("import os", Language::python).level, RiskLevel::high);
  Risk risk = strict.analyse_risk("().__class__.__base__.__subclasses__()\nimport os, sys", Language::python);
  EXPECT_EQ(risk.level, RiskLevel::critical);
  EXPECT_EQ(risk.score, 100U);
  ASSERT_GE(risk.factors.size(), 2U);
  EXPECT_EQ(risk.factors[0].rule, "object-escape");
  SecurityManager standard(shipped_policy("standard"));
  Verdict noted = standard.validate("import subprocess\neval('1')", Language::python);
  EXPECT_TRUE(noted.allowed);
  EXPECT_TRUE(noted.findings.empty());
  EXPECT_EQ(noted.notes.size(), 2U);
  EXPECT_EQ(noted.risk.level, RiskLevel::low);
}

TEST(SecurityManager, OffLooksAtNothing) {
  SecurityManager off(shipped_policy("off"));
  for (Language language : languages) {
    Verdict verdict = off.validate("import os; rm -rf /\0"sv, language);
    EXPECT_TRUE(verdict.allowed);
    EXPECT_TRUE(verdict.findings.empty());
  }
}

TEST(SecurityManager, FindingsAreLimited) {
  SecurityManager strict(shipped_policy("strict"));
  Verdict verdict = strict.validate(repeat("import os\n", 500), Language::python);
  EXPECT_EQ(verdict.findings.size(), 100U);
  EXPECT_TRUE(verdict.truncated);
  EXPECT_FALSE(verdict.allowed);
}

TEST(SecurityManager, ServesManyThreads) {
  SecurityManager strict(shipped_policy("strict"));
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        if (strict.validate_python("import os").allowed || !strict.validate_python("import json").allowed)
          ++wrong;
        if (strict.validate_shell("rm x").allowed || strict.validate_javascript("eval(1)").allowed) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Verdict, AsJson) {
  SecurityManager strict(shipped_policy("strict"));
  for (Language language : languages) {
    Verdict verdict = strict.validate("import os\nx = (\n\"\x07\xE2\x82\xAC", language);
    auto parsed = json::parse(to_json(verdict));
    ASSERT_TRUE(parsed) << parsed.error().message();
    const auto& object = parsed->as_object();
    EXPECT_EQ(object.at("allowed").as_bool(), verdict.allowed);
    EXPECT_EQ(object.at("language").as_string(), to_string(language));
    EXPECT_EQ(object.at("findings").as_array().size(), verdict.findings.size());
    EXPECT_EQ(object.at("policy").as_string(), "strict");
  }
  SecurityManager standard(shipped_policy("standard"));
  EXPECT_TRUE(json::parse(to_json(standard.validate("eval(x); __import__(y)", Language::python))));
}

TEST(SecurityManager, DeniesWhatItCannotRead) {
  for (Language language : {Language::r, Language::java}) {
    for (const char* name : {"strict", "standard"}) {
      Verdict verdict = SecurityManager(shipped_policy(name)).validate("x", language);
      EXPECT_FALSE(verdict.allowed) << name;
      ASSERT_EQ(verdict.findings.size(), 1U);
      EXPECT_EQ(verdict.findings[0].rule, "unread-language");
      EXPECT_THAT(summary(verdict), HasSubstr("not scanned: nothing here reads"));
    }
    EXPECT_TRUE(SecurityManager(shipped_policy("off")).validate("x", language).allowed);
    EXPECT_EQ(parse_language(to_string(language)), language);
  }
}

TEST(Verdict, Summary) {
  SecurityManager strict(shipped_policy("strict"));
  EXPECT_EQ(summary(strict.validate("x = 1", Language::python)), "allowed");
  EXPECT_EQ(summary(strict.validate("import os", Language::python)),
            "line 1: module os is forbidden [forbidden-import]");
  EXPECT_THAT(summary(strict.validate("import os, sys", Language::python)), HasSubstr("and 1 more"));
  Verdict bare;
  bare.allowed = false;
  EXPECT_EQ(summary(bare), "denied");
}

TEST(Verdict, Words) {
  EXPECT_EQ(parse_language("bash"), Language::shell);
  EXPECT_EQ(parse_language("node"), Language::javascript);
  EXPECT_EQ(parse_language("py"), Language::python);
  EXPECT_EQ(parse_language("ruby"), std::nullopt);
  EXPECT_EQ(parse_risk_level("critical"), RiskLevel::critical);
  EXPECT_EQ(parse_risk_level("awful"), std::nullopt);
}

}  // namespace
}  // namespace atl::policy
