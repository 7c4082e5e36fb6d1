// How cells are read in each language, and what their errors show: the user's code and nothing of the runner.
#include <gmock/gmock.h>

#include "guest/runners.h"
#include "sandbox/interpreter_harness.h"

namespace atl::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class PythonCellTest : public GuestInterpreterTest {
 protected:
  std::string trace(const std::string& code) {
    const Cell cell = execute(code);
    EXPECT_EQ(cell.errors.size(), 1U) << code;
    EXPECT_THAT(cell.err, Not(HasSubstr("atoll"))) << code;
    return cell.errors.empty() ? "" : cell.errors[0].traceback;
  }
};

TEST_F(PythonCellTest, TracesShowNothingThatRunsCells) {
  EXPECT_EQ(trace("async def f():\n    1/0\nawait f()"),
            "Traceback (most recent call last):\n  File \"<cell 1>\", line 3, in <module>\n    await f()\n"
            "  File \"<cell 1>\", line 2, in f\n    1/0\n    ~^~\nZeroDivisionError: division by zero\n");
  EXPECT_EQ(trace("import os, signal\n!kill -INT $PPID; sleep 5"),
            "Traceback (most recent call last):\n  File \"<cell 2>\", line 2, in <module>\n"
            "    !kill -INT $PPID; sleep 5\nKeyboardInterrupt\n");
  EXPECT_THAT(trace("%%nosuch\nx"), StartsWith("NameError: there is no %%nosuch here"));
  EXPECT_THAT(trace("%nosuch x"), HasSubstr("NameError: there is no %nosuch here"));
}

TEST_F(PythonCellTest, TracesOfChainsGroupsAndModules) {
  const std::string chain =
      trace("try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e");
  EXPECT_THAT(chain, HasSubstr("line 2, in <module>\n    1/0\n    ~^~\nZeroDivisionError"));
  EXPECT_THAT(chain, HasSubstr("direct cause of the following exception"));
  EXPECT_THAT(chain, HasSubstr("line 4, in <module>\n    raise KeyError('x') from e\nKeyError: 'x'"));
  const std::string group = trace(
      "import asyncio\nasync def h(): raise ValueError('in a task')\nasync def g():\n    async with "
      "asyncio.TaskGroup() "
      "as tasks: tasks.create_task(h())\nawait g()");
  EXPECT_THAT(group, HasSubstr("  |     await g()"));
  EXPECT_THAT(group, HasSubstr("    | ValueError: in a task"));
  EXPECT_THAT(group, Not(HasSubstr("base_events")));
  EXPECT_THAT(group, Not(HasSubstr("atoll")));
  execute(
      "import sys, tempfile\nplace = tempfile.mkdtemp(); sys.path.insert(0, place)\n"
      "open(place + '/mine.py', 'w').write('def f(x):\\n    return 1 / x\\n')\nimport mine");
  EXPECT_THAT(trace("mine.f(0)"), HasSubstr("/mine.py\", line 2, in f\n    return 1 / x"));
}

TEST_F(PythonCellTest, ACellMayBeIndented) {
  EXPECT_EQ(execute("\n    x = 1\n    x").text(), "1");
  EXPECT_EQ(execute("\t# first\n\tx = 2\n\n\tif x:\n\t\tx += 1\n\tx").text(), "3");
  EXPECT_EQ(execute("    \"\"\"a\n    b\n  c\"\"\"").text(), "'a\\nb\\n  c'")
      << "as IPython: lines are lines, in strings too";
  EXPECT_EQ(execute("   %%bash\n   echo in\n").out, "in\n");
  EXPECT_EQ(execute("  !echo in").out, "in\n");
  EXPECT_EQ(execute("    a = 1\n  b = 2").error(), "IndentationError");
  EXPECT_EQ(execute("a = 1\n    b = 2").error(), "IndentationError");
  EXPECT_THAT(trace("\n\n    x = 1\n    1/0"), HasSubstr("line 4, in <module>\n    1/0\n    ~^~\n"));
}

