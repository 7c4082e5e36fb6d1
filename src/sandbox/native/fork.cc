// Capturing a running sandbox and going on from it: the daemon's part of a live fork. The order is:
// interpreters park, the sandbox freezes, memory and files are taken, it thaws, the interpreters go on.
#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "os/file.h"
#include "sandbox/guest_interpreter.h"
#include "sandbox/native/sandbox.h"

namespace atl::sandbox::native {
namespace {

using Interpreters = std::vector<std::shared_ptr<GuestInterpreter>>;

// Parks every interpreter that can be parked and names the others.
Task<Interpreters> park_all(const GuestConnection& connection, std::vector<std::string>& left_behind) {
  Interpreters parked;
  for (const std::shared_ptr<Interpreter>& each : connection.interpreters()) {
    const auto interpreter = std::dynamic_pointer_cast<GuestInterpreter>(each);
    if (!interpreter || interpreter->is_dead()) continue;
    const std::string name =
        fmt::format("interpreter {} ({})", interpreter->info().id, to_string(interpreter->info().language));
    if (interpreter->info().language != Language::python) {
      left_behind.push_back(name + ": interpreters of its language cannot be copied");
      continue;
    }
    auto without = co_await interpreter->park();
    if (!without) {
      left_behind.push_back(fmt::format("{}: {}", name, without.error().message()));
      continue;
    }
    parked.push_back(interpreter);
    if (!without->empty()) left_behind.push_back(fmt::format("{}: {}", name, *without));
  }
  co_return parked;
}

}  // namespace

Task<Carried> NativeSandbox::checkpoint(std::string target, CheckpointOptions options) {
  const auto state = state_;
  if (state->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *state->ended);
  if (state->spawned.frozen) co_return fail(Code::conflict, "the sandbox is paused");
  CO_CHECK(check_connection());
  const auto connection = state->connection;
  ask::Checkpoint wanted{.directory = target, .whole = options.whole, .strict = options.strict};
  CO_TRY(const Interpreters parked, co_await park_all(*connection, wanted.left_behind));
  for (const auto& interpreter : parked)
    wanted.interpreters.push_back({.id = interpreter->info().id,
                                   .user = interpreter->process()->info().user,
                                   .directory = interpreter->info().cwd,
                                   .pid = interpreter->process()->info().pid,
                                   .forked_pid = interpreter->process()->first_pid()});
  wanted.known = connection->interpreter_pids();
  Request request{.name = state->name, .ask = std::move(wanted)};
  connection->set_paused(true);
  auto answer = co_await state->spawner->call(std::move(request));
  connection->set_paused(false);
  for (const auto& interpreter : parked) interpreter->unpark();
  if (!answer) co_return fail(std::move(answer).error());
  if (!answer->fds.empty())
    state->spawner->checkpoints[target] = std::make_shared<os::Fd>(std::move(answer->fds.front()));
  Carried carried;
  auto checkpoint = answer->reply.as<answers::Checkpoint>();
  carried.interpreters = std::move(checkpoint.carried);
  carried.left_behind = std::move(checkpoint.left_behind);
  carried.pause = std::chrono::microseconds(checkpoint.micros);
  co_return carried;
}

Task<void> NativeSandbox::receive_interpreter(const os::Fd& file, std::uint32_t number,
                                              CheckpointedInterpreter interpreter) {
  const auto state = state_;
  Request request{.name = state->name, .ask = ask::Revive{number, interpreter}};
  CO_TRY(SpawnerClient::Answer answer, co_await state->spawner->call(std::move(request), file.get()));
  if (answer.fds.size() != 3) co_return fail(Code::provider_failed, "it came without its streams");
  ForkedInterpreter forked{std::move(answer.fds[0]), std::move(answer.fds[1]), std::move(answer.fds[2]),
                           answer.reply.as<answers::Interpreter>().pid};
  InterpreterInfo info{interpreter.id, Language::python, interpreter.directory};
  co_return co_await state->connection->receive_interpreter(std::move(forked), std::move(info));
}

Task<void> NativeSandbox::receive_interpreters() {
  const auto state = state_;
  const std::string directory = state->spawned.spec.snapshot.value_or("");
  const auto held = state->spawner->checkpoints.find(directory);
  std::shared_ptr<os::Fd> file = held == state->spawner->checkpoints.end() ? nullptr : held->second;
  std::optional<Error> problem;
  if (!file) {
    // By the spawner: the file belongs to its user, and this process may be another's.
    Request request{.ask = ask::OpenInterpreters{directory}};
    auto opened = co_await state->spawner->call(std::move(request));
    // A checkpoint without interpreters has no such file.
    if (!opened && opened.error().code() == Code::not_found) co_return Result<void>();
    if (opened && opened->fds.size() == 1)
      file = std::make_shared<os::Fd>(std::move(opened->fds.front()));
    else
      problem = opened ? Error(Code::provider_failed, "their file did not come") : std::move(opened).error();
  }
  auto parked = file ? read_checkpoint(file->get())
                     : Result<std::vector<CheckpointedInterpreter>>(fail(std::move(*problem)));
  if (!parked) {
    revival_.left_behind.push_back(fmt::format("all interpreters: {}", parked.error().message()));
    co_return Result<void>();
  }
  for (std::uint32_t number = 0; number < parked->size(); ++number) {
    const CheckpointedInterpreter interpreter = (*parked)[number];
    if (auto received = co_await receive_interpreter(*file, number, interpreter); received)
      revival_.interpreters.push_back(interpreter.id);
    else
      revival_.left_behind.push_back(
          fmt::format("interpreter {}: {}", interpreter.id, received.error().message()));
  }
  co_return Result<void>();
}

}  // namespace atl::sandbox::native
