#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/task.h"
#include "session/types.h"

// What a tool reports while it runs.
namespace atl::tools {

struct ToolEvent {
  enum class Kind : std::uint8_t {
    started,   // `text` is the id of the call's record
    progress,  // `text` is a message, or empty
    out,       // `text` is output of code or of a command that was to be run, in UTF-8
    err,       // `text` is what went to standard error, in UTF-8
  };
  Kind kind = Kind::progress;
  std::string text;
  std::optional<double> progress, total;  // how far it is, and of how much; of Kind::progress only
};

// Called with each event in order, on the loop thread. While its Task waits, the tool's output is held back;
// an Error from it ends the call as if the caller had left.
using ToolWatcher = std::function<Task<void>(ToolEvent)>;

// The event that a line of standard error stands for: {"progress": 3, "total": 10, "message": "page 3"}, of
// which only "progress" must be there. Nothing for every other line.
std::optional<ToolEvent> parse_progress(std::string_view line);

// Makes events of output that comes in pieces cut anywhere: standard error by lines, so that reports of
// progress are found; standard output, where it is shown at all, by whole characters.
class ProgressReader {
 public:
  enum class Shown : std::uint8_t { errors_only, everything };
  explicit ProgressReader(Shown shown) : shown_(shown) {}

  std::vector<ToolEvent> add(const sandbox::Output& output);
  // After the last piece: what was held back for its end.
  std::vector<ToolEvent> finish();

 private:
  Shown shown_;
  std::string out_, err_;  // what waits for the rest of its character or line
};

// Makes events of the output of one run and passes them to `watcher`; finish() passes on what was held back.
// Shared, because the run holds the function that feed() gives and may end after the call.
class WatchedOutput : public std::enable_shared_from_this<WatchedOutput> {
 public:
  WatchedOutput(ToolWatcher watcher, ProgressReader::Shown shown)
      : watcher_(std::move(watcher)), reader_(shown) {}

  // What the session service is given.
  session::OutputWatcher feed();
  Task<void> finish();

 private:
  static Task<void> add(std::shared_ptr<WatchedOutput> self, sandbox::Output output);
  static Task<void> tell(std::shared_ptr<WatchedOutput> self, std::vector<ToolEvent> events);

  ToolWatcher watcher_;
  ProgressReader reader_;
};

}  // namespace atl::tools
