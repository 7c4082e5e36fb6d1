// Processes: started with vfork so that a large guest costs nothing, each in a session of its own.
#include "guest/program/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/program/guest.h"
#include "guest/program/stream.h"

namespace atl::guest {
namespace {

Process* all = nullptr;

void finish_if_done(Process* process);

void watch_outputs(Process* process, uint32_t events) {
  watch_source(&process->out, events);
  watch_source(&process->err, events);
  watch_source(&process->control, events);
}

// Moves at most `limit` bytes of one stream to the host, as far as credit goes.
enum class Pumped { blocked, ended, no_credit };
Pumped pump(Process* process, Source* source, uint16_t flags, size_t limit) {
  while (source->fd >= 0 && limit > 0) {
    if (process->credit == 0) {
      watch_source(source, 0);
      return Pumped::no_credit;
    }
    size_t size = process->credit < kDataMax ? process->credit : kDataMax;
    if (size > limit) size = limit;
    const ssize_t got = send_from(process->id, flags, source->fd, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Pumped::blocked;
    if (got <= 0) {  // a terminal without users reads as EIO
      close_source(source);
      return Pumped::ended;
    }
    process->credit -= static_cast<uint32_t>(got);
    limit -= static_cast<size_t>(got);
  }
  return source->fd < 0 ? Pumped::ended : Pumped::blocked;
}

size_t waiting_bytes(const Source& source) {
  int count = 0;
  if (source.fd < 0 || ioctl(source.fd, FIONREAD, &count) != 0 || count < 0) return 0;
  return static_cast<size_t>(count);
}

uint16_t out_flags(const Process* process) {
  return stream_flags(process->pty ? kStreamPty : kStreamOut);
}

void output_ready(Source* source, uint32_t) {
  auto* const process = static_cast<Process*>(source->owner);
  pump(process, source, source == &process->err ? stream_flags(kStreamErr) : out_flags(process), kDataMax);
  finish_if_done(process);
}

// What was written before a control message must reach the host before it.
void control_ready(Source* source, uint32_t) {
  auto* const process = static_cast<Process*>(source->owner);
  const size_t out = waiting_bytes(process->out), err = waiting_bytes(process->err);
  if (pump(process, &process->out, out_flags(process), out) == Pumped::no_credit ||
      pump(process, &process->err, stream_flags(kStreamErr), err) == Pumped::no_credit) {
    return watch_source(source, 0);
  }
  pump(process, source, stream_flags(kStreamControl), kDataMax);
}

void close_input(Process* process) {
  const bool told = process->in.fd < 0;
  close_source(&process->in);
  if (!process->input.empty()) send_credit(process->id, static_cast<uint32_t>(process->input.size()));
  process->input.clear();
  if (!told) send_empty(process->id, Type::end);
}

void flush_input(Process* process) {
  uint32_t written = 0;
  while (!process->input.empty()) {
    const ssize_t sent = write(process->in.fd, process->input.data(), process->input.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;
    if (sent <= 0) {
      if (written > 0) send_credit(process->id, written);
      return close_input(process);
    }
    process->input.consume(static_cast<size_t>(sent));
    written += static_cast<uint32_t>(sent);
  }
  if (written > 0) send_credit(process->id, written);
  if (process->input.empty() && process->input_ended) {
    // A terminal has no half-close: its end of input is a character.
    if (process->pty) {
      watch_source(&process->in, 0);
    } else {
      close_source(&process->in);
    }
    return;
  }
  watch_source(&process->in, process->input.empty() ? 0U : uint32_t{EPOLLOUT});
}

void input_ready(Source* source, uint32_t) {
  flush_input(static_cast<Process*>(source->owner));
}

void flush_control(Process* process) {
  uint32_t written = 0;
  while (!process->control_input.empty()) {
    const ssize_t sent =
        write(process->control.fd, process->control_input.data(), process->control_input.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;
    if (sent <= 0) {
      written += static_cast<uint32_t>(process->control_input.size());
      process->control_input.clear();
      break;
    }
    process->control_input.consume(static_cast<size_t>(sent));
    written += static_cast<uint32_t>(sent);
  }
  if (written > 0) send_credit(process->id, written);
  watch_source(&process->control_out, process->control_input.empty() ? 0U : uint32_t{EPOLLOUT});
}

void control_out_ready(Source* source, uint32_t) {
  flush_control(static_cast<Process*>(source->owner));
}

void take_input(Process* process, uint16_t flags, Reader in) {
  const size_t size = in.left();
  const Text bytes = in.rest();
  if (process->input.size() + process->control_input.size() + size > kInputWindow)
    return;  // beyond its credit
  if (stream_of(flags) == kStreamControl) {
    process->control_input.append(bytes.data, bytes.size);
    if (process->control.fd >= 0) return flush_control(process);
    process->control_input.clear();
    return send_credit(process->id, bytes.size);
  }
  if (process->in.fd < 0 || process->input_ended) return send_credit(process->id, bytes.size);
  process->input.append(bytes.data, bytes.size);
  flush_input(process);
}

void take_credit(Process* process, uint32_t bytes) {
  if (bytes > kOutputWindow - process->credit) bytes = kOutputWindow - process->credit;
  process->credit += bytes;
  watch_outputs(process, EPOLLIN);
  finish_if_done(process);
}

// The code that runs in an interpreter is not trusted: a number that is no child of this process is ignored.
void take_spare(Process* process, pid_t pid) {
  Parentage found;
  const bool known =
      !process->reaped && !process->passing && find_parentage(pid, &found) && found.parent == process->pid;
  process->spare = known ? pid : 0, process->spare_start_time = found.start_time;
  const auto taken = static_cast<uint32_t>(process->spare);
  send_frame(process->id, Type::spare, 0, &taken, sizeof taken);
}

// The spare is alive, the same one as when it was named, and a child of `parent`.
bool is_spare_of(const Process* process, pid_t parent) {
  Parentage found;
  return process->spare > 1 && find_parentage(process->spare, &found) &&
         found.start_time == process->spare_start_time && found.parent == parent;
}

// Its parent may have ended a moment ago, so it is not found by that.
void end_spare(Process* process) {
  if (is_spare_of(process, process->pid) || is_spare_of(process, getpid())) kill(process->spare, SIGKILL);
  process->spare = 0;
}

void message(Channel* channel, Type type, uint16_t flags, Reader in) {
  auto* const process = static_cast<Process*>(channel);
  switch (type) {
    case Type::data: return take_input(process, flags, in);
    case Type::end:
      process->input_ended = true;
      if (process->in.fd >= 0) flush_input(process);
      return;
    case Type::credit: return take_credit(process, in.u32());
    case Type::signal: {
      const int number = static_cast<int>(in.u32());
      const auto scope = static_cast<SignalScope>(in.u8());
      if (!in.ok() || number < 0 || number > 64) return;
      return signal_process(process, number, scope);
    }
    case Type::resize: {
      winsize size{};
      size.ws_col = in.u16(), size.ws_row = in.u16();
      if (in.ok() && process->pty) ioctl(process->out.fd, TIOCSWINSZ, &size);
      return;
    }
    case Type::spare: {
      const uint32_t pid = in.u32();
      if (in.done()) take_spare(process, static_cast<pid_t>(pid));
      return;
    }
    default: return;
  }
}

// Moves at most `tail` bytes of a stream; the first call finds out how many are there. False while credit is
// missing.
bool drain(Process* process, Source* source, uint16_t flags, size_t* tail) {
  if (*tail == SIZE_MAX) *tail = waiting_bytes(*source);
  const uint32_t before = process->credit;
  const Pumped result = pump(process, source, flags, *tail);
  *tail -= before - process->credit;
  return result != Pumped::no_credit || *tail == 0;
}

void append_end(const Process* process, Bytes* body) {
  Writer<Bytes> out(*body);
  out.u32(static_cast<uint32_t>(process->status)), out.u64(process->user_us), out.u64(process->system_us);
}

// The dead one's words first, then that another goes on; its streams stay as they are, because they are the
// other's too.
void pass_on(Process* process) {
  if (!drain(process, &process->out, out_flags(process), &process->tail_out)) return;
  if (!drain(process, &process->err, stream_flags(kStreamErr), &process->tail_err)) return;
  if (!drain(process, &process->control, stream_flags(kStreamControl), &process->tail_control)) return;
  process->passing = false;
  process->tail_out = process->tail_err = process->tail_control = SIZE_MAX;
  Bytes body;
  append_end(process, &body);
  Writer<Bytes>(body).u32(static_cast<uint32_t>(process->pid));
  send_frame(process->id, Type::continued, 0, body.data(), body.size());
}

// The end is told when the process is reaped and its output is out: to the end of its pipes, or, when it was
// killed for good or sat on a terminal, as much as is there now.
void finish_if_done(Process* process) {
  // Without a stream nobody could hear it: told when there is one again.
  if (process->over || stream_fd() < 0) return;
  if (process->passing) pass_on(process);
  if (!process->reaped) return;
  if (process->cut || process->pty) {
    if (!drain(process, &process->out, out_flags(process), &process->tail_out)) return;
    close_source(&process->out);
    if (!drain(process, &process->err, stream_flags(kStreamErr), &process->tail_err)) return;
    close_source(&process->err);
    // An interpreter's last words may say why it ended.
    if (process->control.fd >= 0 &&
        !drain(process, &process->control, stream_flags(kStreamControl), &process->tail_control))
      return;
  }
  if (process->out.fd >= 0 || process->err.fd >= 0) return;
  Bytes body;
  append_end(process, &body);
  send_frame(process->id, Type::exited, 0, body.data(), body.size());
  end_channel(process);
}

bool survives(Channel* channel) {
  auto* const process = static_cast<Process*>(channel);
  process->input.clear(), process->control_input.clear();
  process->credit = 0;
  watch_outputs(process, 0);
  return true;
}

void revive(Channel* channel) {
  auto* const process = static_cast<Process*>(channel);
  Bytes body;
  body.append(process->request.data(), process->request.size());
  Writer<Bytes> out(body);
  out.u32(static_cast<uint32_t>(process->pid)), out.i64(process->started_at);
  const size_t whole = body.size();
  // Several frames are the host's privilege: a request too large for one is told without its tail.
  if (whole > kFrameMax) body.shrink_to(0);
  send_frame(process->id, Type::live, 0, body.data(), body.size());
  process->credit = kOutputWindow;
  watch_outputs(process, EPOLLIN);
  finish_if_done(process);
}

void destroy(Channel* channel) {
  auto* const process = static_cast<Process*>(channel);
  Source* const sources[] = {&process->in, &process->out, &process->err, &process->control,
                             &process->control_out};
  for (Source* source : sources) close_source(source);
  Process** at = &all;
  while (*at != process) at = &(*at)->next_process;
  *at = process->next_process;
  process->~Process();
  free(process);
}

void set_source(Process* process, Source* source, int fd, void (*ready)(Source*, uint32_t)) {
  source->fd = fd, source->ready = ready, source->owner = process;
}

}  // namespace

const Process* first_process() {
  return all;
}

void add_process(Process* process, uint32_t channel, const Ends& ends) {
  process->message = message, process->survives = survives, process->revive = revive,
  process->destroy = destroy;
  process->pty = ends.pty;
  set_source(process, &process->in, ends.in, input_ready);
  set_source(process, &process->out, ends.out, output_ready);
  set_source(process, &process->err, ends.err, output_ready);
  set_source(process, &process->control, ends.control, control_ready);
  set_source(process, &process->control_out,
             ends.control >= 0 ? fcntl(ends.control, F_DUPFD_CLOEXEC, 10) : -1, control_out_ready);
  watch_outputs(process, EPOLLIN);
  process->next_process = all;
  all = process;
  add_channel(process, channel);
}

// Forked outside of here, in this sandbox, and left to process 1: its streams go elsewhere, its end and
// signals come through this channel like those of any other.
void request_adopt(uint32_t channel, const char* payload, size_t size) {
  Reader in(payload, size);
  const auto pid = static_cast<pid_t>(in.u32());
  const char* const request = payload + sizeof(uint32_t);
  in.u32(), in.u16(), in.u16(), in.u64(), in.u32();
  const Text user = in.text(), cwd = in.text();
  siginfo_t unused;
  if (!in.ok() || pid <= 1 ||
      waitid(P_PID, static_cast<id_t>(pid), &unused, WEXITED | WNOHANG | WNOWAIT) != 0)
    return send_failed(channel, ESRCH, "there is no such child");
  auto* const process = new (malloc(sizeof(Process))) Process;
  process->started_at = unix_micros();
  process->pid = pid;
  process->interpreter = true;
  process->request.append(request, size - sizeof(uint32_t));
  add_process(process, channel, Ends{});
  Bytes body;
  Writer<Bytes> out(body);
  out.u32(static_cast<uint32_t>(pid)), out.i64(process->started_at);
  out.text(user.data, user.size), out.text(cwd.data, cwd.size);
  send_frame(channel, Type::reply, 0, body.data(), body.size());
}

void process_ended(pid_t pid, int status, uint64_t user_us, uint64_t system_us) {
  for (Process* process = all; process != nullptr; process = process->next_process) {
    if (process->pid != pid || process->reaped || process->over) continue;
    process->status = status, process->user_us = user_us, process->system_us = system_us;
    // A spare whose parent has ended is a child of ours.
    process->passing = !process->cut && is_spare_of(process, getpid());
    if (process->passing) {
      process->pid = process->spare, process->spare = 0;
      // What the dead one had started and left in its session belongs to what is lost.
      signal_tree(pid, true, SIGKILL, process->pid);
    } else {
      process->reaped = true;
      // Somebody killed it, the kernel for want of memory perhaps: what it left in its session goes with it.
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        signal_tree(pid, true, SIGKILL);
        process->cut = true;
      }
      // Processes that inherited an interpreter's pipes do not speak for it.
      if (process->control.fd >= 0 || process->ends_alone) process->cut = true;
    }
    return finish_if_done(process);
  }
}

void signal_process(Process* process, int number, SignalScope scope) {
  if (scope == SignalScope::tree || scope == SignalScope::tree_but_spare) {
    const pid_t except = scope == SignalScope::tree_but_spare ? process->spare : 0;
    signal_tree(process->pid, process->reaped, number, except);
    if (number == SIGKILL && except == 0) end_spare(process), process->cut = true;
  }
  // The group of a reaped leader may still have members, and its number stays taken as long as it has.
  if (process->pid > 1) kill(-process->pid, number);
  finish_if_done(process);
}

}  // namespace atl::guest
