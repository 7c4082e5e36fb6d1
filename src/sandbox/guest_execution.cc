#include "sandbox/guest_execution.h"

#include <algorithm>

#include "sandbox/endable.h"

namespace atl::sandbox {

GuestExecution::GuestExecution(const boost::asio::any_io_executor& executor, ExecutionSpec spec)
    : spec_(std::move(spec)), changed_(executor) {}

void GuestExecution::add(ExecutionEvent event, std::size_t bytes) {
  if (is_done_) return;
  held_ += bytes;
  events_.emplace_back(std::move(event), bytes);
  changed_.notify();
}

GuestExecution::Taken GuestExecution::add_output(Stream stream, std::string_view bytes) {
  Taken taken;
  if (spec_.output_bytes) {
    const std::uint64_t left = *spec_.output_bytes - std::min(*spec_.output_bytes, output_bytes_);
    taken.is_over_limit = bytes.size() > left;
    bytes = bytes.substr(0, left);
  }
  output_bytes_ += bytes.size();
  if (!bytes.empty()) add(Output{stream, std::string(bytes)}, bytes.size());
  return taken;
}

bool GuestExecution::count_result(std::size_t bytes) {
  result_bytes_ += bytes;
  return result_bytes_ <= kResultsMax;
}

void GuestExecution::finish(Outcome outcome, std::uint64_t count) {
  if (is_done_) return;
  outcome.usage.output_bytes = output_bytes_;
  add(ExecutionDone{std::move(outcome), count}, 0);
  is_done_ = true;
}

Task<ExecutionEvent> GuestExecution::next() {
  while (events_.empty() && !is_done_) CO_CHECK(co_await changed_.wait());
  if (events_.empty()) co_return fail(Code::conflict, "the execution has ended and its end was told");
  ExecutionEvent event = std::move(events_.front().first);
  held_ -= events_.front().second;
  events_.pop_front();
  co_return event;
}

namespace {

class GuestExecutionStream final : public ExecutionStream, public Endable {
 public:
  GuestExecutionStream(std::shared_ptr<GuestExecution> execution, StreamCalls calls)
      : execution_(std::move(execution)), calls_(std::move(calls)) {}
  ~GuestExecutionStream() override { calls_.gone(); }

  Task<ExecutionEvent> next() override {
    CO_TRY(ExecutionEvent event, co_await execution_->next());
    calls_.heard();
    co_return event;
  }
  void end(std::string reason) override { calls_.ended(std::move(reason)); }

 private:
  std::shared_ptr<GuestExecution> execution_;
  StreamCalls calls_;
};

}  // namespace

std::unique_ptr<ExecutionStream> stream_of(std::shared_ptr<GuestExecution> execution, StreamCalls calls) {
  return std::make_unique<GuestExecutionStream>(std::move(execution), std::move(calls));
}

}  // namespace atl::sandbox
