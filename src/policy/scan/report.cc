#include "policy/scan/report.h"

#include <utility>

namespace atl::policy {

namespace {
constexpr int nesting_max = 8;
constexpr std::size_t nested_bytes_max = 4U << 20;
}  // namespace

void Report::put(RuleIndex rule, const RuleSetting& setting, std::uint32_t offset, std::string message) {
  if (setting.effect == Effect::off) return;
  if (pinned_ != unpinned) offset = pinned_;
  auto& list = setting.effect == Effect::deny ? verdict_.findings : verdict_.notes;
  if (list.size() >= policy_.limits().max_findings) {
    verdict_.truncated = true;
    return;
  }
  const Rule& known = rules()[rule];
  std::string text = setting.message.empty() ? std::move(message) : setting.message;
  if (!seen_.emplace((static_cast<std::uint64_t>(rule) << 32U) | offset, text).second) return;
  Place place = source_.place(offset);
  list.push_back({.rule = std::string(known.id),
                  .severity = setting.severity,
                  .message = std::move(text),
                  .recommendation = setting.recommendation.empty() ? std::string(known.recommendation)
                                                                   : setting.recommendation,
                  .excerpt = source_.excerpt(offset),
                  .line = place.line,
                  .column = place.column});
}

void Report::add(RuleId rule, std::uint32_t offset, std::string message) {
  auto index = static_cast<RuleIndex>(rule);
  put(index, compiled_.rules[index], offset, std::move(message));
}

void Report::add_listed(ListedIndex listed, std::uint32_t offset, std::string message) {
  const Listed& entry = compiled_.listed[static_cast<std::size_t>(listed)];
  put(entry.rule, entry.setting, offset, std::move(message));
}

void Report::add_import(std::string_view name, std::uint32_t offset, bool dynamic, bool relative) {
  std::string key = (relative ? "r:" : dynamic ? "d:" : "i:") + std::string(name);
  constexpr std::size_t imports_max = 10'000;
  if (imports_.size() >= imports_max || !imports_.insert(std::move(key)).second) return;
  std::uint32_t at = pinned_ != unpinned ? pinned_ : offset;
  verdict_.imports.push_back(
      {.name = std::string(name), .line = source_.place(at).line, .dynamic = dynamic, .relative = relative});
}

void Report::add_parse_error(std::uint32_t offset, std::string message) {
  constexpr std::size_t errors_max = 20;
  // Text that the code runs may be no code at all; that is a finding, but not an error of the code itself.
  if (pinned_ == unpinned && verdict_.parse_errors.size() < errors_max) {
    Place place = source_.place(offset);
    verdict_.parse_errors.push_back({place.line, place.column, message});
  }
  add(RuleId::parse_error, offset, std::move(message));
}

bool Report::enter_nested(std::size_t bytes) {
  if (depth_ >= nesting_max || nested_bytes_ + bytes > nested_bytes_max) return false;
  nested_bytes_ += bytes;
  ++depth_;
  return true;
}

}  // namespace atl::policy
