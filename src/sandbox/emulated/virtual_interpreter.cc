#include "sandbox/emulated/virtual_interpreter.h"

#include <signal.h>

#include <algorithm>

namespace atl::sandbox::emulated {

class InterpreterStream final : public ExecutionStream {
 public:
  InterpreterStream(std::shared_ptr<VirtualInterpreter> interpreter,
                    std::shared_ptr<VirtualInterpreter::Execution> execution)
      : interpreter_(std::move(interpreter)),
        execution_(std::move(execution)),
        events_(execution_->script->console()->attach(Replay::none)) {}
  ~InterpreterStream() override { interpreter_->abandon(execution_); }

  Task<ExecutionEvent> next() override {
    auto execution = execution_;
    CO_TRY(auto event, co_await events_->next());
    if (auto* output = std::get_if<Output>(&event)) co_return ExecutionEvent(std::move(*output));
    ExecutionDone done;
    done.outcome = std::get<Outcome>(std::move(event));
    done.execution_count = execution->count;
    co_return ExecutionEvent(std::move(done));
  }

 private:
  std::shared_ptr<VirtualInterpreter> interpreter_;
  std::shared_ptr<VirtualInterpreter::Execution> execution_;
  std::unique_ptr<ProcessStream> events_;
};

Task<std::unique_ptr<ExecutionStream>> VirtualInterpreter::execute(ExecutionSpec spec) {
  if (closed_) co_return fail(Code::unavailable, "the interpreter is gone");
  auto execution = std::make_shared<Execution>();
  execution->spec = std::move(spec);
  execution->script = std::make_shared<Script>(executor_, shell_, meter_);
  execution->script->console()->close_input();
  queue_.push_back(execution);
  std::unique_ptr<ExecutionStream> stream =
      std::make_unique<InterpreterStream>(shared_from_this(), execution);
  run_next();
  co_return stream;
}

void VirtualInterpreter::put_variables(const Variables& variables) {
  auto exported = shell_->environment();
  for (const auto& [name, value] : variables) {
    auto old = std::ranges::find(exported, name, &std::pair<std::string, std::string>::first);
    saved_.emplace_back(name, old == exported.end() ? std::nullopt : std::optional(old->second));
    shell_->set_variable(name, value);
  }
}

void VirtualInterpreter::run_next() {
  if (running_ || queue_.empty()) return;
  running_ = true;
  auto execution = queue_.front();
  execution->count = ++count_;
  put_variables(execution->spec.env);
  ScriptLimits limits{execution->spec.wall_time, execution->spec.output_bytes};
  if (!limits.wall_time) limits.wall_time = limits_.wall_time;
  if (!limits.output_bytes) limits.output_bytes = limits_.output_bytes;
  // The interpreter stays until its execution ended.
  execution->script->start(
      execution->spec.code, limits,
      [self = shared_from_this()](Outcome&, const shell::Executed& executed) { self->ended(executed); });
}

void VirtualInterpreter::ended(const shell::Executed& executed) {
  running_ = false;
  queue_.pop_front();
  if (restart_ || executed.exited) {
    restart_ = false;
    saved_.clear();
    shell_ = make_shell_();
    for (auto& waiting : queue_) waiting->script->use(shell_);
  }
  for (const auto& [name, value] : std::exchange(saved_, {})) {
    if (value) {
      shell_->set_variable(name, *value);
    } else {
      (void)shell_->execute("unset " + name);
    }
  }
  if (!closed_) run_next();
}

void VirtualInterpreter::abandon(const std::shared_ptr<Execution>& execution) {
  auto place = std::ranges::find(queue_, execution);
  if (place == queue_.end()) return;
  if (place == queue_.begin() && running_) {
    execution->script->end(Ending::killed, SIGINT, "interrupted: its stream was closed");
  } else {
    queue_.erase(place);
  }
}

Task<void> VirtualInterpreter::interrupt() {
  if (running_) queue_.front()->script->end(Ending::killed, SIGINT, "interrupted");
  co_return Result<void>();
}

Task<void> VirtualInterpreter::restart() {
  if (closed_) co_return fail(Code::unavailable, "the interpreter is gone");
  if (running_) {
    restart_ = true;
    auto script = queue_.front()->script;
    script->end(Ending::killed, SIGKILL, "the interpreter was restarted");
    CO_CHECK(co_await script->console()->wait());
  } else {
    shell_ = make_shell_();
  }
  co_return Result<void>();
}

void VirtualInterpreter::close(const std::string& reason) {
  closed_ = true;
  if (running_) queue_.front()->script->end(Ending::killed, SIGKILL, reason);
  for (std::size_t i = running_ ? 1 : 0; i < queue_.size(); ++i) {
    Outcome outcome;
    outcome.ending = Ending::killed;
    outcome.signal = SIGKILL;
    outcome.reason = reason;
    queue_[i]->script->console()->finish(std::move(outcome));
  }
  queue_.resize(running_ ? 1 : 0);
}

}  // namespace atl::sandbox::emulated
