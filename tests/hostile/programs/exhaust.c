// Case 23: takes as many of one kind of kernel object as it gets, says how many and why no more, and holds them until its
// input ends. Used by the attacker to take all, and by a neighbour and the host to take a few ("exhaust KIND COUNT").
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/filter.h>
#include <unistd.h>

static int take_inotify(int n) { (void)n; return inotify_init1(0) < 0 ? -1 : 0; }
static int take_terminal(int n) { (void)n; return posix_openpt(O_RDWR | O_NOCTTY) < 0 ? -1 : 0; }
static int take_aio(int n) {
  (void)n;
  unsigned long context = 0;
  return (int)syscall(SYS_io_setup, 1024, &context);
}
static int take_queue(int n) {
  char name[32];
  snprintf(name, sizeof name, "/q%d-%d", getpid(), n);
  struct mq_attr size = {.mq_maxmsg = 10, .mq_msgsize = 1024};
  mqd_t made = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
  if (made == (mqd_t)-1) return -1;
  mq_unlink(name);
  return 0;
}
static int take_signal(int n) {
  union sigval value = {.sival_int = n};
  return sigqueue(getpid(), SIGRTMIN, value);
}
static int take_locked_segment(int n) {
  (void)n;
  int id = shmget(IPC_PRIVATE, 256 << 10, 0600);
  if (id < 0) return -1;
  int done = shmctl(id, SHM_LOCK, 0);
  void* at = shmat(id, 0, 0);
  int error = errno;
  shmctl(id, IPC_RMID, 0);
  errno = error;
  return done < 0 || at == (void*)-1 ? -1 : 0;
}
// A packet filter of many instructions, translated for each socket.
static int take_filter(int n) {
  (void)n;
  static struct sock_filter code[1024];
  for (int i = 0; i < 1023; ++i) code[i] = (struct sock_filter){BPF_LD | BPF_IMM, 0, 0, 0x1234567u + (unsigned)i};
  code[1023] = (struct sock_filter){BPF_RET | BPF_K, 0, 0, 0xffff};
  struct sock_fprog program = {1024, code};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return -1;
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static const struct {
  const char* name;
  int (*take)(int);
  int forks;  // one process alone runs out of descriptors first
} kinds[] = {{"inotify", take_inotify, 0},   {"terminal", take_terminal, 4}, {"aio", take_aio, 0},
             {"queue", take_queue, 0},       {"signal", take_signal, 0},     {"locked", take_locked_segment, 0},
             {"filter", take_filter, 0}};

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int most = argc > 2 ? atoi(argv[2]) : 1 << 20;
  sigset_t set;
  sigfillset(&set);
  sigprocmask(SIG_BLOCK, &set, 0);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    if (strcmp(kinds[k].name, argv[1]) != 0) continue;
    int ready[2];
    if (pipe(ready) != 0) return 2;
    int children = argc > 2 ? 0 : kinds[k].forks;
    int child = 0;
    for (int i = 0; i < children && !child; ++i) child = fork() == 0;
    int taken = 0;
    while (taken < most && kinds[k].take(taken) == 0) ++taken;
    int error = taken < most ? errno : 0;
    if (child) {
      char byte;
      if (write(ready[1], "x", 1) != 1) return 2;
      (void)!read(0, &byte, 1);
      _exit(0);
    }
    char byte;
    for (int i = 0; i < children; ++i) (void)!read(ready[0], &byte, 1);
    printf("%d %d\n", taken, error);
    fflush(stdout);
    if (argc > 2) return taken == most ? 0 : 1;
    while (read(0, &byte, 1) > 0) {
    }
    return 0;
  }
  return 2;
}
