#include "cli/remote.h"

#include <atoll/client.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>

#include "base/json.h"
#include "net/client.h"
#include "os/file.h"

namespace atl::cli {
namespace {

namespace bj = boost::json;

constexpr std::size_t kAnswerMax = 64U << 20U;
constexpr std::chrono::hours kForEver{24 * 365};

net::ClientOptions options_of() {
  net::ClientOptions options;
  options.tries = 1;
  options.connect_time = std::chrono::seconds(10);
  // Code and commands may be silent for as long as they like; the service has the limits.
  options.head_time = kForEver;
  options.stall_time = kForEver;
  return options;
}

Code code_called(std::string_view name) {
  for (int at = 0; at <= static_cast<int>(Code::internal); ++at)
    if (row(static_cast<Code>(at)).name == name) return static_cast<Code>(at);
  return Code::internal;
}

// An error of the service, and what to do about it where that is ours to say.
Error error_called(std::string_view name, std::string message, std::string field) {
  const Code code = code_called(name);
  if (code == Code::unauthenticated)
    message += "; give a key with --key-file or ATOLL_API_KEY (`atoll keys create` makes one)";
  return Error(code, std::move(message)).with_field(std::move(field));
}

std::string text_in(const bj::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

}  // namespace

Error refusal_of(int status, const std::string& body) {
  const auto parsed = json::parse(body);
  const auto* error = parsed && parsed->is_object() ? parsed->as_object().if_contains("error") : nullptr;
  if (error == nullptr || !error->is_object())
    return Error(Code::unavailable, fmt::format("the service answered with status {}", status));
  const bj::object& facts = error->as_object();
  const auto* details = facts.if_contains("details");
  return error_called(
      text_in(facts, "code"), text_in(facts, "message"),
      details == nullptr || !details->is_object() ? "" : text_in(details->as_object(), "field"));
}

Error unreachable(const Endpoint& endpoint, const Error& reason) {
  return Error(
      Code::unavailable,
      fmt::format(
          "no service answers at {} (named by {}): {}\nstart one with `atoll serve`, or say where it is "
          "with --url or ATOLL_URL",
          endpoint.url, endpoint.origin, reason.message()));
}

namespace {

net::ClientRequest request_of(const Endpoint& endpoint, RemoteCall call) {
  net::ClientRequest request;
  request.method = std::move(call.method);
  request.target = std::move(call.target);
  if (!endpoint.key.empty()) request.headers.add("X-API-Key", endpoint.key);
  for (auto& [name, value] : call.headers) request.headers.add(name, value);
  request.body = std::move(call.body);
  return request;
}

template <class T>
Result<T> wait_for(boost::asio::io_context& loop, Task<T> task, bool ends_in_order) {
  std::optional<Result<T>> answer;
  boost::asio::signal_set signals(loop);
  if (ends_in_order) {
    signals.add(SIGINT);
    signals.add(SIGTERM);
    signals.async_wait([&](boost::system::error_code error, int) {
      if (error) return;
      answer.emplace(fail(Code::canceled, "interrupted"));
      loop.stop();
    });
  }
  boost::asio::co_spawn(loop, std::move(task), [&](std::exception_ptr, Result<T> value) {
    answer.emplace(std::move(value));
    loop.stop();
  });
  loop.run();
  if (!answer) return fail(Code::internal, "the call ended without an answer");
  return std::move(*answer);
}

// An answer that is being read. The loop and the client belong to whoever made it.
struct OpenCall {
  std::unique_ptr<net::ClientCall> call;
  net::ClientResponse head;
};

Task<std::string> rest_of(net::ClientCall& call) {
  std::string body;
  while (true) {
    CO_TRY(std::string piece, co_await call.read());
    if (piece.empty()) co_return body;
    body += piece;
    if (body.size() > kAnswerMax) co_return fail(Code::too_large, "the answer is too large");
  }
}

// Refusals come back as errors.
Task<OpenCall> answered(std::unique_ptr<net::ClientCall> call) {
  OpenCall open{.call = std::move(call), .head = {}};
  CO_TRY(open.head, co_await open.call->head());
  if (open.head.status >= 300) {
    CO_TRY(const std::string body, co_await rest_of(*open.call));
    co_return fail(refusal_of(open.head.status, body));
  }
  co_return open;
}

// Cuts a stream into events, as the standard of server-sent events has it.
class EventReader {
 public:
  // The next whole event in what was added.
  std::optional<ServerEvent> next() {
    while (true) {
      const std::size_t end = buffer_.find('\n', at_);
      if (end == std::string::npos) {
        buffer_.erase(0, at_);
        at_ = 0;
        return std::nullopt;
      }
      std::string_view line(buffer_.data() + at_, end - at_);
      if (line.ends_with('\r')) line.remove_suffix(1);
      at_ = end + 1;
      if (!line.empty()) {
        take(line);
      } else if (begun_) {
        begun_ = false;
        return std::exchange(event_, ServerEvent{.id = event_.id, .name = {}, .data = {}});
      }
    }
  }
  void add(std::string_view bytes) { buffer_ += bytes; }
  // Of an event that is not whole yet.
  std::size_t held() const { return buffer_.size() + event_.data.size(); }

