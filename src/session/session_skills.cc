#include "session/session_skills.h"

#include <fmt/format.h>

#include "base/log.h"

namespace atl::session {
namespace {

std::vector<std::string> places_in(const std::string& directory) {
  return {directory + "/skills", directory + "/.agents/skills"};
}

Task<void> write_file(sandbox::Files& files, std::string path, std::string bytes, std::uint32_t mode,
                      std::string user) {
  sandbox::WriteOptions options;
  options.user = user;
  options.mode = mode;
  CO_TRY(auto writer, co_await files.open_write(path, std::move(options)));
  CO_CHECK(co_await writer->write(std::move(bytes)));
  CO_CHECK(co_await writer->finish());
  // Some providers make new files by their own mask.
  co_return co_await files.chmod(std::move(path), mode, std::move(user));
}

// As root, so that programs of the sandbox's user cannot change them; as that user where root may not write.
Task<void> copy_skill(const SessionSkills& skills, sandbox::Files& files, const skill::Skill& skill,
                      std::string target, std::string user) {
  std::string stale = target;
  auto removed = co_await files.remove(std::move(stale), sandbox::Recursive::yes, user);
  if (!removed && removed.error().code() != Code::not_found) co_return fail(std::move(removed).error());
  auto look = [directory = skill.directory] { return skill::list_files(directory); };
  CO_TRY(const auto list, co_await skills.off_loop<std::vector<skill::FileFacts>>(std::move(look)));
  for (const skill::FileFacts& file : list) {
    auto read = [directory = skill.directory, path = file.path] {
      return skill::read_file(directory, path, skill::Bounds{}.bytes_max);
    };
    CO_TRY(std::string bytes, co_await skills.off_loop<std::string>(std::move(read)));
    const std::uint32_t mode = file.executable ? 0555 : 0444;
    CO_CHECK(co_await write_file(files, target + "/" + file.path, std::move(bytes), mode, user));
  }
  co_return Result<void>{};
}

}  // namespace

Result<std::vector<SkillUse>> SessionSkills::choose(const std::string& tenant, const std::string& agent,
                                                    const std::vector<std::string>& names) const {
  std::vector<SkillUse> uses;
  if (names.empty()) return uses;
  if (library_ == nullptr)
    return fail(Error(Code::invalid_argument, "this service has no skills").with_field("skills"));
  const auto chosen = TRY(library_->choose(tenant, agent, names));
  for (const skill::Skill& skill : chosen) uses.push_back({skill.name, skill.digest, skill.pinned});
  return uses;
}

std::vector<skill::Skill> SessionSkills::find(const Session& facts) const {
  std::vector<skill::Skill> found;
  if (library_ == nullptr) return found;
  for (const SkillUse& use : facts.skills) {
    auto skill =
        library_->find(facts.tenant, use.pinned ? use.name + "@" + use.digest : use.name, facts.agent);
    if (!skill && use.pinned) skill = library_->find(facts.tenant, use.name, facts.agent);
    if (skill)
      found.push_back(std::move(*skill));
    else
      log::warn("a skill of a session is gone",
                {{"session", facts.session_id}, {"skill", use.name}, {"error", skill.error().message()}});
  }
  return found;
}

Result<std::vector<sandbox::HostMount>> SessionSkills::mounts(const Session& facts,
                                                              const std::string& directory) const {
  std::vector<sandbox::HostMount> mounts;
  const std::vector<skill::Skill> skills = find(facts);
  if (skills.empty()) return mounts;
  const std::string points = TRY(library_->mount_points(skills));
  for (const std::string& place : places_in(directory)) {
    mounts.push_back({points, place, false, sandbox::MountIds::owner});
    for (const skill::Skill& skill : skills)
      mounts.push_back({skill.directory, place + "/" + skill.name, false, sandbox::MountIds::owner});
  }
  return mounts;
}

Task<void> SessionSkills::copy_into(std::shared_ptr<sandbox::Sandbox> in, Session facts,
                                    std::string directory) const {
  auto look = [this, facts]() -> Result<std::vector<skill::Skill>> { return find(facts); };
  CO_TRY(const auto skills, co_await off_loop<std::vector<skill::Skill>>(std::move(look)));
  sandbox::Files& files = in->files();
  for (const std::string& place : places_in(directory)) {
    for (const skill::Skill& skill : skills) {
      auto copied = co_await copy_skill(*this, files, skill, place + "/" + skill.name, std::string("root"));
      if (!copied) copied = co_await copy_skill(*this, files, skill, place + "/" + skill.name, std::string());
      if (!copied) co_return fail(std::move(copied).error().context("copy the skill " + skill.name));
    }
  }
  co_return Result<void>{};
}

void SessionSkills::add_variables(const std::string& directory, TextMap& env) {
  env.try_emplace("SKILLS_DIR", directory + "/skills");
  // `require('skills/web/http.js')` from wherever the program is.
  std::string& modules = env["NODE_PATH"];
  if (modules.find(directory) == std::string::npos) modules += (modules.empty() ? "" : ":") + directory;
}

}  // namespace atl::session
