#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "base/bytes.h"
#include "base/json.h"
#include "cli/answer.h"
#include "cli/commands/session.h"
#include "cli/mistakes.h"
#include "config/checked.h"
#include "os/fd.h"
#include "os/file.h"

// exec and run: code in an interpreter, a command with its streams.
namespace atl::cli {
namespace {

namespace bj = boost::json;

constexpr std::size_t kCodeMax = 16U << 20U;
constexpr int kNoSuchCommand = 127;  // as shells have it

struct CodeFlags {
  std::string id, code, language, context, seconds, cwd, user, tag;
  std::vector<std::string> env, command;
  bool stateless = false, results = false, interactive = false, background = false;
};

Result<std::string> standard_input() {
  std::string text, buffer(1U << 16U, '\0');
  while (text.size() <= kCodeMax) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error(errno, "standard input"));
    if (got == 0) return text;
    text.append(buffer, 0, static_cast<std::size_t>(got));
  }
  return fail(Code::too_large, "CODE: more than 16 MiB on standard input");
}

Result<bj::object> variables_of(const std::vector<std::string>& given) {
  bj::object variables;
  for (const std::string& pair : given) {
    auto [name, value] = TRY(config::Checked("--env", pair).assignment());
    variables[name] = value;
  }
  return variables;
}

Result<bj::object> body_of_code(const CodeFlags& flags) {
  bj::object body{{"code", flags.code == "-" ? TRY(standard_input()) : flags.code}};
  if (!flags.language.empty()) body["language"] = flags.language;
  if (!flags.context.empty()) body["context"] = flags.context;
  if (flags.stateless) body["stateless"] = true;
  if (!flags.seconds.empty())
    body["timeout_seconds"] = TRY(config::Checked("--time", flags.seconds).number(0.001, 86400));
  if (!flags.env.empty()) body["env"] = TRY(variables_of(flags.env));
  return body;
}

Result<void> write_text(int to, const std::string& text) {
  return os::write_all(to, text);
}

// Why an execution is no success, on standard error; the status to end with.
int end_as(const bj::value& execution) {
  const std::string status = text_at(execution, "status");
  if (const std::string restarted = text_at(execution, "interpreter_restarted"); !restarted.empty())
    fmt::print(stderr, "atoll: the interpreter is a new one: {}\n", config::shown(restarted, 400));
  if (status == "success") return 0;
  if (status == "denied")
    for (const bj::value& finding : list_at(member(execution, "verdict"), "findings"))
      fmt::print(stderr, "atoll: denied: line {:.0f}: {} [{}]\n", number_at(finding, "line"),
                 config::shown(text_at(finding, "message"), 400), config::shown(text_at(finding, "rule")));
  const std::string reason = text_at(execution, "reason");
  if (status != "error" || !reason.empty())
    fmt::print(stderr, "atoll: {}{}{}\n", config::shown(status), reason.empty() ? "" : ": ",
               config::shown(reason, 400));
  // What was never begun has no status of its own.
  const int code = static_cast<int>(number_at(execution, "exit_code"));
  return code <= 0 ? 1 : code;
}

// The name of a file is rarely meant as code.
void explain_file(const CodeFlags& flags) {
  if (flags.code == "-" || flags.code.contains('\n') || ::access(flags.code.c_str(), R_OK) != 0) return;
  fmt::print(
      stderr,
      "atoll: '{}' is a file of this machine; to run what is in it write\n  atoll session exec {} - < {}\n",
      config::shown(flags.code), quoted_for_shell(flags.id), quoted_for_shell(flags.code));
}

Result<int> execute(const SessionFlags& shared, const CodeFlags& flags) {
  const Remote remote = TRY(Remote::open(shared.connection));
  const std::string body = bj::serialize(TRY(body_of_code(flags)));
  const std::string target = session_target(flags.id, "/execute");
  if (shared.json) {
    const std::string answer = TRY(
        remote.text({.method = "POST", .target = target, .body = body, .headers = {}, .runs_code = true}));
    const bj::value execution = TRY(parse_answer(answer));
    if (const int printed = print(answer + "\n"); printed != 0) return printed;
    return text_at(execution, "status") == "success"
               ? 0
               : std::max(1, static_cast<int>(number_at(execution, "exit_code")));
  }
  // On a terminal the last value is shown, as an interpreter would.
  const bool show_results = flags.results || ::isatty(STDOUT_FILENO) == 1;
  int status = 125;
  const auto each = [&](const ServerEvent& event) -> Result<Remote::Next> {
    const bj::value data = TRY(parse_answer(event.data));
    if (event.name == "stdout") TRY(write_text(STDOUT_FILENO, text_at(data, "text")));
    if (event.name == "stderr") TRY(write_text(STDERR_FILENO, text_at(data, "text")));
    if (event.name == "error") {
      const std::string trace = text_at(data, "traceback");
      TRY(write_text(STDERR_FILENO, trace.ends_with('\n') ? trace : trace + "\n"));
    }
    if (event.name == "result" && show_results)
      if (const std::string text = text_at(member(data, "data"), "text/plain"); !text.empty())
        TRY(write_text(STDOUT_FILENO, text + "\n"));
    if (event.name != "done") return Remote::Next::go_on;
    status = end_as(data);
    return Remote::Next::end;
  };
  TRY(remote.events({.method = "POST", .target = target, .body = body, .headers = {}}, each));
  if (status != 0) explain_file(flags);
  return status;
}

