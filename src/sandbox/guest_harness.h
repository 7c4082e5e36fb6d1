#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "guest/program.h"
#include "sandbox/guest_connection.h"

// For tests: a guest as an ordinary child of the test, without walls.
namespace atl::sandbox {

class GuestTest : public testing::Test {
 protected:
  ~GuestTest() override {
    connection_.reset();
    if (guest_ > 1) {
      ::kill(guest_, SIGKILL);
      ::waitpid(guest_, nullptr, 0);
    }
  }

  // Runs a coroutine to its end on the loop.
  template <class T>
  Result<T> run(Task<T> task) {
    std::optional<Result<T>> result;
    boost::asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr error, Result<T> value) {
      if (error) std::rethrow_exception(error);
      result.emplace(std::move(value));
    });
    while (!result) {
      loop_.restart();
      if (loop_.run_one() == 0) {
        ADD_FAILURE() << "the loop ran out of work";
        return fail(Code::internal, "the loop ran out of work");
      }
    }
    return std::move(*result);
  }

  // Two ends: the guest's goes to descriptor 3 of a new guest, and `handover`, if any, to descriptor 4.
  os::Fd start_guest(int handover = -1) {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    auto program = guest::program_file();
    EXPECT_TRUE(program.has_value());
    guest_ = ::fork();
    if (guest_ == 0) {
      const int file = ::fcntl(program->get(), F_DUPFD_CLOEXEC, 20);
      const int stream = ::fcntl(pair[1], F_DUPFD_CLOEXEC, 20);
      if (handover >= 0) handover = ::fcntl(handover, F_DUPFD_CLOEXEC, 20);
      ::dup2(stream, guest::kStreamFd);
      ::close(guest::kHandoverFd);
      if (handover >= 0) ::dup2(handover, guest::kHandoverFd);
      const char* argv[] = {"guest", nullptr};
      const char* env[] = {nullptr};
      ::syscall(SYS_execveat, file, "", argv, env, AT_EMPTY_PATH);
      ::_exit(99);
    }
    ::close(pair[1]);
    return os::Fd(pair[0]);
  }

  static GuestOptions root_options() {
    GuestOptions options;
    options.user = "root";
    options.working_directory = "/";
    return options;
  }
  std::shared_ptr<GuestConnection> connection() {
    if (connection_) return connection_;
    GuestOptions options = root_options();
    options.spare = spare_;
    auto opened = run(GuestConnection::open(start_guest(), std::move(options)));
    EXPECT_TRUE(opened.has_value()) << opened.error().message();
    if (opened) connection_ = *opened;
    return connection_;
  }

  struct Finished {
    std::string out, err;
    Outcome outcome;
  };
  // Reads a process to its end.
  static Task<Finished> collect(std::shared_ptr<Process> process, Replay replay = Replay::recent) {
    Finished all;
    const auto stream = process->attach(replay);
    for (;;) {
      CO_TRY(ProcessEvent event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event)) {
        (output->stream == Stream::err ? all.err : all.out) += output->bytes;
      } else {
        all.outcome = std::get<Outcome>(event);
        co_return all;
      }
    }
  }
  Result<Finished> execute(ProcessSpec spec) {
    const auto go = [](std::shared_ptr<GuestConnection> connection, ProcessSpec what) -> Task<Finished> {
      CO_TRY(const auto process, co_await connection->start(std::move(what)));
      co_return co_await collect(process);
    };
    return run(go(connection(), std::move(spec)));
  }
  static ProcessSpec command(std::vector<std::string> argv) {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    return spec;
  }
  static ProcessSpec shell(std::string script) { return command({"/bin/sh", "-c", std::move(script)}); }

  boost::asio::io_context loop_;
  SpareOptions spare_;  // of the connection that connection() opens
  std::shared_ptr<GuestConnection> connection_;
  pid_t guest_ = -1;
};

}  // namespace atl::sandbox
