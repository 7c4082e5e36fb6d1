#include "sandbox/gvisor/walls.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <cerrno>

#include "base/json.h"
#include "guest/protocol.h"
#include "os/file.h"
#include "sandbox/guest_interpreter.h"
#include "sandbox/proxy_endpoint.h"

namespace atl::sandbox::gvisor {
namespace {

namespace bj = boost::json;

constexpr std::chrono::seconds kTakeOverPatience{20};

}  // namespace

GvisorWalls::GvisorWalls(std::shared_ptr<BrokerClient> broker, std::string id, os::Fd upper,
                         const std::vector<std::string>& groups, std::string version)
    : broker_(std::move(broker)),
      id_(std::move(id)),
      upper_(std::move(upper)),
      groups_(container::GroupReader::of_paths(groups)),
      version_(std::move(version)) {}

Task<BrokerClient::Answer> GvisorWalls::ask(Verb verb, std::string path, std::string text) {
  Request request{.verb = verb, .id = id_, .path = std::move(path), .text = std::move(text)};
  return broker_->call(std::move(request));
}

void GvisorWalls::rename(std::string id) {
  broker_->tell(Request{.verb = Verb::rename, .id = id_, .text = id});
  id_ = std::move(id);
}

Task<void> GvisorWalls::freeze() {
  CO_CHECK(co_await ask(Verb::pause));
  cpu_when_paused_ = groups_.usage().cpu_time;
  co_return Result<void>();
}

Task<void> GvisorWalls::thaw() {
  const auto state = state_.lock();
  if (!state || state->connection) {
    CO_CHECK(co_await ask(Verb::resume));
    co_return Result<void>();
  }
  // It was paused when its daemon was replaced, so the guest learns only now that it has a new host.
  CO_CHECK(co_await ask(Verb::wake));
  co_return co_await take_stream_over(state->made.stream.get());
}

Task<void> GvisorWalls::snapshot(std::string target) {
  const auto state = state_.lock();
  const auto inside = state && !state->made.frozen ? state->connection : nullptr;
  // So that what programs have written is in the files, and not only in gVisor's memory.
  if (inside) CO_CHECK(co_await inside->hold());
  auto done = co_await ask(Verb::snapshot, std::move(target));
  if (inside) inside->release();
  if (!done) co_return fail(std::move(done).error());
  co_return Result<void>();
}

Task<Carried> GvisorWalls::checkpoint(std::string target, CheckpointOptions options) {
  const auto state = state_.lock();
  if (!state || !state->connection || state->made.frozen)
    co_return fail(Code::conflict, "the sandbox is paused: resume it first");
  const auto inside = state->connection;
  // It would end the sandbox in the attempt.
  if (version_.ends_with("ptrace")) {
    CO_TRY(auto ports, co_await inside->listening_ports());
    std::erase_if(ports, is_proxy_port);
    if (!ports.empty())
      co_return fail(
          Code::conflict,
          fmt::format("a server listens on port {}, which this runsc cannot save: end it, or name a "
                      "current runsc in provider.gvisor.runsc",
                      ports.front()));
  }
  const auto began = std::chrono::steady_clock::now();
  CO_CHECK(co_await inside->hold());
  Carried carried;
  CheckpointNotes notes{version_, inside->saved_interpreters()};
  for (const SavedInterpreter& saved : notes.interpreters)
    if (!saved.is_warm) carried.interpreters.push_back(saved.info.id);
  for (const auto& each : inside->interpreters())
    if (std::ranges::find(carried.interpreters, each->info().id) == carried.interpreters.end())
      carried.left_behind.push_back("the interpreter " + each->info().id + ", which executes something");
  if (options.strict && !carried.left_behind.empty()) {
    inside->release();
    co_return fail(Code::conflict, "it cannot be carried: " + carried.left_behind.front());
  }
  Request request{.verb = Verb::checkpoint, .id = id_, .path = std::move(target), .text = encode(notes)};
  request.memory = options.whole;
  auto done = co_await broker_->call(std::move(request));
  os::Fd stream;
  if (done && !done->fds.empty()) {
    stream = std::move(done->fds.front());
    groups_ = container::GroupReader::of_paths(done->reply.groups);
  }
  inside->release(std::move(stream));
  if (!done) co_return fail(std::move(done).error());
  carried.pause =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  co_return carried;
}

Task<void> GvisorWalls::destroy() {
  auto done = co_await ask(Verb::destroy);
  upper_.reset();
  // Ended by itself in the meantime: as good.
  if (!done && done.error().code() != Code::not_found) co_return fail(std::move(done).error());
  co_return Result<void>();
}

void GvisorWalls::destroy_later() {
  upper_.reset();
  broker_->tell(Request{.verb = Verb::destroy, .id = id_});
}

std::optional<std::chrono::microseconds> GvisorWalls::cpu_time() const {
  // gVisor's own kernel looks at its clock now and then, which nobody inside has caused.
  if (const auto state = state_.lock(); state && state->made.frozen && cpu_when_paused_)
    return cpu_when_paused_;
  return groups_.cpu_time();
}

Usage GvisorWalls::measured() const {
  Usage usage = groups_.usage();
  usage.cpu_time = cpu_time().value_or(usage.cpu_time);
  if (!upper_.is_open()) return usage;
  if (const auto space = os::filesystem_space(upper_.get())) {
    usage.disk_bytes = space->bytes_used;
    usage.inodes = space->inodes_used;
  }
  return usage;
}

std::string encode(const CheckpointNotes& notes) {
  bj::array interpreters;
  for (const SavedInterpreter& saved : notes.interpreters)
    interpreters.push_back(bj::object{{"channel", saved.channel},
                                      {"id", saved.info.id},
                                      {"language", to_string(saved.info.language)},
                                      {"cwd", saved.info.cwd},
                                      {"warm", saved.is_warm}});
  return bj::serialize(bj::object{{"runsc", notes.version}, {"interpreters", std::move(interpreters)}});
}

Result<CheckpointNotes> decode_notes(std::string_view text) {
  const bj::value value = TRY(json::parse(text));
  try {
    CheckpointNotes notes;
    notes.version = value.at("runsc").as_string();
    for (const bj::value& each : value.at("interpreters").as_array()) {
      const auto language = parse_language(std::string_view(each.at("language").as_string()));
      if (!language) continue;
      SavedInterpreter saved{.info = {std::string(each.at("id").as_string()), *language,
                                      std::string(each.at("cwd").as_string())}};
      saved.channel = each.at("channel").to_number<std::uint32_t>();
      saved.is_warm = each.at("warm").as_bool();
      notes.interpreters.push_back(std::move(saved));
    }
    return notes;
  } catch (const std::exception& error) {
    return fail(Error(Code::data_loss, "the notes of the checkpoint are damaged").with_detail(error.what()));
  }
}

Result<void> greet_restored(int stream) {
  const ssize_t sent = ::send(stream, guest::kAgainBytes, guest::kAgainSize, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(guest::kAgainSize))
    return fail(Code::provider_failed, "the sandbox is gone: its guest closed the stream");
  return {};
}

Task<void> take_stream_over(int stream) {
  const std::string_view last(guest::kAgainBytes, guest::kAgainSize);
  boost::asio::steady_timer moment(co_await boost::asio::this_coro::executor);
  const auto until = std::chrono::steady_clock::now() + kTakeOverPatience;
  std::string tail;
  std::array<char, 16384> buffer;
  while (!tail.ends_with(last)) {
    const ssize_t got = ::recv(stream, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      tail.append(buffer.data(), static_cast<std::size_t>(got));
      if (tail.size() > last.size()) tail.erase(0, tail.size() - last.size());
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
      co_return fail(Code::provider_failed, "the sandbox is gone: its guest closed the stream");
    if (std::chrono::steady_clock::now() > until)
      co_return fail(Code::provider_failed, "the guest did not answer in time");
    moment.expires_after(std::chrono::milliseconds(2));
    boost::system::error_code ignored;
    co_await moment.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  co_return greet_restored(stream);
}

}  // namespace atl::sandbox::gvisor
