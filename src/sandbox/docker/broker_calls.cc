// What the broker does for each verb.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/ids.h"
#include "base/json.h"
#include "base/log.h"
#include "guest/handover.h"
#include "os/file.h"
#include "sandbox/container/group_reader.h"
#include "sandbox/docker/archive.h"
#include "sandbox/docker/broker_state.h"
#include "sandbox/docker/json_access.h"
#include "sandbox/docker/relay.h"
#include "sandbox/docker/spec_note.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;
// How long an orderly end may wait for the engine.
constexpr std::chrono::seconds kShutDownTime{20};
// How long a container whose guest is gone may be something else than ended or removed.
constexpr std::chrono::milliseconds kEndTime{1500}, kEndInterval{100};
// How long a guest may take to its first word, and how often its container is looked at meanwhile.
constexpr std::chrono::seconds kMeetTime{10};
constexpr std::chrono::milliseconds kMeetInterval{200};

bj::array wall_array(const std::vector<Wall>& walls) {
  bj::array array;
  for (const Wall& wall : walls) array.push_back(bj::object{{"name", wall.name}, {"value", wall.value}});
  return array;
}

bj::value volume_config(const ContainerPlan& plan) {
  return bj::object{{"Name", plan.guest_volume},
                    {"Labels", bj::object{{kInstallationLabel, plan.installation}}}};
}

// Of the container that is never started and carries the guest's program into its volume.
bj::value carrier_config(const ContainerPlan& plan) {
  bj::object mount{{"Type", "volume"}, {"Source", plan.guest_volume}, {"Target", kGuestDirectory}};
  bj::object host{{"NetworkMode", "none"}, {"Mounts", bj::array{std::move(mount)}}};
  bj::object labels{{kInstallationLabel, plan.installation}, {kGenerationLabel, plan.generation}};
  return bj::object{{"Image", plan.image.id},
                    {"Entrypoint", bj::array{kGuestPath}},
                    {"Labels", std::move(labels)},
                    {"HostConfig", std::move(host)}};
}

std::uint32_t open_files_ceiling() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max > UINT32_MAX) return UINT32_MAX;
  return static_cast<std::uint32_t>(limit.rlim_max);
}

// Not over yet, or killed by somebody who may be about to remove it.
bool is_ending(const bj::value& inspected) {
  if (is_true_at(inspected, {"State", "OOMKilled"})) return false;
  return is_true_at(inspected, {"State", "Running"}) ||
         number_at(inspected, {"State", "ExitCode"}) == 128 + SIGKILL;
}

std::string guest_archive(std::string_view program) {
  const ArchivedFile file{"guest", program, 0555};
  return archive_of({&file, 1});
}

// Where the engine is on this machine: what the kernel says about the container's first process.
std::optional<KernelFacts> kernel_facts(const EngineAddress& engine, pid_t pid, const std::string& id) {
  if (!engine.is_local || pid <= 0) return std::nullopt;
  auto groups = container::GroupReader::of_process(pid, id);
  if (!groups) return std::nullopt;
  auto status = os::read_file(fmt::format("/proc/{}/status", pid));
  auto ids = os::read_file(fmt::format("/proc/{}/uid_map", pid));
  if (!status || !ids) return std::nullopt;
  return KernelFacts{std::move(*groups), std::move(*status), std::move(*ids)};
}

}  // namespace

Result<std::shared_ptr<BrokeredContainer>> Broker::find(const std::string& name) const {
  const auto found = containers_.find(name);
  if (found == containers_.end() || found->second->is_going)
    return fail(Code::not_found, "there is no container of that name");
  return found->second;
}

std::string Broker::name_of(const BrokeredContainer& container) const {
  for (const auto& [name, each] : containers_)
    if (each.get() == &container) return name;
  return "";
}

Task<Broker::Reply> Broker::hello() {
  bj::array names;
  for (const auto& [name, container] : containers_)
    if (!container->is_going) names.emplace_back(name);
  co_return Reply{{{"version", kBrokerVersion}, {"names", std::move(names)}}, {}};
}

Task<Broker::Reply> Broker::probe() {
  CO_TRY(const EngineFacts facts, co_await engine_.describe());
  engine_facts_ = facts;
  CO_CHECK(co_await sweep());
  co_await remove_strays();
  co_await settle_doubts();
  const Isolation isolation = isolation_of(facts);
  co_return Reply{{{"kind", facts.kind},
                   {"engine_version", facts.version},
                   {"api", facts.api},
                   {"walls", wall_array(isolation.walls)},
                   {"missing", wall_array(isolation.missing)}},
                  {}};
}

