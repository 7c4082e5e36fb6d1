// Case 3: processes by clone with its own flags, none of them waited for.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int sleeper(void *unused) {
  (void)unused;
  for (;;) pause();
}

int main(void) {
  for (;;) {
    char *stack = malloc(16384);
    clone(sleeper, stack + 16384, CLONE_FILES | SIGCHLD, NULL);
  }
}
