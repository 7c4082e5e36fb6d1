// The C part of a zygote: a Python extension that waits for forks and makes children inside sandboxes.
//
// A child must be in the sandbox's process namespace and a child of its process 1, so it is made in three
// steps: a helper enters the sandbox's namespaces, its child is inside, and the child of that is the
// interpreter, which process 1 inherits when the helpers end. Both helpers share this process's memory and
// stack, as after vfork, and cost no copy of the page tables. Everything that the sandbox's user controls
// (names, directories, files) is touched only by the interpreter, after it has given up its power.
#include "guest/zygote/spare_module.h"
//
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "guest/program/guest.h"
#include "guest/zygote/chance.h"
#include "guest/zygote/drop.h"
#include "guest/zygote/fork_request.h"
#include "guest/zygote/park.h"

namespace atl::guest {
namespace {

// The control group namespace is entered last, by the interpreter: once inside, the kernel may refuse to fork
// a process into a group from outside of it.
constexpr int kEntered = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET;
constexpr size_t kMessageMax = 128U << 10;

struct Fork {
  ForkHeader header;
  int fds[kForkFds + kForkGroupsMax];
  int fd_count = 0;
  const sock_filter* filter = nullptr;
  Text user, directory;
  int control = -1;  // where the interpreter finds its control stream
  int pidfd = -1;
  volatile int pid = 0;
  volatile int error = 0;
};

alignas(16) char message[kMessageMax];

// Inlined: a return from a wrapper in the child would overwrite what the parent still needs.
__attribute__((always_inline)) inline long share_everything() {
  long result;
  register long r10 asm("r10") = 0;
  register long r8 asm("r8") = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_clone), "D"(CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD), "S"(0), "d"(0),
                 "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

[[noreturn]] void leave() {
  for (;;) syscall(SYS_exit_group, 0);
}

void reap(long pid) {
  while (syscall(SYS_wait4, pid, nullptr, __WALL, nullptr) < 0 && errno == EINTR) {
  }
}

// Inside the process namespace. Returns in the interpreter only.
__attribute__((noinline)) void make_interpreter(Fork* fork) {
  clone_args arguments{};
  int* tid_address = nullptr;
  // Where the library keeps this thread's number: it is another one in the child.
  if (prctl(PR_GET_TID_ADDRESS, &tid_address, 0, 0, 0) == 0 && tid_address != nullptr) {
    arguments.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    // JUSTIFICATION: the kernel takes addresses as numbers.
    arguments.child_tid = reinterpret_cast<uint64_t>(tid_address);
  }
  arguments.flags |= CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<uint64_t>(&fork->pidfd);
  arguments.exit_signal = SIGCHLD;
  const pid_t wanted = fork->header.pid;
  if (fork->header.unified != 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<uint64_t>(fork->fds[kForkFds]);
  }
  // JUSTIFICATION: the kernel takes addresses as numbers.
  if (wanted > 0) arguments.set_tid = reinterpret_cast<uint64_t>(&wanted), arguments.set_tid_size = 1;
  const long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) return;
  fork->pid = static_cast<int>(pid);
  if (pid < 0) fork->error = errno;
  leave();
}

__attribute__((noinline)) void go_inside(Fork* fork) {
  if (syscall(SYS_setns, fork->fds[kForkGuest], kEntered) != 0) {
    fork->error = errno;
    leave();
  }
  const long inside = share_everything();
  if (inside == 0) return make_interpreter(fork);
  if (inside < 0)
    fork->error = static_cast<int>(-inside);
  else
    reap(inside);
  leave();
}

// True in the interpreter, false in the zygote.
__attribute__((noinline)) bool fork_interpreter(Fork* fork) {
  const long outside = share_everything();
  if (outside == 0) {
    go_inside(fork);
    return true;
  }
  if (outside < 0)
    fork->error = static_cast<int>(-outside);
  else
    reap(outside);
  return false;
}

bool arrange_descriptors(Fork* fork) {
  fork->control = control_number(fork->header.open_files);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, 0) < 0 || dup2(fork->fds[kForkOut], 1) < 0 || dup2(fork->fds[kForkErr], 2) < 0 ||
      dup3(fork->fds[kForkControl], fork->control, O_CLOEXEC) < 0)
    return false;
  // The namespace is entered by a number below all this.
  return true;
}

bool close_others(const Fork& fork) {
  return syscall(SYS_close_range, 3, fork.control - 1, 0) == 0 &&
         syscall(SYS_close_range, fork.control + 1, ~0U, 0) == 0;
}

bool put_filters(const Fork& fork) {
  const int landlock = landlock_version();
  if (fork.header.set_uid == 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || drop_capabilities() != 0))
    return false;
  if (landlock > 0 && enter_landlock(landlock) != 0) return false;
  if (install_filter(fork.filter, fork.header.instructions) != 0) return false;
  return fork.header.set_uid == 0 || drop_capabilities() == 0;
}

