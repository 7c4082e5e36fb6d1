#include "sandbox/native/native.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>
#include <thread>

#include "base/ids.h"
#include "base/log.h"
#include "guest/program.h"
#include "os/file.h"
#include "os/turn.h"
#include "sandbox/measured.h"
#include "sandbox/native/census.h"
#include "sandbox/native/pool.h"
#include "sandbox/native/sandbox.h"
#include "sandbox/native/watch.h"
#include "sandbox/spec_check.h"

namespace atl::sandbox::native {
namespace {

// If nothing began or ended for so long, clients are taking a break.
constexpr std::chrono::milliseconds kQuiet{10};
// A pool that is not low waits so long for a quiet moment, for each that it lacks.
constexpr std::chrono::milliseconds kRefillPatience{200};
// The spawner handles requests in the order in which they come. Of a burst of creates at most this many are
// given to it at once, so that requests about sandboxes that exist (an interpreter, an end) do not wait
// behind all of them.
constexpr std::uint32_t kMakersMax = 32;
constexpr std::string_view kPoolPrefix = "pool-";
constexpr std::string_view kPreparedForkPrefix = "pool-fork-";  // the spawner's own

class NativeProvider final : public Provider,
                             public Measured,
                             public std::enable_shared_from_this<NativeProvider> {
 public:
  NativeProvider(boost::asio::any_io_executor executor, std::shared_ptr<SpawnerClient> spawner,
                 std::shared_ptr<const CgroupTree> cgroups, Isolation probed,
                 std::vector<std::string> adoptable, NativeOptions options)
      : executor_(std::move(executor)),
        spawner_(std::move(spawner)),
        cgroups_(std::move(cgroups)),
        probed_(std::move(probed)),
        alive_(std::make_shared<Alive>(executor_, spawner_, cgroups_, std::move(options.alerts))) {
    for (PoolOptions& pool : options.pools) pools_.push_back(std::make_shared<Pool>(std::move(pool)));
    alive_->adoptable = std::move(adoptable);
    const std::weak_ptr<Alive> weak = alive_;
    spawner_->start(
        [weak](const std::string& name, const std::string& why) {
          if (const auto alive = weak.lock()) alive->end(name, why);
        },
        [weak] {
          if (const auto alive = weak.lock()) alive->end_all("the spawner died");
        },
        [weak](const SpawnerClient::Names& names) {
          if (const auto alive = weak.lock()) alive->compare({names.begin(), names.end()});
        });
    for (const auto& pool : pools_) {
      refill(pool);
      alive_->calm = std::min(alive_->calm, pool->options.calm);
    }
    if (!pools_.empty()) shrink(alive_, pools_);
  }
  ~NativeProvider() override {
    alive_->closing = true;
    alive_->census.close();
    alive_->calming.cancel();
    spawner_->close();
  }

  std::string_view name() const override { return "native"; }
  const Traits& traits() const override { return native_traits(); }
  Isolation probed() const override { return probed_; }

  std::string unavailable_because() const override {
    return alive_->closing || spawner_->is_open() ? "" : "the spawner has ended: start the service again";
  }
  const PoolUse& pool_use() const override { return alive_->use; }
  MakerUse maker_use() const override { return {alive_->making, &alive_->answers}; }
  std::string zygotes_away() const override { return spawner_->zygotes_away(); }

  Task<std::unique_ptr<Sandbox>> create(Spec spec) override {
    const auto asked = std::chrono::steady_clock::now();
    if (auto good = check(spec); !good) co_return fail(std::move(good).error());
    const auto before = alive_->states.find(spec.id);
    if (before != alive_->states.end()) {
      const auto state = before->second.lock();
      if (state && !state->ended) co_return fail(Code::already_exists, "a sandbox of that id lives");
    }
    // While the spawner's message about the end of an earlier one is on its way, no pooled sandbox may take
    // the name: the message would end it.
    const bool word_is_due = before != alive_->states.end();
    if (auto pooled = word_is_due ? nullptr : from_pool(spec)) {
      const trace::Span taken(spec.trace, "pool.take");
      alive_->use.add_hit(asked);
      co_return std::unique_ptr<Sandbox>(std::move(pooled));
    }
    Request request{.name = spec.id, .ask = ask::Create{spec}};
    const Making making(alive_);
    const bool with_interpreters = spec.snapshot && spec.with_interpreters;
    os::Turn::Hold turn;
    // Copies of a running sandbox are wanted all at once: in turns they would take twice as long.
    if (!with_interpreters) {
      CO_TRY(turn, co_await alive_->makers.take());
    }
    trace::Span span(spec.trace, "spawner.create");
    const auto sent = std::chrono::steady_clock::now();
    CO_TRY(SpawnerClient::Answer answer, co_await spawner_->call(std::move(request)));
    (void)alive_->answers.add(std::chrono::steady_clock::now() - sent);
    turn = {};
    span = trace::Span(spec.trace, "guest.greet");
    CO_TRY(auto sandbox, co_await take_over(alive_, spawn_result(std::move(answer), std::move(spec))));
    span.end();
    if (with_interpreters) CO_CHECK(co_await static_cast<NativeSandbox&>(*sandbox).receive_interpreters());
    alive_->use.add_miss(asked);
    co_return std::move(sandbox);
  }

  Task<std::vector<std::string>> adoptable() override { co_return alive_->adoptable; }

  Task<std::unique_ptr<Sandbox>> adopt(std::string id) override {
    Request request{.name = id, .ask = ask::Adopt{}};
    CO_TRY(SpawnerClient::Answer answer, co_await spawner_->call(std::move(request)));
    std::erase(alive_->adoptable, id);
    Spec spec = answer.reply.as<answers::Sandbox>().spec.value_or(Spec{});
    SpawnResult spawned = spawn_result(std::move(answer), std::move(spec));
    // A frozen guest cannot send its greeting: it is asked for when it goes on (NativeSandbox::resume).
    if (spawned.frozen) co_return take_frozen(alive_, std::move(spawned));
    co_return co_await take_over(alive_, std::move(spawned));
  }

  Task<void> discard_snapshot(std::string directory) override {
    spawner_->checkpoints.erase(directory);
    Request request{.ask = ask::Discard{std::move(directory)}};
    CO_TRY(auto answer, co_await spawner_->call(std::move(request)));
    (void)answer;
    co_return Result<void>();
  }

  Task<std::uint64_t> snapshot_bytes(std::string directory) override {
    Request request{.ask = ask::Measure{std::move(directory)}};
    CO_TRY(const SpawnerClient::Answer answer, co_await spawner_->call(std::move(request)));
    co_return answer.reply.as<answers::Size>().bytes;
  }

  Task<os::Fd> open_volume(std::string directory, VolumeSize size) override {
    Request request{.ask = ask::OpenVolume{std::move(directory), size.bytes, size.inodes}};
    CO_TRY(SpawnerClient::Answer answer, co_await spawner_->call(std::move(request)));
    if (answer.fds.size() != 1) co_return fail(Code::provider_failed, "a volume came without its directory");
    co_return std::move(answer.fds.front());
  }

  Task<void> close_volume(std::string directory) override {
    Request request{.ask = ask::CloseVolume{std::move(directory)}};
    CO_TRY(auto answer, co_await spawner_->call(std::move(request)));
    (void)answer;
    co_return Result<void>();
  }

  void discard_interpreters(const std::string& directory) override {
    // What lay in memory has no file.
    if (spawner_->checkpoints.erase(directory) == 0)
      spawner_->tell(Request{.ask = ask::DiscardInterpreters{directory}});
  }

  std::vector<PoolLevel> pools() const override {
    std::vector<PoolLevel> levels;
    for (const auto& pool : pools_)
      levels.push_back(
          {pool->options.environment, static_cast<std::uint32_t>(pool->ready.size()), pool->wanted});
    return levels;
  }

  void abandon() override { spawner_->tell(Request{.ask = ask::ShutDown{}}); }
  Task<void> shut_down() override {
    alive_->closing = true;
    alive_->calming.cancel();
    for (const auto& pool : pools_) pool->ready.clear();
    Request request{.ask = ask::ShutDown{}};
    CO_TRY(auto answer, co_await spawner_->call(std::move(request)));
    (void)answer;
    alive_->end_all("the provider shut down");
    spawner_->close();
    co_return Result<void>();
  }

 private:
  // What outlives a moment in which the provider is being destroyed while callbacks are under way.
  struct Alive {
    Alive(const boost::asio::any_io_executor& executor_, std::shared_ptr<SpawnerClient> spawner_,
          std::shared_ptr<const CgroupTree> cgroups_, MonitorOptions alerts)
        : census(executor_),
          makers(executor_, kMakersMax),
          calming(executor_),
          executor(executor_),
          spawner(std::move(spawner_)),
          cgroups(std::move(cgroups_)),
          watcher(executor_, std::move(alerts)) {}
    std::map<std::string, std::weak_ptr<NativeState>> states;
    std::vector<std::string> adoptable;
    Census census;
    os::Turn makers;
    boost::asio::steady_timer calming;
    std::chrono::milliseconds calm = std::chrono::hours(1);
    boost::asio::any_io_executor executor;
    std::shared_ptr<SpawnerClient> spawner;
    std::shared_ptr<const CgroupTree> cgroups;
    Watcher watcher;
    bool closing = false;
    // When something last began or ended, and how many sandboxes are being made for somebody who waits.
    std::chrono::steady_clock::time_point last_activity;
    std::uint32_t making = 0;
    PoolUse use;
    Latency answers;  // of the spawner, to creates

    void note_activity(const std::shared_ptr<NativeState>& state) {
      last_activity = std::chrono::steady_clock::now();
      census.note_activity(state);
    }
    void end(const std::string& name, const std::string& why) {
      const auto found = states.find(name);
      if (found == states.end()) return;
      const auto state = found->second.lock();
      states.erase(found);
      if (!state) return;
      watcher.remove(state->name);
      std::erase_if(states, [&](const auto& entry) { return entry.second.lock() == state; });
      state->has_ended(why);
    }
    // The connection to the spawner was lost for a moment, and this is whom it has: what was said meanwhile,
    // by either side, was not heard.
    void compare(const std::set<std::string>& there) {
      std::set<std::shared_ptr<NativeState>> found;
      for (const std::string& name : there) {
        const auto known = states.find(name);
        const auto state = known == states.end() ? nullptr : known->second.lock();
        const bool is_spare =
            name.starts_with(kPreparedForkPrefix) || std::ranges::find(adoptable, name) != adoptable.end();
        if (state && !state->ended) {
          found.insert(state);
          if (state->name == name) continue;
          spawner->tell(Request{.name = name, .ask = ask::Rename{state->name}});
        } else if (!is_spare) {
          spawner->tell(Request{.name = name, .ask = ask::Destroy{}});
        }
      }
      std::vector<std::string> ended;
      for (const auto& [name, weak] : states)
        if (const auto state = weak.lock(); state && !found.contains(state)) ended.push_back(name);
      for (const std::string& name : ended)
        end(name, "it ended while the connection to the spawner was lost");
    }
    void end_all(const std::string& why) {
      for (auto& [name, weak] : std::exchange(states, {}))
        if (const auto state = weak.lock()) state->has_ended(why);
    }
  };

  // While somebody waits for a sandbox that is being made.
  class Making {
   public:
    explicit Making(std::shared_ptr<Alive> alive) : alive_(std::move(alive)) { ++alive_->making; }
    ~Making() { --alive_->making; }
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

   private:
    std::shared_ptr<Alive> alive_;
  };

  static std::shared_ptr<NativeState> know(const std::shared_ptr<Alive>& alive, SpawnResult spawned) {
    auto state =
        std::make_shared<NativeState>(alive->executor, alive->spawner, alive->cgroups, std::move(spawned));
    alive->states[state->name] = state;
    state->on_activity([weak = std::weak_ptr(alive)](const std::shared_ptr<NativeState>& who) {
      if (const auto self = weak.lock()) self->note_activity(who);
    });
    return state;
  }

  static std::unique_ptr<Sandbox> take_frozen(const std::shared_ptr<Alive>& alive, SpawnResult spawned) {
    auto sandbox = std::make_unique<NativeSandbox>(know(alive, std::move(spawned)));
    alive->watcher.add(sandbox->state());
    return sandbox;
  }

  static Task<std::unique_ptr<NativeSandbox>> greet(std::shared_ptr<Alive> alive, SpawnResult spawned) {
    const auto state = know(alive, std::move(spawned));
    auto sandbox = std::make_unique<NativeSandbox>(state);
    CO_CHECK(co_await state->greet());
    if (state->ended) co_return fail(Code::provider_failed, "the sandbox ended at once: " + *state->ended);
    co_return std::move(sandbox);
  }

  static Task<std::unique_ptr<Sandbox>> take_over(std::shared_ptr<Alive> alive, SpawnResult spawned) {
    CO_TRY(auto sandbox, co_await greet(alive, std::move(spawned)));
    alive->watcher.add(sandbox->state());
    alive->note_activity(sandbox->state());
    co_return std::unique_ptr<Sandbox>(std::move(sandbox));
  }

  std::unique_ptr<NativeSandbox> from_pool(const Spec& spec) {
    for (const auto& pool : pools_) {
      if (!pool->serves(spec)) continue;
      std::unique_ptr<NativeSandbox> sandbox = pool->take();
      alive_->last_activity = std::chrono::steady_clock::now();
      refill(pool);
      if (!sandbox || !has_walls(sandbox->isolation(), spec.required_walls)) return nullptr;
      // It is known under both names until it ends: the message about its end may come under the old one.
      alive_->states[spec.id] = sandbox->state();
      sandbox->assign(spec);
      alive_->watcher.add(sandbox->state());
      alive_->note_activity(sandbox->state());
      return sandbox;
    }
    return nullptr;
  }

  static bool has_walls(const Isolation& isolation, const std::vector<std::string>& required) {
    return std::ranges::all_of(required, [&](const std::string& name) {
      return std::ranges::any_of(isolation.walls, [&](const Wall& wall) { return wall.name == name; });
    });
  }

  void refill(const std::shared_ptr<Pool>& pool) {
    if (pool->refilling || alive_->closing || pool->ready.size() >= pool->wanted) return;
    pool->refilling = true;
    boost::asio::co_spawn(executor_, fill(alive_, pool), boost::asio::detached);
  }

  // The pool waits while sandboxes are in use or are being made on demand: building another would take the
  // processor from them. A pool that runs low waits only for the latter, and no pool waits for ever.
  static boost::asio::awaitable<void> wait_for_quiet(std::shared_ptr<Alive> alive,
                                                     std::shared_ptr<Pool> pool) {
    boost::asio::steady_timer moment(co_await boost::asio::this_coro::executor);
    const auto until = std::chrono::steady_clock::now() + kRefillPatience;
    for (auto now = std::chrono::steady_clock::now(); now < until; now = std::chrono::steady_clock::now()) {
      const auto quiet = alive->last_activity + kQuiet;
      if (alive->closing || (alive->making == 0 && (pool->is_low() || now >= quiet))) break;
      moment.expires_at(std::min(until, std::max(quiet, now + kQuiet)));
      boost::system::error_code ignored;
      co_await moment.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
  }

  // One after the other, so that a create that missed the pool waits for one build at most.
  static boost::asio::awaitable<void> fill(std::shared_ptr<Alive> alive, std::shared_ptr<Pool> pool) {
    while (!alive->closing && pool->ready.size() < pool->wanted) {
      co_await wait_for_quiet(alive, pool);
      if (alive->closing) break;
      Spec spec = pool->options.spec;
      spec.id = std::string(kPoolPrefix) + random_word(16);
      Request request{.name = spec.id, .ask = ask::Create{spec}};
      auto answer = co_await alive->spawner->call(std::move(request));
      if (!answer) {
        if (!alive->closing) log::warn("a pool could not be filled", {{"error", answer.error().message()}});
        break;
      }
      auto sandbox = co_await greet(alive, spawn_result(std::move(*answer), std::move(spec)));
      if (!sandbox || alive->closing) break;
      for (const Language language : pool->options.warm)
        if (auto warm = co_await (*sandbox)->state()->connection->warm_up(language); !warm && !alive->closing)
          log::warn("an interpreter could not be made ready",
                    {{"language", std::string(to_string(language))}, {"error", warm.error().message()}});
      if (alive->closing) break;
      pool->ready.push_back(std::move(*sandbox));
    }
    pool->refilling = false;
  }

  // Looks whether it is calm, for as long as there is a provider.
  static void shrink(const std::shared_ptr<Alive>& alive, const std::vector<std::shared_ptr<Pool>>& pools) {
    alive->calming.expires_after(alive->calm);
    alive->calming.async_wait([weak = std::weak_ptr(alive), pools](boost::system::error_code error) {
      const auto self = weak.lock();
      if (error || !self || self->closing) return;
      for (const auto& pool : pools) pool->shrink();
      shrink(self, pools);
    });
  }

  boost::asio::any_io_executor executor_;
  std::shared_ptr<SpawnerClient> spawner_;
  std::shared_ptr<const CgroupTree> cgroups_;
  Isolation probed_;
  std::vector<std::shared_ptr<Pool>> pools_;
  std::shared_ptr<Alive> alive_;
};

}  // namespace

Result<std::unique_ptr<Provider>> start(boost::asio::any_io_executor executor, NativeOptions options) {
  // Everything below looks things up there, and would blame whatever it happens to look for first.
  if (!os::exists("/proc/self/fd"))
    return fail(
        Code::unsupported,
        "/proc is not mounted here, and sandboxes cannot be made without it; mount -t proc proc /proc");
  if (options.spawner.guest_program.empty()) options.spawner.guest_program = guest::program();
  std::shared_ptr<SpawnerClient> client;
  Result<SpawnerClient::Answer> hello = fail(Code::not_found, "no spawner yet");
  // One that turns us away has just lost its daemon or is just ending: ask again for a moment.
  for (int attempt = 0; attempt < 20 && !hello && !options.spawner.run_directory.empty(); ++attempt) {
    auto found = find_spawner(options.spawner.run_directory);
    if (!found) break;
    client = std::make_shared<SpawnerClient>(executor, std::move(*found));
    hello = client->call_now(Request{.ask = ask::Hello{}});
    if (!hello) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // A spawner of another version: its sandboxes cannot be understood, so they end.
  if (hello && hello->reply.as<answers::Hello>().version != kSpawnerProtocolVersion) {
    (void)client->call_now(Request{.ask = ask::ShutDown{}});
    hello = fail(Code::not_found, "no spawner yet");
  }
  if (!hello) {
    client = std::make_shared<SpawnerClient>(executor, TRY(start_spawner(options.spawner)));
    hello = client->call_now(Request{.ask = ask::Hello{}});
  }
  if (!hello) return fail(std::move(hello).error());
  // Without a second connection, losing this one means losing the spawner.
  if (auto spare = client->add_spare(); !spare)
    log::warn("no second connection to the spawner", {{"error", spare.error().message()}});
  // Ready ones of an earlier daemon: nobody used them, and this one fills its own pools.
  auto there = hello->reply.as<answers::Hello>();
  std::erase_if(there.names, [&](const std::string& name) {
    if (!name.starts_with(kPoolPrefix)) return false;
    client->tell(Request{.name = name, .ask = ask::Destroy{}});
    return true;
  });
  auto cgroups = std::make_shared<CgroupTree>(TRY(CgroupTree::open(there.parent_group)));
  return std::make_unique<NativeProvider>(std::move(executor), std::move(client), std::move(cgroups),
                                          std::move(there.isolation), std::move(there.names),
                                          std::move(options));
}

}  // namespace atl::sandbox::native
