#include "sandbox/e2b/remote_sandbox.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/json.h"
#include "base/log_subject.h"
#include "os/file.h"
#include "sandbox/e2b/remote_port.h"

namespace atl::sandbox::e2b {
namespace {

constexpr const char* kSnapshotFile = "/remote-snapshot.json";

boost::asio::awaitable<void> kill_or_log(std::shared_ptr<Account> account, std::string id,
                                         std::string tenant) {
  // Whoever dropped the sandbox does not wait; the provider's rounds find it if this fails.
  if (auto killed = co_await account->kill(id); !killed)
    log::warn(log::Subject{std::move(tenant), {}, {}}, "a remote sandbox could not be ended at once",
              {{"sandbox", id}, {"error", killed.error().message()}});
}

// Ports in the state LISTEN, of /proc/net/tcp and tcp6.
std::vector<std::uint16_t> listening_in(std::string_view table) {
  std::vector<std::uint16_t> ports;
  while (!table.empty()) {
    std::string line(table.substr(0, table.find('\n')));
    table.remove_prefix(std::min(table.size(), line.size() + 1));
    unsigned port = 0, state = 0;
    char address[64];
    if (std::sscanf(line.c_str(), " %*d: %63[0-9A-F]:%4x %*[0-9A-F]:%*4x %2x", address, &port, &state) != 3)
      continue;
    constexpr unsigned kListen = 0x0a;
    if (state == kListen && port > 0) ports.push_back(static_cast<std::uint16_t>(port));
  }
  std::ranges::sort(ports);
  const auto twice = std::ranges::unique(ports);
  ports.erase(twice.begin(), twice.end());
  return ports;
}

}  // namespace

const Traits& remote_traits() {
  static const Traits traits{.real_processes = true,
                             .pty = true,
                             .interpreters = true,
                             .ports = true,
                             .pause = true,
                             .snapshot = true,
                             .fork = true,
                             .watch = true,
                             .templates = true};
  return traits;
}

RemoteSandbox::RemoteSandbox(Parts parts) : parts_(std::move(parts)), files_(parts_.plane) {}

RemoteSandbox::~RemoteSandbox() {
  if (parts_.plane->has_ended() || parts_.plane->is_left()) return;
  lose_processes(Ending::killed, "its sandbox was ended");
  parts_.plane->set_ended("it was dropped");
  boost::asio::co_spawn(parts_.plane->executor(),
                        kill_or_log(parts_.account, parts_.plane->id(), parts_.tenant),
                        boost::asio::detached);
  parts_.on_end();
}

void RemoteSandbox::lose_processes(Ending ending, const std::string& reason) {
  for (const auto& process : processes_) process->lose(ending, reason);
  processes_.clear();
}

Task<std::shared_ptr<Process>> RemoteSandbox::start(ProcessSpec spec) {
  CO_CHECK(parts_.plane->check_running());
  if (spec.user.empty()) spec.user = parts_.user;
  if (spec.cwd.empty()) spec.cwd = parts_.working_directory;
  for (const auto& process : processes())
    if (!spec.tag.empty() && process->info().tag == spec.tag)
      co_return fail(
          Error(Code::already_exists, fmt::format("a process has the tag '{}'", spec.tag)).with_field("tag"));
  CO_TRY(auto process, co_await RemoteProcess::start(parts_.plane, std::move(spec)));
  processes_.push_back(process);
  co_return process;
}

std::vector<std::shared_ptr<Process>> RemoteSandbox::processes() {
  std::erase_if(processes_, [](const auto& process) { return process->has_ended(); });
  return {processes_.begin(), processes_.end()};
}

Task<std::shared_ptr<Interpreter>> RemoteSandbox::create_interpreter(Language language, std::string cwd) {
  CO_CHECK(parts_.plane->check_running());
  CO_TRY(auto made, co_await RemoteInterpreter::create(parts_.plane, language, std::move(cwd)));
  interpreters_.push_back(made);
  tell_interpreters();
  co_return made;
}

void RemoteSandbox::tell_interpreters() const {
  std::vector<InterpreterInfo> all;
  for (const auto& one : interpreters_) all.push_back(one->info());
  parts_.on_interpreters(all);
}

void RemoteSandbox::take_interpreters(const boost::json::array& kept) {
  for (const auto& entry : kept)
    if (entry.is_object())
      if (auto one = RemoteInterpreter::adopt(parts_.plane, entry.get_object()))
        interpreters_.push_back(std::move(one));
}

std::vector<std::shared_ptr<Interpreter>> RemoteSandbox::interpreters() {
  return {interpreters_.begin(), interpreters_.end()};
}

Task<void> RemoteSandbox::remove_interpreter(std::string id) {
  const auto found =
      std::ranges::find_if(interpreters_, [&](const auto& one) { return one->info().id == id; });
  if (found == interpreters_.end()) co_return fail(Code::not_found, fmt::format("no interpreter {}", id));
  const auto interpreter = *found;
  auto removed = co_await interpreter->remove();
  if (!removed && removed.error().code() != Code::not_found) co_return fail(std::move(removed).error());
  std::erase(interpreters_, interpreter);
  tell_interpreters();
  co_return Result<void>();
}

Task<std::unique_ptr<ByteStream>> RemoteSandbox::connect(std::uint16_t port) {
  return connect_port(parts_.plane, port);
}

Task<std::vector<std::uint16_t>> RemoteSandbox::listening_ports() {
  ProcessSpec spec;
  spec.argv = {"cat", "/proc/net/tcp", "/proc/net/tcp6"};
  spec.wall_time = std::chrono::seconds(10);
  spec.output_bytes = 4U << 20;
  CO_TRY(const auto process, co_await RemoteProcess::start(parts_.plane, std::move(spec)));
  const auto stream = process->attach(Replay::recent);
  std::string table;
  for (;;) {
    CO_TRY(ProcessEvent event, co_await stream->next());
    if (std::holds_alternative<Outcome>(event)) break;
    const auto& output = std::get<Output>(event);
    if (output.stream == Stream::out) table += output.bytes;
  }
  co_return listening_in(table);
}

void RemoteSandbox::set_time_left(std::chrono::milliseconds time) {
  parts_.on_time_left(time);
}

// By the agent's own measurements. Processor time is told as a percentage of the moment, so that what is
// given here is an estimate over the time since the last look.
Task<Usage> RemoteSandbox::usage() {
  const auto now = std::chrono::steady_clock::now();
  last_usage_.wall_time = std::chrono::duration_cast<std::chrono::microseconds>(now - began_);
  last_usage_.disk_limit_bytes = parts_.limits.disk_bytes;
  if (!parts_.plane->check_running()) co_return last_usage_;
  net::ClientRequest request{.method = "GET", .target = "/metrics"};
  CO_TRY(const net::ClientResponse answer, co_await parts_.plane->send(kAgentPort, std::move(request)));
  if (answer.status != 200) co_return fail(rpc_error(answer.status, answer.body));
  CO_TRY(const Object told, parse_answer(answer.body));
  const auto bytes = [&](std::string_view name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_in(told, name)));
  };
  last_usage_.memory_bytes = bytes("mem_used");
  last_usage_.memory_cache_bytes = bytes("mem_cache");
  last_usage_.memory_peak_bytes = std::max(last_usage_.memory_peak_bytes, last_usage_.memory_bytes);
  last_usage_.disk_bytes = bytes("disk_used");
  const double cores = std::clamp(number_in(told, "cpu_used_pct") / 100.0, 0.0, 1.0) *
                       std::max(1.0, number_in(told, "cpu_count"));
  const double seconds = std::chrono::duration<double>(now - usage_at_).count();
  last_usage_.cpu_time += std::chrono::microseconds(static_cast<std::int64_t>(cores * seconds * 1e6));
  usage_at_ = now;
  last_usage_.processes = static_cast<std::uint32_t>(processes().size());
  co_return last_usage_;
}

