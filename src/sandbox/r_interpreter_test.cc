#include <fmt/format.h>
#include <gmock/gmock.h>

#include <csignal>

#include "sandbox/hostile_harness.h"

namespace atl::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

class RInterpreterTest : public HostileInterpreterTest {
 protected:
  RInterpreterTest() { language_ = Language::r; }
};

TEST_F(RInterpreterTest, TellsErrorsWithTheUsersCallsOnly) {
  Cell cell = execute("f <- function(x) stop('bad ', x)\nf(2)");
  ASSERT_EQ(cell.errors.size(), 1U);
  EXPECT_EQ(cell.errors[0].name, "simpleError");
  EXPECT_EQ(cell.errors[0].value, "bad 2");
  EXPECT_EQ(cell.errors[0].traceback, "Error in f(2) : bad 2\nTraceback:\n1. f(2)\n2. stop(\"bad \", x)");
  EXPECT_EQ(cell.outcome.exit_code, 1);
  EXPECT_EQ(execute("stop('top')").errors[0].traceback, "Error: top\nTraceback:\n1. stop(\"top\")");
  cell = execute("1 +");
  EXPECT_EQ(cell.error(), "parseError");
  EXPECT_THAT(cell.errors[0].value, HasSubstr("<cell 3>:2:0: unexpected end of input"));
  cell =
      execute("stop(structure(class = c('mine', 'error', 'condition'), list(message = 'm', call = NULL)))");
  EXPECT_EQ(cell.error(), "mine");
  EXPECT_THAT(cell.errors[0].traceback, Not(HasSubstr("function (e)"))) << "none of our handlers";
  EXPECT_EQ(execute("stop(structure(class = c('odd', 'error', 'condition'), list(message = 1:2, call = 5)))")
                .error(),
            "odd");
  EXPECT_EQ(execute("library(nosuchpackage)").error(), "packageNotFoundError");
  EXPECT_EQ(execute("6 * 7").text(), "[1] 42");
}

TEST_F(RInterpreterTest, RemembersCountsAndPrintsAsItsTopLevelDoes) {
  EXPECT_EQ(execute("x <- 20").results.size(), 0U);
  const Cell cell = execute("x; cat('between\\n'); x + 1");
  EXPECT_EQ(cell.out, "[1] 20\nbetween\n") << "earlier values are printed where they were";
  EXPECT_EQ(cell.text(), "[1] 21");
  EXPECT_TRUE(cell.results[0].is_main);
  EXPECT_EQ(cell.count, 2U);
  EXPECT_EQ(execute("invisible(3)").results.size(), 0U);
  EXPECT_EQ(execute("").outcome.exit_code, 0);
  EXPECT_EQ(execute("# only words").results.size(), 0U);
  EXPECT_EQ(execute("getwd()").text(), "[1] \"/tmp\"");
  EXPECT_EQ(
      execute("print.thing <- function(x, ...) cat('a thing\\n'); structure(1, class = 'thing')").text(),
      "a thing");
  EXPECT_EQ(execute("setClass('P', representation(n = 'numeric')); new('P', n = 1)@n").text(), "[1] 1");
  EXPECT_EQ(execute(".Last.value").text(), "[1] 1");
}

TEST_F(RInterpreterTest, SeparatesItsStreams) {
  const Cell cell =
      execute("cat('ünï \U0001F600\\n'); message('hey'); f <- function() warning('careful'); f(); 'ü'");
  EXPECT_EQ(cell.out, "ünï \U0001F600\n");
  EXPECT_EQ(cell.err, "hey\nWarning message:\nIn f() : careful\n");
  EXPECT_EQ(cell.text(), "[1] \"ü\"");
  EXPECT_EQ(execute("warning('top')").err, "Warning message:\ntop\n");
  EXPECT_EQ(execute("options(warn = 2); warning('now')").errors[0].value, "(converted from warning) now");
  EXPECT_EQ(execute("system('echo child')").out, "child\n");
}

TEST_F(RInterpreterTest, ShowsTablesAndDrawings) {
  const Cell table =
      execute("data.frame(a = 1:2, b = c('x', NA), n = c(1.5, Inf), d = as.Date('2024-01-01') + 0:1)");
  ASSERT_EQ(table.results.size(), 1U);
  EXPECT_THAT(table.text(), HasSubstr("2024-01-01"));
  EXPECT_THAT(table.results[0].data.at("text/html"), HasSubstr("<th>b</th>"));
  EXPECT_EQ(table.results[0].data.at("e2b/data"),
            R"({"a": [1, 2], "b": ["x", null], "n": [1.5, null], "d": ["2024-01-01", "2024-01-02"]})");
  const Cell plot = execute("plot(1:3); plot(3:1); 7");
  ASSERT_EQ(plot.results.size(), 3U);
  EXPECT_FALSE(plot.results[0].is_main);
  EXPECT_THAT(plot.results[0].data.at("image/png"), StartsWith("iVBORw0KGgo"));
  EXPECT_EQ(plot.text(), "[1] 7");
  EXPECT_EQ(execute("8").results.size(), 1U) << "shown once";
  EXPECT_EQ(execute("plot(1:3); stop('after')").results.size(), 1U);
  const Cell shown = execute("display(5); display('<b>x</b>', mime = 'text/html')");
  ASSERT_EQ(shown.results.size(), 2U);
  EXPECT_EQ(shown.results[1].data.at("text/html"), "<b>x</b>");
}

TEST_F(RInterpreterTest, SetsAndRestoresTheEnvironment) {
  ExecutionSpec spec;
  spec.code = "cat(Sys.getenv('A'), Sys.getenv('HOME'))";
  spec.env = {{"A", "it's = 1"}, {"HOME", "/elsewhere"}};
  EXPECT_EQ(execute(spec).out, "it's = 1 /elsewhere");
  EXPECT_EQ(execute("cat(Sys.getenv('A', 'none'), Sys.getenv('HOME'))").out, "none /root");
}