// Before it uses anything that is counted. Its zygote's urgency is not for what follows, and a group of the
// processor would not let it in.
bool join_groups(const Fork& fork) {
  const sched_param normal{};
  if (sched_setscheduler(0, SCHED_OTHER, &normal) != 0) return false;
  const int* const files = fork.fds + kForkFds + fork.header.unified;
  for (uint32_t i = 0; i < fork.header.groups; ++i)
    if (write(files[i], "0", 1) != 1) return false;
  return syscall(SYS_setns, fork.fds[kForkGuest], CLONE_NEWCGROUP) == 0;
}

// What went wrong, or null. The order is that of sandbox/native/walls.cc and then of guest/program/spawn.cc.
const char* take_place(Fork* fork, User* user) {
  setsid();
  if (!arrange_descriptors(fork)) return "its descriptors could not be arranged";
  if (limit_resources() != 0) return "its limits could not be set";
  if (syscall(SYS_setns, fork->fds[kForkUserNamespace], CLONE_NEWUSER) != 0 || become_root_inside() != 0)
    return "it could not enter the user namespace";
  if (!put_filters(*fork)) return "its walls could not be built";
  if (!close_others(*fork)) return "inherited descriptors could not be closed";
  if (limit_resource(RLIMIT_NOFILE, fork->header.open_files) != 0) return "its limits could not be set";
  umask(022);
  if (!find_user(fork->user, user)) return "its user does not exist";
  if (!become(*user)) return "it could not become its user";
  // A process that changed its user without executing a program is closed even to itself.
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return "it could not be opened to its user";
  char path[kPathMax];
  const bool named = fork->directory.size > 0;
  const size_t size = named ? fork->directory.size : user->home.size();
  if (size >= sizeof path) return "its working directory is too long";
  memcpy(path, named ? fork->directory.data : user->home.data(), size);
  path[size] = 0;
  return chdir(path) == 0 ? nullptr : "its working directory cannot be entered";
}

// Tells the host and ends.
[[noreturn]] void give_up(const Fork& fork, const char* why) {
  char text[512];
  const int size = snprintf(text, sizeof text, "%s", why);
  char line[600];
  const int all = snprintf(line, sizeof line, "E %d\n%s", size, text);
  const int fd = fork.control >= 0 ? fork.control : fork.fds[kForkControl];
  (void)!write(fd, line, static_cast<size_t>(all));
  for (;;) syscall(SYS_exit_group, 1);
}

void close_fds(const int* fds, int count) {
  for (int i = 0; i < count; ++i)
    if (fds[i] >= 0) close(fds[i]);
}

