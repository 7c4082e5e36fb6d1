// Whole trees: list, move, copy, remove. Each runs in a child of the guest that becomes the user who asked,
// so a large one neither holds up the loop nor needs a permission check of ours. What it finds comes back as
// finished frames through a pipe. No recursion: a tree may be deeper than any stack.
#include "guest/program/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/program/entry.h"
#include "guest/program/guest.h"

namespace atl::guest {
namespace {

struct Job : Channel {
  pid_t pid = -1;
  Source pipe;
  Bytes frames;
  bool told_end = false;  // the last frame was sent on
};

// In the child: where frames go. In the guest itself: straight to the stream.
int frame_fd = -1;

void emit(uint32_t channel, Type type, const Bytes& body) {
  if (frame_fd < 0) return send_frame(channel, type, 0, body.data(), body.size());
  const Header header{static_cast<uint32_t>(body.size()), channel, static_cast<uint16_t>(type), 0};
  Bytes frame;
  frame.append(reinterpret_cast<const char*>(&header), sizeof header);
  frame.append(body.data(), body.size());
  while (!frame.empty()) {
    const ssize_t wrote = write(frame_fd, frame.data(), frame.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) _exit(1);
    frame.consume(static_cast<size_t>(wrote));
  }
}

void emit_errno(uint32_t channel, int error, const char* path) {
  Bytes text, body;
  text.append(path), text.append(": ");
  text.append(error == ESTALE ? "it was moved while it was being removed" : strerror(error));
  Writer<Bytes> out(body);
  out.u32(static_cast<uint32_t>(error)), out.text(text.data(), text.size());
  emit(channel, Type::failed, body);
}

void emit_entry(uint32_t channel, const char* path) {
  Bytes body;
  if (!append_entry(&body, path)) return emit_errno(channel, errno, path);
  emit(channel, Type::reply, body);
}

struct Request {
  Type type;
  User user;
  Bytes path, to;
  uint32_t depth = 0, entries_max = 0;
  bool flag = false;  // overwrite, recursive
};

void perform(uint32_t channel, Request* request) {
  Failure failure;
  switch (request->type) {
    case Type::list: {
      const auto page = [](void* context, const Bytes& entries) {
        emit(*static_cast<uint32_t*>(context), Type::data, entries);
      };
      if (!list_tree(request->path.data(), request->depth, request->entries_max, page, &channel, &failure))
        break;
      return emit(channel, Type::finished, Bytes());
    }
    case Type::move:
      if (!move_tree(request->path.data(), request->to.data(), request->flag, &failure)) break;
      return emit_entry(channel, request->to.data());
    case Type::copy:
      if (!copy_tree(request->path.data(), request->to.data(), request->flag, &failure)) break;
      return emit_entry(channel, request->to.data());
    default:
      if (!remove_tree(request->path.data(), request->flag, &failure)) break;
      return emit(channel, Type::reply, Bytes());
  }
  emit_errno(channel, failure.error, failure.path.empty() ? request->path.data() : failure.path.c_str());
}

[[noreturn]] void child(uint32_t channel, Request* request, int pipe) {
  if (dup2(pipe, kStreamFd) < 0) _exit(1);
  syscall(SYS_close_range, kStreamFd + 1, ~0U, 0);
  frame_fd = kStreamFd;
  signal(SIGPIPE, SIG_DFL);
  if (!become(request->user)) {
    emit_errno(channel, EPERM, request->path.data());
  } else {
    perform(channel, request);
  }
  _exit(0);
}

void finish(Job* job) {
  if (job->over) return;
  if (!job->told_end) send_failed(job->id, EINTR, "the operation was interrupted");
  end_channel(job);
}

// Hands complete frames on.
void forward(Job* job) {
  while (job->frames.size() >= sizeof(Header)) {
    Header header;
    memcpy(&header, job->frames.data(), sizeof header);
    if (header.size > kFrameMax) return finish(job);
    if (job->frames.size() < sizeof header + header.size) return;
    job->told_end = static_cast<Type>(header.type) != Type::data;
    send_frame(job->id, static_cast<Type>(header.type), 0, job->frames.data() + sizeof header, header.size);
    job->frames.consume(sizeof header + header.size);
  }
}

void pipe_ready(Source* source, uint32_t) {
  auto* const job = static_cast<Job*>(source->owner);
  const ssize_t got = read(source->fd, job->frames.reserve(kFrameMax), kFrameMax);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return finish(job);
  job->frames.commit(static_cast<size_t>(got));
  forward(job);
}

void message(Channel* channel, Type type, uint16_t, Reader) {
  if (type == Type::close) end_channel(channel);
}

void destroy(Channel* channel) {
  auto* const job = static_cast<Job*>(channel);
  close_source(&job->pipe);
  // Its own group would be overkill: it starts nothing. Reaped like any orphan.
  if (!job->told_end && job->pid > 0) kill(job->pid, SIGKILL);
  job->~Job();
  free(job);
}

void run(uint32_t channel, Request* request) {
  int fds[2];
  const pid_t pid = pipe2(fds, O_CLOEXEC) == 0 ? fork() : -1;
  if (pid == 0) child(channel, request, fds[1]);
  if (pid < 0) {
    // No room for a process: do it here, as that user, rather than not at all.
    const ActAs acting(request->user);
    return perform(channel, request);
  }
  close(fds[1]);
  auto* const job = new (malloc(sizeof(Job))) Job;
  job->pid = pid;
  job->message = message, job->destroy = destroy;
  job->pipe.fd = fds[0], job->pipe.ready = pipe_ready, job->pipe.owner = job;
  fcntl(fds[0], F_SETFL, O_NONBLOCK);
  watch_source(&job->pipe, EPOLLIN);
  add_channel(job, channel);
}

}  // namespace

void request_tree(uint32_t channel, Type type, Reader in) {
  Request request;
  request.type = type;
  const Text name = in.text();
  bool good = take_path(in.text(), &request.path);
  if (type == Type::move || type == Type::copy) good = take_path(in.text(), &request.to) && good;
  if (!good) return send_failed(channel, EINVAL, "the path must be absolute and free of NUL bytes");
  if (type == Type::list) {
    request.depth = in.u32(), request.entries_max = in.u32();
  } else {
    request.flag = in.u8() != 0;
  }
  if (!in.done()) return send_failed(channel, EINVAL, "malformed request");
  if (!find_user(name, &request.user)) {
    Bytes text;
    text.append("user '"), text.append(name.data, name.size), text.append("' does not exist");
    return send_failed(channel, EINVAL, text.c_str());
  }
  run(channel, &request);
}

}  // namespace atl::guest
