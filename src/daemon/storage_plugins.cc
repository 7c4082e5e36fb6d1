#include "daemon/storage_plugins.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/log.h"
#include "os/file.h"
#include "storage/plugin_storage.h"

namespace atl::daemon {
namespace {

namespace asio = boost::asio;

constexpr std::string_view kPlugin = "/run/atoll-storage/plugin";
constexpr std::string_view kHost = "/run/atoll-storage/bin";
constexpr std::string_view kSocket = "/run/atoll-storage/socket";
constexpr std::string_view kData = "/run/atoll-storage/data";
constexpr std::chrono::milliseconds kPauseMax{30'000};
constexpr int kStartTries = 200;  // of 50 ms

Error wrong_storage(const std::string& name, std::string_view problem) {
  return Error(Code::invalid_argument, fmt::format("storages.{}: {}", name, problem)).with_field("storages");
}

Result<std::string> library_of(const sandbox::emulated::StorageDeclaration& storage,
                               const std::vector<std::string>& directories) {
  const auto found = storage.options.find("library");
  if (found == storage.options.end() || found->second.empty() ||
      found->second.find('/') != std::string::npos || found->second.starts_with('.'))
    return fail(wrong_storage(storage.name,
                              "'library' is the file name of a shared object in one of 'tools.plugins'"));
  for (const std::string& directory : directories) {
    std::string path = directory + "/" + found->second;
    std::error_code failed;
    if (std::filesystem::is_regular_file(path, failed)) return path;
  }
  return fail(
      wrong_storage(storage.name, fmt::format("no directory of 'tools.plugins' has '{}'", found->second)));
}

sandbox::Spec spec_of(const StoragePlugin& plugin, const std::string& host) {
  sandbox::Spec spec;
  spec.id = new_sandbox_id();
  spec.environment = "host";
  spec.limits.processes_max = 4;
  spec.working_directory = "/";
  spec.host_mounts = {
      {.host_path = plugin.library.substr(0, plugin.library.rfind('/')), .guest_path = std::string(kPlugin)},
      {.host_path = host, .guest_path = std::string(kHost)},
      {.host_path = plugin.socket_place, .guest_path = std::string(kSocket), .writable = true},
      {.host_path = plugin.path, .guest_path = std::string(kData), .writable = true}};
  return spec;
}

sandbox::ProcessSpec process_of(const StoragePlugin& plugin) {
  sandbox::ProcessSpec spec;
  spec.argv = {fmt::format("{}/atoll", kHost),
               "plugin-host",
               fmt::format("{}/{}", kPlugin, plugin.library.substr(plugin.library.rfind('/') + 1)),
               plugin.storage.empty() ? "-" : plugin.storage,
               "--socket",
               fmt::format("{}/s", kSocket),
               "--data",
               std::string(kData)};
  spec.ends_with = sandbox::EndsWith::process;
  return spec;
}

}  // namespace

Result<std::vector<StoragePlugin>> storage_plugins(
    const std::vector<sandbox::emulated::StorageDeclaration>& declared,
    const std::vector<std::string>& directories, const std::string& sockets) {
  std::vector<StoragePlugin> plugins;
  for (const auto& storage : declared) {
    if (storage.kind != "plugin") continue;
    StoragePlugin plugin;
    plugin.name = storage.name;
    plugin.library = TRY(library_of(storage, directories));
    if (const auto inner = storage.options.find("storage"); inner != storage.options.end())
      plugin.storage = inner->second;
    plugin.path = storage.options.find("path")->second;
    const std::string socket = storage::plugin_socket(sockets, plugin.path);
    plugin.socket_place = socket.substr(0, socket.rfind('/'));
    TRY(os::make_directories(plugin.path, 0700));
    TRY(os::make_directories(plugin.socket_place, 0700));
    plugins.push_back(std::move(plugin));
  }
  return plugins;
}

struct StoragePlugins::State {
  struct Kept {
    explicit Kept(asio::any_io_executor executor, StoragePlugin what)
        : plugin(std::move(what)), pause(std::move(executor)) {}
    StoragePlugin plugin;
    asio::steady_timer pause;
    std::unique_ptr<sandbox::Sandbox> sandbox;
  };

