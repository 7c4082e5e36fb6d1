#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

// What the daemon and the process that holds a storage plugin say to each other, on a Unix socket: frames of
// four bytes of length, least significant first, one byte that says what it is, and the rest. The daemon asks
// and waits; each question is answered by entries, if it asked for any, and one last frame. Neither side
// believes the other: a frame over kFrameMax, or one that cannot be, ends the connection.
namespace atl::storage {

enum class FrameKind : std::uint8_t {
  open = 1,      // -> the name of a space
  load = 2,      // -> nothing; <- entries
  apply = 3,     // -> a batch (vfs/batch_format.h)
  discard = 4,   // -> the name of a space that is not open
  entry = 10,    // <- length of the path, the path, an encoded entry
  done = 11,     // <- nothing
  refused = 12,  // <- the reason, as text
};

inline constexpr std::size_t kFrameMax = std::size_t{1} << 30;

struct Frame {
  FrameKind kind = FrameKind::done;
  std::string body;
};

// Blocking, at most `longest` for the whole frame. Code::unavailable if the other side is gone or too slow.
Result<void> send_frame(int socket, FrameKind kind, std::string_view body, std::chrono::milliseconds longest);
// Nothing: the other side has closed the connection between two frames.
Result<std::optional<Frame>> receive_frame(int socket, std::chrono::milliseconds longest);

}  // namespace atl::storage
