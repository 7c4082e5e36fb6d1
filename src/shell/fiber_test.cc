#include "shell/fiber.h"

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <thread>

#include "shell/shell.h"

namespace atl::shell {
namespace {

bool no_timer(SteadyTime) {
  return false;
}

struct Counted {
  int& count;
  explicit Counted(int& c) : count(c) { ++count; }
  ~Counted() { --count; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

TEST(Scheduler, unwinds_the_fibers_that_are_left) {
  int alive = 0, ended = 0;
  Scheduler scheduler;
  WaitQueue nothing;
  for (int i = 0; i < 3; ++i)
    scheduler.spawn([&] {
      Counted frame(alive);
      scheduler.wait(nothing);
      ++ended;
    });
  Fiber* root = scheduler.spawn([&] { scheduler.yield(); });
  scheduler.run(root, no_timer);
  EXPECT_EQ(alive, 3);
  scheduler.end_all();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(scheduler.live(), 0U);
}

TEST(Scheduler, a_fiber_that_never_ran_is_dropped_with_what_it_holds) {
  bool ran = false;
  auto held = std::make_shared<int>(1);
  {
    Scheduler scheduler;
    scheduler.spawn([&ran, held] { ran = true; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Scheduler, unwinding_may_wake_others) {
  Scheduler scheduler;
  WaitQueue queue;
  struct Wakes {
    Scheduler& scheduler;
    WaitQueue& queue;
    ~Wakes() { scheduler.wake(queue); }
  };
  for (int i = 0; i < 3; ++i)
    scheduler.spawn([&] {
      Wakes at_the_end{scheduler, queue};
      scheduler.wait(queue);
    });
  scheduler.run(scheduler.spawn([&] { scheduler.yield(); }), no_timer);
  scheduler.end_all();
  EXPECT_FALSE(scheduler.can_run());
}

// The language keeps what is thrown and handled by thread: without care one fiber ends the handling of
// another's.
TEST(Scheduler, fibers_that_wait_while_they_handle_exceptions_keep_their_own) {
  Scheduler scheduler;
  std::string seen[2];
  auto body = [&](int which) {
    try {
      throw std::runtime_error("of fiber " + std::to_string(which));
    } catch (const std::exception& mine) {
      scheduler.yield();
      try {
        throw;
      } catch (const std::exception& again) {
        scheduler.yield();
        seen[which] = again.what();
      }
      scheduler.yield();
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
    EXPECT_FALSE(std::current_exception());
  };
  scheduler.spawn([&] { body(0); });
  Fiber* last = scheduler.spawn([&] {
    scheduler.yield();
    body(1);
  });
  scheduler.run(last, no_timer);
  EXPECT_EQ(seen[0], "of fiber 0");
  EXPECT_EQ(seen[1], "of fiber 1");
  EXPECT_FALSE(std::current_exception());
}

TEST(Scheduler, unwinds_out_of_a_handler) {
  Scheduler scheduler;
  WaitQueue nothing;
  int alive = 0;
  scheduler.spawn([&] {
    try {
      throw std::runtime_error("handled for ever");
    } catch (const std::exception&) {
      Counted frame(alive);
      scheduler.wait(nothing);
    }
  });
  scheduler.run(scheduler.spawn([&] { scheduler.yield(); }), no_timer);
  EXPECT_EQ(alive, 1);
  scheduler.end_all();
  EXPECT_EQ(alive, 0);
}

struct Shell {
  vfs::VirtualFileSystem fs{base_snapshot()};
  SandboxShell shell;
  explicit Shell(ShellOptions options = {}) : shell(fs, std::move(options)) {}
};

// What is left running when the script ends, each in another kind of wait.
const char* const hanging[] = {
    ">(.\xc9)&",
    "sleep 1000 &",
    "{ trap '' TERM INT HUP; while :; do sleep 1; done; } &",
    "{ trap 'echo no' TERM; while :; do :; done; } &",
    "(sleep 1000; echo late) & (exec sleep 1000) &",
    "cat <(sleep 1000) &",
    "echo x > >(sleep 1000; cat) &",
    "x=$(sleep 1000) &",
    "yes | sleep 1000 &",
    "sleep 1000 | cat | cat &",
    "yes | while :; do sleep 1; done",
    "mkfifo p; cat p & cat p",
    "mkfifo p; echo x > p & wait",
    "coproc cat; echo x >&${COPROC[1]}; sleep 1000",
    "coproc { while read x; do echo $x; done; }; wait",
    "exec 3< <(sleep 1000); read x <&3",
    "timeout 1000 sleep 1000 &",
    "timeout 1000 cat < <(sleep 1000)",
    "seq 3 | xargs -P3 -n1 sleep 1000",
    "f() { trap 'wait' EXIT; sleep 1000 & }; f; (f) & wait",
    "awk 'BEGIN { \"sleep 1000\" | getline }' &",
    "bash -c 'sleep 1000 & wait' & wait",
    "sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from "
    "n' &",
    "ls; $(; if; & sleep 1000",
    "sleep 1000 & eval 'fi' 2>&1 | sleep 1000",
};

class Hanging : public testing::TestWithParam<const char*> {};

TEST_P(Hanging, ends_at_a_limit) {
  ShellOptions options;
  options.limits.wall_time = std::chrono::milliseconds(30);
  Shell s(options);
  EXPECT_NE(s.shell.execute(GetParam()).limit, Limit::defect);
}

// Runs it and stops it a little later; whatever else it did is of no interest.
void run_for_a_while(SandboxShell& shell, const char* script, ExecuteOptions options) {
  std::stop_source stop;
  options.stop = stop.get_token();
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop.request_stop();
  });
  shell.execute(script, std::move(options));
  later.join();
}

TEST_P(Hanging, ends_when_canceled) {
  Shell s;
  run_for_a_while(s.shell, GetParam(), {});
  EXPECT_EQ(s.shell.execute("echo on").out, "on\n");
}

// Nothing of a script may write to streams of an execution that is over.
TEST_P(Hanging, is_gone_when_the_next_script_runs) {
  Shell s;
  {
    auto heard = std::make_unique<std::string>();
    ExecuteOptions streams;
    streams.on_stdout = [&heard](std::string_view bytes) { heard->append(bytes); };
    streams.on_stderr = streams.on_stdout;
    run_for_a_while(s.shell, GetParam(), std::move(streams));
  }
  Executed done = s.shell.execute("for i in 1 2 3; do sleep 0.002; echo $i | cat; done; jobs");
  EXPECT_EQ(done.out, "1\n2\n3\n");
}

TEST_P(Hanging, is_unwound_with_the_shell) {
  ShellOptions options;
  options.limits.commands = 20;
  options.limits.wall_time = std::chrono::milliseconds(30);
  Shell s(options);
  s.shell.execute(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Each, Hanging, testing::ValuesIn(hanging));

// ---- one open file, several readers ----

TEST(SharedInput, readers_at_once_have_each_byte_once) {
  Shell s;
  EXPECT_EQ(s.shell.execute("seq 100000 | { cat & cat & cat; wait; } | wc -c").out, "588895\n");
  EXPECT_EQ(s.shell.execute("seq 100000 > f; { cat & cat & cat; wait; } < f | wc -c").out, "588895\n");
  EXPECT_EQ(s.shell.execute("{ cat & cat & cat; wait; } | wc -c", std::string(300'000, 'x')).out, "300000\n");
}

TEST(SharedInput, a_reader_that_waits_keeps_what_it_was_given) {
  Shell s;
  std::string want = s.shell.execute("seq 200000 | md5sum").out;
  EXPECT_EQ(s.shell.execute("seq 200000 | { { head -c 60000; cat; } | { sleep 0.01; cat; } | md5sum; }").out,
            want);
  EXPECT_EQ(
      s.shell.execute("seq 200000 | { { cat & sleep 0.001; cat; wait; } | sort -n | sort -nu | wc -l; }")
          .status,
      0);
}

TEST(SharedInput, what_a_command_leaves_is_the_next_ones) {
  for (std::string source : {"seq 5 | {...; }", "seq 5 > f; {...; } < f", "{...; }"}) {
    Shell s;
    auto run = [&](const std::string& commands) {
      std::string script = source;
      return s.shell.execute(script.replace(script.find("..."), 3, " " + commands), "1\n2\n3\n4\n5\n").out;
    };
    EXPECT_EQ(run("head -n 1; sed 1q; read x; echo $x; cat"), "1\n2\n3\n4\n5\n") << source;
    EXPECT_EQ(run("timeout 9 head -n 2 > /dev/null; cat"), "3\n4\n5\n") << source;
    EXPECT_EQ(run("sed -n '2r /dev/stdin'; cat"), "3\n4\n5\n") << source;
    EXPECT_EQ(run("awk 'NR == 1 { getline x < \"-\"; print; exit }'"), "1\n") << source;
  }
}

TEST(SharedInput, of_a_program_that_reads_line_by_line_too) {
  Shell s;
  ExecuteOptions options;
  int calls = 0;
  options.read = [&]() -> std::string { return calls < 3 ? std::to_string(++calls) + "\nmore\n" : ""; };
  EXPECT_EQ(s.shell.execute("sed r-; sed 1q; cat", std::move(options)).out, "1\nmore\n2\nmore\n3\nmore\n");
}

TEST(LentStream, is_taken_back_from_jobs_that_are_left) {
  Shell s;
  Executed done = s.shell.execute(
      "awk 'BEGIN { \"(sleep 0.02; echo late) & echo now\" | getline x; print x }'; wait; sleep 0.05; echo "
      "end");
  EXPECT_EQ(done.out, "now\nend\n");
  EXPECT_EQ(done.status, 0);
  done = s.shell.execute(
      "seq 3 > f; echo a b | xargs -a f sh -c 'head -n 1; (sleep 0.01; cat) & :' ; sleep 0.05");
  EXPECT_EQ(done.out, "a b\n");
}

// ---- what nobody expects ----

class Defect : public testing::TestWithParam<const char*> {};

TEST_P(Defect, of_a_command_ends_the_script_alone) {
  static const Command broken{"broken", [](Invocation&) -> int { throw std::out_of_range("of bounds"); }, ""};
  ShellOptions options;
  options.commands.push_back(&broken);
  Shell s(options), neighbour;
  Executed done = s.shell.execute(GetParam());
  EXPECT_EQ(done.limit, Limit::defect);
  EXPECT_TRUE(done.limited);
  EXPECT_EQ(done.status, 225);
  EXPECT_EQ(done.out.find("after"), std::string::npos);
  EXPECT_NE(done.err.find("internal error: of bounds"), std::string::npos) << done.err;
  EXPECT_EQ(s.shell.execute("echo $x; (exit 3); echo $?").out, "1\n3\n");
  EXPECT_EQ(neighbour.shell.execute("echo on").out, "on\n");
}

INSTANTIATE_TEST_SUITE_P(Each, Defect,
                         testing::Values("x=1; broken; echo after", "x=1; echo a | broken; echo after",
                                         "x=1; broken | cat; sleep 1000; echo after",
                                         "x=1; broken & wait; sleep 1000; echo after",
                                         "x=1; y=$(broken); echo after",
                                         "x=1; (timeout 5 broken); echo after", "x=1; trap broken EXIT"));

}  // namespace
}  // namespace atl::shell
