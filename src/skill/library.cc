#include "skill/library.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/log.h"
#include "config/checked.h"
#include "config/document.h"
#include "embedded/shipped_skills.h"
#include "layer/digest.h"
#include "os/fd.h"
#include "os/file.h"
#include "skill/unpack.h"

namespace atl::skill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSkillsMax = 1000;  // looked at in one directory
constexpr std::size_t kDigestDigitsMin = 12;
constexpr std::size_t kPointsMax = 1000;  // places for sets of skills that are kept

bool is_hidden(std::string_view name) {
  return name.empty() || name.front() == '.' || name.front() == '_';
}

std::vector<std::string> directories_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (!is_hidden(name) && at->is_directory(ignored) && names.size() < kSkillsMax) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// Cheap to take, and different as soon as a file was written, added or removed.
std::string fingerprint_of(const std::string& directory) {
  layer::Sha256 hash;
  std::error_code failed;
  fs::recursive_directory_iterator at(directory, failed), end;
  for (std::size_t count = 0; !failed && at != end && count < Bounds{}.files_max * 2;
       at.increment(failed), ++count) {
    struct stat info {};
    if (::lstat(at->path().c_str(), &info) < 0) continue;
    // Archives choose times of change: what was replaced shows by its inode and by when that was written.
    hash.update(fmt::format("{} {} {}.{} {} {} {}.{}\n", at->path().string(), info.st_size,
                            info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_mode, info.st_ino,
                            info.st_ctim.tv_sec, info.st_ctim.tv_nsec));
  }
  return hash.finish();
}

std::string shipped_digest() {
  layer::Sha256 hash;
  for (const embedded::File& file : embedded::shipped_skills()) {
    hash.update(file.path);
    hash.update("\n");
    hash.update(file.bytes);
  }
  return hash.finish().substr(0, 16);
}

// Written beside, then given its name: a crash in between leaves nothing that looks whole.
Result<std::string> unpack_shipped(const std::string& data) {
  const std::string parent = data + "/shipped", place = parent + "/" + shipped_digest();
  TRY(os::make_directories(parent, 0755));
  if (os::exists(place)) return place;
  const std::string part = parent + "/.part-" + random_hex(6);
  for (const embedded::File& file : embedded::shipped_skills()) {
    const std::string path = fmt::format("{}/{}", part, file.path);
    TRY(os::make_directories(path.substr(0, path.rfind('/')), 0755));
    const bool is_program = file.bytes.starts_with("#!");
    TRY(os::write_file(path, file.bytes, is_program ? 0755 : 0644));
  }
  if (::rename(part.c_str(), place.c_str()) < 0 && errno != EEXIST && errno != ENOTEMPTY)
    return fail(errno_error(errno, "keep the shipped skills"));
  return place;
}

