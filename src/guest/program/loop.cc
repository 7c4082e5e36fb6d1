// The guest: first process of a sandbox. One thread, one loop: the host's stream, the ends of children, and
// the descriptors of open channels.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest/handover.h"
#include "guest/program/guest.h"
#include "guest/program/stream.h"

namespace atl::guest {
namespace {

// Two sets, so that all sources can be left alone at the cost of one call while the host is slow.
int main_set = -1, source_set = -1;
int child_fd = -1, again_fd = -1;
Source* watched = nullptr;
bool handover_open = false;
// Standard output as it was, where frames go if the stream is a pair of pipes. The number after the stream's
// is not needed then: nobody hands over another.
constexpr int kStandardOut = kHandoverFd;
bool on_standard_streams = false;
epoll_event round_events[64];
int round_count = 0;

Channel* table[256];
uint32_t channel_count = 0;
uint32_t guest_channels = 0;
Channel* dead = nullptr;
Channel* scheduled = nullptr;

void reap() {
  signalfd_siginfo info[8];
  while (read(child_fd, info, sizeof info) > 0) {
  }
  int status = 0;
  rusage usage;
  pid_t pid = 0;
  while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
    process_ended(pid, status, usage.ru_utime.tv_sec * 1000000ULL + usage.ru_utime.tv_usec,
                  usage.ru_stime.tv_sec * 1000000ULL + usage.ru_stime.tv_usec);
  }
}

void bury() {
  while (dead != nullptr) {
    Channel* const channel = dead;
    dead = channel->next_dead;
    channel->destroy(channel);
  }
}

bool set_watch(int set, int operation, int fd, uint32_t events, void* tag) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = tag;
  return epoll_ctl(set, operation, fd, &event) == 0;
}

// What cannot go on without the host that was there ends here.
void end_what_dies_with_the_host() {
  for (Channel*& head : table)
    for (Channel *channel = head, *next = nullptr; channel != nullptr; channel = next) {
      next = channel->next;
      if (channel->survives == nullptr || !channel->survives(channel)) end_channel(channel);
    }
}

void greet() {
  stream_hello(channel_count);
  for (Channel* head : table)
    for (Channel* channel = head; channel != nullptr; channel = channel->next) channel->revive(channel);
}

// A new stream: what goes on is told again.
void replace_stream(int fd) {
  end_what_dies_with_the_host();
  stream_replace(fd);
  if (fd < 0) return;
  // JUSTIFICATION: epoll hands back what it was given; small numbers name the fixed descriptors.
  set_watch(main_set, EPOLL_CTL_ADD, fd, EPOLLIN, reinterpret_cast<void*>(1));
  greet();
}

