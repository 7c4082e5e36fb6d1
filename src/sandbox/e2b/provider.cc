#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/log.h"
#include "os/file.h"
#include "os/timer.h"
#include "sandbox/e2b/e2b.h"
#include "sandbox/spec_check.h"

namespace atl::sandbox::e2b {
namespace {

constexpr const char* kInstallation = "atoll.installation";
constexpr const char* kSandbox = "atoll.sandbox";
constexpr const char* kSession = "atoll.session";
constexpr const char* kDefaultApi = "https://api.";
// What is remote and unknown to us is left alone for this long after we began: it may be one that the session
// service is about to take back.
constexpr std::chrono::seconds kTakeBackTime(120);
constexpr std::chrono::seconds kLookTime(15);
constexpr const char* kRemovals = "-removals";  // both beside the file of the tenants
constexpr const char* kInterpreters = "-interpreters";

using Steady = std::chrono::steady_clock;

Error lacks(std::string_view trait, std::string_view field) {
  return Error(Code::unsupported, fmt::format("provider e2b lacks the trait '{}'", trait))
      .with_field(std::string(field));
}

std::string address_of(const E2bOptions& options) {
  return options.api_url.empty() ? kDefaultApi + options.domain : options.api_url;
}

// One sandbox of ours, as the rounds see it.
struct Known {
  std::shared_ptr<Account> account;
  std::shared_ptr<Plane> plane;  // null while it is created
  Steady::time_point since = Steady::now();
  std::optional<Steady::time_point> session_ends;
  Steady::time_point remote_ends{};
  int misses = 0;
};

class E2bProvider final : public Provider, public std::enable_shared_from_this<E2bProvider> {
 public:
  E2bProvider(boost::asio::any_io_executor executor, E2bOptions options)
      : executor_(std::move(executor)), options_(std::move(options)), wake_(executor_) {
    read_tenants();
    read_removals();
    read_interpreters();
  }

  std::string_view name() const override { return "e2b"; }
  const Traits& traits() const override { return remote_traits(); }
  Isolation probed() const override { return isolation(Limits{}); }
  Task<std::unique_ptr<Sandbox>> create(Spec spec) override;
  Task<std::vector<std::string>> adoptable() override;
  Task<std::unique_ptr<Sandbox>> adopt(std::string id) override;
  Task<void> discard_snapshot(std::string directory) override;
  std::vector<PoolLevel> pools() const override { return {}; }
  std::map<std::string, std::uint64_t> counters() const override { return counters_; }
  Task<void> shut_down() override;

  // Until shut_down(); keeps this alive.
  static boost::asio::awaitable<void> make_rounds(std::shared_ptr<E2bProvider> self);

 private:
  Result<void> check_spec(const Spec& spec) const;
  Task<std::shared_ptr<Account>> account_of(std::string tenant);
  // Every account that may have sandboxes of ours.
  Task<std::vector<std::shared_ptr<Account>>> accounts();
  Task<Access> create_remotely(std::shared_ptr<Account> account, NewSandbox wanted);
  static boost::asio::awaitable<void> undo(std::shared_ptr<E2bProvider> self,
                                           std::shared_ptr<Account> account, std::string id);
  Task<std::unique_ptr<Sandbox>> sandbox_of(std::shared_ptr<Account> account, RemoteFacts facts, Spec spec);
  Isolation isolation(const Limits& limits) const;
  std::chrono::seconds lease_of(const std::string& id) const;
  std::size_t running() const;
  void forget(const std::string& id) { known_.erase(id); }
  void read_tenants();
  void read_removals();
  void read_interpreters();
  void keep_interpreters(const std::string& id, const std::vector<InterpreterInfo>& all);
  Task<void> remove_remotely(StoredSnapshot stored);
  Result<void> write_removals() const;
  Task<void> remove_noted();
  void note_tenant(const std::string& tenant);

  Task<void> make_round();
  Task<void> compare(std::shared_ptr<Account> account);
  Task<void> prolong();

