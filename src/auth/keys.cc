#include "auth/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/json.h"
#include "config/checked.h"

namespace atl::auth {
namespace {

constexpr std::string_view kPrefix = "e2b_";
constexpr std::size_t kKeyBytes = 20;
constexpr std::size_t kShownLetters = 8;
// Of one tenant, access tokens among them.
constexpr std::ptrdiff_t kInForceMax = 1000;

std::string scopes_json(const Narrowing& narrowing) {
  boost::json::object scopes;
  if (narrowing.permissions) {
    boost::json::array words;
    for (const std::string& word : narrowing.permissions->words()) words.emplace_back(word);
    scopes["permissions"] = std::move(words);
  }
  if (!narrowing.scopes.sessions.empty()) {
    boost::json::array ids;
    for (const std::string& id : narrowing.scopes.sessions) ids.emplace_back(id);
    scopes["sessions"] = std::move(ids);
  }
  if (!narrowing.scopes.environment.empty()) scopes["environment"] = narrowing.scopes.environment;
  return boost::json::serialize(scopes);
}

std::string networks_json(const Narrowing& narrowing) {
  boost::json::array ranges;
  for (const std::string& range : narrowing.networks) ranges.emplace_back(range);
  return boost::json::serialize(ranges);
}

Result<void> check_room(const std::vector<store::KeyRow>& rows, const std::string& tenant, WallTime now) {
  const auto in_force = std::ranges::count_if(rows, [&](const store::KeyRow& row) {
    return row.tenant == tenant && !row.revoked_at && !(row.expires_at && *row.expires_at <= now);
  });
  if (in_force < kInForceMax) return {};
  return fail(Code::resource_exhausted,
              fmt::format("the tenant has {} keys and access tokens, which is the most there can be; revoke "
                          "those that nobody uses",
                          in_force));
}

}  // namespace

std::string new_key() {
  return std::string(kPrefix) + random_hex(kKeyBytes);
}

bool is_key(std::string_view text) {
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  return text.size() >= 8 && text.size() <= 128 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Keys::Keys(store::Store& store, Clock& clock) : store_(store), clock_(clock) {}

Result<Narrowing> Keys::narrowing_of(const store::KeyRow& row) {
  Narrowing narrowing;
  const boost::json::value scopes = TRY(json::parse(row.scopes));
  if (!scopes.is_object()) return fail(Code::data_loss, "the scopes of a key are damaged");
  for (const auto& [name, value] : scopes.as_object()) {
    if (name == "environment" && value.is_string()) {
      narrowing.scopes.environment = value.as_string();
    } else if ((name == "sessions" || name == "permissions") && value.is_array()) {
      if (name == "permissions") narrowing.permissions.emplace();
      for (const boost::json::value& one : value.as_array()) {
        if (!one.is_string()) return fail(Code::data_loss, "the scopes of a key are damaged");
        if (name == "sessions") {
          narrowing.scopes.sessions.insert(std::string(one.as_string()));
        } else if (const auto permission = parse_permission(one.as_string())) {
          narrowing.permissions->add(*permission);
        }
      }
    } else {
      return fail(Code::data_loss, "the scopes of a key are damaged");
    }
  }
  const boost::json::value networks = TRY(json::parse(row.networks));
  if (!networks.is_array()) return fail(Code::data_loss, "the networks of a key are damaged");
  for (const boost::json::value& one : networks.as_array()) {
    if (!one.is_string()) return fail(Code::data_loss, "the networks of a key are damaged");
    narrowing.networks.emplace_back(one.as_string());
  }
  return narrowing;
}

Result<PermissionSet> Keys::permissions_of(const std::string& tenant, const std::string& role,
                                           const Narrowing& narrowing) const {
  const auto found = (roles_ != nullptr ? *roles_ : shipped_).find(tenant, role);
  if (!found)
    return fail(Error(Code::invalid_argument,
                      fmt::format("tenant {} has no role '{}'; viewer, developer, operator and admin are "
                                  "always there",
                                  config::shown(tenant), config::shown(role)))
                    .with_field("role"));
  PermissionSet permissions = *found;
  if (narrowing.permissions) {
    const PermissionSet beyond = *narrowing.permissions - permissions;
    if (!beyond.empty())
      return fail(Error(Code::invalid_argument,
                        fmt::format("the role {} does not have {}", role, to_string(beyond.first())))
                      .with_field("scopes"));
    permissions = *narrowing.permissions;
  }
  return narrowing.scopes.empty() ? permissions : permissions & kSessionPermissions;
}

// A key whose facts cannot be read, or whose role is gone, stays known and may do nothing.
Keys::EntryPtr Keys::make_entry(const store::KeyRow& row) const {
  auto entry = std::make_shared<Entry>();
  entry->row = row;
  entry->who.key_id = row.key_id;
  entry->who.tenant = row.tenant;
  entry->who.role = row.role;
  entry->who.name = row.name;
  auto narrowing = narrowing_of(row);
  if (!narrowing) return entry;
  for (const std::string& text : narrowing->networks) {
    auto range = egress::Cidr::parse(text);
    if (!range) return entry;
    entry->networks.push_back(*range);
  }
  const auto found = (roles_ != nullptr ? *roles_ : shipped_).find(row.tenant, row.role);
  PermissionSet permissions = found.value_or(PermissionSet());
  if (narrowing->permissions) permissions = permissions & *narrowing->permissions;
  if (!narrowing->scopes.empty()) {
    permissions = permissions & kSessionPermissions;
    entry->who.scopes = std::make_shared<const Scopes>(std::move(narrowing->scopes));
  }
  entry->who.permissions = permissions;
  return entry;
}

void Keys::put(EntryPtr entry) {
  ++changes_;
  drop(entry->row.key_id);
  const store::KeyRow& row = entry->row;
  by_hash_.insert_or_assign(row.hash, entry);
  if (!row.old_hash.empty()) by_hash_.insert_or_assign(row.old_hash, entry);
  by_prefix_.insert_or_assign(row.prefix, row.key_id);
  by_id_.insert_or_assign(row.key_id, std::move(entry));
}

void Keys::drop(const std::string& key_id) {
  ++changes_;
  const auto found = by_id_.find(key_id);
  if (found == by_id_.end()) return;
  const EntryPtr entry = found->second;
  by_id_.erase(found);
  std::erase_if(by_hash_, [&](const auto& one) { return one.second == entry; });
  std::erase_if(by_prefix_, [&](const auto& one) { return one.second == key_id; });
}

void Keys::set_local_key(const std::string& key) {
  store::KeyRow row;
  row.key_id = kLocalKeyId;
  row.tenant = kDefaultTenant;
  row.role = kAdmin;
  row.name = "commands on this machine";
  row.hash = sha256_hex(key);
  row.prefix = key.substr(0, kPrefix.size() + kShownLetters);
  row.networks = R"(["127.0.0.0/8","::1"])";
  row.created_at = clock_.now();
  local_ = make_entry(row);
  put(local_);
}

void Keys::apply_roles() {
  std::vector<EntryPtr> before;
  for (const auto& [key_id, entry] : by_id_)
    if (entry != local_) before.push_back(entry);
  for (const EntryPtr& old : before) {
    EntryPtr entry = make_entry(old->row);
    entry->used_at = old->used_at;
    const bool less = !entry->who.permissions.contains(old->who.permissions);
    put(std::move(entry));
    if (less && listener_) listener_(old->row.key_id);
  }
}

Task<void> Keys::reload() {
  std::vector<store::KeyRow> rows;
  for (std::uint64_t seen = changes_ + 1; seen != changes_;) {
    seen = changes_;
    CO_TRY(rows, co_await store_.list_keys());
  }
  std::map<std::string, EntryPtr, std::less<>> before = std::move(by_id_);
  by_id_.clear();
  by_hash_.clear();
  by_prefix_.clear();
  for (const store::KeyRow& row : rows) {
    if (row.revoked_at) continue;
    EntryPtr entry = make_entry(row);
    const auto old = before.find(row.key_id);
    if (old != before.end()) entry->used_at = old->second->used_at;
    const bool same = old != before.end() && old->second->row.quotas == row.quotas;
    if (quota_listener_ && !same && (old != before.end() || row.quotas != "{}")) quota_listener_(row);
    put(std::move(entry));
  }
  if (local_) put(local_);
  std::vector<std::string> ended;
  for (const auto& [key_id, entry] : before) {
    const auto now = by_id_.find(key_id);
    // Whoever may do less than before begins anew.
    if (now == by_id_.end() || !now->second->who.permissions.contains(entry->who.permissions) ||
        now->second->row.scopes != entry->row.scopes || now->second->row.networks != entry->row.networks)
      ended.push_back(key_id);
  }
  if (listener_)
    for (const std::string& key_id : ended) listener_(key_id);
  sweep();
  co_return Result<void>{};
}

bool Keys::is_expired(const Entry& entry) const {
  return entry.row.expires_at && *entry.row.expires_at <= clock_.now();
}

void Keys::sweep() {
  std::vector<std::string> expired;
  for (const auto& [key_id, entry] : by_id_)
    if (is_expired(*entry)) expired.push_back(key_id);
  for (const std::string& key_id : expired) {
    drop(key_id);
    if (listener_) listener_(key_id);
  }
}

// Only hashes are looked up and compared: how long a comparison of hashes takes says nothing about a key, and
// the last word is a comparison in constant time all the same.
Result<Principal> Keys::check(std::string_view key, std::string_view address) const {
  const std::string hash = sha256_hex(key);
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end() || !equal_in_constant_time(found->first, hash))
    return fail(Code::unauthenticated, "missing or wrong API key");
  const Entry& entry = *found->second;
  const WallTime now = clock_.now();
  const bool is_old = hash == entry.row.old_hash;
  if (is_expired(entry) || (is_old && (!entry.row.old_until || *entry.row.old_until <= now)))
    return fail(Code::unauthenticated, "the API key is expired");
  if (!entry.networks.empty()) {
    const auto from = egress::Address::parse(address);
    const bool is_here = address == "unix" && found->second == local_;
    if (!is_here &&
        (!from || std::ranges::none_of(entry.networks, [&](const auto& one) { return one.contains(*from); })))
      return fail(Code::unauthenticated, "the API key may not be used from this address");
  }
  entry.used_at = now;
  Principal who = entry.who;
  who.address = address;
  return who;
}

std::optional<store::KeyRow> Keys::find(std::string_view key_id) const {
  const auto found = by_id_.find(key_id);
  if (found == by_id_.end() || is_expired(*found->second)) return std::nullopt;
  return found->second->row;
}

std::string Keys::id_by_prefix(std::string_view key) const {
  const auto found = by_prefix_.find(key.substr(0, kPrefix.size() + kShownLetters));
  return found == by_prefix_.end() ? std::string() : found->second;
}

Task<Keys::Created> Keys::create(std::string tenant, std::string name, std::string key, std::string role) {
  NewKey wanted;
  wanted.tenant = std::move(tenant);
  wanted.name = std::move(name);
  wanted.role = std::move(role);
  wanted.key = std::move(key);
  return create(std::move(wanted));
}

Task<Keys::Created> Keys::create(NewKey wanted) {
  if (wanted.key.empty()) wanted.key = new_key();
  if (!is_key(wanted.key)) {
    co_return fail(Code::invalid_argument,
                   "an API key is \"e2b_\" and 8 to 128 lowercase hexadecimal digits");
  }
  CO_CHECK(permissions_of(wanted.tenant, wanted.role, wanted.narrowing));
  for (const std::string& text : wanted.narrowing.networks)
    if (!egress::Cidr::parse(text))
      co_return fail(Error(Code::invalid_argument,
                           fmt::format("'{}' is no address or range such as 10.0.0.0/8", config::shown(text)))
                         .with_field("networks"));
  store::KeyRow row{.key_id = "key_" + random_word(16),
                    .tenant = std::move(wanted.tenant),
                    .role = std::move(wanted.role),
                    .name = std::move(wanted.name),
                    .hash = sha256_hex(wanted.key),
                    .prefix = wanted.key.substr(0, kPrefix.size() + kShownLetters),
                    .created_at = clock_.now()};
  row.kind = std::move(wanted.kind);
  row.scopes = scopes_json(wanted.narrowing);
  row.networks = networks_json(wanted.narrowing);
  row.expires_at = wanted.expires_at;
  CO_TRY(auto rows, co_await store_.list_keys());
  for (const store::KeyRow& known : rows) {
    if (known.hash != row.hash && known.old_hash != row.hash) continue;
    if (known.revoked_at) co_return fail(Code::conflict, "this API key was revoked; use another");
    Created created{std::move(wanted.key), known};
    co_return created;
  }
  CO_CHECK(check_room(rows, row.tenant, row.created_at));
  CO_CHECK(co_await store_.put_key(row));
  store::AuditRow entry{row.created_at, row.tenant, row.key_id, "key.create", row.key_id, row.name};
  CO_CHECK(co_await store_.audit(std::move(entry)));
  put(make_entry(row));
  Created created{std::move(wanted.key), std::move(row)};
  co_return created;
}

Task<Keys::Created> Keys::rotate(std::string key_id, std::chrono::seconds overlap) {
  const auto found = by_id_.find(key_id);
  if (found == by_id_.end() || is_expired(*found->second))
    co_return fail(Code::not_found, "no key " + key_id + " in force");
  Created created{new_key(), found->second->row};
  store::KeyRow& row = created.row;
  row.old_hash = row.hash;
  row.old_until = clock_.now() + overlap;
  row.hash = sha256_hex(created.key);
  row.prefix = created.key.substr(0, kPrefix.size() + kShownLetters);
  CO_TRY(const bool changed, co_await store_.update_key(row));
  if (!changed) co_return fail(Code::not_found, "no key " + key_id + " in force");
  store::AuditRow entry{clock_.now(), row.tenant, row.key_id, "key.rotate", row.key_id, row.name};
  CO_CHECK(co_await store_.audit(std::move(entry)));
  put(make_entry(row));
  co_return created;
}

Task<void> Keys::set_quotas(std::string key_id, std::string quotas) {
  const auto found = by_id_.find(key_id);
  if (found == by_id_.end()) co_return fail(Code::not_found, "no key " + key_id + " in force");
  store::KeyRow row = found->second->row;
  row.quotas = std::move(quotas);
  CO_TRY(const bool changed, co_await store_.update_key(row));
  if (!changed) co_return fail(Code::not_found, "no key " + key_id + " in force");
  put(make_entry(row));
  co_return Result<void>{};
}

Task<std::vector<store::KeyRow>> Keys::list() {
  return store_.list_keys();
}

Task<void> Keys::revoke(std::string key_id) {
  const WallTime now = clock_.now();
  CO_TRY(const bool revoked, co_await store_.revoke_key(key_id, now));
  if (!revoked) co_return fail(Code::not_found, "no key " + key_id + " in force");
  store::AuditRow row{now, "", key_id, "key.revoke", key_id, ""};
  CO_CHECK(co_await store_.audit(std::move(row)));
  drop(key_id);
  if (listener_) listener_(key_id);
  co_return Result<void>{};
}

Task<void> Keys::save_last_uses() {
  std::vector<std::pair<std::string, WallTime>> used;
  for (const auto& [key_id, entry] : by_id_) {
    if (!entry->used_at || entry == local_) continue;
    used.emplace_back(key_id, *entry->used_at);
    entry->row.last_used_at = entry->used_at;
    entry->used_at.reset();
  }
  if (used.empty()) co_return Result<void>{};
  co_return co_await store_.touch_keys(std::move(used));
}

}  // namespace atl::auth
