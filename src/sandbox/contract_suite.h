#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "sandbox/test_loop.h"

// What every provider keeps to, as tests. A provider joins with a file that has one line of its own in a
// table of ContractEntry and INSTANTIATE_TEST_SUITE_P(All, ProviderContract, ...), as contract_test.cc does.
namespace atl::sandbox {

using namespace std::chrono_literals;

struct ContractEntry {
  const char* name;
  // Code::unsupported: this machine lacks what the provider needs, and its tests are skipped for that reason.
  Result<std::unique_ptr<Provider>> (*make)(boost::asio::any_io_executor);
};

class ProviderContract : public testing::TestWithParam<ContractEntry>, protected TestLoop {
 protected:
  void SetUp() override {
    auto provider = GetParam().make(context().get_executor());
    if (!provider && provider.error().code() == Code::unsupported) GTEST_SKIP() << provider.error().message();
    ASSERT_TRUE(provider) << provider.error().message() << " " << provider.error().detail();
    provider_ = std::move(*provider);
  }
  void TearDown() override {
    if (!provider_) return;
    const auto done = run(provider_->shut_down());
    EXPECT_TRUE(done) << done.error().message();
  }
  Provider& provider() { return *provider_; }
  std::unique_ptr<Sandbox> box(Spec spec = {}) { return create(provider(), std::move(spec)); }

  std::unique_ptr<Provider> provider_;
};

TEST_P(ProviderContract, RefusesWhatItCannotGive) {
  Spec spec;
  spec.id = "one";
  spec.required_walls = {"moat"};
  const auto refused = run(provider().create(spec));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unsupported);
  EXPECT_NE(refused.error().message().find("moat"), std::string::npos) << refused.error().message();
  spec.required_walls.clear();
  spec.limits.memory_bytes = 1;
  EXPECT_EQ(run(provider().create(spec)).error().code(), Code::invalid_argument);
  spec = {};
  EXPECT_EQ(run(provider().create(spec)).error().code(), Code::invalid_argument);
}

TEST_P(ProviderContract, AnIdIsUsedOnce) {
  Spec spec;
  spec.id = "twin";
  const auto first = box(spec);
  ASSERT_TRUE(first);
  EXPECT_EQ(run(provider().create(spec)).error().code(), Code::already_exists);
  ASSERT_TRUE(run(first->stop()));
  EXPECT_TRUE(box(spec));
}

TEST_P(ProviderContract, AMissingCommandIsAnErrorAndNotAnOutcome) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  ProcessSpec spec;
  spec.argv = {"no-such-program"};
  EXPECT_EQ(run(sandbox->start(spec)).error().code(), Code::not_found);
  spec.argv = {"true"};
  spec.user = "nobody-here";
  EXPECT_FALSE(run(sandbox->start(spec)));
}

TEST_P(ProviderContract, ExitCodesAreTheProcessesOwn) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  EXPECT_TRUE(shell(*sandbox, "exit 0").outcome.succeeded());
  const Ran three = shell(*sandbox, "echo out; echo err >&2; exit 3");
  EXPECT_EQ(three.outcome.ending, Ending::exited);
  EXPECT_EQ(three.outcome.exit_code, 3);
  EXPECT_EQ(three.out, "out\n");
  EXPECT_EQ(three.err, "err\n");
}

TEST_P(ProviderContract, VariablesDirectoryAndUser) {
  Spec spec;
  spec.env = {{"FROM_SANDBOX", "a"}};
  const auto sandbox = box(spec);
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"/bin/sh", "-c", "echo $FROM_SANDBOX $FROM_PROCESS; pwd"};
  process.env = {{"FROM_PROCESS", "b"}};
  process.cwd = "/tmp";
  EXPECT_EQ(finish(*sandbox, process).out, "a b\n/tmp\n");
  EXPECT_EQ(shell(*sandbox, "pwd").out, "/home/user\n");
}

TEST_P(ProviderContract, InputReachesTheProcess) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"cat"};
  EXPECT_EQ(finish(*sandbox, process, "hello").out, "hello");
}

TEST_P(ProviderContract, TimeRunsOut) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"/bin/sh", "-c", "sleep 100 & sleep 100"};
  process.wall_time = 200ms;
  const auto began = std::chrono::steady_clock::now();
  const Ran ran = finish(*sandbox, process);
  EXPECT_EQ(ran.outcome.ending, Ending::timed_out);
  EXPECT_FALSE(ran.outcome.reason.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s * slowness());
  EXPECT_TRUE(sandbox->processes().empty());
  if (provider().traits().real_processes) {
    EXPECT_EQ(shell(*sandbox, "ps -e | grep -c sleep").out, "0\n") << "the processes must be gone";
  }
}

