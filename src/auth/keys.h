#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/principal.h"
#include "auth/role.h"
#include "base/clock.h"
#include "egress/address.h"
#include "os/task.h"
#include "store/rows.h"
#include "store/store.h"

namespace atl::auth {

// A key as it is shown once: "e2b_" and 40 lowercase hexadecimal digits, the form E2B's clients accept.
std::string new_key();
// True for "e2b_" and 8 to 128 lowercase hexadecimal digits: the form E2B's clients accept.
bool is_key(std::string_view text);

// What kind of credential a key is. Both open the same; tokens stand in no list of keys.
inline constexpr const char* kKeyKind = "key";
inline constexpr const char* kTokenKind = "token";

inline constexpr const char* kLocalKeyId = "local";

// What a key is narrowed to, as its creator says it.
struct Narrowing {
  std::optional<PermissionSet> permissions;  // unset: all of its role
  Scopes scopes;
  std::vector<std::string> networks;  // addresses and ranges it may be used from; empty: any
};

struct NewKey {
  std::string tenant, name;
  std::string role = std::string(kAdmin);
  std::string kind = kKeyKind;
  std::string key = {};  // empty: a new one
  Narrowing narrowing = {};
  std::optional<WallTime> expires_at = {};
};

// The keys in force, in memory; the store holds them hashed. Belongs to the loop thread. Store, roles and
// clock must outlive it.
class Keys {
 public:
  explicit Keys(store::Store& store, Clock& clock = Clock::machine());
  // Roles of tenants beside the shipped ones; null: none. Takes effect with the next reload().
  void set_roles(const Roles* roles) { roles_ = roles; }

  // A key that is in no store and in force as long as this object: for commands on the machine itself, from
  // its own addresses only. An admin's of `default`, with the id kLocalKeyId.
  void set_local_key(const std::string& key);

  // The roles changed: every key has from now on what its role has now.
  void apply_roles();

  // Reads the keys again: other processes (`atoll keys`) change them too.
  Task<void> reload();
  // Who the key stands for, as seen from `address` ("192.0.2.1", "unix"; empty: not known, which opens only
  // keys that may be used from anywhere). Code::unauthenticated for a key that is unknown, expired, revoked
  // or used from elsewhere; the time taken tells nothing about stored keys.
  Result<Principal> check(std::string_view key, std::string_view address = {}) const;
  // Whether no key was ever made that is still in force; the local one does not count.
  bool empty() const { return by_id_.size() == (local_ ? 1U : 0U); }
  // A key in force; nothing if there is none of this id.
  std::optional<store::KeyRow> find(std::string_view key_id) const;
  // The id of a key in force whose beginning this text shows, for counting guesses; empty: of none.
  std::string id_by_prefix(std::string_view key) const;

  struct Created {
    std::string key;  // not to be seen again
    store::KeyRow row;
  };
  // In force at once. A key that exists already and is not revoked is left as it is.
  // Code::invalid_argument with the field for a role that the tenant does not have, scopes that the role does
  // not cover, or networks that are none.
  Task<Created> create(NewKey wanted);
  Task<Created> create(std::string tenant, std::string name, std::string key,
                       std::string role = std::string(kAdmin));
  // A new secret for the same key; the one before stays good for `overlap`, an older one ends now.
  // Code::not_found if no key in force has this id.
  Task<Created> rotate(std::string key_id, std::chrono::seconds overlap);
  Task<std::vector<store::KeyRow>> list();
  // Quotas of this key alone, as JSON. Code::not_found if no key in force has this id.
  Task<void> set_quotas(std::string key_id, std::string quotas);
  // Called with every key and its quotas when they are read.
  void on_quotas(std::function<void(const store::KeyRow& row)> listener) {
    quota_listener_ = std::move(listener);
  }
  // At once, also for what is open (on_end). Code::not_found if no unrevoked key has this id.
  Task<void> revoke(std::string key_id);
  // The permissions that a key of this role and narrowing has in the tenant. Errors as of create().
  Result<PermissionSet> permissions_of(const std::string& tenant, const std::string& role,
                                       const Narrowing& narrowing) const;

  // Called with the id of a key whenever it is no longer in force, or may do less than before.
  void on_end(std::function<void(const std::string& key_id)> listener) { listener_ = std::move(listener); }
  // Writes when keys were last used.
  Task<void> save_last_uses();
  // Ends keys whose time is over; called every now and then, so that what is open ends too.
  void sweep();

  static Result<Narrowing> narrowing_of(const store::KeyRow& row);

 private:
  struct Entry {
    store::KeyRow row;
    Principal who;
    std::vector<egress::Cidr> networks;
    mutable std::optional<WallTime> used_at;  // not yet written
  };
  using EntryPtr = std::shared_ptr<Entry>;
  EntryPtr make_entry(const store::KeyRow& row) const;
  void put(EntryPtr entry);
  void drop(const std::string& key_id);
  bool is_expired(const Entry& entry) const;

  store::Store& store_;
  Clock& clock_;
  Roles shipped_;
  const Roles* roles_ = nullptr;
  EntryPtr local_;
  std::map<std::string, EntryPtr, std::less<>> by_id_;
  std::map<std::string, EntryPtr, std::less<>> by_hash_;
  std::map<std::string, std::string, std::less<>> by_prefix_;  // key id
  std::function<void(const std::string& key_id)> listener_;
  std::function<void(const store::KeyRow& row)> quota_listener_;
  std::uint64_t changes_ = 0;  // made here; whoever reads the store meanwhile reads it again
};

}  // namespace atl::auth