  boost::asio::any_io_executor executor_;
  E2bOptions options_;
  os::Event wake_;
  bool ending_ = false;
  bool doubt_ = false;                                        // something may be gone: the next look is soon
  std::map<std::string, Known> known_;                        // by our id
  std::map<std::string, std::shared_ptr<Account>> accounts_;  // by the digest of the key
  std::vector<std::string> tenants_;                          // that used a key of their own
  std::vector<StoredSnapshot> removals_;                    // remote snapshots that could not be removed yet
  std::map<std::string, boost::json::array> interpreters_;  // of each sandbox, by our id
  std::map<std::string, std::pair<std::shared_ptr<Account>, RemoteFacts>> adoptable_;
  std::map<std::string, std::uint64_t> counters_{{"created", 0}, {"adopted", 0}, {"swept", 0}, {"lost", 0}};
  Steady::time_point began_ = Steady::now();
};

Isolation E2bProvider::isolation(const Limits& limits) const {
  Isolation isolation;
  isolation.walls.push_back({"remote", "run by the service at " + address_of(options_)});
  if (limits.memory_bytes > 0)
    isolation.walls.push_back(
        {"memory_limit", fmt::format("{} bytes, by the template", limits.memory_bytes)});
  isolation.missing.push_back(
      {"limits", "memory, processors, disk and processes are the template's; set them there"});
  isolation.missing.push_back({"measured_walls", "what isolates it is the other service's word"});
  return isolation;
}

Result<void> E2bProvider::check_spec(const Spec& spec) const {
  TRY(sandbox::check(spec));
  if (!spec.required_walls.empty())
    return fail(Error(Code::unsupported,
                      fmt::format("provider e2b cannot promise the wall '{}'", spec.required_walls.front()))
                    .with_field("required_walls"));
  if (spec.network != Network::none) return fail(lacks("network", "network"));
  if (!spec.host_mounts.empty())
    return fail(Error(Code::unsupported, "a remote sandbox cannot mount volumes of this machine")
                    .with_field("volumes"));
  if (spec.with_interpreters) return fail(lacks("live_fork", "snapshot"));
  if (spec.limits.cpu_time)
    return fail(Error(Code::unsupported, "a remote sandbox has no limit of processor time")
                    .with_field("limits.cpu_time_seconds"));
  if (known_.contains(spec.id))
    return fail(Code::already_exists, fmt::format("there is a sandbox {}", spec.id));
  if (ending_) return fail(Code::unavailable, "the provider is ending");
  if (options_.count_max > 0 && running() >= options_.count_max)
    return fail(Code::resource_exhausted,
                fmt::format("{} sandboxes run remotely, and no more may at once (provider.e2b.count)",
                            options_.count_max));
  return {};
}

std::size_t E2bProvider::running() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      known_, [](const auto& entry) { return !entry.second.plane || !entry.second.plane->is_paused(); }));
}

Task<std::shared_ptr<Account>> E2bProvider::account_of(std::string tenant) {
  std::string asked = tenant;
  CO_TRY(const std::string key, co_await options_.key(std::move(asked)));
  if (key.empty())
    co_return fail(
        Error(Code::unsupported,
              "there is no key for the remote service: set provider.e2b.api_key, or make the secret "
              "that provider.e2b.api_key_secret names")
            .with_field("provider"));
  std::shared_ptr<Account>& account = accounts_[sha256_hex(key)];
  if (!account) {
    CO_TRY(net::Url url, net::Url::parse(address_of(options_)));
    account = std::make_shared<Account>(executor_, std::move(url), key);
  }
  const std::shared_ptr<Account> found = account;
  if (!tenant.empty() && std::ranges::find(tenants_, tenant) == tenants_.end()) {
    std::string operators;
    CO_TRY(const std::string usual, co_await options_.key(std::move(operators)));
    if (key != usual) note_tenant(tenant);
  }
  co_return found;
}

void E2bProvider::read_tenants() {
  if (options_.tenants_file.empty()) return;
  const auto text = os::read_file(options_.tenants_file);
  if (!text) return;
  std::string_view left = *text;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    if (!line.empty()) tenants_.emplace_back(line);
  }
}

