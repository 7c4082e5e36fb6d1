#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json.hpp>
#include <csignal>
#include <optional>
#include <thread>

#include "base/ids.h"
#include "cli/commands/env.h"
#include "cli/progress.h"
#include "egress/host_addresses.h"
#include "egress/machine.h"
#include "layer/build.h"
#include "layer/merge.h"
#include "os/file.h"
#include "sandbox/native/native.h"
#include "sandbox/provider.h"

// `atoll env build`: the recipe's steps in sandboxes of this process.
namespace atl::cli {
namespace {

namespace asio = boost::asio;

constexpr std::uint64_t kStepMemory = 2ULL << 30;
constexpr std::uint64_t kStepDisk = 8ULL << 30;
constexpr std::chrono::hours kStepTime{2};
// Where a layer is emptied before it is kept (layer::tidy).
constexpr const char* kAuthoritiesFile = "/tmp/atoll-authorities.pem";
// What curl, git, Python's clients, pip, npm and Deno ask for the certificates that they trust.
constexpr const char* kAuthoritiesNames[] = {"SSL_CERT_FILE",      "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
                                             "REQUESTS_CA_BUNDLE", "PIP_CERT",       "NODE_EXTRA_CA_CERTS",
                                             "DENO_CERT"};

// One sandbox a step; the loop runs only while a step does.
class SandboxRunner final : public layer::StepRunner {
 public:
  // Who hears what programs write.
  using Heard = std::function<void(std::string_view)>;
  SandboxRunner(asio::io_context& loop, sandbox::Provider& provider, layer::Interrupt& interrupt,
                layer::Owners owners, std::int64_t epoch, const StepReach& reach, Heard heard)
      : loop_(loop),
        provider_(provider),
        interrupt_(interrupt),
        owners_(owners),
        epoch_(epoch),
        reach_(reach),
        heard_(std::move(heard)),
        machine_(loop.get_executor()) {}

  Result<void> run(const layer::Step& step, const std::vector<std::string>& layers,
                   layer::Draft& draft) override {
    const std::string changes = draft.room_path() + "/changes";
    Result<void> done = fail(Code::internal, "the step did not run");
    const auto body = [&]() -> asio::awaitable<void> {
      done = co_await in_sandbox(step, layers, changes);
      loop_.stop();
    };
    asio::co_spawn(loop_, body, asio::detached);
    loop_.restart();
    loop_.run();
    TRY(interrupt_.check());
    if (!done) return done;
    const os::Fd upper = TRY(os::open((changes + "/root").c_str(), O_RDONLY | O_DIRECTORY));
    return layer::merge(upper.get(), draft.tree(), layer::Below::something, owners_);
  }

