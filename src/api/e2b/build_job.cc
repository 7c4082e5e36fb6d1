#include "api/e2b/build_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>

#include "api/e2b/gateway.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "os/fd.h"

namespace atl::api::e2b {
namespace {

constexpr std::chrono::minutes kBuildReadyMax{10};
constexpr std::chrono::milliseconds kReadyEvery{2000};
constexpr const char* kDefaultReady = "sleep 20";  // with a start command and no ready command, as E2B has it
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// A pattern stands for what it matches: the client packed that, and left the pattern as it was. A directory's
// content is merged into the target; a file goes into a directory or gets the target's name.
constexpr std::string_view kCopy = R"sh(set -e
mkdir "$box"; tar -xf "$box.tar" -C "$box" --no-same-owner; cd "$box"
chown -R "$owner" .
[ -z "$mode" ] || chmod -R "$mode" .
shopt -s globstar dotglob extglob
if [ -e "$from" ]; then set -- "$from"; else IFS=; set -- $pattern; fi
for one; do
  if [ -d "$one" ]; then mkdir -p "$to"; cp -a -- "$one/." "$to"
  elif [ $# -gt 1 ] || [ "${to%/}" != "$to" ]; then mkdir -p "$to"; cp -a -- "$one" "$to"
  else mkdir -p "$(dirname "$to")"; cp -a -- "$one" "$to"; fi
done
cd /; rm -rf "$box" "$box.tar")sh";

// What a step writes, line by line while it is written.
class LogLines {
 public:
  LogLines(const BuildJob::Log& log, std::string step) : log_(log), step_(std::move(step)) {}

  void add(sandbox::Output output) {
    std::string& rest = output.stream == sandbox::Stream::err ? err_ : out_;
    rest += output.bytes;
    std::size_t begin = 0;
    for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
      tell(output.stream, rest.substr(begin, end - begin));
      begin = end + 1;
    }
    rest.erase(0, begin);
    if (rest.size() > kLineMax) tell(output.stream, std::exchange(rest, {}));
  }
  void finish() {
    tell(sandbox::Stream::out, std::exchange(out_, {}));
    tell(sandbox::Stream::err, std::exchange(err_, {}));
  }

 private:
  static constexpr std::size_t kLineMax = 16384;

  void tell(sandbox::Stream stream, std::string line) {
    if (line.empty() || left_ == 0) return;
    const std::size_t size = std::min(left_, line.size());
    if (size == left_) line = "(what this step writes from here on is not kept)";
    left_ -= size;
    log_(stream == sandbox::Stream::err ? "warn" : "info", to_valid_utf8(line), step_);
  }
  const BuildJob::Log& log_;
  std::string step_, out_, err_;
  std::size_t left_ = 1U << 20;
};

// Alternatives in braces as bash matches them in a pattern: a{b,c} is a@(b|c).
std::string bash_pattern(std::string_view pattern) {
  std::string out;
  int depth = 0;
  for (const char c : pattern) {
    if (c == '{') {
      out += "@(";
      ++depth;
    } else if (depth > 0 && (c == ',' || c == '}')) {
      out += c == ',' ? '|' : ')';
      depth -= c == '}' ? 1 : 0;
    } else {
      out += c;
    }
  }
  return out;
}

std::string user_or_default(const TemplateSettings& settings) {
  return settings.user.empty() ? "user" : settings.user;
}

std::string directory_or_default(const TemplateSettings& settings) {
  return settings.working_directory.empty() ? "/home/user" : settings.working_directory;
}

std::string why_of(const sandbox::Outcome& outcome) {
  return outcome.reason.empty() ? fmt::format("exit status {}", exit_status(outcome)) : outcome.reason;
}

// A start command while its build waits for it to be ready: what it writes is told, how it ended is kept.
struct StartCommand {
  BuildJob::Log log;  // empty once nobody waits any more
  std::optional<sandbox::Outcome> ended;
};

boost::asio::awaitable<void> follow(std::shared_ptr<StartCommand> started,
                                    std::unique_ptr<sandbox::ProcessStream> stream, std::string step) {
  const BuildJob::Log log = [started](auto&&... words) {
    if (started->log) started->log(std::forward<decltype(words)>(words)...);
  };
  LogLines lines(log, std::move(step));
  while (started->log) {
    auto event = co_await stream->next();
    if (!event) co_return;
    if (auto* output = std::get_if<sandbox::Output>(&*event)) {
      lines.add(std::move(*output));
      continue;
    }
    lines.finish();
    started->ended = std::get<sandbox::Outcome>(std::move(*event));
    co_return;
  }
}

}  // namespace

