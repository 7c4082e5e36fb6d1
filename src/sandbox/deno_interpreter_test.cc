#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sandbox/hostile_harness.h"

namespace atl::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

// What scripts/deno installs. Tests are run from the root of the repository.
std::string deno_directory() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(".deps/deno/node_modules/@deno", none))
    if (std::filesystem::exists(entry.path() / "deno")) return std::filesystem::absolute(entry.path());
  return "";
}

class DenoInterpreterTest : public HostileInterpreterTest {
 protected:
  void SetUp() override {
    HostileInterpreterTest::SetUp();
    language_ = Language::deno;
    const std::string place = deno_directory();
    if (place.empty()) GTEST_SKIP() << "no Deno here: scripts/deno --path installs it from npm";
    connection()->set_defaults("root", "/",
                               {{"PATH", place + ":/usr/bin:/bin"}, {"HOME", "/tmp"}, {"DENO_DIR", cache()}});
  }
  void TearDown() override {
    HostileInterpreterTest::TearDown();
    std::filesystem::remove_all(cache());
  }
  static std::string cache() {
    return (std::filesystem::temp_directory_path() / fmt::format("atoll-deno-{}", ::getpid())).string();
  }
};

TEST_F(DenoInterpreterTest, RemembersAndCountsWithTypesAndAwaitAtTheTop) {
  EXPECT_EQ(execute("const x: number = 20").results.size(), 0U);
  const Cell cell = execute("console.log('out'); console.error('err'); x + 1");
  EXPECT_EQ(cell.out, "out\n");
  EXPECT_EQ(cell.err, "err\n");
  EXPECT_EQ(cell.text(), "21");
  EXPECT_TRUE(cell.results[0].is_main);
  EXPECT_EQ(cell.count, 2U);
  EXPECT_EQ(execute("const x = 'again'; let [a, {b}] = [await 1, {b: await 2}]; x + a + b").text(),
            "\"again12\"");
  EXPECT_EQ(execute("b").text(), "2");
  EXPECT_EQ(execute("for await (const one of [1, 2]) console.log(one)").out, "1\n2\n");
  EXPECT_EQ(execute("enum Colour { red = 3 }\nColour.red").text(), "3");
  EXPECT_EQ(
      execute("class P { constructor(private n: number) {} get() { return this.n } }\nnew P(5).get()").text(),
      "5");
  EXPECT_EQ(execute("\n    function f() { return 'indented' }\n    f()\n").text(), "\"indented\"");
  EXPECT_EQ(execute("async function main() { await 0; console.log('within'); return 7 }\nmain()").text(), "7")
      << "a promise as the last value is waited for";
  EXPECT_EQ(execute("").results.size(), 0U);
  EXPECT_EQ(execute("undefined").results.size(), 0U);
  EXPECT_EQ(execute("// only words").outcome.exit_code, 0);
}

TEST_F(DenoInterpreterTest, ShowsValuesAsDenoDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"null", "null"},
      {"-0", "-0"},
      {"NaN", "NaN"},
      {"10n ** 20n", "100000000000000000000n"},
      {"'text'", "\"text\""},
      {"Symbol('s')", "Symbol(s)"},
      {"{a: 1, b: 'x'}", "{ a: 1, b: \"x\" }"},
      {"{a: await 1}", "{ a: 1 }"},
      {"{ let q = 1; q + 1 }", "2"},
      {"new Map([[1, {a: [1, 2]}]])", "Map(1) { 1 => { a: [ 1, 2 ] } }"},
      {"010", "8"},
  };
  for (const auto& [code, text] : cases) EXPECT_EQ(execute(code).text(), text) << code;
}