// False when the spawner is gone or speaks another language.
bool receive(int socket, Fork* fork) {
  iovec piece{message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fork->fds)];
  msghdr header{};
  header.msg_iov = &piece, header.msg_iovlen = 1;
  header.msg_control = control, header.msg_controllen = sizeof control;
  ssize_t got = 0;
  while ((got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (got < static_cast<ssize_t>(sizeof(ForkHeader)) || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return false;
  const cmsghdr* const part = CMSG_FIRSTHDR(&header);
  memcpy(&fork->header, message, sizeof fork->header);
  const ForkHeader& h = fork->header;
  if (h.unified > 1 || h.groups > kForkGroupsMax - h.unified) return false;
  fork->fd_count = kForkFds + static_cast<int>(h.unified + h.groups);
  const size_t fds_size = sizeof(int) * static_cast<size_t>(fork->fd_count);
  if (part == nullptr || part->cmsg_type != SCM_RIGHTS || part->cmsg_len != CMSG_LEN(fds_size)) return false;
  memcpy(fork->fds, CMSG_DATA(part), fds_size);
  if (h.magic != kForkMagic || h.instructions > kInstructionsMax || h.user_size > kPathMax ||
      h.directory_size >= kPathMax)
    return false;
  const size_t filter = h.instructions * sizeof(sock_filter);
  if (static_cast<size_t>(got) != sizeof h + filter + h.user_size + h.directory_size) return false;
  static_assert(sizeof(ForkHeader) % alignof(sock_filter) == 0);
  // JUSTIFICATION: the program of a filter travels as bytes, and the kernel only reads it.
  fork->filter = reinterpret_cast<const sock_filter*>(message + sizeof h);
  fork->user = {message + sizeof h + filter, h.user_size};
  fork->directory = {fork->user.data + h.user_size, h.directory_size};
  return true;
}

void answer(int socket, const Fork& fork) {
  ForkAnswer told{fork.error, fork.pid};
  iovec piece{&told, sizeof told};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr header{};
  header.msg_iov = &piece, header.msg_iovlen = 1;
  if (fork.pidfd >= 0) {
    header.msg_control = control, header.msg_controllen = sizeof control;
    cmsghdr* const part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET, part->cmsg_type = SCM_RIGHTS, part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &fork.pidfd, sizeof(int));
  }
  while (sendmsg(socket, &header, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

PyObject* bytes_of(const Bytes& bytes) {
  return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

// Whether Python is told when an interpreter is forked. It must be for modules that registered something;
// Python itself needs it only for locks and lists of threads, and there has never been another thread here.
enum class Hooks : bool { left_out, called };

// The interpreter's first steps: (control descriptor, user's name, home, shell).
PyObject* live(Fork* fork, Hooks hooks) {
  if (!join_groups(*fork)) give_up(*fork, "it could not join its control groups");
  static User user;
  const char* const wrong = take_place(fork, &user);
  if (wrong != nullptr) give_up(*fork, wrong);
  if (fork->header.copy != 0) become_other(fork->control);
  if (hooks == Hooks::called) PyOS_AfterFork_Child();
  return Py_BuildValue("(iNNN)", fork->control, bytes_of(user.name), bytes_of(user.home),
                       bytes_of(user.shell));
}

// serve(fd, hooks): forks children until the spawner goes away. Returns in each child only.
PyObject* serve(PyObject*, PyObject* arguments) {
  int socket = -1, with_hooks = 0;
  if (PyArg_ParseTuple(arguments, "ip", &socket, &with_hooks) == 0) return nullptr;
  const Hooks hooks = with_hooks != 0 ? Hooks::called : Hooks::left_out;
  for (;;) {
    Fork fork;
    if (!receive(socket, &fork)) leave();
    if (hooks == Hooks::called) PyOS_BeforeFork();
    if (fork_interpreter(&fork)) return live(&fork, hooks);
    if (hooks == Hooks::called) PyOS_AfterFork_Parent();
    answer(socket, fork);
    close_fds(fork.fds, fork.fd_count);
    if (fork.pidfd >= 0) close(fork.pidfd);
  }
}

// fill_pools(): takes what is free among small objects for good, so that a child's first ones lie together in
// pages of their own and not one each in a page of every pool that has a gap. A new pool is known by where
// its first object lies.
PyObject* fill_pools(PyObject*, PyObject*) {
  constexpr size_t classes = 512, step = 16, pool = 16U << 10, pool_header = 48, most = 512U << 10;
  for (size_t size = step; size <= classes; size += step)
    for (size_t taken = 0; taken < most; taken += size) {
      void* const object = PyObject_Malloc(size);
      if (object == nullptr) return PyErr_NoMemory();
      // JUSTIFICATION: the kernel takes addresses as numbers.
      if (reinterpret_cast<uintptr_t>(object) % pool != pool_header) continue;
      PyObject_Free(object);
      break;
    }
  return PyLong_FromLong(0);
}

// park(fd): 0, or in another that goes on from here a Waking. The caller has said everything it had to say.
PyObject* park_here(PyObject*, PyObject* number) {
  const long control = PyLong_AsLong(number);
  if (PyErr_Occurred() != nullptr) return nullptr;
  const Waking waking = park(static_cast<int>(control));
  if (waking != Waking::same) reseed_libraries();
  return PyLong_FromLong(static_cast<long>(waking));
}

PyObject* py_reseed_libraries(PyObject*, PyObject*) {
  reseed_libraries();
  return PyLong_FromLong(0);
}

PyMethodDef methods[] = {{"serve", serve, METH_VARARGS, nullptr},
                         {"fill_pools", fill_pools, METH_NOARGS, nullptr},
                         {"park", park_here, METH_O, nullptr},
                         {"spare", py_make_spare, METH_NOARGS, nullptr},
                         {"end_spare", py_end_spare, METH_O, nullptr},
                         {"reseed_libraries", py_reseed_libraries, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "atoll_zygote", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace atl::guest

namespace atl::guest {
namespace {

// The zygote was started without random addresses and with a limit that made room for its layout
// (sandbox/native/zygote.cc): what its children start has neither.
bool forget_layout() {
  const int now = personality(~0UL);
  if (now < 0 || personality(static_cast<unsigned long>(now & ~ADDR_NO_RANDOMIZE)) < 0) return false;
  pthread_attr_t attributes;
  return pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 8U << 20) == 0 &&
         pthread_setattr_default_np(&attributes) == 0;
}

}  // namespace
}  // namespace atl::guest

PyMODINIT_FUNC PyInit_atoll_zygote() {
  if (!atl::guest::forget_layout()) return PyErr_SetFromErrno(PyExc_OSError);
  if (!atl::guest::reserve_memory()) return PyErr_NoMemory();
  return PyModule_Create(&atl::guest::definition);
}