TEST_F(PythonCellTest, ListsAndDictsHaveAForm) {
  const auto form = [this](const std::string& code) {
    const Cell cell = execute(code);
    if (cell.results.empty()) return std::string("no result");
    const auto found = cell.results.back().data.find("application/json");
    return found == cell.results.back().data.end() ? std::string() : found->second;
  };
  EXPECT_EQ(form("[1, 'ü\"', None, True, 1.5]"), "[1,\"ü\\\"\",null,true,1.5]");
  EXPECT_EQ(form("{'a': {2: []}}"), "{\"a\":{\"2\":[]}}");
  EXPECT_EQ(form("[float('inf'), (1,)]"), "[null, [1]]");
  EXPECT_EQ(form("import datetime, uuid, enum\n[datetime.datetime(2026, 1, 2), uuid.UUID(int=1), "
                 "enum.Enum('E', 'A').A]"),
            "[\"2026-01-02T00:00:00\", \"00000000-0000-0000-0000-000000000001\", 1]");
  for (const char* code : {"(1, 2)", "'text'", "[object()]", "[{1}]", "a = []; a.append(a); a", "{b'x': 1}",
                           "x = []\nfor _ in range(5000): x = [x]\nx", "[0] * 1000000"})
    EXPECT_EQ(form(code), "") << code;
}

TEST_F(PythonCellTest, MarksTheRightPlaceInTheLastLine) {
  EXPECT_THAT(trace("x = 5\nlen(str(1/0))"), HasSubstr("    len(str(1/0))\n            ~^~\n"));
  EXPECT_THAT(trace("return 5"), HasSubstr("    return 5\n    ^"));
  EXPECT_THAT(trace("x = (1,\n  2"), HasSubstr("line 1\n    x = (1,\n        ^\n"));
}

TEST_F(PythonCellTest, EscapesAreStatementsOnly) {
  const Cell cell = execute(
      "text = '''\n!important\n%d\n''' % 5\nx = (100\n     % 7)\ns = 'a\\\n!b'\n!echo hi \\\n   "
      "there\n(text, x, s)");
  EXPECT_EQ(cell.text(), "('\\n!important\\n5\\n', 2, 'a!b')");
  EXPECT_EQ(cell.out, "hi there\n");
  EXPECT_EQ(execute("d = {'a': 1,  # not (\n  'b': \"it's\"}\nif d:\n    !echo in\n    y = !echo 'a # b'\ny")
                .text(),
            "['a # b']");
  EXPECT_THAT(execute("!echo ok\nx = (1,").errors.at(0).traceback, HasSubstr("line 2\n    x = (1,\n"));
  EXPECT_EQ(execute("\n%%bash\necho late").out, "late\n");
}

TEST_F(PythonCellTest, QuietIsWhatEndsWithASemicolon) {
  EXPECT_EQ(execute("x = 'ä'; x # a note;").text(), "'ä'");
  EXPECT_EQ(execute("'ä;'").text(), "'ä;'");
  for (const char* code : {"x; # a note", "(x);", "x ;", "\"ä\";"})
    EXPECT_EQ(execute(code).results.size(), 0U) << code;
}

TEST_F(PythonCellTest, ReadsAnEndWhateverBecameOfItsInput) {
  EXPECT_EQ(execute("input('? ')").error(), "EOFError");
  EXPECT_EQ(execute("exit()").outcome.exit_code, 0);
  EXPECT_EQ(execute("input()").error(), "EOFError");
  EXPECT_EQ(execute("import os, sys\nsys.stdin.close(); os.close(0)").outcome.exit_code, 0);
  EXPECT_EQ(execute("input()").error(), "EOFError");
  EXPECT_EQ(execute("!cat; echo read").out, "read\n");
  execute("class Typist:\n  def readline(self): return 'typed\\n'\nsys.stdin = Typist()");
  EXPECT_EQ(execute("input()").text(), "'typed'") << "another one is left alone";
}

TEST_F(PythonCellTest, ShowsEveryForm) {
  const Cell all = execute(
      "class All:\n  def _repr_latex_(self): return '$x^2$'\n  def _repr_markdown_(self): return '# m'\n"
      "  def _repr_svg_(self): return '<svg/>'\n  def _repr_jpeg_(self): return b'\\xff\\xd8'\n"
      "  def _repr_pdf_(self): return b'%PDF'\n  def _repr_javascript_(self): return 'f()'\n"
      "  def _repr_json_(self): return [1, None]\n  def _repr_html_(self): return None\n"
      "  def __repr__(self): return 'all'\nAll()");
  ASSERT_EQ(all.results.size(), 1U);
  const std::map<std::string, std::string> wanted{{"text/plain", "all"},
                                                  {"text/latex", "$x^2$"},
                                                  {"text/markdown", "# m"},
                                                  {"image/svg+xml", "<svg/>"},
                                                  {"image/jpeg", "/9g="},
                                                  {"application/pdf", "JVBERg=="},
                                                  {"application/json", "[1, null]"},
                                                  {"application/javascript", "f()"}};
  EXPECT_EQ((std::map<std::string, std::string>(all.results[0].data.begin(), all.results[0].data.end())),
            wanted);
  const Cell bundle = execute(
      "class Bundle:\n  def _repr_mimebundle_(self, include=None, exclude=None):\n"
      "    return {'application/vnd.own+json': {'k': 1}}, {}\nBundle()");
  EXPECT_EQ(bundle.results.at(0).data.at("application/vnd.own+json"), "{\"k\": 1}");
  const Cell raw = execute("display({'text/html': '<b>'}, raw=True)");
  EXPECT_EQ(raw.results.at(0).data.at("text/html"), "<b>");
  EXPECT_EQ(raw.results.at(0).data.count("text/plain"), 0U);
}

