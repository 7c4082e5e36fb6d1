#include "sandbox/native/native.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/ids.h"

namespace atl::sandbox::native {
namespace {

class NativeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    auto provider = start(loop_.get_executor(), NativeOptions{});
    ASSERT_TRUE(provider) << provider.error().message() << " " << provider.error().detail();
    provider_ = std::move(*provider);
  }
  void TearDown() override {
    if (!provider_) return;
    EXPECT_TRUE(run(provider_->shut_down()));
  }
  template <class T>
  Result<T> run(Task<T> task) {
    std::optional<Result<T>> result;
    boost::asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr error, Result<T> value) {
      if (error) std::rethrow_exception(error);
      result.emplace(std::move(value));
    });
    while (!result) {
      loop_.restart();
      loop_.run_one();
    }
    return std::move(*result);
  }
  std::unique_ptr<Sandbox> create(Spec spec = {}) {
    if (spec.id.empty()) spec.id = new_sandbox_id();
    auto sandbox = run(provider_->create(spec));
    EXPECT_TRUE(sandbox) << sandbox.error().message() << " | " << sandbox.error().detail();
    return sandbox ? std::move(*sandbox) : nullptr;
  }
  struct Ran {
    std::string out;
    Outcome outcome;
  };
  Ran shell(Sandbox& sandbox, std::string script, std::string user = "") {
    ProcessSpec spec;
    spec.argv = {"/bin/bash", "-c", std::move(script)};
    spec.user = std::move(user);
    spec.wall_time = std::chrono::seconds(20);
    return *run(collect(sandbox, std::move(spec)));
  }
  static Task<Ran> collect(Sandbox& sandbox, ProcessSpec spec) {
    Ran ran;
    auto started = co_await sandbox.start(std::move(spec));
    if (!started) {
      ran.out = started.error().message();
      ran.outcome.ending = Ending::lost;
      co_return ran;
    }
    auto stream = (*started)->attach(Replay::recent);
    for (;;) {
      CO_TRY(ProcessEvent event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event)) ran.out += output->bytes;
      if (auto* outcome = std::get_if<Outcome>(&event)) {
        ran.outcome = *outcome;
        co_return ran;
      }
    }
  }

  boost::asio::io_context loop_;
  std::unique_ptr<Provider> provider_;
};

TEST_F(NativeTest, RunsACommandAsUser) {
  auto sandbox = create();
  ASSERT_TRUE(sandbox);
  const Ran ran = shell(*sandbox, "id -un; pwd; hostname; python3 -c 'print(1+1)'; touch x && ls x");
  EXPECT_EQ(ran.out, "user\n/home/user\nsandbox\n2\nx\n");
  EXPECT_TRUE(ran.outcome.succeeded());
  EXPECT_TRUE(run(sandbox->stop()));
}

}  // namespace
}  // namespace atl::sandbox::native
