#include "api/e2b/volumes.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>

#include "api/http/content.h"

namespace atl::api::e2b {
namespace {

using volume::Entry;
using volume::EntryType;
using volume::Existing;
using volume::Ownership;
using volume::Parents;
using volume::Tree;
using volume::Volume;

constexpr std::uint64_t kVolumeUploadMax = 64ULL << 30;
constexpr std::size_t kVolumeEntriesMax = 10'000;
constexpr std::size_t kPieceBytes = 256U << 10;
constexpr Rule kContent{Credential::volume, Permission::volumes};

// {"code":"not_found","message":"..."}: the one place of this wire where a code is a word.
net::Response render_content_error(const Error& error, const net::Request&) {
  const CodeRow& known = row(error.code());
  return json_response(known.http_status, Object{{"code", known.name}, {"message", error.message()}});
}

std::string timestamp_of(const timespec& time) {
  return to_timestamp(
      WallTime(std::chrono::seconds(time.tv_sec) +
               std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(time.tv_nsec))));
}

std::string_view word(EntryType type) {
  switch (type) {
    case EntryType::file: return "file";
    case EntryType::directory: return "directory";
    case EntryType::symlink: return "symlink";
    case EntryType::unknown: break;
  }
  return "unknown";
}

Object entry_object(const Entry& entry) {
  Object object{{"name", entry.name},
                {"type", word(entry.type)},
                {"path", entry.path},
                {"size", entry.size},
                {"mode", entry.mode},
                {"uid", entry.uid},
                {"gid", entry.gid},
                {"atime", timestamp_of(entry.accessed_at)},
                {"mtime", timestamp_of(entry.modified_at)},
                {"ctime", timestamp_of(entry.changed_at)}};
  if (!entry.target.empty()) object["target"] = entry.target;
  return object;
}

Result<std::optional<std::uint32_t>> number(const net::Request& request, std::string_view name) {
  auto text = request.query(name);
  if (!text || text->empty()) return std::optional<std::uint32_t>();
  std::uint32_t value = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size())
    return fail(Error(Code::invalid_argument, fmt::format("{} must be a number", name))
                    .with_field(std::string(name)));
  return std::optional<std::uint32_t>(value);
}

Result<Ownership> ownership_of(const net::Request& request) {
  return Ownership{TRY(number(request, "uid")), TRY(number(request, "gid")), TRY(number(request, "mode"))};
}

Result<std::string> path_of(const net::Request& request) {
  auto path = request.query("path");
  // As the contract has it: at least one character.
  if (!path || path->empty())
    return fail(Error(Code::invalid_argument, "path is required").with_field("path"));
  return *path;
}

// What `force` means is the call's own: parents of a directory are made, a file that exists is replaced.
Result<bool> is_forced(const net::Request& request) {
  const std::string word = request.query("force").value_or("");
  if (word == "true") return true;
  if (word.empty() || word == "false") return false;
  return fail(Error(Code::invalid_argument, "force must be true or false").with_field("force"));
}

Result<std::optional<std::uint32_t>> id_member(const Object& message, std::string_view name) {
  auto value = TRY(integer(message, name));
  if (!value) return std::optional<std::uint32_t>();
  if (*value < 0 || *value > UINT32_MAX)
    return fail(
        Error(Code::invalid_argument, fmt::format("{} is out of range", name)).with_field(std::string(name)));
  return std::optional<std::uint32_t>(static_cast<std::uint32_t>(*value));
}

Result<std::string> next_piece(int fd) {
  std::string piece(kPieceBytes, '\0');
  const ssize_t size = ::read(fd, piece.data(), piece.size());
  if (size < 0) return fail(errno_error(errno, "read the file"));
  piece.resize(static_cast<std::size_t>(size));
  return piece;
}

}  // namespace

void Volumes::add(net::Router& router, net::Method method, std::string_view path, Rule rule,
                  Handler handler) {
  router.add(method, path, context_.admission.rule(rule), [this, handler](net::Request& request) {
    return (this->*handler)(request, grant_of(request).who);
  });
}

void Volumes::add_content(net::Router& router, net::Method method, std::string_view path, Rule rule,
                          ContentHandler handler) {
  router.add(method, path, context_.admission.rule(rule), [this, handler](net::Request& request) {
    return (this->*handler)(request, *grant_of(request).volume);
  });
}

void Volumes::mount(net::Router& router) {
  add(router, net::Method::post, "/volumes", with_key(Permission::volumes), &Volumes::create);
  add(router, net::Method::get, "/volumes", with_key(Permission::volumes), &Volumes::list);
  add(router, net::Method::get, "/volumes/{volume}", with_key(Permission::volumes), &Volumes::get);
  add(router, net::Method::del, "/volumes/{volume}", with_key(Permission::volumes).ending(),
      &Volumes::remove);
}

