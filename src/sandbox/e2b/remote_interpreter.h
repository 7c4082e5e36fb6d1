#pragma once

#include <memory>
#include <string>

#include "os/turn.h"
#include "sandbox/e2b/plane.h"
#include "sandbox/interpreter.h"

namespace atl::sandbox::e2b {

// A context of the remote code interpreter. One execution at a time; the others wait here. Belongs to the
// loop thread.
//
// The protocol interrupts an execution when its client goes away, and has no other way. So interrupt(), the
// end of the wall time and a dropped stream all cut the connection; after a time-out the context is asked
// whether it answers, and if it does not, death() says so until restart().
class RemoteInterpreter final : public Interpreter, public std::enable_shared_from_this<RemoteInterpreter> {
 public:
  static Task<std::shared_ptr<RemoteInterpreter>> create(std::shared_ptr<Plane> plane, Language language,
                                                         std::string cwd);
  // One that is there already, of GET /contexts. Null if its language is none that we know.
  static std::shared_ptr<RemoteInterpreter> adopt(std::shared_ptr<Plane> plane, const Object& entry);
  // All contexts of the sandbox, the default ones too.
  static Task<std::vector<std::shared_ptr<RemoteInterpreter>>> list(std::shared_ptr<Plane> plane);

  const InterpreterInfo& info() const override { return info_; }
  Task<std::unique_ptr<ExecutionStream>> execute(ExecutionSpec spec) override;
  Task<void> interrupt() override;
  Task<void> restart() override;
  std::string death() const override { return death_; }
  // Removes the context remotely.
  Task<void> remove();

 private:
  struct Execution;
  class Stream;

  RemoteInterpreter(std::shared_ptr<Plane> plane, InterpreterInfo info)
      : plane_(std::move(plane)), info_(std::move(info)), turn_(plane_->executor()) {}
  static boost::asio::awaitable<void> follow(std::shared_ptr<RemoteInterpreter> self,
                                             std::shared_ptr<Execution> execution);
  static boost::asio::awaitable<void> end_in_time(std::shared_ptr<Execution> execution,
                                                  std::chrono::milliseconds time);
  // Whether it executes something empty within a few seconds.
  Task<bool> answers();
  Task<std::shared_ptr<CuttableCall>> post(const ExecutionSpec& spec);
  Task<net::ClientResponse> ask(std::string method, std::string target, std::string body);

  std::shared_ptr<Plane> plane_;
  InterpreterInfo info_;
  os::Turn turn_;
  std::weak_ptr<Execution> running_;
  std::string death_;
};

}  // namespace atl::sandbox::e2b
