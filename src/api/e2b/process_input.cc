#include "api/e2b/connect.h"
#include "api/e2b/envd.h"
#include "base/bytes.h"

namespace atl::api::e2b {
namespace {

constexpr std::size_t kInputMessageMax = 8U << 20;
constexpr net::RouteOptions kUnbounded{.body_bytes_max = 1ULL << 40};

// `input` of SendInput, or of a stream's data: bytes for a pipe or for a terminal.
Task<void> feed(std::shared_ptr<sandbox::Process> process, const Object* input) {
  if (input == nullptr) co_return fail(Code::invalid_argument, "input is required");
  CO_TRY(auto to_stdin, text(*input, "stdin"));
  CO_TRY(auto to_pty, text(*input, "pty"));
  if (!to_stdin && !to_pty) co_return Result<void>{};
  if (to_pty && !process->info().pty) co_return fail(Code::internal, "tty not assigned to process");
  if (to_stdin && process->info().pty)
    co_return fail(Code::internal, "tty assigned to process, use pty input");
  CO_TRY(std::string bytes, from_base64(to_stdin ? *to_stdin : *to_pty));
  auto written = co_await process->write_stdin(std::move(bytes));
  if (!written && written.error().code() == Code::conflict) {
    co_return fail(Code::internal, "error writing to stdin: " + written.error().message());
  }
  co_return written;
}

}  // namespace

void Envd::mount_input(net::Router& router) {
  unary(router, "/process.Process/SendInput", with_secret(Permission::execute), &Envd::process_send_input);
  unary(router, "/process.Process/CloseStdin", with_secret(Permission::execute).ending(),
        &Envd::process_close_stdin, "unknown");
  router.add_stream(
      net::Method::post, "/process.Process/StreamInput", rule(with_secret(Permission::execute)),
      [this](net::Exchange& exchange) { return process_stream_input(exchange); }, kUnbounded);
}

Task<Object> Envd::process_send_input(Target target, Object message, net::Request&) {
  CO_TRY(auto process, co_await select(target, message));
  CO_TRY(const Object* input, object(message, "input"));
  CO_CHECK(co_await feed(std::move(process), input));
  co_return Object();
}

Task<Object> Envd::process_close_stdin(Target target, Object message, net::Request&) {
  CO_TRY(auto process, co_await select(target, message));
  if (process->info().pty) co_return fail(Code::conflict, "cannot close the standard input of a pty");
  auto closed = co_await process->close_stdin();
  if (!closed && closed.error().code() != Code::conflict) co_return fail(std::move(closed).error());
  co_return Object();
}

Task<void> Envd::take_input(Target target, net::Exchange& exchange) {
  connect::EnvelopeReader reader(kInputMessageMax);
  std::shared_ptr<sandbox::Process> process;
  while (true) {
    CO_TRY(auto text, reader.next());
    if (!text) {
      CO_TRY(std::string piece, co_await exchange.read());
      if (piece.empty()) break;
      CO_CHECK(exchange.request().held.grow(piece.size()));
      reader.add(piece);
      continue;
    }
    if (reader.is_between()) exchange.request().held.release();
    CO_TRY(const Object message, parse_object(*text));
    CO_TRY(const Object* start, object(message, "start"));
    CO_TRY(const Object* data, object(message, "data"));
    if (!process && start == nullptr)
      co_return fail(Code::invalid_argument, "the first message must be start");
    if (start != nullptr) {
      CO_TRY(process, co_await select(target, *start));
    }
    if (data == nullptr) continue;
    CO_TRY(const Object* input, object(*data, "input"));
    CO_CHECK(co_await feed(process, input));
  }
  if (!reader.is_between()) co_return fail(Code::invalid_argument, "the stream ended inside a message");
  if (!process) co_return fail(Code::invalid_argument, "the first message must be start");
  co_return Result<void>{};
}

Task<void> Envd::process_stream_input(net::Exchange& exchange) {
  if (!is_stream(exchange.request())) co_return co_await exchange.send(net::Response::empty(415));
  auto taken = co_await take_input(target_of(exchange.request()), exchange);
  if (exchange.disconnected()) co_return taken;
  net::Headers headers{{"Content-Type", "application/connect+json"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  std::string answer =
      taken ? connect::envelope("{}") + connect::end_of_stream() : connect::end_of_stream(taken.error());
  CO_CHECK(co_await exchange.write(std::move(answer)));
  co_return co_await exchange.finish();
}

}  // namespace atl::api::e2b