// While a sandbox is paused nobody can ask it what it has; its session goes on with the same interpreters.
void E2bProvider::keep_interpreters(const std::string& id, const std::vector<InterpreterInfo>& all) {
  if (options_.tenants_file.empty() || (all.empty() && !interpreters_.contains(id))) return;
  interpreters_.erase(id);
  boost::json::array list;
  for (const InterpreterInfo& one : all)
    list.push_back(Object{{"id", one.id}, {"language", to_string(one.language)}, {"cwd", one.cwd}});
  if (!list.empty()) interpreters_[id] = std::move(list);
  Object text;
  for (const auto& [name, kept] : interpreters_) text[name] = kept;
  if (auto written =
          os::write_file_durably(options_.tenants_file + kInterpreters, boost::json::serialize(text), 0600);
      !written)
    log::warn("the interpreters of remote sandboxes could not be written",
              {{"error", written.error().message()}});
}

void E2bProvider::read_interpreters() {
  if (options_.tenants_file.empty()) return;
  const auto text = os::read_file(options_.tenants_file + kInterpreters, 16U << 20);
  if (!text) return;
  const auto kept = parse_answer(*text);
  if (!kept) return;
  for (const auto& member : *kept)
    if (member.value().is_array()) interpreters_.emplace(member.key(), member.value().get_array());
}

void E2bProvider::read_removals() {
  if (options_.tenants_file.empty()) return;
  const auto text = os::read_file(options_.tenants_file + kRemovals);
  std::string_view left = text ? std::string_view(*text) : std::string_view();
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    removals_.push_back({std::string(line.substr(0, space)), std::string(line.substr(space + 1))});
  }
}

// Written before the first sandbox is made, so that a crash leaves none that nobody looks for.
void E2bProvider::note_tenant(const std::string& tenant) {
  if (std::ranges::find(tenants_, tenant) != tenants_.end()) return;
  tenants_.push_back(tenant);
  if (options_.tenants_file.empty()) return;
  std::string text;
  for (const std::string& one : tenants_) text += one + "\n";
  if (auto written = os::write_file_durably(options_.tenants_file, text, 0600); !written)
    log::error("the tenants with remote sandboxes could not be written",
               {{"tenant", tenant}, {"error", written.error().message()}});
}

Task<std::vector<std::shared_ptr<Account>>> E2bProvider::accounts() {
  std::vector<std::shared_ptr<Account>> all;
  std::vector<std::string> whose = tenants_;
  whose.emplace_back();  // the operator's own key
  for (const std::string& tenant : whose) {
    auto account = co_await account_of(tenant);
    if (account && std::ranges::find(all, *account) == all.end()) all.push_back(*account);
  }
  // Keys that were in use and are not any more, for as long as this program knows them.
  for (const auto& [digest, account] : accounts_)
    if (account && std::ranges::find(all, account) == all.end()) all.push_back(account);
  co_return all;
}

std::chrono::seconds E2bProvider::lease_of(const std::string& id) const {
  const auto found = known_.find(id);
  if (found == known_.end() || !found->second.session_ends) return options_.lease.most;
  const auto left = std::chrono::ceil<std::chrono::seconds>(*found->second.session_ends - Steady::now());
  return std::clamp(left + options_.lease.grace, options_.lease.grace, options_.lease.most);
}

Task<Access> E2bProvider::create_remotely(std::shared_ptr<Account> account, NewSandbox wanted) {
  const std::string id = wanted.metadata.at(kSandbox);
  auto access = co_await account->create(std::move(wanted));
  if (access) co_return std::move(*access);
  const Code code = access.error().code();
  // Whether it was made is not known: the answer may be what got lost.
  if (code == Code::unavailable || code == Code::deadline_exceeded || code == Code::provider_failed)
    co_await undo(shared_from_this(), account, id);
  co_return fail(std::move(access).error());
}

boost::asio::awaitable<void> E2bProvider::undo(std::shared_ptr<E2bProvider> self,
                                               std::shared_ptr<Account> account, std::string id) {
  std::map<std::string, std::string> metadata{{kInstallation, self->options_.installation}, {kSandbox, id}};
  // If this fails as well, the rounds find it.
  const auto made = co_await account->list(std::move(metadata));
  if (!made) co_return;
  for (const RemoteFacts& one : *made) {
    const auto known = self->known_.find(id);
    const bool in_use =
        known != self->known_.end() && known->second.plane && known->second.plane->id() == one.access.id;
    if (in_use) continue;
    if (co_await account->kill(one.access.id)) ++self->counters_["swept"];
  }
}