Task<void> RemoteSandbox::pause() {
  if (parts_.plane->is_paused()) co_return Result<void>();
  CO_CHECK(parts_.plane->check_running());
  // From now on nothing is sent inside; streams that break wait for the resume.
  parts_.plane->set_paused(true);
  auto paused = co_await parts_.account->pause(parts_.plane->id());
  if (!paused) parts_.plane->set_paused(false);
  co_return paused;
}

Task<void> RemoteSandbox::resume() {
  if (parts_.plane->has_ended())
    co_return fail(Code::unavailable, "the sandbox has ended: " + parts_.plane->why_ended());
  if (!parts_.plane->is_paused()) co_return Result<void>();
  auto access = co_await parts_.account->connect(parts_.plane->id(), parts_.lease());
  if (!access && access.error().code() == Code::not_found) parts_.plane->set_ended("it is gone remotely");
  if (!access) co_return fail(std::move(access).error());
  parts_.plane->set_access(std::move(*access));
  parts_.plane->set_paused(false);
  co_return Result<void>();
}

Task<void> RemoteSandbox::snapshot(std::string target) {
  CO_CHECK(parts_.plane->check_running());
  if (::mkdir(target.c_str(), 0700) != 0) co_return fail(errno_error(errno, "make the snapshot's directory"));
  auto taken = co_await parts_.account->snapshot(parts_.plane->id());
  if (taken) {
    const Object kept{{"snapshot_id", *taken}, {"tenant", parts_.tenant}};
    auto written = os::write_file_durably(target + kSnapshotFile, boost::json::serialize(kept), 0600);
    if (written) co_return Result<void>();
    // Without its name here nobody would ever remove it there.
    if (auto removed = co_await parts_.account->remove_snapshot(*taken); !removed)
      log::error(log::Subject{parts_.tenant, {}, {}}, "a remote snapshot is left behind",
                 {{"snapshot", *taken}, {"error", removed.error().message()}});
    co_return fail(std::move(written).error());
  }
  ::rmdir(target.c_str());
  co_return fail(std::move(taken).error());
}

