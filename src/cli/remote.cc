#include "cli/remote.h"

#include <atoll/client.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/json.h"
#include "base/json_values.h"
#include "cli/interruption.h"
#include "os/file.h"

namespace atl::cli {
namespace {

namespace bj = boost::json;

constexpr std::size_t kAnswerMax = 64U << 20U;
constexpr std::size_t kValuesMax = 2'000'000;
constexpr std::size_t kPieceBytes = 1U << 16U;

Code code_called(std::string_view name) {
  for (int at = 0; at <= static_cast<int>(Code::internal); ++at)
    if (row(static_cast<Code>(at)).name == name) return static_cast<Code>(at);
  return Code::internal;
}

// What a refusal leaves to us to say.
Error refused(const client::ServiceError& error) {
  const Code code = code_called(error.code());
  std::string message = error.message();
  if (code == Code::unauthenticated)
    message += "; give a key with --key-file or ATOLL_API_KEY (`atoll keys create` makes one)";
  if (code == Code::conflict && message.ends_with(" is paused"))
    message += "; `atoll session resume` with its id lets it go on";
  return Error(code, std::move(message)).with_field(error.field());
}

client::Request request_of(RemoteCall call) {
  client::Request request;
  request.method = std::move(call.method);
  request.path = std::move(call.target);
  request.body = std::move(call.body);
  for (auto& [name, value] : call.headers) request.headers[name] = value;
  return request;
}

// Code and commands may be silent for as long as they like; the service has the limits.
client::CallOptions without_end(std::stop_token stop = {}) {
  client::CallOptions options;
  options.timeout = client::Milliseconds(0);
  options.stop = std::move(stop);
  return options;
}

// The time is one step's: what moves may take as long as it needs.
client::CallOptions step_options(const Endpoint& endpoint, std::stop_token stop) {
  client::CallOptions options;
  options.timeout = endpoint.answer_time;
  options.stop = std::move(stop);
  return options;
}

// Exceptions of the library end here.
template <class T, class Work>
Result<T> caught(const Endpoint& endpoint, Work work) {
  try {
    return work();
  } catch (const client::AtollError& error) {
    return fail(error_of(endpoint, error));
  }
}

Result<void> send_from(client::Transfer& transfer, int from, std::optional<std::uint64_t> bytes,
                       const Remote::Moved& moved, const Remote::Complete& complete,
                       const client::CallOptions& options) {
  std::uint64_t so_far = 0;
  while (!bytes || so_far < *bytes) {
    std::string piece(kPieceBytes, '\0');
    if (bytes) piece.resize(std::min<std::uint64_t>(piece.size(), *bytes - so_far));
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error(errno, "what is to be sent"));
    if (got == 0) break;
    piece.resize(static_cast<std::size_t>(got));
    so_far += piece.size();
    transfer.write(std::move(piece), options);
    if (moved) moved(so_far, bytes.value_or(0));
  }
  if (bytes && so_far < *bytes) return fail(Code::conflict, "the file became shorter while it was sent");
  // An end that is not sent makes the service forget what it has got.
  if (options.stop.stop_requested()) return fail(Code::canceled, "interrupted");
  if (complete) TRY(complete());
  transfer.finish(options);
  return {};
}

std::string rest_of(client::Transfer& transfer, const client::CallOptions& options) {
  std::string body;
  while (true) {
    const std::string piece = transfer.read(options);
    if (piece.empty()) return body;
    body += piece;
    if (body.size() > kAnswerMax) throw client::ProtocolError("the answer is too large");
  }
}

}  // namespace

Error error_of(const Endpoint& endpoint, const client::AtollError& error) {
  if (const auto* service = dynamic_cast<const client::ServiceError*>(&error)) return refused(*service);
  if (dynamic_cast<const client::CallCanceledError*>(&error) != nullptr)
    return Error(Code::canceled, "interrupted");
  if (dynamic_cast<const client::RequestTimeoutError*>(&error) != nullptr)
    return Error(Code::deadline_exceeded,
                 fmt::format("{}: {} (ATOLL_TIMEOUT is how many seconds are waited for)", endpoint.url,
                             error.message()));
  if (dynamic_cast<const client::ConnectError*>(&error) == nullptr)
    return Error(Code::unavailable, error.message());
  return Error(
      Code::unavailable,
      fmt::format(
          "no service answers at {} (named by {}): {}\nstart one with `atoll serve`, or say where it is "
          "with --url or ATOLL_URL",
          endpoint.url, endpoint.origin, error.message()));
}

