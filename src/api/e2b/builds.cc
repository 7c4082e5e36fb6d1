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

// Images that a machine without a registry can stand for: the distributions and languages its own view has.
bool is_local_image(std::string_view image) {
  for (std::string_view prefix : {"e2bdev/", "debian", "ubuntu", "python", "node", "buildpack-deps"}) {
    if (image.starts_with(prefix)) return true;
  }
  return image.empty();
}

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

Result<Builds::Plan> plan_of(const Object& message) {
  Builds::Plan plan;
  plan.from_image = TRY(text_or(message, "fromImage", ""));
  plan.from_template = TRY(text_or(message, "fromTemplate", ""));
  plan.start_command = TRY(text_or(message, "startCmd", ""));
  plan.ready_command = TRY(text_or(message, "readyCmd", ""));
  const Array* steps = TRY(array(message, "steps"));
  if (steps == nullptr) return plan;
  for (const auto& item : *steps) {
    if (!item.is_object()) return fail(Code::invalid_argument, "a step must be an object");
    Builds::Step step;
    step.type = TRY(text_or(item.as_object(), "type", ""));
    step.args = TRY(text_list(item.as_object(), "args"));
    step.files_hash = TRY(text_or(item.as_object(), "filesHash", ""));
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

std::string words(const Builds::Step& step) {
  return fmt::format("{} {}", step.type, fmt::join(step.args, " "));
}

bool is_hash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

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
  CO_TRY(std::vector<std::string> tags, text_list(message, "tags"));
  if (!ref.tag.empty()) tags.push_back(ref.tag);
  if (tags.empty()) tags.emplace_back("default");
  CO_TRY(BuiltTemplate made, co_await templates_.find_or_create(who, ref.name));
  std::string build_id = random_uuid();
  made.builds[build_id] = BuiltTemplate::Build{.tags = tags, .created_at = context_.clock.now()};
  CO_CHECK(co_await templates_.save(who, made));
  progress_[build_id] = Progress();
  Array tag_list;
  for (const std::string& tag : tags) tag_list.emplace_back(tag);
  Array names{boost::json::value(ref.name)};
  co_return json_response(202, Object{{"templateID", made.id},
                                      {"buildID", build_id},
                                      {"public", false},
                                      {"names", names},
                                      {"tags", std::move(tag_list)},
                                      {"aliases", names}});
}

Task<net::Response> Builds::file_link(net::Request& request, auth::Principal who) {
  std::string hash = request.param("hash");
  if (!is_hash(hash)) co_return fail(Code::invalid_argument, "the hash must be 64 hexadecimal digits");
  std::string path = upload_path(who.tenant, hash);
  if (::access(path.c_str(), R_OK) == 0) co_return json_response(201, Object{{"present", true}});
  std::string token = random_hex(20);
  uploads_[token] = path;
  std::string url =
      fmt::format("{}://{}/upload/{}", request.secure ? "https" : "http", request.host(), token);
  co_return json_response(201, Object{{"present", false}, {"url", url}});
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
    if (!piece) result = fail(std::move(piece).error());
    if (!piece || piece->empty()) break;
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
  CO_TRY(Plan plan, plan_of(message));
  plan.tenant = who.tenant;
  plan.template_id = request.param("template");
  plan.build_id = request.param("build");
  CO_TRY(BuiltTemplate made, co_await templates_.built(who, plan.template_id));
  if (!made.builds.contains(plan.build_id)) {
    co_return fail(Code::not_found, fmt::format("build '{}' not found", plan.build_id));
  }
  Progress& progress = progress_[plan.build_id];
  if (progress.status != "waiting") co_return fail(Code::conflict, "the build was started already");
  progress.status = "building";
  boost::asio::co_spawn(context_.executor, run(who, std::move(plan)), boost::asio::detached);
  co_return net::Response::empty(202);
}

boost::asio::awaitable<void> Builds::run(auth::Principal who, Plan plan) {
  std::string step = "base";
  Result<std::string> snapshot = co_await build(who, plan, step);
  Result<BuiltTemplate> made = co_await templates_.built(who, plan.template_id);
  if (made) {
    auto& record = made->builds[plan.build_id];
    record.snapshot = snapshot ? *snapshot : "";
    record.status = snapshot ? "ready" : "error";
    record.start_command = plan.start_command;
    Result<void> saved = co_await templates_.save(who, *made);
    if (!saved) snapshot = fail(std::move(saved).error());
  }
  Progress& progress = progress_[plan.build_id];
  if (!snapshot) {
    log(plan.build_id, "error", snapshot.error().message(), step);
    progress.reason = snapshot.error().message();
    progress.reason_step = step;
  } else {
    log(plan.build_id, "info", "Build finished");
  }
  progress.status = snapshot ? "ready" : "error";
}

// Gives the snapshot's id; `step` says where it stands.
Task<std::string> Builds::build(auth::Principal who, const Plan& plan, std::string& step) {
  session::CreateRequest wanted;
  wanted.environment = "base";
  wanted.policy_mode = session::PolicyMode::audit;
  wanted.ttl = std::chrono::hours(1);
  wanted.attributes["e2b.build"] = plan.build_id;
  if (!plan.from_template.empty()) {
    CO_TRY(Template from, co_await templates_.resolve(who, plan.from_template));
    wanted.environment = from.environment;
    wanted.snapshot = from.snapshot;
  } else if (!is_local_image(plan.from_image)) {
    co_return fail(Code::not_found,
                   fmt::format("image '{}' is not available on this machine", plan.from_image));
  }
  log(plan.build_id, "info",
      fmt::format("FROM {}", plan.from_template.empty() ? plan.from_image : plan.from_template), "base");
  CO_TRY(session::Session session, co_await context_.service.create(who, std::move(wanted)));
  Shell shell{.who = who, .session_id = session.session_id};
  Result<void> done;
  for (std::size_t i = 0; i < plan.steps.size() && done; ++i) {
    step = std::to_string(i + 1);
    log(plan.build_id, "info", fmt::format("[{}/{}] {}", i + 1, plan.steps.size(), words(plan.steps[i])),
        step);
    done = co_await perform(shell, plan, plan.steps[i]);
  }
  Result<std::string> snapshot_id = fail(Code::internal, "");
  if (done) {
    step = "finalize";
    std::string unnamed;
    session::TextMap attributes{{"e2b.build", plan.build_id}};
    auto snapshot =
        co_await context_.service.snapshot(who, session.session_id, unnamed, std::move(attributes));
    if (snapshot) {
      snapshot_id = snapshot->snapshot_id;
    } else {
      snapshot_id = fail(std::move(snapshot).error());
    }
  } else {
    snapshot_id = fail(std::move(done).error());
  }
  auto ended = co_await context_.service.destroy(who, session.session_id);
  (void)ended;
  co_return snapshot_id;
}

Task<void> Builds::perform(Shell& shell, const Plan& plan, const Step& step) {
  const auto& args = step.args;
  if (step.type == "RUN" && !args.empty()) {
    std::string user = args.size() > 1 && !args[1].empty() ? args[1] : shell.user;
    co_return co_await shell_run(shell, plan, args[0], user);
  }
  if (step.type == "ENV") {
    for (std::size_t i = 0; i + 1 < args.size(); i += 2) shell.env[args[i]] = args[i + 1];
    co_return Result<void>();
  }
  if (step.type == "WORKDIR" && !args.empty()) {
    CO_TRY(std::string directory, resolve_path(args[0], shell.user));
    std::string line =
        fmt::format("mkdir -p {0} && chown {1}: {0}", shell_word(directory), shell_word(shell.user));
    CO_CHECK(co_await shell_run(shell, plan, line, "root"));
    shell.directory = directory;
    co_return Result<void>();
  }
  if (step.type == "USER" && !args.empty()) {
    std::string line = fmt::format("id -u {0} >/dev/null 2>&1 || useradd -m {0}", shell_word(args[0]));
    CO_CHECK(co_await shell_run(shell, plan, line, "root"));
    shell.user = args[0];
    co_return Result<void>();
  }
  if (step.type == "COPY" && args.size() >= 2) co_return co_await copy(shell, plan, step);
  co_return fail(Code::invalid_argument, fmt::format("unknown step '{}'", words(step)));
}

Task<void> Builds::copy(Shell& shell, const Plan& plan, const Step& step) {
  if (!is_hash(step.files_hash)) co_return fail(Code::invalid_argument, "COPY without its files");
  std::string archive = upload_path(plan.tenant, step.files_hash);
  os::Fd file(::open(archive.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) co_return fail(Code::not_found, "the files of COPY were not uploaded");
  CO_TRY(auto files, co_await context_.service.files(shell.who, shell.session_id));
  sandbox::WriteOptions options;
  options.user = "root";
  std::string inside = "/tmp/.copy-" + random_word(12);
  CO_TRY(auto writer, co_await files->open_write(inside + ".tar", options));
  std::string block(65536, '\0');
  while (true) {
    ssize_t size = ::read(file.get(), block.data(), block.size());
    if (size < 0) co_return fail(errno_error(errno, "read the upload"));
    if (size == 0) break;
    CO_CHECK(co_await writer->write(block.substr(0, static_cast<std::size_t>(size))));
  }
  CO_CHECK(co_await writer->finish());
  std::string owner = step.args.size() > 2 && !step.args[2].empty() ? step.args[2] : shell.user;
  std::string mode = step.args.size() > 3 ? step.args[3] : "";
  std::string source = step.args[0], target = step.args[1];
  if (!target.starts_with('/')) target = shell.directory + "/" + target;
  // A directory's content is merged into the target; a file goes into a directory or gets the target's name.
  std::string line = fmt::format(
      "set -e; mkdir {0}; tar -xf {0}.tar -C {0} --no-same-owner; cd {0}; chown -R {1}: .; {2}"
      "if [ -d {3} ]; then mkdir -p {4}; cp -a {3}/. {4}; "
      "else case {4} in */) mkdir -p {4};; *) mkdir -p \"$(dirname {4})\";; esac; cp -a {3} {4}; fi; "
      "cd /; rm -rf {0} {0}.tar",
      inside, shell_word(owner), mode.empty() ? "" : fmt::format("chmod -R {} .; ", shell_word(mode)),
      shell_word(source), shell_word(target));
  co_return co_await shell_run(shell, plan, line, "root");
}

Task<void> Builds::shell_run(Shell& shell, const Plan& plan, std::string line, std::string user) {
  session::CommandRequest command;
  command.argv = {"/bin/bash", "-l", "-c", line};
  command.user = user;
  command.cwd = shell.directory;
  command.env = shell.env;
  command.timeout = std::chrono::hours(1);
  std::string nothing;
  auto record =
      co_await context_.service.run_command(shell.who, shell.session_id, std::move(command), nothing);
  if (!record && record.error().message().find("user") != std::string::npos) {
    co_return fail(
        Code::invalid_argument,
        fmt::format("failed to run command '{}': command failed: unauthenticated: invalid username: '{}'",
                    line, user));
  }
  if (!record) co_return fail(std::move(record).error());
  for (const std::string* output : {&record->out, &record->err}) {
    if (!output->empty()) log(plan.build_id, output == &record->out ? "info" : "warn", *output);
  }
  if (record->status != session::Status::success) {
    co_return fail(Code::invalid_argument,
                   fmt::format("failed to run command '{}': exit status {}", line, record->exit_code));
  }
  co_return Result<void>();
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
  const Progress& progress = found == progress_.end() ? stored : found->second;
  auto offset =
      static_cast<std::size_t>(std::max(0, std::atoi(request.query("logsOffset").value_or("0").c_str())));
  Array entries, lines;
  for (std::size_t i = offset; i < progress.logs.size() && entries.size() < kLogsPage; ++i) {
    const Log& entry = progress.logs[i];
    Object shown{{"timestamp", entry.timestamp}, {"level", entry.level}, {"message", entry.message}};
    if (!entry.step.empty()) shown["step"] = entry.step;
    entries.push_back(std::move(shown));
    lines.emplace_back(entry.message);
  }
  Object body{{"templateID", template_id},
              {"buildID", build_id},
              {"status", progress.status},
              {"logs", std::move(lines)},
              {"logEntries", std::move(entries)}};
  if (!progress.reason.empty())
    body["reason"] = Object{{"message", progress.reason}, {"step", progress.reason_step}};
  co_return json_response(200, body);
}

Task<net::Response> Builds::assign_tags(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(std::string target, text_or(message, "target", ""));
  CO_TRY(std::vector<std::string> tags, text_list(message, "tags"));
  CO_TRY(TemplateRef ref, parse_template_ref(target));
  for (const std::string& tag : tags) CO_CHECK(parse_template_ref("x:" + tag));
  CO_TRY(BuiltTemplate made, co_await templates_.built(who, ref.name));
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
  CO_TRY(std::vector<std::string> tags, text_list(message, "tags"));
  CO_TRY(TemplateRef ref, parse_template_ref(name));
  CO_TRY(BuiltTemplate made, co_await templates_.built(who, ref.name));
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
