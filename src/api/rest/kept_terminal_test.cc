#include "api/rest/kept_terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <csignal>

namespace atl::api::rest {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;

// A program that writes `pieces` of 16 KiB and ends when it is told to.
class Program final : public sandbox::Process {
 public:
  static constexpr std::size_t kPiece = 16U << 10U;

  Program(asio::io_context& loop, std::uint32_t pid) : told_(loop.get_executor()) { info_.pid = pid; }

  class Stream final : public sandbox::ProcessStream {
   public:
    explicit Stream(std::shared_ptr<Program> program) : program_(std::move(program)) {}
    Task<sandbox::ProcessEvent> next() override {
      while (program_->written < program_->pieces || !program_->over) {
        if (program_->written < program_->pieces) {
          const char letter = static_cast<char>('a' + program_->written++ % 26);
          co_return sandbox::ProcessEvent(sandbox::Output{sandbox::Stream::pty, std::string(kPiece, letter)});
        }
        CO_CHECK(co_await program_->told_.wait());
      }
      co_return sandbox::ProcessEvent(sandbox::Outcome{.exit_code = 7});
    }

   private:
    std::shared_ptr<Program> program_;
  };

  void write(std::size_t more) {
    pieces += more;
    told_.notify();
  }
  void end() {
    over = true;
    told_.notify();
  }

  const sandbox::ProcessInfo& info() const override { return info_; }
  std::unique_ptr<sandbox::ProcessStream> attach(sandbox::Replay) override { return nullptr; }
  Task<void> write_stdin(std::string) override { co_return Result<void>{}; }
  Task<void> close_stdin() override { co_return Result<void>{}; }
  Task<void> resize(sandbox::PtySize) override { co_return Result<void>{}; }
  Task<void> signal(int) override { co_return Result<void>{}; }
  Task<sandbox::Outcome> wait() override { co_return sandbox::Outcome{}; }

  std::size_t pieces = 0, written = 0;
  bool over = false;

 private:
  os::Event told_;
  sandbox::ProcessInfo info_;
};

// Takes everything, or nothing until it is told that its client is gone.
class Socket final : public net::WebSocket {
 public:
  explicit Socket(asio::io_context& loop, bool reads = true) : reads_(reads), gone_(loop.get_executor()) {}
  Task<net::Message> receive() override { co_return fail(Code::canceled, "closed"); }
  Task<void> send(net::Message message) override {
    if (reads_) {
      (message.binary ? bytes : words) += message.bytes;
      co_return Result<void>{};
    }
    while (!is_gone_) CO_CHECK(co_await gone_.wait());
    co_return fail(Code::unavailable, "the client is gone");
  }
  Task<void> close(std::uint16_t, std::string) override { co_return Result<void>{}; }
  void leave() {
    is_gone_ = true;
    gone_.notify();
  }

  std::string bytes, words;

 private:
  bool reads_, is_gone_ = false;
  os::Event gone_;
};

class KeptTerminalTest : public testing::Test {
 protected:
  void turn() {
    loop_.restart();
    loop_.poll();
  }
  std::shared_ptr<KeptTerminal> add(const std::string& session, const std::shared_ptr<Program>& program) {
    return terminals_.add(loop_.get_executor(), "acme", session, program,
                          std::make_unique<Program::Stream>(program));
  }
  // What showing it gave, once it is over.
  std::shared_ptr<std::optional<Result<sandbox::Outcome>>> show(const std::shared_ptr<KeptTerminal>& terminal,
                                                                Socket& socket, std::uint64_t from) {
    auto told = std::make_shared<std::optional<Result<sandbox::Outcome>>>();
    asio::co_spawn(
        loop_, terminal->show_to(socket, from),
        [told](std::exception_ptr, Result<sandbox::Outcome> outcome) { told->emplace(std::move(outcome)); });
    turn();
    return told;
  }

