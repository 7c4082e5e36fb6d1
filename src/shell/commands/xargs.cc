#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/invocation.h"
#include "shell/program_start.h"
#include "shell/runner.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/text_streams.h"

namespace atl::shell::xargs_program {

namespace {

enum Long { kShowLimits = 256 };

constexpr Option kOptions[] = {
    {'0', '0', "null"},
    {'a', 'a', "arg-file", Arg::required},
    {'d', 'd', "delimiter", Arg::required},
    {'E', 'E', "", Arg::required},
    {'e', 'e', "eof", Arg::optional},
    {'I', 'I', "", Arg::required},
    {'i', 'i', "replace", Arg::optional},
    {'L', 'L', "", Arg::required},
    {'l', 'l', "max-lines", Arg::optional},
    {'n', 'n', "max-args", Arg::required},
    {'P', 'P', "max-procs", Arg::required},
    {'r', 'r', "no-run-if-empty"},
    {'s', 's', "max-chars", Arg::required},
    {'t', 't', "verbose"},
    {'x', 'x', "exit"},
    {kShowLimits, 0, "show-limits"},
};

struct Request {
  char delimiter = 0;
  bool delimited = false, replace = false, verbose = false, show_limits = false, run_if_empty = true,
       exit_if_big = false;
  std::string marker = "{}", end_marker;
  std::uint64_t lines = 0, count = 0, bytes = 128 * 1024;
  std::uint64_t at_once = 1;  // 0: as many as there are
};

// Words as xargs sees them: blanks separate, quotes and backslashes protect.
class Words {
 public:
  Words(Input& in, const Request& r) : in_(in), r_(r) {}

  // False at the end. `last_of_line` tells whether the line ended behind it (for -L).
  bool next(std::string& word, bool& last_of_line) {
    if (r_.delimited) {
      last_of_line = true;
      return in_.read_line(word, r_.delimiter);
    }
    word.clear();
    bool started = false;
    last_of_line = false;
    char quote = 0;
    int c;
    while ((c = get()) >= 0) {
      char ch = static_cast<char>(c);
      if (quote) {
        if (ch == quote)
          quote = 0;
        else if (ch == '\n') {
          problem = fmt::format(
              "unmatched {} quote; by default quotes are special to xargs unless you use the -0 option",
              quote == '"' ? "double" : "single");
          return false;
        } else
          word += ch;
        continue;
      }
      if (ch == '\'' || ch == '"') {
        quote = ch;
        started = true;
      } else if (ch == '\\') {
        int next = get();
        if (next >= 0) word += static_cast<char>(next);
        started = true;
      } else if (ch == '\n' || ((ch == ' ' || ch == '\t') && !r_.replace)) {
        if (!started) continue;
        if (ch == '\n')
          last_of_line = true;
        else
          trailing_blank = true;
        if (last_of_line)
          trailing_blank = false;
        else
          last_of_line = skip_blanks();
        return check_end(word);
      } else if (r_.replace && !started && (ch == ' ' || ch == '\t')) {
        continue;
      } else {
        word += ch;
        started = true;
      }
    }
    if (quote) {
      problem = fmt::format(
          "unmatched {} quote; by default quotes are special to xargs unless you use the -0 option",
          quote == '"' ? "double" : "single");
      return false;
    }
    last_of_line = true;
    return started && check_end(word);
  }

  std::string problem;
  bool trailing_blank = false;

 private:
  bool check_end(const std::string& word) { return r_.end_marker.empty() || word != r_.end_marker; }
  // Whether the line ends here. A trailing blank continues a logical line for -L.
  bool skip_blanks() {
    while (true) {
      std::string_view block = in_.fill();
      if (block.empty()) return true;
      if (block[0] == '\n') {
        in_.consume(1);
        return r_.lines == 0;
      }
      if (block[0] != ' ' && block[0] != '\t') return false;
      in_.consume(1);
    }
  }
  int get() {
    std::string_view block = in_.fill();
    if (block.empty()) return -1;
    char c = block[0];
    in_.consume(1);
    return static_cast<unsigned char>(c);
  }

  Input& in_;
  const Request& r_;
};

bool parse_delimiter(std::string_view text, char& out) {
  if (text.size() == 1) {
    out = text[0];
    return true;
  }
  if (text.size() < 2 || text[0] != '\\') return false;
  static constexpr std::string_view kFrom = "abfnrtv\\0";
  static constexpr std::string_view kTo("\a\b\f\n\r\t\v\\\0", 9);
  if (text[1] == 'x')
    out = static_cast<char>(strtol(std::string(text.substr(2)).c_str(), nullptr, 16));
  else if (text[1] >= '0' && text[1] <= '7')
    out = static_cast<char>(strtol(std::string(text.substr(1)).c_str(), nullptr, 8));
  else {
    std::size_t at = kFrom.find(text[1]);
    if (at == std::string_view::npos) return false;
    out = kTo[at];
  }
  return true;
}

class Runner {
 public:
  Runner(Invocation& call, const Request& r, Input* shared) : call_(call), r_(r), shared_(shared) {}

