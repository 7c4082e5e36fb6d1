#include "vfs/batch_format.h"

#include <xxhash.h>

#include "vfs/entries.h"
#include "vfs/wire.h"

namespace atl::vfs {
namespace {

constexpr std::string_view kBatchMagic = "ATLBAT1\n";
constexpr std::size_t kChecksumBytes = 8;

Result<Path> stored_path(std::string_view text) {
  auto path = Path::posix(text);
  if (!path || path->is_root()) return fail(Code::data_loss, "a stored path is malformed");
  return std::move(*path);
}

}  // namespace

std::string encode_entry(const FileEntry& entry) {
  std::string out;
  put_bytes(out, encode_attributes(entry));
  out.reserve(out.size() + entry.content.size());
  for (std::uint64_t at = 0; at < entry.content.size();) {
    const std::string_view run = entry.content.run(at);
    out += run;
    at += run.size();
  }
  return out;
}

Result<FileEntry> decode_entry(std::string_view path, std::string_view bytes) {
  FileEntry entry;
  entry.path = TRY(stored_path(path));
  WireReader reader(bytes);
  const std::string_view attributes = TRY(reader.bytes());
  TRY(decode_attributes(attributes, entry));
  entry.content = Content(TRY(reader.take(reader.remaining())));
  return entry;
}

std::string encode_batch(const Batch& batch) {
  std::string out(kBatchMagic);
  put_varint(out, batch.removals.size());
  for (const Path& path : batch.removals) put_bytes(out, path.str());
  put_varint(out, batch.entries.size());
  for (const FileEntry& entry : batch.entries) {
    put_bytes(out, entry.path.str());
    put_bytes(out, encode_entry(entry));
  }
  put_fixed64(out, XXH3_64bits(out.data(), out.size()));
  return out;
}

Result<Batch> decode_batch(std::string_view bytes) {
  if (bytes.size() < kBatchMagic.size() + kChecksumBytes || !bytes.starts_with(kBatchMagic))
    return fail(Code::data_loss, "a stored change is no change");
  const std::string_view covered = bytes.substr(0, bytes.size() - kChecksumBytes);
  WireReader checksum(bytes.substr(covered.size()));
  if (TRY(checksum.fixed64()) != XXH3_64bits(covered.data(), covered.size()))
    return fail(Code::data_loss, "a stored change is damaged");
  WireReader reader(covered.substr(kBatchMagic.size()));
  Batch batch;
  for (std::uint64_t left = TRY(reader.varint()); left > 0; --left) {
    const std::string_view path = TRY(reader.bytes());
    batch.removals.push_back(TRY(stored_path(path)));
  }
  for (std::uint64_t left = TRY(reader.varint()); left > 0; --left) {
    const std::string_view path = TRY(reader.bytes());
    const std::string_view entry = TRY(reader.bytes());
    batch.entries.push_back(TRY(decode_entry(path, entry)));
  }
  if (!reader.done()) return fail(Code::data_loss, "a stored change has more than a change");
  return batch;
}

}  // namespace atl::vfs
