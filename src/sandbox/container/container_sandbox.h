#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/event.h"
#include "os/fd.h"
#include "sandbox/guest_connection.h"
#include "sandbox/guest_outcome.h"
#include "sandbox/image_place.h"
#include "sandbox/quick_usage.h"
#include "sandbox/sandbox.h"

// What providers share whose walls are made by an engine (Docker, Podman, runsc) around our guest: a Sandbox
// over the guest's stream. The engine's part is behind the interface Walls.
namespace atl::sandbox::container {

// The engine's part of one sandbox. Belongs to the loop thread. Every call may fail with Code::unavailable
// when the engine does not answer; the sandbox is then in the state it was in before.
class Walls {
 public:
  virtual ~Walls() = default;
  virtual Task<void> freeze() = 0;
  virtual Task<void> thaw() = 0;
  // Sandbox::snapshot, Sandbox::checkpoint; the latter is Code::unsupported unless the engine can.
  virtual Task<void> snapshot(std::string target) = 0;
  virtual Task<Carried> checkpoint(std::string target, CheckpointOptions options);
  // Everything is gone when this returns; success if it was gone already.
  virtual Task<void> destroy() = 0;
  // The same, begun here and finished later; a failure is not reported.
  virtual void destroy_later() = 0;
  // The guest's stream has ended for `reason`: gives why the sandbox ended, if the engine knows better. By
  // default `reason` itself.
  virtual Task<std::string> explain(std::string reason);
  // Fetches the numbers of measured() from the engine; does nothing where the kernel's can always be read.
  virtual Task<void> measure();
  // What was consumed, as far as it is known without waiting. A number that is not known is 0.
  virtual Usage measured() const = 0;
  // Processor time from the beginning where it is known without waiting: every execution asks for it twice.
  virtual std::optional<std::chrono::microseconds> cpu_time() const { return std::nullopt; }
  // Processes that the kernel has ended for want of memory, from the beginning.
  virtual std::uint64_t oom_kills() const = 0;
  // Processes inside, the guest among them, threads not counted; nothing where nobody counts.
  virtual std::optional<std::uint32_t> process_count() const = 0;
};

// A sandbox that an engine has made and whose guest waits at the other end of `stream`.
struct Made {
  Spec spec;
  Isolation isolation;
  os::Fd stream;
  bool frozen = false;
  // It goes on from the memory of another one, whose interpreters these were.
  std::vector<SavedInterpreter> saved;
  // Whom `spec.user` and "user" mean in a request where the image has no such user; empty: themselves.
  std::string own_user;
  // Where programs find the authorities that they trust (proxy_endpoint.h): in no snapshot, and the guest may
  // write there.
  std::string trust_directory = "/run/atoll";
};

// What is known of a live sandbox, shared by its handle, its processes' ends and the provider. Belongs to the
// loop thread. Outlives the sandbox: `ended` says why there is none any more.
class ContainerState : public std::enable_shared_from_this<ContainerState> {
 public:
  ContainerState(boost::asio::any_io_executor executor, std::unique_ptr<Walls> walls, Made made);
  // Waits for the guest's greeting, at most that long. On failure there is no connection, and the caller
  // destroys the sandbox.
  Task<void> greet(std::chrono::milliseconds patience);
  Usage usage() const;
  // The engine or the stream says that it is over. The first reason stands.
  void has_ended(std::string why);
  bool is_executing() const { return connection && connection->is_executing(); }
  // Asks the walls for what they do not know by themselves, some time after an execution, so that the next
  // one can tell it without waiting.
  void begin_measuring();
  bool is_alive() const { return !ended && connection && connection->is_open(); }

  const std::unique_ptr<Walls> walls;  // never null; whoever waits for a call of it holds the state
  Made made;
  // None until it goes on, if it stood still when it was taken back.
  std::shared_ptr<GuestConnection> connection;
  os::Event changed;
  std::optional<std::string> ended;
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

 private:
  void complete_outcome(const ProcessInfo& info, Outcome& outcome);
  // Looks at processes and disk while something runs: what no engine enforces exactly.
  void begin_looking();
  void look();
  std::uint32_t held_processes() const;
  boost::asio::awaitable<void> follow();
  static boost::asio::awaitable<void> measure_later(std::weak_ptr<ContainerState> weak,
                                                    boost::asio::any_io_executor executor);

  boost::asio::any_io_executor executor_;
  boost::asio::steady_timer looking_;
  bool is_looking_ = false;
  bool is_measuring_ = false;
  GuestOutcome outcomes_;
  mutable std::uint32_t processes_peak_ = 0;
};

// The handle that a session holds: it owns the sandbox, which ends with it unless stop() was called. Belongs
// to the loop thread. After the sandbox has ended every call fails with Code::unavailable.
class ContainerSandbox : public Sandbox, public ImagePlace, public QuickUsage {
 public:
  // `traits` must outlive it.
  ContainerSandbox(std::shared_ptr<ContainerState> state, const Traits& traits);
  ~ContainerSandbox() override;

  const std::shared_ptr<ContainerState>& state() const { return state_; }
  // A pooled sandbox becomes the one that `spec` asks for.
  void assign(Spec spec);
  // What the engine says about what this one took over from a checkpoint.
  void set_revival(Carried carried) { revival_ = std::move(carried); }

  const std::string& id() const override { return state_->made.spec.id; }
  const Traits& traits() const override { return traits_; }
  const Isolation& isolation() const override { return state_->made.isolation; }
  const Limits& limits() const override { return state_->made.spec.limits; }
  const std::string& working_directory() const override { return state_->made.spec.working_directory; }
  void add_variables(const Variables& variables) override;
  Task<std::shared_ptr<Process>> start(ProcessSpec spec) override;
  std::vector<std::shared_ptr<Process>> processes() override;
  Files& files() override;
  Task<std::shared_ptr<Interpreter>> create_interpreter(Language language, std::string cwd) override;
  std::vector<std::shared_ptr<Interpreter>> interpreters() override;
  Task<void> remove_interpreter(std::string id) override;
  Task<std::unique_ptr<ByteStream>> connect(std::uint16_t port) override;
  Task<std::vector<std::uint16_t>> listening_ports() override;
  Task<void> open_network(std::shared_ptr<egress::Proxy> proxy) override;
  Task<void> trust(std::string certificate) override;
  Task<Usage> usage() override;
  Task<std::chrono::microseconds> cpu_time() override;
  std::optional<Usage> usage_now() override;
  Task<void> pause() override;
  Task<void> resume() override;
  Task<void> snapshot(std::string target) override;
  Task<Carried> checkpoint(std::string target, CheckpointOptions options) override;
  const Carried& revival() const override { return revival_; }
  Task<void> stop() override;
  Task<std::string> ended() override;

 private:
  Result<void> check_alive() const;
  // Also that it does not stand still.
  Result<void> check_running() const;
  std::shared_ptr<ContainerState> state_;
  const Traits& traits_;
  Carried revival_;
};

}  // namespace atl::sandbox::container
