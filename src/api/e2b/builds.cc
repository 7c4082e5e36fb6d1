#include "api/e2b/builds.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <filesystem>

#include "base/ids.h"
#include "os/fd.h"

namespace atl::api::e2b {
namespace {

constexpr std::size_t kLogsPage = 100;
constexpr std::uint64_t kUploadMax = 4ULL << 30;
constexpr std::int64_t kCpusMax = 64;
constexpr std::int64_t kMemoryMax = 1 << 20;  // MB

Result<std::optional<std::int64_t>> bounded(const Object& message, std::string_view name, std::int64_t max) {
  auto value = TRY(integer(message, name));
  if (value && (*value < 1 || *value > max))
    return fail(Error(Code::invalid_argument, fmt::format("{} must be between 1 and {}", name, max))
                    .with_field(std::string(name)));
  return value;
}

// As they are kept: lower-cased and trimmed, as every reference is.
Result<std::vector<std::string>> tags_of(const Object& message) {
  std::vector<std::string> tags = TRY(text_list(message, "tags"));
  for (std::string& tag : tags) {
    auto ref = parse_template_ref("x:" + tag);
    if (!ref) return fail(Error(Code::invalid_argument, fmt::format("Invalid tag: '{}'", tag)).with_field("tags"));
    tag = ref->tag;
  }
  return tags;
}

int level_of(std::string_view word) {
  if (word == "debug") return 0;
  if (word == "info") return 1;
  return word == "warn" ? 2 : 3;
}

// Which log entries of a build are wanted.
struct LogPage {
  std::size_t offset = 0, limit = kLogsPage;
  int level = 0;
};

Result<std::size_t> number_of(const net::Request& request, std::string_view name, std::size_t otherwise) {
  auto text = request.query(name);
  if (!text || text->empty()) return otherwise;
  if (text->size() > 9 || text->find_first_not_of("0123456789") != std::string::npos)
    return fail(Error(Code::invalid_argument, fmt::format("{} must be a number", name)).with_field(std::string(name)));
  return static_cast<std::size_t>(std::stoul(*text));
}

Result<LogPage> log_page(const net::Request& request) {
  LogPage page;
  page.offset = TRY(number_of(request, "logsOffset", 0));
  page.limit = std::min(TRY(number_of(request, "limit", kLogsPage)), kLogsPage);
  const std::string level = request.query("level").value_or("debug");
  page.level = level_of(level);
  if (page.level == 3 && level != "error")
    return fail(Error(Code::invalid_argument, "level must be debug, info, warn or error").with_field("level"));
  return page;
}

}  // namespace

Object Builds::log_object(const Log& entry) {
  Object shown{{"timestamp", entry.timestamp}, {"level", entry.level}, {"message", entry.message}};
  if (!entry.step.empty()) shown["step"] = entry.step;
  return shown;
}

void Builds::add(net::Router& router, net::Method method, std::string_view path, Handler handler) {
  router.add(method, path, [this, handler](net::Request& request) -> Task<net::Response> {
    CO_TRY(auth::Principal who, context_.authenticate(request));
    co_return co_await (this->*handler)(request, std::move(who));
  });
}

void Builds::mount(net::Router& router) {
  add(router, net::Method::post, "/v3/templates", &Builds::request_build);
  add(router, net::Method::get, "/templates/{template}/files/{hash}", &Builds::file_link);
  add(router, net::Method::post, "/v2/templates/{template}/builds/{build}", &Builds::start_build);
  add(router, net::Method::get, "/templates/{template}/builds/{build}/status", &Builds::status);
  add(router, net::Method::get, "/templates/{template}/builds/{build}/logs", &Builds::logs);
  add(router, net::Method::post, "/templates/tags", &Builds::assign_tags);
  add(router, net::Method::del, "/templates/tags", &Builds::remove_tags);
  router.add_stream(net::Method::put, "/upload/{token}",
                    [this](net::Exchange& exchange) { return upload(exchange); },
                    {.body_bytes_max = kUploadMax});
}

void Builds::log(const std::string& build_id, std::string level, std::string message, std::string step) {
  progress_[build_id].logs.push_back(
      Log{to_timestamp(context_.clock.now()), std::move(level), std::move(message), std::move(step)});
}

std::string Builds::upload_path(const std::string& tenant, const std::string& hash) const {
  return fmt::format("{}/uploads/{}-{}.tar", context_.data, tenant, hash);
}

Task<net::Response> Builds::request_build(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(std::string name, text_or(message, "name", ""));
  if (name.empty()) {
    CO_TRY(name, text_or(message, "alias", ""));
  }
  CO_TRY(TemplateRef ref, parse_template_ref(name));
  CO_CHECK(co_await templates_.check_name(who, ref));
  CO_TRY(std::vector<std::string> tags, tags_of(message));
  if (!ref.tag.empty()) tags.push_back(ref.tag);
  if (tags.empty()) tags.emplace_back("default");
  CO_TRY(BuiltTemplate made, co_await templates_.find_or_create(who, ref.name));
  std::string build_id = random_uuid();
  BuiltTemplate::Build build{.tags = tags, .created_at = context_.clock.now()};
  CO_TRY(build.settings.cpu_count, bounded(message, "cpuCount", kCpusMax));
  CO_TRY(build.settings.memory_mb, bounded(message, "memoryMB", kMemoryMax));
  made.builds[build_id] = std::move(build);
  CO_CHECK(co_await templates_.save(who, made));
  progress_[build_id] = Progress();
  Array tag_list;
  for (const std::string& tag : tags) tag_list.emplace_back(tag);
  Array names{boost::json::value(ref.name)};
  co_return json_response(202, Object{{"templateID", made.id},
                                      {"buildID", build_id},
                                      {"public", made.is_public},
                                      {"names", names},
                                      {"tags", std::move(tag_list)},
                                      {"aliases", names}});
}

Task<net::Response> Builds::file_link(net::Request& request, auth::Principal who) {
  std::string hash = request.param("hash");
  if (!is_sha256(hash)) co_return fail(Code::invalid_argument, "the hash must be 64 hexadecimal digits");
  CO_CHECK(co_await templates_.built(who, request.param("template")));
  std::string path = upload_path(who.tenant, hash);
  // Also for what is here already: a client may insist on sending it again.
  const bool present = ::access(path.c_str(), R_OK) == 0;
  std::string token = random_hex(20);
  uploads_[token] = path;
  std::string url =
      fmt::format("{}://{}/upload/{}", request.secure ? "https" : "http", request.host(), token);
  co_return json_response(201, Object{{"present", present}, {"url", url}});
}

Task<void> Builds::upload(net::Exchange& exchange) {
  auto found = uploads_.find(exchange.request().param("token"));
  if (found == uploads_.end()) co_return fail(Code::not_found, "no such upload");
  std::string path = found->second;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::string partial = path + "." + random_word(8);
  os::Fd file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) co_return fail(errno_error(errno, "keep the upload"));
  Result<void> result;
  while (result) {
    auto piece = co_await exchange.read();
    if (!piece) {
      result = fail(std::move(piece).error());
      break;
    }
    if (piece->empty()) break;
    if (::write(file.get(), piece->data(), piece->size()) != static_cast<ssize_t>(piece->size())) {
      result = fail(errno_error(errno, "keep the upload"));
    }
  }
  if (result && ::rename(partial.c_str(), path.c_str()) != 0)
    result = fail(errno_error(errno, "keep the upload"));
  if (!result) {
    ::unlink(partial.c_str());
    co_return result;
  }
  net::Response done = net::Response::empty(200);
  co_return co_await exchange.send(std::move(done));
}

