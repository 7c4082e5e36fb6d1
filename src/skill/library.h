#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skill/skill.h"

namespace atl::skill {

// A skill that the operator declares in registry/skills/NAME.yaml.
struct Declared {
  std::string name;
  std::string directory;             // absolute, of the host
  std::string digest;                // not empty: pinned to exactly these contents
  std::vector<std::string> tenants;  // who may use it; empty: everybody
  std::vector<std::string> agents;   // agents that may use it; empty: all, and sessions without one
  std::string where;
};

// A directory that looks like a skill and is none, and why.
struct Problem {
  std::string name;
  std::string message;
};

struct Listing {
  std::vector<Skill> skills;  // by name
  std::vector<Problem> problems;
};

struct TenantBounds {
  std::uint64_t skills_max = 100;
  std::uint64_t bytes_max = 512ULL << 20;
  std::uint64_t files_max = 20'000;  // every call looks at each of them
  std::uint64_t pinned_max = 8;      // copies of its own skills that sessions named by their digest
};

// Every skill there is: shipped ones, over them those of the operator's directories, over them the declared
// ones, and over all of those, for a tenant, its own.
//
// Files are looked at when somebody asks: what changed in an operator's directory is there at the next call.
// What a tenant adds is unpacked by the secure extraction of src/layer, checked, and kept under its digest
// below `data`; nothing of it is executed here. Every function may be called from any thread; all of them
// block on the disk, so never call one on the loop thread.
class Library {
 public:
  struct Options {
    std::string data;                      // a directory of our own, made if it is missing
    std::vector<std::string> directories;  // of the operator's, later ones win; one that is missing is empty
    TenantBounds bounds;
  };
  // Unpacks the shipped ones.
  static Result<std::unique_ptr<Library>> open(Options options);

  // Code::invalid_argument if the directory is no skill of that name, or if it is pinned to contents that
  // nobody has.
  Result<void> check(const Declared& declared) const;
  // Code::invalid_argument, and nothing changes, if a pinned one has other contents than it is pinned to and
  // no copy of those is kept.
  Result<void> declare(std::vector<Declared> declared);

  Listing list(std::string_view tenant, std::string_view agent = {}) const;
  // Code::not_found if the tenant and the agent see none of this name. NAME@DIGEST (or 12 digits or more from
  // its beginning) is the skill with exactly these contents, as an immutable copy.
  Result<Skill> find(std::string_view tenant, std::string_view name, std::string_view agent = {}) const;
  // "*" is every skill that the tenant and the agent may use. Each once, by name. Code::invalid_argument with
  // the field "skills" for one that is not there, and beyond kChosenMax.
  static constexpr std::size_t kChosenMax = 100;
  Result<std::vector<Skill>> choose(std::string_view tenant, std::string_view agent,
                                    const std::vector<std::string>& names) const;

  // Adds skills of a tenant, or replaces those of the same names, out of a tar (compressed or not) or a git
  // bundle: one skill at the top, or several in directories. All of them or none.
  Result<std::vector<Skill>> add(const std::string& tenant, int archive);
  // Code::not_found if the tenant has none of this name of its own. Sessions that use it keep it.
  Result<void> remove(const std::string& tenant, const std::string& name);
  // What the tenant's own skills take together.
  std::uint64_t bytes_of(const std::string& tenant) const;
  // Everything of a tenant.
  Result<void> remove_all(const std::string& tenant);

  // The directories whose contents sandboxes may be shown. The provider gets them once, at its start: a skill
  // that comes later in another directory, or is a link to one, is shown as a copy.
  std::vector<std::string> roots();
  // A directory that looks like `skills/` of a session: an empty directory for each skill to be mounted on,
  // and a link with '_' for each '-' in a name, so that Python can import it. Made once for a set of names.
  Result<std::string> mount_points(const std::vector<Skill>& skills) const;

 private:
  explicit Library(Options options) : options_(std::move(options)) {}
  using ByName = std::map<std::string, Skill, std::less<>>;
  void read_directory(const std::string& directory, Source source, ByName& into,
                      std::map<std::string, std::string>& problems) const;
  // The skill in a directory: as it was read last if no file in it changed since.
  Result<Skill> cached(const std::string& directory) const;
  Result<void> check_locked(const Declared& declared) const;
  // False for what sandboxes see as a copy: it is below none of roots(), or a link leads to it.
  bool is_mountable(const std::string& directory) const;
  // Where pinned copies are: of what a tenant added below a directory of its own, of the rest below one.
  std::string pinned_place(Source source, std::string_view tenant) const;
  Result<Skill> pin(const Skill& skill, std::string_view tenant) const;
  Result<Skill> pinned_copy(std::string_view name, std::string_view digest,
                            std::string_view tenant = {}) const;
  // Null if no copy below `parent` is it.
  Result<std::optional<Skill>> copy_below(const std::string& parent, std::string_view name,
                                          std::string_view digest) const;
  Listing list_locked(std::string_view tenant, std::string_view agent) const;
  Result<std::vector<Skill>> keep(const std::string& tenant, const std::string& unpacked);

  struct Remembered {
    std::string fingerprint;
    Skill skill;
  };

  Options options_;
  std::string shipped_;  // the directory of the shipped ones
  mutable std::mutex lock_;
  std::vector<Declared> declared_;
  std::vector<std::string> told_roots_;                   // empty: the provider was told nothing yet
  mutable std::map<std::string, Remembered> remembered_;  // by directory
};

}  // namespace atl::skill
