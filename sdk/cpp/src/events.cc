#include "events.h"

#include <fmt/format.h>

namespace atl::client::detail {
std::optional<StreamEvent> EventReader::event_of(std::string_view block) {
  StreamEvent event{.id = {}, .name = "message", .data = {}};
  bool found = false;
  while (!block.empty()) {
    std::string_view line = block.substr(0, block.find('\n'));
    block.remove_prefix(std::min(block.size(), line.size() + 1));
    std::size_t colon = line.find(':');
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    std::string_view field = line.substr(0, colon);
    if (field == "id") last_id_ = value;
    if (field == "event") event.name = value;
    if (field != "data") continue;
    if (std::exchange(found, true)) event.data += '\n';
    event.data += value;
  }
  if (!found) return std::nullopt;
  event.id = last_id_;
  return event;
}

Event read_event(const StreamEvent& event) {
  Event read{event.name, {}};
  try {
    read.data = Json::parse(event.data);
  } catch (const JsonError& error) {
    throw ProtocolError(fmt::format("the event '{}' holds no JSON: {}", event.name, error.message()));
  }
  if (!read.data.is_object()) throw ProtocolError(fmt::format("the event '{}' holds no object", event.name));
  return read;
}

void EventReader::feed(std::string_view bytes) {
  // What was looked at before holds no end, except that an end may be cut in two.
  std::size_t from = left_.empty() ? 0 : left_.size() - 1;
  left_ += bytes;
  if (left_.size() > bytes_max_)
    throw ProtocolError(
        fmt::format("an event is larger than {} bytes (ClientOptions::answer_bytes_max)", bytes_max_));
  std::size_t begin = 0;
  for (std::size_t end; (end = left_.find("\n\n", from)) != std::string::npos; begin = from = end + 2) {
    if (auto event = event_of(std::string_view(left_).substr(begin, end - begin)))
      ready_.push_back(std::move(*event));
  }
  left_.erase(0, begin);
}

std::optional<StreamEvent> EventReader::next() {
  if (ready_.empty()) return std::nullopt;
  StreamEvent event = std::move(ready_.front());
  ready_.pop_front();
  return event;
}

Async<std::optional<StreamEvent>> EventSource::next_as_it_came(std::shared_ptr<EventSource> self,
                                                               CallOptions call) {
  while (true) {
    if (auto event = self->reader_.next()) co_return event;
    std::string piece = co_await self->exchange_->read(call);
    if (piece.empty()) co_return std::nullopt;
    self->reader_.feed(piece);
  }
}

Async<std::optional<Event>> EventSource::next(std::shared_ptr<EventSource> self, CallOptions call) {
  std::optional<StreamEvent> came = co_await next_as_it_came(self, std::move(call));
  if (!came) co_return std::nullopt;
  co_return read_event(*came);
}

bool is_json(const Head& head) {
  return head.header("Content-Type").starts_with("application/json");
}

Async<Head> accepted_head(std::shared_ptr<Exchange> exchange, CallOptions call) {
  Head head = co_await exchange->head(call);
  if (head.status < 400) co_return head;
  std::string body = co_await exchange->read_all(call);
  throw_service_error(head.status, body);
}

Async<LiveAnswer> open_events(std::shared_ptr<Engine> engine, Request request, CallOptions call,
                              Milliseconds usual) {
  request.headers["Accept"] = "text/event-stream";
  if (!call.timeout) call.timeout = usual;
  std::shared_ptr<Exchange> exchange = co_await engine->open(std::move(request), Body::whole, call);
  Head head = co_await accepted_head(exchange, call);
  LiveAnswer answer;
  if (is_json(head)) {
    std::string body = co_await exchange->read_all(call);
    answer.whole = Json::parse(body);
  } else {
    answer.source = std::make_shared<EventSource>(exchange, *engine);
  }
  co_return answer;
}

}  // namespace atl::client::detail
