#include "sandbox/gvisor/gvisor.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <deque>
#include <map>
#include <thread>

#include "base/ids.h"
#include "guest/program.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/turn.h"
#include "sandbox/container/container_sandbox.h"
#include "sandbox/container/watch.h"
#include "sandbox/gvisor/broker.h"
#include "sandbox/gvisor/bundle.h"
#include "sandbox/gvisor/client.h"
#include "sandbox/gvisor/read_back.h"
#include "sandbox/gvisor/walls.h"
#include "sandbox/measured.h"
#include "sandbox/spec_check.h"
#include "sandbox/subject.h"

namespace atl::sandbox::gvisor {
namespace {

using container::ContainerSandbox;
using container::ContainerState;

// A guest of gVisor's on a machine that has much to do.
constexpr std::chrono::seconds kGreetPatience{30};
constexpr std::uint32_t kMakersMax = 4;
// Kinds of sandboxes that are kept ready at once.
constexpr std::size_t kKindsMax = 4;
constexpr std::chrono::milliseconds kFillDelay{300};

// Every wall that these sandboxes can have. What is in force is read back from each.
constexpr const char* kWalls[] = {
    "user_space_kernel", "user_namespace", "pid_namespace", "mount_namespace",   "network_namespace",
    "ipc_namespace",     "uts_namespace",  "seccomp",       "root_filesystem",   "proc",
    "open_files_limit",  "core_dumps",     "capabilities",  "no_new_privileges", "cgroup",
    "memory_limit",      "cpu_limit",      "process_limit", "disk_limit",        "network"};

bool has_wall(const Isolation& isolation, const std::string& name) {
  return std::ranges::any_of(isolation.walls, [&](const Wall& wall) { return wall.name == name; });
}

Result<void> check_walls(const Spec& spec) {
  for (const std::string& name : spec.required_walls)
    if (std::ranges::find(kWalls, name) == std::end(kWalls))
      return fail(Error(Code::unsupported, fmt::format("the provider gvisor has no wall '{}'", name))
                      .with_field("required_walls"));
  return {};
}

bool serves(const Spec& mine, const Spec& spec) {
  return is_same_kind(mine, spec) && spec.snapshot == mine.snapshot;
}

// Ready sandboxes of one kind, all restored from one checkpoint.
struct Pool {
  Spec spec;
  std::deque<std::unique_ptr<ContainerSandbox>> ready;
  std::string checkpoint;                       // what they are restored from; empty until it was taken
  std::chrono::steady_clock::time_point asked;  // for one of them, the last time
  bool refilling = false;
  bool dropped = false;
};

// What outlives the moment in which the provider is destroyed while something is under way.
struct Alive {
  Alive(boost::asio::any_io_executor executor_, std::shared_ptr<BrokerClient> broker_, std::string version_,
        MonitorOptions alerts)
      : executor(executor_),
        broker(std::move(broker_)),
        version(std::move(version_)),
        makers(executor_, kMakersMax),
        watcher(executor_, std::move(alerts)) {}
  boost::asio::any_io_executor executor;
  std::shared_ptr<BrokerClient> broker;
  std::string version;  // runsc's, and its platform
  os::Turn makers;
  container::Watcher watcher;
  std::map<std::string, std::weak_ptr<ContainerState>> states;
  std::vector<std::string> adoptable;
  PoolUse use;
  bool closing = false;
};

std::unique_ptr<ContainerSandbox> take_in(Alive& alive, Spec spec, BrokerClient::Answer answer) {
  const std::string id = spec.id;
  auto made_walls = std::make_unique<GvisorWalls>(alive.broker, id, std::move(answer.fds.at(1)),
                                                  answer.reply.groups, alive.version);
  GvisorWalls& walls = *made_walls;
  container::Made made{.spec = std::move(spec),
                       .isolation = std::move(answer.reply.isolation),
                       .stream = std::move(answer.fds.at(0)),
                       .frozen = answer.reply.frozen};
  auto state = std::make_shared<ContainerState>(alive.executor, std::move(made_walls), std::move(made));
  walls.belong_to(state);
  alive.states[id] = state;
  return std::make_unique<ContainerSandbox>(std::move(state), kTraits);
}

Task<BrokerClient::Answer> ask_for(std::shared_ptr<Alive> alive, Request request) {
  const std::string id = request.id;
  auto answer = co_await alive->broker->call(std::move(request));
  // Whoever gave up waiting leaves nothing behind.
  if (!answer && answer.error().code() == Code::canceled)
    alive->broker->tell(Request{.verb = Verb::destroy, .id = id});
  if (!answer) co_return fail(std::move(answer).error());
  if (answer->fds.size() != 2) co_return fail(Code::provider_failed, "a sandbox came without its stream");
  co_return std::move(*answer);
}

// A sandbox on files alone.
Task<std::unique_ptr<ContainerSandbox>> make_fresh(std::shared_ptr<Alive> alive, Spec spec) {
  Request request{.verb = Verb::create, .id = spec.id, .spec = spec};
  CO_TRY(BrokerClient::Answer answer, co_await ask_for(alive, std::move(request)));
  auto sandbox = take_in(*alive, std::move(spec), std::move(answer));
  CO_CHECK(co_await sandbox->state()->greet(kGreetPatience));
  co_return std::move(sandbox);
}

// One that goes on from a checkpoint's memory.
Task<std::unique_ptr<ContainerSandbox>> make_restored(std::shared_ptr<Alive> alive, Spec spec) {
  Request request{.verb = Verb::create, .id = spec.id, .memory = true, .spec = spec};
  CO_TRY(BrokerClient::Answer answer, co_await ask_for(alive, std::move(request)));
  auto notes = decode_notes(answer.reply.text);
  auto sandbox = take_in(*alive, std::move(spec), std::move(answer));
  if (!notes) co_return fail(std::move(notes).error());
  Carried carried;
  for (const SavedInterpreter& saved : notes->interpreters)
    if (!saved.is_warm) carried.interpreters.push_back(saved.info.id);
  const auto state = sandbox->state();
  state->made.saved = std::move(notes->interpreters);
  CO_CHECK(greet_restored(state->made.stream.get()));
  CO_CHECK(co_await state->greet(kGreetPatience));
  sandbox->set_revival(std::move(carried));
  co_return std::move(sandbox);
}

class GvisorProvider final : public Provider, public Pooled {
 public:
  GvisorProvider(boost::asio::any_io_executor executor, std::shared_ptr<BrokerClient> broker, Reply hello,
                 GvisorOptions options)
      : alive_(std::make_shared<Alive>(executor, std::move(broker), hello.text, std::move(options.alerts))),
        probed_(std::move(hello.isolation)),
        directory_(options.run_directory),
        ready_(options.ready),
        warm_(std::move(options.warm)) {
    alive_->adoptable = std::move(hello.names);
    alive_->broker->start();
  }
  ~GvisorProvider() override {
    alive_->closing = true;
    alive_->broker->close();
  }

