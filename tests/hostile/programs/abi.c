// Case 33: calls through the 32-bit gate and the x32 numbers must be refused, not run and not deadly.
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static long gate32(long number) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0), "c"(0), "d"(0) : "memory");
  return result;
}

int main(void) {
  const long getpid32 = gate32(20);
  printf("int80 %s\n", getpid32 < 0 && getpid32 > -4096 ? "refused" : "RAN");
  errno = 0;
  const long x32 = syscall(0x40000000L | SYS_getpid);
  printf("x32 %s\n", x32 == -1 && (errno == ENOSYS || errno == EPERM) ? "refused" : "RAN");
  return 0;
}
