#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// What host and guest say to each other over one byte stream. Included by both sides, so it needs nothing but
// C headers. Both sides are little-endian and run on the same machine or on one of the same kind.
//
// The stream is a sequence of frames: a fixed Header, then `size` bytes. A frame belongs to a channel. The
// host opens a channel by sending a request with a new number (counting up from 1); the guest answers on the
// same channel. Channels that the guest opens (connections accepted inside) have kGuestChannel set. Frames
// for a channel that is no longer open are ignored by both sides: they crossed its end on the way.
//
// Flow: bytes (Type::data) need credit, counted in payload bytes for each channel and direction. The side
// that receives grants it (Type::credit). Everything else is bounded by the number of open channels.
namespace atl::guest {

inline constexpr uint32_t kMagic = 0x31'6c'74'61;  // "atl1"
inline constexpr uint32_t kVersion = 5;

// The guest finds its stream here when it starts. With the argument kOnStandardStreams it reads frames from
// descriptor 0 and writes them to 1, as engines attach to a container's first process; both may be pipes.
inline constexpr int kStreamFd = 3;
inline constexpr char kOnStandardStreams[] = "stdio";
// Optional: a SOCK_SEQPACKET socket. A message with one descriptor attached replaces the stream: the guest
// drops the old one, keeps processes and says hello again on the new one. While it is open, the loss of the
// stream does not end the guest; without it, the end of the stream is the end of the sandbox.
inline constexpr int kHandoverFd = 4;

inline constexpr uint32_t kFrameMax = 64U << 10;   // payload of one frame
inline constexpr uint32_t kDataMax = 32U << 10;    // payload of one data frame
inline constexpr uint32_t kRequestMax = 8U << 20;  // a request in several frames
inline constexpr uint32_t kChannelsMax = 4096;     // open at once, each side's view
inline constexpr uint32_t kPathMax = 4096;
inline constexpr uint32_t kOutputWindow = 256U << 10;  // first credit for output of a process
inline constexpr uint32_t kInputWindow = 64U
                                         << 10;  // first credit for bytes to a process, a file, a connection
// Senders of one `datagrams` channel that wait for an answer; more push the oldest out.
inline constexpr uint32_t kDatagramsMax = 64;
inline constexpr uint32_t kDatagramBytesMax = 4096;
inline constexpr uint32_t kGuestChannel = 0x8000'0000U;

struct Header {
  uint32_t size;     // of the payload
  uint32_t channel;  // 0: the link itself
  uint16_t type;
  uint16_t flags;
};
static_assert(sizeof(Header) == 12);

// Header::flags. More: the message goes on in the next frame, which has the same channel and type.
// Only the host uses it, and only for requests.
inline constexpr uint16_t kMore = 1;
// For data: which stream of a process, in the high byte.
enum StreamId : uint16_t {
  kStreamIn = 0,
  kStreamOut = 1,
  kStreamErr = 2,
  kStreamPty = 3,
  kStreamControl = 4
};
inline constexpr uint16_t stream_flags(StreamId stream) {
  return static_cast<uint16_t>(stream << 8);
}
inline constexpr uint16_t stream_of(uint16_t flags) {
  return static_cast<uint16_t>(flags >> 8);
}

enum class Type : uint16_t {
  // Guest, channel 0. u32 magic, u32 version, u32 number of `live` frames that follow. First of all.
  hello = 1,
  // Guest, on a channel that was open before the stream was replaced: the payload of its request, then
  // u32 pid, i64 start in Unix microseconds as in the reply.
  live = 2,

  // Host, channel 0, empty: whoever spoke before is gone, and somebody else begins here, at the border of a
  // frame. The guest does what it does when its stream is replaced: processes stay, everything else ends, and
  // it says hello again. What it had begun to say before that is to be ignored.
  again = 3,