  std::string_view name() const override { return "gvisor"; }
  const Traits& traits() const override { return kTraits; }
  Isolation probed() const override { return probed_; }
  std::string unavailable_because() const override {
    return alive_->broker->is_open() ? "" : "the broker of runsc has ended: start the service again";
  }
  const PoolUse& pool_use() const override { return alive_->use; }

  Task<std::unique_ptr<Sandbox>> create(Spec spec) override {
    const auto asked = std::chrono::steady_clock::now();
    const auto alive = alive_;
    CO_CHECK(check(spec));
    CO_CHECK(check_walls(spec));
    if (const auto before = alive->states.find(spec.id); before != alive->states.end())
      if (const auto state = before->second.lock(); state && !state->ended)
        co_return fail(Code::already_exists, "a sandbox of that id lives");
    if (auto pooled = from_pool(spec)) {
      alive->watcher.add(pooled->state());
      alive->use.add_hit(asked);
      co_return std::unique_ptr<Sandbox>(std::move(pooled));
    }
    CO_TRY(const os::Turn::Hold turn, co_await alive->makers.take());
    (void)turn;
    if (spec.snapshot && spec.with_interpreters) {
      auto restored = co_await make_restored(alive, spec);
      if (restored) {
        alive->use.add_miss(asked);
        alive->watcher.add((*restored)->state());
        co_return check_made(std::move(*restored), spec);
      }
      log::warn(subject_of(spec), "a sandbox could not be restored with its memory",
                {{"error", restored.error().message()}, {"detail", restored.error().detail()}});
    }
    const bool was_alive = spec.snapshot && spec.with_interpreters;
    CO_TRY(auto made, co_await make_fresh(alive, spec));
    alive->use.add_miss(asked);
    alive->watcher.add(made->state());
    if (was_alive) {
      Carried carried;
      carried.left_behind.emplace_back("everything in memory: it could not be restored");
      made->set_revival(std::move(carried));
    }
    co_return check_made(std::move(made), spec);
  }

