#include "sandbox/native/zygote.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/ids.h"
#include "guest/protocol.h"
#include "guest/runners.h"
#include "guest/zygote/fork_request.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/mount.h"
#include "os/process.h"
#include "sandbox/native/process_image.h"
#include "sandbox/native/walls.h"

namespace atl::sandbox::native {
namespace {

using os::Subtree;

constexpr const char* kPlace = "/zygote";  // in the tiny root; "/mnt" in the zygote's
constexpr const char* kBoot =
    "PLACE='/mnt';FD=3;exec(compile(open(PLACE+'/zygote.py','rb').read(),'<atoll>','exec'))";
constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

Result<void> lay_out_files() {
  if (::mkdir(kPlace, 0755) < 0) {
    if (errno == EEXIST) return {};
    return fail(errno_error(errno, "make the zygote's directory"));
  }
  const os::Fd place = TRY(os::open(kPlace, O_RDONLY | O_DIRECTORY));
  const auto put = [&](const char* name, std::string_view bytes) {
    return os::write_file_at(place.get(), name, std::string(bytes), 0644);
  };
  // Its mapping is recognized by name and time (process_image.h), also by another spawner: both follow from
  // its content.
  const std::string_view module = guest::zygote_module();
  const std::string name = fmt::format("zygote-{:016x}.so", XXH3_64bits(module.data(), module.size()));
  TRY(put(name.c_str(), module));
  const timespec times[2] = {};
  if (::utimensat(place.get(), name.c_str(), times, 0) < 0 ||
      ::symlinkat(name.c_str(), place.get(), "zygote.so") < 0)
    return fail(errno_error(errno, "lay out the zygote's files"));
  for (const char* runner :
       {"zygote.py", "python.py", "python_chance.py", "python_rest.py", "python_charts.py"})
    TRY(put(runner, guest::runner(runner)));
  return {};
}

// Read-only below the zygote's root.
Result<void> show(const char* from, const std::string& to) {
  const os::Fd mount = TRY(os::clone_mount(AT_FDCWD, from, Subtree::no));
  TRY(os::change_mount(mount.get(), "", Subtree::no, {.set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID}));
  return os::attach(mount.get(), AT_FDCWD, (tiny::kRoot + to).c_str());
}

Result<void> show_host() {
  TRY(show(tiny::kSkeleton, ""));
  TRY(show("/usr", "/usr"));
  // Sandboxes do not see it either, unless the interpreters are there.
  if (::access((std::string(tiny::kCover) + "/local").c_str(), F_OK) == 0 || errno != ENOENT)
    TRY(show(tiny::kEmpty, "/usr/local"));
  return {};
}

Result<void> show_layers(const std::vector<os::Fd>& layers) {
  if (layers.size() >= tiny::kLowerMax) return fail(Code::invalid_argument, "too many layers");
  // The kernel wants two at least where nothing can be written.
  std::string lowers = tiny::kEmpty;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string at = fmt::format("{}/{}", tiny::kLower, i);
    TRY(os::attach(layers[i].get(), AT_FDCWD, at.c_str()));
    lowers = at + ":" + lowers;
  }
  os::FilesystemContext overlay = TRY(os::FilesystemContext::open("overlay"));
  TRY(overlay.set("lowerdir", lowers));
  const os::Fd mount = TRY(overlay.mount(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  return os::attach(mount.get(), AT_FDCWD, tiny::kRoot);
}

// Programs and our files; nothing else is there. Below the spawner's tiny root, in a namespace of its own.
Result<void> enter_own_root(const std::vector<os::Fd>& layers) {
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
    return fail(errno_error(errno, "make the zygote's namespaces"));
  TRY(layers.empty() ? show_host() : show_layers(layers));
  TRY(show(tiny::kDevices, "/dev"));
  TRY(show(kPlace, "/mnt"));
  if (::chdir(tiny::kRoot) < 0) return fail(errno_error(errno, "enter the zygote's root"));
  return os::move_to_root();
}

// The kernel's own choice of addresses cannot be asked for a second time, so it is turned off and made here:
// libraries lie below a stack of the size that the layout says, and nothing else in a Python of Debian moves.
// hear() and the module (guest/zygote/module.cc) put both back, for this process and all that come of it.
void choose_addresses(std::uint64_t layout) {
  constexpr std::uint64_t least = 256ULL << 20, page = 4096;
  ::personality(ADDR_NO_RANDOMIZE);
  rlimit stack{};
  ::getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = least + (layout & 0xFFFF'FFFF) * page;
  stack.rlim_max = std::max(stack.rlim_max, stack.rlim_cur);
  ::setrlimit(RLIMIT_STACK, &stack);
}

[[noreturn]] void become_python(int socket, const Zygote::Start& start) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const sched_param normal{};
  ::sched_setscheduler(0, SCHED_OTHER, &normal);
  ::setsid();
  const struct { unsigned long handler, flags, restorer, mask; } by_default{};
  for (int number = 1; number <= 64; ++number)
    ::syscall(SYS_rt_sigaction, number, &by_default, nullptr, sizeof by_default.mask);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!enter_own_root(start.layers)) ::_exit(1);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(null, fd);
  ::dup2(socket, guest::kZygoteFd);
  (void)os::close_range(guest::kZygoteFd + 1, ~0U, os::UnshareTable::no);
  std::vector<const char*> arguments{"python3", "-c", kBoot};
  for (const std::string& name : start.kind.modules) arguments.push_back(name.c_str());
  arguments.push_back(nullptr);
  // One thread only: a copy made by fork has no others.
  // What it allocates follows from the seed; children of one zygote share it anyway.
  const std::string seed = fmt::format("PYTHONHASHSEED={}", 1 + (start.layout >> 32) % 4294967295U);
  const char* const environment[] = {"PATH=/usr/local/bin:/usr/bin",
                                     "OPENBLAS_NUM_THREADS=1",
                                     "OMP_NUM_THREADS=1",
                                     "MKL_NUM_THREADS=1",
                                     seed.c_str(),
                                     nullptr};
  choose_addresses(start.layout);
  // JUSTIFICATION: execve takes char* and writes nothing.
  for (const char* path : {"/usr/local/bin/python3", "/usr/bin/python3"})
    ::execve(path, const_cast<char* const*>(arguments.data()), const_cast<char* const*>(environment));
  ::_exit(127);
}

std::size_t count_threads(int proc, pid_t pid) {
  const int fd = ::openat(proc, fmt::format("{}/task", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const dir = fd < 0 ? nullptr : ::fdopendir(fd);
  if (dir == nullptr) return 0;
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(dir))
    if (entry->d_name[0] != '.') ++count;
  ::closedir(dir);
  return count;
}

Result<pid_t> pid_of(int proc, int pidfd) {
  const std::string info = TRY(os::read_file_at(proc, fmt::format("self/fdinfo/{}", pidfd).c_str()));
  const std::size_t at = info.find("Pid:");
  const int pid = at == std::string::npos ? 0 : std::atoi(info.c_str() + at + 4);
  if (pid <= 0) return fail(Code::provider_failed, "the interpreter ended at once");
  return pid;
}

Result<std::pair<os::Fd, os::Fd>> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) < 0) return fail(errno_error(errno, "make the zygote's pipe"));
  return std::pair(os::Fd(fds[0]), os::Fd(fds[1]));
}