TEST_F(PythonCellTest, TellsWhatCouldNotBeShown) {
  const Cell failed = execute("class C:\n  def _repr_html_(self): raise RuntimeError('no form')\nC()");
  EXPECT_TRUE(failed.outcome.succeeded());
  EXPECT_THAT(failed.err, HasSubstr("line 2, in _repr_html_"));
  EXPECT_THAT(failed.err, HasSubstr("RuntimeError: no form"));
  EXPECT_THAT(failed.err, Not(HasSubstr("atoll")));
  const Cell large = execute(
      "class L:\n  def _repr_html_(self): return 'x' * (70 << 20)\n  def __repr__(self): return 'l'\nL()");
  EXPECT_EQ(large.text(), "l");
  EXPECT_EQ(large.results.at(0).data.count("text/html"), 0U);
  EXPECT_THAT(large.err, HasSubstr("text/html of 73400329 bytes was left out"));
  EXPECT_EQ(execute("'goes on'").text(), "'goes on'");
}

class NodeCellTest : public GuestInterpreterTest {
 protected:
  NodeCellTest() { language_ = Language::javascript; }
};

TEST_F(NodeCellTest, StacksShowNothingThatRunsCells) {
  for (const char* code :
       {"try { null.x } catch (e) { console.error(e); console.log(e.stack) }", "new Error('shown')",
        "Promise.reject(new Error('unheard'))", "throw new Error('thrown')",
        "await Promise.reject(new Error('awaited'))",
        "setTimeout(() => { throw new Error('late') }, 1); await new Promise((go) => setTimeout(go, 50))",
        "throw new Error('outer', { cause: new Error('inner') })"}) {
    const Cell cell = execute(code);
    const std::string said =
        cell.out + cell.err + cell.text() + (cell.errors.empty() ? "" : cell.errors[0].traceback);
    EXPECT_THAT(said, HasSubstr("<cell ")) << code;
    EXPECT_THAT(said, Not(HasSubstr("atoll"))) << code;
    EXPECT_THAT(said, Not(HasSubstr("node:vm"))) << code;
  }
  EXPECT_THAT(execute("throw new Error('outer', { cause: new Error('inner') })").errors.at(0).traceback,
              HasSubstr("[cause]: Error: inner"));
}

TEST_F(NodeCellTest, TellsWhereInCellsThatWait) {
  const std::string waited =
      execute("const f = async () => { throw new Error('e') }\nawait f()").errors.at(0).traceback;
  EXPECT_THAT(waited, HasSubstr("at f (<cell 1>:1:"));
  EXPECT_THAT(waited, HasSubstr("at <cell 1>:2:"));
  EXPECT_THAT(waited, Not(HasSubstr("<cell 1>:3"))) << "where what stands around it is called";
  EXPECT_THAT(execute("const a = 1, b = nope()").errors.at(0).traceback, HasSubstr("at <cell 2>:1:18"));
  EXPECT_THAT(execute("await 1;\n  foo bar").errors.at(0).traceback,
              StartsWith("<cell 3>:2\n  foo bar\n      ^\n\nSyntaxError: "));
  EXPECT_THAT(execute("import fs from 'fs';\nfs.x(;").errors.at(0).traceback,
              StartsWith("<cell 4>:2\nfs.x(;\n     ^\n"));
  EXPECT_EQ(execute("await 1; return 5").errors.at(0).value, "'return' outside of function");
}

