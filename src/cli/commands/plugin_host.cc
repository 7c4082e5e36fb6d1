#include <atoll/tool_plugin.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "cli/command.h"
#include "storage/plugin_server.h"

// Loads a plugin and makes one call of one of its tools: input from standard input, output to standard
// output. The daemon runs this inside a sandbox that is made for the call; nothing here needs to survive the
// plugin. With a socket it holds one of the plugin's storages instead, and answers the daemon until it is
// ended.
namespace atl::cli {
namespace {

constexpr int kPluginWrong = 70;

void append(void* to, const char* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(bytes, size);
}

int refuse(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  return kPluginWrong;
}

const atoll_tool* find(const atoll_tool_table& table, const std::string& name) {
  for (std::uint32_t i = 0; i < table.count; ++i)
    if (name == table.tools[i].name) return &table.tools[i];
  return nullptr;
}

int call_plugin(const std::string& library, const std::string& name) {
  void* loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return refuse(fmt::format("the plugin cannot be loaded: {}", ::dlerror()));
  // JUSTIFICATION: dlsym gives every symbol as void*; the header says what this one is.
  const auto entry = reinterpret_cast<decltype(&atoll_tool_plugin)>(::dlsym(loaded, "atoll_tool_plugin"));
  if (entry == nullptr) return refuse("the plugin does not export atoll_tool_plugin()");
  const atoll_tool_table* table = entry();
  if (table == nullptr || table->abi != ATOLL_TOOL_ABI)
    return refuse(fmt::format("the plugin was built for interface {}, this program has {}",
                              table == nullptr ? 0 : table->abi, ATOLL_TOOL_ABI));
  const atoll_tool* tool = find(*table, name);
  if (tool == nullptr) return refuse(fmt::format("the plugin has no tool '{}'", name));
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  std::string output;
  if (tool->call(input.c_str(), input.size(), append, &output) != 0) {
    fmt::print(stderr, "{}\n", output);
    return 1;
  }
  fmt::print("{}\n", output);
  return flush_output() ? 0 : 1;
}

}  // namespace

Action define_plugin_host(Command& top) {
  Command command =
      top.add_command("plugin-host", "Make one call of a plugin (the service does this in a sandbox)");
  command.hide();
  auto options = std::make_unique<storage::PluginServerOptions>();
  command.add_option("LIBRARY", options->library, "The shared object").required();
  command.add_option("NAME", options->storage, "The tool's name, or the storage's ('-' for the only one)")
      .required();
  command.add_option("--socket", options->socket, "Hold a storage, and listen here");
  command.add_option("--data", options->directory, "Where the storage keeps its data");
  return [options = std::move(options)] {
    if (options->socket.empty()) return call_plugin(options->library, options->storage);
    if (options->storage == "-") options->storage.clear();
    return report(storage::serve_plugin(*options).error());
  };
}

}  // namespace atl::cli
