#include "sandbox/native/spawner_events.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>

namespace atl::sandbox::native {
namespace {

epoll_event event_for(int fd, Source source, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = (std::uint64_t{static_cast<std::uint32_t>(source)} << 32) | static_cast<std::uint32_t>(fd);
  return event;
}

}  // namespace

SpawnerEvents::SpawnerEvents() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

std::span<const SpawnerEvents::Event> SpawnerEvents::wait(int milliseconds) {
  std::array<epoll_event, 32> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), milliseconds);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    ready_[static_cast<std::size_t>(i)] = {.source = static_cast<Source>(event.data.u64 >> 32),
                                           .fd = static_cast<int>(event.data.u64 & 0xFFFF'FFFF),
                                           .is_readable = (event.events & ~std::uint32_t{EPOLLOUT}) != 0,
                                           .has_room = (event.events & EPOLLOUT) != 0};
  }
  // A signal that interrupts the wait is no event.
  return std::span(ready_).first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

void SpawnerEvents::watch(int fd, Source source) {
  epoll_event event = event_for(fd, source, EPOLLIN);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void SpawnerEvents::watch_for_room(int fd, Source source, bool for_room) {
  epoll_event event = event_for(fd, source, EPOLLIN | (for_room ? std::uint32_t{EPOLLOUT} : 0U));
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) < 0)
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void SpawnerEvents::forget(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

// A sandbox takes about eight, for a moment more. The last ones are for those who have theirs already: to
// end, to pause, to be looked at.
bool SpawnerEvents::are_descriptors_short() const {
  constexpr int reserve = 128;
  rlimit files{};
  const os::Fd next(::fcntl(epoll_.get(), F_DUPFD_CLOEXEC, 0));
  return !next.is_open() || (::getrlimit(RLIMIT_NOFILE, &files) == 0 &&
                             static_cast<rlim_t>(next.get()) + reserve > files.rlim_cur);
}

}  // namespace atl::sandbox::native
