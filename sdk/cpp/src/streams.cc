#include "atoll/streams.h"

#include "atoll/client.h"
#include "engine.h"
#include "events.h"

namespace atl::client {

using namespace detail;

namespace {

CallOptions without_end(CallOptions call) {
  if (!call.timeout) call.timeout = kForever;
  return call;
}

Async<Answer> accepted_answer(std::shared_ptr<Exchange> exchange, CallOptions call) {
  Head head = co_await accepted_head(exchange, call);
  co_return Answer{head.status, std::move(head.headers), {}};
}

Async<std::optional<StreamEvent>> next_of(std::shared_ptr<EventSource> source, CallOptions call) {
  if (!source) co_return std::nullopt;
  std::optional<StreamEvent> event = co_await EventSource::next_as_it_came(source, std::move(call));
  co_return event;
}

Async<Transfer> opened(std::shared_ptr<Engine> engine, Request request, Body body, CallOptions call) {
  std::shared_ptr<Exchange> exchange = co_await engine->open(std::move(request), body, std::move(call));
  co_return Transfer(exchange);
}

Async<EventStream> followed(std::shared_ptr<Engine> engine, Request request, CallOptions call) {
  request.headers["Accept"] = "text/event-stream";
  std::shared_ptr<Exchange> exchange = co_await engine->open(std::move(request), Body::whole, call);
  Head head = co_await accepted_head(exchange, call);
  if (!is_json(head)) co_return EventStream(std::make_shared<EventSource>(exchange, *engine), {});
  std::string whole = co_await exchange->read_all(call);
  co_return EventStream(nullptr, std::move(whole));
}

Body body_of(BodyForm form) {
  switch (form) {
    case BodyForm::whole: return Body::whole;
    case BodyForm::pieces: return Body::streamed;
    case BodyForm::sized: return Body::sized;
  }
  return Body::whole;
}

}  // namespace

Async<void> Transfer::write_async(std::string bytes, CallOptions call) {
  return exchange_->write(std::move(bytes), std::move(call));
}

Async<void> Transfer::finish_async(CallOptions call) {
  return exchange_->finish(std::move(call));
}

Async<Answer> Transfer::head_async(CallOptions call) {
  return accepted_answer(exchange_, std::move(call));
}

Async<std::string> Transfer::read_async(CallOptions call) {
  return exchange_->read(std::move(call));
}

Async<std::optional<StreamEvent>> EventStream::next_async(CallOptions call) {
  return next_of(source_, without_end(std::move(call)));
}

Async<Transfer> SandboxClient::open_async(Request request, BodyForm form, CallOptions call) {
  return opened(engine_, std::move(request), body_of(form), std::move(call));
}

Async<EventStream> SandboxClient::follow_async(Request request, CallOptions call) {
  return followed(engine_, std::move(request), std::move(call));
}

}  // namespace atl::client