Task<void> Broker::sweep() {
  if (is_swept_) co_return Result<void>();
  const std::string filter =
      fmt::format("{{\"label\":[\"{}={}\"]}}", kInstallationLabel, options_.installation);
  CO_TRY(const bj::value listed,
         co_await engine_.get("/containers/json?all=1&filters=" + net::percent_encode(filter)));
  is_swept_ = true;
  if (!listed.is_array()) co_return Result<void>();
  for (const bj::value& each : listed.as_array()) {
    const std::string id = text_at(each, {"Id"});
    if (id.empty()) continue;
    const bool is_ours = text_at(each, {"Labels", kGenerationLabel}) == generation_;
    const bool is_known = std::ranges::any_of(
        containers_, [&](const auto& entry) { return entry.second->id.empty() || entry.second->id == id; });
    if (is_ours && is_known) continue;
    log::info("a container that an earlier service left is removed", {{"container", id.substr(0, 12)}});
    auto removed = co_await remove_container(id);
    if (!removed) log::warn("it could not be removed", {{"error", removed.error().message()}});
  }
  co_return Result<void>();
}

Task<void> Broker::know_engine() {
  if (engine_facts_) co_return Result<void>();
  CO_TRY(engine_facts_, co_await engine_.describe());
  co_return Result<void>();
}

// Docker takes the profile itself, Podman the path of a file on the engine's machine.
Task<std::string> Broker::seccomp_option() {
  if (!is_podman() || options_.seccomp_profile.empty()) co_return options_.seccomp_profile;
  if (!shares_files()) co_return std::string();
  const std::string path = options_.run_directory + "/seccomp.json";
  if (!os::exists(path)) CO_CHECK(os::write_file_durably(path, options_.seccomp_profile));
  co_return path;
}

// For engines that see our files one that is bound, for others a volume that is filled once.
Task<void> Broker::prepare_guest(ContainerPlan& plan) {
  const std::string digest = fmt::format("{:016x}", std::hash<std::string_view>()(options_.guest_program));
  if (shares_files()) {
    plan.guest_file = fmt::format("{}/guest-{}", options_.run_directory, digest);
    if (guest_is_there_ && os::exists(plan.guest_file)) co_return Result<void>();
    CO_CHECK(os::write_file_durably(plan.guest_file, options_.guest_program, 0555));
    guest_is_there_ = true;
    co_return Result<void>();
  }
  plan.guest_volume = "atoll-guest-" + digest;
  if (guest_is_there_) co_return Result<void>();
  bj::value volume = volume_config(plan);
  CO_TRY(auto made, co_await engine_.post("/volumes/create", std::move(volume)));
  bj::value carrier = carrier_config(plan);
  CO_TRY(made, co_await engine_.post("/containers/create", std::move(carrier)));
  const std::string id = text_at(made, {"Id"});
  auto filled = co_await engine_.put_archive(
      fmt::format("/containers/{}/archive?path={}", id, net::percent_encode(kGuestDirectory)),
      guest_archive(options_.guest_program));
  auto removed = co_await remove_container(id);
  CO_CHECK(std::move(filled));
  guest_is_there_ = true;
  co_return Result<void>();
}

Task<std::string> Broker::make_container(const ContainerPlan& plan, const std::string& name) {
  const std::string target = "/containers/create?name=atoll-" + name;
  bj::value config = container_config(plan);
  auto made = co_await engine_.post(target, std::move(config));
  if (!made && made.error().code() == Code::conflict)
    co_return fail(Code::already_exists, "a container of that name is there");
  if (!made) co_return fail(std::move(made).error());
  const std::string id = text_at(*made, {"Id"});
  if (id.empty()) co_return fail(Code::provider_failed, "the engine made a container without an id");
  co_return id;
}

