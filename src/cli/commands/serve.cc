#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/log.h"
#include "cli/command.h"
#include "cli/mistakes.h"
#include "cli/settings.h"
#include "cli/version.h"
#include "daemon/daemon.h"
#include "daemon/data_directory.h"

namespace atl::cli {
namespace {

namespace asio = boost::asio;

// The directory of this program, if typing `atoll` elsewhere would not start it; else empty.
std::string directory_off_the_path() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none);
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path candidate = fs::path(directory) / "atoll";
    if (::access(candidate.c_str(), X_OK) != 0) continue;
    if (fs::equivalent(candidate, self, none)) return {};
    break;
  }
  return self.parent_path().string();
}

// Whoever starts it for the first time learns what was made where, and what to type next: lines that work as
// they stand.
void greet(const daemon::Ready& ready, const std::string& data) {
  const std::string address = ready.addresses.empty() ? std::string() : ready.addresses.front();
  // Commands look for the service of the usual directory unless they are told of another.
  const std::string where =
      data.empty() || data == config::default_data_directory() ? "" : " --data " + quoted_for_shell(data);
  fmt::print("Welcome to Atoll {}. This is its first start.\n", version());
  if (!data.empty()) fmt::print("Made: {} (sessions, history, keys; for you alone)\n", data);
  fmt::print("API key (shown only now): {}\n", ready.new_key);
  fmt::print("In another terminal:\n");
  if (const std::string directory = directory_off_the_path(); !directory.empty())
    fmt::print("First: export PATH={}:$PATH\n", quoted_for_shell(directory));
  fmt::print("Try: atoll quickstart{}\n", where);
  fmt::print("Try: atoll session create{}\n", where);
  constexpr std::string_view socket = "unix:";
  const bool here_alone = address.starts_with("http://127.") || address.starts_with("http://[::1]");
  if (address.starts_with(socket))
    fmt::print("Try: curl -X POST -H 'X-API-Key: {}' --unix-socket {} http://localhost/api/sessions\n\n",
               ready.new_key, quoted_for_shell(address.substr(socket.size())));
  else
    fmt::print(
        "Try: curl -X POST -H 'X-API-Key: {0}' {1}/api/sessions\n"
        "As another {2}: export ATOLL_URL={1} ATOLL_API_KEY=the key above\n\n",
        ready.new_key, address, here_alone ? "user" : "user, or from another machine");
}

// False if nobody could read it.
bool announce(const daemon::Ready& ready, const std::string& data) {
  if (!ready.new_key.empty()) greet(ready, data);
  fmt::print("atoll {} ready on {}\n", version(), fmt::join(ready.addresses, " and "));
  return flush_output();
}

// SIGHUP reads the registry again. Ends when the signals are canceled.
asio::awaitable<void> reload_on_hangup(asio::signal_set& hangup, daemon::Daemon& daemon) {
  while (true) {
    const auto [failed, number] = co_await hangup.async_wait(asio::as_tuple(asio::use_awaitable));
    if (failed) co_return;
    if (auto done = daemon.reload(); !done)
      log::error("the registry cannot be used; what was there stays", {{"error", done.error().message()}});
    else
      log::info("the registry was read again");
  }
}

// Starts, waits for SIGTERM or SIGINT, stops. A second signal while stopping ends the process at once.
asio::awaitable<void> serve(asio::io_context& loop, daemon::Daemon& daemon, std::string data, int& status) {
  Result<daemon::Ready> ready = co_await daemon.start();
  if (!ready) {
    status = report(ready.error());
    co_await daemon.stop();
    loop.stop();
    co_return;
  }
  // The service works without anybody reading its output, but a key that could not be shown is of no use.
  if (!announce(*ready, data) && !ready->new_key.empty())
    log::warn("the first API key could not be shown; `atoll keys create` makes another");
  asio::signal_set hangup(loop, SIGHUP);
  asio::co_spawn(loop, reload_on_hangup(hangup, daemon), asio::detached);
  asio::signal_set signals(loop, SIGTERM, SIGINT);
  co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
  signals.async_wait([&daemon](boost::system::error_code error, int) {
    if (error) return;
    daemon.abandon();
    std::_Exit(130);
  });
  hangup.cancel();
  log::info("stopping");
  co_await daemon.stop();
  signals.cancel();
  loop.stop();
}

int run(const SettingFlags& flags) {
  auto configuration = flags.load();
  if (!configuration) return report(configuration.error());
  for (const std::string& warning : configuration->warnings()) log::warn(warning);
  if (!log::set_level(configuration->text("log.level"))) {
    return report(Error(Code::invalid_argument, "log.level: expected debug, info, warn, error or off, got '" +
                                                    configuration->text("log.level") + "'"));
  }
  asio::io_context loop(1);
  auto daemon = daemon::Daemon::build(loop, *configuration);
  if (!daemon) return report(daemon.error());
  int status = 0;
  std::string data = daemon::existing_data_directory(*configuration).value_or("");
  asio::co_spawn(loop, serve(loop, **daemon, std::move(data), status), asio::detached);
  loop.run();
  return status;
}

}  // namespace

Action define_serve(Command& top) {
  Command command = top.add_command("serve", "Run the service");
  auto flags = std::make_unique<SettingFlags>();
  flags->add_to(command);
  return [flags = std::move(flags)] { return run(*flags); };
}

}  // namespace atl::cli
