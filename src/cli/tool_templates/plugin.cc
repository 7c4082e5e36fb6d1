// The tool NAME as a plugin. Build it:
//   g++ -std=c++17 -O2 -shared -fPIC -I. NAME.cc -o libNAME.so
#include <atoll/tool_base.h>

namespace {

struct Tool : atl::ToolBase {
  // The input is JSON, and so is what is returned; read and write it with the library that you like. What is
  // thrown is the call's failure, and its words reach the caller.
  std::string call(const std::string& input) override {
    return "{\"bytes\": " + std::to_string(input.size()) + "}";
  }
};

ATOLL_TOOL("NAME", Tool)

}  // namespace

ATOLL_TOOL_PLUGIN
