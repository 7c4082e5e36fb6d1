// A tool of one's own in C++: derive from ToolBase, say what call() does, and register it.
//
//   struct Words : atl::ToolBase {
//     std::string call(const std::string& input) override { return R"({"words": 2})"; }
//   };
//   ATOLL_TOOL("words", Words)
//
// Build it as a shared object; a YAML file with `run: {plugin: libwords.so}` declares its schemas.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "tool_plugin.h"

namespace atl {  // not atoll: the C library has a function of that name

class ToolBase {
 public:
  virtual ~ToolBase() = default;
  // Gets the input as JSON and gives the output as JSON. An exception is the call's failure; its words reach
  // the caller.
  virtual std::string call(const std::string& input) = 0;
};

namespace plugin {

inline std::vector<atoll_tool>& tools() {
  static std::vector<atoll_tool> all;
  return all;
}

template <class Tool>
int call(const char* input, size_t size, atoll_tool_write write, void* to) {
  std::string text;
  int status = 0;
  try {
    text = Tool().call(std::string(input, size));
  } catch (const std::exception& problem) {
    text = problem.what();
    status = 1;
  }
  write(to, text.data(), text.size());
  return status;
}

struct Registration {
  Registration(const char* name, int (*function)(const char*, size_t, atoll_tool_write, void*)) {
    tools().push_back({name, function});
  }
};

}  // namespace plugin
}  // namespace atl

// Once for each tool, in namespace scope.
#define ATOLL_TOOL(NAME, TYPE) \
  static const atl::plugin::Registration atoll_registered_##TYPE(NAME, atl::plugin::call<TYPE>);

// Once for each plugin: what Atoll looks for.
#define ATOLL_TOOL_PLUGIN                                                                                   \
  extern "C" const atoll_tool_table* atoll_tool_plugin(void) {                                              \
    static const atoll_tool_table table{ATOLL_TOOL_ABI, static_cast<uint32_t>(atl::plugin::tools().size()), \
                                        atl::plugin::tools().data()};                                       \
    return &table;                                                                                          \
  }
