#include "vfs/snapshot_format.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vfs/entries.h"
#include "vfs/wire.h"

namespace atl::vfs {
namespace {

constexpr std::string_view kMagic("ATOLLVFS", 8);
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 8 + 4 + 4 + 8 + 8;  // magic, version, flags, sizes
constexpr std::size_t kChecksumBytes = 16;

std::string checksum(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return {reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest};
}

// Compresses a stream of pieces into `out`.
class Packer {
 public:
  explicit Packer(std::string& out) : out_(out), context_(ZSTD_createCCtx()) {
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, 1);
  }
  ~Packer() { ZSTD_freeCCtx(context_); }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  void add(std::string_view piece) {
    size_ += piece.size();
    if (gathered_.size() + piece.size() > kGatherBytes) {
      run(gathered_, ZSTD_e_continue);
      gathered_.clear();
    }
    if (piece.size() > kGatherBytes / 4) {
      run(gathered_, ZSTD_e_continue);
      gathered_.clear();
      return run(piece, ZSTD_e_continue);
    }
    gathered_ += piece;
  }
  std::uint64_t finish() {
    run(gathered_, ZSTD_e_end);
    return size_;
  }

 private:
  static constexpr std::size_t kGatherBytes = 256 * 1024;  // small pieces go to the compressor together

  void run(std::string_view piece, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    while (true) {
      ZSTD_outBuffer to{buffer_.data(), buffer_.size(), 0};
      std::size_t left = ZSTD_compressStream2(context_, &to, &in, directive);
      out_.append(buffer_, 0, to.pos);
      bool done = directive == ZSTD_e_continue ? in.pos == in.size : left == 0;
      if (done) return;
    }
  }

  std::string gathered_;
  std::string buffer_ = std::string(ZSTD_CStreamOutSize(), '\0');
  std::string& out_;
  ZSTD_CCtx* context_;
  std::uint64_t size_ = 0;
};

// One record. The path shares its beginning with the one before; the content is absent (0), new (1), or one
// of those before (2 + index).
class RecordWriter {
 public:
  explicit RecordWriter(Packer& packer) : packer_(packer) {}

  void add(const FileEntry& entry) {
    const std::string& path = entry.path.str();
    std::size_t shared = 0;
    while (shared < std::min(path.size(), last_.size()) && path[shared] == last_[shared]) ++shared;
    std::string head;
    put_varint(head, shared);
    put_bytes(head, std::string_view(path).substr(shared));
    put_bytes(head, encode_attributes(entry));
    last_ = path;
    if (entry.content.empty()) {
      put_varint(head, 0);
      packer_.add(head);
      return;
    }
    auto [place, fresh] = seen_.try_emplace(entry.content.identity(), seen_.size());
    put_varint(head, fresh ? 1 : 2 + place->second);
    if (fresh) put_varint(head, entry.content.size());
    packer_.add(head);
    if (!fresh) return;
    for (std::uint64_t at = 0; at < entry.content.size();) {
      auto run = entry.content.run(at);
      packer_.add(run);
      at += run.size();
    }
  }

