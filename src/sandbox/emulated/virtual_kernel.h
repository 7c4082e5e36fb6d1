#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <functional>
#include <memory>

#include "sandbox/emulated/script.h"
#include "sandbox/kernel.h"
#include "vfs/virtual_file_system.h"

namespace atl::sandbox::emulated {

// A shell whose variables, functions and directory stay from one execution to the next. Executions queue.
class VirtualKernel final : public Kernel, public std::enable_shared_from_this<VirtualKernel> {
 public:
  using MakeShell = std::function<std::shared_ptr<shell::SandboxShell>()>;
  VirtualKernel(boost::asio::any_io_executor executor, KernelInfo info, Limits limits, MakeShell make_shell)
      : executor_(std::move(executor)),
        info_(std::move(info)),
        limits_(limits),
        make_shell_(std::move(make_shell)),
        shell_(make_shell_()) {}

  const KernelInfo& info() const override { return info_; }
  Task<std::unique_ptr<ExecutionStream>> execute(ExecutionSpec spec) override;
  Task<void> interrupt() override;
  Task<void> restart() override;
  // Ends what runs and refuses what comes.
  void close(const std::string& reason);

 private:
  friend class KernelStream;
  struct Execution {
    ExecutionSpec spec;
    std::shared_ptr<Script> script;
    std::uint64_t count = 0;
    bool abandoned = false;
  };
  void run_next();
  void ended(const shell::Executed& executed);
  void abandon(const std::shared_ptr<Execution>& execution);
  void put_variables(const Variables& variables);

  boost::asio::any_io_executor executor_;
  KernelInfo info_;
  Limits limits_;
  MakeShell make_shell_;
  std::shared_ptr<shell::SandboxShell> shell_;
  std::deque<std::shared_ptr<Execution>> queue_;  // the first one runs if `running_`
  bool running_ = false;
  bool closed_ = false;
  bool restart_ = false;
  std::uint64_t count_ = 0;
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;  // variables to restore
};

}  // namespace atl::sandbox::emulated
