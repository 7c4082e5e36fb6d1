#pragma once

#include <unistd.h>

#include <utility>

namespace atl::os {

// The one owner of a descriptor: closes it once. A bare int is a borrowed descriptor, never a member.
class Fd {
 public:
  Fd() = default;
  // Takes over; a negative number is a closed one.
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // Gives up ownership.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  // Closes what it had. Errors of close are not reported: whoever must know syncs first.
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace atl::os
