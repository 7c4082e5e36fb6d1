#include <fmt/format.h>

#include <istream>
#include <ostream>

#include "session_state.h"

namespace atl::client {
namespace detail {
namespace {

constexpr std::size_t kPieceBytes = 64U << 10;

// A directory's answer, which a JSON file's is not: that one can be asked for ranges.
template <class Answered>
bool is_listing(const Answered& answer) {
  return answer.header("Content-Type").starts_with("application/json") &&
         answer.header("Accept-Ranges").empty();
}

[[noreturn]] void throw_is_directory(const std::string& path) {
  ErrorFacts facts{.code = "is_a_directory", .category = "user", .http_status = 400, .field = "path"};
  throw IsADirectoryError(path + " is a directory", "name a file, or use list()", facts);
}

Request file_request(const SessionState& session, const char* method, const std::string& path,
                     std::string_view rest) {
  return {.method = method, .path = session.path(fmt::format("/files{}", rest)), .query = {{"path", path}}};
}

Request write_request(const SessionState& session, const std::string& path, const WriteOptions& options) {
  Request request = file_request(session, "PUT", path, "");
  if (options.mode) request.query.emplace_back("mode", fmt::format("{:o}", *options.mode));
  if (options.append) request.query.emplace_back("append", "true");
  if (options.user) request.query.emplace_back("user", *options.user);
  request.content_type = "application/octet-stream";
  request.idempotent = !options.append;
  return request;
}

Async<FileReader> open_reader(std::shared_ptr<SessionState> session, Request request, std::string path,
                              CallOptions call, bool may_be_listing) {
  std::shared_ptr<Exchange> exchange = co_await session->engine->open(std::move(request), Body::whole, call);
  Head head = co_await accepted_head(exchange, call);
  if (!may_be_listing && is_listing(head)) throw_is_directory(path);
  co_return FileReader(exchange);
}

// "/a/b/" as {"/a", "b"}; the root has no name.
std::pair<std::string, std::string> parent_and_name(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"/", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Async<FileInfo> two_paths(std::shared_ptr<SessionState> session, const char* verb, std::string from,
                          std::string to, Files::Overwrite overwrite, CallOptions call) {
  Json body = Json::object({{"from", from}, {"to", to}, {"overwrite", overwrite == Files::Overwrite::yes}});
  Request request = post_request(session->path(std::string("/files/") + verb), body);
  Json answer = co_await call_json(session->engine, std::move(request), call);
  co_return read_file(answer);
}

Async<void> write_piece(std::shared_ptr<Exchange> exchange, std::string bytes, CallOptions call) {
  std::exception_ptr cut;
  try {
    co_await exchange->write(std::move(bytes), call);
  } catch (const ConnectionLostError&) {
    cut = std::current_exception();
  }
  if (!cut) co_return;
  // A service that refuses a file says so and closes; its words say more than the cut does.
  try {
    co_await accepted_head(exchange, call);
  } catch (const ConnectionLostError&) {
  }
  std::rethrow_exception(cut);
}

}  // namespace
}  // namespace detail

using namespace detail;

Async<std::string> FileReader::read_async(CallOptions call) {
  return exchange_->read(std::move(call));
}

Async<void> FileWriter::write_async(std::string bytes, CallOptions call) {
  return write_piece(exchange_, std::move(bytes), std::move(call));
}

Async<FileInfo> FileWriter::finish_async(CallOptions call) {
  auto exchange = exchange_;
  co_await exchange->finish(call);
  co_await accepted_head(exchange, call);
  std::string body = co_await exchange->read_all(call);
  Json answer = Json::parse(body);
  co_return read_file(answer);
}

Async<FileEvent> Watch::next_async(CallOptions call) {
  auto source = source_;
  if (!call.timeout) call.timeout = kForever;
  std::optional<Event> event = co_await EventSource::next(source, call);
  if (!event) throw ConnectionLostError("the watch ended", "set another; changes in between are not told");
  const Json& name = event->data["name"];
  co_return FileEvent{event->name, name.is_string() ? name.as_string() : std::string()};
}

Async<std::string> Files::read_async(std::string path, CallOptions call) {
  auto session = session_;
  Answer answer = co_await session->engine->send(file_request(*session, "GET", path, ""), call);
  if (is_listing(answer)) throw_is_directory(path);
  co_return std::move(answer.body);
}

Async<std::string> Files::read_range_async(std::string path, std::uint64_t start, std::uint64_t end,
                                           CallOptions call) {
  auto session = session_;
  if (end <= start) co_return std::string();
  Request request = file_request(*session, "GET", path, "");
  request.headers["Range"] = fmt::format("bytes={}-{}", start, end - 1);
  Answer answer = co_await session->engine->send(std::move(request), call, {}, 416);
  if (answer.status == 416) co_return std::string();  // it begins behind the end
  if (is_listing(answer)) throw_is_directory(path);
  co_return std::move(answer.body);
}

Async<FileReader> Files::open_read_async(std::string path, CallOptions call) {
  Request request = file_request(*session_, "GET", path, "");
  return open_reader(session_, std::move(request), std::move(path), std::move(call), false);
}

std::uint64_t Files::read_to(std::string path, std::ostream& out, CallOptions call) {
  FileReader reader = open_read(std::move(path), call);
  std::uint64_t bytes = 0;
  for (std::string piece; !(piece = reader.read(call)).empty(); bytes += piece.size()) {
    if (!out.write(piece.data(), static_cast<std::streamsize>(piece.size())))
      throw ConfigurationError("the stream took no more bytes",
                               "check the stream that the file is written to");
  }
  return bytes;
}

Async<FileInfo> Files::write_async(std::string path, std::string content, WriteOptions options,
                                   CallOptions call) {
  auto session = session_;
  Request request = write_request(*session, path, options);
  request.body = std::move(content);
  Json answer = co_await call_json(session->engine, std::move(request), call);
  co_return read_file(answer);
}

Async<FileWriter> Files::open_write_async(std::string path, WriteOptions options, CallOptions call) {
  auto session = session_;
  Request request = write_request(*session, path, options);
  request.headers["Content-Type"] = request.content_type;
  std::shared_ptr<Exchange> exchange =
      co_await session->engine->open(std::move(request), Body::streamed, call);
  co_return FileWriter(exchange);
}

FileInfo Files::write_from(std::string path, std::istream& in, WriteOptions options, CallOptions call) {
  FileWriter writer = open_write(std::move(path), std::move(options), call);
  std::string piece(kPieceBytes, '\0');
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0)
    writer.write(piece.substr(0, static_cast<std::size_t>(in.gcount())), call);
  if (in.bad())
    throw ConfigurationError("the stream could not be read", "check the stream that the file comes from");
  return writer.finish(call);
}

Async<std::vector<FileInfo>> Files::list_async(std::string path, int depth, CallOptions call) {
  auto session = session_;
  Request request = file_request(*session, "GET", path, "");
  request.query.emplace_back("depth", std::to_string(depth));
  Answer answer = co_await session->engine->send(std::move(request), call);
  if (!is_listing(answer)) {
    ErrorFacts facts{.code = "not_a_directory", .category = "user", .http_status = 400, .field = "path"};
    throw NotADirectoryError(path + " is a file", "name a directory, or use stat()", facts);
  }
  co_return read_list(answer.json(), "entries", read_file);
}

Async<FileInfo> Files::stat_async(std::string path, CallOptions call) {
  Files self = *this;
  auto [parent, name] = parent_and_name(path);
  if (name.empty()) {
    ErrorFacts facts{.code = "invalid_argument", .category = "user", .http_status = 400, .field = "path"};
    throw InvalidArgumentError("the root has no entry in any directory", "name something below it", facts);
  }
  std::vector<FileInfo> entries = co_await self.list_async(parent, 1, call);
  for (FileInfo& entry : entries) {
    if (entry.name == name) co_return std::move(entry);
  }
  ErrorFacts facts{.code = "not_found", .category = "user", .http_status = 404, .field = "path"};
  throw NotFoundError(path + ": No such file or directory", "check the path", facts);
}

Async<bool> Files::exists_async(std::string path, CallOptions call) {
  Files self = *this;
  if (parent_and_name(path).second.empty()) co_return true;
  try {
    co_await self.stat_async(path, call);
  } catch (const NotFoundError&) {
    co_return false;
  } catch (const NotADirectoryError&) {
    co_return false;
  }
  co_return true;
}

Async<void> Files::remove_async(std::string path, Tree tree, CallOptions call) {
  Request request = file_request(*session_, "DELETE", path, "");
  if (tree == Tree::yes) request.query.emplace_back("recursive", "true");
  return call_plain(session_->engine, std::move(request), std::move(call));
}

Async<FileInfo> Files::make_directory_async(std::string path, CallOptions call) {
  auto session = session_;
  Json body = Json::object({{"path", path}});
  Json answer = co_await call_json(session->engine, post_request(session->path("/files/mkdir"), body), call);
  co_return read_file(answer);
}

Async<FileInfo> Files::move_async(std::string from, std::string to, Overwrite overwrite, CallOptions call) {
  return two_paths(session_, "move", std::move(from), std::move(to), overwrite, std::move(call));
}

Async<FileInfo> Files::copy_async(std::string from, std::string to, Overwrite overwrite, CallOptions call) {
  return two_paths(session_, "copy", std::move(from), std::move(to), overwrite, std::move(call));
}

Async<Watch> Files::watch_async(std::string path, Tree tree, CallOptions call) {
  auto session = session_;
  Request request = file_request(*session, "GET", path, "/watch");
  if (tree == Tree::yes) request.query.emplace_back("recursive", "true");
  Milliseconds usual = session->engine->options().timeout;
  LiveAnswer live = co_await open_events(session->engine, std::move(request), call, usual);
  if (!live.source) throw ProtocolError("a watch is no stream of events");
  if (!call.timeout) call.timeout = usual;
  std::optional<Event> first = co_await EventSource::next(live.source, call);
  if (!first || first->name != "start") throw ProtocolError("a watch did not begin with 'start'");
  co_return Watch(live.source);
}

Async<FileReader> Files::open_archive_async(std::string path, CallOptions call) {
  Request request = file_request(*session_, "GET", path, "/archive");
  return open_reader(session_, std::move(request), std::move(path), std::move(call), true);
}

Async<Unpacked> Files::unpack_async(std::string path, std::string archive, CallOptions call) {
  auto session = session_;
  Request request = file_request(*session, "POST", path, "/archive");
  request.body = std::move(archive);
  request.content_type = "application/x-tar";
  Json answer = co_await call_json(session->engine, std::move(request), call, session->wait);
  co_return read_unpacked(answer);
}

}  // namespace atl::client