  // Host: requests, each opening a channel. Layouts beside their structs below.
  start = 16,           // -> reply{u32 pid, i64 micros, str user, str cwd}, data..., exited
  stat = 17,            // -> reply{entry}
  list = 18,            // -> data (a page of entries, no credit needed)..., finished
  make_directory = 19,  // -> reply{entry}
  move = 20,            // -> reply{entry}
  copy = 21,            // -> reply{entry}
  remove = 22,          // -> reply{}
  chmod = 23,           // -> reply{}
  read = 24,            // -> reply{entry}, data..., finished
  write = 25,           // -> reply{}, credit...; host: data..., end -> finished{entry}
  watch = 26,           // -> reply{}, events...
  connect = 27,         // -> reply{}, data both ways, end both ways
  listen = 28,          // -> reply{}, accepted...
  ports = 29,           // -> reply{u16...}
  ping = 30,            // -> events of all watches as far as something happened, then reply{}
  datagrams = 31,       // -> reply{}, datagram both ways
  adopt = 32,           // u32 pid, then as start: a child that came from elsewhere -> reply as start, exited
  sweep = 33,           // -> reply{u32 how many}, when they are gone
  // The sandbox is about to be saved with its memory. The guest has everything written to its filesystems,
  // answers, and then neither says nor hears anything but `release` or `again`, so that no frame is under way
  // in the moment that is saved. -> reply{}
  hold = 34,

  // Host, on an open channel.
  signal = 48,  // i32 number, u8 scope (SignalScope)
  resize = 49,  // u16 columns, u16 rows
  close = 50,   // no interest any more: files and connections are closed, a process goes on unheard
  // u32 pid: a child of this process that goes on in its place when it dies (0: none). Replaces the one
  // before. The guest answers the same with the number, or with 0 if it is no such child.
  spare = 51,

  // Host, channel 0, empty: to a guest that is held. It goes on as if nothing had been.
  release = 56,

  // Both.
  data = 64,    // bytes, covered by credit
  credit = 65,  // u32 more bytes
  end = 66,     // no more data from this side
  // Of a `datagrams` channel: u32 serial of the sender, bytes. The host answers with the same serial, once.
  datagram = 67,

