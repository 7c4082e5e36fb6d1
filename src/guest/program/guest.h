#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "guest/program/bytes.h"
#include "guest/protocol.h"

// The parts of the guest: one loop (loop.cc), one stream to the host (stream.cc), and what channels do.
namespace atl::guest {

// A descriptor the loop watches. `ready` may destroy the source.
struct Source {
  int fd = -1;
  uint32_t events = 0;  // what is watched now; 0: nothing
  void (*ready)(Source*, uint32_t events) = nullptr;
  void* owner = nullptr;
  Source *next_watched = nullptr, *previous_watched = nullptr;  // while events are watched
};

void watch_source(Source* source, uint32_t events);  // 0 stops watching
void close_source(Source* source);                   // stops and closes; safe to call twice
// Makes the loop pass over events of sources that were closed in this round.
void forget_events(const Source* source);

// An open channel. Made by a request, ended by end_channel().
// Owned by whoever made it, until end_channel(); `destroy` frees it afterwards. All on the guest's only
// thread.
struct Channel {
  uint32_t id = 0;
  Channel* next = nullptr;
  Channel* next_dead = nullptr;
  bool over = false;
  // Every message of the host on this channel: data, credit, end, signal, resize, close.
  void (*message)(Channel*, Type, uint16_t flags, Reader) = nullptr;
  // The stream was replaced or lost: true if the channel lives on.
  bool (*survives)(Channel*) = nullptr;
  // Says hello again for a channel that lives on.
  void (*revive)(Channel*) = nullptr;
  void (*destroy)(Channel*) = nullptr;
  // For channels with work that no descriptor announces: one piece of it; true if there is more.
  bool (*work)(Channel*) = nullptr;
  bool scheduled = false;
  Channel* next_scheduled = nullptr;
};

void add_channel(Channel* channel, uint32_t id);
// Null if there is none, or it has ended.
Channel* find_channel(uint32_t id);
// Removes it from the table at once; its memory goes after the current round.
void end_channel(Channel* channel);
uint32_t next_guest_channel();
// Has work() called soon, when the host can take what it makes.
void schedule(Channel* channel);

// Queues a frame. Never blocks; the loop stops reading sources while the queue is long.
void send_frame(uint32_t channel, Type type, uint16_t flags, const void* data, size_t size);
inline void send_empty(uint32_t channel, Type type) {
  send_frame(channel, type, 0, nullptr, 0);
}
void send_credit(uint32_t channel, uint32_t bytes);
void send_failed(uint32_t channel, int error_number, const char* message, const char* subject = nullptr);
// "path: what errno says"
void send_errno(uint32_t channel, int error_number, const char* path);
// One read(2) straight into the queue as a data frame. Like read: 0 at the end, -1 with errno.
ssize_t send_from(uint32_t channel, uint16_t flags, int fd, size_t size_max);

// A user of the sandbox's own /etc/passwd.
struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  Bytes name, home, shell;
  gid_t groups[64];
  int group_count = 0;
};
// A name, a number, or "number:number". False if the name is unknown.
bool find_user(Text name, User* user);
// Names for numbers, as `ls -l` shows them.
void append_user_name(Bytes* out, uid_t uid);
void append_group_name(Bytes* out, gid_t gid);

// Becomes that user for good. False if this guest may not.
bool become(const User& user);

// While it lives, files are touched with the permissions of that user. One at a time.
class ActAs {
 public:
  explicit ActAs(const User& user);
  ActAs(const ActAs&) = delete;
  ActAs& operator=(const ActAs&) = delete;
  ~ActAs();

 private:
  bool changed_;
};

// Requests, one function each; they open their channel or answer with `failed`.
void request_start(uint32_t channel, const char* payload, size_t size);
void request_adopt(uint32_t channel, const char* payload, size_t size);
void request_file(uint32_t channel, Type type, Reader in);
void request_tree(uint32_t channel, Type type, Reader in);
void request_watch(uint32_t channel, Reader in);
// Queues what all watches have seen until now.
void tell_watches();
void request_connect(uint32_t channel, Reader in);
void request_listen(uint32_t channel, Reader in);
void request_ports(uint32_t channel);
void request_datagrams(uint32_t channel, Reader in);
void request_sweep(uint32_t channel, Reader in);

// A child ended: true if it was a known one.
void process_ended(pid_t pid, int status, uint64_t user_us, uint64_t system_us);

int64_t unix_micros();

}  // namespace atl::guest