// Leaves the `kept` directories that were used last.
void forget_oldest(const std::string& parent, std::size_t kept) {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code failed;
  for (fs::directory_iterator at(parent, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    all.emplace_back(at->last_write_time(ignored), at->path());
  }
  if (all.size() <= kept) return;
  std::ranges::sort(all, std::greater());
  for (std::size_t i = kept; i < all.size(); ++i) fs::remove_all(all[i].second, failed);
}

void mark_used(const std::string& directory) {
  std::error_code ignored;
  fs::last_write_time(directory, fs::file_time_type::clock::now(), ignored);
}

bool may_use(const Declared& declared, std::string_view tenant, std::string_view agent) {
  const auto among = [](const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  return among(declared.tenants, tenant) && among(declared.agents, agent);
}

std::string tenant_directory(const std::string& data, std::string_view tenant) {
  // A tenant's name is anybody's text.
  return fmt::format("{}/tenants/{}", data, sha256_hex(tenant).substr(0, 32));
}

}  // namespace

Result<std::unique_ptr<Library>> Library::open(Options options) {
  std::unique_ptr<Library> library(new Library(std::move(options)));
  for (const char* part : {"", "/tenants", "/pinned", "/pinned-of", "/points", "/incoming"})
    TRY(os::make_directories(library->options_.data + part, 0755));
  library->shipped_ = TRY(unpack_shipped(library->options_.data));
  std::error_code ignored;
  for (const auto& left : fs::directory_iterator(library->options_.data + "/incoming", ignored))
    fs::remove_all(left.path(), ignored);
  return library;
}

Result<Skill> Library::cached(const std::string& directory) const {
  std::string fingerprint = fingerprint_of(directory);
  if (const auto had = remembered_.find(directory);
      had != remembered_.end() && had->second.fingerprint == fingerprint)
    return had->second.skill;
  Skill skill = TRY(read_skill(directory));
  remembered_[directory] = {std::move(fingerprint), skill};
  return skill;
}

void Library::read_directory(const std::string& directory, Source source, ByName& into,
                             std::map<std::string, std::string>& problems) const {
  for (const std::string& name : directories_in(directory)) {
    auto skill = cached(directory + "/" + name);
    if (!skill) {
      problems.insert_or_assign(name, skill.error().message());
      continue;
    }
    problems.erase(name);
    skill->source = source;
    into.insert_or_assign(name, std::move(*skill));
  }
}

std::string Library::pinned_place(Source source, std::string_view tenant) const {
  if (source != Source::tenant) return options_.data + "/pinned";
  return fmt::format("{}/pinned-of/{}", options_.data, sha256_hex(tenant).substr(0, 32));
}

Result<std::optional<Skill>> Library::copy_below(const std::string& parent, std::string_view name,
                                                 std::string_view digest) const {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(parent, failed)) {
    const std::string full = entry.path().filename().string();
    const std::string place = entry.path().string() + "/" + std::string(name);
    if (!full.starts_with(digest) || !os::exists(place)) continue;
    std::optional<Skill> skill = TRY(cached(place));
    skill->pinned = true;
    return skill;
  }
  return std::optional<Skill>();
}

Result<Skill> Library::pinned_copy(std::string_view name, std::string_view digest,
                                   std::string_view tenant) const {
  if (digest.size() < kDigestDigitsMin ||
      !std::ranges::all_of(digest, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }))
    return fail(Error(Code::invalid_argument, fmt::format("'{}' is no digest: at least {} hexadecimal digits",
                                                          config::shown(digest), kDigestDigitsMin))
                    .with_field("skills"));
  // The name is anybody's text and becomes part of a path.
  const bool is_one_name = !is_hidden(name) && name.find('/') == std::string_view::npos &&
                           name.find('\0') == std::string_view::npos;
  for (const Source source : {Source::tenant, Source::directory}) {
    if (!is_one_name || (source == Source::tenant && tenant.empty())) continue;
    if (auto copy = TRY(copy_below(pinned_place(source, tenant), name, digest))) {
      copy->source = source;
      return std::move(*copy);
    }
  }
  return fail(Code::not_found,
              fmt::format("no skill '{}' with the digest {} is kept", config::shown(name), digest));
}

Result<Skill> Library::pin(const Skill& skill, std::string_view tenant) const {
  const std::string all = pinned_place(skill.source, tenant);
  const std::string parent = all + "/" + skill.digest;
  const std::string place = parent + "/" + skill.name;
  if (!os::exists(place)) {
    TRY(os::make_directories(parent, 0755));
    const std::string part = parent + "/.part-" + random_hex(6);
    TRY(copy_tree(skill.directory, part));
    // The source may have changed while it was copied.
    if (TRY(digest_of(part)) != skill.digest) {
      std::error_code ignored;
      fs::remove_all(part, ignored);
      return fail(Code::conflict,
                  fmt::format("skill '{}' changed while it was copied; try again", skill.name));
    }
    if (::rename(part.c_str(), place.c_str()) < 0 && errno != EEXIST && errno != ENOTEMPTY)
      return fail(errno_error(errno, "keep a copy of a skill"));
  }
  if (skill.source == Source::tenant) {
    mark_used(parent);
    forget_oldest(all, options_.bounds.pinned_max);
    std::erase_if(remembered_, [&](const auto& one) {
      return one.first.starts_with(all + "/") && !os::exists(one.first);
    });
  }
  Skill copy = TRY(cached(place));
  copy.source = skill.source;
  copy.pinned = true;
  return copy;
}

