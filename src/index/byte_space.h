#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace atl::index {

// A vector rounded to bytes: each number becomes one byte, in steps of the largest number / 127, and the size
// of a step follows them as a float. It takes a quarter of the memory of floats and compares several times as
// fast; docs/decisions/search.md has what the rounding costs. Immutable once made.
class ByteVector {
 public:
  explicit ByteVector(std::span<const float> vector);
  const void* data() const { return bytes_.data(); }
  static std::size_t size(std::size_t dimension) { return padded(dimension) + sizeof(float); }
  // About the cosine of two vectors of length 1. `a` and `b` each point to size(dimension) bytes as data()
  // gives them; they need no alignment.
  static float product(const void* a, const void* b, std::size_t dimension);

 private:
  // A multiple of what one step of the comparison takes; the rest is zero.
  static std::size_t padded(std::size_t dimension) { return (dimension + 31) / 32 * 32; }
  std::vector<std::int8_t> bytes_;
};

}  // namespace atl::index
