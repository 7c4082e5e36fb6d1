// The routes of the original design: they answer for every provider.
#include <fmt/format.h>

#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/execution.h"
#include "api/rest/files.h"
#include "api/rest/render.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

constexpr std::string_view kHome = "/home/user";

Task<Response> execute_at_once(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"session_id", "code", "language", "timeout_seconds"}));
  CO_TRY(auto id, body.required_text("session_id"));
  session::ExecuteRequest wanted;
  CO_TRY(wanted.code, body.required_text("code"));
  CO_TRY(wanted.language, read_language(body));
  CO_TRY(wanted.timeout, read_timeout(body));
  CO_TRY(const auto record, co_await context->service->run(std::move(who), std::move(id), std::move(wanted)));
  co_return json_response(200, execution_json(record));
}

Task<void> read(Context context, Principal who, net::Exchange& exchange) {
  const Request& request = exchange.request();
  CO_TRY(const std::string path, checked_path(request.query("path").value_or(std::string(kHome)), "path"));
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("session_id")));
  CO_TRY(auto info, co_await files->stat(path, std::string()));
  if (info.type == sandbox::FileType::directory) {
    co_return co_await send_directory(exchange, files, path, 1, std::string());
  }
  if (info.type == sandbox::FileType::symlink) info.size = 0;
  co_return co_await send_file(exchange, files, std::move(info), path, std::string());
}

Task<Response> write(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"session_id", "path", "content", "encoding"}));
  CO_TRY(auto id, body.required_text("session_id"));
  CO_TRY(auto text, body.required_text("path"));
  CO_TRY(auto path, checked_path(std::move(text), "path"));
  CO_TRY(auto content, body.required_text("content"));
  CO_TRY(const auto encoding, body.text("encoding"));
  if (encoding && *encoding == "base64") {
    CO_TRY(content, body.decoded("content", content));
  } else if (encoding && *encoding != "utf-8") {
    co_return fail(body.wrong("encoding", "'encoding' is 'utf-8' or 'base64'"));
  }
  CO_TRY(auto files, co_await context->service->files(std::move(who), std::move(id)));
  sandbox::WriteOptions options;
  CO_TRY(auto writer, co_await files->open_write(std::move(path), std::move(options)));
  CO_CHECK(co_await writer->write(std::move(content)));
  CO_TRY(const auto info, co_await writer->finish());
  co_return json_response(200, to_json(info));
}

}  // namespace

void mount_original(net::Router& router, const Context& context) {
  route(router, context, Method::post, "/api/e2b/execute", with_key(Permission::execute), execute_at_once,
        {.body_bytes_max = 16U << 20});
  stream(router, context, Method::get, "/api/e2b/files/{session_id}", with_key(Permission::files_read), read);
  route(router, context, Method::post, "/api/e2b/files", with_key(Permission::files_write), write,
        {.body_bytes_max = 64U << 20});
}

}  // namespace atl::api::rest
