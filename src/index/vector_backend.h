#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/embedder.h"

namespace atl::index {

using PlaceId = std::int64_t;

// What became of one vector. Applying it again changes nothing.
struct VectorChange {
  PlaceId place = 0;
  std::uint64_t number = 0;
  std::optional<Vector> vector = {};  // unset: it is gone
  std::string kind = {};
  std::vector<std::string> members = {};  // of the payload (member_word())
};

struct VectorQuery {
  Vector vector;
  std::size_t count = 10;
  std::vector<std::string> kinds;    // empty: all
  std::vector<std::string> members;  // all of them must be there
};

struct Neighbour {
  std::uint64_t number = 0;
  float likeness = 0;  // cosine: 1 the same, 0 nothing in common
};

// Where the nearest vectors are looked for. A backend may lose everything, because it is filled from the
// catalog. Safe from every thread; calls block. What a server does not do in time is Code::unavailable, and
// then the caller does not know whether it was done: every call can be repeated.
class VectorBackend {
 public:
  virtual ~VectorBackend() = default;
  virtual std::string_view name() const = 0;
  // True: a Delivery sends it the changes, in order. False: whoever changes the catalog calls apply() itself.
  virtual bool is_server() const = 0;
  // Applies changes of vectors of one dimension, in their order.
  virtual Result<void> apply(std::size_t dimension, std::span<const VectorChange> changes) = 0;
  virtual Result<void> drop(PlaceId place, std::size_t dimension) = 0;
  // The nearest first, of this place alone.
  virtual Result<std::vector<Neighbour>> nearest(PlaceId place, std::size_t dimension,
                                                 const VectorQuery& query) = 0;
  // How many vectors of that dimension it has, over all places.
  virtual Result<std::uint64_t> count(std::size_t dimension) = 0;
  // Removes all vectors of that dimension, and makes what it needs to take new ones.
  virtual Result<void> clear(std::size_t dimension) = 0;
};

}  // namespace atl::index
