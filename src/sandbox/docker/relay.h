#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "guest/protocol.h"
#include "net/byte_stream.h"
#include "os/fd.h"
#include "os/turn.h"
#include "sandbox/docker/line.h"

namespace atl::sandbox::docker {

// An engine sends a container's standard streams as blocks with eight bytes before each. Gives what belongs
// to standard output. Everything inside is untrusted.
class BlockReader {
 public:
  // False: what came is no such stream.
  bool feed(std::string_view bytes, std::string& out);

 private:
  std::string header_;
  std::uint32_t left_ = 0;
  bool wanted_ = false;
};

// Knows where the guest's frames begin, and can leave out what was meant for a host that is gone.
class FrameFilter {
 public:
  // Appends what the present host may see. False: what came are no frames of a guest.
  bool feed(std::string_view bytes, std::string& out);
  // From now on nothing until a guest says hello. One hello is enough: a guest that was told to begin anew
  // while its first one was on the way says two.
  void skip_to_hello();

 private:
  std::string header_;
  std::uint32_t left_ = 0;
  bool passing_ = true, skipping_ = false;
  bool has_greeted_ = false;  // the present host has heard a hello
};

// Gathers what a host sends until it is whole frames, so that a host that dies leaves no half of one behind.
class FrameCollector {
 public:
  // Appends whole frames. False: what came are no frames of a host.
  bool feed(std::string_view bytes, std::string& out);

 private:
  std::string pending_;
};

// Carries the guest's stream between the container that is attached and whichever daemon there is. Belongs to
// the loop thread of the broker. Without a daemon, what the guest says is dropped; it is never held up.
class Relay final : public Line, public std::enable_shared_from_this<Relay> {
 public:
  // Whether the guest may have said something before anybody was attached.
  enum class Guest : std::uint8_t { is_silent, has_spoken };
  Relay(boost::asio::any_io_executor executor, std::unique_ptr<net::ByteStream> attached, Guest guest);
  void start(std::function<void(std::string)> on_end) override;
  // If that is not the first, or if the guest has spoken before, it is told to begin anew.
  Result<os::Fd> open() override;
  void close() override;

 private:
  struct Host;
  boost::asio::awaitable<void> carry_up();
  boost::asio::awaitable<void> carry_down(std::shared_ptr<Host> host, bool again);

  boost::asio::any_io_executor executor_;
  std::unique_ptr<net::ByteStream> attached_;
  std::shared_ptr<Host> host_;
  BlockReader blocks_;
  FrameFilter filter_;
  os::Turn writing_;
  bool was_open_;
  std::function<void(std::string)> on_end_;
};

}  // namespace atl::sandbox::docker
