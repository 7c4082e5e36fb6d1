// Files of a session: content, ranges, listings, changes, watch.
#include "api/rest/files.h"

#include <fmt/format.h>

#include <charconv>

#include "api/http/byte_range.h"
#include "api/http/client_presence.h"
#include "api/http/content.h"
#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/render.h"
#include "base/json.h"
#include "session/artifacts.h"

namespace atl::api::rest {

namespace bj = boost::json;

namespace {

constexpr std::size_t kEntriesMax = 100'000;
constexpr std::size_t kPieceBytes = 64U << 10;

}  // namespace

sandbox::ListBounds list_bounds(Request& request) {
  sandbox::ListBounds bounds(kEntriesMax);
  bounds.take = [&held = request.held](std::size_t bytes) { return held.grow(bytes); };
  return bounds;
}

Task<void> send_directory(net::Exchange& exchange, std::shared_ptr<sandbox::Files> files, std::string path,
                          std::uint32_t depth, std::string user) {
  CO_TRY(const auto entries,
         co_await files->list(path, depth, list_bounds(exchange.request()), std::move(user)));
  std::string text = R"({"path":)" + json::quoted(path) + R"(,"entries":[)";
  const char* separator = "";
  for (const auto& entry : entries) {
    text += std::exchange(separator, ",");
    text += json_text(to_json(entry));
    if (text.size() < kPieceBytes) continue;
    if (!exchange.started()) {
      net::Headers headers{{"Content-Type", "application/json"}};
      CO_CHECK(co_await exchange.start(200, std::move(headers)));
    }
    std::string piece = std::exchange(text, std::string());
    CO_CHECK(co_await exchange.write(std::move(piece)));
  }
  text += "]}";
  if (!exchange.started()) co_return co_await exchange.send(Response::json(200, std::move(text)));
  CO_CHECK(co_await exchange.write(std::move(text)));
  co_return co_await exchange.finish();
}

Task<void> send_file(net::Exchange& exchange, std::shared_ptr<sandbox::Files> files, sandbox::FileInfo info,
                     std::string path, std::string user) {
  const http::RequestedRange wanted = http::parse_range(exchange.request().headers.get("Range"), info.size);
  if (std::holds_alternative<http::Unsatisfiable>(wanted)) {
    Response refused = Response::empty(416);
    refused.headers.set("Content-Range", http::unsatisfied_range(info.size));
    co_return co_await exchange.send(std::move(refused));
  }
  const auto* range = std::get_if<http::ByteRange>(&wanted);
  // Files of /proc say they are empty and are not: without a size to promise, the body is chunked.
  std::optional<std::uint64_t> length;
  if (range != nullptr) length = range->length;
  const std::uint64_t first = range != nullptr ? range->first : 0;
  CO_TRY(auto reader, co_await files->open_read(path, first, length, std::move(user)));
  net::Headers headers{{"Content-Type", session::media_type_of(path)}, {"Accept-Ranges", "bytes"}};
  headers.add("X-Content-Type-Options", "nosniff");
  if (range != nullptr) headers.add("Content-Range", http::content_range(*range, info.size));
  if (!length && info.size > 0) length = info.size;
  CO_CHECK(co_await exchange.start(range != nullptr ? 206 : 200, std::move(headers), length));
  http::Source next = [&reader] { return reader->next(); };
  co_return co_await http::send_content(exchange, std::move(next), length);
}

namespace {

Task<void> get_file(Context context, Principal who, net::Exchange& exchange) {
  const Request& request = exchange.request();
  CO_TRY(const std::string path, path_parameter(request));
  CO_TRY(const auto depth, number_parameter(request, "depth", 1, 1, 64));
  std::string user = request.query("user").value_or("");
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_TRY(const auto info, co_await files->stat(path, user));
  const bool is_directory =
      info.type == sandbox::FileType::directory ||
      (info.type == sandbox::FileType::symlink && info.target_type == sandbox::FileType::directory);
  if (is_directory) {
    co_return co_await send_directory(exchange, files, path, static_cast<std::uint32_t>(depth), user);
  }
  sandbox::FileInfo content = info;
  // The size of a link is not the size of what it leads to: let the body be chunked.
  if (info.type == sandbox::FileType::symlink) content.size = 0;
  co_return co_await send_file(exchange, files, std::move(content), path, user);
}

Task<void> put_file(Context context, Principal who, net::Exchange& exchange) {
  const Request& request = exchange.request();
  CO_TRY(const std::string path, path_parameter(request));
  CO_TRY(const bool append, flag_parameter(request, "append"));
  sandbox::WriteOptions options;
  options.append = append;
  options.user = request.query("user").value_or("");
  if (const auto mode = request.query("mode")) {
    const auto [end, failed] = std::from_chars(mode->data(), mode->data() + mode->size(), options.mode, 8);
    if (failed != std::errc() || end != mode->data() + mode->size() || options.mode > 07777U) {
      co_return fail(Error(Code::invalid_argument, "'mode' is an octal number like 644").with_field("mode"));
    }
  }
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_TRY(auto writer, co_await files->open_write(path, std::move(options)));
  http::Sink write = [&writer](std::string bytes) { return writer->write(std::move(bytes)); };
  CO_CHECK(co_await http::receive_content(exchange, std::move(write)));
  CO_TRY(const auto info, co_await writer->finish());
  co_return co_await exchange.send(json_response(200, to_json(info)));
}

Task<Response> delete_file(Context context, Principal who, Request& request) {
  CO_TRY(std::string path, path_parameter(request));
  CO_TRY(const bool recursive, flag_parameter(request, "recursive"));
  std::string user = request.query("user").value_or("");
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_CHECK(co_await files->remove(
      std::move(path), recursive ? sandbox::Recursive::yes : sandbox::Recursive::no, std::move(user)));
  co_return Response::empty();
}

Task<Response> make_directory(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"path", "user"}));
  CO_TRY(auto text, body.required_text("path"));
  CO_TRY(auto path, checked_path(std::move(text), "path"));
  CO_TRY(auto user, body.text("user"));
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_TRY(const auto info, co_await files->make_directory(std::move(path), user.value_or("")));
  co_return json_response(201, to_json(info));
}