Task<net::Response> Builds::start_build(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(Recipe recipe, Recipe::parse(message));
  std::string template_id = request.param("template"), build_id = request.param("build");
  CO_TRY(BuiltTemplate made, co_await templates_.built(who, template_id));
  if (!made.builds.contains(build_id)) {
    co_return fail(Code::not_found, fmt::format("build '{}' not found", build_id));
  }
  Progress& progress = progress_[build_id];
  if (progress.status != "waiting") co_return fail(Code::conflict, "the build was started already");
  progress.status = "building";
  boost::asio::co_spawn(context_.executor, run(who, std::move(recipe), made.id, build_id), boost::asio::detached);
  co_return net::Response::empty(202);
}

boost::asio::awaitable<void> Builds::run(auth::Principal who, Recipe recipe, std::string template_id,
                                         std::string build_id) {
  auto upload_of = [this, tenant = who.tenant](const std::string& hash) { return upload_path(tenant, hash); };
  auto write = [this, build_id](std::string level, std::string message, std::string step) {
    log(build_id, std::move(level), std::move(message), std::move(step));
  };
  BuildJob job(context_, templates_, cache_, who, std::move(recipe), std::move(upload_of), std::move(write));
  Result<BuildJob::Done> done = co_await job.run();
  Result<void> saved = co_await save(who, template_id, build_id, done, job.step());
  if (done && !saved) done = fail(std::move(saved).error());
  Progress& progress = progress_[build_id];
  if (!done) {
    log(build_id, "error", done.error().message(), job.step());
    progress.reason = done.error().message();
    progress.reason_step = job.step();
  } else {
    log(build_id, "info", "Build finished");
  }
  progress.status = done ? "ready" : "error";
}

Task<void> Builds::save(auth::Principal who, std::string template_id, std::string build_id,
                        const Result<BuildJob::Done>& done, std::string step) {
  CO_TRY(BuiltTemplate made, co_await templates_.built(who, template_id));
  BuiltTemplate::Build& build = made.builds[build_id];
  build.status = done ? "ready" : "error";
  if (done) {
    // What was asked for with the build's name stays.
    auto cpu_count = build.settings.cpu_count, memory_mb = build.settings.memory_mb;
    build.snapshot = done->snapshot;
    build.settings = done->settings;
    if (cpu_count) build.settings.cpu_count = cpu_count;
    if (memory_mb) build.settings.memory_mb = memory_mb;
  } else {
    build.reason = done.error().message();
    build.reason_step = std::move(step);
  }
  CO_CHECK(co_await templates_.save(who, made));
  CO_TRY(const auto used, co_await templates_.built_snapshots(who));
  co_return co_await cache_.trim(who, used);
}

