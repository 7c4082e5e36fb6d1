#include "sandbox/docker/docker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <map>
#include <thread>

#include "base/ids.h"
#include "base/log.h"
#include "guest/program.h"
#include "sandbox/container/container_sandbox.h"
#include "sandbox/container/watch.h"
#include "sandbox/docker/broker.h"
#include "sandbox/docker/broker_client.h"
#include "sandbox/docker/docker_walls.h"
#include "sandbox/docker/engine.h"
#include "sandbox/docker/home.h"
#include "sandbox/docker/json_access.h"
#include "sandbox/docker/spec_note.h"
#include "sandbox/limit_table.h"
#include "sandbox/measured.h"
#include "sandbox/spec_check.h"

namespace atl::sandbox::docker {
namespace {

namespace asio = boost::asio;
namespace bj = boost::json;
using container::ContainerSandbox;
using container::ContainerState;

constexpr std::chrono::seconds kGreetPatience{20};
constexpr std::chrono::seconds kProbeInterval{15};
// Before a pool is filled again.
constexpr std::chrono::milliseconds kQuiet{250};
// After the engine did not answer.
constexpr std::chrono::seconds kAgainInterval{2};
// A waiting container that was promised to a session and was not taken in this time is removed: its label is
// of no use to another session.
constexpr std::chrono::seconds kReservation{60};
// In memory, writable for everybody inside, and no commit holds it. An engine gives a directory that an image
// has already that directory's owner and mode, so a mount of our own would not do after a commit.
constexpr const char* kTrustedInside = "/dev/shm/.atoll";
constexpr std::size_t kKindsMax = 4;

std::vector<Wall> walls_in(const bj::object& object, const char* key) {
  std::vector<Wall> walls;
  if (const bj::value* found = object.if_contains(key); found != nullptr && found->is_array())
    for (const bj::value& each : found->as_array())
      if (each.is_object())
        walls.push_back({text_in(each.as_object(), "name"), text_in(each.as_object(), "value")});
  return walls;
}

// The image's user as a guest finds it: a group is the engine's matter.
std::string own_user_of(const std::string& image_user) {
  const std::string name = image_user.substr(0, image_user.find(':'));
  return name.empty() ? "0" : name;
}

// What of a spec the image decides: user, directory, variables.
void honour_image(const bj::object& facts, Spec& spec, std::string& own_user) {
  own_user = own_user_of(text_in(facts, "user"));
  if (spec.user.empty() || spec.user == "user") spec.user = own_user;
  if (spec.working_directory.empty() || (spec.working_directory == "/home/user" && own_user != "user")) {
    const std::string directory = text_in(facts, "working_directory");
    spec.working_directory = directory == "/" ? "" : directory;
  }
  for (const std::string& each : texts_in(facts, "env"))
    if (const std::size_t equals = each.find('='); equals != std::string::npos)
      spec.env.try_emplace(each.substr(0, equals), each.substr(equals + 1));
}

// An environment may let its user become root; nobody in a container can.
void tell_sudo(const Spec& spec, ContainerSandbox& sandbox) {
  if (spec.sudo)
    sandbox.state()->made.isolation.missing.push_back(
        {"sudo", "containers gain no privileges: name an image whose user is root"});
}

Result<void> check_walls(const Isolation& isolation, const std::vector<std::string>& required) {
  for (const std::string& name : required)
    if (std::ranges::none_of(isolation.walls, [&](const Wall& wall) { return wall.name == name; })) {
      const auto missing = std::ranges::find(isolation.missing, name, &Wall::name);
      const std::string why = missing == isolation.missing.end() ? "" : ": " + missing->value;
      return fail(Error(Code::unsupported, fmt::format("this engine cannot give the wall '{}'{}", name, why))
                      .with_field("required_walls"));
    }
  return {};
}

// Waits for a session whose id it carries: labels of containers cannot be changed.
struct Waiting {
  std::string session;
  std::unique_ptr<ContainerSandbox> sandbox;
  std::optional<std::chrono::steady_clock::time_point> reserved_at;
  bool is_free() const { return !reserved_at && sandbox->state()->is_alive(); }
};

// Containers that are alike but for what is given at the hand-out.
struct Kind {
  std::string image;
  Limits limits;
  std::deque<Waiting> ready;
  std::chrono::steady_clock::time_point last_use = std::chrono::steady_clock::now();
  bool is_refilling = false;
  bool serves(const Spec& spec) const {
    return spec.image == image && bind_sandbox_alike(spec.limits, limits) &&
           spec.hostname == Spec().hostname && !spec.snapshot;
  }
};

}  // namespace

const Traits& docker_traits() {
  static const Traits traits{.real_processes = true,
                             .pty = true,
                             .interpreters = true,
                             .network = true,
                             .ports = true,
                             .pause = true,
                             .snapshot = true,
                             .fork = true,
                             .live_fork = false,
                             .watch = true,
                             .images = true};
  return traits;
}

namespace {

class DockerProvider final : public Provider, public Pooled {
 public:
  DockerProvider(asio::any_io_executor executor, std::shared_ptr<BrokerClient> broker,
                 std::vector<std::string> adoptable, DockerOptions options)
      : alive_(std::make_shared<Alive>(executor, std::move(broker), std::move(options))) {
    alive_->adoptable = std::move(adoptable);
    const std::weak_ptr<Alive> weak = alive_;
    alive_->broker->start(
        [weak](const std::string& name, const std::string& why) {
          if (const auto alive = weak.lock()) alive->end(name, why);
        },
        [weak] {
          if (const auto alive = weak.lock()) alive->lose_broker();
        });
    asio::co_spawn(executor, look_after_engine(alive_), asio::detached);
  }
  ~DockerProvider() override { close(); }