Result<void> Library::check_locked(const Declared& declared) const {
  const auto fail_at = [&](std::string_view what) {
    return fail(Code::invalid_argument,
                fmt::format("{}: skill '{}': {}", declared.where, declared.name, what));
  };
  if (!declared.digest.empty()) {
    if (!layer::is_digest(declared.digest)) return fail_at("'digest' is no digest: 64 hexadecimal digits");
    if (pinned_copy(declared.name, declared.digest)) return {};
  }
  const auto skill = cached(declared.directory);
  if (!skill) return fail_at(skill.error().message());
  if (skill->name != declared.name)
    return fail_at(fmt::format("the directory's skill is called '{}'", skill->name));
  if (declared.digest.empty() || skill->digest == declared.digest) return {};
  return fail_at(fmt::format("it is pinned to {} and has the contents {}", declared.digest, skill->digest));
}

Result<void> Library::check(const Declared& declared) const {
  const std::lock_guard hold(lock_);
  return check_locked(declared);
}

Result<void> Library::declare(std::vector<Declared> declared) {
  const std::lock_guard hold(lock_);
  for (const Declared& one : declared) {
    TRY(check_locked(one));
    if (one.digest.empty() || pinned_copy(one.name, one.digest)) continue;
    const Skill skill = TRY(cached(one.directory));
    TRY(pin(skill, {}));
  }
  declared_ = std::move(declared);
  return {};
}

bool Library::is_mountable(const std::string& directory) const {
  if (told_roots_.empty()) return true;
  std::error_code failed;
  // A link on the way could be turned elsewhere, and the provider follows none.
  if (fs::canonical(directory, failed) != fs::path(directory) || failed) return false;
  return std::ranges::any_of(told_roots_, [&](const std::string& root) {
    return directory == root || directory.starts_with(root + "/");
  });
}

Listing Library::list_locked(std::string_view tenant, std::string_view agent) const {
  ByName found;
  std::map<std::string, std::string> problems;
  read_directory(shipped_, Source::shipped, found, problems);
  for (const std::string& directory : options_.directories)
    read_directory(directory, Source::directory, found, problems);
  for (const Declared& one : declared_) {
    auto skill = one.digest.empty() ? cached(one.directory) : pinned_copy(one.name, one.digest);
    if (!may_use(one, tenant, agent)) {
      found.erase(one.name);
    } else if (skill) {
      skill->source = Source::directory;
      found.insert_or_assign(one.name, std::move(*skill));
    } else {
      problems.insert_or_assign(one.name, skill.error().message());
    }
  }
  const std::string own = tenant_directory(options_.data, tenant);
  for (const std::string& name : directories_in(own)) {
    auto skill = cached(own + "/" + name);
    if (!skill) continue;
    skill->source = Source::tenant;
    skill->pinned = true;
    found.insert_or_assign(name, std::move(*skill));
  }
  Listing listing;
  for (auto& [name, skill] : found) {
    if (is_mountable(skill.directory)) {
      listing.skills.push_back(std::move(skill));
      continue;
    }
    auto copy = pin(skill, tenant);
    if (copy)
      listing.skills.push_back(std::move(*copy));
    else
      problems.insert_or_assign(name, copy.error().message());
  }
  for (auto& [name, message] : problems) listing.problems.push_back({name, std::move(message)});
  return listing;
}

Listing Library::list(std::string_view tenant, std::string_view agent) const {
  const std::lock_guard hold(lock_);
  return list_locked(tenant, agent);
}

