#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "os/fd.h"
#include "sandbox/native/spawner_events.h"
#include "sandbox/native/spawner_protocol.h"

namespace atl::sandbox::native {

// Whether the other end of this socket was closed.
bool has_left(int socket);

// The spawner's connection to its daemon, and where a daemon that was started again connects. Owns the
// sockets and the answers that the daemon has not taken yet. Never waits, except flush(). The spawner's only
// thread.
class SpawnerConnection {
 public:
  // Called from inside answer(), receive(), send_kept() and accept(); they may answer, and must not call the
  // other three.
  struct Listener {
    // No daemon is connected any more, and whatever was to be told to it is forgotten.
    std::function<void()> lost;
    // The answer to the create of this sandbox cannot be delivered: nobody owns the sandbox.
    std::function<void(const std::string& name)> undelivered;
  };
  SpawnerConnection(SpawnerEvents& events, os::Fd daemon, Listener heard);

  // Where a daemon finds this spawner: `listener` is bound in `run_directory`.
  void listen(os::Fd listener, os::Fd run_directory);
  // Watches what there is.
  void begin();

  struct Incoming {
    Request request;
    os::Fd beside;  // the descriptor that came with it
  };
  // What the daemon asks. None: nothing is there, the daemon is gone, or it asked something that is refused
  // here and was told so.
  std::optional<Incoming> receive();

  // What the daemon has not taken is kept, up to a bound; beyond it the daemon counts as gone. `lost`: only
  // this answer could not be given, because the kernel or this process has no room for its descriptors; the
  // caller was told so. The descriptors stay the caller's.
  enum class Given { yes, lost };
  Given answer(Reply reply, std::span<const int> fds = {});
  void answer_error(const Request& request, Error error);
  void answer_done(const Request& request);
  // The daemon takes more: sends what was kept.
  void send_kept();
  // Sends what is still unsent while the daemon takes it, for a few seconds.
  void flush();

  // A second connection to the same daemon, used when the first is lost.
  void add_second(const Request& request);
  // A daemon has come: one at a time, of the same user; a second one is turned away while the first lives.
  // True if it is the daemon from here on.
  bool accept();
  bool is_connected() const { return daemon_.is_open(); }
  bool is_listening() const { return listener_.is_open(); }
  // A daemon that is started again would come to us.
  bool is_findable() const;
  // Removes the socket by which a daemon could find this spawner.
  void hide();

 private:
  Given keep(const Reply& reply, std::string bytes, std::span<const int> fds);
  Given cannot_answer(const Reply& reply, const Error& why);
  void watch_daemon(bool for_room);
  // Goes on with the second connection if there is one; otherwise the daemon is lost.
  void lose_connection();
  void lose_daemon();
  bool has_daemon() const;

  SpawnerEvents& events_;
  Listener heard_;
  os::Fd daemon_, second_;
  os::Fd listener_, run_directory_;
  struct Outgoing {
    std::string bytes;
    std::vector<os::Fd> fds;
    Reply failure;  // what is said where there is no room for its descriptors
  };
  std::deque<Outgoing> outbox_;
  std::size_t outbox_bytes_ = 0;
};

}  // namespace atl::sandbox::native