void Volumes::mount_content(net::Router& router) {
  router.set_error_renderer(render_content_error);
  add_content(router, net::Method::get, "/volumecontent/{volume}/dir", kContent, &Volumes::list_directory);
  add_content(router, net::Method::post, "/volumecontent/{volume}/dir", kContent, &Volumes::make_directory);
  add_content(router, net::Method::get, "/volumecontent/{volume}/path", kContent, &Volumes::stat);
  add_content(router, net::Method::patch, "/volumecontent/{volume}/path", kContent, &Volumes::change);
  add_content(router, net::Method::del, "/volumecontent/{volume}/path", kContent.ending(),
              &Volumes::remove_path);
  router.add_stream(net::Method::get, "/volumecontent/{volume}/file", context_.admission.rule(kContent),
                    [this](net::Exchange& exchange) { return download(exchange); });
  router.add_stream(net::Method::put, "/volumecontent/{volume}/file", context_.admission.rule(kContent),
                    [this](net::Exchange& exchange) { return upload(exchange); },
                    {.body_bytes_max = kVolumeUploadMax});
}

Object Volumes::volume_object(const Volume& volume) const {
  // Beyond the contract: how large it may be, and who sees to it.
  return Object{{"volumeID", volume.id},
                {"name", volume.name},
                {"token", context_.volumes.token(volume)},
                {"maxBytes", volume.bounds.bytes_max},
                {"maxInodes", volume.bounds.inodes_max},
                {"enforced", to_string(volume.enforced)}};
}

Task<net::Response> Volumes::create(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(std::string name, text_or(message, "name", ""));
  Result<quota::Reservation> place = quota::Reservation();
  if (context_.inventory != nullptr) {
    const quota::Holder holder{who.tenant, who.key_id};
    CO_CHECK(co_await context_.reserve_stored(who, 1));
    place = co_await context_.inventory->reserve_one(quota::Quota::volumes, holder);
  }
  if (!place) co_return fail(std::move(place).error());
  auto made = co_await context_.volumes.create(who.tenant, std::move(name));
  if (!made && made.error().code() == Code::already_exists)
    co_return fail(Code::invalid_argument, made.error().message());
  if (!made) co_return fail(std::move(made).error());
  co_return json_response(201, volume_object(*made));
}

Task<net::Response> Volumes::list(net::Request&, auth::Principal who) {
  CO_TRY(const auto volumes, co_await context_.volumes.list(who.tenant));
  Array list;
  for (const Volume& volume : volumes) list.push_back(Object{{"volumeID", volume.id}, {"name", volume.name}});
  co_return json_response(200, list);
}

Task<net::Response> Volumes::get(net::Request& request, auth::Principal who) {
  std::string id = request.param("volume");
  CO_TRY(const Volume volume, co_await context_.volumes.get(who.tenant, std::move(id)));
  co_return json_response(200, volume_object(volume));
}

Task<net::Response> Volumes::remove(net::Request& request, auth::Principal who) {
  std::string id = request.param("volume");
  CO_TRY(const Volume volume, co_await context_.volumes.get(who.tenant, std::move(id)));
  for (const session::Session& session : context_.service.peek_all()) {
    if (session.tenant != who.tenant) continue;
    for (const auto& [path, name] : session.volumes) {
      if (name != volume.name && name != volume.id) continue;
      co_return fail(Code::conflict, fmt::format("Volume '{}' is mounted in sandbox '{}': kill it first",
                                                 volume.name, session.sandbox_id));
    }
  }
  CO_CHECK(co_await context_.volumes.remove(who.tenant, volume.id));
  co_return net::Response::empty(204);
}

Task<net::Response> Volumes::list_directory(net::Request& request, Volume volume) {
  CO_TRY(std::string path, path_of(request));
  CO_TRY(const auto depth, number(request, "depth"));
  auto work = [path, depth = depth.value_or(1)](Tree& tree) {
    return tree.list(path, depth, kVolumeEntriesMax);
  };
  CO_TRY(const auto entries,
         co_await context_.volumes.with_tree<std::vector<Entry>>(volume, std::move(work)));
  std::string text = "[";
  for (const Entry& entry : entries) {
    if (&entry != &entries.front()) text += ',';
    text += to_text(entry_object(entry));
  }
  CO_CHECK(request.held.grow(text.size() + entries.size() * sizeof(Entry)));
  co_return net::Response::json(200, text + "]");
}

Task<net::Response> Volumes::make_directory(net::Request& request, Volume volume) {
  CO_TRY(std::string path, path_of(request));
  CO_TRY(const Ownership ownership, ownership_of(request));
  CO_TRY(const bool forced, is_forced(request));
  auto work = [path, ownership, parents = forced ? Parents::create : Parents::must_exist](Tree& tree) {
    return tree.make_directory(path, ownership, parents);
  };
  CO_TRY(const Entry entry, co_await context_.volumes.with_tree<Entry>(volume, std::move(work)));
  co_return json_response(201, entry_object(entry));
}

