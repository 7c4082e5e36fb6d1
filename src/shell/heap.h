#pragma once

#include <cstddef>
#include <cstdint>

namespace atl::shell {

// What C++ code on this thread holds of the heap since a meter began, whoever asked for it: commands need not
// count for themselves (docs/decisions/shell-memory.md). Meters nest; the inner one counts.
class HeapMeter {
 public:
  // `exceeded` is called by an allocation that is large and would not fit, with what would be held; it may
  // throw. Smaller ones are found by whoever asks used() from time to time.
  using Exceeded = void (*)(void* context, std::uint64_t held);
  HeapMeter(std::uint64_t limit, Exceeded exceeded, void* context);
  ~HeapMeter();
  HeapMeter(const HeapMeter&) = delete;
  HeapMeter& operator=(const HeapMeter&) = delete;

  // Of the meter in force; 0 without one.
  static std::uint64_t used();

  // While it lives nothing is thrown, because frames that are not C++ lie between.
  class Quiet {
   public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

   private:
    bool before_;
  };

  // For operator new and operator delete.
  static void allocating(std::size_t size);
  static void allocated(void* memory);
  static void freed(void* memory);

 private:
  std::int64_t used_ = 0;
  std::uint64_t limit_;
  Exceeded exceeded_;
  void* context_;
  HeapMeter* outer_;
};

}  // namespace atl::shell