struct TwoPaths {
  std::string from, to, user;
  sandbox::Overwrite overwrite = sandbox::Overwrite::no;
};

// The root can be neither moved nor copied nor replaced.
Result<std::string> below_the_root(std::string path, std::string field) {
  std::string checked = TRY(checked_path(std::move(path), field));
  if (checked.find_first_not_of('/') == std::string::npos)
    return fail(
        Error(Code::invalid_argument, fmt::format("'{}' is a path below the root", field)).with_field(field));
  return checked;
}

Result<TwoPaths> read_two_paths(const std::string& text) {
  const Body body = TRY(Body::parse(text, {"from", "to", "overwrite", "user"}));
  TwoPaths paths;
  std::string from = TRY(body.required_text("from"));
  std::string to = TRY(body.required_text("to"));
  paths.from = TRY(below_the_root(std::move(from), "from"));
  paths.to = TRY(below_the_root(std::move(to), "to"));
  paths.user = TRY(body.text("user")).value_or("");
  if (TRY(body.boolean("overwrite")).value_or(false)) paths.overwrite = sandbox::Overwrite::yes;
  return paths;
}

Task<Response> move_file(Context context, Principal who, Request& request) {
  CO_TRY(auto paths, read_two_paths(request.body));
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_TRY(const auto info, co_await files->move(std::move(paths.from), std::move(paths.to),
                                               std::move(paths.user), paths.overwrite));
  co_return json_response(200, to_json(info));
}

Task<Response> copy_file(Context context, Principal who, Request& request) {
  CO_TRY(auto paths, read_two_paths(request.body));
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_TRY(const auto info, co_await files->copy(std::move(paths.from), std::move(paths.to),
                                               std::move(paths.user), paths.overwrite));
  co_return json_response(200, to_json(info));
}

std::string_view word(sandbox::WatchEventType type) {
  switch (type) {
    case sandbox::WatchEventType::create: return "create";
    case sandbox::WatchEventType::write: return "write";
    case sandbox::WatchEventType::remove: return "remove";
    case sandbox::WatchEventType::rename: return "rename";
    case sandbox::WatchEventType::chmod: return "chmod";
  }
  return "write";
}

Task<void> stream_watch(std::unique_ptr<sandbox::Watch> watch, net::Exchange& exchange) {
  net::Headers headers{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  std::string first = sse("start", "{}");
  CO_CHECK(co_await exchange.write(std::move(first)));
  while (true) {
    CO_TRY(const auto events, co_await watch->next());
    std::string text;
    for (const auto& event : events) {
      text += sse(word(event.type), R"({"name":)" + json::quoted(event.name) + "}");
    }
    CO_CHECK(co_await exchange.write(std::move(text)));
  }
}

Task<void> watch_files(Context context, Principal who, net::Exchange& exchange) {
  const Request& request = exchange.request();
  CO_TRY(std::string path, path_parameter(request));
  CO_TRY(const bool recursive, flag_parameter(request, "recursive"));
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_TRY(auto watch,
         co_await files->watch(std::move(path), recursive ? sandbox::Recursive::yes : sandbox::Recursive::no,
                               std::string()));
  co_return co_await http::until_disconnect(context->executor, exchange,
                                            stream_watch(std::move(watch), exchange));
}

}  // namespace

void mount_files(net::Router& router, const Context& context) {
  stream(router, context, Method::get, "/api/sessions/{id}/files", with_key(Permission::files_read),
         get_file);
  stream(router, context, Method::put, "/api/sessions/{id}/files", with_key(Permission::files_write),
         put_file, {.body_bytes_max = context->file_bytes_max});
  route(router, context, Method::del, "/api/sessions/{id}/files", with_key(Permission::files_write).ending(),
        delete_file);
  route(router, context, Method::post, "/api/sessions/{id}/files/mkdir", with_key(Permission::files_write),
        make_directory);
  route(router, context, Method::post, "/api/sessions/{id}/files/move", with_key(Permission::files_write),
        move_file);
  route(router, context, Method::post, "/api/sessions/{id}/files/copy", with_key(Permission::files_write),
        copy_file);
  stream(router, context, Method::get, "/api/sessions/{id}/files/watch", with_key(Permission::files_read),
         watch_files);
}

}  // namespace atl::api::rest
