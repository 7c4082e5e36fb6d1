// Case 34: typing into the terminal, also with bits set that the kernel cuts off.
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void attempt(const char *name, unsigned long request) {
  char key = 'x';
  errno = 0;
  const long result = syscall(SYS_ioctl, 0, request, &key);
  printf("%s %s\n", name, result < 0 && (errno == EPERM || errno == ENOSYS) ? "refused" : "RAN");
}

int main(void) {
  attempt("TIOCSTI", TIOCSTI);
  attempt("TIOCSTI-high", TIOCSTI | 0x100000000UL);
  attempt("TIOCSETD", TIOCSETD);
  attempt("TIOCLINUX", 0x541C);
  return 0;
}
