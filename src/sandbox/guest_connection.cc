#include "sandbox/guest_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "base/ids.h"
#include "sandbox/interpreter_boot.h"

namespace atl::sandbox {
using guest::Type;

namespace {

void complete(ProcessSpec& spec, const GuestOptions& options) {
  if (spec.user.empty()) spec.user = options.user;
  if (spec.cwd.empty()) spec.cwd = options.working_directory;
  for (const auto& [name, value] : options.env) spec.env.emplace(name, value);
}

// Variables that an interpreter, its C library or its loader look at only when they start.
bool matters_at_start(const std::string& name) {
  static constexpr std::string_view prefixes[] = {"PYTHON", "LC_", "LD_", "MALLOC_", "GLIBC_", "OPENSSL_"};
  static constexpr std::string_view names[] = {"LANG", "LANGUAGE", "TZ", "TZDIR", "HOME", "LOCPATH"};
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::ranges::find(names, name) != std::end(names);
}

bool can_be_forked(const Variables& env) {
  return std::ranges::none_of(env, [](const auto& one) { return matters_at_start(one.first); });
}

void note_begin(std::vector<std::uint64_t>& began, const GuestProcess* process) {
  constexpr std::size_t kept = 32;
  if (process == nullptr || !process->since()) return;
  began.insert(std::ranges::upper_bound(began, *process->since()), *process->since());
  if (began.size() > kept) began.erase(began.begin());
}

}  // namespace

GuestConnection::GuestConnection(std::shared_ptr<FrameStream> frames, GuestOptions options)
    : frames_(std::move(frames)),
      options_(std::make_shared<GuestOptions>(std::move(options))),
      files_(frames_, options_->user) {}

GuestConnection::~GuestConnection() {
  frames_->end(Error(Code::unavailable, "the sandbox is closed"));
}

Task<std::shared_ptr<GuestConnection>> GuestConnection::open(os::Fd stream, GuestOptions options) {
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto frames = std::make_shared<FrameStream>(executor, std::move(stream));
  std::shared_ptr<GuestConnection> connection(new GuestConnection(frames, std::move(options)));
  frames->on_live([raw = connection.get()](std::uint32_t channel,
                                           std::string_view payload) -> std::shared_ptr<FrameChannel> {
    const auto process =
        std::make_shared<GuestProcess>(raw->frames_, ProcessSpec{}, raw->options_->outcome_filter);
    const auto saved = std::ranges::find(raw->options_->saved, channel, &SavedInterpreter::channel);
    if (saved == raw->options_->saved.end()) {
      if (!process->revive(channel, payload)) return nullptr;
      raw->keep(process);
      return process;
    }
    const auto interpreter = raw->make_interpreter(saved->info);
    process->set_tap(interpreter);
    if (!process->revive(channel, payload)) return nullptr;
    interpreter->go_on_with(process);
    (saved->is_warm ? raw->warm_ : raw->interpreters_).push_back(interpreter);
    return process;
  });
  const auto patience = connection->options_->patience;
  CO_CHECK(co_await frames->greet(patience));
  frames->on_live(nullptr);
  co_return connection;
}

void GuestConnection::keep(const std::shared_ptr<GuestProcess>& process) {
  processes_->push_back(process);
  process->on_ended([all = processes_, raw = process.get()] {
    std::erase_if(*all, [raw](const auto& one) { return one.get() == raw; });
  });
}

void GuestConnection::set_defaults(std::string user, std::string working_directory, Variables env) {
  files_.set_default_user(user);
  options_->user = std::move(user);
  options_->working_directory = std::move(working_directory);
  options_->env = std::move(env);
  for (const auto& interpreter : interpreters_) interpreter->set_variables(options_->env);
}

void GuestConnection::add_variables(const Variables& variables) {
  Variables added;
  for (const auto& [name, value] : variables)
    if (options_->env.emplace(name, value).second) added.emplace(name, value);
  for (const auto& interpreter : interpreters_) interpreter->set_variables(added);
}

Task<std::shared_ptr<Process>> GuestConnection::start(ProcessSpec spec) {
  if (spec.argv.empty() || spec.argv.front().empty())
    co_return fail(Code::invalid_argument, "the command is empty");
  if (!spec.tag.empty()) {
    const bool taken =
        std::ranges::any_of(*processes_, [&](const auto& one) { return one->info().tag == spec.tag; });
    if (taken)
      co_return fail(Code::already_exists, fmt::format("a process with tag '{}' is running", spec.tag));
  }
  complete(spec, *options_);
  const auto process = std::make_shared<GuestProcess>(frames_, std::move(spec), options_->outcome_filter);
  keep(process);
  const auto all = processes_;
  const auto options = options_;
  const auto began = began_;
  const Result<void> started = co_await process->start();
  if (!started) {
    std::erase(*all, process);
    co_return fail(started.error());
  }
  note_begin(*began, process.get());
  if (options->on_activity) options->on_activity();
  co_return std::shared_ptr<Process>(process);
}

std::vector<std::shared_ptr<Process>> GuestConnection::processes() const {
  std::vector<std::shared_ptr<Process>> out;
  for (const auto& process : *processes_)
    if (process->info().pid != 0) out.push_back(process);
  return out;
}

std::shared_ptr<GuestInterpreter> GuestConnection::make_interpreter(InterpreterInfo info) {
  GuestInterpreter::Launch launch = [frames = frames_, options = options_, language = info.language](
                                        ProcessSpec spec, std::weak_ptr<ProcessTap> tap,
                                        InterpreterOrigin origin) -> Task<std::shared_ptr<GuestProcess>> {
    complete(spec, *options);
    if (wants_memory(language) && options->memory_bytes > 0)
      spec.env.insert_or_assign(kMemoryVariable, std::to_string(options->memory_bytes));
    if (origin == InterpreterOrigin::forked && options->interpreter_factory && can_be_forked(spec.env)) {
      auto forked = co_await options->interpreter_factory(spec.user, spec.cwd);
      const auto process = std::make_shared<GuestProcess>(frames, spec, options->outcome_filter);
      process->set_tap(tap);
      if (forked) {
        process->set_direct(std::make_shared<DirectStreams>(frames->executor(), std::move(forked->control),
                                                            std::move(forked->out), std::move(forked->err)),
                            forked->pid);
        if (co_await process->start()) co_return process;
      }
    }
    const auto process = std::make_shared<GuestProcess>(frames, std::move(spec), options->outcome_filter);
    process->set_tap(std::move(tap));
    CO_CHECK(co_await process->start());
    co_return process;
  };
  auto interpreter = std::make_shared<GuestInterpreter>(frames_->executor(), std::move(info),
                                                        std::move(launch), options_->spare);
  interpreter->on_begin([options = options_, began = began_, weak = std::weak_ptr(interpreter)] {
    if (const auto self = weak.lock()) note_begin(*began, self->process().get());
    if (options->on_activity) options->on_activity();
  });
  return interpreter;
}

std::shared_ptr<GuestInterpreter> GuestConnection::take_warm(Language language) {
  const auto fits = [&](const auto& interpreter) {
    return interpreter->info().language == language && !interpreter->is_dead() && interpreter->process() &&
           interpreter->process()->info().user == options_->user && can_be_forked(options_->env);
  };
  const auto found = std::ranges::find_if(warm_, fits);
  if (found == warm_.end()) return nullptr;
  auto interpreter = std::move(*found);
  warm_.erase(found);
  return interpreter;
}

Task<std::shared_ptr<Interpreter>> GuestConnection::create_interpreter(Language language, std::string cwd) {
  if (const auto interpreter = take_warm(language)) {
    const std::string& directory = cwd.empty() ? options_->working_directory : cwd;
    interpreter->set_variables(options_->env);
    if (!directory.empty() && directory != interpreter->info().cwd)
      CO_CHECK(co_await interpreter->change_directory(directory));
    interpreters_.push_back(interpreter);
    co_return std::shared_ptr<Interpreter>(interpreter);
  }
  const auto interpreter = make_interpreter({random_uuid(), language, std::move(cwd)});
  CO_CHECK(co_await interpreter->start());
  interpreters_.push_back(interpreter);
  co_return std::shared_ptr<Interpreter>(interpreter);
}

Task<void> GuestConnection::receive_interpreter(ForkedInterpreter forked, InterpreterInfo info) {
  const auto interpreter = make_interpreter(std::move(info));
  ProcessSpec spec;
  spec.argv = {"python3"};
  spec.cwd = interpreter->info().cwd;
  complete(spec, *options_);
  const auto process = std::make_shared<GuestProcess>(frames_, std::move(spec), options_->outcome_filter);
  process->set_tap(interpreter);
  process->set_direct(std::make_shared<DirectStreams>(frames_->executor(), std::move(forked.control),
                                                      std::move(forked.out), std::move(forked.err)),
                      forked.pid);
  CO_CHECK(co_await interpreter->continue_as(process));
  interpreters_.push_back(interpreter);
  if (options_->on_activity) options_->on_activity();
  co_return Result<void>();
}

std::vector<SavedInterpreter> GuestConnection::saved_interpreters() const {
  std::vector<SavedInterpreter> saved;
  for (const auto* list : {&interpreters_, &warm_})
    for (const auto& interpreter : *list)
      if (interpreter->is_idle() && !interpreter->process()->is_direct())
        saved.push_back({interpreter->process()->channel(), interpreter->info(), list == &warm_});
  return saved;
}

std::vector<std::uint32_t> GuestConnection::interpreter_pids() const {
  std::vector<std::uint32_t> pids;
  for (const auto* list : {&interpreters_, &warm_})
    for (const auto& interpreter : *list)
      if (interpreter->process()) pids.push_back(interpreter->process()->info().pid);
  return pids;
}

Task<std::uint32_t> GuestConnection::sweep(std::uint64_t since_us) {
  Sweep sweep{.since_us = since_us};
  const auto until = [&](const GuestProcess& process) {
    const std::uint64_t began = process.since().value_or(0);
    return began > since_us ? began : Sweep::kForever;
  };
  if (since_us > 0)
    for (const auto& process : *processes_) sweep.until_us = std::min(sweep.until_us, until(*process));
  for (const auto* list : {&interpreters_, &warm_})
    for (const auto& interpreter : *list) {
      if (!interpreter->process()) continue;
      const std::uint64_t own = until(*interpreter->process());
      if (since_us > 0) sweep.until_us = std::min(sweep.until_us, own);
      sweep.interpreters.push_back({interpreter->process()->channel(), own});
    }
  return sweep_background(frames_, std::move(sweep));
}

std::size_t GuestConnection::interpreter_processes() const {
  std::size_t count = 0;
  for (const auto* list : {&interpreters_, &warm_})
    for (const auto& interpreter : *list) {
      // A dead one has no process.
      if (interpreter->process() && !interpreter->process()->has_ended()) ++count;
      if (interpreter->has_spare()) ++count;
    }
  return count;
}

bool GuestConnection::is_executing() const {
  return !processes().empty() ||
         std::ranges::any_of(interpreters_, [](const auto& interpreter) { return interpreter->is_busy(); });
}

void GuestConnection::end_executions(Ending ending, const std::string& reason) {
  bool any = false;
  // A copy: a process that ends leaves the list. One without a number has not started yet.
  for (const auto& process : Processes(*processes_)) {
    if (process->info().pid == 0) continue;
    any = true;
    if (!process->has_ended()) process->end_with(ending, reason);
  }
  if (any) return;
  for (const auto& interpreter : std::vector(interpreters_)) interpreter->end_current(ending, reason);
}

std::uint32_t workload_processes(std::size_t all, const GuestConnection* connection) {
  const std::size_t own = 1 + (connection != nullptr ? connection->interpreter_processes() : 0);
  return static_cast<std::uint32_t>(all > own ? all - own : 0);
}

Task<void> GuestConnection::warm_up(Language language) {
  const auto interpreter = make_interpreter({random_uuid(), language, std::string()});
  CO_CHECK(co_await interpreter->start());
  warm_.push_back(interpreter);
  co_return Result<void>();
}

std::vector<std::shared_ptr<Interpreter>> GuestConnection::interpreters() const {
  return {interpreters_.begin(), interpreters_.end()};
}

Task<void> GuestConnection::remove_interpreter(std::string id) {
  const auto found =
      std::ranges::find(interpreters_, id, [](const auto& interpreter) { return interpreter->info().id; });
  if (found == interpreters_.end())
    co_return fail(Code::not_found, fmt::format("there is no interpreter {}", id));
  const auto interpreter = *found;
  interpreters_.erase(found);
  const auto process = interpreter->process();
  interpreter->shut_down("the interpreter was removed");
  if (process) CO_CHECK(co_await process->wait());
  co_return Result<void>();
}

Task<std::unique_ptr<ByteStream>> GuestConnection::connect(std::uint16_t port) {
  return relay_connect(frames_, port);
}

Task<std::unique_ptr<PortListener>> GuestConnection::listen(std::uint16_t port) {
  return relay_listen(frames_, port);
}

Task<std::shared_ptr<DatagramPort>> GuestConnection::datagrams(std::uint16_t port) {
  return relay_datagrams(frames_, port);
}

Task<std::vector<std::uint16_t>> GuestConnection::listening_ports() {
  return relay_ports(frames_);
}

Task<void> GuestConnection::ping() {
  const auto frames = frames_;
  std::string nothing;
  CO_CHECK(co_await frames->call(Type::ping, std::move(nothing)));
  co_return Result<void>();
}

void GuestConnection::close(Error why) {
  frames_->end(std::move(why));
}

Task<std::string> GuestConnection::ended() {
  const auto frames = frames_;
  CO_TRY(const Error why, co_await frames->wait_for_end());
  co_return why.message();
}

}  // namespace atl::sandbox