Task<std::unique_ptr<Sandbox>> E2bProvider::create(Spec spec) {
  CO_CHECK(check_spec(spec));
  const auto self = shared_from_this();
  const std::string id = spec.id;
  NewSandbox wanted;
  wanted.template_id = template_of(options_.templates, spec.environment);
  std::string tenant = spec.tenant;
  if (spec.snapshot) {
    CO_TRY(StoredSnapshot stored, read_snapshot(*spec.snapshot));
    wanted.template_id = std::move(stored.snapshot_id);
    tenant = std::move(stored.tenant);
  }
  // Known from here on, so that a second create of the same id and the bound see it.
  Known& known = known_[id];
  if (spec.time_left) known.session_ends = Steady::now() + *spec.time_left;
  wanted.timeout = lease_of(id);
  known.remote_ends = Steady::now() + wanted.timeout;
  auto account = co_await account_of(std::move(tenant));
  if (!account) {
    forget(id);
    co_return fail(std::move(account).error());
  }
  known_[id].account = *account;
  wanted.metadata = {{kInstallation, options_.installation}, {kSandbox, id}};
  if (!spec.session_id.empty()) wanted.metadata.emplace(kSession, spec.session_id);
  wanted.env = spec.env;
  auto access = co_await create_remotely(*account, std::move(wanted));
  if (!access) {
    forget(id);
    co_return fail(std::move(access).error());
  }
  RemoteFacts facts;
  if (auto told = co_await (*account)->get(access->id)) facts = std::move(*told);
  facts.access = std::move(*access);
  facts.state = RemoteState::running;
  ++counters_["created"];
  co_return co_await sandbox_of(*account, std::move(facts), std::move(spec));
}

Task<std::unique_ptr<Sandbox>> E2bProvider::sandbox_of(std::shared_ptr<Account> account, RemoteFacts facts,
                                                       Spec spec) {
  Plane::Options options{options_.sandbox_url, options_.domain, facts.access};
  auto plane = std::make_shared<Plane>(executor_, std::move(options));
  if (facts.state == RemoteState::paused) plane->set_paused(true);
  Known& known = known_[spec.id];
  known.account = account;
  known.plane = plane;
  const std::weak_ptr<E2bProvider> weak = weak_from_this();
  plane->on_doubt = [weak] {
    if (const auto self = weak.lock()) {
      self->doubt_ = true;
      self->wake_.notify();
    }
  };
  RemoteSandbox::Parts parts{.id = spec.id, .account = account, .plane = plane};
  // What the other side gives is in force, whatever was asked for; time and output are ours to bound.
  parts.limits = spec.limits;
  if (facts.memory_bytes > 0) parts.limits.memory_bytes = facts.memory_bytes;
  if (facts.disk_bytes > 0) parts.limits.disk_bytes = facts.disk_bytes;
  if (facts.cpu_count > 0) parts.limits.cpu_cores = facts.cpu_count;
  parts.isolation = isolation(parts.limits);
  if (spec.user != "user") parts.user = spec.user;
  if (spec.working_directory != "/home/user") parts.working_directory = spec.working_directory;
  parts.tenant = spec.tenant;
  parts.on_time_left = [weak, id = spec.id](std::chrono::milliseconds time) {
    const auto self = weak.lock();
    if (!self || !self->known_.contains(id)) return;
    self->known_[id].session_ends = Steady::now() + time;
    // A longer life is asked for by the next round, long before it is needed.
    if (self->known_[id].remote_ends > Steady::now() + time + 2 * self->options_.lease.grace ||
        self->known_[id].remote_ends < Steady::now() + self->options_.lease.grace)
      self->wake_.notify();
  };
  parts.lease = [weak, id = spec.id] {
    const auto self = weak.lock();
    return self ? self->lease_of(id) : std::chrono::seconds(300);
  };
  parts.on_interpreters = [weak, id = spec.id](const std::vector<InterpreterInfo>& all) {
    if (const auto self = weak.lock()) self->keep_interpreters(id, all);
  };
  parts.on_end = [weak, id = spec.id] {
    const auto self = weak.lock();
    if (!self) return;
    self->forget(id);
    self->keep_interpreters(id, {});
    // Whether it is really gone is looked at soon.
    self->doubt_ = true;
    self->wake_.notify();
  };
  std::unique_ptr<Sandbox> made = std::make_unique<RemoteSandbox>(std::move(parts));
  co_return made;
}

