#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "layer/digest.h"

struct archive;
struct archive_entry;

// Reading archives from outside: every byte of them is hostile.
namespace atl::layer {

struct ArchiveLimits {
  std::uint64_t entries_max = 2'000'000;
  std::uint64_t bytes_max = 64ULL << 30;  // decompressed; holes of sparse files count
  // What one compressed byte may become, once the whole is larger than `ratio_from_bytes`.
  std::uint64_t ratio_max = 200;
  std::uint64_t ratio_from_bytes = 256ULL << 20;
};

// Hears how many bytes of all there are so far. Its error ends the work with that error.
using Moved = std::function<Result<void>(std::uint64_t so_far, std::uint64_t all)>;

// The bytes of a file, decompressed if it is gzip, zstd, xz or bzip2 (once: an archive in an archive in an
// archive is refused), counted and hashed on the way.
class Inflater {
 public:
  // Borrows `fd`, reads from its position. `moved` hears of compressed bytes; 0 of them in all: nobody knows.
  static Result<std::unique_ptr<Inflater>> open(int fd, const ArchiveLimits& limits, Moved moved = {});
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  // The next piece, valid until the next call; empty at the end.
  Result<std::string_view> next();
  // Reads to the end: the digest of all decompressed bytes. Once.
  Result<std::string> finish();

 private:
  Inflater(int fd, const ArchiveLimits& limits, Moved moved)
      : fd_(fd), limits_(limits), moved_(std::move(moved)) {}
  static long take(archive* reader, void* self, const void** bytes);

  int fd_;
  ArchiveLimits limits_;
  Moved moved_;
  archive* reader_ = nullptr;
  std::string in_, out_;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0, bytes_all_ = 0;
  bool empty_ = false;
  Sha256 hash_;
};

// The entries of a tar archive (ustar, pax, GNU) that an Inflater gives.
class TarReader {
 public:
  static Result<std::unique_ptr<TarReader>> open(Inflater& bytes, const ArchiveLimits& limits);
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;
  ~TarReader();

  // Null at the end. Valid until the next call.
  Result<archive_entry*> next();

  struct Piece {
    std::string_view bytes;
    std::uint64_t offset = 0;
  };
  // Content of the current entry: pieces in order, holes left out; an empty piece ends it.
  Result<Piece> content();

 private:
  TarReader(Inflater& bytes, const ArchiveLimits& limits) : bytes_(bytes), limits_(limits) {}
  static long take(archive* reader, void* self, const void** bytes);
  Error broken(const char* what);

  Inflater& bytes_;
  ArchiveLimits limits_;
  archive* reader_ = nullptr;
  std::uint64_t entries_ = 0, bytes_declared_ = 0;
  std::optional<Error> failure_;  // of the bytes below
};

}  // namespace atl::layer