Task<Broker::Reply> Broker::create(Object request) {
  const std::string name = text_in(request, "name");
  if (!is_word(name)) co_return fail(Error(Code::invalid_argument, "no name of a sandbox").with_field("id"));
  if (containers_.contains(name)) co_return fail(Code::already_exists, "a sandbox of that id lives");
  CO_CHECK(co_await sweep());
  ContainerPlan plan;
  const std::string stored = text_in(request, "snapshot");
  if (!stored.empty()) {
    CO_TRY(plan.image, co_await snapshot_image(stored));
  } else {
    CO_TRY(plan.image, co_await find_image(text_in(request, "image")));
  }
  plan.hostname = text_in(request, "hostname");
  plan.session = text_in(request, "session"), plan.sandbox = name;
  plan.installation = options_.installation, plan.generation = generation_;
  CO_CHECK(co_await know_engine());
  plan.is_rootless = engine_facts_->is_rootless, plan.engine_sets_limits = engine_facts_->sets_limits();
  CO_TRY(plan.seccomp_profile, co_await seccomp_option());
  if (const bj::value* limits = request.if_contains("limits")) plan.limits = limits_of(*limits);
  // No engine of this machine can raise what the machine allows to nobody.
  if (shares_files()) plan.limits.open_files_max = std::min(plan.limits.open_files_max, open_files_ceiling());
  if (auto prepared = co_await prepare_guest(plan); !prepared) {
    // The engine may have done what it did not answer.
    is_swept_ = false;
    co_return fail(std::move(prepared).error());
  }
  plan.with_user_task_limit = is_podman();
  plan.with_disk_limit = has_disk_limit_.value_or(true);
  auto container = std::make_shared<BrokeredContainer>();
  CO_CHECK(prepare_line(*container, plan, name));
  // The name is taken from here on.
  containers_[name] = container;
  auto id = co_await make_container(plan, name);
  if (!id && !has_disk_limit_ && id.error().code() == Code::provider_failed) {
    // Most storage drivers have no quotas and refuse every container that asks for one.
    const bool is_drivers = blames_storage(id.error());
    plan.with_disk_limit = false;
    id = co_await make_container(plan, name);
    // What was something else that passed says nothing about the next.
    if (id && is_drivers) has_disk_limit_ = false;
  } else if (id && !has_disk_limit_) {
    has_disk_limit_ = true;
  }
  if (!id) {
    containers_.erase(name);
    // It may be there although its id got lost.
    is_swept_ = false;
    co_return fail(std::move(id).error());
  }
  container->id = std::move(*id);
  if (container->is_going) {
    auto removed = co_await remove_container(container->id);
    containers_.erase(name);
    co_return fail(Code::unavailable, "the sandbox was ended while it was made");
  }
  container->session = plan.session;
  if (const bj::value* note = request.if_contains("note")) container->note = *note;
  auto started = co_await start_container(container, plan);
  os::Fd stream;
  if (started) {
    auto opened = container->line->open();
    if (opened)
      stream = std::move(*opened);
    else
      started = fail(std::move(opened).error());
  }
  if (!started) {
    auto removed = co_await destroy(name);
    if (started.error().code() != Code::unsupported || plan.host_file.empty())
      co_return fail(std::move(started).error());
    // From now on over the standard streams, which every engine has.
    meets_guests_ = false;
    co_return co_await create(std::move(request));
  }
  co_return Reply{container->facts, std::move(stream)};
}

Result<void> Broker::prepare_line(BrokeredContainer& container, ContainerPlan& plan,
                                  const std::string& name) {
  if (!shares_files() || !meets_guests_) return {};
  const std::string directory = options_.run_directory + "/hosts";
  container.line = TRY(Handover::listen(loop_.get_executor(), directory, name));
  plan.host_file = directory + "/" + name;
  return {};
}

Task<void> Broker::start_attached(std::shared_ptr<BrokeredContainer> container) {
  const std::string start = fmt::format("/containers/{}/start", container->id);
  // Podman attaches to running containers only; what the guest said until then is lost, so it is asked again.
  const bool starts_first = is_podman();
  if (starts_first) CO_CHECK(co_await engine_.post(start));
  CO_TRY(auto attached, co_await engine_.attach(container->id));
  container->line =
      std::make_shared<Relay>(loop_.get_executor(), std::move(attached),
                              starts_first ? Relay::Guest::has_spoken : Relay::Guest::is_silent);
  if (!starts_first) CO_CHECK(co_await engine_.post(start));
  co_return Result<void>();
}

Task<void> Broker::meet_guest(std::shared_ptr<BrokeredContainer> container, pid_t guest) {
  const auto handover = std::static_pointer_cast<Handover>(container->line);
  const auto until = std::chrono::steady_clock::now() + kMeetTime;
  while (std::chrono::steady_clock::now() < until) {
    auto met = co_await handover->accept(guest, kMeetInterval);
    if (met || met.error().code() != Code::deadline_exceeded) co_return met;
    CO_TRY(const bj::value now, co_await engine_.get(fmt::format("/containers/{}/json", container->id)));
    if (is_true_at(now, {"State", "Running"})) continue;
    const std::int64_t code = number_at(now, {"State", "ExitCode"});
    if (code == guest::kNobodyThere)
      co_return fail(Code::unsupported, "containers of this engine reach no socket of the machine");
    co_return fail(Code::provider_failed, fmt::format("the container ended at once, with {}", code));
  }
  // Of another process namespace, perhaps, where it is not the process that the engine says.
  co_return fail(Code::unsupported, "the guest did not come");
}

