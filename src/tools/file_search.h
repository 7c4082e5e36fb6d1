#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "os/fair_pool.h"
#include "os/task.h"
#include "sandbox/files.h"

namespace atl::tools {

struct SearchRequest {
  std::string path;     // the directory to begin at
  std::string pattern;  // RE2, matched against lines; empty: names alone are looked at
  std::string name;     // a shell pattern for file names ("*.py"); empty: all
  bool ignore_case = false;
  std::size_t matches_max = 100;
};

struct Match {
  std::string path;
  std::uint64_t line = 0;  // from 1; 0 where only names were asked for
  std::string text;        // of the line, at most 500 bytes
};

struct SearchAnswer {
  std::vector<Match> matches;
  std::size_t files_searched = 0;
  bool truncated = false;  // a bound ended the search, or cut a line: matches, files, bytes, time
};

// Where the lines are read: on a thread of `pool`, in the share of `tenant`; without a pool on the loop.
struct SearchPlace {
  os::FairPool* pool = nullptr;
  std::string tenant;
};

// Searches the files beneath a directory, in the order of their names. Binary files and files over 4 MiB are
// passed over; of a line that is very long for its pattern the beginning is looked at. A search ends after
// 10 s of matching. Code::invalid_argument if the pattern is none or compiles to more than 5,000
// instructions; Code::not_found if the directory is not there.
Task<SearchAnswer> search(std::shared_ptr<sandbox::Files> files, SearchRequest request,
                          SearchPlace place = {});

}  // namespace atl::tools
