#include "session/saved_states.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <filesystem>

#include "os/file.h"
#include "os/offload.h"
#include "session/retry.h"
#include "session/subject.h"

namespace atl::session {
namespace {

bool is_own_state(const std::string& name) {
  return name.starts_with("fork_") || name.starts_with("hib_");
}

// Removes what a failed attempt left, because it would be in the way of the next one.
Task<void> snapshot_once(std::shared_ptr<sandbox::Sandbox> in, sandbox::Provider* provider,
                         std::string path) {
  Result<void> taken = co_await in->snapshot(path);
  if (!taken) auto removed = co_await provider->discard_snapshot(path);
  co_return taken;
}

}  // namespace

Result<void> SavedStates::prepare() const {
  if (!is_enabled()) return {};
  std::error_code failed;
  std::filesystem::create_directories(directory_, failed);
  if (failed) return fail(errno_error(failed.value(), "create the snapshot directory"));
  return {};
}

Task<void> SavedStates::keep_layers(LivePtr live, std::string name) {
  auto keep = [use = dependencies_.layer_use, name, sandbox = live->incarnation()] {
    return use->keep(name, sandbox);
  };
  Result<void> kept = co_await os::offload<void>(disk_, std::move(keep));
  if (!kept) auto removed = co_await live->provider()->discard_snapshot(path(name));
  co_return kept;
}

Task<void> SavedStates::take_snapshot(LivePtr live, std::string name) {
  const std::shared_ptr<sandbox::Sandbox> in = live->sandbox();
  if (!in) co_return fail(Code::conflict, "the session has ended");
  auto once = [in, provider = live->provider(), to = path(name)]() -> Task<void> {
    return snapshot_once(in, provider, to);
  };
  auto go_on = [live, in] { return live->sandbox() == in; };
  const trace::Span span(live->trace(), "sandbox.snapshot");
  About about(live);
  CO_CHECK(co_await with_retries<void>(dependencies_.executor, "take a snapshot", std::move(about),
                                       std::move(once), std::move(go_on)));
  co_return co_await keep_layers(live, std::move(name));
}

Task<sandbox::Carried> SavedStates::take_checkpoint(LivePtr live, std::string name,
                                                    sandbox::CheckpointOptions options) {
  const std::shared_ptr<sandbox::Sandbox> in = live->sandbox();
  if (!in) co_return fail(Code::conflict, "the session has ended");
  auto once = [in, to = path(name), options] { return in->checkpoint(to, options); };
  auto go_on = [live, in] { return live->sandbox() == in; };
  const trace::Span span(live->trace(), "sandbox.checkpoint");
  About about(live);
  CO_TRY(sandbox::Carried carried,
         co_await with_retries<sandbox::Carried>(dependencies_.executor, "take a checkpoint",
                                                 std::move(about), std::move(once), std::move(go_on)));
  CO_CHECK(co_await keep_layers(live, std::move(name)));
  co_return carried;
}

Task<void> SavedStates::remove(std::string name, sandbox::Provider* provider) {
  dependencies_.layer_use->end_snapshot(name);
  std::string directory = path(name);
  if (provider != nullptr) co_return co_await provider->discard_snapshot(std::move(directory));
  auto remove = [directory] { return os::remove_tree(AT_FDCWD, directory); };
  co_return co_await os::offload<void>(removing_, std::move(remove));
}

void SavedStates::discard(const Live& live, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!is_own_state(name) || copied_.contains(name)) continue;
    const bool shared = std::ranges::any_of(dependencies_.table->all(), [&](const LivePtr& one) {
      return one.get() != &live && one->facts().snapshot == name;
    });
    if (shared) continue;
    dependencies_.layer_use->end_snapshot(name);
    // More than a directory: an engine's image, or something at another service.
    if (live.provider() != nullptr && (live.traits().images || live.traits().templates)) {
      boost::asio::co_spawn(dependencies_.executor, live.provider()->discard_snapshot(path(name)),
                            boost::asio::detached);
      continue;
    }
    boost::asio::post(
        removing_, [directory = path(name), provider = live.provider(), executor = dependencies_.executor] {
          if (os::remove_tree(AT_FDCWD, directory) || provider == nullptr) return;
          // Where the service is an ordinary user, the files belong to ids that only the provider has power
          // over.
          boost::asio::post(executor, [=] {
            boost::asio::co_spawn(executor, provider->discard_snapshot(directory), boost::asio::detached);
          });
        });
  }
}

Task<void> SavedStates::sweep(std::set<std::string> known) {
  using Paths = std::vector<std::string>;
  auto work = [directory = directory_, known = std::move(known)]() -> Result<Paths> {
    Paths left;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
      const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(failed);
      if (known.contains(entry.path().filename().string()) || age <= std::chrono::hours(1)) continue;
      if (!os::remove_tree(AT_FDCWD, entry.path().string())) left.push_back(entry.path().string());
    }
    return left;
  };
  CO_TRY(const Paths left, co_await os::offload<Paths>(removing_, std::move(work)));
  // For a state that no session refers to it is not known which provider wrote it, so only its directory is
  // removed. Providers that keep more than a directory remove the rest themselves.
  for (const std::string& path : left)
    for (sandbox::Provider* const provider : dependencies_.providers)
      if (!provider->traits().images && !provider->traits().templates)
        if (auto removed = co_await provider->discard_snapshot(path)) break;
  co_return Result<void>();
}

}  // namespace atl::session