// While a command runs: hands it our standard input and our signals. A thread of its own; ends with the
// object.
class Companion {
 public:
  Companion(const Remote& remote, std::string target, bool with_input)
      : remote_(remote), target_(std::move(target)), with_input_(with_input) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      stop_read_ = os::Fd(ends[0]);
      stop_write_ = os::Fd(ends[1]);
    }
    thread_ = std::jthread([this] { work(); });
  }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  ~Companion() { stop_write_ = os::Fd(); }

  // Signals that are meant for the command. To be called before any thread starts.
  static sigset_t signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, number);
    return set;
  }

 private:
  void work() {
    const sigset_t set = signals();
    const os::Fd signals_fd(::signalfd(-1, &set, SFD_CLOEXEC));
    bool reading = with_input_;
    if (!with_input_) close_input();
    while (true) {
      std::array<pollfd, 3> waits{{{stop_read_.get(), POLLIN, 0},
                                   {signals_fd.get(), POLLIN, 0},
                                   {reading ? STDIN_FILENO : -1, POLLIN, 0}}};
      if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
      if (waits[0].revents != 0) return;
      if (waits[1].revents != 0) pass_signal(signals_fd.get());
      if (waits[2].revents != 0) reading = pass_input();
    }
  }
  bool pass_input() {
    std::string buffer(1U << 15U, '\0');
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got <= 0) {
      close_input();
      return false;
    }
    buffer.resize(static_cast<std::size_t>(got));
    // A command that has ended or closed its input needs no more.
    return remote_.json("POST", target_ + "/stdin", bj::object{{"base64", to_base64(buffer)}}).has_value();
  }
  void close_input() { (void)remote_.json("POST", target_ + "/stdin", bj::object{{"close", true}}); }
  void pass_signal(int fd) {
    signalfd_siginfo facts{};
    if (::read(fd, &facts, sizeof facts) != sizeof facts) return;
    (void)remote_.json("POST", target_ + "/signal", bj::object{{"signal", facts.ssi_signo}});
  }

  const Remote& remote_;
  const std::string target_;
  const bool with_input_;
  os::Fd stop_read_, stop_write_;
  std::jthread thread_;  // last: it is joined before the rest goes
};

Result<bj::object> body_of_command(const CodeFlags& flags) {
  if (flags.command.empty())
    return fail(Code::invalid_argument,
                "no command was given; write it after --, as in `atoll session run ID -- true`");
  bj::array argv;
  for (const std::string& word : flags.command) argv.emplace_back(word);
  bj::object body{{"argv", std::move(argv)}};
  if (!flags.cwd.empty()) body["cwd"] = flags.cwd;
  if (!flags.user.empty()) body["user"] = flags.user;
  if (!flags.tag.empty()) body["tag"] = flags.tag;
  if (!flags.env.empty()) body["env"] = TRY(variables_of(flags.env));
  if (!flags.seconds.empty())
    body["timeout_seconds"] = TRY(config::Checked("--time", flags.seconds).number(0.001, 86400));
  return body;
}

Result<std::string> bytes_of(const bj::value& data) {
  if (const std::string encoded = text_at(data, "base64"); !encoded.empty()) return from_base64(encoded);
  return text_at(data, "text");
}

