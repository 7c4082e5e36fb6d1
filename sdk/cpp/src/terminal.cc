#include "session_state.h"
#include "web_socket.h"

namespace atl::client {
namespace detail {

// A WebSocket that carries a terminal: binary messages are keys and output, text ones are words about it.
struct TerminalState {
  std::shared_ptr<Exchange> exchange;
  FrameReader reader;
  mutable std::mutex mutex;
  std::optional<TerminalExit> exit;
  std::int64_t pid = 0;
  std::uint64_t position = 0, lost = 0;

  void came(std::size_t bytes) {
    std::scoped_lock lock(mutex);
    position += bytes;
  }
  bool over() const {
    std::scoped_lock lock(mutex);
    return exit.has_value();
  }
  void obey(const std::string& text) {
    Json word = Json::parse(text);
    if (word["type"] == Json("exit")) {
      TerminalExit told = read_terminal_exit(word);
      std::scoped_lock lock(mutex);
      exit = std::move(told);
    } else if (word["type"] == Json("start")) {
      std::scoped_lock lock(mutex);
      pid = word["pid"].as_integer();
      position = static_cast<std::uint64_t>(word["at"].as_integer());
    } else if (word["type"] == Json("lost")) {
      auto bytes = static_cast<std::uint64_t>(word["bytes"].as_integer());
      std::scoped_lock lock(mutex);
      position += bytes;
      lost += bytes;
    } else if (word["type"] == Json("error")) {
      ErrorFacts facts{.code = "invalid_argument", .category = "user", .http_status = 400};
      const Json& message = word["message"];
      throw InvalidArgumentError(message.is_string() ? message.as_string() : "the terminal refused it",
                                 "correct what was sent", facts);
    }
  }
};

namespace {

constexpr const char* kOpenAnother = "open another with terminal()";

Async<std::string> next_output(std::shared_ptr<TerminalState> state, CallOptions call) {
  while (!state->over()) {
    std::optional<Frame> frame = state->reader.next();
    if (!frame) {
      std::string bytes = co_await state->exchange->read_raw(call);
      if (bytes.empty()) throw ConnectionLostError("the terminal was cut", kOpenAnother);
      state->reader.feed(bytes);
      continue;
    }
    if (frame->opcode == Opcode::binary && !frame->payload.empty()) {
      state->came(frame->payload.size());
      co_return std::move(frame->payload);
    }
    if (frame->opcode == Opcode::text) state->obey(frame->payload);
    if (frame->opcode == Opcode::ping) {
      std::string pong = masked_frame(Opcode::pong, frame->payload);
      co_await state->exchange->write_raw(std::move(pong), call);
    }
    if (frame->opcode == Opcode::close)
      throw ConnectionLostError("the terminal was closed before the shell ended", kOpenAnother);
  }
  co_return std::string();
}

}  // namespace
}  // namespace detail

using namespace detail;

Async<std::string> Terminal::read_async(CallOptions call) {
  return next_output(state_, std::move(call));
}

Async<void> Terminal::send_async(std::string keys, CallOptions call) {
  return state_->exchange->write_raw(masked_frame(Opcode::binary, keys), std::move(call));
}

Async<void> Terminal::resize_async(int columns, int rows, CallOptions call) {
  Json word = Json::object({{"type", "resize"}, {"columns", columns}, {"rows", rows}});
  return state_->exchange->write_raw(masked_frame(Opcode::text, word.dump()), std::move(call));
}

std::optional<TerminalExit> Terminal::exit() const {
  std::scoped_lock lock(state_->mutex);
  return state_->exit;
}

std::int64_t Terminal::pid() const {
  std::scoped_lock lock(state_->mutex);
  return state_->pid;
}

std::uint64_t Terminal::position() const {
  std::scoped_lock lock(state_->mutex);
  return state_->position;
}

std::uint64_t Terminal::lost() const {
  std::scoped_lock lock(state_->mutex);
  return state_->lost;
}

Async<Terminal> Session::terminal_async(TerminalOptions options, CallOptions call) {
  auto session = state_;
  Request request = get_request(session->path("/terminal"), {{"columns", std::to_string(options.columns)},
                                                             {"rows", std::to_string(options.rows)}});
  if (options.cwd) request.query.emplace_back("cwd", *options.cwd);
  if (options.keep) request.query.emplace_back("keep", "true");
  if (options.process) {
    request.query.emplace_back("process", std::to_string(*options.process));
    request.query.emplace_back("from", std::to_string(options.from));
  }
  std::string key = web_socket_key();
  request.headers = {{"Connection", "Upgrade"},
                     {"Upgrade", "websocket"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", key}};
  std::shared_ptr<Exchange> exchange = co_await session->engine->open(std::move(request), Body::whole, call);
  Head head = co_await accepted_head(exchange, call);
  if (head.status != 101 || head.header("Sec-WebSocket-Accept") != web_socket_accept(key))
    throw ProtocolError("the service did not open a WebSocket");
  auto state = std::make_shared<TerminalState>();
  state->exchange = exchange;
  co_return Terminal(state);
}

}  // namespace atl::client