  Task<std::vector<std::string>> adoptable() override { co_return alive_->adoptable; }
  Task<std::unique_ptr<Sandbox>> adopt(std::string id) override {
    const auto alive = alive_;
    Request request{.verb = Verb::adopt, .id = id};
    CO_TRY(BrokerClient::Answer answer, co_await ask_for(alive, std::move(request)));
    std::erase(alive->adoptable, id);
    Spec spec = answer.reply.spec;
    auto sandbox = take_in(*alive, std::move(spec), std::move(answer));
    const auto state = sandbox->state();
    if (!state->made.frozen) {
      CO_CHECK(co_await take_stream_over(state->made.stream.get()));
      CO_CHECK(co_await state->greet(kGreetPatience));
    }
    alive->watcher.add(state);
    co_return std::unique_ptr<Sandbox>(std::move(sandbox));
  }

  Task<void> discard_snapshot(std::string directory) override {
    Request request{.verb = Verb::discard, .path = std::move(directory)};
    CO_CHECK(co_await alive_->broker->call(std::move(request)));
    co_return Result<void>();
  }
  Task<std::uint64_t> snapshot_bytes(std::string directory) override {
    Request request{.verb = Verb::measure, .path = std::move(directory)};
    CO_TRY(const BrokerClient::Answer answer, co_await alive_->broker->call(std::move(request)));
    co_return answer.reply.number;
  }
  void discard_interpreters(const std::string& directory) override {
    alive_->broker->tell(Request{.verb = Verb::forget, .path = directory});
  }

  std::vector<PoolLevel> pools() const override {
    std::vector<PoolLevel> levels;
    for (const auto& pool : pools_)
      levels.push_back({pool->spec.environment, static_cast<std::uint32_t>(pool->ready.size()), ready_});
    return levels;
  }

  void abandon() override { alive_->broker->tell(Request{.verb = Verb::shut_down}); }
  Task<void> shut_down() override {
    const auto alive = alive_;
    alive->closing = true;
    for (const auto& pool : pools_) pool->ready.clear();
    Request request{.verb = Verb::shut_down};
    auto done = co_await alive->broker->call(std::move(request));
    for (auto& [id, weak] : std::exchange(alive->states, {}))
      if (const auto state = weak.lock()) state->has_ended("the provider shut down");
    alive->broker->close();
    if (!done) co_return fail(std::move(done).error());
    co_return Result<void>();
  }

 private:
  // What is there must be all that was asked for.
  static Result<std::unique_ptr<Sandbox>> check_made(std::unique_ptr<ContainerSandbox> sandbox,
                                                     const Spec& spec) {
    for (const std::string& name : spec.required_walls)
      if (!has_wall(sandbox->isolation(), name))
        return fail(Error(Code::unsupported, fmt::format("this machine could not give the wall '{}'", name))
                        .with_field("required_walls"));
    return std::unique_ptr<Sandbox>(std::move(sandbox));
  }