Task<net::Response> Volumes::stat(net::Request& request, Volume volume) {
  CO_TRY(std::string path, path_of(request));
  auto work = [path](Tree& tree) { return tree.stat(path); };
  CO_TRY(const Entry entry, co_await context_.volumes.with_tree<Entry>(volume, std::move(work)));
  co_return json_response(200, entry_object(entry));
}

Task<net::Response> Volumes::change(net::Request& request, Volume volume) {
  CO_TRY(std::string path, path_of(request));
  CO_TRY(const Object message, parse_object(request.body));
  Ownership ownership;
  CO_TRY(ownership.uid, id_member(message, "uid"));
  CO_TRY(ownership.gid, id_member(message, "gid"));
  CO_TRY(ownership.mode, id_member(message, "mode"));
  auto work = [path, ownership](Tree& tree) { return tree.change(path, ownership); };
  CO_TRY(const Entry entry, co_await context_.volumes.with_tree<Entry>(volume, std::move(work)));
  co_return json_response(200, entry_object(entry));
}

Task<net::Response> Volumes::remove_path(net::Request& request, Volume volume) {
  CO_TRY(std::string path, path_of(request));
  auto work = [path](Tree& tree) { return tree.remove(path); };
  CO_CHECK(co_await context_.volumes.with_tree<void>(volume, std::move(work)));
  context_.volumes.note_changed(volume);
  co_return net::Response::empty(204);
}

Task<void> Volumes::download(net::Exchange& exchange) {
  const Volume volume = *grant_of(exchange.request()).volume;
  CO_TRY(std::string path, path_of(exchange.request()));
  auto work = [path](Tree& tree) { return tree.read(path); };
  CO_TRY(os::Fd opened_file, co_await context_.volumes.with_tree<os::Fd>(volume, std::move(work)));
  auto file = std::make_shared<os::Fd>(std::move(opened_file));
  struct stat info {};
  if (::fstat(file->get(), &info) < 0) co_return fail(errno_error(errno, "read the file"));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  net::Headers headers{{"Content-Type", "application/octet-stream"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers), size));
  http::Source next = [this, file, tenant = volume.tenant] {
    auto read = [file] { return next_piece(file->get()); };
    return context_.volumes.off_loop<std::string>(tenant, std::move(read));
  };
  co_return co_await http::send_content(exchange, std::move(next), size);
}

Task<void> Volumes::upload(net::Exchange& exchange) {
  net::Request& request = exchange.request();
  const Volume volume = *grant_of(request).volume;
  CO_TRY(std::string path, path_of(request));
  CO_TRY(const Ownership ownership, ownership_of(request));
  CO_TRY(const bool forced, is_forced(request));
  auto begin = [path, ownership, existing = forced ? Existing::replace : Existing::refuse](Tree& tree) {
    return tree.write(path, ownership, existing);
  };
  CO_TRY(volume::Incoming begun,
         co_await context_.volumes.with_tree<volume::Incoming>(volume, std::move(begin)));
  auto incoming = std::make_shared<volume::Incoming>(std::move(begun));
  // Room for all of it where that is known; otherwise piece by piece, and what is written is measured.
  const auth::Principal who = grant_of(request).who;
  const std::uint64_t announced = std::strtoull(std::string(request.headers.get("Content-Length")).c_str(),
                                                nullptr, 10);  // checked by the parser
  CO_TRY(quota::Reservation room, co_await context_.reserve_stored(who, announced));
  const auto arriving = context_.volumes.arriving_in(volume);
  std::string waiting;
  for (bool ended = false; !ended;) {
    CO_TRY(std::string piece, co_await exchange.read());
    ended = piece.empty();
    waiting += piece;
    if (waiting.empty() || (!ended && waiting.size() < kPieceBytes)) continue;
    if (announced == 0) {
      context_.volumes.note_changed(volume);
      CO_TRY(room, co_await context_.reserve_stored(who, waiting.size()));
    }
    const bool is_due = volume::Volumes::is_due(volume, *arriving, waiting.size());
    auto write = [incoming, bytes = std::exchange(waiting, {})] { return incoming->write(bytes); };
    CO_CHECK(co_await context_.volumes.off_loop<void>(volume.tenant, std::move(write)));
    if (!is_due) continue;
    const auto fits = co_await context_.volumes.mountable(volume);
    arriving->over = !fits;
    if (!fits) co_return fail(fits.error());
  }
  auto finish = [incoming] { return incoming->finish(); };
  CO_TRY(const Entry entry, co_await context_.volumes.off_loop<Entry>(volume.tenant, std::move(finish)));
  context_.volumes.note_changed(volume);
  net::Response response = json_response(201, entry_object(entry));
  co_return co_await exchange.send(std::move(response));
}

}  // namespace atl::api::e2b
