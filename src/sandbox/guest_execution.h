#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "os/event.h"
#include "sandbox/interpreter.h"

namespace atl::sandbox {

// One execution: what it said and was not yet heard. Shared by its interpreter and its stream. Belongs to the
// loop thread.
class GuestExecution {
 public:
  GuestExecution(const boost::asio::any_io_executor& executor, ExecutionSpec spec);

  const ExecutionSpec& spec() const { return spec_; }
  // Passes an event on to the listener; `bytes` count as held until the listener has taken it. Does nothing
  // after the end.
  void add(ExecutionEvent event, std::size_t bytes);
  // As much of this output as the limit of the execution allows; the rest is dropped.
  struct Taken {
    bool is_over_limit = false;
  };
  Taken add_output(Stream stream, std::string_view bytes);
  // Counts results. False: they are more than any execution may have.
  bool count_result(std::size_t bytes);
  // The last event.
  void finish(Outcome outcome, std::uint64_t count);
  bool is_done() const { return is_done_; }
  // Bytes that were told and not yet heard.
  std::size_t held() const { return held_; }
  // Nobody listens any more: forgets what was not heard.
  void drop_unheard() { events_.clear(), held_ = 0; }
  // The next event. Code::conflict behind the last one.
  Task<ExecutionEvent> next();

 private:
  ExecutionSpec spec_;
  os::Event changed_;
  std::deque<std::pair<ExecutionEvent, std::size_t>> events_;
  std::size_t held_ = 0;
  std::uint64_t output_bytes_ = 0;
  std::size_t result_bytes_ = 0;
  bool is_done_ = false;
};

// More results of one execution end it.
inline constexpr std::size_t kResultsMax = 128U << 20;

// How a stream calls its interpreter: `heard` after each event, `gone` when the stream is dropped, `ended`
// when its execution is to be ended for this reason.
struct StreamCalls {
  std::function<void()> heard, gone;
  std::function<void(std::string)> ended;
};
std::unique_ptr<ExecutionStream> stream_of(std::shared_ptr<GuestExecution> execution, StreamCalls calls);

}  // namespace atl::sandbox
