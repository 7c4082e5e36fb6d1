#pragma once

#include <boost/json/array.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "registry/registry.h"
#include "tools/tool.h"

namespace atl::tools {

using ToolPtr = std::shared_ptr<const Tool>;

// The tools there are, by name, as the registry has them at the moment: those for everybody, and each
// tenant's own, which nobody else sees. A tenant registers, replaces and removes tools as entries of the
// registry; what a tenant declares never takes the name of a tool for everybody.
//
// Belongs to the loop thread. Tools are shared: one that is replaced or removed lives until its last call
// ends.
class ToolRegistry {
 public:
  // Keeps the registry from taking a declaration that is no tool. The registry must outlive this. Fails as
  // Registry::add_checker() does, for what is declared already.
  static Result<std::unique_ptr<ToolRegistry>> open(registry::Registry* registry);

  // Null if the tenant sees none of this name.
  ToolPtr find(const std::string& tenant, std::string_view name) const;
  // Those that the tenant sees, by name.
  std::vector<ToolPtr> list(const std::string& tenant) const;
  // Those whose name, description or tags have every word of `text`, best first: a word in the name counts
  // more than one in the description.
  std::vector<ToolPtr> search(const std::string& tenant, std::string_view text) const;

 private:
  explicit ToolRegistry(const registry::Registry* registry) : registry_(registry) {}
  ToolPtr parsed(const registry::Entry& entry) const;

  const registry::Registry* registry_;
  mutable std::map<std::string, ToolPtr> parsed_;  // by origin and digest of the declaration; bounded
};

// The forms in which tools are told to models and programs.
enum class Format : std::uint8_t { atoll, openai, anthropic, mcp };
// Code::invalid_argument with the known ones.
Result<Format> parse_format(std::string_view word);
boost::json::object exported(const Tool& tool, Format format);

}  // namespace atl::tools