Task<std::vector<std::string>> E2bProvider::adoptable() {
  using namespace boost::asio::experimental::awaitable_operators;
  const auto self = shared_from_this();
  adoptable_.clear();
  std::vector<std::string> ids;
  CO_TRY(const auto all, co_await accounts());
  for (const auto& account : all) {
    std::map<std::string, std::string> metadata{{kInstallation, options_.installation}};
    // The service's start waits for this.
    auto first = co_await (account->list(std::move(metadata)) || os::sleep_for(executor_, kLookTime));
    auto* const found = std::get_if<0>(&first);
    if (found == nullptr || !*found) {
      log::warn("remote sandboxes of an earlier start cannot be looked for",
                {{"error", found == nullptr ? "no answer in time" : found->error().message()}});
      continue;
    }
    for (RemoteFacts& one : **found) {
      const auto id = one.metadata.find(kSandbox);
      if (id == one.metadata.end() || known_.contains(id->second)) continue;
      ids.push_back(id->second);
      adoptable_.insert_or_assign(id->second, std::pair(account, std::move(one)));
    }
  }
  co_return ids;
}

Task<std::unique_ptr<Sandbox>> E2bProvider::adopt(std::string id) {
  const auto self = shared_from_this();
  auto node = adoptable_.extract(id);
  if (node.empty()) co_return fail(Code::not_found, fmt::format("there is no remote sandbox {}", id));
  const std::shared_ptr<Account> account = node.mapped().first;
  // Lists do not tell the token of the data plane.
  CO_TRY(RemoteFacts facts, co_await account->get(node.mapped().second.access.id));
  const bool is_paused = facts.state == RemoteState::paused;
  Spec spec;
  spec.id = id;
  spec.limits.disk_bytes = 0;
  Known& known = known_[id];
  known.remote_ends = Steady::now();  // not known: the next round asks for a new lease
  CO_TRY(std::unique_ptr<Sandbox> made, co_await sandbox_of(account, std::move(facts), std::move(spec)));
  auto& remote = static_cast<RemoteSandbox&>(*made);
  const auto kept = interpreters_.find(id);
  if (is_paused && kept != interpreters_.end()) remote.take_interpreters(kept->second);
  CO_CHECK(co_await remote.find_what_runs());
  ++counters_["adopted"];
  wake_.notify();
  co_return std::move(made);
}

Task<void> E2bProvider::discard_snapshot(std::string directory) {
  const auto self = shared_from_this();
  auto stored = read_snapshot(directory);
  if (stored) CO_CHECK(co_await remove_remotely(*stored));
  co_return os::remove_tree(AT_FDCWD, directory);
}

// The other side keeps a snapshot for as long as sandboxes stand on it, and may not be reached just now. Such
// a one is noted, and the rounds remove it later.
Task<void> E2bProvider::remove_remotely(StoredSnapshot stored) {
  auto account = co_await account_of(stored.tenant);
  Result<void> removed{};
  if (account) removed = co_await (*account)->remove_snapshot(stored.snapshot_id);
  if (account && removed) co_return Result<void>();
  const bool noted = std::ranges::any_of(
      removals_, [&](const StoredSnapshot& one) { return one.snapshot_id == stored.snapshot_id; });
  if (noted) co_return Result<void>();
  removals_.push_back(std::move(stored));
  co_return write_removals();
}

Result<void> E2bProvider::write_removals() const {
  if (options_.tenants_file.empty()) return {};
  std::string text;
  for (const StoredSnapshot& one : removals_) text += one.snapshot_id + " " + one.tenant + "\n";
  return os::write_file_durably(options_.tenants_file + kRemovals, text, 0600);
}

Task<void> E2bProvider::remove_noted() {
  const std::vector<StoredSnapshot> noted = removals_;
  for (const StoredSnapshot& one : noted) {
    const auto account = co_await account_of(one.tenant);
    if (!account) continue;
    auto removed = co_await (*account)->remove_snapshot(one.snapshot_id);
    if (!removed) continue;
    std::erase_if(removals_,
                  [&](const StoredSnapshot& other) { return other.snapshot_id == one.snapshot_id; });
    CO_CHECK(write_removals());
  }
  co_return Result<void>();
}

