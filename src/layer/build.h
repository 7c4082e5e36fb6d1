#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "layer/store.h"

// Environments made from recipes: Debian packages at the bottom, then one layer a step.
namespace atl::layer {

struct Step {
  std::string run;  // for /bin/sh -e, as root
  bool network = false;
  // With a network: what may be reached, and what of it may not (docs/guides/network.md).
  std::vector<std::string> allow, deny;
};

struct Recipe {
  std::string name;
  std::string from;                   // an environment to start from; empty: packages
  std::string suite;                  // of Debian; empty: this machine's
  std::vector<std::string> packages;  // without `from`, at least one
  std::vector<Step> steps;
  std::map<std::string, std::string> env;
  std::string user = "user";
  std::string working_directory = "/home/user";
};

// Names a recipe by everything that decides about its layers. `below` is the name of the recipe that made
// what it starts from; without one, where it starts from something, it has no name: empty.
std::string name_of(const Recipe& recipe, const std::string& below);

// Asked to stop from elsewhere: another thread, a signal's handler thread.
class Interrupt {
 public:
  // From any thread, any number of times. Runs the action of on_raise() on this thread.
  void raise();
  bool raised() const { return raised_; }
  // Code::canceled once raised.
  Result<void> check() const;
  // What to do when it is raised; at once if it is already. One at a time; empty to forget.
  void on_raise(std::function<void()> action);

 private:
  std::atomic<bool> raised_ = false;
  std::mutex mutex_;
  std::function<void()> action_;
};

// Who runs a step: a sandbox with these layers (lowest first) as its root. What the step changed goes into
// the draft's tree as an overlay layer.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  // After a failure the caller throws the draft away.
  virtual Result<void> run(const Step& step, const std::vector<std::string>& layers, Draft& draft) = 0;
};

struct BuildOptions {
  bool fresh = false;  // do not take layers of earlier builds
  // The time that everything in a built layer is not younger than.
  std::int64_t epoch = 1'700'000'000;
  std::function<void(const std::string&)> progress;
  // Where mmdebstrap is, and where the machine's apt configuration.
  std::string debian_program = "/usr/bin/mmdebstrap";
  std::string apt_directory = "/etc/apt";
};

struct BuildResult {
  Stack stack;
  std::size_t reused = 0, made = 0;  // layers
};

// All or nothing: an interrupted build leaves only whole layers that the next one takes up again (and that
// collect() removes otherwise).
// Errors name the step. Code::canceled after an interrupt.
Result<BuildResult> build(Store& store, const Recipe& recipe, StepRunner& runner, Interrupt& interrupt,
                          const BuildOptions& options);

// Takes out of a layer what differs from one run to the next and nobody needs: temporary files, caches, logs.
// Times after `epoch` become it.
Result<void> tidy(int tree, OverlayAttributes attributes, std::int64_t epoch);

}  // namespace atl::layer
