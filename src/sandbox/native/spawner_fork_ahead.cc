#include "sandbox/native/spawner_fork_ahead.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <utility>

#include "os/process.h"
#include "sandbox/native/pool.h"

namespace atl::sandbox::native {
namespace {

// A checkpoint that is taken for a copy is copied at once.
constexpr std::chrono::seconds kPatience{2};

}  // namespace

void SpawnerForkAhead::prepare(const Copying& checkpoint) {
  const SpawnedSandbox* const source = sandboxes_.find(checkpoint.name);
  if (source == nullptr || builder_.privileges().rootless || !serves(source->spec, source->spec)) return;
  drop();
  Spec spec = source->spec;
  // A mount stays where it is when the directory gets its name.
  spec.snapshot = checkpoint.target + kDraftSuffix;
  Disk disk;
  if (const auto size = builder_.image_for(spec)) {
    auto ready = builder_.images().take(*size);
    if (!ready) return;
    disk = {std::move(*ready), *size};
  }
  auto built = builder_.build(spec, std::move(disk));
  if (!built) return;
  Prepared prepared{.name = fmt::format("pool-fork-{}", ++count_), .since = Clock::machine().steady()};
  spec.snapshot = checkpoint.target;
  prepared.spec = spec;
  SpawnedSandbox& sandbox = sandboxes_.add(prepared.name, spec, std::move(*built));
  prepared_ = std::move(prepared);
  if (checkpoint.first) fork_child(sandbox, *checkpoint.first);
}

SpawnedSandbox* SpawnerForkAhead::take(const std::string& name, const Spec& spec) {
  if (!prepared_ || !serves(prepared_->spec, spec) || prepared_->spec.required_walls != spec.required_walls)
    return nullptr;
  const std::string own_name = std::exchange(prepared_, std::nullopt)->name;
  if (sandboxes_.find(own_name) == nullptr) return nullptr;
  sandboxes_.rename(own_name, name);
  children_.rename(own_name, name);
  SpawnedSandbox& sandbox = *sandboxes_.find(name);
  sandbox.spec = spec;
  if (!spec.with_interpreters) drop_child(sandbox);
  return &sandbox;
}

void SpawnerForkAhead::drop(const std::optional<std::string>& target) {
  if (!prepared_ || (target && prepared_->spec.snapshot != target)) return;
  if (SpawnedSandbox* const sandbox = sandboxes_.find(prepared_->name)) sandboxes_.kill(*sandbox);
  prepared_.reset();
}

void SpawnerForkAhead::fork_child(SpawnedSandbox& sandbox, const CheckpointedInterpreter& interpreter) {
  bool is_coming = false;
  Zygote* const zygote = zygotes_.fitting(interpreter, zygotes_.kind_of(sandbox.spec), is_coming);
  if (zygote == nullptr || children_.is_reviving_enough()) return;
  auto forked = interpreters_.fork_copy(*zygote, sandbox, interpreter);
  if (forked)
    sandbox.prefetched = SpawnedSandbox::Prefetched{.interpreter = interpreter, .forked = std::move(*forked)};
}

void SpawnerForkAhead::write(const std::string& target, const std::vector<std::string>& carried, int file) {
  SpawnedSandbox* const sandbox =
      prepared_ && prepared_->spec.snapshot == target ? sandboxes_.find(prepared_->name) : nullptr;
  if (sandbox == nullptr || !sandbox->prefetched) return;
  SpawnedSandbox::Prefetched& prefetched = *sandbox->prefetched;
  struct stat info {};
  // A checkpoint that is large lies on the disk.
  if (carried.empty() || carried.front() != prefetched.interpreter.id || file < 0 || ::fstat(file, &info) < 0)
    return drop_child(*sandbox);
  prefetched.device = info.st_dev, prefetched.file = info.st_ino;
  Copying copying{.verb = Verb::revive, .name = prepared_->name};
  copying.is_prefetched = true, copying.forked = std::exchange(prefetched.forked, std::nullopt);
  if (!interpreters_.write_copy(std::move(copying), file, 0)) drop_child(*sandbox);
}

void SpawnerForkAhead::finish(Copying copying, Reply reply) {
  SpawnedSandbox* const sandbox = sandboxes_.find(copying.name);
  if (reply.error || sandbox == nullptr || !sandbox->prefetched) {
    (void)os::pidfd_kill(copying.forked->pidfd.get(), SIGKILL);
    if (sandbox == nullptr || !sandbox->prefetched) return;
    SpawnedSandbox::Prefetched prefetched = std::move(*std::exchange(sandbox->prefetched, std::nullopt));
    if (prefetched.asked) serve_(*prefetched.asked, std::move(prefetched.beside));
    return;
  }
  SpawnedSandbox::Prefetched& prefetched = *sandbox->prefetched;
  prefetched.forked = std::move(copying.forked), prefetched.is_alive = true;
  if (!prefetched.asked) return;
  reply.token = prefetched.asked->token, reply.name = prefetched.asked->name;
  ForkedChild forked = std::move(*prefetched.forked);
  sandbox->prefetched.reset();
  interpreters_.hand_over(std::move(reply), *sandbox, std::move(forked));
}

bool SpawnerForkAhead::take_interpreter(SpawnedSandbox& sandbox, const Request& request,
                                        const ask::Revive& wanted, os::Fd& file) {
  if (!sandbox.prefetched) return false;
  SpawnedSandbox::Prefetched& prefetched = *sandbox.prefetched;
  struct stat info {};
  const bool is_it = ::fstat(file.get(), &info) == 0 && info.st_dev == prefetched.device &&
                     info.st_ino == prefetched.file && wanted.index == 0 &&
                     wanted.interpreter.id == prefetched.interpreter.id;
  if (!is_it) return false;
  if (!prefetched.is_alive) {
    prefetched.asked = request, prefetched.beside = std::move(file);
    return true;
  }
  ForkedChild forked = std::move(*prefetched.forked);
  sandbox.prefetched.reset();
  interpreters_.hand_over({.verb = request.verb(), .token = request.token, .name = request.name}, sandbox,
                          std::move(forked));
  return true;
}

void SpawnerForkAhead::drop_child(SpawnedSandbox& sandbox) {
  if (sandbox.prefetched && sandbox.prefetched->forked)
    (void)os::pidfd_kill(sandbox.prefetched->forked->pidfd.get(), SIGKILL);
  sandbox.prefetched.reset();
}

std::optional<SteadyTime> SpawnerForkAhead::expires() const {
  if (!prepared_) return std::nullopt;
  return prepared_->since + kPatience;
}

void SpawnerForkAhead::expire(SteadyTime now) {
  if (prepared_ && now - prepared_->since >= kPatience) drop();
}

}  // namespace atl::sandbox::native
