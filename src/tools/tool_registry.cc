#include "tools/tool_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ranges>

namespace atl::tools {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// 0: a word is missing.
int score(const Tool& tool, const std::vector<std::string>& words) {
  const std::string name = lower(tool.name);
  const std::string description = lower(tool.description);
  int sum = 0;
  for (const std::string& word : words) {
    int best = 0;
    if (name.find(word) != std::string::npos) {
      best = 3;
    } else if (std::ranges::any_of(tool.tags, [&](const auto& tag) { return lower(tag) == word; })) {
      best = 2;
    } else if (description.find(word) != std::string::npos) {
      best = 1;
    }
    if (best == 0) return 0;
    sum += best;
  }
  return sum;
}

}  // namespace

Result<void> ToolRegistry::replace_shared(std::vector<Tool> tools) {
  Tools all;
  for (Tool& tool : tools) {
    const std::string name = tool.name;
    const std::string where = tool.where;
    if (!all.emplace(name, std::make_shared<const Tool>(std::move(tool))).second)
      return fail(Code::already_exists, fmt::format("{}: the tool '{}' is declared twice", where, name));
  }
  shared_ = std::move(all);
  return {};
}

Result<void> ToolRegistry::put(const std::string& tenant, Tool tool) {
  if (shared_.contains(tool.name))
    return fail(Error(Code::already_exists,
                      fmt::format("'{}' is the name of a tool for everybody; choose another", tool.name))
                    .with_field("name"));
  Tools& own = tenants_[tenant];
  if (!own.contains(tool.name) && own.size() >= kTenantToolsMax)
    return fail(Code::resource_exhausted,
                fmt::format("a tenant has at most {} tools of its own; remove one", kTenantToolsMax));
  std::string name = tool.name;
  own.insert_or_assign(std::move(name), std::make_shared<const Tool>(std::move(tool)));
  return {};
}

Result<void> ToolRegistry::remove(const std::string& tenant, std::string_view name) {
  const auto own = tenants_.find(tenant);
  const auto found = own == tenants_.end() ? Tools::iterator() : own->second.find(name);
  if (own == tenants_.end() || found == own->second.end())
    return fail(Code::not_found, fmt::format("you have no tool '{}' of your own", name.substr(0, 64)));
  own->second.erase(found);
  return {};
}

void ToolRegistry::remove_all(const std::string& tenant) {
  tenants_.erase(tenant);
}

ToolPtr ToolRegistry::find(const std::string& tenant, std::string_view name) const {
  if (const auto found = shared_.find(name); found != shared_.end()) return found->second;
  const auto own = tenants_.find(tenant);
  if (own == tenants_.end()) return nullptr;
  const auto found = own->second.find(name);
  return found == own->second.end() ? nullptr : found->second;
}

std::vector<ToolPtr> ToolRegistry::list(const std::string& tenant) const {
  Tools all = shared_;
  // insert() keeps what is there, so that a shared tool hides a tenant's.
  if (const auto own = tenants_.find(tenant); own != tenants_.end())
    all.insert(own->second.begin(), own->second.end());
  std::vector<ToolPtr> tools;
  for (auto& [name, tool] : all) tools.push_back(std::move(tool));
  return tools;
}

std::vector<ToolPtr> ToolRegistry::search(const std::string& tenant, std::string_view text) const {
  const std::vector<std::string> words = words_of(text);
  std::vector<std::pair<int, ToolPtr>> scored;
  for (ToolPtr& tool : list(tenant))
    if (const int points = score(*tool, words); points > 0) scored.emplace_back(points, std::move(tool));
  std::ranges::stable_sort(scored, std::greater(), &std::pair<int, ToolPtr>::first);
  std::vector<ToolPtr> tools;
  for (auto& [points, tool] : scored) tools.push_back(std::move(tool));
  return tools;
}

}  // namespace atl::tools
