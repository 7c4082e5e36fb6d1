#include "vfs/content.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

namespace atl::vfs {
namespace detail {

struct Blob {
  std::atomic<std::uint32_t> refs{1};
  std::uint32_t capacity = 0;
  std::uint32_t size = 0;

  char* bytes() {
    return reinterpret_cast<char*>(this + 1);
  }  // they follow the header in the same allocation
  bool unique() const { return refs.load(std::memory_order_acquire) == 1; }
};

struct ChunkList {
  std::atomic<std::uint32_t> refs{1};
  std::uint64_t size = 0;
  std::vector<Blob*> chunks;

  bool unique() const { return refs.load(std::memory_order_acquire) == 1; }
};

namespace {

Blob* new_blob(std::size_t capacity) {
  void* memory = std::malloc(sizeof(Blob) + capacity);
  if (memory == nullptr) throw std::bad_alloc();
  auto* blob = new (memory) Blob;
  blob->capacity = static_cast<std::uint32_t>(capacity);
  return blob;
}

void retain(Blob* blob) {
  blob->refs.fetch_add(1, std::memory_order_relaxed);
}

void release(Blob* blob) {
  if (blob->refs.load(std::memory_order_acquire) == 1 ||
      blob->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    blob->~Blob();
    std::free(blob);
  }
}

void release(ChunkList* list) {
  if (list->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (Blob* chunk : list->chunks) release(chunk);
  delete list;
}

Blob* copy_of(Blob* blob, std::size_t capacity, std::size_t size) {
  Blob* copy = new_blob(std::max(capacity, size));
  copy->size = static_cast<std::uint32_t>(size);
  std::memcpy(copy->bytes(), blob->bytes(), std::min<std::size_t>(size, blob->size));
  return copy;
}

// What to allocate for a run that grows to `size`: exact the first time, then by half, never over a chunk.
std::size_t grown(std::size_t capacity, std::size_t size) {
  std::size_t wanted = std::max(size, std::max<std::size_t>(64, capacity + capacity / 2));
  return std::min(wanted, Content::kChunkBytes);
}

// Makes `blob` (null: none) a run that only the caller has, of `size` bytes; new bytes are zero.
void own(Blob*& blob, std::size_t size) {
  if (blob == nullptr) {
    blob = new_blob(size);
    blob->size = 0;
  } else if (!blob->unique() || blob->capacity < size) {
    std::size_t capacity = blob->capacity < size ? grown(blob->capacity, size) : size;
    Blob* copy = copy_of(blob, capacity, std::min<std::size_t>(blob->size, size));
    release(blob);
    blob = copy;
  }
  if (size > blob->size) std::memset(blob->bytes() + blob->size, 0, size - blob->size);
  blob->size = static_cast<std::uint32_t>(size);
}

}  // namespace
}  // namespace detail

using detail::Blob;
using detail::ChunkList;

namespace {

std::size_t chunk_count(std::uint64_t size) {
  return (size + Content::kChunkBytes - 1) / Content::kChunkBytes;
}

// The size of chunk `index` of a file of `size` bytes.
std::size_t chunk_size(std::uint64_t size, std::size_t index) {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(Content::kChunkBytes, size - std::uint64_t{index} * Content::kChunkBytes));
}

}  // namespace

Blob* Content::blob() const {
  // JUSTIFICATION: word_ holds either kind of pointer, told apart by its lowest bit.
  return reinterpret_cast<Blob*>(word_);
}
ChunkList* Content::chunks() const {
  return reinterpret_cast<ChunkList*>(word_ & ~std::uintptr_t{1});
}

Content::Content(std::string_view bytes) {
  if (bytes.empty()) return;
  if (bytes.size() <= kChunkBytes) {
    Blob* blob = detail::new_blob(bytes.size());
    blob->size = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(blob->bytes(), bytes.data(), bytes.size());
    // JUSTIFICATION: word_ holds either kind of pointer, told apart by its lowest bit.
    word_ = reinterpret_cast<std::uintptr_t>(blob);
    return;
  }
  write(0, bytes);
}

Content::Content(const Content& other) noexcept : word_(other.word_) {
  if (word_ == 0) return;
  auto& refs = chunked() ? chunks()->refs : blob()->refs;
  refs.fetch_add(1, std::memory_order_relaxed);
}

Content::~Content() {
  release();
}

void Content::release() {
  if (word_ == 0) return;
  if (chunked()) {
    detail::release(chunks());
  } else {
    detail::release(blob());
  }
  word_ = 0;
}

std::uint64_t Content::size() const {
  if (word_ == 0) return 0;
  return chunked() ? chunks()->size : blob()->size;
}

bool Content::is_flat() const {
  return !chunked() || chunks()->chunks.size() <= 1;
}

std::string_view Content::flat() const {
  return run(0);
}

std::string_view Content::run(std::uint64_t offset) const {
  if (offset >= size()) return {};
  if (!chunked()) return {blob()->bytes() + offset, blob()->size - static_cast<std::size_t>(offset)};
  std::size_t index = offset / kChunkBytes;
  std::size_t inside = offset % kChunkBytes;
  Blob* chunk = chunks()->chunks[index];
  return {chunk->bytes() + inside, chunk->size - inside};
}

std::size_t Content::read(std::uint64_t offset, std::span<char> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    auto bytes = run(offset + done).substr(0, out.size() - done);
    if (bytes.empty()) break;
    std::memcpy(out.data() + done, bytes.data(), bytes.size());
    done += bytes.size();
  }
  return done;
}