Result<int> stream_command(const CodeFlags& flags, const Remote& remote, bj::object body) {
  body["stdin"] = true;
  std::unique_ptr<Companion> companion;
  int status = 125;
  const auto each = [&](const ServerEvent& event) -> Result<Remote::Next> {
    const bj::value data = TRY(json::parse(event.data));
    if (event.name == "start") {
      const bool with_input = flags.interactive || ::isatty(STDIN_FILENO) != 1;
      companion = std::make_unique<Companion>(
          remote, session_target(flags.id, fmt::format("/processes/{:.0f}", number_at(data, "pid"))),
          with_input);
    }
    if (event.name == "stdout" || event.name == "stderr") {
      const std::string bytes = TRY(bytes_of(data));
      TRY(write_text(event.name == "stdout" ? STDOUT_FILENO : STDERR_FILENO, bytes));
    }
    if (event.name != "exit") return Remote::Next::go_on;
    status = static_cast<int>(number_at(data, "exit_code"));
    if (const std::string reason = text_at(data, "reason"); !reason.empty())
      fmt::print(stderr, "atoll: {}: {}\n", config::shown(text_at(data, "ending")),
                 config::shown(reason, 400));
    return Remote::Next::end;
  };
  const auto answer = remote.events({.method = "POST",
                                     .target = session_target(flags.id, "/commands?encoding=base64"),
                                     .body = bj::serialize(body),
                                     .headers = {}},
                                    each);
  if (!answer && answer.error().code() == Code::not_found &&
      answer.error().message().starts_with("command '")) {
    (void)report(answer.error());
    return kNoSuchCommand;
  }
  const auto whole = TRY(answer);
  // Refused by a policy, or over before it began.
  if (whole) {
    TRY(write_text(STDERR_FILENO, text_at(*whole, "stderr")));
    return end_as(*whole);
  }
  return status;
}

Result<int> run_in_session(const SessionFlags& shared, const CodeFlags& flags) {
  bj::object body = TRY(body_of_command(flags));
  const bool streams = !flags.background && !shared.json;
  if (streams) {
    // Before the first thread: all of them leave these signals to the companion.
    const sigset_t set = Companion::signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }
  const Remote remote = TRY(Remote::open(shared.connection));
  if (streams) return stream_command(flags, remote, std::move(body));
  if (flags.background) body["background"] = true;
  RemoteCall call{
      .method = "POST", .target = session_target(flags.id, "/commands"), .body = {}, .headers = {}};
  call.body = bj::serialize(body);
  call.runs_code = !flags.background;
  const std::string text = TRY(remote.text(std::move(call)));
  const bj::value answer = TRY(parse_answer(text));
  if (const int printed = print(shared.json ? bj::serialize(answer) + "\n"
                                            : fmt::format("{:.0f}\n", number_at(answer, "pid")));
      printed != 0)
    return printed;
  return flags.background ? 0 : static_cast<int>(number_at(answer, "exit_code"));
}

}  // namespace

void add_session_code(Command& session, const SessionFlags& shared, Group& group) {
  auto* code = group.keep<CodeFlags>();
  Command exec = group.add(session, "exec", "Run code in a session's interpreter and print what it printed",
                           [&shared, code] { return execute(shared, *code); });
  exec.add_option("ID", code->id, "The session").required().value("SESSION");
  exec.add_option("CODE", code->code, "The code, or - for standard input").required().any_text();
  exec.add_option("-l,--language", code->language, "Its language (default python)")
      .value("python|javascript|typescript|shell|r|java|deno");
  exec.add_option("--context", code->context, "An interpreter of the session's other than the first");
  exec.add_option("--time", code->seconds, "Seconds it may take").value("SECONDS");
  exec.add_option("-e,--env", code->env, "NAME=VALUE for it; may be repeated").any_text().one_value_each();
  exec.add_flag("--stateless", code->stateless, "In an interpreter of its own that remembers nothing");
  exec.add_flag("--results", code->results, "Print the values it shows, too, as is done on a terminal");
  exec.notes(
      "atoll session exec ID 'print(6 * 7)'\n"
      "atoll session exec ID --language shell 'ls | wc -l'\n"
      "atoll session exec ID - < script.py");

  auto* command = group.keep<CodeFlags>();
  Command run = group.add(session, "run", "Run a command in a session, with its streams and its exit status",
                          [&shared, command] { return run_in_session(shared, *command); });
  run.add_option("ID", command->id, "The session").required().value("SESSION");
  run.add_option("--cwd", command->cwd, "Directory to run in");
  run.add_option("--user", command->user, "User inside");
  run.add_option("--time", command->seconds, "Seconds it may take").value("SECONDS");
  run.add_option("-e,--env", command->env, "NAME=VALUE for it; may be repeated").any_text().one_value_each();
  run.add_option("--tag", command->tag, "A name to find the process by");
  run.add_flag("-i,--interactive", command->interactive,
               "Hand it the keyboard's input, too (pipes and files always are)");
  run.add_flag("-d,--background", command->background, "Print its process id and do not wait");
  run.add_option("command", command->command, "The command and its arguments, after --").any_text();
  run.notes(
      "atoll session run ID -- ls -l /home/user\n"
      "tar -c . | atoll session run ID -- tar -x\n"
      "A terminal is `atoll session attach ID`.");
}

}  // namespace atl::cli
