#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  bool truncated = false;  // a bound ended the search: matches, files or bytes
};

// Searches the files beneath a directory, in the order of their names. Binary files and files over 4 MiB are
// passed over. Code::invalid_argument if the pattern is none; Code::not_found if the directory is not there.
Task<SearchAnswer> search(std::shared_ptr<sandbox::Files> files, SearchRequest request);

}  // namespace atl::tools