TEST_F(DenoInterpreterTest, ShowsWhatDenosOwnInterpreterShows) {
  Cell cell = execute("await Deno.jupyter.display(Deno.jupyter.html`<b>${1 + 1}</b>`); Deno.jupyter.md`# x`");
  ASSERT_EQ(cell.results.size(), 2U);
  EXPECT_EQ(cell.results[0].data.at("text/html"), "<b>2</b>");
  EXPECT_FALSE(cell.results[0].is_main);
  EXPECT_EQ(cell.results[1].data.at("text/markdown"), "# x");
  cell = execute("await Deno.jupyter.display({'text/latex': 'x^2'}, {raw: true}); Deno.jupyter.svg`<svg/>`");
  EXPECT_EQ(cell.results[0].data.size(), 1U);
  EXPECT_EQ(cell.results[0].data.at("text/latex"), "x^2");
  EXPECT_EQ(cell.results[1].data.at("image/svg+xml"), "<svg/>");
  const std::string png = "new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 1])";
  EXPECT_EQ(execute(png).results[0].data.at("image/png"), "iVBORw0KGgoB");
  EXPECT_EQ(execute("Deno.jupyter.image(" + png + ")").results[0].data.at("image/png"), "iVBORw0KGgoB");
  EXPECT_EQ(execute("Deno.jupyter.image(new Uint8Array([1]))").error(), "TypeError");
  EXPECT_EQ(execute("({toDataURL: () => 'data:image/png;base64,AAAA'})").results[0].data.at("image/png"),
            "AAAA");
  EXPECT_EQ(execute("({outerHTML: '<p>'})").results[0].data.at("text/html"), "<p>");
  cell = execute("({[Symbol.for('Jupyter.display')]: () => ({'text/plain': 'me', 'text/html': '<i>'})})");
  EXPECT_EQ(cell.text(), "me");
  EXPECT_EQ(cell.results[0].data.at("text/html"), "<i>");
  EXPECT_EQ(execute("({get [Symbol.for('Jupyter.display')]() { throw 1 }, a: 1})").results.size(), 1U);
  cell = execute("await Deno.jupyter.broadcast('display_data', {data: {'text/plain': 'told'}}); 1");
  EXPECT_EQ(cell.results[0].data.at("text/plain"), "told");
  EXPECT_EQ(execute("(await Deno.jupyter.format(5))['text/plain']").text(), "\"5\"");
}

TEST_F(DenoInterpreterTest, TellsErrorsWithTheUsersFramesOnly) {
  Cell cell = execute("function f() { throw new RangeError('bad') }\nf()");
  ASSERT_EQ(cell.errors.size(), 1U);
  EXPECT_EQ(cell.errors[0].name, "RangeError");
  EXPECT_EQ(cell.errors[0].value, "bad");
  EXPECT_EQ(cell.errors[0].traceback, "RangeError: bad\n    at f (<cell 1>:1:22)\n    at <cell 1>:2:1");
  EXPECT_EQ(cell.outcome.exit_code, 1);
  EXPECT_EQ(execute("try { f() } catch (e) { console.log(e.stack) }").out,
            "RangeError: bad\n    at f (<cell 1>:1:22)\n    at <cell 2>:1:7\n");
  cell = execute("\n1 +");
  EXPECT_EQ(cell.error(), "SyntaxError");
  EXPECT_EQ(cell.errors[0].value, "Expression expected");
  EXPECT_THAT(cell.errors[0].traceback, HasSubstr("at <cell 3>:2:4"));
  EXPECT_EQ(execute("const y: = 1").error(), "SyntaxError");
  cell = execute("throw 5");
  EXPECT_EQ(cell.errors[0].traceback, "Uncaught 5");
  cell = execute("throw new Error('outer', {cause: new TypeError('inner')})");
  EXPECT_THAT(cell.errors[0].traceback, HasSubstr("[cause]: TypeError: inner"));
  EXPECT_EQ(
      execute(
          "setTimeout(() => { throw new Error('late') }, 10); await new Promise((r) => setTimeout(r, 5000))")
          .errors[0]
          .value,
      "late");
  EXPECT_EQ(execute("Promise.reject(new Error('unheard')); await new Promise((r) => setTimeout(r, 5000))")
                .errors[0]
                .value,
            "unheard");
  EXPECT_EQ(execute("6 * 7").text(), "42");
}

TEST_F(DenoInterpreterTest, ImportsAsAModuleWould) {
  const std::string name = fmt::format("atoll-own-{}.ts", ::getpid());
  std::ofstream("/tmp/" + name)
      << "export const word: string = 'own';\nexport default (n: number) => n * 2;\n"
         "export function bad() {\n  throw new Error('there');\n}\nexport const type = 3;\n";
  EXPECT_EQ(
      execute(fmt::format("import twice, {{ word as w,\n  type Missing }} from './{}';\nw + twice(4)", name))
          .text(),
      "\"own8\"");
  EXPECT_EQ(
      execute(fmt::format("import * as all from \"./{0}\"\nimport type {{ Foo }} from './none.ts'\nall.word",
                          name))
          .text(),
      "\"own\"");
  EXPECT_EQ(execute(fmt::format("import {{ type }} from './{}'\ntype", name)).text(), "3");
  EXPECT_EQ(execute(fmt::format("const f = async () => (await import('./{}')).word\nawait f()", name)).text(),
            "\"own\"");
  EXPECT_THAT(execute("all.bad()").errors[0].traceback, HasSubstr(name + ":4:9"))
      << "the line of the file as it was written";
  EXPECT_EQ(execute("import { join } from 'node:path'; import 'node:os'; join('a', 'b')").text(), "\"a/b\"");
  EXPECT_EQ(execute("import('node:os').then((os) => typeof os.cpus)").text(), "\"function\"");
  EXPECT_EQ(execute("export const out = 4; export default 5").text(), "5");
  EXPECT_EQ(execute("export { out as other }; export type T = number\nout").text(), "4");
  EXPECT_EQ(execute("`import x from ${`'y'`} export` + /import a from 'b'/.source").text(),
            "\"import x from 'y' exportimport a from 'b'\"");
  EXPECT_EQ(execute("import none from './there-is-none.ts'").error(), "TypeError");
  EXPECT_THAT(
      execute("function g() {\n  throw new Error('g')\n}\nimport os from 'node:os'; g()").errors[0].traceback,
      HasSubstr("at g (<cell 12>:2:9)"));
  std::filesystem::remove("/tmp/" + name);
}

