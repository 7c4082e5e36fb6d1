// The same by hnswlib alone, with the widest instructions that it knows.
//
//   hnswlib_bench COUNT [QUERIES] </dev/null      a line of input measures again
#include <hnswlib/hnswlib.h>

#include "bench/index/vectors.h"

using namespace bench;

namespace {

void run_bare(std::size_t count, std::size_t query_count) {
  Source source;
  Exact exact(some(source, query_count));
  const auto timed = some(source, 1000);
  const std::uint64_t before = resident_bytes();
  hnswlib::InnerProductSpace space(kDimension);
  hnswlib::HierarchicalNSW<float> nodes(&space, count, 16, 200);
  nodes.setEf(96);
  double build = 0;
  const auto search = [&](const Vector& query) {
    std::vector<std::uint64_t> found;
    for (auto heap = nodes.searchKnn(query.data(), kWanted); !heap.empty(); heap.pop())
      found.push_back(heap.top().second);
    return found;
  };
  for (std::uint64_t number = 1; number <= count; ++number) {
    const Vector vector = source.next();
    exact.see(number, vector);
    const double begun = processor_seconds();
    nodes.addPoint(vector.data(), number);
    build += processor_seconds() - begun;
    if (number == count || number % kReportEvery == 0)
      report("hnswlib", number, build, resident_bytes() - before, exact, timed, search);
  }
  measure_again([&] { report("hnswlib", count, build, resident_bytes() - before, exact, timed, search); });
}

}  // namespace

int main(int argc, char** argv) {
  run_bare(argc > 1 ? std::stoull(argv[1]) : 20'000, argc > 2 ? std::stoull(argv[2]) : 100);
  return 0;
}
