#include "atoll/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>

#include "tool_progress.h"

namespace atl::client {
namespace {

bool is_tool_name(const std::string& name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  auto other = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= 64 && letter(name[0]) && std::ranges::all_of(name, other);
}

Json described(const ToolBase& tool, const std::string& format) {
  Json made = Json::object({{"name", tool.name}, {"description", tool.description}});
  if (format == "openai") {
    made.set("parameters", tool.input);
    return Json::object({{"type", "function"}, {"function", made}});
  }
  if (format == "anthropic") return made.set("input_schema", tool.input);
  if (format == "mcp") return made.set("inputSchema", tool.input);
  throw ConfigurationError(fmt::format("format '{}' is none of openai, anthropic, mcp", format),
                           "use one of them");
}

}  // namespace

Json ToolBase::declaration(const std::vector<std::string>& command) const {
  return declared(Json::object({{"command", Json(command)}}));
}

Json ToolBase::served_declaration() const {
  return declared(Json::object({{"client", true}}));
}

Json ToolBase::declared(Json run) const {
  if (!is_tool_name(name)) {
    throw ConfigurationError(fmt::format("a tool is called '{}'", name),
                             "letters, digits, '_' and '-', a letter first, at most 64");
  }
  if (description.empty())
    throw ConfigurationError(fmt::format("the tool '{}' has no description", name), "a model reads it");
  Json made = Json::object({{"name", name}, {"description", description}, {"input", input}});
  made.set("run", std::move(run));
  if (!output.is_null()) made.set("output", output);
  if (timeout_seconds > 0) made.set("timeout_seconds", timeout_seconds);
  if (idempotent) made.set("idempotent", true);
  if (pure) made.set("pure", true);
  if (read_only) made.set("read_only", true);
  if (!tags.empty()) made.set("tags", Json(tags));
  return made;
}

ToolBase& ToolRegistry::add(std::unique_ptr<ToolBase> tool, Replace replace) {
  tool->declaration({});
  std::unique_ptr<ToolBase>& place = tools_[tool->name];
  if (place && replace == Replace::no) {
    throw ConfigurationError(fmt::format("there is a tool '{}' already", tool->name),
                             "say Replace::yes to replace it");
  }
  place = std::move(tool);
  return *place;
}

bool ToolRegistry::remove(const std::string& name) {
  return tools_.erase(name) > 0;
}

ToolBase* ToolRegistry::find(const std::string& name) const {
  auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : found->second.get();
}

std::vector<std::string> ToolRegistry::names() const {
  std::vector<std::string> all;
  for (const auto& entry : tools_) all.push_back(entry.first);
  return all;
}

std::vector<Json> ToolRegistry::describe(const std::string& format) const {
  std::vector<Json> all;
  for (const auto& entry : tools_) all.push_back(described(*entry.second, format));
  return all;
}

Json ToolRegistry::call(const std::string& name, const Json& input) const {
  ToolBase* tool = find(name);
  if (!tool) throw ConfigurationError(fmt::format("there is no tool '{}'", name), "add() it first");
  return tool->call(input);
}

std::vector<std::string> ToolRegistry::publish(SandboxClient& client, const std::string& program) const {
  for (const auto& [name, tool] : tools_) client.put_tool(tool->declaration({program, "tool", name}));
  return names();
}

std::vector<std::string> ToolRegistry::publish_served(SandboxClient& client) const {
  for (const auto& entry : tools_) client.put_tool(entry.second->served_declaration());
  return names();
}

int ToolRegistry::serve(const std::string& name, std::istream& in, std::ostream& out,
                        std::ostream& err) const {
  // A sandbox takes such lines of standard error for progress.
  detail::ProgressScope told(
      [&](const ToolProgress& progress) { err << detail::progress_json(progress).dump() << std::endl; });
  try {
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    out << call(name, Json::parse(text)).dump() << '\n' << std::flush;
    return out ? 0 : 1;
  } catch (const std::exception& problem) {
    err << problem.what() << '\n';
    return 1;
  }
}

}  // namespace atl::client
