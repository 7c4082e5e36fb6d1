#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "sandbox/emulated/virtual_files.h"
#include "sandbox/emulated/virtual_interpreter.h"
#include "sandbox/sandbox.h"

namespace atl::sandbox::emulated {

const Traits& virtual_traits();

class VirtualProcess;

// What runs in a sandbox, and whether it lives. Shared: the provider and running scripts look at it when the
// sandbox's handle may be gone. Belongs to the loop thread.
struct Life {
  explicit Life(const boost::asio::any_io_executor& executor) : ended(executor) {}
  bool has_ended() const { return !why.empty(); }
  // Ends everything in it at once; the outcomes follow.
  void end(const std::string& reason);
  // The same, and waits for the outcomes.
  static Task<void> finish(std::shared_ptr<Life> life, std::string reason);

  std::vector<std::shared_ptr<VirtualProcess>> processes;  // live ones
  std::vector<std::shared_ptr<VirtualInterpreter>> interpreters;
  std::shared_ptr<CpuMeter> cpu = std::make_shared<CpuMeter>();
  std::uint64_t output_bytes = 0;
  std::uint32_t peak = 0;
  std::string why;  // not empty: it ended
  os::Event ended;
};

// The handle that a session holds; destroying it ends what runs. Belongs to the loop thread. After its end
// every call fails with Code::unavailable.
class VirtualSandbox final : public Sandbox {
 public:
  // The tree holds what the sandbox starts with; the quota of its memory is set here.
  // `own_nodes`: files and directories that every sandbox has from the start. They are not the workload's and
  // count towards none of its limits.
  VirtualSandbox(boost::asio::any_io_executor executor, Spec spec, VirtualTree tree, std::uint64_t own_nodes);
  ~VirtualSandbox() override;

  const std::string& id() const override { return spec_.id; }
  const Traits& traits() const override { return virtual_traits(); }
  const Isolation& isolation() const override { return isolation_; }
  const Limits& limits() const override { return spec_.limits; }

  Task<std::shared_ptr<Process>> start(ProcessSpec spec) override;
  std::vector<std::shared_ptr<Process>> processes() override;
  Files& files() override { return *files_; }
  Task<std::shared_ptr<Interpreter>> create_interpreter(Language language, std::string cwd) override;
  std::vector<std::shared_ptr<Interpreter>> interpreters() override;
  Task<void> remove_interpreter(std::string id) override;
  Task<std::unique_ptr<ByteStream>> connect(std::uint16_t port) override;
  Task<std::vector<std::uint16_t>> listening_ports() override;
  Task<std::chrono::microseconds> cpu_time() override;
  Task<Usage> usage() override;
  Task<void> pause() override;
  Task<void> resume() override;
  Task<void> snapshot(std::string target) override;
  Task<void> stop() override;
  Task<std::string> ended() override;
  const std::shared_ptr<Life>& life() const { return life_; }

 private:
  std::shared_ptr<shell::SandboxShell> make_shell(const Variables& env, const std::string& cwd,
                                                  std::vector<std::string> arguments, std::string name) const;
  // Code::unavailable with the reason of the end.
  Result<void> check_alive() const;

  boost::asio::any_io_executor executor_;
  Spec spec_;
  VirtualTree tree_;
  std::uint64_t own_nodes_;
  std::shared_ptr<Files> files_;  // changes under way on the pool hold it, too
  Isolation isolation_;
  std::chrono::steady_clock::time_point created_ = std::chrono::steady_clock::now();
  std::shared_ptr<Life> life_;
  std::uint32_t next_pid_ = 2;
  std::uint32_t next_interpreter_ = 1;
};

}  // namespace atl::sandbox::emulated