  // Guest.
  reply = 80,     // the request was done; layout by request
  failed = 81,    // u32 errno, str message; the channel is over
  finished = 82,  // the channel is over; layout by request
  exited = 83,    // u32 wait status, u64 user µs, u64 system µs; the channel is over
  events = 84,    // of a watch: any number of {u8 WatchKind, str name}
  accepted = 85,  // u32 new channel (kGuestChannel set), with kInputWindow credit both ways
  // The process has ended and its spare goes on in its place, on the same streams: as `exited`, then u32 pid.
  // What the one that ended had said was told before.
  continued = 86,
};

// From outside of the sandbox's processes: the host has gone, perhaps in the middle of a frame, and another
// takes the same stream over. What was said and not yet heard is dropped; the guest sends kAgainBytes, then
// nothing until it hears the same.
inline constexpr int kAgainSignal = 10;  // SIGUSR1
// A frame of type `again` with a payload that bytes left over by accident do not hold.
inline constexpr char kAgainBytes[] =
    "\x14\0\0\0\0\0\0\0\x03\0\0\0\xf3\x1d\xa7\x5e\x0c\x92\x6b\xd8\x41\xee\x37\xb5\x88\x02\xcf\x69\x14\xfa\x53"
    "\xbe";
inline constexpr size_t kAgainSize = 32;
static_assert(sizeof kAgainBytes == kAgainSize + 1);

enum class SignalScope : uint8_t {
  group = 0,           // the process group
  tree = 1,            // also its session and all descendants; with SIGKILL output is no longer waited for
  tree_but_spare = 2,  // the same, except its spare, which then goes on
};

// start: u32 flags, u16 columns, u16 rows, u64 CPU time limit in µs (0: none), u32 output credit, str user,
// str cwd, str tag, u32 n, n str argv, u32 m, m str "NAME=VALUE", and notes if there are any.
enum StartFlags : uint32_t {
  kStartPty = 1,
  kStartStdin = 2,    // a pipe; otherwise /dev/null
  kStartControl = 4,  // a socket for kStreamControl, its number in the variable ATOLL_CONTROL_FD
  // The end is reported as soon as the process ends, with what its pipes hold then; otherwise not before
  // every process that inherited them has closed them.
  kStartEndsAlone = 8,
  // Then follow str label, u64 deadline: the host's own notes, which the guest tells again after the stream
  // was replaced.
  kStartNotes = 16,
};
// Paths are absolute. `user` in each.
// stat: str user, str path.   make_directory: the same, then u8 hand over (may be missing: 0).
// list: str user, str path, u32 depth, u32 entries_max.
// move, copy: str user, str from, str to, u8 overwrite.
// remove: str user, str path, u8 recursive.   chmod: str user, str path, u32 mode.
// read: str user, str path, u64 offset, u64 length, u32 credit.
// write: str user, str path, u32 mode, u8 flags (WriteFlags), str attribute prefix, u32 n, n {str, str}.
// watch: str user, str path, u8 recursive.
// connect: u16 port, u32 credit.   listen: u16 port (0: any; reply{u16 port}).
// datagrams: u16 port, on 127.0.0.1.
// sweep: u64 since, u64 until, u32 n, n {u32 channel, u64 until}; boot times in µs. Kills what began in that
// time and belongs to no process that the host started: its parents have ended and its session is another. Of
// the interpreters on these channels also what they started since then, until the time given for each.
enum WriteFlags : uint8_t {
  kWriteParents = 1,
  kWriteAppend = 2,
  kWriteAttributes = 4,
  // The file becomes the user's, and what the user may not make is made by root and handed over
  // (hand_over.h).
  kWriteHandOver = 8,
};

// entry: str name, str path, u8 type, u8 target type, u64 size, u32 mode, u32 link mode, u32 uid, u32 gid,
// str owner, str group, i64 modified µs, str target, u32 n, n {str, str} attributes.
enum class EntryType : uint8_t { unknown = 0, file = 1, directory = 2, symlink = 3, other = 4 };
enum class WatchKind : uint8_t { create = 0, write = 1, remove = 2, rename = 3, chmod = 4 };

// Borrowed bytes inside a frame.
struct Text {
  const char* data = nullptr;
  uint32_t size = 0;
};

// Takes a payload apart. After the first field that does not fit, ok() is false and everything reads as zero.
class Reader {
 public:
  Reader(const void* data, size_t size) : at_(static_cast<const char*>(data)), left_(size) {}
  bool ok() const { return ok_; }
  // All fields fitted and nothing is left.
  bool done() const { return ok_ && left_ == 0; }
  size_t left() const { return left_; }

  uint8_t u8() { return number<uint8_t>(); }
  uint16_t u16() { return number<uint16_t>(); }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }
  int64_t i64() { return number<int64_t>(); }
  Text text() {
    const uint32_t size = u32();
    if (!ok_ || size > left_) return fail(), Text{};
    const Text out{at_, size};
    at_ += size, left_ -= size;
    return out;
  }
  // Everything that is left.
  Text rest() {
    const Text out{at_, static_cast<uint32_t>(left_)};
    at_ += left_, left_ = 0;
    return out;
  }

 private:
  template <class T>
  T number() {
    T value{};
    if (!ok_ || left_ < sizeof value) return fail(), T{};
    memcpy(&value, at_, sizeof value);
    at_ += sizeof value, left_ -= sizeof value;
    return value;
  }
  void fail() { ok_ = false, left_ = 0; }

  const char* at_;
  size_t left_;
  bool ok_ = true;
};

// Puts a payload together in anything that has append(const char*, size_t).
template <class Sink>
class Writer {
 public:
  explicit Writer(Sink& sink) : sink_(sink) {}
  void u8(uint8_t value) { number(value); }
  void u16(uint16_t value) { number(value); }
  void u32(uint32_t value) { number(value); }
  void u64(uint64_t value) { number(value); }
  void i64(int64_t value) { number(value); }
  void text(const char* data, size_t size) {
    u32(static_cast<uint32_t>(size));
    if (size > 0) sink_.append(data, size);
  }

 private:
  template <class T>
  void number(T value) {
    char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    sink_.append(bytes, sizeof value);
  }

  Sink& sink_;
};

}  // namespace atl::guest