TEST_F(RInterpreterTest, StopsAndGoesOn) {
  execute("x <- 'kept'");
  for (const char* code : {"repeat {}", "Sys.sleep(60)", "tryCatch(repeat {}, error = function(e) 1)"}) {
    ExecutionSpec spec;
    spec.code = code;
    spec.wall_time = 200ms;
    const Cell cell = execute(spec);
    EXPECT_EQ(cell.outcome.ending, Ending::timed_out) << code;
    EXPECT_EQ(cell.error(), "KeyboardInterrupt") << code;
  }
  EXPECT_TRUE(run(interpreter()->interrupt())) << "idle: nothing happens";
  EXPECT_EQ(execute("x").text(), "[1] \"kept\"");
  ExecutionSpec deaf;
  deaf.code = "suspendInterrupts(repeat {})";
  deaf.wall_time = 200ms;
  EXPECT_THAT(execute(deaf).outcome.reason, HasSubstr("the interpreter was killed"));
  expect_restart("cat('back')", "back");
}

TEST_F(RInterpreterTest, CarriesHugeOutputAndCutsAtTheLimit) {
  const Cell large =
      execute("for (i in 1:20000) cat(strrep('x', 100), '\\n', sep = ''); strrep('y', 900000)");
  EXPECT_EQ(large.out.size(), 20000U * 101);
  EXPECT_EQ(large.text().size(), 900006U);
  EXPECT_EQ(execute(fmt::format("nchar('{}')", std::string(300'000, 'z'))).text(), "[1] 300000");
  ExecutionSpec spec;
  spec.code = "repeat cat(strrep('x', 1000))";
  spec.output_bytes = 50'000;
  const Cell cut = execute(spec);
  EXPECT_EQ(cut.outcome.ending, Ending::output_limit);
  EXPECT_EQ(cut.out.size(), 50'000U);
}

// One after the other in one interpreter: none of them may cost the runner anything.
TEST_F(RInterpreterTest, SurvivesWhatCellsDefine) {
  for (const char* code :
       {"print <- function(...) stop('mine'); c <- function(...) NULL; paste0 <- eval <- list <- NULL; 42",
        "T <- FALSE; F <- TRUE; `{` <- function(...) NULL; `if` <- function(...) stop('no'); rm(`{`, `if`); "
        "42",
        "attach(list(nchar = function(...) 0, iconv = NULL)); 42",
        "closeAllConnections(); sink(); options(device = NULL, warn = -1, digits = 3, error = quote(q('no', "
        "7))); 42",
        "detach('tools:kernel'); rm(list = ls(all.names = TRUE)); 42",
        "f <- function() f(); tryCatch(f(), error = function(e) 42)",
        "makeActiveBinding('x', function() stop('active'), globalenv()); 42",
        "Sys.setlocale('LC_ALL', 'C'); 42", "reg.finalizer(globalenv(), function(e) stop('f')); gc(); 42",
        "lockEnvironment(globalenv()); 42"}) {
    EXPECT_EQ(attack(code).text(), "[1] 42") << code;
    EXPECT_EQ(attack("6 * 7").text(), "[1] 42") << "after " << code;
  }
  EXPECT_EQ(attack("stop('own')").errors[0].value, "own");
}

TEST_F(RInterpreterTest, ReportsItsDeathAndRestarts) {
  EXPECT_EQ(attack("quit(status = 3)").outcome.exit_code, 3);
  expect_restart("cat('back')", "back");
  EXPECT_EQ(attack("tools::pskill(Sys.getpid(), 9)").outcome.signal, SIGKILL);
  expect_restart("cat('back')", "back");
  for (const char* code :
       {"for (n in ls(baseenv())) try({ unlockBinding(n, baseenv()); assign(n, NULL, baseenv()) }, silent = "
        "TRUE)",
        "for (f in sys.frames()) rm(list = ls(f, all.names = TRUE), envir = f)",
        "utils:::close.socket(structure(list(socket = 900L), class = 'socket'))", "invokeRestart('abort')"}) {
    EXPECT_FALSE(attack(code).outcome.succeeded()) << code;
    expect_restart("cat('back')", "back");
  }
  ExecutionSpec spec;
  spec.code = "tools::pskill(Sys.getpid(), tools::SIGSTOP)";
  spec.wall_time = 200ms;
  EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out);
  expect_restart("cat('back')", "back");
}

TEST_F(RInterpreterTest, SaysNothingForAnotherCell) {
  execute(
      "say <- function(text) utils::write.socket(structure(list(socket = 900L), class = 'socket'), text)");
  EXPECT_EQ(execute("say('R 18\\n110\\ntext/plain2\\n99'); say('D 3\\n0 2'); 5").text(), "[1] 5");
  EXPECT_EQ(execute("6 * 7").text(), "[1] 42");
  ExecutionSpec spec;
  spec.code = std::string("1\0", 2);
  EXPECT_EQ(run(cell_of(interpreter(), spec)).error().code(), Code::invalid_argument);
}

TEST_F(RInterpreterTest, SaysWhatIsMissing) {
  connection()->set_defaults("root", "/", {{"PATH", "/nonexistent"}});
  const auto made = run(connection()->create_interpreter(Language::r, "/tmp"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::unsupported);
  EXPECT_THAT(made.error().message(), HasSubstr("no interpreter for r in this environment"));
  EXPECT_THAT(made.error().message(), HasSubstr("r-base-core"));
}

}  // namespace
}  // namespace atl::sandbox
