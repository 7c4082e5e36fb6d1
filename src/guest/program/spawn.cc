// Starting a process. Code that runs between vfork and execve shares this process's memory: no allocation, no
// library call that keeps state; failures come back through a struct.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "guest/program/guest.h"
#include "guest/program/process.h"

namespace atl::guest {
namespace {

constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr uint32_t kWordsMax = 65536;

enum class Stage { none, user, directory, execute };

// Everything the child needs, made ready before.
struct Plan {
  uint32_t flags = 0;
  uint16_t columns = 0, rows = 0;
  uint64_t cpu_us = 0;
  uint32_t credit = 0;
  User user;
  Bytes cwd;
  Bytes words;            // argv and environment, each ended by NUL
  char** argv = nullptr;  // one free slot before it, for "sh script"
  char** env = nullptr;
  char** slots = nullptr;
  Bytes candidates;  // paths to try, each ended by NUL
  int fds[3] = {-1, -1, -1};
  int terminal = -1;
  int control = -1, control_target = -1;
  bool reset_oom = false;
  volatile Stage failed_at = Stage::none;
  volatile int failed_with = 0;

  ~Plan() {
    free(slots);
    for (int fd : fds)
      if (fd >= 0) close(fd);
    if (terminal >= 0) close(terminal);
    if (control >= 0) close(control);
  }
};

[[noreturn]] void give_up(Plan* plan, Stage stage) {
  plan->failed_with = errno;
  plan->failed_at = stage;
  _exit(127);
}

void reset_oom_score() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!write(fd, "0", 1);
  close(fd);
}

void execute(Plan* plan) {
  int worst = ENOENT;
  const char* at = plan->candidates.data();
  const char* const end = at + plan->candidates.size();
  // As execvp(): go on after a name that is missing, remember a better reason, and run a script without #! by
  // sh.
  for (; at < end; at += strlen(at) + 1) {
    execve(at, plan->argv, plan->env);
    if (errno == ENOEXEC) {
      char* const script = plan->argv[0];
      char shell[] = "/bin/sh";
      plan->argv[-1] = shell;
      // JUSTIFICATION: execve takes char* and writes nothing.
      plan->argv[0] = const_cast<char*>(at);
      execve(shell, plan->argv - 1, plan->env);
      plan->argv[0] = script;
      worst = ENOEXEC;
      break;
    }
    if (errno != ENOENT && errno != ENOTDIR && worst == ENOENT) worst = errno;
  }
  errno = worst;
}

[[noreturn]] void child(Plan* plan) {
  // A session of its own: signals reach all of it, and a terminal can be its controlling one.
  setsid();
  if (plan->terminal >= 0) ioctl(plan->terminal, TIOCSCTTY, 0);
  for (int i = 0; i < 3; ++i)
    if (dup2(plan->terminal >= 0 ? plan->terminal : plan->fds[i], i) < 0) give_up(plan, Stage::execute);
  if (plan->control >= 0 && dup2(plan->control, plan->control_target) < 0) give_up(plan, Stage::execute);
  if (plan->reset_oom) reset_oom_score();
  // Whatever we, the spawner or those who started the daemon ignore: a program inside starts with none of it.
  // By the system call: the library refuses to touch the two signals it keeps for itself, and they may come
  // ignored.
  const struct { unsigned long handler, flags, restorer, mask; } by_default{};
  for (int number = 1; number <= 64; ++number)
    syscall(SYS_rt_sigaction, number, &by_default, nullptr, sizeof by_default.mask);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  umask(022);
  if (plan->cpu_us > 0) {
    const rlim_t seconds = (plan->cpu_us + 999999) / 1000000;
    const rlimit limit{seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
  }
  // Before chdir(), so that the user's own permissions decide.
  if (!become(plan->user)) give_up(plan, Stage::user);
  if (chdir(plan->cwd.data()) != 0) give_up(plan, Stage::directory);
  execute(plan);
  give_up(plan, Stage::execute);
}

__attribute__((noinline)) pid_t launch(Plan* plan) {
  // Not inlined: the child runs on this frame, and what it leaves here must not be used by the caller.
  const pid_t pid = vfork();
  if (pid == 0) child(plan);
  return pid;
}

bool names(const char* variable, const char* name) {
  const size_t size = strlen(name);
  return strncmp(variable, name, size) == 0 && variable[size] == '=';
}

const char* value_of(char** env, const char* name) {
  for (; *env != nullptr; ++env)
    if (names(*env, name)) return *env + strlen(name) + 1;
  return nullptr;
}

void add_word(Bytes& words, Text text) {
  words.append(text.data, text.size);
  words.append("", 1);
}

void add_variable(Bytes& words, const char* name, const char* value) {
  words.append(name), words.append("=", 1), words.append(value), words.append("", 1);
}

void add_candidates(Plan* plan) {
  const char* const name = plan->argv[0];
  if (strchr(name, '/') != nullptr) return plan->candidates.append(name, strlen(name) + 1);
  const char* path = value_of(plan->env, "PATH");
  if (path == nullptr || *path == 0) path = kDefaultPath;
  for (;;) {
    const char* const colon = strchrnul(path, ':');
    const size_t size = static_cast<size_t>(colon - path);
    if (size > 0) plan->candidates.append(path, size), plan->candidates.append("/", 1);
    plan->candidates.append(name, strlen(name) + 1);
    if (*colon == 0) return;
    path = colon + 1;
  }
}

// Points the slots at the words: argv, then the environment with what a login would set where nobody did.
bool index_words(Plan* plan, uint32_t argc, uint32_t envc, size_t env_at) {
  const struct {
    const char* name;
    const char* value;
  } login[] = {{"HOME", plan->user.home.c_str()},
               {"USER", plan->user.name.c_str()},
               {"LOGNAME", plan->user.name.c_str()},
               {"SHELL", plan->user.shell.c_str()},
               {"PATH", kDefaultPath},
               {"TERM", plan->terminal >= 0 ? "xterm-256color" : nullptr}};
  uint32_t added = 0;
  for (const auto& item : login) {
    if (item.value == nullptr) continue;
    bool there = false;
    const char* at = plan->words.data() + env_at;
    for (uint32_t i = 0; i < envc && !there; ++i, at += strlen(at) + 1) there = names(at, item.name);
    if (!there) add_variable(plan->words, item.name, item.value), ++added;
  }
  if (plan->control >= 0) {
    Bytes number;
    append_number(number, static_cast<uint64_t>(plan->control_target));
    add_variable(plan->words, "ATOLL_CONTROL_FD", number.c_str());
    ++added;
  }
  // One block: a free slot for "sh", argv, null, the environment, null.
  plan->slots = static_cast<char**>(malloc((argc + envc + added + 4) * sizeof(char*)));
  if (plan->slots == nullptr) return false;
  char* at = plan->words.data();
  plan->argv = plan->slots + 1;
  for (uint32_t i = 0; i < argc; ++i, at += strlen(at) + 1) plan->argv[i] = at;
  plan->argv[argc] = nullptr;
  plan->env = plan->argv + argc + 1;
  for (uint32_t i = 0; i < envc + added; ++i, at += strlen(at) + 1) plan->env[i] = at;
  plan->env[envc + added] = nullptr;
  add_candidates(plan);
  return true;
}

// "" when the request is well formed.
const char* read_words(Plan* plan, Reader* in, uint32_t* argc, uint32_t* envc, size_t* env_at) {
  *argc = in->u32();
  if (*argc == 0 || *argc > kWordsMax) return "a process needs at least one argument";
  for (uint32_t i = 0; i < *argc && in->ok(); ++i) {
    const Text word = in->text();
    if (has_nul(word)) return "an argument contains a NUL byte";
    if (i == 0 && word.size == 0) return "the command is empty";
    add_word(plan->words, word);
  }
  *env_at = plan->words.size();
  *envc = in->u32();
  if (*envc > kWordsMax) return "too many variables";
  for (uint32_t i = 0; i < *envc && in->ok(); ++i) {
    const Text word = in->text();
    if (has_nul(word)) return "a variable contains a NUL byte";
    if (word.size == 0 || word.data[0] == '=' || memchr(word.data, '=', word.size) == nullptr)
      return "a variable needs a name";
    add_word(plan->words, word);
  }
  if ((plan->flags & kStartNotes) != 0) in->text(), in->u64();  // the host's
  return in->done() ? "" : "malformed request";
}

bool make_pipe(int* read_end, int* write_end) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return false;
  *read_end = fds[0], *write_end = fds[1];
  return true;
}

// For kernels that cannot do it by descriptor (an old gVisor's). What is opened must be a terminal's device.
int open_terminal_by_name(int master) {
  unsigned number = 0;
  if (ioctl(master, TIOCGPTN, &number) != 0) return -1;
  Bytes path;
  path.append("/dev/pts/");
  char digits[12];
  size_t at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  path.append(digits + at, sizeof digits - at);
  const int terminal = open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW);
  if (terminal >= 0 && isatty(terminal)) return terminal;
  if (terminal >= 0) close(terminal);
  return -1;
}

