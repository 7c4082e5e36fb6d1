#include "log_storage.h"

#include <cerrno>

#include "os/file.h"

namespace example {

using atl::Result;

Result<std::shared_ptr<LogStorage>> LogStorage::open(const std::string& file) {
  std::shared_ptr<LogStorage> storage(new LogStorage(file));
  if (!atl::os::exists(file)) return storage;
  const std::string bytes = TRY(atl::os::read_file(file.c_str()));
  TRY(storage->memory_.from_bytes(bytes));
  return storage;
}

Result<void> LogStorage::write_log() {
  const std::string bytes = TRY(memory_.to_bytes());
  return atl::os::write_file_durably(file_, bytes, 0600);
}

Result<void> LogStorage::apply(const atl::vfs::Batch& batch) {
  const std::lock_guard hold(writer_);
  const auto before = TRY(memory_.take_snapshot());
  TRY(memory_.apply(batch));
  if (auto written = write_log(); !written) {
    TRY(memory_.restore_snapshot(*before));
    return written;
  }
  return {};
}

Result<void> LogStorage::clear() {
  const std::lock_guard hold(writer_);
  TRY(memory_.clear());
  return write_log();
}

atl::vfs::StorageKind log_kind() {
  return {.options = {"path"},
          .open = [](const atl::vfs::StorageOptions& options,
                     const std::string& space) -> Result<std::shared_ptr<atl::vfs::FileStorage>> {
            const std::string file = options.at("path") + "/" + space + ".log";
            TRY(atl::os::make_directories(file.substr(0, file.rfind('/')), 0700));
            return TRY(LogStorage::open(file));
          },
          .discard = {}};
}

}  // namespace example