Task<void> Broker::start_container(std::shared_ptr<BrokeredContainer> container, const ContainerPlan& plan) {
  const bool meets = !plan.host_file.empty();
  if (meets) {
    CO_CHECK(co_await engine_.post(fmt::format("/containers/{}/start", container->id)));
  } else {
    CO_CHECK(co_await start_attached(container));
  }
  CO_TRY(const bj::value inspected, co_await engine_.get(fmt::format("/containers/{}/json", container->id)));
  const auto pid = static_cast<pid_t>(number_at(inspected, {"State", "Pid"}));
  if (meets) CO_CHECK(co_await meet_guest(container, pid));
  const auto kernel = kernel_facts(options_.engine, pid, container->id);
  CO_TRY(const Isolation isolation, read_back(plan, inspected, kernel));
  container->pid = kernel ? pid : 0;
  Object& facts = container->facts;
  facts["walls"] = wall_array(isolation.walls);
  facts["missing"] = wall_array(isolation.missing);
  bj::array groups;
  if (kernel)
    for (const std::string& path : kernel->groups.paths()) groups.emplace_back(path);
  facts["groups"] = std::move(groups);
  facts["user"] = plan.image.user;
  facts["working_directory"] = plan.image.working_directory;
  bj::array env;
  for (const std::string& each : plan.image.env) env.emplace_back(each);
  facts["env"] = std::move(env);
  container->line->start([this, weak = std::weak_ptr(container)](std::string why) {
    if (const auto ended = weak.lock(); ended && !ended->is_going)
      boost::asio::co_spawn(loop_, explain_end(ended, std::move(why)), boost::asio::detached);
  });
  co_return Result<void>();
}

// Says why a container ended before its stream does, then clears up behind it.
boost::asio::awaitable<void> Broker::explain_end(std::shared_ptr<BrokeredContainer> container,
                                                 std::string why) {
  const std::string target = fmt::format("/containers/{}/json", container->id);
  auto inspected = co_await engine_.get(target);
  // Its guest ends first; and somebody who killed it did so perhaps in order to remove it. Both take the
  // engine a moment.
  boost::asio::steady_timer moment(loop_);
  const auto until = std::chrono::steady_clock::now() + kEndTime;
  while (inspected && is_ending(*inspected) && std::chrono::steady_clock::now() < until) {
    moment.expires_after(kEndInterval);
    co_await moment.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    inspected = co_await engine_.get(target);
  }
  if (inspected) {
    const std::int64_t code = number_at(*inspected, {"State", "ExitCode"});
    if (is_true_at(*inspected, {"State", "OOMKilled"}))
      why = "the container ran out of memory";
    else if (text_at(*inspected, {"State", "Status"}) != "running")
      why = fmt::format("the container ended with {}", code);
  } else if (inspected.error().code() == Code::not_found) {
    why = "somebody removed the container";
  } else {
    why = "the container engine went away";
  }
  const std::string name = name_of(*container);
  if (name.empty() || container->is_going) co_return;
  tell({{"verb", "ended"}, {"name", name}, {"why", why}});
  container->line->close();
  auto removed = co_await destroy(name);
  if (!removed) log::warn("a container could not be removed", {{"error", removed.error().message()}});
}

Task<Broker::Reply> Broker::adopt(std::string name) {
  CO_TRY(const auto container, find(name));
  CO_TRY(os::Fd stream, container->line->open());
  Object facts = container->facts;
  facts["note"] = container->note;
  facts["frozen"] = container->is_frozen;
  co_return Reply{std::move(facts), std::move(stream)};
}

Task<Broker::Reply> Broker::assign(const Object& request) {
  const std::string name = text_in(request, "name"), to = text_in(request, "to");
  CO_TRY(const auto container, find(name));
  if (!is_word(to) || (to != name && containers_.contains(to)))
    co_return fail(Code::already_exists, "a sandbox of that id lives");
  if (const bj::value* note = request.if_contains("note")) container->note = *note;
  containers_.erase(name);
  containers_[to] = container;
  co_return Reply{};
}

