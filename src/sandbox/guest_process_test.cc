#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <csignal>

#include "sandbox/guest_harness.h"

namespace atl::sandbox {
namespace {

using testing::HasSubstr;
using GuestProcessTest = GuestTest;
using namespace std::chrono_literals;

TEST_F(GuestProcessTest, EndsWithItselfWhereThatIsAskedFor) {
  ProcessSpec spec = shell("sleep 600 & head -c 200000 /dev/zero; exit 3");
  spec.ends_with = EndsWith::process;
  const auto done = execute(std::move(spec));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->outcome.exit_code, 3);
  EXPECT_EQ(done->out.size(), 200000U) << "what was written until then is told";
}

TEST_F(GuestProcessTest, SaysWhichCommandIsMissing) {
  const auto result = execute(command({"no-such-program"}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::not_found);
  EXPECT_EQ(result.error().message(), "command 'no-such-program' not found");
}

TEST_F(GuestProcessTest, SaysWhichDirectoryIsMissing) {
  auto spec = shell("true");
  spec.cwd = "/no/such/place";
  const auto result = execute(spec);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::invalid_argument);
  EXPECT_EQ(result.error().message(), "cwd '/no/such/place' does not exist");
}

TEST_F(GuestProcessTest, SaysWhichUserIsMissing) {
  auto spec = shell("true");
  spec.user = "nobody-here";
  const auto result = execute(spec);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "user 'nobody-here' does not exist");
}

TEST_F(GuestProcessTest, RefusesNulBytesAndEmptyCommands) {
  EXPECT_EQ(execute(command({})).error().code(), Code::invalid_argument);
  EXPECT_EQ(execute(command({std::string("a\0b", 3)})).error().message(), "an argument contains a NUL byte");
  auto spec = shell("true");
  spec.env["A"] = std::string("a\0b", 3);
  EXPECT_EQ(execute(spec).error().message(), "a variable contains a NUL byte");
}

TEST_F(GuestProcessTest, TellsOutputAndExitCode) {
  const auto result = execute(shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->outcome.ending, Ending::exited);
  EXPECT_EQ(result->outcome.exit_code, 7);
}

TEST_F(GuestProcessTest, LooksUpThePathOfTheProcess) {
  EXPECT_EQ(execute(command({"echo", "hi"}))->out, "hi\n");
}

TEST_F(GuestProcessTest, TellsASignalNobodyOfOursSent) {
  const auto result = execute(shell("kill -SEGV $$"));
  EXPECT_EQ(result->outcome.ending, Ending::signaled);
  EXPECT_EQ(result->outcome.signal, SIGSEGV);
}

TEST_F(GuestProcessTest, GivesWhatALoginWouldGive) {
  auto spec = shell("echo $HOME $USER $LOGNAME $X; pwd; id -u");
  spec.env["X"] = "y";
  spec.cwd = "/usr";
  EXPECT_EQ(execute(spec)->out, "/root root root y\n/usr\n0\n");
}

TEST_F(GuestProcessTest, BecomesTheUserAndKeepsNothingOfRoot) {
  auto spec = shell("id -u; id -g; cat /etc/shadow");
  spec.user = "nobody";
  const auto result = execute(spec);
  EXPECT_THAT(result->out, testing::StartsWith("65534\n65534\n"));
  EXPECT_THAT(result->err, HasSubstr("Permission denied"));
}

TEST_F(GuestProcessTest, InheritsNoDescriptorsAndNoSignalMask) {
  const auto result =
      execute(shell("ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  EXPECT_THAT(result->out, testing::StartsWith("0 1 2 3 "));  // 3 is the directory ls reads
  EXPECT_THAT(result->out, HasSubstr("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000"));
}

TEST_F(GuestProcessTest, CarriesInputToItsEnd) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<Finished> {
    ProcessSpec spec = command({"cat"});
    spec.stdin_mode = Stdin::pipe;
    CO_TRY(const auto process, co_await connection->start(spec));
    const auto stream = process->attach(Replay::none);
    std::string text7 = "hello ";
    CO_CHECK(co_await process->write_stdin(std::move(text7)));
    std::string text8 = "world";
    CO_CHECK(co_await process->write_stdin(std::move(text8)));
    CO_CHECK(co_await process->close_stdin());
    Finished all;
    for (;;) {
      CO_TRY(ProcessEvent event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event)) {
        all.out += output->bytes;
      } else {
        all.outcome = std::get<Outcome>(event);
        std::string text12 = "late";
        const auto late = co_await process->write_stdin(std::move(text12));
        EXPECT_EQ(late.error().code(), Code::conflict);
        co_return all;
      }
    }
  };
  const auto result = run(go(connection()));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->out, "hello world");
  EXPECT_TRUE(result->outcome.succeeded());
}