TEST_P(ProviderContract, OutputIsLimited) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"/bin/sh", "-c", "while true; do echo 0123456789; done"};
  process.output_bytes = 10'000;
  process.wall_time = 20s;
  const Ran ran = finish(*sandbox, process);
  EXPECT_EQ(ran.outcome.ending, Ending::output_limit);
  EXPECT_LE(ran.out.size(), 10'000U);
}

TEST_P(ProviderContract, SignalsAndLists) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"sleep", "100"};
  process.tag = "sleeper";
  const auto sleeper = run(sandbox->start(process));
  ASSERT_TRUE(sleeper);
  ASSERT_EQ(sandbox->processes().size(), 1U);
  EXPECT_EQ(sandbox->processes()[0]->info().tag, "sleeper");
  ASSERT_TRUE(run((*sleeper)->signal(SIGKILL)));
  const auto outcome = run((*sleeper)->wait());
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->ending, Ending::exited);
  EXPECT_EQ(outcome->signal, SIGKILL);
  EXPECT_TRUE(sandbox->processes().empty());
}

TEST_P(ProviderContract, Files) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(read(*sandbox, "/home/user/none").error().code(), Code::not_found);
  ASSERT_TRUE(write(*sandbox, "/home/user/dir/file", "content"));
  EXPECT_EQ(*read(*sandbox, "/home/user/dir/file"), "content");
  EXPECT_EQ(shell(*sandbox, "cat dir/file").out, "content");
  const auto listed = run(sandbox->files().list("/home/user/dir", 1, 100, ""));
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ((*listed)[0].name, "file");
  EXPECT_EQ((*listed)[0].size, 7U);
  EXPECT_EQ(run(sandbox->files().make_directory("/home/user/dir", "")).error().code(), Code::already_exists);
  EXPECT_EQ(run(sandbox->files().remove("/home/user/dir", Recursive::no, "")).error().code(),
            Code::not_empty);
  EXPECT_TRUE(run(sandbox->files().remove("/home/user/dir", Recursive::yes, "")));
  EXPECT_EQ(run(sandbox->files().stat("/home/user/dir", "")).error().code(), Code::not_found);
}

// Whoever cuts a transfer finds what was there before it: little and much, replaced and appended to.
TEST_P(ProviderContract, ATransferThatBreaksOffLeavesNothingHalfDone) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  const auto cut = [](Files& files, std::string path, std::size_t size, bool append) -> Task<void> {
    WriteOptions options;
    options.append = append;
    CO_TRY(const auto writer, co_await files.open_write(std::move(path), std::move(options)));
    std::string bytes(size, 'x');
    co_return co_await writer->write(std::move(bytes));
  };
  // The sandbox may be elsewhere, and hear of it a moment later.
  const auto becomes = [&](const std::string& path, const std::optional<std::string>& wanted) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const auto held = read(*sandbox, path);
      if (held ? wanted && *held == *wanted : !wanted) return true;
      (void)shell(*sandbox, "sleep 0.1");
    }
    return false;
  };
  ASSERT_TRUE(write(*sandbox, "/home/user/kept", "what was there"));
  for (const std::size_t size : {std::size_t{10}, std::size_t{3} << 20}) {
    ASSERT_TRUE(run(cut(sandbox->files(), "/home/user/new", size, false)));
    EXPECT_TRUE(becomes("/home/user/new", std::nullopt)) << size;
    for (const bool append : {false, true}) {
      ASSERT_TRUE(run(cut(sandbox->files(), "/home/user/kept", size, append)));
      EXPECT_TRUE(becomes("/home/user/kept", "what was there")) << size;
    }
  }
  const std::string much(3U << 20, 'y');
  ASSERT_TRUE(write(*sandbox, "/home/user/kept", much));
  EXPECT_EQ(read(*sandbox, "/home/user/kept").value_or(""), much);
  ASSERT_TRUE(write(*sandbox, "/home/user/kept", "short"));
  EXPECT_EQ(read(*sandbox, "/home/user/kept").value_or(""), "short");
}

// Names come from inside, and a listing is held in the host's memory.
TEST_P(ProviderContract, ListingsAreBoundedInBytes) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  for (const char* name : {"a", "b", "c"})
    ASSERT_TRUE(write(*sandbox, "/home/user/dir/" + std::string(200, 'x') + name, ""));
  ListBounds small(100);
  small.bytes_max = 400;
  EXPECT_EQ(run(sandbox->files().list("/home/user/dir", 1, small, "")).error().code(), Code::too_large);
  std::size_t counted = 0;
  ListBounds counting(100);
  counting.take = [&](std::size_t bytes) { return counted += bytes, Result<void>(); };
  ASSERT_TRUE(run(sandbox->files().list("/home/user/dir", 1, counting, "")));
  EXPECT_GT(counted, 600U);
  ListBounds refused(100);
  refused.take = [](std::size_t) -> Result<void> { return fail(Code::unavailable, "no room"); };
  const auto failed = run(sandbox->files().list("/home/user/dir", 1, refused, ""));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "no room");
  EXPECT_EQ(run(sandbox->files().list("/home/user/dir", 1, 100, ""))->size(), 3U) << "and the next one works";
}

