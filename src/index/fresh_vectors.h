#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "index/vector_backend.h"

namespace atl::index {

// Vectors that came lately, each rounded as ByteVector does it, found by comparing all of them. Adding one
// costs a copy, where a graph takes up to half a millisecond: so a graph gets them later, when nobody waits.
// Const functions may run at once with each other; for all others the caller excludes every other call.
class FreshVectors {
 public:
  explicit FreshVectors(std::size_t dimension);

  // Replaces one of the same number. The caller has seen to the dimension.
  void put(std::uint64_t number, std::span<const float> vector);
  bool remove(std::uint64_t number);  // false: it was not there
  bool has(std::uint64_t number) const { return places_.contains(number); }
  std::size_t size() const { return numbers_.size(); }
  const std::vector<std::uint64_t>& numbers() const { return numbers_; }
  // Bytes of memory, about.
  std::size_t memory() const { return numbers_.size() * (width_ + 64); }
  // The rounded vector at a place of numbers(), as ByteVector::data() gives it. Valid until something
  // changes.
  const void* bytes(std::size_t place) const { return bytes_.data() + place * width_; }

  // How like the vector is to each of these, at most `count` of the nearest, the nearest first.
  std::vector<Neighbour> nearest(std::span<const float> vector, std::size_t count) const;
  // The same among these numbers alone. Unknown ones are left out.
  std::vector<Neighbour> nearest_of(std::span<const float> vector, std::span<const std::uint64_t> among,
                                    std::size_t count) const;

 private:
  std::size_t dimension_, width_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::int8_t> bytes_;  // one vector behind the other, in the order of numbers_
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

// Of both, the nearest first, at most `count`.
std::vector<Neighbour> nearest_of_both(std::vector<Neighbour> a, const std::vector<Neighbour>& b,
                                       std::size_t count);

}  // namespace atl::index
