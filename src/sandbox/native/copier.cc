#include "sandbox/native/copier.h"

#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "guest/protocol.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"

namespace atl::sandbox::native {
namespace {

enum class Kind : std::uint8_t { checkpoint = 1, revive };

struct Out {
  std::string bytes;
  guest::Writer<std::string> writer{bytes};
  void text(const std::string& value) { writer.text(value.data(), value.size()); }
  void place(const Place& place) {
    writer.u32(static_cast<std::uint32_t>(place.pid)), writer.u64(place.start_time);
  }
};

struct In {
  explicit In(const std::string& bytes) : reader(bytes.data(), bytes.size()) {}
  guest::Reader reader;
  std::string text() {
    const guest::Text value = reader.text();
    return std::string(value.data == nullptr ? "" : value.data, value.size);
  }
  Place place() {
    const auto pid = static_cast<pid_t>(reader.u32());
    return {pid, reader.u64()};
  }
};

void put_interpreter(Out& out, const CheckpointJob::Interpreter& interpreter) {
  const CheckpointedInterpreter& checkpointed = interpreter.checkpointed;
  out.text(checkpointed.id), out.text(checkpointed.directory), out.text(checkpointed.user),
      out.text(checkpointed.zygote);
  out.writer.u64(checkpointed.layout);
  out.writer.u32(static_cast<std::uint32_t>(checkpointed.pid)),
      out.writer.u32(static_cast<std::uint32_t>(checkpointed.control));
  out.place(interpreter.process), out.place(interpreter.zygote);
}

CheckpointJob::Interpreter get_interpreter(In& in) {
  CheckpointJob::Interpreter interpreter;
  CheckpointedInterpreter& checkpointed = interpreter.checkpointed;
  checkpointed.id = in.text(), checkpointed.directory = in.text(), checkpointed.user = in.text(),
  checkpointed.zygote = in.text();
  checkpointed.layout = in.reader.u64();
  checkpointed.pid = static_cast<std::int32_t>(in.reader.u32()),
  checkpointed.control = static_cast<std::int32_t>(in.reader.u32());
  interpreter.process = in.place(), interpreter.zygote = in.place();
  return interpreter;
}

std::string encode(const CheckpointJob& job) {
  Out out;
  out.writer.u8(static_cast<std::uint8_t>(Kind::checkpoint));
  out.writer.u32(job.files.first_id), out.writer.u32(job.files.ids);
  out.writer.u8(job.files.rootless ? 1 : 0), out.writer.u8(job.files.durable ? 1 : 0);
  out.writer.u8(job.files.parent >= 0 ? 1 : 0), out.text(job.files.name);
  out.writer.u8(static_cast<std::uint8_t>(job.extent)), out.writer.u64(job.bytes_max);
  out.writer.u8(job.strict ? 1 : 0);
  out.writer.u32(static_cast<std::uint32_t>(job.interpreters.size()));
  for (const CheckpointJob::Interpreter& interpreter : job.interpreters) put_interpreter(out, interpreter);
  out.writer.u32(static_cast<std::uint32_t>(job.left_behind.size()));
  for (const std::string& name : job.left_behind) out.text(name);
  return std::move(out.bytes);
}

// The descriptors that go beside the job, in this order.
std::vector<int> descriptors_of(const CheckpointJob& job) {
  std::vector<int> fds{job.files.upper, job.files.directory};
  if (job.files.parent >= 0) fds.push_back(job.files.parent);
  return fds;
}

CheckpointJob get_checkpoint(In& in, const std::vector<os::Fd>& fds) {
  CheckpointJob job;
  job.files.first_id = in.reader.u32(), job.files.ids = in.reader.u32();
  job.files.rootless = in.reader.u8() != 0, job.files.durable = in.reader.u8() != 0;
  const bool has_parent = in.reader.u8() != 0;
  if (fds.size() != (has_parent ? 3U : 2U)) return job;
  job.files.upper = fds[0].get(), job.files.directory = fds[1].get();
  if (has_parent) job.files.parent = fds[2].get();
  job.files.name = in.text();
  job.extent = static_cast<Extent>(in.reader.u8()), job.bytes_max = in.reader.u64();
  job.strict = in.reader.u8() != 0;
  for (std::uint32_t left = in.reader.u32(); left > 0 && in.reader.ok(); --left)
    job.interpreters.push_back(get_interpreter(in));
  for (std::uint32_t left = in.reader.u32(); left > 0 && in.reader.ok(); --left)
    job.left_behind.push_back(in.text());
  return job;
}

std::string encode(const ReviveJob& job) {
  Out out;
  out.writer.u8(static_cast<std::uint8_t>(Kind::revive));
  out.writer.u32(job.index), out.place(job.process), out.place(job.zygote);
  return std::move(out.bytes);
}

Result<CopierReport> work(const os::Message& message, int proc, int socket, ZygoteAreas& zygotes) {
  if (message.fds_lost) return fail(Code::resource_exhausted, "too many files are open for a copy");
  const auto wrong = [] { return fail(Code::internal, "a job for a copier is malformed"); };
  In in(message.bytes);
  CopierReport report;
  switch (static_cast<Kind>(in.reader.u8())) {
    case Kind::checkpoint: {
      CheckpointJob job = get_checkpoint(in, message.fds);
      if (!in.reader.done()) return wrong();
      job.proc = proc, job.zygotes = &zygotes;
      if (job.extent == Extent::difference)
        job.on_files = [socket] {
          (void)os::send_message(socket, encode(Reply{.verb = Verb::files_written}));
        };
      CheckpointReport done = TRY(write_checkpoint(std::move(job)));
      report.reply.verb = Verb::checkpoint;
      report.reply.answer = answers::Checkpoint{std::move(done.carried), std::move(done.left_behind)};
      report.beside = std::move(done.interpreters);
      return report;
    }
    case Kind::revive: {
      ReviveJob job{.proc = proc};
      job.index = in.reader.u32(), job.process = in.place(), job.zygote = in.place();
      if (!in.reader.done() || message.fds.size() != 2) return wrong();
      job.file = message.fds[0].get(), job.control = message.fds[1].get();
      TRY(revive(job));
      report.reply.verb = Verb::revive;
      return report;
    }
  }
  return wrong();
}

// A descriptor that is forgotten here would live as long as the spawner: a sandbox's files, or its streams.
void close_all_but(std::array<int, 2> kept) {
  std::ranges::sort(kept);
  unsigned from = 3;
  for (const int fd : kept) {
    if (static_cast<unsigned>(fd) > from)
      (void)os::close_range(from, static_cast<unsigned>(fd) - 1, os::UnshareTable::no);
    from = static_cast<unsigned>(fd) + 1;
  }
  (void)os::close_range(from, ~0U, os::UnshareTable::no);
}

void become_ordinary(int) {
  const sched_param normal{};
  ::sched_setscheduler(0, SCHED_OTHER, &normal);
}

// Before others for as long as a small state takes, and no longer: the kernel counts, and says so by a
// signal.
void go_first() {
  constexpr rlim_t micros = 5000;
  const rlimit limit{micros, RLIM_INFINITY};
  const sched_param priority{.sched_priority = 1};
  if (::setrlimit(RLIMIT_RTTIME, &limit) == 0) ::sched_setscheduler(0, SCHED_FIFO, &priority);
}

[[noreturn]] void serve(int socket, int proc, Urgency urgency) {
  ::prctl(PR_SET_NAME, "atoll-copier");
  ::signal(SIGXCPU, become_ordinary);
  if (urgency == Urgency::none) become_ordinary(0);
  // Keep the few large allocations from one job to the next instead of returning them to the system.
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20), ::mallopt(M_TRIM_THRESHOLD, 8 << 20);
  ZygoteAreas zygotes;
  for (;;) {
    Result<os::Message> message = os::receive_message(socket);
    if (!message || message->bytes.empty()) ::_exit(0);
    if (urgency == Urgency::realtime) go_first();
    Result<CopierReport> done = work(*message, proc, socket, zygotes);
    message->fds.clear();
    CopierReport report = done ? std::move(*done) : CopierReport{};
    if (!done) report.reply.error = std::move(done).error();
    const int beside = report.beside.get();
    if (!os::send_message(socket, encode(report.reply), std::span(&beside, report.beside.is_open() ? 1 : 0)))
      ::_exit(1);
  }
}

}  // namespace

