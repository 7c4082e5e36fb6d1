#pragma once

#include <boost/json/array.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/tool.h"

namespace atl::tools {

using ToolPtr = std::shared_ptr<const Tool>;

// The tools there are, by name: those that the operator declares for everybody, and each tenant's own, which
// nobody else sees. A tenant's tool may not have the name of a shared one: whoever calls a tool by a name that
// everybody knows gets what everybody knows.
//
// Belongs to the loop thread. Tools are shared: one that is replaced or removed lives until its last call ends.
class ToolRegistry {
 public:
  static constexpr std::size_t kTenantToolsMax = 200;

  // All shared tools at once, in place of those before. Code::already_exists naming a tool that is there
  // twice; then nothing changed. Tenants' tools whose names are taken now are hidden until they are free.
  Result<void> replace_shared(std::vector<Tool> tools);
  // One tool of a tenant, new or in place of that tenant's tool of the same name. Code::already_exists if a
  // shared tool has the name; Code::resource_exhausted over kTenantToolsMax.
  Result<void> put(const std::string& tenant, Tool tool);
  // Code::not_found if the tenant has none of its own with this name.
  Result<void> remove(const std::string& tenant, std::string_view name);
  // Forgets a tenant.
  void remove_all(const std::string& tenant);

  // Null if the tenant sees none of this name.
  ToolPtr find(const std::string& tenant, std::string_view name) const;
  // Those that the tenant sees, by name.
  std::vector<ToolPtr> list(const std::string& tenant) const;
  // Those whose name, description or tags have every word of `text`, best first: a word in the name counts
  // more than one in the description.
  std::vector<ToolPtr> search(const std::string& tenant, std::string_view text) const;

 private:
  using Tools = std::map<std::string, ToolPtr, std::less<>>;
  Tools shared_;
  std::map<std::string, Tools, std::less<>> tenants_;
};

// The forms in which tools are told to models and programs.
enum class Format : std::uint8_t { atoll, openai, anthropic, mcp };
// Code::invalid_argument with the known ones.
Result<Format> parse_format(std::string_view word);
boost::json::object exported(const Tool& tool, Format format);

}  // namespace atl::tools