Result<Skill> Library::find(std::string_view tenant, std::string_view name, std::string_view agent) const {
  const std::lock_guard hold(lock_);
  const auto at = name.find('@');
  std::string_view digest = at == std::string_view::npos ? std::string_view() : name.substr(at + 1);
  if (digest.starts_with("sha256:")) digest.remove_prefix(7);
  const std::string_view bare = name.substr(0, at);
  const Listing listing = list_locked(tenant, agent);
  const auto found = std::ranges::find(listing.skills, bare, &Skill::name);
  if (found == listing.skills.end()) {
    // Contents that are gone at their source are still there for whoever names them in full, unless somebody
    // else's skill has the name now.
    const bool is_withheld = std::ranges::any_of(
        declared_, [&](const Declared& one) { return one.name == bare && !may_use(one, tenant, agent); });
    if (layer::is_digest(digest) && !is_withheld)
      if (auto copy = pinned_copy(bare, digest, tenant)) return copy;
    const auto problem = std::ranges::find(listing.problems, bare, &Problem::name);
    if (problem != listing.problems.end())
      return fail(Code::invalid_argument,
                  fmt::format("skill '{}' cannot be used: {}", bare, problem->message));
    std::vector<std::string_view> known;
    for (const Skill& skill : listing.skills) known.push_back(skill.name);
    return fail(Code::not_found, fmt::format("there is no skill '{}'{}", config::shown(bare),
                                             config::did_you_mean(bare, known)));
  }
  if (at == std::string_view::npos) return *found;
  if (digest.size() >= kDigestDigitsMin && found->digest.starts_with(digest)) return pin(*found, tenant);
  // Only contents that this tenant could have had: what it may not list it may not have by digest.
  return pinned_copy(bare, digest, tenant);
}

Result<std::vector<Skill>> Library::choose(std::string_view tenant, std::string_view agent,
                                           const std::vector<std::string>& names) const {
  const auto too_many = [](std::size_t count) {
    return fail(
        Error(Code::invalid_argument,
              fmt::format("{} skills are too many for one session: at most {}; name those that it needs",
                          count, kChosenMax))
            .with_field("skills"));
  };
  // Each is looked up by itself.
  if (names.size() > kChosenMax) return too_many(names.size());
  std::map<std::string, Skill> chosen;
  for (const std::string& name : names) {
    if (name == "*") {
      for (Skill& skill : list(tenant, agent).skills) chosen.try_emplace(skill.name, std::move(skill));
      continue;
    }
    auto skill = find(tenant, name, agent);
    if (!skill) return fail(Error(Code::invalid_argument, skill.error().message()).with_field("skills"));
    chosen.insert_or_assign(skill->name, std::move(*skill));
  }
  if (chosen.size() > kChosenMax) return too_many(chosen.size());
  std::vector<Skill> list;
  for (auto& [name, skill] : chosen) list.push_back(std::move(skill));
  return list;
}

Result<std::vector<Skill>> Library::add(const std::string& tenant, int archive) {
  const std::string place = fmt::format("{}/incoming/{}", options_.data, random_hex(12));
  TRY(os::make_directories(place + "/tree", 0755));
  auto unpacked = unpack(archive, place, options_.bounds.bytes_max);
  Result<std::vector<Skill>> kept = unpacked ? keep(tenant, place + "/tree")
                                             : Result<std::vector<Skill>>(fail(std::move(unpacked).error()));
  std::error_code ignored;
  fs::remove_all(place, ignored);
  return kept;
}

Result<std::vector<Skill>> Library::keep(const std::string& tenant, const std::string& unpacked) {
  // Nobody else knows of this place yet: reading it takes nobody's time.
  std::vector<Skill> fresh;
  for (const std::string& directory : TRY(find_skills(unpacked))) {
    fresh.push_back(TRY(read_skill(directory)));
    TRY(make_read_only(directory));
  }
  const std::lock_guard hold(lock_);
  const std::string own = tenant_directory(options_.data, tenant);
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sizes;
  for (const std::string& name : directories_in(own))
    if (auto skill = cached(own + "/" + name)) sizes[name] = {skill->bytes, skill->files};
  for (const Skill& skill : fresh) sizes[skill.name] = {skill.bytes, skill.files};
  std::uint64_t bytes = 0, files = 0;
  for (const auto& [name, size] : sizes) bytes += size.first, files += size.second;
  if (sizes.size() > options_.bounds.skills_max)
    return fail(Code::resource_exhausted,
                fmt::format("a tenant has at most {} skills of its own", options_.bounds.skills_max));
  if (bytes > options_.bounds.bytes_max)
    return fail(Code::resource_exhausted,
                fmt::format("a tenant's skills have at most {} bytes together", options_.bounds.bytes_max));
  if (files > options_.bounds.files_max)
    return fail(Code::resource_exhausted,
                fmt::format("a tenant's skills have at most {} files together", options_.bounds.files_max));
  TRY(os::make_directories(own, 0755));
  std::vector<Skill> kept;
  for (const Skill& skill : fresh) {
    const std::string place = own + "/" + skill.name,
                      old = fs::path(unpacked).parent_path().string() + "/old-" + skill.name;
    if (os::exists(place) && ::rename(place.c_str(), old.c_str()) < 0)
      return fail(errno_error(errno, "replace a skill"));
    if (::rename(skill.directory.c_str(), place.c_str()) < 0) return fail(errno_error(errno, "keep a skill"));
    Skill now = skill;
    now.directory = place;
    remembered_[place] = {fingerprint_of(place), now};
    now.source = Source::tenant;
    now.pinned = true;
    kept.push_back(std::move(now));
  }
  return kept;
}