  std::unique_ptr<ContainerSandbox> from_pool(const Spec& spec) {
    if (ready_ == 0 || spec.snapshot || !spec.host_mounts.empty()) return nullptr;
    for (const auto& pool : pools_) {
      if (!serves(pool->spec, spec)) continue;
      while (!pool->ready.empty()) {
        auto sandbox = std::move(pool->ready.front());
        pool->ready.pop_front();
        if (!sandbox->state()->is_alive()) continue;
        for (const std::string& name : spec.required_walls)
          if (!has_wall(sandbox->isolation(), name)) return nullptr;
        refill(pool);
        static_cast<GvisorWalls&>(*sandbox->state()->walls).rename(spec.id);
        alive_->states.erase(sandbox->id());
        alive_->states[spec.id] = sandbox->state();
        sandbox->assign(spec);
        return sandbox;
      }
      refill(pool);
      return nullptr;
    }
    // The first of its kind: from now on others wait ready. The kind that was not asked for the longest goes.
    if (pools_.size() >= kKindsMax) drop_oldest();
    const auto pool = std::make_shared<Pool>();
    pool->spec = spec;
    pool->spec.env.clear(), pool->spec.session_id.clear(), pool->spec.tenant.clear();
    pools_.push_back(pool);
    refill(pool);
    return nullptr;
  }

  void drop_oldest() {
    const auto oldest = std::ranges::min_element(pools_, {}, [](const auto& pool) { return pool->asked; });
    (*oldest)->dropped = true;
    (*oldest)->ready.clear();
    if (!(*oldest)->checkpoint.empty())
      alive_->broker->tell(Request{.verb = Verb::discard, .path = (*oldest)->checkpoint});
    pools_.erase(oldest);
  }

  void refill(const std::shared_ptr<Pool>& pool) {
    pool->asked = std::chrono::steady_clock::now();
    if (pool->refilling || alive_->closing || pool->ready.size() >= ready_) return;
    pool->refilling = true;
    boost::asio::co_spawn(alive_->executor, fill(alive_, pool, directory_, ready_, warm_),
                          boost::asio::detached);
  }

  // The first one is started, its interpreters are warmed up, and all that follow are copies of it.
  static Task<std::unique_ptr<ContainerSandbox>> make_ready(std::shared_ptr<Alive> alive,
                                                            std::shared_ptr<Pool> pool, std::string directory,
                                                            std::vector<Language> warm) {
    Spec spec = pool->spec;
    spec.id = std::string(kPoolPrefix) + random_word(16);
    if (!pool->checkpoint.empty()) {
      spec.snapshot = pool->checkpoint;
      co_return co_await make_restored(alive, std::move(spec));
    }
    CO_TRY(auto sandbox, co_await make_fresh(alive, std::move(spec)));
    // An environment without the language has nothing to be warmed up.
    for (const Language language : warm)
      if (auto warmed = co_await sandbox->state()->connection->warm_up(language);
          !warmed && warmed.error().code() != Code::unsupported)
        co_return fail(std::move(warmed).error());
    const std::string target = directory + "/ready/" + random_word(16);
    auto saved = co_await sandbox->checkpoint(target, CheckpointOptions{});
    if (saved)
      pool->checkpoint = target;
    else
      log::warn("ready sandboxes of gvisor are made one by one: a checkpoint failed",
                {{"error", saved.error().message()}, {"detail", saved.error().detail()}});
    co_return std::move(sandbox);
  }

