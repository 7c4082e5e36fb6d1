#include "sandbox/container/container_sandbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "sandbox/proxy_endpoint.h"

namespace atl::sandbox::container {
namespace {

// How often the number of processes is looked at while something runs.
constexpr std::chrono::milliseconds kLookInterval{100};
// After an execution, until the engine is asked how full the disk is.
constexpr std::chrono::milliseconds kMeasureDelay{500};
// A guest that had stood still while its daemon was replaced.
constexpr std::chrono::seconds kWakePatience{10};

Error over(const std::string& why) {
  return Error(Code::unavailable, "the sandbox has ended: " + why);
}

}  // namespace

Task<Carried> Walls::checkpoint(std::string, CheckpointOptions) {
  co_return fail(Code::unsupported, "the provider lacks the trait 'live_fork'");
}

Task<std::string> Walls::explain(std::string reason) {
  co_return reason;
}

Task<void> Walls::measure() {
  co_return Result<void>();
}

ContainerState::ContainerState(boost::asio::any_io_executor executor, std::unique_ptr<Walls> walls_,
                               Made made_)
    : walls(std::move(walls_)),
      made(std::move(made_)),
      changed(executor),
      executor_(executor),
      looking_(executor) {
  // Until it is opened.
  say_network(made.isolation, Network::none);
}

Task<void> ContainerState::greet(std::chrono::milliseconds patience) {
  GuestOptions options;
  options.user = made.spec.user;
  options.working_directory = made.spec.working_directory;
  options.env = made.spec.env;
  options.memory_bytes = made.spec.limits.memory_bytes;
  options.patience = patience;
  options.saved = made.saved;
  options.outcome_filter = [weak = weak_from_this()](const ProcessInfo& info, Outcome& outcome) {
    if (const auto self = weak.lock()) self->complete_outcome(info, outcome);
  };
  options.on_activity = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->begin_looking();
  };
  outcomes_.start(walls->oom_kills());
  CO_TRY(connection, co_await GuestConnection::open(std::move(made.stream), std::move(options)));
  boost::asio::co_spawn(executor_, follow(), boost::asio::detached);
  begin_measuring();
  co_return Result<void>();
}

// The end of the stream is the end of the sandbox.
boost::asio::awaitable<void> ContainerState::follow() {
  const auto self = shared_from_this();
  const auto inside = connection;
  auto why = co_await inside->ended();
  if (self->connection != inside || self->ended) co_return;
  std::string reason = why ? *why : why.error().message();
  auto explained = co_await self->walls->explain(reason);
  if (self->ended) co_return;
  self->has_ended(explained ? std::move(*explained) : std::move(reason));
  self->walls->destroy_later();
}

Usage ContainerState::usage() const {
  Usage usage = walls->measured();
  usage.processes = held_processes();
  usage.processes_peak = processes_peak_;
  usage.wall_time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  usage.disk_limit_bytes = made.spec.limits.disk_bytes;
  return usage;
}

std::uint32_t ContainerState::held_processes() const {
  const std::optional<std::uint32_t> counted = walls->process_count();
  if (!counted) return 0;
  const std::uint32_t held = workload_processes(*counted, connection.get());
  processes_peak_ = std::max(processes_peak_, held);
  return held;
}

void ContainerState::complete_outcome(const ProcessInfo&, Outcome& outcome) {
  outcomes_.complete(outcome, walls->oom_kills(), made.spec.limits.memory_bytes, usage());
  begin_measuring();
}

void ContainerState::begin_measuring() {
  if (std::exchange(is_measuring_, true)) return;
  boost::asio::co_spawn(executor_, measure_later(weak_from_this(), executor_), boost::asio::detached);
}

boost::asio::awaitable<void> ContainerState::measure_later(std::weak_ptr<ContainerState> weak,
                                                           boost::asio::any_io_executor executor) {
  boost::asio::steady_timer quiet(executor, kMeasureDelay);
  boost::system::error_code ignored;
  co_await quiet.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  const auto self = weak.lock();
  if (!self) co_return;
  if (!self->ended) (void)co_await self->walls->measure();
  self->is_measuring_ = false;
}

void ContainerState::begin_looking() {
  if (is_looking_ || ended) return;
  is_looking_ = true;
  look();
}

void ContainerState::look() {
  looking_.expires_after(kLookInterval);
  looking_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (!self || error) return;
    const std::uint32_t allowed = self->made.spec.limits.processes_max, held = self->held_processes();
    if (held > allowed && self->connection)
      self->connection->end_executions(Ending::too_many_processes,
                                       fmt::format("{} processes; {} are allowed", held, allowed));
    self->is_looking_ = !self->ended && self->is_executing();
    if (self->is_looking_) self->look();
  });
}

void ContainerState::has_ended(std::string why) {
  if (ended) return;
  ended = std::move(why);
  looking_.cancel();
  if (connection) connection->close(over(*ended));
  made.stream.reset();
  changed.notify();
}

ContainerSandbox::ContainerSandbox(std::shared_ptr<ContainerState> state, const Traits& traits)
    : state_(std::move(state)), traits_(traits) {}

ContainerSandbox::~ContainerSandbox() {
  if (state_->ended) return;
  state_->has_ended("its handle was given up");
  state_->walls->destroy_later();
}

void ContainerSandbox::assign(Spec spec) {
  if (state_->connection) state_->connection->set_defaults(spec.user, spec.working_directory, spec.env);
  state_->made.spec = std::move(spec);
}

