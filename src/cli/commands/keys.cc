#include "auth/keys.h"

#include <fmt/format.h>

#include "auth/role.h"
#include "cli/command.h"
#include "cli/daemon_client.h"
#include "cli/local_audit.h"
#include "cli/open_store.h"
#include "cli/settings.h"
#include "config/checked.h"
#include "daemon/data_directory.h"
#include "store/store.h"

// API keys: by the running service of the data directory if there is one, so that a change is in force at
// once, else straight in the store.
namespace atl::cli {
namespace {

namespace bj = boost::json;

constexpr std::size_t kTenantMax = 64;
constexpr std::size_t kNameMax = 100;

struct KeyFlags {
  SettingFlags settings;
  std::string tenant = "default", name, key_id, role = "admin", expires, overlap = "3600";
  std::vector<std::string> scopes, networks;
  bool json = false;
};

Result<void> check_flags(const KeyFlags& flags) {
  TRY(config::Checked("--tenant", flags.tenant).name(kTenantMax));
  TRY(config::Checked("--role", flags.role).name(kTenantMax));
  if (!flags.name.empty()) TRY(config::Checked("--name", flags.name).label(kNameMax));
  if (!flags.expires.empty()) TRY(config::Checked("--expires", flags.expires).whole_number(1, 315'360'000));
  return {};
}

std::string text_of(const bj::value& object, std::string_view name) {
  const auto* value = object.is_object() ? object.as_object().if_contains(name) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

struct Made {
  std::string key, key_id, tenant;
};

bj::array words_of(const std::vector<std::string>& words) {
  bj::array array;
  for (const std::string& word : words) array.emplace_back(word);
  return array;
}

Result<Made> create_by(DaemonClient& daemon, const KeyFlags& flags) {
  bj::object body{{"name", flags.name.empty() ? "command line" : flags.name},
                  {"role", flags.role},
                  {"tenant", flags.tenant}};
  if (!flags.scopes.empty()) body["scopes"] = words_of(flags.scopes);
  if (!flags.networks.empty()) body["networks"] = words_of(flags.networks);
  if (!flags.expires.empty()) body["expires_in_seconds"] = std::stoll(flags.expires);
  const bj::value made = TRY(daemon.call("POST", "/api/keys", body));
  return Made{text_of(made, "key"), text_of(made, "key_id"), text_of(made, "tenant")};
}

Result<Made> create_in(OpenStore& open, const KeyFlags& flags) {
  auth::Keys keys(open.store());
  auth::NewKey wanted;
  wanted.tenant = flags.tenant;
  wanted.name = flags.name;
  wanted.role = flags.role;
  wanted.narrowing.networks = flags.networks;
  for (const std::string& word : flags.scopes) {
    const auto permission = auth::parse_permission(word);
    if (!permission)
      return fail(config::Checked("--scope", word).wrong("is no permission", "a word such as sessions:read"));
    if (!wanted.narrowing.permissions) wanted.narrowing.permissions.emplace();
    wanted.narrowing.permissions->add(*permission);
  }
  if (!flags.expires.empty())
    wanted.expires_at = Clock::machine().now() + std::chrono::seconds(std::stoll(flags.expires));
  LocalAudit audit = TRY(LocalAudit::begin(open.directory(), "key.create", "", flags.tenant));
  auto made = open.wait(keys.create(std::move(wanted)));
  const std::string key_id = made ? made->row.key_id : std::string();
  const auto created = TRY(audit.finish(std::move(made), key_id));
  return Made{created.key, created.row.key_id, created.row.tenant};
}

Result<void> revoke_with(std::optional<DaemonClient>& daemon, const SettingFlags& settings,
                         const std::string& key_id) {
  if (daemon) {
    TRY(daemon->call("DELETE", "/api/keys/" + key_id));
    return {};
  }
  const auto open = TRY(OpenStore::open(settings, OpenStore::Missing::refuse));
  auth::Keys keys(open->store());
  LocalAudit audit = TRY(LocalAudit::begin(open->directory(), "key.delete", key_id, ""));
  return audit.finish(open->wait(keys.revoke(key_id)));
}

int create(const KeyFlags& flags) {
  if (auto good = check_flags(flags); !good) return report(good.error());
  auto open = OpenStore::open(flags.settings, OpenStore::Missing::make);
  if (!open) return report(open.error());
  auto daemon = DaemonClient::find((*open)->directory());
  auto made = daemon ? create_by(*daemon, flags) : create_in(**open, flags);
  if (!made) return report(made.error());
  if (flags.json)
    fmt::print("{}\n", bj::serialize(bj::object{
                           {"key", made->key}, {"key_id", made->key_id}, {"tenant", made->tenant}}));
  else
    fmt::print("{}\n", made->key);
  // If the key could not be printed, nobody can use it: it is revoked.
  if (!flush_output()) {
    if (auto revoked = revoke_with(daemon, flags.settings, made->key_id); !revoked)
      return report(revoked.error());
    fmt::print(stderr, "atoll: the key could not be shown and is revoked\n");
    return 1;
  }
  fmt::print(stderr, "key {} of tenant {}; it is not shown again\n", made->key_id, made->tenant);
  return 0;
}

// As REST tells a key, of what the store knows.
bj::object json_of_key(const store::KeyRow& row) {
  const auto time = [](const std::optional<WallTime>& at) {
    return at ? bj::value(to_rfc3339(*at)) : bj::value(nullptr);
  };
  return {{"key_id", row.key_id},
          {"name", row.name},
          {"role", row.role},
          {"tenant", row.tenant},
          {"prefix", row.prefix},
          {"created_at", to_rfc3339(row.created_at)},
          {"expires_at", time(row.expires_at)},
          {"last_used_at", time(row.last_used_at)},
          {"revoked_at", time(row.revoked_at)}};
}

int list(const KeyFlags& flags) {
  auto open = OpenStore::open(flags.settings, OpenStore::Missing::refuse);
  if (!open) return report(open.error());
  auto rows = (*open)->wait((*open)->store().list_keys());
  if (!rows) return report(rows.error());
  if (flags.json) {
    bj::array keys;
    for (const store::KeyRow& row : *rows) keys.push_back(json_of_key(row));
    fmt::print("{}\n", bj::serialize(bj::object{{"keys", std::move(keys)}}));
    return flush_output() ? 0 : 1;
  }
  for (const store::KeyRow& row : *rows) {
    std::string state = row.revoked_at ? "revoked=" + to_rfc3339(*row.revoked_at) : "in force";
    if (!row.revoked_at && row.expires_at) state += " until=" + to_rfc3339(*row.expires_at);
    if (row.last_used_at) state += " used=" + to_rfc3339(*row.last_used_at);
    fmt::print("{}  {}...  tenant={}  role={}  name={}  created={}  {}\n", row.key_id, row.prefix,
               config::shown(row.tenant), config::shown(row.role), config::shown(row.name),
               to_rfc3339(row.created_at), state);
  }
  return 0;
}

int revoke(const KeyFlags& flags) {
  if (auto good = config::Checked("KEY_ID", flags.key_id).name(kTenantMax); !good)
    return report(good.error());
  auto open = OpenStore::open(flags.settings, OpenStore::Missing::refuse);
  if (!open) return report(open.error());
  auto daemon = DaemonClient::find((*open)->directory());
  if (auto revoked = revoke_with(daemon, flags.settings, flags.key_id); !revoked)
    return report(revoked.error());
  fmt::print("{} is revoked\n", flags.key_id);
  return 0;
}

Result<Made> rotate_by(const KeyFlags& flags) {
  TRY(config::Checked("KEY_ID", flags.key_id).name(kTenantMax));
  const std::int64_t overlap = TRY(config::Checked("--overlap", flags.overlap).whole_number(0, 2'592'000));
  const auto open = TRY(OpenStore::open(flags.settings, OpenStore::Missing::refuse));
  if (auto daemon = DaemonClient::find(open->directory())) {
    const bj::object body{{"overlap_seconds", overlap}};
    const bj::value made = TRY(daemon->call("POST", "/api/keys/" + flags.key_id + "/rotate", body));
    return Made{text_of(made, "key"), text_of(made, "key_id"), text_of(made, "tenant")};
  }
  auth::Keys keys(open->store());
  TRY(open->wait(keys.reload()));
  LocalAudit audit = TRY(LocalAudit::begin(open->directory(), "key.rotate", flags.key_id, ""));
  auto rotated = open->wait(keys.rotate(flags.key_id, std::chrono::seconds(overlap)));
  const auto created = TRY(audit.finish(std::move(rotated)));
  return Made{created.key, created.row.key_id, created.row.tenant};
}

int rotate(const KeyFlags& flags) {
  auto made = rotate_by(flags);
  if (!made) return report(made.error());
  fmt::print("{}\n", made->key);
  if (!flush_output()) return 1;
  fmt::print(stderr, "key {} of tenant {} is new; the one before is good for {} s\n", made->key_id,
             made->tenant, flags.overlap);
  return 0;
}

}  // namespace

Action define_keys(Command& top) {
  Command command = top.add_command("keys", "Make, list, rotate and revoke API keys");
  auto flags = std::make_unique<KeyFlags>();
  flags->settings.add_to(command);
  command.require_command();
  Command make = command.add_command("create", "Make a key and print it once");
  make.add_option("--tenant", flags->tenant, "whose sessions it sees");
  make.add_option("--name", flags->name, "a word to recognise it by");
  make.add_option("--role", flags->role, "viewer, developer, operator, admin, or one of the tenant's own");
  make.add_option("--scope", flags->scopes, "only this permission; may be given several times")
      .one_value_each();
  make.add_option("--network", flags->networks, "only from this address or range; may be given several times")
      .one_value_each();
  make.add_option("--expires", flags->expires, "seconds until it ends");
  make.add_flag("--json", flags->json, "As JSON");
  Command show = command.add_command("list", "List the keys, revoked ones too");
  show.add_flag("--json", flags->json, "As JSON");
  Command renew = command.add_command("rotate", "Give a key a new secret and print it once");
  renew.add_option("KEY_ID", flags->key_id, "its id, as the list shows it").required();
  renew.add_option("--overlap", flags->overlap, "seconds for which the old secret stays good")
      .with_default_shown();
  Command end = command.add_command("revoke", "End a key");
  end.add_option("KEY_ID", flags->key_id, "its id, as the list shows it").required();
  return [flags = std::move(flags), make, show, renew, end] {
    if (make.was_chosen()) return create(*flags);
    if (show.was_chosen()) return list(*flags);
    if (renew.was_chosen()) return rotate(*flags);
    if (end.was_chosen()) return revoke(*flags);
    return 2;
  };
}

}  // namespace atl::cli
