#pragma once

#include <memory>
#include <string>

#include "sandbox/e2b/plane.h"
#include "sandbox/files.h"

namespace atl::sandbox::e2b {

// The files of a remote sandbox, over the filesystem calls of its agent. What E2B's protocol has no call for
// (chmod, copy, append) is done by a program inside. Belongs to the loop thread.
class RemoteFiles final : public Files {
 public:
  explicit RemoteFiles(std::shared_ptr<Plane> plane) : plane_(std::move(plane)) {}

  Task<FileInfo> stat(std::string path, std::string user) override;
  Task<std::vector<FileInfo>> list(std::string path, std::uint32_t depth, ListBounds bounds,
                                   std::string user) override;
  Task<FileInfo> make_directory(std::string path, std::string user, Ownership ownership) override;
  Task<FileInfo> move(std::string from, std::string to, std::string user, Overwrite overwrite) override;
  Task<FileInfo> copy(std::string from, std::string to, std::string user, Overwrite overwrite) override;
  Task<void> remove(std::string path, Recursive recursive, std::string user) override;
  Task<void> chmod(std::string path, std::uint32_t mode, std::string user) override;
  Task<std::unique_ptr<FileReader>> open_read(std::string path, std::uint64_t offset,
                                              std::optional<std::uint64_t> length, std::string user) override;
  Task<std::unique_ptr<FileWriter>> open_write(std::string path, WriteOptions options) override;
  // At most 64 in one sandbox, by the other side's own bound. Events are asked for several times a second: a
  // stream could not promise what Watch::poll() does.
  Task<std::unique_ptr<Watch>> watch(std::string path, Recursive recursive, std::string user) override;

 private:
  Task<void> refuse_existing(std::string path, std::string user);
  // A program to its end, as that user. What it complains about becomes the error.
  Task<void> run(std::vector<std::string> argv, std::string user);

  std::shared_ptr<Plane> plane_;
};

// An EntryInfo of the agent's. Unknown members are empty.
FileInfo file_info_of(const Object& entry);

}  // namespace atl::sandbox::e2b
