#include "shell/shell.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/programs.h"
#include "shell/runner.h"

namespace atl::shell {

namespace {

constexpr std::string_view home_directory = "/home/user";

// A filesystem that was given may be empty: make what every script expects. What cannot be made (a read-only
// one) is missing, which the script will notice.
void prepare(vfs::FileSystem& fs, const std::string& cwd) {
  for (const char* directory :
       {"/home/user", "/tmp", "/dev", "/bin", "/usr/bin", "/usr/local/bin", "/etc", "/var/tmp"}) {
    auto path = vfs::Path::posix(directory);
    if (!fs.find(*path)) (void)fs.make_directory(*path, 0755, vfs::Parents::create);
  }
  auto path = vfs::Path::posix(cwd);
  if (path && !fs.find(*path)) (void)fs.make_directory(*path, 0755, vfs::Parents::create);
}

void put(VariableTable& table, const std::string& name, std::string value, std::uint16_t attrs) {
  Variable variable;
  variable.attrs = attrs;
  variable.set = true;
  variable.special = name == "IFS" || name == "OPTIND";
  variable.value = std::move(value);
  table.insert_or_assign(name, std::move(variable));
}

// What every shell starts with; shared until somebody changes it.
const Cow<VariableTable>& initial_variables() {
  static const Cow<VariableTable> table = [] {
    VariableTable out;
    put(out, "PATH", "/usr/local/bin:/usr/bin:/bin", attr::exported);
    put(out, "HOME", "/home/user", attr::exported);
    put(out, "LANG", "C.UTF-8", attr::exported);
    put(out, "USER", "user", attr::exported);
    put(out, "LOGNAME", "user", attr::exported);
    put(out, "SHELL", "/bin/bash", attr::exported);
    put(out, "TERM", "dumb", attr::exported);
    put(out, "PWD", "/home/user", attr::exported);
    put(out, "SHLVL", "1", attr::exported);
    put(out, "IFS", " \t\n", 0);
    put(out, "OPTIND", "1", 0);
    put(out, "OPTERR", "1", 0);
    put(out, "PS4", "+ ", 0);
    return Cow<VariableTable>(std::move(out));
  }();
  return table;
}

// What bash itself sets when it is started with an empty environment.
const Cow<VariableTable>& bare_variables() {
  static const Cow<VariableTable> table = [] {
    VariableTable out;
    put(out, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
    put(out, "PWD", "/home/user", attr::exported);
    put(out, "SHLVL", "1", attr::exported);
    put(out, "SHELL", "/bin/bash", 0);
    put(out, "IFS", " \t\n", 0);
    put(out, "OPTIND", "1", 0);
    put(out, "OPTERR", "1", 0);
    put(out, "PS4", "+ ", 0);
    return Cow<VariableTable>(std::move(out));
  }();
  return table;
}

}  // namespace

vfs::Snapshot base_snapshot() {
  static const vfs::Snapshot snapshot = [] {
    vfs::VirtualFileSystem fs;
    prepare(fs, "/home/user");
    // make_programs_and_devices() makes /bin a link to usr/bin.
    (void)fs.remove_directory(*vfs::Path::posix("/bin"));
    make_programs_and_devices(fs);
    return fs.snapshot();
  }();
  return snapshot;
}

SandboxShell::SandboxShell(vfs::FileSystem& fs, ShellOptions options)
    : SandboxShell(fs, std::move(options), std::make_unique<ShellState>()) {
  ShellState& state = *state_;
  state.variables.table = options_->default_environment ? initial_variables() : bare_variables();
  state.calls.arg0 = options_->name;
  if (!options_->arguments.empty()) state.calls.args = std::make_shared<const Args>(options_->arguments);
  static const vfs::Path home = vfs::Path::posix(home_directory).value();
  // The usual case copies nothing: the shared table says /home/user already.
  bool at_home = options_->cwd == home_directory;
  if (!at_home || !fs.find(home)) prepare(fs, options_->cwd);
  if (at_home)
    state.descriptors.cwd = home;
  else if (auto path = vfs::Path::posix(options_->cwd))
    state.descriptors.cwd = *path;
  for (const auto& [name, value] : options_->environment) {
    auto it = state.variables.table->find(name);
    if (it != state.variables.table->end() && it->second.value == value && it->second.is(attr::exported))
      continue;
    put(state.variables.table.edit(), name, value, attr::exported);
  }
  if (!at_home ||
      (!options_->environment.empty() && state.variables.table->find("PWD")->second.value != home_directory))
    put(state.variables.table.edit(), "PWD", state.descriptors.cwd.str(), attr::exported);
  state.variables.specials.seconds_base = std::chrono::steady_clock::now();
  state.variables.specials.random =
      static_cast<std::uint64_t>(state.variables.specials.seconds_base.time_since_epoch().count());
  if (!options_->interactive) return;
  state.options.put(Shopt::expand_aliases, true);
  for (const auto& [name, value] : {std::pair{"PS1", "\\w \\$ "}, std::pair{"PS2", "> "}})
    if (!state.variables.table->count(name)) put(state.variables.table.edit(), name, value, 0);
}

SandboxShell::SandboxShell(vfs::FileSystem& fs, ShellOptions options, std::unique_ptr<ShellState> state)
    : fs_(&fs),
      options_(std::make_unique<ShellOptions>(std::move(options))),
      state_(std::move(state)),
      canceled_(std::make_unique<std::atomic<bool>>(false)) {}

SandboxShell::~SandboxShell() = default;
SandboxShell::SandboxShell(SandboxShell&&) noexcept = default;
SandboxShell& SandboxShell::operator=(SandboxShell&&) noexcept = default;

Machine& SandboxShell::machine() {
  if (!machine_) {
    machine_ = std::make_unique<Machine>(*fs_, options_->limits,
                                         options_->clock ? *options_->clock : Clock::machine());
    for (const Command* command : options_->commands)
      machine_->commands_added.emplace(command->name, command);
    machine_->network = options_->network;
  }
  return *machine_;
}

void SandboxShell::cancel() {
  canceled_->store(true);
}

Executed SandboxShell::execute(std::string_view script, std::string_view input) {
  ExecuteOptions options;
  options.input = std::string(input);
  return execute(script, std::move(options));
}

Executed SandboxShell::execute(std::string_view script, ExecuteOptions options) {
  Executed done;
  done.status = status_of(Limit::defect);  // unless it gets to its end
  Machine& m = machine();
  m.begin();
  m.canceled = [flag = canceled_.get(), stop = options.stop] {
    return flag->load(std::memory_order_relaxed) || stop.stop_requested();
  };
  auto sink = [](std::string& into, const std::function<void(std::string_view)>& callback) {
    return callback ? callback : std::function<void(std::string_view)>([&into](std::string_view bytes) {
      into.append(bytes);
    });
  };
  m.process->done = false;
  m.process->killed_by = 0;
  auto root = m.process;
  auto to_err = sink(done.err, options.on_stderr);
  m.run([&] {
    ShellState start = *state_;
    start.descriptors.files = Cow<std::vector<OpenFilePtr>>(
        {options.read ? open_source(m, options.read) : open_string(std::move(options.input)),
         open_callback(m, sink(done.out, options.on_stdout)), open_callback(m, to_err)});
    ShellOrigin origin;
    origin.interactive = options_->interactive;
    origin.from_command_line =
        options.script_name.empty() && !options_->interactive && !options.script_from_input;
    origin.script_name = options.script_name.empty() ? "environment" : options.script_name;
    if (origin.from_command_line) origin.execution_string = std::string(script);
    ShellRunner shell(m, std::move(start), std::move(origin));
    try {
      // Before the first command: a cancellation that came before the start, or a limit of zero, ends it
      // here.
      m.check();
      if (options.script_from_input)
        shell.executor().run_input();
      else
        shell.executor().run_script(std::string(script),
                                    options.script_name.empty() ? "-c" : options.script_name);
      done.exited = shell.executor().flow() == Flow::exit;
      // An interactive shell lives on between executions; its EXIT trap runs when it exits.
      if (!options_->interactive || done.exited) {
        shell.executor().set_flow(Flow::none);
        shell.traps().run_exit();
      }
      if (m.others_alive()) {
        shell.descriptors().close_all();  // whoever reads what we write sees its end
        m.drain(std::chrono::seconds(30));
      }
    } catch (const Abandoned& gone) {
      shell.last().status = gone.status;
    } catch (const SyntaxError&) {
      shell.last().status = 2;
    } catch (const StoppedBy& stop) {
      shell.last().status = stop.status;
      done.signal = stop.signal;
      done.limited = stop.reason != StopReason::signal;
    } catch (const std::exception& failure) {
      m.stop_defect(failure.what());
      m.process = root;
    }
    // Background processes do not outlive an execution: their streams end with it.
    if (m.stopping() || m.others_alive()) {
      if (m.stopping()) {
        bool silent = options_->interactive && m.stopped_by() == Limit::none;  // the user knows
        if (!silent) to_err(fmt::format("{}: {}\n", shell.calls().arg0, m.stop_message()));
        done.limited = true;
        done.limit = m.stopped_by();
        done.canceled = done.limit == Limit::none;
        done.reason = done.canceled ? "canceled" : describe(done.limit, m.limits);
        shell.last().status = done.canceled ? canceled_status : status_of(done.limit);
      }
      m.canceled = nullptr;
      // The meters start anew, or what unwinds the others would itself be stopped by the limit.
      m.begin();
      m.kill_others();
    }
    done.status = shell.last().status;
    // Variables, functions and options stay for the next execution; open files and jobs cannot.
    *state_ = shell.state();
    state_->descriptors.files.reset();
    state_->jobs.table.reset();
    state_->calls.leave_script();
  });
  m.canceled = nullptr;
  canceled_->store(false);
  return done;
}

Executed SandboxShell::finish(ExecuteOptions options) {
  if (state_->traps->empty()) return {};
  // Not interactive, so that the empty script runs the EXIT trap.
  bool interactive = std::exchange(options_->interactive, false);
  Executed done = execute("", std::move(options));
  options_->interactive = interactive;
  return done;
}

std::unique_ptr<SandboxShell> SandboxShell::fork(vfs::FileSystem& fs) const {
  return std::unique_ptr<SandboxShell>(
      new SandboxShell(fs, *options_, std::make_unique<ShellState>(*state_)));
}

std::string SandboxShell::variable(std::string_view name) const {
  auto it = state_->variables.table->find(name);
  return it == state_->variables.table->end() ? std::string() : it->second.value;
}

void SandboxShell::set_variable(const std::string& name, std::string value, bool exported) {
  put(state_->variables.table.edit(), name, std::move(value), exported ? attr::exported : 0);
}

std::vector<std::pair<std::string, std::string>> SandboxShell::environment() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, variable] : *state_->variables.table)
    if (variable.is(attr::exported) && variable.set && !variable.is_array())
      out.emplace_back(name, variable.value);
  std::sort(out.begin(), out.end());
  return out;
}

std::string SandboxShell::cwd() const {
  return state_->descriptors.cwd.str();
}
int SandboxShell::last_status() const {
  return state_->last.status;
}

}  // namespace atl::shell
