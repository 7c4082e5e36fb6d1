// Capturing a running sandbox and going on from it: the daemon's part of a live fork. The order is: kernels
// park, the sandbox freezes, memory and files are taken, it thaws, the kernels go on.
#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "os/file.h"
#include "sandbox/link_kernel.h"
#include "sandbox/native/sandbox.h"

namespace atl::sandbox::native {
namespace {

using Kernels = std::vector<std::shared_ptr<LinkKernel>>;

// Whoever can stand still does; the others are named.
Task<Kernels> park_all(const Link& link, std::vector<std::string>& left_behind) {
  Kernels parked;
  for (const std::shared_ptr<Kernel>& each : link.kernels()) {
    const auto kernel = std::dynamic_pointer_cast<LinkKernel>(each);
    if (!kernel || kernel->is_dead()) continue;
    const std::string name =
        fmt::format("kernel {} ({})", kernel->info().id, to_string(kernel->info().language));
    if (kernel->info().language != Language::python) {
      left_behind.push_back(name + ": interpreters of its language cannot be copied");
      continue;
    }
    auto without = co_await kernel->park();
    if (!without) {
      left_behind.push_back(fmt::format("{}: {}", name, without.error().message()));
      continue;
    }
    parked.push_back(kernel);
    if (!without->empty()) left_behind.push_back(fmt::format("{}: {}", name, *without));
  }
  co_return parked;
}

}  // namespace

Task<Carried> NativeSandbox::capture(std::string target, CaptureOptions options) {
  const auto inhabitant = inhabitant_;
  if (inhabitant->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *inhabitant->ended);
  if (inhabitant->handed.frozen) co_return fail(Code::conflict, "the sandbox is paused");
  CO_CHECK(check_link());
  const auto link = inhabitant->link;
  Request request{.verb = Verb::capture, .name = inhabitant->name};
  request.text = target;
  request.capture.whole = options.whole, request.capture.strict = options.strict;
  CO_TRY(const Kernels parked, co_await park_all(*link, request.capture.left_behind));
  for (const auto& kernel : parked)
    request.capture.kernels.push_back({.id = kernel->info().id,
                                       .user = kernel->process()->info().user,
                                       .directory = kernel->info().cwd,
                                       .pid = kernel->process()->info().pid,
                                       .born = kernel->process()->first_pid()});
  request.capture.known = link->interpreter_pids();
  link->set_paused(true);
  auto answer = co_await inhabitant->spawner->call(std::move(request));
  link->set_paused(false);
  for (const auto& kernel : parked) kernel->unpark();
  if (!answer) co_return fail(std::move(answer).error());
  if (!answer->fds.empty())
    inhabitant->spawner->parked[target] = std::make_shared<os::Fd>(std::move(answer->fds.front()));
  Carried carried;
  carried.kernels = std::move(answer->reply.carried);
  carried.left_behind = std::move(answer->reply.names);
  carried.pause = std::chrono::microseconds(answer->reply.micros);
  co_return carried;
}

Task<void> NativeSandbox::receive_kernel(const os::Fd& file, std::uint32_t number, ParkedKernel kernel) {
  const auto inhabitant = inhabitant_;
  Request request{.verb = Verb::revive, .name = inhabitant->name};
  request.number = number, request.user = kernel.user, request.directory = "/", request.kernel = kernel;
  CO_TRY(SpawnerClient::Answer answer, co_await inhabitant->spawner->call(std::move(request), file.get()));
  if (answer.fds.size() != 3) co_return fail(Code::provider_failed, "it came without its streams");
  BornInterpreter born{std::move(answer.fds[0]), std::move(answer.fds[1]), std::move(answer.fds[2]), answer.reply.pid};
  KernelInfo info{kernel.id, Language::python, kernel.directory};
  co_return co_await inhabitant->link->receive_kernel(std::move(born), std::move(info));
}

Task<void> NativeSandbox::receive_kernels() {
  const auto inhabitant = inhabitant_;
  const std::string directory = inhabitant->handed.spec.snapshot.value_or("");
  const auto held = inhabitant->spawner->parked.find(directory);
  std::shared_ptr<os::Fd> file = held == inhabitant->spawner->parked.end() ? nullptr : held->second;
  std::optional<Error> problem;
  if (!file) {
    auto opened = os::open((directory + "/" + kParkedName).c_str(), O_RDONLY | O_NOFOLLOW);
    // A capture without kernels has no such file.
    if (!opened && opened.error().code() == Code::not_found) co_return Result<void>();
    if (opened)
      file = std::make_shared<os::Fd>(std::move(*opened));
    else
      problem = std::move(opened).error();
  }
  auto parked =
      file ? read_parked(file->get()) : Result<std::vector<ParkedKernel>>(fail(std::move(*problem)));
  if (!parked) {
    revival_.left_behind.push_back(fmt::format("all kernels: {}", parked.error().message()));
    co_return Result<void>();
  }
  for (std::uint32_t number = 0; number < parked->size(); ++number) {
    const ParkedKernel kernel = (*parked)[number];
    if (auto received = co_await receive_kernel(*file, number, kernel); received)
      revival_.kernels.push_back(kernel.id);
    else
      revival_.left_behind.push_back(fmt::format("kernel {}: {}", kernel.id, received.error().message()));
  }
  co_return Result<void>();
}

}  // namespace atl::sandbox::native