bool open_terminal(Plan* plan, Ends* ends) {
  ends->pty = true;
  ends->out = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (ends->out < 0) return false;
  int unlock = 0;
  if (ioctl(ends->out, TIOCSPTLCK, &unlock) != 0) return false;
  // By descriptor: a path in /dev/pts could have been planted.
  plan->terminal = ioctl(ends->out, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (plan->terminal < 0) plan->terminal = open_terminal_by_name(ends->out);
  if (plan->terminal < 0) return false;
  winsize size{};
  size.ws_col = plan->columns, size.ws_row = plan->rows;
  ioctl(ends->out, TIOCSWINSZ, &size);
  (void)!fchown(plan->terminal, plan->user.uid, static_cast<gid_t>(-1));
  ends->in = fcntl(ends->out, F_DUPFD_CLOEXEC, 10);
  return ends->in >= 0;
}

bool open_control(Plan* plan, Ends* ends) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  ends->control = pair[0], plan->control = pair[1];
  fcntl(pair[0], F_SETFL, O_NONBLOCK);
  // Far from what programs number their own descriptors.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  plan->control_target = limit.rlim_cur > 900 ? 900 : 60;
  return true;
}

bool open_pipes(Plan* plan, Ends* ends) {
  if (!make_pipe(&ends->out, &plan->fds[1]) || !make_pipe(&ends->err, &plan->fds[2])) return false;
  fcntl(ends->out, F_SETFL, O_NONBLOCK);
  fcntl(ends->err, F_SETFL, O_NONBLOCK);
  if ((plan->flags & kStartStdin) != 0) {
    if (!make_pipe(&plan->fds[0], &ends->in)) return false;
    fcntl(ends->in, F_SETFL, O_NONBLOCK);
    return true;
  }
  plan->fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  // Without /dev/null, a pipe whose other end is closed reads as empty as well.
  if (plan->fds[0] >= 0) return true;
  int unused = -1;
  if (!make_pipe(&plan->fds[0], &unused)) return false;
  close(unused);
  return true;
}

