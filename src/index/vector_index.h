#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace atl::index {

// The nearest neighbours of vectors of length 1, by hnswlib: approximate, in memory. Every vector has a
// number of the caller's. Not safe from several threads; searches may run at once with each other.
class VectorIndex {
 public:
  explicit VectorIndex(std::size_t dimension);
  ~VectorIndex();
  // What save() wrote. Code::data_loss for a file that is damaged or of another dimension.
  static Result<std::unique_ptr<VectorIndex>> load(const std::string& path, std::size_t dimension);
  // There whole or not at all.
  Result<void> save(const std::string& path) const;

  // Adds, or replaces.
  Result<void> put(std::uint64_t number, std::span<const float> vector);
  void remove(std::uint64_t number);

  struct Neighbour {
    std::uint64_t number = 0;
    float likeness = 0;  // cosine: 1 the same, 0 nothing in common
  };
  // At most `count`, the nearest first.
  std::vector<Neighbour> nearest(std::span<const float> vector, std::size_t count) const;
  std::size_t size() const;
  // More of it is removed vectors than present ones: one made anew is smaller and quicker.
  bool is_worn() const;
  std::size_t dimension() const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace atl::index
