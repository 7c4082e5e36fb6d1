#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "guest/runner_protocol.h"
#include "sandbox/interpreter.h"

// The bytes of guest/runner_protocol.h. What comes from a runner is untrusted: sizes are bounded before they
// are used, and what is malformed is told as such, never guessed at. Texts come out as valid UTF-8.
namespace atl::sandbox {

std::string encode_message(guest::ToRunner letter, std::string_view payload);

// Cuts a runner's stream into messages. Holds at most one message that is not complete. Belongs to one
// thread.
class RunnerReader {
 public:
  struct Message {
    char letter = 0;
    std::string_view mark;  // of the execution that it is about; empty if it names none
    std::string_view payload;
  };

  void add(std::string_view bytes) { bytes_.append(bytes); }
  // What came so far was of another interpreter.
  void clear() { bytes_.clear(), taken_ = 0, is_broken_ = false, word_.clear(); }
  // Messages begin behind that word; everything before it is passed over.
  void skip_to(std::string word) { clear(), word_ = std::move(word); }
  // The next one that is whole, good until the next call of anything here; none: more must come, or it is
  // broken.
  std::optional<Message> next();
  // No honest runner sends what came. Stays so until clear().
  bool is_broken() const { return is_broken_; }

 private:
  bool find_word();
  std::optional<Message> need_more();
  std::optional<Message> refuse();

  std::string bytes_;
  std::size_t taken_ = 0;  // of bytes_, by messages that were given out
  std::string word_;       // empty: none is looked for
  bool is_broken_ = false;
};

// None: it is malformed.
std::optional<ResultBundle> decode_result(std::string_view payload);
std::optional<ExecutionError> decode_failure(std::string_view payload);
struct RunnerDone {
  int exit_code = 0;
  std::uint64_t count = 0;  // executions of this interpreter
};
std::optional<RunnerDone> decode_done(std::string_view payload);

}  // namespace atl::sandbox