TEST_F(NodeCellTest, DeclaresInCellsThatWait) {
  EXPECT_EQ(execute("await 1; const a = 2; class A {} function f() { return 3 }").errors.size(), 0U);
  EXPECT_EQ(execute("[a, typeof A, f()]").text(), "[ 2, 'function', 3 ]");
  EXPECT_EQ(execute("class B {}\n[1].map((x) => x); const b = await 4 // a note").errors.size(), 0U);
  EXPECT_EQ(execute("[b, typeof B]").text(), "[ 4, 'function' ]");
  EXPECT_EQ(
      execute("const d = 7; export const c = await 5; export { d }; export default function g() { return 6 }")
          .errors.size(),
      0U);
  EXPECT_EQ(execute("[c, g()]").text(), "[ 5, 6 ]");
}

TEST_F(NodeCellTest, TypesLeaveErrorsWhereTheyAre) {
  if (guest::type_stripper().empty()) GTEST_SKIP() << "built without it";
  language_ = Language::typescript;
  EXPECT_EQ(execute("type N = number\n\nfunction f(x: N): never { throw new Error('e') }\nf(1)")
                .errors.at(0)
                .traceback,
            "Error: e\n    at f (<cell 1>:3:33)\n    at <cell 1>:4:1");
  const Cell wrong = execute("const ok: number = 1\nlet v: number = ;");
  EXPECT_EQ(wrong.error(), "SyntaxError");
  EXPECT_EQ(wrong.errors.at(0).value, "Expression expected");
  EXPECT_THAT(wrong.errors.at(0).traceback, StartsWith("<cell 2>:2\n"));
  EXPECT_THAT(wrong.errors.at(0).traceback, HasSubstr("let v: number = ;\n                ^\n"));
  EXPECT_EQ(execute("enum E { A = 4 }; namespace M { export const n: number = 1 }; E.A + M.n").text(), "5");
}

TEST_F(NodeCellTest, WaitsForAPromiseAtTheEnd) {
  const Cell cell = execute(
      "async function main(bad) { await new Promise((go) => setTimeout(go, 50)); console.log('seen'); if "
      "(bad) throw new "
      "RangeError('bad'); return 5 }\nmain()");
  EXPECT_EQ(cell.out, "seen\n");
  EXPECT_EQ(cell.text(), "5");
  EXPECT_EQ(execute("main(true)").error(), "RangeError");
  EXPECT_EQ(execute("await 1; main(true)").error(), "RangeError");
  EXPECT_EQ(execute("({ then() { throw new Error('not asked') }, n: 1 }).n").text(), "1");
  ExecutionSpec forever;
  forever.code = "new Promise(() => {})";
  forever.wall_time = std::chrono::milliseconds(100);
  EXPECT_EQ(execute(forever).outcome.ending, Ending::timed_out);
  EXPECT_EQ(execute("const later = new Promise(() => {}); 6").text(), "6");
}

TEST_F(NodeCellTest, IsAModuleOfItsOwn) {
  EXPECT_EQ(execute("module.exports.a = 1; [exports.a, typeof require, __filename]").text(),
            "[ 1, 'function', '/tmp/cell.js' ]");
  EXPECT_EQ(execute("const module = 2; module").text(), "2");
}

TEST_F(NodeCellTest, LeavesOutWhatIsTooLarge) {
  const Cell cell =
      execute("display({ 'text/plain': 'p', 'text/html': 'x'.repeat(70 << 20) }, { raw: true })");
  EXPECT_EQ(cell.text(), "p");
  EXPECT_EQ(cell.results.at(0).data.count("text/html"), 0U);
  EXPECT_THAT(cell.err, HasSubstr("text/html of 73400329 bytes was left out"));
  EXPECT_EQ(execute("'goes on'").text(), "'goes on'");
}

class BashCellTest : public GuestInterpreterTest {
 protected:
  BashCellTest() { language_ = Language::shell; }
};

TEST_F(BashCellTest, KeepsAliases) {
  EXPECT_EQ(execute("alias hi='echo hello' builtin=false printf=false source=false unset=false export=false")
                .outcome.exit_code,
            0);
  ExecutionSpec spec;
  spec.code = "hi $A";
  spec.env = {{"A", "there"}};
  EXPECT_EQ(execute(spec).out, "hello there\n");
  EXPECT_EQ(execute("echo [$A]; unalias -a").out, "[]\n");
  EXPECT_EQ(execute("alias hi='echo hello'; shopt -u expand_aliases").outcome.exit_code, 0);
  EXPECT_EQ(execute("hi").outcome.exit_code, 127) << "as the user set it";
}

}  // namespace
}  // namespace atl::sandbox
