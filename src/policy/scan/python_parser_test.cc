#include "policy/scan/python_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "policy/cases_test.h"

// The fast parser against the grammar: both must lead to the same findings, and the fast one must take real
// code.
namespace atl::policy {
namespace {

bool takes(std::string_view code, int depth_max = 256) {
  PathTrie paths;
  Names names(paths, 16);
  Tree tree;
  return parse_python(code, names, tree, depth_max);
}

// A pattern that matches nothing makes the scanner use the grammar.
std::shared_ptr<const Policy> through_grammar(std::string_view base) {
  auto extra = config::Document::parse(
      "extends: " + std::string(base) + "\npython: {forbidden_patterns: ['zzz zzz zzz']}\n", "slow.yaml");
  std::vector<config::Document> documents{*extra};
  for (std::string_view file : {"strict", "standard"}) {
    documents.push_back(*config::Document::load("registry/policies/" + std::string(file) + ".yaml"));
  }
  return PolicySet::compile(documents)->find("slow");
}

std::vector<std::string> found(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (const Finding& finding : verdict.findings) {
    lines.push_back(std::to_string(finding.line) + ":" + std::to_string(finding.column) + " " + finding.rule +
                    " " + finding.message);
  }
  for (const Import& import : verdict.imports) lines.push_back("import " + import.name);
  std::ranges::sort(lines);
  return lines;
}

TEST(PythonParser, TakesWellFormedCode) {
  for (std::string_view code : {
           "",
           "\n\n",
           "# only\n",
           "x",
           "x = 1",
           "x = y = z",
           "x: int",
           "x: int = 1",
           "x += 1; y **= 2",
           "a, b = b, a",
           "a, *b = c",
           "(a, b), c = d",
           "def f(a, b: int = 1, *args, c=2, **kw) -> int:\n  return a",
           "def f(a, /, b, *, c): pass",
           "async def f():\n  await g()\n",
           "class A(B, metaclass=M):\n  x = 1\n\n  def f(self): pass\n",
           "class A: pass",
           "if a: b\nelif c: d\nelse: e",
           "while a: b\nelse: c",
           "for a, b in c: d\nelse: e",
           "for x in *a, b: pass",
           "try: a\nexcept E as e: b\nelse: c\nfinally: d",
           "try:\n  a\nfinally:\n  b\n",
           "try: a\nexcept* E: b",
           "with a as b, c as d: e",
           "with a: b",
           "@a.b(c)\n@d\ndef f(): pass",
           "lambda x, *y, z=1, **k: x",
           "lambda: (yield)",
           "x if y else z",
           "a or b and not c",
           "a < b <= c != d is not e not in f",
           "a | b ^ c & d << e >> f + g - h * i / j // k % l @ m",
           "-x ** ~y",
           "x.y[1:2, ::3](z)(*a, **b, c=d)",
           "x[a:b]",
           "x[::]",
           "[1, *a]",
           "{1, 2}",
           "{**a, 'b': c}",
           "{a: b for a, b in c if d}",
           "[x async for x in y]",
           "(x for x in y for z in w if v)",
           "f(x for x in y)",
           "f(a, b=c)",
           "(x := 1)",
           "f(x := 1)",
           "print(x, file=y)",
           "'a' \"b\" r'\\d' b'c'"
           "\n",
           "'''a\n'b'''",
           "f'{a}{b!r}{c:>{d}}{e=}{{}}'",
           "f'{a[\"b\"]}'",
           "f'''{\na\n}'''",
           "f'{x:%Y-%m}'",
           "rf'\\d{a}'",
           "f'\\N{DASH}{a}'",
           "f'{lambda_}'",
           "f'{(lambda: 1)}'",
           "f'a' 'b' f'{c}'",
           "1_000 + 0x_FF + 1e-5 + 1.5j + .5 + 1.",
           "...",
           "x = (yield)",
           "x = yield y",
           "def f():\n  yield\n  yield from a\n",
           "global a, b",
           "del a, b[0], c.d",
           "assert a, b",
           "raise A from b",
           "import a.b as c, d",
           "from . import a",
           "from .a import (b, c as d,)",
           "from ... import e",
           "from a import *",
           "if a:\n\tb\n\tif c:\n\t\td\ne",
           "a = \\\n  b",
           "x = [\n  1,  # c\n\n  2,\n]",
           "match = 1\nmatch.x(match)\ntype = match",
           "if x:\n    a\n    # comment\n\n    b\n",
           "async def f():\n  async with a as b: pass\n  async for c in d: pass\n",
           "return_ = 1\r\nx = 2\r\n",
           "def f(): return\ndef g(): return 1, 2\n",
           "x = {\n}",
           "f(**a)",
           "a if b else lambda: c",
           "not a",
           "print(*a)",
           "x = a, b,",
           "for x in y:\n  continue\n",
           "@x\nclass A: pass",
           "f'{x!r:^{width}}'",
           "f\"{x:{'>'}10}\"",
           "a[b, c:d]",
           "a[*b]",
           "x = *a, b",
       }) {
    EXPECT_TRUE(takes(code)) << code;
  }
}

TEST(PythonParser, LeavesTheRestToTheGrammar) {
  for (std::string_view code : {
           "x = ",
           "x = (",
           ")",
           "x = ]",
           "def f(:\n pass",
           "def f()\n pass",
           "if x:\npass",
           "  x",
           "if x:\n  a\n b",
           "print 'x'",
           "exec 'x'",
           "'abc",
           "'''abc",
           "f'{x'",
           "f'{}'",
           "f'}'",
           "f'{x!}'",
           "f'abc",
           "x ? y",
           "x $ y",
           "1abc",
           "0xZZ",
           "a b",
           "f(a b)",
           "f(1=2)",
           "1 = x",
           "f() = x",
           "x +",
           "import",
           "from a import",
           "class",
           "try: a",
           "match x:\n  case 1: pass",
           "type X = int",
           "def f[T](x): pass",
           "caf\xC3\xA9 = 1",
           "lambda x: ",
           "x if y",
           "[x for",
           "{a: }",
           "a not b",
           "async x",
           "@x\ny = 1",
           "x = `a`",
           "a <> b",
           "with (a as b): c",
           "if x:\n\ta\n        \tb",
           "x = 1 if 2",
           "else: x",
           "x[]",
           "\\x",
           "(a := b := c)",
           "del f()",
           "for f() in x: y",
           "nonlocal 1",
           "from __future__ import",
           "a.1",
           "f(*)",
           "{**a: b}",
           "!x",
           "f'{x:{y}'",
           "x = '\n'",
       }) {
    EXPECT_FALSE(takes(code)) << code;
  }
  EXPECT_FALSE(takes(std::string(1000, '(') + std::string(1000, ')')));
  EXPECT_FALSE(takes(std::string(1000, '-') + "1"));
}

TEST(PythonParser, FindsWhatTheGrammarFinds) {
  SecurityManager quick(shipped_policy("strict"));
  SecurityManager slow(through_grammar("strict"));
  std::size_t files = 0;
  std::size_t taken = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           "/usr/lib/python3.11", std::filesystem::directory_options::skip_permission_denied)) {
    if (entry.path().extension() != ".py" || entry.file_size() > 60'000) continue;
    if (++files > 120) break;
    std::ifstream stream(entry.path(), std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    std::string code = text.str();
    taken += takes(code);
    ASSERT_EQ(found(quick.validate(code, Language::python)), found(slow.validate(code, Language::python)))
        << entry.path();
  }
  if (files == 0) GTEST_SKIP() << "no Python standard library here";
  EXPECT_GE(taken * 100, files * 95) << "of " << files << " files";
}

}  // namespace
}  // namespace atl::policy
