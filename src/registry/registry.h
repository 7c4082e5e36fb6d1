#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layer/build.h"
#include "layer/store.h"
#include "policy/policy.h"
#include "registry/limits.h"
#include "sandbox/interpreter.h"
#include "sandbox/spec.h"

namespace atl::registry {

// A named recipe for a sandbox.
struct Environment {
  std::string name;
  std::string description;
  std::vector<std::string> layers;   // directories of the host, lowest first; empty: the view of the host
  std::string stack;                 // whose layers it has in the layer store; empty: none of it
  std::vector<std::string> digests;  // of its layers, when they are of the store
  std::string made_by;         // the recipe that made them (layer::name_of); empty: not one recipe alone
  bool host_fallback = false;  // the view of the host will do while the stack is not there
  bool imported = false;       // no file declares it: it is there because its stack is
  std::optional<layer::Recipe> recipe;
  std::vector<sandbox::Language> languages;
  std::optional<sandbox::Language> default_language;
  std::string policy = "standard";
  LimitsPatch limits;
  sandbox::Network network = sandbox::Network::none;
  bool sudo = false;
  std::string user = "user";
  std::string working_directory = "/home/user";
  sandbox::Variables env;
  std::vector<std::string> preimport;  // modules that Python interpreters have imported before anybody asks
  // One of `layers` that no environment had, nor any that holds it, when the registry was loaded; empty:
  // there is none. A service shows sandboxes only directories that it knew when it started.
  std::string late_layer;
  std::string where;  // file:line it was read from
};

// What an agent wants of its sandbox. Unset: the environment's, or the service's default.
struct Agent {
  std::string name;
  std::string description;
  std::string environment;
  std::string provider;
  std::string policy;
  LimitsPatch limits;
  std::optional<sandbox::Network> network;
  std::optional<std::chrono::seconds> ttl;
  sandbox::Variables env;
  std::string where;
};

struct LimitsTable {
  LimitsPatch defaults;
  std::map<sandbox::Language, LimitsPatch> languages;
};

// One file of a registry: "environments/host.yaml" and its text.
struct SourceFile {
  std::string path;
  std::string text;
  std::string shown = path;  // in messages: the whole path of a file of the user's
};

// The declarations of registry/: environments, agents, limits, policies. Immutable once loaded, but for two
// things: the layers of environments are as the attached store has them, and a file that is put into the
// user's environments/ later declares an environment that was not declared before. A changed or removed file
// is noticed at the next start. Looking environments up belongs to one thread.
class Registry {
 public:
  // The files shipped inside the program, then those of `user_directory` (empty: none) over them: a file of
  // the user's replaces the shipped thing of the same name, others add. All or nothing; the error names file
  // and line.
  static Result<Registry> load(const std::string& user_directory);
  static Result<Registry> from_files(const std::vector<SourceFile>& shipped,
                                     const std::vector<SourceFile>& user);

  // From now on environments take their layers from this store, and what is imported or built there can be
  // used at once, also by whom it is done in another process. The store must outlive the registry.
  void attach(const layer::Store& layers);

  // Null if there is none of this name. A pointer stays good as long as the registry, whatever is removed.
  const Environment* environment(std::string_view name) const;
  const Agent* agent(std::string_view name) const;
  // True if a recipe of this name (layer::name_of) came with the program: what it made can be trusted as the
  // program.
  bool ships(const std::string& recipe) const { return shipped_recipes_.contains(recipe); }
  const std::map<std::string, Environment, std::less<>>& environments() const;
  const std::map<std::string, Agent, std::less<>>& agents() const { return agents_; }
  const policy::PolicySet& policies() const { return policies_; }
  const LimitsTable& limits() const { return limits_; }

  // The limits of a sandbox: shipped defaults, the table's, the environment's, then `over`.
  sandbox::Limits sandbox_limits(const Environment& environment, const LimitsPatch& over) const;
  // How long one execution in `language` may take where nobody said otherwise.
  std::chrono::milliseconds execution_time(sandbox::Language language) const;

 private:
  using Environments = std::map<std::string, Environment, std::less<>>;
  // Brings environments and store together if the store changed.
  void refresh() const;
  // Reads files of the user's that were not there, or could not be read, the last time.
  void read_new_files() const;
  void declare(Environment environment) const;

  mutable Environments environments_;
  mutable std::vector<Environments::node_type> retired_;
  std::string user_directory_;  // empty: none
  // Files of its environments/ that were read, or refused, by name: time of change and size then.
  mutable std::map<std::string, std::pair<std::int64_t, std::uint64_t>> files_seen_;
  std::set<std::string> shipped_recipes_;
  std::set<std::string> layers_at_start_;  // directories that environments had when the registry was loaded
  const layer::Store* store_ = nullptr;
  mutable std::uint64_t generation_ = 0;
  std::map<std::string, Agent, std::less<>> agents_;
  LimitsTable limits_;
  policy::PolicySet policies_;
};

// Code::conflict, with what to do about it, while the environment's layers have not been built, or if one of
// them is a directory that was not known when the registry was loaded.
Result<void> check_usable(const Environment& environment);

}  // namespace atl::registry
