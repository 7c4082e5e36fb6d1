#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/e2b/account.h"
#include "sandbox/e2b/plane.h"
#include "sandbox/e2b/remote_files.h"
#include "sandbox/e2b/remote_interpreter.h"
#include "sandbox/e2b/remote_process.h"
#include "sandbox/sandbox.h"

namespace atl::sandbox::e2b {

const Traits& remote_traits();

// How long a remote sandbox may outlive us: it ends by itself this long after it was last heard of.
struct Lease {
  std::chrono::seconds most{900};
  std::chrono::seconds grace{60};  // after the end of its session
};

// A sandbox that another service runs for us. Belongs to the loop thread.
class RemoteSandbox final : public Sandbox {
 public:
  struct Parts {
    std::string id;  // ours; the other side's is in the plane
    std::shared_ptr<Account> account;
    std::shared_ptr<Plane> plane;
    Isolation isolation;
    Limits limits;
    std::string user, working_directory;  // of processes that name none; empty: the template's
    std::string tenant;
    // The session's time to live changed.
    std::function<void(std::chrono::milliseconds)> on_time_left;
    // How many more seconds the other side is to keep it from now.
    std::function<std::chrono::seconds()> lease;
    // Its interpreters changed. Kept for a restart while it is paused, when nobody can be asked.
    std::function<void(const std::vector<InterpreterInfo>&)> on_interpreters;
    // Its end, told once.
    std::function<void()> on_end;
  };
  explicit RemoteSandbox(Parts parts);
  ~RemoteSandbox() override;

  const std::string& id() const override { return parts_.id; }
  const Traits& traits() const override { return remote_traits(); }
  const Isolation& isolation() const override { return parts_.isolation; }
  const Limits& limits() const override { return parts_.limits; }

  Task<std::shared_ptr<Process>> start(ProcessSpec spec) override;
  std::vector<std::shared_ptr<Process>> processes() override;
  Files& files() override { return files_; }
  Task<std::shared_ptr<Interpreter>> create_interpreter(Language language, std::string cwd) override;
  std::vector<std::shared_ptr<Interpreter>> interpreters() override;
  Task<void> remove_interpreter(std::string id) override;
  Task<std::unique_ptr<ByteStream>> connect(std::uint16_t port) override;
  Task<std::vector<std::uint16_t>> listening_ports() override;
  void set_time_left(std::chrono::milliseconds time) override;
  Task<Usage> usage() override;
  Task<void> pause() override;
  Task<void> resume() override;
  // The files stay with the other service; the directory holds their name there.
  Task<void> snapshot(std::string target) override;
  Task<void> stop() override;
  Task<std::string> ended() override;

  // After a restart of this program: what still runs inside.
  Task<void> find_what_runs();
  // The same for one that is paused, of what on_interpreters was told.
  void take_interpreters(const boost::json::array& kept);

 private:
  void tell_interpreters() const;
  void lose_processes(Ending ending, const std::string& reason);

  Parts parts_;
  RemoteFiles files_;
  std::vector<std::shared_ptr<RemoteProcess>> processes_;
  std::vector<std::shared_ptr<RemoteInterpreter>> interpreters_;
  Usage last_usage_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point usage_at_ = began_;
};

// The name of a remote snapshot and whose key made it, as the directory of a snapshot keeps them.
struct StoredSnapshot {
  std::string snapshot_id, tenant;
};
Result<StoredSnapshot> read_snapshot(const std::string& directory);

}  // namespace atl::sandbox::e2b
