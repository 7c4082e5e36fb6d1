#include "sandbox/native/spawner_interpreters.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "guest/zygote/fork_request.h"
#include "os/file.h"
#include "sandbox/native/process_image.h"

namespace atl::sandbox::native {

void SpawnerInterpreters::fork(const Request& request, SpawnedSandbox& sandbox,
                               const ask::ForkInterpreter& wanted, ZygoteWait wait) {
  os::Fd users;
  auto fork_target = fork_target_in(sandbox, wanted.user, wanted.directory, users);
  if (!fork_target) return connection_.answer_error(request, std::move(fork_target).error());
  const ZygoteKind kind = zygotes_.kind_of(sandbox.spec);
  Zygote* const ready = zygotes_.last(kind, Zygote::State::ready);
  if (ready == nullptr) {
    zygotes_.ensure(kind);
    if (wait == ZygoteWait::allowed && zygotes_.last(kind, Zygote::State::starting) != nullptr &&
        awaiting_zygote_.size() < kWaitingMax)
      return awaiting_zygote_.push_back({request, os::Fd()});
    zygotes_.tell();
    const std::string why = zygotes_.reason(kind);
    return connection_.answer_error(request,
                                    Error(Code::unavailable, why.empty() ? "no zygote is ready" : why));
  }
  auto forked = ready->fork_interpreter(*fork_target);
  if (!forked) {
    if (ready->state() == Zygote::State::dead) zygotes_.note_failure(kind, 1, ready->complaint());
    zygotes_.tell();
    return connection_.answer_error(request, std::move(forked).error());
  }
  zygotes_.note_success(kind);
  hand_over({.verb = request.verb(), .token = request.token, .name = request.name}, sandbox,
            std::move(*forked));
  zygotes_.ensure(kind);
  zygotes_.tell();
}

Result<ForkTarget> SpawnerInterpreters::fork_target_in(const SpawnedSandbox& sandbox, const std::string& user,
                                                       const std::string& directory, os::Fd& users) {
  const char* const programs = sandbox.spec.layers.empty() ? "usr" : "root/usr";
  if (!sandbox.built.plain_usr || !is_empty(sandbox.built.upper.get(), programs))
    return fail(Code::unsupported, "the sandbox's programs are not the zygote's");
  if (sandbox.frozen || sandbox.freezing) return fail(Code::conflict, "the sandbox is paused");
  // Not kept for each sandbox: a thousand descriptors would be copied with every helper.
  users = TRY(os::open_at(builder_.proc(), fmt::format("{}/ns/user", sandbox.built.pid).c_str(), O_RDONLY));
  return ForkTarget{.guest_pidfd = sandbox.built.pidfd.get(),
                    .user_namespace = users.get(),
                    .filter = builder_.filter(),
                    .open_files = sandbox.spec.limits.open_files_max,
                    .set_uid = sandbox.spec.sudo,
                    .groups = TRY(builder_.cgroups().open_group(sandbox.built.parts.group)),
                    .user = user,
                    .directory = directory};
}

void SpawnerInterpreters::hand_over(Reply reply, SpawnedSandbox& sandbox, ForkedChild forked) {
  // Those that ended are forgotten when they have become many.
  if (sandbox.interpreters.size() >= 16)
    std::erase_if(sandbox.interpreters, [&](const auto& one) {
      return !LiveProcess::open(builder_.proc(), one.second.place.pid, one.second.place.start_time);
    });
  sandbox.interpreters[forked.pid] = {forked.generation, {forked.host_pid, forked.start_time}};
  reply.answer = answers::Interpreter{static_cast<std::uint32_t>(forked.pid)};
  const int fds[] = {forked.control.get(), forked.out.get(), forked.err.get()};
  connection_.answer(std::move(reply), fds);
}

Result<ForkedChild> SpawnerInterpreters::fork_copy(Zygote& zygote, const SpawnedSandbox& sandbox,
                                                   const CheckpointedInterpreter& interpreter) {
  if (guest::control_number(sandbox.spec.limits.open_files_max) != interpreter.control)
    return fail(Code::conflict, "the limit of open files is another one");
  os::Fd users;
  ForkTarget fork_target = TRY(fork_target_in(sandbox, interpreter.user, "/", users));
  fork_target.pid = interpreter.pid, fork_target.copy = true;
  auto forked = zygote.fork_interpreter(fork_target);
  // The helper process may have got that very number; the next attempt gets another helper.
  for (int again = 0; again < 3 && !forked && forked.error().code() == Code::already_exists; ++again)
    forked = zygote.fork_interpreter(fork_target);
  if (!forked) return forked;
  constexpr timeval patience{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(forked->control.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return forked;
}

Result<void> SpawnerInterpreters::write_copy(Copying copying, int file, std::uint32_t index) {
  const ForkedChild& forked = *copying.forked;
  const Zygote* const zygote = zygotes_.of(forked.generation);
  if (zygote == nullptr) return fail(Code::conflict, "its zygote is gone");
  const ReviveJob job{.proc = builder_.proc(),
                      .file = file,
                      .index = index,
                      .process = {forked.host_pid, forked.start_time},
                      .zygote = {zygote->pid(), zygote->start_time()},
                      .control = forked.control.get()};
  return children_.give(std::move(copying), job);
}

// A child of the interpreter's own zygote, of the interpreter's own number, is made into it by a process of
// ours.
void SpawnerInterpreters::revive(const Request& request, SpawnedSandbox& sandbox, const ask::Revive& wanted,
                                 os::Fd file, ZygoteWait wait) {
  if (!file.is_open())
    return connection_.answer_error(request,
                                    Error(Code::internal, "the file of parked interpreters is missing"));
  // Reading a pipe or a device could wait for ever.
  struct stat info {};
  if (::fstat(file.get(), &info) < 0 || !S_ISREG(info.st_mode))
    return connection_.answer_error(request,
                                    Error(Code::invalid_argument, "parked interpreters come in a file"));
  if (awaiting_zygote_.size() + awaiting_turn_.size() >= kWaitingMax)
    return connection_.answer_error(
        request, Error(Code::resource_exhausted, "too many interpreters are coming back at once"));
  const CheckpointedInterpreter& interpreter = wanted.interpreter;
  bool is_coming = wait == ZygoteWait::allowed;
  Zygote* const zygote = zygotes_.fitting(interpreter, zygotes_.kind_of(sandbox.spec), is_coming);
  if (zygote == nullptr && is_coming) return awaiting_zygote_.push_back({request, std::move(file)});
  if (zygote == nullptr)
    return connection_.answer_error(request, Error(Code::conflict, "its zygote is gone"));
  if (children_.is_reviving_enough()) return awaiting_turn_.push_back({request, std::move(file)});
  auto forked = fork_copy(*zygote, sandbox, interpreter);
  if (!forked) return connection_.answer_error(request, std::move(forked).error());
  Copying copying{.verb = request.verb(), .token = request.token, .name = request.name};
  copying.forked = std::move(*forked);
  if (auto begun = write_copy(std::move(copying), file.get(), wanted.index); !begun)
    connection_.answer_error(request, std::move(begun).error());
}

std::optional<SpawnerInterpreters::Pending> SpawnerInterpreters::take_next_turn() {
  if (awaiting_turn_.empty() || children_.is_reviving_enough()) return std::nullopt;
  Pending next = std::move(awaiting_turn_.front());
  awaiting_turn_.pop_front();
  return next;
}

}  // namespace atl::sandbox::native
