#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace atl::shell::patch {

struct Hunk {
  std::size_t old_start = 0, new_start = 0;
  struct Line {
    char kind;  // ' ', '-', '+'
    std::string text;
    bool newline = true;
  };
  std::vector<Line> lines;
  std::string header;
};

struct FilePatch {
  std::string old_name, new_name;
  std::vector<Hunk> hunks;
  std::vector<std::string> leading;  // its headers and what stands before them
  std::size_t first_hunk = 0;        // the number of the line behind those, from 1
};

// The patches of unified, context and normal diffs. What stands between them is skipped; `problem` says what
// is wrong with one that begins like a patch and is none.
std::vector<FilePatch> parse(const std::vector<std::string>& lines, std::string& problem);

}  // namespace atl::shell::patch
