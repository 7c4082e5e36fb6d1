// policy_bench LANGUAGE POLICY FILE...: reads all files first, then measures verdicts. One line of figures,
// in the processor time of this thread, best of three rounds. The 1 KB snippet is put together from the first
// file.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

#include "policy/security_manager.h"
#include "policy/shipped.h"

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

constexpr std::string_view python_snippet = R"py(import math
import json
from collections import defaultdict


def summarise(rows, key="value"):
    """Group rows and give mean and spread of each group."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["group"]].append(float(row[key]))
    result = {}
    for name, values in sorted(groups.items()):
        mean = sum(values) / len(values)
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
        result[name] = {"mean": round(mean, 3), "spread": round(spread, 3), "count": len(values)}
    return result


class Table:
    def __init__(self, path):
        self.path = path
        self.rows = []

    def load(self):
        with open(self.path) as file:
            self.rows = [json.loads(line) for line in file if line.strip()]
        return self

    def show(self):
        for name, stats in summarise(self.rows).items():
            print(f"{name}: {stats['mean']} +- {stats['spread']} ({stats['count']})")


Table("data.jsonl").load().show()
)py";

}  // namespace

int main(int argc, char** argv) {
  using namespace atl::policy;
  if (argc < 4) {
    fmt::print(stderr, "usage: policy_bench LANGUAGE POLICY FILE...\n");
    return 2;
  }
  auto set = PolicySet::compile(shipped_documents());
  auto language = parse_language(argv[1]);
  if (!set || !language || !set->find(argv[2])) return 2;
  SecurityManager manager(set->find(argv[2]));
  std::vector<std::string> files;
  std::size_t bytes = 0;
  for (int i = 3; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    files.push_back(text.str());
    bytes += files.back().size();
  }
  double best = 1e9;
  std::size_t findings = 0;
  for (int round = 0; round < 3; ++round) {
    double start = cpu_seconds();
    findings = 0;
    for (const std::string& file : files) findings += manager.validate(file, *language).findings.size();
    best = std::min(best, cpu_seconds() - start);
  }
  double snippet_best = 1e9;
  for (int round = 0; round < 20; ++round) {
    double start = cpu_seconds();
    for (int i = 0; i < 50; ++i) manager.validate(python_snippet, Language::python);
    snippet_best = std::min(snippet_best, (cpu_seconds() - start) / 50);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{{\"files\":{},\"bytes\":{},\"seconds\":{:.4f},\"mb_per_s\":{:.1f},\"findings\":{},\"snippet_bytes\":{"
      "},"
      "\"snippet_us\":{:.1f},\"peak_mb\":{}}}\n",
      files.size(), bytes, best, static_cast<double>(bytes) / best / 1e6, findings, python_snippet.size(),
      snippet_best * 1e6, usage.ru_maxrss / 1024);
  return 0;
}