Task<void> E2bProvider::shut_down() {
  const auto self = shared_from_this();
  ending_ = true;
  wake_.notify();
  Result<void> all{};
  const std::map<std::string, Known> left = known_;
  for (const auto& [id, known] : left) {
    if (!known.plane || known.plane->has_ended()) continue;
    if (known.plane->is_paused()) {
      // It stands still without us, and the next start finds it again. Its session must not hear of an end:
      // it would be stored as lost while other providers shut down.
      known.plane->leave();
      forget(id);
      continue;
    }
    auto killed = co_await known.account->kill(known.plane->id());
    known.plane->set_ended("the provider was shut down");
    if (!killed && all) all = fail(std::move(killed).error());
    forget(id);
    keep_interpreters(id, {});
  }
  co_return all;
}

boost::asio::awaitable<void> E2bProvider::make_rounds(std::shared_ptr<E2bProvider> self) {
  using namespace boost::asio::experimental::awaitable_operators;
  while (!self->ending_) {
    const auto pause = self->doubt_ ? std::chrono::milliseconds(1000) : self->options_.round_every;
    (void)co_await (os::sleep_for(self->executor_, pause) || self->wake_.wait());
    // Several changes of one moment make one round.
    (void)co_await os::sleep_for(self->executor_, std::chrono::milliseconds(50));
    if (self->ending_) co_return;
    if (auto made = co_await self->make_round(); !made)
      log::warn("a look at the remote sandboxes failed", {{"error", made.error().message()}});
  }
}

Task<void> E2bProvider::make_round() {
  doubt_ = false;
  // Before anything was ever made remotely there is nothing to look for, and maybe no key to look with.
  if (known_.empty() && tenants_.empty() && accounts_.empty()) co_return Result<void>();
  CO_CHECK(co_await prolong());
  CO_TRY(const auto all, co_await accounts());
  // A key that a tenant broke must not keep the others from being looked after.
  Result<void> first{};
  for (const auto& account : all)
    if (auto compared = co_await compare(account); !compared && first) first = std::move(compared);
  if (auto removed = co_await remove_noted(); !removed && first) first = std::move(removed);
  co_return first;
}

Task<void> E2bProvider::prolong() {
  std::vector<std::string> ids;
  for (const auto& [id, known] : known_)
    if (known.plane && !known.plane->is_paused() && !known.plane->has_ended()) ids.push_back(id);
  for (const std::string& id : ids) {
    const auto found = known_.find(id);
    if (found == known_.end()) continue;
    const auto wanted = lease_of(id);
    const auto now = Steady::now();
    const auto differs = now + wanted - found->second.remote_ends;
    // Half of the lease is a good time to ask again; a shorter life is asked for at once.
    if (differs < options_.lease.most / 2 && differs > -options_.lease.grace &&
        found->second.remote_ends > now + options_.lease.grace)
      continue;
    const auto account = found->second.account;
    const std::string remote = found->second.plane->id();
    auto set = co_await account->set_timeout(remote, wanted);
    const auto again = known_.find(id);
    if (again == known_.end()) continue;
    if (set) again->second.remote_ends = now + wanted;
    if (!set && set.error().code() == Code::not_found) doubt_ = true;
  }
  co_return Result<void>();
}

