#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "registry/entry.h"
#include "registry/prompt.h"
#include "registry/registry.h"

namespace atl::registry {

// Everything that one version of the registry declares.
struct Contents {
  std::map<std::string, Environment, std::less<>> environments;
  std::map<std::string, Agent, std::less<>> agents;
  Prompts prompts;
  LimitsTable limits;
  policy::PolicySet policies;
  EntriesByKind entries;
  std::set<std::string> shipped_recipes;
};

// All of it or an error that names file, line and column.
Result<Contents> read_contents(const std::vector<SourceFile>& shipped, const std::vector<SourceFile>& user,
                               const Checkers& checkers);
// The YAML files of the kinds' folders in a directory of the operator's.
Result<std::vector<SourceFile>> read_directory(const std::string& directory);
std::vector<SourceFile> shipped_files();

// What an agent may not do to the rest of the registry: name what does not exist.
Result<void> check_agent(const Agent& agent, const Contents& contents, const FindPrompt& find_prompt);

}  // namespace atl::registry