  // False when xargs should stop at once.
  bool run(std::vector<std::string> argv) {
    if (r_.verbose) {
      std::string line;
      for (const std::string& arg : argv) line += (line.empty() ? "" : " ") + shell_quoted(arg);
      call_.err().write(line + "\n");
    }
    if (int refused = refuse_start(call_, argv[0]); refused != 0) {
      status = refused;
      return false;
    }
    if (r_.at_once != 1) return start(std::move(argv));
    Invocation::Redirects redirects;
    // Standard input carries the words: commands read nothing, unless the words come from a file (-a).
    TextInput empty{std::string()};
    redirects.in = shared_ ? shared_ : &empty;
    std::string program = argv[0];
    return ended(call_.run(std::move(argv), redirects), program);
  }
  // Waits for all that still run.
  void finish() {
    while (!running_.empty()) wait_for_one();
  }

  int status = 0;

 private:
  struct Running {
    std::shared_ptr<Process> process;
    std::string program;
  };

  // Takes in how a command ended; false when xargs should stop at once.
  bool ended(int code, const std::string& program) {
    if (code == 127 || code == 126) {
      status = code;
      return false;
    }
    // POSIX's numbers: 123 some command failed, 124 one asked to stop, 125 one was killed, 126 and 127 it
    // could not be run.
    if (code == 255) {
      call_.complain(fmt::format("{}: exited with status 255; aborting", program));
      status = 124;
      return false;
    }
    if (code >= 128) {
      status = 125;
      return false;
    }
    if (code != 0) status = 123;
    return true;
  }
  // -P: begins one, after another has ended if too many run.
  bool start(std::vector<std::string> argv) {
    std::uint64_t most = r_.at_once == 0 ? kAtOnceMax : std::min(r_.at_once, kAtOnceMax);
    bool good = true;
    while (running_.size() >= most) good &= wait_for_one();
    if (!good) return false;
    std::string program = argv[0];
    auto process = call_.runner().jobs().background(
        [argv = std::move(argv)](ShellRunner& child) {
          CommandInvocation inner(child, argv);
          TextInput empty{std::string()};
          Invocation::Redirects redirects;
          redirects.in = &empty;
          return inner.run(argv, redirects);
        },
        false);
    running_.push_back({std::move(process), std::move(program)});
    return true;
  }
  bool wait_for_one() {
    Machine& machine = call_.runner().machine();
    auto done = [](const Running& one) { return one.process->done; };
    auto found = std::find_if(running_.begin(), running_.end(), done);
    while (found == running_.end()) {
      // Whichever ends first; looked at again soon, since only one of them can be waited for.
      machine.wait_until(running_.front().process->waiters,
                         std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
      found = std::find_if(running_.begin(), running_.end(), done);
    }
    int code = found->process->status;
    std::string program = found->program;
    running_.erase(found);
    return ended(code, program);
  }

  static constexpr std::uint64_t kAtOnceMax = 100;
  Invocation& call_;
  const Request& r_;
  Input* shared_;
  std::vector<Running> running_;
};

void replace_each(Invocation& call, Words& words, const Request& r, Runner& runner,
                  const std::vector<std::string>& base) {
  std::string word;
  bool last = false;
  while (words.next(word, last)) {
    call.charge(1);
    if (!r.delimited && word.empty()) continue;
    std::vector<std::string> argv;
    for (const std::string& part : base) {
      std::string out;
      for (std::size_t at = 0; at < part.size();) {
        std::size_t found = part.find(r.marker, at);
        if (found == std::string::npos) found = part.size();
        out.append(part, at, found - at);
        if (found < part.size()) out += word;
        at = found + r.marker.size();
      }
      argv.push_back(std::move(out));
    }
    if (!runner.run(std::move(argv))) break;
  }
}

// The number of an option. False after a message.
bool read_number(Invocation& call, int id, const std::string& text, std::uint64_t low, std::uint64_t& out) {
  std::int64_t n = 0;
  if (!parse_integer(text, n)) {
    usage_error(call, fmt::format("invalid number \"{}\" for -{} option", text, static_cast<char>(id)));
    return false;
  }
  if (n < static_cast<std::int64_t>(low)) {
    usage_error(call,
                fmt::format("value {} for -{} option should be >= {}", text, static_cast<char>(id), low));
    return false;
  }
  out = static_cast<std::uint64_t>(n);
  return true;
}

// 0, or the status with which xargs ends after a message. `file` is what -a names.
int read_options(Invocation& call, const CommandLine& options, Request& r, std::unique_ptr<Input>& file) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case '0':
        r.delimited = true;
        r.delimiter = '\0';
        break;
      case 'a':
        if (value != "-") {
          auto opened = call.open_input(value);
          if (!opened)
            return call.fail(
                fmt::format("Cannot open input file {}: {}", quote_operand(value), reason(opened.error())));
          file = std::move(*opened);
        }
        break;
      case 'd':
        if (!parse_delimiter(value, r.delimiter))
          return call.fail(
              fmt::format("Invalid input delimiter specification {}: the delimiter must be either a single "
                          "character or an escape sequence starting with \\.",
                          value));
        r.delimited = true;
        break;
      case 'E':
      case 'e': r.end_marker = value; break;
      case 'I':
      case 'i':
        r.replace = true;
        if (!value.empty()) r.marker = value;
        r.count = r.lines = 0;
        break;
      case 'L':
      case 'l':
        r.lines = 1;
        if (!value.empty() && !read_number(call, id, value, 1, r.lines)) return 1;
        r.count = 0;
        r.replace = false;
        break;
      case 'n':
        if (!read_number(call, id, value, 1, r.count)) return 1;
        r.lines = 0;
        // GNU lets -n 1 stand beside -I, which means it already.
        if (r.count == 1 && r.replace)
          r.count = 0;
        else
          r.replace = false;
        break;
      case kShowLimits: r.show_limits = true; break;
      case 'P':
        if (!read_number(call, id, value, 0, r.at_once)) return 1;
        break;
      case 'r': r.run_if_empty = false; break;
      case 's':
        if (!read_number(call, id, value, 1, r.bytes)) return 1;
        break;
      case 't': r.verbose = true; break;
      case 'x': r.exit_if_big = true; break;
      default: break;
    }
  }
  return 0;
}

