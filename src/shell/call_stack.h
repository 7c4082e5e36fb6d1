#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shell/args.h"
#include "shell/cow.h"
#include "shell/options.h"
#include "shell/variable.h"

namespace atl::shell {

// One level of the call stack: a function, a sourced file, or the assignments before a command (then without
// a name).
struct Frame {
  std::string name;    // "source" for a sourced file
  std::string source;  // file the code is in
  int call_line = 0;
  bool function = false;
  std::shared_ptr<const Args> args;  // with extdebug, for BASH_ARGV
  // Variables that this frame hides, with what they were before (nothing: unset). Variables::pop_frame puts
  // them back.
  std::vector<std::pair<std::string, std::optional<Variable>>> saved;
  std::optional<Options> options;  // `local -`
};

// Where a shell is in its script: what called what, with which arguments, and the current line. A plain
// value: a subshell starts with a copy. Frames that hide variables must be removed through
// Variables::pop_frame, which restores them; nothing else removes a frame.
struct CallStack {
  std::vector<Cow<Frame>> frames;    // the innermost is the last
  std::shared_ptr<const Args> args;  // $1 and on; null if there are none
  std::string arg0 = "bash";         // $0
  int line = 0;                      // of the command that runs now
  int depth = 0;                     // functions, sourced files and evals that run now
  int source_depth = 0;              // sourced files that run now

  // Back to the top of a script: no frame and no line. Keeps the arguments.
  void leave_script();
  // Whether a function runs.
  bool in_function() const;
  // The file of the innermost frame that has one; null if there is none.
  const std::string* source() const;
  // The index of the innermost function's frame; frames.size() if no function runs.
  std::size_t function_frame() const;
};

}  // namespace atl::shell
