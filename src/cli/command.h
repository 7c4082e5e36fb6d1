#pragma once

#include "base/result.h"
#include "cli/command_line.h"

namespace atl::cli {

// One file of commands/ defines one of these: it adds itself to `top` and gives what it does. To add a
// subcommand: write commands/<name>.cc, declare its function below, add it to the list in main.cc.
using Define = Action (*)(Command& top);

Action define_serve(Command& top);
Action define_audit(Command& top);
Action define_check(Command& top);
Action define_completion(Command& top);
Action define_config(Command& top);
Action define_env(Command& top);
Action define_events(Command& top);
Action define_help(Command& top);
Action define_keys(Command& top);
Action define_man(Command& top);
Action define_mcp(Command& top);
Action define_quickstart(Command& top);
Action define_registry(Command& top);
Action define_plugin_host(Command& top);
Action define_tools(Command& top);
Action define_skills(Command& top);
Action define_search(Command& top);
Action define_index(Command& top);
Action define_model(Command& top);
Action define_embed_worker(Command& top);
Action define_session(Command& top);
Action define_shell(Command& top);
Action define_top(Command& top);
Action define_usage(Command& top);
Action define_version(Command& top);
Action define_run(Command& top);
Action define_doctor(Command& top);

// "atoll: message" on standard error; the exit status of the error's code.
int report(const Error& error);

// What may follow `words` on a command line, for the shell's completion; the last word is being typed.
int complete_words(const CommandFacts& program, const std::vector<std::string>& words);

// Whether everything that was printed has arrived. Says what is wrong on standard error if not, except that
// nobody reads: then the program ends without a word, as programs do in front of `| head`.
bool flush_output();

// Whether nobody reads our output any more. If so the program ends by SIGPIPE, whatever status its command
// gives.
bool reader_is_gone();

// Ends the process by a signal, without a core file.
int end_by(int signal);

}  // namespace atl::cli
