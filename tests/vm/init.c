// Process 1 of the emulated machine: loads modules, mounts the host's root (9p, read-only) under a tmpfs
// overlay, makes every cgroup v2 controller available, runs the program named after "--" on the kernel's
// command line, says how it ended and leaves the machine.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void leave(int status) {
  printf("\nVMSTATUS=%d\n", status);
  fflush(stdout);
  tcdrain(1);
  if (ioperm(0xf4, 4, 1) == 0) outl((unsigned)status, 0xf4);
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

static void need(int done, const char* what) {
  if (done) return;
  printf("vm: %s: %s\n", what, strerror(errno));
  leave(250);
}

// Loads what the list names and is not there yet. Returns how many waited for a symbol of another module,
// whose name is left in waiting.
static int load_what_can_be(char waiting[300], int* loaded) {
  FILE* list = fopen("/modules/order", "r");
  char name[256];
  int missing = 0;
  need(list != NULL, "list of modules");
  while (fscanf(list, "%255s", name) == 1) {
    char path[300];
    snprintf(path, sizeof path, "/modules/%s", name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    need(fd >= 0, path);
    if (syscall(SYS_finit_module, fd, "", 0) == 0) {
      ++*loaded;
    } else if (errno == ENOENT) {
      ++missing;
      strcpy(waiting, path);
    } else {
      need(errno == EEXIST, path);
    }
    close(fd);
  }
  fclose(list);
  return missing;
}

// Which module needs which changes between versions of the kernel (virtio has needed virtio_ring since a
// late 6.1), so the list is gone through until everything is there.
static void load_modules(void) {
  char waiting[300] = "";
  for (;;) {
    int loaded = 0;
    if (load_what_can_be(waiting, &loaded) == 0) return;
    errno = ENOENT;
    need(loaded > 0, waiting);
  }
}

static void put(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  need(fd >= 0, path);
  need(write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
  close(fd);
}

static void mount_root(void) {
  mkdir("/host", 0755), mkdir("/rw", 0755), mkdir("/new", 0755);
  need(mount("root", "/host", "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,msize=512000,cache=loose") == 0,
       "mount the host's root");
  need(mount("tmpfs", "/rw", "tmpfs", 0, "size=60%") == 0, "mount memory");
  mkdir("/rw/upper", 0755), mkdir("/rw/work", 0755);
  need(mount("overlay", "/new", "overlay", 0, "lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work") == 0,
       "mount the overlay");
  need(mount("proc", "/new/proc", "proc", 0, NULL) == 0, "mount /proc");
  need(mount("sysfs", "/new/sys", "sysfs", 0, NULL) == 0, "mount /sys");
  need(mount("devtmpfs", "/new/dev", "devtmpfs", 0, NULL) == 0, "mount /dev");
  mkdir("/new/dev/pts", 0755), mkdir("/new/dev/shm", 01777);
  need(mount("devpts", "/new/dev/pts", "devpts", 0, "ptmxmode=0666") == 0, "mount terminals");
  need(mount("tmpfs", "/new/dev/shm", "tmpfs", 0, NULL) == 0, "mount shared memory");
  need(mount("tmpfs", "/new/run", "tmpfs", 0, "mode=755") == 0, "mount /run");
  // Upper directories of overlays cannot lie on an overlay.
  need(mount("tmpfs", "/new/var/tmp", "tmpfs", 0, "mode=1777") == 0, "mount /var/tmp");
  need(mount("cgroup2", "/new/sys/fs/cgroup", "cgroup2", 0, NULL) == 0, "mount cgroup2");
  need(chdir("/new") == 0 && mount(".", "/", NULL, MS_MOVE, NULL) == 0 && chroot(".") == 0 && chdir("/") == 0,
       "enter the root");
}

static void loopback_up(void) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq request;
  memset(&request, 0, sizeof request);
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  need(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0, "bring the loopback up");
  close(fd);
}

int main(int count, char** words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  load_modules();
  mount_root();
  loopback_up();
  for (const char* name = "cpuset\0cpu\0io\0memory\0pids\0"; *name != 0; name += strlen(name) + 1) {
    char line[64];
    snprintf(line, sizeof line, "+%s", name);
    put("/sys/fs/cgroup/cgroup.subtree_control", line);
  }
  need(count > 1, "a program to run");
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    char* const environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                 "HOME=/root", "LANG=C.UTF-8", "ATOLL_TEST_SLOW=20", NULL};
    execve(words[1], words + 1, environment);
    _exit(127);
  }
  int status = 0;
  for (pid_t ended; (ended = waitpid(-1, &status, 0)) != child;)
    if (ended < 0 && errno != EINTR) break;
  leave(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
