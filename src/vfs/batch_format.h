#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "vfs/file_storage.h"

namespace atl::vfs {

// Entries and batches as bytes, for storages that keep or send them whole: numbers and byte strings of
// wire.h, and a checksum over a batch.

// Everything about an entry but its path.
std::string encode_entry(const FileEntry& entry);
// data_loss if `path` or `bytes` is not such a thing.
Result<FileEntry> decode_entry(std::string_view path, std::string_view bytes);

std::string encode_batch(const Batch& batch);
// data_loss if the bytes are damaged, truncated or something else.
Result<Batch> decode_batch(std::string_view bytes);

}  // namespace atl::vfs
