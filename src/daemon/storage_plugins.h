#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "os/task.h"
#include "sandbox/provider.h"
#include "sandbox/storages.h"

namespace atl::daemon {

// A storage whose kind is `plugin`, as the operator declared it.
struct StoragePlugin {
  std::string name;
  std::string library;       // the file with its directory
  std::string storage;       // its name in the plugin; empty: the only one
  std::string path;          // the data that it may write
  std::string socket_place;  // directory of its socket
};

// Those among the declared storages, with the directories that they need made. Code::invalid_argument that
// names the storage if none of `directories` has its library, or if it names none.
Result<std::vector<StoragePlugin>> storage_plugins(
    const std::vector<sandbox::emulated::StorageDeclaration>& declared,
    const std::vector<std::string>& directories, const std::string& sockets);

// Keeps a process for each storage plugin, in a native sandbox that sees the plugin, its data and its socket
// and nothing else. One that ends, whatever ended it, is started again, after a pause that grows while it
// keeps failing. Belongs to the loop thread; the provider outlives it.
class StoragePlugins {
 public:
  // `host` is the directory that has the program `atoll`.
  StoragePlugins(boost::asio::any_io_executor executor, sandbox::Provider* native, std::string host,
                 std::vector<StoragePlugin> plugins);
  ~StoragePlugins();
  StoragePlugins(const StoragePlugins&) = delete;
  StoragePlugins& operator=(const StoragePlugins&) = delete;

  // Starts all of them and waits until each listens, for some seconds at most: one that does not come up is
  // logged, and its storage is unavailable until it does.
  Task<void> start();
  // Ends them. Whoever uses their storages has ended before.
  Task<void> stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace atl::daemon
