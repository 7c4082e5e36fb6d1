#include <fmt/format.h>
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "sandbox/hostile_harness.h"

namespace atl::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class JavaInterpreterTest : public HostileInterpreterTest {
 protected:
  JavaInterpreterTest() { language_ = Language::java; }
};

TEST_F(JavaInterpreterTest, TellsErrorsWithTheUsersFramesOnly) {
  Cell cell = execute("int f() { throw new IllegalStateException(\"bad\"); }\nf()");
  ASSERT_EQ(cell.errors.size(), 1U);
  EXPECT_EQ(cell.errors[0].name, "java.lang.IllegalStateException");
  EXPECT_EQ(cell.errors[0].value, "bad");
  EXPECT_THAT(cell.errors[0].traceback, HasSubstr("IllegalStateException: bad\n    at f (#"));
  EXPECT_THAT(cell.errors[0].traceback, Not(HasSubstr("Runner")));
  EXPECT_EQ(cell.outcome.exit_code, 1);
  cell = execute("throw new Exception(\"outer\", new RuntimeException(\"inner\"));");
  EXPECT_THAT(cell.errors[0].traceback, HasSubstr("Caused by: java.lang.RuntimeException: inner"));
  cell = execute("int y = 1;\nString s = 5;");
  EXPECT_EQ(cell.error(), "CompilationError");
  EXPECT_THAT(cell.errors[0].value, HasSubstr("incompatible types"));
  EXPECT_THAT(cell.errors[0].traceback, HasSubstr("String s = 5;\n           ^"));
  EXPECT_EQ(execute("1 +").error(), "CompilationError");
  EXPECT_EQ(execute("int g() { return nowhere(); }\ng()").error(), "jdk.jshell.UnresolvedReferenceException");
  EXPECT_EQ(execute("int r() { return r() + 1; }\nr()").error(), "java.lang.StackOverflowError");
  EXPECT_EQ(execute("6 * 7").text(), "42");
}

TEST_F(JavaInterpreterTest, RemembersStreamsAndShows) {
  EXPECT_EQ(execute("int x = 20;").results.size(), 0U);
  Cell cell = execute("x; System.out.println(\"ünï \U0001F600\"); System.err.print(\"err\"); x + 1");
  EXPECT_EQ(cell.out, "ünï \U0001F600\n");
  EXPECT_EQ(cell.err, "err");
  ASSERT_EQ(cell.results.size(), 1U);
  EXPECT_TRUE(cell.results[0].is_main);
  EXPECT_EQ(cell.text(), "21");
  EXPECT_EQ(cell.count, 2U);
  EXPECT_EQ(execute("\"ü\"").text(), "\"ü\"");
  EXPECT_EQ(execute("List.of(1, 2).stream().map(i -> i * 2).collect(Collectors.toList())").text(), "[2, 4]");
  EXPECT_EQ(execute("class A { int n = 1; }\nvar a = new A();\na.n // the last").text(), "1");
  EXPECT_EQ(execute("int x = 3; x").text(), "3") << "declared again";
  EXPECT_EQ(execute("").outcome.exit_code, 0);
  EXPECT_EQ(execute("// only words").results.size(), 0U);
  EXPECT_EQ(execute("Path.of(\"\").toAbsolutePath().toString()").text(), "\"/tmp\"");
  EXPECT_EQ(execute("System.in.read()").text(), "-1");
}

TEST_F(JavaInterpreterTest, SetsAndRestoresTheEnvironment) {
  ExecutionSpec spec;
  spec.code =
      "System.out.print(System.getenv(\"A\") + System.getenv().get(\"HOME\"));"
      "var made = new ProcessBuilder(\"sh\", \"-c\", \"echo $A\"); made.environment();"
      "made.inheritIO().start().waitFor();";
  spec.env = {{"A", "it's = 1"}, {"HOME", "/elsewhere"}};
  EXPECT_EQ(execute(spec).out, "it's = 1/elsewhereit's = 1\n");
  EXPECT_EQ(execute("System.getenv(\"A\") + System.getenv(\"HOME\")").text(), "\"null/root\"");
}

// E2B's clients look for their variables among the properties.
TEST_F(JavaInterpreterTest, VariablesArePropertiesToo) {
  ExecutionSpec spec;
  spec.code = "System.getProperty(\"A\") + System.getProperty(\"HOME\") + System.getProperty(\"user.dir\")";
  spec.env = {{"A", "one"}, {"HOME", "/elsewhere"}, {"user.dir", "/never"}};
  EXPECT_EQ(execute(spec).text(), "\"one/elsewhere/tmp\"") << "those of Java itself stay";
  EXPECT_EQ(execute("System.getProperty(\"A\", \"none\") + System.getProperty(\"HOME\")").text(),
            "\"none/root\"");
  execute("System.setProperty(\"A\", \"mine\");");
  EXPECT_EQ(execute(spec).text(), "\"one/elsewhere/tmp\"");
  EXPECT_EQ(execute("System.getProperty(\"A\")").text(), "\"mine\"") << "what a cell set comes back";
}