  std::string_view name() const override { return "docker"; }
  const Traits& traits() const override { return docker_traits(); }
  Isolation probed() const override { return alive_->probed; }
  std::string unavailable_because() const override { return alive_->unavailable; }
  const PoolUse& pool_use() const override { return alive_->use; }

  Task<std::unique_ptr<Sandbox>> create(Spec spec) override {
    const auto asked = std::chrono::steady_clock::now();
    const auto alive = alive_;
    CO_CHECK(check(spec));
    if (spec.image.empty() && !spec.snapshot) spec.image = alive->options.default_image;
    CO_CHECK(check_kind(spec));
    if (const auto before = alive->states.find(spec.id); before != alive->states.end())
      if (const auto state = before->second.lock(); state && !state->ended)
        co_return fail(Code::already_exists, "a sandbox of that id lives");
    if (auto pooled = from_pool(alive, spec)) {
      tell_sudo(spec, *pooled);
      alive->watcher.add(pooled->state());
      alive->use.add_hit(asked);
      co_return std::unique_ptr<Sandbox>(std::move(pooled));
    }
    CO_TRY(auto made, co_await make(alive, spec));
    alive->use.add_miss(asked);
    tell_sudo(spec, *made);
    alive->watcher.add(made->state());
    note_kind(alive, spec);
    co_return std::unique_ptr<Sandbox>(std::move(made));
  }

  std::string reserve_session(const Spec& spec) override { return reserve(*alive_, spec); }

  Task<std::vector<std::string>> adoptable() override { co_return alive_->adoptable; }

  Task<std::unique_ptr<Sandbox>> adopt(std::string id) override {
    const auto alive = alive_;
    bj::object request{{"verb", "adopt"}, {"name", id}};
    CO_TRY(BrokerClient::Answer answer, co_await alive->broker->call(std::move(request)));
    std::erase(alive->adoptable, id);
    const bj::value* note = answer.body.if_contains("note");
    Spec spec = note != nullptr ? spec_of(*note) : Spec{};
    spec.id = id;
    const bj::value* frozen = answer.body.if_contains("frozen");
    const bool stands_still = frozen != nullptr && is_true_at(*frozen, {});
    CO_TRY(auto sandbox, co_await take_over(alive, std::move(spec), std::move(answer), stands_still));
    alive->watcher.add(sandbox->state());
    co_return std::unique_ptr<Sandbox>(std::move(sandbox));
  }