// A process inside cannot announce a host, not even as root: only a sender outside of the sandbox has no
// process number here.
void expect_host() {
  signalfd_siginfo info;
  bool from_outside = false;
  while (read(again_fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    from_outside = from_outside || info.ssi_pid == 0;
  if (from_outside) stream_expect_host();
}

void set_all_watches(int operation) {
  for (Source* source = watched; source != nullptr; source = source->next_watched)
    set_watch(source_set, operation, source->fd, source->events, source);
}

// While the guest is held or waits for a new host, this is all it does: children end and write unseen. An old
// gVisor cannot save a connection that somebody waits for in a set, so nobody does meanwhile.
void stay_quiet() {
  if (!stream_is_quiet()) return;
  set_all_watches(EPOLL_CTL_DEL);
  while (stream_is_quiet() && stream_fd() >= 0 && !stream_lost()) {
    stream_flush();
    pollfd ready[3] = {{stream_fd(), POLLIN, 0}, {again_fd, POLLIN, 0}, {-1, POLLOUT, 0}};
    if (stream_has_output()) ready[2].fd = stream_out_fd();
    if (poll(ready, 3, -1) < 0) continue;
    if (ready[1].revents != 0) expect_host();
    if (ready[0].revents != 0) stream_receive();
  }
  set_all_watches(EPOLL_CTL_ADD);
}

// Moves the standard streams to where the stream is expected, so that no program inherits them.
bool take_standard_streams() {
  if (dup2(0, kStreamFd) < 0 || dup2(1, kStandardOut) < 0) return false;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return false;
  if (fcntl(kStandardOut, F_SETFD, FD_CLOEXEC) != 0) return false;
  // A pipe that nobody empties must not stop the loop.
  if (fcntl(kStandardOut, F_SETFL, fcntl(kStandardOut, F_GETFL) | O_NONBLOCK) != 0) return false;
  return dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2;
}

constexpr int kNothingCame = -1, kNobodyComes = -2;

// A stream that somebody handed over.
int receive_handover(int flags) {
  char byte[16];
  iovec piece{byte, sizeof byte};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &piece, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(kHandoverFd, &message, flags | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return kNothingCame;
  if (got <= 0) return kNobodyComes;
  int fd = kNothingCame;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
      memcpy(&fd, CMSG_DATA(part), sizeof fd);
  return fd;
}

void take_handover() {
  const int fd = receive_handover(MSG_DONTWAIT);
  if (fd >= 0) return replace_stream(fd);
  if (fd != kNobodyComes) return;
  epoll_ctl(main_set, EPOLL_CTL_DEL, kHandoverFd, nullptr);
  close(kHandoverFd);
  handover_open = false;
}

// Connects to whoever hands over streams, and waits for the first one. Standard streams are an engine's: no
// program inherits them.
bool meet_host(const char* path) {
  syscall(SYS_close_range, kStreamFd, ~0U, 0);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2(null, 0) != 0 || dup2(null, 1) != 1 || dup2(null, 2) != 2) return false;
  close(null);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return false;
  memcpy(address.sun_path, path, strlen(path));
  const int host = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  // JUSTIFICATION: the system call takes addresses of every kind by this type
  if (host < 0 || connect(host, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return false;
  if (dup2(host, kHandoverFd) != kHandoverFd) return false;
  close(host);
  int stream = kNothingCame;
  while (stream == kNothingCame) stream = receive_handover(0);
  if (stream < 0) return false;
  return stream == kStreamFd || dup2(stream, kStreamFd) == kStreamFd;
}

bool is_socket(int fd) {
  int kind = 0;
  socklen_t size = sizeof kind;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) == 0;
}

bool set_up() {
  if (on_standard_streams) {
    // What else was left open gives way to the two descriptors.
    syscall(SYS_close_range, kStreamFd, ~0U, 0);
    if (!take_standard_streams()) return false;
  } else {
    // Before anything of ours takes the number.
    handover_open = is_socket(kHandoverFd) && fcntl(kHandoverFd, F_SETFD, FD_CLOEXEC) == 0;
  }
  // Nothing that was left open by whoever started us may reach a program.
  syscall(SYS_close_range, handover_open || on_standard_streams ? kHandoverFd + 1 : kHandoverFd, ~0U, 0);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigset_t host;
  sigemptyset(&host);
  sigaddset(&host, kAgainSignal);
  if (sigprocmask(SIG_BLOCK, &signals, nullptr) != 0 || sigprocmask(SIG_BLOCK, &host, nullptr) != 0)
    return false;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  prctl(PR_SET_NAME, "guest");
  // Not process 1 where an engine has an init of its own: orphans still come here.
  if (getpid() != 1) prctl(PR_SET_CHILD_SUBREAPER, 1);
  child_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  again_fd = signalfd(-1, &host, SFD_NONBLOCK | SFD_CLOEXEC);
  main_set = epoll_create1(EPOLL_CLOEXEC);
  source_set = epoll_create1(EPOLL_CLOEXEC);
  if (child_fd < 0 || again_fd < 0 || main_set < 0 || source_set < 0) return false;
  if (fcntl(kStreamFd, F_SETFD, FD_CLOEXEC) != 0) return false;
  // JUSTIFICATION: epoll hands back what it was given; small numbers name the fixed descriptors.
  if (handover_open && !set_watch(main_set, EPOLL_CTL_ADD, kHandoverFd, EPOLLIN, reinterpret_cast<void*>(4)))
    return false;
  // JUSTIFICATION: epoll hands back what it was given; small numbers name the fixed descriptors.
  if (on_standard_streams && !set_watch(main_set, EPOLL_CTL_ADD, kStandardOut, 0, reinterpret_cast<void*>(5)))
    return false;
  // JUSTIFICATION: epoll hands back what it was given; small numbers name the fixed descriptors.
  return set_watch(main_set, EPOLL_CTL_ADD, kStreamFd, EPOLLIN, reinterpret_cast<void*>(1)) &&
         set_watch(main_set, EPOLL_CTL_ADD, again_fd, EPOLLIN, reinterpret_cast<void*>(6)) &&
         set_watch(main_set, EPOLL_CTL_ADD, child_fd, EPOLLIN, reinterpret_cast<void*>(2)) &&
         set_watch(main_set, EPOLL_CTL_ADD, source_set, EPOLLIN, reinterpret_cast<void*>(3));
}

void serve_sources() {
  round_count = epoll_wait(source_set, round_events, 64, 0);
  for (int i = 0; i < round_count && !stream_is_full(); ++i) {
    auto* const source = static_cast<Source*>(round_events[i].data.ptr);
    if (source != nullptr) source->ready(source, round_events[i].events);
  }
  round_count = 0;
}

void run_scheduled() {
  Channel* list = scheduled;
  scheduled = nullptr;
  while (list != nullptr) {
    Channel* const channel = list;
    list = channel->next_scheduled;
    channel->scheduled = false;
    if (channel->over) continue;
    if (stream_is_full() || channel->work(channel)) schedule(channel);
  }
}

// What the main set waits for follows what the stream can take.
void arm(bool* reading, bool* writing) {
  const bool full = stream_is_full(), more = stream_has_output();
  const bool apart = on_standard_streams && stream_out_fd() == kStandardOut;
  // JUSTIFICATION: epoll hands back what it was given; small numbers name the fixed descriptors.
  if (apart && *writing != more)
    set_watch(main_set, EPOLL_CTL_MOD, kStandardOut, more ? uint32_t{EPOLLOUT} : 0U,
              reinterpret_cast<void*>(5));
  if (stream_fd() >= 0 && (*reading == full || *writing != more)) {
    // JUSTIFICATION: epoll hands back what it was given; small numbers name the fixed descriptors.
    set_watch(main_set, EPOLL_CTL_MOD, stream_fd(),
              (full ? 0U : uint32_t{EPOLLIN}) | (more && !apart ? uint32_t{EPOLLOUT} : 0U),
              reinterpret_cast<void*>(1));
  }
  // JUSTIFICATION: epoll hands back what it was given; small numbers name the fixed descriptors.
  if (*reading == full)
    set_watch(main_set, EPOLL_CTL_MOD, source_set, full ? 0U : uint32_t{EPOLLIN}, reinterpret_cast<void*>(3));
  *reading = !full, *writing = more;
}

int serve() {
  bool reading = true, writing = false;
  stream_replace(kStreamFd, on_standard_streams ? kStandardOut : -1);
  stream_hello(0);
  for (;;) {
    stream_flush();
    stay_quiet();
    if (stream_begins_again()) end_what_dies_with_the_host(), greet();
    if (stream_fd() < 0 && !handover_open) return 0;
    arm(&reading, &writing);
    epoll_event events[4];
    const int count = epoll_wait(main_set, events, 4, scheduled != nullptr && !stream_is_full() ? 0 : -1);
    if (count < 0 && errno != EINTR) return 1;
    const int stream = stream_fd();
    for (int i = 0; i < count; ++i) {
      // JUSTIFICATION: epoll hands back what it was given; small numbers name the fixed descriptors.
      switch (reinterpret_cast<uintptr_t>(events[i].data.ptr)) {
        case 1:
          if (stream == stream_fd() && (events[i].events & ~uint32_t{EPOLLOUT}) != 0) stream_receive();
          break;
        case 2: reap(); break;
        case 3: serve_sources(); break;
        case 4: take_handover(), reading = true, writing = false; break;
        // Nobody will ever read what is written there.
        case 5:
          if ((events[i].events & uint32_t{EPOLLERR}) != 0) replace_stream(-1);
          break;
        case 6: expect_host(); break;
        default: break;
      }
      stay_quiet();
      if (stream_begins_again()) end_what_dies_with_the_host(), greet();
    }
    run_scheduled();
    if (stream_lost()) replace_stream(-1), reading = true, writing = false;
    bury();
  }
}

}  // namespace

void watch_source(Source* source, uint32_t events) {
  if (source->fd < 0 || source->events == events) return;
  if (source->events == 0) {
    source->next_watched = watched, source->previous_watched = nullptr;
    if (watched != nullptr) watched->previous_watched = source;
    watched = source;
  } else if (events == 0) {
    Source* const next = source->next_watched;
    if (next != nullptr) next->previous_watched = source->previous_watched;
    (source->previous_watched != nullptr ? source->previous_watched->next_watched : watched) = next;
  }
  const int operation = source->events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  set_watch(source_set, operation, source->fd, events, source);
  source->events = events;
}

void forget_events(const Source* source) {
  for (int i = 0; i < round_count; ++i)
    if (round_events[i].data.ptr == source) round_events[i].data.ptr = nullptr;
}

void close_source(Source* source) {
  if (source->fd < 0) return;
  watch_source(source, 0);
  forget_events(source);
  close(source->fd);
  source->fd = -1;
}

void add_channel(Channel* channel, uint32_t id) {
  channel->id = id;
  channel->next = table[id % 256];
  table[id % 256] = channel;
  ++channel_count;
}

Channel* find_channel(uint32_t id) {
  Channel* channel = table[id % 256];
  while (channel != nullptr && channel->id != id) channel = channel->next;
  return channel;
}

bool channel_room() {
  return channel_count < kChannelsMax;
}

void end_channel(Channel* channel) {
  if (channel->over) return;
  channel->over = true;
  Channel** at = &table[channel->id % 256];
  while (*at != channel) at = &(*at)->next;
  *at = channel->next;
  --channel_count;
  channel->next_dead = dead;
  dead = channel;
}

void schedule(Channel* channel) {
  if (channel->scheduled || channel->over) return;
  channel->scheduled = true;
  channel->next_scheduled = scheduled;
  scheduled = channel;
}

uint32_t next_guest_channel() {
  return kGuestChannel | (++guest_channels & ~kGuestChannel);
}

int64_t unix_micros() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

}  // namespace atl::guest

int main(int argc, char** argv) {
  const bool meets = argc > 2 && strcmp(argv[1], atl::guest::kByHandover) == 0;
  if (meets && !atl::guest::meet_host(argv[2])) return atl::guest::kNobodyThere;
  atl::guest::on_standard_streams = argc > 1 && strcmp(argv[1], atl::guest::kOnStandardStreams) == 0;
  if (!atl::guest::set_up()) return 2;
  return atl::guest::serve();
}
