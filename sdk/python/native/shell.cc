#include "binding.h"

namespace atl::python {
namespace {

// The limits that Python may name, by their names in shell/limits.h.
void set_limit(shell::Limits& limits, const std::string& name, double number) {
  auto whole = static_cast<std::uint64_t>(number);
  auto time = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(number));
  if (name == "commands") {
    limits.commands = whole;
  } else if (name == "iterations") {
    limits.iterations = whole;
  } else if (name == "work") {
    limits.work = whole;
  } else if (name == "output_bytes") {
    limits.output_bytes = whole;
  } else if (name == "memory_bytes") {
    limits.memory_bytes = whole;
  } else if (name == "processes") {
    limits.processes = static_cast<std::uint32_t>(whole);
  } else if (name == "wall_seconds") {
    limits.wall_time = time;
  } else if (name == "cpu_seconds") {
    limits.cpu_time = time;
  } else {
    raise_error(
        Error(Code::invalid_argument, "there is no limit '" + name + "'").with_field("limits." + name));
  }
}

ShellOptions options_of(const std::map<std::string, std::string>& environment, const std::string& cwd,
                        const std::map<std::string, double>& limits) {
  ShellOptions options;
  options.environment.assign(environment.begin(), environment.end());
  options.cwd = cwd;
  for (const auto& [name, number] : limits) {
    if (number < 0)
      raise_error(
          Error(Code::invalid_argument, "a limit is no negative number").with_field("limits." + name));
    set_limit(options.limits, name, number);
  }
  return options;
}

// A callback that gets text while a script runs; an exception in it cancels the script and is raised after
// it.
struct Callback {
  nb::object function;
  SandboxShell* shell;
  std::exception_ptr* problem;

  std::function<void(std::string_view)> made() {
    if (function.is_none()) return {};
    return [this](std::string_view text) {
      nb::gil_scoped_acquire lock;
      if (*problem) return;
      try {
        function(text_of(text));
      } catch (...) {
        *problem = std::current_exception();
        shell->cancel();
      }
    };
  }
};

Executed run(SandboxShell& self, const std::string& script, const nb::bytes& input, nb::object on_stdout,
             nb::object on_stderr) {
  std::exception_ptr problem;
  Callback out{std::move(on_stdout), &self, &problem}, err{std::move(on_stderr), &self, &problem};
  shell::ExecuteOptions options;
  options.input = std::string(input.c_str(), input.size());
  options.on_stdout = out.made();
  options.on_stderr = err.made();
  Executed done;
  {
    nb::gil_scoped_release release;
    done = self.execute(script, std::move(options));
  }
  if (problem) std::rethrow_exception(problem);
  return done;
}

}  // namespace

void bind_shell(nb::module_& module) {
  nb::class_<Executed>(module, "Executed", "How a script ended.")
      .def_prop_ro("stdout", [](const Executed& self) { return text_of(self.out); })
      .def_prop_ro("stderr", [](const Executed& self) { return text_of(self.err); })
      .def_prop_ro("stdout_bytes", [](const Executed& self) { return bytes_of(self.out); })
      .def_ro("status", &Executed::status)
      .def_ro("signal", &Executed::signal)
      .def_ro("limited", &Executed::limited)
      .def_ro("canceled", &Executed::canceled)
      .def_ro("reason", &Executed::reason)
      .def_ro("exited", &Executed::exited);

  nb::class_<SandboxShell>(module, "SandboxShell",
                           "A bash for agents: no process behind it, nothing of the host.")
      .def(
          "__init__",
          [](SandboxShell* self, VirtualFileSystem& files,
             const std::map<std::string, std::string>& environment, const std::string& cwd,
             const std::map<std::string, double>& limits) {
            ShellOptions options = options_of(environment, cwd, limits);
            nb::gil_scoped_release
                release;  // it makes directories, which a storage in Python may have to keep
            new (self) SandboxShell(files, std::move(options));
          },
          nb::keep_alive<1, 2>(), nb::arg("files"), nb::arg("env") = std::map<std::string, std::string>(),
          nb::arg("cwd") = "/home/user", nb::arg("limits") = std::map<std::string, double>())
      .def("execute", &run, nb::arg("script"), nb::arg("input") = nb::bytes("", 0),
           nb::arg("on_stdout") = nb::none(), nb::arg("on_stderr") = nb::none())
      .def("cancel", &SandboxShell::cancel)
      .def(
          "fork", [](const SandboxShell& self, VirtualFileSystem& files) { return self.fork(files); },
          nb::keep_alive<0, 2>())
      .def("variable",
           [](const SandboxShell& self, const std::string& name) { return text_of(self.variable(name)); })
      .def("set_variable", [](SandboxShell& self, const std::string& name,
                              const std::string& text) { self.set_variable(name, text); })
      .def_prop_ro("cwd", [](const SandboxShell& self) { return text_of(self.cwd()); })
      .def_prop_ro("last_status", &SandboxShell::last_status);
}

}  // namespace atl::python
