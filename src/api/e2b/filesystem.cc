#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>

#include "api/e2b/connect.h"
#include "api/e2b/envd.h"
#include "api/http/client_presence.h"
#include "base/ids.h"

namespace atl::api::e2b {
namespace {

using sandbox::FileInfo;
using sandbox::FileType;
using WatchEvents = std::vector<sandbox::WatchEvent>;
using WatchPump = http::ClientPump<sandbox::Watch, WatchEvents>;

constexpr std::size_t kEntriesMax = 100'000;
constexpr std::size_t kWatchersMax = 64;  // in one sandbox

std::string_view type_word(FileType type) {
  switch (type) {
    case FileType::file: return "FILE_TYPE_FILE";
    case FileType::directory: return "FILE_TYPE_DIRECTORY";
    case FileType::symlink: return "FILE_TYPE_SYMLINK";
    default: return "FILE_TYPE_UNSPECIFIED";
  }
}

// Go's FileMode text.
std::string permissions(const FileInfo& info) {
  std::uint32_t mode = info.type == FileType::symlink ? info.link_mode : info.mode;
  std::string out = info.type == FileType::directory ? "d" : info.type == FileType::symlink ? "L" : "";
  if (mode & S_ISUID) out += 'u';
  if (mode & S_ISGID) out += 'g';
  if (mode & S_ISVTX) out += 't';
  if (out.empty()) out = "-";
  for (int shift = 6; shift >= 0; shift -= 3) {
    std::uint32_t bits = mode >> shift & 7;
    out += bits & 4 ? 'r' : '-';
    out += bits & 2 ? 'w' : '-';
    out += bits & 1 ? 'x' : '-';
  }
  return out;
}

std::string_view event_word(sandbox::WatchEventType type) {
  switch (type) {
    case sandbox::WatchEventType::create: return "EVENT_TYPE_CREATE";
    case sandbox::WatchEventType::write: return "EVENT_TYPE_WRITE";
    case sandbox::WatchEventType::remove: return "EVENT_TYPE_REMOVE";
    case sandbox::WatchEventType::rename: return "EVENT_TYPE_RENAME";
    case sandbox::WatchEventType::chmod: return "EVENT_TYPE_CHMOD";
  }
  std::unreachable();
}

bool carries_entry(sandbox::WatchEventType type) {
  return type != sandbox::WatchEventType::remove && type != sandbox::WatchEventType::rename;
}

// In E2B's words where the original has some.
Error file_error(Error error, std::string_view path) {
  if (error.code() == Code::not_found) return Error(Code::not_found, fmt::format("path not found: {}", path));
  return error;
}

struct WatchRequest {
  std::string path;
  sandbox::Recursive recursive = sandbox::Recursive::no;
  bool with_entry = false;
};

Result<WatchRequest> watch_request(const Object& message, const std::string& user, const Target& target) {
  WatchRequest request;
  std::string given = TRY(text_or(message, "path", ""));
  request.path = TRY(resolve_path(given, user, target));
  request.recursive =
      TRY(boolean_or(message, "recursive", false)) ? sandbox::Recursive::yes : sandbox::Recursive::no;
  request.with_entry = TRY(boolean_or(message, "includeEntry", false));
  return request;
}

Task<std::unique_ptr<sandbox::Watch>> open_watch(sandbox::Files& files, WatchRequest request,
                                                 std::string user) {
  auto info = co_await files.stat(request.path, user);
  if (!info) co_return fail(file_error(std::move(info).error(), request.path));
  bool directory = info->type == FileType::directory ||
                   (info->type == FileType::symlink && info->target_type == FileType::directory);
  if (!directory)
    co_return fail(Code::invalid_argument, fmt::format("path is not a directory: {}", request.path));
  co_return co_await files.watch(request.path, request.recursive, user);
}

// With what is there by now, if that was asked for.
Task<Object> event_object(sandbox::Files& files, const WatchRequest& request,
                          const sandbox::WatchEvent& event, const std::string& user) {
  Object seen{{"name", event.name}, {"type", event_word(event.type)}};
  if (request.with_entry && carries_entry(event.type)) {
    auto info = co_await files.stat(request.path + "/" + event.name, user);
    if (info) seen["entry"] = entry_info(*info);
  }
  co_return seen;
}

bool never(const WatchEvents&) {
  return false;
}

}  // namespace

// The events wait in the watch itself, which bounds them, until the client asks.
struct Envd::Watcher {
  std::string sandbox_id;
  WatchRequest wanted;
  std::string user;
  std::unique_ptr<sandbox::Watch> watch;
};

Object entry_info(const FileInfo& info) {
  FileType type = info.type == FileType::symlink ? info.target_type : info.type;
  Object entry{{"name", info.name}, {"path", info.path}, {"permissions", permissions(info)}};
  if (type_word(type) != "FILE_TYPE_UNSPECIFIED") entry["type"] = type_word(type);
  if (info.size != 0) entry["size"] = std::to_string(info.size);
  if ((info.mode & 0777) != 0) entry["mode"] = info.mode & 0777;
  if (!info.owner.empty()) entry["owner"] = info.owner;
  if (!info.group.empty()) entry["group"] = info.group;
  entry["modifiedTime"] = to_rfc3339(info.modified_at);
  if (info.type == FileType::symlink) entry["symlinkTarget"] = info.target.empty() ? info.path : info.target;
  Object metadata;
  for (const auto& [name, value] : info.attributes) {
    std::string_view key = name;
    if (key.starts_with("user.")) key.remove_prefix(5);
    if (key.starts_with("e2b.")) metadata[key.substr(4)] = value;
  }
  if (!metadata.empty()) entry["metadata"] = std::move(metadata);
  return entry;
}

Task<Object> Envd::file_stat(Target target, Object message, net::Request& request) {
  CO_TRY(std::string user, co_await user_of(context_, target, request));
  CO_TRY(std::string given, text_or(message, "path", ""));
  CO_TRY(std::string path, resolve_path(given, user, target));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  auto info = co_await files->stat(path, user);
  if (!info) co_return fail(file_error(std::move(info).error(), path));
  co_return Object{{"entry", entry_info(*info)}};
}

Task<Object> Envd::file_make_dir(Target target, Object message, net::Request& request) {
  CO_TRY(std::string user, co_await user_of(context_, target, request));
  CO_TRY(std::string given, text_or(message, "path", ""));
  CO_TRY(std::string path, resolve_path(given, user, target));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  auto made = co_await files->make_directory(path, user, sandbox::Ownership::hand_over);
  if (made) co_return Object{{"entry", entry_info(*made)}};
  auto there = co_await files->stat(path, user);
  bool directory = there && (there->type == FileType::directory || there->target_type == FileType::directory);
  if (directory) co_return fail(Code::already_exists, fmt::format("directory already exists: {}", path));
  if (there)
    co_return fail(Code::invalid_argument,
                   fmt::format("path already exists but it is not a directory: {}", path));
  co_return fail(std::move(made).error());
}

Task<Object> Envd::file_move(Target target, Object message, net::Request& request) {
  CO_TRY(std::string user, co_await user_of(context_, target, request));
  CO_TRY(std::string source, text_or(message, "source", ""));
  CO_TRY(std::string destination, text_or(message, "destination", ""));
  CO_TRY(std::string from, resolve_path(source, user, target));
  CO_TRY(std::string to, resolve_path(destination, user, target));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  auto moved = co_await files->move(from, to, user, sandbox::Overwrite::yes);
  if (!moved && moved.error().code() == Code::not_found) {
    // The source is missing, or only the destination's directory.
    auto there = co_await files->stat(from, user);
    if (!there) co_return fail(Code::not_found, fmt::format("source file not found: {}", from));
    std::string parent = to.substr(0, std::max<std::size_t>(1, to.rfind('/')));
    CO_CHECK(co_await files->make_directory(parent, user, sandbox::Ownership::hand_over));
    moved = co_await files->move(from, to, user, sandbox::Overwrite::yes);
  }
  if (!moved) co_return fail(std::move(moved).error());
  co_return Object{{"entry", entry_info(*moved)}};
}

// As text, entry by entry: as a document a listing takes ten times what it says.
Task<std::string> Envd::file_list(Target target, Object message, net::Request& request) {
  CO_TRY(std::string user, co_await user_of(context_, target, request));
  CO_TRY(std::string given, text_or(message, "path", ""));
  CO_TRY(auto depth, integer(message, "depth"));
  CO_TRY(std::string path, resolve_path(given, user, target));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  auto levels = static_cast<std::uint32_t>(std::clamp<std::int64_t>(depth.value_or(1), 1, 1000));
  sandbox::ListBounds bounds(kEntriesMax);
  bounds.take = [&held = request.held](std::size_t bytes) { return held.grow(bytes); };
  auto entries = co_await files->list(path, levels, std::move(bounds), user);
  if (!entries && entries.error().code() == Code::not_a_directory) {
    co_return fail(Code::invalid_argument, fmt::format("path is not a directory: {}", path));
  }
  if (!entries) co_return fail(file_error(std::move(entries).error(), path));
  std::string text = R"({"entries":[)";
  for (const FileInfo& info : *entries) {
    if (&info != &entries->front()) text += ',';
    text += to_text(entry_info(info));
  }
  CO_CHECK(request.held.grow(text.size()));
  co_return text + "]}";
}

Task<Object> Envd::file_remove(Target target, Object message, net::Request& request) {
  CO_TRY(std::string user, co_await user_of(context_, target, request));
  CO_TRY(std::string given, text_or(message, "path", ""));
  CO_TRY(std::string path, resolve_path(given, user, target));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  auto removed = co_await files->remove(path, sandbox::Recursive::yes, user);
  if (!removed && removed.error().code() != Code::not_found) co_return fail(std::move(removed).error());
  co_return Object();
}

Task<void> Envd::file_watch(Target target, Object message, net::Exchange& exchange) {
  CO_TRY(std::string user, co_await user_of(context_, target, exchange.request()));
  CO_TRY(WatchRequest request, watch_request(message, user, target));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  CO_TRY(auto watch, co_await open_watch(*files, request, user));
  WatchPump pump(context_.executor, exchange, std::move(watch), never);
  net::Headers headers{{"Content-Type", "application/connect+json"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  CO_CHECK(co_await exchange.write(connect::envelope(R"({"start":{}})")));
  auto interval = keepalive_interval(exchange.request());
  while (true) {
    CO_TRY(auto events, co_await pump.next(interval));
    if (!events) {
      if (!is_answering(context_, target.id())) {
        exchange.abort();
        co_return Result<void>();
      }
      CO_CHECK(co_await exchange.write(connect::envelope(R"({"keepalive":{}})")));
      continue;
    }
    std::string out;
    for (const sandbox::WatchEvent& event : *events) {
      CO_TRY(Object seen, co_await event_object(*files, request, event, user));
      out += connect::envelope(to_text(Object{{"filesystem", std::move(seen)}}));
    }
    CO_CHECK(co_await exchange.write(std::move(out)));
  }
}

// They live until somebody removes them or their sandbox ends, and each may hold thousands of events.
Result<void> Envd::check_watcher_room(const std::string& sandbox_id) const {
  const auto count = std::ranges::count_if(
      watchers_, [&](const auto& entry) { return entry.second->sandbox_id == sandbox_id; });
  if (static_cast<std::size_t>(count) < kWatchersMax) return {};
  return fail(
      Code::resource_exhausted,
      fmt::format("sandbox {} has {} watchers, which is the maximum: remove one first (RemoveWatcher)",
                  sandbox_id, count));
}

Task<Object> Envd::create_watcher(Target target, Object message, net::Request& request) {
  CO_TRY(std::string user, co_await user_of(context_, target, request));
  CO_TRY(WatchRequest wanted, watch_request(message, user, target));
  std::string sandbox_id = target.id();
  std::erase_if(watchers_,
                [&](const auto& entry) { return !context_.service.peek(entry.second->sandbox_id); });
  CO_CHECK(check_watcher_room(sandbox_id));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  CO_TRY(auto watch, co_await open_watch(*files, wanted, user));
  CO_CHECK(check_watcher_room(sandbox_id));  // others were made meanwhile
  auto watcher = std::make_shared<Watcher>();
  watcher->sandbox_id = sandbox_id;
  watcher->wanted = std::move(wanted);
  watcher->user = std::move(user);
  watcher->watch = std::move(watch);
  std::string id = "w" + random_word(20);
  watchers_[id] = watcher;
  co_return Object{{"watcherId", id}};
}

Task<Object> Envd::watcher_events(Target target, Object message, net::Request&) {
  CO_TRY(std::string id, text_or(message, "watcherId", ""));
  auto found = watchers_.find(id);
  if (found == watchers_.end() || found->second->sandbox_id != target.id()) {
    co_return fail(Code::not_found, fmt::format("watcher with id {} not found", id));
  }
  const std::shared_ptr<Watcher> watcher = found->second;
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  CO_TRY(const WatchEvents seen_events, co_await watcher->watch->poll());
  Array events;
  for (const auto& event : seen_events) {
    CO_TRY(Object seen, co_await event_object(*files, watcher->wanted, event, watcher->user));
    events.push_back(std::move(seen));
  }
  co_return Object{{"events", std::move(events)}};
}

Task<Object> Envd::remove_watcher(Target target, Object message, net::Request&) {
  CO_TRY(std::string id, text_or(message, "watcherId", ""));
  auto found = watchers_.find(id);
  if (found == watchers_.end() || found->second->sandbox_id != target.id()) {
    co_return fail(Code::not_found, fmt::format("watcher with id {} not found", id));
  }
  watchers_.erase(found);
  co_return Object();
}

}  // namespace atl::api::e2b