  Task<void> discard_snapshot(std::string directory) override {
    bj::object request{{"verb", "discard"}, {"target", std::move(directory)}};
    CO_TRY(auto answer, co_await alive_->broker->call(std::move(request)));
    (void)answer;
    co_return Result<void>();
  }

  Task<std::uint64_t> snapshot_bytes(std::string directory) override {
    bj::object request{{"verb", "snapshot_bytes"}, {"target", std::move(directory)}};
    CO_TRY(const BrokerClient::Answer answer, co_await alive_->broker->call(std::move(request)));
    co_return static_cast<std::uint64_t>(number_in(answer.body, "bytes"));
  }

  std::vector<PoolLevel> pools() const override {
    std::vector<PoolLevel> levels;
    for (const auto& kind : alive_->kinds)
      levels.push_back({kind->image,
                        static_cast<std::uint32_t>(std::ranges::count_if(kind->ready, &Waiting::is_free)),
                        alive_->options.pool});
    return levels;
  }

  Task<void> shut_down() override {
    const auto alive = alive_;
    close_pools();
    bj::object request{{"verb", "shut_down"}};
    auto answer = co_await alive->broker->call(std::move(request));
    alive->end_all("the provider shut down");
    alive->broker->close();
    if (!answer && answer.error().code() != Code::provider_failed) co_return fail(std::move(answer).error());
    co_return Result<void>();
  }
  void abandon() override { alive_->broker->tell({{"verb", "shut_down"}}); }

 private:
  static DockerWalls& walls_of(const ContainerState& state) {
    return static_cast<DockerWalls&>(*state.walls);
  }
  // What outlives a moment in which the provider is being destroyed while callbacks are under way.
  struct Alive {
    Alive(const asio::any_io_executor& executor_, std::shared_ptr<BrokerClient> broker_,
          DockerOptions options_)
        : executor(executor_),
          broker(std::move(broker_)),
          options(std::move(options_)),
          looking(executor_),
          watcher(executor_, options.alerts) {}
    asio::any_io_executor executor;
    std::shared_ptr<BrokerClient> broker;
    DockerOptions options;
    asio::steady_timer looking;
    container::Watcher watcher;
    std::map<std::string, std::weak_ptr<ContainerState>> states;
    std::vector<std::string> adoptable;
    std::vector<std::shared_ptr<Kind>> kinds;
    PoolUse use;
    Isolation probed;
    std::string unavailable;
    bool is_closing = false;

    void end(const std::string& name, const std::string& why) {
      const auto found = states.find(name);
      if (found == states.end()) return;
      if (const auto state = found->second.lock()) walls_of(*state).has_ended(why);
    }
    void end_all(const std::string& why) {
      for (auto& [name, known] : std::exchange(states, {}))
        if (const auto state = known.lock()) state->has_ended(why);
    }
    void lose_broker() {
      unavailable = "the broker of the container engine died: start the service again";
      kinds.clear();
      end_all("the broker of the container engine died");
    }
    // What a call of the engine's told about it.
    void heard(const std::optional<Error>& error) {
      if (!broker->is_open()) return;
      if (!error)
        unavailable.clear();
      else if (error->code() == Code::unavailable || error->code() == Code::deadline_exceeded ||
               error->code() == Code::unsupported) {
        // One answer that got lost must not refuse everybody until the next look.
        if (unavailable.empty()) looking.cancel();
        unavailable = error->message();
      }
    }
  };

  void close_pools() {
    alive_->is_closing = true;
    alive_->looking.cancel();
    alive_->kinds.clear();
  }
  void close() {
    close_pools();
    alive_->broker->close();
  }

