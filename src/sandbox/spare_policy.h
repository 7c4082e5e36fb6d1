#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace atl::sandbox {

// When a copy of an interpreter is kept that goes on in its place if it dies
// (docs/decisions/spare-interpreters.md).
struct SpareOptions {
  // Of an interpreter's private memory; with more none is made. 0: none ever.
  std::uint64_t bytes_max = 0;
  // Made when nothing was executed for so long: executions that follow each other closely cost nothing more.
  std::chrono::milliseconds calm{40};
  // Somebody waits for a sandbox or an interpreter: made later, but no later than that. May be empty.
  std::function<bool()> others_wait;
  std::chrono::milliseconds latest{500};
  // After an execution of this length it is made at once: beside that its cost is small.
  std::chrono::milliseconds at_once_after{100};
};

// What the host knows about the spare of one interpreter. Only a copy of the state right before an execution
// may go on after that execution died: an older one would silently take back what others did.
class SparePolicy {
 public:
  explicit SparePolicy(SpareOptions options) : options_(std::move(options)) {}

  const SpareOptions& options() const { return options_; }
  // Another interpreter, which has executed nothing.
  void reset() {
    const bool is_watched = is_watched_;
    *this = SparePolicy(options_);
    is_watched_ = is_watched;
  }
  // Another interpreter, which has executed something.
  void inherit() { reset(), begun_ = 1; }
  // An execution begins.
  void begin() { ++begun_; }
  // The interpreter has ended its spare.
  void forget() { asked_.reset(), kept_.reset(), named_ = 0; }

  // One should be asked for now that nothing is being executed.
  bool is_wanted() const;
  // The payload of the request: the interpreter makes a spare or says why it cannot.
  std::string request();
  // It was asked for, and interpreter and guest have not both answered: an execution that begins now could
  // die before the guest knows who goes on.
  bool is_asked() const { return asked_.has_value(); }
  // The interpreter has not answered every request.
  bool is_owed() const { return owed_ > 0; }
  // The interpreter's answer: the number of the new one, if there is one.
  std::optional<std::uint32_t> take_answer(std::string_view payload);
  // The guest knows it: from now on it goes on.
  void confirm(std::uint32_t pid);
  void give_up() { refuse("there was no answer"); }

  // The times at which a spare is asked for. Nothing is executed from `now` on; says when to look again, or
  // nothing if somebody looks already.
  using Time = std::chrono::steady_clock::time_point;
  std::optional<Time> begin_calm(Time now);
  // When to look once more; nothing: it is time to ask. Only while nothing is executed.
  std::optional<Time> look_again(Time now) const;
  // Nobody looks any more.
  void end_calm() { is_watched_ = false; }
  // After an execution of that length it is asked for at once.
  bool is_due_after(std::chrono::steady_clock::duration ran) const { return ran >= options_.at_once_after; }

  // Messages about variables that the interpreter got and its spare did not: kept while there is a spare.
  void note_variables(std::string_view words) {
    if (kept_ || asked_) variables_ += words;
  }
  std::string take_variables() { return std::exchange(variables_, {}); }

  bool is_kept() const { return kept_.has_value(); }
  // It is the state before the execution that runs, or, when none does, the present one.
  bool is_fresh(bool executing) const { return kept_ && kept_->begun + (executing ? 1 : 0) == begun_; }
  // The spare takes over now. Returns the word by which it and the host find each other again on a stream
  // that may have stopped in the middle of a message.
  std::string use();
  // Why there is none that could go on; empty if nobody wants one.
  std::string lack() const;

 private:
  void refuse(std::string why);

  struct Copy {
    std::string word;
    std::uint64_t begun = 0;
  };
  SpareOptions options_;
  std::uint64_t begun_ = 0;  // executions
  std::optional<Copy> asked_, kept_;
  std::uint32_t named_ = 0;               // by the interpreter, while it is asked
  std::uint32_t owed_ = 0;                // answers
  std::optional<std::uint64_t> refused_;  // after how many executions
  std::string refusal_;
  Time calm_since_{};
  bool is_watched_ = false;  // somebody will look_again()
  std::string variables_;
};

}  // namespace atl::sandbox
