#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>

#include "session/artifacts.h"
#include "session/cpu_budget.h"
#include "session/execution.h"
#include "session/execution_engine.h"
#include "session/live.h"

namespace atl::session {

// One execution from admission to its last record. Pulled by its caller; dropped early, it interrupts the
// guest and still writes the last record.
class RunningExecution final : public Execution {
 public:
  RunningExecution(ExecutionEngine* engine, LivePtr live, ExecutionRecord record, SteadyTime started);
  ~RunningExecution() override;

  Task<void> begin(ExecuteRequest request, sandbox::Language language, std::chrono::milliseconds wall_time);
  const std::string& record_id() const override { return record_.record_id; }
  const std::string& interpreter_restarted() const override { return record_.interpreter_restarted; }
  Task<Event> next() override;

  const ExecutionRecord& record() const { return record_; }
  // The record, for somebody else to finish.
  ExecutionRecord release() {
    over_ = true;
    return record_;
  }

 private:
  Task<Event> from_interpreter();
  Task<Event> from_process();
  Task<Event> end(sandbox::Outcome outcome);
  Task<Event> keep(sandbox::Output output);
  Task<Event> end_broken(Error error);
  // An interpreter lives on, so Linux cannot tell what one execution used: its share of what
  // the sandbox used while it ran is the answer.
  Task<void> measure(std::shared_ptr<sandbox::Sandbox> in);
  Task<void> look_and_measure();
  void watch_budget();

  ExecutionEngine* engine_;
  LivePtr live_;
  ExecutionRecord record_;
  SteadyTime started_;
  ArtifactRoom room_;
  OutputKeeper out_, err_;
  std::shared_ptr<sandbox::Interpreter> interpreter_;
  std::unique_ptr<sandbox::ExecutionStream> interpreter_stream_;
  std::shared_ptr<sandbox::Process> process_;
  std::unique_ptr<sandbox::ProcessStream> process_stream_;
  std::optional<double> cpu_entered_;  // reading of live_->cpu()
  std::shared_ptr<CpuBudget> budget_;  // null where nobody bounds its CPU time
  bool raised_ = false;
  std::optional<Live::Busy> busy_;  // set while it runs
  trace::Span span_;                // of what is under way inside
  bool over_ = false;               // the last record is written, or somebody else writes it
};

// What runs inside can go on with the trace: W3C's variable TRACEPARENT, unless the caller gave one.
void add_trace(const trace::Context& trace, TextMap& env);

// What passed through the first stream of a command, shared between that stream and the one who records.
class KeptOutput {
 public:
  KeptOutput(store::Blobs* blobs, const ExecutionEngine::Options& options, ArtifactRoom room_for_it)
      : room(std::move(room_for_it)),
        out(blobs, options.text_kept_bytes, options.artifacts.output_bytes_max, room),
        err(blobs, options.text_kept_bytes, options.artifacts.output_bytes_max, room) {}
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;
  ArtifactRoom room;
  OutputKeeper out, err;

  // The stream was read to its end, or nobody reads it any more: nothing more comes.
  void set_complete();
  // Waits for that, for a moment at most: a reader that dawdles does not hold the record back.
  Task<void> drained(boost::asio::any_io_executor executor);

  // Whoever waited for the command went away, and it was ended for that.
  void set_abandoned() { abandoned_ = true; }
  bool is_abandoned() const { return abandoned_; }

  void set_finished(Result<ExecutionRecord> record);
  Task<ExecutionRecord> finished(boost::asio::any_io_executor executor);

 private:
  bool complete_ = false;
  bool abandoned_ = false;
  std::optional<Result<ExecutionRecord>> record_;
  std::optional<boost::asio::steady_timer> waiting_, draining_;  // set while somebody waits
};

class RecordedStream final : public sandbox::ProcessStream {
 public:
  RecordedStream(std::unique_ptr<sandbox::ProcessStream> inner, std::shared_ptr<KeptOutput> kept)
      : inner_(std::move(inner)), kept_(std::move(kept)) {}
  ~RecordedStream() override { kept_->set_complete(); }
  Task<sandbox::ProcessEvent> next() override;

 private:
  std::unique_ptr<sandbox::ProcessStream> inner_;
  std::shared_ptr<KeptOutput> kept_;
};

inline constexpr const char* kClientGone = "the client went away";

// Ends a command when the one that waits for it goes away: destroyed before disarm(), it kills the process.
class Abandonment {
 public:
  Abandonment(boost::asio::any_io_executor executor, std::shared_ptr<sandbox::Process> process,
              std::shared_ptr<KeptOutput> kept)
      : executor_(std::move(executor)), process_(std::move(process)), kept_(std::move(kept)) {}
  ~Abandonment();
  Abandonment(const Abandonment&) = delete;
  Abandonment& operator=(const Abandonment&) = delete;
  void disarm() { process_.reset(); }

 private:
  boost::asio::any_io_executor executor_;
  std::shared_ptr<sandbox::Process> process_;
  std::shared_ptr<KeptOutput> kept_;
};

// Waits for the end of a command and writes its last record.
boost::asio::awaitable<void> watch_command(ExecutionEngine* engine, LivePtr live,
                                           std::shared_ptr<sandbox::Process> process, ExecutionRecord record,
                                           std::shared_ptr<KeptOutput> kept, SteadyTime started);
// Writes all of it, then closes. A program that does not read it is its own business.
boost::asio::awaitable<void> feed(std::shared_ptr<sandbox::Process> process, std::string bytes);

}  // namespace atl::session