session::CommandRequest template_command(const TemplateSettings& settings, std::string line) {
  session::CommandRequest command;
  command.argv = {"/bin/bash", "-l", "-c", std::move(line)};
  command.user = settings.user;
  command.cwd = settings.working_directory;
  command.env = settings.env;
  return command;
}

Task<void> wait_until_ready(Context& context, auth::Principal who, std::string session_id,
                            TemplateSettings settings, std::string command, std::chrono::milliseconds limit,
                            GoesOn goes_on) {
  const SteadyTime until = context.clock.steady() + limit;
  std::chrono::milliseconds pause{20};
  while (true) {
    session::CommandRequest request = template_command(settings, command);
    request.timeout = limit;
    std::string nothing;
    CO_TRY(const auto record,
           co_await context.service.run_command(who, session_id, std::move(request), nothing));
    if (goes_on) CO_CHECK(goes_on());
    if (record.status == session::Status::success) co_return Result<void>{};
    if (context.clock.steady() + pause > until)
      co_return fail(Code::deadline_exceeded,
                     fmt::format("the ready command '{}' did not succeed in time", command));
    boost::asio::steady_timer timer(context.executor, pause);
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    pause = std::min(pause * 2, kReadyEvery);
  }
}

Task<BuildJob::Done> BuildJob::run() {
  Result<void> done = co_await find_base();
  if (done) {
    CO_TRY(const std::size_t first, co_await skip_kept());
    done = co_await perform_from(first);
  }
  if (done) {
    step_ = "finalize";
    done = co_await start_and_wait();
  }
  Result<std::string> snapshot = fail(Code::internal, "not built");
  if (done) {
    snapshot = co_await keep();
  } else {
    snapshot = fail(std::move(done).error());
  }
  co_await close_sandbox();
  if (!snapshot) co_return fail(std::move(snapshot).error());
  co_return Done{std::move(*snapshot), settings_};
}

Task<void> BuildJob::find_base() {
  if (!recipe_.from_template.empty()) {
    CO_TRY(const Template from, co_await templates_.resolve(who_, recipe_.from_template));
    if (!from.is_ready)
      co_return fail(Code::invalid_argument,
                     fmt::format("template '{}' is not built", recipe_.from_template));
    settings_ = from.settings;
    snapshot_ = from.snapshot;
    // A build on another tenant's template copies its files, because the owner may remove or close the
    // template.
    if (!snapshot_.empty() && from.tenant != who_.tenant) {
      snapshot_tenant_ = from.tenant;
      is_kept_ = false;
    }
  } else {
    CO_TRY(const LocalImage image, local_image(recipe_.from_image, context_.service.registry()));
    settings_.environment = image.environment;
    settings_.provider = image.provider;
    take_image_settings();
  }
  if (!recipe_.start_command.empty()) {
    settings_.start_command = recipe_.start_command;
    settings_.ready_command.clear();
  }
  if (!recipe_.ready_command.empty()) settings_.ready_command = recipe_.ready_command;
  names_ = layer_names(recipe_, fmt::format("{}\n{}\n{}\n{}\n{}", who_.tenant, settings_.environment,
                                            settings_.provider, snapshot_, fmt::join(base_layers(), " ")));
  log_("info",
       fmt::format("FROM {}", recipe_.from_template.empty() ? recipe_.from_image : recipe_.from_template),
       "base");
  co_return Result<void>{};
}

// An environment that was built again is another base under the same name.
std::vector<std::string> BuildJob::base_layers() const {
  const registry::Environment* environment = context_.service.registry().environment(settings_.environment);
  return environment == nullptr ? std::vector<std::string>() : environment->digests;
}

// What an imported image says about its processes holds for what is built on it, as far as no step says
// otherwise.
void BuildJob::take_image_settings() {
  const registry::Environment* environment = context_.service.registry().environment(settings_.environment);
  if (environment == nullptr || !environment->imported) return;
  settings_.env = environment->env;
  settings_.user = environment->user;
  settings_.working_directory = environment->working_directory;
}

// What a step says about processes to come; no sandbox is needed for it.
Result<void> BuildJob::note(const Step& step) {
  if (step.type == "ENV") {
    std::map<std::string, std::string> seen = settings_.env;
    seen.emplace("PATH", kPath);
    for (std::size_t i = 0; i + 1 < step.args.size(); i += 2) {
      settings_.env[step.args[i]] = expand_variables(step.args[i + 1], seen);
      seen[step.args[i]] = settings_.env[step.args[i]];
    }
  } else if (step.type == "WORKDIR" && !step.args.empty()) {
    std::string path = step.args[0];
    if (!path.starts_with('/') && !path.starts_with('~') && !settings_.working_directory.empty())
      path = settings_.working_directory + "/" + path;
    settings_.working_directory = TRY(resolve_path(path, settings_.user));
  } else if (step.type == "USER" && !step.args.empty()) {
    settings_.user = step.args[0];
  }
  return {};
}

