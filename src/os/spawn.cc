#include "os/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

namespace atl::os {
namespace {

// posix_spawn reports errors by value; the first one is kept.
class Plan {
 public:
  Plan() {
    keep(::posix_spawn_file_actions_init(&actions_));
    keep(::posix_spawnattr_init(&attributes_));
  }
  ~Plan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void use(int from, int as) {
    if (from < 0) {
      keep(::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDWR, 0));
    } else {
      keep(::posix_spawn_file_actions_adddup2(&actions_, from, as));
    }
  }
  // The first open without O_NOCTTY by the leader of a session makes it the session's terminal.
  void use_terminal(const std::string& path) {
    keep(::posix_spawn_file_actions_addopen(&actions_, 0, path.c_str(), O_RDWR, 0));
    keep(::posix_spawn_file_actions_adddup2(&actions_, 0, 1));
    keep(::posix_spawn_file_actions_adddup2(&actions_, 0, 2));
  }
  void enter(const std::string& directory) {
    keep(::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str()));
  }
  // The daemon opens everything with O_CLOEXEC; libraries that it uses may not.
  void close_others() { keep(::posix_spawn_file_actions_addclosefrom_np(&actions_, 3)); }
  void reset_signals(bool new_session) {
    sigset_t every, none;
    // Ignored signals and masks are inherited across exec: a child of the daemon would not notice SIGPIPE.
    ::sigfillset(&every);
    ::sigemptyset(&none);
    keep(::posix_spawnattr_setsigdefault(&attributes_, &every));
    keep(::posix_spawnattr_setsigmask(&attributes_, &none));
    // A group of its own: an interrupt at the terminal of the daemon is not for it.
    keep(::posix_spawnattr_setpgroup(&attributes_, 0));
    const int group = new_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    keep(::posix_spawnattr_setflags(
        &attributes_, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group)));
  }
  Result<pid_t> run(const char* program, char* const* arguments, char* const* environment) {
    pid_t pid = 0;
    if (error_ == 0) keep(::posix_spawn(&pid, program, &actions_, &attributes_, arguments, environment));
    if (error_ != 0) return fail(errno_error(error_, "start a program").with_detail(program));
    return pid;
  }

 private:
  void keep(int error) {
    if (error_ == 0) error_ = error;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int error_ = 0;
};

std::vector<char*> pointers(const std::vector<std::string>& texts, const std::string* first) {
  std::vector<char*> list;
  list.reserve(texts.size() + 2);
  // JUSTIFICATION: posix_spawn takes char* and writes nothing.
  if (first != nullptr) list.push_back(const_cast<char*>(first->c_str()));
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

Result<Child> finish(Plan& plan, const SpawnOptions& options) {
  if (!options.directory.empty()) plan.enter(options.directory);
  plan.close_others();
  const std::vector<char*> arguments = pointers(options.arguments, &options.program);
  const std::vector<char*> environment = pointers(options.environment, nullptr);
  Child child;
  child.pid = TRY(plan.run(options.program.c_str(), arguments.data(), environment.data()));
  auto pidfd = pidfd_open(child.pid);
  if (!pidfd) {  // nobody could reap it any more
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    return fail(std::move(pidfd).error());
  }
  child.pidfd = std::move(*pidfd);
  return child;
}

}  // namespace

Result<Child> spawn(const SpawnOptions& options) {
  Plan plan;
  plan.reset_signals(!options.terminal.empty());
  if (!options.terminal.empty()) {
    plan.use_terminal(options.terminal);
    return finish(plan, options);
  }
  // A descriptor that is itself below 3 could be overwritten before it is used: move it out of the way.
  Fd moved[3];
  int wanted[3] = {options.input, options.output, options.error};
  for (int i = 0; i < 3; ++i) {
    if (wanted[i] < 0 || wanted[i] > 2) continue;
    moved[i].reset(::fcntl(wanted[i], F_DUPFD_CLOEXEC, 3));
    if (!moved[i].is_open()) return fail(errno_error(errno, "start a program"));
    wanted[i] = moved[i].get();
  }
  for (int i = 0; i < 3; ++i) plan.use(wanted[i], i);
  return finish(plan, options);
}

Task<Exit> wait(boost::asio::any_io_executor executor, const Child& child) {
  // A copy, because the descriptor of the loop closes what it is given.
  const int copy = ::fcntl(child.pidfd.get(), F_DUPFD_CLOEXEC, 3);
  if (copy < 0) co_return fail(errno_error(errno, "wait for a process"));
  boost::asio::posix::stream_descriptor ended(executor, copy);
  auto [error] = co_await ended.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                           boost::asio::as_tuple(boost::asio::use_awaitable));
  if (error) co_return fail(Code::canceled, "canceled");
  co_return pidfd_wait(child.pidfd.get());
}

}  // namespace atl::os