  asio::any_io_executor executor;
  sandbox::Provider* native = nullptr;
  std::string host;
  std::vector<std::unique_ptr<Kept>> all;
  bool is_stopping = false;

  // One life of the process, until it ends.
  static Task<void> live(std::shared_ptr<State> state, Kept& kept) {
    CO_TRY(kept.sandbox, co_await state->native->create(spec_of(kept.plugin, state->host)));
    if (state->is_stopping) co_return Result<void>();
    CO_TRY(const auto process, co_await kept.sandbox->start(process_of(kept.plugin)));
    const auto stream = process->attach(sandbox::Replay::recent);
    while (true) {
      CO_TRY(const sandbox::ProcessEvent event, co_await stream->next());
      if (const auto* output = std::get_if<sandbox::Output>(&event)) {
        log::warn("a storage plugin says",
                  {{"storage", kept.plugin.name}, {"text", to_valid_utf8(output->bytes)}});
        continue;
      }
      co_return fail(Code::unavailable, fmt::format("its process ended with status {}",
                                                    sandbox::exit_status(std::get<sandbox::Outcome>(event))));
    }
  }

  static asio::awaitable<void> keep(std::shared_ptr<State> state, Kept& kept) {
    std::chrono::milliseconds pause{100};
    while (!state->is_stopping) {
      const auto began = std::chrono::steady_clock::now();
      const auto lived = co_await live(state, kept);
      if (kept.sandbox) (void)co_await kept.sandbox->stop();
      kept.sandbox.reset();
      if (state->is_stopping) break;
      log::warn("a storage plugin is started again",
                {{"storage", kept.plugin.name}, {"error", lived ? "" : lived.error().message()}});
      if (std::chrono::steady_clock::now() - began > kPauseMax) pause = std::chrono::milliseconds(100);
      kept.pause.expires_after(pause);
      pause = std::min(2 * pause, kPauseMax);
      boost::system::error_code ignored;
      co_await kept.pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
};

StoragePlugins::StoragePlugins(asio::any_io_executor executor, sandbox::Provider* native, std::string host,
                               std::vector<StoragePlugin> plugins)
    : state_(std::make_shared<State>()) {
  state_->executor = std::move(executor);
  state_->native = native;
  state_->host = std::move(host);
  for (StoragePlugin& plugin : plugins)
    state_->all.push_back(std::make_unique<State::Kept>(state_->executor, std::move(plugin)));
}

StoragePlugins::~StoragePlugins() = default;

Task<void> StoragePlugins::start() {
  for (const auto& kept : state_->all) {
    ::unlink((kept->plugin.socket_place + "/s").c_str());  // of a process that is gone
    asio::co_spawn(state_->executor, State::keep(state_, *kept), asio::detached);
  }
  for (const auto& kept : state_->all) {
    asio::steady_timer moment(state_->executor);
    int tries = 0;
    while (!os::exists(kept->plugin.socket_place + "/s") && ++tries < kStartTries) {
      boost::system::error_code ignored;
      moment.expires_after(std::chrono::milliseconds(50));
      co_await moment.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (tries >= kStartTries)
      log::error("a storage plugin does not come up; its storage is unavailable",
                 {{"storage", kept->plugin.name}});
  }
  co_return Result<void>();
}

Task<void> StoragePlugins::stop() {
  state_->is_stopping = true;
  for (const auto& kept : state_->all) {
    kept->pause.cancel();
    if (kept->sandbox) CO_CHECK(co_await kept->sandbox->stop());
  }
  co_return Result<void>();
}

}  // namespace atl::daemon