 private:
  void take(std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "id") event_.id = value;
    if (field == "event") event_.name = value;
    if (field == "data") {
      if (!event_.data.empty()) event_.data += '\n';
      event_.data += value;
    }
    if (field == "event" || field == "data") begun_ = true;
  }

  std::string buffer_;
  std::size_t at_ = 0;
  ServerEvent event_;
  bool begun_ = false;
};

Task<void> hand_out(net::ClientCall& call, const Remote::OnEvent& each) {
  EventReader reader;
  while (true) {
    CO_TRY(const std::string piece, co_await call.read());
    if (piece.empty()) co_return Result<void>();
    reader.add(piece);
    while (const auto event = reader.next()) {
      CO_TRY(const Remote::Next next, each(*event));
      if (next == Remote::Next::end) co_return Result<void>();
    }
    if (reader.held() > kAnswerMax) co_return fail(Code::too_large, "an event of the answer is too large");
  }
}

Task<std::uint64_t> write_out(net::ClientCall& call, int to, std::uint64_t all, const Remote::Moved& moved) {
  std::uint64_t so_far = 0;
  while (true) {
    CO_TRY(const std::string piece, co_await call.read());
    if (piece.empty()) co_return so_far;
    CO_CHECK(os::write_all(to, piece));
    so_far += piece.size();
    if (moved) moved(so_far, all);
  }
}

Task<void> send_from(net::ClientCall& call, int from, std::optional<std::uint64_t> bytes,
                     const Remote::Moved& moved) {
  std::uint64_t so_far = 0;
  while (!bytes || so_far < *bytes) {
    std::string piece(1U << 16U, '\0');
    if (bytes) piece.resize(std::min<std::uint64_t>(piece.size(), *bytes - so_far));
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) co_return fail(errno_error(errno, "what is to be sent"));
    if (got == 0) break;
    piece.resize(static_cast<std::size_t>(got));
    so_far += piece.size();
    CO_CHECK(co_await call.write(std::move(piece)));
    if (moved) moved(so_far, bytes.value_or(0));
  }
  if (bytes && so_far < *bytes) co_return fail(Code::conflict, "the file became shorter while it was sent");
  co_return co_await call.finish_request();
}

// One call with its own loop; `use` gets the call once it is open.
template <class T, class Use>
Result<T> with_call(const Endpoint& endpoint, RemoteCall wanted, net::RequestBody body, Use use) {
  const net::Url url = TRY(net::Url::parse(endpoint.url));
  boost::asio::io_context loop;
  net::Client client(loop.get_executor(), url, options_of());
  const bool ends_in_order = wanted.ends_in_order;
  const auto task = [&]() -> Task<T> {
    net::ClientRequest request = request_of(endpoint, std::move(wanted));
    auto opened = co_await client.open(std::move(request), body);
    if (!opened) co_return fail(unreachable(endpoint, opened.error()));
    co_return co_await use(std::move(*opened));
  };
  return wait_for<T>(loop, task(), ends_in_order);
}

}  // namespace

Result<Remote> Remote::open(const ConnectionFlags& flags) {
  Endpoint endpoint = TRY(flags.find());
  client::ClientOptions options;
  options.url = endpoint.url;
  options.api_key = endpoint.key;
  options.timeout = client::Milliseconds(0);  // the service has the limits
  options.retries = 0;
  try {
    auto library = std::make_shared<client::SandboxClient>(std::move(options));
    return Remote(std::move(endpoint), std::move(library));
  } catch (const client::AtollError& error) {
    return fail(Code::invalid_argument, error.what());
  }
}

