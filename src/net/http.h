#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/trace.h"
#include "net/body_budget.h"
#include "net/byte_stream.h"
#include "os/task.h"

// What a handler sees of HTTP. Handlers include this; the machinery behind it is in server.h.
namespace atl::net {

enum class Method : std::uint8_t { get, head, post, put, patch, del, options, other };

std::string_view to_string(Method method);
// `other` for a word that is none of ours.
Method parse_method(std::string_view word);

// Fields in the order they came. Names compare without regard to case.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  // Replaces every field of that name.
  void set(std::string name, std::string value);
  void remove(std::string_view name);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // The first of that name; empty if there is none.
  std::string_view get(std::string_view name) const;
  // Null if there is none. Valid until the headers change.
  const std::string* find(std::string_view name) const;
  // True if a field of that name lists `token` (comma separated, any case): Connection: keep-alive, Upgrade.
  bool lists(std::string_view name, std::string_view token) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  void clear() { fields_.clear(); }

 private:
  std::vector<Field> fields_;
};

bool equal_ignoring_case(std::string_view a, std::string_view b);
// %41 becomes A. Code::invalid_argument for a broken escape or an escaped NUL.
Result<std::string> percent_decode(std::string_view text);
// Everything but [A-Za-z0-9-._~] is escaped.
std::string percent_encode(std::string_view text);
using Fields = std::vector<std::pair<std::string, std::string>>;
// application/x-www-form-urlencoded: "a=1&b=%20+". Broken escapes are kept as they are.
Fields parse_form(std::string_view text);

// Belongs to the connection that read it and is valid until its handler returns. The handler may move out of
// it.
struct Request {
  Method method = Method::other;
  std::string method_word;     // as sent
  std::string target;          // as sent, "/a/b?x=1"
  std::string_view path;       // the part of target before '?', not decoded
  std::string_view raw_query;  // the part after it
  Headers headers;
  std::string body;                   // whole, for handlers that take it so
  std::string id;                     // request id: the client's X-Request-Id if sane, else ours
  std::string peer;                   // address of the other side, or "unix"
  bool secure = false;                // came over TLS
  std::string tls_subject;            // common name of a client certificate that was verified; empty: none
  Fields params;                      // {name} segments of the route, decoded
  std::shared_ptr<const void> grant;  // what the route's access rule found out about the caller
  std::shared_ptr<void> pending;      // what the rule wants to see again when the request was answered
  // What answering makes the service hold beyond the body: grow() it before holding much.
  BodyBudget::Share held;
  trace::Span span;  // from the head to the end of the answer

  Request() = default;
  Request(const Request&) = delete;  // path and raw_query point into target
  Request& operator=(const Request&) = delete;

  // A {param} of the route; empty if the route has none of that name.
  const std::string& param(std::string_view name) const;
  // The first query parameter of that name, decoded.
  std::optional<std::string> query(std::string_view name) const;
  Fields query_fields() const { return parse_form(raw_query); }
  std::string_view host() const { return headers.get("Host"); }
};

// A whole answer. The server adds Content-Length, Date and what CORS needs.
struct Response {
  int status = 200;
  Headers headers;
  std::string body;

  static Response text(int status, std::string body);
  static Response json(int status, std::string body);
  // No body at all; 204 by default.
  static Response empty(int status = 204);
};

// "Not Found"
std::string_view reason_phrase(int status);

struct Message {
  bool binary = false;
  std::string bytes;
};

// One receive and any number of sends may be under way at once; each message goes out whole.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  // Code::canceled when the other side closed in order, Code::unavailable when it vanished.
  virtual Task<Message> receive() = 0;
  virtual Task<void> send(Message message) = 0;
  virtual Task<void> close(std::uint16_t code, std::string reason) = 0;
};

struct WebSocketOptions {
  std::size_t message_bytes_max = 1U << 20;
  std::string protocol;  // chosen subprotocol, if any
};

// A body in one piece, and its part of the server's budget: dropping it returns both.
struct WholeBody {
  BodyBudget::Share share;
  std::string text;  // destroyed before the share is returned
};

// One request and its answer, for handlers that stream. Valid until the handler returns.
//
// The handler must answer: send(), or start() .. write() .. finish(), or abort(), or one of the upgrades. A
// handler that returns an Error before it started the answer gets it rendered by its router; after that the
// connection is aborted, so that the client sees a broken answer as broken.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual Request& request() = 0;

  // The next piece of the body, at most 64 KiB; empty: the end. Nothing is read ahead of the handler beyond
  // one buffer, so a handler that waits holds the client back. Code::too_large over the route's limit,
  // Code::deadline_exceeded when the client is too slow, Code::canceled when it went away.
  virtual Task<std::string> read() = 0;

  virtual Task<void> send(Response response) = 0;

  // Without a length the body is chunked.
  virtual Task<void> start(int status, Headers headers,
                           std::optional<std::uint64_t> length = std::nullopt) = 0;
  // Returns when the kernel has taken the bytes: a client that does not read holds the handler back.
  // Code::canceled when the client went away.
  virtual Task<void> write(std::string bytes) = 0;
  virtual Task<void> finish() = 0;
  // Cuts the connection with a reset and without ending the answer: no final chunk.
  virtual void abort() = 0;

  virtual bool started() const = 0;
  virtual bool finished() const = 0;

  // Detection of a client that goes away costs a pending read, so it works from the first call of one of
  // these two on, and only once the request's body was read to its end.
  virtual bool disconnected() = 0;
  // Called once on the loop, when the client goes away before the answer is finished; never after the handler
  // returned. An empty function removes it.
  virtual void on_disconnect(std::function<void()> callback) = 0;

  // Answers with `status` (101) and these headers, then hands over the bare connection; the Exchange is over.
  virtual Task<std::unique_ptr<ByteStream>> upgrade(int status, Headers headers) = 0;
  // Answers the WebSocket handshake. Code::invalid_argument if the request is none.
  virtual Task<std::unique_ptr<WebSocket>> accept_websocket(WebSocketOptions options) = 0;

  // All that is left of the body, within the server's budget for gathered bodies. Beyond read()'s errors:
  // Code::unavailable when the budget is used up.
  virtual Task<WholeBody> read_whole() = 0;
};

using SimpleHandler = std::function<Task<Response>(Request&)>;
using StreamHandler = std::function<Task<void>(Exchange&)>;
// A dialect's way to say that something failed.
using ErrorRenderer = std::function<Response(const Error&, const Request&)>;

// {"error":{"code","message","category","retryable","field"?,"request_id"}}
Response render_error(const Error& error, const Request& request);

}  // namespace atl::net