 private:
  Packer& packer_;
  std::string last_;
  std::unordered_map<std::uintptr_t, std::uint64_t> seen_;
};

Result<std::vector<FileEntry>> read_records(std::string_view payload, const ImportLimits& limits) {
  WireReader reader(payload);
  auto count = TRY(reader.varint());
  if (count > limits.entries_max)
    return fail(Code::too_large, fmt::format("{} entries, at most {}", count, limits.entries_max));
  std::vector<FileEntry> entries;
  entries.reserve(std::min<std::uint64_t>(count, reader.remaining() / 40));
  std::vector<Content> contents;
  std::string last;
  for (std::uint64_t i = 0; i < count; ++i) {
    FileEntry entry;
    auto shared = TRY(reader.varint());
    if (shared > last.size()) return fail(Code::data_loss, "malformed path");
    std::string path = last.substr(0, shared).append(TRY(reader.bytes()));
    auto parsed = Path::posix(path);
    if (!parsed || parsed->str() != path || parsed->is_root()) return fail(Code::data_loss, "malformed path");
    if (i > 0 && path <= last) return fail(Code::data_loss, "paths are out of order");
    entry.path = std::move(*parsed);
    last = std::move(path);
    auto attributes = TRY(reader.bytes());
    TRY(decode_attributes(attributes, entry));
    auto reference = TRY(reader.varint());
    if (reference == 1) {
      contents.emplace_back(TRY(reader.bytes()));
      entry.content = contents.back();
    } else if (reference > 1) {
      if (reference - 2 >= contents.size()) return fail(Code::data_loss, "content refers to nothing");
      entry.content = contents[reference - 2];
    }
    bool bare = entry.type == Type::directory || entry.type == Type::fifo;
    if (bare && !entry.content.empty()) return fail(Code::data_loss, "content where none can be");
    if (entry.type == Type::symlink && (entry.content.empty() || entry.content.size() > kPathBytesMax))
      return fail(Code::data_loss, "malformed link");
    entries.push_back(std::move(entry));
  }
  if (!reader.done()) return fail(Code::data_loss, "trailing bytes");
  return entries;
}

// Grows with what really comes out, so that a made-up size in the header costs nothing.
Result<std::string> unpack(std::string_view packed, std::uint64_t size) {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  std::string payload;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  while (true) {
    std::size_t at = payload.size();
    std::uint64_t room = std::min<std::uint64_t>(size - at, std::max<std::size_t>(at, 1U << 20));
    payload.resize(at + room + 1);  // one more than may come, to notice when it does
    ZSTD_outBuffer out{payload.data() + at, room + 1, 0};
    std::size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    payload.resize(at + out.pos);
    if (ZSTD_isError(left) != 0 || payload.size() > size) break;
    if (left == 0 && in.pos == in.size && payload.size() == size) return payload;
    if (left == 0 || (out.pos == 0 && in.pos == in.size)) break;
  }
  return fail(Code::data_loss, "the compressed part is damaged");
}

Result<Snapshot> import_parts(std::string_view bytes, const ImportLimits& limits) {
  if (bytes.size() < kMagic.size() || !bytes.starts_with(kMagic))
    return fail(Code::unsupported, "this is not a snapshot of a virtual filesystem");
  if (bytes.size() < kHeaderBytes + kChecksumBytes) return fail(Code::data_loss, "truncated");
  WireReader header(bytes.substr(kMagic.size()));
  auto version = TRY(header.fixed32());
  if (version > kVersion)
    return fail(Code::unsupported,
                fmt::format("version {} of the format, this is version {}", version, kVersion));
  if (version == 0) return fail(Code::data_loss, "no such version");
  if (TRY(header.fixed32()) != 0) return fail(Code::unsupported, "unknown flags");
  auto size = TRY(header.fixed64());
  auto packed_size = TRY(header.fixed64());
  if (packed_size != bytes.size() - kHeaderBytes - kChecksumBytes) return fail(Code::data_loss, "truncated");
  if (checksum(bytes.substr(0, bytes.size() - kChecksumBytes)) != bytes.substr(bytes.size() - kChecksumBytes))
    return fail(Code::data_loss, "the checksum is wrong");
  if (size > limits.bytes_max)
    return fail(Code::too_large, fmt::format("{} bytes, at most {}", size, limits.bytes_max));
  auto packed = bytes.substr(kHeaderBytes, packed_size);
  auto payload = TRY(unpack(packed, size));
  auto entries = TRY(read_records(payload, limits));
  tree::State state = empty_state();
  TRY(add_entries(state, entries));
  return Snapshot(std::move(state));
}

}  // namespace

std::string export_snapshot(const Snapshot& snapshot) {
  std::string out;
  out.reserve(kHeaderBytes + snapshot.stats().bytes / 4 + 4096);
  out.append(kHeaderBytes, '\0');
  Packer packer(out);
  auto entries = all_entries(snapshot.state());
  std::string count;
  put_varint(count, entries.size());
  packer.add(count);
  RecordWriter writer(packer);
  for (const FileEntry& entry : entries) writer.add(entry);
  std::uint64_t size = packer.finish();
  std::string header(kMagic);
  put_fixed32(header, kVersion);
  put_fixed32(header, 0);
  put_fixed64(header, size);
  put_fixed64(header, out.size() - kHeaderBytes);
  out.replace(0, kHeaderBytes, header);
  out += checksum(out);
  return out;
}

Result<Snapshot> import_snapshot(std::string_view bytes, const ImportLimits& limits) {
  return TRY_CONTEXT("import snapshot", import_parts(bytes, limits));
}

}  // namespace atl::vfs
