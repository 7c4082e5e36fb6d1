#include "auth/role_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/checked.h"

namespace atl::auth {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Result<RoleMap> RoleMap::parse(std::string_view text, std::string_view setting) {
  RoleMap map;
  const auto wrong = [&](std::string_view part) {
    return fail(Error(Code::invalid_argument, fmt::format("{}: '{}' is not WORD=ROLE or WORD=ROLE@TENANT",
                                                          setting, config::shown(part)))
                    .with_field(std::string(setting)));
  };
  while (!text.empty()) {
    const std::string_view part = trimmed(text.substr(0, text.find(',')));
    text.remove_prefix(
        std::min(text.size(), text.find(',') == std::string_view::npos ? text.size() : text.find(',') + 1));
    const auto equals = part.rfind('=');
    if (equals == std::string_view::npos || equals == 0) return wrong(part);
    const std::string_view target = trimmed(part.substr(equals + 1));
    const auto at = target.find('@');
    Entry entry;
    entry.word = trimmed(part.substr(0, equals));
    entry.role = target.substr(0, at);
    entry.tenant = at == std::string_view::npos ? kDefaultTenant : target.substr(at + 1);
    if (!config::Checked("role", entry.role).name(64) || !config::Checked("tenant", entry.tenant).name(64))
      return wrong(part);
    map.entries_.push_back(std::move(entry));
  }
  return map;
}

Result<void> RoleMap::apply(const std::vector<std::string>& words, const Roles& roles, Principal& who) const {
  for (const Entry& entry : entries_) {
    if (std::ranges::find(words, entry.word) == words.end()) continue;
    const auto permissions = roles.find(entry.tenant, entry.role);
    if (!permissions) continue;
    who.tenant = entry.tenant;
    who.role = entry.role;
    who.permissions = *permissions;
    return {};
  }
  return fail(Code::permission_denied, "this identity has no role here");
}

Result<std::pair<std::string, RoleMap>> parse_claim_map(std::string_view text, std::string_view setting) {
  const auto colon = text.find(':');
  const std::string claim(trimmed(text.substr(0, colon)));
  if (colon == std::string_view::npos || claim.empty())
    return fail(Error(Code::invalid_argument,
                      fmt::format("{}: a claim and a map such as 'groups: staff=developer@acme'", setting))
                    .with_field(std::string(setting)));
  return std::pair(claim, TRY(RoleMap::parse(text.substr(colon + 1), setting)));
}

}  // namespace atl::auth
