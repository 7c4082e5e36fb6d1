#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace atl::vfs {

namespace detail {
struct Blob;       // one run of bytes
struct ChunkList;  // runs of kChunkBytes each, the last one shorter
}  // namespace detail

// The bytes of a file: reference-counted, immutable for everybody who holds a copy, cheap to copy (one
// counter). Small files are one run of bytes; large ones share chunks, so a changed copy of a large file
// costs one chunk.
//
// The changing members act on this Content alone: bytes shared with another Content are copied first, bytes
// that are nobody else's are changed in place. Copies may live on different threads; one Content object may
// not be used by two threads at once unless all of them only read.
class Content {
 public:
  static constexpr std::size_t kChunkBytes = 64 * 1024;

  Content() = default;
  explicit Content(std::string_view bytes);
  Content(const Content& other) noexcept;
  Content(Content&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  Content& operator=(Content other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  ~Content();

  std::uint64_t size() const;
  bool empty() const { return size() == 0; }

  // True if all bytes lie in one run: always so up to kChunkBytes.
  bool is_flat() const;
  // All bytes in one run. Precondition: is_flat(). Valid while this Content lives unchanged.
  std::string_view flat() const;
  // The longest run that begins at `offset`; empty at or beyond the end. Valid as above. This is how to
  // stream:
  //   for (uint64_t at = 0; auto run = content.run(at); !run.empty()) { ...; at += run.size(); }
  std::string_view run(std::uint64_t offset) const;
  // Copies up to out.size() bytes from `offset`; how many there were.
  std::size_t read(std::uint64_t offset, std::span<char> out) const;
  std::string str() const;
  std::string substr(std::uint64_t offset, std::size_t count) const;

  // A gap between the old end and `offset` reads as zeros.
  void write(std::uint64_t offset, std::string_view bytes);
  void append(std::string_view bytes) { write(size(), bytes); }
  // Cuts, or grows with zeros.
  void resize(std::uint64_t size);

  // Same bytes. Shared runs are not compared byte by byte.
  bool operator==(const Content& other) const;
  // True if both are the very same bytes in memory: a quick and one-sided equality.
  bool same_as(const Content& other) const { return word_ == other.word_; }
  // Equal for contents that are the very same bytes in memory, while both live.
  std::uintptr_t identity() const { return word_; }

  // What this Content keeps allocated, shared or not.
  std::size_t memory_bytes() const;

 private:
  // A tagged pointer: null for no bytes, Blob*, or ChunkList* | 1.
  bool chunked() const { return (word_ & 1U) != 0; }
  detail::Blob* blob() const;
  detail::ChunkList* chunks() const;
  void make_chunked();
  void release();

  std::uintptr_t word_ = 0;
};

}  // namespace atl::vfs