TEST_F(GuestProcessTest, RefusesInputWithoutAPipe) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<void> {
    ProcessSpec spec = command({"sleep", "5"});
    CO_TRY(const auto process, co_await connection->start(spec));
    std::string text13 = "x";
    const auto wrote = co_await process->write_stdin(std::move(text13));
    EXPECT_EQ(wrote.error().code(), Code::conflict);
    CO_CHECK(co_await process->signal(SIGTERM));
    CO_TRY(const Outcome outcome, co_await process->wait());
    EXPECT_EQ(outcome.ending, Ending::killed);
    EXPECT_EQ(outcome.signal, SIGTERM);
    EXPECT_EQ(exit_status(outcome), 143);
    co_return Result<void>();
  };
  EXPECT_TRUE(run(go(connection())));
}

TEST_F(GuestProcessTest, MovesMegabytesBothWays) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<std::size_t> {
    ProcessSpec spec = command({"cat"});
    spec.stdin_mode = Stdin::pipe;
    CO_TRY(const auto process, co_await connection->start(spec));
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto feed = [](std::shared_ptr<Process> to) -> Task<void> {
      for (int i = 0; i < 64; ++i) {
        std::string block(128 << 10, static_cast<char>('a' + i % 26));
        CO_CHECK(co_await to->write_stdin(std::move(block)));
      }
      co_return co_await to->close_stdin();
    };
    const auto stream = process->attach(Replay::none);
    boost::asio::co_spawn(executor, feed(process), boost::asio::detached);
    std::size_t total = 0;
    for (;;) {
      CO_TRY(ProcessEvent event, co_await stream->next());
      auto* output = std::get_if<Output>(&event);
      if (output == nullptr) co_return total;
      EXPECT_LE(output->bytes.size(), 32U << 10);
      total += output->bytes.size();
    }
  };
  EXPECT_EQ(run(go(connection())).value_or(0), 8U << 20);
}

TEST_F(GuestProcessTest, HoldsBackAProcessNobodyReads) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<void> {
    const ProcessSpec what1 = shell("yes | head -c 10000000; echo done >&2");
    CO_TRY(const auto process, co_await connection->start(what1));
    const auto stream = process->attach(Replay::none);
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 300ms);
    co_await timer.async_wait(boost::asio::use_awaitable);
    EXPECT_EQ(connection->processes().size(), 1U);  // it waits for us
    std::size_t total = 0;
    for (;;) {
      CO_TRY(ProcessEvent event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event)) {
        if (output->stream == Stream::out) total += output->bytes.size();
      } else {
        break;
      }
    }
    EXPECT_EQ(total, 10'000'000U);
    co_return Result<void>();
  };
  EXPECT_TRUE(run(go(connection())));
}

TEST_F(GuestProcessTest, NobodyAttachedMeansNobodyWaits) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<Outcome> {
    const ProcessSpec what2 = shell("yes | head -c 5000000; echo last");
    CO_TRY(const auto process, co_await connection->start(what2));
    CO_TRY(const Outcome outcome, co_await process->wait());
    auto late = co_await collect(process);
    EXPECT_THAT(late->out, testing::EndsWith("last\n"));
    EXPECT_LE(late->out.size(), 64U << 10);
    co_return outcome;
  };
  EXPECT_TRUE(run(go(connection()))->succeeded());
}

