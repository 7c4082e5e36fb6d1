#pragma once

#include <map>
#include <mutex>
#include <string>

#include "index/server_link.h"
#include "index/vector_backend.h"

namespace atl::index {

// Vectors on a Qdrant server, over REST. There is one Qdrant collection for each dimension, named after the
// catalog, so that several installations can share a server. A point carries its place, its kind and the
// members of its payload, each with an index of Qdrant's; texts and payloads stay in the catalog. Every
// search has the condition that the place be this one, which belongs to one tenant, and no caller can leave
// that condition out.
class Qdrant final : public VectorBackend {
 public:
  // `link` must outlive it.
  Qdrant(ServerLink& link, std::string catalog_id);

  std::string_view name() const override { return "qdrant"; }
  bool is_server() const override { return true; }
  Result<void> apply(std::size_t dimension, std::span<const VectorChange> changes) override;
  Result<void> drop(PlaceId place, std::size_t dimension) override;
  Result<std::vector<Neighbour>> nearest(PlaceId place, std::size_t dimension,
                                         const VectorQuery& query) override;
  // Code::not_found: there is no such collection, or it is not as we make them; clear() makes it. Indexes
  // that it lacks are made here.
  Result<std::uint64_t> count(std::size_t dimension) override;
  Result<void> clear(std::size_t dimension) override;

 private:
  std::string path_of(std::size_t dimension) const;
  // The member `result` of a good answer.
  Result<boost::json::value> ask(const std::string& method, const std::string& target,
                                 const boost::json::object* body);
  Result<void> make_index(std::size_t dimension, std::string_view field);

  ServerLink& link_;
  const std::string catalog_id_;
};

}  // namespace atl::index
