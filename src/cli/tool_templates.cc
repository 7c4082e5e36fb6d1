#include "cli/tool_templates.h"

#include <fmt/format.h>

#include "embedded/plugin_headers.h"
#include "embedded/tool_templates.h"

namespace atl::cli {
namespace {

std::string filled(std::string_view text, const std::string& name) {
  constexpr std::string_view kPlace = "NAME";
  std::string out;
  for (std::size_t at = text.find(kPlace); at != std::string_view::npos; at = text.find(kPlace)) {
    out.append(text.substr(0, at)).append(name);
    text.remove_prefix(at + kPlace.size());
  }
  return out.append(text);
}

}  // namespace

const std::vector<std::string_view>& tool_template_kinds() {
  static const std::vector<std::string_view> kinds = {"command", "code",   "http",  "builtin",
                                                      "client",  "plugin", "python"};
  return kinds;
}

std::vector<ToolFile> tool_files(std::string_view kind, const std::string& name) {
  std::vector<ToolFile> files;
  for (const std::string_view ending : {".yaml", ".cc", ".py"})
    for (const embedded::File& file : embedded::tool_templates())
      if (file.path == std::string(kind).append(ending))
        files.push_back({name + std::string(ending), filled(file.bytes, name)});
  if (kind == "plugin")
    for (const embedded::File& header : embedded::plugin_headers())
      files.push_back({std::string(header.path), std::string(header.bytes), true});
  return files;
}

std::string next_steps(std::string_view kind, const std::string& name) {
  if (kind == "python")
    return fmt::format(
        "Write its declaration into your registry directory: python3 {0}.py > tools/{0}.yaml\n"
        "Then: atoll tools test {0}\n",
        name);
  std::string steps = fmt::format("Put {}.yaml into tools/ of your registry directory\n", name);
  if (kind == "plugin")
    steps += fmt::format(
        "Build it: g++ -std=c++17 -O2 -shared -fPIC -I. {0}.cc -o lib{0}.so\n"
        "Put lib{0}.so into a directory of the setting 'tools.plugins'\n",
        name);
  return steps + fmt::format("Then: atoll tools test {}\n", name);
}

}  // namespace atl::cli