Result<Copier> start_copier(int proc, Urgency urgency, const std::function<bool()>& enter_host) {
  os::SocketPair pair = TRY(os::socket_pair(os::SocketKind::packets));
  const pid_t child = os::fork_alone();
  if (child < 0) return fail(errno_error(errno, "fork the copier"));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!enter_host()) ::_exit(1);
    close_all_but({pair.second.get(), proc});
    serve(pair.second.get(), proc, urgency);
  }
  return Copier{TRY(os::pidfd_open(child)), std::move(pair.first)};
}

Result<void> give(const Copier& copier, const CheckpointJob& job) {
  return os::send_message(copier.socket.get(), encode(job), descriptors_of(job), os::Wait::no);
}

Result<void> give(const Copier& copier, const ReviveJob& job) {
  const int fds[] = {job.file, job.control};
  return os::send_message(copier.socket.get(), encode(job), fds, os::Wait::no);
}

Result<CopierReport> take_report(int socket) {
  auto message = os::receive_message(socket, os::Wait::no);
  auto reply = decode_reply(message ? message->bytes : std::string());
  if (!reply) return fail(Code::provider_failed, "the process that worked on it ended");
  if (message->fds_lost)
    reply->error = Error(Code::resource_exhausted, "too many files are open for a checkpoint");
  CopierReport report{.reply = std::move(*reply)};
  report.is_last = report.reply.verb != Verb::files_written;
  if (!message->fds.empty()) report.beside = std::move(message->fds.front());
  return report;
}

}  // namespace atl::sandbox::native
