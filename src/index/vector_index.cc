#include "index/vector_index.h"

#include <fcntl.h>
#include <hnswlib/hnswlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "base/bytes.h"
#include "index/byte_space.h"
#include "os/file.h"

namespace atl::index {
namespace {

constexpr std::size_t kLinks = 16, kBuildEffort = 200, kSearchEffort = 96, kFirstRoom = 1024;

float byte_distance(const void* a, const void* b, const void* dimension) {
  return 1 - ByteVector::product(a, b, *static_cast<const std::size_t*>(dimension));
}

class ByteSpace final : public hnswlib::SpaceInterface<float> {
 public:
  explicit ByteSpace(std::size_t dimension) : dimension_(dimension) {}
  std::size_t get_data_size() override { return ByteVector::size(dimension_); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return byte_distance; }
  void* get_dist_func_param() override { return &dimension_; }

 private:
  std::size_t dimension_;
};

}  // namespace

struct VectorIndex::Graph {
  explicit Graph(std::size_t dimension_) : dimension(dimension_), space(dimension_) {}
  std::size_t dimension;
  ByteSpace space;
  std::unique_ptr<hnswlib::HierarchicalNSW<float>> nodes;
  std::size_t removed = 0;

  std::size_t file_size() const {
    const auto& n = *nodes;
    std::size_t size = sizeof n.offsetLevel0_ + sizeof n.max_elements_ + sizeof n.cur_element_count +
                       sizeof n.size_data_per_element_ + sizeof n.label_offset_ + sizeof n.offsetData_ +
                       sizeof n.maxlevel_ + sizeof n.enterpoint_node_ + sizeof n.maxM_ + sizeof n.maxM0_ +
                       sizeof n.M_ + sizeof n.mult_ + sizeof n.ef_construction_;
    for (std::size_t i = 0; i < n.cur_element_count; ++i)
      size += n.size_data_per_element_ + sizeof(unsigned) +
              n.size_links_per_element_ * static_cast<std::size_t>(std::max(0, n.element_levels_[i]));
    return size;
  }
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
    const auto& nodes = *graph.nodes;
    if (nodes.size_data_per_element_ != nodes.size_links_level0_ + nodes.data_size_ + sizeof(std::size_t))
      return fail(Code::data_loss, "the stored vectors are of another dimension");
    for (const auto& [label, at] : graph.nodes->label_lookup_)
      if (graph.nodes->isMarkedDeleted(at)) ++graph.removed;
  } catch (const std::exception& exception) {
    return fail(Error(Code::data_loss, "the stored vectors cannot be read").with_detail(exception.what()));
  }
  return index;
}

Result<std::string> VectorIndex::save(const std::string& path) const {
  const std::string beside = path + ".new";
  try {
    graph_->nodes->saveIndex(beside);
  } catch (const std::exception& exception) {
    return fail(Error(Code::no_space, "the vectors cannot be stored").with_detail(exception.what()));
  }
  // The library does not say if the disk was full.
  struct stat info {};
  if (::stat(beside.c_str(), &info) != 0 || static_cast<std::size_t>(info.st_size) != graph_->file_size()) {
    ::unlink(beside.c_str());
    return fail(Code::no_space, "the vectors cannot be stored whole");
  }
  std::string digest = TRY(digest_of(beside));
  if (std::rename(beside.c_str(), path.c_str()) != 0) return fail(errno_error(errno, "store the vectors"));
  return digest;
}

Result<std::string> VectorIndex::digest_of(const std::string& path) {
  const os::Fd file = TRY(os::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail(errno_error(errno, "look at the stored vectors"));
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return fail(Code::data_loss, "the stored vectors are empty");
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED) return fail(errno_error(errno, "read the stored vectors"));
  std::string digest = sha256_hex({static_cast<const char*>(bytes), size});
  ::munmap(bytes, size);
  return digest;
}

Result<void> VectorIndex::put(std::uint64_t number, std::span<const float> vector) {
  if (vector.size() != graph_->dimension)
    return fail(Code::invalid_argument, "a vector of another dimension");
  return put_rounded(number, ByteVector(vector).data());
}

Result<void> VectorIndex::put_rounded(std::uint64_t number, const void* bytes) {
  auto& nodes = *graph_->nodes;
  try {
    const auto known = nodes.label_lookup_.find(number);
    const bool is_new = known == nodes.label_lookup_.end();
    if (is_new && nodes.cur_element_count >= nodes.max_elements_)
      nodes.resizeIndex(nodes.max_elements_ + nodes.max_elements_ / 2);
    if (!is_new && nodes.isMarkedDeleted(known->second)) --graph_->removed;
    nodes.addPoint(bytes, number);  // one that was deleted is there again
  } catch (const std::exception& exception) {
    return fail(Error(Code::resource_exhausted, "no room for another vector").with_detail(exception.what()));
  }
  return {};
}

bool VectorIndex::has(std::uint64_t number) const {
  const auto known = graph_->nodes->label_lookup_.find(number);
  return known != graph_->nodes->label_lookup_.end() && !graph_->nodes->isMarkedDeleted(known->second);
}

void VectorIndex::remove(std::uint64_t number) {
  if (!has(number)) return;
  graph_->nodes->markDelete(number);
  ++graph_->removed;
}

std::vector<std::uint64_t> VectorIndex::numbers() const {
  std::vector<std::uint64_t> all;
  for (const auto& [label, at] : graph_->nodes->label_lookup_)
    if (!graph_->nodes->isMarkedDeleted(at)) all.push_back(label);
  return all;
}

std::vector<Neighbour> VectorIndex::nearest(std::span<const float> vector, std::size_t count) const {
  std::vector<Neighbour> found;
  count = std::min(count, size());
  if (count == 0 || vector.size() != graph_->dimension) return found;
  const ByteVector bytes(vector);
  auto heap = graph_->nodes->searchKnn(bytes.data(), count);
  for (; !heap.empty(); heap.pop()) found.push_back({heap.top().second, 1 - heap.top().first});
  std::ranges::reverse(found);
  return found;
}

std::vector<Neighbour> VectorIndex::nearest_of(std::span<const float> vector,
                                               std::span<const std::uint64_t> among,
                                               std::size_t count) const {
  std::vector<Neighbour> found;
  if (vector.size() != graph_->dimension) return found;
  const ByteVector bytes(vector);
  const auto& nodes = *graph_->nodes;
  for (const std::uint64_t number : among) {
    const auto known = nodes.label_lookup_.find(number);
    if (known == nodes.label_lookup_.end() || nodes.isMarkedDeleted(known->second)) continue;
    found.push_back(
        {number, ByteVector::product(bytes.data(), nodes.getDataByInternalId(known->second), dimension())});
  }
  const auto nearer = [](const Neighbour& a, const Neighbour& b) { return a.likeness > b.likeness; };
  std::ranges::stable_sort(found, nearer);
  if (found.size() > count) found.resize(count);
  return found;
}

std::size_t VectorIndex::size() const {
  return graph_->nodes->label_lookup_.size() - graph_->removed;
}

std::size_t VectorIndex::memory() const {
  // A node's links and bytes, and about 64 for its place in the table of numbers.
  return graph_->nodes->max_elements_ * (graph_->nodes->size_data_per_element_ + 64);
}

bool VectorIndex::is_worn() const {
  return graph_->removed > kFirstRoom && graph_->removed > size();
}

std::size_t VectorIndex::dimension() const {
  return graph_->dimension;
}

}  // namespace atl::index