TEST_F(DenoInterpreterTest, HasVariablesOfItsSandboxAndOfOneRun) {
  ExecutionSpec spec;
  spec.code = "Deno.env.get('ONE') + process.env.ONE";
  spec.env = {{"ONE", "now"}};
  EXPECT_EQ(execute(spec).text(), "\"nownow\"");
  EXPECT_EQ(execute("Deno.env.get('ONE') ?? 'default'").text(), "\"default\"");
  EXPECT_EQ(execute("Deno.env.get('ATOLL_CONTROL_FD') ?? 'none'").text(), "\"none\"");
  EXPECT_EQ(execute("new Deno.Command('sh', {args: ['-c', 'echo $HOME; ls /proc/self/fd | wc -l'], stdout: "
                    "'inherit'}).outputSync().code")
                .out,
            "/tmp\n4\n")
      << "children do not get the control stream";
  EXPECT_EQ(execute("Deno.cwd()").text(), "\"/tmp\"");
}

TEST_F(DenoInterpreterTest, HearsInterruptsWhileItWaits) {
  execute("const kept = 5");
  ExecutionSpec spec;
  spec.code = "await new Promise(() => {})";
  spec.wall_time = 300ms;
  const Cell cell = execute(spec);
  EXPECT_EQ(cell.outcome.ending, Ending::timed_out);
  EXPECT_EQ(execute("kept").text(), "5") << "the interpreter went on";
  // A collection of what the cell waited for must not end the interpreter.
  EXPECT_EQ(
      execute(
          "let junk; for (let i = 0; i < 40; i++) junk = new Array(1e5).fill(0).map((_, n) => ({n})); kept")
          .text(),
      "5");
  spec.code =
      "const t = setInterval(() => { for (let i = 0; i < 5; i++) new Array(1e5).fill(0).map((_, n) => ({n})) "
      "}, 5)\n"
      "await new Promise(() => {})";
  spec.wall_time = 1500ms;
  EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out) << "nor while it waits";
  EXPECT_EQ(execute("clearInterval(t); kept").text(), "5");
  spec.code = "for (;;);";
  spec.wall_time = 300ms;
  EXPECT_THAT(execute(spec).outcome.reason, HasSubstr("the interpreter was killed"));
  expect_restart("console.log('back')", "back\n");
}

TEST_F(DenoInterpreterTest, GoesOnAfterCellsThatBreakTheirRealm) {
  attack(
      "Promise.prototype.then = null; Array.prototype.push = null; JSON.stringify = null; Map.prototype.get "
      "= null");
  EXPECT_EQ(execute("2 + 2").text(), "4");
  EXPECT_EQ(execute("await 5").text(), "5");
  attack("Error.prepareStackTrace = () => { throw 1 }");
  EXPECT_EQ(execute("null.x").errors.size(), 1U);
  attack("globalThis.Deno = undefined; globalThis.process = undefined");
  EXPECT_EQ(execute("1").text(), "1");
  // Deno's own inspector needs this one.
  EXPECT_THAT(attack("Object.defineProperty(Object.prototype, 'toJSON', {get() { throw 1 }})").err,
              HasSubstr("the interpreter cannot go on"));
  expect_restart("console.log('back')", "back\n");
}

TEST_F(DenoInterpreterTest, EndsAsTheCellSays) {
  for (const char* code : {"Deno.exit(3)", "process.exit(3)"}) {
    const Cell cell = attack(code);
    EXPECT_EQ(cell.outcome.exit_code, 3) << code << cell.err;
    EXPECT_THAT(cell.err, Not(HasSubstr("panicked")));
    expect_restart("console.log('back')", "back\n");
  }
}

TEST_F(DenoInterpreterTest, SaysWhatIsMissing) {
  connection()->set_defaults("root", "/", {{"PATH", "/nonexistent"}});
  const auto made = run(connection()->create_interpreter(Language::deno, "/tmp"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::unsupported);
  EXPECT_THAT(made.error().message(), StartsWith("no interpreter for deno in this environment: "));
  EXPECT_THAT(made.error().message(), HasSubstr("npm's deno"));
  EXPECT_THAT(made.error().message(), HasSubstr("(`deno` is shipped)"));
}

}  // namespace
}  // namespace atl::sandbox
