#include "api/rest/kept_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace atl::api::rest {
namespace {

// How far a program may be ahead of a client that is attached.
constexpr std::uint64_t kAhead = 128U << 10U;
constexpr std::size_t kPiece = 32U << 10U;

}  // namespace

KeptTerminal::KeptTerminal(boost::asio::any_io_executor executor, std::shared_ptr<sandbox::Process> process)
    : process_(std::move(process)), changed_(executor) {}

bool KeptTerminal::is_held_back() const {
  return std::ranges::any_of(readers_, [this](std::uint64_t at) { return end_ - at > kAhead; });
}

boost::asio::awaitable<void> KeptTerminal::read_from(std::unique_ptr<sandbox::ProcessStream> stream) {
  const auto self = shared_from_this();
  while (!outcome_) {
    while (is_held_back())
      if (auto waited = co_await changed_.wait(); !waited) co_return;
    auto event = co_await stream->next();
    if (!event) {
      outcome_.emplace(fail(std::move(event).error()));
    } else if (auto* outcome = std::get_if<sandbox::Outcome>(&*event)) {
      outcome_.emplace(std::move(*outcome));
    } else {
      const std::string& bytes = std::get<sandbox::Output>(*event).bytes;
      output_ += bytes;
      end_ += bytes.size();
      // Now and then, so that the string is not moved with every piece.
      if (output_.size() > 2 * kKept) output_.erase(0, output_.size() - kKept);
    }
    changed_.notify();
  }
}

Task<sandbox::Outcome> KeptTerminal::show_to(net::WebSocket& socket, std::uint64_t from) {
  const auto self = shared_from_this();
  const auto reader = readers_.insert(readers_.end(), std::min(from, end_));
  struct Leave {
    KeptTerminal& terminal;
    std::list<std::uint64_t>::iterator reader;
    ~Leave() {
      terminal.readers_.erase(reader);
      terminal.changed_.notify();
    }
  } const leave{*this, reader};
  while (true) {
    if (*reader < first()) {
      net::Message lost{false, fmt::format(R"({{"type":"lost","bytes":{}}})", first() - *reader)};
      *reader = first();
      CO_CHECK(co_await socket.send(std::move(lost)));
      continue;
    }
    if (*reader < end_) {
      net::Message message{true, output_.substr(static_cast<std::size_t>(*reader - first()), kPiece)};
      const std::size_t size = message.bytes.size();
      CO_CHECK(co_await socket.send(std::move(message)));
      *reader += size;
      changed_.notify();
      continue;
    }
    if (outcome_) co_return *outcome_;
    CO_CHECK(co_await changed_.wait());
  }
}

Result<void> KeptTerminals::admit(const std::string& tenant, const std::string& session_id) {
  std::size_t of_session = 0, of_tenant = 0;
  for (const auto& [key, kept] : *all_) {
    of_session += key.first == session_id ? 1 : 0;
    of_tenant += kept.tenant == tenant ? 1 : 0;
  }
  if (of_session >= kPerSession)
    return fail(Code::resource_exhausted,
                fmt::format("the session has {} terminals that are kept; end one first", kPerSession));
  if (of_tenant >= kPerTenant)
    return fail(Code::resource_exhausted,
                fmt::format("the tenant has {} terminals that are kept; end one first", kPerTenant));
  return {};
}

std::shared_ptr<KeptTerminal> KeptTerminals::add(const boost::asio::any_io_executor& executor,
                                                 const std::string& tenant, const std::string& session_id,
                                                 std::shared_ptr<sandbox::Process> process,
                                                 std::unique_ptr<sandbox::ProcessStream> stream) {
  const Key key{session_id, process->info().pid};
  auto terminal = std::make_shared<KeptTerminal>(executor, std::move(process));
  all_->insert_or_assign(key, Kept{tenant, terminal});
  boost::asio::co_spawn(executor, terminal->read_from(std::move(stream)),
                        [all = all_, key](std::exception_ptr) { all->erase(key); });
  return terminal;
}

std::shared_ptr<KeptTerminal> KeptTerminals::find(const std::string& session_id, std::uint32_t pid) const {
  const auto found = all_->find({session_id, pid});
  return found == all_->end() ? nullptr : found->second.terminal;
}

}  // namespace atl::api::rest