Task<std::size_t> BuildJob::skip_kept() {
  std::size_t usable = 0;
  while (!recipe_.force && usable < recipe_.steps.size() && !recipe_.steps[usable].force) ++usable;
  std::size_t kept = 0;
  for (std::size_t count = usable; count > 0 && kept == 0; --count) {
    CO_TRY(auto found, co_await cache_.find(who_, names_[count - 1]));
    if (!found) continue;
    snapshot_ = std::move(*found);
    snapshot_tenant_.clear();
    is_kept_ = true;
    kept = count;
  }
  for (std::size_t i = 0; i < kept; ++i) {
    CO_CHECK(note(recipe_.steps[i]));
    log_("info", fmt::format("CACHED [{}/{}] {}", i + 1, recipe_.steps.size(), recipe_.steps[i].words()),
         std::to_string(i + 1));
  }
  co_return kept;
}

Task<void> BuildJob::open_sandbox() {
  if (!session_id_.empty()) co_return Result<void>{};
  session::CreateRequest wanted;
  wanted.environment = settings_.environment;
  wanted.provider = settings_.provider;
  wanted.snapshot = snapshot_;
  wanted.snapshot_tenant = snapshot_tenant_;
  wanted.policy_mode = session::PolicyMode::audit;
  wanted.ttl = std::chrono::hours(2);
  wanted.attributes[attribute::kBuild] = "true";
  CO_TRY(const session::Session session, co_await context_.service.create(who_, std::move(wanted)));
  session_id_ = session.session_id;
  co_return co_await put_gateway(context_, who_, session);
}

boost::asio::awaitable<void> BuildJob::close_sandbox() {
  if (session_id_.empty()) co_return;
  auto ended = co_await context_.service.destroy(who_, std::exchange(session_id_, std::string()));
  (void)ended;  // its time to live ends it otherwise
}

Task<void> BuildJob::perform_from(std::size_t first) {
  for (std::size_t i = first; i < recipe_.steps.size(); ++i) {
    const Step& step = recipe_.steps[i];
    step_ = std::to_string(i + 1);
    log_("info", fmt::format("[{}/{}] {}", i + 1, recipe_.steps.size(), step.words()), step_);
    if (step.type == "ENV") {
      CO_CHECK(note(step));
      continue;
    }
    CO_CHECK(co_await open_sandbox());
    CO_CHECK(co_await perform(step));
    is_kept_ = false;
    CO_TRY(std::string snapshot, co_await keep());
    CO_CHECK(co_await cache_.put(who_, names_[i], std::move(snapshot)));
    // The next step starts on this layer: it holds only what that step does, and no process of this one.
    co_await close_sandbox();
  }
  co_return Result<void>{};
}

Task<void> BuildJob::perform(const Step& step) {
  const auto& args = step.args;
  if (step.type == "RUN" && !args.empty()) {
    std::string user = args.size() > 1 && !args[1].empty() ? args[1] : user_or_default(settings_);
    Line line{args[0], std::move(user), directory_or_default(settings_), args[0]};
    co_return co_await run_line(std::move(line));
  }
  if (step.type == "COPY" && args.size() >= 2) co_return co_await copy(step);
  std::string line;
  if (step.type == "WORKDIR" && !args.empty()) {
    CO_CHECK(note(step));
    std::string directory = shell_word(settings_.working_directory);
    line = fmt::format("mkdir -p {0} && chown {1}: {0}", directory, shell_word(user_or_default(settings_)));
  } else if (step.type == "USER" && !args.empty()) {
    line = fmt::format("id -u {0} >/dev/null 2>&1 || useradd -m -s /bin/bash {0}", shell_word(args[0]));
  } else {
    co_return fail(Code::invalid_argument, fmt::format("unknown step '{}'", step.words()));
  }
  Line whole{std::move(line), "root", "/", step.words()};
  CO_CHECK(co_await run_line(std::move(whole)));
  if (step.type == "USER") CO_CHECK(note(step));
  co_return Result<void>{};
}

