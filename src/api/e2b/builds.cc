#include "api/e2b/builds.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <limits>

#include "base/ids.h"
#include "session/subject.h"

namespace atl::api::e2b {
namespace {

constexpr std::size_t kLogsPage = 100;
constexpr std::uint64_t kBuildUploadMax = 4ULL << 30;
constexpr std::int64_t kCpusMax = 64;
constexpr std::int64_t kMemoryMax = 1 << 20;  // MB
constexpr std::int64_t kDiskMax = 1 << 24;    // MB

Result<std::optional<std::int64_t>> bounded(const Object& message, std::string_view name, std::int64_t max,
                                            std::int64_t min = 1) {
  auto value = TRY(integer(message, name));
  if (value && (*value < min || *value > max))
    return fail(Error(Code::invalid_argument, fmt::format("{} must be between {} and {}", name, min, max))
                    .with_field(std::string(name)));
  return value;
}

// As they are kept: lower-cased and trimmed, as every reference is.
Result<std::vector<std::string>> tags_of(const Object& message) {
  std::vector<std::string> tags = TRY(text_list(message, "tags"));
  for (std::string& tag : tags) {
    auto ref = parse_template_ref("x:" + tag);
    if (!ref)
      return fail(Error(Code::invalid_argument, fmt::format("Invalid tag: '{}'", tag)).with_field("tags"));
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
    return fail(Error(Code::invalid_argument, fmt::format("{} must be a number", name))
                    .with_field(std::string(name)));
  return static_cast<std::size_t>(std::stoul(*text));
}

Result<LogPage> log_page(const net::Request& request) {
  LogPage page;
  page.offset = TRY(number_of(request, "logsOffset", 0));
  page.limit = std::min(TRY(number_of(request, "limit", kLogsPage)), kLogsPage);
  const std::string level = request.query("level").value_or("debug");
  page.level = level_of(level);
  if (page.level == 3 && level != "error")
    return fail(
        Error(Code::invalid_argument, "level must be debug, info, warn or error").with_field("level"));
  return page;
}

}  // namespace

Object Builds::log_object(const Log& entry) {
  Object shown{{"timestamp", entry.timestamp}, {"level", entry.level}, {"message", entry.message}};
  if (!entry.step.empty()) shown["step"] = entry.step;
  return shown;
}

void Builds::add(net::Router& router, net::Method method, std::string_view path, Rule rule, Handler handler) {
  router.add(method, path, context_.admission.rule(rule), [this, handler](net::Request& request) {
    return (this->*handler)(request, grant_of(request).who);
  });
}

void Builds::mount(net::Router& router) {
  add(router, net::Method::post, "/v3/templates", with_key(Permission::templates), &Builds::request_build);
  add(router, net::Method::get, "/templates/{template}/files/{hash}", with_key(Permission::templates),
      &Builds::file_link);
  add(router, net::Method::post, "/v2/templates/{template}/builds/{build}", with_key(Permission::templates),
      &Builds::start_build);
  add(router, net::Method::get, "/templates/{template}/builds/{build}/status",
      with_key(Permission::templates), &Builds::status);
  add(router, net::Method::get, "/templates/{template}/builds/{build}/logs", with_key(Permission::templates),
      &Builds::logs);
  add(router, net::Method::post, "/templates/tags", with_key(Permission::templates), &Builds::assign_tags);
  add(router, net::Method::del, "/templates/tags", with_key(Permission::templates).ending(),
      &Builds::remove_tags);
  context_.admission.set_upload_owner([this](const std::string& token) -> std::optional<auth::Principal> {
    return uploads_.owner_of(token);
  });
  router.add_stream(net::Method::put, "/upload/{token}",
                    context_.admission.rule({Credential::upload, Permission::templates}),
                    [this](net::Exchange& exchange) { return uploads_.receive(exchange); },
                    {.body_bytes_max = kBuildUploadMax});
}

// What is over the bound is not kept, but for errors: the last word says how it ended. Entries are never
// taken back, because clients count those that they were given.
void Builds::log(const std::string& build_id, std::string level, std::string message, std::string step) {
  constexpr std::uint64_t each = 64;  // for what is no text
  constexpr std::size_t last_word_max = 16U << 10;
  Progress& progress = progress_[build_id];
  const std::uint64_t most = context_.bounds.build_log_bytes;
  const bool was_over = most > 0 && progress.log_bytes > most;
  if (was_over && level != "error") return;
  if (was_over && message.size() > last_word_max) message.resize(last_word_max);
  progress.log_bytes += message.size() + each;
  if (!was_over && most > 0 && progress.log_bytes > most)
    message =
        fmt::format("The log is longer than the {} bytes that are kept: what follows is left out.", most);
  progress.logs.push_back(
      Log{to_timestamp(context_.clock.now()), std::move(level), std::move(message), std::move(step)});
}

Task<std::vector<Builds::Log>> Builds::logs_of(auth::Principal who, std::string build_id) {
  if (const auto found = progress_.find(build_id); found != progress_.end()) co_return found->second.logs;
  std::vector<Log> logs;
  std::string kind = kBuildLogKind;
  auto row = co_await context_.store.get_document(kind, who.tenant, build_id);
  if (!row && row.error().code() == Code::not_found) co_return logs;
  if (!row) co_return fail(std::move(row).error());
  CO_TRY(const Object body, parse_object(row->body));
  const boost::json::value* entries = body.if_contains("entries");
  if (entries == nullptr || !entries->is_array()) co_return logs;
  for (const boost::json::value& entry : entries->get_array()) {
    if (!entry.is_object()) continue;
    const Object& object = entry.get_object();
    Log log;
    CO_TRY(log.timestamp, text_or(object, "timestamp", ""));
    CO_TRY(log.level, text_or(object, "level", "info"));
    CO_TRY(log.message, text_or(object, "message", ""));
    CO_TRY(log.step, text_or(object, "step", ""));
    logs.push_back(std::move(log));
  }
  co_return logs;
}

Task<void> Builds::store_log(auth::Principal who, std::string build_id) {
  Array entries;
  for (const Log& entry : progress_[build_id].logs) entries.push_back(log_object(entry));
  store::DocumentRow row;
  row.kind = kBuildLogKind;
  row.tenant = who.tenant;
  row.id = build_id;
  row.body = to_text(Object{{"entries", std::move(entries)}});
  row.created_at = row.updated_at = context_.clock.now();
  co_return co_await context_.store.put_document(std::move(row));
}

std::int64_t Builds::ceiling(std::string_view limit, std::int64_t otherwise) const {
  const registry::Ceilings& ceilings = context_.service.ceilings();
  const auto found = ceilings.find(limit);
  return found == ceilings.end() ? otherwise
                                 : std::min(otherwise, static_cast<std::int64_t>(found->second.most));
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
  quota::Reservation place;
  CO_TRY(BuiltTemplate made, co_await templates_.find_or_create(who, ref.name, place));
  std::string build_id = random_uuid();
  BuiltTemplate::Build build{.tags = tags, .created_at = context_.clock.now()};
  CO_TRY(build.settings.cpu_count, bounded(message, "cpuCount", ceiling("cpu_cores", kCpusMax)));
  CO_TRY(build.settings.memory_mb, bounded(message, "memoryMB", ceiling("memory_mb", kMemoryMax)));
  CO_TRY(const auto free_disk_mb, bounded(message, "minFreeDiskMb", ceiling("disk_mb", kDiskMax), 0));
  build.free_disk_mb = free_disk_mb.value_or(0);
  made.builds[build_id] = std::move(build);
  CO_CHECK(co_await templates_.save(who, made));
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
  // Also for what is here already: a client may insist on sending it again.
  const bool present = uploads_.is_there(who.tenant, hash);
  const std::string token = uploads_.make_token(who, hash);
  std::string url =
      fmt::format("{}://{}/upload/{}", request.secure ? "https" : "http", request.host(), token);
  co_return json_response(201, Object{{"present", present}, {"url", url}});
}

Task<net::Response> Builds::start_build(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(Recipe recipe, Recipe::parse(message));
  std::string template_id = request.param("template"), build_id = request.param("build");
  CO_TRY(BuiltTemplate made, co_await templates_.built(who, template_id));
  if (!made.builds.contains(build_id)) {
    co_return fail(Code::not_found, fmt::format("build '{}' not found", build_id));
  }
  if (progress_.contains(build_id) || made.builds[build_id].status != "waiting")
    co_return fail(Code::conflict, "the build was started already");
  progress_[build_id].status = "building";
  boost::asio::co_spawn(context_.executor, run(who, std::move(recipe), made.id, build_id),
                        boost::asio::detached);
  co_return net::Response::empty(202);
}

boost::asio::awaitable<void> Builds::run(auth::Principal who, Recipe recipe, std::string template_id,
                                         std::string build_id) {
  // Whoever may make templates may have their builds run, whatever else their role allows.
  using auth::Permission;
  who.permissions =
      who.permissions | auth::PermissionSet{Permission::sessions_read, Permission::sessions_write,
                                            Permission::execute,       Permission::files_read,
                                            Permission::files_write,   Permission::snapshots};
  auto upload_of = [this, tenant = who.tenant](const std::string& hash) {
    return uploads_.path_of(tenant, hash);
  };
  auto write = [this, build_id](std::string level, std::string message, std::string step) {
    log(build_id, std::move(level), std::move(message), std::move(step));
  };
  BuildJob job(context_, templates_, cache_, who, std::move(recipe), std::move(upload_of), std::move(write));
  Result<BuildJob::Done> done = co_await job.run();
  Result<void> saved = co_await save(who, template_id, build_id, done, job.step());
  if (done && !saved) done = fail(saved.error());
  if (!done) {
    log(build_id, "error", done.error().message(), job.step());
  } else {
    log(build_id, "info", "Build finished");
  }
  Progress& progress = progress_[build_id];
  progress.status = done ? "ready" : "error";
  if (!done) progress.reason = done.error().message(), progress.reason_step = job.step();
  // From here on the store tells, as after a restart.
  auto kept = co_await store_log(who, build_id);
  if (kept && saved) progress_.erase(build_id);
  if (!kept)
    log::warn(session::subject_of(who), "the log of a build could not be stored",
              {{"build", build_id}, {"error", kept.error().message()}});
}

// Room for what the steps wrote and for what was asked for beside it, as far as the ceilings allow; never
// less than it was. The size of a snapshot that is not this tenant's is not known here: then it counts for
// nothing.
Task<void> Builds::grow_disk(auth::Principal who, BuiltTemplate::Build& build) {
  if (build.free_disk_mb == 0) co_return Result<void>{};
  std::int64_t written_mb = 0;
  if (!build.snapshot.empty()) {
    std::string snapshot_id = build.snapshot;
    const auto snapshot = co_await context_.service.get_snapshot(who, snapshot_id);
    if (snapshot) written_mb = static_cast<std::int64_t>(snapshot->size_bytes / kMegabyte) + 1;
  }
  const std::int64_t wanted =
      std::min(written_mb + build.free_disk_mb, ceiling("disk_mb", std::numeric_limits<std::int64_t>::max()));
  if (wanted > templates_.disk_mb(build.settings)) build.settings.disk_mb = wanted;
  co_return Result<void>{};
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
    CO_CHECK(co_await grow_disk(who, build));
  } else {
    build.reason = done.error().message();
    build.reason_step = std::move(step);
  }
  CO_CHECK(co_await templates_.trim_builds(who, made));
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
  Progress progress;
  progress.status = record->second.status;
  progress.reason = record->second.reason;
  progress.reason_step = record->second.reason_step;
  if (auto found = progress_.find(build_id); found != progress_.end()) progress = found->second;
  CO_TRY(progress.logs, co_await logs_of(who, build_id));
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
  if (!made.builds.contains(build_id))
    co_return fail(Code::not_found, fmt::format("build '{}' not found", build_id));
  CO_TRY(const LogPage page, log_page(request));
  const std::string direction = request.query("direction").value_or("forward");
  if (direction != "forward" && direction != "backward")
    co_return fail(
        Error(Code::invalid_argument, "direction must be forward or backward").with_field("direction"));
  const bool forward = direction == "forward";
  std::string cursor;
  if (auto at = request.query("cursor"); at && !at->empty()) {
    if (at->size() > 15 || at->find_first_not_of("0123456789") != std::string::npos)
      co_return fail(
          Error(Code::invalid_argument, "cursor must be a time in milliseconds").with_field("cursor"));
    cursor = to_timestamp(WallTime(std::chrono::milliseconds(std::stoll(*at))));
  }
  CO_TRY(std::vector<Log> known, co_await logs_of(who, build_id));
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
