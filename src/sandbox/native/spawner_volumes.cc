#include "sandbox/native/spawner_volumes.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <span>
#include <utility>

#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"

namespace atl::sandbox::native {

void SpawnerVolumes::open(const Request& request, const ask::OpenVolume& wanted) {
  if (auto known = builder_.volume_directory(wanted.directory))
    return answer(request.verb(), request.token, *known);
  if (!builder_.can_mount_volumes())
    return connection_.answer_error(
        request, Error(Code::unsupported, "a volume's own filesystem needs root and loop devices"));
  if (children_.is_opening_volume(wanted.directory))
    return connection_.answer_error(request, Error(Code::unavailable, "the volume is being opened"));
  if (children_.is_full())
    return connection_.answer_error(
        request, Error(Code::resource_exhausted, "too many volumes are being opened at once: try again"));
  const auto job = builder_.volume_job(wanted.directory, wanted.bytes, wanted.inodes);
  if (!job) return connection_.answer_error(request, job.error());
  Copying copying{
      .verb = request.verb(), .token = request.token, .name = request.name, .target = wanted.directory};
  auto begun = [&]() -> Result<void> {
    os::SocketPair report = TRY(os::socket_pair(os::SocketKind::packets));
    copying.report = std::move(report.first);
    const pid_t child = os::fork_alone();
    if (child < 0) return fail(errno_error(errno, "fork what mounts a volume"));
    if (child == 0) mount(*job, report.second.get());
    copying.pidfd = TRY(os::pidfd_open(child));
    children_.add(std::move(copying));
    return {};
  }();
  if (!begun) connection_.answer_error(request, std::move(begun).error());
}

void SpawnerVolumes::mount(const VolumeDiskJob& job, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const sched_param normal{};
  ::sched_setscheduler(0, SCHED_OTHER, &normal);
  auto mounted = [&]() -> Result<os::Fd> {
    if (!builder_.enter_host()) return fail(Code::provider_failed, "the host's files are out of reach");
    const VolumeImage image = TRY(open_volume_image(job));
    if (!builder_.leave_host_again())
      return fail(Code::provider_failed, "the spawner's files are out of reach");
    return mount_volume_image(job, image);
  }();
  Reply reply{.verb = Verb::open_volume};
  if (!mounted) reply.error = std::move(mounted).error();
  const int fd = mounted ? mounted->get() : -1;
  ::_exit(os::send_message(report, encode(reply), std::span(&fd, fd >= 0 ? 1 : 0)) ? 0 : 1);
}

void SpawnerVolumes::finish(const Copying& copying, Reply reply, os::Fd mount) {
  if (!reply.error) {
    if (auto kept = builder_.keep_volume(copying.target, std::move(mount)); !kept)
      reply.error = std::move(kept).error();
  }
  if (reply.error)
    connection_.answer(std::move(reply));
  else
    answer(copying.verb, copying.token, *builder_.volume_directory(copying.target));
}

void SpawnerVolumes::answer(Verb verb, std::uint64_t token, const std::string& directory) {
  Reply reply{.verb = verb, .token = token};
  auto top = os::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!top) {
    reply.error = std::move(top).error().context("directory of a volume's filesystem");
    connection_.answer(std::move(reply));
    return;
  }
  const int fd = top->get();
  connection_.answer(std::move(reply), std::span(&fd, 1));
}

void SpawnerVolumes::close(const Request& request, const ask::CloseVolume& wanted) {
  builder_.drop_volume(wanted.directory);
  connection_.answer_done(request);
}

}  // namespace atl::sandbox::native