  static boost::asio::awaitable<void> fill(std::shared_ptr<Alive> alive, std::shared_ptr<Pool> pool,
                                           std::string directory, std::uint32_t ready,
                                           std::vector<Language> warm) {
    // Whoever waits for a sandbox of its own goes first.
    boost::asio::steady_timer moment(alive->executor, kFillDelay);
    boost::system::error_code ignored;
    co_await moment.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    while (!alive->closing && !pool->dropped && pool->ready.size() < ready) {
      auto sandbox = co_await make_ready(alive, pool, directory, warm);
      if (alive->closing || pool->dropped) break;
      if (!sandbox) {
        log::warn("a ready sandbox of gvisor could not be made",
                  {{"error", sandbox.error().message()}, {"detail", sandbox.error().detail()}});
        break;
      }
      pool->ready.push_back(std::move(*sandbox));
    }
    pool->refilling = false;
  }

  std::shared_ptr<Alive> alive_;
  Isolation probed_;
  std::string directory_;
  std::uint32_t ready_;
  std::vector<Language> warm_;
  std::vector<std::shared_ptr<Pool>> pools_;
};

}  // namespace

Result<Isolation> probe(const std::string& runsc) {
  const Runsc found = TRY(find_runsc(runsc));
  if (::geteuid() == 0) return probed(found, can_make_groups());
  // In a child, because whoever enters a namespace does not come back.
  os::SocketPair pair = TRY(os::socket_pair(os::SocketKind::packets));
  const pid_t child = os::fork_alone();
  if (child < 0) return fail(errno_error(errno, "start a process that tries namespaces"));
  if (child == 0) {
    Reply reply;
    if (auto entered = enter_namespace(); !entered)
      reply.error = std::move(entered).error();
    else
      reply.isolation = probed(found, can_make_groups());
    (void)os::send_message(pair.second.get(), encode(reply));
    ::_exit(0);
  }
  pair.second.reset();
  auto message = os::receive_message(pair.first.get());
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  const os::Message said = TRY(std::move(message));
  Reply reply = TRY(decode_reply(said.bytes));
  if (reply.error) return fail(std::move(*reply.error));
  return std::move(reply.isolation);
}

Result<std::unique_ptr<Provider>> start(boost::asio::any_io_executor executor, GvisorOptions options) {
  Runsc runsc = TRY(find_runsc(options.runsc));
  TRY(os::make_directories(options.run_directory + "/ready", 0700));
  options.roots.snapshots.push_back(options.run_directory + "/ready");
  const EngineOptions engine{.runsc = std::move(runsc),
                             .directory = options.run_directory,
                             .roots = options.roots,
                             .guest_program = guest::program()};
  std::shared_ptr<BrokerClient> broker;
  Result<BrokerClient::Answer> hello = fail(Code::not_found, "no broker yet");
  // One that turns us away has just lost its daemon or is just ending: ask again for a moment.
  for (int attempt = 0; attempt < 20 && !hello; ++attempt) {
    auto found = find_broker(options.run_directory);
    if (!found) break;
    broker = std::make_shared<BrokerClient>(executor, std::move(*found));
    hello = broker->call_now(Request{.verb = Verb::hello});
    if (!hello) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // One of another version: its sandboxes cannot be understood, so they end.
  if (hello && hello->reply.number != kBrokerVersion) {
    (void)broker->call_now(Request{.verb = Verb::shut_down});
    hello = fail(Code::not_found, "no broker yet");
  }
  if (!hello) {
    broker = std::make_shared<BrokerClient>(executor, TRY(start_broker(engine)));
    hello = broker->call_now(Request{.verb = Verb::hello});
  }
  if (!hello) return fail(std::move(hello).error());
  // Ready ones of an earlier daemon: nobody used them, and this one fills its own pools.
  std::erase_if(hello->reply.names, [&](const std::string& name) {
    if (!name.starts_with(kPoolPrefix)) return false;
    broker->tell(Request{.verb = Verb::destroy, .id = name});
    return true;
  });
  return std::make_unique<GvisorProvider>(std::move(executor), std::move(broker), std::move(hello->reply),
                                          std::move(options));
}

}  // namespace atl::sandbox::gvisor
