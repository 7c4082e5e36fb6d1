#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shell/command.h"
#include "shell/files/walk.h"
#include "shell/regex/regex.h"
#include "shell/text/sink.h"

namespace atl::shell::find {

// What the expression is tested on: one file that the walk came to.
struct Subject {
  const Visit* visit = nullptr;
  const std::string* start = nullptr;  // the operand it was found under
  std::optional<vfs::Stat> stat;       // filled on demand
};

// What the whole run of find shares. `prune` and `quit` are set by the expression and read by the walk.
struct Context {
  Invocation& call;
  Sink& out;
  bool follow = false;
  bool prune = false, quit = false;
  int status = 0;
  std::vector<std::pair<std::string, std::unique_ptr<Output>>> files;

  // Null if the file is gone.
  const vfs::Stat* stat(Subject& subject);
};

// One primary or operator. The tree is as deep as the parentheses the user typed.
class Expression {
 public:
  virtual ~Expression() = default;
  // Whether it holds; actions do what they do and say whether they succeeded.
  virtual bool test(Context& context, Subject& subject) = 0;
  // Runs what -exec ... + collected.
  virtual void finish(Context&) {}
};

// Options that apply to the whole command wherever they stand.
struct Settings {
  int min_depth = 0, max_depth = 1 << 30;
  bool depth_first = false, has_action = false, days_start = false;
};

// Parses args[at..]; complains about nothing itself: the error's message is what find says.
Result<std::unique_ptr<Expression>> parse(Invocation& call, const std::vector<std::string>& args,
                                          Settings& settings);

}  // namespace atl::shell::find