std::string Content::str() const {
  return substr(0, static_cast<std::size_t>(size()));
}

std::string Content::substr(std::uint64_t offset, std::size_t count) const {
  std::uint64_t all = size();
  if (offset >= all) return {};
  std::string out(static_cast<std::size_t>(std::min<std::uint64_t>(count, all - offset)), '\0');
  read(offset, out);
  return out;
}

// One run becomes a list of one chunk; a shared list becomes a list of our own (the chunks stay shared).
void Content::make_chunked() {
  if (chunked()) {
    ChunkList* old = chunks();
    if (old->unique()) return;
    auto* list = new ChunkList;
    list->size = old->size;
    list->chunks = old->chunks;
    for (Blob* chunk : list->chunks) detail::retain(chunk);
    detail::release(old);
    // JUSTIFICATION: word_ holds either kind of pointer, told apart by its lowest bit.
    word_ = reinterpret_cast<std::uintptr_t>(list) | 1U;
    return;
  }
  auto* list = new ChunkList;
  if (word_ != 0) {
    list->size = blob()->size;
    list->chunks.push_back(blob());
  }
  // JUSTIFICATION: word_ holds either kind of pointer, told apart by its lowest bit.
  word_ = reinterpret_cast<std::uintptr_t>(list) | 1U;
}

void Content::resize(std::uint64_t new_size) {
  if (new_size == size()) return;
  if (new_size == 0) return release();
  if (!chunked() && new_size <= kChunkBytes) {
    Blob* own = blob();
    detail::own(own, static_cast<std::size_t>(new_size));
    // JUSTIFICATION: word_ holds either kind of pointer, told apart by its lowest bit.
    word_ = reinterpret_cast<std::uintptr_t>(own);
    return;
  }
  make_chunked();
  ChunkList& list = *chunks();
  std::size_t count = chunk_count(new_size);
  while (list.chunks.size() > count) {
    detail::release(list.chunks.back());
    list.chunks.pop_back();
  }
  // The chunk that was the last one must become full before others follow it.
  if (!list.chunks.empty()) {
    std::size_t last = list.chunks.size() - 1;
    if (list.chunks[last]->size != chunk_size(new_size, last))
      detail::own(list.chunks[last], chunk_size(new_size, last));
  }
  while (list.chunks.size() < count) {
    Blob* fresh = nullptr;
    detail::own(fresh, chunk_size(new_size, list.chunks.size()));
    list.chunks.push_back(fresh);
  }
  list.size = new_size;
}

void Content::write(std::uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  std::uint64_t end = offset + bytes.size();
  std::uint64_t old_size = size();
  if (!chunked() && end <= kChunkBytes) {
    Blob* own = blob();
    detail::own(own, static_cast<std::size_t>(std::max(end, old_size)));
    std::memcpy(own->bytes() + offset, bytes.data(), bytes.size());
    // JUSTIFICATION: word_ holds either kind of pointer, told apart by its lowest bit.
    word_ = reinterpret_cast<std::uintptr_t>(own);
    return;
  }
  make_chunked();
  if (end > old_size) resize(end);
  ChunkList& list = *chunks();
  for (std::size_t done = 0; done < bytes.size();) {
    std::size_t index = (offset + done) / kChunkBytes;
    std::size_t inside = (offset + done) % kChunkBytes;
    std::size_t count = std::min(kChunkBytes - inside, bytes.size() - done);
    detail::own(list.chunks[index], list.chunks[index]->size);
    std::memcpy(list.chunks[index]->bytes() + inside, bytes.data() + done, count);
    done += count;
  }
}

bool Content::operator==(const Content& other) const {
  if (same_as(other)) return true;
  if (size() != other.size()) return false;
  for (std::uint64_t at = 0;;) {
    auto mine = run(at);
    auto theirs = other.run(at);
    std::size_t count = std::min(mine.size(), theirs.size());
    if (count == 0) return true;
    if (mine.data() != theirs.data() && std::memcmp(mine.data(), theirs.data(), count) != 0) return false;
    at += count;
  }
}

std::size_t Content::memory_bytes() const {
  if (word_ == 0) return 0;
  if (!chunked()) return sizeof(Blob) + blob()->capacity;
  std::size_t sum = sizeof(ChunkList) + chunks()->chunks.capacity() * sizeof(Blob*);
  for (Blob* chunk : chunks()->chunks) sum += sizeof(Blob) + chunk->capacity;
  return sum;
}

}  // namespace atl::vfs
