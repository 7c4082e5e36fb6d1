#include "sandbox/emulated/virtual.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>

namespace atl::sandbox::emulated {
namespace {

namespace asio = boost::asio;

class Virtual : public testing::Test {
 protected:
  int made_ = 0;
  asio::io_context loop_;
  std::unique_ptr<Provider> provider_ = make(loop_.get_executor());

  // Runs the loop until the task ended.
  template <class T>
  Result<T> run(Task<T> task) {
    std::optional<Result<T>> out;
    asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr thrown, Result<T> result) {
      EXPECT_FALSE(thrown);
      out.emplace(std::move(result));
    });
    loop_.restart();
    while (!out && loop_.run_one_for(std::chrono::seconds(20)) > 0) {
    }
    if (!out) return fail(Code::internal, "the task does not end");
    return std::move(*out);
  }
  std::unique_ptr<Sandbox> create(Spec spec = {}) {
    spec.id = "test-" + std::to_string(++made_);
    auto made = run(provider_->create(std::move(spec)));
    EXPECT_TRUE(made) << made.error().message();
    return made ? std::move(*made) : nullptr;
  }
  struct Ran {
    std::string out, err;
    Outcome outcome;
  };
  Task<Ran> collect(std::unique_ptr<ProcessStream> stream) {
    Ran ran;
    while (true) {
      CO_TRY(auto event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event)) {
        (output->stream == Stream::err ? ran.err : ran.out) += output->bytes;
      } else {
        ran.outcome = std::get<Outcome>(event);
        co_return ran;
      }
    }
  }
  Ran sh(Sandbox& sandbox, const std::string& script, ProcessSpec spec = {}) {
    spec.argv = {"/bin/bash", "-l", "-c", script};
    auto process = run(sandbox.start(std::move(spec)));
    EXPECT_TRUE(process) << process.error().message();
    return run(collect((*process)->attach(Replay::recent))).value();
  }
};

TEST_F(Virtual, RefusesWhatItLacks) {
  Spec good;
  good.id = "test";
  Spec spec = good;
  spec.network = Network::egress;
  EXPECT_EQ(run(provider_->create(spec)).error().code(), Code::unsupported);
  spec = good;
  spec.required_walls = {"seccomp"};
  EXPECT_EQ(run(provider_->create(spec)).error().code(), Code::unsupported);
  spec = good;
  spec.host_mounts.push_back({"/", "/host", true});
  EXPECT_EQ(run(provider_->create(spec)).error().code(), Code::unsupported);
  auto sandbox = create();
  EXPECT_EQ(run(sandbox->create_interpreter(Language::python, "")).error().code(), Code::unsupported);
  EXPECT_EQ(run(sandbox->connect(80)).error().code(), Code::unsupported);
  EXPECT_EQ(run(sandbox->pause()).error().code(), Code::unsupported);
  ProcessSpec process;
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::invalid_argument);
  process.argv = {"true"};
  process.pty = PtySize{};
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::unsupported);
  process.pty.reset();
  process.cwd = "/nowhere";
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::not_found);
  EXPECT_FALSE(provider_->probed().walls.empty());
}

TEST_F(Virtual, RunsCommandsOnItsFiles) {
  auto sandbox = create();
  auto ran = sh(*sandbox, "x=hello; echo ${x^^}; echo oops >&2; echo data > f; exit 3");
  EXPECT_EQ(ran.out, "HELLO\n");
  EXPECT_EQ(ran.err, "oops\n");
  EXPECT_EQ(ran.outcome.ending, Ending::exited);
  EXPECT_EQ(ran.outcome.exit_code, 3);
  auto info = run(sandbox->files().stat("/home/user/f", ""));
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_EQ(info->size, 5U);
  ProcessSpec spec;
  spec.argv = {"printf", "%s|", "a b", "it's"};
  auto process = run(sandbox->start(spec)).value();
  EXPECT_EQ(run(collect(process->attach(Replay::recent)))->out, "a b|it's|");
  EXPECT_TRUE(sandbox->processes().empty());
}

TEST_F(Virtual, EndsWhatRunsTooLong) {
  auto sandbox = create();
  ProcessSpec spec;
  spec.wall_time = std::chrono::milliseconds(100);
  EXPECT_EQ(sh(*sandbox, "while :; do :; done", spec).outcome.ending, Ending::timed_out);
  spec = {};
  spec.output_bytes = 1000;
  auto ran = sh(*sandbox, "while :; do echo y; done", spec);
  EXPECT_EQ(ran.outcome.ending, Ending::output_limit);
  EXPECT_LE(ran.out.size(), 1000U);
  spec = {};
  spec.argv = {"sleep", "100"};
  auto process = run(sandbox->start(spec)).value();
  ASSERT_TRUE(run(process->signal(SIGTERM)));
  auto outcome = run(process->wait()).value();
  EXPECT_EQ(outcome.ending, Ending::killed);
  EXPECT_EQ(outcome.signal, SIGTERM);
}

TEST_F(Virtual, FeedsStandardInput) {
  auto sandbox = create();
  ProcessSpec spec;
  spec.argv = {"cat"};
  spec.stdin_mode = Stdin::pipe;
  auto process = run(sandbox->start(spec)).value();
  ASSERT_TRUE(run(process->write_stdin("to the cat")));
  ASSERT_TRUE(run(process->close_stdin()));
  EXPECT_EQ(run(collect(process->attach(Replay::recent)))->out, "to the cat");
}

TEST_F(Virtual, KeepsAInterpretersState) {
  auto sandbox = create();
  auto interpreter = run(sandbox->create_interpreter(Language::shell, "")).value();
  auto execute = [&](std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    auto stream = run(interpreter->execute(spec)).value();
    std::string out;
    while (true) {
      auto event = run(stream->next()).value();
      if (auto* output = std::get_if<Output>(&event)) out += output->bytes;
      if (std::holds_alternative<ExecutionDone>(event)) return out;
    }
  };
  EXPECT_EQ(execute("x=41; cd /tmp"), "");
  EXPECT_EQ(execute("echo $((x + 1)) $PWD"), "42 /tmp\n");
  ASSERT_TRUE(run(interpreter->restart()));
  EXPECT_EQ(execute("echo [$x]"), "[]\n");
  ASSERT_TRUE(run(sandbox->remove_interpreter(interpreter->info().id)));
  EXPECT_TRUE(sandbox->interpreters().empty());
}

TEST_F(Virtual, StartsFromASnapshot) {
  auto sandbox = create();
  sh(*sandbox, "echo kept > file");
  std::string directory =
      std::filesystem::temp_directory_path() / ("atoll-virtual-" + std::to_string(::getpid()));
  ASSERT_TRUE(run(sandbox->snapshot(directory)));
  Spec spec;
  spec.snapshot = directory;
  auto other = create(spec);
  EXPECT_EQ(sh(*other, "cat file").out, "kept\n");
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(run(sandbox->stop()));
  EXPECT_EQ(run(sandbox->ended()).value(), "stopped");
  ProcessSpec process;
  process.argv = {"true"};
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::unavailable);
}

}  // namespace
}  // namespace atl::sandbox::emulated
