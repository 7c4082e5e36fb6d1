#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "guest/protocol.h"

namespace atl::sandbox {

// Bytes of one channel that came from the guest and were not taken yet, and how many more it may send: at
// most a window beyond what was granted, so that a guest cannot fill the host's memory. Belongs to the loop
// thread.
class ReceiveWindow {
 public:
  // `grant_at`: how many bytes must have been taken before the guest gets a message that it may send more, so
  // that there is not one for each read.
  explicit ReceiveWindow(std::uint32_t grant_at) : grant_at_(grant_at) {}

  // False if the guest broke the protocol: an empty or too large piece, or more than it may send.
  bool add(std::string_view piece) {
    if (piece.empty() || piece.size() > guest::kDataMax) return false;
    unacknowledged_ += piece.size(), queued_ += piece.size();
    pieces_.emplace_back(piece);
    return unacknowledged_ <= guest::kOutputWindow;
  }
  bool empty() const { return pieces_.empty(); }
  // The oldest piece. Not while empty().
  std::string take() {
    std::string piece = std::move(pieces_.front());
    pieces_.pop_front();
    queued_ -= piece.size();
    return piece;
  }
  // How many bytes more the guest may send, to be told now; 0: not yet worth a message.
  std::uint32_t grant() {
    const std::uint64_t taken = unacknowledged_ - queued_;
    if (taken < grant_at_) return 0;
    unacknowledged_ -= taken;
    return static_cast<std::uint32_t>(taken);
  }

 private:
  std::uint32_t grant_at_;
  std::uint64_t unacknowledged_ = 0;  // came and not granted again
  std::uint64_t queued_ = 0;          // of these, not taken
  std::deque<std::string> pieces_;
};

}  // namespace atl::sandbox