  static Result<void> check_kind(const Spec& spec) {
    if (spec.image.empty() && !spec.snapshot)
      return fail(Error(Code::invalid_argument,
                        "the provider docker needs an image: give 'image', or an "
                        "environment that names one")
                      .with_field("image"));
    if (!spec.host_mounts.empty())
      return fail(Error(Code::unsupported,
                        "the provider docker shows no directories of the host, so it has "
                        "no volumes either: use the provider native")
                      .with_field("volumes"));
    return {};
  }

  static boost::asio::awaitable<void> look_after_engine(std::shared_ptr<Alive> alive) {
    while (!alive->is_closing && alive->broker->is_open()) {
      bj::object request{{"verb", "probe"}};
      auto answer = co_await alive->broker->call(std::move(request));
      if (answer) {
        alive->probed = {walls_in(answer->body, "walls"), walls_in(answer->body, "missing")};
        alive->heard(std::nullopt);
      } else {
        alive->heard(answer.error());
      }
      if (alive->is_closing) co_return;
      alive->looking.expires_after(alive->unavailable.empty() ? kProbeInterval : kAgainInterval);
      boost::system::error_code ignored;
      co_await alive->looking.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }

  static Task<std::unique_ptr<ContainerSandbox>> make(std::shared_ptr<Alive> alive, Spec spec) {
    bj::object request{{"verb", "create"},          {"name", spec.id},
                       {"image", spec.image},       {"session", spec.session_id},
                       {"hostname", spec.hostname}, {"limits", to_json(spec.limits)},
                       {"note", to_json(spec)}};
    if (spec.snapshot) request["snapshot"] = *spec.snapshot;
    auto answer = co_await alive->broker->call(std::move(request));
    if (!answer) {
      alive->heard(answer.error());
      co_return fail(std::move(answer).error());
    }
    alive->heard(std::nullopt);
    co_return co_await take_over(alive, std::move(spec), std::move(*answer), false);
  }

  static Task<std::unique_ptr<ContainerSandbox>> take_over(std::shared_ptr<Alive> alive, Spec spec,
                                                           BrokerClient::Answer answer, bool frozen) {
    const std::string name = spec.id;
    container::Made made;
    made.isolation = {walls_in(answer.body, "walls"), walls_in(answer.body, "missing")};
    honour_image(answer.body, spec, made.own_user);
    made.stream = std::move(answer.fd);
    made.frozen = frozen;
    made.trust_directory = kTrustedInside;
    const auto required = spec.required_walls;
    made.spec = std::move(spec);
    auto walls =
        std::make_unique<DockerWalls>(alive->executor, alive->broker, name,
                                      container::GroupReader::of_paths(texts_in(answer.body, "groups")));
    const auto state = std::make_shared<ContainerState>(alive->executor, std::move(walls), std::move(made));
    std::erase_if(alive->states, [](const auto& entry) { return entry.second.expired(); });
    alive->states[name] = state;
    // From here on whoever gives this up removes the container.
    auto sandbox = std::make_unique<ContainerSandbox>(state, docker_traits());
    if (auto good = check_walls(state->made.isolation, required); !good) {
      auto stopped = co_await sandbox->stop();
      co_return fail(std::move(good).error());
    }
    if (frozen) co_return std::move(sandbox);
    if (auto greeted = co_await state->greet(kGreetPatience); !greeted) {
      auto reason = co_await state->walls->explain(greeted.error().message());
      auto stopped = co_await sandbox->stop();
      co_return fail(Code::provider_failed,
                     fmt::format("the container did not become ready: {}", reason ? *reason : "unknown"));
    }
    co_await settle_directory(*state);
    co_return std::move(sandbox);
  }

  // Where an image names no directory programs begin in their user's home: from now on by its name, so that
  // whoever puts files there knows it.
  static boost::asio::awaitable<void> settle_directory(ContainerState& state) {
    Spec& spec = state.made.spec;
    if (!spec.working_directory.empty()) co_return;
    auto home = co_await home_of(state.connection->files(), spec.user);
    if (!home) co_return;
    spec.working_directory = std::move(*home);
    state.connection->set_defaults(spec.user, spec.working_directory, spec.env);
  }

  static std::shared_ptr<Kind> kind_of(const Alive& alive, const Spec& spec) {
    for (const auto& kind : alive.kinds)
      if (kind->serves(spec)) return kind;
    return nullptr;
  }

  static std::string reserve(Alive& alive, Spec spec) {
    if (spec.image.empty() && !spec.snapshot) spec.image = alive.options.default_image;
    const auto kind = kind_of(alive, spec);
    if (!kind) return "";
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(kind->ready, [&](const Waiting& one) {
      return !one.sandbox->state()->is_alive() || (one.reserved_at && now - *one.reserved_at > kReservation);
    });
    const auto found = std::ranges::find_if(kind->ready, &Waiting::is_free);
    if (found == kind->ready.end()) return "";
    found->reserved_at = now;
    return found->session;
  }

  static std::unique_ptr<ContainerSandbox> from_pool(const std::shared_ptr<Alive>& alive, const Spec& spec) {
    const auto kind = kind_of(*alive, spec);
    if (!kind) return nullptr;
    kind->last_use = std::chrono::steady_clock::now();
    const auto found = std::ranges::find_if(kind->ready, [&](const auto& one) {
      return one.session == spec.session_id && one.sandbox->state()->is_alive();
    });
    if (found == kind->ready.end()) {
      refill(alive, kind);
      return nullptr;
    }
    std::unique_ptr<ContainerSandbox> sandbox = std::move(found->sandbox);
    kind->ready.erase(found);
    if (!check_walls(sandbox->isolation(), spec.required_walls)) return nullptr;
    assign(*alive, *sandbox, spec);
    refill(alive, kind);
    return sandbox;
  }

  static void assign(Alive& alive, ContainerSandbox& sandbox, Spec spec) {
    auto& state = *sandbox.state();
    DockerWalls& walls = walls_of(state);
    alive.broker->tell(
        {{"verb", "assign"}, {"name", walls.name()}, {"to", spec.id}, {"note", to_json(spec)}});
    alive.states[spec.id] = sandbox.state();
    walls.rename(spec.id);
    // The waiting one has what the image says.
    const Spec& waiting = state.made.spec;
    if (spec.user.empty() || spec.user == "user") spec.user = waiting.user;
    if (spec.working_directory.empty() || spec.working_directory == "/home/user")
      spec.working_directory = waiting.working_directory;
    for (const auto& [name, value] : waiting.env) spec.env.try_emplace(name, value);
    sandbox.assign(std::move(spec));
  }

  // What was asked for once is likely to be asked for again.
  static void note_kind(const std::shared_ptr<Alive>& alive, const Spec& spec) {
    if (alive->options.pool == 0 || spec.snapshot || spec.hostname != Spec().hostname || alive->is_closing)
      return;
    auto kind = kind_of(*alive, spec);
    if (!kind) {
      if (alive->kinds.size() >= kKindsMax) {
        const auto oldest = std::ranges::min_element(
            alive->kinds, {}, [](const std::shared_ptr<Kind>& one) { return one->last_use; });
        alive->kinds.erase(oldest);
      }
      kind = std::make_shared<Kind>();
      kind->image = spec.image, kind->limits = spec.limits;
      alive->kinds.push_back(kind);
    }
    refill(alive, kind);
  }

  static void refill(const std::shared_ptr<Alive>& alive, const std::shared_ptr<Kind>& kind) {
    if (kind->is_refilling || alive->is_closing || kind->ready.size() >= alive->options.pool) return;
    kind->is_refilling = true;
    asio::co_spawn(alive->executor, fill(alive, kind), asio::detached);
  }

  static boost::asio::awaitable<void> fill(std::shared_ptr<Alive> alive, std::shared_ptr<Kind> kind) {
    // Whoever was just given a container works with it first: making another keeps the engine busy.
    asio::steady_timer quiet(alive->executor, kQuiet);
    boost::system::error_code ignored;
    co_await quiet.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    while (!alive->is_closing && kind->ready.size() < alive->options.pool) {
      Spec spec;
      spec.id = std::string(kPoolPrefix) + random_word(16);
      spec.session_id = new_session_id();
      spec.image = kind->image, spec.limits = kind->limits;
      spec.user.clear(), spec.working_directory.clear();
      const std::string session = spec.session_id;
      auto made = co_await make(alive, std::move(spec));
      if (!made) {
        // The next create of this kind tries again.
        log::warn("a pool of containers was not filled", {{"error", made.error().message()}});
        break;
      }
      if (alive->is_closing) break;
      auto warmed = co_await (*made)->state()->connection->warm_up(Language::python);
      if (!warmed) warmed = co_await (*made)->state()->connection->warm_up(Language::javascript);
      const bool is_wanted =
          std::ranges::find(alive->kinds, kind) != alive->kinds.end() && !alive->is_closing;
      if (!is_wanted) break;
      kind->ready.push_back({session, std::move(*made), std::nullopt});
    }
    kind->is_refilling = false;
  }

  std::shared_ptr<Alive> alive_;
};

}  // namespace

Result<std::unique_ptr<Provider>> start(asio::any_io_executor executor, DockerOptions options) {
  BrokerOptions broker;
  broker.engine = options.engine;
  broker.run_directory = options.run_directory;
  broker.snapshot_directory = options.snapshot_directory;
  broker.installation = options.installation;
  broker.guest_program = guest::program();
  broker.seccomp_profile = options.seccomp_profile;
  broker.images = options.images;
  broker.may_pull = options.may_pull;
  broker.recipes = options.recipes;
  broker.build_network = options.build_network;
  broker.orphan_time = options.orphan_time;
  broker.patience = options.patience;
  std::shared_ptr<BrokerClient> client;
  Result<BrokerClient::Answer> hello = fail(Code::not_found, "no broker yet");
  // The broker notices that its daemon was killed in its own time and turns newcomers away until then.
  for (int attempt = 0; attempt < 20 && !hello; ++attempt) {
    auto found = find_broker(options.run_directory);
    if (!found) break;
    client = std::make_shared<BrokerClient>(executor, std::move(*found));
    hello = client->call_now({{"verb", "hello"}});
    if (!hello) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // One of another version: its containers cannot be understood, so they end.
  if (hello && number_in(hello->body, "version") != kBrokerVersion) {
    (void)client->call_now({{"verb", "shut_down"}});
    hello = fail(Code::not_found, "no broker yet");
  }
  if (!hello) {
    client = std::make_shared<BrokerClient>(executor, TRY(start_broker(broker)));
    hello = client->call_now({{"verb", "hello"}});
  }
  if (!hello) return fail(std::move(hello).error());
  std::vector<std::string> names = texts_in(hello->body, "names");
  std::erase_if(names, [](const std::string& name) { return name.starts_with(kPoolPrefix); });
  return std::make_unique<DockerProvider>(std::move(executor), std::move(client), std::move(names),
                                          std::move(options));
}

Result<Isolation> probe(const EngineAddress& address, std::chrono::milliseconds patience) {
  asio::io_context loop;
  Engine engine(loop.get_executor(), address, patience);
  std::optional<Result<EngineFacts>> answer;
  asio::co_spawn(loop, engine.describe(), [&](std::exception_ptr error, Result<EngineFacts> facts) {
    if (!error) answer.emplace(std::move(facts));
  });
  loop.run();
  if (!answer) return fail(Code::internal, "the engine was not asked");
  return isolation_of(TRY(std::move(*answer)));
}

}  // namespace atl::sandbox::docker
