#pragma once

#include <stdint.h>

// System calls by hand, for code that can rely on nothing around it: an interpreter whose memory is being
// exchanged, or one of any C library.
namespace atl::guest {

// The kernel's answer: an error is -errno.
__attribute__((always_inline)) inline long call(long number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
                                                uint64_t d = 0, uint64_t e = 0, uint64_t f = 0) {
  long result;
  register uint64_t r10 asm("r10") = d;
  register uint64_t r8 asm("r8") = e;
  register uint64_t r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <class T>
uint64_t address_of(T* pointer) {
  // JUSTIFICATION: the kernel takes addresses as numbers.
  return reinterpret_cast<uint64_t>(pointer);
}
inline uint64_t number_of(int value) {
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

}  // namespace atl::guest
