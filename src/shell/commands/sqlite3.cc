#include <fmt/format.h>

#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/sqlite/session.h"

namespace atl::shell::sqlite3_program {

namespace {

constexpr std::string_view kUsage =
    "Usage: sqlite3 [OPTIONS] FILENAME [SQL]\n"
    "FILENAME is a database in the shell's filesystem; a new one is created if it is not there.\n"
    "OPTIONS: -ascii -bail -batch -box -cmd COMMAND -column -csv -echo -header -noheader -html -init FILE "
    "-json -line\n"
    "   -list -markdown -newline SEP -nullvalue TEXT -quote -readonly -separator SEP -table -tabs -version\n";

struct Request {
  std::string path, init;
  std::vector<std::string> before, statements;
  bool read_only = false, has_path = false;
};

// Options stand anywhere, with one dash or two. A status to end with, or -1.
int read_arguments(Invocation& call, sqlite::Session& session, Request& r) {
  auto args = call.args();
  bool options = true;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (!options || arg.size() < 2 || arg[0] != '-') {
      if (!r.has_path)
        r.path = arg, r.has_path = true;
      else
        r.statements.push_back(arg);
      continue;
    }
    if (arg == "--") {
      options = false;
      continue;
    }
    std::string name = arg.substr(arg.starts_with("--") ? 2 : 1);
    auto value = [&](std::string& into) {
      if (i + 1 >= args.size()) {
        call.complain(fmt::format("Error: missing argument to {}", arg));
        return false;
      }
      into = args[++i];
      return true;
    };
    std::string text;
    bool headers = session.style.headers;  // unlike .mode, the option of a mode leaves them alone
    if (name == "header")
      session.style.headers = session.style.headers_given = true;
    else if (name == "noheader")
      session.style.headers = false, session.style.headers_given = true;
    else if (name == "bail")
      session.bail = true;
    else if (name == "echo")
      session.echo = true;
    else if (name == "batch" || name == "interactive")
      continue;
    else if (name == "readonly")
      r.read_only = true;
    else if (name == "separator") {
      if (!value(session.style.separator)) return 1;
    } else if (name == "newline") {
      if (!value(session.style.row_separator)) return 1;
    } else if (name == "nullvalue") {
      if (!value(session.style.null)) return 1;
    } else if (name == "init") {
      if (!value(r.init)) return 1;
    } else if (name == "cmd") {
      if (!value(text)) return 1;
      r.before.push_back(text);
    } else if (name == "version") {
      call.out().write(fmt::format("{} {}\n", sqlite3_libversion(), sqlite3_sourceid()));
      return 0;
    } else if (name == "help") {
      call.out().write(kUsage);
      return 0;
    } else if (name == "insert" || name == "tcl" || !sqlite::set_mode(session.style, name)) {
      call.complain(fmt::format("Error: unknown option: {}\nUse -help for a list of options.", arg));
      return 1;
    } else {
      session.style.headers = headers;
      if (name == "csv") session.style.row_separator = "\n";
    }
  }
  return -1;
}

int run_session(Invocation& call, sqlite::Session& session, const Request& r) {
  if (!session.open(r.path, r.read_only)) return 1;
  if (!r.init.empty()) {
    auto in = call.open_input(r.init);
    if (!in) return call.fail(fmt::format("cannot open: \"{}\"", r.init));
    if (auto ended = session.read(**in)) return *ended;
  }
  for (const std::string& text : r.before)
    if (auto ended = session.argument(text)) return *ended;
  for (const std::string& text : r.statements)
    if (auto ended = session.argument(text)) return *ended;
  if (r.statements.empty())
    if (auto ended = session.read(call.in())) return *ended;
  return session.errors() > 0 ? 1 : 0;
}

}  // namespace

int run_sqlite3(Invocation& call) {
  sqlite::Session session(call);
  Request r;
  if (int status = read_arguments(call, session, r); status >= 0) return status;
  return session.finish(run_session(call, session, r));
}

}  // namespace atl::shell::sqlite3_program