bool open_streams(Plan* plan, Ends* ends) {
  if ((plan->flags & kStartControl) != 0 && !open_control(plan, ends)) return false;
  return (plan->flags & kStartPty) != 0 ? open_terminal(plan, ends) : open_pipes(plan, ends);
}

void close_ends(const Ends& ends) {
  const int fds[] = {ends.in, ends.out, ends.err, ends.control};
  for (const int fd : fds)
    if (fd >= 0) close(fd);
}

bool guest_oom_score_is_low() {
  static int known = -1;
  if (known >= 0) return known == 1;
  char first = '0';
  const int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    (void)!read(fd, &first, 1);
    close(fd);
  }
  known = first == '-' ? 1 : 0;
  return known == 1;
}

void report_failure(uint32_t channel, Plan* plan) {
  const int error = plan->failed_with;
  switch (plan->failed_at) {
    case Stage::user: return send_failed(channel, EPERM, "cannot become user", plan->user.name.c_str());
    case Stage::directory: {
      Bytes text;
      text.append("cwd '"), text.append(plan->cwd.c_str());
      text.append(error == ENOENT    ? "' does not exist"
                  : error == ENOTDIR ? "' is not a directory"
                  : error == EACCES  ? "': permission denied"
                                     : "' cannot be entered");
      return send_failed(channel, EINVAL, text.c_str());
    }
    default: {
      Bytes text;
      text.append("command '"), text.append(plan->argv[0]);
      text.append(error == ENOENT    ? "' not found"
                  : error == EACCES  ? "': permission denied"
                  : error == E2BIG   ? "': argument list too long"
                  : error == ENOEXEC ? "': not a program"
                                     : "' cannot be executed");
      return send_failed(channel, error, text.c_str());
    }
  }
}

