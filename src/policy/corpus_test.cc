#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "policy/cases_test.h"

// Real code, and what must not change a verdict.
namespace atl::policy {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<fs::path> standard_library() {
  std::vector<fs::path> files;
  for (const char* root : {"/usr/lib/python3.11", "/usr/lib/python3.12", "/usr/lib/python3.13"}) {
    std::error_code problem;
    for (const auto& entry : fs::recursive_directory_iterator(root, problem)) {
      bool tests = entry.path().string().find("/test") != std::string::npos ||
                   entry.path().string().find("/lib2to3/") != std::string::npos;
      if (entry.is_regular_file() && entry.path().extension() == ".py" && !tests)
        files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

// `standard` finds nothing in code that everybody runs.
TEST(Corpus, StandardLibraryIsFineUnderStandard) {
  auto files = standard_library();
  if (files.size() < 100) GTEST_SKIP() << "no Python standard library here";
  SecurityManager standard(shipped_policy("standard"));
  std::string problems;
  std::size_t read = 0;
  for (const fs::path& file : files) {
    if (read >= 400) break;
    std::string code = read_file(file);
    if (code.find("coding: latin") != std::string::npos || code.find("coding: koi8") != std::string::npos)
      continue;
    ++read;
    Verdict verdict = standard.validate(code, Language::python);
    if (!verdict.allowed || !verdict.findings.empty())
      problems += "\n" + file.string() + " " + describe(verdict);
    for (const ParseError& error : verdict.parse_errors) {
      problems +=
          "\n" + file.string() + ":" + std::to_string(error.line) + " does not parse: " + error.message;
    }
  }
  EXPECT_EQ(problems, "");
  EXPECT_GE(read, 100U);
}

// Files of the standard library that import nothing forbidden and use no forbidden name must be clean under
// `strict`.
TEST(Corpus, HarmlessModulesAreFineUnderStrict) {
  SecurityManager strict(shipped_policy("strict"));
  std::size_t read = 0;
  std::string problems;
  // Reviewed by hand: plain data structures, text and arithmetic.
  for (const char* name : {"bisect.py",
                           "heapq.py",
                           "colorsys.py",
                           "string.py",
                           "keyword.py",
                           "textwrap.py",
                           "fractions.py",
                           "statistics.py",
                           "calendar.py",
                           "numbers.py",
                           "graphlib.py",
                           "sched.py",
                           "shlex.py",
                           "queue.py",
                           "html/__init__.py",
                           "html/parser.py",
                           "html/entities.py",
                           "csv.py",
                           "difflib.py",
                           "decimal.py",
                           "datetime.py",
                           "stat.py",
                           "token.py",
                           "rlcompleter.py",
                           "json/decoder.py",
                           "json/scanner.py",
                           "quopri.py",
                           "chunk.py",
                           "sndhdr.py",
                           "this.py",
                           "hmac.py",
                           "contextvars.py",
                           "email/quoprimime.py",
                           "email/errors.py",
                           "email/charset.py",
                           "xml/dom/domreg.py",
                           "xml/sax/handler.py",
                           "urllib/error.py"}) {
    fs::path file = fs::path("/usr/lib/python3.11") / name;
    if (!fs::exists(file)) continue;
    std::string code = read_file(file);
    bool uses = false;
    for (std::string_view word :
         {"import os", "import sys", "import socket",   "import subprocess", ", sys",
          ", os",      "eval(",      "exec(",           "compile(",          "globals()",
          "locals()",  "__builtin",  "import builtins", "__subclasses__",    "__code__",
          "f_back",    "f_globals",  "__closure__",     "import_module",     "__import__",
          "__main__, "}) {
      uses = uses || code.find(word) != std::string::npos;
    }
    if (uses) continue;
    ++read;
    Verdict verdict = strict.validate(code, Language::python);
    if (!verdict.allowed) problems += "\n" + file.string() + " " + describe(verdict);
  }
  EXPECT_EQ(problems, "");
  if (read == 0) GTEST_SKIP() << "no Python standard library here";
}

// ---- properties: a verdict does not depend on layout or on the names of the code's own variables

std::vector<std::string> rules_found(const Verdict& verdict) {
  std::vector<std::string> rules;
  for (const Finding& finding : verdict.findings) rules.push_back(finding.rule);
  std::ranges::sort(rules);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

struct Piece {
  std::string_view code;  // $a, $b: variables; ~ : optional blank
};

constexpr Piece python_pieces[] = {
    {"$a~=~'o'~+~'s'"},
    {"__import__(~$a~)"},
    {"$b~=~eval"},
    {"$b(~'1'~)"},
    {"$a~=~[1,~2,~3]"},
    {"print(~$a~,~$b~)"},
    {"import os as $a"},
    {"import json as $b"},
    {"$a~=~getattr"},
    {"$a(~x,~'y'~)"},
    {"$b~=~().__class__"},
    {"$b.__base__"},
    {"$a~=~lambda $b:~$b~+~1"},
    {"$a~=~''.join(~['e',~'x']~)"},
    {"$b~=~{~'k'~:~$a~}"},
    {"$a~+=~'s'"},
    {"$a.eval(~$b~)"},
};
constexpr Piece javascript_pieces[] = {
    {"var $a~=~'f'~+~'s'"}, {"require(~$a~)"},     {"var $b~=~eval"},          {"$b(~'1'~)"},
    {"var $a~=~[1,~2]"},    {"console.log(~$a~)"}, {"var $b~=~process"},       {"$b[~'exit'~]()"},
    {"var $a~=~require"},   {"$a(~'path'~)"},      {"var $b~=~x.constructor"}, {"$b.constructor(~'y'~)"},
    {"var $a~=~{~k:~$b~}"}, {"$a.exec(~'z'~)"},    {"var $b~=~$a~=>~$a"},
};
constexpr Piece shell_pieces[] = {
    {"$a=rm"},
    {"\"$$a\" x"},
    {"$b=ls"},
    {"$$b x"},
    {"echo  \"$$a\""},
    {"eval \"$$a y\""},
    {"echo  hi  >  /dev/null"},
    {"cat  x  |  grep  y"},
    {"for $a in 1 2; do echo \"$$a\"; done"},
    {"sh  -c  'rm z'"},
};

std::string render(std::span<const Piece* const> pieces, std::string_view separator, std::string_view a,
                   std::string_view b, std::string_view blank) {
  std::string out;
  for (const Piece* piece : pieces) {
    for (std::size_t i = 0; i < piece->code.size(); ++i) {
      char c = piece->code[i];
      if (c == '~') {
        out += blank;
      } else if (c == '$' && i + 1 < piece->code.size() &&
                 (piece->code[i + 1] == 'a' || piece->code[i + 1] == 'b')) {
        out += piece->code[++i] == 'a' ? a : b;
      } else {
        out += c;
      }
    }
    out += separator;
  }
  return out;
}

template <std::size_t count>
void check_property(const Piece (&pieces)[count], Language language, std::string_view other_separator,
                    std::string_view other_blank) {
  SecurityManager strict(shipped_policy("strict"));
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<const Piece*> chosen;
    for (int i = 0; i < 6; ++i) chosen.push_back(&pieces[random() % count]);
    std::string plain = render(chosen, "\n", "alpha", "beta", "");
    std::string renamed = render(chosen, other_separator, "zz_9", "some_longer_name", other_blank);
    Verdict one = strict.validate(plain, language);
    Verdict two = strict.validate(renamed, language);
    ASSERT_EQ(rules_found(one), rules_found(two)) << plain << "\n----\n" << renamed;
    ASSERT_EQ(one.allowed, two.allowed);
  }
}

TEST(Property, LayoutAndNamesDoNotMatterInPython) {
  check_property(python_pieces, Language::python, "  # note: eval(os)\n\n", " ");
}
TEST(Property, LayoutAndNamesDoNotMatterInJavascript) {
  check_property(javascript_pieces, Language::javascript, " ; /* eval(x) */\n", " \n ");
}
TEST(Property, LayoutAndNamesDoNotMatterInShell) {
  check_property(shell_pieces, Language::shell, "   # rm\n\n", " ");
}

// Comments and blank lines added to every case's code leave its rules as they are.
TEST(Property, BlankLinesAroundRealCode) {
  SecurityManager strict(shipped_policy("strict"));
  for (std::string_view code :
       {"import os", "x = [\n  eval,\n]", "def f():\n    return __import__('os')", "class A:\n    x = 1"}) {
    Verdict one = strict.validate(code, Language::python);
    Verdict two = strict.validate("# a\n\n" + std::string(code) + "\n\n# b\n", Language::python);
    EXPECT_EQ(rules_found(one), rules_found(two)) << code;
  }
}

}  // namespace
}  // namespace atl::policy