TEST_F(JavaInterpreterTest, StopsAndGoesOn) {
  execute("var kept = 7;");
  for (const char* code : {"while (true) {}", "Thread.sleep(60000);",
                           "new ProcessBuilder(\"sleep\", \"60\").start().waitFor(); while (true) {}"}) {
    ExecutionSpec spec;
    spec.code = code;
    spec.wall_time = 500ms;
    const Cell cell = execute(spec);
    EXPECT_EQ(cell.outcome.ending, Ending::timed_out) << code;
    EXPECT_EQ(cell.error(), "KeyboardInterrupt") << code;
  }
  EXPECT_TRUE(run(interpreter()->interrupt())) << "idle: nothing happens";
  EXPECT_EQ(execute("kept").text(), "7");
  const Cell large =
      execute("for (int i = 0; i < 20000; i++) System.out.println(\"x\".repeat(100)); \"y\".repeat(900000)");
  EXPECT_EQ(large.out.size(), 20000U * 101);
  EXPECT_EQ(large.text().size(), 900002U);
  ExecutionSpec flood;
  flood.code = "while (true) System.out.print(\"x\".repeat(1000));";
  flood.output_bytes = 50'000;
  const Cell cut = execute(flood);
  EXPECT_EQ(cut.outcome.ending, Ending::output_limit);
  EXPECT_EQ(cut.out.size(), 50'000U);
}

TEST_F(JavaInterpreterTest, SurvivesHostileCode) {
  for (const char* code :
       {"class String {}\nclass Runner { void serve() {} }\n42",
        "System.setOut(null); System.setErr(null); 42", "System.out.close(); 42",
        "System.getProperties().clear(); 42",
        "sun.misc.Signal.handle(new sun.misc.Signal(\"INT\"), sun.misc.SignalHandler.SIG_DFL); 42",
        "Thread.setDefaultUncaughtExceptionHandler((t, e) -> { throw new Error(); }); "
        "Locale.setDefault(Locale.ROOT); 42",
        "new Thread(() -> { throw new RuntimeException(\"aside\"); }).start(); 42",
        "try { long[] all = new long[Integer.MAX_VALUE]; } catch (OutOfMemoryError e) {}\n42"}) {
    EXPECT_EQ(attack(code).text(), "42") << code;
    EXPECT_EQ(attack("6 * 7").text(), "42") << "after " << code;
  }
  ExecutionSpec endless;
  endless.code = "for (;;) {}";
  endless.wall_time = 500ms;
  EXPECT_EQ(execute(endless).outcome.reason, "wall time limit of 0.500 s") << "interrupts are heard again";
  // Its own words about another execution are nobody's.
  const Cell forged = attack(
      "var field = java.io.FileDescriptor.class.getDeclaredField(\"fd\"); field.setAccessible(true);\n"
      "var control = new java.io.FileDescriptor(); field.setInt(control, 900);\n"
      "new java.io.FileOutputStream(control).write(\"D 3\\n0 1\".getBytes()); 5");
  EXPECT_EQ(forged.text(), "5");
  EXPECT_EQ(attack("6 * 7").text(), "42");
}

TEST_F(JavaInterpreterTest, ReportsItsDeathAndRestarts) {
  EXPECT_EQ(attack("System.exit(3)").outcome.exit_code, 3);
  expect_restart("System.out.print(\"back\")", "back");
  EXPECT_EQ(
      attack("new ProcessBuilder(\"kill\", \"-9\", \"\" + ProcessHandle.current().pid()).start().waitFor()")
          .outcome.signal,
      SIGKILL);
  expect_restart("System.out.print(\"back\")", "back");
  // The machine does not give an ignored signal back; an interrupt needs none.
  attack("sun.misc.Signal.handle(new sun.misc.Signal(\"INT\"), sun.misc.SignalHandler.SIG_IGN);");
  ExecutionSpec endless;
  endless.code = "for (;;) {}";
  endless.wall_time = 500ms;
  EXPECT_EQ(execute(endless).outcome.reason, "wall time limit of 0.500 s");
  // What catches everything that stops it hears no interrupt at all.
  endless.code = "for (;;) try { for (;;) {} } catch (Throwable all) {}";
  EXPECT_THAT(execute(endless).outcome.reason, HasSubstr("the interpreter was killed"));
  expect_restart("System.out.print(\"back\")", "back");
  attack("for (Thread t : Thread.getAllStackTraces().keySet()) if (t != Thread.currentThread()) t.stop();");
  if (is_dead())
    expect_restart("System.out.print(\"back\")", "back");
  else
    EXPECT_TRUE(answers());
}

// Where others want the processor, seconds may pass before it can do what it was told.
TEST_F(JavaInterpreterTest, IsNotKilledForBeingSlow) {
  execute("int kept = 7;");
  ExecutionSpec stopped;
  stopped.code =
      "long me = ProcessHandle.current().pid();\n"
      "new ProcessBuilder(\"setsid\", \"sh\", \"-c\", \"kill -STOP \" + me + \"; sleep 7; kill -CONT \" + me)"
      ".start();\n"
      "for (;;) {}";
  stopped.wall_time = 1500ms;
  EXPECT_EQ(execute(stopped).outcome.reason, "wall time limit of 1.500 s");
  EXPECT_EQ(execute("kept").text(), "7");
}

TEST_F(JavaInterpreterTest, SaysWhatIsMissing) {
  const std::filesystem::path place =
      std::filesystem::temp_directory_path() / fmt::format("atoll-bash-{}", ::getpid());
  std::filesystem::create_directory(place);
  std::filesystem::create_symlink("/bin/bash", place / "bash");
  const auto message = [&] {
    connection()->set_defaults("root", "/", {{"PATH", place.string()}});
    const auto made = run(connection()->create_interpreter(Language::java, "/tmp"));
    EXPECT_FALSE(made);
    EXPECT_EQ(made.error().code(), Code::unsupported);
    return made.error().message();
  };
  EXPECT_THAT(message(), HasSubstr("no interpreter for java in this environment: there is no program java"));
  std::filesystem::create_symlink("/usr/bin/java", place / "java");
  EXPECT_THAT(message(),
              HasSubstr("without a compiler and jshell; it needs Debian's openjdk-17-jdk-headless"));
  std::filesystem::remove_all(place);
}

}  // namespace
}  // namespace atl::sandbox
