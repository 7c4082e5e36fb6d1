#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/vector_backend.h"

namespace atl::index {

// The nearest neighbours of vectors of length 1, by hnswlib: approximate, in memory, with every number of a
// vector rounded to a byte (docs/decisions/search.md has what that costs and brings). The caller gives each
// vector a number. Const functions may run at once with each other; for all others the caller excludes every
// other call.
class VectorIndex {
 public:
  explicit VectorIndex(std::size_t dimension);
  ~VectorIndex();
  // What save() wrote. Code::data_loss for a file that is damaged or of another dimension.
  static Result<std::unique_ptr<VectorIndex>> load(const std::string& path, std::size_t dimension);
  // Replaces the file as a whole or, if it fails, leaves what was there. Gives a digest of the file.
  Result<std::string> save(const std::string& path) const;
  // Of a file that save() wrote.
  static Result<std::string> digest_of(const std::string& path);

  // Adds, or replaces.
  Result<void> put(std::uint64_t number, std::span<const float> vector);
  // The same with what ByteVector::data() gives for a vector of this dimension.
  Result<void> put_rounded(std::uint64_t number, const void* bytes);
  void remove(std::uint64_t number);
  bool has(std::uint64_t number) const;
  std::vector<std::uint64_t> numbers() const;

  // At most `count`, the nearest first.
  std::vector<Neighbour> nearest(std::span<const float> vector, std::size_t count) const;
  // The same among these numbers alone, exactly: it compares each of them. Unknown numbers are left out.
  std::vector<Neighbour> nearest_of(std::span<const float> vector, std::span<const std::uint64_t> among,
                                    std::size_t count) const;
  std::size_t size() const;
  // Bytes of memory.
  std::size_t memory() const;
  // True if it holds more removed vectors than present ones: one made anew is smaller and quicker.
  bool is_worn() const;
  std::size_t dimension() const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace atl::index
