#pragma once

#include <sys/types.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

#include "storage/plugin_storage.h"
#include "storage/s3_client.h"
#include "vfs/backends_test.h"

// What the storages of this room speak to, for tests.
namespace atl::storage {

// A real server of the S3 protocol on loopback (moto, from a virtual environment that scripts/s3-server
// makes), with an empty bucket "atoll". Ended with the object.
class S3Server {
 public:
  S3Server();
  ~S3Server();
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  // False, and then the tests that need it are skipped by name, where the package cannot be had.
  static bool is_there();
  std::unique_ptr<S3Client> client() const;
  S3Address address() const;
  void end();

 private:
  vfs::TemporaryDirectory directory_;
  pid_t pid_ = -1;
  std::string endpoint_;
};

// A process that holds one storage of the test plugin. Started again after its end, as the daemon would.
class PluginProcess {
 public:
  explicit PluginProcess(std::string storage);
  ~PluginProcess();
  PluginProcess(const PluginProcess&) = delete;
  PluginProcess& operator=(const PluginProcess&) = delete;

  PluginStorage::Options options() const {
    return {.socket = socket_, .call_max = std::chrono::milliseconds(2'000)};
  }
  // Returns when it listens.
  void start();
  // Waits for its end; gives the status of waitpid().
  int wait();
  // How many it has.
  std::size_t threads() const { return entries("task"); }
  std::size_t descriptors() const { return entries("fd"); }

 private:
  std::size_t entries(const std::string& of) const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid_) + "/" + of), end;
    return static_cast<std::size_t>(std::distance(all, end));
  }

  vfs::TemporaryDirectory directory_;
  std::string storage_, socket_;
  pid_t pid_ = -1;
};

}  // namespace atl::storage
