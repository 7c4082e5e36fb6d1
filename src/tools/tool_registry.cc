#include "tools/tool_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/log.h"
#include "tools/reserved_names.h"

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

constexpr std::size_t kParsedMax = 4'096;

Author author_of(const registry::Entry& entry) {
  return entry.origin == registry::Origin::tenant ? Author::tenant : Author::operators;
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

Result<std::unique_ptr<ToolRegistry>> ToolRegistry::open(registry::Registry* registry) {
  auto checker = [registry](const registry::Entry& entry) -> Result<void> {
    const Tool tool = TRY(parse_tool(entry.document, author_of(entry)));
    const auto* builtin = std::get_if<BuiltinRun>(&tool.run);
    if (is_reserved_name(entry.name) && (builtin == nullptr || builtin->name != entry.name))
      return fail(
          Error(Code::already_exists,
                fmt::format("'{}' is the name of a tool that every client has; choose another", entry.name))
              .with_field("name"));
    if (entry.origin == registry::Origin::tenant && registry->entry("tools", entry.name) != nullptr)
      return fail(Error(Code::already_exists,
                        fmt::format("'{}' is the name of a tool for everybody; choose another", entry.name))
                      .with_field("name"));
    return {};
  };
  TRY(registry->add_checker("tools", std::move(checker)));
  return std::unique_ptr<ToolRegistry>(new ToolRegistry(registry));
}

ToolPtr ToolRegistry::parsed(const registry::Entry& entry) const {
  const std::string key = fmt::format("{}:{}", registry::to_string(entry.origin), entry.digest);
  if (const auto found = parsed_.find(key); found != parsed_.end()) return found->second;
  auto tool = parse_tool(entry.document, author_of(entry));
  if (!tool) {
    log::error("a tool that was checked cannot be read",
               {{"tool", entry.where}, {"error", tool.error().message()}});
    return nullptr;
  }
  if (parsed_.size() >= kParsedMax) parsed_.clear();
  return parsed_.emplace(key, std::make_shared<const Tool>(std::move(*tool))).first->second;
}

ToolPtr ToolRegistry::find(const std::string& tenant, std::string_view name) const {
  const registry::Entry* entry = registry_->entry("tools", name);
  if (entry == nullptr) entry = registry_->entry("tools", name, tenant);
  return entry == nullptr ? nullptr : parsed(*entry);
}

std::vector<ToolPtr> ToolRegistry::list(const std::string& tenant) const {
  std::vector<ToolPtr> tools;
  for (const registry::Entry* entry : registry_->entries("tools", tenant))
    if (ToolPtr tool = find(tenant, entry->name)) tools.push_back(std::move(tool));
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
