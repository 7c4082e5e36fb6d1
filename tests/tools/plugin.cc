// Tools of a plugin for the tests: one that works and those that a service must survive.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "atoll/tool_base.h"

struct Length : atl::ToolBase {
  std::string call(const std::string& input) override {
    return "{\"bytes\": " + std::to_string(input.size()) + "}";
  }
};
struct Refuser : atl::ToolBase {
  std::string call(const std::string&) override { throw std::runtime_error("not today"); }
};
struct Crasher : atl::ToolBase {
  std::string call(const std::string&) override { std::abort(); }
};
struct Hanger : atl::ToolBase {
  std::string call(const std::string&) override {
    for (;;) ::pause();
  }
};
struct Forker : atl::ToolBase {
  std::string call(const std::string&) override {
    for (;;)
      if (::fork() == 0) ::sleep(1);
  }
};
struct Eater : atl::ToolBase {
  std::string call(const std::string&) override {
    std::vector<char*> all;
    for (;;) {
      all.push_back(static_cast<char*>(std::malloc(1 << 20)));
      std::memset(all.back(), 1, 1 << 20);
    }
  }
};

ATOLL_TOOL("plugin_length", Length)
ATOLL_TOOL("plugin_refuser", Refuser)
ATOLL_TOOL("plugin_crasher", Crasher)
ATOLL_TOOL("plugin_hanger", Hanger)
ATOLL_TOOL("plugin_forker", Forker)
ATOLL_TOOL("plugin_eater", Eater)
ATOLL_TOOL_PLUGIN
