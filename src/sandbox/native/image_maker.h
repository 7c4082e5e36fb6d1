#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"
#include "sandbox/native/image.h"

namespace atl::sandbox::native {

// The spawner's side of the process that makes disk images and takes them down, because both wait for the
// disk and the spawner waits for nothing. One or two images of the sizes that were asked for last are kept
// ready. The process keeps a few formatted templates; what nobody asks for goes after a while, templates and
// ready ones alike.
// For the spawner's thread.
class ImageMaker {
 public:
  struct Setting {
    ImagePlace place;
    std::string nodes;  // a directory in which device nodes may be made
    int host_mounts = -1;
  };
  static constexpr std::size_t kTemplatesMax = 8;
  static constexpr std::chrono::minutes kTemplateAge{10};
  static constexpr std::chrono::seconds kFormatTime{20};
  static constexpr std::size_t kReadyOfASize = 2;
  static constexpr std::size_t kReadyMax = 6;

  ImageMaker() = default;
  // Starts the process. Without loop devices there is none.
  explicit ImageMaker(Setting setting);
  bool usable() const { return socket_.is_open(); }
  // Readable when there is something to hear().
  int socket() const { return socket_.get(); }
  pid_t pid() const { return pid_; }

  // A ready one, if there is, and another one is made for the next who asks.
  std::optional<os::Fd> take(ImageSize size);
  // Will be among what hear() says under this ticket, which is not 0. Code::unavailable if the process takes
  // no more.
  Result<void> ask(std::uint64_t ticket, ImageSize size);
  struct Made {
    std::uint64_t ticket = 0;
    Result<os::Fd> mount;
  };
  // The next one that is there. Code::unavailable: none is. Code::provider_failed: the process is gone, with
  // everything that was asked of it; usable() is false from here on.
  Result<Made> hear();
  // Closes the descriptor in the other process: closing the last one of a filesystem on a disk takes it down
  // and waits until the disk has everything.
  void take_down(os::Fd last);
  // Ready ones that nobody took for long are taken down.
  void forget_old();
  // When the oldest of them has waited for long; none: none waits.
  std::optional<SteadyTime> oldest_expires() const;
  // Starts another process in place of one that is gone, which is given away first, to be reaped.
  os::Fd give_up_process() { return std::move(pidfd_); }
  void restart();

 private:
  struct Ready {
    ImageSize size;
    os::Fd mount;
    SteadyTime since;
  };
  Result<void> order(std::uint64_t ticket, ImageSize size);
  void want(ImageSize size);
  void take_down_left();
  void keep(ImageSize size, os::Fd mount);

  Setting setting_;
  os::Fd socket_, pidfd_;
  pid_t pid_ = 0;
  std::deque<Ready> ready_;                  // oldest first
  std::map<ImageSize, std::size_t> coming_;  // for ready_
  std::deque<os::Fd> left_;                  // to be taken down when the process takes more
};

}  // namespace atl::sandbox::native
