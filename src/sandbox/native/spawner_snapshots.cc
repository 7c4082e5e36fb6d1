#include "sandbox/native/spawner_snapshots.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>

#include "guest/zygote/fork_request.h"
#include "os/file.h"
#include "os/tree_size.h"

namespace atl::sandbox::native {

Result<SnapshotFiles> SpawnerSnapshots::open_files(const SpawnedSandbox& sandbox,
                                                   const std::string& target) const {
  SnapshotFiles files{.place = TRY(builder_.roots().snapshot_place(target)), .parent = {}};
  if (sandbox.spec.snapshot) files.parent = TRY(builder_.roots().snapshot(*sandbox.spec.snapshot));
  return files;
}

SnapshotJob SpawnerSnapshots::snapshot_job(const SpawnedSandbox& sandbox, const SnapshotFiles& files) const {
  return {.upper = sandbox.built.upper.get(),
          .first_id = sandbox.built.parts.slot.ids.first,
          .ids = sandbox.built.parts.slot.ids.count,
          .rootless = builder_.privileges().rootless,
          .parent = files.parent.get(),
          .directory = files.place.directory.get(),
          .name = files.place.name};
}

void SpawnerSnapshots::take(SpawnedSandbox& sandbox, const Request& request, SnapshotFiles files) {
  SpawnerStandstill::hold(sandbox);
  const SnapshotJob job = snapshot_job(sandbox, files);
  Copying copying{.verb = request.verb(), .token = request.token, .name = sandbox.spec.id, .holds = true};
  auto begun = children_.run(std::move(copying), [&]() -> Result<AnyAnswer> {
    TRY(write_snapshot(job));
    return AnyAnswer{};
  });
  if (begun) return;
  standstill_.release(sandbox);
  connection_.answer_error(request, std::move(begun).error());
}

namespace {

// Which program a process runs. A process that may not be looked at has none, and is then equal to no other.
struct Program {
  dev_t device = 0;
  ino_t file = 0;
  bool ending = false;  // its memory is gone already
  bool same_as(const Program& other) const {
    return file != 0 && file == other.file && device == other.device;
  }
};

Program program_of(int proc, pid_t pid) {
  struct stat found {};
  if (::fstatat(proc, fmt::format("{}/exe", pid).c_str(), &found, 0) != 0) return {.ending = errno == ENOENT};
  return {.device = found.st_dev, .file = found.st_ino};
}

// Its number in the innermost namespace; 0 if the kernel does not say.
std::uint32_t number_inside(const std::string& status) {
  const std::size_t line = status.find("\nNSpid:"), end = status.find('\n', line + 1);
  if (line == std::string::npos) return 0;
  return static_cast<std::uint32_t>(std::atoi(status.c_str() + status.rfind('\t', end)));
}

}  // namespace

// The guest has children of its own that look after files for the daemon: they belong to no workload and are
// no loss.
std::vector<std::string> SpawnerSnapshots::unknown_processes(const SpawnedSandbox& sandbox,
                                                             const ask::Checkpoint& checkpoint) {
  // How many there are is the guest's choice, and everybody waits while they are looked at.
  constexpr std::size_t looked_at_max = 512;
  std::vector<std::string> names;
  const Program guest = program_of(builder_.proc(), sandbox.built.pid);
  std::size_t looked_at = 0;
  for (const pid_t pid : builder_.cgroups().processes(sandbox.built.parts.group)) {
    if (++looked_at > looked_at_max) {
      names.push_back("further processes, which are too many to name");
      break;
    }
    const Program program = program_of(builder_.proc(), pid);
    if (program.ending || program.same_as(guest)) continue;
    const auto status = os::read_file_at(builder_.proc(), fmt::format("{}/status", pid).c_str());
    if (pid == sandbox.built.pid || !status) continue;
    const std::uint32_t inside = number_inside(*status);
    if (inside == 0 || std::ranges::find(checkpoint.known, inside) != checkpoint.known.end()) continue;
    const std::size_t name = status->find('\t') + 1;
    names.push_back(fmt::format("process {} ({})", inside, status->substr(name, status->find('\n') - name)));
    if (names.size() == 100) break;
  }
  return names;
}

// A spare that took over has the same zygote: it shares pages with it by way of the interpreter that it was
// copied from.
const SpawnedSandbox::Interpreter* SpawnerSnapshots::find_interpreter(
    SpawnedSandbox& sandbox, const ask::Checkpoint::Interpreter& interpreter) {
  auto& all = sandbox.interpreters;
  const auto forked = all.find(static_cast<pid_t>(interpreter.forked_pid));
  if (forked == all.end()) return nullptr;
  if (interpreter.pid == interpreter.forked_pid) return &forked->second;
  constexpr std::size_t looked_at_max = 2048;
  std::size_t looked_at = 0;
  for (const pid_t pid : builder_.cgroups().processes(sandbox.built.parts.group)) {
    if (++looked_at > looked_at_max) break;
    const auto status = os::read_file_at(builder_.proc(), fmt::format("{}/status", pid).c_str());
    if (!status || number_inside(*status) != interpreter.pid) continue;
    const auto start_time = LiveProcess::started_at(builder_.proc(), pid);
    if (!start_time) continue;
    forked->second.place = {pid, *start_time};
    return &forked->second;
  }
  return nullptr;
}

CheckpointJob SpawnerSnapshots::checkpoint_job(const ask::Checkpoint& wanted, SpawnedSandbox& sandbox,
                                               const SnapshotFiles& files) {
  CheckpointJob job{.proc = builder_.proc(), .files = snapshot_job(sandbox, files)};
  job.files.durable = wanted.whole;
  job.extent = wanted.whole ? Extent::whole : Extent::difference;
  job.bytes_max = sandbox.spec.limits.memory_bytes + (64ULL << 20);
  job.strict = wanted.strict;
  job.left_behind = wanted.left_behind;
  for (const ask::Checkpoint::Interpreter& interpreter : wanted.interpreters) {
    const SpawnedSandbox::Interpreter* const found = find_interpreter(sandbox, interpreter);
    Zygote* const zygote = found == nullptr ? nullptr : zygotes_.of(found->generation);
    if (zygote == nullptr) {
      const char* const why = found == nullptr ? "no zygote is known that forked it" : "its zygote is gone";
      job.left_behind.push_back(fmt::format("interpreter {}: {}", interpreter.id, why));
      continue;
    }
    CheckpointedInterpreter checkpointed{.id = interpreter.id,
                                         .directory = interpreter.directory,
                                         .user = interpreter.user,
                                         .zygote = zygote->id()};
    checkpointed.layout = zygote->layout();
    checkpointed.pid = static_cast<std::int32_t>(interpreter.pid);
    checkpointed.control = guest::control_number(sandbox.spec.limits.open_files_max);
    job.interpreters.push_back(
        {std::move(checkpointed), found->place, {zygote->pid(), zygote->start_time()}});
  }
  std::ranges::move(unknown_processes(sandbox, wanted), std::back_inserter(job.left_behind));
  return job;
}

void SpawnerSnapshots::checkpoint(SpawnedSandbox& sandbox, const Request& request,
                                  const ask::Checkpoint& wanted, SnapshotFiles files) {
  SpawnerStandstill::hold(sandbox);
  Copying copying{.verb = request.verb(), .token = request.token, .name = sandbox.spec.id, .holds = true};
  copying.target = wanted.directory;
  const CheckpointJob job = checkpoint_job(wanted, sandbox, files);
  if (!job.interpreters.empty()) copying.first = job.interpreters.front().checkpointed;
  auto begun = children_.give(std::move(copying), job);
  if (begun) return;
  standstill_.release(sandbox);
  connection_.answer_error(request, std::move(begun).error());
}

void SpawnerSnapshots::discard(const Request& request, const ask::Discard& wanted) {
  const auto place = builder_.roots().snapshot_place(wanted.directory);
  if (!place) return connection_.answer_error(request, place.error());
  Copying copying{.verb = request.verb(), .token = request.token, .name = request.name};
  const auto begun = children_.run(std::move(copying), [&]() -> Result<AnyAnswer> {
    TRY(os::remove_tree(place->directory.get(), place->name));
    return AnyAnswer{};
  });
  if (!begun) connection_.answer_error(request, begun.error());
}

// Its files belong to ids of sandboxes, and those that are closed to everybody else count as well.
void SpawnerSnapshots::measure(const Request& request, const ask::Measure& wanted) {
  const auto snapshot = builder_.roots().snapshot(wanted.directory);
  if (!snapshot) return connection_.answer_error(request, snapshot.error());
  Copying copying{.verb = request.verb(), .token = request.token, .name = request.name};
  const auto begun = children_.run(std::move(copying), [&]() -> Result<AnyAnswer> {
    return answers::Size{TRY(os::measure_tree(snapshot->get())).bytes};
  });
  if (!begun) connection_.answer_error(request, begun.error());
}

// What is given out is only what a checkpoint of ours wrote: a daemon that is an ordinary user owns the
// directory above and could have put a directory there with a hard link to any file of the machine.
void SpawnerSnapshots::open_interpreters(const Request& request, const ask::OpenInterpreters& wanted) {
  const auto snapshot = builder_.roots().snapshot(wanted.directory);
  if (!snapshot) return connection_.answer_error(request, snapshot.error());
  struct stat directory {};
  constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;
  if (::fstat(snapshot->get(), &directory) < 0 || directory.st_uid != ::geteuid() ||
      (directory.st_mode & writable_by_others) != 0)
    return connection_.answer_error(request,
                                    Error(Code::permission_denied, "this is no checkpoint of the spawner's"));
  const auto file = os::open_beneath(snapshot->get(), kCheckpointName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return connection_.answer_error(request, file.error());
  struct stat info {};
  if (::fstat(file->get(), &info) < 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid() ||
      info.st_nlink != 1)
    return connection_.answer_error(request,
                                    Error(Code::permission_denied, "this is no file of parked interpreters"));
  const int fd = file->get();
  connection_.answer({.verb = request.verb(), .token = request.token, .name = request.name},
                     std::span(&fd, 1));
}

// In a child: the file is as large as the memory of the interpreters, and the disk takes its time.
void SpawnerSnapshots::discard_interpreters(const Request& request, const ask::DiscardInterpreters& wanted) {
  const auto snapshot = builder_.roots().snapshot(wanted.directory);
  if (!snapshot) return connection_.answer_error(request, snapshot.error());
  Copying copying{.verb = request.verb(), .token = request.token, .name = request.name};
  const auto begun = children_.run(std::move(copying), [&]() -> Result<AnyAnswer> {
    if (::unlinkat(snapshot->get(), kCheckpointName, 0) < 0 && errno != ENOENT)
      return fail(errno_error(errno, "remove parked interpreters"));
    return AnyAnswer{};
  });
  if (!begun) connection_.answer_error(request, begun.error());
}

}  // namespace atl::sandbox::native