// Without -I: as many words for each command as fit.
int run_groups(Invocation& call, Words& words, const Request& r, Runner& runner,
               const std::vector<std::string>& base) {
  std::size_t base_bytes = 0;
  for (const std::string& part : base) base_bytes += part.size() + 1;
  if (base_bytes > r.bytes) return call.fail("argument list too long");
  std::vector<std::string> argv = base;
  std::size_t bytes = base_bytes;
  std::uint64_t lines = 0;
  bool ran = false, stopped = false;
  auto go = [&] {
    ran = true;
    stopped = !runner.run(std::move(argv));
    argv = base;
    bytes = base_bytes;
    lines = 0;
  };
  std::string word;
  bool last = false;
  while (!stopped && words.next(word, last)) {
    call.charge(1);
    if (base_bytes + word.size() + 1 > r.bytes) {
      if (argv.size() > base.size()) go();
      call.complain("argument line too long");
      return 1;
    }
    if (bytes + word.size() + 1 > r.bytes) {
      if (r.exit_if_big && (r.count || r.lines)) return call.fail("argument list too long");
      go();
      if (stopped) break;
    }
    bytes += word.size() + 1;
    argv.push_back(word);
    if (last) ++lines;
    if ((r.count && argv.size() - base.size() >= r.count) || (r.lines && lines >= r.lines)) go();
  }
  if (!words.problem.empty()) return call.fail(words.problem);
  // Without any word the command runs once, unless -r.
  if (!stopped && (argv.size() > base.size() || (!ran && r.run_if_empty))) go();
  runner.finish();
  return runner.status;
}

}  // namespace

int run_xargs(Invocation& call) {
  CommandLine options(call, kOptions, {.permute = false});
  if (options.stopped()) return options.status();
  Request r;
  std::unique_ptr<Input> file;
  if (int status = read_options(call, options, r, file)) return status;
  std::vector<std::string> base = options.operands();
  if (base.empty()) base.push_back("echo");
  if (r.show_limits)
    call.err().write(
        fmt::format("Size of command buffer we are actually using: {}\nMaximum parallelism (--max-procs must "
                    "be no greater): 100\n",
                    r.bytes));
  Input& in = file ? *file : call.in();
  Words words(in, r);
  Runner runner(call, r, file ? &call.in() : nullptr);
  if (r.replace) {
    replace_each(call, words, r, runner, base);
    runner.finish();
    int status = runner.status;
    if (!words.problem.empty()) return call.fail(words.problem);
    return status;
  }
  return run_groups(call, words, r, runner, base);
}

}  // namespace atl::shell::xargs_program