Result<StoredSnapshot> read_snapshot(const std::string& directory) {
  auto text = os::read_file(directory + kSnapshotFile);
  if (!text) return fail(Code::not_found, "there is no remote snapshot");
  const Object kept = TRY(parse_answer(*text));
  StoredSnapshot stored{text_in(kept, "snapshot_id"), text_in(kept, "tenant")};
  if (stored.snapshot_id.empty()) return fail(Code::data_loss, "the name of a remote snapshot is lost");
  return stored;
}

// One that could not be ended is not ours any more either: the provider's rounds end what nobody knows.
Task<void> RemoteSandbox::stop() {
  if (parts_.plane->has_ended()) co_return Result<void>();
  auto killed = co_await parts_.account->kill(parts_.plane->id());
  if (parts_.plane->has_ended()) co_return Result<void>();
  parts_.plane->set_ended("it was stopped");
  lose_processes(Ending::killed, "its sandbox was stopped");
  parts_.on_end();
  co_return killed;
}

Task<std::string> RemoteSandbox::ended() {
  // Kept by itself: this sandbox may be destroyed while somebody waits.
  const auto plane = parts_.plane;
  while (!plane->has_ended()) CO_CHECK(co_await plane->changed().wait());
  co_return plane->why_ended();
}

Task<void> RemoteSandbox::find_what_runs() {
  if (parts_.plane->is_paused()) co_return Result<void>();
  std::string method = "process.Process/List", nobody;
  Object message;
  CO_TRY(const Object answer,
         co_await parts_.plane->call(std::move(method), std::move(message), std::move(nobody), Repeat::once));
  if (const auto* list = array_in(answer, "processes"))
    for (const auto& entry : *list)
      if (entry.is_object())
        if (auto process = RemoteProcess::adopt(parts_.plane, entry.get_object()))
          processes_.push_back(std::move(process));
  auto contexts = co_await RemoteInterpreter::list(parts_.plane);
  // A template without a code interpreter has none, which is no reason to lose the sandbox.
  if (contexts) interpreters_ = std::move(*contexts);
  co_return Result<void>();
}

}  // namespace atl::sandbox::e2b
