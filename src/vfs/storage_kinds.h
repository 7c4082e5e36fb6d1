#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vfs/file_storage.h"

namespace atl::vfs {

// What an operator wrote about a storage, by name: {"path": "/srv/files"}.
using StorageOptions = std::map<std::string, std::string, std::less<>>;

// A kind of storage that an operator can declare. To add one: a class that derives from FileStorage, and one
// call of StorageKinds::add() (examples/storage shows both).
struct StorageKind {
  // Options it knows; any other is refused before `open` is called.
  std::vector<std::string> options;
  // The storage of one space, made if it is missing. `space` is one or two names with a slash between them
  // ("acme/ses_1"), each of letters, digits, '-', '_', '.' and '%', none of them "." or "..". Called from any
  // thread.
  std::function<Result<std::shared_ptr<FileStorage>>(const StorageOptions& options, const std::string& space)>
      open;
  // Removes the space and what only it has. Unset: FileStorage::clear() is enough.
  std::function<Result<void>(const StorageOptions& options, const std::string& space)> discard;
};

// Kinds by name: "sqlite", "redis" and "directory" from the start. A value type; not changed once it is in
// use.
class StorageKinds {
 public:
  StorageKinds();
  // Replaces a kind of the same name.
  void add(std::string name, StorageKind kind) { kinds_.insert_or_assign(std::move(name), std::move(kind)); }
  const StorageKind* find(std::string_view name) const;
  std::vector<std::string_view> names() const;

 private:
  std::map<std::string, StorageKind, std::less<>> kinds_;
};

}  // namespace atl::vfs
