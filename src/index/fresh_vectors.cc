#include "index/fresh_vectors.h"

#include <algorithm>
#include <cstring>

#include "index/byte_space.h"

namespace atl::index {
namespace {

void keep_nearest(std::vector<Neighbour>& found, std::size_t count) {
  const auto is_nearer = [](const Neighbour& a, const Neighbour& b) {
    return a.likeness != b.likeness ? a.likeness > b.likeness : a.number < b.number;
  };
  count = std::min(count, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(count), is_nearer);
  found.resize(count);
}

}  // namespace

FreshVectors::FreshVectors(std::size_t dimension)
    : dimension_(dimension), width_(ByteVector::size(dimension)) {}

void FreshVectors::put(std::uint64_t number, std::span<const float> vector) {
  const ByteVector rounded(vector);
  const auto [place, is_new] = places_.try_emplace(number, numbers_.size());
  if (is_new) {
    numbers_.push_back(number);
    bytes_.resize(bytes_.size() + width_);
  }
  std::memcpy(bytes_.data() + place->second * width_, rounded.data(), width_);
}

// The last one takes its place.
bool FreshVectors::remove(std::uint64_t number) {
  const auto known = places_.find(number);
  if (known == places_.end()) return false;
  const std::size_t place = known->second, last = numbers_.size() - 1;
  places_.erase(known);
  if (place != last) {
    numbers_[place] = numbers_[last];
    std::memcpy(bytes_.data() + place * width_, bytes_.data() + last * width_, width_);
    places_[numbers_[place]] = place;
  }
  numbers_.pop_back();
  bytes_.resize(last * width_);
  return true;
}

std::vector<Neighbour> FreshVectors::nearest(std::span<const float> vector, std::size_t count) const {
  std::vector<Neighbour> found;
  if (numbers_.empty() || vector.size() != dimension_) return found;
  const ByteVector rounded(vector);
  found.reserve(numbers_.size());
  for (std::size_t place = 0; place < numbers_.size(); ++place)
    found.push_back({numbers_[place], ByteVector::product(rounded.data(), bytes(place), dimension_)});
  keep_nearest(found, count);
  return found;
}

std::vector<Neighbour> FreshVectors::nearest_of(std::span<const float> vector,
                                                std::span<const std::uint64_t> among,
                                                std::size_t count) const {
  std::vector<Neighbour> found;
  if (numbers_.empty() || vector.size() != dimension_) return found;
  const ByteVector rounded(vector);
  for (const std::uint64_t number : among)
    if (const auto known = places_.find(number); known != places_.end())
      found.push_back({number, ByteVector::product(rounded.data(), bytes(known->second), dimension_)});
  keep_nearest(found, count);
  return found;
}

std::vector<Neighbour> nearest_of_both(std::vector<Neighbour> a, const std::vector<Neighbour>& b,
                                       std::size_t count) {
  a.insert(a.end(), b.begin(), b.end());
  keep_nearest(a, count);
  return a;
}

}  // namespace atl::index