Result<bj::value> parse_answer(const std::string& answer) {
  if (answer.empty()) return bj::value(nullptr);
  Result<bj::value> parsed = bj::value(nullptr);
  if (auto bounded = atl::json::bound_values(answer, kValuesMax); !bounded)
    parsed = fail(std::move(bounded).error());
  else
    parsed = atl::json::parse(answer, {.max_bytes = kAnswerMax});
  if (parsed) return parsed;
  // It is not the user's text that is wrong.
  return fail(Code::unavailable, "the service's answer cannot be read: " + parsed.error().message());
}

Result<Remote> Remote::open(const ConnectionFlags& flags) {
  Endpoint endpoint = TRY(flags.find());
  client::ClientOptions options;
  options.url = endpoint.url;
  options.api_key = endpoint.key;
  options.timeout = endpoint.answer_time;
  options.answer_bytes_max = kAnswerMax;
  options.retries = 0;
  try {
    auto library = std::make_unique<client::SandboxClient>(std::move(options));
    return Remote(std::move(endpoint), std::move(library));
  } catch (const client::AtollError& error) {
    return fail(Code::invalid_argument, error.what());
  }
}

Remote::Remote(Endpoint endpoint, std::unique_ptr<client::SandboxClient> library)
    : endpoint_(std::move(endpoint)), library_(std::move(library)) {}
Remote::Remote(Remote&&) noexcept = default;
Remote::~Remote() = default;

Result<std::string> Remote::text(RemoteCall call) const {
  const client::CallOptions options = call.runs_code ? without_end() : client::CallOptions();
  return caught<std::string>(endpoint_,
                             [&] { return library_->send(request_of(std::move(call)), options).body; });
}

Result<bj::value> Remote::json(std::string method, std::string target, const bj::value& body) const {
  RemoteCall call{.method = std::move(method), .target = std::move(target), .body = {}, .headers = {}};
  call.headers = {{"Content-Type", "application/json"}};
  if (!body.is_null()) call.body = bj::serialize(body);
  const std::string answer = TRY(text(std::move(call)));
  return parse_answer(answer);
}

Result<std::optional<bj::value>> Remote::events(RemoteCall call, const OnEvent& each) const {
  using Whole = std::optional<bj::value>;
  return caught<Whole>(endpoint_, [&]() -> Result<Whole> {
    client::EventStream stream = library_->follow(request_of(std::move(call)), without_end());
    if (!stream.answer().empty()) return TRY(parse_answer(stream.answer()));
    while (auto event = stream.next(without_end())) {
      const Next next = TRY(each({.id = event->id, .name = event->name, .data = std::move(event->data)}));
      if (next == Next::end) break;
    }
    return Whole();
  });
}

Result<std::uint64_t> Remote::download(RemoteCall call, int to, const Moved& moved) const {
  const Interruption interruption(call.ends_in_order);
  const client::CallOptions options = step_options(endpoint_, interruption.token());
  const std::string must_have = call.must_have;
  return caught<std::uint64_t>(endpoint_, [&]() -> Result<std::uint64_t> {
    client::Transfer transfer = library_->open(request_of(std::move(call)), client::BodyForm::whole, options);
    const client::Answer head = transfer.head(options);
    if (!must_have.empty() && head.header(must_have).empty())
      return fail(Code::is_a_directory, "it is a directory");
    const std::uint64_t all = std::strtoull(head.header("Content-Length").c_str(), nullptr, 10);
    std::uint64_t so_far = 0;
    while (true) {
      const std::string piece = transfer.read(options);
      if (piece.empty()) return so_far;
      TRY(os::write_all(to, piece));
      so_far += piece.size();
      if (moved) moved(so_far, all);
    }
  });
}

Result<bj::value> Remote::upload(RemoteCall call, int from, std::optional<std::uint64_t> bytes,
                                 const Moved& moved, const Complete& complete) const {
  const Interruption interruption(call.ends_in_order);
  const client::CallOptions options = step_options(endpoint_, interruption.token());
  if (bytes) call.headers.emplace_back("Content-Length", fmt::format("{}", *bytes));
  const std::string answer = TRY(caught<std::string>(endpoint_, [&]() -> Result<std::string> {
    client::Transfer transfer = library_->open(
        request_of(std::move(call)), bytes ? client::BodyForm::sized : client::BodyForm::pieces, options);
    Result<void> sent =
        caught<void>(endpoint_, [&] { return send_from(transfer, from, bytes, moved, complete, options); });
    if (!sent && sent.error().code() != Code::unavailable) return fail(std::move(sent).error());
    try {
      (void)transfer.head(options);
      return rest_of(transfer, options);
    } catch (const client::ServiceError&) {
      throw;  // refused before it had read everything: that is the reason
    } catch (const client::AtollError&) {
      if (!sent) return fail(std::move(sent).error());
      throw;
    }
  }));
  return parse_answer(answer);
}

}  // namespace atl::cli
