#pragma once

#include <memory>
#include <string>

#include "storage/s3_client.h"
#include "vfs/mirrored_storage.h"
#include "vfs/storage_kinds.h"

namespace atl::storage {

// Entries in a bucket, as a log: each batch is one object with the next number, so that it is there as a
// whole or not at all, and at times all entries are put into one object that takes the place of the log
// before it (docs/formats/s3-storage.md). With a server that knows `If-None-Match: *` several daemons may
// write: the one that comes second gets Code::conflict, nothing of its batch is kept, and get_all() shows
// what the others wrote. Calls block and are not safe from several threads.
class S3Storage final : public vfs::MirroredStorage {
 public:
  // `place` is what the names of its objects begin with, without a slash at the end. Reads what is there.
  static Result<std::unique_ptr<S3Storage>> open(std::unique_ptr<S3Client> client, std::string place);
  // Removes everything that a storage at this place has.
  static Result<void> discard(const S3Client& client, const std::string& place);

 private:
  S3Storage(std::unique_ptr<S3Client> client, std::string place)
      : client_(std::move(client)), place_(std::move(place)) {}
  Result<std::vector<vfs::FileEntry>> load() const override;
  Result<void> store(const vfs::Batch& batch) override;
  void stored(const vfs::MemoryStorage& all) override;

  // What is known of the objects, since the last load().
  struct Known {
    std::uint64_t last = 0;  // number of the latest change; 0: none yet
    std::uint64_t base = 0;  // the number up to which one object holds everything; 0: there is none
    std::uint64_t base_bytes = 0, log_bytes = 0;
  };
  Result<std::vector<vfs::FileEntry>> load_once(Known& known) const;
  std::string log_name(std::uint64_t number) const;
  std::string base_name(std::uint64_t number) const;

  std::unique_ptr<S3Client> client_;
  std::string place_;
  mutable Known known_;
};

// {kind: s3, endpoint, bucket, region?, prefix?, access_key, secret_key}.
vfs::StorageKind s3_kind();

}  // namespace atl::storage