std::string fork_message(const ForkTarget& fork_target) {
  guest::ForkHeader header;
  header.open_files = fork_target.open_files;
  header.set_uid = fork_target.set_uid ? 1 : 0;
  header.instructions = static_cast<std::uint32_t>(fork_target.filter.program.size());
  header.user_size = static_cast<std::uint32_t>(fork_target.user.size());
  header.directory_size = static_cast<std::uint32_t>(fork_target.directory.size());
  header.pid = fork_target.pid;
  header.copy = fork_target.copy ? 1 : 0;
  header.unified = fork_target.groups.unified.is_open() ? 1 : 0;
  header.groups = static_cast<std::uint32_t>(fork_target.groups.tasks.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(fork_target.filter.program.data()),
               fork_target.filter.program.size() * sizeof(sock_filter));
  return bytes + fork_target.user + fork_target.directory;
}

}  // namespace

std::uint64_t Zygote::new_layout() {
  std::array<std::uint8_t, 8> bytes{};
  random_bytes(bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

Result<std::unique_ptr<Zygote>> Zygote::start(Start start) {
  TRY(lay_out_files());
  os::SocketPair pair = TRY(os::socket_pair(os::SocketKind::packets));
  ::setsockopt(pair.first.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(pair.first.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  const pid_t child = os::fork_alone();
  if (child < 0) return fail(errno_error(errno, "fork the zygote"));
  if (child == 0) become_python(pair.second.get(), start);
  std::unique_ptr<Zygote> zygote(new Zygote);
  zygote->pid_ = child;
  zygote->id_ = random_hex(16);
  zygote->layout_ = start.layout;
  zygote->kind_ = std::move(start.kind);
  zygote->layers_ = std::move(start.layers);
  zygote->start_time_ = TRY(LiveProcess::started_at(start.proc, child));
  zygote->proc_ = start.proc;
  zygote->pidfd_ = TRY(os::pidfd_open(child));
  zygote->socket_ = std::move(pair.first);
  zygote->generation_ = start.generation;
  zygote->since_ = Clock::machine().steady();
  return zygote;
}

Zygote::~Zygote() {
  if (!pidfd_.is_open()) return;
  (void)os::pidfd_kill(pidfd_.get(), SIGKILL);
  (void)os::pidfd_wait(pidfd_.get());
}

os::Fd Zygote::end() {
  if (pidfd_.is_open()) (void)os::pidfd_kill(pidfd_.get(), SIGKILL);
  return std::move(pidfd_);
}

void Zygote::die(std::string why) {
  state_ = State::dead;
  complaint_ = std::move(why);
  socket_.reset();
}

void Zygote::hear() {
  if (state_ == State::dead) return;
  auto message = os::receive_message(socket_.get(), os::Wait::no);
  if (!message && message.error().code() == Code::unavailable) return;
  if (!message || message->bytes.empty()) return die("the zygote ended");
  if (state_ != State::starting || !message->bytes.starts_with("ready\n"))
    return die("the zygote spoke out of turn");
  complaint_ = message->bytes.substr(6);
  if (count_threads(proc_, pid_) != 1) return die("an imported module started a thread");
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) < 0 || ::prlimit(pid_, RLIMIT_STACK, &stack, nullptr) < 0)
    return die("its limits could not be set");
  state_ = State::ready;
}

bool Zygote::is_worn(const ZygoteOptions& options) const {
  const bool gone = std::ranges::any_of(layers_, [](const os::Fd& layer) {
    struct stat info {};
    return ::fstat(layer.get(), &info) < 0 || info.st_nlink == 0;
  });
  if (gone) return true;
  if (children_ == 0) return false;
  return children_ >= options.children_max || Clock::machine().steady() - since_ >= options.age_max;
}

Result<ForkedChild> Zygote::fork_interpreter(const ForkTarget& fork_target) {
  if (state_ != State::ready) return fail(Code::unavailable, "the zygote is not ready");
  if (fork_target.directory.size() >= guest::kPathMax || fork_target.user.size() > 256)
    return fail(Code::invalid_argument, "the user or the working directory is too long");
  auto [out, child_out] = TRY(make_pipe());
  auto [err, child_err] = TRY(make_pipe());
  os::SocketPair control = TRY(os::socket_pair(os::SocketKind::stream));
  std::vector<int> fds{fork_target.guest_pidfd, fork_target.user_namespace, child_out.get(), child_err.get(),
                       control.second.get()};
  if (fork_target.groups.unified.is_open()) fds.push_back(fork_target.groups.unified.get());
  for (const os::Fd& tasks : fork_target.groups.tasks) fds.push_back(tasks.get());
  auto sent = os::send_message(socket_.get(), fork_message(fork_target), fds);
  auto message = sent ? os::receive_message(socket_.get()) : Result<os::Message>(fail(sent.error()));
  if (!message || message->bytes.size() != sizeof(guest::ForkAnswer)) {
    die("the zygote does not answer");
    (void)os::pidfd_kill(pidfd_.get(), SIGKILL);
    return fail(Code::unavailable, complaint_);
  }
  ++children_;
  guest::ForkAnswer answer;
  std::memcpy(&answer, message->bytes.data(), sizeof answer);
  if (answer.error != 0 || message->fds.empty())
    return fail(errno_error(answer.error, "fork an interpreter"));
  ForkedChild forked;
  forked.pid = answer.pid;
  forked.pidfd = std::move(message->fds.front());
  forked.host_pid = TRY(pid_of(proc_, forked.pidfd.get()));
  forked.start_time = TRY(LiveProcess::started_at(proc_, forked.host_pid));
  forked.control = std::move(control.first), forked.out = std::move(out), forked.err = std::move(err);
  forked.generation = generation_;
  return forked;
}

}  // namespace atl::sandbox::native