Task<bool> Broker::look_frozen(std::shared_ptr<BrokeredContainer> container) {
  CO_TRY(const bj::value inspected, co_await engine_.get(fmt::format("/containers/{}/json", container->id)));
  co_return is_true_at(inspected, {"State", "Paused"});
}

Task<Broker::Reply> Broker::freeze(std::string name, bool frozen) {
  CO_TRY(const auto container, find(name));
  if (container->is_doubtful) {
    CO_TRY(container->is_frozen, co_await look_frozen(container));
    container->is_doubtful = false;
  }
  if (container->is_frozen == frozen) co_return Reply{};
  auto answered =
      co_await engine_.post(fmt::format("/containers/{}/{}", container->id, frozen ? "pause" : "unpause"));
  if (!answered) {
    // The engine may have done what it did not answer.
    auto seen = co_await look_frozen(container);
    container->is_doubtful = !seen;
    if (!seen || *seen != frozen) co_return fail(std::move(answered).error());
  }
  container->is_frozen = frozen;
  co_return Reply{};
}

// Whoever asked was told that it failed, and goes by that.
boost::asio::awaitable<void> Broker::settle_doubts() {
  std::vector<std::shared_ptr<BrokeredContainer>> doubtful;
  for (const auto& [name, container] : containers_)
    if (container->is_doubtful && !container->is_going) doubtful.push_back(container);
  for (const auto& container : doubtful) {
    const auto seen = co_await look_frozen(container);
    if (!seen || !container->is_doubtful) continue;
    const char* verb = container->is_frozen ? "pause" : "unpause";
    if (*seen != container->is_frozen &&
        !co_await engine_.post(fmt::format("/containers/{}/{}", container->id, verb)))
      continue;
    container->is_doubtful = false;
  }
}

Task<void> Broker::remove_container(std::string id) {
  auto removed = co_await engine_.remove(fmt::format("/containers/{}?force=1&v=1", id));
  // Gone, or somebody else removes it at this moment: as good.
  if (removed || removed.error().code() == Code::not_found || removed.error().code() == Code::conflict)
    co_return Result<void>();
  co_return fail(std::move(removed).error());
}

Task<Broker::Reply> Broker::destroy(std::string name) {
  CO_TRY(const auto container, find(name));
  container->is_going = true;
  if (container->line) container->line->close();
  // Still being made: whoever makes it removes it.
  if (container->id.empty()) co_return Reply{};
  auto removed = co_await remove_container(container->id);
  // It is looked for again as soon as the engine answers.
  if (!removed) is_swept_ = false;
  std::erase_if(containers_, [&](const auto& entry) { return entry.second == container; });
  CO_CHECK(std::move(removed));
  co_return Reply{};
}

Task<Broker::Reply> Broker::measure(std::string name) {
  CO_TRY(const auto container, find(name));
  CO_TRY(const bj::value inspected,
         co_await engine_.get(fmt::format("/containers/{}/json?size=1", container->id)));
  Object numbers{{"disk_bytes", number_at(inspected, {"SizeRw"})}};
  if (container->pid == 0) {
    CO_TRY(const bj::value stats,
           co_await engine_.get(fmt::format("/containers/{}/stats?stream=0&one-shot=1", container->id)));
    numbers["cpu_us"] = number_at(stats, {"cpu_stats", "cpu_usage", "total_usage"}) / 1000;
    numbers["memory_bytes"] = number_at(stats, {"memory_stats", "usage"});
    numbers["memory_peak_bytes"] = number_at(stats, {"memory_stats", "max_usage"});
    numbers["processes"] = number_at(stats, {"pids_stats", "current"});
  }
  co_return Reply{std::move(numbers), {}};
}

Task<Broker::Reply> Broker::shut_down() {
  std::vector<std::string> names;
  for (const auto& [name, container] : containers_) names.push_back(name);
  // Together: the engine takes some tenths of a second for each.
  for (const std::string& name : names) boost::asio::co_spawn(loop_, destroy(name), boost::asio::detached);
  // Also for those that are being removed already, or being made at this moment.
  boost::asio::steady_timer moment(loop_);
  const auto until = std::chrono::steady_clock::now() + kShutDownTime;
  while (!containers_.empty() && std::chrono::steady_clock::now() < until) {
    moment.expires_after(std::chrono::milliseconds(10));
    co_await moment.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
  if (!containers_.empty())
    co_return fail(Code::unavailable, "the engine did not remove every container in time");
  CO_CHECK(co_await sweep());
  co_return Reply{};
}

}  // namespace atl::sandbox::docker
