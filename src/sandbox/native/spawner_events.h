#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "os/fd.h"

namespace atl::sandbox::native {

// What a descriptor in the spawner's loop is. Most are looked up by their number when they become ready.
enum class Source : std::uint32_t {
  daemon,      // the connection to the daemon
  listener,    // a daemon that was started again connects here
  sandbox,     // pidfd of a guest: it has ended
  copying,     // a child of the spawner has reported
  reaping,     // pidfd of a child that has reported: it has ended
  zygote,      // a zygote has said something, or is gone
  parts_pool,  // parts of a sandbox were taken apart
  images,      // the maker of disk images
  standstill   // the time to look at sandboxes that are being frozen
};

// The descriptors that the spawner waits for (epoll). Borrows them: whoever closes one either calls forget()
// first or is the only holder, because the kernel goes on with events of a file that a child still has open.
// One thread.
class SpawnerEvents {
 public:
  SpawnerEvents();

  struct Event {
    Source source;
    int fd;
    bool is_readable;  // or closed at the other end
    bool has_room;     // only where watch_for_room() asked for it
  };
  // Until the next call. Nothing when the time is over; -1 waits for ever. An event may be about something
  // that the handler of an earlier one has removed.
  std::span<const Event> wait(int milliseconds);

  void watch(int fd, Source source);
  // Also tells, or no longer tells, when the descriptor takes more. Watches it if nobody did.
  void watch_for_room(int fd, Source source, bool for_room);
  void forget(int fd);

  // Whether so few numbers of descriptors are left that they are for those who have a sandbox already.
  bool are_descriptors_short() const;

 private:
  os::Fd epoll_;
  std::array<Event, 32> ready_{};
};

}  // namespace atl::sandbox::native