Task<void> E2bProvider::compare(std::shared_ptr<Account> account) {
  const auto asked_at = Steady::now();
  std::map<std::string, std::string> metadata{{kInstallation, options_.installation}};
  CO_TRY(const auto found, co_await account->list(std::move(metadata)));
  std::map<std::string, std::string> remote;  // their ids by ours
  for (const RemoteFacts& one : found) {
    const auto ours = one.metadata.find(kSandbox);
    if (ours == one.metadata.end()) continue;
    const auto known = known_.find(ours->second);
    const bool is_known =
        known != known_.end() && (!known->second.plane || known->second.plane->id() == one.access.id);
    if (is_known) {
      remote.emplace(ours->second, one.access.id);
      continue;
    }
    const bool may_be_taken_back = adoptable_.contains(ours->second) && asked_at - began_ < kTakeBackTime;
    if (may_be_taken_back || ending_) continue;
    // If not now, then in the next round.
    if (!co_await account->kill(one.access.id)) {
      doubt_ = true;
      continue;
    }
    ++counters_["swept"];
    log::warn("a remote sandbox that nobody knew was ended", {{"sandbox", ours->second}});
  }
  for (auto at = known_.begin(); at != known_.end();) {
    const auto here = at++;
    Known& known = here->second;
    if (known.account != account || !known.plane || known.since > asked_at) continue;
    if (remote.contains(here->first)) {
      known.misses = 0;
      continue;
    }
    // A list may be older than what it lists; one that is missing twice is gone.
    doubt_ = true;
    if (++known.misses < 2) continue;
    ++counters_["lost"];
    known.plane->set_ended("the remote service does not have it any more");
    keep_interpreters(here->first, {});
    known_.erase(here);
  }
  co_return Result<void>();
}

// Owns the provider for whoever made it; calls under way and the rounds share it.
class Owner final : public Provider {
 public:
  explicit Owner(std::shared_ptr<E2bProvider> provider) : provider_(std::move(provider)) {}
  std::string_view name() const override { return provider_->name(); }
  const Traits& traits() const override { return provider_->traits(); }
  Isolation probed() const override { return provider_->probed(); }
  Task<std::unique_ptr<Sandbox>> create(Spec spec) override { return provider_->create(std::move(spec)); }
  Task<std::vector<std::string>> adoptable() override { return provider_->adoptable(); }
  Task<std::unique_ptr<Sandbox>> adopt(std::string id) override { return provider_->adopt(std::move(id)); }
  Task<void> discard_snapshot(std::string directory) override {
    return provider_->discard_snapshot(std::move(directory));
  }
  std::vector<PoolLevel> pools() const override { return provider_->pools(); }
  std::map<std::string, std::uint64_t> counters() const override { return provider_->counters(); }
  Task<void> shut_down() override { return provider_->shut_down(); }

 private:
  std::shared_ptr<E2bProvider> provider_;
};

}  // namespace

std::string template_of(const std::map<std::string, std::string>& templates, const std::string& environment) {
  const std::string name = environment.empty() ? "Python3" : environment;
  if (const auto found = templates.find(name); found != templates.end()) return found->second;
  return name == "Python3" ? "code-interpreter-v1" : name;
}

Result<void> check(const E2bOptions& options) {
  for (const auto& [setting, text] : {std::pair("provider.e2b.api_url", options.api_url),
                                      std::pair("provider.e2b.sandbox_url", options.sandbox_url)}) {
    if (text.empty()) continue;
    if (auto url = net::Url::parse(text); !url)
      return fail(Error(Code::invalid_argument, url.error().message()).with_field(setting));
  }
  return {};
}

Result<void> try_out(const E2bOptions& options) {
  TRY(check(options));
  boost::asio::io_context loop;
  Result<void> answer = fail(Code::unavailable, "the remote service did not answer in time");
  const auto ask = [&]() -> boost::asio::awaitable<void> {
    std::string operators;
    auto key = co_await options.key(std::move(operators));
    if (!key || key->empty()) {
      // Only tenants have keys, and theirs are not to be used for a look around.
      answer = Result<void>();
      co_return;
    }
    auto url = net::Url::parse(address_of(options));
    Account account(loop.get_executor(), std::move(*url), std::move(*key));
    std::map<std::string, std::string> nobody{{kInstallation, "nobody"}};
    auto listed = co_await account.list(std::move(nobody));
    answer = listed ? Result<void>() : Result<void>(fail(std::move(listed).error()));
  };
  boost::asio::co_spawn(loop, ask, boost::asio::detached);
  loop.run_for(kLookTime);
  return answer;
}

Result<std::unique_ptr<Provider>> make(boost::asio::any_io_executor executor, E2bOptions options) {
  TRY(check(options));
  auto provider = std::make_shared<E2bProvider>(executor, std::move(options));
  boost::asio::co_spawn(executor, E2bProvider::make_rounds(provider), boost::asio::detached);
  return std::make_unique<Owner>(std::move(provider));
}

}  // namespace atl::sandbox::e2b