// What a provider lacks it says by name; it does not pretend.
TEST_P(ProviderContract, ACallOutsideTheTraitsIsRefused) {
  const Traits& traits = provider().traits();
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  const auto refused = [](const auto& result) {
    return !result && result.error().code() == Code::unsupported;
  };
  ProcessSpec process;
  process.argv = {"true"};
  process.pty = PtySize{};
  EXPECT_NE(refused(run(sandbox->start(process))), traits.pty);
  EXPECT_NE(refused(run(sandbox->connect(1))), traits.ports);
  EXPECT_NE(refused(run(sandbox->create_interpreter(Language::shell, ""))), traits.interpreters);
  const bool pausing = !refused(run(sandbox->pause()));
  EXPECT_EQ(pausing, traits.pause);
  if (pausing) {
    EXPECT_TRUE(run(sandbox->resume()));
  }
  Spec spec;
  spec.id = "networked";
  spec.network = Network::egress;
  EXPECT_NE(refused(run(provider().create(spec))), traits.network);
  EXPECT_EQ(run(provider().adopt("nobody")).error().code(), Code::not_found);
}

TEST_P(ProviderContract, AInterpreterKeepsItsState) {
  if (!provider().traits().interpreters) GTEST_SKIP() << "the provider lacks the trait 'kernels'";
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  const auto interpreter = run(sandbox->create_interpreter(Language::shell, ""));
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  EXPECT_EQ(execute(**interpreter, "x=41; cd /tmp").out, "");
  EXPECT_EQ(execute(**interpreter, "echo $((x + 1)) $PWD").out, "42 /tmp\n");
  ASSERT_EQ(sandbox->interpreters().size(), 1U);
  ASSERT_TRUE(run((*interpreter)->restart()));
  EXPECT_EQ(execute(**interpreter, "echo [$x]").out, "[]\n");
  ASSERT_TRUE(run(sandbox->remove_interpreter((*interpreter)->info().id)));
  EXPECT_TRUE(sandbox->interpreters().empty());
}

TEST_P(ProviderContract, AWatchTellsOfChanges) {
  if (!provider().traits().watch) GTEST_SKIP() << "the provider lacks the trait 'watch'";
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(run(sandbox->files().watch("/home/user/none", Recursive::no, "")).error().code(),
            Code::not_found);
  auto watch = run(sandbox->files().watch("/home/user", Recursive::yes, ""));
  ASSERT_TRUE(watch) << watch.error().message();
  ASSERT_TRUE(shell(*sandbox, "mkdir -p a/b && echo x > a/b/file && rm a/b/file").outcome.succeeded());
  bool made = false;
  while (!made) {
    const auto events = run((*watch)->next());
    ASSERT_TRUE(events) << events.error().message();
    for (const WatchEvent& event : *events) made |= event.type == WatchEventType::create && event.name == "a";
  }
}

TEST_P(ProviderContract, PauseHoldsEverything) {
  if (!provider().traits().pause) GTEST_SKIP() << "the provider lacks the trait 'pause'";
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"/bin/sh", "-c", "while true; do echo x >> count; sleep 0.01; done"};
  const auto busy = run(sandbox->start(process));
  ASSERT_TRUE(busy);
  ASSERT_TRUE(run(sandbox->pause()));
  const auto cpu_before = run(sandbox->usage())->cpu_time;
  ::usleep(100'000);
  EXPECT_EQ(run(sandbox->usage())->cpu_time, cpu_before);
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::conflict);
  ASSERT_TRUE(run(sandbox->resume()));
  EXPECT_TRUE(shell(*sandbox, "cat count").outcome.succeeded());
  ASSERT_TRUE(run(sandbox->pause()));
  EXPECT_TRUE(run(sandbox->stop())) << "a paused sandbox can be stopped";
}