// Exceptions of the library end here.
Result<std::string> Remote::text(RemoteCall call) const {
  client::Request request;
  request.method = std::move(call.method);
  request.path = std::move(call.target);
  request.body = std::move(call.body);
  for (auto& [name, value] : call.headers) request.headers[name] = value;
  try {
    client::CallOptions without_end;
    without_end.timeout = client::Milliseconds(0);
    return library_->send(std::move(request), without_end).body;
  } catch (const client::ServiceError& error) {
    return fail(error_called(error.code(), error.message(), error.field()));
  } catch (const client::ConnectError& error) {
    return fail(unreachable(endpoint_, Error(Code::unavailable, error.message())));
  } catch (const client::AtollError& error) {
    return fail(Code::unavailable, error.what());
  }
}

Result<bj::value> Remote::json(std::string method, std::string target, const bj::value& body) const {
  RemoteCall call{.method = std::move(method), .target = std::move(target), .body = {}, .headers = {}};
  call.headers = {{"Content-Type", "application/json"}};
  if (!body.is_null()) call.body = bj::serialize(body);
  const std::string answer = TRY(text(std::move(call)));
  if (answer.empty()) return bj::value(nullptr);
  return atl::json::parse(answer, {.max_bytes = kAnswerMax});
}

Result<std::optional<bj::value>> Remote::events(RemoteCall call, const OnEvent& each) const {
  using Whole = std::optional<bj::value>;
  call.headers.emplace_back("Accept", "text/event-stream");
  call.headers.emplace_back("Content-Type", "application/json");
  return with_call<Whole>(endpoint_, std::move(call), net::RequestBody::whole,
                          [&each](std::unique_ptr<net::ClientCall> open) -> Task<Whole> {
                            CO_TRY(OpenCall answer, co_await answered(std::move(open)));
                            if (answer.head.headers.get("Content-Type").starts_with("text/event-stream")) {
                              CO_CHECK(co_await hand_out(*answer.call, each));
                              co_return Whole();
                            }
                            CO_TRY(const std::string body, co_await rest_of(*answer.call));
                            CO_TRY(bj::value parsed, atl::json::parse(body, {.max_bytes = kAnswerMax}));
                            co_return Whole(std::move(parsed));
                          });
}

Result<std::uint64_t> Remote::download(RemoteCall call, int to, const Moved& moved) const {
  const std::string must_have = call.must_have;
  return with_call<std::uint64_t>(
      endpoint_, std::move(call), net::RequestBody::whole,
      [to, &moved, &must_have](std::unique_ptr<net::ClientCall> open) -> Task<std::uint64_t> {
        CO_TRY(OpenCall answer, co_await answered(std::move(open)));
        if (!must_have.empty() && answer.head.headers.find(must_have) == nullptr)
          co_return fail(Code::is_a_directory, "it is a directory");
        const std::string length(answer.head.headers.get("Content-Length"));
        const std::uint64_t all = length.empty() ? 0 : std::strtoull(length.c_str(), nullptr, 10);
        co_return co_await write_out(*answer.call, to, all, moved);
      });
}

Result<bj::value> Remote::upload(RemoteCall call, int from, std::optional<std::uint64_t> bytes,
                                 const Moved& moved) const {
  if (bytes) call.headers.emplace_back("Content-Length", fmt::format("{}", *bytes));
  const std::string answer = TRY(with_call<std::string>(
      endpoint_, std::move(call), bytes ? net::RequestBody::sized : net::RequestBody::streamed,
      [from, bytes, &moved](std::unique_ptr<net::ClientCall> open) -> Task<std::string> {
        auto sent = co_await send_from(*open, from, bytes, moved);
        // A service that refused before it had read everything has said why.
        auto got = co_await answered(std::move(open));
        if (!got && !sent && got.error().code() == Code::unavailable) co_return fail(std::move(sent).error());
        if (!got) co_return fail(std::move(got).error());
        co_return co_await rest_of(*got->call);
      }));
  if (answer.empty()) return bj::value(nullptr);
  return atl::json::parse(answer, {.max_bytes = kAnswerMax});
}

}  // namespace atl::cli