Task<void> BuildJob::copy(const Step& step) {
  if (!is_sha256(step.files_hash)) co_return fail(Code::invalid_argument, "COPY without its files");
  os::Fd file(::open(upload_of_(step.files_hash).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) co_return fail(Code::not_found, "the files of COPY were not uploaded");
  CO_TRY(auto files, co_await context_.service.files(who_, session_id_));
  sandbox::WriteOptions options;
  options.user = "root";
  std::string inside = "/tmp/.copy-" + random_word(12);
  std::string archive = inside + ".tar";
  CO_TRY(auto writer, co_await files->open_write(archive, options));
  std::string block(65536, '\0');
  while (true) {
    const ssize_t size = ::read(file.get(), block.data(), block.size());
    if (size < 0) co_return fail(errno_error(errno, "read the upload"));
    if (size == 0) break;
    std::string piece = block.substr(0, static_cast<std::size_t>(size));
    CO_CHECK(co_await writer->write(std::move(piece)));
  }
  CO_CHECK(co_await writer->finish());
  std::string owner =
      step.args.size() > 2 && !step.args[2].empty() ? step.args[2] : user_or_default(settings_);
  if (owner.find(':') == std::string::npos) owner += ':';
  std::string mode = step.args.size() > 3 ? step.args[3] : "";
  std::string target = step.args[1];
  if (!target.starts_with('/')) target = directory_or_default(settings_) + "/" + target;
  std::string line = fmt::format("box={}; owner={}; mode={}; from={}; pattern={}; to={}\n{}", inside,
                                 shell_word(owner), shell_word(mode), shell_word(step.args[0]),
                                 shell_word(bash_pattern(step.args[0])), shell_word(target), kCopy);
  Line whole{std::move(line), "root", "/", step.words()};
  co_return co_await run_line(std::move(whole));
}

// True as well if that cannot be found out: then the error at hand says more.
boost::asio::awaitable<bool> BuildJob::has_user(std::string name) {
  const auto known = co_await user_exists(context_, who_, session_id_, std::move(name));
  co_return known.value_or(true);
}

Task<void> BuildJob::run_line(Line line) {
  session::CommandRequest request = template_command(settings_, line.text);
  request.user = line.user;
  request.cwd = line.directory;
  request.timeout = std::chrono::hours(1);
  request.background = true;  // bound only by its time: builds write and compute much
  auto command =
      session::started_or_error(co_await context_.service.start(who_, session_id_, std::move(request)));
  if (!command && !line.user.empty() && !(co_await has_user(line.user))) {
    co_return fail(
        Code::invalid_argument,
        fmt::format("failed to run command '{}': command failed: unauthenticated: invalid username: '{}'",
                    line.shown, line.user));
  }
  if (!command) co_return fail(std::move(command).error());
  LogLines lines(log_, step_);
  while (true) {
    CO_TRY(sandbox::ProcessEvent event, co_await command->stream->next());
    if (auto* output = std::get_if<sandbox::Output>(&event)) {
      lines.add(std::move(*output));
      continue;
    }
    lines.finish();
    const auto& outcome = std::get<sandbox::Outcome>(event);
    if (outcome.succeeded()) co_return Result<void>{};
    co_return fail(Code::invalid_argument,
                   fmt::format("failed to run command '{}': {}", line.shown, why_of(outcome)));
  }
}

// The command runs while the files are kept, as in the original; sandboxes made from them start it anew. One
// that fails before it is ready ends the build; one that just ends has done what it is for.
Task<void> BuildJob::start_and_wait() {
  if (settings_.start_command.empty() && settings_.ready_command.empty()) co_return Result<void>{};
  CO_CHECK(co_await open_sandbox());
  is_kept_ = false;
  const auto started = std::make_shared<StartCommand>();
  if (!settings_.start_command.empty()) {
    log_("info", fmt::format("Start command: {}", settings_.start_command), step_);
    session::CommandRequest command = template_command(settings_, settings_.start_command);
    command.background = true;
    CO_TRY(auto running,
           session::started_or_error(co_await context_.service.start(who_, session_id_, std::move(command))));
    started->log = log_;
    boost::asio::co_spawn(context_.executor, follow(started, std::move(running.stream), step_),
                          boost::asio::detached);
  }
  std::string ready = settings_.ready_command.empty() ? kDefaultReady : settings_.ready_command;
  log_("info", fmt::format("Ready command: {}", ready), step_);
  const auto goes_on = [this, started]() -> Result<void> {
    if (!started->ended || started->ended->succeeded()) return {};
    return fail(Code::invalid_argument,
                fmt::format("error running start command: failed to run command '{}': {}",
                            settings_.start_command, why_of(*started->ended)));
  };
  auto waited = co_await wait_until_ready(context_, who_, session_id_, settings_, std::move(ready),
                                          kBuildReadyMax, goes_on);
  started->log = nullptr;
  co_return waited;
}

Task<std::string> BuildJob::keep() {
  if (is_kept_) co_return snapshot_;
  CO_CHECK(co_await open_sandbox());
  std::string unnamed;
  session::TextMap attributes{{attribute::kBuild, "true"}};
  CO_TRY(const auto snapshot,
         co_await context_.service.snapshot(who_, session_id_, unnamed, std::move(attributes)));
  snapshot_ = snapshot.snapshot_id;
  snapshot_tenant_.clear();
  is_kept_ = true;
  co_return snapshot_;
}

}  // namespace atl::api::e2b
