// Nearest vectors by VectorIndex against all of them compared. One line of JSON.
//
//   index_bench COUNT [QUERIES] </dev/null      a line of input measures again
#include "bench/index/vectors.h"
#include "index/vector_index.h"

using namespace bench;

namespace {

void run_ours(std::size_t count, std::size_t query_count) {
  Source source;
  Exact exact(some(source, query_count));
  const auto timed = some(source, 1000);
  const std::uint64_t before = resident_bytes();
  atl::index::VectorIndex index(kDimension);
  double build = 0;
  const auto search = [&](const Vector& query) {
    std::vector<std::uint64_t> found;
    for (const auto& one : index.nearest(query, kWanted)) found.push_back(one.number);
    return found;
  };
  for (std::uint64_t number = 1; number <= count; ++number) {
    const Vector vector = source.next();
    exact.see(number, vector);
    const double begun = processor_seconds();
    if (!index.put(number, vector)) return;
    build += processor_seconds() - begun;
    if (number == count || number % kReportEvery == 0)
      report("ours", number, build, resident_bytes() - before, exact, timed, search);
  }
  measure_again([&] { report("ours", count, build, resident_bytes() - before, exact, timed, search); });
}

}  // namespace

int main(int argc, char** argv) {
  run_ours(argc > 1 ? std::stoull(argv[1]) : 20'000, argc > 2 ? std::stoull(argv[2]) : 100);
  return 0;
}
