#include "api/mcp/background_commands.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/ids.h"

namespace atl::api::mcp {
namespace {

// Reads to the end, so that the command is never held back by a full buffer.
boost::asio::awaitable<void> drain(BackgroundCommandPtr command,
                                   std::unique_ptr<sandbox::ProcessStream> stream) {
  while (true) {
    auto event = co_await stream->next();
    if (!event) {
      sandbox::Outcome lost;
      lost.ending = sandbox::Ending::lost;
      lost.reason = event.error().message();
      command->finish(std::move(lost));
      co_return;
    }
    if (const auto* output = std::get_if<sandbox::Output>(&*event)) {
      command->append(output->bytes);
      continue;
    }
    command->finish(std::get<sandbox::Outcome>(std::move(*event)));
    co_return;
  }
}

}  // namespace

BackgroundCommand::BackgroundCommand(boost::asio::any_io_executor executor, const session::Session& session,
                                     std::shared_ptr<sandbox::Process> running, std::string text)
    : id("cmd_" + random_word(20)),
      tenant(session.tenant),
      session_id(session.session_id),
      sandbox_id(session.sandbox_id),
      environment(session.environment),
      line(std::move(text)),
      process(std::move(running)),
      changed_(std::move(executor)) {}

std::string_view BackgroundCommand::from(std::uint64_t offset, std::size_t most) const {
  if (offset < first_ || offset >= total()) return {};
  return std::string_view(kept_).substr(offset - first_, most);
}

void BackgroundCommand::append(std::string_view bytes) {
  kept_ += bytes;
  // In large steps: cutting off a little each time would copy everything each time.
  if (kept_.size() > 2 * kKeptBytes) {
    const std::size_t surplus = kept_.size() - kKeptBytes;
    kept_.erase(0, surplus);
    first_ += surplus;
  }
  changed_.ring();
}

void BackgroundCommand::finish(sandbox::Outcome how) {
  outcome = std::move(how);
  ended = std::chrono::steady_clock::now();
  changed_.ring();
}

boost::asio::awaitable<void> BackgroundCommand::wait(std::uint64_t offset, std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!outcome && total() <= offset) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) co_return;
    co_await changed_.wait(left);
  }
}

bool BackgroundCommand::is_open_to(const auth::Principal& who) const {
  if (who.tenant != tenant || !who.may(auth::Permission::execute)) return false;
  if (who.scopes == nullptr) return true;
  const auth::Scopes& scopes = *who.scopes;
  return (scopes.environment.empty() || scopes.environment == environment) &&
         (scopes.sessions.empty() || scopes.sessions.contains(session_id) ||
          scopes.sessions.contains(sandbox_id));
}

Result<void> BackgroundCommands::check_room(const std::string& tenant) {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(commands_, [&](const auto& entry) {
    return entry.second->outcome && now - entry.second->ended > kEndedKept;
  });
  std::size_t count = 0;
  const BackgroundCommand* oldest = nullptr;
  for (const auto& [id, one] : commands_) {
    if (one->tenant != tenant) continue;
    ++count;
    if (one->outcome && (oldest == nullptr || one->ended < oldest->ended)) oldest = one.get();
  }
  if (count < kTenantMax) return {};
  if (oldest == nullptr)
    return fail(Code::resource_exhausted,
                fmt::format("{} commands run in the background; stop one with command_stop", kTenantMax));
  const std::string id = oldest->id;
  commands_.erase(id);
  return {};
}

BackgroundCommandPtr BackgroundCommands::keep(const session::Session& session, session::Command command,
                                              std::string line) {
  auto kept = std::make_shared<BackgroundCommand>(executor_, session, command.process, std::move(line));
  commands_.emplace(kept->id, kept);
  boost::asio::co_spawn(executor_, drain(kept, std::move(command.stream)), boost::asio::detached);
  return kept;
}

Result<BackgroundCommandPtr> BackgroundCommands::find(const auth::Principal& who,
                                                      const std::string& id) const {
  const auto found = commands_.find(id);
  if (found == commands_.end() || !found->second->is_open_to(who))
    return fail(Error(Code::not_found,
                      "no command has this command_id: it ended long ago, or the service was started again; "
                      "run_command with 'ps' shows what runs")
                    .with_field("command_id"));
  return found->second;
}

}  // namespace atl::api::mcp
