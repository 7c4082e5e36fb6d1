#include "session/session_skills.h"

#include <fmt/format.h>

#include "session/subject.h"

namespace atl::session {
namespace {

// Directories in directories of one skill.
constexpr std::uint32_t kDepthMax = 64;

std::vector<std::string> places_in(const std::string& directory) {
  const std::string base = directory == "/" ? "" : directory;
  return {base + "/skills", base + "/.agents/skills"};
}

Task<void> write_file(sandbox::Files& files, std::string path, std::string bytes, std::uint32_t mode,
                      std::string user) {
  sandbox::WriteOptions options;
  options.user = user;
  options.mode = mode;
  CO_TRY(auto writer, co_await files.open_write(path, std::move(options)));
  CO_CHECK(co_await writer->write(std::move(bytes)));
  CO_TRY(const sandbox::FileInfo written, co_await writer->finish());
  // Some providers make new files by their own mask.
  if ((written.mode & 0777) == mode) co_return Result<void>{};
  co_return co_await files.chmod(std::move(path), mode, std::move(user));
}

constexpr std::uint32_t kOpenDirectory = 0755, kClosedDirectory = 0555;

// Of this directory and all that are in it. What is not there is no error.
Task<void> set_modes(sandbox::Files& files, std::string directory, std::uint32_t mode, std::string user) {
  const sandbox::ListBounds bounds(2 * skill::Bounds{}.files_max);
  auto changed = co_await files.chmod(directory, mode, user);
  if (!changed && changed.error().code() == Code::not_found) co_return Result<void>{};
  if (!changed) co_return fail(std::move(changed).error());
  CO_TRY(const auto found, co_await files.list(directory, kDepthMax, bounds, user));
  for (const sandbox::FileInfo& one : found)
    if (one.type == sandbox::FileType::directory) CO_CHECK(co_await files.chmod(one.path, mode, user));
  co_return Result<void>{};
}

// A directory at `place`, whatever was there before: a link that leads elsewhere or nowhere, or a file.
Task<bool> clear_place(sandbox::Files& files, std::string place, std::string user) {
  auto there = co_await files.stat(place, user);
  if (!there && there.error().code() != Code::not_found) co_return fail(std::move(there).error());
  if (there && there->type == sandbox::FileType::directory) co_return false;
  if (there) CO_CHECK(co_await files.remove(place, sandbox::Recursive::no, user));
  CO_TRY(auto made, co_await files.make_directory(place, user));
  co_return true;
}

// A directory that its owner can write into; a copy from an earlier time is closed for its owner, too.
Task<void> open_place(sandbox::Files& files, std::string place, std::string directory, std::string user) {
  const std::string above = place.substr(0, place.rfind('/'));
  if (above.size() > directory.size()) CO_CHECK(co_await clear_place(files, above, user));
  CO_TRY(const bool is_new, co_await clear_place(files, place, user));
  if (is_new) co_return Result<void>{};
  co_return co_await files.chmod(place, kOpenDirectory, user);
}

Task<void> copy_skill(const SessionSkills& skills, std::string tenant, sandbox::Files& files,
                      const skill::Skill& skill, std::string target, std::string user) {
  // An earlier copy is closed for its owner, too.
  auto there = co_await files.stat(target, user);
  if (there && there->type == sandbox::FileType::directory)
    CO_CHECK(co_await set_modes(files, target, kOpenDirectory, user));
  auto removed = co_await files.remove(target, sandbox::Recursive::yes, user);
  if (!removed && removed.error().code() != Code::not_found) co_return fail(std::move(removed).error());
  auto look = [directory = skill.directory] { return skill::list_files(directory); };
  CO_TRY(const auto list, co_await skills.off_loop<std::vector<skill::FileFacts>>(tenant, std::move(look)));
  for (const skill::FileFacts& file : list) {
    auto read = [directory = skill.directory, path = file.path] {
      return skill::read_file(directory, path, skill::Bounds{}.bytes_max);
    };
    CO_TRY(std::string bytes, co_await skills.off_loop<std::string>(tenant, std::move(read)));
    const std::uint32_t mode = file.executable ? 0555 : 0444;
    CO_CHECK(co_await write_file(files, target + "/" + file.path, std::move(bytes), mode, user));
  }
  co_return co_await set_modes(files, target, kClosedDirectory, user);
}

Task<void> copy_all(const SessionSkills& skills, std::string tenant, sandbox::Files& files,
                    const std::vector<skill::Skill>& chosen, std::string place, std::string directory,
                    std::string user) {
  CO_CHECK(co_await open_place(files, place, std::move(directory), user));
  for (const skill::Skill& skill : chosen) {
    auto copied = co_await copy_skill(skills, tenant, files, skill, place + "/" + skill.name, user);
    if (!copied) co_return fail(std::move(copied).error().context("copy the skill " + skill.name));
  }
  co_return co_await files.chmod(place, kClosedDirectory, user);
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
      log::warn(subject_of(facts), "a skill of a session is gone",
                {{"skill", use.name}, {"error", skill.error().message()}});
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
  CO_TRY(const auto skills, co_await off_loop<std::vector<skill::Skill>>(facts.tenant, std::move(look)));
  sandbox::Files& files = in->files();
  // As root, so that programs of the sandbox's user cannot change them; as that user where there is no such
  // root, as in a container without capabilities. Then they are closed to writers, and their owner could open
  // them.
  for (const std::string& place : places_in(directory)) {
    auto copied =
        co_await copy_all(*this, facts.tenant, files, skills, place, directory, std::string("root"));
    if (!copied)
      copied = co_await copy_all(*this, facts.tenant, files, skills, place, directory, std::string());
    if (!copied) co_return fail(std::move(copied).error());
  }
  co_return Result<void>{};
}

void SessionSkills::add_variables(const std::string& directory, TextMap& env) {
  env.try_emplace("SKILLS_DIR", places_in(directory).front());
  // `require('skills/web/http.js')` from wherever the program is.
  std::string& modules = env["NODE_PATH"];
  if (modules.find(directory) == std::string::npos) modules += (modules.empty() ? "" : ":") + directory;
}

}  // namespace atl::session
