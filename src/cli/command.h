#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace atl::cli {

// What main keeps of a subcommand: called when it was chosen; gives the exit status.
using Action = std::function<int()>;

// One file of commands/ defines one of these: adds itself to `app` and gives what it does. To add a
// subcommand: write commands/<name>.cc, declare its function below, add it to the list in main.cc.
using Define = Action (*)(CLI::App& app);

Action define_serve(CLI::App& app);
Action define_check(CLI::App& app);
Action define_config(CLI::App& app);
Action define_env(CLI::App& app);
Action define_keys(CLI::App& app);
Action define_shell(CLI::App& app);
Action define_version(CLI::App& app);
Action define_run(CLI::App& app);
Action define_doctor(CLI::App& app);

// "atoll: message" on standard error; the exit status of the error's code.
int report(const Error& error);

// An option whose value is anybody's text: a script, an argument of a command, a variable. Every other value
// is refused where it is empty or holds control characters, before a subcommand sees it.
CLI::Option* take_any_text(CLI::Option* option);

// Whether everything that was printed has arrived. Says what is wrong on standard error if not.
bool flush_output();

}  // namespace atl::cli
