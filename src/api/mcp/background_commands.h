#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/mcp/bell.h"
#include "auth/principal.h"
#include "os/task.h"
#include "session/service.h"

namespace atl::api::mcp {

// A command that runs while its caller does something else, and the last kKeptBytes of what it wrote. Offsets
// count all bytes it ever wrote, standard output and error in the order in which they came. Shared by the
// list of commands, the coroutine that reads its output and the calls that wait for it. Belongs to the loop
// thread.
class BackgroundCommand {
 public:
  BackgroundCommand(boost::asio::any_io_executor executor, const session::Session& session,
                    std::shared_ptr<sandbox::Process> process, std::string line);

  static constexpr std::size_t kKeptBytes = 256U << 10;

  std::string id;
  std::string tenant, session_id, sandbox_id, environment;
  std::string line;
  std::shared_ptr<sandbox::Process> process;
  std::optional<sandbox::Outcome> outcome;  // once it ended
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now(), ended;

  std::uint64_t total() const { return first_ + kept_.size(); }
  // The first byte that is still there.
  std::uint64_t first() const { return first_; }
  // At most `most` bytes from `offset` on, which is not before first().
  std::string_view from(std::uint64_t offset, std::size_t most) const;
  void append(std::string_view bytes);
  void finish(sandbox::Outcome how);
  // Returns once there is output after `offset`, the command has ended, or the time has passed.
  boost::asio::awaitable<void> wait(std::uint64_t offset, std::chrono::milliseconds time);
  // Whether the caller is of its tenant, may execute, and has its session in scope.
  bool is_open_to(const auth::Principal& who) const;

 private:
  std::string kept_;
  std::uint64_t first_ = 0;
  Bell changed_;
};

using BackgroundCommandPtr = std::shared_ptr<BackgroundCommand>;

// The commands that tools started, by handle. A tenant has at most kTenantMax. An ended one is kept for
// kEndedKept, or until a new one needs its place; the oldest goes first. Belongs to the loop thread.
class BackgroundCommands {
 public:
  explicit BackgroundCommands(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  static constexpr std::size_t kTenantMax = 64;
  static constexpr std::chrono::minutes kEndedKept{30};

  // Code::resource_exhausted if the tenant's commands all run and there is no place for another. Called
  // before a command is started.
  Result<void> check_room(const std::string& tenant);
  // Keeps it and reads what it writes until it ends.
  BackgroundCommandPtr keep(const session::Session& session, session::Command command, std::string line);
  // Code::not_found, also if the command exists and the caller may not see it.
  Result<BackgroundCommandPtr> find(const auth::Principal& who, const std::string& id) const;

 private:
  boost::asio::any_io_executor executor_;
  std::map<std::string, BackgroundCommandPtr> commands_;
};

}  // namespace atl::api::mcp
