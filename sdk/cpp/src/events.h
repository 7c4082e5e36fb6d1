#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "atoll/streams.h"
#include "engine.h"

// Server-sent events, and the two kinds of streams that are made of them.
namespace atl::client::detail {

struct Event {
  std::string name;
  Json data;
};

// Bytes in, whole events out. An event may be cut anywhere, also inside a character.
class EventReader {
 public:
  explicit EventReader(std::uint64_t bytes_max = 256U << 20) : bytes_max_(bytes_max) {}
  // ProtocolError for an event that is longer than `bytes_max`.
  void feed(std::string_view bytes);
  std::optional<StreamEvent> next();

 private:
  std::optional<StreamEvent> event_of(std::string_view block);

  std::uint64_t bytes_max_;
  std::string left_;
  std::string last_id_;
  std::deque<StreamEvent> ready_;
};
// ProtocolError for one that holds no JSON object.
Event read_event(const StreamEvent& event);

// The events of one answer as they come. One reader at a time.
class EventSource {
 public:
  EventSource(std::shared_ptr<Exchange> exchange, const Engine& engine)
      : exchange_(std::move(exchange)), reader_(engine.options().answer_bytes_max) {}
  // Nothing at the end of the answer.
  static Async<std::optional<Event>> next(std::shared_ptr<EventSource> self, CallOptions call);
  static Async<std::optional<StreamEvent>> next_as_it_came(std::shared_ptr<EventSource> self,
                                                           CallOptions call);

 private:
  std::shared_ptr<Exchange> exchange_;
  EventReader reader_;
};

// The answer to a request for events: a stream of them, or the whole answer of a service that had none to
// give, because a policy denied what was asked.
struct LiveAnswer {
  std::shared_ptr<EventSource> source;
  Json whole;
};
Async<LiveAnswer> open_events(std::shared_ptr<Engine> engine, Request request, CallOptions call,
                              Milliseconds usual);
// Throws the error of a refused exchange; gives the head of one that was not.
Async<Head> accepted_head(std::shared_ptr<Exchange> exchange, CallOptions call);
bool is_json(const Head& head);

}  // namespace atl::client::detail
