#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

// Messages with descriptors over a sequenced-packet socket between two processes of ours.
namespace atl::os {

struct SocketPair {
  Fd first, second;
};
enum class SocketKind { stream, packets };
Result<SocketPair> socket_pair(SocketKind kind);

inline constexpr std::size_t kMessageBytesMax = 192 * 1024;
inline constexpr std::size_t kMessageFdsMax = 12;

struct Message {
  std::string bytes;  // empty: the other side is gone
  std::vector<Fd> fds;
  // Descriptors came with it that this process has no room for. Then it has none of them: a part would be
  // taken for the whole.
  bool fds_lost = false;
};

// Yes: until it is done, or as long as the socket's own limits (SO_RCVTIMEO, SO_SNDTIMEO) allow.
enum class Wait { no, yes };

// The whole message with the descriptors, which stay the caller's. Code::unavailable if the other side is
// gone, Code::conflict if the socket is full and nobody waits (any more), Code::resource_exhausted if the
// kernel has no room for this one message: the next may go.
Result<void> send_message(int socket, std::string_view bytes, std::span<const int> fds = {},
                          Wait wait = Wait::yes);
// Code::unavailable when nothing is there and nobody waits (any more). A message cut short by its size is an
// error; one whose descriptors did not fit is not (Message::fds_lost).
Result<Message> receive_message(int socket, Wait wait = Wait::yes);

}  // namespace atl::os