TEST_F(GuestProcessTest, TwoListenersHearTheSame) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<void> {
    const ProcessSpec what3 = shell("echo one; read x; echo two");
    CO_TRY(const auto process, co_await connection->start(what3));
    (void)process;
    co_return Result<void>();
  };
  EXPECT_TRUE(run(go(connection())));
  const auto both = [](std::shared_ptr<GuestConnection> connection) -> Task<void> {
    ProcessSpec spec = shell("echo one; read x; echo $x");
    spec.stdin_mode = Stdin::pipe;
    CO_TRY(const auto process, co_await connection->start(spec));
    const auto first = process->attach(Replay::none);
    CO_TRY(ProcessEvent heard, co_await first->next());
    EXPECT_EQ(std::get<Output>(heard).bytes, "one\n");
    const auto second = process->attach(Replay::recent);
    std::string text9 = "two\n";
    CO_CHECK(co_await process->write_stdin(std::move(text9)));
    CO_TRY(ProcessEvent replayed, co_await second->next());
    EXPECT_EQ(std::get<Output>(replayed).bytes, "one\n");
    CO_TRY(ProcessEvent live, co_await second->next());
    EXPECT_EQ(std::get<Output>(live).bytes, "two\n");
    CO_TRY(ProcessEvent also, co_await first->next());
    EXPECT_EQ(std::get<Output>(also).bytes, "two\n");
    co_return Result<void>();
  };
  EXPECT_TRUE(run(both(connection())));
}

TEST_F(GuestProcessTest, EndsAtTheWallTimeWithItsWholeTree) {
  auto spec = shell("sleep 100 & setsid sleep 100 & trap '' TERM INT; echo $$; sleep 100");
  spec.wall_time = 500ms;
  const auto result = execute(spec);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->outcome.ending, Ending::timed_out);
  EXPECT_EQ(result->outcome.reason, "wall time limit of 0.500 s");
  EXPECT_LT(result->outcome.usage.wall_time, 20s);
  const std::string pid = result->out.substr(0, result->out.find('\n'));
  // Orphans that were killed are counted until process 1 has reaped them.
  const auto left =
      execute(shell(fmt::format("for i in $(seq 100); do pgrep -s {0} || break; sleep 0.1; done >/dev/null\n"
                                "pgrep -s {0} -c",
                                pid)));
  EXPECT_EQ(left->out, "0\n");
}

TEST_F(GuestProcessTest, EndsAtTheOutputLimit) {
  auto spec = shell("yes");
  spec.output_bytes = 100'000;
  const auto result = execute(spec);
  EXPECT_EQ(result->outcome.ending, Ending::output_limit);
  EXPECT_EQ(result->outcome.reason, "output limit of 100000 bytes");
  EXPECT_EQ(result->out.size(), 100'000U);
}

TEST_F(GuestProcessTest, EndsAtTheCpuTime) {
  auto spec = shell("while :; do :; done");
  spec.cpu_time = 1000ms;
  const auto result = execute(spec);
  EXPECT_EQ(result->outcome.ending, Ending::timed_out);
  EXPECT_EQ(result->outcome.reason, "CPU time limit of 1 s");
}

TEST_F(GuestProcessTest, WaitsForWhoeverHoldsItsOutput) {
  const auto result = execute(shell("(sleep 0.2; echo late) & echo soon"));
  EXPECT_EQ(result->out, "soon\nlate\n");
}

TEST_F(GuestProcessTest, KillDoesNotWaitForInheritedPipes) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<Finished> {
    const ProcessSpec what4 = shell("setsid sleep 30 & echo up; sleep 30");
    CO_TRY(const auto process, co_await connection->start(what4));
    const auto stream = process->attach(Replay::none);
    CO_TRY(ProcessEvent up, co_await stream->next());
    CO_CHECK(co_await process->signal(SIGKILL));
    co_return co_await collect(process);
  };
  const auto result = run(go(connection()));
  EXPECT_EQ(result->outcome.ending, Ending::killed);
  EXPECT_LT(result->outcome.usage.wall_time, 5s);
}

TEST_F(GuestProcessTest, GivesATerminal) {
  auto spec = shell("test -t 0 && test -t 1 && stty size && tty");
  spec.pty = PtySize{100, 30};
  const auto result = execute(spec);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_THAT(result->out, HasSubstr("30 100\r\n/dev/pts/"));
  EXPECT_TRUE(result->outcome.succeeded());
}

