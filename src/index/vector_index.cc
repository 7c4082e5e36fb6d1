#include "index/vector_index.h"

#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cstdio>
#include <unordered_set>

namespace atl::index {
namespace {

constexpr std::size_t kLinks = 16, kBuildEffort = 200, kSearchEffort = 96, kFirstRoom = 1024;

}  // namespace

struct VectorIndex::Graph {
  explicit Graph(std::size_t dimension_) : dimension(dimension_), space(dimension_) {}
  std::size_t dimension;
  hnswlib::InnerProductSpace space;
  std::unique_ptr<hnswlib::HierarchicalNSW<float>> nodes;
  std::unordered_set<std::uint64_t> present;
};

VectorIndex::VectorIndex(std::size_t dimension) : graph_(std::make_unique<Graph>(dimension)) {
  graph_->nodes =
      std::make_unique<hnswlib::HierarchicalNSW<float>>(&graph_->space, kFirstRoom, kLinks, kBuildEffort);
  graph_->nodes->setEf(kSearchEffort);
}

VectorIndex::~VectorIndex() = default;

Result<std::unique_ptr<VectorIndex>> VectorIndex::load(const std::string& path, std::size_t dimension) {
  auto index = std::make_unique<VectorIndex>(dimension);
  Graph& graph = *index->graph_;
  try {
    graph.nodes = std::make_unique<hnswlib::HierarchicalNSW<float>>(&graph.space, path, false, kFirstRoom);
    graph.nodes->setEf(kSearchEffort);
    for (const auto& [label, at] : graph.nodes->label_lookup_)
      if (!graph.nodes->isMarkedDeleted(at)) graph.present.insert(label);
  } catch (const std::exception& exception) {
    return fail(Error(Code::data_loss, "the stored vectors cannot be read").with_detail(exception.what()));
  }
  return index;
}

Result<void> VectorIndex::save(const std::string& path) const {
  const std::string beside = path + ".new";
  try {
    graph_->nodes->saveIndex(beside);
  } catch (const std::exception& exception) {
    return fail(Error(Code::no_space, "the vectors cannot be stored").with_detail(exception.what()));
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) return fail(errno_error(errno, "store the vectors"));
  return {};
}

Result<void> VectorIndex::put(std::uint64_t number, std::span<const float> vector) {
  if (vector.size() != graph_->dimension)
    return fail(Code::invalid_argument, "a vector of another dimension");
  auto& nodes = *graph_->nodes;
  try {
    const bool is_new = nodes.label_lookup_.find(number) == nodes.label_lookup_.end();
    if (is_new && nodes.cur_element_count >= nodes.max_elements_) nodes.resizeIndex(nodes.max_elements_ * 2);
    nodes.addPoint(vector.data(), number);  // one that was deleted is there again
    graph_->present.insert(number);
  } catch (const std::exception& exception) {
    return fail(Error(Code::resource_exhausted, "no room for another vector").with_detail(exception.what()));
  }
  return {};
}

void VectorIndex::remove(std::uint64_t number) {
  if (graph_->present.erase(number) > 0) graph_->nodes->markDelete(number);
}

std::vector<VectorIndex::Neighbour> VectorIndex::nearest(std::span<const float> vector,
                                                         std::size_t count) const {
  std::vector<Neighbour> found;
  count = std::min(count, graph_->present.size());
  if (count == 0 || vector.size() != graph_->dimension) return found;
  auto heap = graph_->nodes->searchKnn(vector.data(), count);
  for (; !heap.empty(); heap.pop()) found.push_back({heap.top().second, 1 - heap.top().first});
  std::ranges::reverse(found);
  return found;
}

std::size_t VectorIndex::size() const {
  return graph_->present.size();
}

bool VectorIndex::is_worn() const {
  const std::size_t removed = graph_->nodes->cur_element_count - graph_->present.size();
  return removed > kFirstRoom && removed > graph_->present.size();
}

std::size_t VectorIndex::dimension() const {
  return graph_->dimension;
}

}  // namespace atl::index
