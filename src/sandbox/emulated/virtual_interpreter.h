#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <functional>
#include <memory>

#include "sandbox/emulated/script.h"
#include "sandbox/interpreter.h"
#include "vfs/virtual_file_system.h"

namespace atl::sandbox::emulated {

// A shell whose variables, functions and directory stay from one execution to the next. Executions queue.
// Belongs to the loop thread; each execution runs on a thread of its Script.
class VirtualInterpreter final : public Interpreter, public std::enable_shared_from_this<VirtualInterpreter> {
 public:
  using MakeShell = std::function<std::shared_ptr<shell::SandboxShell>()>;
  VirtualInterpreter(boost::asio::any_io_executor executor, InterpreterInfo info, Limits limits,
                     MakeShell make_shell, std::shared_ptr<CpuMeter> meter)
      : executor_(std::move(executor)),
        info_(std::move(info)),
        limits_(limits),
        make_shell_(std::move(make_shell)),
        meter_(std::move(meter)),
        shell_(make_shell_()) {}

  const InterpreterInfo& info() const override { return info_; }
  Task<std::unique_ptr<ExecutionStream>> execute(ExecutionSpec spec) override;
  Task<void> interrupt() override;
  Task<void> restart() override;
  // Ends what runs and refuses what comes.
  void close(const std::string& reason);

 private:
  friend class InterpreterStream;
  struct Execution {
    ExecutionSpec spec;
    std::shared_ptr<Script> script;
    std::uint64_t count = 0;
    bool abandoned = false;
  };
  // Starts the first of the queue, if nothing runs.
  void run_next();
  void ended(const shell::Executed& executed);
  // Nobody listens to it any more: it ends if it runs, and is skipped if it waits.
  void abandon(const std::shared_ptr<Execution>& execution);
  // The variables of one execution, exported; their old values come back when it ends.
  void put_variables(const Variables& variables);

  boost::asio::any_io_executor executor_;
  InterpreterInfo info_;
  Limits limits_;
  MakeShell make_shell_;
  std::shared_ptr<CpuMeter> meter_;
  std::shared_ptr<shell::SandboxShell> shell_;
  std::deque<std::shared_ptr<Execution>> queue_;  // the first one runs if `running_`
  bool running_ = false;
  bool closed_ = false;
  bool restart_ = false;
  std::uint64_t count_ = 0;
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;  // variables to restore
};

}  // namespace atl::sandbox::emulated
