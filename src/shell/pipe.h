#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "shell/fiber.h"
#include "shell/machine.h"
#include "shell/open_file.h"

namespace atl::shell {

// A pipe of 64 KB. Readers and writers hold its ends; the last one to go closes that end.
// Shared by its ends. All members are for fibers of one machine; those that wait may throw Stopped.
class Pipe {
 public:
  static constexpr std::size_t capacity = 64 * 1024;
  explicit Pipe(Machine& machine) : machine_(machine) {}

  // What is in the pipe, at least one byte; waits for a writer. Empty when there is no writer any more.
  std::string_view fill();
  // Makes room: wakes a writer that waits.
  void consume(std::size_t count);
  // As OpenFile::take() and give_back(): the bytes leave the pipe, and what was not used returns to its
  // front.
  std::string_view take(Claim& claim);
  void give_back(Claim& claim, std::string_view rest);
  // Writes everything, waiting for readers; false with a reason if nobody can read any more.
  bool write(std::string_view bytes, std::string_view& error);
  // One more end, one less. Wakes whoever waits for the other side.
  void add(bool writer) {
    ++(writer ? writers_ : readers_);
    (writer ? had_writer_ : had_reader_) = true;
    machine_.scheduler.wake(queue_);
  }
  void drop(bool writer) {
    --(writer ? writers_ : readers_);
    machine_.scheduler.wake(queue_);
  }
  // A read would not wait: there are bytes, or no writer is left.
  bool ready() const { return head_ < data_.size() || writers_ == 0; }
  // Waits until the other end of a FIFO is opened.
  void wait_for_peer(bool writer);
  Machine& machine() { return machine_; }

 private:
  Machine& machine_;
  std::string data_;
  std::size_t head_ = 0;
  int readers_ = 0;
  int writers_ = 0;
  bool had_reader_ = false;
  bool had_writer_ = false;
  WaitQueue queue_;
};

}  // namespace atl::shell
