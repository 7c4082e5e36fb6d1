#pragma once

#include <functional>
#include <string>

#include "api/e2b/layer_cache.h"
#include "api/e2b/recipe.h"
#include "api/e2b/templates.h"

namespace atl::api::e2b {

// One build: the steps of a recipe, each performed in a sandbox of its own on the layers of those before it
// and frozen as a layer, unless that layer is kept already; then the start and ready commands. Belongs to the
// loop thread; context, templates and cache must outlive it. run() is called once, and ends the sandbox that
// it made whether it succeeds or not.
class BuildJob {
 public:
  using Log = std::function<void(std::string level, std::string message, std::string step)>;
  struct Done {
    std::string snapshot;  // empty: nothing differs from the environment
    TemplateSettings settings;
  };

  // `upload_of` gives the host's file with what a COPY step copies, by its hash.
  BuildJob(Context& context, Templates& templates, LayerCache& cache, auth::Principal who, Recipe recipe,
           std::function<std::string(const std::string&)> upload_of, Log log)
      : context_(context),
        templates_(templates),
        cache_(cache),
        who_(std::move(who)),
        recipe_(std::move(recipe)),
        upload_of_(std::move(upload_of)),
        log_(std::move(log)) {}

  Task<Done> run();
  // Where it stands: "base", the number of the step, or "finalize".
  const std::string& step() const { return step_; }

 private:
  Task<void> find_base();
  // How many steps need not be performed.
  Task<std::size_t> skip_kept();
  std::vector<std::string> base_layers() const;
  void take_image_settings();
  // On the newest layer.
  Task<void> open_sandbox();
  boost::asio::awaitable<void> close_sandbox();
  Task<void> perform_from(std::size_t first);
  Task<void> perform(const Step& step);
  Task<void> copy(const Step& step);
  struct Line {
    std::string text, user, directory;
    std::string shown;  // in messages
  };
  boost::asio::awaitable<bool> has_user(std::string name);
  Task<void> run_line(Line line);
  Task<void> start_and_wait();
  Task<std::string> keep();
  Result<void> note(const Step& step);

  Context& context_;
  Templates& templates_;
  LayerCache& cache_;
  auth::Principal who_;
  Recipe recipe_;
  std::function<std::string(const std::string&)> upload_of_;
  Log log_;
  std::string step_ = "base";
  TemplateSettings settings_;       // as the steps so far leave them
  std::string snapshot_;            // the state that the sandbox started from, or the last one kept
  std::string snapshot_tenant_;     // whose it is, if not this tenant's
  bool is_kept_ = true;             // nothing was done since
  std::vector<std::string> names_;  // of the layers
  std::string session_id_;          // empty: no sandbox stands
};

// Whether it is still worth waiting; an error says why not.
using GoesOn = std::function<Result<void>()>;
// Runs a ready command in the sandbox until it succeeds. `limit` over: Code::deadline_exceeded. `goes_on`, if
// there is one, is asked after each attempt, also one that succeeded.
Task<void> wait_until_ready(Context& context, auth::Principal who, std::string session_id,
                            TemplateSettings settings, std::string command, std::chrono::milliseconds limit,
                            GoesOn goes_on = {});
// A command of the template's, with its user, directory and variables.
session::CommandRequest template_command(const TemplateSettings& settings, std::string line);

}  // namespace atl::api::e2b