Task<net::Response> Builds::status(net::Request& request, auth::Principal who) {
  std::string template_id = request.param("template"), build_id = request.param("build");
  CO_TRY(BuiltTemplate made, co_await templates_.built(who, template_id));
  auto record = made.builds.find(build_id);
  if (record == made.builds.end())
    co_return fail(Code::not_found, fmt::format("build '{}' not found", build_id));
  auto found = progress_.find(build_id);
  Progress stored;
  stored.status = record->second.status;
  stored.reason = record->second.reason;
  stored.reason_step = record->second.reason_step;
  const Progress& progress = found == progress_.end() ? stored : found->second;
  // The offset counts what the level lets through, as clients count what they were given.
  CO_TRY(const LogPage page, log_page(request));
  const int level = page.level;
  std::size_t skip = page.offset;
  Array entries, lines;
  for (const Log& entry : progress.logs) {
    if (level_of(entry.level) < level) continue;
    if (skip > 0) {
      --skip;
      continue;
    }
    if (entries.size() == page.limit) break;
    entries.push_back(log_object(entry));
    lines.emplace_back(entry.message);
  }
  Object body{{"templateID", template_id},
              {"buildID", build_id},
              {"status", progress.status},
              {"logs", std::move(lines)},
              {"logEntries", std::move(entries)}};
  if (!progress.reason.empty()) {
    Object reason{{"message", progress.reason}};
    if (!progress.reason_step.empty()) reason["step"] = progress.reason_step;
    body["reason"] = std::move(reason);
  }
  co_return json_response(200, body);
}

// By time instead of by count: `cursor` is the first millisecond that is wanted, in the direction of reading.
Task<net::Response> Builds::logs(net::Request& request, auth::Principal who) {
  CO_TRY(const BuiltTemplate made, co_await templates_.built(who, request.param("template")));
  std::string build_id = request.param("build");
  if (!made.builds.contains(build_id)) co_return fail(Code::not_found, fmt::format("build '{}' not found", build_id));
  CO_TRY(const LogPage page, log_page(request));
  const std::string direction = request.query("direction").value_or("forward");
  if (direction != "forward" && direction != "backward")
    co_return fail(Error(Code::invalid_argument, "direction must be forward or backward").with_field("direction"));
  const bool forward = direction == "forward";
  std::string cursor;
  if (auto at = request.query("cursor"); at && !at->empty()) {
    if (at->size() > 15 || at->find_first_not_of("0123456789") != std::string::npos)
      co_return fail(Error(Code::invalid_argument, "cursor must be a time in milliseconds").with_field("cursor"));
    cursor = to_timestamp(WallTime(std::chrono::milliseconds(std::stoll(*at))));
  }
  std::vector<Log> known = progress_.contains(build_id) ? progress_[build_id].logs : std::vector<Log>();
  if (!forward) std::reverse(known.begin(), known.end());
  Array entries;
  for (const Log& entry : known) {
    const bool outside = !cursor.empty() && (forward ? entry.timestamp < cursor : entry.timestamp > cursor);
    if (outside || level_of(entry.level) < page.level) continue;
    if (entries.size() == page.limit) break;
    entries.push_back(log_object(entry));
  }
  co_return json_response(200, Object{{"logs", std::move(entries)}});
}

Task<net::Response> Builds::assign_tags(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(std::string target, text_or(message, "target", ""));
  CO_TRY(std::vector<std::string> tags, tags_of(message));
  CO_TRY(TemplateRef ref, parse_template_ref(target));
  if (tags.empty()) co_return fail(Error(Code::invalid_argument, "tags are required").with_field("tags"));
  CO_TRY(BuiltTemplate made, co_await templates_.changeable(who, ref));
  std::string from = ref.tag.empty() ? "default" : ref.tag;
  std::string build_id = made.build_of(from);
  if (build_id.empty()) {
    co_return fail(Code::not_found, fmt::format("tag '{}' does not exist for template '{}'", from, ref.name));
  }
  Array shown;
  for (const std::string& tag : tags) {
    made.set_tag(tag, build_id);
    shown.emplace_back(tag);
  }
  CO_CHECK(co_await templates_.save(who, made));
  co_return json_response(201, Object{{"buildID", build_id}, {"tags", std::move(shown)}});
}

Task<net::Response> Builds::remove_tags(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(std::string name, text_or(message, "name", ""));
  CO_TRY(std::vector<std::string> tags, tags_of(message));
  CO_TRY(TemplateRef ref, parse_template_ref(name));
  CO_TRY(BuiltTemplate made, co_await templates_.changeable(who, ref));
  for (const std::string& tag : tags) {
    if (tag == "default") co_return fail(Code::invalid_argument, "the tag 'default' cannot be deleted");
    if (made.build_of(tag).empty()) {
      co_return fail(Code::not_found,
                     fmt::format("tag '{}' does not exist for template '{}'", tag, ref.name));
    }
    made.remove_tag(tag);
  }
  CO_CHECK(co_await templates_.save(who, made));
  co_return net::Response::empty(204);
}

}  // namespace atl::api::e2b
