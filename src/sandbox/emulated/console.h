#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "os/event.h"
#include "sandbox/process.h"

namespace atl::sandbox::emulated {

// The streams of a script between the thread that runs it and the loop thread where its listeners live. The
// worker waits when a listener is behind by 256 KiB and when it reads input that is not there yet; abandon()
// lets it go. Shared by the script, by the worker's messages on their way to the loop, and by listeners, each
// of which may be the last.
class Console : public std::enable_shared_from_this<Console> {
 public:
  explicit Console(const boost::asio::any_io_executor& executor) : executor_(executor), changed_(executor) {}

  // On the worker.
  // Dropped after abandon().
  void write(Stream stream, std::string_view bytes);
  std::string read();  // empty at the end of the input

  // From any thread: writes are dropped and reads end from now on.
  void abandon();

  // On the loop.
  // A listener hears everything from now on, and what was kept of before if it wants a replay. It may outlive
  // the console's owner.
  std::unique_ptr<ProcessStream> attach(Replay replay);
  // Code::conflict after close_input().
  Task<void> write_input(std::string bytes);
  void close_input();
  // These two may be asked from any thread.
  bool input_closed() const;
  // After everything the worker wrote.
  void finish(Outcome outcome);
  bool finished() const { return outcome_.has_value(); }
  // Ends when finish() was called; at once if it was.
  Task<Outcome> wait();
  std::uint64_t bytes_written() const;

 private:
  friend class ConsoleStream;
  struct Piece {
    Stream stream;
    std::string bytes;
  };
  using PiecePtr = std::shared_ptr<const Piece>;  // in the queues of all listeners, stored once
  struct Listener {
    std::deque<PiecePtr> queue;
    bool ended = false;
  };
  void post(Stream stream, std::string_view bytes);
  void deliver(const PiecePtr& piece);

  boost::asio::any_io_executor executor_;
  mutable std::mutex lock_;
  std::condition_variable moved_;
  std::size_t pending_ = 0;  // bytes on their way to listeners
  std::uint64_t written_ = 0;
  std::string input_;
  bool input_closed_ = false;
  bool abandoned_ = false;

  // Loop only.
  os::Event changed_;
  std::vector<std::weak_ptr<Listener>> listeners_;
  std::deque<Piece> recent_;
  std::size_t recent_bytes_ = 0;
  std::optional<Outcome> outcome_;
};

}  // namespace atl::sandbox::emulated
