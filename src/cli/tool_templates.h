#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atl::cli {

// A file of a new tool, with its name filled in.
struct ToolFile {
  std::string path;  // below the directory that the author named
  std::string text;
  bool shared = false;  // other tools may have it already: it is left as it is then
};

// What `atoll tools new` can begin: a kind of declaration, or `python` for a class of the Python package.
const std::vector<std::string_view>& tool_template_kinds();

// The files of a tool of that kind, the declaration first where there is one. The kind is one of the above.
std::vector<ToolFile> tool_files(std::string_view kind, const std::string& name);

// What an author does next, one step a line.
std::string next_steps(std::string_view kind, const std::string& name);

}  // namespace atl::cli