void reply_started(const Process& process, Plan* plan) {
  Bytes body;
  Writer<Bytes> out(body);
  out.u32(static_cast<uint32_t>(process.pid)), out.i64(process.started_at);
  out.text(plan->user.name.data(), plan->user.name.size());
  out.text(plan->cwd.data(), plan->cwd.size());
  send_frame(process.id, Type::reply, 0, body.data(), body.size());
}

}  // namespace

void request_start(uint32_t channel, const char* payload, size_t size) {
  Reader in(payload, size);
  Plan plan;
  plan.flags = in.u32(), plan.columns = in.u16(), plan.rows = in.u16();
  plan.cpu_us = in.u64(), plan.credit = in.u32();
  const Text user = in.text(), cwd = in.text();
  in.text();  // the tag is the host's
  uint32_t argc = 0, envc = 0;
  size_t env_at = 0;
  const char* const wrong = read_words(&plan, &in, &argc, &envc, &env_at);
  if (*wrong != 0) return send_failed(channel, EINVAL, wrong);
  if (!find_user(user, &plan.user)) {
    Bytes text;
    text.append("user '"), text.append(user.data, user.size), text.append("' does not exist");
    return send_failed(channel, EINVAL, text.c_str());
  }
  if (has_nul(cwd) || cwd.size >= kPathMax) return send_failed(channel, EINVAL, "cwd is not a path");
  plan.cwd.append(cwd.data, cwd.size);
  if (plan.cwd.empty()) plan.cwd.append(plan.user.home.data(), plan.user.home.size());
  plan.cwd.c_str();
  Ends ends;
  if (!open_streams(&plan, &ends) || !index_words(&plan, argc, envc, env_at)) {
    const int error = errno;
    close_ends(ends);
    return send_failed(channel, error, "no descriptors or memory for a new process");
  }
  plan.reset_oom = guest_oom_score_is_low();
  auto* const process = new (malloc(sizeof(Process))) Process;
  process->started_at = unix_micros();
  process->pid = launch(&plan);
  if (process->pid < 0 || plan.failed_at != Stage::none) {
    const int error = errno;
    close_ends(ends);
    if (process->pid < 0) {
      send_failed(channel, error, "no room for another process");
    } else {
      report_failure(channel, &plan);
    }
    process->~Process();
    return free(process);
  }
  process->credit = plan.credit < kOutputWindow ? plan.credit : kOutputWindow;
  process->request.append(payload, size);
  process->ends_alone = (plan.flags & kStartEndsAlone) != 0;
  process->interpreter = (plan.flags & kStartControl) != 0;
  add_process(process, channel, ends);
  reply_started(*process, &plan);
}

}  // namespace atl::guest
