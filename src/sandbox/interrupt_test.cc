// An interrupt reaches the execution that it is meant for, and no other.
#include <gtest/gtest.h>

#include "sandbox/endable.h"
#include "sandbox/interpreter_harness.h"

namespace atl::sandbox {
namespace {

struct Words {
  Language language;
  const char* quick;  // ends at once
  const char* waits;  // says "on" and waits for minutes
  const char* works;  // for some milliseconds, then says "done"
  const char* keeps;  // sets what shown() shows
  const char* shows;  // says "kept"
};

const Words kWords[] = {
    {Language::python, "1", "print('on', flush=True)\nimport time\ntime.sleep(300)",
     "import time\ntime.sleep(0.02)\nprint('done')", "v = 'kept'", "print(v)"},
    {Language::javascript, "1", "console.log('on'); await new Promise((yes) => setTimeout(yes, 300000))",
     "await new Promise((yes) => setTimeout(yes, 20)); console.log('done')", "v = 'kept'", "console.log(v)"},
    {Language::java, "1", "System.out.println(\"on\"); Thread.sleep(300000);",
     "Thread.sleep(20); System.out.println(\"done\");", "String v = \"kept\";", "System.out.println(v);"},
    {Language::shell, ":", "echo on; sleep 300", "sleep 0.02; echo done", "v=kept", "echo $v"},
};

class InterruptTest : public GuestInterpreterTest, public testing::WithParamInterface<Words> {
 protected:
  InterruptTest() { language_ = GetParam().language; }

  static Task<std::unique_ptr<ExecutionStream>> begin(std::shared_ptr<Interpreter> interpreter,
                                                      const char* code) {
    ExecutionSpec spec;
    spec.code = code;
    co_return co_await interpreter->execute(std::move(spec));
  }
};

std::string name_of(const testing::TestParamInfo<Words>& info) {
  return std::string(to_string(info.param.language));
}

// The client leaves as soon as it has heard something, when code of any kind is under way in the runner.
TEST_P(InterruptTest, OneThatLeavesCostsTheNextOneNothing) {
  execute(GetParam().keeps);
  const auto leave = [](std::shared_ptr<Interpreter> in, const char* code) -> Task<void> {
    CO_TRY(auto stream, co_await begin(in, code));
    CO_TRY(const ExecutionEvent up, co_await stream->next());
    EXPECT_TRUE(std::holds_alternative<Output>(up));
    co_return Result<void>();
  };
  for (int round = 0; round < 60; ++round) {
    ASSERT_TRUE(run(leave(interpreter(), GetParam().waits)));
    const Cell next = execute(GetParam().shows);
    ASSERT_EQ(next.out, "kept\n") << round << ' ' << next.error() << ' ' << next.outcome.reason;
  }
}

// It may be sent when its execution has just ended: whoever begins after that is not met by it.
TEST_P(InterruptTest, ALateOneIsNobodys) {
  const auto late = [](std::shared_ptr<Interpreter> in, const char* code) -> Task<void> {
    CO_TRY(auto stream, co_await begin(in, code));
    CO_CHECK(co_await in->interrupt());
    CO_CHECK(co_await hear(std::move(stream)));
    co_return Result<void>();
  };
  for (int round = 0; round < 60; ++round) {
    ASSERT_TRUE(run(late(interpreter(), GetParam().quick)));
    const Cell next = execute(GetParam().works);
    ASSERT_EQ(next.out, "done\n") << round << ' ' << next.error() << ' ' << next.outcome.reason;
  }
}

// By force, too, an execution is ended and no other of its interpreter.
TEST_P(InterruptTest, EndsItsOwnExecution) {
  const auto both = [](std::shared_ptr<Interpreter> in, const Words& words) -> Task<std::pair<Cell, Cell>> {
    CO_TRY(auto first, co_await begin(in, words.waits));
    CO_TRY(auto second, co_await begin(in, words.works));
    CO_TRY(const ExecutionEvent up, co_await first->next());
    dynamic_cast<Endable&>(*second).end("out of time");
    CO_TRY(Cell waited, co_await hear(std::move(second)));
    CO_CHECK(co_await in->interrupt());
    CO_TRY(Cell ran, co_await hear(std::move(first)));
    co_return std::pair(std::move(ran), std::move(waited));
  };
  const auto cells = run(both(interpreter(), GetParam()));
  ASSERT_TRUE(cells) << cells.error().message();
  EXPECT_EQ(cells->first.error(), "KeyboardInterrupt") << "the other one went on until it was interrupted";
  EXPECT_EQ(cells->second.outcome.ending, Ending::killed);
  EXPECT_EQ(cells->second.outcome.reason, "out of time");
  EXPECT_EQ(cells->second.out, "");
  EXPECT_EQ(execute(GetParam().works).out, "done\n");
}

TEST_P(InterruptTest, EndsWhatRunsByForce) {
  const auto one = [](std::shared_ptr<Interpreter> in, const char* code) -> Task<Cell> {
    CO_TRY(auto stream, co_await begin(in, code));
    CO_TRY(const ExecutionEvent up, co_await stream->next());
    dynamic_cast<Endable&>(*stream).end("out of time");
    co_return co_await hear(std::move(stream));
  };
  const auto cell = run(one(interpreter(), GetParam().waits));
  ASSERT_TRUE(cell) << cell.error().message();
  EXPECT_EQ(cell->outcome.ending, Ending::killed);
  EXPECT_TRUE(cell->outcome.reason.starts_with("out of time")) << cell->outcome.reason;
}

INSTANTIATE_TEST_SUITE_P(Languages, InterruptTest, testing::ValuesIn(kWords), name_of);

}  // namespace
}  // namespace atl::sandbox