TEST_F(GuestProcessTest, TerminalTakesInputResizeAndTheEndOfInput) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<Finished> {
    ProcessSpec spec = shell("trap 'stty size' WINCH; cat; stty size");
    spec.pty = PtySize{};
    CO_TRY(const auto process, co_await connection->start(spec));
    CO_CHECK(co_await process->resize(PtySize{132, 43}));
    std::string text10 = "typed\n";
    CO_CHECK(co_await process->write_stdin(std::move(text10)));
    CO_CHECK(co_await process->close_stdin());
    co_return co_await collect(process);
  };
  const auto result = run(go(connection()));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_THAT(result->out, HasSubstr("typed\r\ntyped\r\n"));
  EXPECT_THAT(result->out, HasSubstr("43 132"));
}

TEST_F(GuestProcessTest, ControlCInterruptsTheForegroundOfATerminal) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<Outcome> {
    ProcessSpec spec = command({"sleep", "30"});
    spec.pty = PtySize{};
    CO_TRY(const auto process, co_await connection->start(spec));
    std::string text11 = "\x03";
    CO_CHECK(co_await process->write_stdin(std::move(text11)));
    co_return co_await process->wait();
  };
  EXPECT_EQ(run(go(connection()))->signal, SIGINT);
}

TEST_F(GuestProcessTest, TagsAreUniqueWhileTheyLive) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<void> {
    ProcessSpec spec = command({"sleep", "30"});
    spec.tag = "server";
    CO_TRY(const auto process, co_await connection->start(spec));
    const auto again = co_await connection->start(spec);
    EXPECT_EQ(again.error().code(), Code::already_exists);
    EXPECT_EQ(connection->processes().at(0)->info().tag, "server");
    CO_CHECK(co_await process->signal(SIGKILL));
    CO_CHECK(co_await process->wait());
    EXPECT_TRUE(connection->processes().empty());
    CO_TRY(const auto third, co_await connection->start(spec));
    co_return co_await third->signal(SIGKILL);
  };
  EXPECT_TRUE(run(go(connection())));
}

TEST_F(GuestProcessTest, ReapsOrphans) {
  EXPECT_TRUE(execute(shell("for i in 1 2 3 4 5; do (setsid sh -c 'sleep 0.05' >/dev/null 2>&1 &) ; done")));
  EXPECT_TRUE(execute(command({"sleep", "0.3"})));
  const auto zombies = execute(shell(fmt::format("ps -o stat= --ppid {} | grep -c Z", guest_)));
  EXPECT_EQ(zombies->out, "0\n");
}

TEST_F(GuestProcessTest, SurvivesALargeEnvironment) {
  auto spec = shell("echo ${#BIG1}; env | wc -c");
  for (int i = 0; i < 12; ++i) spec.env[fmt::format("BIG{}", i)] = std::string(100'000, 'x');
  const auto result = execute(spec);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_THAT(result->out, testing::StartsWith("100000\n"));
  spec.env["HUGE"] = std::string(200'000, 'x');
  EXPECT_EQ(execute(spec).error().message(), "command '/bin/sh': argument list too long");
  EXPECT_EQ(execute(shell("echo alive"))->out, "alive\n");
}

TEST_F(GuestProcessTest, TellsALostGuest) {
  const auto go = [](std::shared_ptr<GuestConnection> connection, pid_t guest) -> Task<Outcome> {
    const ProcessSpec what5 = command({"sleep", "30"});
    CO_TRY(const auto process, co_await connection->start(what5));
    ::kill(guest, SIGKILL);
    CO_TRY(const Outcome outcome, co_await process->wait());
    const ProcessSpec what6 = command({"true"});
    const auto refused = co_await connection->start(what6);
    EXPECT_EQ(refused.error().code(), Code::provider_failed);
    ::kill(static_cast<pid_t>(process->info().pid), SIGKILL);
    co_return outcome;
  };
  const auto open = connection();
  ASSERT_GT(guest_, 1);  // anything else would be a signal to many
  const auto outcome = run(go(open, guest_));
  EXPECT_EQ(outcome->ending, Ending::lost);
  EXPECT_EQ(outcome->reason, "the sandbox is gone: its guest closed the stream");
}

}  // namespace
}  // namespace atl::sandbox