Result<void> Library::remove(const std::string& tenant, const std::string& name) {
  std::unique_lock hold(lock_);
  const std::string own = tenant_directory(options_.data, tenant);
  const std::vector<std::string> names = directories_in(own);
  if (std::ranges::find(names, name) == names.end())
    return fail(Code::not_found,
                fmt::format("there is no skill '{}' of your own; shared ones are the operator's",
                            config::shown(name)));
  const std::string gone = fmt::format("{}/incoming/{}", options_.data, random_hex(12));
  if (::rename((own + "/" + name).c_str(), gone.c_str()) < 0)
    return fail(errno_error(errno, "remove a skill"));
  remembered_.erase(own + "/" + name);
  hold.unlock();
  std::error_code ignored;
  fs::remove_all(gone, ignored);
  return {};
}

std::uint64_t Library::bytes_of(const std::string& tenant) const {
  const std::lock_guard hold(lock_);
  const std::string own = tenant_directory(options_.data, tenant);
  std::uint64_t bytes = 0;
  for (const std::string& name : directories_in(own))
    if (auto skill = cached(own + "/" + name)) bytes += skill->bytes;
  return bytes;
}

Result<void> Library::remove_all(const std::string& tenant) {
  std::vector<std::string> names;
  {
    const std::lock_guard hold(lock_);
    names = directories_in(tenant_directory(options_.data, tenant));
  }
  for (const std::string& name : names) TRY(remove(tenant, name));
  std::error_code ignored;
  fs::remove_all(pinned_place(Source::tenant, tenant), ignored);
  return {};
}

std::vector<std::string> Library::roots() {
  std::vector<std::string> roots{options_.data};
  for (const std::string& directory : options_.directories) {
    std::error_code failed;
    if (fs::is_directory(directory, failed)) roots.push_back(directory);
  }
  const std::lock_guard hold(lock_);
  for (const Declared& one : declared_)
    if (one.digest.empty()) roots.push_back(one.directory);
  told_roots_ = roots;
  return roots;
}

Result<std::string> Library::mount_points(const std::vector<Skill>& skills) const {
  std::string names;
  for (const Skill& skill : skills) names += skill.name + "\n";
  const std::string place = fmt::format("{}/points/{}", options_.data, sha256_hex(names).substr(0, 32));
  if (os::exists(place)) {
    mark_used(place);
    return place;
  }
  forget_oldest(options_.data + "/points", kPointsMax);
  const std::string part = fmt::format("{}/points/.part-{}", options_.data, random_hex(6));
  TRY(os::make_directories(part, 0755));
  for (const Skill& skill : skills) {
    TRY(os::make_directories(part + "/" + skill.name, 0755));
    std::string importable = skill.name;
    std::ranges::replace(importable, '-', '_');
    const bool is_taken = importable == skill.name || std::ranges::any_of(skills, [&](const Skill& other) {
                            return other.name == importable;
                          });
    if (is_taken) continue;
    if (::symlink(skill.name.c_str(), (part + "/" + importable).c_str()) < 0)
      return fail(errno_error(errno, "make the place of skills"));
  }
  if (::rename(part.c_str(), place.c_str()) < 0 && errno != EEXIST && errno != ENOTEMPTY)
    return fail(errno_error(errno, "make the place of skills"));
  return place;
}

}  // namespace atl::skill
