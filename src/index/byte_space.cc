#include "index/byte_space.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace atl::index {
namespace {

using Dot = std::int32_t (*)(const std::int8_t*, const std::int8_t*, std::size_t);

std::int32_t dot_plain(const std::int8_t* a, const std::int8_t* b, std::size_t count) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) std::int32_t dot_avx2(const std::int8_t* a, const std::int8_t* b,
                                                      std::size_t count) {
  __m256i first = _mm256_setzero_si256(), second = _mm256_setzero_si256();
  for (std::size_t i = 0; i < count; i += 32) {
    // JUSTIFICATION: unaligned loads take any address; the type is the instruction's.
    const auto* x = reinterpret_cast<const __m128i*>(a + i);
    const auto* y = reinterpret_cast<const __m128i*>(b + i);
    const __m256i x0 = _mm256_cvtepi8_epi16(_mm_loadu_si128(x));
    const __m256i y0 = _mm256_cvtepi8_epi16(_mm_loadu_si128(y));
    const __m256i x1 = _mm256_cvtepi8_epi16(_mm_loadu_si128(x + 1));
    const __m256i y1 = _mm256_cvtepi8_epi16(_mm_loadu_si128(y + 1));
    first = _mm256_add_epi32(first, _mm256_madd_epi16(x0, y0));
    second = _mm256_add_epi32(second, _mm256_madd_epi16(x1, y1));
  }
  first = _mm256_add_epi32(first, second);
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(first), _mm256_extracti128_si256(first, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return _mm_cvtsi128_si32(sum);
}

const Dot kDot = __builtin_cpu_supports("avx2") != 0 ? dot_avx2 : dot_plain;
#else
const Dot kDot = dot_plain;
#endif

}  // namespace

ByteVector::ByteVector(std::span<const float> vector) : bytes_(size(vector.size())) {
  float largest = 0;
  for (const float x : vector) largest = std::max(largest, std::fabs(x));
  const float step = largest / 127;
  if (step > 0)
    for (std::size_t i = 0; i < vector.size(); ++i)
      bytes_[i] = static_cast<std::int8_t>(std::lround(vector[i] / step));
  std::memcpy(bytes_.data() + padded(vector.size()), &step, sizeof step);
}

float ByteVector::product(const void* a, const void* b, std::size_t dimension) {
  const auto* x = static_cast<const std::int8_t*>(a);
  const auto* y = static_cast<const std::int8_t*>(b);
  const std::size_t length = padded(dimension);
  float x_step = 0, y_step = 0;
  std::memcpy(&x_step, x + length, sizeof x_step);
  std::memcpy(&y_step, y + length, sizeof y_step);
  return static_cast<float>(kDot(x, y, length)) * x_step * y_step;
}

}  // namespace atl::index