  asio::io_context loop_;
  KeptTerminals terminals_;
};

TEST_F(KeptTerminalTest, HasABoundInEachSessionAndEachTenant) {
  std::vector<std::shared_ptr<Program>> programs;
  for (std::size_t number = 0; number < KeptTerminals::kPerTenant; ++number) {
    const std::string session = "s" + std::to_string(number / KeptTerminals::kPerSession);
    ASSERT_TRUE(terminals_.admit("acme", session)) << number;
    programs.push_back(std::make_shared<Program>(loop_, static_cast<std::uint32_t>(number)));
    add(session, programs.back());
    if ((number + 1) % KeptTerminals::kPerSession == 0 && number + 1 < KeptTerminals::kPerTenant) {
      EXPECT_THAT(terminals_.admit("acme", session).error().message(), HasSubstr("the session has 16"));
    }
  }
  const auto over = terminals_.admit("acme", "new");
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code(), Code::resource_exhausted);
  EXPECT_THAT(over.error().message(), HasSubstr("the tenant has 128"));
  EXPECT_TRUE(terminals_.admit("other", "new")) << "others have their own";
  programs.front()->end();
  turn();
  EXPECT_TRUE(terminals_.admit("acme", "s0")) << "one that ended makes room";
  EXPECT_EQ(terminals_.find("s0", 0), nullptr);
  EXPECT_NE(terminals_.find("s0", 1), nullptr);
  for (const auto& one : programs) one->end();
  turn();
}

TEST_F(KeptTerminalTest, EachByteIsToldOnce) {
  const auto program = std::make_shared<Program>(loop_, 1);
  const auto terminal = add("s", program);
  program->write(2);
  turn();
  Socket first(loop_), second(loop_);
  const auto seen = show(terminal, first, 0);
  EXPECT_EQ(first.bytes, std::string(Program::kPiece, 'a') + std::string(Program::kPiece, 'b'));
  const auto again = show(terminal, second, Program::kPiece);
  EXPECT_EQ(second.bytes, std::string(Program::kPiece, 'b'));
  program->write(1);
  program->end();
  turn();
  EXPECT_EQ(second.bytes, std::string(Program::kPiece, 'b') + std::string(Program::kPiece, 'c'));
  ASSERT_TRUE(*seen && *again);
  EXPECT_EQ((**seen)->exit_code, 7);
  EXPECT_TRUE(first.words.empty()) << first.words;
}

TEST_F(KeptTerminalTest, OfWhatNobodyLookedAtTheEndStays) {
  const auto program = std::make_shared<Program>(loop_, 1);
  const auto terminal = add("s", program);
  program->write(1000);  // 16 MiB
  turn();
  EXPECT_EQ(terminal->end(), 1000 * Program::kPiece) << "nobody holds it back";
  EXPECT_LE(terminal->end() - terminal->first(), 2 * KeptTerminal::kKept);
  EXPECT_GE(terminal->end() - terminal->first(), KeptTerminal::kKept);
  Socket late(loop_);
  show(terminal, late, 5);
  EXPECT_EQ(late.words, R"({"type":"lost","bytes":)" + std::to_string(terminal->first() - 5) + "}");
  EXPECT_EQ(late.bytes.size(), terminal->end() - terminal->first());
  program->end();
  turn();
}

TEST_F(KeptTerminalTest, WhoDoesNotReadHoldsTheProgramBackAndNotTheService) {
  const auto program = std::make_shared<Program>(loop_, 1);
  const auto terminal = add("s", program);
  Socket silent(loop_, false);
  const auto seen = show(terminal, silent, 0);
  program->write(1000);
  turn();
  const std::uint64_t held = terminal->end();
  EXPECT_LE(held, 256U << 10U) << "a program does not run ahead of a client for long";
  EXPECT_LT(program->written, 1000U);
  silent.leave();
  turn();
  ASSERT_TRUE(*seen);
  EXPECT_FALSE(**seen);
  EXPECT_EQ(program->written, 1000U) << "without the client it goes on";
  program->end();
  turn();
  EXPECT_EQ(terminals_.find("s", 1), nullptr);
}

}  // namespace
}  // namespace atl::api::rest
