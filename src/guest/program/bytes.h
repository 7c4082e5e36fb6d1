#pragma once

#include <stdlib.h>
#include <string.h>

#include "guest/protocol.h"

// There is no <new> without the C++ library. The fuzz target is built with it.
#if __has_include(<new>)
#include <new>
#else
inline void* operator new(size_t, void* place) noexcept {
  return place;
}
#endif

// The guest's few containers: it is built without the C++ standard library so that it stays small.
namespace atl::guest {

// Bytes that are added at the end and taken from the front. Memory of a flood is given back when it is empty.
class Bytes {
 public:
  Bytes() = default;
  // `keep`: how much memory an empty one may hold on to.
  explicit Bytes(size_t keep) : keep_(keep) {}
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { free(data_); }

  const char* data() const { return data_ + begin_; }
  char* data() { return data_ + begin_; }
  size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }

  // Room for `size` more bytes after the end; commit() makes them part of it.
  // Pointers into the bytes are no longer valid afterwards.
  char* reserve(size_t size) {
    if (end_ + size > capacity_) grow(size);
    return data_ + end_;
  }
  void commit(size_t size) { end_ += size; }
  void append(const char* bytes, size_t size) {
    if (size == 0) return;
    memcpy(reserve(size), bytes, size);
    commit(size);
  }
  void append(const char* word) { append(word, strlen(word)); }
  // At most size() bytes.
  void consume(size_t size) {
    begin_ += size;
    if (begin_ == end_) clear();
  }
  // Drops what is behind the first `size` bytes, of which there must be as many.
  void shrink_to(size_t size) { end_ = begin_ + size; }
  void clear() {
    begin_ = end_ = 0;
    if (capacity_ > keep_) free(data_), data_ = nullptr, capacity_ = 0;
  }
  // Ends the text for system calls; not counted in size().
  const char* c_str() {
    *reserve(1) = 0;
    return data();
  }
  void swap(Bytes& other) {
    char* const data = data_;
    const size_t begin = begin_, end = end_, capacity = capacity_;
    data_ = other.data_, begin_ = other.begin_, end_ = other.end_, capacity_ = other.capacity_;
    other.data_ = data, other.begin_ = begin, other.end_ = end, other.capacity_ = capacity;
  }

 private:
  void grow(size_t size) {
    if (begin_ > 0) {
      memmove(data_, data_ + begin_, end_ - begin_);
      end_ -= begin_, begin_ = 0;
      if (end_ + size <= capacity_) return;
    }
    size_t capacity = capacity_ < 256 ? 256 : capacity_ * 2;
    while (capacity < end_ + size) capacity *= 2;
    auto* const data = static_cast<char*>(realloc(data_, capacity));
    // Without memory for a few kilobytes nothing can be served; the host sees the stream end.
    if (data == nullptr) abort();
    data_ = data, capacity_ = capacity;
  }

  char* data_ = nullptr;
  size_t begin_ = 0, end_ = 0, capacity_ = 0, keep_ = 4096;
};

inline void append_number(Bytes& out, uint64_t value) {
  char digits[24];
  size_t at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + value % 10);
  while ((value /= 10) != 0);
  out.append(digits + at, sizeof digits - at);
}

inline bool equals(Text text, const char* word) {
  return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}
inline bool has_nul(Text text) {
  return text.size > 0 && memchr(text.data, 0, text.size) != nullptr;
}

}  // namespace atl::guest