 private:
  sandbox::Spec spec_for(const layer::Step& step, const std::vector<std::string>& layers) const {
    sandbox::Spec spec;
    spec.id = new_sandbox_id();
    spec.layers = layers;
    spec.user = "root";
    spec.working_directory = "/";
    spec.sudo = true;
    spec.network = step.network ? sandbox::Network::egress : sandbox::Network::none;
    spec.limits.memory_bytes = kStepMemory;
    spec.limits.disk_bytes = kStepDisk;
    spec.limits.inodes_max = 2'000'000;
    spec.limits.processes_max = 512;
    spec.limits.open_files_max = 4096;
    spec.limits.wall_time = kStepTime;
    spec.env = {{"SOURCE_DATE_EPOCH", std::to_string(epoch_)},
                {"DEBIAN_FRONTEND", "noninteractive"},
                {"HOME", "/root"},
                {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                {"LC_ALL", "C.UTF-8"}};
    if (step.network) {
      if (!reach_.authorities.empty())
        for (const char* name : kAuthoritiesNames) spec.env.insert_or_assign(name, kAuthoritiesFile);
      for (const auto& [name, value] : reach_.variables) spec.env.insert_or_assign(name, value);
    }
    return spec;
  }

  Task<void> in_sandbox(const layer::Step& step, const std::vector<std::string>& layers,
                        std::string changes) {
    CO_TRY(auto box, co_await provider_.create(spec_for(step, layers)));
    Result<void> done;
    if (step.network) done = co_await open_network(*box, step);
    if (done && step.network && !reach_.authorities.empty()) done = co_await put_authorities(*box);
    if (done) done = co_await run_script(*box, step.run);
    if (done) done = co_await box->snapshot(std::move(changes));
    auto stopped = co_await box->stop();
    if (done && !stopped) done = std::move(stopped);
    co_return done;
  }

  // What the recipe allows gets out, and what was refused is said where the script's own words are.
  Task<void> open_network(sandbox::Sandbox& box, const layer::Step& step) {
    // A recipe of the registry is the operator's: what it names is opened by that.
    CO_TRY(auto own, egress::HostAddresses::open());
    std::vector<std::string> allow = step.allow;
    allow.insert(allow.end(), reach_.allow.begin(), reach_.allow.end());
    CO_TRY(auto rules, egress::Rules::compile({.allow = std::move(allow), .deny = step.deny},
                                              egress::InternalAddresses::all_opened(std::move(own))));
    egress::Outside outside;
    outside.resolver = &machine_;
    outside.connector = &machine_;
    const auto observe = [this](const egress::Attempt& attempt) {
      if (attempt.allowed) return;
      const bool internal = attempt.reason == "internal address";
      heard_(fmt::format(
          "network: {}:{} refused: {}{}\n", attempt.host, attempt.port, attempt.reason,
          internal ? " (a mirror of this network? --allow ADDRESS opens it for this build)" : ""));
    };
    auto shared = std::make_shared<const egress::Rules>(std::move(rules));
    auto proxy = std::make_shared<egress::Proxy>(loop_.get_executor(), std::move(shared), outside, observe);
    co_return co_await box.open_network(std::move(proxy));
  }

  Task<void> put_authorities(sandbox::Sandbox& box) {
    sandbox::WriteOptions options;
    options.user = "root";
    std::string path = kAuthoritiesFile, bytes = reach_.authorities;
    CO_TRY(const auto file, co_await box.files().open_write(std::move(path), std::move(options)));
    CO_CHECK(co_await file->write(std::move(bytes)));
    CO_TRY(const sandbox::FileInfo written, co_await file->finish());
    (void)written;
    co_return Result<void>{};
  }

  Task<void> run_script(sandbox::Sandbox& box, const std::string& script) {
    sandbox::ProcessSpec command;
    command.argv = {"/bin/sh", "-e", "-c", script};
    command.wall_time = kStepTime;
    CO_TRY(auto process, co_await box.start(std::move(command)));
    interrupt_.on_raise([this, process] {
      asio::post(loop_, [this, process] { asio::co_spawn(loop_, process->signal(SIGKILL), asio::detached); });
    });
    auto outcome = co_await follow(*process);
    interrupt_.on_raise({});
    CO_CHECK(interrupt_.check());
    if (!outcome) co_return fail(std::move(outcome).error());
    if (exit_status(*outcome) != 0)
      co_return fail(Code::invalid_argument,
                     fmt::format("the script ended with {}{}", exit_status(*outcome),
                                 outcome->reason.empty() ? std::string() : " (" + outcome->reason + ")"));
    co_return Result<void>{};
  }

  Task<sandbox::Outcome> follow(sandbox::Process& process) {
    const auto stream = process.attach(sandbox::Replay::recent);
    for (;;) {
      CO_TRY(sandbox::ProcessEvent event, co_await stream->next());
      if (auto* outcome = std::get_if<sandbox::Outcome>(&event)) co_return std::move(*outcome);
      heard_(std::get<sandbox::Output>(event).bytes);
    }
  }

  asio::io_context& loop_;
  sandbox::Provider& provider_;
  layer::Interrupt& interrupt_;
  layer::Owners owners_;
  std::int64_t epoch_;
  const StepReach& reach_;
  Heard heard_;
  egress::Machine machine_;
};

// Ctrl-C and friends end the work, not the process: what is half-done is taken away on the way out.
class SignalWatch {
 public:
  explicit SignalWatch(layer::Interrupt& interrupt) : signals_(loop_, SIGINT, SIGTERM, SIGHUP) {
    signals_.async_wait([&interrupt](const boost::system::error_code& error, int) {
      if (!error) interrupt.raise();
    });
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~SignalWatch() {
    loop_.stop();
    thread_.join();
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  asio::io_context loop_;
  asio::signal_set signals_;
  std::thread thread_;
};

Result<layer::BuildResult> build_one(const EnvRoom& room, const layer::Recipe& recipe,
                                     layer::StepRunner& runner, layer::Interrupt& interrupt,
                                     layer::BuildOptions options, BuildProgress& progress) {
  options.progress = [&](const std::string& line) { progress.say(recipe.name + ": " + line); };
  const auto moved = [&](const layer::BuildPosition& at) { progress.moved(at); };
  return layer::build(*room.store, recipe, runner, interrupt, options, moved);
}

// What the recipe stands on, lowest first, itself last.
Result<std::vector<const layer::Recipe*>> order_of(const EnvRoom& room, const std::string& name) {
  std::vector<const layer::Recipe*> order;
  for (std::string next = name;;) {
    const registry::Environment* environment = room.registry->environment(next);
    if (environment == nullptr)
      return fail(Code::not_found, fmt::format("there is no environment '{}'", next));
    // An environment that was imported or built before can be the base.
    if (!order.empty() && room.store->stack(next)) break;
    // Another name for something that is built.
    if (!environment->recipe && !environment->stack.empty() && environment->stack != next) {
      next = environment->stack;
      continue;
    }
    if (!environment->recipe)
      return fail(Code::invalid_argument,
                  fmt::format("environment '{}' has no recipe (build: in {})", next, environment->where));
    if (std::ranges::find(order, &*environment->recipe) != order.end())
      return fail(Code::loop, fmt::format("the recipe of '{}' is built from itself", next));
    order.insert(order.begin(), &*environment->recipe);
    if (environment->recipe->from.empty()) break;
    next = environment->recipe->from;
  }
  return order;
}

}  // namespace

Result<void> build_environment(const SettingFlags& flags, const std::string& name,
                               const layer::BuildOptions& asked, const StepReach& reach, bool json) {
  const EnvRoom room = TRY(EnvRoom::open(flags));
  if (room.store->owners() != layer::Owners::kept)
    return fail(Code::permission_denied, "building needs root: the owners of files must be kept");
  const auto order = TRY(order_of(room, name));
  asio::io_context loop;
  sandbox::native::NativeOptions options;
  options.spawner.slots_ready = 0;
  options.spawner.image_directory = room.data + "/sandboxes";
  // Steps stand on layers of the store, and their changes are written beside the next one.
  options.spawner.roots.layers = options.spawner.roots.snapshots = {room.data + "/layers"};
  TRY(os::make_directories(options.spawner.image_directory, 0700));
  // Before the first thread: it forks.
  auto provider = TRY(sandbox::native::start(loop.get_executor(), std::move(options)));
  layer::Interrupt interrupt;
  Result<void> done;
  boost::json::array told;
  {
    const SignalWatch watch(interrupt);
    std::optional<BuildProgress> progress;
    SandboxRunner runner(loop, *provider, interrupt, room.store->owners(), asked.epoch, reach,
                         [&](std::string_view bytes) { progress->pass(bytes); });
    for (const layer::Recipe* recipe : order) {
      progress.emplace(recipe->name);
      auto built = build_one(room, *recipe, runner, interrupt, asked, *progress);
      progress.reset();
      if (!built) {
        done = fail(std::move(built).error());
        break;
      }
      if (json)
        told.push_back(boost::json::object{{"name", recipe->name},
                                           {"layers", built->stack.layers.size()},
                                           {"made", built->made},
                                           {"reused", built->reused}});
      else
        fmt::print("{}: {} layers, {} made, {} of earlier builds\n", recipe->name, built->stack.layers.size(),
                   built->made, built->reused);
    }
    const auto end = [&]() -> asio::awaitable<void> {
      (void)co_await provider->shut_down();
      loop.stop();
    };
    asio::co_spawn(loop, end, asio::detached);
    loop.restart();
    loop.run();
  }
  if (done && json)
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"built", std::move(told)}}));
  return done;
}

}  // namespace atl::cli
