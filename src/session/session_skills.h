#pragma once

#include <memory>
#include <string>
#include <vector>

#include "os/fair_pool.h"
#include "os/task.h"
#include "sandbox/sandbox.h"
#include "sandbox/spec.h"
#include "session/types.h"
#include "skill/library.h"

namespace atl::session {

// The skills of sessions: which ones a session gets, and how its sandbox is shown them. In the working
// directory they are `skills/NAME` and `.agents/skills/NAME`, read-only: the directories themselves where the
// provider can mount them, copies where it cannot.
//
// Looking skills up reads files and may wait for somebody who adds some: choose() and mounts() block, and are
// for off_loop(). The library must outlive this.
class SessionSkills {
 public:
  // Null: there are no skills.
  explicit SessionSkills(const skill::Library* library) : library_(library) {}

  // Runs `work` (Result<T>()) on threads for this alone, so that neither the loop nor anybody who uses no
  // skills waits for it, nor another tenant.
  template <class T, class Work>
  Task<T> off_loop(const std::string& tenant, Work work) const {
    return disk_.run<T>(tenant, std::move(work));
  }

  bool are_there() const { return library_ != nullptr; }
  // What a session of this tenant and agent gets for these names. Code::invalid_argument with the field
  // "skills".
  Result<std::vector<SkillUse>> choose(const std::string& tenant, const std::string& agent,
                                       const std::vector<std::string>& names) const;
  // What shows them inside, for a provider with the trait `mounts`. A skill that is gone meanwhile is left
  // out.
  Result<std::vector<sandbox::HostMount>> mounts(const Session& facts, const std::string& directory) const;
  // Copies them into a sandbox whose provider cannot mount. Copies that are there are replaced.
  Task<void> copy_into(std::shared_ptr<sandbox::Sandbox> in, Session facts, std::string directory) const;
  // Variables that lead programs inside to them.
  static void add_variables(const std::string& directory, TextMap& env);

 private:
  std::vector<skill::Skill> find(const Session& facts) const;

  const skill::Library* library_;
  mutable os::FairPool disk_{2};
};

}  // namespace atl::session
