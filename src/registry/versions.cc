// Reloading, versions, and what tenants declare.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "registry/contents.h"
#include "registry/files.h"
#include "registry/kinds.h"
#include "registry/parse.h"

namespace atl::registry {
namespace {

template <class T>
const T* find_in(const std::map<std::string, T, std::less<>>& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

std::vector<Change> changes_between(const EntriesByKind& before, const EntriesByKind& after) {
  std::vector<Change> changes;
  static const Entries none;
  for (const Kind& kind : kinds()) {
    const Entries* const old_found = find_in(before, kind.folder);
    const Entries* const new_found = find_in(after, kind.folder);
    const Entries& old_entries = old_found != nullptr ? *old_found : none;
    const Entries& new_entries = new_found != nullptr ? *new_found : none;
    std::set<std::string_view> names;
    for (const auto& [name, entry] : old_entries) names.insert(name);
    for (const auto& [name, entry] : new_entries) names.insert(name);
    for (const std::string_view name : names) {
      const Entry* const was = find_in(old_entries, name);
      const Entry* const is = find_in(new_entries, name);
      if (was != nullptr && is != nullptr && was->digest == is->digest && was->origin == is->origin) continue;
      changes.push_back({std::string(kind.folder), std::string(name), was, is});
    }
  }
  return changes;
}

std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

}  // namespace

Result<void> Registry::add_checker(std::string_view kind, Checker checker) {
  if (const Entries* entries = find_in(now().entries, kind))
    for (const auto& [name, entry] : *entries) TRY(checker(entry));
  checkers_.emplace(kind, std::move(checker));
  return {};
}

Result<void> Registry::reload() {
  if (user_directory_.empty()) return {};
  FileMarks seen = environment_files(user_directory_), marks = all_files(user_directory_);
  // Also of a refused reload: only a further change makes the directory outdated again.
  marks_ = marks;
  const std::vector<SourceFile> user = TRY(read_directory(user_directory_));
  auto contents = std::make_unique<Contents>(TRY(read_contents(shipped_files(), user, checkers_)));
  files_seen_ = std::move(seen);
  if (changes_between(now().entries, contents->entries).empty()) return {};
  for (auto& [name, environment] : contents->environments) mark_late_layer(environment);
  versions_.push_back({version() + 1, Clock::machine().now(), std::move(contents)});
  while (versions_.size() > kVersionsKept) versions_.pop_front();
  ++revision_;
  generation_ = 0;
  log::info("the registry was loaded again", {{"version", std::to_string(version())}});
  return {};
}

bool Registry::is_outdated() const {
  return !user_directory_.empty() && all_files(user_directory_) != marks_;
}

std::vector<VersionFacts> Registry::versions() const {
  std::vector<VersionFacts> facts;
  for (const Version& version : versions_) {
    std::size_t count = 0;
    for (const auto& [kind, entries] : version.contents->entries) count += entries.size();
    facts.push_back({version.number, version.at, count});
  }
  return facts;
}

const Registry::Version* Registry::find_version(std::uint64_t number) const {
  const auto found = std::ranges::find(versions_, number, &Version::number);
  return found == versions_.end() ? nullptr : &*found;
}

Result<std::vector<Change>> Registry::difference(std::uint64_t from, std::uint64_t to) const {
  for (const std::uint64_t number : {from, to})
    if (find_version(number) == nullptr)
      return fail(Code::not_found, fmt::format("version {} of the registry is not kept; {} to {} are", number,
                                               versions_.front().number, versions_.back().number));
  return changes_between(find_version(from)->contents->entries, find_version(to)->contents->entries);
}

const Registry::TenantSet* Registry::tenant_set(std::string_view tenant) const {
  return tenant.empty() ? nullptr : find_in(tenants_, tenant);
}

const Agent* Registry::agent(std::string_view name, std::string_view tenant) const {
  for (const std::string& spelled : {std::string(name), with_dashes(name)}) {
    if (const TenantSet* own = tenant_set(tenant))
      if (const Agent* found = find_in(own->agents, spelled)) return found;
    if (const Agent* found = find_in(now().agents, spelled)) return found;
  }
  return nullptr;
}

const Prompt* Registry::prompt(std::string_view name, std::string_view tenant) const {
  if (const TenantSet* own = tenant_set(tenant))
    if (const Prompt* found = find_in(own->prompts, name)) return found;
  return find_in(now().prompts, name);
}

FindPrompt Registry::prompt_finder(std::string tenant) const {
  return [this, tenant = std::move(tenant)](std::string_view name) { return prompt(name, tenant); };
}

const Entry* Registry::entry(std::string_view kind, std::string_view name, std::string_view tenant) const {
  if (const TenantSet* own = tenant_set(tenant))
    if (const Entries* entries = find_in(own->entries, kind))
      if (const Entry* found = find_in(*entries, name)) return found;
  const Entries* entries = find_in(now().entries, kind);
  return entries == nullptr ? nullptr : find_in(*entries, name);
}

std::vector<const Entry*> Registry::entries(std::string_view kind, std::string_view tenant) const {
  std::map<std::string_view, const Entry*> by_name;
  if (const Entries* shared = find_in(now().entries, kind))
    for (const auto& [name, entry] : *shared) by_name[name] = &entry;
  if (const TenantSet* own = tenant_set(tenant))
    if (const Entries* entries = find_in(own->entries, kind))
      for (const auto& [name, entry] : *entries) by_name[name] = &entry;
  std::vector<const Entry*> list;
  for (const auto& [name, entry] : by_name) list.push_back(entry);
  return list;
}

Result<Entry> Registry::read_tenant_entry(std::string_view kind, std::string_view text) {
  const Kind* row = find_kind(kind);
  if (row == nullptr) return fail(Code::not_found, fmt::format("the registry has no kind '{}'", kind));
  if (row->owners != Owners::tenants_too)
    return fail(Code::unsupported, fmt::format("only the operator declares {}", kind));
  config::Document document = TRY(config::Document::parse(text, std::string(row->singular)));
  TRY(check(*row, document));
  return make_entry(kind, Origin::tenant, std::move(document));
}

Result<Entry> Registry::check_tenant_entry(const std::string& tenant, std::string_view kind,
                                           std::string_view text) const {
  Entry entry = TRY(read_tenant_entry(kind, text));
  TRY(check_tenant_entry(tenant, entry));
  return entry;
}

Result<void> Registry::check_tenant_entry(const std::string& tenant, const Entry& entry) const {
  if (entry.kind == "agents") {
    const Agent own = TRY(parse_agent(entry.document));
    TRY(check_agent(own, now(), prompt_finder(tenant)));
  }
  if (entry.kind == "prompts") {
    const Prompt own = TRY(parse_prompt(entry.document));
    const FindPrompt others = prompt_finder(tenant);
    TRY(all_variables(own, [&](std::string_view name) { return name == own.name ? &own : others(name); }));
  }
  const auto [from, to] = checkers_.equal_range(entry.kind);
  for (auto at = from; at != to; ++at) TRY(at->second(entry));
  return {};
}

void Registry::put_tenant_entry(const std::string& tenant, Entry entry) {
  TenantSet& own = tenants_[tenant];
  const std::string name = entry.name;
  if (entry.kind == "agents")
    if (auto agent = parse_agent(entry.document)) own.agents.insert_or_assign(name, std::move(*agent));
  if (entry.kind == "prompts")
    if (auto prompt = parse_prompt(entry.document)) own.prompts.insert_or_assign(name, std::move(*prompt));
  own.entries[entry.kind].insert_or_assign(name, std::move(entry));
  ++revision_;
}

void Registry::remove_tenant(const std::string& tenant) {
  if (tenants_.erase(tenant) > 0) ++revision_;
}

bool Registry::remove_tenant_entry(const std::string& tenant, std::string_view kind, std::string_view name) {
  const auto own = tenants_.find(tenant);
  if (own == tenants_.end()) return false;
  const auto entries = own->second.entries.find(kind);
  if (entries == own->second.entries.end()) return false;
  const auto found = entries->second.find(name);
  if (found == entries->second.end()) return false;
  const std::string key = found->first;
  if (kind == "agents") own->second.agents.erase(key);
  if (kind == "prompts") own->second.prompts.erase(key);
  entries->second.erase(found);
  ++revision_;
  return true;
}

std::size_t Registry::tenant_entry_count(std::string_view tenant) const {
  std::size_t count = 0;
  if (const TenantSet* own = tenant_set(tenant))
    for (const auto& [kind, entries] : own->entries) count += entries.size();
  return count;
}

bool Registry::ships(const std::string& recipe) const {
  return now().shipped_recipes.contains(recipe);
}

const std::map<std::string, Agent, std::less<>>& Registry::agents() const {
  return now().agents;
}

const policy::PolicySet& Registry::policies() const {
  return now().policies;
}

const policy::PolicySet& Registry::policies_of(std::uint64_t version) const {
  const Version* const found = find_version(version);
  return found != nullptr ? found->contents->policies : now().policies;
}

const LimitsTable& Registry::limits() const {
  return now().limits;
}

}  // namespace atl::registry
