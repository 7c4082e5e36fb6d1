#include "auth/keys.h"

#include <fmt/format.h>
#include <unistd.h>

#include "auth/role.h"
#include "base/json.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/daemon_client.h"
#include "cli/local_audit.h"
#include "cli/open_store.h"
#include "cli/settings.h"
#include "cli/table.h"
#include "config/checked.h"
#include "daemon/data_directory.h"
#include "store/store.h"

// API keys: of the service that --url or ATOLL_URL name; else by the running service of the data directory if
// there is one, so that a change is in force at once, else straight in the store.
namespace atl::cli {
namespace {

namespace bj = boost::json;

constexpr std::size_t kTenantMax = 64;
constexpr std::size_t kNameMax = 100;

struct KeyFlags {
  ConnectionFlags connection;
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

// A key that was made or renewed, with all that is told of it, as REST tells it.
struct Made {
  explicit Made(bj::value answer)
      : told(std::move(answer)),
        key(text_of(told, "key")),
        key_id(text_of(told, "key_id")),
        tenant(text_of(told, "tenant")) {}
  bj::value told;
  std::string key, key_id, tenant;
};

// Whose keys they are: a service, or the store of a data directory, or both when the service is that
// directory's.
struct Place {
  std::optional<DaemonClient> service;
  std::unique_ptr<OpenStore> store;
};

Result<Place> find_place(const KeyFlags& flags, OpenStore::Missing missing) {
  const ConnectionFlags& connection = flags.connection;
  if (connection.name_a_service() && !connection.settings().name_a_data_directory()) {
    Endpoint endpoint = TRY(connection.find());
    return Place{.service = TRY(DaemonClient::at(std::move(endpoint))), .store = nullptr};
  }
  std::unique_ptr<OpenStore> store = TRY(OpenStore::open(connection.settings(), missing));
  std::optional<DaemonClient> service = DaemonClient::find(store->directory());
  return Place{.service = std::move(service), .store = std::move(store)};
}

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
  return Made(TRY(daemon.call("POST", "/api/keys", body)));
}

bj::value time_or_null(const std::optional<WallTime>& at) {
  return at ? bj::value(to_rfc3339(*at)) : bj::value(nullptr);
}

bj::value stored_json(const std::string& text) {
  auto parsed = json::parse(text);
  return parsed ? std::move(*parsed) : bj::value(nullptr);
}

// As REST tells a key, of what the store knows.
bj::object json_of_key(const store::KeyRow& row) {
  return {{"key_id", row.key_id},
          {"name", row.name},
          {"role", row.role},
          {"tenant", row.tenant},
          {"prefix", row.prefix},
          {"scopes", stored_json(row.scopes)},
          {"networks", stored_json(row.networks)},
          {"quotas", stored_json(row.quotas)},
          {"created_at", to_rfc3339(row.created_at)},
          {"expires_at", time_or_null(row.expires_at)},
          {"last_used_at", time_or_null(row.last_used_at)},
          {"revoked_at", time_or_null(row.revoked_at)}};
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
  bj::object told = json_of_key(created.row);
  told["key"] = created.key;
  return Made(std::move(told));
}

Result<void> revoke_in(Place& place, const std::string& key_id) {
  if (place.service) {
    TRY(place.service->call("DELETE", "/api/keys/" + key_id));
    return {};
  }
  auth::Keys keys(place.store->store());
  LocalAudit audit = TRY(LocalAudit::begin(place.store->directory(), "key.delete", key_id, ""));
  return audit.finish(place.store->wait(keys.revoke(key_id)));
}

void print_made(const Made& made, bool json) {
  if (json)
    fmt::print("{}\n", bj::serialize(made.told));
  else
    fmt::print("{}\n", made.key);
}

int create(const KeyFlags& flags) {
  if (auto good = check_flags(flags); !good) return report(good.error());
  auto place = find_place(flags, OpenStore::Missing::make);
  if (!place) return report(place.error());
  auto made = place->service ? create_by(*place->service, flags) : create_in(*place->store, flags);
  if (!made) return report(made.error());
  print_made(*made, flags.json);
  // If the key could not be printed, nobody can use it: it is revoked.
  if (!flush_output()) {
    if (auto revoked = revoke_in(*place, made->key_id); !revoked) return report(revoked.error());
    fmt::print(stderr, "atoll: the key could not be shown and is revoked\n");
    return 1;
  }
  fmt::print(stderr, "key {} of tenant {}; it is not shown again\n", made->key_id, made->tenant);
  return 0;
}

// A service tells the keys of its caller's tenant, the store those of all.
Result<bj::value> all_keys(Place& place) {
  if (!place.store) return place.service->call("GET", "/api/keys");
  bj::array keys;
  for (const store::KeyRow& row : TRY(place.store->wait(place.store->store().list_keys())))
    keys.push_back(json_of_key(row));
  return bj::object{{"keys", std::move(keys)}};
}

void print_key(const bj::value& key) {
  const std::string revoked = text_of(key, "revoked_at"), until = text_of(key, "expires_at"),
                    used = text_of(key, "last_used_at");
  std::string state = revoked.empty() ? "in force" : "revoked=" + config::shown(revoked);
  if (revoked.empty() && !until.empty()) state += " until=" + config::shown(until);
  if (!used.empty()) state += " used=" + config::shown(used);
  const auto shown = [&](std::string_view name) { return config::shown(text_of(key, name)); };
  fmt::print("{}  {}...  tenant={}  role={}  name={}  created={}  {}\n", shown("key_id"), shown("prefix"),
             shown("tenant"), shown("role"), shown("name"), shown("created_at"), state);
}

std::string keys_table(const bj::value& keys) {
  Table table({{"ID"}, {"KEY"}, {"TENANT"}, {"ROLE"}, {"NAME"}, {"MADE"}, {"USED"}, {"STATE"}});
  const auto when = [](const std::string& time) {
    return time.empty() ? std::string("-") : local_time(time);
  };
  for (const bj::value& key : list_at(keys, "keys")) {
    const std::string revoked = text_of(key, "revoked_at"), until = text_of(key, "expires_at");
    Cell state{"in force", Tone::good};
    if (!revoked.empty())
      state = {"revoked " + local_time(revoked), Tone::dim};
    else if (!until.empty())
      state = {"until " + local_time(until), Tone::waiting};
    table.add({{text_of(key, "key_id")},
               {text_of(key, "prefix") + "..."},
               {text_of(key, "tenant")},
               {text_of(key, "role")},
               {text_of(key, "name")},
               {when(text_of(key, "created_at")), Tone::dim},
               {when(text_of(key, "last_used_at")), Tone::dim},
               std::move(state)});
  }
  return table.text(paint_of_output());
}

int list(const KeyFlags& flags) {
  auto place = find_place(flags, OpenStore::Missing::refuse);
  if (!place) return report(place.error());
  auto keys = all_keys(*place);
  if (!keys) return report(keys.error());
  if (flags.json)
    fmt::print("{}\n", bj::serialize(*keys));
  else if (::isatty(STDOUT_FILENO) == 1)
    fmt::print("{}", keys_table(*keys));
  else
    for (const bj::value& key : list_at(*keys, "keys")) print_key(key);
  return flush_output() ? 0 : 1;
}

int revoke(const KeyFlags& flags) {
  if (auto good = config::Checked("KEY_ID", flags.key_id).name(kTenantMax); !good)
    return report(good.error());
  auto place = find_place(flags, OpenStore::Missing::refuse);
  if (!place) return report(place.error());
  if (auto revoked = revoke_in(*place, flags.key_id); !revoked) return report(revoked.error());
  if (flags.json)
    fmt::print("{}\n", bj::serialize(bj::object{{"key_id", flags.key_id}, {"revoked", true}}));
  else
    fmt::print("{} is revoked\n", flags.key_id);
  return 0;
}

Result<Made> rotate_by(const KeyFlags& flags) {
  TRY(config::Checked("KEY_ID", flags.key_id).name(kTenantMax));
  const std::int64_t overlap = TRY(config::Checked("--overlap", flags.overlap).whole_number(0, 2'592'000));
  Place place = TRY(find_place(flags, OpenStore::Missing::refuse));
  if (place.service) {
    const bj::object body{{"overlap_seconds", overlap}};
    return Made(TRY(place.service->call("POST", "/api/keys/" + flags.key_id + "/rotate", body)));
  }
  OpenStore& open = *place.store;
  auth::Keys keys(open.store());
  TRY(open.wait(keys.reload()));
  LocalAudit audit = TRY(LocalAudit::begin(open.directory(), "key.rotate", flags.key_id, ""));
  auto rotated = open.wait(keys.rotate(flags.key_id, std::chrono::seconds(overlap)));
  const auto created = TRY(audit.finish(std::move(rotated)));
  bj::object told = json_of_key(created.row);
  told["key"] = created.key;
  told["old_key_until"] = time_or_null(created.row.old_until);
  return Made(std::move(told));
}

int rotate(const KeyFlags& flags) {
  auto made = rotate_by(flags);
  if (!made) return report(made.error());
  print_made(*made, flags.json);
  if (!flush_output()) return 1;
  fmt::print(stderr, "key {} of tenant {} is new; the one before is good for {} s\n", made->key_id,
             made->tenant, flags.overlap);
  return 0;
}

}  // namespace

Action define_keys(Command& top) {
  Command command = top.add_command("keys", "Make, list, rotate and revoke API keys");
  auto flags = std::make_unique<KeyFlags>();
  flags->connection.add_to(command);
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
  renew.add_flag("--json", flags->json, "As JSON");
  Command end = command.add_command("revoke", "End a key");
  end.add_option("KEY_ID", flags->key_id, "its id, as the list shows it").required();
  end.add_flag("--json", flags->json, "As JSON");
  return [flags = std::move(flags), make, show, renew, end] {
    if (make.was_chosen()) return create(*flags);
    if (show.was_chosen()) return list(*flags);
    if (renew.was_chosen()) return rotate(*flags);
    if (end.was_chosen()) return revoke(*flags);
    return 2;
  };
}

}  // namespace atl::cli