void ContainerSandbox::add_variables(const Variables& variables) {
  if (state_->connection) state_->connection->add_variables(variables);
}

Result<void> ContainerSandbox::check_alive() const {
  if (state_->ended) return fail(over(*state_->ended));
  return {};
}

Result<void> ContainerSandbox::check_running() const {
  TRY(check_alive());
  if (state_->made.frozen || !state_->connection) return fail(Code::conflict, "the sandbox is paused");
  return {};
}

Task<std::shared_ptr<Process>> ContainerSandbox::start(ProcessSpec spec) {
  const auto state = state_;
  CO_CHECK(check_running());
  if (spec.user == "user" && !state->made.own_user.empty()) spec.user = state->made.own_user;
  co_return co_await state->connection->start(std::move(spec));
}

std::vector<std::shared_ptr<Process>> ContainerSandbox::processes() {
  if (!state_->connection) return {};
  return state_->connection->processes();
}

Files& ContainerSandbox::files() {
  return state_->connection->files();
}

Task<std::shared_ptr<Interpreter>> ContainerSandbox::create_interpreter(Language language, std::string cwd) {
  const auto state = state_;
  CO_CHECK(check_running());
  co_return co_await state->connection->create_interpreter(language, std::move(cwd));
}

std::vector<std::shared_ptr<Interpreter>> ContainerSandbox::interpreters() {
  if (!state_->connection) return {};
  return state_->connection->interpreters();
}

Task<void> ContainerSandbox::remove_interpreter(std::string id) {
  const auto state = state_;
  CO_CHECK(check_running());
  co_return co_await state->connection->remove_interpreter(std::move(id));
}

Task<std::unique_ptr<ByteStream>> ContainerSandbox::connect(std::uint16_t port) {
  const auto state = state_;
  CO_CHECK(check_port(state->made.spec.network, port));
  CO_CHECK(check_running());
  co_return co_await state->connection->connect(port);
}

Task<std::vector<std::uint16_t>> ContainerSandbox::listening_ports() {
  const auto state = state_;
  CO_CHECK(check_running());
  CO_TRY(auto ports, co_await state->connection->listening_ports());
  hide_proxy_ports(state->made.spec.network, ports);
  co_return ports;
}

Task<void> ContainerSandbox::open_network(std::shared_ptr<egress::Proxy> proxy) {
  const auto state = state_;
  CO_CHECK(check_running());
  CO_CHECK(co_await open_proxy_endpoint(state->connection, std::move(proxy)));
  state->made.spec.network = Network::egress;
  say_network(state->made.isolation, Network::egress);
  co_return Result<void>();
}

Task<void> ContainerSandbox::trust(std::string certificate) {
  const auto state = state_;
  CO_CHECK(check_running());
  co_return co_await trust_authority(state->connection, std::move(certificate), state->made.trust_directory);
}

Task<Usage> ContainerSandbox::usage() {
  const auto state = state_;
  CO_CHECK(check_alive());
  CO_CHECK(co_await state->walls->measure());
  co_return state->usage();
}

Task<std::chrono::microseconds> ContainerSandbox::cpu_time() {
  const auto state = state_;
  CO_CHECK(check_alive());
  if (const auto known = state->walls->cpu_time()) co_return *known;
  CO_CHECK(co_await state->walls->measure());
  co_return state->walls->measured().cpu_time;
}

std::optional<Usage> ContainerSandbox::usage_now() {
  if (state_->ended || !state_->walls->cpu_time()) return std::nullopt;
  state_->begin_measuring();
  return state_->usage();
}

Task<void> ContainerSandbox::pause() {
  const auto state = state_;
  CO_CHECK(check_alive());
  if (state->made.frozen) co_return Result<void>();
  if (state->connection) state->connection->set_paused(true);
  auto done = co_await state->walls->freeze();
  state->made.frozen = done.has_value();
  if (state->connection && done) state->connection->fail_waiting();
  if (state->connection && !done) state->connection->set_paused(false);
  co_return done;
}

Task<void> ContainerSandbox::resume() {
  const auto state = state_;
  CO_CHECK(check_alive());
  if (!state->made.frozen) co_return Result<void>();
  CO_CHECK(co_await state->walls->thaw());
  state->made.frozen = false;
  if (state->connection) {
    state->connection->set_paused(false);
    co_return Result<void>();
  }
  // It was taken back while it was paused, so its guest greets only now. One that does not is of no use.
  if (auto greeted = co_await state->greet(kWakePatience); !greeted) {
    auto stopped = co_await stop();
    co_return fail(Code::unavailable, "its guest did not answer after the service was started again: " +
                                          greeted.error().message());
  }
  co_return Result<void>();
}

Task<void> ContainerSandbox::snapshot(std::string target) {
  const auto state = state_;
  CO_CHECK(check_alive());
  co_return co_await state->walls->snapshot(std::move(target));
}

Task<Carried> ContainerSandbox::checkpoint(std::string target, CheckpointOptions options) {
  const auto state = state_;
  CO_CHECK(check_alive());
  co_return co_await state->walls->checkpoint(std::move(target), options);
}

Task<void> ContainerSandbox::stop() {
  const auto state = state_;
  if (state->ended) co_return Result<void>();
  state->has_ended("stopped");
  co_return co_await state->walls->destroy();
}

Task<std::string> ContainerSandbox::ended() {
  const auto state = state_;
  while (!state->ended) CO_CHECK(co_await state->changed.wait());
  co_return *state->ended;
}

}  // namespace atl::sandbox::container
