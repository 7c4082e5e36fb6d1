#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "egress/rules.h"
#include "layer/build.h"
#include "layer/store.h"
#include "policy/policy.h"
#include "registry/entry.h"
#include "registry/limits.h"
#include "registry/prompt.h"
#include "sandbox/interpreter.h"
#include "sandbox/spec.h"

namespace atl::registry {

// A named recipe for a sandbox.
struct Environment {
  std::string name;
  std::string description;
  std::string image;                 // for providers that have images: the reference of one; empty: none
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
  egress::RuleTexts egress;  // what may be reached in mode egress
  std::optional<std::chrono::seconds> ttl;
  sandbox::Variables env;
  // The only tools that a session of it may call. Unset, or with "*" among them: every tool there is.
  std::optional<std::vector<std::string>> tools;
  std::vector<std::string> skills;
  std::string prompt, storage;
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

struct Contents;

// One state of the registry: the number grows by one with every reload that changed something.
struct VersionFacts {
  std::uint64_t number = 0;
  WallTime at;
  std::size_t entries = 0;
};

// What became of one declaration between two versions. Null: it was not there.
struct Change {
  std::string kind, name;
  const Entry* before = nullptr;
  const Entry* after = nullptr;
};

// The declarations of registry/ (kinds.h has the table of kinds): those inside the program, over them those
// of the operator's directory, and over both, for a tenant, the tenant's own. Belongs to the loop thread.
//
// The layers of environments are as the attached store has them, and a file that is put into the operator's
// environments/ later declares an environment that was not declared before. Everything else changes by
// reload(), as a whole.
//
// Pointers and references that are given out stay good until kVersionsKept further reloads, those to what a
// tenant declared only until the caller waits for something.
class Registry {
 public:
  static constexpr std::size_t kVersionsKept = 32;

  Registry(Registry&&) noexcept;
  Registry& operator=(Registry&&) noexcept;
  ~Registry();
  // The files shipped inside the program, then those of `user_directory` (empty: none) over them: a file of
  // the user's replaces the shipped thing of the same name, others add. All or nothing; the error names file,
  // line and column.
  static Result<Registry> load(const std::string& user_directory);
  static Result<Registry> from_files(const std::vector<SourceFile>& shipped,
                                     const std::vector<SourceFile>& user);

  // From now on environments take their layers from this store, and what is imported or built there can be
  // used at once, also by whom it is done in another process. The store must outlive the registry.
  void attach(const layer::Store& layers);
  // From now on every entry of the kind must satisfy `checker`, too; an error is that of the first one that
  // does not, and then nothing changes. This is how a room of a higher rank takes part in all-or-nothing
  // loading: one line where the service is put together.
  Result<void> add_checker(std::string_view kind, Checker checker);

  // Reads everything again. A success becomes the new version, if anything changed; an error, which names
  // file, line and column, leaves everything as it was. Sessions that exist keep what they were given.
  Result<void> reload();
  // True if a file of the operator's directory is not as it was when it was read last.
  bool is_outdated() const;
  std::uint64_t version() const { return versions_.back().number; }
  // Grows with every change, also of what a tenant declares.
  std::uint64_t revision() const { return revision_; }
  std::vector<VersionFacts> versions() const;  // oldest first
  // Code::not_found if one of the versions is not kept.
  Result<std::vector<Change>> difference(std::uint64_t from, std::uint64_t to) const;

  // Null if there is none of this name. With a tenant, its own comes first.
  const Environment* environment(std::string_view name) const;
  // '_' in a name stands for '-', too: "code_executor" is "code-executor".
  const Agent* agent(std::string_view name, std::string_view tenant = {}) const;
  const Prompt* prompt(std::string_view name, std::string_view tenant = {}) const;
  FindPrompt prompt_finder(std::string tenant) const;
  const Entry* entry(std::string_view kind, std::string_view name, std::string_view tenant = {}) const;
  std::vector<const Entry*> entries(std::string_view kind, std::string_view tenant = {}) const;  // by name

  // What a tenant declares, out of YAML or JSON. check_tenant_entry() changes nothing; the entry that it
  // gives is for put_tenant_entry(), which cannot fail. Code::invalid_argument with line and column for a
  // document that a file could not have, Code::unsupported for a kind that only the operator declares.
  Result<Entry> check_tenant_entry(const std::string& tenant, std::string_view kind,
                                   std::string_view text) const;
  // The same in two steps: the first from any thread, the second says whether it fits what else there is.
  static Result<Entry> read_tenant_entry(std::string_view kind, std::string_view text);
  Result<void> check_tenant_entry(const std::string& tenant, const Entry& entry) const;
  void put_tenant_entry(const std::string& tenant, Entry entry);
  // False if there was none.
  bool remove_tenant_entry(const std::string& tenant, std::string_view kind, std::string_view name);
  // All of them; the tenant sees what everybody sees.
  void remove_tenant(const std::string& tenant);
  // Those of one tenant alone, all kinds.
  std::size_t tenant_entry_count(std::string_view tenant) const;

  // True if a recipe of this name (layer::name_of) came with the program: what it made can be trusted as the
  // program.
  bool ships(const std::string& recipe) const;
  const std::map<std::string, Environment, std::less<>>& environments() const;
  const std::map<std::string, Agent, std::less<>>& agents() const;
  const policy::PolicySet& policies() const;
  // Those of that version; the newest ones if it is not kept or zero.
  const policy::PolicySet& policies_of(std::uint64_t version) const;
  const LimitsTable& limits() const;

  // The limits of a sandbox: shipped defaults, the table's, the environment's, then `over`.
  sandbox::Limits sandbox_limits(const Environment& environment, const LimitsPatch& over) const;
  // How long one execution in `language` may take where nobody said otherwise.
  std::chrono::milliseconds execution_time(sandbox::Language language) const;

 private:
  using Environments = std::map<std::string, Environment, std::less<>>;
  using FileMark = std::pair<std::int64_t, std::uint64_t>;  // time of change and size
  struct Version {
    std::uint64_t number;
    WallTime at;
    std::unique_ptr<Contents> contents;
  };
  struct TenantSet {
    EntriesByKind entries;
    std::map<std::string, Agent, std::less<>> agents;
    Prompts prompts;
  };

  Registry();
  Contents& now() const { return *versions_.back().contents; }
  const TenantSet* tenant_set(std::string_view tenant) const;
  const Version* find_version(std::uint64_t number) const;
  // Brings environments and store together if the store changed.
  void refresh() const;
  // Reads files of the user's that were not there, or could not be read, the last time.
  void read_new_files() const;
  void declare(Environment environment) const;
  void mark_late_layer(Environment& environment) const;

  std::deque<Version> versions_;  // the last one is in force
  std::uint64_t revision_ = 1;
  Checkers checkers_;
  std::map<std::string, TenantSet, std::less<>> tenants_;
  mutable std::vector<Environments::node_type> retired_;
  std::string user_directory_;  // empty: none
  // Files of its environments/ that were read, or refused, by name.
  mutable std::map<std::string, FileMark> files_seen_;
  std::map<std::string, FileMark> marks_;  // of all files of the directory when they were read last
  std::set<std::string> layers_at_start_;  // directories that environments had when the registry was loaded
  const layer::Store* store_ = nullptr;
  mutable std::uint64_t generation_ = 0;
};

// Code::conflict, with what to do about it, while the environment's layers have not been built, or if one of
// them is a directory that was not known when the registry was loaded.
Result<void> check_usable(const Environment& environment);

}  // namespace atl::registry