TEST_P(ProviderContract, ASnapshotStartsOthers) {
  if (!provider().traits().snapshot) GTEST_SKIP() << "the provider lacks the trait 'snapshot'";
  const std::string target = "/tmp/atoll-contract-" + random_word(12);
  const auto first = box();
  ASSERT_TRUE(first);
  // There is none without programs. An ordinary user with one id has no root inside, and the files of the
  // host are nobody's there.
  const bool removed = !shell(*first, "test -e /usr/bin/env").outcome.succeeded() ||
                       shell(*first, "rm /usr/bin/env", "root").outcome.succeeded();
  ASSERT_TRUE(shell(*first, "echo one > kept; mkdir d; ln -s kept link; rm -f .bashrc").outcome.succeeded());
  ASSERT_TRUE(shell(*first, "echo mine > mine; chmod 600 mine").outcome.succeeded());
  const auto stored = run(first->snapshot(target));
  ASSERT_TRUE(stored) << stored.error().message();
  EXPECT_EQ(shell(*first, "echo two > mine; cat mine").out, "two\n") << "the first goes on";
  Spec spec;
  spec.snapshot = target;
  const auto second = box(spec);
  ASSERT_TRUE(second);
  const Ran seen = shell(*second,
                         // An old gVisor refuses stat(1) the call it makes.
                         "cat mine; stat -c '%a %U' mine 2>/dev/null || python3 -c \"import os, pwd; "
                         "s = os.stat('mine'); print('%o' % (s.st_mode & 511), pwd.getpwuid(s.st_uid)[0])\"; "
                         "readlink ~/link; ls -A ~ | grep bashrc; ls /usr/bin/env");
  EXPECT_NE(seen.out.find("mine\n600 user\n"), std::string::npos) << seen.out;
  EXPECT_EQ(seen.out.find("bashrc"), std::string::npos) << seen.out;
  EXPECT_EQ(seen.out.find("/usr/bin/env\n") == std::string::npos, removed) << seen.out;
  // A snapshot of what started from a snapshot holds both.
  ASSERT_TRUE(shell(*second, "echo three > third; rm mine").outcome.succeeded());
  ASSERT_TRUE(run(second->snapshot(target + "-2")));
  spec.snapshot = target + "-2";
  const auto third = box(spec);
  ASSERT_TRUE(third);
  EXPECT_EQ(
      shell(*third, "cat third; ls mine 2>/dev/null; cat ~root/kept 2>/dev/null; true").out.substr(0, 6),
      "three\n");
  EXPECT_FALSE(shell(*third, "ls mine").outcome.succeeded());
  EXPECT_EQ(run(first->snapshot(target)).error().code(), Code::already_exists);
  const auto bytes = run(provider().snapshot_bytes(target));
  ASSERT_TRUE(bytes) << bytes.error().message();
  EXPECT_GT(*bytes, 0U);
  EXPECT_TRUE(run(provider().discard_snapshot(target)));
  EXPECT_TRUE(run(provider().discard_snapshot(target + "-2")));
  EXPECT_EQ(run(provider().snapshot_bytes(target)).error().code(), Code::not_found);
  EXPECT_FALSE(std::filesystem::exists(target));
  EXPECT_TRUE(run(provider().discard_snapshot(target))) << "what is not there is gone";
}

TEST_P(ProviderContract, StopIsFinalAndCanBeRepeated) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"sleep", "100"};
  std::optional<Result<std::shared_ptr<Process>>> left;
  if (provider().traits().real_processes) left = run(sandbox->start(process));
  ASSERT_TRUE(run(sandbox->stop()));
  ASSERT_TRUE(run(sandbox->stop()));
  EXPECT_FALSE(run(sandbox->ended())->empty());
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::unavailable);
  if (left) {
    const auto outcome = run((**left)->wait());
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->ending == Ending::lost || outcome->ending == Ending::killed);
  }
}

TEST_P(ProviderContract, UsageIsMeasured) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  // Long enough to be seen where CPU time is counted in hundredths of a second.
  ASSERT_TRUE(
      shell(*sandbox, "head -c 3000000 /dev/zero > file; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
          .outcome.succeeded());
  const auto usage = run(sandbox->usage());
  ASSERT_TRUE(usage);
  EXPECT_GE(usage->disk_bytes, 3'000'000U);
  EXPECT_EQ(usage->disk_limit_bytes, sandbox->limits().disk_bytes);
  if (!provider().traits().real_processes) return;
  EXPECT_GT(usage->memory_bytes, 0U);
  if (!provider().traits().templates) {
    EXPECT_GT(usage->cpu_time.count(), 0);
    return;
  }
  // A remote service tells how busy it is at the moment, so it must be.
  ProcessSpec busy;
  busy.argv = {"sh", "-c", "while :; do :; done"};
  ASSERT_TRUE(run(sandbox->start(busy)));
  auto later = run(sandbox->usage());
  for (int round = 0; round < 200 && later && later->cpu_time.count() == 0; ++round) {
    ::usleep(50'000);
    later = run(sandbox->usage());
  }
  ASSERT_TRUE(later);
  EXPECT_GT(later->cpu_time.count(), 0);
}

}  // namespace atl::sandbox
