#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "os/fd.h"
#include "sandbox/process.h"

namespace atl::sandbox {

class ProcessTap;

// The streams of an interpreter that was forked into its sandbox with the host at the other end: two wake-ups
// from request to result instead of four through the guest. The tap gets what was written to standard output
// and error before a control message before that message, and a tap that holds much holds the writer back.
//
// Belongs to the loop thread.
class DirectStreams : public std::enable_shared_from_this<DirectStreams> {
 public:
  DirectStreams(boost::asio::any_io_executor executor, os::Fd control, os::Fd out, os::Fd err);

  // Begins to listen. `broke` is called once if the interpreter breaks the rules of its control stream.
  void start(std::weak_ptr<ProcessTap> tap, std::function<void()> broke);
  // To the control stream, in order; what does not fit now goes out as the interpreter takes it.
  void write(std::string_view bytes);
  // The tap has taken something.
  void resume();
  // The process has ended and another goes on with its streams: tells what is still there. False if it broke
  // the rules.
  bool tell_rest();
  // The process has ended: tells what is still there, then closes.
  void finish();

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  struct Pipe {
    Descriptor descriptor;
    Stream stream;
    bool waiting = false;
  };

  void wait_for(Pipe& pipe);
  void wait_for_control();
  // At most `limit` bytes to the tap. False if the tap holds too much.
  bool pump(Pipe& pipe, std::size_t limit);
  void hear_control();
  void tell_rest_of(Pipe& pipe);
  void flush();
  bool is_full() const;

  Pipe out_, err_;
  Descriptor control_;
  bool waiting_for_control_ = false;
  bool stopped_ = false;  // the tap holds too much
  bool writing_ = false;
  std::weak_ptr<ProcessTap> tap_;
  std::function<void()> broke_;
  std::string unsent_;
};

}  // namespace atl::sandbox
