#include "shell/heap.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

namespace atl::shell {

namespace {

// From here on an allocation is looked at by itself: a few of them could exhaust the machine between two
// checks.
constexpr std::size_t large = 1 << 20;

thread_local HeapMeter* meter = nullptr;
thread_local bool quiet = false;

}  // namespace

HeapMeter::HeapMeter(std::uint64_t limit, Exceeded exceeded, void* context)
    : limit_(limit), exceeded_(exceeded), context_(context), outer_(std::exchange(meter, this)) {}

HeapMeter::~HeapMeter() {
  meter = outer_;
}

std::uint64_t HeapMeter::used() {
  return meter ? static_cast<std::uint64_t>(std::max<std::int64_t>(meter->used_, 0)) : 0;
}

HeapMeter::Quiet::Quiet() : before_(std::exchange(quiet, true)) {}

HeapMeter::Quiet::~Quiet() {
  quiet = before_;
}

void HeapMeter::allocating(std::size_t size) {
  // While an exception is in flight another one would end the process.
  if (!meter || size < large || quiet || std::uncaught_exceptions() > 0) return;
  std::uint64_t held = size > UINT64_MAX / 2 ? UINT64_MAX : used() + size;
  if (held > meter->limit_) meter->exceeded_(meter->context_, held);
}

void HeapMeter::allocated(void* memory) {
  // The usable size is asked from malloc both times, so that nothing need be stored beside the memory.
  if (meter) meter->used_ += static_cast<std::int64_t>(malloc_usable_size(memory));
}

void HeapMeter::freed(void* memory) {
  if (meter && memory) meter->used_ -= static_cast<std::int64_t>(malloc_usable_size(memory));
}

}  // namespace atl::shell

namespace {

void* take(std::size_t size) noexcept {
  // operator new must give a distinct address even for nothing.
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory) atl::shell::HeapMeter::allocated(memory);
  return memory;
}

void* take_or_throw(std::size_t size) {
  atl::shell::HeapMeter::allocating(size);
  void* memory = take(size);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory) noexcept {
  atl::shell::HeapMeter::freed(memory);
  std::free(memory);
}

}  // namespace

// The program's own, all forms but the aligned ones: the sanitizers' library has each of them by itself, so
// that one of ours would meet one of theirs.
void* operator new(std::size_t size) {
  return take_or_throw(size);
}
void* operator new[](std::size_t size) {
  return take_or_throw(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  give_back(memory);
}
