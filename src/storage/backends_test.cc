// The storages of this room for the contract suites of vfs.
#include "vfs/backends_test.h"

#include "storage/plugin_storage.h"
#include "storage/s3_storage.h"
#include "storage/servers_test.h"
#include "vfs/virtual_file_system.h"

namespace atl::vfs {
namespace {

// One of each for the whole test program, started when first asked for.
storage::S3Server& s3_server() {
  static storage::S3Server server;
  return server;
}

storage::PluginProcess& plugin_process() {
  static storage::PluginProcess process("memory");
  return process;
}

class StoragePlace final : public Place {
 public:
  explicit StoragePlace(const StorageBackend& backend) : storage_(backend.make()) { reopen(); }
  FileSystem& fs() override { return *fs_; }
  bool reopen() override {
    fs_.reset();
    fs_ = VirtualFileSystem::open(storage_).value();
    return true;
  }

 private:
  std::shared_ptr<FileStorage> storage_;
  std::unique_ptr<VirtualFileSystem> fs_;
};

}  // namespace

std::vector<StorageBackend> storage_backends() {
  std::vector<StorageBackend> all = {{"Plugin", [] {
                                        static int number = 0;
                                        return storage::PluginStorage::open(plugin_process().options(),
                                                                            "t/" + std::to_string(number++))
                                            .value();
                                      }}};
  if (storage::S3Server::is_there())
    all.push_back(
        {"S3", [] {
           static int number = 0;
           return storage::S3Storage::open(s3_server().client(), "t/" + std::to_string(number++)).value();
         }});
  return all;
}

std::vector<FileSystemBackend> file_system_backends() {
  std::vector<FileSystemBackend> all;
  for (const StorageBackend& backend : storage_backends())
    all.push_back(
        {"VirtualOn" + backend.name, [backend] { return std::make_unique<StoragePlace>(backend); }});
  return all;
}

}  // namespace atl::vfs
