#include "api/mcp/outbox.h"

namespace atl::api::mcp {

void Outbox::put(const bj::object& message) {
  if (closed_ || events_.size() >= kEventsMax) return;
  std::string text = bj::serialize(message);
  if (bytes_ + text.size() > kBytesMax) return;
  bytes_ += text.size();
  events_.push_back({next_++, std::move(text), false, 200});
  wake();
}

void Outbox::finish(const bj::object& message, int status) {
  if (closed_) return;
  events_.push_back({next_++, bj::serialize(message), true, status});
  bytes_ += events_.back().text.size();
  close();
}

void Outbox::close() {
  closed_ = true;
  wake();
}

boost::asio::awaitable<std::optional<Outbox::Event>> Outbox::take(std::uint64_t after,
                                                                  std::chrono::milliseconds time) {
  for (int round = 0; round < 2; ++round) {
    for (const Event& event : events_)
      if (event.number > after) co_return event;
    if (closed_ || sends_away_ || round == 1) break;
    co_await changed_.wait(time);
  }
  co_return std::nullopt;
}

void Outbox::forget(std::uint64_t up_to) {
  while (!events_.empty() && events_.front().number <= up_to) {
    bytes_ -= events_.front().text.size();
    events_.pop_front();
  }
}

}  // namespace atl::api::mcp
