#include "auth/keys.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "cli/command.h"
#include "cli/settings.h"
#include "config/checked.h"
#include "daemon/data_directory.h"
#include "store/store.h"

// API keys, straight in the store: a running service sees the change within seconds.
namespace atl::cli {
namespace {

constexpr std::size_t kTenantMax = 64;
constexpr std::size_t kNameMax = 100;

// The store and the loop its answers come to. The store goes first: its threads may still be handing over an
// answer.
class OpenStore {
 public:
  enum class Missing { make, refuse };  // a data directory that is not there
  static Result<std::unique_ptr<OpenStore>> open(const SettingFlags& flags, Missing missing) {
    const config::Configuration configuration = TRY(flags.load());
    const auto directory = TRY(missing == Missing::make ? daemon::data_directory(configuration)
                                                        : daemon::existing_data_directory(configuration));
    return std::make_unique<OpenStore>(TRY(store::Store::open(directory)));
  }
  explicit OpenStore(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}

  store::Store& store() { return *store_; }

  template <class T>
  Result<T> wait(Task<T> task) {
    std::optional<Result<T>> result;
    boost::asio::co_spawn(loop_, std::move(task),
                          [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
    loop_.run();
    loop_.restart();
    return std::move(*result);
  }

 private:
  boost::asio::io_context loop_;
  std::unique_ptr<store::Store> store_;
};

int create(const SettingFlags& flags, const std::string& tenant, const std::string& name) {
  if (auto good = config::Checked("--tenant", tenant).name(kTenantMax); !good) return report(good.error());
  if (!name.empty())
    if (auto good = config::Checked("--name", name).label(kNameMax); !good) return report(good.error());
  auto open = OpenStore::open(flags, OpenStore::Missing::make);
  if (!open) return report(open.error());
  auth::Keys keys((*open)->store());
  auto created = (*open)->wait(keys.create(tenant, name, ""));
  if (!created) return report(created.error());
  fmt::print("{}\n", created->key);
  // If the key could not be printed, nobody can use it: it is revoked.
  if (!flush_output()) {
    auto revoked = (*open)->wait(keys.revoke(created->row.key_id));
    if (!revoked) return report(revoked.error());
    fmt::print(stderr, "atoll: the key could not be shown and is revoked\n");
    return 1;
  }
  fmt::print(stderr, "key {} of tenant {}; it is not shown again\n", created->row.key_id,
             created->row.tenant);
  return 0;
}

int list(const SettingFlags& flags) {
  auto open = OpenStore::open(flags, OpenStore::Missing::refuse);
  if (!open) return report(open.error());
  auto rows = (*open)->wait((*open)->store().list_keys());
  if (!rows) return report(rows.error());
  for (const store::KeyRow& row : *rows) {
    fmt::print("{}  {}...  tenant={}  name={}  created={}  {}\n", row.key_id, row.prefix,
               config::shown(row.tenant), config::shown(row.name), to_rfc3339(row.created_at),
               row.revoked_at ? "revoked=" + to_rfc3339(*row.revoked_at) : "in force");
  }
  return 0;
}

int revoke(const SettingFlags& flags, const std::string& key_id) {
  if (auto good = config::Checked("KEY_ID", key_id).name(kTenantMax); !good) return report(good.error());
  auto open = OpenStore::open(flags, OpenStore::Missing::refuse);
  if (!open) return report(open.error());
  auth::Keys keys((*open)->store());
  auto revoked = (*open)->wait(keys.revoke(key_id));
  if (!revoked) return report(revoked.error());
  fmt::print("{} is revoked\n", key_id);
  return 0;
}

}  // namespace

Action define_keys(Command& top) {
  Command command = top.add_command("keys", "Make, list and revoke API keys");
  struct Flags {
    SettingFlags settings;
    std::string tenant = "default", name, key_id;
  };
  auto flags = std::make_unique<Flags>();
  flags->settings.add_to(command);
  command.require_command();
  Command make = command.add_command("create", "Make a key and print it once");
  make.add_option("--tenant", flags->tenant, "whose sessions it sees");
  make.add_option("--name", flags->name, "a word to recognise it by");
  Command show = command.add_command("list", "List the keys, revoked ones too");
  Command end = command.add_command("revoke", "End a key");
  end.add_option("KEY_ID", flags->key_id, "its id, as the list shows it").required();
  return [flags = std::move(flags), make, show, end] {
    if (make.was_chosen()) return create(flags->settings, flags->tenant, flags->name);
    if (show.was_chosen()) return list(flags->settings);
    if (end.was_chosen()) return revoke(flags->settings, flags->key_id);
    return 2;
  };
}

}  // namespace atl::cli
