#include "shell/heap.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

namespace atl::shell {

namespace {

// From here on an allocation is looked at by itself: a few of them could exhaust the machine between two checks.
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
  if (!meter || size < large || quiet || std::uncaught_exceptions() > 0) return;
  std::uint64_t held = size > UINT64_MAX / 2 ? UINT64_MAX : used() + size;
  if (held > meter->limit_) meter->exceeded_(meter->context_, held);
}

void HeapMeter::allocated(void* memory) {
  if (meter) meter->used_ += static_cast<std::int64_t>(malloc_usable_size(memory));
}

void HeapMeter::freed(void* memory) {
  if (meter && memory) meter->used_ -= static_cast<std::int64_t>(malloc_usable_size(memory));
}

}  // namespace atl::shell

// The program's own: every other form of new and delete of the library ends in these two, but for aligned ones.
void* operator new(std::size_t size) {
  atl::shell::HeapMeter::allocating(size);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (!memory) throw std::bad_alloc();
  atl::shell::HeapMeter::allocated(memory);
  return memory;
}

void operator delete(void* memory) noexcept {
  atl::shell::HeapMeter::freed(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  atl::shell::HeapMeter::freed(memory);
  std::free(memory);
}
